import ByteCoding
import ContentKeys
import Foundation
import KeyCrypto
import Records
import ServiceConfiguration
import TestSupport
import Testing

@testable import CommandSupport
@testable import OperatorCommands
@testable import StorageSQLite

/// Backups of a development set-up, made, checked and put back as an operator does it.
@Suite(.tags(.startsProcesses)) struct BackupCommandTests {
    private let fixture: DevelopmentFixture
    private let elsewhere: TemporaryDirectory
    private static let kids = ["2f6c1d0e-7d3c-4c5e-9c57-0d6a5f0f6a11", "3f6c1d0e-7d3c-4c5e-9c57-0d6a5f0f6a11"]

    init() throws {
        fixture = try DevelopmentFixture()
        elsewhere = try TemporaryDirectory()
    }

    // MARK: Parts

    private var backup: String { elsewhere.path("backup") }
    private func run(_ words: String..., configuration: String? = nil) async throws -> LatchkeyProcess {
        try await LatchkeyProcess(arguments: words + ["--config", configuration ?? fixture.configuration])
    }

    private func fill() async throws {
        for (number, kid) in Self.kids.enumerated() {
            let run = try await run(
                "keys", "import", "--content", "movie-\(number)", "--kid", kid, "--key",
                "00112233445566778899aabbccddee0\(number)", "--iv", "0f0e0d0c0b0a0908070605040302010\(number)")
            try #require(run.status == 0, "\(run.messages)")
        }
    }

    private func create(_ words: String...) async throws {
        let made = try await LatchkeyProcess(
            arguments: ["backup", "create", "--config", fixture.configuration, "--output", backup] + words)
        try #require(made.status == 0, "\(made.messages)")
    }

    private func verify(_ words: String...) async throws -> LatchkeyProcess {
        try await LatchkeyProcess(arguments: ["backup", "verify", backup, "--json"] + words)
    }

    private func findings(of run: LatchkeyProcess) throws -> [String] {
        let findings = try #require(try run.object()["findings"]?.array)
        return findings.map { finding in
            let object = finding.object
            let about = object?["file"]?.string ?? object?["name"]?.string
            return [object?["finding"]?.string, about].compactMap(\.self).joined(separator: " ")
        }
    }

    private func configure(_ old: String, _ new: String) throws {
        let text = String(decoding: try fixture.folder.read("latchkey.json5"), as: UTF8.self)
        try #require(text.contains(old))
        try fixture.folder.write(text.replacingOccurrences(of: old, with: new).utf8, to: "latchkey.json5")
    }

    private func replaceSecret(_ name: String, _ digits: String) throws {
        try fixture.folder.write((String(repeating: digits, count: 32) + "\n").utf8, to: "secrets/\(name)")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: fixture.folder.path("secrets/\(name)"))
    }

    private func removeDatabase() throws {
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: fixture.folder.path("latchkey.db" + suffix))
        }
    }

    /// A certificate and its private key, as a person keeps them for the day on which the host is gone.
    private func makeRecipient(bits: Int = 2048) throws -> (certificate: String, key: String) {
        let key = try RSAPrivateKey.generate(bits: bits)
        let certificate = try CertificateSamples.make(for: key)
        let name = UUID().uuidString
        try elsewhere.write(CertificateSamples.pem(certificate.der).utf8, to: "\(name).pem")
        try elsewhere.write(key.privatePEM().revealed(), to: "\(name)-key.pem")
        return (elsewhere.path("\(name).pem"), elsewhere.path("\(name)-key.pem"))
    }

    /// Changes the manifest as its own program would seal it.
    private func reseal(_ change: (inout BackupManifest) -> Void) throws {
        var manifest = try #require(BackupManifest(parsing: elsewhere.read("backup/manifest.json")))
        change(&manifest)
        let chain = try ConfiguredLedger(of: fixture.configuration).chain
        try elsewhere.write(manifest.text(sealedBy: chain), to: "backup/manifest.json")
    }

    /// Lets SQL run on the database of the backup, and takes its new digest into the manifest.
    private func alterDatabase(_ sql: StaticString) throws {
        var connection = try SQLiteConnection.open(
            path: elsewhere.path("backup/latchkey.db"), busyTimeoutMilliseconds: 5000)
        try connection.execute(sql)
        let measure = try FileMeasure(of: elsewhere.path("backup/latchkey.db"))
        try reseal { manifest in
            for index in manifest.files.indices where manifest.files[index].part == .database {
                manifest.files[index].size = measure.size
                manifest.files[index].digest = measure.digest
            }
        }
    }

    // MARK: Making

    @Test func isAFolderForItsOwnerAloneWithoutASecret() async throws {
        try await fill()
        try await create()
        #expect(try elsewhere.names(in: "backup") == ["latchkey.db", "latchkey.json5", "manifest.json"])
        #expect(try elsewhere.mode("backup") == 0o700)
        for name in try elsewhere.names(in: "backup") { #expect(try elsewhere.mode("backup/\(name)") == 0o600) }
        #expect(try await findings(of: verify()) == [])
        let verified = try await verify("--config", fixture.configuration)
        #expect(try findings(of: verified) == [], "\(verified.output)")
        #expect(try verified.object()["isProved"]?.bool == true)
        #expect(try verified.object()["keys"]?.number?.signed == 2)
        try expectNoSecret()
    }

    /// No file of the backup has a secret: as it lies in its file, as bytes, in digits or in Base64.
    private func expectNoSecret() throws {
        let parts = try elsewhere.names(in: "backup").map { try elsewhere.read("backup/\($0)") }
        var count = 0
        for name in try fixture.folder.names(in: "secrets") where !name.contains("verification") {
            let contents = try fixture.folder.read("secrets/\(name)")
            let text = contents.filter { $0 != 0x0A }
            var forms = [text, Array(Data(text).base64EncodedString().utf8)]
            if let bytes = try? Hexadecimal.decode(text) {
                forms += [bytes, Array(Hexadecimal.encode(bytes).utf8), Array(Data(bytes).base64EncodedString().utf8)]
            }
            for form in forms {
                count += 1
                for part in parts { #expect(part.firstRange(of: form) == nil, "\(name)") }
            }
        }
        #expect(count > 20)
    }

    @Test func sealsTheFilesForItsRecipientsAlone() async throws {
        try await fill()
        let recipient = try makeRecipient()
        try await create("--recipient", recipient.certificate)
        try expectNoSecret()
        let verified = try await verify("--config", fixture.configuration, "--recipient-key", recipient.key)
        #expect(try findings(of: verified) == [], "\(verified.messages)")
        let stranger = try makeRecipient()
        let refused = try await verify("--config", fixture.configuration, "--recipient-key", stranger.key)
        #expect(refused.status == 1 && refused.messages.contains("is sealed for another one"), "\(refused.messages)")
    }

    @Test func refusesARecipientWithAShortKeyAndNamesARepeatedOne() async throws {
        try await fill()
        let short = try makeRecipient(bits: 1024).certificate
        let refused = try await run("backup", "create", "--output", backup, "--recipient", short)
        #expect(refused.status == 1 && !BackupFolder.exists(backup), "\(refused.messages)")
        #expect(refused.messages.contains("an RSA key of 1024 bits; an RSA key needs at least 2048 bits"))
        let certificate = try Data(contentsOf: URL(fileURLWithPath: makeRecipient().certificate))
        try elsewhere.write(certificate + certificate, to: "twice.pem")
        let twice = elsewhere.path("twice.pem")
        let made = try await run("backup", "create", "--output", backup, "--recipient", twice)
        #expect(made.status == 0 && made.messages.contains("certificate 2 of --recipient is the same as certificate 1"))
    }

    /// The key is in the sealed files, so nothing opens them after the host is lost.
    @Test func warnsOfARecipientWhoseKeyIsAFileOfThisNode() async throws {
        try await fill()
        let own = fixture.folder.path("fairplay/certificate-2048.der")
        let made = try await run("backup", "create", "--output", backup, "--recipient", own)
        #expect(made.status == 0 && made.messages.contains("privateKey2048 opens the sealed files"), "\(made.messages)")
        try FileManager.default.removeItem(atPath: backup)
        let other = try await run("backup", "create", "--output", backup, "--recipient", makeRecipient().certificate)
        #expect(other.status == 0 && !other.messages.contains("opens the sealed files"), "\(other.messages)")
    }

    @Test func neverTakesANameThatIsThere() async throws {
        try await fill()
        try elsewhere.write([1], to: "backup")
        let run = try await run("backup", "create", "--output", backup)
        #expect(run.status == 1 && run.messages.contains("nothing is ever overwritten"), "\(run.messages)")
        #expect(try elsewhere.names() == ["backup"])
        #expect(try elsewhere.read("backup") == [1])
    }

    @Test(arguments: [("b", "."), ("b/", "."), ("", "."), ("/", "/"), ("/b", "/"), ("a/b", "a"), ("/a/b/", "/a")])
    func knowsTheFolderThatAnythingLiesIn(path: String, folder: String) {
        #expect(BackupFolder.parent(of: path) == folder)
    }

    @Test func isMadeWithinAFolderThatIsThere() async throws {
        try await fill()
        let made = try await run("backup", "create", "--output", elsewhere.path, "--json")
        let path = try #require(try made.object()["backup"]?.string)
        #expect(path.hasPrefix(elsewhere.path("latchkey-")))
        #expect(try elsewhere.names().map { elsewhere.path($0) } == [path])
    }

    @Test(arguments: ["backup", "backup/", "backup/tuesday"])
    func isNeverMadeWithinAnotherBackup(name: String) async throws {
        try await fill()
        try await create()
        let again = try await run("backup", "create", "--output", elsewhere.path(name))
        #expect(again.status == 1 && again.messages.contains("is a backup itself"), "\(again.messages)")
        #expect(again.messages.contains(" \(elsewhere.path), in which each backup"), "\(again.messages)")
        #expect(try await findings(of: verify()) == [])
        // The folder that the message names serves again and again.
        #expect(try await run("backup", "create", "--output", elsewhere.path).status == 0)
        #expect(try elsewhere.names().count == 2)
    }

    @Test func failsWithoutTheLedgerKeyAndLeavesNothing() async throws {
        try await fill()
        try replaceSecret("ledger-key", "ab")
        let run = try await run("backup", "create", "--output", backup)
        #expect(run.status == 1 && run.messages.contains("ledger.key"), "\(run.messages)")
        #expect(try elsewhere.names() == [])
    }

    /// A backup with a wrong master secret would be put back on a host whose daemon then does not start.
    @Test func failsWithAnotherMasterSecret() async throws {
        try await fill()
        try configure("keys: {", #"keys: { masterSecret: "secrets/master-secret","#)
        try replaceSecret("master-secret", "ab")
        #expect(try await run("keys", "create", "--content", "derived").status == 0)
        try await create()
        #expect(try findings(of: await verify("--config", fixture.configuration)) == [])

        try replaceSecret("master-secret", "cd")
        let made = try await run("backup", "create", "--output", elsewhere.path("other"))
        #expect(made.status == 1 && made.messages.contains("keys.masterSecret is not the secret"), "\(made.messages)")
        #expect(!FileManager.default.fileExists(atPath: elsewhere.path("other")))
        let verified = try await verify("--config", fixture.configuration)
        #expect(verified.status == 1)
        #expect(try findings(of: verified) == ["secretDiffers keys.masterSecret"])
        // The proof alone says so if the manifest has the fingerprint of the wrong secret.
        try reseal { manifest in manifest.fingerprints.removeAll { $0.name == "keys.masterSecret" } }
        #expect(
            try findings(of: await verify("--config", fixture.configuration)) == ["secretDiffers keys.masterSecret"])
    }

    @Test func failsWithAnotherKeyEncryptionKey() async throws {
        try await fill()
        try replaceSecret("key-encryption-key", "ab")
        let run = try await run("backup", "create", "--output", backup)
        #expect(run.status == 1 && run.messages.contains("keys.keyEncryptionKey"), "\(run.messages)")
        #expect(try elsewhere.names() == [])
    }

    // MARK: Damage

    @Test(arguments: ["latchkey.db", "latchkey.json5", "manifest.json", "secrets.cms"], [0.0, 0.3, 0.999])
    func namesThePartWithAFlippedByte(name: String, place: Double) async throws {
        try await fill()
        try await create("--recipient", makeRecipient().certificate)
        var bytes = try elsewhere.read("backup/\(name)")
        bytes[Int(Double(bytes.count) * place)] ^= 0x10
        try elsewhere.write(bytes, to: "backup/\(name)")
        let run = try await verify()
        #expect(run.status == 1)
        #expect(try findings(of: run) == [name == "manifest.json" ? "manifestAltered" : "fileAltered \(name)"])
        let restored = try await self.run("backup", "restore", backup)
        #expect(restored.status == 1 && restored.messages.contains("nothing was changed"), "\(restored.messages)")
    }

    @Test(arguments: ["latchkey.db", "latchkey.json5", "manifest.json"], [0, 1, 100])
    func namesThePartThatWasCutOff(name: String, size: Int) async throws {
        try await fill()
        try await create()
        try elsewhere.write(elsewhere.read("backup/\(name)").prefix(size), to: "backup/\(name)")
        let run = try await verify()
        #expect(run.status == 1)
        #expect(try findings(of: run) == [name == "manifest.json" ? "manifestAltered" : "fileSize \(name)"])
    }

    @Test func namesWhatIsMissingAndWhatIsStrange() async throws {
        try await fill()
        try await create()
        try FileManager.default.removeItem(atPath: elsewhere.path("backup/latchkey.json5"))
        try elsewhere.write([1], to: "backup/latchkey.db-wal")
        #expect(try await findings(of: verify()) == ["fileMissing latchkey.json5", "fileUnknown latchkey.db-wal"])
        try FileManager.default.removeItem(atPath: elsewhere.path("backup/manifest.json"))
        #expect(try await findings(of: verify()) == ["manifestMissing"])
    }

    @Test func seesThatAManifestWasWrittenAnew() async throws {
        try await fill()
        try await create()
        let chain = LedgerChain(
            key: try HMACSHA256Key(SecretBytes(copying: [UInt8](repeating: 7, count: 32))),
            node: try ConfiguredLedger(of: fixture.configuration).chain.node)
        let manifest = try #require(BackupManifest(parsing: elsewhere.read("backup/manifest.json")))
        try elsewhere.write(manifest.text(sealedBy: chain), to: "backup/manifest.json")
        #expect(try await findings(of: verify()) == [])
        #expect(try await findings(of: verify("--config", fixture.configuration)) == ["manifestUnsealed"])
    }

    @Test func seesWhatWasAlteredInTheDatabase() async throws {
        try await fill()
        try await create()
        try alterDatabase(
            """
            UPDATE ledger_entry SET body = (SELECT body FROM ledger_entry WHERE sequence = 2) WHERE sequence = 1;
            UPDATE content_key SET sealed = zeroblob(length(sealed)) WHERE content_id = 'movie-0'
            """)
        #expect(try await findings(of: verify()) == [])
        let found = try await findings(of: verify("--config", fixture.configuration))
        #expect(found.count == 2 && found.contains("sealBroken") && found.contains("row_altered"), "\(found)")
    }

    @Test func seesThatTheLedgerIsNotTheManifests() async throws {
        try await fill()
        try await create()
        try alterDatabase(
            "DELETE FROM ledger_entry WHERE sequence = 2; DELETE FROM ledger_batch WHERE first_sequence = 2")
        #expect(try await findings(of: verify()) == ["ledgerDiffers"])
    }

    @Test func refusesASchemaThatIsTooNew() async throws {
        try await fill()
        try await create()
        try alterDatabase("INSERT INTO schema_version (number, oldest_program) VALUES (99, 99)")
        try reseal {
            $0.schema = 99
            $0.oldestProgram = 99
        }
        #expect(try await findings(of: verify()) == ["schemaTooNew"])
        let restored = try await run("backup", "restore", backup)
        #expect(restored.status == 1 && restored.messages.contains("use that version"), "\(restored.messages)")
    }

    // MARK: Secrets

    @Test(arguments: [
        ("key-encryption-key", "keys.keyEncryptionKey"), ("ledger-key", "ledger.key"),
        ("pseudonym-key", "ledger.pseudonymKey"), ("session-key", "entitlement.sessions.key"),
    ])
    func namesTheSecretThatDiffersOrIsMissing(file: String, field: String) async throws {
        try await fill()
        try await create()
        try removeDatabase()
        try replaceSecret(file, "ab")
        #expect(try await findings(of: verify("--config", fixture.configuration)) == ["secretDiffers \(field)"])
        let restored = try await run("backup", "restore", backup)
        #expect(restored.status == 1 && restored.messages.contains("\(field) differs"), "\(restored.messages)")
        try FileManager.default.removeItem(atPath: fixture.folder.path("secrets/\(file)"))
        #expect(try await findings(of: verify("--config", fixture.configuration)) == ["secretMissing \(field)"])
        #expect(!FileManager.default.fileExists(atPath: fixture.folder.path("latchkey.db")))
    }

    @Test func namesTheCredentialThatDiffersAndIsPutBackNevertheless() async throws {
        try await fill()
        try await create()
        try removeDatabase()
        let name = "fairplay/application-secret.hex"
        try fixture.folder.write((String(repeating: "ab", count: 16) + "\n").utf8, to: name)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: fixture.folder.path(name))
        #expect(
            try await findings(of: verify("--config", fixture.configuration)) == [
                "secretDiffers fairplay.credentials.development.applicationSecret"
            ])
        let restored = try await run("backup", "restore", backup)
        #expect(restored.status == 0, "\(restored.messages)")
        #expect(restored.messages.contains("fairplay.credentials.development.applicationSecret differs"))
    }

    @Test func takesAKeyInAnotherFormForTheSame() async throws {
        try await fill()
        try await create()
        let digits = try fixture.folder.read("secrets/pseudonym-key").filter { $0 != 0x0A }
        try fixture.folder.write(Hexadecimal.decode(digits), to: "secrets/pseudonym-key")
        #expect(try await findings(of: verify("--config", fixture.configuration)) == [])
    }

    @Test func knowsAKeyThatWasReplacedSince() async throws {
        try await fill()
        try await create()
        try FileManager.default.copyItem(
            atPath: fixture.folder.path("secrets/key-encryption-key"), toPath: fixture.folder.path("secrets/older"))
        try replaceSecret("key-encryption-key", "cd")
        try configure(
            #"keys: { keyEncryptionKey: "secrets/key-encryption-key""#,
            #"keys: { keyEncryptionKey: "secrets/key-encryption-key", keyEncryptionKeyVersion: 2, "#
                + #"olderKeyEncryptionKeys: [{ key: "secrets/older", version: 1 }]"#)
        #expect(try await findings(of: verify("--config", fixture.configuration)) == [])
    }

    // MARK: Putting back

    @Test func isPutBackWithARowThatSaysSo() async throws {
        try await fill()
        try await create()
        try removeDatabase()
        let restored = try await run("backup", "restore", backup, "--json")
        #expect(restored.status == 0, "\(restored.messages)")
        #expect(try fixture.folder.mode("latchkey.db") == 0o600)
        let query = try await run("ledger", "query", "--json")
        let rows = try #require(try query.object()["entries"]?.array).compactMap(\.object)
        #expect(rows.map { $0["kind"]?.string } == ["store_restored", "key_imported", "key_imported"])
        #expect(rows.first?["actor"]?.string?.hasPrefix("user:") == true)
        #expect(rows.first?["detail"]?.string?.hasSuffix("through 2") == true)
        #expect(try restored.object()["last"]?.number?.signed == 3)
        let checked = try await run("store", "check")
        #expect(checked.status == 0, "\(checked.output) \(checked.messages)")
    }

    @Test func neverOverwritesADatabase() async throws {
        try await fill()
        try await create()
        let before = try fixture.folder.read("latchkey.db")
        let restored = try await run("backup", "restore", backup)
        #expect(
            restored.status == 1 && restored.messages.contains("nothing is ever overwritten"), "\(restored.messages)")
        #expect(try fixture.folder.read("latchkey.db") == before)
    }

    @Test func isRefusedForTheConfigurationOfAnotherNode() async throws {
        try await fill()
        try configure("storage: {", "node: \"edge-1\", storage: {")
        try await create()
        try removeDatabase()
        try configure("node: \"edge-1\"", "node: \"edge-2\"")
        let refused = try await run("backup", "restore", backup)
        #expect(refused.status == 1 && refused.messages.contains("--replaces edge-1"), "\(refused.messages)")
        let wrong = try await run("backup", "restore", backup, "--replaces", "edge-3")
        #expect(wrong.status == 1)
        #expect(!FileManager.default.fileExists(atPath: fixture.folder.path("latchkey.db")))
        #expect(try await run("backup", "restore", backup, "--replaces", "edge-1").status == 0)
    }

    @Test func namesTheNodeWhoseBackupItIsNot() async throws {
        try await fill()
        try await create()
        try removeDatabase()
        try await fill()
        #expect(try await findings(of: verify("--config", fixture.configuration)) == ["otherNode"])
    }

    @Test func makesANewHostOfAnEmptyFolder() async throws {
        try await fill()
        let recipient = try makeRecipient()
        try await create("--recipient", recipient.certificate)
        let configuration = elsewhere.path("host/latchkey.json5")
        let restored = try await run(
            "backup", "restore", backup, "--recipient-key", recipient.key, configuration: configuration)
        #expect(restored.status == 0, "\(restored.messages)")
        for name in ["key-encryption-key", "ledger-key", "pseudonym-key", "session-key"] {
            #expect(try elsewhere.read("host/secrets/\(name)") == fixture.folder.read("secrets/\(name)"))
            #expect(try elsewhere.mode("host/secrets/\(name)") == 0o600)
        }
        #expect(try await run("store", "check", configuration: configuration).status == 0)
        // A second one is refused, and what differs is never overwritten.
        let again = try await run(
            "backup", "restore", backup, "--recipient-key", recipient.key, configuration: configuration)
        #expect(again.status == 1)
        try FileManager.default.removeItem(atPath: elsewhere.path("host/latchkey.db"))
        try elsewhere.write(Array("another-token-of-an-operator\n".utf8), to: "host/secrets/admin-token")
        let other = try await run(
            "backup", "restore", backup, "--recipient-key", recipient.key, configuration: configuration)
        #expect(other.status == 1 && other.messages.contains("listeners.admin[0].tokenFile"), "\(other.messages)")
    }

    /// The configuration of a backup may be another party's. It must not choose which files of the host are written.
    @Test func writesOutsideOfTheConfigurationsFolderOnlyIfAllowed() async throws {
        try configure("\"sqlite:latchkey.db\"", "\"sqlite:\(elsewhere.path("state/latchkey.db"))\"")
        try configure("\"secrets/ledger-key\"", "\"\(elsewhere.path("other/ledger-key"))\"")
        try FileManager.default.createDirectory(
            atPath: elsewhere.path("state"), withIntermediateDirectories: false)
        try FileManager.default.createDirectory(
            atPath: elsewhere.path("other"), withIntermediateDirectories: false)
        try elsewhere.write(fixture.folder.read("secrets/ledger-key"), to: "other/ledger-key")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: elsewhere.path("other/ledger-key"))
        try await fill()
        let recipient = try makeRecipient()
        try await create("--recipient", recipient.certificate)
        for name in ["state", "other"] { try FileManager.default.removeItem(atPath: elsewhere.path(name)) }
        let configuration = elsewhere.path("host/latchkey.json5")
        let words = ["backup", "restore", backup, "--config", configuration, "--recipient-key", recipient.key]
        // The folders that are allowed, and those that are then missing.
        let allowances: [(allowed: [String], missing: [String])] = [
            ([], ["other", "state"]), (["state"], ["other"]), (["other"], ["state"]),
            (["state/latchkey.db", "other"], ["state"]), (["state", "other/ledger"], ["other"]),
        ]
        let files = ["state": "state/latchkey.db", "other": "other/ledger-key", "host": "host/secrets/session-key"]
        for (allowed, missing) in allowances {
            let options = allowed.flatMap { ["--allow-folder", elsewhere.path($0)] }
            let refused = try await LatchkeyProcess(arguments: words + options)
            #expect(refused.status == 1, "\(allowed)")
            let advice = missing.map { "--allow-folder \(elsewhere.path($0))" }.joined(separator: " ")
            #expect(refused.messages.contains("If these paths are right, add: \(advice)\n"), "\(refused.messages)")
            for (name, path) in files {
                let isListed = refused.messages.contains("  \(elsewhere.path(path)) (")
                #expect(isListed == missing.contains(name), "\(path) with \(allowed): \(refused.messages)")
                #expect(!FileManager.default.fileExists(atPath: elsewhere.path(name)), "nothing was written")
            }
        }
        let restored = try await LatchkeyProcess(
            arguments: words + ["--allow-folder", elsewhere.path("state"), "--allow-folder", elsewhere.path("other")])
        #expect(restored.status == 0, "\(restored.messages)")
        #expect(restored.messages.contains("will write \(elsewhere.path("other/ledger-key")) (ledger.key)"))
        #expect(try elsewhere.read("other/ledger-key") == fixture.folder.read("secrets/ledger-key"))
        #expect(FileManager.default.fileExists(atPath: elsewhere.path("state/latchkey.db")))
    }

    /// What is outside is decided by the real folders.
    @Test func seesThroughLinksAndDots() throws {
        let folder = elsewhere.path("host")
        for name in ["host/inside", "outside"] {
            try FileManager.default.createDirectory(
                atPath: elsewhere.path(name), withIntermediateDirectories: true)
        }
        try FileManager.default.createSymbolicLink(
            atPath: elsewhere.path("host/link"), withDestinationPath: elsewhere.path("outside"))
        let expected = [
            "new": true, "inside/new": true, "absent/new": true, "inside/../new": true, "./new": true,
            "link/new": false, "link/../new": false, "../outside/new": false, "absent/../../outside/new": false,
            "absent/../new": false, "..": false, ".": false,
        ]
        for (path, isInside) in expected {
            var plan = RestorePlan()
            plan.add("ledger.key", "\(folder)/\(path)")
            #expect(plan.entries(outside: [folder]).isEmpty == isInside, "\(path)")
            #expect(plan.entries(outside: [folder + "/"]).isEmpty == isInside, "\(path)")
        }
        var plan = RestorePlan()
        plan.add("ledger.key", folder + "-other/new")
        #expect(plan.entries(outside: [folder]) == plan.entries)
    }

    /// As `LoadCredential=` of systemd gives them to the daemon, and `CREDENTIALS_DIRECTORY` to a command.
    @Test func putsCredentialsIntoTheirFolder() async throws {
        try configure("\"secrets/ledger-key\"", "\"credential:ledger-key\"")
        let recipient = try makeRecipient()
        func run(_ words: String..., folder: String) async throws -> LatchkeyProcess {
            try await LatchkeyProcess(arguments: words, environment: ["CREDENTIALS_DIRECTORY": folder])
        }
        let secrets = fixture.folder.path("secrets")
        let made = try await run(
            "keys", "create", "--config", fixture.configuration, "--content", "movie-1", folder: secrets)
        try #require(made.status == 0, "\(made.messages)")
        let created = try await run(
            "backup", "create", "--config", fixture.configuration, "--output", backup, "--recipient",
            recipient.certificate, folder: secrets)
        #expect(created.status == 0, "\(created.messages)")
        let words = [
            "backup", "restore", backup, "--config", elsewhere.path("host/latchkey.json5"), "--recipient-key",
            recipient.key,
        ]
        let homeless = try await LatchkeyProcess(arguments: words)
        #expect(homeless.status == 1 && homeless.messages.contains("CREDENTIALS_DIRECTORY"), "\(homeless.messages)")
        #expect(!FileManager.default.fileExists(atPath: elsewhere.path("host")))
        let restored = try await LatchkeyProcess(
            arguments: words, environment: ["CREDENTIALS_DIRECTORY": elsewhere.path("credentials")])
        #expect(restored.status == 0, "\(restored.messages)")
        #expect(try elsewhere.read("credentials/ledger-key") == fixture.folder.read("secrets/ledger-key"))
        #expect(try elsewhere.mode("credentials/ledger-key") == 0o600)
    }
}

@Suite(.tags(.startsProcesses)) struct StoreInformationTests {
    @Test func tellsOfTheNodesDatabase() async throws {
        let fixture = try DevelopmentFixture()
        let missing = try await LatchkeyProcess("store", "info", "--config", fixture.configuration)
        #expect(missing.status == 1 && missing.messages.contains("there is no database"), "\(missing.messages)")
        let kid = "2f6c1d0e-7d3c-4c5e-9c57-0d6a5f0f6a11"
        let made = try await LatchkeyProcess(
            "keys", "import", "--config", fixture.configuration, "--content", "movie-1", "--kid", kid, "--key",
            "00112233445566778899aabbccddeeff", "--iv", "0f0e0d0c0b0a09080706050403020100")
        try #require(made.status == 0, "\(made.messages)")
        let object = try await LatchkeyProcess("store", "info", "--config", fixture.configuration, "--json").object()
        #expect(object["kind"]?.string == "sqlite")
        #expect(object["path"]?.string == fixture.folder.path("latchkey.db"))
        #expect(object["schema"]?.number?.signed == StoreSummary.knownSchema)
        #expect(object["isServed"]?.bool == true)
        #expect(object["keys"]?.number?.signed == 1)
        #expect((object["entries"]?.number?.signed, object["last"]?.number?.signed) == (1, 1))
        #expect(object["node"]?.string?.count == 32)
        #expect((object["size"]?.number?.signed ?? 0) > 0 && (object["freeDisk"]?.number?.signed ?? 0) > 0)
        #expect(object["shared"]?.isNull == true)
        let text = try await LatchkeyProcess("store", "info", "--config", fixture.configuration).output
        #expect(text.contains("schema") && text.contains("keys                  1\n"), "\(text)")
    }
}

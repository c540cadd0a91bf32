import ByteCoding
import ContentKeys
import Foundation
import KeyCrypto
import TestSupport
import Testing

@testable import CommandSupport
@testable import OperatorCommands
@testable import StorageSQLite

@Suite(.tags(.startsProcesses)) struct KeyMaintenanceCommandTests {
    private let fixture: DevelopmentFixture
    private static let kid = "2f6c1d0e-7d3c-4c5e-9c57-0d6a5f0f6a11"
    private static let otherKID = "7b1d0c9e-52a4-4e0b-9c61-0a5f3b8d2e11"
    private static let key = "00112233445566778899aabbccddeeff"
    private static let iv = "0f0e0d0c0b0a09080706050403020100"

    init() throws {
        fixture = try DevelopmentFixture()
    }

    private func keys(_ words: String..., input: String = "") async throws -> LatchkeyProcess {
        try await LatchkeyProcess(
            arguments: ["keys", words[0], "--config", fixture.configuration] + words.dropFirst(), input: input)
    }

    private func configure(_ old: String, _ new: String) throws {
        let text = String(decoding: try fixture.folder.read("latchkey.json5"), as: UTF8.self)
        try #require(text.contains(old))
        try fixture.folder.write(text.replacingOccurrences(of: old, with: new).utf8, to: "latchkey.json5")
    }

    private func importOne() async throws {
        let run = try await keys(
            "import", "--content", "movie-1", "--kid", Self.kid, "--key", Self.key, "--iv", Self.iv, "--alias", "hd")
        try #require(run.status == 0, "\(run.messages)")
    }

    private func writeSecret(_ digits: String, to name: String) throws {
        try fixture.folder.write((String(repeating: digits, count: 32) + "\n").utf8, to: name)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: fixture.folder.path(name))
    }

    private func makeLedger() throws {
        let path = fixture.folder.path("latchkey.db")
        var connection = try SQLiteConnection.open(path: path, busyTimeoutMilliseconds: 5000)
        try connection.migrate(path: path)
    }

    /// Keys for systems other than FairPlay, from an option and from a file.
    @Test func storesKeysOfEveryScheme() async throws {
        for scheme in EncryptionScheme.allCases.map(\.rawValue) {
            let made = try await keys("create", "--content", "made-\(scheme)", "--scheme", scheme, "--json")
            #expect(try made.object()["scheme"]?.string == scheme, "\(made.messages)")
        }
        let file = "kid,content,key,iv,scheme\n\(Self.kid),imported,\(Self.key),\(Self.iv),cbc1\n"
        #expect(try await keys("import", "--file", "-", input: file).status == 0)
        let shown = try await keys("show", "--kid", Self.kid)
        #expect(shown.output.contains("scheme   cbc1"), "\(shown.output)")
        let list = try await keys("list")
        #expect(list.output.contains("scheme cenc") && !list.output.contains("scheme cbcs"))
        let wrong = try await keys("create", "--content", "made", "--scheme", "cbc2")
        #expect(wrong.status == 2 && wrong.messages.contains("cbcs, sample-aes, cenc, cens, cbc1"))
    }

    @Test func importsCSVAndJSON() async throws {
        let lines = (1...2500).map { number in
            let digits = String(format: "%032x", number)
            return
                "\(digits),content-\(number),\(digits.dropLast())\("f"),\(digits.dropLast())\("0"),\"HD\",,alias-\(number)"
        }
        let csv = (["kid,content,key,iv,track,hdcp,alias"] + lines).joined(separator: "\r\n")
        let run = try await keys("import", "--file", "-", "--json", input: csv)
        #expect(run.status == 0, "\(run.messages)")
        #expect(try run.object()["stored"]?.number?.signed == 2500)
        #expect(run.messages.isEmpty)
        let again = try await keys("import", "--file", "-", "--json", input: csv)
        #expect(try again.object()["alreadyPresent"]?.number?.signed == 2500)

        let json =
            #"{"kid": "\#(Self.kid)", "content": "movie-1", "key": "\#(Self.key)", "iv": "\#(Self.iv)", "track": null}"#
        #expect(try await keys("import", "--file", "-", input: json + "\n\n").status == 0)
        let shown = try await keys("show", "--kid", Self.kid, "--json")
        #expect(try shown.object()["content"]?.string == "movie-1")
        #expect(!shown.output.contains(Self.key))
    }

    @Test(arguments: [
        ("kid,content,key\n", "iv is missing"), ("kid,content,key,iv,color\n", "line 1"),
        ("kid,content,key,iv,kid\n", "repeated"), ("kid,content,key,iv\n\(kid),a,\(key),\(iv),x\n", "line 2"),
        ("kid,content,key,iv\n\(kid),a,\(key)00,\(iv)\n", "key is not 32"),
        ("kid,content,key,iv\n\(kid),a,\(key),\(key)\n", "equals the key"),
        ("kid,content,key,iv\n\(kid),\"a,\(key),\(iv)\n", "quote"), ("{\"kid\": 5}\n", "kid"),
        ("{\"secret\": \"\(key)\"}\n", "unknown member"), ("", "empty"),
        ("kid;content;key;iv\n\(kid);a;\(key);\(iv)\n", "semicolons"), ("kid\tcontent\tkey\tiv\n", "tabs"),
        ("\u{FEFF}kid,content,key,iv\n\(kid),a,\(key),\(iv)\n", "mark of UTF-8"), ("kid,content,key,iv\n", "no keys"),
        ("kid,Content,cek,iv\n", "content is missing, key is missing, \"Content\" is not known, \"cek\" is not known"),
        ("kid,Content,cek,iv\n", "found: kid, Content, cek, iv;"), ("\(kid),a,\(key),\(iv)\n", "not a header"),
    ])
    func namesTheLineAndNothingOfAKey(text: String, message: String) async throws {
        let run = try await keys("import", "--file", "-", input: text)
        #expect(run.status == 1)
        #expect(run.messages.contains(message), "\(run.messages)")
        #expect(!run.messages.contains(Self.key.prefix(8)))
    }

    @Test func revealsOnlyWhereItIsAllowedAndWritesItDown() async throws {
        try await importOne()
        let refused = try await keys("show", "--kid", Self.kid, "--reveal")
        #expect(refused.status == 1)
        #expect(!refused.output.contains(Self.key))
        try configure("keys: {", "keys: { allowReveal: true,")
        try makeLedger()
        let run = try await keys("show", "--kid", Self.kid, "--reveal", "--json")
        #expect(run.status == 0, "\(run.messages)")
        #expect(try run.object()["key"]?.string == Self.key)
        let ledger = try await LatchkeyProcess("ledger", "export", "--config", fixture.configuration)
        let last = try #require(ledger.output.split(separator: "\n").last)
        let entry = try #require(try JSONReader.parse(Array(last.utf8)).object)
        #expect(entry["kind"]?.string == "key_revealed")
        #expect(entry["kid"]?.string == Self.kid)
        #expect(entry["detail"]?.string == "reveal")
        #expect(!ledger.output.contains(Self.key))
        #expect(try await LatchkeyProcess("ledger", "verify", "--config", fixture.configuration).status == 0)
    }

    @Test func sealsForARecipientWhoAloneOpensIt() async throws {
        try await importOne()
        try makeLedger()
        let recipient = try RSAPrivateKey.generate(bits: 2048)
        try fixture.folder.write(recipient.privatePEM().revealed(), to: "recipient.key")
        try openssl(
            "pkey", "-in", fixture.folder.path("recipient.key"), "-pubout", "-out",
            fixture.folder.path("recipient.pem"))
        let run = try await keys(
            "show", "--kid", Self.kid, "--recipient", fixture.folder.path("recipient.pem"), "--json")
        #expect(run.status == 0, "\(run.messages)")
        #expect(!run.output.contains(Self.key))
        let sealed = try Base64.decode(try #require(try run.object()["sealed"]?.string))
        #expect(sealed.count == 256)
        try fixture.folder.write(sealed, to: "sealed.bin")
        try openssl(
            "pkeyutl", "-decrypt", "-inkey", fixture.folder.path("recipient.key"), "-in",
            fixture.folder.path("sealed.bin"),
            "-out", fixture.folder.path("opened.bin"), "-pkeyopt", "rsa_padding_mode:oaep", "-pkeyopt",
            "rsa_oaep_md:sha256")
        #expect(try Hexadecimal.encode(fixture.folder.read("opened.bin")) == Self.key + Self.iv)
    }

    private func openssl(_ arguments: String...) throws {
        let process = try ChildProcess(program: "/usr/bin/openssl", arguments: arguments)
        #expect(process.waitForExit() == 0, "\(process.messages.text)")
    }

    @Test func changesTheKeyEncryptionKey() async throws {
        try await importOne()
        try writeSecret("cd", to: "secrets/new-key")
        try configure(
            #"keyEncryptionKey: "secrets/key-encryption-key""#,
            #"keyEncryptionKey: "secrets/new-key", keyEncryptionKeyVersion: 2, "#
                + #"olderKeyEncryptionKeys: [{ version: 1, key: "secrets/key-encryption-key" }]"#)
        #expect(try await keys("show", "--kid", Self.kid).status == 0)
        let run = try await keys("rewrap", "--json")
        #expect(run.status == 0, "\(run.messages)")
        #expect(try run.object()["rewrapped"]?.number?.signed == 1)
        try configure(#"[{ version: 1, key: "secrets/key-encryption-key" }]"#, "[]")
        #expect(try await keys("show", "--kid", Self.kid).status == 0)
        let done = try await keys("rewrap", "--json")
        #expect(try done.object()["rewrapped"]?.number?.signed == 0)
    }

    /// A master secret is enough. Stored keys stay as they are.
    @Test func derivesTheSameKeyAgain() async throws {
        try configure("keys: {", "keys: { allowReveal: true,")
        let random = try await keys("create", "--content", "old", "--kid", Self.otherKID, "--reveal", "--json").object()
        try writeSecret("ef", to: "secrets/master-secret")
        try configure("keys: {", #"keys: { masterSecret: "secrets/master-secret","#)
        let kept = try await keys("show", "--kid", Self.otherKID, "--reveal", "--json").object()
        #expect(kept["key"]?.string?.count == 32 && kept["key"]?.string == random["key"]?.string)
        let made = try await keys("create", "--content", "movie-1", "--kid", Self.kid, "--reveal", "--json").object()
        let again = try await keys("create", "--content", "movie-1", "--kid", Self.kid, "--reveal", "--json").object()
        #expect(made["key"]?.string?.count == 32)
        #expect(again["outcome"]?.string == "alreadyPresent")
        #expect(again["key"]?.string == made["key"]?.string)
    }

    private func deriveKeys(_ digits: String = "ef") throws {
        try writeSecret(digits, to: "secrets/master-secret")
        try configure("keys: {", #"keys: { allowReveal: true, masterSecret: "secrets/master-secret","#)
    }

    private func create(_ words: String...) async throws -> (kid: String, key: String) {
        let run = try await LatchkeyProcess(
            arguments: ["keys", "create", "--config", fixture.configuration, "--reveal", "--json"] + words)
        try #require(run.status == 0, "\(run.messages)")
        let made = try run.object()
        return (try #require(made["kid"]?.string), try #require(made["key"]?.string))
    }

    /// The key id of an order for the same names. So the order finds the key, or makes it again in an empty store.
    private func derivedKeyID(
        of content: String, _ label: TrackLabel?, period: UInt32? = nil, taken: Set<KeyID> = []
    ) throws -> KeyID {
        let secret = SharedSecret(SecretBytes(copying: [UInt8](repeating: 0xEF, count: 32)))
        return try KeyDerivation(masterSecret: secret, version: 1).deriveKeyID(
            contentID: ContentID(content), trackLabel: label, periodIndex: period, taken: taken)
    }

    @Test func createsKeysUnderTheKeyIDsOfOrders() async throws {
        try deriveKeys()
        let hd = try TrackLabel("HD")
        let plain = try await create("--content", "movie-1")
        #expect(try plain.kid == derivedKeyID(of: "movie-1", nil).description)
        let first = try await create("--content", "movie-2", "--track", "HD", "--period", "3")
        let derived = try derivedKeyID(of: "movie-2", hd, period: 3)
        #expect(first.kid == derived.description)
        // Without --another there is never a second key.
        #expect(try await keys("create", "--content", "movie-2", "--track", "HD", "--period", "3").status == 1)
        let second = try await create("--content", "movie-2", "--track", "HD", "--period", "3", "--another")
        #expect(try second.kid == derivedKeyID(of: "movie-2", hd, period: 3, taken: [derived]).description)
        #expect(Set([plain.key, first.key, second.key]).count == 3)

        try configure("sqlite:latchkey.db", "sqlite:empty.db")
        let again = try await create("--content", "movie-2", "--track", "HD", "--period", "3")
        #expect(again == first)
    }

    @Test func passesOverKeyIDsThatAreTaken() async throws {
        try deriveKeys()
        let withdrawn = try await create("--content", "movie-1")
        #expect(try await keys("delete", "--kid", withdrawn.kid).status == 0)
        let next = try derivedKeyID(of: "movie-1", nil, taken: [KeyID(parsing: withdrawn.kid)])
        #expect(try await create("--content", "movie-1").kid == next.description)

        // The id of another key, and of another content.
        let ofKey = try derivedKeyID(of: "movie-2", nil)
        let ofContent = try derivedKeyID(of: "movie-2", nil, taken: [ofKey])
        let imports: [[String]] = [
            ["--content", "other", "--kid", "\(ofKey)"], ["--content", "\(ofContent)", "--kid", Self.kid],
        ]
        for words in imports {
            let run = try await LatchkeyProcess(
                arguments: ["keys", "import", "--config", fixture.configuration, "--key", Self.key, "--iv", Self.iv]
                    + words)
            try #require(run.status == 0, "\(run.messages)")
        }
        let third = try derivedKeyID(of: "movie-2", nil, taken: [ofKey, ofContent])
        #expect(try await create("--content", "movie-2").kid == third.description)
    }

    /// With a wrong file, a command that derives nothing must not keep the daemon from using the right one.
    @Test func commandsThatDeriveNothingStoreNoProof() async throws {
        try await importOne()
        try deriveKeys("01")
        let commands = [
            ["keys", "list"], ["keys", "show", "--kid", Self.kid],
            ["keys", "alias", "--kid", Self.kid, "--alias", "another"],
            ["keys", "export", "--content", "movie-1", "--format", "json", "--reveal"], ["store", "check"],
            ["keys", "import", "--content", "movie-2", "--key", Self.key, "--iv", Self.iv], ["keys", "rewrap"],
        ]
        for command in commands {
            let run = try await LatchkeyProcess(arguments: command + ["--config", fixture.configuration])
            #expect(run.status == 0, "\(command): \(run.messages)")
        }
        try writeSecret("ef", to: "secrets/master-secret")
        _ = try await create("--content", "movie-3")
        try writeSecret("01", to: "secrets/master-secret")
        for command in commands {
            let run = try await LatchkeyProcess(arguments: command + ["--config", fixture.configuration])
            #expect(run.status == 1, "\(command)")
            #expect(run.messages.contains("restore the right file"), "\(run.messages)")
        }
    }

    /// Two live keys of a track: orders by track are refused, so the operator is told.
    @Test func tellsThatATrackHasTwoKeys() async throws {
        let first = try await keys("create", "--content", "movie-1", "--track", "HD", "--kid", Self.kid)
        #expect(first.status == 0 && !first.messages.contains("note"), "\(first.messages)")
        #expect(try await keys("delete", "--kid", Self.kid).status == 0)
        let second = try await keys("create", "--content", "movie-1", "--track", "HD", "--kid", Self.otherKID)
        #expect(second.status == 0 && !second.messages.contains("note"), "\(second.messages)")
        let restored = try await keys("delete", "--kid", Self.kid, "--restore")
        #expect(restored.status == 0 && restored.messages.contains("order that names no kid is refused"))
        let other = try await keys("create", "--content", "movie-1", "--another", "--track", "SD")
        #expect(other.status == 0 && other.messages.contains("3 keys now"), "\(other.messages)")
        #expect(!other.messages.contains("is refused"))
        let another = try await keys("create", "--content", "movie-1", "--another", "--track", "HD")
        #expect(another.status == 0 && another.messages.contains("3 live keys"), "\(another.messages)")
    }

    @Test func aliasesWithdrawsAndDeletes() async throws {
        try await importOne()
        #expect(try await keys("alias", "--kid", Self.kid, "--alias", "hex:00ff").status == 0)
        let shown = try await keys("show", "--kid", Self.kid, "--json").object()
        #expect(shown["aliases"]?.array?.compactMap(\.string) == ["hex:00ff", "hd"])
        #expect(try await keys("delete", "--kid", Self.kid).status == 0)
        #expect(try await keys("show", "--kid", Self.kid, "--json").object()["state"]?.string == "withdrawn")
        let again = try await keys("delete", "--kid", Self.kid)
        #expect(again.status == 1 && again.output.isEmpty, "\(again.output)")
        #expect(again.messages.contains("was withdrawn already; --restore"), "\(again.messages)")
        #expect(try await keys("delete", "--kid", Self.kid, "--restore").status == 0)
        #expect(try await keys("delete", "--kid", Self.kid, "--for-good").status == 0)
        let gone = try await keys("show", "--kid", Self.kid)
        #expect(gone.status == 1)
        #expect(gone.messages.contains(Self.kid))
        let deleted = try await keys("delete", "--kid", Self.kid, "--for-good")
        #expect(deleted.status == 1 && deleted.messages.contains("deleted for good already"), "\(deleted.messages)")
        let unknown = try await keys("delete", "--kid", "00000000-0000-0000-0000-00000000000f")
        #expect(unknown.status == 1 && unknown.messages.contains("no key has the kid"), "\(unknown.messages)")
    }
}

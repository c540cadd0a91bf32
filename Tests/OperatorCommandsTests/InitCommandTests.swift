import ByteCoding
import CommandLineKit
import FairPlay
import Foundation
import KeyCrypto
import POSIXSockets
import PackagerAPI
import ServiceConfiguration
import TestSupport
import Testing

@testable import CommandSupport
@testable import SetupCommands

@Suite(.tags(.startsProcesses)) struct InitCommandTests {
    private let folder: TemporaryDirectory

    private static let secrets = [
        "fairplay/private-key-1024.pem", "fairplay/private-key-2048.pem", "fairplay/application-secret.hex",
        "secrets/key-encryption-key", "secrets/ledger-key", "secrets/pseudonym-key", "secrets/session-key",
        "secrets/token-signing-key.pem",
        "secrets/admin-token", "secrets/packager", "tls/private-key.pem",
    ]

    init() throws {
        folder = try TemporaryDirectory()
    }

    @Test(arguments: [false, true])
    func writesExactlyTheNamedFiles(exists: Bool) async throws {
        if exists {
            try FileManager.default.createDirectory(
                atPath: folder.path("setup"), withIntermediateDirectories: false)
        }
        let run = try await LatchkeyProcess("init", folder.path("setup"))

        #expect(run.status == 0, "\(run.messages)")
        #expect(run.output.contains("Apple issues the real"))
        #expect(run.output.contains("loopback"))
        #expect(try folder.names(in: "setup") == ["fairplay", "latchkey.json5", "secrets", "tls"])
        #expect(try folder.names(in: "setup/tls") == ["certificate.pem", "private-key.pem"])
        #expect(
            try folder.names(in: "setup/fairplay") == [
                "application-secret.hex", "bundle.bin", "certificate-1024.der", "certificate-2048.der",
                "private-key-1024.pem", "private-key-2048.pem",
            ])
        #expect(
            try folder.names(in: "setup/secrets") == [
                "admin-token", "key-encryption-key", "ledger-key", "packager", "pseudonym-key", "session-key",
                "token-signing-key.pem",
                "token-verification-key.pem",
            ])
        for file in Self.secrets { #expect(try folder.mode("setup/\(file)") == 0o600, "\(file)") }
        for name in ["setup/fairplay", "setup/secrets", "setup/tls"] { #expect(try folder.mode(name) == 0o700) }
        if !exists { #expect(try folder.mode("setup") == 0o700) }
    }

    @Test func makesMaterialThatBelongsTogether() throws {
        let files = try DevelopmentSetup.make(now: 1_700_000_000)
        func contents(_ path: String) throws -> [UInt8] { try #require(files.first { $0.path == path }).contents }

        for bits in [1024, 2048] {
            let certificate = try Certificate(parsing: contents("fairplay/certificate-\(bits).der"))
            let key = try RSAPrivateKey(parsing: contents("fairplay/private-key-\(bits).pem"))
            #expect(certificate.keyBits == bits)
            #expect(certificate.publicKey.matches(key))
            #expect(certificate.isDevelopmentMaterial)
        }
        #expect(
            try contents("fairplay/bundle.bin")
                == contents("fairplay/certificate-1024.der") + contents("fairplay/certificate-2048.der"))
        let signingKey = try ES256PrivateKey(parsing: contents("secrets/token-signing-key.pem"))
        let verificationKey = try ES256PublicKey(parsing: contents("secrets/token-verification-key.pem"))
        let message = Array("message".utf8)
        #expect(try verificationKey.isValidSignature(signingKey.signature(for: message)[...], for: message[...]))
        #expect(try contents("fairplay/application-secret.hex").count == 33)
        #expect(try contents("secrets/key-encryption-key").count == 65)
        #expect(try contents("secrets/admin-token").count == 44)
        #expect(try contents("secrets/packager").count == 44)
    }

    @Test func makesOtherSecretsEachTime() throws {
        let one = try DevelopmentSetup.make(now: 1_700_000_000)
        let other = try DevelopmentSetup.make(now: 1_700_000_000)
        for (left, right) in zip(one, other) where left.path != DevelopmentSetup.configurationName {
            #expect(left.path == right.path)
            #expect(left.contents != right.contents, "\(left.path)")
        }
    }

    @Test func writesAConfigurationThatTheDaemonReads() throws {
        let text = Array(DevelopmentConfiguration.text.utf8)
        let file = try ConfigurationFile(parsing: text, path: "/setup/latchkey.json5", environment: [:])
        let configuration = file.configuration

        #expect(configuration.listeners.public.map(\.address.description) == ["127.0.0.1:8080"])
        #expect(configuration.listeners.admin.map(\.address.description) == ["127.0.0.1:9080"])
        let issuer = try #require(configuration.entitlement.issuers.first)
        #expect(issuer.issuer == "latchkey-development")
        #expect(issuer.audience == "latchkey")
        #expect(issuer.maximumLife == .seconds(86_400))
        #expect(issuer.keys.map(\.kid) == ["development-1"])
        let named = ["/setup/secrets/key-encryption-key", "/setup/secrets/token-verification-key.pem"]
        #expect(configuration.keys.keyEncryptionKey == .file(path: named[0]))
        #expect(issuer.keys.map(\.key) == [.file(path: named[1])])
        let packager = try #require(configuration.packagers.first)
        #expect(configuration.packagers.count == 1 && packager.name == "development")
        #expect(packager.secret == .file(path: "/setup/secrets/packager"))
        #expect(packager.scopes == [.read, .create, .import])
        #expect(file.warnings.isEmpty)
    }

    @Test(arguments: ["latchkey.json5", "unrelated.txt", ".hidden"])
    func refusesAFolderThatIsNotEmpty(name: String) async throws {
        try folder.write(Array("mine".utf8), to: name)
        let run = try await LatchkeyProcess("init", folder.path)

        #expect(run.status == 1)
        #expect(run.messages.contains(name))
        #expect(run.output.isEmpty)
        #expect(try folder.names() == [name])
        #expect(try folder.read(name) == Array("mine".utf8))
    }

    @Test func refusesToRunTwice() async throws {
        #expect(try await LatchkeyProcess("init", folder.path).status == 0)
        let secret = try folder.read("fairplay/application-secret.hex")
        #expect(try await LatchkeyProcess("init", folder.path).status == 1)
        #expect(try folder.read("fairplay/application-secret.hex") == secret)
    }

    @Test func refusesAFileAndAMissingParent() async throws {
        try folder.write([1], to: "file")
        #expect(try await LatchkeyProcess("init", folder.path("file")).status == 1)
        let run = try await LatchkeyProcess("init", folder.path("missing/setup"))
        #expect(run.status == 1)
        #expect(run.messages.contains("does not exist"))
        #expect(try folder.names() == ["file"])
    }

    @Test func replacesWhatAnInterruptedRunHadNotFinished() throws {
        let files = [SetupFile(path: "secrets/a", contents: [2], isSecret: true)]
        try FileManager.default.createDirectory(
            atPath: folder.path(".latchkey-init-unfinished/secrets"), withIntermediateDirectories: true)
        try folder.write([1], to: ".latchkey-init-unfinished/secrets/a")

        try SetupFolder.withFolder(folder.path) { folder throws(CommandError) in
            #expect(!folder.isWritten)
            try folder.write(files, folders: ["secrets"])
            try folder.place()
        }
        #expect(try folder.names() == ["secrets"])
        #expect(try folder.read("secrets/a") == [2])
    }

    @Test func movesOnWhatAnInterruptedRunHadFinished() throws {
        let files = ["a/x", "b/x", "c.json5"].map { SetupFile(path: $0, contents: [1], isSecret: true) }
        try SetupFolder.withFolder(folder.path) { folder throws(CommandError) in
            try folder.write(files, folders: ["a", "b"])
        }
        try FileManager.default.moveItem(
            atPath: folder.path(".latchkey-init-finished/a"), toPath: folder.path("a"))

        try SetupFolder.withFolder(folder.path) { folder throws(CommandError) in
            #expect(folder.isWritten)
            try folder.place()
        }
        #expect(try folder.names() == ["a", "b", "c.json5"])
    }

    @Test func movesNothingOverAStranger() throws {
        let files = ["a/x", "c.json5"].map { SetupFile(path: $0, contents: [1], isSecret: true) }
        try SetupFolder.withFolder(folder.path) { folder throws(CommandError) in
            try folder.write(files, folders: ["a"])
        }
        try folder.write([9], to: "c.json5")
        #expect(throws: CommandError.self) {
            try SetupFolder.withFolder(folder.path) { folder throws(CommandError) in try folder.place() }
        }
        #expect(try folder.read("c.json5") == [9])
    }

    /// The secrets of an installation, for its owner and one group, and a list of what others deliver.
    @Test func makesAProductionSetUp() async throws {
        try folder.write(Array("example".utf8), to: "latchkey.json5.example")
        let run = try await LatchkeyProcess("init", "--production", "--group", Self.ownGroup, folder.path)
        #expect(run.status == 0, "\(run.messages)")
        #expect(
            try folder.names() == [
                "CHECKLIST.txt", "fairplay", "issuers", "latchkey.json5", "latchkey.json5.example", "secrets", "tls",
            ])
        let secrets = [
            "admin-token", "key-encryption-key", "ledger-key", "master-secret", "pseudonym-key", "session-key",
        ]
        #expect(try folder.names(in: "secrets") == secrets)
        for name in secrets { #expect(try folder.mode("secrets/\(name)") == 0o640, "\(name)") }
        for name in ["fairplay", "issuers", "secrets", "tls"] { #expect(try folder.mode(name) == 0o750, "\(name)") }
        let checklist = String(decoding: try folder.read("CHECKLIST.txt"), as: UTF8.self)
        #expect(run.output.contains(checklist.dropLast()))
        for file in ["certificate-1024.der", "certificate-2048.der", "application-secret.hex", "private-key-2048.pem"] {
            #expect(checklist.contains("fairplay/\(file)"))
        }
        #expect(checklist.contains("secrets/key-encryption-key") && checklist.contains("secrets/master-secret"))
        // Its last commands lead to a license.
        let commands = checklist.split(separator: "\n").filter { $0.hasPrefix("  [ ] ") }.suffix(3)
        for (command, name) in zip(commands, ["keys create", "token mint", "doctor"]) {
            #expect(command.contains("latchkey \(name) --config "), "\(command)")
        }
        for name in secrets {
            let secret = String(decoding: try folder.read("secrets/\(name)"), as: UTF8.self).dropLast()
            #expect(secret.count >= 43 && !run.output.contains(secret))
        }
        #expect(try await LatchkeyProcess("init", "--production", folder.path).status == 1, "nothing is overwritten")
    }

    /// With development material in the places of Apple's files, all files that the configuration names are there.
    @Test func itsConfigurationNamesTheFilesOfTheChecklist() async throws {
        let run = try await LatchkeyProcess("init", "--production", "--group", Self.ownGroup, folder.path("etc"))
        #expect(run.status == 0, "\(run.messages)")
        func check() throws(ConfigurationError) -> LoadedConfiguration {
            let file = try ConfigurationFile(path: folder.path("etc/latchkey.json5"), environment: [:])
            return try LoadedConfiguration.load(file, environment: [:])
        }
        #expect(throws: ConfigurationError.self) { try check() }
        #expect(try await LatchkeyProcess("init", folder.path("dev")).status == 0)
        for name in try folder.names(in: "dev/fairplay") where name != "bundle.bin" {
            try FileManager.default.copyItem(
                atPath: folder.path("dev/fairplay/\(name)"), toPath: folder.path("etc/fairplay/\(name)"))
        }
        for name in ["certificate.pem", "private-key.pem"] {
            try FileManager.default.copyItem(
                atPath: folder.path("dev/tls/\(name)"), toPath: folder.path("etc/tls/\(name)"))
        }
        try FileManager.default.copyItem(
            atPath: folder.path("dev/secrets/token-verification-key.pem"), toPath: folder.path("etc/issuers/portal.pem")
        )
        let loaded = try check()
        #expect(loaded.configuration.listeners.public.map(\.address.description) == ["systemd:public"])
        #expect(loaded.configuration.storage.databasePath == "/var/lib/latchkey/latchkey.db")
        #expect(loaded.configuration.entitlement.sessions != nil)
        #expect(loaded.keyDerivation != nil)
        #expect(loaded.configuration.drain.delay == .zero)
    }

    /// What an operator must read is twenty lines; the rest are comments.
    @Test func itsConfigurationIsShort() throws {
        let lines = ProductionSetup.configuration(with: nil).split(separator: "\n")
            .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty && !$0.hasPrefix("//") }
        #expect(lines.count <= 20, "\(lines.count): \(lines)")
    }

    @Test func showsWhatItWouldMake() async throws {
        let run = try await LatchkeyProcess("init", "--production", "--dry-run", folder.path("etc"))
        #expect(run.status == 0 && run.output.contains("secrets/session-key") && run.output.contains("issuers: ["))
        #expect(try folder.names().isEmpty)
    }

    @Test(arguments: [["--group", "no-such-group", "--production"], ["--group", "root"], ["--dry-run"]])
    func refusesOptionsThatMeanNothing(options: [String]) async throws {
        let run = try await LatchkeyProcess(arguments: ["init"] + options + [folder.path("etc")])
        #expect(run.status == (options.contains("--production") ? 1 : 2))
        #expect(try folder.names().isEmpty)
    }

    /// The name of a group that this process may give files to.
    private static let ownGroup: String =
        unsafe getgrgid(getgid()).map { entry in unsafe String(cString: entry.pointee.gr_name) } ?? "root"

    @Test func leavesNothingWhereWritingFails() throws {
        let files = [SetupFile(path: "missing/a", contents: [1], isSecret: true)]
        #expect(throws: CommandError.self) {
            try SetupFolder.withFolder(folder.path("setup")) { folder throws(CommandError) in
                try folder.write(files, folders: ["secrets"])
            }
        }
        #expect(try folder.names().isEmpty)
    }
}

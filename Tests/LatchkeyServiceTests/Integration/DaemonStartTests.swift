import ByteCoding
import Foundation
import KeyCrypto
import TestSupport
import Testing

/// The daemon's work before it serves, and the faults that prevent it from serving.
@Suite(.tags(.startsProcesses), .serialized) struct DaemonStartTests {
    private let folder: DevelopmentFolder

    init() throws {
        folder = try DevelopmentFolder()
    }

    private func edit(_ change: (inout String) -> Void) throws {
        var text = try folder.text("latchkey.json5")
        change(&text)
        try folder.files.write(text.utf8, to: "latchkey.json5")
    }

    /// Expects a failed start as an operator and a script see it: status 1, a message, and no listener.
    private func expectRefusal(
        _ arguments: [String] = [], environment: [String: String] = [:], says words: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let process = try RunningDaemon.start(folder, arguments: arguments, environment: environment)
        #expect(process.waitForExit() == 1, sourceLocation: sourceLocation)
        let messages = process.messages.text
        for word in words {
            #expect(messages.contains(word), "\(word) in: \(messages)", sourceLocation: sourceLocation)
        }
        #expect(!messages.contains(#""event":"ready""#), sourceLocation: sourceLocation)
    }

    @Test func checksAGoodConfigurationAndServesNothing() throws {
        let process = try RunningDaemon.start(folder, arguments: ["--check"])
        #expect(process.waitForExit() == 0)
        #expect(process.output.text == "\(folder.configuration): good\n")
        #expect(!(try folder.files.names().contains("latchkey.db")))
    }

    /// The daemon warns about an expired certificate, but still serves it.
    @Test func warnsAboutACertificateThatHasEnded() throws {
        let key = try RSAPrivateKey(parsing: folder.files.read("fairplay/private-key-2048.pem"))
        let ended = try CertificateSamples.make(for: key, notAfter: 1_700_000_060)
        try folder.files.write(ended.der, to: "fairplay/certificate-2048.der")

        let check = try RunningDaemon.start(folder, arguments: ["--check"])
        #expect(check.waitForExit() == 0)
        #expect(check.messages.text.contains("warning: development: the 2048-bit certificate ended on 2023-11-14"))

        let daemon = try RunningDaemon(folder)
        let warnings = daemon.log.filter { $0["event"]?.string == "credential" }
        #expect(warnings.map { $0["level"]?.string } == ["warning", "warning"])
        #expect(warnings.map { $0["credential"]?.string } == ["development", "development"])
        #expect(warnings.contains { $0["warning"]?.string?.hasPrefix("the 2048-bit certificate ended") == true })
        let answer = try daemon.connect().request("GET", "/fps/certificate?size=2048")
        #expect(answer.status == 200 && answer.body == ended.der)
    }

    @Test func warnsAboutPoliciesThatCannotBeMeant() throws {
        try folder.configure(
            replacing: "entitlement: {",
            with: "entitlement: { profiles: { HD: { storage: \"1h\" }, UHD: { lease: \"10m\", duration: \"5m\" } }, "
                + "floor: { offline: false },")
        let check = try RunningDaemon.start(folder, arguments: ["--check"])
        #expect(check.waitForExit() == 0)
        let warnings = check.messages.text.split(separator: "\n").filter { $0.hasPrefix("warning: entitlement.") }
        #expect(warnings.count == 2)
        #expect(warnings.contains { $0.contains("profiles.HD") && $0.contains("the floor forbids") })
        #expect(warnings.contains { $0.contains("profiles.UHD") && $0.contains("not shorter than its duration") })
    }

    /// The address is known in advance, so that the connection can follow the message immediately.
    @Test func saysReadyOnceItAccepts() throws {
        let socket = try NotifySocket(path: folder.files.path("notify"))
        let address = try LoopbackAddress.free()
        #expect(throws: LoopbackError.refused) { try LoopbackConnection(address) }
        let process = try RunningDaemon.start(
            folder, environment: ["NOTIFY_SOCKET": socket.path, "LATCHKEY_LISTEN": address])
        #expect(socket.receive() == "READY=1")
        #expect(try LoopbackConnection(address).request("GET", "/readyz").status == 200)
        #expect(socket.pending == nil)
        process.signal(SIGTERM)
        #expect(socket.receive() == "STOPPING=1")
        #expect(process.waitForExit() == 0)
        #expect(socket.pending == nil)
    }

    @Test func neverSaysReadyWhereItCannotListen() throws {
        let other = try DevelopmentFolder()
        let daemon = try RunningDaemon(other)
        let socket = try NotifySocket(path: folder.files.path("notify"))
        try expectRefusal(
            environment: ["LATCHKEY_LISTEN": daemon.publicAddress, "NOTIFY_SOCKET": socket.path],
            says: ["public listener", daemon.publicAddress, "in use"])
        #expect(socket.pending == nil)
        // The first daemon is not affected.
        #expect(try daemon.connect().request("GET", "/readyz").status == 200)
        withExtendedLifetime(other) {}
    }

    /// If two daemons wrote one ledger, each would seal rows that the other does not know.
    @Test func refusesADatabaseThatAnotherDaemonHas() throws {
        let daemon = try RunningDaemon(folder)
        try expectRefusal(says: ["latchkey.db", "another daemon has its ledger"])
        #expect(try daemon.connect().request("GET", "/readyz").status == 200)
    }

    @Test func refusesAnAdminAddressThatIsTaken() throws {
        let daemon = try RunningDaemon(DevelopmentFolder())
        try expectRefusal(
            environment: ["LATCHKEY_ADMIN_LISTEN": daemon.adminAddress],
            says: ["admin listener", daemon.adminAddress, "in use"])
    }

    @Test(arguments: [[], ["--check"]])
    func refusesToShowDevelopmentMaterialToStrangers(arguments: [String]) throws {
        try expectRefusal(
            arguments, environment: ["LATCHKEY_LISTEN": "0.0.0.0:0"],
            says: ["LATCHKEY_LISTEN: 0.0.0.0:0", "development material"])
    }

    @Test(arguments: [[], ["--check"]])
    func namesTheLineAndThePathOfAMistake(arguments: [String]) throws {
        try edit { $0.replace("logging: { level: \"info\" }", with: "\n\nlogging: { lvel: \"info\" }") }
        let line = try folder.text("latchkey.json5").split(separator: "\n", omittingEmptySubsequences: false)
            .firstIndex { $0.contains("lvel") }
        try expectRefusal(
            arguments, says: ["\(folder.configuration), line \(try #require(line) + 1)", "logging.lvel", "level"])
    }

    @Test func namesTheLineOfBrokenSyntax() throws {
        try edit { $0 = "{\n  node: \"a\",\n  oops\n}\n" }
        try expectRefusal(says: ["\(folder.configuration): ", "line 4"])
    }

    @Test func namesAFileThatIsMissing() throws {
        try FileManager.default.removeItem(atPath: folder.files.path("fairplay/private-key-2048.pem"))
        try expectRefusal(says: ["fairplay.credentials[0].privateKey2048", "private-key-2048.pem"])
    }

    @Test func refusesASecretThatOthersCanRead() throws {
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o644], ofItemAtPath: folder.files.path("secrets/key-encryption-key"))
        try expectRefusal(says: ["keys.keyEncryptionKey", "0640"])
    }

    @Test func refusesAnotherKeyEncryptionKey() throws {
        try folder.importKey(content: "movie-1", key: [UInt8](0..<16), iv: [UInt8](16..<32))
        let other = String(repeating: "a5", count: 32)
        try folder.files.write((other + "\n").utf8, to: "secrets/key-encryption-key")
        let process = try RunningDaemon.start(folder)
        #expect(process.waitForExit() == 1)
        let messages = process.messages.text
        for words in ["latchkey.db", "sealed under another key-encryption key", "keys.keyEncryptionKey"] {
            #expect(messages.contains(words), "\(messages)")
        }
        #expect(!messages.contains(other))
    }

    @Test func saysWhereTheConfigurationIsMissing() throws {
        try FileManager.default.removeItem(atPath: folder.configuration)
        try expectRefusal(says: [folder.configuration])
    }

    @Test func exitsWithStatus2WhereItIsMisused() throws {
        let process = try ChildProcess(program: BuiltProgram.path("latchkeyd"), arguments: ["--confg", "x"])
        #expect(process.waitForExit() == 2)
        #expect(process.messages.text.contains("--config"))
    }
}

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

    /// Expects a failed start as an operator and a script see it: a status, each reason in one line, and no listener.
    /// The status is 78 for a configuration that cannot be used. `--check` is for people, and logs nothing.
    private func expectRefusal(
        _ arguments: [String] = [], environment: [String: String] = [:], status: Int32 = 78, says words: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let process = try RunningDaemon.start(folder, arguments: arguments, environment: environment)
        #expect(process.waitForExit() == status, sourceLocation: sourceLocation)
        let messages = process.messages.text
        let lines = messages.split(separator: "\n")
        for line in lines {
            #expect(line.hasPrefix(arguments.isEmpty ? "{" : "latchkeyd: "), "\(line)", sourceLocation: sourceLocation)
        }
        if arguments.isEmpty {
            let reasons = lines.filter { $0.contains(#""event":"start_failed""#) }
            #expect(!reasons.isEmpty && Set(reasons).count == reasons.count, sourceLocation: sourceLocation)
            #expect(reasons.allSatisfy { $0.contains(#""level":"critical""#) }, sourceLocation: sourceLocation)
        }
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
                + "limitsForEveryLicense: { offline: false },")
        let check = try RunningDaemon.start(folder, arguments: ["--check"])
        #expect(check.waitForExit() == 0)
        let warnings = check.messages.text.split(separator: "\n").filter { $0.hasPrefix("warning: entitlement.") }
        #expect(warnings.count == 2)
        #expect(warnings.contains { $0.contains("profiles.HD") && $0.contains("limitsForEveryLicense forbids") })
        #expect(warnings.contains { $0.contains("profiles.UHD") && $0.contains("not shorter than its duration") })
    }

    /// The address is known in advance, so that the connection can follow the message immediately.
    @Test func saysReadyOnceItAccepts() throws {
        let socket = try NotifySocket(path: folder.files.path("notify"))
        let address = try LoopbackAddress.free()
        #expect(throws: LoopbackError.refused) { try LoopbackConnection(address) }
        let process = try RunningDaemon.start(
            folder, environment: ["NOTIFY_SOCKET": socket.path, "LATCHKEY_LISTEN": address])
        #expect(socket.receive() == "READY=1\nSTATUS=Serving")
        #expect(try LoopbackConnection(address).request("GET", "/readyz").status == 200)
        #expect(socket.pending == nil)
        process.signal(SIGTERM)
        #expect(socket.receive()?.hasPrefix("STOPPING=1\n") == true)
        #expect(process.waitForExit() == 0)
        #expect(socket.pending == nil)
    }

    /// As often as the unit wants it, and not if it is told to another process.
    @Test func saysThatItsLoopsGoOn() throws {
        let socket = try NotifySocket(path: folder.files.path("notify"))
        let process = try RunningDaemon.start(
            folder, environment: ["NOTIFY_SOCKET": socket.path, "WATCHDOG_USEC": "200000"])
        #expect(socket.receive() == "READY=1\nSTATUS=Serving")
        for _ in 0..<3 { #expect(socket.receive() == "WATCHDOG=1") }
        process.signal(SIGTERM)
        while let message = socket.receive(), !message.hasPrefix("STOPPING=1\n") { #expect(message == "WATCHDOG=1") }
        #expect(process.waitForExit() == 0)
    }

    /// What a container's health check runs.
    @Test func tellsHowTheDaemonIs() throws {
        let socket = folder.files.path("admin.sock")
        let environment = ["LATCHKEY_ADMIN_LISTEN": "unix:\(socket)"]
        func probe(_ word: String) throws -> Int32 {
            try RunningDaemon.start(folder, arguments: [word], environment: environment).waitForExit()
        }
        #expect(try probe("--probe") == 1)
        let process = try RunningDaemon.start(folder, environment: environment)
        let isReady: Bool? = process.messages.wait { bytes in
            String(decoding: bytes, as: UTF8.self).contains(#""event":"ready""#) ? true : nil
        }
        #expect(isReady == true)
        #expect(try probe("--probe") == 0 && probe("--probe=ready") == 0)
        process.signal(SIGTERM)
        #expect(process.waitForExit() == 0)
        #expect(try probe("--probe=ready") == 1)
        // A port that the daemon finds itself cannot be known.
        let blind = try RunningDaemon.start(folder, arguments: ["--probe"])
        #expect(blind.waitForExit() == 1 && blind.messages.text.contains("give the admin listener a port"))
    }

    /// A plain line beside the log could not be read as a line of the log.
    @Test func writesNothingButItsLogToStandardError() throws {
        let daemon = try RunningDaemon(folder)
        daemon.process.signal(SIGHUP)
        #expect(daemon.line(event: "reloaded") != nil)
        daemon.process.signal(SIGTERM)
        #expect(daemon.process.waitForExit() == 0)
        let lines = daemon.process.messages.text.split(separator: "\n")
        #expect(lines.count > 4 && lines.count == daemon.log.count)
        #expect(daemon.process.output.text.isEmpty)
    }

    @Test func neverSaysReadyWhereItCannotListen() throws {
        let other = try DevelopmentFolder()
        let daemon = try RunningDaemon(other)
        let socket = try NotifySocket(path: folder.files.path("notify"))
        try expectRefusal(
            environment: ["LATCHKEY_LISTEN": daemon.publicAddress, "NOTIFY_SOCKET": socket.path], status: 1,
            says: ["public listener", daemon.publicAddress, "in use"])
        #expect(socket.pending == nil)
        // The first daemon is not affected.
        #expect(try daemon.connect().request("GET", "/readyz").status == 200)
        withExtendedLifetime(other) {}
    }

    /// If two daemons wrote one ledger, each would seal rows that the other does not know.
    @Test func refusesADatabaseThatAnotherDaemonHas() throws {
        let daemon = try RunningDaemon(folder)
        try expectRefusal(status: 1, says: ["latchkey.db", "another daemon has its ledger"])
        let again = try RunningDaemon.start(folder)
        #expect(again.waitForExit() == 1)
        #expect(again.messages.text.components(separatedBy: "another daemon has its ledger").count == 2, "told once")
        #expect(try daemon.connect().request("GET", "/readyz").status == 200)
    }

    @Test func refusesAnAdminAddressThatIsTaken() throws {
        let daemon = try RunningDaemon(DevelopmentFolder())
        try expectRefusal(
            environment: ["LATCHKEY_ADMIN_LISTEN": daemon.adminAddress], status: 1,
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
        try edit { $0.replace("logging: { level: \"debug\" }", with: "\n\nlogging: { lvel: \"info\" }") }
        let line = try folder.text("latchkey.json5").split(separator: "\n", omittingEmptySubsequences: false)
            .firstIndex { $0.contains("lvel") }
        try expectRefusal(
            arguments, says: ["\(folder.configuration), line \(try #require(line) + 1)", "logging.lvel", "level"])
    }

    /// Every problem stands in a line of its own, and each line says whose it is.
    @Test func namesAllMistakesInTheSameForm() throws {
        try edit { $0.replace("logging: { level: \"debug\" }", with: "logging: { level: \"loud\", linesPerEvent: 0 }") }
        let process = try RunningDaemon.start(folder)
        #expect(process.waitForExit() == 78)
        let lines = process.messages.text.split(separator: "\n")
        #expect(lines.count == 2)
        for (line, field) in zip(lines, ["logging.level", "logging.linesPerEvent"]) {
            let entry = try #require(try JSONReader.parse(Array(line.utf8)).object)
            #expect(entry["event"]?.string == "start_failed" && entry["level"]?.string == "critical")
            let cause = try #require(entry["cause"]?.string)
            #expect(cause.hasPrefix("\(folder.configuration), line ") && cause.contains(": \(field): "))
        }
        let check = try RunningDaemon.start(folder, arguments: ["--check"])
        #expect(check.waitForExit() == 78)
        let problems = check.messages.text.split(separator: "\n")
        #expect(
            problems.count == 2 && problems.allSatisfy { $0.hasPrefix("latchkeyd: \(folder.configuration), line ") })
    }

    /// Priorities are for the journal alone: a pipe that it has not connected gets none.
    @Test func marksNoPrioritiesForAnotherStream() throws {
        let daemon = try RunningDaemon(folder, environment: ["JOURNAL_STREAM": "1:1"])
        #expect(daemon.log.contains { $0["event"]?.string == "ready" })
        #expect(!daemon.process.messages.text.contains("<6>"))
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

import ByteCoding
import DeviceSimulation
import Entitlements
import FairPlay
import KeyCrypto
import TestSupport
import Testing

/// No secret is ever in the log, at any level, or in the files of the database.
@Suite(.tags(.startsProcesses)) struct SecretsAtRestTests {
    private struct Secret {
        let name: String
        let bytes: [UInt8]

        /// The encodings that would reveal the secret: the bytes, hexadecimal, and both Base64 alphabets.
        var forms: [[UInt8]] {
            let digits = hex(bytes)
            let standard = Base64.encode(bytes).prefix { $0 != "=" }
            let forms = [digits, digits.uppercased(), String(standard), Base64URL.encode(bytes)]
            return [bytes] + forms.map { Array($0.utf8) }
        }
    }

    private func requestSecrets(_ request: DeviceRequest) -> [Secret] {
        let secrets = request.secrets
        return [
            Secret(name: "the SPC's payload key", bytes: secrets.wrappedKey.bytes.revealed()),
            Secret(name: "SK", bytes: secrets.sessionBlock.bytes.copy(0..<16).revealed()),
            Secret(name: "HU", bytes: secrets.deviceID.bytes),
            Secret(name: "R1", bytes: secrets.r1),
            Secret(name: "the integrity bytes", bytes: secrets.sessionBlock.bytes.copy(80..<96).revealed()),
        ]
    }

    private func tokenSecrets(_ token: String) -> [Secret] {
        // The header is the same in all tokens. Claims and signature belong to one subject, and the signature makes the
        // token valid.
        token.split(separator: ".").dropFirst().map { Secret(name: "a token's part", bytes: Array($0.utf8)) }
    }

    private func installationSecrets(_ fixture: DaemonFixture) throws -> [Secret] {
        let folder = fixture.folder
        let keyFiles = try ["fairplay/private-key-1024.pem", "fairplay/private-key-2048.pem"].map { name in
            // A line from the middle of the key, as it would appear in any copy of the file.
            let lines = try folder.text(name).split(separator: "\n")
            return Secret(name: name, bytes: Array(lines[lines.count / 2].utf8))
        }
        return try keyFiles + [
            Secret(name: "the content key", bytes: fixture.key),
            Secret(name: "the content IV", bytes: fixture.iv),
            Secret(name: "the application secret", bytes: folder.applicationSecret()),
            Secret(name: "the key-encryption key", bytes: hex(folder.text("secrets/key-encryption-key"))),
            Secret(name: "the administrator's token", bytes: Array(folder.adminToken().utf8)),
        ]
    }

    @Test func noSecretIsInTheLogOrInTheDatabase() throws {
        let fixture = try DaemonFixture(environment: ["LATCHKEY_LOG_LEVEL": "trace"])
        // The key is stored while the daemon has the database open, so that the write-ahead log still contains it.
        let laterKey = Array("a later key 0123".utf8)
        let laterIV = Array("a later IV 01234".utf8)
        try fixture.folder.importKey(content: "movie-2", key: laterKey, iv: laterIV)
        var secrets = try installationSecrets(fixture)
        secrets += [Secret(name: "a later key", bytes: laterKey), Secret(name: "a later IV", bytes: laterIV)]
        let connection = try fixture.daemon.connect()
        var tokens = [
            try fixture.token(), try fixture.token(fixture.contents(issuedAgo: 600)),
            try fixture.token(fixture.contents(Right(.content("movie-2")))),
            try fixture.token(key: .generate()), try fixture.token(keyID: "other"),
        ]
        for version in [SPCVersion.v1, .v2] {
            for token in tokens {
                let request = try fixture.deviceRequest(version)
                secrets += requestSecrets(request)
                _ = try connection.license(request.message, token: token)
            }
            let faults: [SPCFault] = [
                .payload(.wrongIntegrity), .payload(.missingR2), .payload(.duplicateTagDifferent),
                .container(.unknownCertificateHash),
            ]
            for fault in faults {
                let request = try fixture.deviceRequest(version, with: fault)
                secrets += requestSecrets(request)
                #expect(try connection.license(request.message, token: tokens[0]).status == 422)
            }
        }
        let malformed = String(tokens[0].dropLast(9)) + "%"
        tokens.append(malformed)
        #expect(try connection.license([1], token: malformed).status == 401)
        secrets += tokens.flatMap(tokenSecrets)
        _ = try fixture.metrics()
        let refusal = try fixture.daemon.connectAsAdmin().request(
            "GET", "/metrics", ["Authorization": "Bearer \(tokens[0])"])
        #expect(refusal.status == 401)

        // The database files while the daemon has them open. The daemon is another process, so its locks are not
        // affected.
        var places = try fixture.folder.files.names().filter { $0.hasPrefix("latchkey.db") }.map { name in
            (name: name, bytes: try fixture.folder.files.read(name))
        }
        #expect(places.contains { $0.name == "latchkey.db" && !$0.bytes.isEmpty })
        #expect(places.contains { $0.name == "latchkey.db-wal" && !$0.bytes.isEmpty })
        fixture.daemon.process.signal(15)
        #expect(fixture.daemon.process.waitForExit() == 0)
        places.append(("latchkey.db after the end", try fixture.folder.files.read("latchkey.db")))
        places.append(("standard output", fixture.daemon.process.output.bytes))
        places.append(("the log", fixture.daemon.process.messages.bytes))

        // The log was written, at its most detailed level.
        let events = fixture.daemon.log.compactMap { $0["event"]?.string }
        #expect(events.count { $0 == "license_issued" } == 2)
        #expect(events.count { $0 == "license_refused" } == 17)
        #expect(fixture.daemon.process.messages.bytes.contains(sequence: Array("movie-1".utf8)))
        // A failure names the secret and does not print it.
        let leaks = places.flatMap { place in
            secrets.filter { $0.forms.contains { place.bytes.contains(sequence: $0) } }
                .map { "\($0.name) is in \(place.name)" }
        }
        #expect(leaks.isEmpty)
    }
}

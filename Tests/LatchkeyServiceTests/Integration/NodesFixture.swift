import ByteCoding
import DatabaseSupport
import DeviceSimulation
import Entitlements
import FairPlay
import Foundation
import KeyCrypto
import Telemetry
import TestSupport
import Testing

@testable import StoragePostgreSQL

/// Running daemons with the same credentials and secrets, on one PostgreSQL server.
final class NodesFixture {
    static let content = "movie-1"

    /// The set-up folder of each daemon, in the same order.
    let folders: [DevelopmentFolder]
    private(set) var daemons: [RunningDaemon] = []
    private let settings: PostgreSQLSettings
    private let schema: String
    private let crypto: CryptoContext

    init(
        nodes names: [String] = ["node-1", "node-2"], on server: DatabaseServer?, onStoreOutage: String = "refuse"
    ) throws {
        let server = try #require(server)
        schema = "test_" + UUID().uuidString.lowercased().replacing("-", with: "_")
        settings = PostgreSQLSettings(
            url: try PostgreSQLURL(parsing: "\(server.url)&schema=\(schema)"), password: try server.password())
        crypto = try CryptoContext()
        let first = try DevelopmentFolder()
        folders = [first] + (try names.dropFirst().map { _ in try Self.copy(of: first) })
        for (name, folder) in zip(names, folders) {
            try FileManager.default.copyItem(
                atPath: server.passwordFile, toPath: folder.files.path("secrets/postgresql-password"))
            try folder.configure(
                replacing: #"storage: { url: "sqlite:latchkey.db" }"#,
                with: """
                    node: "\(name)", storage: { url: "\(server.url)&schema=\(schema)", \
                    password: "secrets/postgresql-password", ledger: "ledger.db", onStoreOutage: "\(onStoreOutage)" }
                    """)
        }
        for folder in folders {
            // With this, the ledgers have only licenses.
            try folder.configure(replacing: "ledger: {", with: "ledger: { refusals: { perSecond: 0 },")
        }
        try importKey(content: Self.content)
        daemons = try folders.map { try RunningDaemon($0) }
    }

    deinit {
        // If the server has been deleted, its schema is deleted too.
        try? PostgreSQLConnection.connect(settings).execute(
            "DROP SCHEMA IF EXISTS \(schema) CASCADE", until: Self.deadline)
    }

    private static var deadline: MonotonicTime { SystemMonotonicClock().monotonicTime + .seconds(30) }

    private static func copy(of folder: DevelopmentFolder) throws -> DevelopmentFolder {
        let copy = try DevelopmentFolder()
        for name in ["fairplay", "secrets"] {
            try FileManager.default.removeItem(atPath: copy.files.path(name))
            try FileManager.default.copyItem(atPath: folder.files.path(name), toPath: copy.files.path(name))
        }
        return copy
    }

    func importKey(content: String) throws {
        try folders[0].importKey(
            content: content, key: Array(crypto.randomBytes(count: 16)), iv: Array(crypto.randomBytes(count: 16)))
    }

    /// Sends SIGTERM to all daemons, and waits until each has ended in the regular way.
    func stopDaemons() {
        for daemon in daemons { daemon.process.signal(SIGTERM) }
        for daemon in daemons { #expect(daemon.process.waitForExit() == 0) }
    }

    // MARK: Requests

    func spc(content: String = content) throws -> [UInt8] {
        let device = try folders[0].makeDevice(.v1, using: crypto)
        var options = DeviceOptions(version: .v1, assetID: Array(content.utf8))
        options.capabilities = [.offlineKey]
        return try device.makeRequest(options).message
    }

    /// An SPC that reports a kept key, with a challenge.
    func syncReport(_ challenge: UInt64) throws -> [UInt8] {
        let details = SyncReportVersion2(
            challenge: challenge, flags: [.report, .success], titleID: Bytes16(high: 1, low: 2),
            streamIDs: [Bytes16(high: 3, low: 4)])
        var options = DeviceOptions(version: .v1, assetID: Array(Self.content.utf8))
        options.sync = .report(SyncReport(.version2(details), remaining: .seconds(90)))
        return try folders[0].makeDevice(.v1, using: crypto).makeRequest(options).message
    }

    /// A token. With `uses`, it allows this number of licenses for a key.
    func token(
        uses: Int? = nil, content: String = content, subject: String? = nil, mode: Right.Mode = .stream
    ) throws -> String {
        let now = Int64(Date().timeIntervalSince1970)
        let key = try folders[0].signingKey()
        var right = Right(.content(content))
        right.mode = mode
        let plain = try TokenMinter(keyID: "development-1", es256: key).mint(
            TokenContents(
                issuer: "latchkey-development", audience: "latchkey", subject: subject, tokenID: UUID().uuidString,
                issuedAt: now,
                expiresAt: now + 600, rights: [right]))
        guard let uses else { return plain }
        let parts = plain.split(separator: ".")
        var payload = try Base64URL.decode(Array(parts[1].utf8))
        payload.removeLast()
        payload += Array(#","limits":{"uses":\#(uses)}}"#.utf8)
        let signed = "\(parts[0]).\(Base64URL.encode(payload))"
        return signed + "." + Base64URL.encode(try key.signature(for: Array(signed.utf8)))
    }

    // MARK: Records

    /// The time up to which the database forgets records, in seconds since 1970. Waits until a node has advanced it
    /// once.
    func settledTime() throws -> Int64 {
        let connection = try PostgreSQLConnection.connect(settings)
        let deadline = Self.deadline
        var settled: Int64 = 0
        while settled == 0, SystemMonotonicClock().monotonicTime < deadline {
            settled = try connection.query("SELECT at FROM settled_time", until: deadline)[0].integer(at: 0)
        }
        return settled
    }

    /// The number of license rows of all ledgers in PostgreSQL.
    func shippedRows() throws -> Int64 {
        try PostgreSQLConnection.connect(settings).query(
            "SELECT count(*) FROM \(schema).ledger_entry WHERE get_byte(body, 1) IN (1, 2)", until: Self.deadline
        )[0].integer(at: 0)
    }

    /// The number of requests that the nodes know to be in a ledger.
    func recordedRequests() throws -> Int64 {
        try PostgreSQLConnection.connect(settings).query(
            "SELECT count(*) FROM \(schema).cell WHERE kind = 1 AND get_byte(value, 1) = 1", until: Self.deadline
        )[0].integer(at: 0)
    }

    /// A connection with a transaction that prevents all others from reading or changing revocations until it ends.
    func lockRevocations() throws -> PostgreSQLConnection {
        let connection = try PostgreSQLConnection.connect(settings)
        try connection.execute(
            "BEGIN; LOCK TABLE \(schema).revoked IN ACCESS EXCLUSIVE MODE", until: Self.deadline)
        return connection
    }

    func revocations() throws -> Int64 {
        try PostgreSQLConnection.connect(settings).query(
            "SELECT count(*) FROM \(schema).revoked", until: Self.deadline
        )[0].integer(at: 0)
    }

    /// The licenses in a node's own ledger. Fails if the ledger does not verify.
    func licenses(of node: Int) async throws -> [String] {
        try await rows(of: node).filter { ["license_issued", "license_renewed"].contains($0["kind"]?.string) }
            .compactMap { $0["license"]?.string }
    }

    /// The rows of a node's own ledger, the oldest first. Fails if the ledger does not verify.
    func rows(of node: Int) async throws -> [JSONObject] {
        let configuration = folders[node].configuration
        let verified = try await LatchkeyProcess("ledger", "verify", "--config", configuration, "--json")
        #expect(verified.status == 0, "\(verified.messages)")
        let run = try await LatchkeyProcess(
            "ledger", "query", "--config", configuration, "--json", "--limit", "1000")
        #expect(run.status == 0, "\(run.messages)")
        let entries = try #require(try run.object()["entries"]?.array)
        return entries.reversed().compactMap(\.object)
    }

    /// Sends a request to the admin listener of a node.
    func admin(_ method: String, _ path: String, body: String = "", of node: Int = 0) throws -> LoopbackResponse {
        try daemons[node].connectAsAdmin().request(
            method, path, ["Authorization": "Bearer \(try folders[node].adminToken())"], body: Array(body.utf8))
    }

    func metric(_ name: String, of node: Int = 0) throws -> Double? {
        let response = try daemons[node].connectAsAdmin().request(
            "GET", "/metrics", ["Authorization": "Bearer \(try folders[node].adminToken())"])
        return try MetricsText(parsing: response.text)[name]
    }
}

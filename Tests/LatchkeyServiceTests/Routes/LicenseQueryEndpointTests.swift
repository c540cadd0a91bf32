import ByteCoding
import ContentKeys
import HTTPMessages
import KeyCrypto
import Records
import StorageSQLite
import TestSupport
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

/// Who may ask about a license, with a ledger in a file.
@Suite struct LicenseQueryEndpointTests {
    private let folder: TemporaryDirectory
    private let fixture: RoutesFixture
    private let store: SQLiteDecisionStore

    init() throws {
        folder = try TemporaryDirectory()
        let key = SecretBytes(copying: [UInt8](repeating: 0x5A, count: 32))
        store = try SQLiteDecisionStore.open(
            path: folder.path("latchkey.db"), chain: LedgerChain(key: try HMACSHA256Key(key), node: NodeID("node-1")))
        fixture = try RoutesFixture(ledger: folder.path("latchkey.db"))
    }

    private func license(_ number: UInt64) -> LicenseID {
        LicenseID(milliseconds: 1_700_000_000_000, random: Bytes16(high: 0, low: number))
    }

    /// A license that was issued for a token with this id.
    private func append(_ number: UInt64, issuer: String?, subject: Pseudonym? = nil) async throws {
        var entry = LedgerEntry(
            kind: .licenseIssued, at: 1_700_000_000, license: license(number), content: "movie-1", detail: "streaming")
        (entry.issuer, entry.subject, entry.tokenID) = (issuer, subject, "t-1")
        try await store.append(entry)
    }

    /// The states of the first licenses, and the licenses that the answer lists for the asset.
    private func told(_ count: UInt64, _ token: String) async throws -> (states: [String], listed: Set<String>) {
        let fields = ["Authorization": "Bearer \(token)"] as HTTPFields
        func members(_ body: String, _ list: String) async throws -> [JSONNode] {
            let answer = await fixture.ask(.post, "/fps/licenses/query", fields, body: Array(body.utf8))
            try #require(answer.status == .ok, "\(String(decoding: answer.body, as: UTF8.self))")
            return try #require(try JSONReader.parse(answer.body).object?[list]?.array)
        }
        let ids = (1...count).map { "\"\(license($0))\"" }.joined(separator: ",")
        let licenses = try await members(#"{"licenses":[\#(ids)]}"#, "licenses")
        let assets = try await members(#"{"assets":["movie-1"]}"#, "assets")
        let listed = assets.flatMap { $0.object?["licenses"]?.array ?? [] }
        return (
            licenses.compactMap { $0.object?["state"]?.string }, Set(listed.compactMap { $0.object?["id"]?.string })
        )
    }

    /// Every issuer chooses the ids of its tokens.
    @Test func aTokenWithoutASubjectIsToldOfLicensesOfItsOwnIssuer() async throws {
        defer { store.stop() }
        try await append(1, issuer: "portal")
        try await append(2, issuer: "another")
        try await append(3, issuer: nil)
        try await append(4, issuer: "portal2")
        let (states, listed) = try await told(4, fixture.token(subject: nil, tokenID: "t-1"))
        #expect(states == ["valid", "unknown", "unknown", "unknown"])
        #expect(listed == [license(1).description])
        let other = try await told(4, fixture.token(subject: nil, tokenID: "t-2"))
        #expect(Set(other.states) == ["unknown"] && other.listed.isEmpty)
    }

    @Test func aSubjectIsToldOfItsOwnLicenses() async throws {
        defer { store.stop() }
        let key = try HMACSHA256Key(SecretBytes(copying: [UInt8](repeating: 7, count: 32)))
        let pseudonyms = Pseudonymizer(key: key)
        try await append(1, issuer: nil, subject: pseudonyms.subject(issuer: "portal", "viewer-1"))
        try await append(2, issuer: nil, subject: pseudonyms.subject(issuer: "another", "viewer-1"))
        try await append(3, issuer: "portal")
        let (states, listed) = try await told(3, fixture.token(tokenID: "t-1"))
        #expect(states == ["valid", "unknown", "unknown"])
        #expect(listed == [license(1).description])
    }
}

import ByteCoding
import DeviceSimulation
import Entitlements
import FairPlay
import HTTPMessages
import HTTPServing
import KeyCrypto
import Telemetry
import TestSupport
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

/// Offline licenses, the devices' reports about them, and the challenges that keep the reports fresh.
@Suite struct OfflineRoutesTests {
    private let fixture: RoutesFixture
    private let token: String

    init() throws {
        fixture = try RoutesFixture()
        token = try fixture.token([Right(.content("movie-1"), mode: .both, storage: 600)])
    }

    private func members(of response: HTTPResponse) throws -> JSONObject {
        try #require(try JSONReader.parse(response.body).object)
    }

    // MARK: Requests for an offline license

    private func validity(query: String?) async throws -> LicenseTerms.Validity {
        let request = try fixture.deviceRequest(.v2) { $0.capabilities = [.offlineKey] }
        let response = await fixture.license(request.message, token: token, query: query)
        return try CKCOpener(secrets: request.secrets, using: CryptoContext()).open(response.body).terms.validity
    }

    @Test(arguments: ["offline=1", "offline=true", "offline", "a=b&offline=1&c"])
    func makesAnOfflineLicenseWhenAsked(query: String) async throws {
        guard case .offlineKey(let key) = try await validity(query: query) else {
            Issue.record("no offline key")
            return
        }
        #expect(key.storage == LicenseSeconds(600))
    }

    @Test(arguments: [nil, "", "offline=0", "offline=false", "Offline=1", "offlines=1"])
    func streamsOtherwise(query: String?) async throws {
        #expect(try await validity(query: query) == .session)
    }

    @Test(arguments: ["offline=2", "offline=yes", "offline=1&offline=1", "offline=1&offline=0"])
    func refusesAWishThatNobodyUnderstands(query: String) async throws {
        let request = try fixture.deviceRequest(.v1)
        let response = await fixture.license(request.message, token: token, query: query)
        #expect(response.status == .badRequest)
        #expect(fixture.operations.value == 0)
    }

    /// `"offline": true` of a streaming key requests a license to keep, only for this key. The query decides for all
    /// keys.
    @Test(arguments: [
        (nil, [true, false, false]), ("offline=1", [true, true, true]), ("offline=0", [false, false, false]),
    ])
    func keepsTheStreamingKeysThatAskForIt(query: String?, expected: [Bool]) async throws {
        let requests = try (0..<3).map { _ in try fixture.deviceRequest(.v2) { $0.capabilities = [.offlineKey] } }
        let keys = zip(requests, [#","offline":true"#, #","offline":false"#, ""]).enumerated().map { index, key in
            #"{"id":\#(index),"uri":"skd://movie-1","spc":"\#(Base64.encode(key.0.message))"\#(key.1)}"#
        }
        let body = #"{"fairplay-streaming-request":{"version":1,"streaming-keys":[\#(keys.joined(separator: ","))]}}"#
        let response = await fixture.license(Array(body.utf8), token: token, query: query)
        #expect(response.status == .ok)
        let answer = try #require(try members(of: response)["fairplay-streaming-response"]?.object)
        let results = try #require(answer["streaming-keys"]?.array).compactMap(\.object)
        #expect(results.map { $0["status"]?.number?.signed } == [0, 0, 0])
        #expect(results.map { $0["id"]?.number?.signed } == [0, 1, 2])
        for (index, result) in results.enumerated() {
            let license = try CKCOpener(secrets: requests[index].secrets, using: CryptoContext())
                .open(try Base64.decode(try #require(result["ckc"]?.string)))
            #expect(license.contentKey.bytes.revealed() == RoutesFixture.key)
            if case .offlineKey(let key) = license.terms.validity {
                #expect(expected[index] && key.storage == LicenseSeconds(600))
            } else {
                #expect(!expected[index] && license.terms.validity == .session)
            }
        }
    }

    @Test func saysThatARightIsForStreamingOnly() async throws {
        let request = try fixture.deviceRequest(.v1)
        let response = await fixture.license(request.message, token: try fixture.token(), query: "offline=1")
        #expect(response.status == .forbidden)
        #expect(try members(of: response)["code"]?.string == "offline_not_allowed")
    }

    // MARK: Challenges

    private func challenge(_ token: String?) async -> HTTPResponse {
        let fields: HTTPFields = token.map { ["Authorization": "Bearer \($0)"] } ?? [:]
        return await fixture.ask(.post, "/fps/challenge", fields)
    }

    private func freshChallenge() async throws -> UInt64 {
        let members = try members(of: await challenge(token))
        #expect(members["expiresIn"]?.number?.signed == 300)
        let digits = try #require(members["challenge"]?.string)
        #expect(digits.utf8.count == 16)
        return try #require(UInt64(digits, radix: 16))
    }

    @Test func givesAChallengeToTheHolderOfAToken() async throws {
        #expect(try await freshChallenge() != 0)
        #expect(await challenge(nil).status == .unauthorized)
        #expect(await fixture.ask(.get, "/fps/challenge").status == .methodNotAllowed)
        #expect(fixture.operations.value == 0)
    }

    @Test func givesAHolderOnlyAFew() async throws {
        for _ in 0..<8 { _ = try await freshChallenge() }
        let refused = await challenge(token)
        #expect(refused.status == .tooManyRequests)
        #expect(refused.waits(301...451))
        #expect(try members(of: refused)["code"]?.string == "rate_limited")
    }

    // MARK: Sync requests

    private func send(_ report: SyncReport) async throws -> HTTPResponse {
        let request = try fixture.deviceRequest(.v2) { $0.sync = .report(report) }
        return await fixture.license(request.message, token: token)
    }

    private func report(challenge: UInt64, _ remaining: SyncReport.Remaining) -> SyncReport {
        let details = SyncReportVersion2(
            challenge: challenge, flags: [.secureInvalidation, .success], titleID: Bytes16(high: 1, low: 2),
            streamIDs: [Bytes16(high: 3, low: 4), Bytes16(high: 5, low: 6)])
        return SyncReport(.version2(details), remaining: remaining)
    }

    @Test func answersAReportWithItsContents() async throws {
        let challenge = try await freshChallenge()
        let response = try await send(report(challenge: challenge, .seconds(90)))
        #expect(response.status == .ok)
        #expect(response.fields["Content-Type"] == "application/json")
        let members = try members(of: response)
        #expect(members["expiresInSeconds"]?.number?.signed == 90)
        let end = try #require(UnixTime(seconds: fixture.clock.wallTime.seconds + 90, nanoseconds: 0))
        #expect(members["expirationDate"]?.string == RFC3339.format(end, precision: .seconds))
        #expect(members["challengeAccepted"]?.bool == true)
        let sync = try #require(members["offline-sync"]?.object)
        #expect(sync["version"]?.number?.signed == 2)
        #expect(sync["duration-to-expiry"]?.number?.signed == 90)
        #expect(sync["server-challenge"]?.string.flatMap { UInt64($0, radix: 16) } == challenge)
        #expect(sync["title-id"]?.string == "00000000000000010000000000000002")
        #expect(sync["records-invalidated"]?.number?.signed == 2)
        #expect(
            sync["invalidated-stream-ids"]?.array?.compactMap(\.string) == [
                "00000000000000030000000000000004", "00000000000000050000000000000006",
            ])
        let flags = try #require(sync["flags"]?.object)
        let set = flags.members.filter { $0.node.bool == true }.map(\.name)
        #expect(set == ["secure-invalidation", "success"] && flags.members.count == 7)

        let again = try await send(report(challenge: challenge, .seconds(90)))
        #expect(again.status == .conflict)
        #expect(try self.members(of: again)["code"]?.string == "spc_replayed")
        #expect(try await fixture.metrics()["latchkey_sync_reports_total"] == 1)
    }

    @Test func saysThatAKeyHasNoEndOrHasEnded() async throws {
        let unlimited = try members(of: try await send(report(challenge: 0, .unlimited)))
        #expect(unlimited["expiresInSeconds"]?.isNull == true && unlimited["expirationDate"]?.isNull == true)
        #expect(unlimited["challengeAccepted"]?.bool == false)
        let expired = try members(of: try await send(report(challenge: 0, .expired)))
        #expect(expired["expiresInSeconds"]?.number?.signed == 0)
    }

    @Test func answersTheFirstVersionToo() async throws {
        let report = SyncReport(.version1(contentID: Bytes16(high: 7, low: 8)), remaining: .seconds(1))
        let sync = try #require(try members(of: try await send(report))["offline-sync"]?.object)
        #expect(sync["version"]?.number?.signed == 1)
        #expect(sync["content-id"]?.string == "00000000000000070000000000000008")
    }
}

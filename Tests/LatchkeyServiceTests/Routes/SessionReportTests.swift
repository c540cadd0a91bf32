import ContentKeys
import Foundation
import HTTPMessages
import HTTPServing
import KeyCrypto
import Licensing
import Records
import TestSupport
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

/// Reports of playback sessions that have ended.
@Suite struct SessionReportTests {
    private static func list(
        _ value: Any, _ format: PropertyListSerialization.PropertyListFormat = .binary
    ) throws -> [UInt8] {
        Array(try PropertyListSerialization.data(fromPropertyList: value, format: format, options: 0))
    }

    private func report(
        _ fixture: RoutesFixture, _ body: [UInt8], token: String?, path: String = "/fps/license"
    ) async -> HTTPResponse {
        let fields: HTTPFields = token.map { ["Authorization": "Bearer \($0)"] } ?? [:]
        return await fixture.ask(.post, path, fields, body: body)
    }

    private func isAcknowledged(_ response: HTTPResponse) -> Bool {
        response.status == .ok && response.body == Array("acknowledged".utf8)
            && response.fields["Content-Type"]?.hasPrefix("text/plain") == true
    }

    private func count(_ fixture: RoutesFixture, _ outcome: String) async throws -> Double? {
        try await fixture.metrics()["latchkey_session_reports_total{outcome=\"\(outcome)\"}"]
    }

    @Test(arguments: [PropertyListSerialization.PropertyListFormat.binary, .xml])
    func areRecordedOnce(format: PropertyListSerialization.PropertyListFormat) async throws {
        let store = MemoryDecisionStore()
        let fixture = try RoutesFixture(recorder: try store.recorder())
        let ids = [Data([1, 2, 3, 0xFF]), Data([4, 5])]
        let body = try Self.list(ids.map { ["PlaybackSessionID": $0, "More": ["a", 1]] as [String: Any] }, format)
        for _ in 0..<3 { #expect(isAcknowledged(await report(fixture, body, token: try fixture.token()))) }
        #expect(store.entries.map(\.kind) == [.sessionEndReported, .sessionEndReported])
        #expect(store.entries.map(\.detail) == ["010203ff", "0405"])
        #expect(store.entries.allSatisfy { $0.subject != nil })
        // Both sessions of a report are stored in one commit.
        #expect(store.commitCount == 3)
        #expect(try await count(fixture, "recorded") == 2)
        #expect(try await count(fixture, "repeated") == 4)
    }

    @Test func namesTextAndNumbersToo() throws {
        #expect(SessionReport.sessions(in: try Self.list(["PlaybackSessionID": "A-1"])) == ["A-1"])
        #expect(SessionReport.sessions(in: try Self.list(["PlaybackSessionID": 77])) == ["77"])
        #expect(SessionReport.sessions(in: try Self.list(["a": [["PlaybackSessionID": "x"]]])) == ["x"])
        #expect(SessionReport.sessions(in: try Self.list(["PlaybackSessionID": "line\nend"])) == [])
        #expect(SessionReport.sessions(in: try Self.list(["PlaybackSessionID": Data(count: 33)])) == [])
        #expect(SessionReport.sessions(in: try Self.list(["other": 1])) == [])
        let many = (0..<100).map { ["PlaybackSessionID": "\($0)"] }
        #expect(SessionReport.sessions(in: try Self.list(many))?.count == SessionReport.sessionCountMaximum)
    }

    @Test func areAcknowledgedWithoutAToken() async throws {
        let store = MemoryDecisionStore()
        let fixture = try RoutesFixture(recorder: try store.recorder())
        let body = try Self.list(["PlaybackSessionID": Data([1])])
        let late = try fixture.token(startsIn: 5000)
        for token in [nil, "a.b.c", late] { #expect(isAcknowledged(await report(fixture, body, token: token))) }
        #expect(store.entries.isEmpty)
        #expect(try await count(fixture, "unverified") == 3)
    }

    /// A report is acknowledged even if nothing valid follows its first bytes.
    @Test func areAcknowledgedUnread() async throws {
        let store = MemoryDecisionStore()
        let fixture = try RoutesFixture(recorder: try store.recorder())
        let good = try Self.list(["PlaybackSessionID": Data([1, 2])])
        var bodies = (8..<good.count).map { Array(good[..<$0]) }
        for index in 8..<good.count { for bit in 0..<8 { bodies.append(good.flipping(bit, at: index)) } }
        bodies.append(Array("<?xml version=\"1.0\"?><plist>".utf8))
        bodies.append(Array("<!DOCTYPE plist [<!ENTITY a \"b\">]><plist>&a;</plist>".utf8))
        bodies.append(Array("<plist>\(String(repeating: "<array>", count: 5000))".utf8))
        let token = try fixture.token()
        for body in bodies { #expect(isAcknowledged(await report(fixture, body, token: token))) }
        #expect(try #require(await count(fixture, "unreadable")) >= Double(good.count - 8 + 3))
    }

    @Test func areAcknowledgedWhenTheStoreFails() async throws {
        let store = MemoryDecisionStore(outage: .unavailable(.notWritable))
        let fixture = try RoutesFixture(recorder: try store.recorder())
        let body = try Self.list(["PlaybackSessionID": Data([1])])
        #expect(isAcknowledged(await report(fixture, body, token: try fixture.token())))
        #expect(try await count(fixture, "failed") == 1)
    }

    /// At every license address, a property list is a report, and no RSA operation is spent for it.
    @Test func costNoRSA() async throws {
        let fixture = try RoutesFixture()
        let body = try Self.list(["PlaybackSessionID": Data([1])])
        #expect(isAcknowledged(await report(fixture, body, token: try fixture.token())))
        #expect(fixture.operations.value == 0)
        #expect(await report(fixture, body, token: try fixture.token(), path: "/fps/challenge").body != body)
    }
}

extension [UInt8] {
    fileprivate func flipping(_ bit: Int, at index: Int) -> [UInt8] {
        var bytes = self
        bytes[index] ^= 1 << bit
        return bytes
    }
}

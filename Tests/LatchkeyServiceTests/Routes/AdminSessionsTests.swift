import KeyCrypto
import ServiceConfiguration
import Telemetry
import TestSupport
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

@Suite struct AdminSessionsTests {
    private let clock = ManualClock()
    private let sessions: AdminSessions
    private let alice = RoutesFixture.token("alice", "the secret of alice", roles: [.support])
    private let bob = RoutesFixture.token("bob", "the secret of bob")
    private let credentials: AdminCredentials

    init() {
        sessions = AdminSessions(clock: clock, wallClock: clock)
        credentials = AdminCredentials(tokens: [alice, bob], sessionIdle: .seconds(60))
    }

    private func name(
        of id: AdminSessionID, at listener: Int = 0, among credentials: AdminCredentials? = nil
    ) -> String? {
        sessions.holder(of: id, at: listener, among: credentials ?? self.credentials)?.token.name
    }

    @Test func findsTheHolderByTheID() throws {
        let (first, endsAt) = try sessions.begin(of: alice, at: 0)
        let (second, _) = try sessions.begin(of: bob, at: 0)
        #expect(name(of: first) == "alice" && name(of: second) == "bob")
        #expect(endsAt == clock.wallTime.seconds + 12 * 3600)
        let unknown = try AdminSessionID.random()
        #expect(name(of: unknown) == nil)
        #expect(name(of: first, at: 1) == nil, "a session belongs to one listener")
        sessions.end(first)
        #expect(name(of: first) == nil && name(of: second) == "bob")
    }

    @Test func endsWhenItIsIdle() throws {
        let (id, _) = try sessions.begin(of: alice, at: 0)
        for _ in 0..<5 {
            clock.advance(by: .seconds(59))
            #expect(name(of: id) == "alice")
            sessions.noteUse(of: id)
        }
        // Looking for the holder is no use of the session.
        clock.advance(by: .seconds(59))
        #expect(name(of: id) == "alice")
        clock.advance(by: .seconds(1))
        #expect(name(of: id) == nil)
        #expect(sessions.count == 0)
    }

    @Test func endsAfterItsLongestLifeEvenIfItIsUsed() throws {
        let (id, _) = try sessions.begin(of: alice, at: 0)
        for _ in 0..<(12 * 3600 / 59) {
            clock.advance(by: .seconds(59))
            #expect(name(of: id) == "alice")
            sessions.noteUse(of: id)
        }
        clock.advance(by: .seconds(59))
        #expect(name(of: id) == nil)
    }

    /// A shorter time takes effect for sessions that have begun.
    @Test func followsTheConfiguredIdleTime() throws {
        let (id, _) = try sessions.begin(of: alice, at: 0)
        clock.advance(by: .seconds(50))
        let shorter = AdminCredentials(tokens: [alice], sessionIdle: .seconds(50))
        #expect(name(of: id, among: shorter) == nil)
    }

    @Test func theLongestIdleOneMakesRoom() throws {
        let tokens = (0..<16).map { RoutesFixture.token("t\($0)", "the secret of number \($0)") }
        let credentials = AdminCredentials(tokens: tokens)
        var ids: [AdminSessionID] = []
        for number in 0..<AdminSessions.countMaximum {
            clock.advance(by: .milliseconds(1))
            ids.append(try sessions.begin(of: tokens[number % 16], at: 0).id)
        }
        clock.advance(by: .milliseconds(1))
        sessions.noteUse(of: ids[0])
        let (newest, _) = try sessions.begin(of: tokens[3], at: 0)
        #expect(sessions.count == AdminSessions.countMaximum)
        #expect(name(of: ids[1], among: credentials) == nil, "it was idle for the longest time")
        #expect(name(of: ids[0], among: credentials) == "t0")
        #expect(name(of: newest, among: credentials) == "t3")
    }

    /// The holder of one token cannot end the sessions of others.
    @Test func oneTokenTakesItsOwnRoomAlone() throws {
        let (other, _) = try sessions.begin(of: bob, at: 0)
        var ids: [AdminSessionID] = []
        for _ in 0..<1000 {
            clock.advance(by: .milliseconds(1))
            ids.append(try sessions.begin(of: alice, at: 0).id)
        }
        #expect(sessions.count == AdminSessions.countMaximumOfToken + 1)
        #expect(name(of: other) == "bob")
        #expect(name(of: ids[999 - AdminSessions.countMaximumOfToken]) == nil)
        #expect(name(of: ids[1000 - AdminSessions.countMaximumOfToken]) == "alice")
    }

    @Test func hasTheRolesOfTheTokenAsItIsConfiguredNow() throws {
        let (id, _) = try sessions.begin(of: alice, at: 0)
        let changed = AdminCredentials(
            tokens: [RoutesFixture.token("alice", "the secret of alice", roles: [.security])])
        #expect(sessions.holder(of: id, at: 0, among: changed)?.token.roles == [.security])
    }

    @Test(arguments: [
        [], [("alice", "another secret of alice")], [("carol", "the secret of alice")],
    ])
    func endsWithItsToken(tokens: [(String, String)]) throws {
        let (id, _) = try sessions.begin(of: alice, at: 0)
        let changed = AdminCredentials(tokens: tokens.map { RoutesFixture.token($0.0, $0.1) })
        #expect(name(of: id, among: changed) == nil)
        #expect(name(of: id) == nil, "and does not come back with it")
    }

    /// A reload ends the sessions of a removed token also if no request of them comes before the token is back.
    @Test func aReloadEndsSessionsOfRemovedTokens() throws {
        let (first, _) = try sessions.begin(of: alice, at: 0)
        let (second, _) = try sessions.begin(of: bob, at: 0)
        let (elsewhere, _) = try sessions.begin(of: bob, at: 1)
        sessions.keepSessions(of: [AdminCredentials(tokens: [bob])])
        #expect(name(of: first) == nil && name(of: second) == "bob" && name(of: elsewhere, at: 1) == nil)
    }
}

@Suite struct AdminSessionIDTests {
    @Test func hasAFormTokenThatIsNotItself() throws {
        let (one, other) = (try AdminSessionID.random(), try AdminSessionID.random())
        let token = try one.formToken()
        #expect(one.cookieValue.utf8.count == 64 && one.cookieValue != other.cookieValue)
        let again = try one.formToken()
        #expect(token == again && token != one.cookieValue)
        #expect(one.isFormToken(Array(token.utf8)[...]))
        #expect(!other.isFormToken(Array(token.utf8)[...]))
        for wrong in ["", one.cookieValue, token + "0", String(token.dropLast())] {
            #expect(!one.isFormToken(Array(wrong.utf8)[...]))
        }
        let read = try #require(AdminSessionID(Array(one.cookieValue.utf8)[...]))
        let tokenOfRead = try read.formToken()
        #expect(read.digest == one.digest && tokenOfRead == token)
    }

    @Test(arguments: ["", "0", String(repeating: "0", count: 63), String(repeating: "g", count: 64)])
    func readsNothingElse(text: String) {
        #expect(AdminSessionID(Array(text.utf8)[...]) == nil)
    }

    @Test func isNeverPrinted() throws {
        let id = try AdminSessionID.random()
        let sender = AdminSender(proof: .session(id, of: RoutesFixture.token("a", "the secret of a"), endsAt: 0))
        var text = "\(id) \(sender)"
        dump(id, to: &text)
        let formToken = try id.formToken()
        #expect(!text.contains(id.cookieValue) && !text.contains(formToken))
    }
}

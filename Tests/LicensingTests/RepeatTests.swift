import DeviceSimulation
import Entitlements
import FairPlay
import KeyCrypto
import POSIXSockets
import Records
import TestSupport
import Testing

@testable import Licensing

/// What a repeated request gets (architecture, "What a repeat is"): the first license if the same is granted, and
/// otherwise what any other request would get.
@Suite struct RepeatTests {
    private let desk: Desk

    init() throws {
        desk = try Desk()
    }

    // MARK: A cheating viewer with two tokens

    /// The cheap token counts nothing. The same SPC with the other token costs what a fresh SPC costs.
    @Test func aCheapTokenOpensNoSpentOne() async throws {
        let cheap = Grant(lease: 60)
        let spent = Grant(jti: "b", uses: 1)
        #expect(try await desk.ask(spent).isGiven)
        let request = try desk.request()
        #expect(try await desk.ask(cheap, request).isGiven)
        #expect(try await desk.ask(spent, request).failure == .denied(.tokenUsed(limit: 1)))
    }

    @Test func eachLicenseOfACountedTokenCostsAUse() async throws {
        for number in 0..<3 {
            let request = try desk.request()
            #expect(try await desk.ask(Grant(lease: 60), request).isGiven)
            let counted = try await desk.ask(Grant(jti: "b", uses: 1), request)
            #expect(counted.isGiven == (number == 0))
        }
    }

    @Test(arguments: [
        (Grant(jti: "b", deviceMaximum: 1), DecisionDenial.deviceLimit(limit: 1)),
        (Grant(jti: "b", bindsFirst: true), .otherDevice),
        (Grant(jti: "b", playbacks: 1), .slotsFull(current: 1, limit: 1)),
    ])
    fileprivate func aCheapTokenIsNoWayToASecondDevice(strict: Grant, denial: DecisionDenial) async throws {
        #expect(try await desk.ask(strict).isGiven)
        let request = try desk.request(of: .second)
        #expect(try await desk.ask(Grant(lease: 60), request).isGiven)
        #expect(try await desk.ask(strict, request).failure == .denied(denial))
    }

    @Test func anotherUseIsDecidedInFull() async throws {
        let once = Grant(jti: "b", uses: 1, mode: "both")
        let request = try desk.request()
        #expect(try await desk.ask(once, request).isGiven)
        #expect(try await desk.ask(once, request, for: .offline).failure == .denied(.tokenUsed(limit: 1)))
    }

    /// The session token renews, and the spent token begins no new session with the same SPC.
    @Test func aSpentTokenBeginsNoSessionAnew() async throws {
        let once = Grant(jti: "b", uses: 1, lease: 5)
        let first = try await desk.ask(once).license
        var session = try #require(first.sessionToken)
        for second in 1...5 as ClosedRange<Int64> {
            let renewal = try desk.request(state: .leaseExpiring)
            let now = LicensingFixture.now + second
            session = try #require(try await desk.ask(session, renewal, at: now).license.sessionToken)
            #expect(try await desk.ask(once, renewal, at: now).failure == .denied(.tokenUsed(limit: 1)))
        }
    }

    /// However often a license is repeated, it and its session end when they would have ended.
    @Test func repetitionsDoNotProlongASession() async throws {
        let desk = try Desk(sessionLife: 12)
        let once = Grant(jti: "b", uses: 1, lease: 10)
        let request = try desk.request()
        var last: Answered?
        for second in 0..<10 as Range<Int64> {
            last = try await desk.ask(once, request, at: LicensingFixture.now + second)
            #expect(try last?.license.times.expiresAt == LicensingFixture.now + 10)
        }
        let renewal = try desk.request(state: .leaseExpiring)
        let session = try #require(try last?.license.sessionToken)
        let now = LicensingFixture.now
        #expect(try await desk.ask(session, renewal, at: now + 11).license.times.expiresAt == now + 12)
        #expect(try await desk.ask(once, request, at: now + 10).failure == .denied(.replayed))
    }

    /// The session of a repeated license ends with the right of the first token, although the second one is spent.
    @Test func aRepetitionGivesASpentTokenNoLongerSession() async throws {
        let now = LicensingFixture.now
        let spent = Grant(jti: "b", uses: 1, end: now + 130)
        #expect(try await desk.ask(spent).isGiven)
        let request = try desk.request()
        #expect(try await desk.ask(Grant(end: now + 15), request).isGiven)
        let again = try await desk.ask(spent, request).license
        #expect(again.times.expiresAt == now + 15 && again.sessionToken == nil)
    }

    @Test func aTokenForOneNetworkIsAnotherGrant() async throws {
        let spent = Grant(jti: "b", uses: 1, lease: 60)
        #expect(try await desk.ask(spent).isGiven)
        let message = try desk.request().message
        let home = RequestOrigin(address: .v4(0x7F00_0001))
        let request = LicenseRequest(message: message, use: .streaming, origin: home)
        let bound = try desk.token(Grant(lease: 60, network: "127.0.0.1/32"))
        #expect(await desk.fixture.outcome(of: request, token: bound).failure == nil)
        let refusal = await desk.fixture.outcome(of: request, token: try desk.token(spent)).failure
        #expect(refusal == .denied(.tokenUsed(limit: 1)))
    }

    // MARK: Honest retries

    @Test func theSameRequestCostsOneUseAndOneRow() async throws {
        let once = Grant(jti: "b", uses: 1)
        let request = try desk.request()
        let first = try await desk.ask(once, request).license
        for second in [0, 1, 30, 119] as [Int64] {
            let again = try await desk.ask(once, request, at: LicensingFixture.now + second).license
            #expect(again.id == first.id && again.isRepeated)
        }
        #expect(desk.store.entries.count == 1)
    }

    @Test func nineCopiesAtOnceCostOneUseAndOneRow() async throws {
        let token = try desk.token(Grant(jti: "b", uses: 1))
        let request = try desk.request()
        let (fixture, message) = (desk.fixture, request.message)
        let ids = await withTaskGroup(of: LicenseID?.self) { group in
            for _ in 0..<9 { group.addTask { try? await fixture.issue(message, token: token).get().id } }
            return await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(ids.count == 1 && !ids.contains(nil) && desk.store.entries.count == 1)
    }

    /// A portal that mints a token for each attempt: another id, other uses, and an end "four hours from now".
    @Test func aFreshTokenWithTheSameGrantCostsNothing() async throws {
        let request = try desk.request()
        let now = LicensingFixture.now
        let first = try await desk.ask(Grant(jti: "b", uses: 1, lease: 60, end: now + 14_400), request).license
        let again = try await desk.ask(
            Grant(jti: "c", uses: 2, lease: 60, end: now + 14_430), request, at: now + 30
        ).license
        #expect(again.id == first.id && again.terms.lease?.value == 30 && desk.store.entries.count == 1)
        #expect(try await desk.ask(Grant(jti: "c", uses: 1, lease: 60)).isGiven, "the second token has its uses")
    }

    @Test func aRightThatEndsMuchLaterIsAnotherGrant() async throws {
        let request = try desk.request()
        let now = LicensingFixture.now
        let short = Grant(jti: "a", end: now + 60)
        let long = Grant(jti: "b", uses: 1, end: now + 14_400)
        let first = try await desk.ask(short, request).license
        let second = try await desk.ask(long, request).license
        #expect(second.id != first.id && !second.isRepeated && desk.store.entries.count == 2)
        // A late copy of each finds its own license.
        #expect(try await desk.ask(long, request).license.id == second.id)
        #expect(try await desk.ask(short, request).license.id == first.id)
        #expect(try await desk.ask(long).failure == .denied(.tokenUsed(limit: 1)))
    }

    /// The answer to a renewal was lost. The player repeats it with the token that it had, or with the one that the
    /// lost answer contained.
    @Test(arguments: [false, true])
    func aLostRenewalIsRepeated(withNewerToken: Bool) async throws {
        let first = try await desk.ask(Grant(jti: "b", uses: 1, lease: 60)).license
        let older = try #require(first.sessionToken)
        let renewal = try desk.request(state: .leaseExpiring)
        let now = LicensingFixture.now + 40
        let renewed = try await desk.ask(older, renewal, at: now).license
        let newer = try #require(renewed.sessionToken)
        let again = try await desk.ask(withNewerToken ? newer : older, renewal, at: now + 1).license
        #expect(again.id == renewed.id && again.isRepeated && desk.store.entries.count == 2)
    }

    @Test func theFirstLicenseOfARentalIsRepeated() async throws {
        let rented = Grant(jti: "b", uses: 1, rental: true)
        let request = try desk.request()
        let first = try await desk.ask(rented, request).license
        let again = try await desk.ask(rented, request, at: LicensingFixture.now + 20).license
        #expect(again.id == first.id && desk.store.entries.count == 1)
        #expect(try #require(again.times.expiresAt) <= #require(first.times.expiresAt))
    }

    /// Without a subject, a token is a party of its own. Nothing is counted, so each attempt gets a license.
    @Test func withoutASubjectAFreshTokenIsAnswered() async throws {
        let request = try desk.request()
        for number in 0..<3 { #expect(try await desk.ask(Grant(jti: "t\(number)", subject: nil), request).isGiven) }
        #expect(desk.store.entries.count == 3)
    }

    // MARK: Random pairs

    /// A second token with the SPC of the first one gets what a fresh SPC would have got, or a repetition of an equal
    /// grant that lasts no longer.
    @Test func aPairOfTokensGetsNothingThatFreshRequestsWouldNot() async throws {
        var random = SeededGenerator.announced("the same SPC with two tokens")
        let count = TestLength.inputs(short: 60, long: 1500)
        var repeated = 0
        for _ in 0..<count {
            let first = Grant.random("a", using: &random)
            var second = Grant.random("b", using: &random)
            if Int.random(in: 0..<3, using: &random) == 0 { second.takeGrant(of: first) }
            let before = [first, second].filter { _ in Bool.random(using: &random) }
            let age = Int64.random(in: 0...130, using: &random)
            let same = try await Self.play(before, first, second, age: age, isSame: true)
            let fresh = try await Self.play(before, first, second, age: age, isSame: false)
            guard same.first.isGiven else { continue }
            let words: Comment = "\(before), then \(first), and \(second) \(age) s later"
            if same.second.isGiven, try same.second.license.isRepeated {
                repeated += 1
                #expect(first.grants == second.grants, words)
                let (end, firstEnd) = (try same.second.license.times.expiresAt, try same.first.license.times.expiresAt)
                #expect((end ?? .max) <= (firstEnd ?? .max), words)
            } else if first.grants == second.grants, same.second.failure == .denied(.replayed) {
                #expect(age >= 60, words)
            } else {
                #expect(same.second.failure == fresh.second.failure, words)
                #expect(same.second.isGiven == fresh.second.isGiven, words)
            }
        }
        #expect(repeated > 0)
    }

    /// Asks with the first token and then with the second, with the same SPC or a fresh one of the same playback.
    private static func play(
        _ before: [Grant], _ first: Grant, _ second: Grant, age: Int64, isSame: Bool
    ) async throws -> (first: Answered, second: Answered) {
        let desk = try Desk()
        for grant in before { _ = try await desk.ask(grant, desk.request(of: .second)) }
        let request = try desk.request()
        let one = try await desk.ask(first, request)
        let other = isSame ? request : try desk.request()
        return (one, try await desk.ask(second, other, at: LicensingFixture.now + age))
    }
}

/// What a token of the tests grants and counts.
private struct Grant: Sendable, CustomStringConvertible {
    var jti = "a"
    var subject: String? = "viewer"
    var uses: Int?
    var lease: Int64?
    var end: Int64?
    var mode = "stream"
    var deviceMaximum: Int?
    var bindsFirst = false
    var playbacks: Int?
    var rental = false
    var network: String?

    init(
        jti: String = "a", subject: String? = "viewer", uses: Int? = nil, lease: Int64? = nil, end: Int64? = nil,
        mode: String = "stream", deviceMaximum: Int? = nil, bindsFirst: Bool = false, playbacks: Int? = nil,
        rental: Bool = false, network: String? = nil
    ) {
        (self.jti, self.subject, self.uses, self.lease, self.end) = (jti, subject, uses, lease, end)
        (self.mode, self.deviceMaximum, self.bindsFirst) = (mode, deviceMaximum, bindsFirst)
        (self.playbacks, self.rental, self.network) = (playbacks, rental, network)
    }

    static func random(_ jti: String, using random: inout SeededGenerator) -> Grant {
        func any<Value>(_ values: [Value?]) -> Value? { values.randomElement(using: &random) ?? nil }
        return Grant(
            jti: jti, uses: any([nil, 1, 2]), lease: any([nil, 60, 300]),
            end: any([nil, nil, LicensingFixture.now + 400, LicensingFixture.now + 14_400]),
            deviceMaximum: any([nil, nil, 1]), bindsFirst: any([false, false, true]) ?? false,
            playbacks: any([nil, nil, 1]))
    }

    /// Grants what another token grants. Its id, uses and binding stay.
    mutating func takeGrant(of other: Grant) {
        (lease, end, deviceMaximum, playbacks) = (other.lease, other.end, other.deviceMaximum, other.playbacks)
    }

    /// What makes two grants equal. It is written here a second time, so that the tests do not ask the code.
    var grants: String { "\(subject ?? "") \(lease ?? 0) \(mode) \(deviceMaximum ?? 0) \(playbacks ?? 0) \(rental)" }

    var claims: String {
        var right = [#""content":"movie-1""#, #""mode":"\#(mode)""#]
        if let lease { right.append(#""lease":\#(lease)"#) }
        if let end { right.append(#""end":\#(end)"#) }
        if rental { right.append(#""rental":{"start":"30d","play":"48h"}"#) }
        var members = [#""jti":"\#(jti)""#, #""rights":[{\#(right.joined(separator: ","))}]"#]
        if let subject { members.append(#""sub":"\#(subject)""#) }
        var limits = uses.map { [#""uses":\#($0)"#] } ?? []
        if let network { limits.append(#""ips":["\#(network)"]"#) }
        if !limits.isEmpty { members.append(#""limits":{\#(limits.joined(separator: ","))}"#) }
        if let playbacks { members.append(#""session":{"groups":[{"id":"tv","max":\#(playbacks)}]}"#) }
        var device: [String] = []
        if bindsFirst { device.append(#""bind":"first""#) }
        if let deviceMaximum { device.append(#""max":\#(deviceMaximum)"#) }
        if !device.isEmpty { members.append(#""device":{\#(device.joined(separator: ","))}"#) }
        return members.joined(separator: ",")
    }

    var description: String { claims }
}

/// An answer to a request, or its refusal.
private typealias Answered = Result<IssuedLicense, LicenseError>

extension Result where Success == IssuedLicense, Failure == LicenseError {
    fileprivate var license: IssuedLicense { get throws { try get() } }
    fileprivate var isGiven: Bool { failure == nil }
}

/// A server with a store of its own, and two devices.
private struct Desk {
    enum Owner: UInt8 {
        case first = 1
        case second
    }

    let fixture: LicensingFixture
    let store: MemoryDecisionStore
    private let device: SimulatedDevice

    init(sessionLife: Int64 = SessionTokens.lifeDefault) throws {
        store = MemoryDecisionStore()
        fixture = try LicensingFixture(
            recorder: store.recorder(), sessions: try LicensingFixture.sessions(maximumLife: sessionLife))
        device = try fixture.credential.makeDevice(.v1, using: CryptoContext())
    }

    /// Makes an SPC of the one playback that each device has.
    func request(of owner: Owner = .first, state: PlaybackState = .playing) throws -> DeviceRequest {
        var options = DeviceOptions(version: .v1, assetID: Array("movie-1".utf8))
        options.deviceID = DeviceID([UInt8](repeating: owner.rawValue, count: 20))
        options.playbackState = MediaPlaybackState(createdAt: 1, state: state, sessionID: UInt64(owner.rawValue))
        return try device.makeRequest(options)
    }

    func token(_ grant: Grant) throws -> [UInt8] { try fixture.token(claims: grant.claims) }

    func ask(
        _ grant: Grant, _ request: DeviceRequest? = nil, for use: LicenseUse = .streaming,
        at now: Int64 = LicensingFixture.now
    ) async throws -> Answered {
        try await ask(token(grant), request ?? self.request(), for: use, at: now)
    }

    func ask(_ session: String, _ request: DeviceRequest, at now: Int64) async throws -> Answered {
        try await ask(Array(session.utf8), request, for: .streaming, at: now)
    }

    func ask(
        _ token: [UInt8], _ request: DeviceRequest, for use: LicenseUse = .streaming,
        at now: Int64 = LicensingFixture.now
    ) async throws -> Answered {
        await fixture.issue(request.message, token: token, for: use, now: now)
    }
}

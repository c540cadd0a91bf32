import KeyCrypto
import Telemetry
import TestSupport
import Testing

@testable import Entitlements

/// Scripts of what happens to the keys of a URL. Times are in seconds.
@Suite struct FetchedKeysTests {
    private static let settings = FetchedKeys.Settings(refresh: .seconds(600), maximumAge: .seconds(3600))
    private let set: JWKSet
    private var keys = FetchedKeys(settings, now: at(0))

    init() throws {
        set = try PublishedKeys.set([try PublishedKeys.json("k", try ES256PrivateKey.generate())])
    }

    private static func at(_ seconds: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: Int64(seconds * 1_000_000_000))
    }

    private mutating func look(_ seconds: Double, isWanted: Bool = false) -> [FetchedKeys.Action] {
        keys.look(now: Self.at(seconds), isWanted: isWanted)
    }

    /// The answer to a fetch, with the middle of the random spread.
    private mutating func receive(_ seconds: Double, tag: String? = "t") {
        keys.receive(set, entityTag: tag, now: Self.at(seconds), random: 0.5)
    }

    private mutating func confirm(_ seconds: Double, tag: String? = nil) -> Bool {
        keys.confirm(entityTag: tag, now: Self.at(seconds), random: 0.5)
    }

    private mutating func fail(_ seconds: Double) {
        keys.fail(now: Self.at(seconds), random: 0.5)
    }

    @Test mutating func fetchesAtTheStartAndThenInIntervals() {
        #expect(keys.standing == .neverFetched && keys.set == nil && keys.age(now: Self.at(0)) == nil)
        #expect(look(0) == [.fetch(ifNot: nil)])
        #expect(look(1) == [], "one fetch at a time")
        receive(2)
        #expect(keys.standing == .current && keys.set != nil)
        #expect(look(601.9) == [])
        #expect(look(602) == [.fetch(ifNot: "t")])
        #expect(confirm(603))
        #expect(look(1202.9) == [])
        #expect(look(1203) == [.fetch(ifNot: "t")], "an answer without a tag keeps the one before")
        #expect(confirm(1203, tag: "u"))
        #expect(look(1803) == [.fetch(ifNot: "u")])
    }

    /// The age counts from the beginning of the fetch, because the document may be as old as that.
    @Test mutating func theAgeCountsFromTheBeginningOfAFetch() {
        _ = look(10)
        receive(15)
        #expect(keys.age(now: Self.at(20)) == .seconds(10))
    }

    @Test mutating func keepsTheKeysWhileTheURLFailsUntilTheyAreTooOld() {
        _ = look(0)
        receive(0)
        #expect(look(600) == [.fetch(ifNot: "t")])
        fail(600)
        #expect(keys.set != nil && keys.standing == .current)
        #expect(look(3599) == [.fetch(ifNot: "t")])
        fail(3599)
        #expect(look(3600) == [.expire])
        #expect(keys.set == nil && keys.standing == .expired)
        #expect(keys.age(now: Self.at(3600)) == .seconds(3600))
        // Without the keys, "not modified" would be of no use.
        #expect(look(4000) == [.fetch(ifNot: nil)])
        receive(4000)
        #expect(keys.standing == .current)
    }

    @Test mutating func aConfirmationComesTooLateForKeysThatHaveExpired() {
        _ = look(0)
        receive(0)
        #expect(look(3599.5) == [.fetch(ifNot: "t")])
        #expect(look(3600) == [.expire])
        #expect(!confirm(3601))
        fail(3601)
        #expect(look(3606) == [.fetch(ifNot: nil)])
    }

    @Test mutating func asksAgainAfterAFailureWithGrowingPauses() {
        var now = 0.0
        for pause in [5.0, 10, 20, 40, 80, 160, 320, 600, 600] {
            #expect(look(now) == [.fetch(ifNot: nil)])
            fail(now)
            #expect(look(now + pause - 0.1) == [])
            now += pause
        }
        for _ in 0..<100 {
            _ = look(now)
            fail(now)
            now += 600
        }
        #expect(look(now) == [.fetch(ifNot: nil)])
        receive(now)
        #expect(look(now + 600) == [.fetch(ifNot: "t")])
        fail(now + 600)
        #expect(look(now + 605) == [.fetch(ifNot: "t")], "a success begins the pauses from the first one")
    }

    @Test(arguments: [(0.0, 540.0), (1, 660)])
    mutating func nodesDoNotAskAllAtOnce(random: Double, seconds: Double) {
        _ = look(0)
        keys.receive(set, entityTag: nil, now: Self.at(0), random: random)
        #expect(look(seconds - 0.1) == [])
        #expect(look(seconds) == [.fetch(ifNot: nil)])
    }

    // MARK: Unknown keys

    @Test mutating func anUnknownKeyLeadsToOneFetchAMinute() {
        _ = look(0)
        receive(0)
        #expect(look(10, isWanted: true) == [.fetch(ifNot: "t")])
        #expect(confirm(10))
        var fetches: [Double] = []
        for second in 11...300 where !look(Double(second), isWanted: true).isEmpty {
            fetches.append(Double(second))
            #expect(confirm(Double(second)))
        }
        #expect(fetches == [70, 130, 190, 250])
    }

    @Test mutating func aWishIsRememberedUntilTheMinuteIsOver() {
        _ = look(0)
        receive(0)
        _ = look(10, isWanted: true)
        #expect(confirm(10))
        #expect(look(20, isWanted: true) == [])
        #expect(look(69) == [])
        #expect(look(70) == [.fetch(ifNot: "t")])
        #expect(confirm(70))
        #expect(look(200) == [], "one fetch serves all wishes before it")
    }

    @Test mutating func aWishDoesNotWaitForTheEndOfAPauseAfterAFailure() {
        _ = look(0)
        fail(0)
        #expect(look(1, isWanted: true) == [.fetch(ifNot: nil)])
        fail(1)
        #expect(look(2, isWanted: true) == [])
    }

    // MARK: Odd times

    /// The clock is not one that steps. If it does go back, nothing is lost, and no fetch follows the other.
    @Test mutating func aClockThatGoesBackLosesNothing() {
        _ = look(1000)
        receive(1000)
        _ = look(1001, isWanted: true)
        #expect(confirm(1001))
        for second in 0..<100 { #expect(look(Double(second), isWanted: true) == []) }
        #expect(keys.age(now: Self.at(0)) == .zero)
        #expect(keys.set != nil)
        #expect(look(1061) == [.fetch(ifNot: "t")])
    }

    @Test mutating func aClockThatLeapsForwardEndsTheKeys() {
        _ = look(0)
        receive(0)
        #expect(look(1_000_000) == [.expire, .fetch(ifNot: nil)])
        #expect(keys.look(now: .distantFuture, isWanted: true) == [])
        keys.fail(now: .distantFuture, random: 1)
    }

    @Test mutating func newSettingsMakeTheNextFetchEarlierButNotLater() {
        _ = look(0)
        receive(0)
        keys.adopt(.init(refresh: .seconds(3000), maximumAge: .seconds(9000)), now: Self.at(1))
        #expect(look(599) == [])
        keys.adopt(.init(refresh: .seconds(10), maximumAge: .seconds(60)), now: Self.at(20))
        #expect(look(29) == [])
        #expect(look(30) == [.fetch(ifNot: "t")])
        #expect(look(60) == [.expire])
    }

    @Test mutating func asksAtOnceIfTheURLIsReachedInAnotherWay() {
        _ = look(0)
        receive(0)
        #expect(look(1) == [])
        keys.reachAnew(now: Self.at(1))
        #expect(look(1) == [.fetch(ifNot: "t")])
        #expect(keys.set != nil)
    }

    @Test mutating func asksAtOnceIfAShorterAgeHasEndedTheKeys() {
        _ = look(0)
        receive(0)
        keys.adopt(.init(refresh: .seconds(600), maximumAge: .seconds(100)), now: Self.at(200))
        #expect(look(200) == [.expire, .fetch(ifNot: nil)])
    }

    /// A revoked key must not become good because the URL does not have it any more, or does not answer.
    @Test mutating func remembersWhatWasRevoked() throws {
        func published(_ members: [String: String]) throws -> JWKSet {
            try PublishedKeys.set(
                members.sorted { $0.key < $1.key }.map { try PublishedKeys.json($0, ES256PrivateKey.generate(), $1) })
        }
        func receive(_ set: JWKSet, at seconds: Double) {
            keys.reachAnew(now: Self.at(seconds))
            _ = look(seconds)
            keys.receive(set, entityTag: nil, now: Self.at(seconds), random: 0.5)
        }
        receive(try published(["a": #","revoked":true"#, "b": "", "c": #","revoked":true"#]), at: 0)
        #expect(keys.revokedIDs == ["a", "c"])
        receive(try published(["b": "", "c": ""]), at: 1)
        #expect(keys.revokedIDs == ["a"], "c is good again by the word of its issuer")
        #expect(look(1_000_000).contains(.expire))
        #expect(keys.set == nil && keys.revokedIDs == ["a"])
        for round in 0..<FetchedKeys.revokedMaximum {
            receive(try published(["key-\(round)": #","revoked":true"#]), at: Double(2_000_000 + round))
        }
        #expect(keys.revokedIDs.count == FetchedKeys.revokedMaximum && keys.revokedIDs.first == "key-0")
    }

    /// In any order of events, keys are in use exactly until they are too old, and one fetch runs at a time.
    @Test mutating func keepsItsPromisesInAnyOrder() {
        var random = SeededGenerator.announced("FetchedKeysTests")
        var now = 0.0
        var begun: Double?
        var confirmed: Double?
        for _ in 0..<20_000 {
            now += Double.random(in: 0...400, using: &random)
            if let start = begun, Bool.random(using: &random) {
                begun = nil
                switch Int.random(in: 0..<3, using: &random) {
                case 0:
                    receive(now)
                    confirmed = start
                case 1: if confirm(now) { confirmed = start } else { fail(now) }
                default: fail(now)
                }
            }
            for action in look(now, isWanted: Bool.random(using: &random)) {
                guard case .fetch(let tag) = action else { continue }
                #expect(begun == nil)
                #expect(tag == nil || keys.set != nil)
                begun = now
            }
            let isYoung = confirmed.map { Self.at(now) - Self.at($0) < .seconds(3600) } ?? false
            #expect((keys.set != nil) == isYoung)
            #expect((keys.standing == .current) == isYoung)
        }
    }
}

import ByteCoding
import TestSupport
import Testing

@testable import Entitlements

/// Properties of all rights, tested with many random rights in minted tokens.
@Suite struct GateProperties {
    private static let now = Issuance.now
    private let content: RequestedContent

    init() throws {
        content = RequestedContent(
            contentID: "movie-42", keyID: try KeyID(parsing: "00112233445566778899aabbccddeeff"),
            trackLabels: ["cinema", "UHD"])
    }

    // MARK: Random rights

    /// A random number of seconds. Numbers near the limits are as likely as others.
    private static func seconds(_ generator: inout SeededGenerator) -> Int64? {
        switch Int.random(in: 0..<6, using: &generator) {
        case 0, 1: nil
        case 2: Int64.random(in: 1...3, using: &generator)
        case 3: Int64.random(in: 1...100_000, using: &generator)
        case 4: Int64.random(in: 0xFFFF_FFF0...0x1_0000_000F, using: &generator)
        default: Int64.random(in: 1...Int64.max, using: &generator)
        }
    }

    private static func date(_ generator: inout SeededGenerator) -> Int64? {
        switch Int.random(in: 0..<6, using: &generator) {
        case 0, 1: nil
        case 2: now + Int64.random(in: -3...3, using: &generator)
        case 3: now + Int64.random(in: -100_000...100_000, using: &generator)
        case 4: now + Int64.random(in: 0xFFFF_FFF0...0x1_0000_000F, using: &generator)
        default: Int64.random(in: -62_167_219_200...253_402_300_799, using: &generator)
        }
    }

    private static func protection(_ generator: inout SeededGenerator) -> Protection {
        Protection(
            hdcp: ([nil] + Right.HDCP.allCases).randomElement(using: &generator) ?? nil,
            securityLevel: ([nil] + Right.SecurityLevel.allCases).randomElement(using: &generator) ?? nil)
    }

    private func right(_ generator: inout SeededGenerator) -> Right {
        let selectors: [Right.Selector] = [
            .content("movie-42"), .content("other"), .contentPrefix("movie"), .keyIDs([content.keyID]),
        ]
        let own = Self.protection(&generator)
        var tracks: [String: Protection] = [:]
        for label in ["cinema", "UHD", "SD", "uhd"] where Bool.random(using: &generator) {
            tracks[label] = Self.protection(&generator)
        }
        return Right(
            selectors[Int.random(in: 0..<selectors.count, using: &generator)], start: Self.date(&generator),
            end: Self.date(&generator), duration: Self.seconds(&generator),
            lease: Int.random(in: 0..<3, using: &generator) == 0 ? Self.seconds(&generator) : nil,
            mode: [.stream, .both, .offline][Int.random(in: 0..<3, using: &generator)],
            storage: Self.seconds(&generator), playback: Self.seconds(&generator), hdcp: own.hdcp,
            minimumLevel: own.securityLevel, tracks: tracks)
    }

    private static func isOpen(_ right: Right) -> Bool {
        (right.start ?? .min) <= now && now < (right.end ?? .max)
    }

    private static func isTellable(_ seconds: UInt32) -> Bool {
        seconds > 0 && seconds < 0xFFFF_FFFF
    }

    // MARK: Streaming

    private func expectWithin(_ limits: StreamingLimits, _ right: Right) {
        for granted in [limits.lease, limits.rental].compactMap({ $0 }) {
            #expect(Self.isTellable(granted))
            if let end = right.end { #expect(Self.now + Int64(granted) <= end) }
        }
        if right.end != nil || right.lease != nil { #expect(limits.lease != nil) }
        if let lease = right.lease, let granted = limits.lease { #expect(Int64(granted) <= lease) }
        if let duration = right.duration { #expect(limits.rental.map { Int64($0) <= duration } == true) }
    }

    @Test func noStreamingLimitOutlivesTheRight() throws {
        var generator = SeededGenerator.announced("noStreamingLimitOutlivesTheRight")
        var grants = 0
        for _ in 0..<20_000 {
            let right = right(&generator)
            guard let limits = try? StreamingLimits(of: right, now: Self.now) else {
                #expect(!Self.isOpen(right) || right.mode == .offline)
                continue
            }
            grants += 1
            #expect(Self.isOpen(right) && right.mode != .offline)
            expectWithin(limits, right)
        }
        #expect(grants > 1000)
    }

    // MARK: Offline

    /// The longest time from issue to the first play, how long the key is valid after the first play, and how long in
    /// all. Nil means without limit.
    private struct Reach {
        let firstPlay: Int64?
        let fromFirstPlay: Int64?
        let whole: Int64?

        init(hardEnd seconds: UInt32) {
            (firstPlay, fromFirstPlay, whole) = (Int64(seconds), Int64(seconds), Int64(seconds))
        }

        init(storage: UInt32?, playback: UInt32?) {
            firstPlay = storage.map { Int64($0) }
            fromFirstPlay = playback.map { Int64($0) }
            whole = if let storage, let playback { Int64(storage) + Int64(playback) } else { nil }
        }
    }

    private func expectWithin(_ reach: Reach, _ right: Right) {
        func isWithin(_ reached: Int64?, _ limit: Int64?) -> Bool {
            guard let limit else { return true }
            return reached.map { $0 <= limit } ?? false
        }
        let remaining = right.end.map { $0 - Self.now }
        #expect(isWithin(reach.firstPlay, right.storage), "\(right)")
        #expect(isWithin(reach.whole, right.duration), "\(right)")
        #expect(isWithin(reach.fromFirstPlay, right.playback), "\(right)")
        #expect(isWithin(reach.whole, remaining), "\(right)")
    }

    private func expectWithin(_ limits: OfflineLimits, _ right: Right) {
        switch limits {
        case .unlimited:
            #expect([right.end, right.duration, right.storage, right.playback].allSatisfy { $0 == nil }, "\(right)")
        case .hardEnd(let seconds):
            #expect(Self.isTellable(seconds))
            expectWithin(Reach(hardEnd: seconds), right)
        case .aroundFirstPlay(let storage, let playback):
            #expect(storage != nil || playback != nil)
            #expect([storage, playback].compactMap(\.self).allSatisfy(Self.isTellable))
            expectWithin(Reach(storage: storage, playback: playback), right)
        }
    }

    @Test func noOfflineLicenseOutlivesTheRight() throws {
        var generator = SeededGenerator.announced("noOfflineLicenseOutlivesTheRight")
        var grants = [0, 0, 0]
        for _ in 0..<40_000 {
            let right = right(&generator)
            guard let limits = try? OfflineLimits(of: right, now: Self.now) else {
                #expect(!Self.isOpen(right) || right.mode == .stream || right.lease != nil)
                continue
            }
            #expect(Self.isOpen(right) && right.mode != .stream && right.lease == nil)
            expectWithin(limits, right)
            switch limits {
            case .unlimited: grants[0] += 1
            case .hardEnd: grants[1] += 1
            case .aroundFirstPlay: grants[2] += 1
            }
        }
        #expect(grants.allSatisfy { $0 > 100 }, "\(grants)")
    }

    // MARK: The gate

    private func expectProtected(_ protection: Protection, _ right: Right) {
        let parts = [right.protection] + ["cinema", "UHD"].compactMap { right.tracks[$0] }
        #expect(protection.hdcp == parts.compactMap(\.hdcp).max())
        #expect(protection.securityLevel == parts.compactMap(\.securityLevel).max())
    }

    @Test(arguments: LicenseUse.allCases)
    func theGateGrantsWhatTheFirstOpenRightGrants(use: LicenseUse) throws {
        var generator = SeededGenerator.announced("theGateGrantsWhatTheFirstOpenRightGrants")
        let issuance = try Issuance()
        let minter = TokenMinter(keyID: "es", es256: issuance.privateKey)
        var grants = 0
        for _ in 0..<500 {
            let rights = (0..<Int.random(in: 0...5, using: &generator)).map { _ in right(&generator) }
            let contents = TokenContents(
                issuer: Issuance.name, audience: Issuance.audience, issuedAt: Self.now, expiresAt: Self.now + 60,
                rights: rights)
            let claims = try issuance.verify(Array(try minter.mint(contents).utf8))
            #expect(claims.rights == rights)
            let granting = rights.first { right in
                right.selector != .content("other")
                    && (try? LicenseLimits(of: right, for: use, now: Self.now)) != nil
            }
            let granted = try? Gate.authorize(claims: claims, content: content, for: use, now: Self.now)
            #expect((granted == nil) == (granting == nil))
            guard let granted, let granting else { continue }
            grants += 1
            #expect(try granted.limits == LicenseLimits(of: granting, for: use, now: Self.now))
            expectProtected(granted.protection, granting)
        }
        #expect(grants > 50)
    }

    /// A client with an offline license may also report about it at any time.
    @Test func whatWasGrantedCanBeReported() throws {
        var generator = SeededGenerator.announced("whatWasGrantedCanBeReported")
        let issuance = try Issuance()
        let minter = TokenMinter(keyID: "es", es256: issuance.privateKey)
        var outcomes = [true: 0, false: 0]
        for _ in 0..<300 {
            let rights = (0..<Int.random(in: 0...3, using: &generator)).map { _ in right(&generator) }
            let contents = TokenContents(
                issuer: Issuance.name, audience: Issuance.audience, issuedAt: Self.now, expiresAt: Self.now + 60,
                rights: rights)
            let claims = try issuance.verify(Array(try minter.mint(contents).utf8))
            let isPermitted = (try? Gate.permitSync(claims: claims, content: content)) != nil
            #expect(isPermitted == rights.contains { $0.selector != .content("other") })
            if (try? Gate.authorize(claims: claims, content: content, for: .offline, now: Self.now)) != nil {
                #expect(isPermitted)
            }
            outcomes[isPermitted, default: 0] += 1
        }
        #expect(outcomes.values.allSatisfy { $0 > 20 })
    }
}

import ByteCoding
import TestSupport
import Testing

@testable import Entitlements

/// What holds for all rights, tried on many random ones by the way of minted tokens.
@Suite struct GateProperties {
    private static let now = Issuance.now
    private let content: RequestedContent

    init() throws {
        content = RequestedContent(contentID: "movie-42", keyID: try KeyID(parsing: "00112233445566778899aabbccddeeff"))
    }

    /// Numbers near the edges are as likely as any others.
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
        switch Int.random(in: 0..<5, using: &generator) {
        case 0, 1: nil
        case 2: now + Int64.random(in: -3...3, using: &generator)
        case 3: now + Int64.random(in: -100_000...100_000, using: &generator)
        default: Int64.random(in: -62_167_219_200...253_402_300_799, using: &generator)
        }
    }

    private func right(_ generator: inout SeededGenerator) -> Right {
        let selectors: [Right.Selector] = [
            .content("movie-42"), .content("other"), .contentPrefix("movie"), .keyIDs([content.keyID]),
        ]
        return Right(
            selectors[Int.random(in: 0..<selectors.count, using: &generator)], start: Self.date(&generator),
            end: Self.date(&generator), duration: Self.seconds(&generator), lease: Self.seconds(&generator),
            mode: [.stream, .both, .offline][Int.random(in: 0..<3, using: &generator)])
    }

    private func expectWithin(_ limits: StreamingLimits, _ right: Right) {
        for granted in [limits.lease, limits.rental].compactMap({ $0 }) {
            #expect(granted > 0 && granted < 0xFFFF_FFFF)
            if let end = right.end { #expect(Self.now + Int64(granted) <= end) }
        }
        if right.end != nil || right.lease != nil { #expect(limits.lease != nil) }
        if let lease = right.lease, let granted = limits.lease { #expect(Int64(granted) <= lease) }
        if let duration = right.duration { #expect(limits.rental.map { Int64($0) <= duration } == true) }
    }

    @Test func noGrantedLimitOutlivesTheRight() throws {
        var generator = SeededGenerator.announced("noGrantedLimitOutlivesTheRight")
        var grants = 0
        for _ in 0..<20_000 {
            let right = right(&generator)
            guard let limits = try? StreamingLimits(of: right, now: Self.now) else {
                let isOpen = (right.start ?? .min) <= Self.now && Self.now < (right.end ?? .max)
                #expect(!isOpen || right.mode == .offline)
                continue
            }
            grants += 1
            #expect((right.start ?? .min) <= Self.now && right.mode != .offline)
            expectWithin(limits, right)
        }
        #expect(grants > 1000)
    }

    @Test func theGateGrantsWhatTheFirstOpenRightGrants() throws {
        var generator = SeededGenerator.announced("theGateGrantsWhatTheFirstOpenRightGrants")
        let issuance = try Issuance()
        let minter = TokenMinter(keyID: "es", es256: issuance.privateKey)
        for _ in 0..<500 {
            let rights = (0..<Int.random(in: 0...5, using: &generator)).map { _ in right(&generator) }
            let contents = TokenContents(
                issuer: Issuance.name, audience: Issuance.audience, issuedAt: Self.now, expiresAt: Self.now + 60,
                rights: rights)
            let claims = try issuance.verify(Array(try minter.mint(contents).utf8))
            #expect(claims.rights == rights)
            let covering = rights.filter { $0.selector != .content("other") }
            let expected = covering.lazy.compactMap { try? StreamingLimits(of: $0, now: Self.now) }.first
            let granted = try? Gate.authorize(claims: claims, content: content, now: Self.now)
            #expect(granted?.limits == expected)
        }
    }
}

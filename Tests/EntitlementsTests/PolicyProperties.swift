import ByteCoding
import TestSupport
import Testing

@testable import Entitlements

/// Properties of all rights under all policies.
@Suite struct PolicyProperties {
    private static let now = Issuance.now

    private static func seconds(_ generator: inout SeededGenerator) -> Int64? {
        switch Int.random(in: 0..<5, using: &generator) {
        case 0, 1: nil
        case 2: Int64.random(in: 1...3, using: &generator)
        case 3: Int64.random(in: 1...100_000, using: &generator)
        default: Int64.random(in: 0xFFFF_FFF0...Int64.max, using: &generator)
        }
    }

    private static func protection(_ generator: inout SeededGenerator) -> Protection {
        Protection(
            hdcp: ([nil] + Right.HDCP.allCases).randomElement(using: &generator) ?? nil,
            securityLevel: ([nil] + Right.SecurityLevel.allCases).randomElement(using: &generator) ?? nil)
    }

    private static func flag(_ generator: inout SeededGenerator) -> Bool? {
        [nil, true, false].randomElement(using: &generator) ?? nil
    }

    private static func rule(_ generator: inout SeededGenerator) -> PolicyRule {
        PolicyRule(
            lease: seconds(&generator), duration: seconds(&generator), storage: seconds(&generator),
            playback: seconds(&generator), allowsOffline: flag(&generator), protection: protection(&generator),
            tracks: ["HD": protection(&generator)],
            outputs: OutputPermissions(airPlay: flag(&generator), avAdapter: flag(&generator)))
    }

    private static func right(_ generator: inout SeededGenerator) -> Right {
        let own = protection(&generator)
        let isOffline = Bool.random(using: &generator)
        return Right(
            .content("movie-42"), end: seconds(&generator).map { now + $0 % 1_000_000 }, duration: seconds(&generator),
            lease: isOffline ? nil : seconds(&generator), mode: isOffline ? .both : .stream,
            storage: seconds(&generator), playback: seconds(&generator), hdcp: own.hdcp,
            minimumLevel: own.securityLevel, tracks: ["HD": protection(&generator), "SD": protection(&generator)],
            outputs: OutputPermissions(airPlay: flag(&generator), avAdapter: flag(&generator)),
            profile: [nil, "p"].randomElement(using: &generator) ?? nil)
    }

    /// A right, the rules that apply to it, and the resulting license.
    private struct Case {
        let right: Right
        let rules: [PolicyRule]
        let authorization: Authorization
    }

    private static func authorize(_ use: LicenseUse, _ generator: inout SeededGenerator, _ issuance: Issuance) throws
        -> Case?
    {
        let right = right(&generator)
        let policy = EntitlementPolicy(profiles: ["p": rule(&generator)], common: rule(&generator))
        let minter = TokenMinter(keyID: "es", es256: issuance.privateKey)
        let contents = TokenContents(
            issuer: Issuance.name, audience: Issuance.audience, issuedAt: now, expiresAt: now + 60, rights: [right])
        let claims = try issuance.verify(Array(try minter.mint(contents).utf8))
        let content = RequestedContent(
            contentID: "movie-42", keyID: KeyID(words: .zero), trackLabels: ["HD"])
        var request = GateRequest(claims: claims, content: content, use: use, now: now)
        request.policy = policy
        let rules = [policy.common] + (right.profile == nil ? [] : [policy.profiles["p"] ?? PolicyRule()])
        guard let authorization = try? Gate.authorize(request) else {
            // Only these reasons can refuse such a right.
            let forbidsOffline = rules.contains { $0.allowsOffline == false } || right.mode == .stream
            #expect((right.end ?? .max) <= now || (use == .offline && forbidsOffline))
            return nil
        }
        return Case(right: right, rules: rules, authorization: authorization)
    }

    private static func isWithin(_ granted: UInt32?, _ limits: [Int64?]) -> Bool {
        let limits = limits.compactMap { $0 }
        guard let granted else { return limits.isEmpty }
        return granted > 0 && granted < 0xFFFF_FFFF && limits.allSatisfy { Int64(granted) <= $0 }
    }

    @Test func noStreamingLicenseOutlivesTheLeastOfAllLimits() throws {
        var generator = SeededGenerator.announced("noStreamingLicenseOutlivesTheLeastOfAllLimits")
        let issuance = try Issuance()
        var grants = 0
        for _ in 0..<2000 {
            guard let found = try Self.authorize(.streaming, &generator, issuance),
                case .streaming(let limits) = found.authorization.limits
            else { continue }
            grants += 1
            let remaining = found.right.end.map { $0 - Self.now }
            #expect(Self.isWithin(limits.lease, [found.right.lease, remaining] + found.rules.map(\.lease)))
            let durations = [found.right.duration] + found.rules.map(\.duration)
            #expect(Self.isWithin(limits.rental, durations))
            if let rental = limits.rental, let remaining { #expect(Int64(rental) <= remaining) }
        }
        #expect(grants > 500)
    }

    @Test func noOfflineLicenseOutlivesTheLeastOfAllLimits() throws {
        var generator = SeededGenerator.announced("noOfflineLicenseOutlivesTheLeastOfAllLimits")
        let issuance = try Issuance()
        var grants = 0
        for _ in 0..<4000 {
            guard let found = try Self.authorize(.offline, &generator, issuance),
                case .offline(let limits) = found.authorization.limits
            else { continue }
            grants += 1
            let right = found.right
            #expect(!found.rules.contains { $0.allowsOffline == false } && right.mode != .stream)
            let storage = [right.storage] + found.rules.map(\.storage)
            let playback = [right.playback] + found.rules.map(\.playback)
            let whole = [right.end.map { $0 - Self.now }, right.duration] + found.rules.map(\.duration)
            switch limits {
            case .unlimited: #expect((storage + playback + whole).allSatisfy { $0 == nil })
            case .hardEnd(let seconds):
                #expect((storage + playback + whole).allSatisfy { $0.map { Int64(seconds) <= $0 } ?? true })
            case .aroundFirstPlay(let first, let second):
                #expect(first.map { Self.isWithin($0, storage) } ?? storage.allSatisfy { $0 == nil })
                #expect(second.map { Self.isWithin($0, playback) } ?? playback.allSatisfy { $0 == nil })
                for limit in whole.compactMap({ $0 }) {
                    #expect(first != nil && second != nil)
                    #expect(Int64(first ?? 0) + Int64(second ?? 0) <= limit)
                }
            }
        }
        #expect(grants > 500)
    }

    @Test func everyRuleIsKept() throws {
        var generator = SeededGenerator.announced("everyRuleIsKept")
        let issuance = try Issuance()
        var grants = 0
        for _ in 0..<500 {
            guard let found = try Self.authorize(.streaming, &generator, issuance) else { continue }
            grants += 1
            let ofRules: [Protection?] = found.rules.flatMap { rule in [rule.protection, rule.tracks["HD"]] }
            let ofRight: [Protection?] = [found.right.protection, found.right.tracks["HD"]]
            let parts = (ofRight + ofRules).compactMap { $0 }
            #expect(found.authorization.protection.hdcp == parts.compactMap(\.hdcp).max())
            #expect(found.authorization.protection.securityLevel == parts.compactMap(\.securityLevel).max())
        }
        #expect(grants > 100)
    }

    /// An additional rule never grants more, and the order of rules does not matter.
    @Test func mergingTightensAndCommutes() {
        var generator = SeededGenerator.announced("mergingTightensAndCommutes")
        for _ in 0..<2000 {
            let (one, other) = (Self.rule(&generator), Self.rule(&generator))
            let merged = one.merged(with: other)
            #expect(merged == other.merged(with: one))
            #expect(merged.merged(with: one) == merged && merged.merged(with: other) == merged)
            #expect(one.merged(with: PolicyRule()) == one)
        }
    }
}

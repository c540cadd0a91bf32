import Testing

@testable import Entitlements

@Suite struct PolicyLintTests {
    private static let now = Issuance.now

    @Test(
        arguments: [
            (PolicyRule(), []), (PolicyRule(lease: 300, duration: 7200, storage: 60, allowsOffline: true), []),
            (PolicyRule(storage: 60, allowsOffline: false), [.offlineLimitsWithoutOffline]),
            (PolicyRule(playback: 60, allowsOffline: false), [.offlineLimitsWithoutOffline]),
            (PolicyRule(lease: 300, allowsOffline: true), [.offlineWithLeaseOnly]), (PolicyRule(lease: 300), []),
            (PolicyRule(allowsOffline: true), [.offlineWithoutEnd]),
            (PolicyRule(storage: 60, allowsOffline: true), [.offlineWithoutEndOncePlayed]),
            (PolicyRule(playback: 60, allowsOffline: true), []),
            (PolicyRule(duration: 4_294_967_295), [.notExpressible]), (PolicyRule(duration: 4_294_967_294), []),
            (PolicyRule(lease: 60, duration: 60), [.leaseNeverEnds]), (PolicyRule(lease: 29), [.leaseTooShort]),
        ] as [(PolicyRule, [PolicyFinding.Fault])])
    func findsWhatARuleCannotMean(rule: PolicyRule, faults: [PolicyFinding.Fault]) {
        #expect(PolicyLint.findings(in: EntitlementPolicy(common: rule)).map(\.fault) == faults)
        let profile = PolicyLint.findings(in: EntitlementPolicy(profiles: ["HD": rule]))
        #expect(profile.map(\.fault) == faults)
        #expect(profile.allSatisfy { $0.place == "profiles.HD" && $0.description.hasPrefix("profiles.HD ") })
    }

    @Test func aProfileThatTheFloorOverrulesSaysNothing() {
        let policy = EntitlementPolicy(
            profiles: ["SD": PolicyRule(lease: 600), "HD": PolicyRule(lease: 200), "none": PolicyRule()],
            common: PolicyRule(lease: 300))
        #expect(
            PolicyLint.findings(in: policy) == [PolicyFinding(place: "profiles.SD", fault: .looserThanCommonLimits)])
    }

    @Test(
        arguments: [
            (
                PolicyRule(allowsOffline: true), PolicyRule(allowsOffline: false),
                [.looserThanCommonLimits, .offlineForbiddenForAll]
            ),
            (PolicyRule(lease: 300, storage: 60), PolicyRule(allowsOffline: false), [.offlineForbiddenForAll]),
            (PolicyRule(lease: 300, allowsOffline: false), PolicyRule(allowsOffline: false), []),
            (PolicyRule(lease: 300), PolicyRule(duration: 200), [.leaseNeverEnds]),
            (PolicyRule(lease: 300), PolicyRule(lease: 400, duration: 301), []),
            (PolicyRule(duration: 60), PolicyRule(lease: 60), [.leaseNeverEnds]),
        ] as [(PolicyRule, PolicyRule, [PolicyFinding.Fault])])
    func findsWhatAProfileCannotMeanBesideCommonLimits(
        profile: PolicyRule, common: PolicyRule, faults: [PolicyFinding.Fault]
    ) {
        let found = PolicyLint.findings(in: EntitlementPolicy(profiles: ["HD": profile], common: common))
        #expect(found.filter { $0.place == "profiles.HD" }.map(\.fault) == faults)
    }

    /// Tokens of a ContentAuthZ issuer cannot limit how long a key is stored, and a lease does not limit it.
    @Test(
        arguments: [
            (PolicyRule(lease: 600), PolicyRule(), [.offlineWithoutEnd], [.offlineWithoutEnd]),
            (PolicyRule(lease: 600), PolicyRule(storage: 60, playback: 60), [], []),
            (PolicyRule(lease: 600), PolicyRule(allowsOffline: false), [], []),
            (PolicyRule(storage: 60), PolicyRule(), [.offlineWithoutEndOncePlayed], [.offlineWithoutEnd]),
            (PolicyRule(storage: 60), PolicyRule(playback: 60), [], []),
            (PolicyRule(duration: 60), PolicyRule(lease: 30), [], [.offlineWithoutEnd]),
        ] as [(PolicyRule, PolicyRule, [PolicyFinding.Fault], [PolicyFinding.Fault])])
    func wantsAnEndForStoredKeys(
        profile: PolicyRule, common: PolicyRule, ofProfile: [PolicyFinding.Fault], ofCommon: [PolicyFinding.Fault]
    ) {
        let policy = EntitlementPolicy(profiles: ["HD": profile], common: common)
        let found = PolicyLint.findings(in: policy, limitsStoredKeys: true)
        #expect(found.filter { $0.place == "profiles.HD" }.map(\.fault) == ofProfile)
        #expect(found.filter { $0.place == "limitsForEveryLicense" }.map(\.fault) == ofCommon)
    }

    @Test(
        arguments: [
            ([:], []),
            (["rights": #"[{"content":"a","mode":"both"}]"#], [.offlineWithoutEnd]),
            (["rights": #"[{"content":"a","mode":"offline","storage":300}]"#], [.offlineWithoutEndOncePlayed]),
            (["rights": #"[{"content":"a","mode":"both","storage":300,"playback":60}]"#], []),
            (["rights": #"[{"content":"a","mode":"both","duration":300}]"#], []),
            (["rights": #"[{"content":"a","mode":"both","end":1750000100}]"#], []),
            (["rights": #"[{"content":"a","mode":"both","rental":{"start":"30d","play":"48h"}}]"#], []),
            (["rights": #"[{"content":"a","mode":"both","lease":300}]"#], [.offlineRefusedForLease]),
            (["rights": #"[{"content":"a","storage":300}]"#], [.offlineLimitsWithoutOffline]),
            (["rights": #"[{"content":"a","duration":4294967295}]"#], [.notExpressible]),
            (["rights": #"[{"content":"a","start":1750000001}]"#], [.startInTheFuture]),
            (["rights": #"[{"content":"a","end":1750000000}]"#], [.neverHolds]),
            (["rights": #"[{"content":"a","start":1749999999,"end":1749999998}]"#], [.neverHolds]),
            (["session": #"{"groups":[{"id":"all","max":1}]}"#], [.concurrencyWithoutLease]),
            (
                [
                    "session": #"{"groups":[{"id":"all","max":1}]}"#, "rights": #"[{"content":"a","lease":300}]"#,
                ], []
            ),
            (["limits": #"{"uses":1}"#, "jti": nil], [.usesWithoutTokenID]), (["limits": #"{"uses":1}"#], []),
            (["device": #"{"max":1}"#, "sub": nil], [.devicesWithoutSubject]),
            (["rights": #"[{"content":"a","profile":"HD"}]"#], [.profileNotConfigured]),
        ] as [([String: String?], [PolicyFinding.Fault])])
    func findsWhatATokenCannotMean(changes: [String: String?], faults: [PolicyFinding.Fault]) throws {
        let issuance = try Issuance()
        let claims = try issuance.verify(try issuance.token(changing: changes))
        let found = PolicyLint.findings(in: claims, policy: EntitlementPolicy(), now: Self.now)
        #expect(found.map(\.fault) == faults)
    }

    @Test func theFloorEndsStoredKeys() throws {
        let issuance = try Issuance()
        let claims = try issuance.verify(
            try issuance.token(changing: ["rights": #"[{"content":"a","mode":"both"}]"#]))
        for rule in [
            PolicyRule(duration: 60), PolicyRule(storage: 60, playback: 60), PolicyRule(allowsOffline: false),
        ] {
            let policy = EntitlementPolicy(common: rule)
            #expect(PolicyLint.findings(in: claims, policy: policy, now: Self.now).isEmpty)
        }
    }

    @Test func theFloorGivesCountedPlaybacksTheirLease() throws {
        let issuance = try Issuance()
        let claims = try issuance.verify(
            try issuance.token(changing: ["session": #"{"groups":[{"id":"all","max":1}]}"#]))
        let policy = EntitlementPolicy(common: PolicyRule(lease: 300))
        #expect(PolicyLint.findings(in: claims, policy: policy, now: Self.now).isEmpty)
    }
}

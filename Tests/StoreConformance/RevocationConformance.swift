package import Records
import TestSupport
import Testing

/// What every store of revocations does, on one node or on several that share an empty database.
package enum RevocationConformance {
    package enum Case: String, CaseIterable, Sendable {
        case givesBackWhatWasRevoked
        case replacesTheSameThing
        case liftsWhatWasRevoked
        case forgetsWhatHasEnded
        case tellsIssuersApart
        case agreesWithAModel
    }

    package static func run(_ rule: Case, on nodes: [any RevocationStore]) async throws {
        let (first, last) = (nodes[0], nodes[nodes.count - 1])
        switch rule {
        case .givesBackWhatWasRevoked: try await givesBackWhatWasRevoked(first, last)
        case .replacesTheSameThing: try await replacesTheSameThing(first, last)
        case .liftsWhatWasRevoked: try await liftsWhatWasRevoked(first, last)
        case .forgetsWhatHasEnded: try await forgetsWhatHasEnded(first, last)
        case .tellsIssuersApart: try await tellsIssuersApart(first, last)
        case .agreesWithAModel: try await agreesWithAModel(nodes)
        }
    }

    private static func revocation(
        _ value: String, of kind: Revocation.Kind = .signingKey, issuer: String? = nil, until end: Int64? = nil,
        reason: String = ""
    ) -> Revocation {
        Revocation(kind: kind, issuer: issuer, value: value, until: end, revokedAt: 7, reason: reason)
    }

    private static func givesBackWhatWasRevoked(
        _ first: any RevocationStore, _ last: any RevocationStore
    ) async throws {
        #expect(try await first.revocations(at: 0) == [])
        let hostile = "'); DROP TABLE revocation;-- \u{1F512} \\x00 %s"
        var revocations = Revocation.Kind.allCases.map { revocation("same", of: $0, until: 900) }
        revocations += [
            revocation("x", until: .max - 1), revocation("never", reason: hostile), revocation(hostile, of: .subject),
            revocation("same", of: .session, issuer: hostile),
            revocation(String(repeating: "c", count: 200), of: .content, reason: String(repeating: "r", count: 200)),
        ]
        for revocation in revocations { try await first.revoke(revocation) }
        #expect(Set(try await last.revocations(at: 100)) == Set(revocations))
        #expect(try await last.revocations(at: 100).count == revocations.count)
    }

    private static func replacesTheSameThing(_ first: any RevocationStore, _ last: any RevocationStore) async throws {
        try await first.revoke(revocation("a", until: 100, reason: "lost"))
        try await last.revoke(revocation("a", until: 50, reason: "found"))
        #expect(try await first.revocations(at: 10) == [revocation("a", until: 50, reason: "found")])
        try await first.revoke(revocation("a"))
        #expect(try await last.revocations(at: 10) == [revocation("a")])
    }

    private static func liftsWhatWasRevoked(_ first: any RevocationStore, _ last: any RevocationStore) async throws {
        try await first.revoke(revocation("a", of: .subject))
        try await first.revoke(revocation("a", of: .device))
        #expect(try await last.lift(.subject, "b", of: nil) == false)
        #expect(try await last.lift(.content, "a", of: nil) == false)
        #expect(try await last.lift(.subject, "a", of: nil))
        #expect(try await first.lift(.subject, "a", of: nil) == false)
        #expect(try await first.revocations(at: 0) == [revocation("a", of: .device)])
    }

    private static func forgetsWhatHasEnded(_ first: any RevocationStore, _ last: any RevocationStore) async throws {
        try await first.revoke(revocation("a", until: 100))
        #expect(try await last.revocations(at: 99).count == 1)
        #expect(try await last.revocations(at: 100) == [])
        try await last.revoke(revocation("a", until: 200))
        #expect(try await first.revocations(at: 199).count == 1)
    }

    private static func tellsIssuersApart(_ first: any RevocationStore, _ last: any RevocationStore) async throws {
        let issuers: [String?] = [nil, "one", "other"]
        let revocations = issuers.map { revocation("a", of: .tokenID, issuer: $0, until: 100) }
        for revocation in revocations { try await first.revoke(revocation) }
        #expect(Set(try await last.revocations(at: 0)) == Set(revocations))
        #expect(try await last.lift(.tokenID, "a", of: "one"))
        #expect(try await first.lift(.tokenID, "a", of: "one") == false)
        #expect(try await first.lift(.tokenID, "a", of: "third") == false)
        #expect(Set(try await first.revocations(at: 0)) == [revocations[0], revocations[2]])
    }

    private static func agreesWithAModel(_ nodes: [any RevocationStore]) async throws {
        var random = SeededGenerator.announced("a store of revocations agrees with its model")
        var model: [Revocation] = []
        for step in 0..<300 {
            let node = nodes[step % nodes.count]
            let kind = Revocation.Kind.allCases.randomElement(using: &random) ?? .issuer
            let value = "v\(Int.random(in: 0..<6, using: &random))"
            let issuer = Bool.random(using: &random) ? "portal" : nil
            let isMeant = { (other: Revocation) in
                other.kind == kind && other.value == value && other.issuer == issuer
            }
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                let end: Int64? = Bool.random(using: &random) ? nil : 1000 + Int64(step)
                let new = revocation(value, of: kind, issuer: issuer, until: end)
                model.removeAll(where: isMeant)
                model.append(new)
                try await node.revoke(new)
            case 1:
                let isThere = model.contains(where: isMeant)
                model.removeAll(where: isMeant)
                #expect(try await node.lift(kind, value, of: issuer) == isThere)
            default:
                #expect(Set(try await node.revocations(at: 999)) == Set(model))
            }
        }
        let later = model.filter { $0.until == nil || ($0.until ?? 0) > 1100 }
        #expect(Set(try await nodes[0].revocations(at: 1100)) == Set(later))
    }
}

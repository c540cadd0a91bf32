package import Records
import TestSupport
import Testing

/// The rules of every revocation store, on one node or on several nodes that share an empty database.
package enum RevocationConformance {
    package enum Case: String, CaseIterable, Sendable {
        case givesBackWhatWasRevoked
        case replacesTheSameThing
        case liftsWhatWasRevoked
        case forgetsWhatHasEnded
        case tellsIssuersApart
        case agreesWithAModel
        case givesPagesInTheOrderOfKeys
        case findsOne
        case tellsEachChangeInItsOrder
        case tellsOfAGap
        case tellsEachChangeOnceInParallel
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
        case .givesPagesInTheOrderOfKeys: try await givesPagesInTheOrderOfKeys(first, last)
        case .findsOne: try await findsOne(first, last)
        case .tellsEachChangeInItsOrder: try await tellsEachChangeInItsOrder(first, last)
        case .tellsOfAGap: try await tellsOfAGap(first, last)
        case .tellsEachChangeOnceInParallel: try await tellsEachChangeOnceInParallel(nodes)
        }
    }

    private static func givesPagesInTheOrderOfKeys(
        _ first: any RevocationStore, _ last: any RevocationStore
    ) async throws {
        let all = ["c", "a", "e", "b", "d"].flatMap { value in
            [revocation(value), revocation(value, of: .tokenID, issuer: "one")]
        }
        for revocation in all { try await first.revoke(revocation) }
        for limit in [1, 3, 10, 11] {
            var (found, next, pageCount) = ([Revocation](), RevocationKey?.none, 0)
            repeat {
                let page = try await last.revocations(after: next, limit: limit)
                #expect(page.revocations.count <= limit)
                found += page.revocations
                next = page.next
                pageCount += 1
            } while next != nil
            let order = found.map { [$0.kind.rawValue, $0.issuer ?? "", $0.value] }
            #expect(order == order.sorted { $0.lexicographicallyPrecedes($1) } && Set(found) == Set(all))
            #expect(pageCount == 10 / limit + 1 && found.count == all.count)
        }
    }

    private static func findsOne(_ first: any RevocationStore, _ last: any RevocationStore) async throws {
        let (mine, others) = (
            revocation("a", of: .tokenID, issuer: "one"), revocation("a", of: .tokenID, issuer: "two")
        )
        for revocation in [mine, others] { try await first.revoke(revocation) }
        #expect(try await last.revocation(.tokenID, "a", of: "one") == mine)
        #expect(try await last.revocation(.tokenID, "a", of: nil) == nil)
        #expect(try await last.revocation(.session, "a", of: "one") == nil)
        var latest = revocation("b")
        latest.revokedAt = 9
        try await last.revoke(latest)
        #expect(try await first.newestRevocations(limit: 1) == [latest])
        #expect(try await first.newestRevocations(limit: 9).count == 3)
    }

    private static func changes(
        of store: any RevocationStore, after position: RevocationPosition, limit: Int = 100
    ) async throws -> (changes: [RevocationChange], through: RevocationPosition, isComplete: Bool) {
        guard
            case .changes(let changes, let through, let isComplete) = try await store.revocationChanges(
                after: position, limit: limit)
        else {
            Issue.record("there is no gap")
            return ([], position, true)
        }
        return (changes, through, isComplete)
    }

    private static func tellsEachChangeInItsOrder(
        _ first: any RevocationStore, _ last: any RevocationStore
    ) async throws {
        #expect(try await first.revocationPosition() == .start)
        #expect(try await changes(of: last, after: .start).changes == [])
        try await first.revoke(revocation("a", until: 100))
        try await last.revoke(revocation("a", until: 50, reason: "again"))
        try await first.revoke(revocation("b", of: .session, issuer: "one"))
        #expect(try await last.lift(.signingKey, "a", of: nil))
        #expect(try await last.lift(.signingKey, "a", of: nil) == false)
        let expected: [RevocationChange] = [
            .revoked(revocation("a", until: 100)), .revoked(revocation("a", until: 50, reason: "again")),
            .revoked(revocation("b", of: .session, issuer: "one")), .lifted(.signingKey, value: "a", issuer: nil),
        ]
        for store in [first, last] {
            let all = try await changes(of: store, after: .start)
            #expect(all.changes == expected && all.isComplete && all.through.number == 4)
            #expect(try await store.revocationPosition() == all.through)
            #expect(try await changes(of: store, after: all.through).changes == [])
            var (found, position, isComplete) = ([RevocationChange](), RevocationPosition.start, false)
            while !isComplete {
                let part = try await changes(of: store, after: position, limit: 1)
                (position, isComplete) = (part.through, part.isComplete)
                found += part.changes
            }
            #expect(found == expected)
        }
    }

    private static func tellsOfAGap(_ first: any RevocationStore, _ last: any RevocationStore) async throws {
        #expect(try await first.revocationChanges(after: .init(number: 1, mark: 1), limit: 9) == .gap)
        for value in ["a", "b"] { try await first.revoke(revocation(value)) }
        let known = try await last.revocationPosition()
        let others = [
            RevocationPosition(number: 2, mark: known.mark ^ 1), .init(number: 1, mark: known.mark),
            .init(number: 3, mark: known.mark),
        ]
        for other in others { #expect(try await last.revocationChanges(after: other, limit: 9) == .gap) }
        #expect(try await changes(of: last, after: known).changes == [])
    }

    /// If several nodes revoke at the same time, a reader that has seen one change has seen all changes before it.
    private static func tellsEachChangeOnceInParallel(_ nodes: [any RevocationStore]) async throws {
        let count = 200
        let seen = try await withThrowingTaskGroup(of: [RevocationChange].self) { group in
            for (index, node) in nodes.enumerated() {
                for part in 0..<4 {
                    group.addTask {
                        for number in 0..<count / 4 { try await node.revoke(revocation("n\(index)-\(part)-\(number)")) }
                        return []
                    }
                }
            }
            group.addTask {
                var (found, position) = ([RevocationChange](), RevocationPosition.start)
                while found.count < count * nodes.count {
                    // If a writer fails, the test ends and cancels this reader.
                    try Task.checkCancellation()
                    let part = try await changes(of: nodes[0], after: position, limit: 50)
                    found += part.changes
                    position = part.through
                }
                return found
            }
            var seen: [RevocationChange] = []
            for try await part in group { seen += part }
            return seen
        }
        #expect(seen.count == count * nodes.count && Set(seen).count == seen.count)
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

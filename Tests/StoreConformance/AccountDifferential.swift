package import Records
import TestSupport
import Testing

/// Compares stores of cells with `MemoryCellStore` over random actions.
package enum AccountDifferential {
    /// Sends actions to the nodes in turn. They share one database, which is empty, and whose time stays 0.
    ///
    /// All answers must be the same, and all lists of all nodes now and then and in the end.
    package static func run(count: Int, on nodes: [any CellStore]) async throws {
        let expected = MemoryCellStore()
        var actions = RandomActions("stores of cells give the same answers", on: expected, neverEnds: true)
        var listed = 0
        for step in 1...count {
            let action = try await actions.next()
            let answer = try await nodes[step % nodes.count].perform(action, now: actions.now)
            try #require(try await answer == expected.perform(action, now: actions.now), "step \(step): \(action)")
            guard step % 500 == 0 || step == count else { continue }
            for node in nodes { listed += try await compareLists(of: node, with: expected) }
        }
        #expect(listed > 0)
    }

    /// Returns the number of playbacks and rentals, which come and go.
    private static func compareLists(of node: any CellStore, with expected: MemoryCellStore) async throws -> Int {
        var count = 0
        for number in RandomActions.owners {
            let owner = SampleDecisions.pseudonym(.owner, number)
            let devices = try await expected.devices(of: owner, after: nil, now: 0, limit: 1000)
            #expect(
                try await pages { after, limit in
                    try await node.devices(of: owner, after: after?.device, now: 0, limit: limit)
                } == devices)
            let playbacks = try await expected.playbacks(of: owner, after: nil, now: 0, limit: 1000)
            #expect(
                try await pages { after, limit in
                    try await node.playbacks(of: owner, after: after?.position, now: 0, limit: limit)
                } == playbacks)
            let rentals = try await expected.rentals(of: owner, after: nil, now: 0, limit: 1000)
            #expect(
                try await pages { after, limit in
                    try await node.rentals(of: owner, after: after?.name, now: 0, limit: limit)
                } == rentals)
            count += playbacks.count + rentals.count
        }
        for rental in RandomActions.rentals {
            let name = SampleDecisions.pseudonym(.rental, rental)
            #expect(try await node.rental(name, now: 0) == expected.rental(name, now: 0))
        }
        return count
    }

    /// Reads a list in pages of two.
    private static func pages<Element>(
        _ page: (Element?, _ limit: Int) async throws -> [Element]
    ) async throws -> [Element] {
        var all: [Element] = []
        while true {
            let next = try await page(all.last, 2)
            if next.isEmpty { return all }
            all += next
        }
    }
}

import ContentKeys
import DatabaseSupport
import KeyCrypto
import Records
import Synchronization
import TestSupport
import Testing

@testable import StoragePostgreSQL

@Suite(.needsPostgreSQL, .serialized) struct LedgerShipperTests {
    let database: TestDatabase

    init() throws {
        database = try TestDatabase()
    }

    @Test func shipsEverythingInOrderAndOnce() async throws {
        try await database.withStore { store async throws in
            let outbox = try OutboxInMemory(batchSizes: [1, 3, 2500, 1, 700, 40])
            let shipper = LedgerShipper(node: outbox.node, outbox: outbox, receiver: store)
            #expect(try await shipper.shipAll() == 3245)
            #expect(try await shipper.shipAll() == 0)
            #expect(try await store.shippedThrough(outbox.node) == 3245)
            #expect(try database.integer("SELECT count(*) FROM ledger_entry") == 3245)
            #expect(try database.integer("SELECT count(*) FROM ledger_batch") == 6)
            try expectReceived(outbox)
            try outbox.append(2)
            #expect(try await shipper.shipAll() == 2)
            try expectReceived(outbox)
        }
    }

    /// The acknowledgement was lost, for example by a crash between the two databases.
    @Test func shipsAgainWhatWasNotAcknowledged() async throws {
        try await database.withStore { store async throws in
            let outbox = try OutboxInMemory(batchSizes: [10, 10])
            let shipper = LedgerShipper(node: outbox.node, outbox: outbox, receiver: store)
            _ = try await shipper.shipAll()
            outbox.forgetAcknowledgement()
            #expect(try await shipper.shipAll() == 20)
            try expectReceived(outbox)
        }
    }

    @Test func keepsNodesApart() async throws {
        try await database.withStore { store async throws in
            let outboxes = try [
                OutboxInMemory(batchSizes: [5], node: "node-1"), OutboxInMemory(batchSizes: [7], node: "node-2"),
            ]
            for outbox in outboxes {
                try await LedgerShipper(node: outbox.node, outbox: outbox, receiver: store).shipAll()
            }
            #expect(try await store.shippedThrough(outboxes[0].node) == 5)
            #expect(try await store.shippedThrough(outboxes[1].node) == 7)
            #expect(try await store.shippedThrough(NodeID("node-3")) == 0)
        }
    }

    @Test func refusesASecondLedgerOfTheSameNode() async throws {
        try await database.withStore { store async throws in
            let outbox = try OutboxInMemory(batchSizes: [3])
            try await LedgerShipper(node: outbox.node, outbox: outbox, receiver: store).shipAll()
            let other = try OutboxInMemory(batchSizes: [3, 4], firstNumber: 500)
            await #expect(throws: LedgerShippingError.sequenceTaken(outbox.node)) {
                try await LedgerShipper(node: other.node, outbox: other, receiver: store).shipAll()
            }
            #expect(try await store.shippedThrough(outbox.node) == 3)
            try expectReceived(outbox)
        }
    }

    private func expectReceived(_ outbox: OutboxInMemory) throws {
        let kept = try database.connect().query(
            "SELECT sequence, body FROM ledger_entry WHERE node = $1 ORDER BY sequence", [.text(outbox.node.text)],
            until: TestDatabase.deadline)
        let rows = outbox.rows
        #expect(kept.rowCount == rows.count)
        for (index, row) in rows.enumerated().prefix(kept.rowCount) {
            #expect(try kept[index].integer(at: 0) == row.sequence)
            #expect(try kept[index].bytes(at: 1) == row.body)
        }
        let batches = try database.connect().query(
            "SELECT first, last, at, seal FROM ledger_batch WHERE node = $1 ORDER BY first", [.text(outbox.node.text)],
            until: TestDatabase.deadline)
        let received = try batches.rows(read: LedgerBatch.init(reading:))
        #expect(received == outbox.batches)
    }
}

/// A node's ledger in memory, sealed in the same way as a real one.
final class OutboxInMemory: LedgerOutbox {
    private struct State {
        var batches: [LedgerBatch] = []
        var rows: [LedgerRow] = []
        var acknowledged: Int64 = 0
        var number: UInt64
    }

    let node: NodeID
    private let chain: LedgerChain
    private let state: Mutex<State>

    init(batchSizes: [Int], node: String = "node-1", firstNumber: UInt64 = 0) throws {
        self.node = try NodeID(node)
        chain = LedgerChain(
            key: try HMACSHA256Key(SecretBytes(copying: [UInt8](repeating: 7, count: 32))), node: self.node)
        state = Mutex(State(number: firstNumber))
        for size in batchSizes { try append(size) }
    }

    var batches: [LedgerBatch] { state.withLock { $0.batches } }
    var rows: [LedgerRow] { state.withLock { $0.rows } }

    /// Appends a batch of `count` rows.
    func append(_ count: Int) throws {
        try state.withLock { state in
            let bodies = (0..<count).map { SampleDecisions.entry(state.number + UInt64($0)).encoded() }
            state.number += UInt64(count)
            let batch = try chain.seal(bodies, after: state.batches.last?.link ?? .start, at: 1_800_000_000)
            state.rows += zip(batch.first..., bodies).map { LedgerRow(sequence: $0, body: $1) }
            state.batches.append(batch)
        }
    }

    func forgetAcknowledgement() {
        state.withLock { $0.acknowledged = 0 }
    }

    func batches(behind sequence: Int64, rowsMaximum: Int) async throws(StoreError) -> LedgerShipment {
        state.withLock { state in
            var batches: [LedgerBatch] = []
            for batch in state.batches where batch.first > sequence {
                if let first = batches.first, batch.last - first.first >= Int64(rowsMaximum) { break }
                batches.append(batch)
            }
            guard let first = batches.first, let last = batches.last else {
                return LedgerShipment(batches: [], rows: [])
            }
            return LedgerShipment(
                batches: batches, rows: state.rows.filter { (first.first...last.last).contains($0.sequence) })
        }
    }

    func end() async throws(StoreError) -> Int64 { batches.last?.last ?? 0 }

    func acknowledge(through sequence: Int64) async throws(StoreError) {
        state.withLock { $0.acknowledged = sequence }
    }

    func acknowledgedThrough() async throws(StoreError) -> Int64 {
        state.withLock { $0.acknowledged }
    }
}

import Administration
import ByteCoding
import CommandLineKit
import CommandSupport
import ContentKeys
import Foundation
import Records
import ServiceConfiguration
import StoragePostgreSQL
import StorageSQLite

/// The work of `ledger rejoin`.
struct LedgerRejoining {
    /// The result of a run.
    private struct Outcome {
        /// The number of rows that were copied back from the copy.
        var takenCount = 0
        /// The number of rows that were recorded again after these.
        var againCount = 0
        /// The lost nodes that this node succeeds.
        var succeeded: [String] = []
    }

    private let file: ConfigurationFile
    private let chain: LedgerChain
    private let context: CommandContext
    private var path: String { file.configuration.storage.databasePath }
    private var node: NodeID { chain.node }

    init(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) {
        file = try OpenedLedger.configuration(arguments.required(.config), context)
        self.context = context
        chain = try OpenedLedger.prepared(file, context)
    }

    func run(asJSON: Bool) async throws(CommandError) {
        let store = try OpenedLedger.shared(file, context)
        defer { store.close() }
        var outcome = Outcome()
        if let (fork, end) = try await divergence(store) {
            (outcome.takenCount, outcome.againCount) = try await takeOver(from: store, fork, end)
        }
        outcome.succeeded = try await succeed(store)
        try print(outcome, asJSON: asJSON)
    }

    // MARK: A ledger that was restored

    /// The last batch that ledger and copy have in common, and the last batch of the copy. Nil if the copy has no
    /// batches that the ledger lacks.
    private func divergence(_ store: PostgreSQLStore) async throws(CommandError) -> (LedgerLink, LedgerBatch)? {
        let end = try await read { () async throws(StoreError) in
            try await store.shippedBatch(atOrBefore: .max, of: node)
        }
        guard let end else { return nil }
        let fork = try await lastCommonBatch(store)
        guard end.link != fork else { return nil }
        guard let fork else {
            throw .failed(
                "ledger and copy have no batch in common: the file belongs to another node; give the node its own file, or a new one"
            )
        }
        return (fork, end)
    }

    private func lastCommonBatch(_ store: PostgreSQLStore) async throws(CommandError) -> LedgerLink? {
        do {
            var reader = try LedgerReader.open(path: path)
            var position = Int64.max
            while let last = try reader.batch(atOrBefore: position), last.first > 0 {
                let theirs = try await store.shippedBatch(atOrBefore: last.first, of: node)
                if let theirs, theirs.first == last.first, theirs.link == last.link { return last.link }
                position = last.first - 1
            }
            // The older batches were purged from the file, which happens only after they are in the copy.
            return try reader.beginning()?.link
        } catch {
            throw OpenedLedger.explain(error, path)
        }
    }

    private func takeOver(
        from store: PostgreSQLStore, _ fork: LedgerLink, _ end: LedgerBatch
    ) async throws(CommandError) -> (taken: Int, again: Int) {
        do {
            var rejoiner = try LedgerRejoiner.begin(path: path, chain: chain, fork: fork)
            var pages = LedgerPages(store, node, after: fork.sequence, through: end.first)
            var taken = 0
            while let page = try await pages.next() {
                for (batch, rows) in page {
                    try rejoiner.take(batch, rows)
                    taken += rows.count
                }
            }
            let id = try LicenseID.naming(rowAt: now)
            let again = try rejoiner.finish { [now] setAside in
                LedgerEntry(
                    kind: .ledgerRejoined, at: now, license: id,
                    detail: "behind \(fork.sequence): \(taken) from the copy, \(setAside) again")
            }
            return (taken, again)
        } catch StorageOpeningError.inUse {
            throw .failed("a daemon uses the ledger; stop it first")
        } catch StoreError.recordMalformed {
            throw .failed("the copy does not verify, so nothing was copied back; see: latchkey ledger verify --shared")
        } catch {
            throw OpenedLedger.explain(error, path)
        }
    }

    // MARK: A ledger that was lost

    private func succeed(_ store: PostgreSQLStore) async throws(CommandError) -> [String] {
        let lost = try await read { () async throws(StoreError) in
            try await store.lostNodes(besides: node, label: file.configuration.node, silence: 0)
        }
        for lostNode in lost {
            try append("goes on for \(lostNode)")
            try await read { () async throws(StoreError) in try await store.succeed(lostNode, by: node) }
        }
        return lost.map(\.text)
    }

    private func append(_ detail: String) throws(CommandError) {
        do {
            var appender = try LedgerAppender.open(path: path, chain: chain)
            let entry = LedgerEntry(
                kind: .ledgerRejoined, at: now, license: try .naming(rowAt: now), detail: detail)
            try appender.append([entry], at: now)
        } catch {
            throw OpenedLedger.explain(error, path)
        }
    }

    // MARK: Parts

    private var now: Int64 { context.now }

    private func read<Value>(_ body: () async throws(StoreError) -> Value) async throws(CommandError) -> Value {
        try await OpenedKeyStore.attempt(body)
    }

    private func print(_ outcome: Outcome, asJSON: Bool) throws(CommandError) {
        if asJSON {
            return try context.printObject { writer in
                writer.member("node", node.text)
                writer.member("taken", outcome.takenCount)
                writer.member("again", outcome.againCount)
                writer.member("succeeded", outcome.succeeded)
            }
        }
        if outcome.takenCount + outcome.againCount > 0 {
            try context.print(
                "copied back from the copy: \(outcome.takenCount.counted("entry", "entries")); recorded again after them: \(outcome.againCount)"
            )
        }
        for name in outcome.succeeded { try context.print("this node, \(node), succeeds \(name), whose copy stays") }
        if outcome.takenCount + outcome.againCount == 0, outcome.succeeded.isEmpty {
            context.note("the ledger and its copy agree; there is nothing to do")
        }
    }
}

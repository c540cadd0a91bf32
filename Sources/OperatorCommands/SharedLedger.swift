import Administration
import ByteCoding
import CommandLineKit
import CommandSupport
import ContentKeys
import KeyCrypto
import Records
import ServiceConfiguration
import StoragePostgreSQL
import StorageSQLite

/// The copies of all nodes' ledgers in PostgreSQL, for commands that read them.
enum SharedLedger {
    static let option = CommandOption(
        "--shared", .flag,
        help: "read the copies of all nodes' ledgers in PostgreSQL, a few seconds old, instead of this node's own")
    static let node = CommandOption(
        "--node", .value("ID"), help: "with --shared: only this node, by its id or its name")

    /// Whether the copies are to be read. Throws if `--node` is given without `--shared`.
    static func isWanted(_ arguments: Arguments) throws(CommandError) -> Bool {
        let isWanted = arguments.isSet(option)
        guard isWanted || !arguments.isSet(node) else { throw .usage("--node needs --shared") }
        return isWanted
    }

    /// The number of rows that are read at once.
    static let pageSize = 1000

    /// The nodes whose ledgers to read: the one that `--node` names, otherwise all.
    static func nodes(
        _ store: PostgreSQLStore, _ arguments: Arguments
    ) async throws(CommandError) -> [SharedLedgerNode] {
        let all = try await OpenedKeyStore.attempt { () async throws(StoreError) in try await store.ledgerNodes() }
        guard let wanted = arguments.value(node) else { return all }
        let found = all.filter { $0.node.text == wanted || $0.label == wanted }
        guard !found.isEmpty else { throw .failed("PostgreSQL has no ledger of a node \(wanted)") }
        return found
    }
}

extension LedgerArguments {
    /// The last hour, the last day, and everything.
    private static let searchedTimes: [Int64?] = [3600, 86_400, nil]

    /// Prints the matching entries of the copies of all nodes, the newest first.
    func printShared(_ arguments: Arguments, _ context: CommandContext) async throws(CommandError) {
        let limit = try Self.limit(arguments)
        let store = try OpenedLedger.shared(configuration, context)
        defer { store.close() }
        let nodes = try await SharedLedger.nodes(store, arguments)
        var found: [(node: SharedLedgerNode, find: LedgerFind)] = []
        // Copies are read forwards, so a search for the newest entries begins near the end, and earlier until it has
        // enough of them.
        for seconds in Self.searchedTimes {
            var latest = query
            latest.from = [query.from, seconds.map { (query.to ?? context.now) - $0 }].compactMap(\.self).max()
            found = []
            try await SharedLedgerSearch(query: latest, store: store, context: context).run(nodes) { node, find in
                found.append((node, find))
                // Not more of a long ledger is held than a few times what is printed.
                if found.count > 8 * (limit + 1) { found = Self.newest(limit + 1, of: found) }
                return true
            }
            if found.count > limit || latest.from == query.from { break }
        }
        found = Self.newest(limit + 1, of: found)
        try Self.print(found.prefix(limit), isComplete: found.count <= limit, arguments, context)
    }

    private static func newest(
        _ count: Int, of found: [(node: SharedLedgerNode, find: LedgerFind)]
    ) -> [(node: SharedLedgerNode, find: LedgerFind)] {
        Array(
            found.sorted { ($0.find.entry.at, $0.find.sequence) > ($1.find.entry.at, $1.find.sequence) }.prefix(count))
    }

    private static func print(
        _ found: ArraySlice<(node: SharedLedgerNode, find: LedgerFind)>, isComplete: Bool, _ arguments: Arguments,
        _ context: CommandContext
    ) throws(CommandError) {
        if arguments.isSet(.json) {
            try context.printObject { writer in
                writer.objects("entries", found) { writer, one in
                    writer.member("node", one.node.node.text)
                    writer.member("name", one.node.label)
                    one.find.write(to: &writer)
                }
                writer.member("isComplete", isComplete)
            }
        } else if found.isEmpty {
            context.note("no entry matches")
        } else {
            try context.print(found.map { "\($0.node.label)  \($0.find.text)" }.joined(separator: "\n"))
        }
        if !isComplete { context.note("there are more entries; raise --limit, or add options") }
    }
}

/// Reads the entries of the copies that match a query.
struct SharedLedgerSearch {
    let query: LedgerQuery
    let store: PostgreSQLStore
    let context: CommandContext

    /// Reads node by node, from each node's oldest entry, until `visit` returns false.
    func run(
        _ nodes: [SharedLedgerNode], visit: (SharedLedgerNode, LedgerFind) -> Bool
    ) async throws(CommandError) {
        var progress = CommandProgress(context, unit: "entries read")
        defer { progress.clear() }
        var count = 0
        for node in nodes {
            var next = try await start(in: node)
            while let first = next {
                let rows = try await OpenedKeyStore.attempt { () async throws(StoreError) in
                    try await store.ledgerRows(of: node.node, first ... .max, limit: SharedLedger.pageSize)
                }
                count += rows.count
                progress.show(count)
                for row in rows {
                    guard let entry = try? LedgerEntry(parsing: row.body), query.matches(entry) else { continue }
                    guard visit(node, LedgerFind(sequence: row.sequence, entry: entry)) else { return }
                }
                next =
                    rows.count < SharedLedger.pageSize || isBehind(rows.last) ? nil : rows.last.map { $0.sequence + 1 }
            }
        }
    }

    /// The first sequence of a node that may match; nil if none can.
    private func start(in node: SharedLedgerNode) async throws(CommandError) -> Int64? {
        guard let from = query.from else { return 1 }
        return try await OpenedKeyStore.attempt { () async throws(StoreError) in
            try await store.firstSequence(of: node.node, at: from - LedgerReader.clockSlack)
        }
    }

    /// Whether rows from this one on are too late for the query.
    private func isBehind(_ row: LedgerRow?) -> Bool {
        guard let to = query.to, let row, let entry = try? LedgerEntry(parsing: row.body) else { return false }
        return entry.at > to && entry.at - to > LedgerReader.clockSlack
    }
}

/// The work of `ledger verify --shared`.
struct SharedLedgerVerification {
    /// The result for one node.
    private struct Outcome {
        let node: SharedLedgerNode
        let verified: LedgerVerified
        let findings: [LedgerFinding]
    }

    private let file: ConfigurationFile
    private let keys: LedgerKeys
    private let checkpoints: [LedgerCheckpoint]
    private let arguments: Arguments
    private let context: CommandContext

    init(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) {
        file = try OpenedLedger.configuration(arguments.required(.config), context)
        keys = try OpenedLedger.keys(file, context)
        checkpoints =
            try arguments.value(LedgerVerification.checkpoints).map { path throws(CommandError) in
                try LedgerVerification.read(path, context)
            } ?? []
        self.arguments = arguments
        self.context = context
    }

    func run(asJSON: Bool) async throws(CommandError) {
        let store = try OpenedLedger.shared(file, context)
        defer { store.close() }
        var outcomes: [Outcome] = []
        for node in try await SharedLedger.nodes(store, arguments) {
            outcomes.append(try await verify(node, store))
        }
        try print(outcomes, asJSON: asJSON)
        let count = outcomes.reduce(0) { $0 + $1.findings.count }
        if count > 0 { throw .failed("the copies of the ledgers do not verify: \(count.counted("finding"))") }
    }

    private func verify(_ node: SharedLedgerNode, _ store: PostgreSQLStore) async throws(CommandError) -> Outcome {
        var progress = CommandProgress(context, unit: "entries verified")
        defer { progress.clear() }
        let chain = LedgerChain(keys: keys, node: node.node)
        let purged = try await read { () async throws(StoreError) in try await store.ledgerBeginning(of: node.node) }
        let beginning = purged.flatMap { LedgerCheckpoint(beginning: $0, node: node.node) }
        let end = try await read { () async throws(StoreError) in
            try await store.shippedBatch(atOrBefore: .max, of: node.node)
        }
        do throws(CryptoError) {
            var findings: [LedgerFinding] = purged != nil && beginning == nil ? [.beginningForged] : []
            var verifier = try LedgerVerifier(chain, beginning: beginning, checkpoints: checkpoints)
            var last = beginning?.sequence ?? 0
            var pages = LedgerPages(store, node.node, after: last, through: end?.first ?? 0)
            while let page = try await next(&pages) {
                for (batch, rows) in page {
                    findings += try verifier.read(batch, rows)
                    if batch.last > last { last = batch.last }
                }
                progress.show(verifier.rowCount)
            }
            findings += verifier.finish([])
            return Outcome(
                node: node, verified: LedgerVerified(verifier, last: last, beginning: beginning), findings: findings)
        } catch {
            throw .failed("cannot verify the ledger of \(node.node): a cryptographic operation failed")
        }
    }

    /// Reads the next page. An error of the database ends the command, and does not become a finding.
    private func next(_ pages: inout LedgerPages) async throws(CryptoError) -> [(LedgerBatch, [LedgerRow])]? {
        do throws(StoreError) { return try await pages.next() } catch { throw .operationFailed(error.explanation) }
    }

    private func read<Value>(_ body: () async throws(StoreError) -> Value) async throws(CommandError) -> Value {
        try await OpenedKeyStore.attempt(body)
    }

    private func print(_ outcomes: [Outcome], asJSON: Bool) throws(CommandError) {
        guard asJSON else {
            for outcome in outcomes {
                let name = "\(outcome.node.label) (\(outcome.node.node))"
                for finding in outcome.findings { try context.print("\(name): \(finding.text)") }
                if outcome.findings.isEmpty {
                    try context.print(
                        "\(name): \(outcome.verified.rowCount.counted("entry", "entries")) up to sequence \(outcome.verified.last): nothing was altered"
                    )
                }
                for line in outcome.verified.purgeLines { try context.print("\(name): \(line)") }
            }
            if outcomes.isEmpty { context.note("PostgreSQL has no ledger of any node") }
            return
        }
        try context.printObject { writer in
            writer.member("isSound", outcomes.allSatisfy { $0.findings.isEmpty })
            writer.objects("nodes", outcomes) { writer, outcome in
                writer.member("node", outcome.node.node.text)
                writer.member("name", outcome.node.label)
                writer.member("successor", outcome.node.successor)
                writer.member("entries", outcome.verified.rowCount)
                writer.member("last", outcome.verified.last)
                outcome.verified.writePurges(to: &writer)
                writer.objects("findings", outcome.findings) { $1.write(to: &$0) }
            }
        }
    }
}

/// Reads a copy of a ledger: batches, each with its rows, in pages.
struct LedgerPages {
    private static let batchPageSize = 100

    private let store: PostgreSQLStore
    private let node: NodeID
    /// The sequence of the last row that was read.
    private var last: Int64
    private var nextFirst: Int64 = 1
    /// The first sequence of the last batch to read. Batches that are shipped meanwhile are not read.
    private let endFirst: Int64

    init(_ store: PostgreSQLStore, _ node: NodeID, after last: Int64, through endFirst: Int64) {
        self.store = store
        self.node = node
        self.last = last
        self.endFirst = endFirst
        nextFirst = last + 1
    }

    /// The next batches with their rows; nil at the end.
    mutating func next() async throws(StoreError) -> [(LedgerBatch, [LedgerRow])]? {
        guard nextFirst <= endFirst else { return nil }
        let found = try await store.ledgerBatches(of: node, from: nextFirst, limit: Self.batchPageSize)
        let batches = found.filter { $0.first <= endFirst }
        guard let end = batches.last else { return nil }
        var rows: [LedgerRow] = []
        if end.last > last { rows = try await allRows(last + 1...end.last) }
        var page: [(LedgerBatch, [LedgerRow])] = []
        var index = rows.startIndex
        for batch in batches {
            let split = rows[index...].firstIndex { $0.sequence > batch.last } ?? rows.endIndex
            page.append((batch, Array(rows[index..<split])))
            index = split
        }
        last = max(last, end.last)
        nextFirst = end.first + 1
        return page
    }

    private func allRows(_ range: ClosedRange<Int64>) async throws(StoreError) -> [LedgerRow] {
        var rows: [LedgerRow] = []
        var next = range.lowerBound
        while next <= range.upperBound {
            let page = try await store.ledgerRows(of: node, next...range.upperBound, limit: SharedLedger.pageSize)
            rows += page
            guard page.count == SharedLedger.pageSize, let end = page.last?.sequence else { break }
            next = end + 1
        }
        return rows
    }
}

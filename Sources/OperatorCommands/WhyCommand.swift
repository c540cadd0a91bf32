import Administration
import ByteCoding
package import CommandLineKit
import CommandSupport
import ContentKeys
import HTTPCalls
import Records
import ServiceConfiguration
import StoragePostgreSQL
import StorageSQLite

extension Command {
    private static let config = CommandOption(
        "--config", .value("FILE"), help: "the daemon's configuration: its admin listener, and its ledger")

    private static let sharedCopies = CommandOption(
        SharedLedger.option.name, .flag, help: "search the copies of all nodes' ledgers in PostgreSQL too")

    /// `latchkey why`
    package static let why = Command(
        "why",
        summary: "Say why a request was refused, and what to do about it",
        details: """
            Takes the id that the client was told: X-Request-Id, or request_id in the answer. Asks the admin
            listener of the running daemon, which has the last 10,000 refusals in memory, and then this node's
            ledger, which has a row for most refusals of good tokens. No log file is read. With several nodes, ask
            the node that answered, or search the copies of all nodes' ledgers in PostgreSQL by --shared. Prints the
            cause, what was found and expected, and what to do. With --config, it also lists the keys of a content
            whose name fits several keys. The exit status is 1 if no refusal has this id.

            Takes the trace id of a traceparent as well, and then tells of the newest refusal of that trace. The ledger has no trace ids,
            so only the daemon is asked.
            """,
        examples: [
            "latchkey why 4be1c7a2d0396f58 --config /etc/latchkey/latchkey.json5",
            "latchkey why 4be1c7a2d0396f58 --server http://127.0.0.1:9443 --token @admin-token --json",
            "latchkey why 0af7651916cd43dd8448eb211c80319c --config /etc/latchkey/latchkey.json5",
        ],
        operands: [CommandOperand("ID", help: "a request id of 16 hexadecimal digits, or a trace id of 32")],
        options: [config, sharedCopies] + AdminClient.options + [.json],
        run: { arguments, context throws(CommandError) in
            let id = try requestOrTraceID(arguments.operand(0))
            let file = try arguments.value(config).map { path throws(CommandError) in
                try OpenedLedger.configuration(path, context)
            }
            guard file != nil || arguments.isSet(AdminClient.server) else {
                throw .usage("--config FILE or --server URL is missing")
            }
            guard file != nil || !arguments.isSet(sharedCopies) else { throw .usage("--shared needs --config FILE") }
            let search = RefusalSearch(id: id, context: context)
            var found = try search.inMemory(AdminClient(arguments, file, context, for: .look))
            let ledger = search.isTrace ? nil : file
            let copies = arguments.isSet(sharedCopies) ? ledger : nil
            if found == nil, let ledger {
                do throws(CommandError) {
                    found = try search.inLedger(of: ledger)
                } catch {
                    // A machine that only asks PostgreSQL has no ledger of its own.
                    guard copies != nil else { throw error }
                    context.note("warning: \(error.text)")
                }
            }
            if found == nil, let copies { found = try await search.inCopies(of: copies) }
            guard var report = found else {
                throw .failed(search.absence(hasLedger: ledger != nil, hasCopies: copies != nil))
            }
            if report.isAboutMissingKey, let file {
                do throws(CommandError) {
                    if let history = try search.history(of: report, file) { report.add(history: history) }
                } catch {
                    context.note("warning: \(error.text)")
                }
                do throws(CommandError) {
                    if let path = arguments.value(config), let keys = try await search.candidates(of: report, path) {
                        report.add(candidates: keys)
                    }
                } catch {
                    context.note("warning: \(error.text)")
                }
            }
            if arguments.isSet(.json) {
                try context.printObject(report.write)
            } else {
                try context.print(report.text)
            }
        })

    private static func requestOrTraceID(_ text: String) throws(CommandError) -> String {
        guard [16, RefusalSearch.traceIDSize].contains(text.utf8.count), (try? Hexadecimal.decode(text)) != nil else {
            throw .usage("ID is 16 hexadecimal digits, as X-Request-Id has them, or the 32 of a trace id")
        }
        return text.lowercased()
    }
}

/// Looks for one refusal in the places where it may be kept.
private struct RefusalSearch {
    static let traceIDSize = 32
    /// The most keys that are shown of a content.
    static let candidatesMaximum = 16

    /// A request id or a trace id.
    let id: String
    var isTrace: Bool { id.utf8.count == Self.traceIDSize }
    let context: CommandContext

    /// A daemon that does not answer is no reason to give up: the ledger is there without it.
    func inMemory(_ client: AdminClient) throws(CommandError) -> RefusalReport? {
        do throws(AdminClient.Failure) {
            let answer = try client.get("/v1/refusals/\(id)")
            switch answer.status {
            case 200:
                guard let report = RefusalReport(parsing: answer.body) else {
                    throw AdminClient.Failure(
                        text: "the answer of \(client.name) is not that of Latchkey's admin listener")
                }
                return report
            case 404: return nil
            case 401: throw AdminClient.Failure(text: "\(client.name) does not accept the admin token")
            case 403: throw AdminClient.Failure(text: "no role of the admin token allows this at \(client.name)")
            default: throw AdminClient.Failure(text: "\(client.name) answered with status \(answer.status)")
            }
        } catch {
            context.note("warning: \(error.text)")
            return nil
        }
    }

    /// By the ledger's index; rows that an older version has indexed are looked for in the whole ledger.
    func inLedger(of file: ConfigurationFile) throws(CommandError) -> RefusalReport? {
        let path = file.configuration.storage.databasePath
        do {
            if LedgerIndex.exists(for: path), let found = try find(path, index: try LedgerIndex.open(for: path)) {
                return found
            }
            return try find(path, index: nil)
        } catch {
            throw OpenedLedger.explain(error, path)
        }
    }

    /// In the copies of all nodes' ledgers.
    func inCopies(of file: ConfigurationFile) async throws(CommandError) -> RefusalReport? {
        let store = try OpenedLedger.shared(file, context)
        defer { store.close() }
        let nodes = try await OpenedKeyStore.attempt { () async throws(StoreError) in try await store.ledgerNodes() }
        var report: RefusalReport?
        try await SharedLedgerSearch(query: LedgerQuery(request: id), store: store, context: context).run(nodes) {
            report = RefusalReport($1.entry)
            return report == nil
        }
        return report
    }

    private func find(_ path: String, index: consuming LedgerIndex?) throws -> RefusalReport? {
        var progress = CommandProgress(context, unit: "entries read")
        defer { progress.clear() }
        var report: RefusalReport?
        var reader = try LedgerReader.open(path: path)
        try reader.find(
            LedgerQuery(request: id), index: index, progress: { progress.show($0) },
            visit: { find in
                report = RefusalReport(find.entry)
                return report == nil
            })
        return report
    }

    /// What was last done to the key that was not found: withdrawn or deleted, when and by whom. Nil if the ledger does
    /// not say it.
    func history(of report: RefusalReport, _ file: ConfigurationFile) throws(CommandError) -> String? {
        let path = file.configuration.storage.databasePath
        guard let content = report[.content] else { return nil }
        do {
            let index = LedgerIndex.exists(for: path) ? try LedgerIndex.open(for: path) : nil
            var last: LedgerEntry?
            var reader = try LedgerReader.open(path: path)
            try reader.find(LedgerQuery(content: content), index: index) { find in
                switch find.entry.kind {
                case .keyWithdrawn, .keyDeleted, .keyRestored, .keyCreated, .keyImported: last = find.entry
                default: break  // Rows of licences, and of what changes no key.
                }
                return true
            }
            guard let last, last.kind == .keyWithdrawn || last.kind == .keyDeleted else { return nil }
            let key = last.keyID.map { "the key \($0)" } ?? "the key"
            let act = last.kind == .keyDeleted ? "deleted" : "withdrawn"
            let time = UnixTime(seconds: last.at).map { RFC3339.format($0) } ?? "\(last.at)"
            return "\(key) was \(act) at \(time) by \(last.actor ?? "a program that did not say its name")"
        } catch {
            throw OpenedLedger.explain(error, path)
        }
    }

    /// The live keys of the content that was asked for; nil unless there are several.
    func candidates(of report: RefusalReport, _ path: String) async throws(CommandError) -> String? {
        guard let contentID = report[.content].flatMap({ try? ContentID($0) }) else { return nil }
        let store = try OpenedKeyStore(configuration: path, context)
        let keys = try await OpenedKeyStore.attempt { () async throws(StoreError) in
            try await store.keys(of: contentID).filter { $0.state == .live }
        }
        guard keys.count > 1 else { return nil }
        let words = keys.prefix(Self.candidatesMaximum).map(\.candidateWords).joined(separator: ", ")
        return keys.count > Self.candidatesMaximum ? "\(words) and \(keys.count - Self.candidatesMaximum) more" : words
    }

    func absence(hasLedger: Bool, hasCopies: Bool) -> String {
        let places =
            switch (hasLedger, hasCopies) {
            case (false, _): "the admin listener"
            case (true, false): "the admin listener and this node's ledger"
            case (true, true): "the admin listener, this node's ledger and the copies of all ledgers"
            }
        let elsewhere = hasCopies ? "" : "have been answered by another node, "
        return "no refusal of the \(isTrace ? "trace" : "request") \(id) is known to \(places). "
            + "It may \(elsewhere)be older than the last 10,000 refusals, or not have been refused."
    }
}

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
        "--config", .value("FILE"), help: "the daemon's configuration: its admin listener, and its ledger",
        takesVariable: true)

    private static let sharedCopies = CommandOption(
        SharedLedger.option.name, .flag, help: "search the copies of all nodes' ledgers in PostgreSQL too")

    /// `latchkey why`
    package static let why = Command(
        "why",
        summary: "Say why a request was refused, and what to do about it",
        details: """
            Without an id it prints the latest refusals that the daemon has in memory, the newest first.

            Takes the id that the client was told: X-Request-Id, or request_id in the answer. Asks the admin
            listener of the running daemon, which has up to 10,000 refusals in memory, and then this node's
            ledger, which has a row for most refusals of good tokens. No log file is read. With several nodes, ask
            the node that answered, or search the copies of all nodes' ledgers in PostgreSQL by --shared. Prints the
            cause, what was found and expected, and what to do. With --config, it also lists the keys of a content
            whose name fits several keys. The exit status is 1 if no refusal has this id.

            Takes the trace id of a traceparent as well, and then tells of the newest refusal of that trace. The ledger has no trace ids,
            so only the daemon is asked.
            """,
        examples: [
            "latchkey why --config /etc/latchkey/latchkey.json5",
            "latchkey why 4be1c7a2d0396f58 --config /etc/latchkey/latchkey.json5",
            "latchkey why 4be1c7a2d0396f58 --server http://127.0.0.1:9443 --token @admin-token --json",
            "latchkey why 0af7651916cd43dd8448eb211c80319c --config /etc/latchkey/latchkey.json5",
        ],
        operands: [
            CommandOperand(
                "ID",
                help: "a request id of 16 hexadecimal digits, or a trace id of 32; the latest refusals unless given",
                isOptional: true)
        ],
        options: [config, sharedCopies] + AdminClient.options + [.json],
        run: { arguments, context throws(CommandError) in
            let id = try arguments.operands.first.map(requestOrTraceID)
            let file = try arguments.value(config).map { path throws(CommandError) in
                try OpenedLedger.configuration(path, context)
            }
            guard file != nil || arguments.isSet(AdminClient.server) else {
                throw .usage("--config FILE or --server URL is missing")
            }
            if arguments.isSet(sharedCopies) {
                guard let file else { throw .usage("--shared needs --config FILE") }
                guard id != nil else {
                    throw .usage("--shared needs an ID: without one, the refusals are those in the daemon's memory")
                }
                try OpenedLedger.requireShared(file)
            }
            let client = try AdminClient(arguments, file, context, for: .look)
            guard let id else { return try LatestRefusals(client).print(asJSON: arguments.isSet(.json), context) }
            let search = RefusalSearch(id: id, context: context)
            let ledger = search.isTrace ? nil : file
            let copies = arguments.isSet(sharedCopies) ? ledger : nil
            var found: RefusalReport?
            var hasAnswered = true
            do throws(AdminClient.Failure) {
                found = try search.inMemory(client)
            } catch {
                // The ledger is there without a daemon.
                guard ledger != nil else { throw .failed(error.text) }
                context.note("warning: \(error.text)")
                hasAnswered = false
            }
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
                throw .failed(
                    search.absence(hasAnswered: hasAnswered, hasLedger: ledger != nil, hasCopies: copies != nil))
            }
            if let file {
                do throws(CommandError) {
                    if let history = try search.history(of: report, file) { report.add(history: history) }
                } catch {
                    context.note("warning: \(error.text)")
                }
                do throws(CommandError) {
                    if let path = arguments.value(config) { try await search.addKeys(to: &report, path) }
                } catch {
                    context.note("warning: \(error.text)")
                }
            }
            try context.printResult(report.text, or: report.write, arguments)
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

    /// Throws if the daemon does not say whether it has the refusal.
    func inMemory(_ client: AdminClient) throws(AdminClient.Failure) -> RefusalReport? {
        let answer = try client.get("/v1/refusals/\(id)")
        switch answer.status {
        case 200:
            guard let report = RefusalReport(parsing: answer.body) else {
                throw AdminClient.Failure(text: "the answer of \(client.name) is not that of Latchkey's admin listener")
            }
            return report
        case 404: return nil
        default: throw AdminClient.Failure(text: client.refusal(of: answer.status))
        }
    }

    /// In this node's ledger, by its index if there is one.
    func inLedger(of file: ConfigurationFile) throws(CommandError) -> RefusalReport? {
        let path = file.configuration.storage.databasePath
        var progress = CommandProgress(context, unit: "entries read")
        defer { progress.clear() }
        var report: RefusalReport?
        do {
            let index = LedgerIndex.exists(for: path) ? try LedgerIndex.open(for: path) : nil
            var reader = try LedgerReader.open(path: path)
            try reader.find(
                LedgerQuery(request: id), index: index, progress: { progress.show($0) },
                visit: { find in
                    report = RefusalReport(find.entry)
                    return report == nil
                })
        } catch {
            throw OpenedLedger.explain(error, path)
        }
        return report
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

    /// What was last done to the key that was not found, or to what is revoked: when and by whom. Nil if this node's
    /// ledger does not say it.
    func history(of report: RefusalReport, _ file: ConfigurationFile) throws(CommandError) -> String? {
        let path = file.configuration.storage.databasePath
        let terms = [
            report.isAboutMissingKey ? report[.content].map { LedgerQuery(content: $0) } : nil,
            // No index finds a key, so the whole ledger is read.
            report.askedKeyID.map { LedgerQuery().also(device: nil, keyID: $0, playback: nil) },
            report.isAboutRevocation ? report.subjectPseudonym.map { LedgerQuery(subject: $0) } : nil,
        ].compactMap(\.self)
        var progress = CommandProgress(context, unit: "entries read")
        defer { progress.clear() }
        do {
            for query in terms {
                let index = LedgerIndex.exists(for: path) ? try LedgerIndex.open(for: path) : nil
                var last: LedgerEntry?
                var reader = try LedgerReader.open(path: path)
                try reader.find(
                    query, index: index, progress: { progress.show($0) },
                    visit: { find in
                        switch find.entry.kind {
                        case .keyWithdrawn, .keyDeleted, .keyRestored, .keyCreated, .keyImported, .revoked,
                            .revocationLifted:
                            last = find.entry
                        default: break  // Rows of licenses, and of what changes neither a key nor a revocation.
                        }
                        return true
                    })
                if let text = last?.history { return text }
            }
            return nil
        } catch {
            throw OpenedLedger.explain(error, path)
        }
    }

    /// Adds what the store knows of a missing key: that the key of this id was withdrawn, which this node's ledger need
    /// not say, and the live keys of a name that fits several.
    func addKeys(to report: inout RefusalReport, _ path: String) async throws(CommandError) {
        guard report.isAboutMissingKey else { return }
        let store = try OpenedKeyStore(configuration: path, context)
        if !report.hasHistory, let keyID = report.askedKeyID {
            let maintenance = try store.maintenance()
            let found = try await OpenedKeyStore.attempt { () async throws(StoreError) in
                try await maintenance.key(keyID)?.record.attributes
            }
            if let found, found.state == .withdrawn {
                report.add(history: "the key \(keyID) of \(found.contentID) was withdrawn")
            }
        }
        if let keys = try await candidates(of: report, store) { report.add(candidates: keys) }
    }

    /// The live keys of the content that was asked for; nil unless there are several.
    private func candidates(of report: RefusalReport, _ store: OpenedKeyStore) async throws(CommandError) -> String? {
        guard let contentID = report[.content].flatMap({ try? ContentID($0) }) else { return nil }
        let keys = try await OpenedKeyStore.attempt { () async throws(StoreError) in
            try await store.keys(of: contentID).filter { $0.state == .live }
        }
        guard keys.count > 1 else { return nil }
        let words = keys.prefix(Self.candidatesMaximum).map(\.candidateWords).joined(separator: ", ")
        return keys.count > Self.candidatesMaximum ? "\(words) and \(keys.count - Self.candidatesMaximum) more" : words
    }

    func absence(hasAnswered: Bool, hasLedger: Bool, hasCopies: Bool) -> String {
        let asked = [
            hasAnswered ? "the admin listener" : nil, hasLedger ? "this node's ledger" : nil,
            hasCopies ? "the copies of all ledgers" : nil,
        ].compactMap(\.self)
        let last = asked.suffix(1).joined()
        let places = asked.count > 1 ? asked.dropLast().joined(separator: ", ") + " and " + last : last
        let elsewhere = hasCopies ? "" : "have been answered by another node, "
        return "no refusal of the \(isTrace ? "trace" : "request") \(id) is known to \(places). "
            + "It may \(elsewhere)be older than the refusals in memory, or not have been refused."
    }
}

extension LedgerEntry {
    /// What was done to a key or by a revocation, when and by whom; nil if it is not in force any more.
    fileprivate var history: String? {
        let act: String
        switch kind {
        case .keyDeleted: act = "\(keyWords) was deleted"
        case .keyWithdrawn: act = "\(keyWords) was withdrawn"
        case .revoked: act = "the \(content == nil ? "subject" : "content") was revoked"
        default: return nil
        }
        let time = UnixTime(seconds: at).map { RFC3339.format($0) } ?? "\(at)"
        let end = until.flatMap { UnixTime(seconds: $0) }.map { ", until \(RFC3339.format($0))" } ?? ""
        return "\(act) at \(time) by \(actor ?? "a program that did not say its name")\(end)"
    }

    private var keyWords: String { keyID.map { "the key \($0)" } ?? "the key" }
}

/// The refusals that the daemon has in memory, the newest first.
private struct LatestRefusals {
    private static let countMaximum = 20

    private let client: AdminClient

    init(_ client: AdminClient) {
        self.client = client
    }

    func print(asJSON: Bool, _ context: CommandContext) throws(CommandError) {
        let answer = try wrap(
            { (error: AdminClient.Failure) in CommandError.failed(error.text) },
            try client.get("/v1/refusals?limit=\(Self.countMaximum)"))
        guard answer.status == 200,
            let list = (try? JSONReader.parse(answer.body, limits: .init(sizeMaximum: 1 << 22)))?
                .object?["refusals"]?.array
        else { throw .failed(client.refusal(of: answer.status)) }
        if asJSON { return try context.print(String(decoding: answer.body, as: UTF8.self)) }
        guard !list.isEmpty else { return context.note("nothing was refused since the daemon started") }
        let lines = list.compactMap(\.object).map { refusal in
            func text(_ name: String) -> String { refusal[name]?.string ?? "-" }
            // Clients have chosen some of these texts.
            return VisibleText.shown("\(text("time"))  \(text("request_id"))  \(text("code")): \(text("explanation"))")
        }
        try context.print(lines.joined(separator: "\n"))
        context.note("latchkey why ID says more of one of them, and what to do")
    }
}

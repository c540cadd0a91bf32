import Administration
import ByteCoding
package import CommandLineKit
import CommandSupport
import Records
import ServiceConfiguration
import StorageSQLite

extension Command {
    /// `latchkey ledger`
    package static let ledger = Command(
        "ledger",
        summary: "Query, verify and export the record of licenses",
        examples: [
            "latchkey ledger query --config latchkey.json5 --content movie-1 --from 2026-01-31T00:00:00Z",
            "latchkey ledger verify --config latchkey.json5",
        ],
        commands: [queryLedger, verifyLedger, exportLedger, rejoinLedger])

    private static let queryLedger = Command(
        "query",
        summary: "Find entries by license, content, subject, token, cookie, device or time, the newest first",
        details: """
            An entry must match every given option. The ledger has pseudonyms of devices and subjects; --subject takes the subject's name
            in tokens, and looks for its pseudonym, or the pseudonym as an entry shows it, after pseudonym: as one word. The newest entries come first; latchkey ledger export prints them in
            the order in which they were recorded.
            """,
        examples: [
            "latchkey ledger query --config latchkey.json5 --license 018bcfe568fa00000000000000000001",
            "latchkey ledger query --config latchkey.json5 --subject viewer-7 --from 2026-01-31T00:00:00Z --json",
            "latchkey ledger query --config latchkey.json5 --shared --content movie-1",
        ],
        options: [CommandOption.config] + LedgerArguments.filters
            + [LedgerArguments.limit, SharedLedger.option, SharedLedger.node, .json],
        run: { arguments, context throws(CommandError) in
            let isShared = try SharedLedger.isWanted(arguments)
            let given = try LedgerArguments(arguments, context)
            if isShared { return try await given.printShared(arguments, context) }
            let limit = try LedgerArguments.limit(arguments)
            // Reads one entry more than it shows, to know whether there are more.
            var found = try given.newest(limit + 1, context)
            let isComplete = found.count <= limit
            found = Array(found.prefix(limit))
            if arguments.isSet(.json) {
                try context.printObject { writer in
                    writer.objects("entries", found) { $1.write(to: &$0) }
                    writer.member("isComplete", isComplete)
                }
            } else if found.isEmpty {
                context.note("no entry matches")
                if let note = given.doubt { context.note(note) }
            } else {
                try context.print(found.map(\.text).joined(separator: "\n"))
            }
            if !isComplete { context.note("there are more entries; raise --limit, or add options") }
        })

    private static let exportLedger = Command(
        "export",
        summary: "Print entries as JSON, one object in each line",
        details: """
            Takes the filters of `ledger query`, and none of its --limit, --json, --shared and --node. Without a filter it prints the
            whole ledger of this node.
            """,
        examples: [
            "latchkey ledger export --config latchkey.json5 > ledger.jsonl",
            "latchkey ledger export --config latchkey.json5 --from 2026-01-01T00:00:00Z --to 2026-02-01T00:00:00Z",
        ],
        options: [CommandOption.config] + LedgerArguments.filters,
        run: { arguments, context throws(CommandError) in
            try LedgerArguments(arguments, context).find(context) { find throws(CommandError) in
                try context.printObject(find.write)
                return true
            }
        })

    private static let verifyLedger = Command(
        "verify",
        summary: "Find entries that were altered, deleted or moved",
        details: """
            Reads the whole ledger of this node and checks its seals, which only a holder of the ledger's key can make. If the newest
            entries were cut off, only a checkpoint shows it. The daemon logs checkpoints at intervals, and --checkpoints takes a file
            with such lines, or the log itself, of one node or of several. Purged entries are not a finding: the ledger has a row about
            each purge, which is printed.

            With --shared it reads the copies of all nodes' ledgers in PostgreSQL instead.

            Prints a line for each finding, with the sequence of the entry, and then ends with status 1.
            """,
        examples: [
            "latchkey ledger verify --config latchkey.json5",
            "journalctl -u latchkey --output cat | grep latchkey-checkpoint-1 > checkpoints.txt",
            "latchkey ledger verify --config latchkey.json5 --checkpoints checkpoints.txt --json",
            "latchkey ledger verify --config latchkey.json5 --shared",
        ],
        options: [
            .config, LedgerVerification.checkpoints, SharedLedger.option, SharedLedger.node, .json,
        ],
        run: { arguments, context throws(CommandError) in
            if try SharedLedger.isWanted(arguments) {
                return try await SharedLedgerVerification(arguments, context).run(asJSON: arguments.isSet(.json))
            }
            try LedgerVerification(arguments, context).run(context, asJSON: arguments.isSet(.json))
        })
}

extension Command {
    fileprivate static let rejoinLedger = Command(
        "rejoin",
        summary: "Continue a ledger that was lost or restored to an older state",
        details: """
            For a node with PostgreSQL. If the node's file was restored to an older state, its copy in PostgreSQL has entries that the file
            lacks. They are copied back, and the entries that were recorded after the restore are recorded again after them. The daemon
            must be stopped for that. If the file was lost, the node has begun a new ledger with an id of its own. It is noted as the
            successor of the old one, whose copy stays.

            The ledger records both. Until then the node serves, but is degraded (ledger_copy).
            """,
        examples: ["latchkey ledger rejoin --config latchkey.json5"],
        options: [.config, .json],
        run: { arguments, context throws(CommandError) in
            try await LedgerRejoining(arguments, context).run(asJSON: arguments.isSet(.json))
        })
}

/// The options of the commands that search for entries.
struct LedgerArguments {
    static let limit = CommandOption(
        "--limit", .value("COUNT"), help: "the most entries to show; \(limitDefault) unless given")
    private static let license = CommandOption(
        "--license", .value("ID"), help: "entries of this license and of its renewals; 32 hexadecimal digits")
    private static let content = CommandOption("--content", .value("ID"), help: "entries for this content")
    private static let subject = CommandOption("--subject", .value("ID"), help: "entries of this subject")
    private static let issuer = CommandOption(
        "--issuer", .value("ISSUER"), help: "the issuer of the subject's tokens; needed if several are configured")
    private static let token = CommandOption("--token", .value("ID"), help: "entries for the token with this id")
    private static let cookie = CommandOption(
        "--cookie", .value("TEXT"), help: "entries with this cookie, which the token's issuer has chosen")
    private static let deviceClass = CommandOption(
        "--device-class", .value("CLASS"),
        help: """
            entries of devices that state this class: mobile, living_room, desktop, spatial, wearable, apple_other, \
            partner_living_room, partner_other, unknown, a number, or none
            """)
    private static let securityLevel = CommandOption(
        "--security-level", .value("LEVEL"),
        help: "entries of devices that state this level: audio, baseline, main or none")
    private static let osVersion = CommandOption(
        "--os-version", .value("VERSION"), help: "entries of devices with this system: 17, 17.4 or 17.4.1")
    private static let from = CommandOption(
        "--from", .value("TIME"), help: "from this time on, as 2026-01-31T12:00:00Z")
    private static let to = CommandOption("--to", .value("TIME"), help: "before this time")

    static let filters = [
        license, content, subject, issuer, token, cookie, deviceClass, securityLevel, osVersion, from, to,
    ]

    private static let limitDefault = 100
    private static let limits = 1...10_000

    private let path: String
    let query: LedgerQuery
    /// A doubt about the subject's name, for an answer without entries.
    let doubt: String?
    let configuration: ConfigurationFile

    init(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) {
        configuration = try OpenedLedger.configuration(arguments.required(.config), context)
        path = configuration.configuration.storage.databasePath
        doubt = PseudonymDoubt.note(on: "--subject", arguments.value(Self.subject), takesMark: true)
        var query = LedgerQuery(
            license: try arguments.value(Self.license).map(Self.licenseID), content: arguments.value(Self.content),
            subject: try Self.subject(arguments, configuration, context), tokenID: arguments.value(Self.token),
            cookie: arguments.value(Self.cookie), from: try arguments.time(Self.from),
            to: try arguments.time(Self.to))
        query.stated = StatedFilter(
            deviceClass: try Self.read(
                arguments, Self.deviceClass, as: StatedFilter.DeviceClass.form, StatedFilter.DeviceClass.init),
            securityLevel: try Self.read(
                arguments, Self.securityLevel, as: StatedFilter.SecurityLevel.form, StatedFilter.SecurityLevel.init),
            osVersion: try Self.read(
                arguments, Self.osVersion, as: StatedFilter.OSVersion.form, StatedFilter.OSVersion.init))
        self.query = query
        if let from = query.from, let to = query.to, from >= to {
            throw .usage("--from is not before --to, so that no entry can match")
        }
    }

    private static func read<Value>(
        _ arguments: Arguments, _ option: CommandOption, as form: String, _ parse: (String) -> Value?
    ) throws(CommandError) -> Value? {
        guard let text = arguments.value(option) else { return nil }
        guard let value = parse(text) else { throw .usage("\(option.name) takes \(form), not \(text)") }
        return value
    }

    static func limit(_ arguments: Arguments) throws(CommandError) -> Int {
        try arguments.number(limit, in: limits) ?? limitDefault
    }

    /// Calls `visit` with each entry that matches, until it returns false.
    func find(
        _ context: CommandContext, _ visit: (LedgerFind) throws(CommandError) -> Bool
    ) throws(CommandError) {
        var progress = CommandProgress(context, unit: "entries read")
        do {
            var reader = try LedgerReader.open(path: path)
            let index = LedgerIndex.exists(for: path) ? try LedgerIndex.open(for: path) : nil
            try reader.find(
                query, index: index, progress: { progress.show($0) },
                visit: { find in
                    progress.clear()
                    return try visit(find)
                })
            progress.clear()
        } catch {
            progress.clear()
            throw OpenedLedger.explain(error, path)
        }
    }

    /// The newest entries that match, at most `limit`, the newest first.
    func newest(_ limit: Int, _ context: CommandContext) throws(CommandError) -> [LedgerFind] {
        var progress = CommandProgress(context, unit: "entries found")
        defer { progress.clear() }
        do {
            var reader = try LedgerReader.open(path: path)
            var (found, next): ([LedgerFind], Int64?) = ([], nil)
            repeat {
                let index = LedgerIndex.exists(for: path) ? try LedgerIndex.open(for: path) : nil
                let page = try reader.page(
                    of: query, index: index, before: next, limit: limit - found.count, rowsMaximum: Self.rowsPerStep)
                found += page.finds
                next = page.next
                progress.show(found.count)
            } while next != nil && found.count < limit
            return found
        } catch {
            throw OpenedLedger.explain(error, path)
        }
    }

    /// How many rows are read before the progress is shown again.
    private static let rowsPerStep = 20_000

    private static func licenseID(_ text: String) throws(CommandError) -> LicenseID {
        guard let bytes = try? Hexadecimal.decode(text), let words = Bytes16(bytes) else {
            throw .usage("--license takes the 32 hexadecimal digits of X-License-Id")
        }
        return LicenseID(words)
    }

    private static func subject(
        _ arguments: Arguments, _ file: ConfigurationFile, _ context: CommandContext
    ) throws(CommandError) -> Pseudonym? {
        guard let subject = arguments.value(subject) else { return nil }
        if let shown = Pseudonym(shownShort: subject) { return shown }
        let issuers = Set(file.configuration.entitlement.issuers.map(\.issuer))
        guard let issuer = arguments.value(issuer) ?? (issuers.count == 1 ? issuers.first : nil) else {
            throw .usage("--issuer is missing: several issuers are configured, and each has subjects of its own")
        }
        guard issuers.contains(issuer) else { throw .usage("--issuer is not an issuer of the configuration") }
        return try OpenedLedger.pseudonym(ofSubject: subject, of: issuer, file, context)
    }
}

/// The options of `ledger verify`, and its work.
struct LedgerVerification {
    /// The result of a verification.
    struct Outcome {
        /// Nil for a ledger that does not exist yet.
        var verified: LedgerVerified?
        var findings: [LedgerFinding] = []

        var rowCount: Int { verified?.rowCount ?? 0 }
        /// The sequence of the last sealed entry; 0 if there is none.
        var last: Int64 { verified?.last ?? 0 }
    }

    static let checkpoints = CommandOption(
        "--checkpoints", .value("FILE"), help: "lines of the log that have checkpoints; other lines are skipped")

    private let path: String
    /// Nil for a ledger that does not exist yet.
    private let chain: LedgerChain?
    private let checkpoints: [LedgerCheckpoint]
    private let missingVersions: [Int64]

    init(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) {
        let file = try OpenedLedger.configuration(arguments.required(.config), context)
        path = file.configuration.storage.databasePath
        let ledger = try OpenedLedger.ledger(file, context)
        (chain, missingVersions) = try wrap(CommandError.opening(path)) { () throws(StorageOpeningError) in
            (try ledger.chain(), try ledger.missingKeyVersions())
        }
        checkpoints =
            try arguments.value(Self.checkpoints).map { path throws(CommandError) in
                try Self.read(path, context)
            } ?? []
        if arguments.isSet(Self.checkpoints), checkpoints.isEmpty {
            throw .failed("the file of --checkpoints has no checkpoint")
        }
    }

    /// Reads the whole ledger. A ledger that does not exist yet is good.
    func verify(_ context: CommandContext) throws(CommandError) -> Outcome {
        guard let chain else { return Outcome() }
        var progress = CommandProgress(context, unit: "entries verified")
        var outcome = Outcome()
        do {
            var reader = try LedgerReader.open(path: path)
            outcome.verified = try reader.verify(
                chain, checkpoints: checkpoints, progress: { progress.show($0) },
                report: { outcome.findings.append(missingVersions.isEmpty ? $0 : $0.withoutAllKeys) })
            progress.clear()
        } catch {
            progress.clear()
            throw OpenedLedger.explain(error, path)
        }
        if outcome.verified?.wasPurged == true {
            throw .failed("old entries were purged while the ledger was read; run this again")
        }
        return outcome
    }

    /// Names the versions of the key that are not configured, if there are any.
    func noteMissingKeys(_ context: CommandContext) {
        guard !missingVersions.isEmpty else { return }
        let list = missingVersions.map { String($0) }.joined(separator: ", ")
        context.note(
            "the ledger was also sealed under versions of ledger.key that ledger.olderKeys does not name: \(list). Name them"
                + " there: olderKeys: [{ version: N, key: FILE }], and run this again")
    }

    func run(_ context: CommandContext, asJSON: Bool) throws(CommandError) {
        guard let chain else { throw CommandError.opening(path)(.ledgerMissing(path: path)) }
        let result = try verify(context)
        let findings = result.findings
        // A ledger whose node no checkpoint names was not compared with anything: it may have been replaced.
        let ownCount = checkpoints.count - (result.verified?.strangeCheckpointCount ?? 0)
        let isCompared = checkpoints.isEmpty || ownCount > 0
        if asJSON {
            try context.printObject { writer in
                writer.member("isSound", findings.isEmpty && isCompared)
                writer.member("entries", result.rowCount)
                writer.member("last", result.last)
                writer.member("node", chain.node.text)
                writer.member("checkpoints", ownCount)
                writer.member("otherNodesCheckpoints", result.verified?.strangeCheckpointCount ?? 0)
                result.verified?.writePurges(to: &writer)
                writer.objects("findings", findings) { $1.write(to: &$0) }
            }
        } else {
            for finding in findings { try context.print(finding.text) }
            if findings.isEmpty {
                try context.print(
                    "\(result.rowCount.counted("entry", "entries")) up to sequence \(result.last): nothing was altered")
                for line in result.verified?.purgeLines ?? [] { try context.print(line) }
                if checkpoints.isEmpty {
                    context.note("without --checkpoints nothing shows whether the newest entries were cut off")
                }
            }
        }
        if !findings.isEmpty { noteMissingKeys(context) }
        if !findings.isEmpty { throw .failed("the ledger does not verify: \(findings.count.counted("finding"))") }
        guard isCompared else {
            throw .failed(
                "no checkpoint of the file belongs to this ledger, \(chain.node): it was replaced, or the file is another"
                    + " node's")
        }
    }

    /// The checkpoints in the lines of a text, for example of a log in JSON.
    ///
    /// A checkpoint has no quote or backslash, so JSON does not change it.
    static func read(
        _ path: String, _ context: CommandContext
    ) throws(CommandError) -> [LedgerCheckpoint] {
        var lines = try LineReader(path, lineSizeMaximum: 1 << 20, context)
        var found: [LedgerCheckpoint] = []
        while let line = try lines.next() {
            let text = String(decoding: line, as: UTF8.self)
            guard let start = text.firstRange(of: LedgerCheckpoint.firstWord + " ")?.lowerBound else { continue }
            let words = text[start...].split(separator: " ", maxSplits: 6, omittingEmptySubsequences: false)
            guard words.count >= 6 else { continue }
            let mac = words[5].prefix { $0.isHexDigit }
            if let checkpoint = LedgerCheckpoint(parsing: (words[..<5] + [mac]).joined(separator: " ")) {
                found.append(checkpoint)
            }
        }
        return found
    }
}

import ByteCoding
package import CommandLineKit
import Records
import ServiceConfiguration
import StorageSQLite

extension Command {
    /// `latchkey ledger`
    package static let ledger = Command(
        "ledger",
        summary: "Query, verify and export the record of licences",
        examples: [
            "latchkey ledger query --config latchkey.json5 --content movie-1 --from 2026-01-31T00:00:00Z",
            "latchkey ledger verify --config latchkey.json5",
        ],
        commands: [queryLedger, verifyLedger, exportLedger])

    private static let queryLedger = Command(
        "query",
        summary: "Find entries by licence, content, subject, token, cookie or time",
        details: """
            Every option that is given must fit. Devices and subjects are recorded under pseudonyms; --subject makes the one of the
            name that the token's issuer has for it. Entries come in the order in which they were recorded.
            """,
        examples: [
            "latchkey ledger query --config latchkey.json5 --license 018bcfe568fa00000000000000000001",
            "latchkey ledger query --config latchkey.json5 --subject viewer-7 --from 2026-01-31T00:00:00Z --json",
        ],
        options: [LedgerArguments.config] + LedgerArguments.filters + [LedgerArguments.limit, .json],
        run: { arguments, context throws(CommandError) in
            let given = try LedgerArguments(arguments, context)
            let limit = try LedgerArguments.limit(arguments)
            // One more than is shown, to know whether there is more.
            var found: [LedgerFind] = []
            try given.find(context) { find throws(CommandError) in
                found.append(find)
                return found.count <= limit
            }
            let isComplete = found.count <= limit
            found = Array(found.prefix(limit))
            if arguments.isSet(.json) {
                try context.printObject { writer in
                    writer.name("entries")
                    writer.array { writer in for find in found { writer.object { find.write(to: &$0) } } }
                    writer.member("isComplete", isComplete)
                }
            } else if found.isEmpty {
                context.note("no entry fits")
            } else {
                try context.print(found.map(\.text).joined(separator: "\n"))
            }
            if !isComplete { context.note("there are more; raise --limit, or say more of what you look for") }
        })

    private static let exportLedger = Command(
        "export",
        summary: "Print entries as JSON, one object in each line",
        details: "Takes the options of `ledger query`; without them it prints the whole ledger.",
        examples: [
            "latchkey ledger export --config latchkey.json5 > ledger.jsonl",
            "latchkey ledger export --config latchkey.json5 --from 2026-01-01T00:00:00Z --to 2026-02-01T00:00:00Z",
        ],
        options: [LedgerArguments.config] + LedgerArguments.filters,
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
            Reads the whole ledger of this node and checks its seals, which nobody without the ledger's key can make. That the newest
            entries were cut off shows by a checkpoint alone: the daemon's log says at intervals how far the ledger had come, and
            --checkpoints takes a file with such lines, or the log itself.

            Ends with status 1 and a line for each finding; entries are named by their sequence.
            """,
        examples: [
            "latchkey ledger verify --config latchkey.json5",
            "journalctl -u latchkey --output cat | grep latchkey-checkpoint-1 > checkpoints.txt",
            "latchkey ledger verify --config latchkey.json5 --checkpoints checkpoints.txt --json",
        ],
        options: [LedgerArguments.config, LedgerVerification.checkpoints, .json],
        run: { arguments, context throws(CommandError) in
            try LedgerVerification(arguments, context).run(context, asJSON: arguments.isSet(.json))
        })
}

/// The options of the commands that look for entries.
private struct LedgerArguments {
    static let config = CommandOption(
        "--config", .value("FILE"), help: "the daemon's configuration", isRequired: true)
    static let limit = CommandOption(
        "--limit", .value("COUNT"), help: "how many entries are shown at most; \(limitDefault) unless given")
    private static let license = CommandOption(
        "--license", .value("ID"), help: "this licence and what renewed it; 32 hexadecimal digits")
    private static let content = CommandOption("--content", .value("ID"), help: "what was given for this content")
    private static let subject = CommandOption("--subject", .value("ID"), help: "what was given to this subject")
    private static let issuer = CommandOption(
        "--issuer", .value("ISSUER"), help: "whose subject it is; needed where several issuers are configured")
    private static let token = CommandOption("--token", .value("ID"), help: "what was given for the token with this id")
    private static let cookie = CommandOption("--cookie", .value("TEXT"), help: "the issuer's own mark")
    private static let from = CommandOption(
        "--from", .value("TIME"), help: "from this time on, as 2026-01-31T12:00:00Z")
    private static let to = CommandOption("--to", .value("TIME"), help: "before this time")

    static let filters = [license, content, subject, issuer, token, cookie, from, to]

    private static let limitDefault = 100
    private static let limits = 1...10_000

    private let path: String
    private let query: LedgerQuery

    init(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) {
        let configuration = try OpenedLedger.configuration(arguments.required(Self.config), context)
        path = configuration.configuration.storage.databasePath
        query = LedgerQuery(
            license: try arguments.value(Self.license).map(Self.licenseID), content: arguments.value(Self.content),
            subject: try Self.subject(arguments, configuration, context), tokenID: arguments.value(Self.token),
            cookie: arguments.value(Self.cookie), from: try Self.time(arguments, Self.from),
            to: try Self.time(arguments, Self.to))
    }

    static func limit(_ arguments: Arguments) throws(CommandError) -> Int {
        guard let text = arguments.value(limit) else { return limitDefault }
        guard let count = Int(text), limits.contains(count) else {
            throw .usage("--limit takes a whole number from \(limits.lowerBound) to \(limits.upperBound)")
        }
        return count
    }

    /// Hands over what is found until `visit` gives false.
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

    private static func licenseID(_ text: String) throws(CommandError) -> LicenseID {
        guard let bytes = try? Hexadecimal.decode(text), let words = Bytes16(bytes) else {
            throw .usage("--license takes the 32 hexadecimal digits of X-License-Id")
        }
        return LicenseID(words)
    }

    private static func time(_ arguments: Arguments, _ option: CommandOption) throws(CommandError) -> Int64? {
        guard let text = arguments.value(option) else { return nil }
        guard let time = try? RFC3339.parse(text) else {
            throw .usage("\(option.name) takes a time as 2026-01-31T12:00:00Z or 2026-01-31T12:00:00+01:00")
        }
        return time.seconds
    }

    private static func subject(
        _ arguments: Arguments, _ file: ConfigurationFile, _ context: CommandContext
    ) throws(CommandError) -> Pseudonym? {
        guard let subject = arguments.value(subject) else { return nil }
        let issuers = Set(file.configuration.entitlement.issuers.map(\.issuer))
        guard let issuer = arguments.value(issuer) ?? (issuers.count == 1 ? issuers.first : nil) else {
            throw .usage("--issuer is missing: several issuers are configured, and each has subjects of its own")
        }
        guard issuers.contains(issuer) else { throw .usage("--issuer names no issuer of the configuration") }
        return try OpenedLedger.pseudonym(ofSubject: subject, of: issuer, file, context)
    }
}

/// What `ledger verify` is given.
struct LedgerVerification {
    /// What a verification has found.
    struct Outcome {
        var rowCount = 0
        /// The last sequence that is sealed.
        var last: Int64 = 0
        var findings: [LedgerFinding] = []
    }

    static let checkpoints = CommandOption(
        "--checkpoints", .value("FILE"), help: "lines of the log that hold checkpoints; other lines are passed over")

    private let path: String
    private let chain: LedgerChain
    private let checkpoints: [LedgerCheckpoint]

    init(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) {
        let file = try OpenedLedger.configuration(arguments.required(LedgerArguments.config), context)
        path = file.configuration.storage.databasePath
        chain = try OpenedLedger.chain(file, context)
        checkpoints =
            try arguments.value(Self.checkpoints).map { path throws(CommandError) in
                try Self.read(path, context)
            } ?? []
        if arguments.isSet(Self.checkpoints), checkpoints.isEmpty {
            throw .failed("the file of --checkpoints holds no checkpoint")
        }
    }

    /// Reads the whole ledger.
    func verify(_ context: CommandContext) throws(CommandError) -> Outcome {
        var progress = CommandProgress(context, unit: "entries verified")
        var outcome = Outcome()
        let wasPurged: Bool
        do {
            var reader = try LedgerReader.open(path: path)
            (outcome.rowCount, outcome.last, wasPurged) = try reader.verify(
                chain, checkpoints: checkpoints, progress: { progress.show($0) },
                report: { outcome.findings.append($0) })
            progress.clear()
        } catch {
            progress.clear()
            throw OpenedLedger.explain(error, path)
        }
        if wasPurged { throw .failed("old entries were purged while the ledger was read; run this again") }
        return outcome
    }

    func run(_ context: CommandContext, asJSON: Bool) throws(CommandError) {
        let result = try verify(context)
        let findings = result.findings
        if asJSON {
            try context.printObject { writer in
                writer.member("isSound", findings.isEmpty)
                writer.member("entries", result.rowCount)
                writer.member("last", result.last)
                writer.member("checkpoints", checkpoints.count)
                writer.name("findings")
                writer.array { writer in for finding in findings { writer.object { finding.write(to: &$0) } } }
            }
        } else {
            for finding in findings { try context.print(finding.text) }
            if findings.isEmpty {
                try context.print("\(result.rowCount) entries up to sequence \(result.last): nothing was altered")
                if checkpoints.isEmpty {
                    context.note("without --checkpoints nothing shows whether the newest entries were cut off")
                }
            }
        }
        if !findings.isEmpty { throw .failed("the ledger does not verify: \(findings.count) findings") }
    }

    /// The checkpoints in the lines of a text. The text of one has no quote or backslash, so that a JSON log shows it as it is.
    private static func read(
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

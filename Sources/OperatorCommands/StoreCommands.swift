import Administration
import ByteCoding
package import CommandLineKit
import CommandSupport
import ContentKeys
import ServiceConfiguration
import StorageSQLite

extension Command {
    /// `latchkey store`
    package static let store = Command(
        "store",
        summary: "Check the database of keys and ledger, and tell of it",
        examples: [
            "latchkey store info --config latchkey.json5",
            "latchkey store check --config latchkey.json5",
        ],
        commands: [informOfStore, checkStore])

    private static let checkStore = Command(
        "check",
        summary: "Read the whole store, and find altered or damaged records",
        details: """
            Lets SQLite check its files, opens every sealed key under the configured key-encryption keys, and verifies the ledger of this
            node. A seal opens only in the record for which it was made. So the check finds a key, key id, content, period, version, track,
            least protection, scheme, state or time that was altered, or exchanged with another record. The check changes nothing, and the
            daemon may serve meanwhile.

            Prints a line for each finding, and then ends with status 1. The daemon itself checks only proofs and the ledger's end when it
            starts.
            """,
        examples: [
            "latchkey store check --config latchkey.json5",
            "latchkey store check --config latchkey.json5 --checkpoints checkpoints.txt --json",
        ],
        options: [.config, LedgerVerification.checkpoints, .json],
        run: { arguments, context throws(CommandError) in
            try await StoreCheck(arguments, context).run(asJSON: arguments.isSet(.json))
        })
}

/// A check of the whole store.
private struct StoreCheck {
    private static let batchSize = 500

    private let store: OpenedKeyStore
    private let ledger: LedgerVerification
    private let context: CommandContext

    init(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) {
        self.context = context
        // The files come first, because damage in them may prevent everything else from opening them.
        let path = try arguments.required(.config)
        let file = try OpenedLedger.configuration(path, context)
        try Self.refuseDamaged(file.configuration.storage.databasePath, context)
        store = try OpenedKeyStore(configuration: path, context)
        ledger = try LedgerVerification(arguments, context)
    }

    /// Prints a line for each finding in the file, and throws if there is any. A file that does not exist yet is good.
    private static func refuseDamaged(_ path: String, _ context: CommandContext) throws(CommandError) {
        let findings: [String]
        do throws(StorageOpeningError) {
            findings = try DatabaseIntegrity.findings(path: path)
        } catch .fileNotUsable(_, errno: 2) {
            return
        } catch {
            throw CommandError.opening(path)(error)
        }
        for finding in findings { try context.print("database: \(finding)") }
        if !findings.isEmpty {
            throw .failed("the file \(path) is damaged: \(findings.count.counted("finding")); restore a copy of it")
        }
    }

    func run(asJSON: Bool) async throws(CommandError) {
        let keys = try await checkKeys()
        let entries = try ledger.verify(context)
        let findingCount = keys.findings.count + entries.findings.count
        if asJSON {
            try context.printObject { writer in
                writer.member("isSound", findingCount == 0)
                writer.member("keys", keys.count)
                writer.member("entries", entries.rowCount)
                writer.member("last", entries.last)
                writer.array("findings") { writer in
                    for finding in keys.findings { writer.object { finding.write(to: &$0) } }
                    for finding in entries.findings { writer.object { finding.write(to: &$0) } }
                }
            }
        } else {
            for finding in keys.findings { try context.print(finding.text) }
            for finding in entries.findings { try context.print("ledger: \(finding.text)") }
            if findingCount == 0 {
                try context.print(
                    "opened \(keys.count.counted("key")), and verified \(entries.rowCount.counted("entry", "entries"))"
                        + " up to sequence \(entries.last): nothing was altered"
                )
            }
        }
        if !entries.findings.isEmpty { ledger.noteMissingKeys(context) }
        if findingCount > 0 { throw .failed("the store does not verify: \(findingCount.counted("finding"))") }
    }

    private func checkKeys() async throws(CommandError) -> (count: Int, findings: [KeyFinding]) {
        let maintenance = try store.maintenance()
        let total = try await OpenedKeyStore.attempt { () async throws(StoreError) in try await maintenance.count() }
        var progress = CommandProgress(context, unit: "keys", total: total)
        defer { progress.clear() }
        var (count, findings) = (0, [KeyFinding]())
        var position: [UInt8]?
        repeat {
            let start = position
            let step = try await OpenedKeyStore.attempt { () async throws(StoreError) in
                try await maintenance.check(after: start, limit: Self.batchSize)
            }
            position = step.last
            count += step.count
            findings += step.findings
            progress.show(count)
        } while position != nil
        return (count, findings)
    }
}

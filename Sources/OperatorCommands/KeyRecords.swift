import ByteCoding
import CommandLineKit
import ContentKeys
import KeyCrypto
import POSIXSockets
import Records
import ServiceConfiguration
import StorageSQLite

/// The rows of this node's ledger that say what operators did with keys.
///
/// Make it before a change, so that nothing is changed if the ledger cannot be opened. Write the rows after the change,
/// so that no row is about a change that was not made.
struct KeyRecords {
    /// An operator's action on one key, on all keys, or on the rotation of a content's keys.
    struct Deed {
        var kind: LedgerEntry.Kind
        /// Nil for an action on all keys, or on the rotation of a content's keys.
        var keyID: KeyID?
        /// Nil if the content is not known, or if there is no single one.
        var contentID: ContentID?
        var detail = ""
    }

    private let path: String
    private let chain: LedgerChain
    private let now: Int64

    init(_ file: ConfigurationFile, _ context: CommandContext) throws(CommandError) {
        path = file.configuration.storage.databasePath
        chain = try OpenedLedger.prepared(file, context)
        now = context.now
    }

    /// Writes the rows, and returns when they are durable. They become durable together.
    func write(_ deeds: [Deed]) throws(CommandError) {
        guard !deeds.isEmpty else { return }
        var entries: [LedgerEntry] = []
        for deed in deeds { entries.append(try entry(of: deed)) }
        do {
            var appender = try LedgerAppender.open(path: path, chain: chain)
            try appender.append(entries, at: now)
        } catch {
            throw OpenedLedger.explain(error, path)
        }
    }

    private func entry(of deed: Deed) throws(CommandError) -> LedgerEntry {
        let now = now
        let id = try wrap(CommandError.noRandomBytes, try LicenseID.naming(rowAt: now))
        var entry = LedgerEntry(
            kind: deed.kind, at: now, license: id, keyID: deed.keyID, content: deed.contentID?.text,
            detail: deed.detail)
        entry.actor = OperatingSystemUser.actor
        return entry
    }
}

import ByteCoding
import CommandLineKit
import ContentKeys
import KeyCrypto
import POSIXSockets
import Records
import ServiceConfiguration
import StorageSQLite

/// The rows of this node's ledger that tell which operator did what to keys.
///
/// Made before anything is changed, so that nothing is changed if the ledger cannot be opened. Written after the
/// change, so that no row tells of a change that was not made.
struct KeyRecords {
    /// What was done to one key, or to the rotation of a content's keys.
    struct Deed {
        var kind: LedgerEntry.Kind
        /// Nil for what was done to all keys, or to the rotation of a content's keys.
        var keyID: KeyID?
        /// Nil if it is not known.
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

    /// Returns when the rows would outlive a power cut. They become durable together.
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

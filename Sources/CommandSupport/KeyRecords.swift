package import ByteCoding
package import CommandLineKit
package import ContentKeys
import KeyCrypto
import POSIXSockets
package import Records
package import ServiceConfiguration
import StorageSQLite

/// The rows of this node's ledger that say what operators did with keys.
///
/// Make it before a change, so that nothing is changed if the ledger cannot be opened. Write the rows after the change,
/// so that no row is about a change that was not made.
package struct KeyRecords {
    /// An operator's action on one key, on all keys, or on the rotation of a content's keys.
    package struct Deed {
        package var kind: LedgerEntry.Kind
        /// Nil for an action on all keys, or on the rotation of a content's keys.
        package var keyID: KeyID?
        /// Nil if the content is not known, or if there is no single one.
        package var contentID: ContentID?
        package var detail = ""

        package init(kind: LedgerEntry.Kind, keyID: KeyID? = nil, contentID: ContentID? = nil, detail: String = "") {
            self.kind = kind
            self.keyID = keyID
            self.contentID = contentID
            self.detail = detail
        }
    }

    private let path: String
    private let chain: LedgerChain
    private let now: Int64

    package init(_ file: ConfigurationFile, _ context: CommandContext) throws(CommandError) {
        path = file.configuration.storage.databasePath
        chain = try OpenedLedger.prepared(file, context)
        now = context.now
    }

    /// Writes the rows, and returns when they are durable. They become durable together.
    package func write(_ deeds: [Deed]) throws(CommandError) {
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

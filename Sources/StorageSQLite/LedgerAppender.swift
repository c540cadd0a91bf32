import ByteCoding
package import ContentKeys
package import Records

/// Appends entries to a node's ledger from outside the daemon, for example what a command has shown to an operator.
///
/// The entries of one call are a batch of their own. It is linked to the ledger's last batch while the transaction
/// holds the write lock. The daemon's writer must therefore read the ledger's end again after another connection has
/// written.
package struct LedgerAppender: ~Copyable {
    private let chain: LedgerChain
    private var reader: LedgerReader
    private var inserts: LedgerInserts
    private(set) var connection: SQLiteConnection

    /// Opens an existing ledger. Throws `ledgerMissing` if the file has no ledger.
    package static func open(
        path: String, chain: LedgerChain, busyTimeoutMilliseconds: Int32 = 5000
    ) throws(StorageOpeningError) -> LedgerAppender {
        let reader = try LedgerReader.open(path: path, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
        do throws(StoreError) {
            var connection = try SQLiteConnection.open(path: path, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
            return LedgerAppender(
                chain: chain, reader: reader, inserts: try .prepare(on: &connection), connection: connection)
        } catch {
            throw .store(error)
        }
    }

    /// Appends the entries, of which there is at least one. They are durable when this returns.
    package mutating func append(_ entries: [LedgerEntry], at: Int64) throws(StoreError) {
        try connection.beginImmediate()
        do throws(StoreError) {
            let bodies = entries.map { $0.encoded() }
            try inserts.append(bodies, sealedBy: chain, after: try reader.link(), at: at)
            try connection.commit()
        } catch {
            connection.rollBack()
            throw error
        }
    }
}

import ByteCoding
package import KeyCrypto

/// What is said under the ledger key beside the ledger itself. The kind stands at the beginning of what is signed, so
/// that no statement is taken for one of another kind.
///
/// The MAC is HMAC-SHA-256 over
///
///     size  field
///        8  the kind
///        1  size of the node's name, N
///        N  the node's name
///        …  the statement
package enum LedgerStatement: String, Sendable, CaseIterable {
    /// The manifest of a backup.
    case backup = "LKBACKUP"
    /// What a file held of which only a digest may be kept, in a backup's manifest.
    case fingerprint = "LKPRINT1"
}

extension LedgerChain {
    /// The MAC of a statement, 32 bytes.
    package func seal(_ statement: [UInt8], as kind: LedgerStatement) throws(CryptoError) -> [UInt8] {
        try code(for: signedBytes(statement, kind))
    }

    /// Whether one of this chain's keys sealed the statement, for this node.
    package func accepts(
        _ mac: [UInt8], of statement: [UInt8], as kind: LedgerStatement
    ) throws(CryptoError) -> Bool {
        try accepts(mac, for: signedBytes(statement, kind))
    }

    private func signedBytes(_ statement: [UInt8], _ kind: LedgerStatement) -> [UInt8] {
        var message = ByteWriter(capacity: 80 + statement.count)
        message.write(Array(kind.rawValue.utf8))
        message.write(node)
        message.write(statement)
        return message.bytes
    }
}

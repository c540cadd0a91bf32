import ByteCoding
package import KeyCrypto

/// Seals a node's ledger batch by batch, with HMAC-SHA-256 under the ledger key. Each batch is tied to the previous
/// one.
///
/// The input of a batch's MAC is
///
///     size  field
///        8  "LKBATCH1"
///        1  size of the node's name, N
///        N  the node's name
///        8  first sequence
///        8  last sequence
///        8  time of the batch, seconds since 1970
///       32  MAC of the batch before; zeros in front of the first
///
///     and for each row, in the order of their sequences:
///        4  size of the body, B
///        B  body
///
/// with big-endian integers. Without the key, no row or batch can therefore be altered, removed, added or moved without
/// notice. The only exception is the end of the ledger: a `LedgerCheckpoint` that is kept elsewhere shows that the last
/// rows are missing.
package struct LedgerChain: Sendable {
    private let keys: LedgerKeys
    /// The id of the node, not its name.
    package let node: NodeID

    package init(keys: LedgerKeys, node: NodeID) {
        self.keys = keys
        self.node = node
    }

    /// Makes a chain with a single key. The caller must use the key only for ledgers.
    package init(key: HMACSHA256Key, node: NodeID) {
        self.init(keys: LedgerKeys(key), node: node)
    }

    /// The versions of the keys that verify, in ascending order.
    var versions: [UInt32] { keys.inOrder.map(\.version) }

    /// Seals rows as the batch after `link`. The first row gets the sequence after the link's. `bodies` is not empty.
    ///
    /// This keeps no state: the caller ties the next batch to this one when this one is durable.
    package func seal(_ bodies: [[UInt8]], after link: LedgerLink, at: Int64) throws(CryptoError) -> LedgerBatch {
        precondition(!bodies.isEmpty, "a batch has rows")
        var batch = LedgerBatch(
            first: link.sequence + 1, last: link.sequence + Int64(bodies.count), at: at, seal: [])
        batch.seal = try mac(of: batch, bodies, previous: link.mac, version: keys.current.version)
        batch.seal += Self.locators(of: bodies)
        return batch
    }

    /// Whether one of the keys sealed exactly these rows as the batch after `link`.
    package func accepts(
        _ batch: LedgerBatch, _ bodies: [[UInt8]], after link: LedgerLink
    ) throws(CryptoError) -> Bool {
        guard batch.first == link.sequence + 1, batch.last == link.sequence + Int64(bodies.count),
            Array(batch.seal.dropFirst(LedgerBatch.macSize)) == Self.locators(of: bodies)
        else { return false }
        return try isMAC(of: batch, bodies, previous: link.mac)
    }

    private static func locators(of bodies: [[UInt8]]) -> [UInt8] {
        bodies.flatMap { body in
            let locator = LedgerLocator.of(body)
            return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: locator >> ($0 as UInt32)) }
        }
    }

    /// Whether one of the keys made the batch's MAC for these rows.
    func isMAC(of batch: LedgerBatch, _ bodies: [[UInt8]], previous: [UInt8]) throws(CryptoError) -> Bool {
        for version in versions {
            let mac = try mac(of: batch, bodies, previous: previous, version: version)
            if ConstantTime.areEqual(mac[...], batch.mac[...]) { return true }
        }
        return false
    }

    /// Computes the MAC of a batch with these rows after a batch with the MAC `previous`. `version` is one of
    /// `versions`.
    func mac(
        of batch: LedgerBatch, _ bodies: [[UInt8]], previous: [UInt8], version: UInt32
    ) throws(CryptoError) -> [UInt8] {
        guard let key = keys.inOrder.first(where: { $0.version == version })?.key else {
            preconditionFailure("the version is one of the chain's")
        }
        var message = ByteWriter(capacity: 128 + bodies.reduce(0) { $0 + 4 + $1.count })
        message.write(Array("LKBATCH1".utf8))
        message.write(node)
        message.write(UInt64(bitPattern: batch.first))
        message.write(UInt64(bitPattern: batch.last))
        message.write(UInt64(bitPattern: batch.at))
        message.write(previous)
        for body in bodies {
            message.write(UInt32(body.count))
            message.write(body)
        }
        return try key.code(for: message.bytes[...])
    }

    /// Computes the current key's MAC over a message of another kind. The message begins with the name of its kind.
    func code(for message: [UInt8]) throws(CryptoError) -> [UInt8] {
        try keys.current.key.code(for: message[...])
    }

    /// Whether one of the keys made a MAC over a message of another kind.
    func accepts(_ mac: [UInt8], for message: [UInt8]) throws(CryptoError) -> Bool {
        for entry in keys.inOrder {
            if ConstantTime.areEqual(try entry.key.code(for: message[...])[...], mac[...]) { return true }
        }
        return false
    }
}

extension ByteWriter {
    /// Writes the size of the name in one byte, and then the name.
    mutating func write(_ node: NodeID) {
        write(UInt8(node.text.utf8.count))
        write(Array(node.text.utf8))
    }
}

/// The CRC-32C of a row's body (Castagnoli; RFC 9260 appendix A).
enum LedgerLocator {
    static func of(_ bytes: [UInt8]) -> UInt32 {
        var remainder = UInt32.max
        for byte in bytes { remainder = table[Int(UInt8(truncatingIfNeeded: remainder) ^ byte)] ^ remainder >> 8 }
        return ~remainder
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { remainder, _ in
            remainder & 1 == 1 ? remainder >> 1 ^ 0x82F6_3B78 : remainder >> 1
        }
    }
}

/// The ledger keys of a node by their versions: the current one seals, and older ones still verify.
///
/// A seal does not name the version of its key, so a reader tries all keys. A batch is never sealed under an older key
/// than the previous batch.
package struct LedgerKeys: Sendable {
    /// A ledger key with its version.
    package struct Key: Sendable {
        /// The version, from 1. A newer key has a higher version.
        package let version: UInt32
        /// The caller must use the key only for ledgers.
        package let key: HMACSHA256Key

        package init(version: UInt32, key: HMACSHA256Key) {
            self.version = version
            self.key = key
        }
    }

    /// The key that seals new batches.
    package let current: Key
    /// All keys in ascending order of their versions.
    let inOrder: [Key]

    /// Returns nil if two keys have the same version, or an older key has a higher version than the current one.
    package init?(current: Key, older: [Key] = []) {
        let inOrder = (older + [current]).sorted { $0.version < $1.version }
        guard Set(inOrder.map(\.version)).count == inOrder.count, inOrder.last?.version == current.version else {
            return nil
        }
        self.current = current
        self.inOrder = inOrder
    }

    /// Makes keys with a single key of version 1.
    package init(_ key: HMACSHA256Key) {
        current = Key(version: 1, key: key)
        inOrder = [current]
    }

    /// Returns the proof of each key for a ledger's file: an HMAC over a text that no ledger seals.
    package func proofs() throws(CryptoError) -> [SecretProof] {
        var proofs: [SecretProof] = []
        for entry in inOrder {
            proofs.append(try SecretProof(of: .ledgerKey, number: Int64(entry.version), key: entry.key))
        }
        return proofs
    }
}

package import ContentKeys

/// A ledger entry at its place. Sequences begin at 1. Only purged and rolled-up rows leave gaps.
package struct LedgerRow: Hashable, Sendable {
    package var sequence: Int64
    /// The entry's encoding.
    package var body: [UInt8]

    package init(sequence: Int64, body: [UInt8]) {
        self.sequence = sequence
        self.body = body
    }

    /// Reads sequence and body.
    package init(reading row: borrowing some StoredRow & ~Copyable) throws(StoreError) {
        sequence = try row.integer(at: 0)
        body = try row.bytes(at: 1)
    }
}

/// The seal of rows that became durable together.
package struct LedgerBatch: Hashable, Sendable {
    /// The size of a MAC in bytes.
    package static let macSize = 32

    package var first: Int64
    /// At least `first`.
    package var last: Int64
    /// When the rows were sealed, in seconds since 1970.
    package var at: Int64
    /// The MAC (32 bytes), followed by a locator of 4 bytes for each row: its CRC-32C, big-endian.
    ///
    /// The MAC shows that something was altered. The locators show which row it was, unless they were altered too. In a
    /// batch that is rolled up, a statement stands in the place of the locators (`isRolledUp`).
    package var seal: [UInt8]

    package init(first: Int64, last: Int64, at: Int64, seal: [UInt8]) {
        self.first = first
        self.last = last
        self.at = at
        self.seal = seal
    }

    /// Reads first, last, at and seal.
    package init(reading row: borrowing some StoredRow & ~Copyable) throws(StoreError) {
        first = try row.integer(at: 0)
        last = try row.integer(at: 1)
        at = try row.integer(at: 2)
        seal = try row.bytes(at: 3)
    }

    /// The MAC without the locators.
    package var mac: [UInt8] { Array(seal.prefix(Self.macSize)) }
}

/// The end of a chain, to which the next batch is tied.
package struct LedgerLink: Hashable, Sendable {
    /// The last row's sequence; 0 if there is no row yet.
    package let sequence: Int64
    /// The last batch's MAC, 32 bytes; zeros if there is no batch yet.
    package let mac: [UInt8]

    package init(sequence: Int64, mac: [UInt8]) {
        self.sequence = sequence
        self.mac = mac
    }

    /// The link before the first row.
    package static let start = LedgerLink(sequence: 0, mac: [UInt8](repeating: 0, count: LedgerBatch.macSize))
}

extension LedgerBatch {
    /// The link to which the next batch is tied.
    package var link: LedgerLink { LedgerLink(sequence: last, mac: mac) }
}

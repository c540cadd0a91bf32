package import ByteCoding

/// A key to be stored, with further asset ids as its aliases.
package struct KeyImport: Sendable {
    package let record: ContentKeyRecord
    package let aliases: [AssetID]

    package init(record: ContentKeyRecord, aliases: [AssetID] = []) {
        self.record = record
        self.aliases = aliases
    }
}

/// The operator's work on many stored content keys: import, sealing again, withdrawal, deletion, and a check of every
/// seal.
///
/// It runs beside daemons. Only one task at a time may use a value; calls may block their thread.
package protocol KeyMaintenance {
    /// Returns the number of stored keys, including withdrawn ones.
    func count() async throws(StoreError) -> Int

    /// Stores keys and their aliases in one transaction, all or none. Returns the number of new keys.
    ///
    /// Throws as `ContentKeyStore.insert` and `addAlias` do.
    func store(_ imports: [KeyImport]) async throws(StoreError) -> Int

    /// Seals again up to `limit` records after a key id under the current key-encryption key, in one transaction.
    ///
    /// Readers find each record under its old seal or its new one. Throws `sealBroken` if a record does not open.
    func rewrap(after keyID: KeyID?, limit: Int) async throws(StoreError) -> KeyRewrapStep

    /// Deletes the proofs of key-encryption keys that seal no record any more, so that they need not be configured.
    /// Returns their number.
    func forgetUnusedKeys() async throws(StoreError) -> Int

    /// Returns a key, live or withdrawn, with its aliases; nil if no key has this id.
    func key(_ keyID: KeyID) async throws(StoreError) -> (record: ContentKeyRecord, aliases: [AssetID])?

    /// Withdraws or restores a key. Throws `keyUnknown`.
    func set(_ state: ContentKeyState, of keyID: KeyID) async throws(StoreError)

    /// Removes an alias of a key. Returns false if the key has no such alias.
    func remove(alias: AssetID, of keyID: KeyID) async throws(StoreError) -> Bool

    /// Deletes a key and its aliases permanently. Throws `keyUnknown`.
    func delete(_ keyID: KeyID) async throws(StoreError)

    /// Opens the seals of up to `limit` records after a key id, and returns those that do not open. Changes nothing.
    func check(after keyID: [UInt8]?, limit: Int) async throws(StoreError) -> KeyCheckStep
}

/// The result of one step of `latchkey keys rewrap`.
package struct KeyRewrapStep: Equatable, Sendable {
    /// The last key id of the step; nil after the last record.
    package let last: KeyID?
    /// The number of records that were read.
    package let count: Int
    /// The number of records that were sealed again.
    package let changed: Int

    package init(last: KeyID?, count: Int, changed: Int) {
        self.last = last
        self.count = count
        self.changed = changed
    }
}

/// The result of one step of a check.
package struct KeyCheckStep: Equatable, Sendable {
    /// The last key id of the step; nil after the last record.
    package let last: [UInt8]?
    /// The number of records that were read.
    package let count: Int
    package let findings: [KeyFinding]

    package init(last: [UInt8]?, count: Int, findings: [KeyFinding]) {
        self.last = last
        self.count = count
        self.findings = findings
    }
}

/// A fault of a stored content key. The key id is the stored one, which may itself have been altered.
package enum KeyFinding: Hashable, Sendable {
    /// The seal does not open: the seal or a part of the record was altered, or the seal belongs to another record.
    case sealBroken(keyID: [UInt8])
    /// A column has a value that no version writes.
    case malformed(keyID: [UInt8])
}

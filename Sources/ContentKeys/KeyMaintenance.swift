package import ByteCoding

/// A key to be stored, and further asset ids that shall name it.
package struct KeyImport: Sendable {
    package let record: ContentKeyRecord
    package let aliases: [AssetID]

    package init(record: ContentKeyRecord, aliases: [AssetID] = []) {
        self.record = record
        self.aliases = aliases
    }
}

/// What operators do to the stored content keys, many at a time: import, sealing again, withdrawal, deletion, the check
/// of every seal.
///
/// Works beside daemons. Only one task at a time uses one; calls may block their thread.
package protocol KeyMaintenance {
    /// How many keys are stored, withdrawn ones too.
    func count() async throws(StoreError) -> Int

    /// Stores keys and their aliases in one transaction, all or none; how many were not there yet.
    ///
    /// Throws as `ContentKeyStore.insert` and `addAlias` do.
    func store(_ imports: [KeyImport]) async throws(StoreError) -> Int

    /// Seals up to `limit` records behind a key id under the current key-encryption key, in one transaction.
    ///
    /// Readers find each record under its old seal or its new one. Throws `sealBroken` for a record that does not open.
    func rewrap(after keyID: KeyID?, limit: Int) async throws(StoreError) -> KeyRewrapStep

    /// Forgets the key-encryption keys that seal nothing any more, so that they need not be configured; how many.
    func forgetUnusedKeys() async throws(StoreError) -> Int

    /// A key, live or withdrawn, with the asset ids that name it beside its kid.
    func key(_ keyID: KeyID) async throws(StoreError) -> (record: ContentKeyRecord, aliases: [AssetID])?

    /// Withdraws a key, or gives it back. Throws `keyUnknown`.
    func set(_ state: ContentKeyState, of keyID: KeyID) async throws(StoreError)

    /// Deletes a key and its aliases for good. Throws `keyUnknown`.
    func delete(_ keyID: KeyID) async throws(StoreError)

    /// Opens the seals of up to `limit` records behind a key id, and says which do not hold. Changes nothing.
    func check(after keyID: [UInt8]?, limit: Int) async throws(StoreError) -> KeyCheckStep
}

/// What a step of `latchkey keys rewrap` has done.
package struct KeyRewrapStep: Equatable, Sendable {
    /// The last key id looked at; nil behind the last one of all.
    package let last: KeyID?
    /// How many were looked at.
    package let count: Int
    /// How many of them were sealed again.
    package let changed: Int

    package init(last: KeyID?, count: Int, changed: Int) {
        self.last = last
        self.count = count
        self.changed = changed
    }
}

/// What a step of checking has found.
package struct KeyCheckStep: Equatable, Sendable {
    /// The last key id looked at; nil behind the last one of all.
    package let last: [UInt8]?
    /// How many were looked at.
    package let count: Int
    package let findings: [KeyFinding]

    package init(last: [UInt8]?, count: Int, findings: [KeyFinding]) {
        self.last = last
        self.count = count
        self.findings = findings
    }
}

/// What is wrong with a stored content key. The key's id is as it stands there, which may be what was altered.
package enum KeyFinding: Hashable, Sendable {
    /// The seal does not open: it, the key's id, its content, period or version was altered, or it is the seal of
    /// another record.
    case sealBroken(keyID: [UInt8])
    /// A column holds what no version writes.
    case malformed(keyID: [UInt8])
}

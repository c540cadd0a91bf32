package import ByteCoding

/// A key that a packager or an operator wants to have: the record that is stored if there is no such key yet.
package struct KeyWish: Sendable {
    /// By which names a stored key is the one that is wanted.
    package enum Identity: Hashable, Sendable {
        /// Its key id, as the packager has given it.
        case keyID
        /// Its content, track label and period. Any live key with these is the one. Its key id does not matter.
        case track
    }

    /// Which bytes of the record were given, so that a stored key must have the same.
    package struct Given: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let key = Given(rawValue: 1)
        package static let iv = Given(rawValue: 2)
    }

    /// Where the bytes of `record` come from. A store that was restored from an older copy makes no random keys.
    package enum Material: Hashable, Sendable {
        case random
        case derived
        case imported
    }

    package let record: ContentKeyRecord
    package let identity: Identity
    package let given: Given
    package let material: Material

    package init(record: ContentKeyRecord, identity: Identity, given: Given = [], material: Material) {
        self.record = record
        self.identity = identity
        self.given = given
        self.material = material
    }

    /// What keeps a stored key from being the one that is wanted; nil if it is. The time of creation and the key's
    /// floor are not compared: operators may have set a floor of their own.
    package func conflict(with stored: ContentKeyRecord) -> KeyConflict? {
        let wanted = record.attributes
        return Self.conflict(
            contentID: wanted.contentID, trackLabel: wanted.trackLabel, periodIndex: wanted.periodIndex,
            scheme: wanted.scheme, iv: given.contains(.iv) ? record.iv : nil,
            key: given.contains(.key) ? record.key : nil, with: stored)
    }

    /// The same for a key with these attributes, and with this IV and these bytes unless they are nil.
    package static func conflict(
        contentID: ContentID, trackLabel: TrackLabel?, periodIndex: UInt32?, scheme: EncryptionScheme,
        iv: Bytes16?, key: ContentKey?, with stored: ContentKeyRecord
    ) -> KeyConflict? {
        if contentID != stored.attributes.contentID { return .otherContent }
        if stored.attributes.state != .live { return .withdrawn }
        if trackLabel != stored.attributes.trackLabel { return .otherTrack }
        if periodIndex != stored.attributes.periodIndex { return .otherPeriod }
        if scheme != stored.attributes.scheme { return .otherScheme }
        if let iv, iv != stored.iv { return .otherIV }
        if let key, key != stored.key { return .otherKey }
        return nil
    }
}

/// A key that was asked for by a `KeyWish`.
package struct ProvidedKey: Sendable {
    /// As it is stored.
    package let record: ContentKeyRecord
    /// Whether this call has stored it. Of several wishes for one key, it is said with the first alone.
    package let isNew: Bool

    package init(record: ContentKeyRecord, isNew: Bool) {
        self.record = record
        self.isNew = isNew
    }
}

/// Why a stored key is not the one that is wanted, although it has its names. A stored key never changes.
package enum KeyConflict: Error, Hashable, Sendable, CaseIterable {
    case otherContent
    case otherTrack
    case otherPeriod
    case otherScheme
    case otherIV
    case otherKey
    case withdrawn
    /// Several live keys have the content, track label and period.
    case severalKeys
}

/// Why wished keys are not provided.
package enum KeyProvisionError: Error, Equatable, Sendable {
    case conflict(KeyID, KeyConflict)
    /// The database is older than the last key that was made: this key may have existed, and is not made again.
    case keyLost(ContentID)
    case store(StoreError)
}

/// Gives packagers their keys: those that are there, and new ones.
package protocol KeyProvider: Sendable {
    /// The keys of the wishes, in their order. Those that are not there are stored; all of them become durable
    /// together, or none.
    ///
    /// Two calls at once, on any nodes, get the same keys. Throws `conflict` for the first wish whose names a stored
    /// key has that is not the one, and `keyLost`.
    func provide(_ wishes: [KeyWish]) async throws(KeyProvisionError) -> [ProvidedKey]

    /// The same without making any: nil for each key that is not there. Throws `conflict`.
    func find(_ wishes: [KeyWish]) async throws(KeyProvisionError) -> [ContentKeyRecord?]
}

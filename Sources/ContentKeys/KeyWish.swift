package import ByteCoding

/// A key that a packager or an operator wants, with the record that is stored if there is no such key yet.
package struct KeyWish: Sendable {
    /// The names by which a stored key is the wanted one.
    package enum Identity: Hashable, Sendable {
        /// The key id, which the packager has given.
        case keyID
        /// The content, track label and period. Any live key with these names is the wanted one; its key id does not
        /// matter.
        case track
    }

    /// The parts of the record that were given. A stored key must have the same bytes, and no weaker floor.
    package struct Given: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let key = Given(rawValue: 1)
        package static let iv = Given(rawValue: 2)
        package static let floor = Given(rawValue: 4)
    }

    package let record: ContentKeyRecord
    package let identity: Identity
    package let given: Given

    package init(record: ContentKeyRecord, identity: Identity, given: Given = []) {
        self.record = record
        self.identity = identity
        self.given = given
    }

    /// Returns why a stored key is not the wanted one; nil if it is. The time of creation is not compared, nor are
    /// parts that were not given.
    package func conflict(with stored: ContentKeyRecord) -> KeyConflict? {
        let wanted = record.attributes
        return Self.conflict(
            contentID: wanted.contentID, trackLabel: wanted.trackLabel, periodIndex: wanted.periodIndex,
            scheme: wanted.scheme, iv: given.contains(.iv) ? record.iv : nil,
            key: given.contains(.key) ? record.key : nil, leastHDCP: given.contains(.floor) ? wanted.leastHDCP : nil,
            leastSecurityLevel: given.contains(.floor) ? wanted.leastSecurityLevel : nil, with: stored)
    }

    /// Returns why a stored key does not have these attributes, this IV and these bytes, or has a weaker floor; nil if
    /// it is the wanted one. An IV, key, or part of the floor that is nil is not compared.
    package static func conflict(
        contentID: ContentID, trackLabel: TrackLabel?, periodIndex: UInt32?, scheme: EncryptionScheme,
        iv: Bytes16?, key: ContentKey?, leastHDCP: ContentKeyAttributes.HDCP?,
        leastSecurityLevel: ContentKeyAttributes.SecurityLevel?, with stored: ContentKeyRecord
    ) -> KeyConflict? {
        if contentID != stored.attributes.contentID { return .otherContent }
        if stored.attributes.state != .live { return .withdrawn }
        if trackLabel != stored.attributes.trackLabel { return .otherTrack }
        if periodIndex != stored.attributes.periodIndex { return .otherPeriod }
        if scheme != stored.attributes.scheme { return .otherScheme }
        if let iv, iv != stored.iv { return .otherIV }
        if let key, key != stored.key { return .otherKey }
        if leastHDCP ?? .notRequired > stored.attributes.leastHDCP ?? .notRequired { return .weakerFloor }
        if leastSecurityLevel ?? .audio > stored.attributes.leastSecurityLevel ?? .audio { return .weakerFloor }
        return nil
    }
}

/// A key that a `KeyWish` asked for.
package struct ProvidedKey: Sendable {
    /// The stored record.
    package let record: ContentKeyRecord
    /// Whether this call has stored it. Of several wishes for one key, only the first one is new.
    package let isNew: Bool

    package init(record: ContentKeyRecord, isNew: Bool) {
        self.record = record
        self.isNew = isNew
    }
}

/// The reason why a stored key is not the wanted one, although it has its names. A stored key never changes.
package enum KeyConflict: Error, Hashable, Sendable, CaseIterable {
    case otherContent
    case otherTrack
    case otherPeriod
    case otherScheme
    case otherIV
    case otherKey
    /// The wish demands more HDCP or a higher security level than the stored key does.
    case weakerFloor
    case withdrawn
    /// Several live keys have the content, track label and period.
    case severalKeys
}

/// The reason why wished keys are not provided.
package enum KeyProvisionError: Error, Equatable, Sendable {
    /// The stored key with this id has the wish's names. It is the first one if there are several.
    case conflict(KeyID, KeyConflict)
    case store(StoreError)
}

extension KeyProvisionError {
    /// The key id of a wish that the store refuses because of the id alone; nil for any other error.
    ///
    /// If the wish names only a track, another key id can be taken in its place. The live key of a track has the wish's
    /// content, track and period, so these conflicts are not about it.
    package var takenKeyID: KeyID? {
        switch self {
        case .conflict(let keyID, .withdrawn), .conflict(let keyID, .otherContent), .conflict(let keyID, .otherTrack),
            .conflict(let keyID, .otherPeriod):
            keyID
        case .store(let error): error.takenKeyID
        case .conflict(_, .otherScheme), .conflict(_, .otherIV), .conflict(_, .otherKey), .conflict(_, .weakerFloor),
            .conflict(_, .severalKeys):
            nil
        }
    }
}

extension StoreError {
    /// The key id that a new key cannot have, although another one could be stored; nil for any other error.
    package var takenKeyID: KeyID? {
        switch self {
        case .keyIDTaken(let keyID), .keyIDSpellsContent(let keyID, _): keyID
        default: nil  // Every other error is not about a key id, or about one that an operator has named.
        }
    }
}

/// Provides packagers' keys: existing ones and new ones.
package protocol KeyProvider: Sendable {
    /// Returns the keys of the wishes in their order. Missing keys are stored; all of them become durable together, or
    /// none.
    ///
    /// Two simultaneous calls, on any nodes, return the same keys. Throws `conflict` for the first wish whose names
    /// belong to a stored key that is not the wanted one. Throws `store` with `keyIDSpellsContent` or `periodTooFar` if
    /// a missing key must not be stored.
    func provide(_ wishes: [KeyWish]) async throws(KeyProvisionError) -> [ProvidedKey]

    /// Returns existing keys without making any; nil for each missing key. Throws `conflict`.
    func find(_ wishes: [KeyWish]) async throws(KeyProvisionError) -> [ContentKeyRecord?]
}

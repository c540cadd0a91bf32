package import KeyCrypto

/// The key-encryption keys of an installation by their versions: the current one seals, and older ones still open.
///
/// `latchkey keys rewrap` seals records again under the current key. An older key can be removed when no record needs
/// it any more.
package struct KeyRing: Sendable {
    /// The key that seals new records.
    package let current: KeySealing
    private let older: [KeySealing]

    /// Returns nil if two keys have the same version.
    package init?(current: KeySealing, older: [KeySealing] = []) {
        let versions = older.map(\.version) + [current.version]
        guard Set(versions).count == versions.count else { return nil }
        self.current = current
        self.older = older
    }

    /// Makes a ring with one key.
    package init(_ current: KeySealing) {
        self.current = current
        older = []
    }

    package var all: [KeySealing] { [current] + older }

    /// Opens a record with these attributes that any of the keys sealed.
    ///
    /// Throws `authenticationFailed` for altered bytes, for another record's seal, and if the ring lacks the key.
    package func open(
        _ sealed: SealedContentKey, attributes: ContentKeyAttributes
    ) throws(CryptoError) -> ContentKeyRecord {
        guard let sealing = all.first(where: { $0.version == sealed.keyVersion }) else { throw .authenticationFailed }
        return try sealing.open(sealed, attributes: attributes)
    }
}

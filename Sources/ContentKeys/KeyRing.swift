package import KeyCrypto

/// The key-encryption keys of an installation by their versions: one that seals, and older ones that still open.
///
/// Records are sealed again, under the sealing key, by `latchkey keys rewrap`, and an older key goes when no record
/// needs it any more.
package struct KeyRing: Sendable {
    /// Seals what is stored from now on.
    package let current: KeySealing
    private let older: [KeySealing]

    /// Nil if two keys have one version.
    package init?(current: KeySealing, older: [KeySealing] = []) {
        let versions = older.map(\.version) + [current.version]
        guard Set(versions).count == versions.count else { return nil }
        self.current = current
        self.older = older
    }

    /// A ring of one key.
    package init(_ current: KeySealing) {
        self.current = current
        older = []
    }

    package var all: [KeySealing] { [current] + older }

    /// Opens what any of the keys sealed for a record with these attributes.
    ///
    /// Throws `authenticationFailed` for altered bytes, another record's seal, and a key that is not on the ring.
    package func open(
        _ sealed: SealedContentKey, attributes: ContentKeyAttributes
    ) throws(CryptoError) -> ContentKeyRecord {
        guard let sealing = all.first(where: { $0.version == sealed.keyVersion }) else { throw .authenticationFailed }
        return try sealing.open(sealed, attributes: attributes)
    }

    /// Opens form 1, as a version before form 2 does.
    package func openUnbound(
        _ sealed: SealedContentKey, attributes: ContentKeyAttributes
    ) throws(CryptoError) -> ContentKeyRecord {
        guard let sealing = all.first(where: { $0.version == sealed.keyVersion }) else { throw .authenticationFailed }
        return try sealing.openUnbound(sealed, attributes: attributes)
    }
}

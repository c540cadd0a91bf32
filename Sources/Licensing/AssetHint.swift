package import ContentKeys

/// A name for the key of a request that stands beside its SPC. The SPC decides which key is meant; a request whose hint
/// means another one is refused (clients, section 2).
package struct AssetHint: Equatable, Sendable {
    /// Where it stands.
    package enum Place: String, Sendable, CaseIterable {
        case path
        case query
        case headerField = "header field"
        case body
    }

    package let place: Place
    /// Nil if it has too few or too many bytes to name anything.
    private let name: AssetID?

    package init(_ name: AssetID, in place: Place) {
        self.place = place
        self.name = name
    }

    /// A name as it came, decoded; nil if it is empty.
    package init?(_ name: some Collection<UInt8>, in place: Place) {
        guard !name.isEmpty else { return nil }
        self.place = place
        self.name = try? AssetID(bytes: Array(name))
    }

    /// Whether it may mean the key that the asset id of an SPC has led to.
    func agrees(with key: ContentKeyAttributes, _ assetID: AssetID) -> Bool {
        guard let name else { return false }
        // What nearly every player sends needs no reading.
        return name == assetID || name.bytes.elementsEqual(key.contentID.text.utf8)
            || AssetReference(name).agrees(with: key, assetID)
    }
}

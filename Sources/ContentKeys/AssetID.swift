/// What a device asks a key for: the asset id of an SPC, 2 to 200 raw bytes.
///
/// Never text: published SPCs carry bytes that are not UTF-8, and Safari sends the 16 bytes of a key id.
/// `AssetReference` tells what an asset id may name.
package struct AssetID: Hashable, Sendable {
    /// The sizes that an asset id may have, in bytes.
    package static let sizes = 2...200

    package let bytes: [UInt8]

    /// Throws `sizeOutOfRange` for fewer than 2 or more than 200 bytes; any byte values are good.
    package init(bytes: [UInt8]) throws(IdentifierError) {
        guard Self.sizes.contains(bytes.count) else { throw .sizeOutOfRange(bytes.count) }
        self.bytes = bytes
    }
}

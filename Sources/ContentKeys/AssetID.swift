/// What a device asks a key for: the asset id of an SPC, 2 to 1,024 raw bytes (token URLs have more than
/// 200).
///
/// Never text: published SPCs carry bytes that are not UTF-8, and Safari sends the 16 bytes of a key id.
/// `AssetReference` tells what an asset id may name.
package struct AssetID: Hashable, Sendable {
    /// The sizes that an asset id may have, in bytes.
    package static let sizes = 2...1024
    /// The sizes of an asset id that can be registered as an alias of a key, in bytes.
    package static let aliasSizes = 2...200

    package let bytes: [UInt8]

    /// Throws `sizeOutOfRange` for fewer than 2 or more than 1,024 bytes; any byte values are good.
    package init(bytes: [UInt8]) throws(IdentifierError) {
        guard Self.sizes.contains(bytes.count) else { throw .sizeOutOfRange(bytes.count) }
        self.bytes = bytes
    }

    /// An alias of a key. Throws `sizeOutOfRange` for fewer than 2 or more than 200 bytes.
    package init(alias bytes: [UInt8]) throws(IdentifierError) {
        guard Self.aliasSizes.contains(bytes.count) else { throw .sizeOutOfRange(bytes.count) }
        self.bytes = bytes
    }
}

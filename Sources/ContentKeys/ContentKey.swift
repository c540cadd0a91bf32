package import KeyCrypto

/// The 16 bytes that decrypt a track: one AES-128 key.
///
/// Shared by all holders of its record, wiped with the last of them, and never printed.
package final class ContentKey: Sendable {
    /// The size of a key in bytes.
    package static let size = 16

    /// Exactly `size` bytes.
    package let bytes: SecretBytes

    /// Throws `wrongSize` unless there are 16 bytes.
    package init(_ bytes: consuming SecretBytes) throws(ContentKeyError) {
        let count = bytes.count
        guard count == Self.size else { throw .wrongSize(count) }
        self.bytes = bytes
    }
}

/// Why bytes are not a content key, or not one that may be used.
package enum ContentKeyError: Error, Equatable, Sendable {
    /// A key has 16 bytes; this many were given.
    case wrongSize(Int)
    /// The initialization vector, which everybody may see, is the key.
    case ivEqualsKey
}

extension ContentKey: Equatable {
    /// Compares in a time that does not depend on the bytes.
    package static func == (left: ContentKey, right: ContentKey) -> Bool {
        left.bytes.isEqual(to: right.bytes)
    }
}

extension ContentKey: CustomStringConvertible, CustomReflectable {
    /// Says that it is a key, and nothing of it.
    package var description: String { "ContentKey" }

    /// Empty, so that `dump` and test failures show nothing either.
    package var customMirror: Mirror { Mirror(self, children: [] as [Mirror.Child]) }
}

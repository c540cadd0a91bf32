package import ByteCoding
package import KeyCrypto

/// A content key that came inside a sealed token. It is wiped with the last holder, and never printed.
package final class EmbeddedContentKey: Sendable {
    /// The sizes of a key and of an initialization vector, in bytes.
    package static let size = 16

    package let key: SecretBytes
    package let iv: Bytes16

    /// Throws `claimInvalid` for a key of another size, and for one that equals the vector, which everybody may see.
    package init(key: consuming SecretBytes, iv: Bytes16) throws(EntitlementError) {
        guard key.count == Self.size, !key.isEqual(to: SecretBytes(copying: iv.bytes)) else {
            throw .claimInvalid("key")
        }
        self.key = key
        self.iv = iv
    }
}

extension EmbeddedContentKey: Equatable {
    /// Compares in a time that does not depend on the key.
    package static func == (left: EmbeddedContentKey, right: EmbeddedContentKey) -> Bool {
        left.key.isEqual(to: right.key) && left.iv == right.iv
    }
}

extension EmbeddedContentKey: CustomStringConvertible, CustomReflectable {
    /// Says that it is a key, and nothing of it.
    package var description: String { "EmbeddedContentKey" }

    /// Empty, so that `dump` and test failures show nothing either.
    package var customMirror: Mirror { Mirror(self, children: [] as [Mirror.Child]) }
}

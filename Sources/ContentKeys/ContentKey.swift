package import ByteCoding
package import KeyCrypto

/// The 16 bytes that decrypt a track: one AES-128 key.
///
/// All holders of its record share it. It is wiped when the last of them releases it, and is never printed.
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

/// The reason why bytes are not a content key, or not one that may be used.
package enum ContentKeyError: Error, Equatable, Sendable {
    /// A key has 16 bytes; this many were given.
    case wrongSize(Int)
    /// The initialization vector, which is public, equals the key.
    case ivEqualsKey
}

extension ContentKey: Equatable {
    /// Compares in constant time.
    package static func == (left: ContentKey, right: ContentKey) -> Bool {
        left.bytes.isEqual(to: right.bytes)
    }
}

extension ContentKey: CustomStringConvertible, CustomReflectable {
    /// Names only the type, and shows no bytes of the key.
    package var description: String { "ContentKey" }

    /// Empty, so that `dump` and test failures show no bytes either.
    package var customMirror: Mirror { Mirror(self, children: [] as [Mirror.Child]) }
}

/// A content key with its initialization vector and its attributes.
///
/// It never changes. It is a class, so that passing it on costs only a reference.
package final class ContentKeyRecord: Equatable, Sendable {
    package let attributes: ContentKeyAttributes
    package let key: ContentKey
    /// The packager's initialization vector, which the license must carry.
    package let iv: Bytes16

    /// Throws `ivEqualsKey` if the vector equals the key. The vector is public, so it would reveal the key.
    package init(attributes: ContentKeyAttributes, key: ContentKey, iv: Bytes16) throws(ContentKeyError) {
        guard key.bytes.revealedBytes16() != iv else { throw .ivEqualsKey }
        self.attributes = attributes
        self.key = key
        self.iv = iv
    }

    package static func == (first: ContentKeyRecord, second: ContentKeyRecord) -> Bool {
        first.attributes == second.attributes && first.iv == second.iv && first.key == second.key
    }

    package var keyID: KeyID { attributes.keyID }
    package var contentID: ContentID { attributes.contentID }

    /// Whether both are the same key of the same track with the same floor. State and time of creation are not
    /// compared.
    package func isSameKey(as other: ContentKeyRecord) -> Bool {
        var aligned = other.attributes
        aligned.state = attributes.state
        aligned.createdAt = attributes.createdAt
        return aligned == attributes && iv == other.iv && key == other.key
    }
}

extension ContentKeyRecord: CustomStringConvertible, CustomReflectable {
    /// Identifies the key, without showing its bytes or its initialization vector.
    package var description: String { "content key \(keyID) of \(contentID)" }

    package var customMirror: Mirror { Mirror(self, children: ["attributes": attributes]) }
}

/// Makes content keys.
package enum KeyGeneration {
    /// Makes a random key and a random initialization vector, independent of one another and of every identifier.
    ///
    /// The two are never equal. Throws `randomnessUnavailable` if the system has no random bytes.
    package static func generate() throws(CryptoError) -> (key: ContentKey, iv: Bytes16) {
        let secret = try SecretBytes.random(count: ContentKey.size)
        var iv = try RandomBytes.generate16()
        while iv == secret.revealedBytes16() { iv = try RandomBytes.generate16() }
        do {
            return (try ContentKey(secret), iv)
        } catch {
            preconditionFailure("a generated key has the size of a key")
        }
    }

    /// Makes a random key id: a UUID of version 4 (RFC 9562 section 5.4).
    package static func generateKeyID() throws(CryptoError) -> KeyID {
        var bytes = try RandomBytes.generate(count: KeyID.size)
        bytes[6] = 0x40 | bytes[6] & 0x0F
        bytes[8] = 0x80 | bytes[8] & 0x3F
        guard let keyID = KeyID(bytes: bytes) else { preconditionFailure("a key id has 16 bytes") }
        return keyID
    }
}

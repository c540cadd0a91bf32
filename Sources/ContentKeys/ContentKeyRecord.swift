package import ByteCoding
import KeyCrypto

/// A content key with its initialization vector and its attributes. It never changes; as an object it is handed on at
/// the cost of one reference.
package final class ContentKeyRecord: Equatable, Sendable {
    package let attributes: ContentKeyAttributes
    package let key: ContentKey
    /// The packager's initialization vector, which the licence must carry.
    package let iv: Bytes16

    /// Throws `ivEqualsKey` when the two have the same bytes: the vector is public, and would give the key away.
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

    /// Whether both are the same key of the same track with the same floor, whenever it was stored and whether or not
    /// it is live.
    package func isSameKey(as other: ContentKeyRecord) -> Bool {
        var aligned = other.attributes
        aligned.state = attributes.state
        aligned.createdAt = attributes.createdAt
        return aligned == attributes && iv == other.iv && key == other.key
    }
}

extension ContentKeyRecord: CustomStringConvertible, CustomReflectable {
    /// Names the key. The key and the initialization vector are not shown.
    package var description: String { "content key \(keyID) of \(contentID)" }

    package var customMirror: Mirror { Mirror(self, children: ["attributes": attributes]) }
}

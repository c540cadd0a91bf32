package import ByteCoding
package import KeyCrypto

/// The 16-byte names by which a device reports an offline key (protocol, sections 4.3 and 4.4).
///
/// Both follow from the record alone, so that a report about a licence of long ago still finds its key.
extension ContentKeyAttributes {
    /// The stream id, unique for each key: the bytes of the key id.
    package var streamID: Bytes16 { keyID.words }

    /// The title id, the same for all keys of one content: the first 16 bytes of SHA-256("LKTITLE1" ‖ content id).
    ///
    /// Throws `operationFailed`.
    package func titleID(using crypto: CryptoContext) throws(CryptoError) -> Bytes16 {
        Bytes16(try crypto.sha256(Array("LKTITLE1".utf8) + contentID.text.utf8), at: 0)
    }
}

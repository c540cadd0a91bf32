package import ByteCoding
package import ContentKeys
package import KeyCrypto

/// Makes content keys for tests from a few numbers.
package enum SampleKeys {
    package static func record(
        _ number: UInt64, content: String = "movie", track: Track = .unlabelled, period: UInt32? = nil,
        scheme: EncryptionScheme = .cbcs, state: ContentKeyState = .live, createdAt: Int64 = 1_700_000_000,
        key: UInt64? = nil,
        leastHDCP: ContentKeyAttributes.HDCP? = nil, leastSecurityLevel: ContentKeyAttributes.SecurityLevel? = nil
    ) throws -> ContentKeyRecord {
        let secret = Bytes16(high: 0x4B45_595F_4B45_5953, low: key ?? number).bytes
        var attributes = ContentKeyAttributes(
            keyID: keyID(number), contentID: try ContentID(content), track: track, periodIndex: period, scheme: scheme,
            createdAt: createdAt)
        attributes.state = state
        attributes.leastHDCP = leastHDCP
        attributes.leastSecurityLevel = leastSecurityLevel
        return try ContentKeyRecord(
            attributes: attributes, key: ContentKey(SecretBytes(copying: secret)),
            iv: Bytes16(high: 0x4956_5F49_565F_4956, low: number))
    }

    package static func keyID(_ number: UInt64) -> KeyID {
        guard let keyID = KeyID(bytes: Bytes16(high: 0, low: number).bytes) else {
            preconditionFailure("sixteen bytes make a key id")
        }
        return keyID
    }

    package static func reference(_ text: String) throws -> AssetReference {
        AssetReference(try AssetID(bytes: Array(text.utf8)))
    }

    /// Returns a ring with one key-encryption key of version 1.
    package static func keyRing(_ byte: UInt8 = 0x42) throws -> KeyRing {
        KeyRing(KeySealing(keyEncryptionKey: try keyEncryptionKey(byte), version: 1))
    }

    package static func keyEncryptionKey(_ byte: UInt8 = 0x42) throws -> AES256GCMKey {
        try AES256GCMKey(SecretBytes(copying: [UInt8](repeating: byte, count: AES256GCMKey.keySize)))
    }
}

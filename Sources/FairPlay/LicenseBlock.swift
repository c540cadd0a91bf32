import ByteCoding
package import KeyCrypto

/// A block that the server writes into a CKC, in contrast to an echo (protocol, section 2.2).
enum LicenseBlock {
    /// The key that was wrapped in this process: AES-ECB(SK, key).
    case contentKey(iv: Bytes16, wrapped: Bytes16)
    /// The block of an external module.
    case moduleContentKey(tag: UInt64, value: [UInt8])
    /// R1; 44 bytes.
    case r1([UInt8])
    case duration(KeyDuration)
    case offlineKey(OfflineKey)
    case hdcp(HDCPLevel)
    case securityLevel(SecurityLevel)
    case sessionKeyVersion(SessionKeyVersion)

    var tag: UInt64 {
        switch self {
        case .contentKey: TLLVTag.contentKey
        case .moduleContentKey(let tag, _): tag
        case .r1: TLLVTag.r1
        case .duration: TLLVTag.contentKeyDuration
        case .offlineKey: TLLVTag.offlineKey
        case .hdcp: TLLVTag.hdcpEnforcement
        case .securityLevel: TLLVTag.requiredSecurityLevel
        case .sessionKeyVersion: TLLVTag.sessionKeyVersionUsed
        }
    }

    func value(using crypto: CryptoContext) throws(CryptoError) -> [UInt8] {
        switch self {
        case .contentKey(let iv, let wrapped):
            var value = ByteWriter(capacity: 32)
            value.write(iv)
            value.write(wrapped)
            return value.bytes
        case .moduleContentKey(_, let value), .r1(let value): return value
        case .duration(let duration): return Self.value(of: duration)
        case .offlineKey(let key): return Self.value(of: key)
        case .hdcp(let level):
            var value = ByteWriter(capacity: 16)
            value.write(level.rawValue)
            value.write(try crypto.randomBytes(count: 8))
            return value.bytes
        case .securityLevel(let level): return Self.versioned(level.rawValue)
        case .sessionKeyVersion(let version): return Self.versioned(version.rawValue)
        }
    }

    private static func value(of duration: KeyDuration) -> [UInt8] {
        var value = ByteWriter(capacity: 16)
        value.write(duration.lease?.value ?? 0)
        value.write(duration.rental?.value ?? 0)
        value.write(duration.keyType)
        value.write(KeyDuration.reservedWord)
        return value.bytes
    }

    private static func value(of key: OfflineKey) -> [UInt8] {
        let (version, first, last): (UInt32, Bytes16, Bytes16?) =
            switch key.name {
            case .version1(let contentID): (1, contentID, nil)
            case .version2(let streamID, let titleID): (2, streamID, titleID)
            }
        var value = ByteWriter(capacity: 48)
        value.write(version)
        value.write(UInt32(0))
        value.write(first)
        value.write(key.storage?.value ?? 0)
        value.write(key.playback?.value ?? 0)
        if let last { value.write(last) }
        return value.bytes
    }

    /// Returns a value of 16 bytes: version 1, a reserved word, and one number of 8 bytes.
    private static func versioned(_ number: UInt64) -> [UInt8] {
        var value = ByteWriter(capacity: 16)
        value.write(UInt32(1))
        value.write(UInt32(0))
        value.write(number)
        return value.bytes
    }
}

extension LicenseTerms {
    /// Appends the blocks of a CKC that carry these terms.
    func append(to blocks: inout [LicenseBlock]) {
        switch validity {
        case .session: break
        case .duration(let duration): blocks.append(.duration(duration))
        case .offlineKey(let key): blocks.append(.offlineKey(key))
        }
        if let hdcp { blocks.append(.hdcp(hdcp)) }
        if let securityLevel { blocks.append(.securityLevel(securityLevel)) }
    }

    /// Returns the same blocks as tags and values, so that an operator can see what a device would get.
    package func describedBlocks(using crypto: CryptoContext) throws(CryptoError) -> [(tag: UInt64, value: [UInt8])] {
        var blocks: [LicenseBlock] = []
        append(to: &blocks)
        var described: [(tag: UInt64, value: [UInt8])] = []
        for block in blocks { described.append((block.tag, try block.value(using: crypto))) }
        return described
    }
}

package import ByteCoding
package import KeyCrypto

/// Writes Content Key Contexts (protocol, sections 1.3, 2.2 and 2.3).
///
///     offset  size  field
///          0     4  version, 1
///          4     4  reserved, 0
///          8    16  initialization vector, fresh for each CKC
///         24     4  payload length n, a multiple of 16
///         28     n  AES-CBC encrypted payload: our own blocks in random order, then the echoes in the order of the request
package enum CKCWriter {
    package static let headerSize = 28
    static let version: UInt32 = 1

    /// The CKC for `spc`, with the content key (16 bytes) and its vector. Throws `notExpressible` or `cryptography`.
    package static func write(
        for spc: SPC, contentKey: borrowing SecretBytes, iv: Bytes16, terms: LicenseTerms, using crypto: CryptoContext
    ) throws(CKCError) -> [UInt8] {
        do throws(LicenseTermsError) {
            try terms.check(for: spc)
        } catch {
            throw .notExpressible(error)
        }
        do throws(CryptoError) {
            let wrapped = try spc.sessionKeys.wrap(contentKey, using: crypto)
            let payload = try payload(for: spc, wrappedKey: wrapped, iv: iv, terms: terms, using: crypto)
            return try seal(payload, for: spc, using: crypto)
        } catch {
            throw .cryptography(error)
        }
    }

    private static func payload(
        for spc: SPC, wrappedKey: Bytes16, iv: Bytes16, terms: LicenseTerms, using crypto: CryptoContext
    ) throws(CryptoError) -> [UInt8] {
        var blocks: [(tag: UInt64, value: [UInt8])] = [
            (TLLVTag.contentKey, iv.bytes + wrappedKey.bytes),
            (TLLVTag.r1, spc.sessionKeys.r1),
        ]
        if let duration = terms.duration { blocks.append((TLLVTag.contentKeyDuration, value(of: duration))) }
        if let hdcp = terms.hdcp { blocks.append((TLLVTag.hdcpEnforcement, try value(of: hdcp, using: crypto))) }
        try shuffle(&blocks, using: crypto)
        var writer = TLLVWriter(using: crypto)
        for block in blocks { try writer.write(block.tag, block.value) }
        for block in spc.returnedBlocks { writer.writeVerbatim(block) }
        return writer.payload.bytes
    }

    private static func seal(
        _ payload: [UInt8], for spc: SPC, using crypto: CryptoContext
    ) throws(CryptoError) -> [UInt8] {
        let key = try spc.sessionKeys.payloadKey(seed: spc.antiReplaySeed, using: crypto)
        let iv = try crypto.randomBytes16()
        let encrypted = try crypto.encryptCBC(payload, key: key, iv: iv)
        var message = ByteWriter(capacity: headerSize + encrypted.count)
        message.write(version)
        message.write(UInt32(0))
        message.write(iv)
        message.write(UInt32(encrypted.count))
        message.write(encrypted)
        return message.bytes
    }

    private static func value(of duration: KeyDuration) -> [UInt8] {
        var value = ByteWriter(capacity: 16)
        value.write(duration.lease?.value ?? 0)
        value.write(duration.rental?.value ?? 0)
        value.write(duration.keyType)
        value.write(KeyDuration.reservedWord)
        return value.bytes
    }

    private static func value(of hdcp: HDCPLevel, using crypto: CryptoContext) throws(CryptoError) -> [UInt8] {
        var value = ByteWriter(capacity: 16)
        value.write(hdcp.rawValue)
        value.write(try crypto.randomBytes(count: 8))
        return value.bytes
    }

    /// An order by chance; up to 16 blocks. The order carries no meaning, so the slight unevenness does not matter.
    private static func shuffle(
        _ blocks: inout [(tag: UInt64, value: [UInt8])], using crypto: CryptoContext
    ) throws(CryptoError) {
        for index in blocks.indices.dropFirst() {
            blocks.swapAt(index, try crypto.randomIndex(below: 256) % (index + 1))
        }
    }
}

/// Why no CKC was made.
package enum CKCError: Error, Equatable, Sendable {
    case notExpressible(LicenseTermsError)
    case cryptography(CryptoError)
}

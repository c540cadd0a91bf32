import ByteCoding
package import KeyCrypto

/// Writes Content Key Contexts (protocol, sections 1.3, 2.2 and 2.3).
///
///     offset  size  field
///          0     4  version: 1, or 2 if an external module gave out the R1 for video
///          4     4  reserved, 0
///          8    16  initialization vector, fresh for each CKC
///         24     4  payload length n, a multiple of 16
///         28     n  AES-CBC encrypted payload: the server's own blocks in random order, then the echoes in the
///                  order of the request
package enum CKCWriter {
    package static let headerSize = 28

    /// Returns the CKC for `spc` with a content key that the ladder has wrapped. The caller has checked the terms
    /// against the device.
    package static func write(
        for spc: SPC, contentKey: WrappedContentKey, terms: LicenseTerms, using crypto: CryptoContext
    ) throws(CryptoError) -> [UInt8] {
        let payload = try payload(for: spc, contentKey: contentKey, terms: terms, using: crypto)
        return try seal(payload, for: spc, contentKey: contentKey, using: crypto)
    }

    private static func payload(
        for spc: SPC, contentKey: WrappedContentKey, terms: LicenseTerms, using crypto: CryptoContext
    ) throws(CryptoError) -> [UInt8] {
        var blocks: [LicenseBlock] = []
        blocks.reserveCapacity(8)
        contentKey.append(to: &blocks)
        terms.append(to: &blocks)
        try shuffle(&blocks, using: crypto)
        var writer = TLLVWriter(using: crypto)
        for block in blocks { try writer.write(block.tag, try block.value(using: crypto)) }
        for block in spc.returnedBlocks { writer.writeVerbatim(block) }
        return writer.payload.bytes
    }

    private static func seal(
        _ payload: [UInt8], for spc: SPC, contentKey: WrappedContentKey, using crypto: CryptoContext
    ) throws(CryptoError) -> [UInt8] {
        let key = try contentKey.payloadKey(seed: spc.antiReplaySeed, using: crypto)
        let iv = try crypto.randomBytes16()
        let encrypted = try crypto.encryptCBC(payload, key: key, iv: iv)
        var message = ByteWriter(capacity: headerSize + encrypted.count)
        message.write(contentKey.licenseVersion)
        message.write(UInt32(0))
        message.write(iv)
        message.write(UInt32(encrypted.count))
        message.write(encrypted)
        return message.bytes
    }

    /// Shuffles at most 16 blocks. The order has no meaning, so it does not matter that some orders are slightly more
    /// likely than others.
    private static func shuffle(
        _ blocks: inout [LicenseBlock], using crypto: CryptoContext
    ) throws(CryptoError) {
        for index in blocks.indices.dropFirst() {
            blocks.swapAt(index, try crypto.randomIndex(below: 256) % (index + 1))
        }
    }
}

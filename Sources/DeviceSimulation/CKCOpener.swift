package import ByteCoding
package import FairPlay
package import KeyCrypto

/// What a device learns from a CKC whose every part holds.
package struct OpenedLicense: Sendable {
    /// 16 bytes.
    package let contentKey: SharedSecret
    package let contentIV: Bytes16
    package let terms: LicenseTerms
}

/// Why a device would refuse a CKC.
package enum CKCFault: Error, Equatable, Sendable {
    case truncated(ByteReaderError)
    case version(UInt32)
    case reserved(UInt32)
    case payloadLength(declared: UInt32, available: Int)
    case payloadUnaligned
    case framing(TLLVError)
    case missingTag(UInt64)
    case wrongSize(tag: UInt64, size: Int)
    case r1Mismatch
    case echoMissing(tag: UInt64)
    case echoAltered(tag: UInt64)
    case echoOutOfOrder(tag: UInt64)
    case unexpectedTag(UInt64)
    case unknownKeyType(UInt32)
    case keyTypeContradictsDurations
    case unknownHDCPLevel(UInt64)
    case cryptography(CryptoError)
}

/// The outer layout of a CKC (protocol, section 1.3), which needs no key.
package struct CKCEnvelope: Sendable {
    package let message: [UInt8]
    package let version: UInt32
    package let reserved: UInt32
    package let iv: Bytes16
    package let payload: Range<Int>

    package init(parsing message: [UInt8]) throws(CKCFault) {
        let declared: UInt32
        var reader = ByteReader(message)
        do throws(ByteReaderError) {
            version = try reader.readUInt32("version")
            reserved = try reader.readUInt32("reserved")
            iv = try reader.readBytes16("initialization vector")
            declared = try reader.readUInt32("payload length")
        } catch {
            throw .truncated(error)
        }
        guard Int(declared) == reader.remaining else {
            throw .payloadLength(declared: declared, available: reader.remaining)
        }
        guard declared % 16 == 0, declared > 0 else { throw .payloadUnaligned }
        self.message = message
        payload = reader.offset..<message.count
    }
}

/// Opens a CKC as strictly as a device, for an SPC that was made here.
package struct CKCOpener {
    private let secrets: RequestSecrets
    private let crypto: CryptoContext

    package init(secrets: RequestSecrets, using crypto: CryptoContext) {
        self.secrets = secrets
        self.crypto = crypto
    }

    package func open(_ message: [UInt8]) throws(CKCFault) -> OpenedLicense {
        let envelope = try CKCEnvelope(parsing: message)
        guard envelope.version == 1 else { throw .version(envelope.version) }
        guard envelope.reserved == 0 else { throw .reserved(envelope.reserved) }
        let payload = try decrypt(envelope)
        let blocks = try Self.blocks(of: payload)
        try checkR1(blocks, payload)
        try checkEchoes(blocks, payload)
        try checkForStrangers(blocks)
        let key = try value(of: TLLVTag.contentKey, size: 32, blocks, payload)
        return OpenedLicense(
            contentKey: SharedSecret(try unwrap(Bytes16(payload, at: key.lowerBound + 16))),
            contentIV: Bytes16(payload, at: key.lowerBound),
            terms: LicenseTerms(
                validity: try duration(blocks, payload).map { .duration($0) } ?? .session,
                hdcp: try hdcp(blocks, payload)))
    }

    private func decrypt(_ envelope: CKCEnvelope) throws(CKCFault) -> [UInt8] {
        do throws(CryptoError) {
            let key = try secrets.licensePayloadKey(using: crypto)
            return try crypto.decryptCBC(envelope.message, in: envelope.payload, key: key, iv: envelope.iv)
        } catch {
            throw .cryptography(error)
        }
    }

    private static func blocks(of payload: [UInt8]) throws(CKCFault) -> [TLLVBlock] {
        do throws(TLLVError) {
            return try TLLVBlocks(parsing: payload).blocks
        } catch {
            throw .framing(error)
        }
    }

    private func unwrap(_ wrapped: Bytes16) throws(CKCFault) -> SecretBytes {
        do throws(CryptoError) {
            return try secrets.unwrapContentKey(wrapped, using: crypto)
        } catch {
            throw .cryptography(error)
        }
    }

    private func checkR1(_ blocks: [TLLVBlock], _ payload: [UInt8]) throws(CKCFault) {
        let r1 = try value(of: TLLVTag.r1, size: 44, blocks, payload)
        guard ConstantTime.areEqual(payload[r1], secrets.r1[...]) else { throw .r1Mismatch }
    }

    /// The echoes come back byte for byte, padding included, in the order in which they were asked for.
    private func checkEchoes(_ blocks: [TLLVBlock], _ payload: [UInt8]) throws(CKCFault) {
        var lastPosition = 0
        for echo in secrets.expectedEchoes {
            let tag = Bytes16(echo, at: 0).high
            guard let block = blocks.first(where: { $0.tag == tag }) else { throw .echoMissing(tag: tag) }
            guard payload[block.range].elementsEqual(echo) else { throw .echoAltered(tag: tag) }
            guard block.range.lowerBound >= lastPosition else { throw .echoOutOfOrder(tag: tag) }
            lastPosition = block.range.upperBound
        }
    }

    /// What a streaming licence carries beside the echoes. Other blocks are refused rather than passed over: their meaning is not checked here.
    private static let knownTags: Set = [
        TLLVTag.contentKey, TLLVTag.r1, TLLVTag.contentKeyDuration, TLLVTag.hdcpEnforcement,
    ]

    private func checkForStrangers(_ blocks: [TLLVBlock]) throws(CKCFault) {
        let echoed = Set(secrets.expectedEchoes.map { Bytes16($0, at: 0).high })
        for block in blocks where !echoed.contains(block.tag) && !Self.knownTags.contains(block.tag) {
            throw .unexpectedTag(block.tag)
        }
    }

    private func value(
        of tag: UInt64, size: Int, _ blocks: [TLLVBlock], _ payload: [UInt8]
    ) throws(CKCFault) -> Range<Int> {
        guard let value = try optionalValue(of: tag, size: size, blocks, payload) else { throw .missingTag(tag) }
        return value
    }

    private func optionalValue(
        of tag: UInt64, size: Int, _ blocks: [TLLVBlock], _ payload: [UInt8]
    ) throws(CKCFault) -> Range<Int>? {
        guard let block = blocks.first(where: { $0.tag == tag }) else { return nil }
        guard block.value.count == size else { throw .wrongSize(tag: tag, size: block.value.count) }
        return block.value
    }

    private func duration(_ blocks: [TLLVBlock], _ payload: [UInt8]) throws(CKCFault) -> KeyDuration? {
        guard let value = try optionalValue(of: TLLVTag.contentKeyDuration, size: 16, blocks, payload) else {
            return nil
        }
        let fields = Bytes16(payload, at: value.lowerBound)
        let lease = LicenseSeconds(fields.high >> 32)
        let rental = LicenseSeconds(fields.high & 0xFFFF_FFFF)
        let keyType = UInt32(truncatingIfNeeded: fields.low >> 32)
        let duration: KeyDuration? =
            switch (lease, rental) {
            case (.some(let lease), .none): .lease(lease)
            case (.none, .some(let rental)): .rental(rental)
            case (.some(let lease), .some(let rental)): .leaseAndRental(lease: lease, rental: rental)
            case (.none, .none): nil
            }
        guard [0x1a4b_de7e, 0x3dfe_45a0, 0x27b5_9bde].contains(keyType) else { throw .unknownKeyType(keyType) }
        guard let duration, duration.keyType == keyType else { throw .keyTypeContradictsDurations }
        return duration
    }

    private func hdcp(_ blocks: [TLLVBlock], _ payload: [UInt8]) throws(CKCFault) -> HDCPLevel? {
        guard let value = try optionalValue(of: TLLVTag.hdcpEnforcement, size: 16, blocks, payload) else { return nil }
        let word = Bytes16(payload, at: value.lowerBound).high
        guard let level = HDCPLevel(rawValue: word) else { throw .unknownHDCPLevel(word) }
        return level
    }
}

import ByteCoding
import FairPlay

/// The blocks of a CKC's plain payload (protocol, section 2.2).
struct LicenseReader {
    let payload: [UInt8]
    private let blocks: [TLLVBlock]

    init(parsing payload: [UInt8]) throws(CKCFault) {
        self.payload = payload
        blocks = try wrap(CKCFault.framing, try TLLVBlocks(parsing: payload)).blocks
    }

    /// Returns the value of a required block. Throws `missingTag` or `wrongSize`.
    func requiredValue(of tag: UInt64, size: Int) throws(CKCFault) -> Range<Int> {
        guard let value = try value(of: tag, size: size) else { throw .missingTag(tag) }
        return value
    }

    /// Returns the value of a block; nil if there is no such block. Throws `wrongSize`.
    func value(of tag: UInt64, size: Int) throws(CKCFault) -> Range<Int>? {
        guard let block = block(of: tag) else { return nil }
        guard block.value.count == size else { throw .wrongSize(tag: tag, size: block.value.count) }
        return block.value
    }

    func block(of tag: UInt64) -> TLLVBlock? {
        blocks.first { $0.tag == tag }
    }

    /// Checks the returned blocks and all unknown ones, and returns the remarks.
    ///
    /// Requested blocks must be returned with their values, in the order of the request; other padding is a remark. A
    /// block that was not requested must be a known one. An unknown block is refused and not skipped, because its
    /// meaning cannot be checked here.
    func checkEchoes(_ expected: [[UInt8]]) throws(CKCFault) -> [CKCRemark] {
        var remarks: [CKCRemark] = []
        var lastPosition = 0
        var echoed: Set<UInt64> = []
        for echo in expected {
            let tag = Bytes16(echo, at: 0).high
            guard let block = block(of: tag) else { throw .echoMissing(tag: tag) }
            if !payload[block.range].elementsEqual(echo) {
                guard payload[block.value].elementsEqual(try Self.value(ofBlock: echo)) else {
                    throw .echoAltered(tag: tag)
                }
                remarks.append(.echoPadding(tag: tag))
            }
            guard block.range.lowerBound >= lastPosition else { throw .echoOutOfOrder(tag: tag) }
            lastPosition = block.range.upperBound
            echoed.insert(tag)
        }
        for block in blocks where !echoed.contains(block.tag) && !TLLVTag.carriedByCKC.contains(block.tag) {
            guard block.tag == TLLVTag.unnamedInSamples else { throw .unexpectedTag(block.tag) }
            _ = try value(of: block.tag, size: 8)
            remarks.append(.sampleBlock)
        }
        return remarks
    }

    private static func value(ofBlock bytes: [UInt8]) throws(CKCFault) -> ArraySlice<UInt8> {
        let blocks = try wrap(CKCFault.framing, try TLLVBlocks(parsing: bytes)).blocks
        return bytes[blocks.first?.value ?? 0..<0]
    }

    /// Reads the block of 16 bytes: version 1, a reserved word, a number.
    func sessionKeyVersion() throws(CKCFault) -> SessionKeyVersion? {
        guard let number = try versionedNumber(of: TLLVTag.sessionKeyVersionUsed) else { return nil }
        guard let version = SessionKeyVersion(rawValue: number) else {
            throw .unknownValue(tag: TLLVTag.sessionKeyVersionUsed, number)
        }
        return version
    }

    /// Returns the number after a version 1 and a reserved word of 0; nil if there is no such block.
    func versionedNumber(of tag: UInt64) throws(CKCFault) -> UInt64? {
        guard let value = try value(of: tag, size: 16) else { return nil }
        let fields = Bytes16(payload, at: value.lowerBound)
        let version = fields.high >> 32
        guard version == 1 else { throw .unknownValue(tag: tag, version) }
        let reserved = UInt32(truncatingIfNeeded: fields.high)
        guard reserved == 0 else { throw .reservedWord(tag: tag, reserved) }
        return fields.low
    }
}

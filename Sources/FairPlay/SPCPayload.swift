import ByteCoding

/// The decrypted payload of an SPC: its blocks, and the positions of the required ones.
///
/// The initializer runs every check, even after a fault, and keeps the first fault. So a refusal takes as long as a
/// success.
struct SPCPayload: Sendable {
    let bytes: [UInt8]
    let blocks: [TLLVBlock]
    private(set) var fault: SPCRejection?

    private(set) var sessionKeyBlock: Range<Int>
    private(set) var integrity: Range<Int>
    private(set) var antiReplaySeed: Range<Int>
    private(set) var r2: Range<Int>
    private(set) var returnRequest: Range<Int>
    private(set) var assetID: Range<Int>
    private(set) var transactionID: Range<Int>
    private(set) var versionsSupported: Range<Int>
    private(set) var versionUsed: Range<Int>
    private(set) var optional = OptionalBlocks()

    // Sizes of values in bytes, and limits of counts (protocol, section 2.1).

    static let assetIDSizes = 2...1024
    static let r2Size = 21
    static let versionCountMaximum = 99
    static let returnRequestCountMaximum = 64

    /// Reads `bytes`, which were parsed into `blocks`. `servedVersions` are the allowed protocol versions.
    init(_ bytes: [UInt8], blocks: [TLLVBlock], servedVersions: Set<UInt32>) {
        self.bytes = bytes
        self.blocks = blocks
        let nowhere = 0..<0
        sessionKeyBlock = nowhere
        integrity = nowhere
        antiReplaySeed = nowhere
        r2 = nowhere
        returnRequest = nowhere
        assetID = nowhere
        transactionID = nowhere
        versionsSupported = nowhere
        versionUsed = nowhere
        locateBlocks()
        checkSizes()
        checkReturnRequest()
        checkProtocolVersion(served: servedVersions)
    }

    private mutating func locateBlocks() {
        var found: UInt16 = 0
        for block in blocks {
            switch block.tag {
            case TLLVTag.sessionKeyBlock: (sessionKeyBlock, found) = (block.value, found | 1 << 0)
            case TLLVTag.sessionKeyIntegrity: (integrity, found) = (block.value, found | 1 << 1)
            case TLLVTag.antiReplaySeed: (antiReplaySeed, found) = (block.value, found | 1 << 2)
            case TLLVTag.r2: (r2, found) = (block.value, found | 1 << 3)
            case TLLVTag.tagReturnRequest: (returnRequest, found) = (block.value, found | 1 << 4)
            case TLLVTag.assetID: (assetID, found) = (block.value, found | 1 << 5)
            case TLLVTag.transactionID: (transactionID, found) = (block.value, found | 1 << 6)
            case TLLVTag.protocolVersionsSupported: (versionsSupported, found) = (block.value, found | 1 << 7)
            case TLLVTag.protocolVersionUsed: (versionUsed, found) = (block.value, found | 1 << 8)
            default: optional.take(block)
            }
        }
        for (index, tag) in Self.requiredTags.enumerated() where found & 1 << UInt16(index) == 0 {
            note(.missingTag(tag))
        }
    }

    /// The tags of the required blocks, in the order of the bits in `locateBlocks`.
    static let requiredTags: [UInt64] = [
        TLLVTag.sessionKeyBlock, TLLVTag.sessionKeyIntegrity, TLLVTag.antiReplaySeed, TLLVTag.r2,
        TLLVTag.tagReturnRequest, TLLVTag.assetID, TLLVTag.transactionID, TLLVTag.protocolVersionsSupported,
        TLLVTag.protocolVersionUsed,
    ]

    private mutating func checkSizes() {
        check(TLLVTag.sessionKeyBlock, sessionKeyBlock, is: SessionKeys.encryptedSize...SessionKeys.encryptedSize)
        check(TLLVTag.sessionKeyIntegrity, integrity, is: 16...16)
        check(TLLVTag.antiReplaySeed, antiReplaySeed, is: 16...16)
        check(TLLVTag.r2, r2, is: Self.r2Size...Self.r2Size)
        check(TLLVTag.assetID, assetID, is: Self.assetIDSizes)
        check(TLLVTag.transactionID, transactionID, is: 8...8)
        check(TLLVTag.protocolVersionUsed, versionUsed, is: 4...4)
        check(TLLVTag.protocolVersionsSupported, versionsSupported, is: 4...4 * Self.versionCountMaximum)
        if versionsSupported.count % 4 != 0 {
            note(.wrongSize(tag: TLLVTag.protocolVersionsSupported, size: versionsSupported.count))
        }
        if let fault = optional.fault(in: bytes) { note(fault) }
    }

    private mutating func check(_ tag: UInt64, _ value: Range<Int>, is sizes: ClosedRange<Int>) {
        if !sizes.contains(value.count) { note(.wrongSize(tag: tag, size: value.count)) }
    }

    /// Checks the return request (protocol, section 2.3).
    ///
    /// It must consist of whole tags, must not be too long, and all its tags must be in the SPC. It must not name a tag
    /// that the server writes into the CKC, its own tag, or SK..R1.
    private mutating func checkReturnRequest() {
        guard returnRequest.count % 8 == 0 else {
            return note(.wrongSize(tag: TLLVTag.tagReturnRequest, size: returnRequest.count))
        }
        let count = returnRequest.count / 8
        guard count <= Self.returnRequestCountMaximum else { return note(.returnRequestTooLong(count: count)) }
        for index in 0..<count {
            let tag = returnedTag(at: index)
            if Self.tagsNeverReturned.contains(tag) || optional.namesKeyFormat(tag, in: bytes) {
                note(.returnRequestForbidden(tag))
            }
            if !blocks.contains(where: { $0.tag == tag }) { note(.returnRequestMissing(tag)) }
        }
    }

    private static let tagsNeverReturned =
        TLLVTag.carriedByCKC + [TLLVTag.tagReturnRequest, TLLVTag.sessionKeyBlock]

    private func returnedTag(at index: Int) -> UInt64 {
        bytes.readUInt64(at: returnRequest.lowerBound + index * 8)
    }

    /// The blocks that the CKC must echo, in the order of the request, each once.
    var returnedBlocks: [TLLVBlock] {
        var returned: [TLLVBlock] = []
        returned.reserveCapacity(returnRequest.count / 8)
        for index in 0..<returnRequest.count / 8 {
            let tag = returnedTag(at: index)
            guard !returned.contains(where: { $0.tag == tag }), let block = blocks.first(where: { $0.tag == tag })
            else {
                continue
            }
            returned.append(block)
        }
        return returned
    }

    /// Checks that the protocol version used is supported by the device and served (protocol, section 2.4).
    private mutating func checkProtocolVersion(served: Set<UInt32>) {
        guard versionUsed.count == 4, versionsSupported.count % 4 == 0 else { return }
        let used = bytes.readUInt32(at: versionUsed.lowerBound)
        var isSupported = false
        for offset in stride(from: versionsSupported.lowerBound, to: versionsSupported.upperBound, by: 4) {
            isSupported = isSupported || bytes.readUInt32(at: offset) == used
        }
        if !isSupported || !served.contains(used) { note(.protocolVersion(used: used)) }
    }

    private mutating func note(_ rejection: SPCRejection) {
        if fault == nil { fault = rejection }
    }
}

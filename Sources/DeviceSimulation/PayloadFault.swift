import ByteCoding
import FairPlay
import KeyCrypto

/// A fault of the encrypted part of an SPC: the wrapped key, the framing, or the required blocks.
///
/// The server gives the same answer for each fault that it finds after the certificate hash.
package enum PayloadFault: String, Sendable, CaseIterable {
    case wrappedKeyOf32Bytes
    case garbagePayload, wrongIntegrity, corruptedSessionKeyBlock

    // Framing.
    case duplicateTagDifferent, duplicateTagIdentical
    case valueLongerThanBlock, valueLengthHuge, valueLengthNearlyTwoGiB
    case blockOverrun, blockUnaligned, blockLengthNearlyTwoGiB, blockLengthHuge, blockBeyondEnd, tooManyBlocks

    // The return request.
    case returnRequestUnknownTag, returnRequestOddLength, returnRequestNamesItself, returnRequestNamesSessionKeyBlock
    case returnRequestNamesContentKey, returnRequestNamesR1, returnRequestNamesDuration, returnRequestNamesOfflineKey
    case returnRequestNamesHDCP, returnRequestNamesSecurityLevel, returnRequestNamesSessionKeyVersion
    case returnRequestTooLong

    // Required blocks.
    case assetIDEmpty, assetIDOneByte, assetIDTooLong
    case r2TooShort, r2TooLong, antiReplaySeedTooShort, antiReplaySeedTooLong
    case sessionKeyBlockTooShort, sessionKeyBlockTooLong, integrityTooShort, transactionIDTooShort
    case versionsSupportedEmpty, versionsSupportedOdd, versionsSupportedTooMany, versionUsedTooShort
    case versionUsedNine, versionUsedNotSupported
    case missingSessionKeyBlock, missingIntegrity, missingAntiReplaySeed, missingR2, missingReturnRequest
    case missingAssetID, missingTransactionID, missingVersionUsed, missingVersionsSupported

    // Optional blocks.
    case playbackStateTooShort, capabilitiesTooShort, streamingIndicatorTooShort
    case deviceIdentityTooShort, deviceInfoTooShort, denyListVersionTooShort, securityLevelReportReservedWord
    case videoSessionKeyBlockTooLong, videoR2TooLong
    case syncTooShort, syncVersion1ReservedWord
    case syncVersion2TooShort, syncVersion2WithoutFlags, syncVersion2TooManyRecords, syncVersion2RecordsBeyondValue
    case syncVersion2RecordCountHuge
}

extension PayloadFault {
    /// Applies the fault to a draft before it is encrypted.
    func apply(to draft: inout SPCDraft, from randomness: DeviceRandomness) throws(CryptoError) {
        switch self {
        case .wrappedKeyOf32Bytes: draft.wrappedMessage = draft.keys.wrapped.bytes.revealed() + [UInt8](0..<16)
        case .garbagePayload:
            let size = draft.blocks.reduce(0) { $0 + $1.bytes.count }
            draft.blocks = [RawBlock(bytes: try randomness.bytes(size))]
        case .wrongIntegrity: draft.edit(TLLVTag.sessionKeyIntegrity) { $0[16] ^= 1 }
        case .corruptedSessionKeyBlock: draft.edit(TLLVTag.sessionKeyBlock) { $0[16 + 111] ^= 1 }

        case .duplicateTagDifferent: try draft.append(DeviceBlock(TLLVTag.assetID, Array("other".utf8)), randomness)
        case .duplicateTagIdentical: draft.blocks += draft.blocks.filter { $0.tag == TLLVTag.assetID }
        case .valueLongerThanBlock: draft.editFirst { $0.setValueLength($0.blockLength + 1) }
        case .valueLengthHuge: draft.editFirst { $0.setValueLength(.max) }
        case .valueLengthNearlyTwoGiB: draft.editFirst { $0.setValueLength((1 << 31) - 2) }
        case .blockOverrun: draft.editLast { $0.setBlockLength($0.blockLength + 16) }
        case .blockUnaligned: draft.editFirst { $0.setBlockLength($0.blockLength + 1) }
        case .blockLengthNearlyTwoGiB: draft.editFirst { $0.setBlockLength(0x7FFF_FFF0) }
        case .blockLengthHuge: draft.editFirst { $0.setBlockLength(.max) }
        case .blockBeyondEnd:
            // A header at the end of the payload, whose block would begin after the end.
            draft.blocks.append(RawBlock(bytes: bigEndian(UInt64(1)) + bigEndian(UInt32(32)) + bigEndian(UInt32(0))))
        case .tooManyBlocks:
            for index in 0..<UInt64(TLLVBlocks.countMaximum) {
                try draft.append(DeviceBlock(0xFFFF_0000_0000_0000 | index, [], extraBlocks: 0), randomness)
            }

        case .returnRequestUnknownTag: try draft.askBack([0x0102_0304_0506_0708], randomness)
        case .returnRequestOddLength: try draft.replace(TLLVTag.tagReturnRequest, [1, 2, 3, 4, 5, 6, 7], randomness)
        case .returnRequestNamesItself: try draft.askBack([TLLVTag.tagReturnRequest], randomness)
        case .returnRequestNamesSessionKeyBlock: try draft.askBack([TLLVTag.sessionKeyBlock], randomness)
        case .returnRequestNamesContentKey: try draft.plantAndAskBack(TLLVTag.contentKey, randomness)
        case .returnRequestNamesR1: try draft.plantAndAskBack(TLLVTag.r1, randomness)
        case .returnRequestNamesDuration: try draft.plantAndAskBack(TLLVTag.contentKeyDuration, randomness)
        case .returnRequestNamesOfflineKey: try draft.plantAndAskBack(TLLVTag.offlineKey, randomness)
        case .returnRequestNamesHDCP: try draft.plantAndAskBack(TLLVTag.hdcpEnforcement, randomness)
        case .returnRequestNamesSecurityLevel: try draft.plantAndAskBack(TLLVTag.requiredSecurityLevel, randomness)
        case .returnRequestNamesSessionKeyVersion: try draft.plantAndAskBack(TLLVTag.sessionKeyVersionUsed, randomness)
        case .returnRequestTooLong: try draft.askBack([UInt64](repeating: TLLVTag.assetID, count: 65), randomness)

        case .assetIDEmpty: try draft.replace(TLLVTag.assetID, [], randomness)
        case .assetIDOneByte: try draft.replace(TLLVTag.assetID, [0x61], randomness)
        case .assetIDTooLong: try draft.replace(TLLVTag.assetID, [UInt8](repeating: 0x61, count: 1025), randomness)
        case .r2TooShort: try draft.resize(TLLVTag.r2, to: 20, randomness)
        case .r2TooLong: try draft.resize(TLLVTag.r2, to: 22, randomness)
        case .antiReplaySeedTooShort: try draft.resize(TLLVTag.antiReplaySeed, to: 15, randomness)
        case .antiReplaySeedTooLong: try draft.resize(TLLVTag.antiReplaySeed, to: 17, randomness)
        case .sessionKeyBlockTooShort: try draft.resize(TLLVTag.sessionKeyBlock, to: 96, randomness)
        case .sessionKeyBlockTooLong: try draft.resize(TLLVTag.sessionKeyBlock, to: 128, randomness)
        case .integrityTooShort: try draft.resize(TLLVTag.sessionKeyIntegrity, to: 15, randomness)
        case .transactionIDTooShort: try draft.resize(TLLVTag.transactionID, to: 7, randomness)
        case .versionsSupportedEmpty: try draft.replace(TLLVTag.protocolVersionsSupported, [], randomness)
        case .versionsSupportedOdd: try draft.replace(TLLVTag.protocolVersionsSupported, [0, 0, 0, 1, 0], randomness)
        case .versionsSupportedTooMany:
            try draft.replace(TLLVTag.protocolVersionsSupported, words([UInt32](repeating: 1, count: 100)), randomness)
        case .versionUsedTooShort: try draft.replace(TLLVTag.protocolVersionUsed, [0, 0, 1], randomness)
        case .versionUsedNine:
            try draft.replace(TLLVTag.protocolVersionUsed, words([9]), randomness)
            try draft.replace(TLLVTag.protocolVersionsSupported, words([1, 9]), randomness)
        case .versionUsedNotSupported: try draft.replace(TLLVTag.protocolVersionsSupported, words([2]), randomness)
        case .missingSessionKeyBlock: draft.remove(TLLVTag.sessionKeyBlock)
        case .missingIntegrity: draft.remove(TLLVTag.sessionKeyIntegrity)
        case .missingAntiReplaySeed: draft.remove(TLLVTag.antiReplaySeed)
        case .missingR2: draft.remove(TLLVTag.r2)
        case .missingReturnRequest: draft.remove(TLLVTag.tagReturnRequest)
        case .missingAssetID: try draft.remove(returned: TLLVTag.assetID, randomness)
        case .missingTransactionID: try draft.remove(returned: TLLVTag.transactionID, randomness)
        case .missingVersionUsed: draft.remove(TLLVTag.protocolVersionUsed)
        case .missingVersionsSupported: draft.remove(TLLVTag.protocolVersionsSupported)

        case .playbackStateTooShort: try draft.replace(TLLVTag.mediaPlaybackState, zeros(15), randomness)
        case .capabilitiesTooShort: try draft.replace(TLLVTag.capabilities, zeros(15), randomness)
        case .streamingIndicatorTooShort: try draft.replace(TLLVTag.streamingIndicator, zeros(7), randomness)
        case .deviceIdentityTooShort: try draft.replace(TLLVTag.deviceIdentity, zeros(35), randomness)
        case .deviceInfoTooShort: try draft.replace(TLLVTag.deviceInfo, zeros(15), randomness)
        case .denyListVersionTooShort: try draft.replace(TLLVTag.kextDenyListVersion, zeros(3), randomness)
        case .securityLevelReportReservedWord:
            try draft.replace(TLLVTag.securityLevelReport, words([1, 1, 0, 0, 0]), randomness)
        case .videoSessionKeyBlockTooLong: try draft.replace(TLLVTag.sessionKeyBlockVideo, zeros(257), randomness)
        case .videoR2TooLong: try draft.replace(TLLVTag.r2Video, zeros(65), randomness)

        case .syncTooShort: try draft.replace(TLLVTag.sync, words([1, 0]) + zeros(19), randomness)
        case .syncVersion1ReservedWord: try draft.replace(TLLVTag.sync, words([1, 1]) + zeros(20), randomness)
        case .syncVersion2TooShort: try draft.replace(TLLVTag.sync, words([2, 0]) + zeros(39), randomness)
        case .syncVersion2WithoutFlags: try draft.replaceSync(flags: [], recordCount: 0, randomness)
        case .syncVersion2TooManyRecords: try draft.replaceSync(recordCount: 251, randomness)
        case .syncVersion2RecordsBeyondValue: try draft.replaceSync(recordCount: 3, missing: 1, randomness)
        case .syncVersion2RecordCountHuge: try draft.replaceSync(recordCount: 0, declared: .max, randomness)
        }
    }
}

private func zeros(_ count: Int) -> [UInt8] {
    [UInt8](repeating: 0, count: count)
}

private func words(_ words: [UInt32]) -> [UInt8] {
    words.flatMap { bigEndian($0) }
}

extension SPCDraft {
    fileprivate mutating func edit(_ tag: UInt64, _ change: (inout [UInt8]) -> Void) {
        for index in blocks.indices where blocks[index].tag == tag { change(&blocks[index].bytes) }
    }

    fileprivate mutating func editFirst(_ change: (inout RawBlock) -> Void) {
        change(&blocks[0])
    }

    fileprivate mutating func editLast(_ change: (inout RawBlock) -> Void) {
        change(&blocks[blocks.count - 1])
    }

    fileprivate mutating func append(_ block: DeviceBlock, _ randomness: DeviceRandomness) throws(CryptoError) {
        blocks.append(try RawBlock(block, from: randomness))
    }

    fileprivate mutating func remove(_ tag: UInt64) {
        blocks.removeAll { $0.tag == tag }
    }

    /// Removes a block and its tag in the return request, so that only the missing block is a fault.
    fileprivate mutating func remove(returned tag: UInt64, _ randomness: DeviceRandomness) throws(CryptoError) {
        remove(tag)
        try askBack([], randomness)
    }

    fileprivate mutating func replace(_ tag: UInt64, _ value: [UInt8], _ randomness: DeviceRandomness)
        throws(CryptoError)
    {
        let place = blocks.firstIndex { $0.tag == tag } ?? blocks.endIndex
        remove(tag)
        blocks.insert(try RawBlock(DeviceBlock(tag, value), from: randomness), at: min(place, blocks.count))
    }

    fileprivate mutating func resize(_ tag: UInt64, to size: Int, _ randomness: DeviceRandomness) throws(CryptoError) {
        guard let block = blocks.first(where: { $0.tag == tag }) else { return }
        try replace(tag, Array(block.bytes.dropFirst(16).prefix(size)), randomness)
    }

    fileprivate mutating func askBack(_ tags: [UInt64], _ randomness: DeviceRandomness) throws(CryptoError) {
        try replace(TLLVTag.tagReturnRequest, tags.flatMap { bigEndian($0) }, randomness)
    }

    /// Adds a block with a tag of CKCs and requests its return, so that only the return request is a fault.
    fileprivate mutating func plantAndAskBack(_ tag: UInt64, _ randomness: DeviceRandomness) throws(CryptoError) {
        try append(DeviceBlock(tag, [1, 2, 3]), randomness)
        try askBack([tag], randomness)
    }

    /// Replaces the sync block by one of version 2 with `recordCount` records. It may lack its last bytes, or declare
    /// another count.
    fileprivate mutating func replaceSync(
        flags: SyncFlags = .report, recordCount: Int, missing missingSize: Int = 0, declared: UInt32? = nil,
        _ randomness: DeviceRandomness
    ) throws(CryptoError) {
        let report = SyncReportVersion2(
            challenge: 1, flags: flags, titleID: .zero, streamIDs: [Bytes16](repeating: .zero, count: recordCount))
        var value = SyncReport(.version2(report), remaining: .unlimited).blockValue
        value.removeLast(missingSize)
        if let declared { value.replaceSubrange(44..<48, with: bigEndian(declared)) }
        try replace(TLLVTag.sync, value, randomness)
    }
}

extension RawBlock {
    fileprivate var blockLength: UInt32 {
        bytes[8..<12].reduce(0) { $0 << 8 | UInt32($1) }
    }

    fileprivate mutating func setBlockLength(_ length: UInt32) {
        bytes.replaceSubrange(8..<12, with: bigEndian(length))
    }

    fileprivate mutating func setValueLength(_ length: UInt32) {
        bytes.replaceSubrange(12..<16, with: bigEndian(length))
    }
}

import ByteCoding

/// Where the optional blocks lie that the server reads, and what is wrong with them.
struct OptionalBlocks: Sendable {
    private(set) var playbackState: Range<Int>?
    private(set) var capabilities: Range<Int>?
    private(set) var streamingIndicator: Range<Int>?
    private(set) var deviceIdentity: Range<Int>?
    private(set) var deviceInfo: Range<Int>?
    private(set) var denyListVersion: Range<Int>?
    private(set) var securityLevelReport: Range<Int>?
    private(set) var keyFormats: Range<Int>?
    private(set) var virtualMachine: Range<Int>?
    private(set) var sync: Range<Int>?
    private(set) var videoSessionKeyBlock: Range<Int>?
    private(set) var videoR2: Range<Int>?

    static let keyFormatCountMaximum = 64
    static let videoSessionKeyBlockSizeMaximum = 256
    static let videoR2SizeMaximum = 64

    /// Notes the block if it is one of these.
    mutating func take(_ block: TLLVBlock) {
        switch block.tag {
        case TLLVTag.mediaPlaybackState: playbackState = block.value
        case TLLVTag.capabilities: capabilities = block.value
        case TLLVTag.streamingIndicator: streamingIndicator = block.value
        case TLLVTag.deviceIdentity: deviceIdentity = block.value
        case TLLVTag.deviceInfo: deviceInfo = block.value
        case TLLVTag.kextDenyListVersion: denyListVersion = block.value
        case TLLVTag.securityLevelReport: securityLevelReport = block.value
        case TLLVTag.supportedKeyFormats: keyFormats = block.value
        case TLLVTag.virtualMachineInfo: virtualMachine = block.value
        case TLLVTag.sync: sync = block.value
        case TLLVTag.sessionKeyBlockVideo: videoSessionKeyBlock = block.value
        case TLLVTag.r2Video: videoR2 = block.value
        default: break
        }
    }

    /// The first thing that is wrong: sizes (at least the listed one; more is passed over) and reserved words.
    func fault(in payload: [UInt8]) -> SPCRejection? {
        let sizes: [(UInt64, Range<Int>?, ClosedRange<Int>)] = [
            (TLLVTag.mediaPlaybackState, playbackState, MediaPlaybackState.size...Int.max),
            (TLLVTag.capabilities, capabilities, Capabilities.size...Int.max),
            (TLLVTag.streamingIndicator, streamingIndicator, 8...Int.max),
            (TLLVTag.deviceIdentity, deviceIdentity, DeviceIdentity.size...Int.max),
            (TLLVTag.deviceInfo, deviceInfo, DeviceInfo.size...Int.max),
            (TLLVTag.kextDenyListVersion, denyListVersion, 4...Int.max),
            (TLLVTag.securityLevelReport, securityLevelReport, SecurityLevelReport.size...Int.max),
            (TLLVTag.supportedKeyFormats, keyFormats, 12...Int.max),
            (TLLVTag.virtualMachineInfo, virtualMachine, VirtualMachineInfo.size...Int.max),
            (TLLVTag.sessionKeyBlockVideo, videoSessionKeyBlock, 0...Self.videoSessionKeyBlockSizeMaximum),
            (TLLVTag.r2Video, videoR2, 0...Self.videoR2SizeMaximum),
        ]
        for case (let tag, let value?, let legal) in sizes where !legal.contains(value.count) {
            return .wrongSize(tag: tag, size: value.count)
        }
        return securityLevelReportFault(in: payload) ?? keyFormatsFault(in: payload) ?? syncFault(in: payload)
    }

    private func securityLevelReportFault(in payload: [UInt8]) -> SPCRejection? {
        guard let value = securityLevelReport, value.count != SecurityLevelReport.encryptedSize,
            payload.readUInt32(at: value.lowerBound) == SecurityLevelReport.version,
            payload.readUInt32(at: value.lowerBound + 4) != 0
        else { return nil }
        return .reservedWord(tag: TLLVTag.securityLevelReport)
    }

    private func keyFormatsFault(in payload: [UInt8]) -> SPCRejection? {
        guard let value = keyFormats else { return nil }
        let count = Int(payload.readUInt32(at: value.lowerBound + 8))
        guard count <= Self.keyFormatCountMaximum, 12 + count * 8 <= value.count else {
            return .wrongSize(tag: TLLVTag.supportedKeyFormats, size: value.count)
        }
        return nil
    }

    /// Whether a module may give the content key block this tag. False where the list of formats is at fault.
    func namesKeyFormat(_ tag: UInt64, in payload: [UInt8]) -> Bool {
        guard let value = keyFormats, value.count >= 12, keyFormatsFault(in: payload) == nil else { return false }
        let count = Int(payload.readUInt32(at: value.lowerBound + 8))
        return (0..<count).contains { payload.readUInt64(at: value.lowerBound + 12 + $0 * 8) == tag }
    }

    private func syncFault(in payload: [UInt8]) -> SPCRejection? {
        guard let value = sync else { return nil }
        do throws(SPCRejection) {
            _ = try SyncBlock.parse(payload, in: value)
            return nil
        } catch {
            return error
        }
    }
}

extension [UInt8] {
    /// A big-endian word; the checks that it is there have run before, and `extracting` traps on a mistake of ours.
    func readUInt32(at offset: Int) -> UInt32 {
        let field = unsafe span.bytes.extracting(offset..<offset + 4)
        // `extracting` has shown that the bytes are there.
        return UInt32(bigEndian: unsafe field.unsafeLoadUnaligned(as: UInt32.self))
    }

    /// Two big-endian words as one, under the same conditions.
    func readUInt64(at offset: Int) -> UInt64 {
        let field = unsafe span.bytes.extracting(offset..<offset + 8)
        // `extracting` has shown that the bytes are there.
        return UInt64(bigEndian: unsafe field.unsafeLoadUnaligned(as: UInt64.self))
    }
}

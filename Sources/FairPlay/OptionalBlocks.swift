import ByteCoding

/// The positions of the optional blocks that the server reads, and their faults.
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

    /// Notes the position of a block if the server reads it.
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

    /// Returns the first fault: a wrong size or a reserved word that is not zero; nil if there is no fault.
    ///
    /// Blocks of device facts may be longer than their layout; the additional bytes are ignored. Newer systems may send
    /// other versions and layouts of blocks that have a version. Such a block is ignored, because otherwise every
    /// device with that system would be refused. Only a sync block of a known version must be valid, because the
    /// answer depends on it.
    func fault(in payload: [UInt8]) -> SPCRejection? {
        let sizes: [(UInt64, Range<Int>?, ClosedRange<Int>)] = [
            (TLLVTag.mediaPlaybackState, playbackState, MediaPlaybackState.size...Int.max),
            (TLLVTag.capabilities, capabilities, Capabilities.size...Int.max),
            (TLLVTag.streamingIndicator, streamingIndicator, 8...Int.max),
            (TLLVTag.deviceIdentity, deviceIdentity, DeviceIdentity.size...Int.max),
            (TLLVTag.deviceInfo, deviceInfo, DeviceInfo.size...Int.max),
            (TLLVTag.kextDenyListVersion, denyListVersion, 4...Int.max),
            (TLLVTag.sessionKeyBlockVideo, videoSessionKeyBlock, 0...Self.videoSessionKeyBlockSizeMaximum),
            (TLLVTag.r2Video, videoR2, 0...Self.videoR2SizeMaximum),
        ]
        for case (let tag, let value?, let legal) in sizes where !legal.contains(value.count) {
            return .wrongSize(tag: tag, size: value.count)
        }
        return securityLevelReportFault(in: payload) ?? syncFault(in: payload)
    }

    /// Returns the position of a report of version 1; nil for the encrypted form and all other layouts.
    func readableSecurityLevelReport(in payload: [UInt8]) -> Range<Int>? {
        guard let value = securityLevelReport, value.count >= SecurityLevelReport.size,
            value.count != SecurityLevelReport.encryptedSize,
            payload.readUInt32(at: value.lowerBound) == SecurityLevelReport.version
        else { return nil }
        return value
    }

    private func securityLevelReportFault(in payload: [UInt8]) -> SPCRejection? {
        guard let value = readableSecurityLevelReport(in: payload), payload.readUInt32(at: value.lowerBound + 4) != 0
        else { return nil }
        return .reservedWord(tag: TLLVTag.securityLevelReport)
    }

    /// Returns the number of formats in a list of version 1; 0 for all other layouts, and for a list that does not fit
    /// into its block.
    ///
    ///     offset  size  field
    ///          0     4  version, 1
    ///          4     4  reserved
    ///          8     4  number of formats n, at most 64
    ///         12   8 n  formats
    func readableKeyFormatCount(in payload: [UInt8]) -> Int {
        guard let value = keyFormats, value.count >= 12, payload.readUInt32(at: value.lowerBound) == 1 else { return 0 }
        let count = Int(payload.readUInt32(at: value.lowerBound + 8))
        return count <= Self.keyFormatCountMaximum && 12 + count * 8 <= value.count ? count : 0
    }

    /// Returns one format. `index` is below `readableKeyFormatCount`.
    func keyFormat(at index: Int, in payload: [UInt8]) -> UInt64 {
        keyFormats.map { payload.readUInt64(at: $0.lowerBound + 12 + index * 8) } ?? 0
    }

    /// Returns the position of virtual machine info of version 0 or 1; nil for all other layouts.
    func readableVirtualMachineInfo(in payload: [UInt8]) -> Range<Int>? {
        guard let value = virtualMachine, value.count >= VirtualMachineInfo.size,
            VirtualMachineInfo.versions.contains(payload.readUInt32(at: value.lowerBound))
        else { return nil }
        return value
    }

    /// Whether the virtual machine info has a form that this server cannot read.
    ///
    /// Version 0 means "not a virtual machine" in every layout, so it is always readable.
    func hasUnreadableVirtualMachineInfo(in payload: [UInt8]) -> Bool {
        guard let value = virtualMachine, readableVirtualMachineInfo(in: payload) == nil else { return false }
        return value.count < 4 || payload.readUInt32(at: value.lowerBound) != 0
    }

    /// Whether the device lists this tag as a key format, so that a module can use it for the content key block. False
    /// if the list cannot be read.
    func namesKeyFormat(_ tag: UInt64, in payload: [UInt8]) -> Bool {
        (0..<readableKeyFormatCount(in: payload)).contains { keyFormat(at: $0, in: payload) == tag }
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
    /// Reads a big-endian word of 4 bytes.
    ///
    /// The caller has checked that the bytes exist. If it has not, `extracting` traps.
    func readUInt32(at offset: Int) -> UInt32 {
        let field = unsafe span.bytes.extracting(offset..<offset + 4)
        // Safe: `extracting` has checked the bounds.
        return UInt32(bigEndian: unsafe field.unsafeLoadUnaligned(as: UInt32.self))
    }

    /// Reads a big-endian word of 8 bytes, under the same conditions as `readUInt32`.
    func readUInt64(at offset: Int) -> UInt64 {
        let field = unsafe span.bytes.extracting(offset..<offset + 8)
        // Safe: `extracting` has checked the bounds.
        return UInt64(bigEndian: unsafe field.unsafeLoadUnaligned(as: UInt64.self))
    }
}

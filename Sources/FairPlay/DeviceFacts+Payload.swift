import ByteCoding

extension DeviceFacts {
    /// Reads the facts in a payload that was checked before.
    init(_ payload: SPCPayload) {
        let bytes = payload.bytes
        let blocks = payload.optional
        capabilities =
            blocks.capabilities.map { Capabilities(rawValue: bytes.readUInt64(at: $0.lowerBound + 8)) } ?? []
        statesCapabilities = blocks.capabilities != nil
        let report = blocks.readableSecurityLevelReport(in: bytes).map { SecurityLevelReport(bytes, at: $0.lowerBound) }
        securityReport = report
        identity = blocks.deviceIdentity.map { DeviceIdentity(bytes, at: $0.lowerBound) }
        info = blocks.deviceInfo.map { DeviceInfo(bytes, at: $0.lowerBound) }
        denyListVersion =
            blocks.denyListVersion.map { bytes.readUInt32(at: $0.lowerBound) } ?? report?.denyListVersion
        virtualMachine =
            blocks.readableVirtualMachineInfo(in: bytes).map { VirtualMachineInfo(bytes, at: $0.lowerBound) }
        hasUnreadableVirtualMachineInfo = blocks.hasUnreadableVirtualMachineInfo(in: bytes)
        output = PlaybackOutput(
            indicator: blocks.streamingIndicator.map { bytes.readUInt64(at: $0.lowerBound) })
        playbackState = blocks.playbackState.map { MediaPlaybackState(bytes, at: $0.lowerBound) }
        protocolVersionUsed = bytes.readUInt32(at: payload.versionUsed.lowerBound)
        protocolVersionsSupported = stride(
            from: payload.versionsSupported.lowerBound, to: payload.versionsSupported.upperBound, by: 4
        ).map { bytes.readUInt32(at: $0) }
        let formats = (0..<blocks.readableKeyFormatCount(in: bytes)).map { blocks.keyFormat(at: $0, in: bytes) }
        keyFormats = formats.isEmpty ? [Self.keyFormatDefault] : formats
    }
}

extension SecurityLevelReport {
    fileprivate init(_ bytes: [UInt8], at offset: Int) {
        self.init(
            rawLevel: bytes.readUInt64(at: offset + 8), denyListVersion: bytes.readUInt32(at: offset + 16))
    }
}

extension DeviceIdentity {
    fileprivate init(_ bytes: [UInt8], at offset: Int) {
        version = bytes.readUInt32(at: offset)
        deviceClass = DeviceClass(bytes.readUInt32(at: offset + 4))
        vendorHash = bytes.readUInt64(at: offset + 8)
        productHash = bytes.readUInt64(at: offset + 16)
        systemFairPlayVersion = bytes.readUInt32(at: offset + 24)
        trustedFairPlayVersion = bytes.readUInt32(at: offset + 28)
        operatingSystem = OperatingSystemVersion(rawValue: bytes.readUInt32(at: offset + 32))
    }
}

extension DeviceInfo {
    fileprivate init(_ bytes: [UInt8], at offset: Int) {
        rawType = bytes.readUInt64(at: offset)
        operatingSystem = OperatingSystemVersion(rawValue: bytes.readUInt32(at: offset + 8))
    }
}

extension VirtualMachineInfo {
    fileprivate init(_ bytes: [UInt8], at offset: Int) {
        version = bytes.readUInt32(at: offset)
        host = Side(bytes, at: offset + 4)
        guest = Side(bytes, at: offset + 16)
    }
}

extension VirtualMachineInfo.Side {
    fileprivate init(_ bytes: [UInt8], at offset: Int) {
        deviceClass = DeviceClass(bytes.readUInt32(at: offset))
        operatingSystem = OperatingSystemVersion(rawValue: bytes.readUInt32(at: offset + 4))
        protocolVersion = bytes.readUInt32(at: offset + 8)
    }
}

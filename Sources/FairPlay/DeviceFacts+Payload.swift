import ByteCoding

extension DeviceFacts {
    /// Reads what a payload says, whose checks have run.
    init(_ payload: SPCPayload) {
        let bytes = payload.bytes
        let blocks = payload.optional
        hasCapabilities = blocks.capabilities != nil
        capabilities =
            blocks.capabilities.map { Capabilities(rawValue: bytes.readUInt64(at: $0.lowerBound + 8)) } ?? []
        let report = blocks.securityLevelReport.flatMap { SecurityLevelReport(bytes, in: $0) }
        securityReport = report
        identity = blocks.deviceIdentity.map { DeviceIdentity(bytes, at: $0.lowerBound) }
        info = blocks.deviceInfo.map { DeviceInfo(bytes, at: $0.lowerBound) }
        denyListVersion =
            blocks.denyListVersion.map { bytes.readUInt32(at: $0.lowerBound) } ?? report?.denyListVersion
        virtualMachine = blocks.virtualMachine.map { VirtualMachineInfo(bytes, at: $0.lowerBound) }
        output = PlaybackOutput(
            indicator: blocks.streamingIndicator.map { bytes.readUInt64(at: $0.lowerBound) })
        playbackState = blocks.playbackState.map { MediaPlaybackState(bytes, at: $0.lowerBound) }
        protocolVersionUsed = bytes.readUInt32(at: payload.versionUsed.lowerBound)
        protocolVersionsSupported = stride(
            from: payload.versionsSupported.lowerBound, to: payload.versionsSupported.upperBound, by: 4
        ).map { bytes.readUInt32(at: $0) }
        keyFormats = Self.keyFormats(bytes, in: blocks.keyFormats)
    }

    private static func keyFormats(_ bytes: [UInt8], in value: Range<Int>?) -> [UInt64] {
        guard let value else { return [keyFormatDefault] }
        let count = Int(bytes.readUInt32(at: value.lowerBound + 8))
        let formats = (0..<count).map { bytes.readUInt64(at: value.lowerBound + 12 + $0 * 8) }
        return formats.isEmpty ? [keyFormatDefault] : formats
    }
}

extension SecurityLevelReport {
    /// Nil for the encrypted form and for another version.
    fileprivate init?(_ bytes: [UInt8], in value: Range<Int>) {
        let start = value.lowerBound
        guard value.count != Self.encryptedSize, bytes.readUInt32(at: start) == Self.version else { return nil }
        self.init(
            rawLevel: bytes.readUInt64(at: start + 8), denyListVersion: bytes.readUInt32(at: start + 16))
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

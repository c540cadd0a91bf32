import ByteCoding
import FairPlay
import KeyCrypto

extension DeviceOptions {
    /// The optional blocks that these options ask for, those with random tags included; the ones for the video session
    /// key are made with it.
    func optionalBlocks(using crypto: CryptoContext) throws(CryptoError) -> [DeviceBlock] {
        let values: [(UInt64, [UInt8]?)] = [
            (TLLVTag.streamingIndicator, try streamingIndicatorValue(using: crypto)),
            (TLLVTag.mediaPlaybackState, playbackState?.blockValue),
            (TLLVTag.capabilities, capabilities?.blockValue),
            (TLLVTag.deviceIdentity, deviceIdentity?.blockValue),
            (TLLVTag.deviceInfo, deviceInfo?.blockValue),
            (TLLVTag.kextDenyListVersion, denyListVersion.map { bigEndian($0) }),
            (TLLVTag.securityLevelReport, try securityLevelValue(using: crypto)),
            (TLLVTag.supportedKeyFormats, keyFormats.map { keyFormatsValue($0) }),
            (TLLVTag.virtualMachineInfo, virtualMachine?.blockValue),
            (TLLVTag.sync, sync?.blockValue),
        ]
        let known = values.compactMap { tag, value in value.map { DeviceBlock(tag, $0) } }
        return otherBlocks + known + (try unknownBlocks(using: crypto))
    }

    private func streamingIndicatorValue(using crypto: CryptoContext) throws(CryptoError) -> [UInt8]? {
        switch streamingIndicator {
        case .none: nil
        case .local: bigEndian(try crypto.randomBytes16().high)
        case .airPlay: bigEndian(UInt64(0xabb0_256a_3184_3974))
        case .avAdapter: bigEndian(UInt64(0x5f9c_8132_b59f_2fde))
        case .value(let value): bigEndian(value)
        }
    }

    private func securityLevelValue(using crypto: CryptoContext) throws(CryptoError) -> [UInt8]? {
        switch securityLevel {
        case .none: nil
        case .report(let report): report.blockValue
        case .encrypted: Array(try crypto.randomBytes(count: 32))
        }
    }

    private func unknownBlocks(using crypto: CryptoContext) throws(CryptoError) -> [DeviceBlock] {
        var blocks: [DeviceBlock] = []
        for _ in 0..<unknownBlockCount {
            let tag = try crypto.randomBytes16().high
            let size = try crypto.randomIndex(below: 64)
            blocks.append(DeviceBlock(tag, Array(try crypto.randomBytes(count: size))))
        }
        return blocks
    }
}

import ByteCoding
package import FairPlay
import KeyCrypto

/// The content of a simulated device's SPC, besides the required blocks. Sizes are in bytes.
package struct DeviceOptions: Sendable {
    package var version: SPCVersion
    /// 2 to 1,024 bytes in a legal SPC.
    package var assetID: [UInt8]
    /// HU; random if it is nil.
    package var deviceID: DeviceID?
    package var transactionID: UInt64?
    package var protocolVersionsSupported: [UInt32] = [1]
    package var protocolVersionUsed: UInt32 = 1
    package var streamingIndicator: StreamingIndicator?
    package var playbackState: MediaPlaybackState?
    package var capabilities: Capabilities?
    package var deviceIdentity: DeviceIdentity?
    package var deviceInfo: DeviceInfo?
    package var denyListVersion: UInt32?
    package var securityLevel: SecurityLevelStatement?
    /// At most 64 in a legal SPC.
    package var keyFormats: [UInt64]?
    package var virtualMachine: VirtualMachineInfo?
    package var sync: SyncStatement?
    package var video: VideoStatement?
    /// Further blocks, which are written unchanged.
    package var otherBlocks: [DeviceBlock] = []
    /// The number of additional blocks with random tags and values.
    package var unknownBlockCount = 4
    /// The tags of the return request; nil for asset id, transaction id and all unknown blocks.
    package var returnRequest: [UInt64]?
    /// Replaces the hash of the certificate for which the key is wrapped. It may be the hash of the bundle of both
    /// certificates or of the other certificate.
    package var certificateHash: CertificateHash?
    package var shufflesBlocks = true

    package init(version: SPCVersion, assetID: [UInt8]) {
        self.version = version
        self.assetID = assetID
    }
}

/// The device's statement of where the pictures go.
package enum StreamingIndicator: Sendable, Equatable {
    /// The device's own screen: a different random value in each SPC, as with real devices.
    case local
    case airPlay
    case avAdapter
    case value(UInt64)
}

/// The device's statement of its security level.
package enum SecurityLevelStatement: Sendable, Equatable {
    case report(SecurityLevelReport)
    /// The form of 32 bytes, which a server cannot read.
    case encrypted
}

/// The content of the sync block.
package enum SyncStatement: Sendable, Equatable {
    /// No report: the 28 zero bytes of ordinary SPCs.
    case nothing
    case report(SyncReport)
}

/// The blocks for a second session key, which only external modules open.
package enum VideoStatement: Sendable, Equatable {
    /// A separate session key and R1 in the layout of SK..R1. The content of real devices' blocks is not known, so this
    /// works only with modules of this project.
    case sealed
    /// Meaningless bytes. A module that claims to have used them has in fact used the other session key and R1.
    case opaque(LadderCall.VideoBlocks)
}

/// One TLLV block of a payload under construction.
package struct DeviceBlock: Sendable, Equatable {
    package var tag: UInt64
    package var value: [UInt8]
    /// The number of random 16-byte blocks after the padding of the value.
    package var extraBlocks: Int

    package init(_ tag: UInt64, _ value: [UInt8], extraBlocks: Int = 1) {
        self.tag = tag
        self.value = value
        self.extraBlocks = extraBlocks
    }
}

extension DeviceOptions {
    /// Returns the optional blocks of these options, including those with random tags. The blocks of the video session
    /// key are made with that key.
    func optionalBlocks(from randomness: DeviceRandomness) throws(CryptoError) -> [DeviceBlock] {
        let values: [(UInt64, [UInt8]?)] = [
            (TLLVTag.streamingIndicator, try streamingIndicatorValue(from: randomness)),
            (TLLVTag.mediaPlaybackState, playbackState?.blockValue),
            (TLLVTag.capabilities, capabilities?.blockValue),
            (TLLVTag.deviceIdentity, deviceIdentity?.blockValue),
            (TLLVTag.deviceInfo, deviceInfo?.blockValue),
            (TLLVTag.kextDenyListVersion, denyListVersion.map { bigEndian($0) }),
            (TLLVTag.securityLevelReport, try securityLevelValue(from: randomness)),
            (TLLVTag.supportedKeyFormats, keyFormats.map { keyFormatsValue($0) }),
            (TLLVTag.virtualMachineInfo, virtualMachine?.blockValue),
            (TLLVTag.sync, sync?.blockValue),
        ]
        let known = values.compactMap { tag, value in value.map { DeviceBlock(tag, $0) } }
        return otherBlocks + known + (try unknownBlocks(from: randomness))
    }

    private func streamingIndicatorValue(from randomness: DeviceRandomness) throws(CryptoError) -> [UInt8]? {
        switch streamingIndicator {
        case .none: nil
        case .local: bigEndian(try randomness.bytes16().high)
        case .airPlay: bigEndian(UInt64(0xabb0_256a_3184_3974))
        case .avAdapter: bigEndian(UInt64(0x5f9c_8132_b59f_2fde))
        case .value(let value): bigEndian(value)
        }
    }

    private func securityLevelValue(from randomness: DeviceRandomness) throws(CryptoError) -> [UInt8]? {
        switch securityLevel {
        case .none: nil
        case .report(let report): report.blockValue
        case .encrypted: try randomness.bytes(32)
        }
    }

    private func unknownBlocks(from randomness: DeviceRandomness) throws(CryptoError) -> [DeviceBlock] {
        var blocks: [DeviceBlock] = []
        for _ in 0..<unknownBlockCount {
            let tag = try randomness.bytes16().high
            let size = try randomness.index(below: 64)
            blocks.append(DeviceBlock(tag, try randomness.bytes(size)))
        }
        return blocks
    }
}

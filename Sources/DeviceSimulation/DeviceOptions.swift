import ByteCoding
package import FairPlay
import KeyCrypto

/// What a simulated device puts into an SPC beside the required blocks. Sizes in bytes.
package struct DeviceOptions: Sendable {
    package var version: SPCVersion
    /// 2 to 1,024 bytes in a legal SPC.
    package var assetID: [UInt8]
    /// HU; random when nil.
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
    /// Further blocks as they come.
    package var otherBlocks: [DeviceBlock] = []
    /// How many blocks with random tags and values go in beside them.
    package var unknownBlockCount = 4
    /// The tags to be asked back; nil for asset id, transaction id and all unknown blocks.
    package var returnRequest: [UInt64]?
    /// Names the bundle of both certificates, or the other one, instead of the one that the key is wrapped for.
    package var certificateHash: CertificateHash?
    package var shufflesBlocks = true

    package init(version: SPCVersion, assetID: [UInt8]) {
        self.version = version
        self.assetID = assetID
    }
}

/// What a device says of where the pictures go.
package enum StreamingIndicator: Sendable, Equatable {
    /// Its own screen: another random value in each SPC, as real devices send.
    case local
    case airPlay
    case avAdapter
    case value(UInt64)
}

/// What a device says of its security level.
package enum SecurityLevelStatement: Sendable, Equatable {
    case report(SecurityLevelReport)
    /// The form of 32 bytes that a server cannot read.
    case encrypted
}

/// What the sync block says.
package enum SyncStatement: Sendable, Equatable {
    /// Nothing: the 28 zero bytes of ordinary SPCs.
    case nothing
    case report(SyncReport)
}

/// The blocks for a second session key, which only external modules open.
package enum VideoStatement: Sendable, Equatable {
    /// A session key and R1 of their own, in the layout of SK..R1. What real devices put there is not known: this is
    /// for modules of our own.
    case sealed
    /// Bytes without a meaning. A module that nonetheless says that it used them has used the other session key and R1.
    case opaque(LadderCall.VideoBlocks)
}

/// One TLLV block of a payload that is being made.
package struct DeviceBlock: Sendable, Equatable {
    package var tag: UInt64
    package var value: [UInt8]
    /// Blocks of 16 random bytes behind the value's own filling.
    package var extraBlocks: Int

    package init(_ tag: UInt64, _ value: [UInt8], extraBlocks: Int = 1) {
        self.tag = tag
        self.value = value
        self.extraBlocks = extraBlocks
    }
}

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

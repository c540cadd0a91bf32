package import FairPlay

/// What a simulated device puts into an SPC beside the required blocks. Sizes in bytes, values as on the wire.
package struct DeviceOptions: Sendable {
    package var version: SPCVersion
    /// 2 to 200 bytes in a legal SPC.
    package var assetID: [UInt8]
    /// HU, 20 bytes; random when nil.
    package var deviceID: [UInt8]?
    package var transactionID: UInt64?
    package var protocolVersionsSupported: [UInt32] = [1]
    package var protocolVersionUsed: UInt32 = 1
    package var streamingIndicator: UInt64?
    package var playbackState: MediaPlaybackState?
    package var capabilities: Capabilities?
    /// The values of further known blocks, as bytes of protocol section 2.1.
    package var deviceIdentity: [UInt8]?
    package var deviceInfo: [UInt8]?
    package var kextDenyListVersion: UInt32?
    package var securityLevelReport: [UInt8]?
    package var supportedKeyFormats: [UInt64]?
    package var virtualMachineInfo: [UInt8]?
    package var sync: [UInt8]?
    package var sessionKeyBlockVideo: [UInt8]?
    package var r2Video: [UInt8]?
    /// Further blocks as they come.
    package var otherBlocks: [DeviceBlock] = []
    /// How many blocks with random tags and values go in beside them.
    package var unknownBlockCount = 4
    /// The tags to be asked back; nil for asset id, transaction id and all unknown blocks.
    package var returnRequest: [UInt64]?
    /// Names the bundle of both certificates instead of the one that the session key is wrapped for.
    package var certificateHash: CertificateHash?
    package var shufflesBlocks = true

    package init(version: SPCVersion, assetID: [UInt8]) {
        self.version = version
        self.assetID = assetID
    }
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

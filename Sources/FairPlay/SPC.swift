package import ByteCoding

/// An opened Server Playback Context whose integrity holds.
///
/// That proves only that the sender knew a valid SK..R1: the payload has no MAC, so all but HU can be altered by whoever sends it.
package final class SPC: Sendable {
    package let version: SPCVersion
    package let certificateHash: CertificateHash
    package let sessionKeys: SessionKeys
    private let payload: SPCPayload

    init(version: SPCVersion, certificateHash: CertificateHash, payload: SPCPayload, sessionKeys: SessionKeys) {
        self.version = version
        self.certificateHash = certificateHash
        self.payload = payload
        self.sessionKeys = sessionKeys
    }

    package var deviceID: DeviceID { sessionKeys.deviceID }

    /// 2 to 200 bytes, not text. The authority on which key is asked for.
    package var assetID: ArraySlice<UInt8> { payload.bytes[payload.assetID] }

    /// For the log alone.
    package var transactionID: UInt64 { payload.readUInt64(at: payload.transactionID.lowerBound) }

    package var antiReplaySeed: Bytes16 { Bytes16(payload.bytes, at: payload.antiReplaySeed.lowerBound) }

    package var playbackState: MediaPlaybackState? {
        payload.playbackState.map { MediaPlaybackState(payload.bytes, at: $0.lowerBound) }
    }

    package var capabilities: Capabilities {
        payload.capabilities.map { Capabilities(rawValue: payload.readUInt64(at: $0.lowerBound + 8)) } ?? []
    }

    package var streamingIndicator: UInt64? {
        payload.streamingIndicator.map { payload.readUInt64(at: $0.lowerBound) }
    }

    package var protocolVersionUsed: UInt32 { payload.readUInt32(at: payload.versionUsed.lowerBound) }

    package var protocolVersionsSupported: [UInt32] {
        stride(from: payload.versionsSupported.lowerBound, to: payload.versionsSupported.upperBound, by: 4).map {
            payload.readUInt32(at: $0)
        }
    }

    /// Every block, for inspection.
    package var blocks: [TLLVBlock] { payload.blocks }

    package func bytes(in range: Range<Int>) -> ArraySlice<UInt8> { payload.bytes[range] }

    /// The whole blocks that the CKC must echo byte for byte, in the order of the return request.
    package var returnedBlocks: [ArraySlice<UInt8>] {
        payload.returnedBlocks.map { payload.bytes[$0.range] }
    }
}

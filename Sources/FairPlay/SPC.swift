package import ByteCoding
import KeyCrypto

/// An opened Server Playback Context.
///
/// With an application secret its integrity has been checked. Behind an external module the module does that, when the
/// content key is wrapped (`wrap`) or the SPC is verified (`verify`). Either way it proves only that the sender knew a
/// valid SK..R1: the payload of versions 1 and 2 has no MAC, so all but HU can be altered by the sender.
package final class SPC: Sendable {
    package let version: SPCVersion
    package let certificateHash: CertificateHash
    let sessionLadder: SessionLadder
    private let payload: SPCPayload

    /// How far up the ladder this SPC has come.
    enum SessionLadder: Sendable {
        case opened(SessionKeys)
        /// The SK..R1 block is still closed. The hash is the SHA-1 of the certificate or bundle that the SPC names.
        case atModule(any LadderModule, certificateHash: [UInt8])
    }

    init(
        version: SPCVersion, certificateHash: CertificateHash, payload: SPCPayload, sessionLadder: SessionLadder
    ) {
        self.version = version
        self.certificateHash = certificateHash
        self.payload = payload
        self.sessionLadder = sessionLadder
    }

    /// The opened SK..R1 block; nil behind an external module.
    package var sessionKeys: SessionKeys? {
        switch sessionLadder {
        case .opened(let keys): keys
        case .atModule: nil
        }
    }

    /// What the device says of itself.
    package var device: DeviceFacts { DeviceFacts(payload) }

    /// 2 to 1,024 bytes, not text. The authority on which key is asked for.
    package var assetID: ArraySlice<UInt8> { payload.bytes[payload.assetID] }

    /// For the log alone.
    package var transactionID: UInt64 { payload.bytes.readUInt64(at: payload.transactionID.lowerBound) }

    package var antiReplaySeed: Bytes16 { Bytes16(payload.bytes, at: payload.antiReplaySeed.lowerBound) }

    /// What a sync SPC reports of a key that its device keeps; nil in an ordinary SPC.
    package var syncReport: SyncReport? {
        guard let value = payload.optional.sync else { return nil }
        do throws(SPCRejection) {
            return try SyncBlock.parse(payload.bytes, in: value)
        } catch {
            // A payload with a faulty sync block was rejected before.
            return nil
        }
    }

    /// Every block, for inspection.
    package var blocks: [TLLVBlock] { payload.blocks }

    package func bytes(in range: Range<Int>) -> ArraySlice<UInt8> { payload.bytes[range] }

    /// The whole blocks that the CKC must echo byte for byte, in the order of the return request.
    package var returnedBlocks: [ArraySlice<UInt8>] {
        payload.returnedBlocks.map { payload.bytes[$0.range] }
    }

    /// Their tags.
    var returnedTags: [UInt64] { payload.returnedBlocks.map(\.tag) }

    /// What an external module is asked for this SPC.
    func ladderCall(
        _ contentKey: SharedSecret, iv: Bytes16, use: ContentKeyUse, certificateHash: [UInt8]
    ) -> LadderCall {
        let device = device
        let video = videoBlocks
        let wantsVideo = use.allowsVideoSessionKey && video != nil && device.protocolVersionUsed == 1
        return LadderCall(
            content: LadderCall.Content(key: contentKey, iv: iv, kind: use.kind),
            blocks: LadderCall.SessionBlocks(
                sessionKeyBlock: Array(payload.bytes[payload.sessionKeyBlock]), r2: Array(payload.bytes[payload.r2]),
                integrity: Bytes16(payload.bytes, at: payload.integrity.lowerBound), video: video),
            keyFormats: device.keyFormats, protocolVersionUsed: device.protocolVersionUsed,
            certificateHash: certificateHash, wanted: wantsVideo ? .video : .generic)
    }

    /// The blocks for the video session key, if both are there and hold something.
    private var videoBlocks: LadderCall.VideoBlocks? {
        guard let sessionKeyBlock = payload.optional.videoSessionKeyBlock, !sessionKeyBlock.isEmpty,
            let r2 = payload.optional.videoR2, !r2.isEmpty
        else { return nil }
        return LadderCall.VideoBlocks(
            sessionKeyBlock: Array(payload.bytes[sessionKeyBlock]), r2: Array(payload.bytes[r2]))
    }
}

package import ByteCoding
import KeyCrypto

/// An opened Server Playback Context.
///
/// With an application secret, the integrity of SK..R1 has been checked. An external module or a library checks it when
/// a license is prepared (`prepare`) or the SPC is verified (`verify`). The check only proves that the sender
/// had a valid SK..R1 block. The payload of versions 1 and 2 has no MAC, so the sender can change everything except HU.
package final class SPC: Sendable {
    package let version: SPCVersion
    package let certificateHash: CertificateHash
    let sessionLadder: SessionLadder
    private let payload: SPCPayload

    /// Whether the SK..R1 block is open.
    enum SessionLadder: Sendable {
        case opened(SessionKeys)
        /// The SK..R1 block is not open yet: the module will open it. The hash is the SHA-1 of the certificate or
        /// bundle that the SPC names.
        case atModule(any LadderModule, certificateHash: [UInt8])
        /// The library opens the whole SPC again.
        case atLibrary(LibraryOfSPC)
    }

    init(
        version: SPCVersion, certificateHash: CertificateHash, payload: SPCPayload, sessionLadder: SessionLadder
    ) {
        self.version = version
        self.certificateHash = certificateHash
        self.payload = payload
        self.sessionLadder = sessionLadder
    }

    /// The opened SK..R1 block; nil with an external module or a library.
    package var sessionKeys: SessionKeys? {
        switch sessionLadder {
        case .opened(let keys): keys
        case .atModule, .atLibrary: nil
        }
    }

    /// Whether a library writes the CKC for the SPC.
    package var isForLibrary: Bool { library != nil }

    /// The library that answers the SPC, if its credential has one.
    var library: LibraryOfSPC? {
        switch sessionLadder {
        case .opened, .atModule: nil
        case .atLibrary(let library): library
        }
    }

    /// The facts that the device states about itself.
    package var device: DeviceFacts { DeviceFacts(payload) }

    /// The asset ID: 2 to 1,024 bytes, which need not be text. It determines which key is requested.
    package var assetID: ArraySlice<UInt8> { payload.bytes[payload.assetID] }

    /// The transaction ID, which is only logged.
    package var transactionID: UInt64 { payload.bytes.readUInt64(at: payload.transactionID.lowerBound) }

    package var antiReplaySeed: Bytes16 { Bytes16(payload.bytes, at: payload.antiReplaySeed.lowerBound) }

    /// The report in a sync SPC about a key that the device keeps; nil in an ordinary SPC.
    package var syncReport: SyncReport? {
        guard let value = payload.optional.sync else { return nil }
        do throws(SPCRejection) {
            return try SyncBlock.parse(payload.bytes, in: value)
        } catch {
            // A payload with a faulty sync block was rejected before.
            return nil
        }
    }

    /// All blocks, for inspection.
    package var blocks: [TLLVBlock] { payload.blocks }

    package func bytes(in range: Range<Int>) -> ArraySlice<UInt8> { payload.bytes[range] }

    /// The whole blocks that the CKC must echo byte for byte, in the order of the return request.
    package var returnedBlocks: [ArraySlice<UInt8>] {
        payload.returnedBlocks.map { payload.bytes[$0.range] }
    }

    /// The tags of the blocks that the CKC must echo.
    var returnedTags: [UInt64] { payload.returnedBlocks.map(\.tag) }

    /// Returns the call to an external module for this SPC.
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

    /// The values for the video session key; nil unless both are present and not empty.
    private var videoBlocks: LadderCall.VideoBlocks? {
        guard let sessionKeyBlock = payload.optional.videoSessionKeyBlock, !sessionKeyBlock.isEmpty,
            let r2 = payload.optional.videoR2, !r2.isEmpty
        else { return nil }
        return LadderCall.VideoBlocks(
            sessionKeyBlock: Array(payload.bytes[sessionKeyBlock]), r2: Array(payload.bytes[r2]))
    }
}

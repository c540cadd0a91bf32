import ByteCoding
package import FairPlay
package import KeyCrypto

/// The device's side of the protocol: makes genuine SPCs for a server with the same application secret.
///
/// It can open only the answers to its own SPCs. It cannot get keys from a server with an application secret that it
/// does not know.
package final class SimulatedDevice {
    private let certificate: Certificate
    private let ladder: ApplicationSecretKeyLadder
    private let crypto: CryptoContext
    package let randomness: DeviceRandomness

    /// Makes a device. `certificate` is the one for which keys are wrapped: 1024 bits for version 1, 2048 bits for
    /// versions 2 and 3. With a seed, its SPCs can be made again.
    package init(
        certificate: Certificate, ladder: ApplicationSecretKeyLadder, seed: [UInt8]? = nil, using crypto: CryptoContext
    ) {
        randomness = DeviceRandomness(seed: seed, using: crypto)
        self.certificate = certificate
        self.ladder = ladder
        self.crypto = crypto
    }

    /// Makes a new SPC.
    package func makeRequest(_ options: DeviceOptions) throws(CryptoError) -> DeviceRequest {
        try seal(try makeDraft(options))
    }

    /// Encrypts a draft.
    package func seal(_ draft: SPCDraft) throws(CryptoError) -> DeviceRequest {
        DeviceRequest(
            message: try draft.seal(for: certificate, from: randomness, using: crypto), version: draft.version,
            secrets: draft.secrets)
    }

    package func makeDraft(_ options: DeviceOptions) throws(CryptoError) -> SPCDraft {
        let session = try SealedSession(options, ladder: ladder, from: randomness, using: crypto)
        let seed = try randomness.bytes16()
        let random = try randomness.bytes16()
        let transactionID = options.transactionID ?? random.low
        var blocks = try options.optionalBlocks(from: randomness) + session.blocks
        blocks += [
            DeviceBlock(TLLVTag.antiReplaySeed, seed.bytes),
            DeviceBlock(TLLVTag.assetID, options.assetID),
            DeviceBlock(TLLVTag.transactionID, bigEndian(transactionID)),
            DeviceBlock(
                TLLVTag.protocolVersionsSupported, options.protocolVersionsSupported.flatMap { bigEndian($0) }),
            DeviceBlock(TLLVTag.protocolVersionUsed, bigEndian(options.protocolVersionUsed)),
        ]
        let returned = options.returnRequest ?? Self.defaultReturnRequest(of: blocks)
        blocks.append(DeviceBlock(TLLVTag.tagReturnRequest, returned.flatMap { bigEndian($0) }))
        if options.shufflesBlocks { try shuffle(&blocks) }
        let rawBlocks = try blocks.map { (block) throws(CryptoError) in try RawBlock(block, from: randomness) }
        let keys = try ContainerKeys(options.version, from: randomness, using: crypto)
        return SPCDraft(
            version: options.version, keys: keys, certificateHash: try certificateHash(options).bytes,
            blocks: rawBlocks,
            secrets: try RequestSecrets(
                wrappedKey: keys.wrapped, sessionBlock: session.generic, videoSessionBlock: session.video,
                antiReplaySeed: seed, expectedEchoes: Self.echoes(of: returned, in: rawBlocks),
                abilities: DeviceAbilities(
                    hasPlaybackState: options.playbackState != nil, capabilities: options.capabilities,
                    offersVideoSessionKey: options.video != nil)))
    }

    private func certificateHash(_ options: DeviceOptions) throws(CryptoError) -> CertificateHash {
        if let hash = options.certificateHash { return hash }
        return try CertificateHash(options.version.certificateHash, of: certificate.der, using: crypto)
    }

    private static func defaultReturnRequest(of blocks: [DeviceBlock]) -> [UInt64] {
        [TLLVTag.assetID, TLLVTag.transactionID]
            + blocks.map(\.tag).filter { TLLVTag.name(of: $0) == nil }
    }

    private static func echoes(of tags: [UInt64], in blocks: [RawBlock]) -> [[UInt8]] {
        var seen: Set<UInt64> = []
        return tags.compactMap { tag in
            guard seen.insert(tag).inserted else { return nil }
            return blocks.first { $0.tag == tag }?.bytes
        }
    }

    private func shuffle(_ blocks: inout [DeviceBlock]) throws(CryptoError) {
        for index in blocks.indices.dropFirst() {
            blocks.swapAt(index, try randomness.index(below: 256) % (index + 1))
        }
    }
}

/// An SPC that was made here, with the secrets that open its answer.
package struct DeviceRequest: Sendable {
    package var message: [UInt8]
    package let version: SPCVersion
    package let secrets: RequestSecrets
}

/// The session keys of one request, and the blocks that contain them. Only a holder of the application secret can open
/// the blocks (protocol, section 3.2).
struct SealedSession {
    /// The plain SK..R1 block: SK 16 bytes, HU 20, R1 44, integrity 16.
    let generic: SharedSecret
    /// The plain block with the session key and R1 for video; nil if there is none.
    let video: SharedSecret?
    let blocks: [DeviceBlock]

    /// Makes random keys. HU is random too, unless the options name one.
    init(
        _ options: DeviceOptions, ladder: ApplicationSecretKeyLadder, from randomness: DeviceRandomness,
        using crypto: CryptoContext
    ) throws(CryptoError) {
        var plain = try randomness.bytes(96)
        if let deviceID = options.deviceID { plain.replaceSubrange(16..<36, with: deviceID.bytes) }
        let generic = SharedSecret(SecretBytes(copying: plain))
        let sealed = try Self.seal(generic, ladder: ladder, from: randomness, using: crypto)
        var blocks = [
            DeviceBlock(TLLVTag.sessionKeyBlock, sealed.sessionKeyBlock),
            DeviceBlock(TLLVTag.r2, sealed.r2, extraBlocks: 10),
            DeviceBlock(TLLVTag.sessionKeyIntegrity, Array(plain[80..<96])),
        ]
        switch options.video {
        case .none: video = nil
        case .opaque(let value):
            video = nil
            blocks += Self.videoBlocks(value.sessionKeyBlock, value.r2)
        case .sealed:
            plain.replaceSubrange(0..<16, with: try randomness.bytes(16))
            plain.replaceSubrange(36..<80, with: try randomness.bytes(44))
            let video = SharedSecret(SecretBytes(copying: plain))
            self.video = video
            let sealed = try Self.seal(video, ladder: ladder, from: randomness, using: crypto)
            blocks += Self.videoBlocks(sealed.sessionKeyBlock, sealed.r2)
        }
        self.generic = generic
        self.blocks = blocks
    }

    private static func seal(
        _ plain: SharedSecret, ladder: ApplicationSecretKeyLadder, from randomness: DeviceRandomness,
        using crypto: CryptoContext
    ) throws(CryptoError) -> (sessionKeyBlock: [UInt8], r2: [UInt8]) {
        let r2 = try randomness.bytes(21)
        let dask = try ladder.deriveDASk(r2: r2[...], using: crypto)
        let iv = try randomness.bytes16()
        let encrypted = try crypto.encryptCBC(secret: plain.bytes, key: dask, iv: iv)
        return (iv.bytes + encrypted, r2)
    }

    private static func videoBlocks(_ sessionKeyBlock: [UInt8], _ r2: [UInt8]) -> [DeviceBlock] {
        [DeviceBlock(TLLVTag.sessionKeyBlockVideo, sessionKeyBlock), DeviceBlock(TLLVTag.r2Video, r2)]
    }
}

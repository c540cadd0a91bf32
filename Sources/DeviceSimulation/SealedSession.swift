import ByteCoding
import FairPlay
import KeyCrypto

/// The session keys of one request, and the blocks in which only the holder of the application secret finds them
/// (protocol, section 3.2).
struct SealedSession {
    /// SK 16, HU 20, R1 44, integrity 16.
    let generic: SharedSecret
    /// The same with a session key and R1 for video.
    let video: SharedSecret?
    let blocks: [DeviceBlock]

    /// All is random but for a HU that is asked for.
    init(
        _ options: DeviceOptions, ladder: ApplicationSecretKeyLadder, using crypto: CryptoContext
    ) throws(CryptoError) {
        var plain = try SecretBytes.random(count: 96).revealed()
        if let deviceID = options.deviceID { plain.replaceSubrange(16..<36, with: deviceID.bytes) }
        let generic = SharedSecret(SecretBytes(copying: plain))
        let sealed = try Self.seal(generic, ladder: ladder, using: crypto)
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
            plain.replaceSubrange(0..<16, with: try crypto.randomBytes(count: 16))
            plain.replaceSubrange(36..<80, with: try crypto.randomBytes(count: 44))
            let video = SharedSecret(SecretBytes(copying: plain))
            self.video = video
            let sealed = try Self.seal(video, ladder: ladder, using: crypto)
            blocks += Self.videoBlocks(sealed.sessionKeyBlock, sealed.r2)
        }
        self.generic = generic
        self.blocks = blocks
    }

    private static func seal(
        _ plain: SharedSecret, ladder: ApplicationSecretKeyLadder, using crypto: CryptoContext
    ) throws(CryptoError) -> (sessionKeyBlock: [UInt8], r2: [UInt8]) {
        let r2 = Array(try crypto.randomBytes(count: 21))
        let dask = try ladder.deriveDASk(r2: r2[...], using: crypto)
        let iv = try crypto.randomBytes16()
        let encrypted = try crypto.encryptCBC(secret: plain.bytes, key: dask, iv: iv)
        return (iv.bytes + encrypted, r2)
    }

    private static func videoBlocks(_ sessionKeyBlock: [UInt8], _ r2: [UInt8]) -> [DeviceBlock] {
        [DeviceBlock(TLLVTag.sessionKeyBlockVideo, sessionKeyBlock), DeviceBlock(TLLVTag.r2Video, r2)]
    }
}

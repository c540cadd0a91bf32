import ByteCoding
package import FairPlay
import KeyCrypto
import Synchronization

/// A ladder module in this process that does the work of an external module, with an application secret.
///
/// It also opens the blocks for video, in the form that `SimulatedDevice` seals.
package final class InProcessLadderModule: LadderModule {
    private let ladder: ApplicationSecretKeyLadder
    private let received = Mutex<[LadderCall]>([])
    private let failure: LadderModuleError?
    /// The session key and R1 that it uses if video is wanted.
    private let whenVideoIsWanted: (sessionKey: SessionKeyVersion, r1: SessionKeyVersion)

    package init(
        applicationSecret: [UInt8], failingWith failure: LadderModuleError? = nil,
        whenVideoIsWanted: (sessionKey: SessionKeyVersion, r1: SessionKeyVersion) = (.video, .video)
    ) throws {
        ladder = try ApplicationSecretKeyLadder(.applicationSecret, SecretBytes(copying: applicationSecret))
        self.failure = failure
        self.whenVideoIsWanted = whenVideoIsWanted
    }

    /// The calls that it got, in order.
    package var calls: [LadderCall] { received.withLock { $0 } }

    package func answer(_ call: LadderCall) async throws(LadderModuleError) -> LadderAnswer {
        received.withLock { $0.append(call) }
        if let failure { throw failure }
        let answer: LadderAnswer?
        do throws(CryptoError) {
            answer = try open(call)
        } catch {
            throw .failed(status: -1)
        }
        guard let answer else { throw .refused(status: -42_589) }
        return answer
    }

    /// Opens the blocks; nil if SK..R1 does not contain its integrity bytes.
    private func open(_ call: LadderCall) throws(CryptoError) -> LadderAnswer? {
        let crypto = try CryptoContext()
        let generic = try open(call.blocks.sessionKeyBlock, call.blocks.r2, crypto)
        guard generic.copy(80..<96).revealedBytes16() == call.blocks.integrity else { return nil }
        let uses = call.wanted == .video ? whenVideoIsWanted : (.generic, .generic)
        let video = try call.blocks.video.map { (video) throws(CryptoError) in
            SharedSecret(try open(video.sessionKeyBlock, video.r2, crypto))
        }
        let session = uses.sessionKey == .video ? video : nil
        let wrapped =
            if let session {
                try crypto.encryptBlock(secret: call.content.key.bytes, key: session.bytes)
            } else {
                try crypto.encryptBlock(secret: call.content.key.bytes, key: generic)
            }
        let r1 = uses.r1 == .video ? video?.bytes.copy(36..<80) : nil
        return LadderAnswer(
            contentKeyTag: TLLVTag.contentKey, contentKeyValue: call.content.iv.bytes + wrapped.bytes,
            deviceID: DeviceID(generic.copy(16..<36).revealed()),
            r1: SharedSecret(r1 ?? generic.copy(36..<80)), sessionKeyVersion: uses.sessionKey, r1Version: uses.r1)
    }

    private func open(_ block: [UInt8], _ r2: [UInt8], _ crypto: CryptoContext) throws(CryptoError) -> SecretBytes {
        try crypto.decryptCBCSecret(
            block, in: 16..<block.count, key: ladder.deriveDASk(r2: r2[...], using: crypto), iv: Bytes16(block, at: 0))
    }
}

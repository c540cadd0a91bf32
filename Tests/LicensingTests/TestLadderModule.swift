import ByteCoding
import KeyCrypto
import Synchronization
import TestSupport

@testable import FairPlay

/// A module in this process, with the test credential's secret: what an external module does, without the worker.
final class TestLadderModule: LadderModule {
    private let ladder: ApplicationSecretKeyLadder
    private let state = Mutex<(calls: [LadderCall], failure: LadderModuleError?, givesVideo: Bool)>(([], nil, false))

    init(_ credential: TestCredential) throws {
        ladder = try ApplicationSecretKeyLadder(
            .applicationSecret, SecretBytes(copying: credential.applicationSecret))
    }

    /// What it was asked, in order.
    var calls: [LadderCall] { state.withLock { $0.calls } }

    /// From now on every call fails so; nil ends that.
    func fail(with error: LadderModuleError?) {
        state.withLock { $0.failure = error }
    }

    /// From now on it says that it gave out the R1 for video where video is asked for.
    func giveVideo() {
        state.withLock { $0.givesVideo = true }
    }

    func answer(_ call: LadderCall) async throws(LadderModuleError) -> LadderAnswer {
        let (failure, givesVideo) = state.withLock { state in
            state.calls.append(call)
            return (state.failure, state.givesVideo)
        }
        if let failure { throw failure }
        let version: SessionKeyVersion = givesVideo && call.wanted == .video ? .video : .generic
        let answer: LadderAnswer?
        do throws(CryptoError) {
            answer = try open(call, version)
        } catch {
            throw .failed(status: 2)
        }
        guard let answer else { throw .refused(status: 1) }
        return answer
    }

    private func open(_ call: LadderCall, _ version: SessionKeyVersion) throws(CryptoError) -> LadderAnswer? {
        let crypto = try CryptoContext()
        let bytes = call.sessionKeyBlock + call.r2
        let keys = try ladder.open(bytes, sessionKeyBlock: 0..<112, r2: 112..<bytes.count, using: crypto)
        guard keys.hasIntegrity(call.integrity.bytes[...]) else { return nil }
        let wrapped = try keys.wrap(call.contentKey.bytes, using: crypto)
        return LadderAnswer(
            contentKeyTag: TLLVTag.contentKey, contentKeyValue: call.contentIV.bytes + wrapped.bytes,
            deviceID: keys.deviceID, r1: SharedSecret(SecretBytes(copying: keys.r1)), sessionKeyVersion: version,
            r1Version: version)
    }
}

import ByteCoding
import FairPlay
import KeyCrypto

/// A ladder module that knows one SK..R1 block, checks what it is asked, and answers at once with the last key format
/// that it is offered.
struct EchoingModule: LadderModule {
    private let session: FixedSession

    init(_ session: FixedSession) {
        self.session = session
    }

    /// The status of a refusal.
    static let refusal: Int32 = -42

    func answer(_ call: LadderCall) async throws(LadderModuleError) -> LadderAnswer {
        guard Self.isLegal(call) else { throw .failed(status: Self.refusal) }
        guard call.blocks.sessionKeyBlock == session.sessionKeyBlock,
            call.blocks.integrity.bytes == FixedSession.integrity
        else {
            throw .refused(status: Self.refusal)
        }
        return LadderAnswer(
            contentKeyTag: call.keyFormats.last ?? DeviceFacts.keyFormatDefault,
            contentKeyValue: call.content.iv.bytes + call.content.key.bytes.revealed(),
            deviceID: FixedSession.deviceID, r1: SharedSecret(SecretBytes(copying: FixedSession.r1)),
            sessionKeyVersion: call.wanted, r1Version: call.wanted)
    }

    /// Whether the call keeps to the sizes that modules are promised.
    private static func isLegal(_ call: LadderCall) -> Bool {
        let isVideoLegal =
            (call.blocks.video?.sessionKeyBlock.count ?? 0) <= 256 && (call.blocks.video?.r2.count ?? 0) <= 64
        return call.content.key.bytes.count == 16 && call.blocks.sessionKeyBlock.count == 112
            && call.blocks.r2.count == 21
            && (1...64).contains(call.keyFormats.count) && call.certificateHash.count == 20 && isVideoLegal
            && (call.wanted == .generic || call.blocks.video != nil)
    }
}

import ByteCoding
import FairPlay
import KeyCrypto
import POSIXSockets

@testable import LadderWorkers

/// Streams between a daemon and its workers, with the number of the reader that takes them: every kind of message.
enum SeedFrames {
    static func streams() throws -> [(reader: UInt8, stream: [UInt8])] {
        let plain = try call(video: nil).revealed(number: 1)
        let video = LadderCall.VideoBlocks(sessionKeyBlock: [UInt8](2..<114), r2: [UInt8](3..<24))
        let withVideo = try call(video: video).revealed(number: 2)
        let ready = LadderFrameHead(.ready, number: 0, bodySize: 0).message().revealed()
        let answer = try answer().revealed(number: 1)
        let refusal = LadderCallFailure.refused(status: -42_581).revealed(number: 2)
        let unusable = LadderCallFailure.answerUnusable.revealed(number: 3)
        return [
            (0, try start(user: nil)), (0, try start(user: SystemUser(userID: 65_532, groupID: 65_532))),
            (1, plain), (1, withVideo + plain), (2, ready + answer + refusal + unusable + answer),
        ] + faults.map { (2, $0.message().revealed()) }
    }

    private static let faults: [LadderModuleFault] = [
        .libraryUnreadable(errno: 13), .libraryNotLoadable("no such file"), .symbolMissing("latchkey_ladder_open"),
        .versionUnknown(2), .notOpened(status: -1), .notConfined(step: "filter", errno: 1), .startUnreadable,
    ]

    private static func start(user: SystemUser?) throws -> [UInt8] {
        let confinement = ProcessConfinement(user: user, memoryMaximum: 1 << 30, descriptorMaximum: 16)
        return try LadderStart(
            confinement: confinement, libraryPath: "/usr/lib/module.so",
            moduleData: SharedSecret(SecretBytes(copying: [UInt8](0..<32)))
        ).message().revealed()
    }

    private static func call(video: LadderCall.VideoBlocks?) -> LadderCall {
        LadderCall(
            content: .init(key: SharedSecret(SecretBytes(copying: [UInt8](0..<16))), iv: .zero, kind: .video),
            blocks: .init(sessionKeyBlock: [UInt8](0..<112), r2: [UInt8](0..<21), integrity: .zero, video: video),
            keyFormats: [DeviceFacts.keyFormatDefault, 0x77], protocolVersionUsed: 1,
            certificateHash: [UInt8](0..<20), wanted: video == nil ? .generic : .video)
    }

    private static func answer() -> LadderAnswer {
        LadderAnswer(
            contentKeyTag: DeviceFacts.keyFormatDefault, contentKeyValue: [UInt8](0..<32),
            deviceID: FixedSession.deviceID, r1: SharedSecret(SecretBytes(copying: FixedSession.r1)),
            sessionKeyVersion: .generic, r1Version: .video)
    }
}

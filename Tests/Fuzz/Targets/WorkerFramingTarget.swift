import ByteCoding
import FairPlay
import KeyCrypto
import POSIXSockets
import TestSupport

@testable import LadderWorkers

/// Messages between the daemon and a worker process. The input is two bytes of plan, then the bytes of the stream.
///
///     offset  size  field
///          0     1  the reader, modulo 5: a worker that starts; the worker of a module, and its daemon; the worker of
///                   a library, and its daemon
///          1     1  the size of the pieces in which the stream arrives, less 1; there are at most about a hundred
///
/// The pieces do not change the messages. Each message is read as one value, which is written as the same bytes. Read
/// messages are wiped. There is always room for the rest of a message that has begun.
struct WorkerFramingTarget: FuzzTarget {
    private static let planSize = 2

    /// A reader for each side at each point of the exchange, as in `WorkerLine` and `WorkerProcess`. They are reused,
    /// because the memory of the first one is large.
    private let readers = [
        FramedLine(LadderFrameAssembler(accepting: [.start, .libraryStart], frameCount: 1)),
        FramedLine(LadderFrameAssembler(accepting: [.call])),
        FramedLine(LadderFrameAssembler(accepting: [.ready, .startFailure, .answer, .callFailure])),
        FramedLine(LadderFrameAssembler(accepting: [.order])),
        FramedLine(LadderFrameAssembler(accepting: [.ready, .startFailure, .written, .callFailure])),
    ]

    func check(_ input: [UInt8]) throws -> Verdict {
        let plan = Array(input.prefix(Self.planSize))
        guard plan.count == Self.planSize else { return .refused }
        let stream = Array(input.dropFirst(Self.planSize))
        let reader = readers[Int(plan[0]) % readers.count]
        let whole = try read(stream, by: reader, pieceSize: max(1, stream.count))
        let inPieces = try read(stream, by: reader, pieceSize: max(Int(plan[1]) + 1, stream.count / 100))
        try require(whole == inPieces, "messages do not depend on the pieces of the stream")
        return whole.error == nil && whole.messageCount > 0 ? .accepted : .refused
    }

    private func read(_ stream: [UInt8], by reader: FramedLine, pieceSize: Int) throws -> Outcome {
        try reader.begin()
        var offset = 0
        var outcome = Outcome()
        while offset < stream.count, outcome.error == nil {
            offset += try reader.receive(stream[offset...].prefix(pieceSize))
            do throws(LadderFrameError) {
                while try reader.takeMessage() { outcome.messageCount += 1 }
            } catch {
                outcome.error = error
            }
            try reader.checkTaken()
        }
        return outcome
    }

    private struct Outcome: Equatable {
        var messageCount = 0
        var error: LadderFrameError?
    }

    // MARK: - Inputs

    func seeds() throws -> [[UInt8]] {
        try SeedFrames.streams().flatMap { reader, stream in
            [[reader, 0xFF] + stream, [reader, 6] + stream]
        }
    }

    /// Changes the messages of the stream, and sometimes the reader or the pieces.
    func mutate(_ input: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        guard input.count > Self.planSize else { return ByteMutation.mutate(input, using: &generator) }
        var plan = Array(input.prefix(Self.planSize))
        let stream = Array(input.dropFirst(Self.planSize))
        if Int.random(in: 0..<16, using: &generator) == 0 {
            plan[Int.random(in: plan.indices, using: &generator)] = UInt8.random(in: .min ... .max, using: &generator)
        }
        return plan + FrameMutation.mutate(stream, using: &generator)
    }
}

/// Changes of a stream of messages between a daemon and a worker that keep it valid: messages are added, removed or
/// moved, or change their bodies.
enum FrameMutation {
    static func mutate(_ stream: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        var frames = split(stream)
        guard let index = frames.indices.randomElement(using: &generator),
            Int.random(in: 0..<8, using: &generator) > 0
        else { return ByteMutation.mutate(stream, using: &generator) }
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: frames.remove(at: index)
        case 1: frames.insert(frames[index], at: frames.indices.randomElement(using: &generator) ?? 0)
        case 2: frames.swapAt(index, Int.random(in: frames.indices, using: &generator))
        case 3: frames[index] = resized(ByteMutation.mutate(frames[index], using: &generator))
        default: frames[index] = changed(frames[index], using: &generator)
        }
        return frames.flatMap { $0 }
    }

    /// Splits the stream into messages by the sizes in their heads. Remaining bytes come last.
    private static func split(_ stream: [UInt8]) -> [[UInt8]] {
        var frames: [[UInt8]] = []
        var rest = stream[...]
        while rest.count >= LadderFrameHead.size {
            let size = rest.dropFirst(4).prefix(4).reduce(0) { $0 << 8 | Int($1) }
            frames.append(Array(rest.prefix(LadderFrameHead.size + size)))
            rest = rest.dropFirst(LadderFrameHead.size + size)
        }
        return rest.isEmpty ? frames : frames + [Array(rest)]
    }

    /// Corrects the size in the message's head.
    private static func resized(_ frame: [UInt8]) -> [UInt8] {
        guard frame.count >= LadderFrameHead.size else { return frame }
        var frame = frame
        frame.replaceSubrange(4..<8, with: bigEndianBytes(UInt32(frame.count - LadderFrameHead.size)))
        return frame
    }

    /// Changes one byte or word of the body, but not its size.
    private static func changed(_ frame: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        guard frame.count > LadderFrameHead.size else { return frame }
        var frame = frame
        let index = Int.random(in: LadderFrameHead.size..<frame.count, using: &generator)
        let count = Bool.random(using: &generator) ? 1 : min(4, frame.count - index)
        frame.replaceSubrange(index..<index + count, with: generator.bytes(count: count))
        return frame
    }
}

/// Streams between a daemon and its workers with every kind of message, each with the number of its reader.
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
            (0, try libraryStart()), (3, try orders.flatMap { try $0.revealed(number: 4) }),
            (4, try ready + written(ckc: nil) + written(ckc: [UInt8](repeating: 5, count: 60))),
        ] + faults.map { (2, $0.message().revealed()) }
    }

    private static let faults: [LadderModuleFault] = [
        .libraryUnreadable(errno: 13), .libraryNotLoadable("no such file"), .symbolMissing("latchkey_ladder_open"),
        .versionUnknown(2), .notOpened(status: -1), .notConfined(step: "filter", errno: 1), .startUnreadable,
        .credentialUnknown(index: 1), .filesNotKept(errno: 28),
    ]

    private static func start(user: SystemUser?) throws -> [UInt8] {
        let confinement = ProcessConfinement(user: user, memoryMaximum: 1 << 30, descriptorMaximum: 16)
        return try LadderStart(
            confinement: confinement, libraryPath: "/usr/lib/module.so",
            moduleData: SharedSecret(SecretBytes(copying: [UInt8](0..<32)))
        ).message().revealed()
    }

    private static func libraryStart() throws -> [UInt8] {
        let confinement = ProcessConfinement(user: nil, memoryMaximum: 1 << 30, descriptorMaximum: 16)
        let files = LibraryFiles(
            files: [16, 17].map {
                .init(descriptor: $0, contents: SharedSecret(SecretBytes(copying: [UInt8](0..<32))))
            },
            probes: [[UInt8](0..<40)])
        return try LibraryStart(confinement: confinement, libraryPath: "/usr/lib/library.so", files: files)
            .message().revealed()
    }

    private static var orders: [LibraryOrder] {
        let validities: [LibraryTerms.Validity] = [
            .session, .lease(LicenseSeconds(atLeastOne: 60)),
            .kept(.init(name: nil, storage: LicenseSeconds(atLeastOne: 60), playback: nil)),
            .kept(.init(name: (.zero, .zero), storage: nil, playback: LicenseSeconds(atLeastOne: 60))),
        ]
        let orders = validities.map { validity in
            LibraryOrder(
                message: [UInt8](0..<200),
                license: LibraryLicense(
                    key: SharedSecret(SecretBytes(copying: [UInt8](0..<16))), iv: .zero,
                    terms: LibraryTerms(contentType: .uhd, scheme: .cbcs, hdcp: .type1, validity: validity)))
        }
        return [LibraryOrder(message: [UInt8](0..<200), license: nil)] + orders
    }

    private static func written(ckc: [UInt8]?) throws -> [UInt8] {
        try LibraryAnswer(deviceID: FixedSession.deviceID, transactionID: 7, ckc: ckc).revealed(number: 5)
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

import ByteCoding
import FairPlay
import KeyCrypto

/// The encoding of an answer to a call, as the body of a message.
///
///     size  field
///        8  tag of the content key block
///        8  session key used
///        8  R1 used
///       20  HU
///        4  size n of the content key block's value, 17 to 1,024
///        n  value
///       44  R1, secret
extension LadderAnswer {
    static let deviceIDSize = 20
    static let r1Size = 44
    private static let fixedSize = 8 + 8 + 8 + deviceIDSize + 4 + r1Size
    static let encodedSizes =
        fixedSize + contentKeyValueSizes.lowerBound...fixedSize + contentKeyValueSizes.upperBound

    /// Appends the answer to a message, which must have room for the largest answer.
    ///
    /// Throws `notExpressible` if a part of the answer has a wrong size. The message is then unchanged.
    func write(number: UInt64, to message: inout LadderMessage) throws(LadderFrameError) {
        guard Self.contentKeyValueSizes.contains(contentKeyValue.count) else { throw .notExpressible("value") }
        guard r1.bytes.count == Self.r1Size else { throw .notExpressible("R1") }
        message.append(publicPart(number: number, bodySize: Self.fixedSize + contentKeyValue.count))
        message.append(secret: r1.bytes)
    }

    private func publicPart(number: UInt64, bodySize: Int) -> [UInt8] {
        var writer = ByteWriter(capacity: LadderFrameHead.size + bodySize)
        LadderFrameHead(.answer, number: number, bodySize: bodySize).write(to: &writer)
        writer.write(contentKeyTag)
        writer.write(sessionKeyVersion.rawValue)
        writer.write(r1Version.rawValue)
        writer.write(deviceID.bytes)
        writer.write(UInt32(contentKeyValue.count))
        writer.write(contentKeyValue)
        return writer.bytes
    }

    /// Reads a body. Throws `malformed` or `illegalValue`.
    init(parsing bytes: [UInt8], in body: Range<Int>) throws(LadderFrameError) {
        var reader = LadderFrameReader(bytes, in: body)
        let tag = try reader.longWord("tag")
        let sessionKeyNumber = try reader.longWord("session key used")
        let r1Number = try reader.longWord("R1 used")
        let deviceID = try reader.bytes(count: Self.deviceIDSize, "HU")
        let valueSize = try reader.size("size of the value", in: Self.contentKeyValueSizes)
        let value = try reader.bytes(count: valueSize, "value")
        let r1 = try reader.secret(count: Self.r1Size, "R1")
        try reader.finish()
        guard let sessionKeyVersion = SessionKeyVersion(rawValue: sessionKeyNumber) else {
            throw .illegalValue("session key used")
        }
        guard let r1Version = SessionKeyVersion(rawValue: r1Number) else { throw .illegalValue("R1 used") }
        self.init(
            contentKeyTag: tag, contentKeyValue: value, deviceID: DeviceID(deviceID), r1: r1,
            sessionKeyVersion: sessionKeyVersion, r1Version: r1Version)
    }
}

/// Why a module has no answer to a call, as its worker reports it.
///
///     size  field
///        4  kind: 1 refused, 2 failed, 3 the module's answer is invalid, 4 the device is refused
///        4  the module's own status, for the log; 0 for kind 3
enum LadderCallFailure: Error, Equatable, Sendable {
    case refused(status: Int32)
    case failed(status: Int32)
    case answerUnusable
    case deviceRefused(status: Int32)

    static let encodedSizes = 8...8

    /// Appends the failure to a message, which must have room for it.
    func write(number: UInt64, to message: inout LadderMessage) {
        let (kind, status): (UInt32, Int32) =
            switch self {
            case .refused(let status): (1, status)
            case .failed(let status): (2, status)
            case .answerUnusable: (3, 0)
            case .deviceRefused(let status): (4, status)
            }
        var writer = ByteWriter(capacity: LadderFrameHead.size + 8)
        LadderFrameHead(.callFailure, number: number, bodySize: 8).write(to: &writer)
        writer.write(kind)
        writer.write(UInt32(bitPattern: status))
        message.append(writer.bytes)
    }

    /// Reads a body. Throws `malformed` or `illegalValue`.
    init(parsing bytes: [UInt8], in body: Range<Int>) throws(LadderFrameError) {
        var reader = LadderFrameReader(bytes, in: body)
        let kind = try reader.word("kind of failure")
        let status = Int32(bitPattern: try reader.word("status"))
        try reader.finish()
        switch (kind, status) {
        case (1, _): self = .refused(status: status)
        case (2, _): self = .failed(status: status)
        case (3, 0): self = .answerUnusable
        case (4, _): self = .deviceRefused(status: status)
        case (_, _): throw .illegalValue("kind of failure")
        }
    }

    /// The error for the caller.
    var error: LadderModuleError {
        switch self {
        case .refused(let status): .refused(status: status)
        case .failed(let status): .failed(status: status)
        case .answerUnusable: .answerMalformed
        case .deviceRefused(let status): .deviceRefused(status: status)
        }
    }
}

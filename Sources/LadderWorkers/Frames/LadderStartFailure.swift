import ByteCoding
package import POSIXSockets

/// Why no worker of a module is ready. It is for the log and for the operator, and contains nothing secret.
package enum LadderStartFailure: Error, Equatable, Sendable {
    /// The worker process has started, and reports a fault of the module.
    case module(LadderModuleFault)
    /// The worker process could not be started.
    case programNotStarted(SocketError)
    /// The worker process ended while it opened the module, usually because the module crashed.
    case workerEnded(ProgramEnd)
    /// The module was not open before its deadline.
    case workerSilent
    /// The worker sent an invalid message.
    case frameMalformed(LadderFrameError)
    /// The configuration cannot be sent to a worker: the path is not absolute, or the module data have a wrong size.
    case configurationNotExpressible(LadderFrameError)
}

/// A fault of a module, which the worker reports that tried to open it.
package enum LadderModuleFault: Error, Equatable, Sendable {
    /// The worker's user cannot read the library.
    case libraryUnreadable(errno: Int32)
    /// The library cannot be loaded. The text comes from the loader.
    case libraryNotLoadable(String)
    /// The library lacks one of the functions of `latchkey_ladder.h`.
    case symbolMissing(String)
    /// The library was built for another version of the interface.
    case versionUnknown(UInt32)
    /// The module refuses its data. The status is the module's own number.
    case notOpened(status: Int32)
    /// The library does not know the certificate of one of its credentials: `index` counts the probes from 0.
    case credentialUnknown(index: UInt32)
    /// The worker could not keep the files of the library in memory.
    case filesNotKept(errno: Int32)
    /// The worker could not confine itself: the failed step, and its `errno`.
    case notConfined(step: String, errno: Int32)
    /// The worker could not read its first message.
    case startUnreadable
}

extension LadderStartFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .module(let fault): fault.description
        case .programNotStarted(let error): "no worker process could be started: \(error)"
        case .workerEnded(.exited(let status)): "the module ended its worker with status \(status) while it was opened"
        case .workerEnded(.killed(let signal)): "the module was ended by signal \(signal) while it was opened"
        case .workerSilent: "the module was not open before its deadline"
        case .frameMalformed: "the worker sent an invalid message"
        case .configurationNotExpressible(.notExpressible(let field)): "the \(field) is invalid"
        case .configurationNotExpressible: "the configuration of the module is invalid"
        }
    }
}

extension LadderModuleFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .libraryUnreadable(let errno): "the worker's user cannot read the library (errno \(errno))"
        case .libraryNotLoadable(let text):
            "the library cannot be loaded: \(text)"
                + (text.contains("cannot open shared object file")
                    ? "; put the missing library into the folder of this one, or install it" : "")
        case .symbolMissing(let name): "the library has no function \(name)"
        case .versionUnknown(let version): "the library was built for version \(version) of the module interface"
        case .notOpened(let status): "the module refuses its data with status \(status)"
        case .credentialUnknown(let index):
            "the library does not serve certificate \(index + 1) of its credentials: is it built for these credentials, and is it "
                + "newer than they are?"
        case .filesNotKept(let errno): "the worker could not keep the credentials in memory (errno \(errno))"
        case .notConfined(let step, let errno): "the worker could not be confined: \(step) failed (errno \(errno))"
        case .startUnreadable: "the worker could not read its first message"
        }
    }
}

/// The encoding of a fault, as the body of a message.
///
///     size  field
///        4  kind
///        4  number: an errno, a status or a version
///        n  text of printable ASCII, at most 512
extension LadderModuleFault {
    private static let textSizeMaximum = 512
    static let encodedSizes = 8...8 + textSizeMaximum

    private var fields: (kind: UInt32, number: UInt32, text: String) {
        switch self {
        case .libraryUnreadable(let errno): (1, UInt32(bitPattern: errno), "")
        case .libraryNotLoadable(let text): (2, 0, text)
        case .symbolMissing(let name): (3, 0, name)
        case .versionUnknown(let version): (4, version, "")
        case .notOpened(let status): (5, UInt32(bitPattern: status), "")
        case .notConfined(let step, let errno): (6, UInt32(bitPattern: errno), step)
        case .startUnreadable: (7, 0, "")
        case .credentialUnknown(let index): (8, index, "")
        case .filesNotKept(let errno): (9, UInt32(bitPattern: errno), "")
        }
    }

    /// Returns the message. The text is cut to 512 bytes, and bytes that are not printable ASCII become question marks.
    func message() -> LadderMessage {
        let fields = fields
        let text = fields.text.utf8.prefix(Self.textSizeMaximum).map { Self.isPrintable($0) ? $0 : UInt8(ascii: "?") }
        var writer = ByteWriter(capacity: LadderFrameHead.size + 8 + text.count)
        LadderFrameHead(.startFailure, number: 0, bodySize: 8 + text.count).write(to: &writer)
        writer.write(fields.kind)
        writer.write(fields.number)
        writer.write(text)
        return LadderMessage(writer.bytes)
    }

    /// Reads a body. Throws `malformed` or `illegalValue`.
    init(parsing bytes: [UInt8], in body: Range<Int>) throws(LadderFrameError) {
        var reader = LadderFrameReader(bytes, in: body)
        let kind = try reader.word("kind of fault")
        let number = try reader.word("number")
        let textBytes = try reader.bytes(count: reader.remaining, "text")
        try reader.finish()
        guard textBytes.allSatisfy(Self.isPrintable) else { throw .illegalValue("text") }
        let text = String(decoding: textBytes, as: UTF8.self)
        switch kind {
        case 1: self = .libraryUnreadable(errno: Int32(bitPattern: number))
        case 2: self = .libraryNotLoadable(text)
        case 3: self = .symbolMissing(text)
        case 4: self = .versionUnknown(number)
        case 5: self = .notOpened(status: Int32(bitPattern: number))
        case 6: self = .notConfined(step: text, errno: Int32(bitPattern: number))
        case 7: self = .startUnreadable
        case 8: self = .credentialUnknown(index: number)
        case 9: self = .filesNotKept(errno: Int32(bitPattern: number))
        default: throw .illegalValue("kind of fault")
        }
        // Each fault has exactly one encoding: a kind without a number or a text must not have one.
        guard fields == (kind, number, text) else { throw .illegalValue("fault") }
    }

    private static func isPrintable(_ byte: UInt8) -> Bool { (0x20...0x7E).contains(byte) }
}

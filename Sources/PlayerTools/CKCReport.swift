import Administration
import ByteCoding
import CommandLineKit
import DeviceSimulation
import FairPlay
import KeyCrypto

/// A report on a CKC: its outer layout, and, with the secrets of the SPC that it answers, the license in it.
struct CKCReport {
    /// The checks that a CKC has passed when `CKCOpener` returns a license.
    private static let checks = [
        "R1", "blocks of the return request", "sizes", "no unknown blocks", "terms that this device supports",
    ]

    private let envelope: CKCEnvelope
    private let license: OpenedLicense?

    init(_ given: InspectArguments) throws(CommandError) {
        envelope = try wrap(
            { (error: CKCFault) in
                CommandError.failed("\(given.path) is not a CKC: \(error.explanation(of: FileKind(given.bytes)))")
            }, try CKCEnvelope(parsing: given.bytes))
        guard let secrets = given.secrets?.secrets else {
            license = nil
            return
        }
        let crypto = try wrap(CommandError.cryptography, try CryptoContext())
        do throws(CKCFault) {
            license = try CKCOpener(secrets: secrets, using: crypto).open(given.bytes)
        } catch {
            throw .failed(
                "a device would refuse \(given.path): \(error.explanation(of: FileKind(given.bytes)))")
        }
    }
}

extension CKCReport {
    /// The report as text.
    var text: String {
        var lines = [
            "CKC of version \(envelope.version), \(envelope.message.count) bytes",
            "  IV       \(Hexadecimal.encode(envelope.iv.bytes))",
            "  payload  \(envelope.payload.count) bytes, encrypted",
        ]
        if let license {
            lines += license.lines
            lines.append("all checks of a device passed: " + Self.checks.joined(separator: ", "))
        }
        return lines.joined(separator: "\n")
    }

    func write(to writer: inout JSONWriter) {
        writer.member("version", Int(envelope.version))
        writer.member("bytes", envelope.message.count)
        writer.member("iv", Hexadecimal.encode(envelope.iv.bytes))
        writer.member("payloadBytes", envelope.payload.count)
        writer.object("license", license) { $1.write(to: &$0) }
    }
}

extension CKCFault {
    /// Says what is wrong with a file that may be a damaged CKC. For any other file, says what it is.
    package func explanation(of kind: FileKind) -> String {
        kind == .ckc || kind.isUnknown ? explanation : "it is \(kind)"
    }

    /// The fault in words, without decrypted data.
    private var explanation: String {
        switch self {
        case .truncated: "it is too short for a CKC"
        case .version(let version): "its version is \(version), and only 1 and 2 are known"
        case .payloadLength(let declared, let available):
            "it declares a payload of \(declared) bytes, but has \(available)"
        case .payloadUnaligned: "its payload is not a multiple of the AES block size"
        case .framing:
            "its payload is not a sequence of TLLV blocks: it answers another SPC, or was altered"
        case .missingTag(let tag): "the block \(Self.name(tag)) is missing"
        case .wrongSize(let tag, let size): "the block \(Self.name(tag)) has a value of \(size) bytes"
        case .r1Mismatch: "R1 is not the one of the SPC: it answers another SPC, or was altered"
        case .echoMissing(let tag): "the block \(Self.name(tag)) of the return request is missing"
        case .echoAltered(let tag): "the block \(Self.name(tag)) of the return request was altered"
        case .echoOutOfOrder(let tag): "the block \(Self.name(tag)) is not in the order of the return request"
        case .unexpectedTag(let tag):
            "the block \(Self.name(tag)) is not in the return request, and does not belong in a CKC"
        case .reservedWord(let tag, let word):
            "a reserved word of the block \(Self.name(tag)) is \(hexadecimal(word))"
        case .unknownValue(let tag, let value):
            "the block \(Self.name(tag)) has an unknown version, type or level: \(hexadecimal(value))"
        case .keyTypeContradictsDurations: "the key type contradicts lease and rental"
        case .secondsOutOfRange(let tag):
            "the block \(Self.name(tag)) has a limit of 0xffffffff seconds, which is not a limit"
        case .durationWithOfflineKey: "it has a duration and an offline key, which a client refuses"
        case .beyondAbilities(let tag):
            "the block \(Self.name(tag)) needs more than this device's SPC says that the device supports"
        case .videoNotOffered: "it uses a session key for video, and the SPC offered none"
        case .cryptography(let error): "a cryptographic operation failed (\(error))"
        }
    }

    fileprivate static func name(_ tag: UInt64) -> String {
        let digits = hexadecimal(tag)
        return TLLVTag.name(of: tag).map { "\"\($0)\" (\(digits))" } ?? digits
    }
}

extension CKCRemark {
    /// The remark in words.
    package var explanation: String {
        switch self {
        case .reservedWord(let word): "its reserved word is \(hexadecimal(word)), not 0"
        case .echoPadding(let tag):
            "the block \(CKCFault.name(tag)) of the return request has other padding than in the SPC"
        case .sampleBlock: "it has the block \(hexadecimal(TLLVTag.unnamedInSamples)) of Apple's samples"
        case .durationReservedWord(let word):
            "the reserved word of its duration is \(hexadecimal(word)), not \(hexadecimal(KeyDuration.reservedWord))"
        }
    }
}

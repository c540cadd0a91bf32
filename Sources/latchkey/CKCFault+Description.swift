import DeviceSimulation
import FairPlay

extension CKCFault {
    /// The fault in words; shows nothing of what was decrypted.
    var explanation: String {
        switch self {
        case .truncated: "it is too short for a CKC"
        case .version(let version): "its version is \(version), not 1"
        case .reserved(let word): "its reserved word is \(word), not 0"
        case .payloadLength(let declared, let available):
            "it declares a payload of \(declared) bytes and has \(available)"
        case .payloadUnaligned: "its payload is not a row of AES blocks"
        case .framing:
            "its payload is not a row of TLLV blocks: it answers another SPC, or was altered"
        case .missingTag(let tag): "the block \(Self.name(tag)) is missing"
        case .wrongSize(let tag, let size): "the block \(Self.name(tag)) has a value of \(size) bytes"
        case .r1Mismatch: "R1 is not the one of the SPC: it answers another SPC, or was altered"
        case .echoMissing(let tag): "the block \(Self.name(tag)) was asked back and is missing"
        case .echoAltered(let tag): "the block \(Self.name(tag)) was asked back and has come back altered"
        case .echoOutOfOrder(let tag): "the block \(Self.name(tag)) is not in the order of the return request"
        case .unexpectedTag(let tag): "the block \(Self.name(tag)) was neither asked for nor belongs in a CKC"
        case .unknownKeyType(let type): "the key type \(Self.hexadecimal(UInt64(type), digits: 8)) is unknown"
        case .keyTypeContradictsDurations: "the key type does not fit lease and rental"
        case .unknownHDCPLevel(let word): "the HDCP level \(Self.hexadecimal(word, digits: 16)) is unknown"
        case .cryptography(let error): "a cryptographic operation failed (\(error))"
        }
    }

    private static func name(_ tag: UInt64) -> String {
        let digits = hexadecimal(tag, digits: 16)
        return TLLVTag.name(of: tag).map { "\"\($0)\" (\(digits))" } ?? digits
    }

    private static func hexadecimal(_ value: UInt64, digits: Int) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}

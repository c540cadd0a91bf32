import ByteCoding
import DeviceSimulation
import FairPlay

/// What a file seems to be, for messages about a file that is something else than was expected.
enum FileKind: Equatable, Sendable {
    case empty
    case spc
    case ckc
    case certificate
    /// PEM text; its label, such as "PRIVATE KEY".
    case pem(label: String)
    case requestSecrets
    case json
    case base64(of: String)
    case hexadecimal
    case text
    case unknown(count: Int)

    init(_ bytes: [UInt8]) {
        self = Self.binary(bytes) ?? Self.textual(bytes) ?? .unknown(count: bytes.count)
    }

    private static func binary(_ bytes: [UInt8]) -> FileKind? {
        if bytes.isEmpty { return .empty }
        // What it is not does not matter here, nor why.
        if (try? SPCEnvelope(parsing: bytes)) != nil { return .spc }
        if (try? CKCEnvelope(parsing: bytes)) != nil { return .ckc }
        return bytes.starts(with: [0x30, 0x82]) ? .certificate : nil
    }

    private static func textual(_ bytes: [UInt8]) -> FileKind? {
        let isText = bytes.allSatisfy { (0x20...0x7E).contains($0) || (0x09...0x0D).contains($0) || $0 >= 0x80 }
        guard isText, String(validating: bytes, as: UTF8.self) != nil else { return nil }
        if let label = pemLabel(bytes) { return .pem(label: label) }
        let compact = bytes.filter { $0 > 0x20 }
        if compact.isEmpty { return .empty }
        if compact.first == UInt8(ascii: "{") {
            return RequestSecretsFile.isMarked(bytes) ? .requestSecrets : .json
        }
        if (try? Hexadecimal.decode(compact)) != nil { return .hexadecimal }
        if let decoded = try? Base64.decode(compact) {
            return .base64(of: binary(decoded)?.description ?? "something else")
        }
        return .text
    }

    private static func pemLabel(_ bytes: [UInt8]) -> String? {
        let begin = Array("-----BEGIN ".utf8)
        guard bytes.starts(with: begin) else { return nil }
        let label = bytes.dropFirst(begin.count).prefix { $0 != UInt8(ascii: "-") }.prefix(40)
        return String(decoding: label, as: UTF8.self)
    }
}

extension FileKind: CustomStringConvertible {
    var description: String {
        switch self {
        case .empty: "empty"
        case .spc: "an SPC (latchkey spc inspect reads it)"
        case .ckc: "a CKC (latchkey ckc inspect reads it)"
        case .certificate: "a certificate or another DER file"
        case .pem(let label): "a PEM file (\(label))"
        case .requestSecrets: "the secrets file of an SPC (--secrets takes it)"
        case .json: "JSON text"
        case .base64(let content): "Base64 text of \(content); \"base64 --decode\" makes bytes of it"
        case .hexadecimal: "hexadecimal text; \"xxd -r -p\" makes bytes of it"
        case .text: "text"
        case .unknown(let count): "\(count) bytes of an unknown kind"
        }
    }
}

import ByteCoding
import CommandLineKit
import DeviceSimulation
import FairPlay
import KeyCrypto

/// The kind that a file seems to have, for messages about a file of another kind than expected.
package indirect enum FileKind: Equatable, Sendable {
    case empty
    case spc
    case ckc
    /// One or more certificates, with the sizes of their keys in bits, in the order of the file.
    case certificates([Int])
    case privateKey
    /// Another file in the Distinguished Encoding Rules, as certificates and keys are.
    case der
    /// PEM text other than a certificate or a private key, with its label, such as "CERTIFICATE REQUEST".
    case pem(label: String)
    case requestSecrets
    case json
    /// Base64 text, with the standard or the URL-safe alphabet.
    case base64(of: FileKind)
    case hexadecimal(of: FileKind)
    /// Base64 text within a JSON member, a form field or an element.
    case wrapped(in: String, FileKind)
    case markup
    case text
    case unknown(count: Int)

    init(_ bytes: [UInt8]) {
        self.init(bytes, depth: 3)
    }

    /// `depth` is the most nested encodings that are decoded.
    private init(_ bytes: [UInt8], depth: Int) {
        self = Self.binary(bytes) ?? Self.textual(bytes, depth: depth) ?? .unknown(count: bytes.count)
    }

    var isUnknown: Bool {
        if case .unknown = self { true } else { false }
    }
}

extension FileKind {
    private static func binary(_ bytes: [UInt8]) -> FileKind? {
        if bytes.isEmpty { return .empty }
        // Errors are ignored, because each `try?` only asks whether the file has this kind.
        if (try? SPCEnvelope(parsing: bytes, served: Set(SPCVersion.allCases))) != nil { return .spc }
        if (try? CKCEnvelope(parsing: bytes)) != nil { return .ckc }
        if let certificates = try? Certificate.parseAll(bytes) { return .certificates(certificates.map(\.keyBits)) }
        if (try? RSAPrivateKey(parsing: bytes)) != nil || (try? ES256PrivateKey(parsing: bytes)) != nil {
            return .privateKey
        }
        return bytes.starts(with: [0x30, 0x82]) ? .der : nil
    }

    private static func textual(_ bytes: [UInt8], depth: Int) -> FileKind? {
        let isText = bytes.allSatisfy { (0x20...0x7E).contains($0) || (0x09...0x0D).contains($0) || $0 >= 0x80 }
        guard isText, String(validating: bytes, as: UTF8.self) != nil else { return nil }
        if let label = pemLabel(bytes) { return label.hasSuffix("PRIVATE KEY") ? .privateKey : .pem(label: label) }
        let compact = bytes.filter { $0 > 0x20 }
        if compact.isEmpty { return .empty }
        if let json = json(bytes, compact, depth: depth) { return json }
        if let marked = marked(compact, depth: depth) { return marked }
        if let decoded = try? Hexadecimal.decode(compact) { return .hexadecimal(of: nested(decoded, depth)) }
        if let decoded = base64(compact) {
            let content = nested(decoded, depth)
            // A short word can be valid Base64 by accident.
            if !content.isUnknown || decoded.count >= 16 { return .base64(of: content) }
        }
        return .text
    }

    private static func nested(_ bytes: [UInt8], _ depth: Int) -> FileKind {
        depth > 0 ? FileKind(bytes, depth: depth - 1) : .unknown(count: bytes.count)
    }

    private static func base64(_ text: [UInt8]) -> [UInt8]? {
        (try? Base64.decode(text)) ?? (try? Base64URL.decode(text.filter { $0 != UInt8(ascii: "=") }))
    }

    private static func pemLabel(_ bytes: [UInt8]) -> String? {
        let begin = Array("-----BEGIN ".utf8)
        guard bytes.starts(with: begin) else { return nil }
        let label = bytes.dropFirst(begin.count).prefix { $0 != UInt8(ascii: "-") }.prefix(40)
        return String(decoding: label, as: UTF8.self)
    }

    private static func json(_ bytes: [UInt8], _ compact: [UInt8], depth: Int) -> FileKind? {
        guard compact.first == UInt8(ascii: "{") || compact.first == UInt8(ascii: "[") else { return nil }
        if RequestSecretsFile.isMarked(bytes) { return .requestSecrets }
        guard let object = (try? JSONReader.parse(bytes))?.object else { return .json }
        for name in ["spc", "ckc"] {
            guard let text = object[name]?.string, let decoded = base64(Array(text.utf8)) else { continue }
            return .wrapped(in: "the JSON member \"\(name)\"", nested(decoded, depth))
        }
        return .json
    }

    /// The kind of a text that begins with the name of a form field or with a tag.
    private static func marked(_ compact: [UInt8], depth: Int) -> FileKind? {
        let text = String(decoding: compact, as: UTF8.self)
        for name in ["spc", "ckc"] {
            if text.hasPrefix("\(name)=") {
                let value = text.dropFirst(name.count + 1).prefix { $0 != "&" }
                if let decoded = base64(PercentEncoding.decodeLeniently(Array(value.utf8))) {
                    return .wrapped(in: "the form field \"\(name)\"", nested(decoded, depth))
                }
            }
            if text.hasPrefix("<\(name)>"), text.hasSuffix("</\(name)>") {
                let value = text.dropFirst(name.count + 2).dropLast(name.count + 3)
                if let decoded = base64(Array(value.utf8)) {
                    return .wrapped(in: "the element <\(name)>", nested(decoded, depth))
                }
            }
        }
        return text.hasPrefix("<") ? .markup : nil
    }
}

extension FileKind: CustomStringConvertible {
    /// The kind, and what to do with such a file.
    package var description: String {
        guard let advice else { return name }
        return "\(name); \(advice)"
    }

    /// The kind, without the advice.
    var name: String {
        switch self {
        case .empty: "empty"
        case .spc: "an SPC"
        case .ckc: "a CKC"
        case .certificates(let bits) where bits.count == 1: "a certificate of a \(bits[0])-bit key"
        case .certificates(let bits):
            "a bundle of certificates of \(bits.map(String.init).joined(separator: "- and "))-bit keys"
        case .privateKey: "a private key"
        case .der: "a DER file, as certificates and keys are"
        case .pem(let label): "a PEM file (\(label))"
        case .requestSecrets: "the secrets file of an SPC"
        case .json: "JSON text"
        case .base64(let content): "Base64 text of \(content.name)"
        case .hexadecimal(let content): "hexadecimal text of \(content.name)"
        case .wrapped(let place, let content): "\(content.name) as Base64 text in \(place)"
        case .markup: "XML or HTML text"
        case .text: "text"
        case .unknown(let count): "\(count.counted("byte")) of an unknown kind"
        }
    }

    private var advice: String? {
        switch self {
        case .empty, .unknown: nil
        case .spc: "latchkey spc inspect reads it"
        case .ckc: "latchkey ckc inspect reads it"
        case .certificates: "a player makes an SPC with it, and --certificate takes it"
        case .privateKey: "keep it where only the daemon can read it"
        case .der, .pem: nil
        case .requestSecrets: "--secrets takes it"
        case .json: "if it is a server's answer, it says what was wrong"
        case .base64, .hexadecimal: "decode it to bytes: \(decoding.joined(separator: " | "))"
        case .wrapped: "take the Base64 text out and decode it to bytes: base64 --decode"
        case .markup, .text: "if it is a server's answer, it says what was wrong"
        }
    }

    /// The commands that decode the encodings, from the outermost to the innermost.
    private var decoding: [String] {
        switch self {
        case .base64(let content): ["base64 --decode"] + content.decoding
        case .hexadecimal(let content): ["xxd -r -p"] + content.decoding
        case .empty, .spc, .ckc, .certificates, .privateKey, .der, .pem, .requestSecrets, .json, .wrapped, .markup,
            .text, .unknown:
            []
        }
    }
}

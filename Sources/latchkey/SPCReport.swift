import ByteCoding
import DeviceSimulation
import FairPlay
import KeyCrypto
import LatchkeyService

/// What can be told of an SPC: its outer layout, and with its secrets its blocks.
struct SPCReport {
    private let envelope: SPCEnvelope
    private let hash: [UInt8]
    private let content: Content?

    private struct Content {
        let deviceID: DeviceID
        let payload: [UInt8]
        let blocks: [TLLVBlock]
    }

    init(_ given: InspectArguments) throws(CommandError) {
        do throws(SPCError) {
            envelope = try SPCEnvelope(parsing: given.bytes)
        } catch {
            throw .failed("\(given.path) is not an SPC: \(Self.explanation(of: error, FileKind(given.bytes)))")
        }
        let crypto = try Cryptography.attempt { () throws(CryptoError) in try CryptoContext() }
        hash = try Cryptography.attempt { () throws(CryptoError) in try crypto.sha256(given.bytes) }
        if let file = given.secrets {
            try file.check(belongsTo: given.bytes, given.path)
            content = try Self.open(envelope, with: file.secrets, using: crypto)
        } else {
            content = nil
        }
    }

    private static func open(
        _ envelope: SPCEnvelope, with secrets: RequestSecrets, using crypto: CryptoContext
    ) throws(CommandError) -> Content {
        let payload = try Cryptography.attempt { () throws(CryptoError) in
            try secrets.decryptPayload(of: envelope, using: crypto)
        }
        do throws(TLLVError) {
            let blocks = try TLLVBlocks(parsing: payload).blocks
            return Content(deviceID: secrets.deviceID, payload: payload, blocks: blocks)
        } catch {
            throw .failed("the payload is not a row of TLLV blocks: the secrets file is damaged")
        }
    }

    private static func explanation(of error: SPCError, _ kind: FileKind) -> String {
        switch kind {
        // What begins like an SPC deserves to hear what is wrong with it; all else what it is.
        case .unknown, .spc: return explanation(of: error)
        case .empty, .ckc, .certificate, .pem, .requestSecrets, .json, .base64, .hexadecimal, .text:
            return "it is \(kind)"
        }
    }

    private static func explanation(of error: SPCError) -> String {
        switch error {
        case .empty: "it is empty"
        case .isCertificate: "it begins like a certificate"
        case .unsupportedVersion(let version): "its version would be \(version), and 1 and 2 are known"
        case .malformed(.tooLarge(let maximum)): "it has more than \(maximum) bytes"
        case .malformed(.truncated): "it ends within its header"
        case .malformed(.payloadLength(let declared, let available)):
            "it declares a payload of \(declared) bytes and has \(available)"
        case .malformed(.payloadEmpty): "its payload is empty"
        case .malformed(.payloadUnaligned): "its payload is not a row of AES blocks"
        case .malformed(.transportIdentifier): "the identifier of its transport is not the one that is known"
        case .malformed(.payloadLengthHigh): "the first twelve bytes of its payload's length are not zero"
        case .unknownCertificate, .rejected, .internalFailure: "it cannot be opened"
        }
    }
}

extension SPCReport {
    /// For a person.
    var text: String {
        var lines = [
            "SPC of version \(envelope.version.rawValue), \(envelope.message.count) bytes",
            "  certificate hash     \(Hexadecimal.encode(envelope.certificateHash.bytes))",
            "  wrapped session key  \(envelope.wrappedKey.count) bytes",
            "  IV                   \(envelope.iv.map { Hexadecimal.encode($0.bytes) } ?? "derived")",
            "  payload              \(envelope.payload.count) bytes, encrypted",
            "  SHA-256              \(Hexadecimal.encode(hash))",
        ]
        guard let content else { return lines.joined(separator: "\n") }
        lines.append("  device id (HU)       \(content.deviceID)")
        lines.append("\(content.blocks.count) blocks:")
        for block in content.blocks {
            let name = TLLVTag.name(of: block.tag) ?? "unknown"
            let padding = block.range.upperBound - block.value.upperBound
            lines.append("  \(Self.tag(block)) \(name), \(block.value.count) bytes and \(padding) of padding")
            lines.append("    \(Hexadecimal.encode(content.payload[block.value]))")
        }
        return lines.joined(separator: "\n")
    }

    func write(to writer: inout JSONWriter) {
        writer.member("version", Int(envelope.version.rawValue))
        writer.member("bytes", envelope.message.count)
        writer.member("certificateHash", Hexadecimal.encode(envelope.certificateHash.bytes))
        writer.member("wrappedKeyBytes", envelope.wrappedKey.count)
        writer.member("iv", envelope.iv.map { Hexadecimal.encode($0.bytes) })
        writer.member("payloadBytes", envelope.payload.count)
        writer.member("sha256", Hexadecimal.encode(hash))
        writer.member("deviceID", content.map { Hexadecimal.encode($0.deviceID.bytes) })
        writer.name("blocks")
        guard let content else { return writer.null() }
        writer.array { writer in
            for block in content.blocks { writer.object { Self.write(block, content.payload, to: &$0) } }
        }
    }

    private static func write(_ block: TLLVBlock, _ payload: [UInt8], to writer: inout JSONWriter) {
        writer.member("tag", tag(block))
        writer.member("name", TLLVTag.name(of: block.tag))
        writer.member("value", Hexadecimal.encode(payload[block.value]))
        writer.member("paddingBytes", block.range.upperBound - block.value.upperBound)
    }

    /// 16 digits.
    private static func tag(_ block: TLLVBlock) -> String {
        Hexadecimal.encode(Bytes16(high: block.tag, low: 0).bytes.prefix(8))
    }
}

extension SPCEnvelope {
    /// The vector that the message carries; version 3 derives it.
    fileprivate var iv: Bytes16? {
        switch protection {
        case .none(let iv): iv
        case .authenticated: nil
        }
    }
}

import Administration
import ByteCoding
import CommandLineKit
import DeviceSimulation
import FairPlay
import KeyCrypto

/// A report on an SPC: its outer layout, and, with its secrets or its server's configuration, its blocks.
struct SPCReport {
    private let envelope: SPCEnvelope
    private let hash: [UInt8]
    private let contents: SPCContents?

    init(_ given: InspectArguments, server: ServerKeys?) throws(CommandError) {
        let envelope = try Self.envelope(given)
        let crypto = try wrap(CommandError.cryptography, try CryptoContext())
        self.envelope = envelope
        hash = try wrap(CommandError.cryptography, try crypto.sha256(given.bytes))
        if let file = given.secrets {
            try file.check(belongsTo: given.bytes, given.path)
            contents = try Self.contents(given) { () throws(SPCContentsFault) in
                try SPCContents(of: envelope, secrets: file.secrets, using: crypto)
            }
        } else if let server {
            let key = try server.key(for: envelope, given.path)
            contents = try Self.contents(given) { () throws(SPCContentsFault) in
                try SPCContents(
                    of: envelope, key: key, servedVersions: server.protocolVersions, using: crypto)
            }
        } else {
            contents = nil
        }
    }

    private static func envelope(_ given: InspectArguments) throws(CommandError) -> SPCEnvelope {
        return try wrap(
            { (error: SPCError) in
                CommandError.failed("\(given.path) is not an SPC: \(explanation(of: error, FileKind(given.bytes)))")
            }, try SPCEnvelope(parsing: given.bytes, served: Set(SPCVersion.allCases)))
    }

    private static func contents(
        _ given: InspectArguments, _ open: () throws(SPCContentsFault) -> SPCContents
    ) throws(CommandError) -> SPCContents {
        do throws(SPCContentsFault) {
            return try open()
        } catch {
            switch error {
            case .rejected(let rejection):
                throw .failed("the contents of \(given.path) cannot be shown: \(rejection.explanation)")
            case .other(let error): throw .failed("the contents of \(given.path) cannot be shown: \(error)")
            case .cryptography(let error): throw .cryptography(error)
            }
        }
    }

    /// Says what is wrong with a file that may be a damaged SPC. For any other file, says what it is.
    private static func explanation(of error: SPCError, _ kind: FileKind) -> String {
        kind.isUnknown ? explanation(of: error) : "it is \(kind)"
    }

    private static func explanation(of error: SPCError) -> String {
        switch error {
        case .empty: "it is empty"
        case .isCertificate: "it begins like a certificate"
        case .unsupportedVersion(let version): "its version would be \(version), and only 1, 2 and 3 are known"
        case .malformed(.tooLarge(let maximum)): "it has more than \(maximum) bytes"
        case .malformed(.truncated): "it ends within its header"
        case .malformed(.payloadLength(let declared, let available)):
            "it declares a payload of \(declared) bytes, but has \(available)"
        case .malformed(.payloadEmpty): "its payload is empty"
        case .malformed(.payloadUnaligned): "its payload is not a multiple of the AES block size"
        case .malformed(.transportIdentifier): "its transport identifier is not the known one"
        case .malformed(.payloadLengthHigh): "the first twelve bytes of its payload's length are not zero"
        case .unknownCertificate, .rejected, .internalFailure: "it cannot be opened"
        }
    }
}

extension SPCReport {
    /// The report as text.
    var text: String {
        var lines = [
            "SPC of version \(envelope.version.rawValue), \(envelope.message.count) bytes",
            "  certificate hash     \(Hexadecimal.encode(envelope.certificateHash.bytes))",
            "  wrapped key          \(envelope.wrappedKey.count) bytes",
        ]
        switch envelope.protection {
        case .none(let iv): lines.append("  IV                   \(Hexadecimal.encode(iv.bytes))")
        case .authenticated(let tag): lines.append("  authentication tag   \(Hexadecimal.encode(tag.bytes))")
        }
        lines += [
            "  payload              \(envelope.payload.count) bytes, encrypted",
            "  SHA-256              \(Hexadecimal.encode(hash))",
        ]
        if let contents { lines += Self.lines(contents) }
        return lines.joined(separator: "\n")
    }

    private static func lines(_ contents: SPCContents) -> [String] {
        var lines: [String] = []
        if let deviceID = contents.deviceID { lines.append("  device id (HU)       \(deviceID)") }
        switch contents.verdict {
        case .none: break
        case .accepted: lines.append("  the server opens it")
        case .rejected(let rejection): lines.append("  the server rejects it: \(rejection.explanation)")
        }
        lines.append("\(contents.blocks.count.counted("block")):")
        for block in contents.blocks {
            let name = TLLVTag.name(of: block.tag) ?? "unknown"
            let padding = block.range.upperBound - block.value.upperBound
            let value = contents.payload[block.value]
            lines.append("  \(hexadecimal(block.tag)) \(name), \(block.value.count) bytes and \(padding) of padding")
            if !value.isEmpty { lines.append("    \(Hexadecimal.encode(value))") }
            lines += explanation(of: block, contents).map { "    \($0)" }
        }
        return lines
    }

    private static func explanation(of block: TLLVBlock, _ contents: SPCContents) -> [String] {
        TLLVExplanation(tag: block.tag, value: Array(contents.payload[block.value])).lines
    }

    func write(to writer: inout JSONWriter) {
        writer.member("version", Int(envelope.version.rawValue))
        writer.member("bytes", envelope.message.count)
        writer.member("certificateHash", Hexadecimal.encode(envelope.certificateHash.bytes))
        writer.member("wrappedKeyBytes", envelope.wrappedKey.count)
        writer.member("iv", iv.map { Hexadecimal.encode($0.bytes) })
        writer.member("authenticationTag", authenticationTag.map { Hexadecimal.encode($0.bytes) })
        writer.member("payloadBytes", envelope.payload.count)
        writer.member("sha256", Hexadecimal.encode(hash))
        writer.member("deviceID", contents?.deviceID.map { Hexadecimal.encode($0.bytes) })
        writer.name("accepted")
        switch contents?.verdict {
        case .none: writer.null()
        case .accepted: writer.bool(true)
        case .rejected: writer.bool(false)
        }
        writer.member("rejection", rejection?.explanation)
        writer.name("blocks")
        guard let contents else { return writer.null() }
        writer.array { writer in
            for block in contents.blocks { writer.object { Self.write(block, contents, to: &$0) } }
        }
    }

    /// The initialization vector in the message. Nil for version 3, which derives it.
    private var iv: Bytes16? {
        guard case .none(let iv) = envelope.protection else { return nil }
        return iv
    }

    private var authenticationTag: Bytes16? {
        guard case .authenticated(let tag) = envelope.protection else { return nil }
        return tag
    }

    private var rejection: SPCRejection? {
        guard case .rejected(let rejection) = contents?.verdict else { return nil }
        return rejection
    }

    private static func write(_ block: TLLVBlock, _ contents: SPCContents, to writer: inout JSONWriter) {
        writer.member("tag", hexadecimal(block.tag))
        writer.member("name", TLLVTag.name(of: block.tag))
        writer.member("value", Hexadecimal.encode(contents.payload[block.value]))
        writer.member("paddingBytes", block.range.upperBound - block.value.upperBound)
        writer.member("explanation", explanation(of: block, contents))
    }
}

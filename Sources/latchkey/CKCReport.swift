import ByteCoding
import CommandLineKit
import DeviceSimulation
import KeyCrypto

/// What can be told of a CKC: its outer layout, and with the secrets of the SPC that it answers what it grants.
struct CKCReport {
    /// What `CKCOpener` has found to hold when it gives a licence.
    private static let checks = [
        "R1", "blocks that were asked back", "sizes", "no unknown blocks", "terms that this device can be told",
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
    /// For a person.
    var text: String {
        var lines = [
            "CKC of version \(envelope.version), \(envelope.message.count) bytes",
            "  IV       \(Hexadecimal.encode(envelope.iv.bytes))",
            "  payload  \(envelope.payload.count) bytes, encrypted",
        ]
        if let license {
            lines += license.lines
            lines.append("all checks of a device hold: " + Self.checks.joined(separator: ", "))
        }
        return lines.joined(separator: "\n")
    }

    func write(to writer: inout JSONWriter) {
        writer.member("version", Int(envelope.version))
        writer.member("bytes", envelope.message.count)
        writer.member("iv", Hexadecimal.encode(envelope.iv.bytes))
        writer.member("payloadBytes", envelope.payload.count)
        writer.name("license")
        guard let license else { return writer.null() }
        writer.object { license.write(to: &$0) }
    }
}

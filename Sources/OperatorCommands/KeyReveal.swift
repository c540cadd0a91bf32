import ByteCoding
import CommandLineKit
import ContentKeys
import KeyCrypto
import Records
import ServiceConfiguration

/// How a stored key may leave: in clear if the configuration allows it, or sealed for a recipient; each time with a
/// line in the ledger.
struct KeyReveal {
    static let reveal = CommandOption(
        "--reveal", .flag, help: "print key and vector in clear; keys.allowReveal must allow it")
    static let recipient = CommandOption(
        "--recipient", .value("FILE"), help: "print key and vector sealed for this RSA public key, in PEM or DER")

    /// The least size of a recipient's modulus in bytes.
    private static let modulusSizeMinimum = 256

    private enum Form {
        case none
        case clear
        case sealed(RSAPublicKey)
    }

    private let form: Form

    init(_ arguments: Arguments) throws(CommandError) {
        switch (arguments.isSet(Self.reveal), arguments.value(Self.recipient)) {
        case (true, .some): throw .usage("--reveal and --recipient are two ways to do one thing; choose one")
        case (true, nil): form = .clear
        case (false, .some(let path)): form = .sealed(try Self.publicKey(path))
        case (false, nil): form = .none
        }
    }

    /// Throws if nothing may be shown as it was asked for; to be called before anything is changed.
    func requirePermission(by file: ConfigurationFile) throws(CommandError) {
        if case .clear = form { try Self.requireClearPermission(by: file) }
    }

    /// Throws if the configuration lets no key out in clear.
    static func requireClearPermission(by file: ConfigurationFile) throws(CommandError) {
        guard file.configuration.keys.allowReveal else {
            throw .failed("keys.allowReveal is false: this configuration lets no key out in clear; use --recipient")
        }
    }

    /// Records that keys are about to be shown.
    static func writeDown(
        _ records: [ContentKeyRecord], _ detail: String, _ file: ConfigurationFile, _ context: CommandContext
    ) throws(CommandError) {
        let deeds = records.map { record in
            KeyRecords.Deed(
                kind: .keyRevealed, keyID: record.keyID, contentID: record.contentID, detail: detail)
        }
        try KeyRecords(file, context).write(deeds)
    }

    /// What is to be shown beside the attributes; nothing is given back that was not recorded.
    func secrets(
        of record: ContentKeyRecord, in file: ConfigurationFile, _ context: CommandContext
    ) throws(CommandError) -> [(name: String, value: String)] {
        switch form {
        case .none: return []
        case .clear:
            try requirePermission(by: file)
            try Self.writeDown([record], "reveal", file, context)
            return [
                ("key", Hexadecimal.encode(record.key.bytes.revealed())), ("iv", Hexadecimal.encode(record.iv.bytes)),
            ]
        case .sealed(let key):
            let sealed: [UInt8]
            sealed = try wrap(
                { (error: CryptoError) in CommandError.failed("OpenSSL did not seal the key (\(error))") },
                try key.encrypt(SecretBytes(joining: record.key.bytes, record.iv), padding: .sha256))
            try Self.writeDown([record], "recipient", file, context)
            return [("sealed", Base64.encode(sealed))]
        }
    }

    private static func publicKey(_ path: String) throws(CommandError) -> RSAPublicKey {
        let bytes = try CommandFile.read(path).revealed()
        guard let key = try? RSAPublicKey(parsing: bytes), key.modulusSize >= modulusSizeMinimum else {
            throw .failed("\(path) is no RSA public key of at least 2048 bits, in PEM or DER")
        }
        return key
    }
}

import ByteCoding
import CommandLineKit
import CommandSupport
import ContentKeys
import KeyCrypto
import Records
import ServiceConfiguration

/// The form in which a command shows a stored key: in clear if the configuration allows it, or sealed for a recipient.
///
/// The ledger gets a row each time.
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

    /// Throws if the configuration forbids the form that was asked for. Must be called before anything is changed.
    func requirePermission(by file: ConfigurationFile) throws(CommandError) {
        if case .clear = form { try Self.requireClearPermission(by: file) }
    }

    /// Throws if the configuration forbids to show keys in clear.
    static func requireClearPermission(by file: ConfigurationFile) throws(CommandError) {
        guard file.configuration.keys.allowReveal else {
            throw .failed("keys.allowReveal is false: the configuration forbids keys in clear; use --recipient")
        }
    }

    /// Records that keys are about to be shown.
    static func writeDown(
        _ records: [ContentKeyRecord], detail: String, _ file: ConfigurationFile, _ context: CommandContext
    ) throws(CommandError) {
        let deeds = records.map { record in
            KeyRecords.Deed(
                kind: .keyRevealed, keyID: record.keyID, contentID: record.contentID, detail: detail)
        }
        try KeyRecords(file, context).write(deeds)
    }

    /// The secrets to show with a key's attributes. They are recorded in the ledger before they are returned.
    func secrets(
        of record: ContentKeyRecord, in file: ConfigurationFile, _ context: CommandContext
    ) throws(CommandError) -> [(name: String, value: String)] {
        switch form {
        case .none: return []
        case .clear:
            try requirePermission(by: file)
            try Self.writeDown([record], detail: "reveal", file, context)
            return [
                ("key", Hexadecimal.encode(record.key.bytes.revealed())), ("iv", Hexadecimal.encode(record.iv.bytes)),
            ]
        case .sealed(let key):
            let sealed: [UInt8]
            sealed = try wrap(
                { (error: CryptoError) in CommandError.failed("OpenSSL did not seal the key (\(error))") },
                try key.encrypt(SecretBytes(joining: record.key.bytes, record.iv), padding: .sha256))
            try Self.writeDown([record], detail: "recipient", file, context)
            return [("sealed", Base64.encode(sealed))]
        }
    }

    private static func publicKey(_ path: String) throws(CommandError) -> RSAPublicKey {
        let bytes = try CommandFile.read(path).revealed()
        guard let key = try? RSAPublicKey(parsing: bytes), key.modulusSize >= modulusSizeMinimum else {
            throw .failed("\(path) is not an RSA public key of at least 2048 bits, in PEM or DER")
        }
        return key
    }
}

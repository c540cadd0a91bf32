import ByteCoding
package import CommandLineKit
import CommandSupport
import Foundation
import KeyCrypto
import POSIXSockets
import ServiceConfiguration

extension Command {
    private static let production = CommandOption(
        "--production", .flag, help: "make the set-up of a production node, without FairPlay and TLS files")
    private static let group = CommandOption(
        "--group", .value("GROUP"),
        help:
            "with --production: the group that may read secrets, by name or number; default: latchkey, if there is such a group"
    )
    private static let from = CommandOption(
        "--from", .value("FOLDER"),
        help: "with --production: put the delivered files of this folder into their places, whatever their names")
    private static let passphraseFile = CommandOption(
        "--passphrase-file", .value("FILE"),
        help: "the passphrase of encrypted files in that folder; without it, it is asked for")
    private static let dryRun = CommandOption(
        "--dry-run", .flag, help: "with --production: print what would be made, and make nothing")

    /// `latchkey init DIR`
    package static let initialize = Command(
        "init",
        summary: "Make a set-up in a new or empty folder, for development or for production",
        details: """
            Writes a configuration, self-signed FairPlay and TLS certificates with their private keys, a random application secret,
            and the keys that seal content keys and sign tokens. Only you can read the secrets. No existing file is overwritten.

            This is development material: Apple issues the real certificates and the application secret under its own agreement,
            and the daemon refuses these certificates on any listener that is not loopback.

            With --production it makes the secrets of an installation, a configuration that explains each choice, and CHECKLIST.txt:
            what Apple and others deliver, and where each file goes. Secrets belong to you and to a group, with mode 0640, so that
            the daemon can read them and cannot change them.

            --from FOLDER takes what was delivered: FairPlay certificates alone or in one file, their private keys, the
            application secret, a TLS certificate with its chain and key, the token issuer's public key, PKCS#12 files, and a folder
            with certificates.json and a library of the SDK. What belongs together is found by the keys. Encrypted keys are written
            without their passphrase, as the daemon needs them. The files of the folder stay as they are.
            """,
        examples: [
            "latchkey init ./development", "latchkeyd --config ./development/latchkey.json5",
            "latchkey init --production /etc/latchkey", "latchkey init --production --from ./delivered /etc/latchkey",
        ],
        operands: [CommandOperand("DIR", help: "the folder, which must be empty; it is made if it does not exist")],
        options: [production, group, from, passphraseFile, dryRun],
        run: { arguments, context throws(CommandError) in
            let directory = try arguments.operand(0)
            guard !directory.isEmpty else { throw .usage("DIR is empty") }
            if arguments.isSet(production) {
                let readers = try ProductionSetup.readers(arguments.value(group))
                let passphrase = try passphrases(arguments.value(passphraseFile))
                let delivered = try arguments.value(from).map { (folder) throws(CommandError) in
                    try DeliveredFiles(from: folder, passphrase: passphrase)
                }
                try ProductionSetup.initialize(
                    directory, readers, with: delivered, isDry: arguments.isSet(dryRun), context)
            } else {
                for option in [group, from, passphraseFile, dryRun] where arguments.isSet(option) {
                    throw .usage("\(option.name) needs --production")
                }
                try DevelopmentSetup.initialize(directory, context)
            }
        })

    /// Returns where the passphrase of a file comes from: the file at `path`, which is read at once, or the terminal.
    private static func passphrases(
        _ path: String?
    ) throws(CommandError) -> (_ file: String, _ isWrong: Bool) throws(CommandError) -> SharedSecret {
        guard let path else {
            return { (file, isWrong) throws(CommandError) in
                try ask("Passphrase of \(file)\(isWrong ? " (that was wrong)" : ""): ", file)
            }
        }
        var bytes = try CommandFile.read(path, sizeMaximum: 1024).revealed()
        defer { bytes.wipe() }
        while let last = bytes.last, last == 0x0A || last == 0x0D { bytes.removeLast() }
        let passphrase = SharedSecret(SecretBytes(copying: bytes))
        return { (file, isWrong) throws(CommandError) in
            guard !isWrong else { throw .failed("\(file): the passphrase of \(path) does not open it") }
            return passphrase
        }
    }

    private static func ask(_ question: String, _ file: String) throws(CommandError) -> SharedSecret {
        guard isatty(STDIN_FILENO) == 1 else {
            throw .failed("\(file) is encrypted; name a file with its passphrase: --passphrase-file FILE")
        }
        // Safe: the text belongs to the C library until the next call, and is wiped here.
        guard let answer = unsafe getpass(question) else { throw .failed("no passphrase for \(file)") }
        let count = unsafe strlen(answer)
        defer { unsafe explicit_bzero(answer, count) }
        return SharedSecret(unsafe SecretBytes(copying: RawSpan(_unsafeStart: answer, byteCount: count)))
    }
}

extension ProductionSetup {
    private static let groupDefault = "latchkey"

    fileprivate static func readers(_ name: String?) throws(CommandError) -> SetupReaders {
        if let number = UserGroup(named: name ?? groupDefault)?.number ?? name.flatMap({ UInt32($0) }) {
            return .group(number)
        }
        guard let name else { return .owner }
        throw .failed("there is no group \(name); systemd-sysusers makes the group latchkey")
    }

    fileprivate static func initialize(
        _ directory: String, _ readers: SetupReaders, with delivered: DeliveredFiles?, isDry: Bool,
        _ context: CommandContext
    ) throws(CommandError) {
        if isDry { return try context.print(listing(directory, readers, with: delivered)) }
        try SetupFolder.withFolder(directory, for: readers, tolerating: toleratedNames) {
            folder throws(CommandError) in
            if !folder.isWritten {
                let files = try wrap(CommandError.noRandomBytes, try make(in: directory, with: delivered))
                try folder.write(files, folders: folders)
            }
            try folder.place()
        }
        let owners = readers.group == nil ? "readable by you alone" : "mode 0640, readable by the daemon's group"
        try context.print(
            """
            Made a production set-up in \(directory); its secrets are \(owners).
            \(delivered.map { "\n" + report(of: $0) } ?? "")
            \(checklist(directory, with: delivered).dropLast())
            """)
    }

    private static func report(of delivered: DeliveredFiles) -> String {
        let lines = delivered.report.map { "  \($0)\n" }
        return "Delivered files:\n" + (lines.isEmpty ? "  none\n" : lines.joined())
    }

    /// What would be made, without any secret.
    private static func listing(
        _ directory: String, _ readers: SetupReaders, with delivered: DeliveredFiles?
    ) throws(CommandError) -> String {
        let files = try wrap(CommandError.noRandomBytes, try make(in: directory, with: delivered))
        let rows = files.map { file in
            let mode = String(file.isSecret ? readers.secretMode : readers.fileMode, radix: 8)
            return "  0\(mode)  \(FilePath.resolve(file.path, relativeTo: directory))"
        }
        return "Would make:\n" + rows.joined(separator: "\n") + (delivered.map { "\n\n" + report(of: $0) } ?? "\n")
            + "\nlatchkey.json5:\n\n\(configuration(with: delivered).dropLast())"
    }
}

extension DevelopmentSetup {
    fileprivate static func initialize(_ directory: String, _ context: CommandContext) throws(CommandError) {
        try SetupFolder.withFolder(directory) { folder throws(CommandError) in
            if !folder.isWritten { try folder.write(try files(context), folders: folders) }
            try folder.place()
        }
        try context.print(report(directory))
    }

    private static func files(_ context: CommandContext) throws(CommandError) -> [SetupFile] {
        return try wrap(
            { (error: CryptoError) in
                CommandError.failed("OpenSSL could not make keys (\(error)); is its installation complete?")
            }, try make(now: context.now))
    }

    private static func report(_ directory: String) -> String {
        let configuration = FilePath.resolve(configurationName, relativeTo: directory)
        let config = Shell.quote(configuration)
        return """
            Made a development set-up in \(directory):
              \(configurationName)            the configuration, with comments
              fairplay/                 certificates, private keys, application secret
              tls/                      a TLS certificate for localhost, and its private key
              secrets/                  key-encryption key, keys of the ledger and of pseudonyms, token signing key, admin token,
                                        secret of the packager "\(DevelopmentConfiguration.packager)"

            This is development material. Apple issues the real FairPlay certificates and application secret; the ones here are
            self-signed, and latchkeyd refuses them on any listener that is not loopback.

            Next:
              latchkeyd --config \(config) --check
              latchkey keys create --config \(config) --content demo
              latchkey token mint --config \(config) --content demo
              latchkeyd --config \(config)

            The operator's page is then at http://127.0.0.1:9080/ (log in with the text of secrets/admin-token).
            """
    }
}

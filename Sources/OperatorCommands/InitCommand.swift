import ByteCoding
package import CommandLineKit
import KeyCrypto
import ServiceConfiguration

extension Command {
    /// `latchkey init DIR`
    package static let initialize = Command(
        "init",
        summary: "Make a development set-up in a new or empty folder",
        details: """
            Writes a configuration, self-signed FairPlay and TLS certificates with their private keys, a random application secret,
            and the keys that seal content keys and sign tokens. Only you can read the secrets. No existing file is overwritten.

            This is development material: Apple issues the real certificates and the application secret under its own agreement,
            and the daemon refuses these certificates on any listener that is not loopback.
            """,
        examples: ["latchkey init ./development", "latchkeyd --config ./development/latchkey.json5"],
        operands: [CommandOperand("DIR", help: "the folder, which must be empty; it is made if it does not exist")],
        run: { arguments, context throws(CommandError) in
            try DevelopmentSetup.initialize(arguments.operand(0), context)
        })
}

extension DevelopmentSetup {
    fileprivate static func initialize(_ directory: String, _ context: CommandContext) throws(CommandError) {
        guard !directory.isEmpty else { throw .usage("DIR is empty") }
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
            """
    }
}

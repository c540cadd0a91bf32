import ByteCoding
package import CommandLineKit
import CommandSupport
import KeyCrypto
import ServiceConfiguration

extension Command {
    /// `latchkey backup`
    package static let backup = Command(
        "backup",
        summary: "Back up what a node has stored, check a backup, and put it back",
        examples: [
            "latchkey backup create --config latchkey.json5 --output /backup/monday",
            "latchkey backup verify /backup/monday --config latchkey.json5",
            "latchkey backup restore /backup/monday --config latchkey.json5",
        ],
        commands: [createBackup, verifyBackup, restoreBackup])

    private static let createBackup = Command(
        "create",
        summary: "Copy the node's database and configuration into a new folder",
        details: """
            Works while the daemon serves, and holds up nothing. The copy is of one moment: every license that was answered before the
            command began is in it. With SQLite it is everything that is stored; beside PostgreSQL it is the node's own ledger, and
            PostgreSQL has tools of its own for the rest (pg_dump, pg_basebackup).

            The backup has the configuration, and fingerprints of the files that it names, but no secret. With --recipient these files
            are added, sealed for the holders of the certificates (CMS, AES-256-GCM), so that the backup and the private key are all that
            a new host needs. Without it, keep the secrets elsewhere: without the key-encryption key the content keys are lost.

            The folder gets its name when everything in it is durable. If --output is a folder that is there, such as /backup below, the
            backup is made in it, under the node's name and the time, so that a timer can run the same command again. A folder that is
            a backup itself is refused.
            """,
        examples: [
            "latchkey backup create --config latchkey.json5 --output /backup",
            "latchkey backup create --config latchkey.json5 --output /backup/monday --recipient recovery.pem --json",
        ],
        options: [.config, BackupArguments.output, BackupArguments.recipient, .json],
        run: { arguments, context throws(CommandError) in
            try await BackupCreation(arguments, context).run(asJSON: arguments.isSet(.json))
        })

    private static let verifyBackup = Command(
        "verify",
        summary: "Find what is damaged, altered or missing in a backup",
        details: """
            Reads the whole backup and changes nothing. Compares each file with its digest, lets SQLite check the database, and says
            whether this program can work with it. With --config it also verifies the manifest and the ledger under the ledger key, opens
            every content key, and compares the secrets of the configuration with those of the time of the backup: it names each that is
            missing or differs. With --recipient-key it opens the sealed files too.

            Ends with status 1 and a line for each finding.
            """,
        examples: [
            "latchkey backup verify /backup/monday",
            "latchkey backup verify /backup/monday --config latchkey.json5 --json",
            "latchkey backup verify /backup/monday --config latchkey.json5 --recipient-key recovery-key.pem",
        ],
        operands: [BackupArguments.backup],
        options: [
            BackupArguments.optionalConfig, BackupArguments.recipientKey, BackupArguments.passphrase, .json,
        ],
        run: { arguments, context throws(CommandError) in
            try await BackupVerification(arguments, context).run(asJSON: arguments.isSet(.json))
        })

    private static let restoreBackup = Command(
        "restore",
        summary: "Put a backup in the place of a database that is gone",
        details: """
            Verifies the backup, and then puts its database where the configuration has it. Nothing is ever overwritten: move away what is
            left of the old database first. A configuration that is not there yet is taken from the backup. With --recipient-key the files
            that the configuration names are put in their places too. All paths are listed before anything is written. If the
            configuration comes from the backup, files outside of its folder need --allow-folder. Run it as the daemon's user, while the daemon is stopped; until the
            database is in its place, no daemon starts with it.

            The restore is recorded in the ledger. What happened after the backup is lost: licenses given, uses spent, revocations, keys,
            withdrawals of keys, windows, schedules and aliases. Derived keys are made again when they are asked for; random keys are lost
            for good. A withdrawn key is in use again, so repeat withdrawals before packagers ask. Beside PostgreSQL, latchkey ledger
            rejoin takes what the copy of the ledger has.

            Never let the old node run again: both would give licenses under one id.
            """,
        examples: [
            "latchkey backup restore /backup/monday --config latchkey.json5",
            "latchkey backup restore /backup/monday --config latchkey.json5 --recipient-key recovery-key.pem --replaces node-1",
            "latchkey backup restore /backup/monday --config /etc/latchkey/latchkey.json5 --allow-folder /var/lib/latchkey",
        ],
        operands: [BackupArguments.backup],
        options: [
            .config, BackupArguments.recipientKey, BackupArguments.passphrase, BackupArguments.replaces,
            BackupArguments.allowFolder, .json,
        ],
        run: { arguments, context throws(CommandError) in
            try await BackupRestoration(arguments, context).run(asJSON: arguments.isSet(.json))
        })
}

/// What the commands about backups are told.
enum BackupArguments {
    static let backup = CommandOperand("BACKUP", help: "the folder of a backup")
    static let optionalConfig = CommandOption(
        "--config", .value("FILE"), help: "the daemon's configuration: check proofs, keys and secrets too")
    static let output = CommandOption(
        "--output", .value("FOLDER"), help: "the new folder, or a folder in which it is made", isRequired: true)
    static let recipient = CommandOption(
        "--recipient", .value("FILE"),
        help: "certificates: add the files of the configuration, sealed for their holders")
    static let recipientKey = CommandOption(
        "--recipient-key", .value("FILE"), help: "the private key for which the files of the configuration are sealed")
    static let passphrase = CommandOption(
        "--passphrase", .value("FILE"), help: "a file with the passphrase of that private key")
    static let replaces = CommandOption(
        "--replaces", .value("NAME"),
        help: "the name of the node whose backup it is, if the configuration has another one; that node is gone")
    static let allowFolder = CommandOption(
        "--allow-folder", .value("FOLDER"),
        help: "a folder outside that of the configuration in which files of a backup's configuration may be written",
        repeats: true)

    /// What opens the sealed files; nil if it was not asked for.
    static func sealedFiles(
        _ arguments: Arguments, in folder: BackupFolder
    ) throws(CommandError) -> SealedFiles? {
        guard let path = arguments.value(recipientKey) else {
            guard !arguments.isSet(passphrase) else { throw .usage("--passphrase is for --recipient-key") }
            return nil
        }
        let sealed = folder.path(of: .secrets)
        guard BackupFolder.exists(sealed) else {
            throw .failed("the backup has no sealed files: it was made without --recipient")
        }
        let passphrase = try arguments.value(passphrase).map { path throws(CommandError) -> SharedSecret in
            guard let passphrase = try CommandFile.read(path).withoutTrailingWhiteSpace() else {
                throw .failed("the file of --passphrase holds white space alone")
            }
            return SharedSecret(passphrase)
        }
        return try SealedFiles(opening: sealed, with: CommandFile.read(path), passphrase)
    }
}

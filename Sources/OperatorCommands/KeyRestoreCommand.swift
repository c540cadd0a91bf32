import ByteCoding
import CommandLineKit
import CommandSupport
import ContentKeys
import Records
import StorageSQLite

extension Command {
    static let acceptRestoredKeys = Command(
        "accept-restore",
        summary: "Let a database that was restored from an older copy make random keys again",
        details: """
            The file of keys.generationFile has the number of the last random key. If the database is older, a content
            without a key may have had a key that is lost, so packagers get key_lost in place of a new key. Restore a
            newer copy of the database if there is one, or import the keys that packagers still have. This command accepts
            the loss: contents whose keys were lost get new keys, and what was packaged with the lost keys never plays
            again. It also makes the file again if the file is missing. The ledger gets a row. The daemon may run, and
            needs no restart.
            """,
        examples: ["latchkey keys accept-restore --config latchkey.json5"],
        options: [KeyArguments.config, .json],
        run: { arguments, context throws(CommandError) in
            let store = try OpenedKeyStore(configuration: arguments.required(KeyArguments.config), context)
            let records = try KeyRecords(store.file, context)
            guard let consent = try store.acceptRestore() else {
                throw .failed("there is nothing to accept: keys.generationFile is not configured")
            }
            if let detail = consent.detail {
                try records.write([KeyRecords.Deed(kind: .keyRestoreAccepted, keyID: nil, detail: detail)])
            }
            if arguments.isSet(.json) {
                try context.printObject { writer in
                    writer.member("outcome", consent.name)
                    if case .accepted(let missing) = consent { writer.member("missing", missing) }
                }
            } else {
                try context.print(consent.sentence)
            }
        })
}

extension KeyRestoreConsent {
    var name: String {
        switch self {
        case .notNeeded: "notNeeded"
        case .accepted: "accepted"
        case .fileMade: "fileMade"
        }
    }

    /// The detail of the ledger's row; nil if nothing was changed.
    var detail: String? {
        switch self {
        case .notNeeded: nil
        case .accepted(let missing): "missing numbers: \(missing)"
        case .fileMade: "the file was gone"
        }
    }

    var sentence: String {
        switch self {
        case .notNeeded: "nothing to accept: the database has all keys that were made"
        case .accepted(let missing):
            "accepted: up to \(missing) random keys are lost; contents without a key get new ones, and what was "
                + "packaged with the lost keys never plays again"
        case .fileMade: "accepted: the file of keys.generationFile is made again, as if the database had all keys"
        }
    }
}

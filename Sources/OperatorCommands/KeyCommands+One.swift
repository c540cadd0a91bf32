import ByteCoding
import CommandLineKit
import CommandSupport
import ContentKeys
import KeyCrypto
import Records
import ServiceConfiguration
import StorageSQLite

// The commands for a single stored key, and for sealing all keys again.

extension Command {
    static let showKey = Command(
        "show",
        summary: "Show a stored key; key and vector themselves only on request",
        details: """
            --reveal prints key and initialization vector in clear, if the configuration allows it (keys.allowReveal).
            --recipient prints both sealed for the holder of a private key: RSA-OAEP with SHA-256, in Base64, over key (16 bytes) and
            vector (16 bytes). The ledger records either before anything is printed.
            """,
        examples: [
            "latchkey keys show --config latchkey.json5 --kid 2f6c1d0e-7d3c-4c5e-9c57-0d6a5f0f6a11",
            "latchkey keys show --config latchkey.json5 --kid 2f6c1d0e-7d3c-4c5e-9c57-0d6a5f0f6a11 --recipient "
                + "packager.pem --json",
        ],
        options: [.config, OneKey.keyID, KeyReveal.reveal, KeyReveal.recipient, .json],
        run: { arguments, context throws(CommandError) in
            let given = try OneKey(arguments, context)
            let (record, aliases) = try await given.find()
            let secrets = try KeyReveal(arguments).secrets(of: record, in: given.store.file, context)
            let names = aliases.map { AssetIDText.text(of: $0) }
            if arguments.isSet(.json) {
                try context.printObject { writer in
                    record.attributes.write(to: &writer)
                    writer.member("url", given.store.assetURL(of: record))
                    writer.member("aliases", names)
                    for secret in secrets { writer.member(secret.name, secret.value) }
                }
            } else {
                let lines = [("kid", record.keyID.description), ("content", record.contentID.text)]
                let more = [
                    ("state", record.attributes.state.rawValue), ("URL", given.store.assetURL(of: record) ?? "-"),
                ]
                try context.print(
                    KeyText.lines(
                        lines + more + KeyText.policy(of: record.attributes) + names.map { ("alias", $0) } + secrets))
            }
        })

    static let aliasKey = Command(
        "alias",
        summary: "Let further asset ids name a stored key, or end that",
        details: "The ledger records each alias that is added or removed, with the user who did it.",
        examples: [
            "latchkey keys alias --config latchkey.json5 --kid 2f6c1d0e-7d3c-4c5e-9c57-0d6a5f0f6a11 --alias movie-1-hd",
            "latchkey keys alias --config latchkey.json5 --kid 2f6c1d0e-7d3c-4c5e-9c57-0d6a5f0f6a11 --alias movie-1-hd "
                + "--remove",
        ],
        options: [.config, OneKey.keyID, OneKey.alias, OneKey.remove],
        run: { arguments, context throws(CommandError) in
            let aliases = try arguments.values(OneKey.alias).map(KeyArguments.alias)
            let given = try OneKey(arguments, context)
            let records = try KeyRecords(given.store.file, context)
            let contentID = try await given.attributes()?.contentID
            if arguments.isSet(OneKey.remove) {
                try await given.remove(aliases, contentID, records)
                let names = aliases.map { AssetIDText.text(of: $0) }.joined(separator: ", ")
                return try context.print("removed from the key \(given.keyID): \(names)")
            }
            let named = await given.store.addAliases(aliases, to: given.keyID)
            let deeds = named.deeds(on: given.keyID, contentID)
            try records.write(deeds)
            if !deeds.isEmpty {
                try context.print("now names the key \(given.keyID): \(deeds.map(\.detail).joined(separator: ", "))")
            } else if named.error == nil {
                try context.print("nothing to do: the key \(given.keyID) has this name already")
            }
            if let error = named.error { throw error }
        })

    static let deleteKey = Command(
        "delete",
        summary: "Withdraw a key from use, or delete it for good",
        details: """
            A withdrawn key is in no license any more, but stays in the list. --restore makes it live again; if another key of its track
            is live, orders that name no key id are then refused. With --for-good the key is deleted with its aliases, and content that
            was encrypted with it can never be played again unless the key is kept elsewhere.
            A node keeps a key in memory for two seconds, and for an hour if PostgreSQL does not answer meanwhile. For that long after
            the change it may still issue licenses. The ledger records each change with the user who made it.
            """,
        examples: [
            "latchkey keys delete --config latchkey.json5 --kid 2f6c1d0e-7d3c-4c5e-9c57-0d6a5f0f6a11",
            "latchkey keys delete --config latchkey.json5 --kid 2f6c1d0e-7d3c-4c5e-9c57-0d6a5f0f6a11 --for-good",
        ],
        options: [.config, OneKey.keyID, OneKey.forGood, OneKey.restore],
        run: { arguments, context throws(CommandError) in
            let (isForGood, isRestored) = (arguments.isSet(OneKey.forGood), arguments.isSet(OneKey.restore))
            guard !isForGood || !isRestored else { throw .usage("--for-good and --restore contradict one another") }
            let given = try OneKey(arguments, context)
            let maintenance = try given.store.maintenance()
            let records = try KeyRecords(given.store.file, context)
            let attributes = try await given.attributes()
            if isRestored, attributes?.state == .live {
                return try context.print("nothing to do: the key \(given.keyID) is live already")
            }
            if !isForGood, !isRestored, let attributes, attributes.state == .withdrawn {
                throw .failed(
                    "the key \(given.keyID) of \(attributes.contentID) was withdrawn already; --restore makes it live again, "
                        + "and --for-good deletes it")
            }
            do throws(StoreError) {
                if isForGood {
                    try await maintenance.delete(given.keyID)
                } else {
                    try await maintenance.set(isRestored ? .live : .withdrawn, of: given.keyID)
                }
            } catch {
                if case .keyUnknown = error, try given.wasDeleted() {
                    throw .failed("the key \(given.keyID) was deleted for good already, as the ledger says")
                }
                throw .failed(error.explanation)
            }
            let kind: LedgerEntry.Kind = isForGood ? .keyDeleted : isRestored ? .keyRestored : .keyWithdrawn
            try records.write([.init(kind: kind, keyID: given.keyID, contentID: attributes?.contentID)])
            let owner = attributes.map { " of \($0.contentID)" } ?? ""
            let state = isForGood ? "deleted for good" : isRestored ? "live again" : "withdrawn"
            try context.print("the key \(given.keyID)\(owner) is \(state)")
            if isRestored, let attributes {
                for note in try await LiveKeys(beside: attributes, in: given.store).notes { context.note(note) }
            }
        })

    static let rewrapKeys = Command(
        "rewrap",
        summary: "Seal all keys under the newest key-encryption key",
        details: """
            The daemon may serve meanwhile, if its configuration names both key-encryption keys: the new one in keys.keyEncryptionKey
            with a higher keys.keyEncryptionKeyVersion, the old one in keys.olderKeyEncryptionKeys. If several nodes share the keys, each
            must know the new one before the first node seals with it. So list it in keys.olderKeyEncryptionKeys on all of them first.
            After this command the old one is needed only for old copies of the database.
            """,
        examples: ["latchkey keys rewrap --config latchkey.json5"],
        options: [.config, .json],
        run: { arguments, context throws(CommandError) in
            let store = try OpenedKeyStore(configuration: arguments.required(.config), context)
            try await KeyRewrap(store: store, context: context).run(printsJSON: arguments.isSet(.json))
        })
}

/// The single key that a command is about.
private struct OneKey {
    static let keyID = CommandOption("--kid", .value("UUID"), help: "the key", isRequired: true)
    static let alias = CommandOption(
        "--alias", .value("TEXT"), help: "the asset id: text, or \"hex:\" and its bytes", isRequired: true,
        repeats: true)
    static let forGood = CommandOption("--for-good", .flag, help: "delete the key and its aliases irrevocably")
    static let remove = CommandOption("--remove", .flag, help: "remove the aliases from the key, which stays")
    static let restore = CommandOption("--restore", .flag, help: "make a withdrawn key live again")

    let keyID: KeyID
    let store: OpenedKeyStore

    init(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) {
        guard let keyID = try? KeyID(parsing: arguments.required(Self.keyID)) else {
            throw .usage("--kid takes a UUID or 32 hexadecimal digits")
        }
        self.keyID = keyID
        store = try OpenedKeyStore(configuration: arguments.required(.config), context)
    }

    /// Removes aliases, and records each in the ledger. Stops at the first that the key does not have.
    func remove(
        _ aliases: [AssetID], _ contentID: ContentID?, _ records: KeyRecords
    ) async throws(CommandError) {
        let maintenance = try store.maintenance()
        for alias in aliases {
            let isRemoved = try await OpenedKeyStore.attempt { () async throws(StoreError) in
                try await maintenance.remove(alias: alias, of: keyID)
            }
            let text = AssetIDText.text(of: alias)
            guard isRemoved else {
                throw .failed("the key \(keyID) has no alias \(text); latchkey keys show lists them")
            }
            try records.write([.init(kind: .keyAliasRemoved, keyID: keyID, contentID: contentID, detail: text)])
        }
    }

    /// The attributes of the key, for the ledger; nil if the key's record cannot be read.
    func attributes() async throws(CommandError) -> ContentKeyAttributes? {
        let maintenance = try store.maintenance()
        do throws(StoreError) {
            return try await maintenance.key(keyID)?.record.attributes
        } catch {
            // A key whose seal is broken can still be deleted.
            return nil
        }
    }

    /// Whether this node's ledger says that the key was deleted for good. No index finds a key, so it is read whole.
    func wasDeleted() throws(CommandError) -> Bool {
        let path = store.file.configuration.storage.databasePath
        var isDeleted = false
        do {
            var reader = try LedgerReader.open(path: path)
            try reader.find(
                LedgerQuery().also(device: nil, keyID: keyID, playback: nil), index: nil,
                visit: { find in
                    isDeleted = find.entry.kind == .keyDeleted
                    return !isDeleted
                })
        } catch {
            throw OpenedLedger.explain(error, path)
        }
        return isDeleted
    }

    func find() async throws(CommandError) -> (record: ContentKeyRecord, aliases: [AssetID]) {
        let maintenance = try store.maintenance()
        return try await OpenedKeyStore.attempt { () async throws(StoreError) in
            guard let found = try await maintenance.key(keyID) else { throw .keyUnknown(keyID) }
            return found
        }
    }
}

/// Seals every key again under the current key-encryption key.
private struct KeyRewrap {
    private static let batchSize = 500

    let store: OpenedKeyStore
    let context: CommandContext

    func run(printsJSON: Bool) async throws(CommandError) {
        let maintenance = try store.maintenance()
        let total = try await OpenedKeyStore.attempt { () async throws(StoreError) in try await maintenance.count() }
        var progress = CommandProgress(context, unit: "keys", total: total)
        defer { progress.clear() }
        var (last, count, changed) = (KeyID?.none, 0, 0)
        repeat {
            let position = last
            let step = try await OpenedKeyStore.attempt { () async throws(StoreError) in
                try await maintenance.rewrap(after: position, limit: Self.batchSize)
            }
            (last, count, changed) = (step.last, count + step.count, changed + step.changed)
            progress.show(count)
        } while last != nil
        _ = try await OpenedKeyStore.attempt { () async throws(StoreError) in try await maintenance.forgetUnusedKeys() }
        progress.clear()
        let version = store.file.configuration.keys.keyEncryptionKeyVersion
        if printsJSON {
            try context.printObject { writer in
                writer.member("rewrapped", changed)
                writer.member("keys", count)
                writer.member("keyVersion", Int(version))
            }
        } else if changed > 0 || count == 0 {
            try context.print("\(changed) of \(count) keys sealed again; all have version \(version)")
        } else {
            try context.print(
                "nothing to do: version \(version) already seals \(count.counted("key")); a new key-encryption key "
                    + "has a higher keys.keyEncryptionKeyVersion")
        }
    }
}

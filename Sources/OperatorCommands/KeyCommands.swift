import ByteCoding
package import CommandLineKit
import CommandSupport
import ContentKeys
import KeyCrypto
import Records

extension Command {
    /// `latchkey keys`
    package static let keys = Command(
        "keys",
        summary: "Make, import, list, show and delete content keys",
        examples: [
            "latchkey keys create --config latchkey.json5 --content movie-1",
            "latchkey keys list --config latchkey.json5",
        ],
        commands: [
            createKey, importKey, listKeys, showKey, exportKeys, aliasKey, deleteKey, rotateKeys, rewrapKeys,
        ])

    private static let createKey = Command(
        "create",
        summary: "Store a new content key and initialization vector",
        details: """
            They are derived if the configuration has a master secret (keys.masterSecret), and random if it has none. A derived key has
            a derived key id unless --kid names one: that of an order for the same content, track and period. If it is taken, the key
            has the next one.

            Prints the key id and the URL. Like `keys show` it also prints key and vector for the packager: in clear with --reveal, if
            the configuration allows it (keys.allowReveal), or sealed with --recipient. The ledger records either.

            A content that has a live key gets a further one only with --another: with several keys the name of
            the content alone finds no key, so every key URI must name one.
            """,
        examples: [
            "latchkey keys create --config latchkey.json5 --content movie-1",
            "latchkey keys create --config latchkey.json5 --content movie-1 --recipient packager.pem --json",
            "latchkey keys create --config latchkey.json5 --content movie-1 --track HD --alias movie-1-hd --reveal",
            "latchkey keys create --config latchkey.json5 --content movie-1 --another --track 4K --content-type uhd "
                + "--hdcp type1",
        ],
        options: [
            .config, KeyArguments.content, KeyArguments.another, KeyArguments.keyID, KeyArguments.period,
            KeyArguments.newIV, KeyArguments.alias,
        ]
            + KeyPolicyArguments.options + [KeyReveal.reveal, KeyReveal.recipient, .json],
        run: { arguments, context throws(CommandError) in
            let reveal = try KeyReveal(arguments)
            let given = try KeyArguments(arguments)
            let store = try given.open(context, derivesKeys: true)
            try reveal.requirePermission(by: store.file)
            let stored = try await given.storeNew(arguments, in: store, context)
            try stored.report(arguments, context, secrets: reveal.secrets(of: stored.record, in: store.file, context))
        })

    private static let importKey = Command(
        "import",
        summary: "Store content keys that a packager has already used",
        details: """
            One key by --content, --key and --iv, or many by --file: CSV whose first line names its columns, or JSON with an object in
            each line. Columns and members are kid, content, key and iv, and optionally track, contentType, period, scheme, hdcp,
            securityLevel and alias. A file is stored a thousand keys at a time. If the import ends with an error, correct the line and
            import the file again.

            A content that has a live key gets a further one only with --another or --kid.

            To import the same key again under the same --kid and with the same options changes nothing and is not an error. Key and
            vector are 32 hexadecimal digits. All users of the machine can read a command line, so give real keys by @FILE or on
            standard input.
            """,
        examples: [
            "latchkey keys import --config latchkey.json5 --content movie-1 --key @key.hex --iv "
                + "000102030405060708090a0b0c0d0e0f",
            "latchkey keys import --config latchkey.json5 --content movie-1 --kid "
                + "2f6c1d0e-7d3c-4c5e-9c57-0d6a5f0f6a11 --key - --iv @iv.hex --json",
            "latchkey keys import --config latchkey.json5 --file keys.csv",
        ],
        options: [
            .config, KeyFileImport.file, KeyArguments.importedContent, KeyArguments.another,
            KeyArguments.key, KeyArguments.iv, KeyArguments.keyID, KeyArguments.alias,
        ] + KeyPolicyArguments.options + [.json],
        run: { arguments, context throws(CommandError) in
            if let file = arguments.value(KeyFileImport.file) {
                return try await KeyFileImport(file, arguments, context).run()
            }
            let given = try KeyArguments(arguments)
            let secret = try SecretArgument.block(KeyArguments.key, arguments.required(KeyArguments.key), context)
            let iv = try SecretArgument.block(KeyArguments.iv, arguments.required(KeyArguments.iv), context)
            let stored = try await given.store(
                KeyArguments.contentKey(secret), iv.revealedBytes16(), in: given.open(context), as: .keyImported,
                context)
            try stored.report(arguments, context)
        })

    private static let listKeys = Command(
        "list",
        summary: "List the content keys, without the keys themselves",
        examples: [
            "latchkey keys list --config latchkey.json5",
            "latchkey keys list --config latchkey.json5 --content movie-1 --json",
        ],
        options: [.config, KeyArguments.onlyContent, .json],
        run: { arguments, context throws(CommandError) in
            let contentID = try arguments.value(KeyArguments.onlyContent).map(KeyArguments.contentID)
            let store = try OpenedKeyStore(configuration: arguments.required(.config), context)
            try await KeyList(store, context).print(of: contentID, asJSON: arguments.isSet(.json))
        })
}

/// The options of the commands that store a key.
struct KeyArguments {
    static let content = CommandOption(
        "--content", .value("ID"), help: "the content's name: printable characters without space", isRequired: true)
    static let onlyContent = CommandOption("--content", .value("ID"), help: "only the keys of this content")
    static let importedContent = CommandOption(
        "--content", .value("ID"), help: "the content's name: printable characters without space")
    static let another = CommandOption(
        "--another", .flag, help: "store a further key of a content that has a live key already")
    static let key = CommandOption("--key", .secret("HEX"), help: "the content key, 16 bytes")
    static let iv = CommandOption("--iv", .secret("HEX"), help: "the packager's initialization vector, 16 bytes")
    static let keyID = CommandOption("--kid", .value("UUID"), help: "the key id; made unless given")
    static let alias = CommandOption(
        "--alias", .value("TEXT"), help: "a further asset id that names this key: text, or \"hex:\" and its bytes",
        repeats: true)

    static let period = CommandOption(
        "--period", .value("NUMBER"), help: "the number of the key period; keys do not rotate unless given")
    static let onlyPeriod = CommandOption("--period", .value("NUMBER"), help: "only keys of this period")
    static let newIV = CommandOption(
        "--iv", .value("HEX"), help: "the key's initialization vector, 16 bytes, which is public; made unless given")

    private let configuration: String
    private let contentID: ContentID
    /// Nil unless `--kid` names one.
    private let keyID: KeyID?
    private let aliases: [AssetID]
    private let policy: KeyPolicyArguments
    private let periodIndex: UInt32?
    private let isAnother: Bool

    init(_ arguments: Arguments) throws(CommandError) {
        configuration = try arguments.required(.config)
        contentID = try Self.contentID(arguments.required(Self.content))
        policy = try KeyPolicyArguments(arguments)
        periodIndex = try arguments.number(Self.period, in: 0...UInt32.max)
        isAnother = arguments.isSet(Self.another)
        keyID = try arguments.value(Self.keyID).map { text throws(CommandError) in
            guard let keyID = try? KeyID(parsing: text) else {
                throw .usage("--kid takes a UUID or 32 hexadecimal digits")
            }
            return keyID
        }
        aliases = try arguments.values(Self.alias).map(Self.alias)
    }

    static func alias(_ text: String) throws(CommandError) -> AssetID {
        guard let bytes = AssetIDText.bytes(text), let alias = try? AssetID(alias: bytes) else {
            throw .usage("--alias takes 2 to 200 bytes: text, or \"hex:\" and their hexadecimal digits")
        }
        return alias
    }

    func open(_ context: CommandContext, derivesKeys: Bool = false) throws(CommandError) -> OpenedKeyStore {
        try OpenedKeyStore(configuration: configuration, context, derivesKeys: derivesKeys)
    }

    /// Makes a key as the configuration says, and stores it with its aliases.
    func storeNew(
        _ arguments: Arguments, in store: OpenedKeyStore, _ context: CommandContext
    ) async throws(CommandError) -> StoredKey {
        let iv = try Self.newIV(arguments)
        guard let derivation = store.derivation else {
            let made = try wrap(CommandError.noRandomBytes, try KeyGeneration.generate())
            return try await self.store(made.key, iv ?? made.iv, in: store, as: .keyCreated, context)
        }
        if let keyID {
            let made = try derived(keyID, derivation)
            return try await self.store(made.key, iv ?? made.iv, in: store, as: .keyCreated, context)
        }
        return try await storeNext(iv, derivation, in: store, context)
    }

    /// Stores a derived key under the first derived key id that is free.
    ///
    /// A packager that orders the track gets the same key, also if the database is lost in between.
    private func storeNext(
        _ iv: Bytes16?, _ derivation: KeyDerivation, in store: OpenedKeyStore, _ context: CommandContext
    ) async throws(CommandError) -> StoredKey {
        let records = try KeyRecords(store.file, context)
        var taken: Set<KeyID> = []
        while taken.count < KeyDerivation.takenKeyIDsMaximum {
            let known = taken
            let keyID = try wrap(Self.cannotDerive) { () throws(CryptoError) in
                try derivation.deriveKeyID(
                    contentID: contentID, trackLabel: policy.track.label, periodIndex: periodIndex, taken: known)
            }
            let made = try derived(keyID, derivation)
            let record = try record(keyID, made.key, iv: iv ?? made.iv, context)
            guard let isStored = try await store.insertUnlessTaken(record, isOnly: !isAnother) else {
                throw try await hasKeyAlready(in: store)
            }
            if isStored { return try await complete(record, .stored, as: .keyCreated, records, in: store) }
            taken.insert(keyID)
        }
        throw .failed("\(taken.count) derived key ids of \(contentID) are taken; name another one by --kid")
    }

    private func derived(
        _ keyID: KeyID, _ derivation: KeyDerivation
    ) throws(CommandError) -> (key: ContentKey, iv: Bytes16) {
        try wrap(
            Self.cannotDerive,
            try derivation.derive(contentID: contentID, keyID: keyID, periodIndex: periodIndex))
    }

    private static func cannotDerive(_ error: CryptoError) -> CommandError {
        .failed("cannot derive a key: a cryptographic operation failed")
    }

    /// Stores the key and its aliases, and records in the ledger what was stored.
    func store(
        _ key: ContentKey, _ iv: Bytes16, in store: OpenedKeyStore, as kind: LedgerEntry.Kind,
        _ context: CommandContext
    ) async throws(CommandError) -> StoredKey {
        // An import that names its key id says which key it means.
        let isOnly = !isAnother && (kind == .keyCreated || keyID == nil)
        let records = try KeyRecords(store.file, context)
        let made = try wrap(CommandError.noRandomBytes, try KeyGeneration.generateKeyID())
        let record = try record(keyID ?? made, key, iv: iv, context)
        guard let outcome = try await store.insert(record, isOnly: isOnly) else {
            throw try await hasKeyAlready(in: store)
        }
        return try await complete(record, outcome, as: kind, records, in: store)
    }

    private func record(
        _ keyID: KeyID, _ key: ContentKey, iv: Bytes16, _ context: CommandContext
    ) throws(CommandError) -> ContentKeyRecord {
        var attributes = ContentKeyAttributes(
            keyID: keyID, contentID: contentID, track: policy.track, periodIndex: periodIndex,
            scheme: policy.scheme, createdAt: context.now)
        attributes.leastHDCP = policy.leastHDCP
        attributes.leastSecurityLevel = policy.leastSecurityLevel
        do throws(ContentKeyError) {
            return try ContentKeyRecord(attributes: attributes, key: key, iv: iv)
        } catch {
            throw .failed("the initialization vector equals the key; it is public, and would give the key away")
        }
    }

    /// Records a stored key in the ledger, and stores its aliases.
    private func complete(
        _ record: ContentKeyRecord, _ outcome: StoreOutcome, as kind: LedgerEntry.Kind, _ records: KeyRecords,
        in store: OpenedKeyStore
    ) async throws(CommandError) -> StoredKey {
        let keyID = record.keyID
        if outcome == .stored { try records.write([.init(kind: kind, keyID: keyID, contentID: contentID)]) }
        let named = await store.addAliases(aliases, to: keyID)
        try records.write(named.deeds(on: keyID, contentID))
        return StoredKey(
            record: record, outcome: outcome, url: store.assetURL(of: record),
            liveKeys: try await LiveKeys(beside: record.attributes, in: store), aliasError: named.error)
    }

    /// Says that the content has another live key. With a second key, the content's name would find no key any more.
    private func hasKeyAlready(in store: OpenedKeyStore) async throws(CommandError) -> CommandError {
        var live: [ContentKeyAttributes] = []
        try await store.forEachPage(of: contentID) { page in
            live += page.filter { $0.state == .live && $0.keyID != keyID }.prefix(1)
        }
        guard let present = live.first else {
            return .failed("\(contentID) had a key that was withdrawn meanwhile, so nothing was stored; try again")
        }
        return .failed(
            "\(contentID) has a key already: \(present.candidateWords). With a second one the content's name alone "
                + "finds no key, so nothing was stored. Use --another if every key URI names a key; "
                + "latchkey keys list shows all keys.")
    }

    private static func newIV(_ arguments: Arguments) throws(CommandError) -> Bytes16? {
        try arguments.value(newIV).map { text throws(CommandError) in
            guard let bytes = try? Hexadecimal.decode(text), let iv = Bytes16(bytes) else {
                throw .usage("--iv takes 32 hexadecimal digits")
            }
            return iv
        }
    }

    static func contentID(_ text: String) throws(CommandError) -> ContentID {
        guard let contentID = try? ContentID(text) else {
            throw .usage("--content takes 1 to 200 printable ASCII characters without space")
        }
        return contentID
    }

    static func contentKey(_ secret: consuming SecretBytes) throws(CommandError) -> ContentKey {
        do throws(ContentKeyError) {
            return try ContentKey(secret)
        } catch {
            throw .usage("a content key has 16 bytes")
        }
    }
}

extension ContentKeyAttributes {
    /// The key id with the track and the period that tell the key from others of its content.
    var candidateWords: String {
        let parts = [trackLabel.map { "track \($0.text)" }, periodIndex.map { "period \($0)" }].compactMap { $0 }
        return parts.isEmpty ? "\(keyID)" : "\(keyID) (\(parts.joined(separator: ", ")))"
    }
}

/// A key that has just been stored.
struct StoredKey {
    let record: ContentKeyRecord
    let outcome: StoreOutcome
    /// The key's URL; nil if the template gives no URL for it.
    let url: String?
    /// The live keys that its content has now.
    let liveKeys: LiveKeys
    /// Why not all aliases were stored; nil if all were.
    let aliasError: CommandError?

    /// Prints the stored key, and then throws `aliasError` if there is one.
    func report(
        _ arguments: Arguments, _ context: CommandContext, secrets: [(name: String, value: String)] = []
    ) throws(CommandError) {
        if arguments.isSet(.json) {
            try context.printObject { writer in
                record.attributes.write(to: &writer)
                writer.member("url", url)
                writer.member("outcome", outcomeName)
                for secret in secrets { writer.member(secret.name, secret.value) }
            }
        } else {
            let lines = [("kid", record.keyID.description), ("content", record.contentID.text), ("URL", url ?? "-")]
            try context.print(KeyText.lines(lines + KeyText.policy(of: record.attributes) + secrets))
            if outcome == .alreadyPresent { context.note("this key was stored already, and has not changed") }
        }
        for note in liveKeys.notes { context.note(note) }
        if let aliasError { throw aliasError }
    }

    private var outcomeName: String {
        switch outcome {
        case .stored: "stored"
        case .alreadyPresent: "alreadyPresent"
        }
    }
}

/// The live keys of a content to which a key was added.
struct LiveKeys {
    private let added: ContentKeyAttributes
    private let count: Int
    /// The number of those with the same track and period as the added one.
    private let countOfTrack: Int

    init(beside added: ContentKeyAttributes, in store: OpenedKeyStore) async throws(CommandError) {
        self.added = added
        let name = KeyProvisioning.TrackName(added)
        var (count, countOfTrack) = (0, 0)
        try await store.forEachPage(of: added.contentID) { page in
            let live = page.filter { $0.state == .live }
            count += live.count
            countOfTrack += live.count { KeyProvisioning.TrackName($0) == name }
        }
        (self.count, self.countOfTrack) = (count, countOfTrack)
    }

    /// Which names find no key any more.
    var notes: [String] {
        var notes: [String] = []
        if count > 1 {
            notes.append(
                "note: \(added.contentID) has \(count) keys now, so the content's name as an asset id no longer finds "
                    + "a key; use the kid or an alias")
        }
        if countOfTrack > 1 {
            notes.append(
                "note: \(countOfTrack) live keys of \(added.contentID) have the same track and period, so a packager's "
                    + "order that names no kid is refused; withdraw all but one of them")
        }
        return notes
    }
}

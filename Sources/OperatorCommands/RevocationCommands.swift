import Administration
import ByteCoding
package import CommandLineKit
import CommandSupport
import ContentKeys
import POSIXSockets
import Records
import ServiceConfiguration

extension Command {
    /// `latchkey revocations`
    package static let revocations = Command(
        "revocations",
        summary: "Revoke tokens, subjects, devices, sessions, keys and contents",
        details: """
            Works on the store itself, also while daemons serve from it. Each daemon applies a change within
            two seconds. A revoked token, subject or device gets no license and no renewal, but a license that a device
            has stored cannot be taken back. The ledger of this node records each change with the user who made it.
            """,
        examples: [
            "latchkey revocations add --config latchkey.json5 --kind sub --value viewer-7 --reason \"chargeback\"",
            "latchkey revocations list --config latchkey.json5",
        ],
        commands: [addRevocation, listRevocations, liftRevocation])

    private static let addRevocation = Command(
        "add",
        summary: "Revoke something",
        details: """
            An issuer chooses the names of these kinds: jti (a token), sub (a subject), device (a device) and session (a playback session).
            The other kinds are kid (a signing key), iss (an issuer), hu (a device by the HU in its SPC) and content (a content id or key
            id). Subjects and devices are stored under pseudonyms. To revoke the same thing again replaces the end and the reason.

            A session is named by session.id of its token, or by the license id of its first license: X-License-Id, the sid of its session
            tokens, and the license of its license_issued row in latchkey ledger query --subject. The ids in latchkey account playbacks
            list are others; latchkey account playbacks end takes them.
            """,
        examples: [
            "latchkey revocations add --config latchkey.json5 --kind sub --value viewer-7",
            "latchkey revocations add --config latchkey.json5 --kind jti --issuer https://portal.example --value 4f1c "
                + "--until 2026-01-31T12:00:00Z --json",
        ],
        options: RevocationArguments.target + [RevocationArguments.until, RevocationArguments.reason, .json],
        run: { arguments, context throws(CommandError) in
            let given = try RevocationArguments(arguments, context)
            let order = try RevocationArguments.attempt { () throws(RevocationFault) in
                try RevocationOrder(
                    given.target, until: arguments.value(RevocationArguments.until),
                    reason: arguments.value(RevocationArguments.reason), now: context.now)
            }
            let opened = try OpenedRecords(given.file, context)
            let added = try await opened.attempt { desk throws(StoreError) in
                try await desk.add(order, by: OperatingSystemUser.actor, now: context.now)
            }
            if !added.isShared {
                context.note("PostgreSQL did not take it; this node's daemon enforces it, and sends it there later")
            }
            try RevocationArguments.report(added.revocation, arguments, context)
            if let note = given.note { context.note(note) }
            if let note = await given.doubtOfContent(context) { context.note(note) }
        })

    private static let liftRevocation = Command(
        "lift",
        summary: "Lift a revocation",
        examples: [
            "latchkey revocations lift --config latchkey.json5 --kind sub --value viewer-7",
            "latchkey revocations lift --config latchkey.json5 --kind content --value movie-1 --json",
        ],
        options: RevocationArguments.target + [.json],
        run: { arguments, context throws(CommandError) in
            let given = try RevocationArguments(arguments, context)
            let opened = try OpenedRecords(given.file, context)
            let lifted = try await opened.attempt { desk throws(StoreError) in
                try await desk.lift(given.target, by: OperatingSystemUser.actor, now: context.now)
            }
            guard let lifted else { throw .failed("nothing of this kind and value is revoked") }
            try RevocationArguments.report(lifted, arguments, context, did: "lifted  ")
        })

    private static let listRevocations = Command(
        "list",
        summary: "List the revocations, the latest first",
        details: """
            Subjects and devices are shown by the first 32 digits of their pseudonyms, as the ledger and latchkey why show
            them. `lift` takes these too, with the word that is printed before them. --json has all 64 digits. latchkey
            ledger query shows who has revoked.
            """,
        examples: [
            "latchkey revocations list --config latchkey.json5",
            "latchkey revocations list --config latchkey.json5 --json",
        ],
        options: [.config, .json],
        run: { arguments, context throws(CommandError) in
            let file = try OpenedLedger.configuration(arguments.required(.config), context)
            let opened = try OpenedRecords(file, context)
            let found = try await opened.attempt { desk throws(StoreError) in
                try await desk.all(at: context.now)
            }.sorted(by: Revocation.isListedBefore)
            if arguments.isSet(.json) {
                try context.printObject { writer in
                    writer.objects("revocations", found) { $1.write(to: &$0) }
                }
            } else if found.isEmpty {
                context.note("nothing is revoked")
            } else {
                try context.print(found.map(\.text).joined(separator: "\n"))
            }
        })
}

/// The options that name a revocation.
private struct RevocationArguments {
    static let until = CommandOption(
        "--until", .value("TIME"), help: "when it ends, as 2026-01-31T12:00:00Z; never unless given")
    static let reason = CommandOption("--reason", .value("TEXT"), help: "a note for readers of the list")
    private static let kind = CommandOption(
        "--kind", .value("KIND"), help: "jti, kid, iss, sub, hu, device, content or session", isRequired: true)
    private static let issuer = CommandOption(
        "--issuer", .value("ISSUER"),
        help: "the issuer of the token, subject, device or session; needed if several are configured")
    private static let value = CommandOption("--value", .value("ID"), help: "the name to revoke", isRequired: true)

    static let target = [CommandOption.config, kind, issuer, value]

    let file: ConfigurationFile
    let target: RevocationTarget
    /// Why the value may be a wrong one; nil if nothing says so.
    let note: String?
    /// The value, if the kind is content.
    private let content: String?

    init(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) {
        let file = try OpenedLedger.configuration(arguments.required(.config), context)
        let (kind, value) = (try arguments.required(Self.kind), try arguments.required(Self.value))
        target = try Self.attempt { () throws(RevocationFault) in
            try RevocationTarget(
                kind: kind, issuer: arguments.value(Self.issuer), value: value, issuers: file.configuration.issuerNames)
        }
        self.file = file
        content = kind == Revocation.Kind.content.rawValue ? value : nil
        // An issuer may have chosen such an id, so it is not refused.
        let mayBeOfSPC =
            kind == Revocation.Kind.session.rawValue && value.utf8.count == 16
            && (try? Hexadecimal.decode(value)) != nil
        note =
            mayBeOfSPC
            ? "note: this ends only sessions with this session.id in their tokens; the session in latchkey account playbacks "
                + "list --json is another id"
            : Self.doubt(of: value, kind, file.configuration)
    }

    /// A doubt about an issuer or a signing key that the configuration does not have.
    private static func doubt(of value: String, _ kind: String, _ configuration: Configuration) -> String? {
        let issuers = configuration.entitlement.issuers
        let words: String
        let known: [String]
        switch Revocation.Kind(rawValue: kind) {
        case .issuer?:
            words = "issuer of this configuration has this name"
            known = configuration.issuerNames.sorted()
        case .signingKey?:
            let hasOthers = issuers.contains { $0.keysFile != nil || $0.keysURL != nil }
            words = "key under entitlement.issuers has this kid" + (hasOthers ? ", besides keysFile and keysURL" : "")
            known = issuers.flatMap { $0.keys.map(\.kid) }
        case .subject?, .device?:
            return PseudonymDoubt.note(on: "--value", value)
        case .tokenID?, .hardware?, .content?, .session?, nil: return nil
        }
        guard !known.contains(value) else { return nil }
        let meant = NearestName.of(value, among: known).map { "; did you mean \"\($0)\"?" } ?? ""
        return "note: no \(words); a mistyped name revokes nothing\(meant)"
    }

    /// A doubt about a content or key id of which nothing is stored.
    func doubtOfContent(_ context: CommandContext) async -> String? {
        guard let content, let store = try? OpenedKeyStore(configuration: file.path, context) else { return nil }
        if let id = try? ContentID(content), (try? await store.keys(of: id).isEmpty) == false { return nil }
        if let id = try? KeyID(parsing: content), let keys = try? store.maintenance(), (try? await keys.key(id)) != nil
        {
            return nil
        }
        return "note: no stored key has this content id or key id; a mistyped name revokes nothing. latchkey keys list "
            + "shows the ids"
    }

    static func attempt<Result>(_ body: () throws(RevocationFault) -> Result) throws(CommandError) -> Result {
        do throws(RevocationFault) { return try body() } catch { throw .usage(error.description) }
    }

    static func report(
        _ revocation: Revocation, _ arguments: Arguments, _ context: CommandContext, did: String = ""
    ) throws(CommandError) {
        try context.printResult(did + revocation.text, or: { revocation.write(to: &$0) }, arguments)
    }
}

extension Revocation {
    /// The revocation as one line of text.
    fileprivate var text: String {
        let owner = issuer.map { " of \($0)" } ?? ""
        let end = until.map { "  until \(Self.time($0))" } ?? ""
        let note = reason.isEmpty ? "" : "  \(reason)"
        let line = "\(Self.time(revokedAt))  \(kind.rawValue)  \(listedValue)\(owner)\(end)\(note)"
        // Others have chosen some of these texts.
        return VisibleText.shown(line)
    }
}

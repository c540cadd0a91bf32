import Administration
import ByteCoding
package import CommandLineKit
import CommandSupport
import ContentKeys
import POSIXSockets
import Records
import ServiceConfiguration

extension Command {
    /// `latchkey account`
    package static let account = Command(
        "account",
        summary: "List and free the devices, playbacks and rentals of a subject",
        details: """
            Works on the store itself, also while daemons serve from it. A change is in force on all nodes immediately. Name a subject
            as its tokens name it, or by the customerCookie of ExpressPlay's entitlement server. The ledger of this node records each
            change with the user who made it. The admin listener offers the same at /v1/devices, /v1/playbacks and /v1/rentals.
            """,
        examples: [
            "latchkey account devices list --config latchkey.json5 --subject viewer-7",
            "latchkey account playbacks end --config latchkey.json5 --subject viewer-7 --all",
        ],
        commands: [devices, playbacks, rentals])

    private static let devices = Command(
        "devices",
        summary: "The devices that count towards a subject's limit",
        examples: [
            "latchkey account devices list --config latchkey.json5 --subject viewer-7",
            "latchkey account devices remove --config latchkey.json5 --cookie customer-1 --all",
        ],
        commands: [
            list(
                .devices, "List the devices that count",
                "A device counts from its first license under a token with device.max until entitlement.deviceLife after its last one."
            ),
            change(
                .devices, "remove", summary: "Free the place of a device",
                details: """
                    Another device can take the place immediately. A playback on the removed device goes on while session tokens renew it;
                    `account playbacks end` ends it. The device takes a place again when it next asks with a token that allows it.
                    """, selector: AccountArguments.device),
        ])

    private static let playbacks = Command(
        "playbacks",
        summary: "The playbacks that count towards the limits of a subject's groups",
        examples: [
            "latchkey account playbacks list --config latchkey.json5 --subject viewer-7",
            "latchkey account playbacks end --config latchkey.json5 --subject viewer-7 --all",
        ],
        commands: [
            list(
                .playbacks, "List the playbacks that hold a slot",
                "Only tokens with session.groups are counted. A slot is held until the end of its lease and grace."),
            change(
                .playbacks, "end", summary: "Free the slot of a playback",
                details: """
                    Another playback can take the slot immediately. The playback that had it gets no renewal (session_killed), and stops when
                    its lease has ended.
                    """, selector: AccountArguments.playback, AccountArguments.device, AccountArguments.content),
        ])

    private static let rentals = Command(
        "rentals",
        summary: "The rentals of a subject",
        examples: [
            "latchkey account rentals list --config latchkey.json5 --subject viewer-7",
            "latchkey account rentals forget --config latchkey.json5 --subject viewer-7 --content movie-1",
        ],
        commands: [
            list(
                .rentals, "List the rentals in the store, with their first plays",
                """
                A rental is stored until its right's start and play have passed since its first license ("kept until"). It ends when play has
                passed since its first play. play is in the token and not in the store, so the list does not have the end: latchkey token
                explain says it for a token, and latchkey why for a refusal.
                """),
            change(
                .rentals, "forget", summary: "Let a rental begin again with the next license",
                details: "Use it if a viewer has rented the same content again, or to correct a mistake.",
                selector: AccountArguments.content),
        ])

    private static func list(_ kind: AccountKind, _ summary: String, _ details: String) -> Command {
        Command(
            "list", summary: summary, details: details,
            examples: [
                "latchkey account \(kind.rawValue) list --config latchkey.json5 --subject viewer-7",
                "latchkey account \(kind.rawValue) list --config latchkey.json5 --subject viewer-7 --json",
            ],
            options: AccountArguments.ofSubject + [.json],
            run: { arguments, context throws(CommandError) in
                let given = try AccountArguments(arguments, context)
                let opened = try OpenedRecords(given.file, context)
                var items: [AccountItem] = []
                var after = AccountPosition.start
                while true {
                    let page = try await opened.attemptAccounts { desk throws(StoreError) in
                        try await desk.page(
                            of: kind, given.subject, after: after, limit: AccountDesk.pageSizeMaximum, now: context.now)
                    }
                    items += page.items
                    guard let next = page.next else { break }
                    after = try AccountArguments.attempt { () throws(AccountFault) in
                        try AccountPosition(next, of: kind)
                    }
                }
                try report(
                    items, of: kind, none: "the subject has no \(kind.rawValue)", asJSON: arguments.isSet(.json),
                    context)
                if items.isEmpty { given.noteDoubt(context) }
            })
    }

    private static func change(
        _ kind: AccountKind, _ name: String, summary: String, details: String, selector: CommandOption...
    ) -> Command {
        let option = selector[0]
        return Command(
            name, summary: summary, details: details,
            examples: [
                "latchkey account \(kind.rawValue) \(name) --config latchkey.json5 --subject viewer-7 --all",
                "latchkey account \(kind.rawValue) \(name) --config latchkey.json5 --cookie customer-1 \(option.name) "
                    + AccountArguments.example(of: option),
            ],
            options: AccountArguments.ofSubject + selector + [AccountArguments.all, .json],
            run: { arguments, context throws(CommandError) in
                let given = try AccountArguments(arguments, context)
                let opened = try OpenedRecords(given.file, context)
                let selection = try AccountArguments.attempt { () throws(AccountFault) in
                    try AccountSelection(of: kind, opened.pseudonyms) { AccountArguments.text($0, arguments) }
                }
                let changed = try await opened.attemptAccounts { desk throws(StoreError) in
                    try await desk.change(
                        kind, of: given.subject, selection, by: OperatingSystemUser.actor, now: context.now)
                }
                guard !changed.isEmpty || selection == .all else {
                    throw .failed("no item of this name is among the subject's \(kind.rawValue)")
                }
                try report(
                    changed, of: kind, none: "the subject had no \(kind.rawValue)", asJSON: arguments.isSet(.json),
                    context)
                if changed.isEmpty { given.noteDoubt(context) }
            })
    }

    private static func report(
        _ items: [AccountItem], of kind: AccountKind, none: String, asJSON: Bool, _ context: CommandContext
    ) throws(CommandError) {
        if asJSON {
            try context.printObject { AccountPage(items: items, next: nil).write(kind, to: &$0) }
        } else if items.isEmpty {
            context.note(none)
        } else {
            try context.print(items.map(\.text).joined(separator: "\n"))
        }
    }
}

/// The options that name the subject of a command.
private struct AccountArguments {
    private static let subject = CommandOption(
        "--subject", .value("ID"), help: "the subject, as its tokens name it, or its pseudonym")
    private static let issuer = CommandOption(
        "--issuer", .value("ISSUER"), help: "the issuer of the subject's tokens; needed if several are configured")
    private static let cookie = CommandOption(
        "--cookie", .value("COOKIE"), help: "the customerCookie of requests to /sees/SEESServlet, in place of a subject"
    )
    private static let customer = CommandOption(
        "--customer", .value("NAME"), help: "the customer that set the cookie; that of expressPlay.sees unless given")
    static let ofSubject = [CommandOption.config, subject, issuer, cookie, customer]

    static let all = CommandOption("--all", .flag, help: "all items of the subject")
    static let device = CommandOption(
        "--device", .value("HU"), help: "a device, by its HU or by its pseudonym as a list shows it")
    static let playback = CommandOption("--playback", .value("ID"), help: "one playback, as a list shows it")
    static let content = CommandOption("--content", .value("ID"), help: "the content, by its id")

    static func example(of option: CommandOption) -> String {
        switch option.name {
        case device.name: "0123456789ABCDEF0123456789ABCDEF01234567"
        case content.name: "movie-1"
        default: String(repeating: "0", count: 63) + "1-7"
        }
    }

    let file: ConfigurationFile
    let subject: AccountSubject
    private let doubt: String?

    init(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) {
        let file = try OpenedLedger.configuration(arguments.required(.config), context)
        subject = try Self.attempt { () throws(AccountFault) in
            try AccountSubject(names: file.configuration.accountNames) { Self.text($0, arguments) }
        }
        self.file = file
        doubt = PseudonymDoubt.note(on: "--subject", arguments.value(Self.subject))
    }

    /// Says that the subject may be no name, after an answer that nothing is there.
    func noteDoubt(_ context: CommandContext) {
        if let doubt { context.note(doubt) }
    }

    static func text(_ name: String, _ arguments: Arguments) -> String? {
        switch name {
        case "subject": arguments.value(subject)
        case "issuer": arguments.value(issuer)
        case "cookie": arguments.value(cookie)
        case "customer": arguments.value(customer)
        case "device": arguments.value(device)
        case "playback": arguments.value(playback)
        case "content": arguments.value(content)
        case "all": arguments.isSet(all) ? "true" : nil
        default: nil
        }
    }

    static func attempt<Result>(_ body: () throws(AccountFault) -> Result) throws(CommandError) -> Result {
        do throws(AccountFault) { return try body() } catch { throw .usage(error.ofOptions) }
    }
}

extension Configuration {
    /// The issuers and customers whose subjects and cookies operators may name.
    var accountNames: AccountNames {
        AccountNames(
            issuers: issuerNames,
            customers: Dictionary(expressPlay.customers.map { ($0.name, $0.issuer) }) { first, _ in first },
            entitlementCustomer: expressPlay.sees?.customer)
    }
}

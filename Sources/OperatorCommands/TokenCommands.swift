import ByteCoding
package import CommandLineKit
import Entitlements
import KeyCrypto
import ServiceConfiguration

extension Command {
    /// `latchkey token`
    package static let token = Command(
        "token",
        summary: "Mint tokens for development and tests, and explain those of others",
        examples: [
            "latchkey token mint --config latchkey.json5 --content movie-1",
            "latchkey token explain viewer.jwt --config latchkey.json5",
        ],
        commands: [mintToken, explainToken])

    private static let mintToken = Command(
        "mint",
        summary: "Print a token that lets its bearer play one content",
        details: """
            Signs as the configured issuer to whom the signing key belongs, and prints the token alone. In production your own
            service mints tokens; the article Tokens says what they hold. The token is written in the dialect of that issuer; what the dialect
            cannot say is refused. With --dialect expressplay the token is sealed, as those in token URLs are, under the key of the first
            issuer that has one.

            Of an offline licence --storage bounds the time until it is first played, --playback the time from then on, and --rental
            the whole: with --storage alone a licence that has been played once never ends.
            """,
        examples: [
            "latchkey token mint --config latchkey.json5 --content movie-1",
            "latchkey token mint --config latchkey.json5 --content movie-1 --lease 300 --rental 172800 --subject viewer-7",
            "latchkey token mint --config latchkey.json5 --content movie-1 --mode both --storage 604800 --playback 172800",
            "latchkey token mint --config latchkey.json5 --content movie-1 --track UHD:hdcp=type1,min-level=main",
            "latchkey token mint --config latchkey.json5 --content movie-1 --subject viewer-7 --lease 300 --rental-start 30d "
                + "--rental-play 48h --rental-finish",
            "latchkey token mint --config latchkey.json5 --content movie-1 --dialect expressplay",
            "latchkey token mint --config latchkey.json5 --kid 00112233-4455-6677-8899-aabbccddeeff --issuer-key secrets/axinom",
        ],
        options: MintArguments.options,
        run: { arguments, context throws(CommandError) in
            let given = try MintArguments(arguments, context)
            try context.print(try given.mint())
            if let note = given.note { context.note(note) }
        })
}

/// What `token mint` is given.
private struct MintArguments {
    private static let config = CommandOption(
        "--config", .value("FILE"), help: "the daemon's configuration, which names the issuers", isRequired: true)
    private static let expires = CommandOption(
        "--expires", .value("SECONDS"), help: "how long the token is good; \(expiresDefault) unless given")
    private static let subject = CommandOption("--subject", .value("ID"), help: "whose token it is")
    private static let issuerKey = CommandOption(
        "--issuer-key", .value("FILE"),
        help: "the key that signs; \(issuerKeyDefault) beside the configuration unless given")

    private static let dialect = CommandOption(
        "--dialect", .value("jwt|nagra|axinom|expressplay"),
        help: "how the token is written; as the issuer of the signing key writes unless given")

    static let options = [config] + RightArguments.options + [expires, subject, issuerKey, dialect]

    /// What is minted.
    private enum Token {
        case signed(TokenSigner, payload: [UInt8])
        case sealed(SealedTokenArguments)
    }

    private static let expiresDefault: Int64 = 3600
    private static let issuerKeyDefault = "secrets/token-signing-key.pem"
    private static let expiresSeconds: ClosedRange<Int64> = 1...366 * 86_400

    private let token: Token
    /// What to say beside the token.
    let note: String?

    init(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) {
        let given = try RightArguments(arguments)
        note = given.note
        let life = try arguments.seconds(Self.expires, in: Self.expiresSeconds) ?? Self.expiresDefault
        let configuration = try arguments.required(Self.config)
        if given.right.rental != nil, arguments.value(Self.subject) == nil {
            throw .usage("a rental is remembered by its subject: add --subject")
        }
        let dialect: TokenDialect? = try arguments.word(Self.dialect)
        if dialect == .expressPlay {
            guard given.right.rental == nil else {
                throw .usage(
                    "a sealed token has no rental that the server remembers; --rental bounds when playback begins")
            }
            guard arguments.value(Self.issuerKey) == nil else {
                throw .usage("--issuer-key signs; the key that seals is the configuration's")
            }
            token = .sealed(
                try SealedTokenArguments(
                    given.right, subject: arguments.value(Self.subject), life: life, configuration: configuration,
                    context))
            return
        }
        let keyPath =
            arguments.value(Self.issuerKey)
            ?? FilePath.resolve(Self.issuerKeyDefault, relativeTo: FilePath.directory(of: configuration))
        let signer = try TokenSigner(configuration: configuration, keyPath: keyPath, context)
        let maximumLife = signer.issuer.maximumLife.components.seconds
        guard life <= maximumLife else {
            throw .usage(
                "--expires: tokens of the issuer \(signer.issuer.issuer) live for \(maximumLife) seconds at most, as its "
                    + "maximumLife says")
        }
        let contents = TokenContents(
            issuer: signer.issuer.issuer, audience: signer.issuer.audience, subject: arguments.value(Self.subject),
            tokenID: try Self.randomTokenID(), issuedAt: context.now, expiresAt: context.now + life,
            rights: [given.right])
        let written = signer.issuer.dialect
        guard dialect == nil || dialect == written else {
            throw .usage("--dialect: the issuer \(signer.issuer.issuer) of the signing key writes \(written.rawValue)")
        }
        do throws(UnsayableClaim) {
            token = .signed(signer, payload: try signer.minter.payload(contents, in: written))
        } catch {
            throw .usage("\(Self.options(of: error.name)): a token of the dialect \(written.rawValue) cannot say it")
        }
    }

    /// The options that give a member of a right.
    private static func options(of member: String) -> String {
        switch member {
        case "content": "--content (name the keys by --kid)"
        case "kids": "--kid (name the content by --content)"
        case "min_level": "--min-level"
        case "tracks": "--track"
        default: "--\(member)"  // Every other option has the name of its member.
        }
    }

    func mint() throws(CommandError) -> String {
        switch token {
        case .sealed(let sealed): return try sealed.mint()
        case .signed(let signer, let payload):
            return try wrap(
                { (error: CryptoError) in CommandError.failed("OpenSSL did not sign (\(error))") },
                try signer.minter.sign(payload))
        }
    }

    private static func randomTokenID() throws(CommandError) -> String {
        Base64URL.encode(try wrap(CommandError.noRandomBytes, try RandomBytes.generate(count: 16)))
    }
}

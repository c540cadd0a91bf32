import ByteCoding
package import CommandLineKit
import CommandSupport
import Entitlements
import KeyCrypto
import ServiceConfiguration

extension Command {
    /// `latchkey token`
    package static let token = Command(
        "token",
        summary: "Mint tokens for development and tests, and explain tokens",
        examples: [
            "latchkey token mint --config latchkey.json5 --content movie-1",
            "latchkey token explain viewer.jwt --config latchkey.json5",
        ],
        commands: [mintToken, explainToken])

    private static let mintToken = Command(
        "mint",
        summary: "Print a token that lets its bearer play one content",
        details: """
            Signs as the configured issuer that the signing key belongs to, and prints only the token. In production your own service
            mints tokens; tokens/claims.md of the documentation describes them. The token is written in the dialect of that issuer, and
            options that the dialect cannot express are refused. With --dialect expressplay the token is sealed, as tokens in token URLs
            are, under the key of the first issuer with such a key.

            --storage limits the time before the first play of an offline license, --playback the time after it, and --rental both
            together. With --storage alone, a license that was played once never ends.

            With --count, each token has an id of its own, and -1, -2 and so on stand behind the subject. Such a file of tokens is for
            latchkey bench.
            """,
        examples: [
            "latchkey token mint --config latchkey.json5 --content movie-1",
            "latchkey token mint --config latchkey.json5 --content movie-1 --lease 300 --rental 172800 --subject viewer-7",
            "latchkey token mint --config latchkey.json5 --content movie-1 --mode both --storage 604800 --playback 172800",
            "latchkey token mint --config latchkey.json5 --content movie-1 --track UHD:hdcp=type1,min-level=main",
            "latchkey token mint --config latchkey.json5 --content movie-1 --subject viewer-7 --lease 300 --rental-start 30d "
                + "--rental-play 48h --rental-finish",
            "latchkey token mint --config latchkey.json5 --content movie-1 --dialect expressplay",
            "latchkey token mint --config latchkey.json5 --content movie-1 --subject viewer --count 100",
            "latchkey token mint --config latchkey.json5 --kid 00112233-4455-6677-8899-aabbccddeeff --issuer-key secrets/axinom",
        ],
        options: MintArguments.options,
        run: { arguments, context throws(CommandError) in
            let given = try MintArguments(arguments, context)
            for token in try given.mint() { try context.print(token) }
            if let note = given.note { context.note(note) }
        })
}

/// The options of `token mint`.
private struct MintArguments {
    private static let config = CommandOption(
        "--config", .value("FILE"), help: "the daemon's configuration, which names the issuers", isRequired: true)
    private static let expires = CommandOption(
        "--expires", .value("DURATION"), help: "how long the token is valid, as 5m; 1h unless given")
    private static let subject = CommandOption("--subject", .value("ID"), help: "the subject of the token")
    private static let issuerKey = CommandOption(
        "--issuer-key", .value("FILE"),
        help: "the key that signs; \(issuerKeyDefault) beside the configuration unless given")

    private static let dialect = CommandOption(
        "--dialect", .value("jwt|nagra|axinom|expressplay"),
        help: "how the token is written; in the dialect of the signing key's issuer unless given")

    private static let count = CommandOption(
        "--count", .value("N"), help: "how many tokens to print, one a line, up to \(countMaximum); 1 unless given")

    static let options = [config] + RightArguments.options + [expires, subject, issuerKey, dialect, count]

    /// The token to mint, with its key.
    private enum Token {
        case signed(TokenSigner, TokenContents)
        case sealed(SealedTokenArguments)
    }

    private static let countMaximum = 100_000

    private static let expiresDefault: Int64 = 3600
    private static let issuerKeyDefault = "secrets/token-signing-key.pem"
    private static let expiresSeconds: ClosedRange<Int64> = 1...366 * 86_400

    private let token: Token
    /// Nil for a single token, whose subject has no number.
    private let count: Int?
    /// A warning to print with the token; nil if there is none.
    let note: String?

    init(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) {
        let given = try RightArguments(arguments)
        note = given.note
        count = try arguments.number(Self.count, in: 1...Self.countMaximum)
        let life = try arguments.seconds(Self.expires, in: Self.expiresSeconds) ?? Self.expiresDefault
        let configuration = try arguments.required(Self.config)
        if given.right.rental != nil, arguments.value(Self.subject) == nil {
            throw .usage("the server stores a rental under its subject: add --subject")
        }
        let dialect: TokenDialect? = try arguments.word(Self.dialect)
        if dialect == .expressPlay {
            guard given.right.rental == nil else {
                throw .usage(
                    "a sealed token has no rental that the server stores; --rental limits when playback may begin")
            }
            guard arguments.value(Self.issuerKey) == nil else {
                throw .usage("--issuer-key is for signed tokens; a sealed token uses the configuration's key")
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
                "--expires: tokens of the issuer \(signer.issuer.issuer) may live for \(maximumLife) seconds at most "
                    + "(maximumLife)")
        }
        let contents = TokenContents(
            issuer: signer.issuer.issuer, audience: signer.issuer.audience, subject: arguments.value(Self.subject),
            tokenID: try Self.randomTokenID(), issuedAt: context.now, expiresAt: context.now + life,
            rights: [given.right])
        let written = signer.issuer.dialect
        guard dialect == nil || dialect == written else {
            throw .usage("--dialect: the key's issuer \(signer.issuer.issuer) has the dialect \(written.rawValue)")
        }
        token = .signed(signer, contents)
    }

    /// The option that sets a member of a right.
    private static func options(of member: String) -> String {
        switch member {
        case "content": "--content (name the keys by --kid)"
        case "kids": "--kid (name the content by --content)"
        case "min_level": "--min-level"
        case "tracks": "--track"
        default: "--\(member)"  // Every other option has the name of its member.
        }
    }

    func mint() throws(CommandError) -> [String] {
        guard let count else { return [try mint(nil)] }
        return try (1...count).map { (number) throws(CommandError) in try mint(number) }
    }

    /// Mints a token. A number gives it a subject and an id of its own.
    private func mint(_ number: Int?) throws(CommandError) -> String {
        switch token {
        case .sealed(let sealed): return try sealed.mint(number)
        case .signed(let signer, var contents):
            if let number {
                contents.subject = contents.subject.map { "\($0)-\(number)" }
                contents.tokenID = try Self.randomTokenID()
            }
            let payload = try Self.payload(contents, signer)
            return try wrap(
                { (error: CryptoError) in CommandError.failed("OpenSSL could not sign the token (\(error))") },
                try signer.minter.sign(payload))
        }
    }

    private static func payload(_ contents: TokenContents, _ signer: TokenSigner) throws(CommandError) -> [UInt8] {
        let dialect = signer.issuer.dialect
        do throws(UnsayableClaim) {
            return try signer.minter.payload(contents, in: dialect)
        } catch {
            throw .usage("\(options(of: error.name)): a token in the dialect \(dialect.rawValue) cannot have it")
        }
    }

    private static func randomTokenID() throws(CommandError) -> String {
        Base64URL.encode(try wrap(CommandError.noRandomBytes, try RandomBytes.generate(count: 16)))
    }
}

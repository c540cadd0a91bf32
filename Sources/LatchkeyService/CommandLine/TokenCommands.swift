import ByteCoding
import ContentKeys
import Entitlements
import KeyCrypto

extension Command {
    /// `latchkey token`
    package static let token = Command(
        "token",
        summary: "Mint tokens for development and tests",
        examples: ["latchkey token mint --config latchkey.json5 --content movie-1"],
        commands: [mintToken])

    private static let mintToken = Command(
        "mint",
        summary: "Print a token that lets its bearer play one content",
        details: """
            Signs as the configured issuer to whom the signing key belongs, and prints the token alone. In production your own
            service mints tokens; the README says what they hold.
            """,
        examples: [
            "latchkey token mint --config latchkey.json5 --content movie-1",
            "latchkey token mint --config latchkey.json5 --content movie-1 --lease 300 --rental 172800 --subject viewer-7",
        ],
        options: MintArguments.options,
        run: { arguments, context throws(CommandError) in
            try context.print(try MintArguments(arguments, context).mint())
        })
}

/// What `token mint` is given.
private struct MintArguments {
    private static let config = CommandOption(
        "--config", .value("FILE"), help: "the daemon's configuration, which names the issuers", isRequired: true)
    private static let content = CommandOption(
        "--content", .value("ID"), help: "the content that may be played", isRequired: true)
    private static let lease = CommandOption(
        "--lease", .value("SECONDS"),
        help: "how long playback may go on before it must be renewed; no limit unless given")
    private static let rental = CommandOption(
        "--rental", .value("SECONDS"), help: "how long from the licence on playback may begin; no limit unless given")
    private static let expires = CommandOption(
        "--expires", .value("SECONDS"), help: "how long the token is good; \(expiresDefault) unless given")
    private static let subject = CommandOption("--subject", .value("ID"), help: "whose token it is")
    private static let issuerKey = CommandOption(
        "--issuer-key", .value("FILE"),
        help: "the key that signs; \(issuerKeyDefault) beside the configuration unless given")

    static let options = [config, content, lease, rental, expires, subject, issuerKey]

    private static let expiresDefault: Int64 = 3600
    private static let issuerKeyDefault = "secrets/token-signing-key.pem"
    private static let termSeconds: ClosedRange<Int64> = 1...Int64(StreamingLimits.secondsMaximum)
    private static let expiresSeconds: ClosedRange<Int64> = 1...366 * 86_400

    private let signer: TokenSigner
    private let contents: TokenContents

    init(_ arguments: Arguments, _ context: CommandContext) throws(CommandError) {
        let contentText = try arguments.required(Self.content)
        guard let contentID = try? ContentID(contentText) else {
            throw .usage("--content takes 1 to 200 printable ASCII characters without space")
        }
        let right = Right(
            .content(contentID.text), duration: try arguments.seconds(Self.rental, in: Self.termSeconds),
            lease: try arguments.seconds(Self.lease, in: Self.termSeconds))
        let life = try arguments.seconds(Self.expires, in: Self.expiresSeconds) ?? Self.expiresDefault
        let configuration = try arguments.required(Self.config)
        let keyPath =
            arguments.value(Self.issuerKey)
            ?? FilePath.resolve(Self.issuerKeyDefault, relativeTo: FilePath.directory(of: configuration))
        signer = try TokenSigner(configuration: configuration, keyPath: keyPath, context)
        let maximumLife = signer.issuer.maximumLife.components.seconds
        guard life <= maximumLife else {
            throw .usage(
                "--expires: tokens of the issuer \(signer.issuer.issuer) live for \(maximumLife) seconds at most, as its "
                    + "maximumLife says")
        }
        contents = TokenContents(
            issuer: signer.issuer.issuer, audience: signer.issuer.audience, subject: arguments.value(Self.subject),
            tokenID: try Self.randomTokenID(), issuedAt: context.now, expiresAt: context.now + life, rights: [right])
    }

    func mint() throws(CommandError) -> String {
        do throws(CryptoError) {
            return try signer.minter.mint(contents)
        } catch {
            throw .failed("OpenSSL did not sign (\(error))")
        }
    }

    private static func randomTokenID() throws(CommandError) -> String {
        do throws(CryptoError) {
            return Base64URL.encode(try RandomBytes.generate(count: 16))
        } catch {
            throw .failed("OpenSSL gave no random bytes (\(error))")
        }
    }
}

import ByteCoding
import CommandLineKit
import CommandSupport
import Entitlements
import KeyCrypto
import ServiceConfiguration

/// Makes the token of `token mint --dialect expressplay`: a sealed token for a stored content.
struct SealedTokenArguments {
    private let issuer: Configuration.Issuer
    private let sealer: TokenSealer
    private let contents: SealedTokenContents

    /// The longest life of this issuer's tokens, in seconds.
    private static func lifeMaximum(_ issuer: Configuration.Issuer) -> Int64 { issuer.maximumLife.components.seconds }

    /// Takes the first issuer of the dialect that has an active key. Throws `usage` for a right that a sealed token
    /// cannot express.
    init(
        _ right: Right, subject: String?, life: Int64, configuration path: String, _ context: CommandContext
    ) throws(CommandError) {
        (issuer, sealer) = try Self.issuer(path, context)
        guard life <= Self.lifeMaximum(issuer) else {
            throw .usage(
                "--expires: tokens of the issuer \(issuer.issuer) may live for \(Self.lifeMaximum(issuer)) seconds at most "
                    + "(maximumLife)")
        }
        guard right.tracks.isEmpty else { throw .usage("--track: a sealed token has no tracks") }
        var contents = SealedTokenContents(
            tokenID: try Self.randomTokenID(), issuedAt: context.now, expiresAt: context.now + life)
        switch right.selector {
        case .content(let contentID): contents.contentID = contentID
        case .keyIDs(let keyIDs):
            guard keyIDs.count == 1 else { throw .usage("--kid: a sealed token names exactly one key") }
            contents.keyID = keyIDs[0]
        case .contentPrefix, .anything: preconditionFailure("no option gives such a right")
        }
        switch right.mode {
        case .stream: break
        case .both: contents.allowsOffline = true
        case .offline: throw .usage("--mode offline: a sealed token allows streaming, or both")
        }
        contents.rental = right.duration
        contents.lease = right.lease
        contents.storage = right.storage
        contents.playback = right.playback
        contents.protection = right.protection
        contents.subject = subject
        self.contents = contents
    }

    /// Seals the token. A number gives it a subject and an id of its own.
    func mint(_ number: Int?) throws(CommandError) -> String {
        var contents = contents
        if let number {
            contents.subject = contents.subject.map { "\($0)-\(number)" }
            contents.tokenID = try Self.randomTokenID()
        }
        return try wrap(
            { (error: CryptoError) in CommandError.failed("OpenSSL could not seal the token (\(error))") },
            try sealer.seal(contents))
    }

    private static func issuer(
        _ path: String, _ context: CommandContext
    ) throws(CommandError) -> (Configuration.Issuer, TokenSealer) {
        let file = try OpenedLedger.configuration(path, context)
        let issuers = try wrap(
            CommandError.configuration, try LoadedConfiguration.loadIssuers(file, environment: context.environment))
        for issuer in file.configuration.entitlement.issuers {
            if let sealer = issuers.sealer(forIssuer: issuer.issuer) { return (issuer, sealer) }
        }
        throw .failed("no issuer in \(path) has dialect \"expressplay\" and an active key for A256GCM")
    }

    private static func randomTokenID() throws(CommandError) -> Bytes16 {
        Bytes16(try wrap(CommandError.noRandomBytes, try RandomBytes.generate(count: 16)), at: 0)
    }
}

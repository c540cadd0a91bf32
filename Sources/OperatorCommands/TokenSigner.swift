import ByteCoding
import CommandLineKit
import CommandSupport
import Entitlements
import KeyCrypto
import ServiceConfiguration

/// A signing key, and the configured issuer that it belongs to.
struct TokenSigner {
    let issuer: Configuration.Issuer
    let minter: TokenMinter

    /// Reads the key, and finds the issuer that is configured with its public key, or for HS256 with the same secret.
    init(configuration path: String, keyPath: String, _ context: CommandContext) throws(CommandError) {
        let configuration = try OpenedLedger.configuration(path, context).configuration
        let candidates = configuration.entitlement.issuers.flatMap { issuer in issuer.keys.map { (issuer, $0) } }
        for (issuer, key) in candidates {
            guard let minter = try Self.minter(for: key, of: issuer.dialect, keyPath: keyPath, context) else {
                continue
            }
            self.issuer = issuer
            self.minter = minter
            return
        }
        throw .failed(
            "\(keyPath) does not belong to an issuer in \(path), so tokens signed with it would be refused; name the right key "
                + "with --issuer-key")
    }

    /// The minter, if the file has the signing key for this key of an issuer; nil if the file has another key.
    private static func minter(
        for key: Configuration.IssuerKey, of dialect: TokenDialect, keyPath: String, _ context: CommandContext
    ) throws(CommandError) -> TokenMinter? {
        switch key.algorithm {
        case .es256:
            let signing = try signingKey(
                keyPath, key, context, parse: { try? ES256PrivateKey(parsing: $0) },
                publicPEM: { try? $0.publicKey.publicPEM() },
                publicPEMOfFile: { try? ES256PublicKey(parsing: $0).publicPEM() })
            return signing.map { TokenMinter(keyID: key.kid, es256: $0) }
        case .edDSA:
            let signing = try signingKey(
                keyPath, key, context, parse: { try? Ed25519PrivateKey(parsing: $0) },
                publicPEM: { try? $0.publicKey.publicPEM() },
                publicPEMOfFile: { try? Ed25519PublicKey(parsing: $0).publicPEM() })
            return signing.map { TokenMinter(keyID: key.kid, edDSA: $0) }
        case .rs256:
            let signing = try signingKey(
                keyPath, key, context, parse: { try? RSAPrivateKey(parsing: $0) },
                publicPEM: { try? $0.rs256PublicKey().publicPEM() },
                publicPEMOfFile: { try? RS256PublicKey(parsing: $0).publicPEM() })
            return signing.map { TokenMinter(keyID: key.kid, rs256: $0) }
        case .hs256:
            let secret = try sharedSecret(.file(path: keyPath), context)
            guard secret.isEqual(to: try sharedSecret(key.key, context)) else { return nil }
            guard let spelled = dialect.sharedSecret(spelled: secret) else { return nil }
            return try? TokenMinter(keyID: key.kid, hs256: spelled)
        case .a256GCM: return nil
        }
    }

    /// The signing key, if it belongs to the issuer's public key. The issuer's file may have both halves of the key.
    private static func signingKey<Key>(
        _ keyPath: String, _ key: Configuration.IssuerKey, _ context: CommandContext, parse: ([UInt8]) -> Key?,
        publicPEM: (Key) -> [UInt8]?, publicPEMOfFile: ([UInt8]) -> [UInt8]?
    ) throws(CommandError) -> Key? {
        guard let signing = try read(keyPath).withWipedArray(parse), let own = publicPEM(signing) else { return nil }
        let contents: SecretBytes
        contents = try wrap(
            CommandError.file,
            try SecretFile.readPublic(key.key, environment: context.environment))
        let issuers = contents.withWipedArray { bytes in publicPEMOfFile(bytes) ?? parse(bytes).flatMap(publicPEM) }
        return issuers == own ? signing : nil
    }

    private static func sharedSecret(
        _ source: SecretSource, _ context: CommandContext
    ) throws(CommandError) -> SecretBytes {
        return try wrap(
            CommandError.file,
            try SecretFile.readSharedSecret(source, environment: context.environment))
    }

    private static func read(_ path: String) throws(CommandError) -> SecretBytes {
        do throws(FileError) {
            return try SecretFile.read(.file(path: path), environment: [:])
        } catch .notFound {
            throw .failed("there is no signing key \(path); name one with --issuer-key")
        } catch {
            throw .failed(error.description)
        }
    }
}

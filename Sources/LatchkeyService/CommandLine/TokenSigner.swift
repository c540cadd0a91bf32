import Entitlements
import KeyCrypto

/// A signing key and the configured issuer to whom it belongs.
struct TokenSigner {
    let issuer: Configuration.Issuer
    let minter: TokenMinter

    /// Reads the key and finds the issuer that has its other half: the public key, or for HS256 the same secret.
    init(configuration path: String, keyPath: String, _ context: CommandContext) throws(CommandError) {
        let configuration: Configuration
        do throws(ConfigurationError) {
            configuration = try ConfigurationFile(path: path, environment: context.environment).configuration
        } catch {
            throw .failed(error.description)
        }
        let candidates = configuration.entitlement.issuers.flatMap { issuer in issuer.keys.map { (issuer, $0) } }
        for (issuer, key) in candidates {
            guard let minter = try Self.minter(for: key, keyPath: keyPath, context) else { continue }
            self.issuer = issuer
            self.minter = minter
            return
        }
        throw .failed(
            "\(keyPath) is the signing key of no issuer in \(path): tokens signed with it would be refused; name the right one "
                + "with --issuer-key")
    }

    /// The minter if the file holds what signs for this key; nil if it holds something else.
    private static func minter(
        for key: Configuration.IssuerKey, keyPath: String, _ context: CommandContext
    ) throws(CommandError) -> TokenMinter? {
        switch key.algorithm {
        case .es256:
            let contents = try read(keyPath)
            guard let signing = contents.withWipedArray({ bytes in try? ES256PrivateKey(parsing: bytes) }),
                let own = try? signing.publicKey.publicPEM(), try publicKey(key, context) == own
            else { return nil }
            return TokenMinter(keyID: key.kid, es256: signing)
        case .hs256:
            let secret = try sharedSecret(.file(path: keyPath), context)
            guard secret.isEqual(to: try sharedSecret(key.key, context)) else { return nil }
            return try? TokenMinter(keyID: key.kid, hs256: secret)
        }
    }

    /// The PEM text of the issuer's public key, for comparison; nil where the file is no such key.
    private static func publicKey(
        _ key: Configuration.IssuerKey, _ context: CommandContext
    ) throws(CommandError) -> [UInt8]? {
        let contents: SecretBytes
        do throws(FileError) {
            contents = try SecretFile.readPublic(key.key, environment: context.environment)
        } catch {
            throw .failed(error.description)
        }
        return contents.withWipedArray { bytes in
            // A set-up may have one file for both halves.
            let publicKey = (try? ES256PublicKey(parsing: bytes)) ?? (try? ES256PrivateKey(parsing: bytes))?.publicKey
            return try? publicKey?.publicPEM()
        }
    }

    private static func sharedSecret(
        _ source: SecretSource, _ context: CommandContext
    ) throws(CommandError) -> SecretBytes {
        do throws(FileError) {
            return try SecretFile.readSharedSecret(source, environment: context.environment)
        } catch {
            throw .failed(error.description)
        }
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

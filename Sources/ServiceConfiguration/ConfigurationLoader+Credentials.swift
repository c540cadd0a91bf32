import FairPlay
import KeyCrypto

/// What was loaded for one credential of the configuration.
///
/// It is one credential, or one for each entry of the file that an SDK has.
struct ConfiguredCredential {
    /// A credential with the place that messages name. It is nil if it cannot be loaded.
    struct Entry {
        let path: String
        let credential: Credential?
    }

    /// Empty if the file with the entries cannot be read.
    let entries: [Entry]
    /// What the workers of an SDK library need; nil without a library, or if there is nothing for it.
    var library: LicenseLibrarySettings?

    init(_ entries: [Entry], library: LicenseLibrarySettings? = nil) {
        self.entries = entries
        self.library = library
    }

    fileprivate var isComplete: Bool { !entries.isEmpty && entries.allSatisfy { $0.credential != nil } }
}

extension [ConfiguredCredential] {
    /// Whether each credential of the configuration was loaded.
    var isComplete: Bool { allSatisfy(\.isComplete) }
}

extension ConfigurationLoader {
    /// Loads all credentials and the settings of their SDK libraries; returns nil if one of them cannot be loaded.
    mutating func credentials() -> (set: CredentialSet, libraries: [LicenseLibrarySettings])? {
        let loaded = eachCredential()
        guard loaded.isComplete, let set = credentialSet(loaded.flatMap(\.entries)) else { return nil }
        return (set, loaded.compactMap(\.library))
    }

    /// Loads the credentials in the order of the configuration.
    mutating func eachCredential() -> [ConfiguredCredential] {
        var loaded: [ConfiguredCredential] = []
        for (index, configured) in configuration.fairplay.credentials.enumerated() {
            let path = "fairplay.credentials[\(index)]"
            switch configured.ladder {
            case .sdk(let sdk): loaded.append(sdkCredential(configured, sdk, path))
            case .applicationSecret, .fixedDASk, .module:
                loaded.append(ConfiguredCredential([.init(path: path, credential: credential(configured, path))]))
            }
        }
        return loaded
    }

    /// Makes a set of all credentials that were loaded. Returns nil if two of them have the same certificate hash, so
    /// that an SPC could be for either.
    mutating func credentialSet(_ entries: [ConfiguredCredential.Entry]) -> CredentialSet? {
        do throws(CredentialError) {
            return try CredentialSet(entries.compactMap(\.credential))
        } catch {
            report(error, at: "fairplay.credentials", among: entries)
            return nil
        }
    }

    private mutating func credential(_ configured: Configuration.Credential, _ path: String) -> Credential? {
        let pairs = configured.certificates.flatMap { self.pairs(of: configured, $0, path) }
        let ladder = ladder(configured.ladder, path)
        guard let pairs, let ladder else { return nil }
        return credential(
            named: configured.name, configured, pair1024: pairs.small, pair2048: pairs.large, ladder, path)
    }

    /// Makes a credential with the stage of the configured one, and with SPC version 3 if that has it and there is a
    /// key for it.
    mutating func credential(
        named name: String, _ configured: Configuration.Credential, pair1024: Credential.KeyPair?,
        pair2048: Credential.KeyPair?, _ ladder: SessionKeyLadder, _ path: String
    ) -> Credential? {
        do throws(CredentialError) {
            return try Credential(
                name: name, stage: configured.stage, pair1024: pair1024, pair2048: pair2048, ladder: ladder,
                servesVersion3: configured.spcVersion3 && pair2048 != nil)
        } catch {
            report(error, at: path, among: [])
            return nil
        }
    }

    private mutating func ladder(_ configured: Configuration.Ladder, _ path: String) -> SessionKeyLadder? {
        switch configured {
        case .applicationSecret(let source):
            return ladder(.applicationSecret, source, "\(path).applicationSecret")
        case .fixedDASk(let source):
            let path = "\(path).fixedDASk"
            if !configuration.fairplay.allowTestCredentials { report(path, .testCredentialForbidden) }
            return ladder(.fixedDASk, source, path)
        case .module:
            // `modules` loads the files of the module.
            return .module(UnconnectedModule())
        case .sdk:
            // `sdkCredential` loads its files.
            return .library(UnconnectedLibrary())
        }
    }

    private mutating func ladder(
        _ kind: ApplicationSecretKeyLadder.Kind, _ source: SecretSource, _ path: String
    ) -> SessionKeyLadder? {
        guard let secret = secret(source, size: ApplicationSecretKeyLadder.secretSize, path) else { return nil }
        return ladder(kind, secret, path)
    }

    /// Makes a ladder of a secret of 16 bytes.
    mutating func ladder(
        _ kind: ApplicationSecretKeyLadder.Kind, _ secret: consuming SecretBytes, _ path: String
    ) -> SessionKeyLadder? {
        do throws(CryptoError) {
            return .applicationSecret(try ApplicationSecretKeyLadder(kind, secret))
        } catch {
            report(path, .cryptography(error))
            return nil
        }
    }

    private mutating func report(
        _ error: CredentialError, at path: String, among entries: [ConfiguredCredential.Entry]
    ) {
        switch error {
        case .noCertificate: report(path, .noneOf(["certificateBundle", "certificate1024", "certificate2048"]))
        case .wrongKeySize(let expected, let actual): report(path, .wrongKeySize(expected: expected, actual: actual))
        case .keyMismatch(let bits): report(path, .keyMismatch(certificate: "certificate\(bits)"))
        case .version3WithoutKey2048: report("\(path).spcVersion3", .incomplete(without: "certificate2048"))
        case .cryptography(let error): report(path, .cryptography(error))
        case .duplicateHash(let first, let second):
            let entry = entries.last { $0.credential?.name == second }
            report(entry?.path ?? path, .sameCertificate(as: first))
        }
    }
}

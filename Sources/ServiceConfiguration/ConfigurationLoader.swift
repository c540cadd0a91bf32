import ByteCoding
package import ContentKeys
import Entitlements
import FairPlay
import Glibc
package import KeyCrypto
package import StoragePostgreSQL

/// Reads the files that a configuration names, and collects all problems with them.
///
/// Unless its comment says more, a method returns nil only if it has reported a problem.
package struct ConfigurationLoader {
    package let file: ConfigurationFile
    let environment: [String: String]
    /// What stands in for files that are not there, by the fields that name them; several for a field with a list.
    private let substitutes: [String: [SharedSecret]]
    private(set) var problems: [ConfigurationProblem] = []
    /// Digests of the files' contents, by the fields that name the files.
    private(set) var digests: [String: FileDigest] = [:]
    /// The files that were asked for so far, those that cannot be read too, in that order.
    private(set) var namedFiles: [NamedFile] = []
    /// The secrets that requests present or that sign tokens and call-backs, by the fields that name them. A packager's
    /// secret must differ from all of them.
    private(set) var knownSecrets: [(path: String, secret: SharedSecret)] = []
    /// The tokens of administrators and secrets of packagers that are short.
    private(set) var shortSecrets: [ShortSecretWarning] = []

    package init(
        _ file: ConfigurationFile, environment: [String: String], substitutes: [String: [SharedSecret]] = [:]
    ) {
        self.file = file
        self.environment = environment
        self.substitutes = substitutes
    }

    var configuration: Configuration { file.configuration }

    /// The error with every problem so far; nil without a problem.
    package var error: ConfigurationError? {
        problems.isEmpty ? nil : .invalid(path: file.path, problems.inOrderOfFile)
    }

    /// Separates the path of a field from a place within the file that the field names:
    /// `fairplay.credentials[0].sdk.certificates: certificates[1].ask`.
    static let pathIntoFile = ": "

    mutating func report(_ path: String, _ fault: ConfigurationFault, found: String? = nil) {
        problems.append(ConfigurationProblem(path: path, position: position(of: path), fault: fault, found: found))
    }

    /// Reports a file of certificates or keys that the field cannot use, and says of which kind it is.
    mutating func report(_ path: String, _ fault: ConfigurationFault, about contents: borrowing SecretBytes) {
        report(path, fault, found: contents.withWipedArray { KeyFileKind($0) }.map { "it is \($0)" })
    }

    /// Reports a secret's file that cannot be read. A file that anyone may read may not be a secret: it may be the
    /// certificate or the public key that belongs elsewhere.
    private mutating func report(_ path: String, _ error: FileError, of source: SecretSource) {
        guard case .permissionsTooWide = error,
            let contents = try? SecretFile.readPublic(source, environment: environment)
        else { return report(path, .file(error)) }
        report(path, .file(error), about: contents)
    }

    /// The position of the field, for a place within its file too.
    private func position(of path: String) -> TextPosition? {
        if let position = file.positions[path] { return position }
        guard let end = path.firstRange(of: Self.pathIntoFile)?.lowerBound else { return nil }
        return file.positions[String(path[..<end])]
    }

    package mutating func keyEncryptionKey() -> AES256GCMKey? {
        keyEncryptionKey(configuration.keys.keyEncryptionKey, "keys.keyEncryptionKey")
    }

    /// Loads a key-encryption key from the file that a field names.
    mutating func keyEncryptionKey(_ source: SecretSource, _ path: String) -> AES256GCMKey? {
        guard let key = secret(source, size: AES256GCMKey.keySize, path) else { return nil }
        do throws(CryptoError) {
            return try AES256GCMKey(key)
        } catch {
            report(path, .cryptography(error))
            return nil
        }
    }

    mutating func publicListeners() -> [LoadedConfiguration.Listener] {
        configuration.listeners.public.enumerated().map { index, listener in
            let tls = tlsMaterial(listener.transport.tls, "listeners.public[\(index)]")
            return LoadedConfiguration.Listener(
                address: listener.address, transport: listener.transport, tls: tls, administrators: AdminCredentials())
        }
    }

    mutating func adminListeners() -> [LoadedConfiguration.Listener] {
        configuration.listeners.admin.enumerated().map { index, listener in
            let path = "listeners.admin[\(index)]"
            let administrators = AdminCredentials(
                tokens: adminTokens(of: listener, path),
                clients: listener.clients.map {
                    .init(name: $0.name, certificates: Set($0.clientCertificates), roles: $0.roles)
                })
            let tls = tlsMaterial(listener.transport.tls, path)
            return LoadedConfiguration.Listener(
                address: listener.address, transport: listener.transport, tls: tls, administrators: administrators)
        }
    }

    /// Loads the tokens of a listener, and reports two tokens with one secret and different roles: the secret would
    /// have the roles of the first one.
    private mutating func adminTokens(
        of listener: Configuration.AdminListener, _ path: String
    ) -> [AdminCredentials.Token] {
        var sources: [(name: String, source: SecretSource, roles: Set<AdminRole>, path: String)] = []
        if let file = listener.tokenFile { sources.append(("tokenFile", file, [.admin], "\(path).tokenFile")) }
        for (index, token) in listener.tokens.enumerated() {
            sources.append((token.name, token.file, token.roles, "\(path).tokens[\(index)].file"))
        }
        var tokens: [(token: AdminCredentials.Token, path: String)] = []
        for (name, source, roles, path) in sources {
            guard let secret = adminToken(source, path) else { continue }
            noteIfShort(secret, path)
            let twin = tokens.first { $0.token.secret.bytes.isEqual(to: secret.bytes) && $0.token.roles != roles }
            if let twin { report(path, .duplicate(of: twin.path)) }
            tokens.append((.init(name: name, secret: secret, roles: roles), path))
        }
        return tokens.map(\.token)
    }

    /// Loads a secret that requests present: 16 to 1024 visible ASCII characters.
    mutating func adminToken(_ source: SecretSource, _ path: String) -> SharedSecret? {
        guard let contents = secret(source, path) else { return nil }
        guard let token = contents.withoutTrailingWhiteSpace(), (16...1024).contains(token.count),
            token.withWipedArray({ $0.allSatisfy { $0 > 0x20 && $0 < 0x7F } })
        else {
            report(path, .notAnAdminToken)
            return nil
        }
        let secret = SharedSecret(token)
        knownSecrets.append((path, secret))
        return secret
    }

    mutating func noteIfShort(_ secret: SharedSecret, _ path: String) {
        if let warning = ShortSecretWarning(field: path, length: secret.bytes.count) { shortSecrets.append(warning) }
    }

    mutating func checkListeners(with credentials: CredentialSet) {
        let found = LoadedConfiguration.checkListeners(
            configuration.listeners, credentials: credentials,
            allowTestCredentials: configuration.fairplay.allowTestCredentials)
        for problem in found { report(overridingVariable(of: problem.path) ?? problem.path, problem.fault) }
    }

    /// The environment variable that overrides a listener's address, because then the problem has no line in the file;
    /// nil if none does.
    private func overridingVariable(of path: String) -> String? {
        let variable: EnvironmentOverride? =
            switch path {
            case "listeners.public[0].address": .listen
            case "listeners.admin[0].address": .adminListen
            default: nil  // No variable overrides other fields of listeners.
            }
        return variable.flatMap { environment[$0.rawValue] == nil ? nil : $0.rawValue }
    }

    // MARK: Files

    /// Reads the contents of a secret's file.
    mutating func secret(
        _ source: SecretSource, sizeMaximum: Int = SecretFile.sizeMaximum, _ path: String
    ) -> SecretBytes? {
        do throws(FileError) {
            let environment = environment
            let contents = try read(source, path, isSecret: true) { () throws(FileError) in
                try SecretFile.read(source, environment: environment, sizeMaximum: sizeMaximum)
            }
            note(contents, path)
            return contents
        } catch {
            report(path, error, of: source)
            return nil
        }
    }

    /// Reads an HS256 secret with `SecretFile.readSharedSecret`.
    mutating func sharedSecret(_ source: SecretSource, _ path: String) -> SecretBytes? {
        do throws(FileError) {
            let environment = environment
            let secret = try read(source, path, isSecret: true) { () throws(FileError) in
                try SecretFile.readSharedSecret(source, environment: environment)
            }
            note(secret, path)
            knownSecrets.append((path, SharedSecret(secret.copy())))
            return secret
        } catch {
            report(path, error, of: source)
            return nil
        }
    }

    /// Reads a secret of a fixed size from a file, in any of the forms of `EncodedSecret`.
    mutating func secret(_ source: SecretSource, size: Int, _ path: String) -> SecretBytes? {
        guard let contents = secret(source, path) else { return nil }
        let decoded = EncodedSecret.decode(contents, size: size)
        if decoded == nil { report(path, .notASecret(size: size), found: EncodedSecret.form(of: contents)) }
        return decoded
    }

    /// Reads the contents of a file that need not be secret.
    mutating func publicFile(_ source: SecretSource, _ path: String) -> SecretBytes? {
        do throws(FileError) {
            let environment = environment
            let contents = try read(source, path, isSecret: false) { () throws(FileError) in
                try SecretFile.readPublic(source, environment: environment)
            }
            note(contents, path)
            return contents
        } catch {
            report(path, .file(error))
            return nil
        }
    }

    /// Notes the file, and reads it or what stands in for it.
    private mutating func read(
        _ source: SecretSource, _ path: String, isSecret: Bool, _ body: () throws(FileError) -> SecretBytes
    ) throws(FileError) -> SecretBytes {
        let place = name(source, path, isSecret: isSecret)
        do throws(FileError) {
            return try body()
        } catch {
            guard error.isAbsence, let contents = namedFiles[place].choose(from: substitutes) else { throw error }
            return contents.bytes.copy()
        }
    }

    /// The file's place in `namedFiles`.
    private mutating func name(_ source: SecretSource, _ path: String, isSecret: Bool) -> Int {
        if let known = namedFiles.firstIndex(where: { $0.field == path && $0.source == source }) {
            // A file of keys is read as a public one first, and as a secret if it holds any.
            if isSecret { namedFiles[known].isSecret = true }
            return known
        }
        let ordinal = namedFiles.count { $0.field == path }
        namedFiles.append(NamedFile(field: path, ordinal: ordinal, source: source, isSecret: isSecret))
        return namedFiles.count - 1
    }

    private mutating func note(_ contents: borrowing SecretBytes, _ path: String) {
        do throws(CryptoError) {
            digests[path] = try FileDigest(of: contents)
        } catch {
            report(path, .cryptography(error))
        }
    }

    /// Notes the digest of a file that is not read as a whole.
    mutating func note(_ digest: FileDigest, _ path: String) {
        digests[path] = digest
    }
}

extension ConfigurationLoader {
    /// Loads the older key-encryption keys, and returns all keys. `current` is the key that seals.
    package mutating func keyRing(_ current: AES256GCMKey) -> KeyRing? {
        let keys = configuration.keys
        var older: [KeySealing] = []
        for (index, entry) in keys.olderKeyEncryptionKeys.enumerated() {
            guard let key = keyEncryptionKey(entry.key, "keys.olderKeyEncryptionKeys[\(index)].key") else { continue }
            older.append(KeySealing(keyEncryptionKey: key, version: entry.version))
        }
        guard older.count == keys.olderKeyEncryptionKeys.count else { return nil }
        let sealing = KeySealing(keyEncryptionKey: current, version: keys.keyEncryptionKeyVersion)
        guard let ring = KeyRing(current: sealing, older: older) else {
            preconditionFailure("the versions of a configuration differ")
        }
        return ring
    }

    /// Loads the secret from which keys are derived. Returns nil if keys are random, or if a problem was reported.
    package mutating func keyDerivation() -> KeyDerivation? {
        let keys = configuration.keys
        guard let source = keys.masterSecret,
            let secret = secret(source, size: KeyDerivation.secretSize, "keys.masterSecret")
        else { return nil }
        do throws(CryptoError) {
            return try KeyDerivation(masterSecret: SharedSecret(secret), version: keys.masterSecretVersion)
        } catch {
            report("keys.masterSecret", .cryptography(error))
            return nil
        }
    }
}

extension ConfigurationLoader {
    /// Loads the settings for PostgreSQL. Returns nil with SQLite, or if a problem was reported.
    package mutating func postgreSQL() -> PostgreSQLSettings? {
        switch configuration.storage.url {
        case .sqlite: return nil
        case .postgreSQL(let url):
            guard let source = configuration.storage.password else {
                return PostgreSQLSettings(url: url, password: nil)
            }
            guard let contents = secret(source, "storage.password") else { return nil }
            guard let password = contents.withoutTrailingWhiteSpace(), (1...1024).contains(password.count),
                password.withWipedArray({ $0.allSatisfy { $0 >= 0x20 && $0 != 0x7F } })
            else {
                report("storage.password", .notADatabasePassword)
                return nil
            }
            return PostgreSQLSettings(url: url, password: SharedSecret(password))
        }
    }
}

/// A digest that tells whether the contents of a file have changed. It is valid within one process only, and discloses
/// nothing of a secret.
package struct FileDigest: Equatable, Sendable {
    let code: [UInt8]

    /// A random key that only this process has, so that no other process can compare a digest with guesses.
    private static let key = Result { () throws(CryptoError) in
        try HMACSHA256Key(SecretBytes.random(count: HMACSHA256Key.codeSize))
    }

    init(of contents: borrowing SecretBytes) throws(CryptoError) {
        let key = try Self.key.get()
        code = try contents.withWipedArray { (bytes) throws(CryptoError) in try key.code(for: bytes[...]) }
    }

    /// Makes the digest of a large file: of its identity, its size and the time of its last change. Returns nil if the
    /// file does not exist.
    init?(ofFileAt path: String) {
        var status = stat()
        // Safe: Swift passes the path as a C string that is valid during the call.
        guard unsafe stat(path, &status) == 0 else { return nil }
        let numbers = [
            Int(status.st_dev), Int(status.st_ino), Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
        ]
        code = numbers.flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
    }
}

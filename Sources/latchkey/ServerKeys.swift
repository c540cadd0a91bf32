import CommandLineKit
import FairPlay
import ServiceConfiguration

/// The keys of a daemon's configuration, with which SPCs that were made for it can be opened.
struct ServerKeys {
    let protocolVersions: Set<UInt32>
    private let path: String
    private let credentials: CredentialSet

    init(configuration path: String, _ context: CommandContext) throws(CommandError) {
        self.path = path
        do throws(ConfigurationError) {
            let file = try ConfigurationFile(path: path, environment: context.environment)
            let loaded = LoadedConfiguration.loadCredentials(file, environment: context.environment)
            if let error = loaded.error { throw error }
            protocolVersions = file.configuration.fairplay.protocolVersions
            credentials = try Self.set(of: loaded.credentials, path)
        } catch {
            throw .failed(error.description)
        }
    }

    private static func set(
        of credentials: [Credential], _ path: String
    ) throws(ConfigurationError) -> CredentialSet {
        do throws(CredentialError) {
            return try CredentialSet(credentials)
        } catch {
            // Loading has shown that no two credentials have one hash.
            throw .invalid(path: path, [])
        }
    }

    /// What opens an SPC. `name` is for messages alone.
    func key(for envelope: SPCEnvelope, _ name: String) throws(CommandError) -> CredentialKey {
        if let key = credentials.key(version: envelope.version, hash: envelope.certificateHash) { return key }
        guard credentials.servedVersions.contains(envelope.version) else {
            throw .failed(
                "\(name) is an SPC of version \(envelope.version.rawValue), which no credential of \(path) serves; "
                    + "spcVersion3 enables it")
        }
        throw .failed(
            "\(name) names the certificate hash \(envelope.certificateHash), which is of no credential of \(path) in "
                + "version \(envelope.version.rawValue); latchkey credentials list shows them")
    }
}

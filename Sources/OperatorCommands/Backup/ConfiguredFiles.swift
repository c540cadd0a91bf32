import ByteCoding
import CommandLineKit
import ContentKeys
import KeyCrypto
import Records
import ServiceConfiguration

/// The files that a configuration names, with what they hold.
struct ConfiguredFiles {
    struct File {
        let named: NamedFile
        /// Nil for a file that cannot be read, for the reason that is given.
        let contents: SharedSecret?
        let error: FileError?
        /// Whether the contents are those of a sealed file, because there is no file yet.
        var isMissing = false
    }

    let configuration: Configuration
    let files: [File]

    /// Sealed files stand in for those that are not there.
    init(_ file: ConfigurationFile, _ sealed: SealedFiles?, _ context: CommandContext) {
        configuration = file.configuration
        let substitutes = sealed?.substitutes ?? [:]
        let named = LoadedConfiguration.namedFiles(
            of: file, environment: context.environment, substitutes: substitutes)
        files = named.map { named in
            do throws(FileError) {
                return File(
                    named: named, contents: SharedSecret(try named.read(environment: context.environment)), error: nil)
            } catch {
                let substitute = error.isAbsence ? named.choose(from: substitutes) : nil
                return File(named: named, contents: substitute, error: error, isMissing: substitute != nil)
            }
        }
    }

    /// The files' fingerprints. Those under the ledger key are made with `chain`, and left out without it.
    func fingerprints(_ chain: LedgerChain?) throws(CommandError) -> [SecretFingerprint] {
        var fingerprints: [SecretFingerprint] = []
        do throws(CryptoError) {
            for file in files {
                fingerprints.append(try SecretFingerprint(file.named, in: configuration, chain, file.contents))
            }
        } catch {
            throw .failed("cannot make the fingerprints of the secrets: a cryptographic operation failed")
        }
        return fingerprints
    }
}

/// The secrets of a configuration that a backup is verified with: its files, and sealed ones for those that are not
/// there.
struct RestoredSecrets {
    let files: ConfiguredFiles
    /// Nil if the configuration's files do not give them.
    let ledgerKeys: LedgerKeys?
    let keyRing: KeyRing?
    /// The master secret; empty without one, or if its file cannot be read.
    let masterSecret: SharedSecrets

    init(_ file: ConfigurationFile, _ sealed: SealedFiles?, _ context: CommandContext) {
        files = ConfiguredFiles(file, sealed, context)
        var loader = ConfigurationLoader(
            file, environment: context.environment, substitutes: sealed?.substitutes ?? [:])
        ledgerKeys = loader.ledgerKeys()
        keyRing = loader.keyEncryptionKey().flatMap { loader.keyRing($0) }
        masterSecret = loader.masterSecret() ?? .none
    }
}

package import KeyCrypto

/// A file that a field of the configuration names.
package struct NamedFile: Equatable, Sendable {
    /// The path of the field, such as `fairplay.credentials[0].applicationSecret`. If another file names this one, its
    /// place there follows: `fairplay.credentials[0].sdk.certificates: certificates[1].provisioning-data`.
    package let field: String
    /// Which file of the field it is, from 0 on: a field may have a list of them.
    package let ordinal: Int
    package let source: SecretSource
    /// Whether it is read as a secret. Anything else is a certificate, a public key or the like.
    package internal(set) var isSecret: Bool

    package init(field: String, ordinal: Int, source: SecretSource, isSecret: Bool) {
        self.field = field
        self.ordinal = ordinal
        self.source = source
        self.isSecret = isSecret
    }

    /// What the file holds, as the configuration reads it: 1 byte to 1 MiB.
    package func read(environment: [String: String]) throws(FileError) -> SecretBytes {
        guard isSecret else { return try SecretFile.readPublic(source, environment: environment) }
        return try SecretFile.read(
            source, environment: environment, sizeMaximum: ExternalModuleSettings.dataSizeMaximum)
    }

    /// Where the file is. Throws if the source depends on the environment, and that does not say.
    package func path(environment: [String: String]) throws(FileError) -> String {
        try source.path(in: environment)
    }

    /// What is given for this file; nil if nothing is.
    package func choose(from substitutes: [String: [SharedSecret]]) -> SharedSecret? {
        guard let list = substitutes[field], list.indices.contains(ordinal) else { return nil }
        return list[ordinal]
    }
}

extension FileError {
    /// Whether there is no file, in distinction from one that cannot be used.
    package var isAbsence: Bool {
        switch self {
        case .notFound, .credentialsDirectoryMissing, .credentialNotLoaded, .variableMissing: true
        case .forbidden, .notARegularFile, .permissionsTooWide, .writableByOthers, .empty, .tooLarge, .failed,
            .variableNotAPath:
            false
        }
    }
}

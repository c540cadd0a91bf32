import ByteCoding
package import Entitlements
package import KeyCrypto

/// How the configuration names a client certificate of a packager.
package enum ClientCertificateName: Hashable, Sendable {
    /// Any certificate with this subject, as RFC 4514 writes it.
    case subject(String)
    /// The one certificate whose DER encoding has this SHA-256, 32 bytes.
    case sha256([UInt8])

    fileprivate var words: String {
        switch self {
        case .subject(let subject): subject
        case .sha256(let digest): "sha256 " + Hexadecimal.encode(digest)
        }
    }
}

/// Why a request is accepted from no packager. The answer is the same for every reason. Only the log tells the reason.
package enum PackagerRefusal: Error, Equatable, Sendable {
    /// No secret is presented, and no packager has the certificate of the connection.
    case missing
    /// A header field cannot be parsed, or its scheme is not supported.
    case malformed
    /// Two different credentials, or credentials of two packagers.
    case ambiguous
    /// No packager has the secret, or the packager with the secret has another user name.
    case wrong
    /// The packager of this name is disabled.
    case disabled(String)
}

/// All packagers, found by their credentials. It is immutable: a reload makes a new one.
///
/// By construction, a packager's credential gets no license, and a viewer's token gets no key:
///
/// - A license needs a token that verifies with a key of an issuer. The code that decides this does not use this
///   directory.
/// - This directory compares whole secrets. It knows no issuers and reads no tokens.
/// - A secret in the form of a token could serve as both. The configuration refuses such a secret
///   (`Token.isSpelled(by:)`). It also refuses a secret that an administrator, a customer or an issuer has.
package struct PackagerDirectory: Sendable {
    package final class Entry: Sendable {
        package let packager: Packager
        /// The user name in the scheme Basic, in UTF-8.
        let user: [UInt8]
        /// The current secret and, during a rotation, the previous one.
        let secrets: [AuthenticatorDigest]
        let certificates: Set<ClientCertificateName>

        /// Makes an entry. The digests must be made with the directory's key. `user` is the packager's name by default.
        package init(
            _ packager: Packager, user: String? = nil, secrets: [AuthenticatorDigest],
            certificates: Set<ClientCertificateName> = []
        ) {
            self.packager = packager
            self.user = Array((user ?? packager.name).utf8)
            self.secrets = secrets
            self.certificates = certificates
        }
    }

    /// A directory without packagers, which refuses every request.
    package static let empty = PackagerDirectory()

    private let entries: [Entry]
    /// The key for the digests of presented secrets; nil if there is no packager.
    private let key: HMACSHA256Key?

    private init() {
        entries = []
        key = nil
    }

    /// Makes a directory. No two entries may share a name, a secret or a certificate name. All digests must be made
    /// with `key`.
    package init(_ entries: [Entry], key: HMACSHA256Key) {
        self.entries = entries
        self.key = key
    }

    package var isEmpty: Bool { entries.isEmpty }

    /// The names of the packagers, in the order of the configuration.
    package var names: [String] { entries.map(\.packager.name) }

    /// Whether the ledger names one of the packagers so.
    package func hasPackager(actor: String) -> Bool { entries.contains { $0.packager.actor == actor } }

    /// What credentials present and what this directory would accept, for the log.
    ///
    /// It has no part of a secret. A user name is told only if a packager has it, because a client may have put a
    /// secret in its place.
    package func values(of credentials: PackagerCredentials) -> CheckedValues {
        guard !entries.isEmpty else {
            return CheckedValues(found: words(for: credentials), expected: "no packager is configured")
        }
        let certificates = entries.lazy.flatMap { entry in
            entry.certificates.map { "\($0.words) of \(entry.packager.name)" }
        }
        let expected =
            if credentials.certificate != nil, credentials.presented == .nothing, !certificates.isEmpty {
                ExplainedText.list(certificates.prefix(32).sorted())
            } else {
                "the secret or the certificate of one packager: "
                    + ExplainedText.list(entries.prefix(32).map(\.packager.name))
            }
        return CheckedValues(found: words(for: credentials), expected: expected)
    }

    private func words(for credentials: PackagerCredentials) -> String {
        let secret: String? =
            switch credentials.presented {
            case .nothing: nil
            case .malformed:
                "an Authorization or x-api-key that is not readable, or of a scheme other than Basic and Bearer"
            case .ambiguous: "secrets or user names that differ"
            case .secret(_, nil): "a secret without a user name"
            case .secret(_, let user?):
                entries.first { $0.user == user }.map {
                    "a secret for the user \(String(decoding: $0.user, as: UTF8.self))"
                }
                    ?? "a secret for a user name that no packager has"
            }
        let certificate = credentials.certificate.map {
            "the client certificate \(ClientCertificateName.sha256($0.sha256).words), \($0.subject)"
        }
        let all = [secret, certificate].compactMap { $0 }
        return all.isEmpty ? "no Authorization, no x-api-key and no client certificate" : all.joined(separator: " and ")
    }

    /// Returns the packager with these credentials.
    ///
    /// The secret is compared in constant time with the secrets of all packagers, also of disabled ones. A certificate
    /// that belongs to no packager may stand beside a secret, because the listener may demand a certificate of every
    /// client.
    package func judge(_ credentials: PackagerCredentials) throws(PackagerRefusal) -> Packager {
        let bySecret = try entry(presenting: credentials.presented)
        let byCertificate = try entry(connectedWith: credentials.certificate)
        guard let entry = bySecret ?? byCertificate else { throw .missing }
        if let other = byCertificate, other.packager.name != entry.packager.name { throw .ambiguous }
        guard !entry.packager.isDisabled else { throw .disabled(entry.packager.name) }
        return entry.packager
    }

    /// The entry with the presented secret; nil if no secret is presented.
    private func entry(presenting presented: PackagerCredentials.Presented) throws(PackagerRefusal) -> Entry? {
        switch presented {
        case .nothing: return nil
        case .malformed: throw .malformed
        case .ambiguous: throw .ambiguous
        case .secret(let secret, let user):
            // One digest serves all comparisons. If it cannot be made, the secret counts as wrong.
            guard let key, let digest = try? AuthenticatorDigest(of: secret, key: key) else { throw .wrong }
            var found: Entry?
            for entry in entries {
                for secret in entry.secrets where secret.equals(digest) { found = entry }
            }
            guard let found, user == nil || user == found.user else { throw .wrong }
            return found
        }
    }

    /// The entry with the certificate of the connection; nil if there is no certificate, or if no packager has it.
    private func entry(
        connectedWith certificate: PackagerCredentials.ClientCertificate?
    ) throws(PackagerRefusal) -> Entry? {
        guard let certificate else { return nil }
        let names: Set<ClientCertificateName> = [.subject(certificate.subject), .sha256(certificate.sha256)]
        let found = entries.filter { !$0.certificates.isDisjoint(with: names) }
        // One packager may list the subject and another one the fingerprint.
        guard found.count <= 1 else { throw .ambiguous }
        return found.first
    }
}

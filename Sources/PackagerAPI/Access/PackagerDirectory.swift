package import Entitlements
package import KeyCrypto

/// How the configuration names a client certificate of a packager.
package enum ClientCertificateName: Hashable, Sendable {
    /// Any certificate with this subject, as RFC 4514 writes it.
    case subject(String)
    /// The one certificate whose DER encoding has this SHA-256, 32 bytes.
    case sha256([UInt8])
}

/// Why a request comes from no packager. The answer is the same for all of them. Only the log tells which one it was.
package enum PackagerRefusal: Error, Equatable, Sendable {
    /// No secret is presented, and no packager has the certificate of the connection.
    case missing
    /// A header field is not readable, or its scheme is not served.
    case malformed
    /// Two different credentials, or credentials of two packagers.
    case ambiguous
    /// The secret is of no packager, or the user name is not that of the packager.
    case wrong
    /// The packager of this name is disabled.
    case disabled(String)
}

/// All packagers, found by what they present. Immutable: a reload makes another one.
///
/// A credential of a packager opens no licence, and a viewer's token opens no key, by construction:
///
/// - Licences are judged by tokens that verify with a key of an issuer. No part of that knows this directory.
/// - This directory compares whole secrets and knows no issuer. It reads no token.
/// - A secret that has the form of a token could be both. The configuration refuses such a secret
///   (`Token.isSpelled(by:)`), and a secret that is also an administrator's, a customer's or an issuer's.
package struct PackagerDirectory: Sendable {
    package final class Entry: Sendable {
        package let packager: Packager
        /// What Basic presents as the user name, in UTF-8.
        let user: [UInt8]
        /// The current secret and, during a rotation, the previous one.
        let secrets: [AuthenticatorDigest]
        let certificates: Set<ClientCertificateName>

        /// The digests have the key of the directory. `user` is the packager's name unless given.
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

    /// Without packagers: every request is refused.
    package static let empty = PackagerDirectory()

    private let entries: [Entry]
    /// Makes the digests of what requests present; nil if there is no packager.
    private let key: HMACSHA256Key?

    private init() {
        entries = []
        key = nil
    }

    /// No two entries have one name, one secret or one certificate name. All digests are made with `key`.
    package init(_ entries: [Entry], key: HMACSHA256Key) {
        self.entries = entries
        self.key = key
    }

    package var isEmpty: Bool { entries.isEmpty }

    /// In the order of the configuration.
    package var names: [String] { entries.map(\.packager.name) }

    /// The packager that presents these credentials.
    ///
    /// The secret is compared with that of every packager in constant time, also of those that are disabled. A
    /// certificate that names no packager may stand beside a secret: the listener may demand one of every client.
    package func judge(_ credentials: PackagerCredentials) throws(PackagerRefusal) -> Packager {
        let bySecret = try entry(presenting: credentials.presented)
        let byCertificate = try entry(connectedWith: credentials.certificate)
        guard let entry = bySecret ?? byCertificate else { throw .missing }
        if let other = byCertificate, other.packager.name != entry.packager.name { throw .ambiguous }
        guard !entry.packager.isDisabled else { throw .disabled(entry.packager.name) }
        return entry.packager
    }

    /// Nil if nothing is presented.
    private func entry(presenting presented: PackagerCredentials.Presented) throws(PackagerRefusal) -> Entry? {
        switch presented {
        case .nothing: return nil
        case .malformed: throw .malformed
        case .ambiguous: throw .ambiguous
        case .secret(let secret, let user):
            // One digest for all comparisons. Without a digest nothing is right.
            guard let key, let digest = try? AuthenticatorDigest(of: secret, key: key) else { throw .wrong }
            var found: Entry?
            for entry in entries {
                for secret in entry.secrets where secret.equals(digest) { found = entry }
            }
            guard let found, user == nil || user == found.user else { throw .wrong }
            return found
        }
    }

    /// Nil if there is no certificate, or if no packager has it.
    private func entry(
        connectedWith certificate: PackagerCredentials.ClientCertificate?
    ) throws(PackagerRefusal) -> Entry? {
        guard let certificate else { return nil }
        let names: Set<ClientCertificateName> = [.subject(certificate.subject), .sha256(certificate.sha256)]
        let found = entries.filter { !$0.certificates.isDisjoint(with: names) }
        // One packager may have the subject, and another one the fingerprint.
        guard found.count <= 1 else { throw .ambiguous }
        return found.first
    }
}

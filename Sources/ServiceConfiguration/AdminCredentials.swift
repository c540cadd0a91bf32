package import KeyCrypto
package import PackagerAPI

/// The credentials of an admin listener with the contents of their files, and how long sessions of the page last.
package struct AdminCredentials: Sendable {
    /// A token of an operator or a program.
    package struct Token: Sendable {
        /// The name of the holder in the ledger.
        package let name: String
        package let secret: SharedSecret
        package let roles: Set<AdminRole>

        package init(name: String, secret: SharedSecret, roles: Set<AdminRole> = [.admin]) {
            self.name = name
            self.secret = secret
            self.roles = roles
        }
    }

    /// An operator or a program with a client certificate. It has no secret here.
    package struct Client: Sendable {
        /// The name of the holder in the ledger.
        package let name: String
        package let certificates: Set<ClientCertificateName>
        package let roles: Set<AdminRole>

        package init(name: String, certificates: Set<ClientCertificateName>, roles: Set<AdminRole>) {
            self.name = name
            self.certificates = certificates
            self.roles = roles
        }
    }

    /// A request presents one of them in `Authorization: Bearer`. Or an operator logs in with one at the page.
    package let tokens: [Token]
    /// The connection of a request presents one of their certificates.
    package let clients: [Client]
    /// How long a session of the page lasts without a request.
    package let sessionIdle: Duration

    package init(
        tokens: [Token] = [], clients: [Client] = [],
        sessionIdle: Duration = .seconds(15 * 60)
    ) {
        self.tokens = tokens
        self.clients = clients
        self.sessionIdle = sessionIdle
    }

    /// Whether every sender is accepted. Only a loopback listener may be so.
    package var isEmpty: Bool { tokens.isEmpty && clients.isEmpty }

    /// The holder of a certificate with this subject, in the form of RFC 4514, and this SHA-256.
    ///
    /// Returns nil if no client has it. Also returns nil if several clients have it: one may list the subject and
    /// another one the fingerprint, and no choice between them is safe.
    package func holder(subject: String, sha256: [UInt8]) -> Client? {
        let names: Set<ClientCertificateName> = [.subject(subject), .sha256(sha256)]
        let found = clients.filter { !$0.certificates.isDisjoint(with: names) }
        return found.count == 1 ? found[0] : nil
    }
}

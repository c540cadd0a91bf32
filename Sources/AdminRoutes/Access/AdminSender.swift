import KeyCrypto
import ServiceConfiguration

/// The sender of a request to an admin listener, which has proved who it is.
package struct AdminSender: Sendable {
    /// How the sender has proved it.
    enum Proof: Sendable {
        /// Not at all: the listener has no credentials.
        case none
        case token(AdminCredentials.Token)
        case certificate(AdminCredentials.Client)
        /// By the cookie of a session that began with a token. `endsAt` is in seconds since 1970.
        case session(AdminSessionID, of: AdminCredentials.Token, endsAt: Int64)
    }

    let proof: Proof

    /// The name of the credential; nil without one.
    var name: String? {
        switch proof {
        case .none: nil
        case .token(let token), .session(_, let token, _): token.name
        case .certificate(let client): client.name
        }
    }

    var roles: Set<AdminRole> {
        switch proof {
        case .none: []
        case .token(let token), .session(_, let token, _): token.roles
        case .certificate(let client): client.roles
        }
    }

    var permissions: Set<AdminPermission> {
        switch proof {
        case .none: AdminPermission.ofOpenListener
        case .token, .session, .certificate: roles.permissions
        }
    }

    /// The name of the sender in the ledger and the log. A sender without a credential changes nothing, so no row of
    /// the ledger has its name.
    var actor: String {
        switch proof {
        case .none: "anonymous"
        case .token(let token), .session(_, let token, _): "token:" + token.name
        case .certificate(let client): "certificate:" + client.name
        }
    }

    /// Whether the credentials that are in force now still give the sender a permission.
    ///
    /// Answers that take long, such as a stream of events, ask this again and again. It does not look at the end of a
    /// session: `AdminGate.allows` does.
    func isAllowed(_ permission: AdminPermission, under credentials: AdminCredentials) -> Bool {
        switch proof {
        case .none: credentials.isEmpty && permissions.contains(permission)
        case .token(let token), .session(_, let token, _):
            credentials.tokens.contains { $0.isSame(as: token) && $0.roles.permissions.contains(permission) }
        case .certificate(let client):
            credentials.clients.contains {
                $0.name == client.name && $0.certificates.isSuperset(of: client.certificates)
                    && $0.roles.permissions.contains(permission)
            }
        }
    }
}

extension AdminCredentials.Token {
    /// Whether two tokens have the same name and the same secret. Their roles may differ.
    func isSame(as other: Self) -> Bool {
        name == other.name && secret.bytes.isEqual(to: other.secret.bytes)
    }
}

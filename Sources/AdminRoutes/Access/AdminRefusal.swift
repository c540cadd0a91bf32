import KeyCrypto
import Licensing
import Records
import RouteKit
import ServiceConfiguration

/// Why a request to an admin listener is refused: the answer, and the cause for operators.
package struct AdminRefusal: Error, Sendable {
    var problem: Problem
    let cause: String
    let facts: RefusalFacts

    init(_ problem: Problem, cause: String? = nil, found: String? = nil, expected: String? = nil) {
        self.problem = problem
        self.cause = cause ?? problem.code.title
        facts = RefusalFacts(found: found, expected: expected)
    }

    init(
        _ code: ProblemCode, cause: String? = nil, retryAfterSeconds: Int64? = nil, found: String? = nil,
        expected: String? = nil
    ) {
        self.init(
            Problem(code, retryAfterSeconds: retryAfterSeconds), cause: cause, found: found, expected: expected)
    }

    /// A browser has sent the request with the cookie or the certificate of an operator, and another page may have
    /// made it.
    static func foreignPage(_ cause: String) -> AdminRefusal { AdminRefusal(.adminOriginRefused, cause: cause) }

    static func cryptography(_ error: CryptoError) -> AdminRefusal {
        AdminRefusal(.internalError, cause: "cryptography: \(error)")
    }

    /// The sender is known, and none of its roles has the permission.
    static func roleMissing(_ permission: AdminPermission, of sender: AdminSender) -> AdminRefusal {
        let roles = permission.roles.map(\.rawValue)
        let detail =
            "The request needs the permission \(permission.rawValue), which "
            + (roles.count == 1 ? "the role \(roles[0]) has" : "the roles \(roles.joined(separator: ", ")) have")
        return AdminRefusal(
            Problem(.adminRoleMissing, detail: detail),
            cause: "no role of \(sender.actor) has the permission \(permission.rawValue)",
            found: "roles: " + sender.roles.words.joined(separator: ", "),
            expected: "one of the roles: " + roles.joined(separator: ", "))
    }
}

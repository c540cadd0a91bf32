/// The format in which an issuer writes its tokens.
package enum TokenDialect: String, Sendable, CaseIterable {
    /// A JSON Web Token with the native claims (entitlement, section 4.2).
    case jwt
    /// NAGRA's ContentAuthZ (entitlement, section 1.2.2).
    case nagra
    /// Axinom's license service message with an entitlement message of version 2 (entitlement, section 1.3).
    case axinom
    /// This server's own sealed token, which replaces ExpressPlay's (entitlement, section 1.1.4).
    case expressPlay = "expressplay"

    /// Whether each token names its issuer (`iss`), or is sealed with a key that only one issuer has.
    var namesIssuer: Bool {
        switch self {
        case .jwt, .expressPlay: true
        case .nagra, .axinom: false
        }
    }
}

package import ByteCoding

/// A place in which a request can carry a token (entitlement, section 4.1), in the order in which places are searched.
///
/// The raw values are the words of the configuration.
package enum TokenSource: String, Sendable, CaseIterable {
    /// `Authorization: Bearer`. Other schemes are ignored.
    case bearer = "authorization"
    /// NAGRA's header: a list of tokens separated by commas. The list counts as one token.
    case nvAuthorizations = "nv-authorizations"
    /// Axinom's header, or `AxDrmMessage` in the query.
    case axinomMessage = "x-axdrm-message"
    /// castLabs' header.
    case drmToday = "x-dt-auth-token"
    /// drm.cloud's header.
    case drmCloud = "x-drm-usertoken"
    /// ExpressPlay's header, or the same name in the query.
    case expressPlay = "expressplaytoken"
    /// Headers that the configuration names.
    case headers
    /// `token`, `UserToken` and `drm_token` in the query.
    case query
    /// The member `token` of a form or of a JSON body.
    case body

    /// The header that carries the token, alone or as part of its value.
    var header: String? {
        switch self {
        case .bearer: "Authorization"
        case .nvAuthorizations: "nv-authorizations"
        case .axinomMessage: "X-AxDRM-Message"
        case .drmToday: "x-dt-auth-token"
        case .drmCloud: "X-Drm-UserToken"
        case .expressPlay: "ExpressPlayToken"
        case .headers, .query, .body: nil
        }
    }

    var queryNames: [String] {
        switch self {
        case .axinomMessage: ["AxDrmMessage"]
        case .expressPlay: ["ExpressPlayToken"]
        case .query: ["token", "UserToken", "drm_token"]
        case .bearer, .nvAuthorizations, .drmToday, .drmCloud, .headers, .body: []
        }
    }
}

/// The token in one source of a request.
package struct PresentedToken: Equatable, Sendable {
    package let source: TokenSource
    /// One token. Only `nv-authorizations` can carry several, which belong together.
    package let tokens: [[UInt8]]

    package init(source: TokenSource, tokens: [[UInt8]]) {
        self.source = source
        self.tokens = tokens
    }
}

/// The parts of a request in which tokens are searched.
package struct TokenCarriers {
    /// Returns the values of all header fields with a name, which is compared without regard to case.
    package let fieldValues: (String) -> [String]
    /// The parameters of the query.
    package let query: QueryPairs
    /// The member `token` of the body, if it has one.
    package let bodyToken: [UInt8]?
    /// The token that was found in these parts before; nil if they were not searched yet.
    package private(set) var found: PresentedToken?

    package init(
        fieldValues: @escaping (String) -> [String], query: QueryPairs = QueryPairs(), bodyToken: [UInt8]? = nil
    ) {
        self.fieldValues = fieldValues
        self.query = query
        self.bodyToken = bodyToken
    }

    /// Returns the same parts with the token that was found in them, which is not searched again.
    package func with(found: PresentedToken?) -> TokenCarriers {
        var carriers = self
        carriers.found = found
        return carriers
    }

    /// Returns the same parts with a token from the body.
    package func with(bodyToken: [UInt8]) -> TokenCarriers {
        TokenCarriers(fieldValues: fieldValues, query: query, bodyToken: bodyToken)
    }
}

/// The web pages that may read this server's answers (CORS protocol of the Fetch standard).
///
/// It is no access control: the requests of other pages arrive too.
package struct CORSPolicy: Equatable, Sendable {
    /// The origins of pages that may read answers.
    package enum Origins: Equatable, Sendable {
        /// Any origin, which is sent as `*`. Pages cannot send cookies then, but this server uses none.
        case any
        /// One of these origins, as browsers write them: `https://www.example`, or `null` for pages without an origin.
        /// The set may be empty.
        case listed(Set<String>)
    }

    package let origins: Origins
    /// Whether pages of the listed origins may send cookies and client certificates.
    package let allowsCredentials: Bool
    /// Fields that requests may have in addition to `allowedFields`.
    package let otherFields: Set<String>
    /// For how long a browser may cache the answer to a preflight, in whole seconds.
    package let maximumAge: Duration

    package init(
        origins: Origins = .any, allowsCredentials: Bool = false, otherFields: Set<String> = [],
        maximumAge: Duration = .seconds(7200)
    ) {
        self.origins = origins
        self.allowsCredentials = allowsCredentials
        self.otherFields = otherFields
        self.maximumAge = maximumAge
    }

    /// Returns the same policy with additional fields that requests may have.
    package func allowing(_ fields: Set<String>) -> CORSPolicy {
        CORSPolicy(
            origins: origins, allowsCredentials: allowsCredentials, otherFields: otherFields.union(fields),
            maximumAge: maximumAge)
    }

    /// The fields that players send: the fields for tokens, those that a legacy player adds to every request, and those
    /// of a trace.
    ///
    /// Each one is listed by its name, because `*` does not cover `Authorization`.
    static let allowedFields = [
        "authorization", "cache-control", "content-type", "customdata", "expressplaytoken", "kid", "nv-authorizations",
        "pallycon-customdata-v2", "pragma", "x-axdrm-message", "x-correlation-id", "x-drm-usertoken", "x-dt-auth-token",
        "traceparent", "tracestate", "x-isp-token", "x-license-renew", "x-request-id",
    ]

    /// The fields of an answer that an app may read, in addition to those that every page may read.
    static let exposedFields = [
        "X-License-Id", "X-License-Issued", "X-License-Expires", "X-License-Renew-After", "X-License-Type",
        "X-Session-Token", "X-Error-Code", "X-Request-Id", "Retry-After",
    ]

    private static let exposed: HTTPFields = ["Access-Control-Expose-Headers": exposedFields.joined(separator: ", ")]
    private static let anyOrigin: HTTPFields = ["Access-Control-Allow-Origin": "*"]

    /// Adds the fields to an answer that allow the page to read it. `origin` is the origin that the browser sends.
    package func decorate(_ response: consuming HTTPResponse, for origin: String?) -> HTTPResponse {
        if addOrigin(origin, to: &response.fields) { response.fields.append(contentsOf: Self.exposed) }
        return response
    }

    /// Returns the answer to OPTIONS, which a browser sends by itself and without a token. `methods` are the methods of
    /// the path, in the format of `Allow`.
    package func preflightResponse(for origin: String?, methods: String) -> HTTPResponse {
        var fields: HTTPFields = ["Allow": methods]
        if addOrigin(origin, to: &fields) {
            fields.append("Access-Control-Allow-Methods", methods)
            fields.append(
                "Access-Control-Allow-Headers",
                Set(Self.allowedFields + otherFields.map { $0.lowercased() }).sorted().joined(separator: ", "))
            fields.append("Access-Control-Max-Age", String(maximumAge.components.seconds))
        }
        return HTTPResponse(status: .noContent, fields: fields)
    }

    /// Adds the fields for an origin. Returns whether the page may read the answer.
    ///
    /// `Vary` prevents that a cache gives the answer for one origin to another.
    private func addOrigin(_ origin: String?, to fields: inout HTTPFields) -> Bool {
        switch origins {
        case .any:
            fields.append(contentsOf: Self.anyOrigin)
            return true
        case .listed(let origins):
            fields.append("Vary", "Origin")
            guard let origin, origins.contains(origin) else { return false }
            fields.append("Access-Control-Allow-Origin", origin)
            if allowsCredentials { fields.append("Access-Control-Allow-Credentials", "true") }
            return true
        }
    }
}

/// Which web pages may read our answers (the Fetch standard's CORS protocol). No access control: what a page sends
/// arrives anyway.
package struct CORSPolicy: Equatable, Sendable {
    /// Where pages may come from.
    package enum Origins: Equatable, Sendable {
        /// Anywhere, as `*` says. Pages cannot send cookies then, which nothing here looks at.
        case any
        /// One of these, as browsers write them: `https://www.example`, or `null` for pages without an origin. May be
        /// empty.
        case listed(Set<String>)
    }

    package let origins: Origins
    /// Whether pages of the listed origins may send cookies and client certificates.
    package let allowsCredentials: Bool
    /// Fields that requests may have beside `allowedFields`.
    package let otherFields: Set<String>
    /// How long a browser may remember a preflight's answer, in whole seconds.
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

    /// The same policy for pages that also send these fields.
    package func allowing(_ fields: Set<String>) -> CORSPolicy {
        CORSPolicy(
            origins: origins, allowsCredentials: allowsCredentials, otherFields: otherFields.union(fields),
            maximumAge: maximumAge)
    }

    /// What players send: the token in each of its forms, and what a legacy player adds to every request.
    ///
    /// Each by its name, because `*` does not cover `Authorization`.
    static let allowedFields = [
        "authorization", "cache-control", "content-type", "customdata", "expressplaytoken", "kid", "nv-authorizations",
        "pallycon-customdata-v2", "pragma", "x-axdrm-message", "x-correlation-id", "x-drm-usertoken", "x-dt-auth-token",
        "x-isp-token", "x-license-renew", "x-request-id",
    ]

    /// What an app may read of an answer, beside the fields that every page may read.
    static let exposedFields = [
        "X-License-Id", "X-License-Issued", "X-License-Expires", "X-License-Renew-After", "X-License-Type",
        "X-Session-Token", "X-Error-Code", "X-Request-Id", "Retry-After",
    ]

    private static let exposed: HTTPFields = ["Access-Control-Expose-Headers": exposedFields.joined(separator: ", ")]
    private static let anyOrigin: HTTPFields = ["Access-Control-Allow-Origin": "*"]

    /// Adds to an answer what lets the page that asked for it read it; `origin` is what its browser says of the page.
    package func decorate(_ response: consuming HTTPResponse, for origin: String?) -> HTTPResponse {
        if addOrigin(origin, to: &response.fields) { response.fields.append(contentsOf: Self.exposed) }
        return response
    }

    /// The answer to OPTIONS, which a browser sends by itself and without a token; `methods` are those of the address,
    /// as `Allow` has them.
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

    /// Whether the page may read the answer. A cache must not give one page's answer to another.
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

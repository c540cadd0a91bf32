/// The web pages that may read this server's answers (CORS protocol of the Fetch standard).
///
/// It is no access control: the requests of other pages arrive too.
package struct CORSPolicy: Equatable, Sendable {
    /// The origins of pages that may read answers.
    package enum Origins: Equatable, Sendable {
        /// Any origin, which is sent as `*`. Pages cannot send cookies then, but this server uses none.
        case any
        /// One of these origins. The set may be empty.
        case listed(OriginSet)
    }

    package let origins: Origins
    /// Whether pages of the listed origins may send cookies and client certificates.
    package let allowsCredentials: Bool
    /// Fields that requests may have in addition to `allowedFields`.
    package let otherFields: Set<String>
    /// For how long a browser may cache the answer to a preflight, in whole seconds.
    package let maximumAge: Duration
    /// All fields that requests may have, in lower case, and the same as the value of a field.
    private let allFields: Set<String>
    private let allFieldsText: String

    package init(
        origins: Origins = .any, allowsCredentials: Bool = false, otherFields: Set<String> = [],
        maximumAge: Duration = .seconds(7200)
    ) {
        self.origins = origins
        self.allowsCredentials = allowsCredentials
        self.otherFields = otherFields
        self.maximumAge = maximumAge
        allFields = Self.allowedFields.union(otherFields.map { $0.lowercased() })
        allFieldsText = allFields.sorted().joined(separator: ", ")
    }

    /// Returns the same policy with additional fields that requests may have.
    package func allowing(_ fields: Set<String>) -> CORSPolicy {
        CORSPolicy(
            origins: origins, allowsCredentials: allowsCredentials, otherFields: otherFields.union(fields),
            maximumAge: maximumAge)
    }

    /// The fields that players send: the fields for tokens, those that a legacy player adds to every request, those of
    /// CMCD and those of a trace.
    ///
    /// Each one is listed by its name, because `*` does not cover `Authorization`.
    static let allowedFields: Set = [
        "authorization", "brandguid", "cache-control", "cmcd-object", "cmcd-request", "cmcd-session", "cmcd-status",
        "content-type", "customdata", "dt-custom-data", "expressplaytoken", "iv", "kid", "nv-authorizations",
        "pallycon-customdata-v2", "pragma", "traceparent", "tracestate", "usertoken", "x-axdrm-message",
        "x-correlation-id", "x-drm-usertoken", "x-dt-auth-token", "x-dt-custom-data", "x-isp-token",
        "x-keyos-authorization", "x-license-renew", "x-request-id", "x-requested-with", "x-vudrm-token",
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
            fields.append("Access-Control-Allow-Headers", allFieldsText)
            fields.append("Access-Control-Max-Age", String(maximumAge.components.seconds))
        }
        return HTTPResponse(status: .noContent, fields: fields)
    }

    /// What a preflight asks for and does not get, so that the browser will not send the request.
    ///
    /// Returns nil if it gets all, and for input that no browser sends: so the names are short and plain, and few.
    package func refusal(ofPreflight fields: HTTPFields) -> RefusedPreflight? {
        guard fields.bytes(of: "Access-Control-Request-Method") != nil, let origin = fields["Origin"],
            (1...RefusedPreflight.originSizeMaximum).contains(origin.utf8.count),
            origin.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        if case .listed(let origins) = origins, !origins.contains(origin) {
            return RefusedPreflight(origin: origin, fields: [])
        }
        guard let names = fields.bytes(of: "Access-Control-Request-Headers"),
            names.count <= RefusedPreflight.listSizeMaximum
        else { return nil }
        var seen: Set = ["*"]  // Browsers send no such name, and it could not be configured.
        let refused = names.split { $0 == UInt8(ascii: ",") || $0 == 0x20 || $0 == 0x09 }
            .filter { $0.count <= RefusedPreflight.nameSizeMaximum && $0.span.areTokenCharacters(0..<$0.count) }
            .map { String(decoding: $0, as: UTF8.self).lowercased() }
            .filter { !allFields.contains($0) && seen.insert($0).inserted }
        guard !refused.isEmpty else { return nil }
        return RefusedPreflight(origin: origin, fields: Array(refused.prefix(RefusedPreflight.nameCountMaximum)))
    }

    /// Whether pages of an origin may send a field, whose name is in lower case. An empty name stands for no field.
    package func allows(_ field: String, from origin: String) -> Bool {
        if case .listed(let origins) = origins, !origins.contains(origin) { return false }
        return field.isEmpty || allFields.contains(field)
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

/// A preflight that its browser takes for a refusal.
package struct RefusedPreflight: Equatable, Sendable {
    static let originSizeMaximum = 128
    static let listSizeMaximum = 1024
    static let nameSizeMaximum = 64
    static let nameCountMaximum = 8

    /// The origin of the page.
    package let origin: String
    /// The fields that the page asks for and may not send, in lower case; empty if the origin itself is not allowed.
    package let fields: [String]

    package init(origin: String, fields: [String]) {
        self.origin = origin
        self.fields = fields
    }
}

/// The origins of pages, as browsers write them: `https://www.example`, `capacitor://localhost`, or `null` for pages
/// without an origin. `https://*.example.com` stands for all hosts below `example.com`, however many labels they have,
/// but not for `example.com` itself.
package struct OriginSet: Equatable, Sendable, ExpressibleByArrayLiteral {
    private let exact: Set<String>
    private let families: [Family]

    /// The origins with one scheme and port whose hosts are below a domain.
    private struct Family: Equatable, Sendable {
        let scheme: String
        /// A dot, the domain, and the port with its colon if there is one.
        let end: String

        /// Nil for a text without the mark of a family.
        init?(_ text: String) {
            guard let mark = text.utf8.firstIndex(of: UInt8(ascii: "*")) else { return nil }
            scheme = String(text[..<mark])
            end = String(text[text.utf8.index(after: mark)...])
        }

        /// Whether labels stand between the scheme and the end, and nothing else: no port, user or path.
        func contains(_ origin: String) -> Bool {
            guard origin.utf8.count > scheme.utf8.count + end.utf8.count, origin.hasPrefix(scheme),
                origin.hasSuffix(end)
            else { return false }
            let labels = origin.utf8.dropFirst(scheme.utf8.count).dropLast(end.utf8.count)
            return labels.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
                .allSatisfy { label in !label.isEmpty && label.allSatisfy(Self.isLabelByte) }
        }

        private static func isLabelByte(_ byte: UInt8) -> Bool {
            (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || "-_".utf8.contains(byte)
        }
    }

    package init(_ texts: some Sequence<String>) {
        families = texts.compactMap { Family($0) }
        exact = Set(texts).filter { Family($0) == nil }
    }

    package init(arrayLiteral texts: String...) { self.init(texts) }

    package func contains(_ origin: String) -> Bool {
        exact.contains(origin) || families.contains { $0.contains(origin) }
    }
}

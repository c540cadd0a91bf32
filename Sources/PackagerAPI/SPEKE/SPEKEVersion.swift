/// A version of SPEKE, and the version of CPIX that goes with it (packagers, section 1.2).
package enum SPEKEVersion: Hashable, Sendable, CaseIterable {
    case v1
    case v20
    case v21

    /// The value of `X-Speke-Version`; nil for SPEKE v1, which has no such field.
    package var headerValue: String? {
        switch self {
        case .v1: nil
        case .v20: "2.0"
        case .v21: "2.1"
        }
    }

    /// `CPIX@version`; nil for SPEKE v1, whose documents have no version.
    var documentVersion: String? {
        switch self {
        case .v1: nil
        case .v20: "2.3"
        case .v21: "2.4"
        }
    }

    /// The version that a request's header field names; without the field it is SPEKE v1. Throws
    /// `unsupportedSPEKEVersion`.
    package init(headerValue: String?) throws(CPIXError) {
        guard let version = Self.allCases.first(where: { $0.headerValue == headerValue }) else {
            throw .unsupportedSPEKEVersion
        }
        self = version
    }
}

/// The routes of SPEKE (packagers, section 7.1).
package enum SPEKERoute: Hashable, Sendable {
    /// POST of a CPIX document. The version is nil for the route that serves all versions.
    case copyProtection(SPEKEVersion?)
    /// GET, only in SPEKE v1.
    case heartbeat

    /// The body of the answer to a heartbeat, as text.
    package static let heartbeatText = "Latchkey serves SPEKE\n"

    /// Returns the route of a path; nil for a path that does not belong to SPEKE.
    package init?(path: String) {
        switch path {
        case "/speke": self = .copyProtection(nil)
        case "/speke/v1.0/copyProtection": self = .copyProtection(.v1)
        case "/speke/v2.0/copyProtection": self = .copyProtection(.v20)
        case "/speke/v2.1/copyProtection": self = .copyProtection(.v21)
        case "/speke/v1.0/heartbeat": self = .heartbeat
        default: return nil
        }
    }

    /// The version of a request, as `X-Speke-Version` says it. The path must agree with it.
    ///
    /// Throws `unsupportedSPEKEVersion`, also for a request on a path of v2 without the header field. It would be
    /// answered as v1 otherwise, and SPEKE forbids that (packagers, section 1.2).
    package func version(headerValue: String?) throws(CPIXError) -> SPEKEVersion {
        let version = try SPEKEVersion(headerValue: headerValue)
        switch self {
        case .copyProtection(nil): return version
        case .copyProtection(.some(let expected)):
            guard version == expected else { throw .unsupportedSPEKEVersion }
            return version
        case .heartbeat:
            guard version == .v1 else { throw .unsupportedSPEKEVersion }
            return version
        }
    }
}

/// The header fields of SPEKE requests and answers.
package enum SPEKEHeader {
    /// The field with the version: in requests, and in v2 also in answers.
    package static let version = "X-Speke-Version"
    /// The `Content-Type` of answers with keys.
    package static let answerContentType = "application/xml"

    /// Whether a request's `Content-Type` is accepted: `application/xml` or `text/xml`, with no parameter except
    /// `charset=utf-8`.
    package static func isReadable(contentType: String) -> Bool {
        // Nearly every packager sends this value.
        if contentType == answerContentType { return true }
        let text = contentType.lowercased()
        let parts = text.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map(trimmed)
        guard let type = parts.first, type == answerContentType || type == "text/xml" else { return false }
        return parts.dropFirst().allSatisfy { ["charset=utf-8", "charset=\"utf-8\""].contains($0) }
    }

    /// The fields of each answer, errors included, besides `Content-Type`. `server` names this server and its version.
    package static func answerFields(_ version: SPEKEVersion, server: String) -> [(name: String, value: String)] {
        guard let value = version.headerValue else { return [("Speke-User-Agent", server)] }
        return [("X-Speke-User-Agent", server), (Self.version, value)]
    }

    private static func trimmed(_ text: Substring.UTF8View) -> String {
        let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        guard let first = text.firstIndex(where: { !isSpace($0) }), let last = text.lastIndex(where: { !isSpace($0) })
        else { return "" }
        return String(Substring(text[first...last]))
    }
}

/// The request methods that are served (RFC 9110 section 9.3, RFC 5789); any other is answered 501.
///
/// CONNECT and TRACE are missing on purpose: nothing here is a proxy, and TRACE gives headers away.
package enum HTTPMethod: String, Sendable, CaseIterable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
    case options = "OPTIONS"

    /// `allCases` makes an array each time.
    private static let all = allCases

    /// Reads a method; case counts (RFC 9110 section 9.1).
    init?(_ bytes: Span<UInt8>, _ range: Range<Int>) {
        for method in Self.all where bytes.matches(method.rawValue.utf8, in: range) {
            self = method
            return
        }
        return nil
    }
}

/// The protocol version of a message.
package enum HTTPVersion: Sendable {
    case http10
    case http11
    case http2
}

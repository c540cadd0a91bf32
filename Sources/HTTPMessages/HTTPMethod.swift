/// The supported request methods (RFC 9110 section 9.3, RFC 5789). Other methods are answered with 501.
///
/// CONNECT and TRACE are left out on purpose: this server is not a proxy, and TRACE reveals header fields.
package enum HTTPMethod: String, Sendable, CaseIterable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
    case options = "OPTIONS"

    /// The cases in a constant, because `allCases` makes an array each time.
    private static let all = allCases

    /// Reads a method, which is case-sensitive (RFC 9110 section 9.1).
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

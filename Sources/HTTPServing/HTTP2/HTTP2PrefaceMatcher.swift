/// Compares the beginning of a connection with the preface of HTTP/2 (RFC 9113 section 3.4), in pieces of any size.
struct HTTP2PrefaceMatcher: Equatable {
    /// The first 24 bytes of an HTTP/2 client.
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    private var matchedCount = 0

    /// Compares the next bytes. Returns `nil` while all bytes match and the preface is not complete.
    ///
    /// It must not be called again after it has returned a protocol.
    mutating func match(_ bytes: Span<UInt8>) -> ApplicationProtocol? {
        let count = min(bytes.count, Self.preface.count - matchedCount)
        for position in 0..<count where bytes[position] != Self.preface[matchedCount + position] { return .http1 }
        matchedCount += count
        return matchedCount == Self.preface.count ? .http2 : nil
    }
}

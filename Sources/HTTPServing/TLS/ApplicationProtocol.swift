/// The protocols that a connection can speak, named as in ALPN (RFC 7301 section 6).
enum ApplicationProtocol: String, Sendable {
    case http1 = "http/1.1"
    case http2 = "h2"
}

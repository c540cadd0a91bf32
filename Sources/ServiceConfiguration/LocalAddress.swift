/// Where programs on the same machine reach a listener.
package struct LocalAddress: Equatable, Sendable {
    /// The beginning of each URL: "http://127.0.0.1:9443".
    package let base: String
    /// The path of the unix socket to be asked in place of the address in the URL; nil for an address of IP.
    package let unixSocket: String?

    /// Nil if the configuration does not say: a socket of systemd, or a port that the daemon finds itself.
    package init?(_ listener: Configuration.AdminListener) {
        let scheme = listener.transport.tls == nil ? "http" : "https"
        let text = listener.address.description
        if let path = text.suffix(after: "unix:") {
            base = "\(scheme)://localhost"
            unixSocket = path
            return
        }
        guard !text.hasPrefix("systemd:"), !text.hasSuffix(":0") else { return nil }
        // A listener on all addresses is on this machine too.
        var here = text
        if let port = text.suffix(after: "0.0.0.0:") { here = "127.0.0.1:" + port }
        if let port = text.suffix(after: "[::]:") { here = "[::1]:" + port }
        base = "\(scheme)://\(here)"
        unixSocket = nil
    }
}

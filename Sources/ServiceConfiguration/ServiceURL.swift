import HTTPCalls
import POSIXSockets

/// The URL of a service.
package struct ServiceURL: Equatable, Sendable {
    package let text: String
    package let isEncrypted: Bool
    /// The host in lower case. An IPv6 address has no brackets.
    package let host: String

    /// Reads `http:` or `https:`, a host, an optional port and a path; with `allowsQuery` also a query. Returns nil for
    /// any other text, for example with a user or a fragment.
    init?(_ text: String, allowsQuery: Bool = false) {
        let scheme = ["https://", "http://"].first { text.hasPrefix($0) }
        let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !#""<>\^`{|}#@"#.utf8.contains($0) }
        guard let scheme, text.utf8.count <= 1024, isPlain, allowsQuery || !text.contains("?") else { return nil }
        let authority = text.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" }
        guard let host = Self.host(of: authority) else { return nil }
        self.text = text
        isEncrypted = scheme == "https://"
        self.host = host
    }

    private static func host(of authority: Substring) -> String? {
        let host: Substring
        let rest: Substring
        if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
            host = authority[authority.index(after: authority.startIndex)..<end]
            rest = authority[authority.index(after: end)...]
            guard host.contains(":"), IPAddress(host) != nil else { return nil }
        } else {
            host = authority.prefix { $0 != ":" }
            rest = authority[host.endIndex...]
            guard isHostName(host) else { return nil }
        }
        guard rest.isEmpty || (rest.first == ":" && UInt16(rest.dropFirst()).map { $0 > 0 } == true) else { return nil }
        return host.lowercased()
    }

    static func isHostName(_ text: Substring) -> Bool {
        (1...253).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// Whether the host is `localhost` or a loopback address.
    private var namesLoopback: Bool { host == "localhost" || IPAddress(host)?.isLoopback == true }

    /// The addresses to which a connection for this URL may go, if the operator lists these hosts as internal ones.
    ///
    /// Returns nil if the URL needs TLS and has none.
    func reach(naming hosts: Set<String>) -> HTTPCallSettings.Reach? {
        let isNamed = hosts.contains(host)
        // Without encryption only loopback addresses are allowed: a name such as localhost could resolve elsewhere.
        if isEncrypted { return isNamed ? .anyAddress : .publicAddresses }
        return isNamed && namesLoopback ? .loopback : nil
    }

    /// The same, but reports a URL that needs TLS and has none. The names of both fields are for that report.
    func reach(
        naming hosts: Set<String>, in section: ConfigurationSection, _ field: String, _ hostsField: String
    ) -> HTTPCallSettings.Reach? {
        if let reach = reach(naming: hosts) { return reach }
        section.report(
            field,
            .invalidValue(
                expected: "an https: URL; http: is only for a loopback host that \"\(hostsField)\" lists",
                example: "\"https://portal.example/entitle\""))
        return nil
    }
}

extension ConfigurationForm<ServiceURL> {
    static var serviceURL: ConfigurationForm {
        .string(
            "an https: URL without user, query and fragment", example: "https://portal.example/entitle", write: \.text
        ) {
            ServiceURL($0)
        }
    }

    static var keySetURL: ConfigurationForm {
        .string(
            "an https: URL without user and fragment", example: "https://portal.example/.well-known/jwks.json",
            write: \.text
        ) {
            ServiceURL($0, allowsQuery: true)
        }
    }
}

extension ConfigurationForm<String> {
    static var hostOrAddress: ConfigurationForm {
        .string("a host's name or address, without a port", example: "portal.internal") { text in
            IPAddress(text) != nil || ServiceURL.isHostName(text[...]) ? text.lowercased() : nil
        }
    }
}

/// Which of several things belongs to the name that a client asks for (RFC 6066 section 3, RFC 9525 section 6.3).
struct TLSServerNames<Value: Sendable>: Sendable {
    private var exact: [String: Value] = [:]
    /// By what follows `*.`.
    private var wildcards: [String: Value] = [:]

    /// Files a value under a name of a certificate: a host, or `*.` and a domain. The first one of a name stays.
    mutating func insert(_ value: Value, for name: String) {
        let name = Self.normalize(name)
        if name.hasPrefix("*.") {
            let domain = String(name.dropFirst(2))
            if wildcards[domain] == nil { wildcards[domain] = value }
        } else if exact[name] == nil {
            exact[name] = value
        }
    }

    /// The value for a host: of its exact name, or of the wildcard that stands for its first label alone.
    func value(for host: String) -> Value? {
        let host = Self.normalize(host)
        if let value = exact[host] { return value }
        guard let dot = host.firstIndex(of: "."), dot > host.startIndex else { return nil }
        return wildcards[String(host[host.index(after: dot)...])]
    }

    /// Lower case, without the dot of the root.
    private static func normalize(_ name: String) -> String {
        let name = name.lowercased()
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }
}

import ByteCoding
package import HTTPServing
package import POSIXSockets

/// The address of a listener.
package enum ListenerAddress: Equatable, Sendable {
    /// An address that the daemon binds itself. Port 0 takes a free port.
    case socket(SocketAddress)
    /// The sockets that systemd passes under this name.
    case systemd(name: String)

    /// The socket address; nil if it is not known before the listener is opened.
    package var socketAddress: SocketAddress? {
        switch self {
        case .socket(let address): address
        case .systemd: nil
        }
    }
}

extension ListenerAddress {
    /// Whether only one of two listeners with these addresses can be opened: the addresses are the same, or one means
    /// all addresses of its family and the ports are the same.
    func meets(_ other: ListenerAddress) -> Bool {
        guard case .socket(.internet(let one, let port)) = self,
            case .socket(.internet(let another, let otherPort)) = other
        else { return self == other }
        guard port == otherPort, port != 0 else { return false }
        switch (one, another) {
        case (.v4(let left), .v4(let right)): return left == right || left == 0 || right == 0
        case (.v6, .v6): return one == another || one == .v6(0, 0) || another == .v6(0, 0)
        case (.v4, .v6), (.v6, .v4): return false
        }
    }
}

extension ListenerAddress: LosslessStringConvertible {
    /// Reads an address in a form of `SocketAddress`, or `systemd:` and a name of letters, digits, ".", "-" and "_".
    package init?(_ text: String) {
        if let name = text.suffix(after: "systemd:") {
            guard (1...255).contains(name.utf8.count), name.utf8.allSatisfy(\.isNameByte) else { return nil }
            self = .systemd(name: name)
        } else {
            guard let address = SocketAddress(text) else { return nil }
            self = .socket(address)
        }
    }

    package var description: String {
        switch self {
        case .socket(let address): address.description
        case .systemd(let name): "systemd:\(name)"
        }
    }
}

extension Configuration {
    /// The transport of a listener: TLS, and proxies before it.
    package struct Transport: Equatable, Sendable {
        /// The files for TLS; nil for plain HTTP.
        package var tls: TLSFiles?
        /// Whether every connection begins with a PROXY header.
        package var proxyProtocol = false
        package var trustedProxies = TrustedProxies()
        /// Whether plain HTTP is allowed although other machines could listen to it.
        package var allowPlaintext = false
        /// The permissions of a unix socket's file.
        package var socketMode: UInt32 = 0o660
    }

    /// The files and options for TLS.
    package struct TLSFiles: Equatable, Sendable {
        /// Certificate chains and private keys in PEM; at least one. The first is for clients whose requested name no
        /// certificate has.
        package let identities: [KeyPair]
        /// The certificates in PEM of the authorities that must have signed a client's certificate; nil if clients need
        /// none.
        package let clientCA: SecretSource?
        /// The secrets of session tickets. The first one makes new tickets. Empty for random keys of the process.
        package var ticketKeys: [SecretSource] = []
        package var options = TLSProtocolOptions()
    }
}

extension Configuration.Transport {
    init(reading section: ConfigurationSection) {
        // Adding or removing TLS needs a restart. Changing its files does not.
        section.notePresence("tls", effect: .restart)
        if section.contains("tls") {
            tls = section.section("tls", effect: .reload, Configuration.TLSFiles.init(reading:))
        }
        proxyProtocol = section.value("proxyProtocol", .boolean, default: proxyProtocol)
        allowPlaintext = section.value("allowPlaintext", .boolean, default: allowPlaintext)
        socketMode = section.value("socketMode", .socketMode, default: socketMode)
        if let proxies = section.set("trustedProxies", .trustedProxy) {
            trustedProxies = TrustedProxies(
                networks: proxies.compactMap(\.network), includesUnixPeers: proxies.contains(.unixPeers))
        } else if proxyProtocol && !section.contains("trustedProxies") {
            section.report("proxyProtocol", .incomplete(without: "trustedProxies"))
        }
    }
}

extension Configuration.TLSFiles {
    fileprivate init?(reading section: ConfigurationSection) {
        let first = Configuration.KeyPair(reading: section)
        let additional = section.sections(
            "additional", example: "[{ certificate: \"tls/other.pem\", privateKey: \"tls/other-key.pem\" }]",
            Configuration.KeyPair.init(reading:))
        clientCA = section.optional("clientCA", .file(in: section.directory, example: "tls/client-ca.pem"))
        ticketKeys =
            section.list("ticketKeys", .file(in: section.directory, example: "secrets/ticket-key"), allowsEmpty: true)
            ?? []
        options.minimumVersion = section.value(
            "minimumVersion", .choice(TLSFacts.Version.allCases, example: .version13), default: options.minimumVersion)
        options.cipherList = section.value(
            "cipherList", .cipherNames(example: "ECDHE+AESGCM"), default: options.cipherList)
        options.cipherSuites = section.value(
            "cipherSuites", .cipherNames(example: "TLS_AES_256_GCM_SHA384"), default: options.cipherSuites)
        guard let first else { return nil }
        identities = [first] + (additional ?? [])
    }
}

extension Configuration.KeyPair {
    init?(reading section: ConfigurationSection) {
        let certificate = section.required(
            "certificate", .file(in: section.directory, example: "tls/certificate.pem"))
        let privateKey = section.required(
            "privateKey", .file(in: section.directory, example: "tls/private-key.pem"))
        guard let certificate, let privateKey else { return nil }
        self.init(certificate: certificate, privateKey: privateKey)
    }
}

/// One entry of `trustedProxies`.
enum TrustedProxy: Hashable, CustomStringConvertible {
    case network(IPNetwork)
    case unixPeers

    /// The entry as the file writes it.
    var description: String {
        switch self {
        case .network(let network): network.description
        case .unixPeers: "unix"
        }
    }

    var network: IPNetwork? {
        switch self {
        case .network(let network): network
        case .unixPeers: nil
        }
    }
}

extension ConfigurationForm<TrustedProxy> {
    static var trustedProxy: ConfigurationForm {
        .string("an IP address, a network, or \"unix\"", example: "10.0.0.0/8") { text in
            text == "unix" ? .unixPeers : IPNetwork(text).map { .network($0) }
        }
    }
}

extension ConfigurationForm<String> {
    /// Names of ciphers in OpenSSL's form. Unknown names are found later, when a TLS context is made.
    fileprivate static func cipherNames(example: String) -> ConfigurationForm {
        .string("names of ciphers with colons between", example: example) { text in
            (1...1024).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7e).contains($0) } ? text : nil
        }
    }
}

extension ConfigurationForm<UInt32> {
    /// Permissions in the form of `chmod`: a zero and three octal digits.
    static var socketMode: ConfigurationForm {
        .string(
            "permissions of four octal digits", example: "0660", write: { "0" + String($0, radix: 8) },
            parse: { text in
                guard text.utf8.count == 4, text.hasPrefix("0") else { return nil }
                return UInt32(text, radix: 8)
            })
    }
}

extension ConfigurationForm<ListenerAddress> {
    static var listenerAddress: ConfigurationForm {
        let form = ConfigurationForm.string(
            "a numeric IP address and a port, with IPv6 in brackets, \"unix:/PATH\" or \"systemd:NAME\"",
            example: "127.0.0.1:8443"
        ) { ListenerAddress($0) }
        let read = { (node: JSONNode) -> ConfigurationFormResult<ListenerAddress> in
            guard let text = node.string, !text.hasPrefix("systemd:"), let fault = SocketAddress.fault(of: text) else {
                return form.read(node)
            }
            return .refused(fault)
        }
        return ConfigurationForm(expected: form.expected, example: form.example, read: read, write: form.write)
    }
}

extension UInt8 {
    /// Whether it is a letter, a digit, a point, a hyphen or a low line.
    var isNameByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

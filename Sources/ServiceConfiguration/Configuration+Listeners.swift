import POSIXSockets
import PackagerAPI

extension Configuration.Listeners {
    init?(reading section: ConfigurationSection) {
        let publicListeners = section.sections(
            "public", example: "[{ address: \"127.0.0.1:8443\" }]", Configuration.PublicListener.init(reading:))
        let adminListeners = section.sections(
            "admin", example: "[{ address: \"127.0.0.1:9443\" }]", allowsEmpty: true,
            Configuration.AdminListener.init(reading:))
        let publicOverride = section.override(.listen, .listenerAddress)
        let adminOverride = section.override(.adminListen, .listenerAddress)
        if publicOverride != nil { section.noteOverride(of: "public", by: "address", .listenerAddress, .listen) }
        if adminOverride != nil { section.noteOverride(of: "admin", by: "address", .listenerAddress, .adminListen) }

        let everyone = publicListeners ?? [.standard]
        self.public = publicOverride.map { [everyone[0].moved(to: $0)] } ?? everyone
        let admin = adminListeners ?? [.standard]
        self.admin = adminOverride.map { [(admin.first ?? .standard).moved(to: $0)] } ?? admin
    }
}

extension Configuration.PublicListener {
    /// Port 8443 on the loopback address.
    fileprivate static let standard = Self(address: .socket(.internet(.v4(0x7F00_0001), port: 8443)))

    init?(reading section: ConfigurationSection) {
        let address = section.required("address", .listenerAddress)
        let transport = Configuration.Transport(reading: section)
        guard let address else { return nil }
        self.init(address: address, transport: transport)
    }

    fileprivate func moved(to address: ListenerAddress) -> Self {
        Self(address: address, transport: transport)
    }
}

extension Configuration.AdminListener {
    /// Port 9443 on this machine alone, for everybody on it.
    fileprivate static let standard = Self(address: .socket(.internet(.v4(0x7F00_0001), port: 9443)))

    init?(reading section: ConfigurationSection) {
        let address = section.required("address", .listenerAddress)
        let tokenFile = section.optional(
            "tokenFile", .file(in: section.directory, example: "secrets/admin-token"), effect: .reload)
        let tokens = section.sections(
            "tokens", example: "[{ name: \"alice\", file: \"secrets/admin-token-alice\" }]", allowsEmpty: true,
            effect: .reload, Configuration.AdminToken.init(reading:))
        let clients = section.sections(
            "clients",
            example: "[{ name: \"alice\", clientCertificates: [\"CN=alice,O=Example\"], roles: [\"support\"] }]",
            allowsEmpty: true, effect: .reload, Configuration.AdminClient.init(reading:))
        let hosts = section.set("hosts", .hostName, allowsEmpty: true) ?? []
        let transport = Configuration.Transport(reading: section)
        guard let address, !section.contains("tokens") || tokens != nil, !section.contains("clients") || clients != nil
        else { return nil }
        section.requireDistinct((tokens ?? []).map(\.name)) { "tokens[\($0)].name" }
        section.requireDistinct((clients ?? []).map(\.name)) { "clients[\($0)].name" }
        Configuration.AdminClient.check(clients ?? [], transport, in: section)
        self.init(
            address: address, transport: transport, tokenFile: tokenFile, tokens: tokens ?? [], clients: clients ?? [],
            hosts: hosts)
    }

    fileprivate func moved(to address: ListenerAddress) -> Self {
        Self(
            address: address, transport: transport, tokenFile: tokenFile, tokens: tokens, clients: clients,
            hosts: hosts)
    }
}

extension Configuration.AdminToken {
    fileprivate init?(reading section: ConfigurationSection) {
        let name = section.required("name", .name)
        let file = section.required("file", .file(in: section.directory, example: "secrets/admin-token-alice"))
        let roles = section.set("roles", .adminRole)
        guard let name, let file else { return nil }
        self.init(name: name, file: file, givenRoles: roles)
    }
}

extension Configuration.AdminClient {
    fileprivate init?(reading section: ConfigurationSection) {
        let name = section.required("name", .name)
        let certificates = section.requiredList("clientCertificates", .certificateName)
        let roles = section.requiredList("roles", .adminRole)
        guard let name, let certificates, let roles else { return nil }
        self.init(name: name, clientCertificates: certificates, roles: Set(roles))
    }

    /// Reports certificates that several clients list, and clients of a listener that asks for no certificates.
    fileprivate static func check(
        _ clients: [Self], _ transport: Configuration.Transport, in section: ConfigurationSection
    ) {
        if !clients.isEmpty, transport.tls?.clientCA == nil {
            section.report("clients", .incomplete(without: "tls.clientCA"))
        }
        var owners: [ClientCertificateName: (client: Int, path: String)] = [:]
        for (index, client) in clients.enumerated() {
            for (place, name) in client.clientCertificates.enumerated() {
                let path = "clients[\(index)].clientCertificates[\(place)]"
                // Reading the list has already reported a name that occurs twice in it.
                if let owner = owners[name], owner.client != index {
                    section.report(below: path, .duplicate(of: section.path + "." + owner.path))
                } else {
                    owners[name] = (index, path)
                }
            }
        }
    }
}

extension ConfigurationForm<AdminRole> {
    fileprivate static var adminRole: ConfigurationForm { .choice(AdminRole.allCases, example: .support) }
}

extension ConfigurationForm<String> {
    /// The name of a host as clients send it in `Host`, in lower case and without a port.
    fileprivate static var hostName: ConfigurationForm {
        .string("a host name in lower case, without a port", example: "latchkey.internal") { text in
            let isName = text.utf8.allSatisfy { byte in
                (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2d || byte == 0x2e
            }
            return isName && (1...253).contains(text.utf8.count) ? text : nil
        }
    }
}

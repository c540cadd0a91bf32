import POSIXSockets

extension Configuration.Listeners {
    init?(reading section: ConfigurationSection) {
        let publicListeners = section.sections(
            "public", example: "[{ address: \"127.0.0.1:8443\" }]", Configuration.PublicListener.init(reading:))
        let adminListeners = section.sections(
            "admin", example: "[{ address: \"127.0.0.1:9443\" }]", allowsEmpty: true,
            Configuration.AdminListener.init(reading:))
        let publicOverride = section.override(.listen, .address)
        let adminOverride = section.override(.adminListen, .address)

        self.public = publicOverride.map { [.init(address: $0)] } ?? publicListeners ?? [.standard]
        let admin = adminListeners ?? [.standard]
        self.admin = adminOverride.map { [.init(address: $0, tokenFile: admin.first?.tokenFile)] } ?? admin
    }
}

extension Configuration.PublicListener {
    /// Port 8443 on this machine alone.
    fileprivate static let standard = Self(address: .internet(.v4(0x7F00_0001), port: 8443))

    init?(reading section: ConfigurationSection) {
        guard let address = section.required("address", .address) else { return nil }
        self.address = address
    }
}

extension Configuration.AdminListener {
    /// Port 9443 on this machine alone, for everybody on it.
    fileprivate static let standard = Self(address: .internet(.v4(0x7F00_0001), port: 9443), tokenFile: nil)

    init?(reading section: ConfigurationSection) {
        let address = section.required("address", .address)
        let tokenFile = section.optional("tokenFile", .file(in: section.directory, example: "secrets/admin-token"))

        guard let address else { return nil }
        self.address = address
        self.tokenFile = tokenFile
    }
}

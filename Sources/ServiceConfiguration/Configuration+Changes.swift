extension Configuration {
    /// The sections in which another configuration differs in more than a reload can put in force.
    package func sectionsThatNeedRestart(toBecome other: Configuration) -> [String] {
        let differences: [(String, Bool)] = [
            ("node", node != other.node), ("publicURL", publicURL != other.publicURL),
            ("listeners", listeners.withoutTLSFiles != other.listeners.withoutTLSFiles),
            ("fairplay", fairplay != other.fairplay), ("keys", keys != other.keys),
            ("storage", storage != other.storage), ("ledger", ledger != other.ledger),
            ("entitlement", entitlement.needsRestart(toBecome: other.entitlement)),
            ("entitlement.callback", entitlement.callback != other.entitlement.callback),
            ("limits", limits != other.limits), ("logging", logging != other.logging),
        ]
        return differences.filter(\.1).map(\.0)
    }
}

extension Configuration.Entitlement {
    fileprivate func needsRestart(toBecome other: Self) -> Bool {
        revocationRefresh != other.revocationRefresh || retryWindow != other.retryWindow
            || deviceLife != other.deviceLife || countryField != other.countryField
    }
}

extension Configuration.Listeners {
    /// The same listeners; of TLS only whether there is any.
    fileprivate var withoutTLSFiles: Self {
        Self(
            public: self.public.map { .init(address: $0.address, transport: $0.transport.withoutTLSFiles) },
            admin: admin.map {
                .init(address: $0.address, transport: $0.transport.withoutTLSFiles, tokenFile: $0.tokenFile)
            })
    }
}

extension Configuration.Transport {
    fileprivate var withoutTLSFiles: Self {
        var copy = self
        if tls != nil { copy.tls = Configuration.TLSFiles(identities: [], clientCA: nil) }
        return copy
    }
}

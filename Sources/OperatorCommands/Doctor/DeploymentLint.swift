import Entitlements
import HTTPServing
import KeyCrypto
import POSIXSockets
import ServiceConfiguration

/// Looks for settings that are valid and hardly ever meant.
struct DeploymentLint {
    private let configuration: Configuration
    private let environment: [String: String]

    init(_ configuration: Configuration, environment: [String: String]) {
        self.configuration = configuration
        self.environment = environment
    }

    var findings: [DoctorFinding] {
        let found = retention + proxies + addresses + adminAccess + sharedSecrets + testCredentials + policy
        return found.isEmpty ? [.good("policy", "nothing odd in the configuration")] : found
    }

    private var retention: [DoctorFinding] {
        let ledger = configuration.ledger
        guard ledger.retention < ledger.rollUpRenewalsAfter else { return [] }
        return [
            .warning(
                "policy.retention",
                "ledger.retention (\(ledger.retention.components.seconds) s) is shorter than ledger.rollUpRenewalsAfter "
                    + "(\(ledger.rollUpRenewalsAfter.components.seconds) s)",
                remedy: "entries end before their renewals are rolled up: make the retention longer")
        ]
    }

    private var proxies: [DoctorFinding] {
        let transports =
            configuration.listeners.public.enumerated().map { ("public[\($0)]", $1.transport) }
            + configuration.listeners.admin.enumerated().map { ("admin[\($0)]", $1.transport) }
        return transports.compactMap { name, transport in
            guard let all = transport.trustedProxies.networks.first(where: { $0.prefixLength == 0 }) else { return nil }
            return .bad(
                "policy.proxies", "listeners.\(name).trustedProxies has \(all), which is every address",
                remedy: "name the proxies alone: now every client can say which address it has")
        }
    }

    private var addresses: [DoctorFinding] {
        let admin = configuration.listeners.admin.map(\.address)
        let shared = configuration.listeners.public.map(\.address).filter { address in
            // Port 0 takes a free one each time.
            if case .socket(.internet(_, 0)) = address { return false }
            return admin.contains(address)
        }
        return shared.map {
            .bad(
                "policy.addresses", "\($0) is the address of a public and of an admin listener",
                remedy: "give the admin listener an address of its own, on loopback or a unix socket")
        }
    }

    /// The permissions of a unix socket say who may use it. An IP address has none.
    private var adminAccess: [DoctorFinding] {
        configuration.listeners.admin.filter { !$0.isGuarded && $0.address.socketAddress?.ip != nil }.map {
            .warning(
                "policy.adminAccess",
                "the admin listener \($0.address) has no credential: every program of this machine can read refusals, "
                    + "metrics and what belongs to viewers",
                remedy: "add tokens with roles, or use a unix socket")
        }
    }

    /// One secret for two uses: who learns it by the one has the other.
    private var sharedSecrets: [DoctorFinding] {
        var uses: [[UInt8]: [String]] = [:]
        for (name, source) in secrets {
            guard let digest = digest(of: source) else { continue }
            uses[digest, default: []].append(name)
        }
        return uses.values.filter { $0.count > 1 }.map { $0.sorted() }.sorted { $0[0] < $1[0] }.map { names in
            .bad(
                "policy.secrets", "one secret has several uses: " + names.joined(separator: ", "),
                remedy: "make a secret of its own for each use")
        }
    }

    /// Of what a program would present: without the line end that an editor puts behind it.
    private func digest(of source: SecretSource) -> [UInt8]? {
        guard let secret = try? SecretFile.read(source, environment: environment) else { return nil }
        var bytes = secret.revealed()
        defer { bytes.wipe() }
        let end = bytes.lastIndex { ![0x0A, 0x0D, 0x20, 0x09].contains($0) }.map { $0 + 1 } ?? 0
        bytes.removeSubrange(end...)
        return try? CryptoContext().sha256(bytes)
    }

    private var secrets: [(String, SecretSource)] {
        var secrets: [(String, SecretSource)] = [
            ("keys.keyEncryptionKey", configuration.keys.keyEncryptionKey), ("ledger.key", configuration.ledger.key),
            ("ledger.pseudonymKey", configuration.ledger.pseudonymKey),
        ]
        if let masterSecret = configuration.keys.masterSecret { secrets.append(("keys.masterSecret", masterSecret)) }
        if let sessions = configuration.entitlement.sessions {
            secrets.append(("entitlement.sessions.key", sessions.key))
        }
        for packager in configuration.packagers {
            if let secret = packager.secret { secrets.append(("packagers.\(packager.name)", secret)) }
        }
        for (index, listener) in configuration.listeners.admin.enumerated() {
            if let file = listener.tokenFile { secrets.append(("listeners.admin[\(index)].tokenFile", file)) }
            secrets += listener.tokens.map { ("listeners.admin[\(index)].tokens.\($0.name)", $0.file) }
        }
        for issuer in configuration.entitlement.issuers {
            for key in issuer.keys where key.algorithm == .hs256 || key.algorithm == .a256GCM {
                secrets.append(("entitlement.issuers.\(issuer.issuer).\(key.kid)", key.key))
            }
        }
        return secrets
    }

    private var testCredentials: [DoctorFinding] {
        guard configuration.fairplay.allowTestCredentials else { return [] }
        return [
            .warning(
                "policy.testCredentials", "fairplay.allowTestCredentials is set",
                remedy: "anyone can make SPCs for test credentials: unset it where viewers are served")
        ]
    }

    private var policy: [DoctorFinding] {
        configuration.entitlement.findings.map {
            .warning("policy.entitlement", "entitlement.\($0)", remedy: "see tokens/claims.md of the documentation")
        }
    }
}

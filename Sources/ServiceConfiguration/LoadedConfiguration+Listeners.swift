package import FairPlay
import HTTPServing
package import POSIXSockets

extension LoadedConfiguration {
    /// Everything about the listeners that would let strangers in, or see what they should not; no problem means that
    /// they may be opened.
    ///
    /// If an address shows only once systemd's sockets are there, `exposureFaults` reports it then. Problems have no
    /// position.
    package static func checkListeners(
        _ listeners: Configuration.Listeners, credentials: CredentialSet, allowTestCredentials: Bool
    ) -> [ConfigurationProblem] {
        let all =
            listeners.public.enumerated().map { ("listeners.public[\($0)]", $1.address, $1.transport, true) }
            + listeners.admin.enumerated().map {
                ("listeners.admin[\($0)]", $1.address, $1.transport, $1.isGuarded)
            }
        return all.flatMap { path, address, transport, isGuarded in
            exposureFaults(
                of: address.socketAddress, transport, isGuarded: isGuarded, credentials: credentials,
                allowTestCredentials: allowTestCredentials
            ).map { fault in
                if case .adminTokenMissing = fault {
                    return ConfigurationProblem(path: path, position: nil, fault: fault)
                }
                return ConfigurationProblem(path: path + ".address", position: nil, fault: fault)
            }
        }
    }

    /// The listeners of a later configuration that take the places of `running` ones, in the order of those: by their
    /// addresses, and of several with one address (port 0) in their order. Nil for a listener that is not configured
    /// any more.
    package static func successors(of running: [Listener], in listeners: [Listener]) -> [Listener?] {
        var rest = listeners
        return running.map { listener in
            rest.firstIndex { $0.address == listener.address }.map { rest.remove(at: $0) }
        }
    }

    /// What is wrong with a listener on this address, which may be unknown yet.
    ///
    /// Beyond this machine there must be TLS, unless plain HTTP is allowed; no development material, unless test
    /// credentials are allowed; and a token for operators.
    package static func exposureFaults(
        of address: SocketAddress?, _ transport: Configuration.Transport, isGuarded: Bool, credentials: CredentialSet,
        allowTestCredentials: Bool
    ) -> [ConfigurationFault] {
        guard let address, !address.isLoopback else { return [] }
        var faults: [ConfigurationFault] = []
        if transport.tls == nil && !transport.allowPlaintext { faults.append(.plaintextBeyondLoopback(address)) }
        if !allowTestCredentials {
            faults += credentials.credentials.filter(\.isDevelopmentMaterial).map {
                .developmentMaterialBeyondLoopback(address, credential: $0.name)
            }
        }
        if !isGuarded { faults.append(.adminTokenMissing(address)) }
        return faults
    }
}

/// Something about a TLS certificate that works, and will not for long.
package enum TLSWarning: Equatable, Sendable {
    /// It ended at this time (seconds since 1970): clients refuse it.
    case ended(at: Int64)
    /// It ends in so many days.
    case ends(days: Int64)

    /// How long before its end a certificate is warned about, in seconds: 30 days.
    private static let notice: Int64 = 30 * 86_400

    /// The warning about a certificate that ends at this time, if there is one at `now`.
    init?(end: Int64, now: Int64) {
        // An end that cannot be read is in the distant past.
        if end <= now {
            self = .ended(at: end)
        } else if end - now <= Self.notice {
            self = .ends(days: (end - now) / 86_400)
        } else {
            return nil
        }
    }
}

extension TLSWarning: CustomStringConvertible {
    package var description: String {
        switch self {
        case .ended: "its TLS certificate has ended, and clients refuse it"
        case .ends(let days): "its TLS certificate ends in \(days) days"
        }
    }
}

extension LoadedConfiguration {
    /// Every certificate that has ended or ends soon, with its listener's path; `now` is in seconds since 1970.
    package func tlsWarnings(now: Int64) -> [(listener: String, warning: TLSWarning)] {
        [("public", publicListeners), ("admin", adminListeners)].flatMap { name, listeners in
            listeners.enumerated().flatMap { index, listener in
                (listener.tls?.identities ?? []).compactMap { TLSWarning(end: $0.notAfter, now: now) }
                    .map { ("listeners.\(name)[\(index)]", $0) }
            }
        }
    }
}

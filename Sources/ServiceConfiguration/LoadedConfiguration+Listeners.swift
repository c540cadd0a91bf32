package import FairPlay
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

import ByteCoding
import CommandLineKit
package import FairPlay
import HTTPServing
package import POSIXSockets

extension LoadedConfiguration {
    /// Returns the problems of listeners that strangers could enter, or whose traffic strangers could read, and of
    /// listeners with the same address. If there is no problem, the listeners may be opened.
    ///
    /// The address of a socket from systemd is not known here. `exposureFaults` checks it when the socket is there.
    /// Problems have no position.
    package static func checkListeners(
        _ listeners: Configuration.Listeners, credentials: CredentialSet, allowTestCredentials: Bool
    ) -> [ConfigurationProblem] {
        let all =
            listeners.public.enumerated().map { ("listeners.public[\($0)]", $1.address, $1.transport, true) }
            + listeners.admin.enumerated().map {
                ("listeners.admin[\($0)]", $1.address, $1.transport, $1.isGuarded)
            }
        let twins: [ConfigurationProblem] = all.enumerated().compactMap { index, listener in
            all[..<index].first { $0.1.meets(listener.1) }.map { other in
                ConfigurationProblem(
                    path: listener.0 + ".address", position: nil, fault: .sameAddress(as: other.0))
            }
        }
        let exposed: [ConfigurationProblem] = all.flatMap { path, address, transport, isGuarded in
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
        return twins + exposed
    }

    /// The listeners of a new configuration that replace the `running` ones, in the order of `running`.
    ///
    /// They are matched by their addresses. Several listeners with the same address (port 0) are matched in their
    /// order. An element is nil if the listener is no longer configured.
    package static func successors(of running: [Listener], in listeners: [Listener]) -> [Listener?] {
        var rest = listeners
        return running.map { listener in
            rest.firstIndex { $0.address == listener.address }.map { rest.remove(at: $0) }
        }
    }

    /// Returns the faults of a listener on this address. `address` is nil if it is not known yet.
    ///
    /// A listener that other machines can reach must have TLS, unless plain HTTP is allowed. It must not use
    /// development material, unless test credentials are allowed. An admin listener must have a token.
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

/// A warning about a TLS certificate that is not valid yet, has expired or expires soon.
package enum TLSWarning: Equatable, Sendable {
    /// It becomes valid at this time (seconds since 1970), and clients refuse it until then.
    case begins(at: Int64)
    /// It expired at this time (seconds since 1970), so clients refuse it.
    case ended(at: Int64)
    /// It expires in this number of days.
    case ends(days: Int64)

    /// How long before its end there is a warning about a certificate, in seconds: 30 days.
    private static let notice: Int64 = 30 * 86_400

    /// Makes the warning about a certificate that is valid from `begin` to `end`; returns nil if there is nothing to
    /// warn about.
    init?(begin: Int64, end: Int64, now: Int64) {
        // A time that could not be read counts as the distant past.
        if begin > now {
            self = .begins(at: begin)
        } else if end <= now {
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
        case .begins(let time):
            "its TLS certificate is not valid before \(UnixTime(seconds: time)?.description ?? "a time beyond all calendars"),"
                + " and clients refuse it until then"
        case .ended: "its TLS certificate has ended, and clients refuse it"
        case .ends(let days): "its TLS certificate ends in \(days.counted("day"))"
        }
    }
}

extension LoadedConfiguration {
    /// Warnings about certificates that are not valid yet, have expired or expire soon, with the paths of their
    /// listeners. `now` is in seconds since 1970.
    package func tlsWarnings(now: Int64) -> [(listener: String, warning: TLSWarning)] {
        [("public", publicListeners), ("admin", adminListeners)].flatMap { name, listeners in
            listeners.enumerated().flatMap { index, listener in
                (listener.tls?.identities ?? []).compactMap {
                    TLSWarning(begin: $0.notBefore, end: $0.notAfter, now: now)
                }
                .map { ("listeners.\(name)[\(index)]", $0) }
            }
        }
    }
}

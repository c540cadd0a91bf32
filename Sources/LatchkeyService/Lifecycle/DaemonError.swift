import Administration
import ByteCoding
package import EventLoops
package import HTTPServing
package import KeyCrypto
package import POSIXSockets
package import ServiceConfiguration
package import StoragePostgreSQL
package import StorageSQLite

/// Why the daemon does not start; each one says what to do.
package enum DaemonError: Error, Equatable, Sendable {
    case store(path: String, StorageOpeningError)
    case postgreSQL(PostgreSQLOpeningError)
    /// PostgreSQL was away when the daemon started, and then turned out to be of nodes with other secrets.
    case refusedByPostgreSQL(PostgreSQLOpeningError)
    case loops(EventLoopError)
    case listener(name: String, address: String, HTTPServerError)
    case notifier(SocketError)
    case tls(TLSError)
    /// systemd has passed no socket of the name that the listener wants.
    case noSuchSocket(name: String, listener: String)
    /// A passed socket has an address that the listener must not have.
    case exposed(listener: String, ConfigurationFault)
    case cryptography(CryptoError)
    /// The wall clock is before the day on which this program was built: both in seconds since 1970.
    case clockBeforeBuild(now: Int64, built: Int64)
}

extension DaemonError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .store(let path, let error): "cannot open the database \(path): \(error.explanation)"
        case .postgreSQL(let error): "cannot use the database of storage.url: \(error.explanation)"
        case .refusedByPostgreSQL(let error):
            "cannot go on with the database of storage.url, which was away at the start: \(error.explanation)"
        case .loops(let error): "cannot start the event loops: \(error)"
        case .listener(let name, let address, let error):
            "cannot open the \(name) listener on \(address): \(error). Stop the program that holds the address, or change it."
        case .tls(let error): "cannot prepare TLS: \(error)"
        case .noSuchSocket(let name, let listener):
            "listeners.\(listener) wants the socket \"\(name)\", and systemd has passed none of that name: set"
                + " FileDescriptorName=\(name) in the .socket unit, and start the service by it"
        case .clockBeforeBuild(let now, let built):
            "the system's clock says \(Self.text(now)), which is before this program was built (\(Self.text(built)) or later): set the"
                + " clock, or start the time service (timedatectl shows both), and start again"
        case .exposed(let listener, let fault): "listeners.\(listener) cannot use its socket: \(fault)"
        case .notifier(let error): "cannot use NOTIFY_SOCKET: \(error)"
        case .cryptography(let error): "OpenSSL does not work here: \(error). Check the installation of libssl3."
        }
    }

    private static func text(_ seconds: Int64) -> String {
        UnixTime(seconds: seconds).map { RFC3339.format($0) } ?? "\(seconds) seconds since 1970"
    }
}

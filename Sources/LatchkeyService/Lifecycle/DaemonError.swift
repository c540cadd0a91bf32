package import EventLoops
package import HTTPServing
package import KeyCrypto
package import POSIXSockets
package import StorageSQLite

/// Why the daemon does not start; each one says what to do.
package enum DaemonError: Error, Equatable, Sendable {
    case store(path: String, StorageOpeningError)
    case loops(EventLoopError)
    case listener(name: String, address: String, HTTPServerError)
    case notifier(SocketError)
    case cryptography(CryptoError)
}

extension DaemonError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .store(let path, let error): "cannot open the database \(path): \(error.explanation)"
        case .loops(let error): "cannot start the event loops: \(error)"
        case .listener(let name, let address, let error):
            "cannot open the \(name) listener on \(address): \(error). Stop whatever holds the address, or change it."
        case .notifier(let error): "cannot use NOTIFY_SOCKET: \(error)"
        case .cryptography(let error): "OpenSSL does not work here: \(error). Check the installation of libssl3."
        }
    }
}

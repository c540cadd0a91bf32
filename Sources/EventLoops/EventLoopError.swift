package import POSIXSockets

/// Why a loop or one of its services could not do what it was asked.
package enum EventLoopError: Error, Equatable, Sendable {
    /// A descriptor could not be made or watched.
    case socket(SocketError)
    /// The operating system gave no thread.
    case threadNotStarted(errno: Int32)
    /// The loop stops and takes nothing new.
    case stopping
}

extension EventLoopError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .socket(let error): error.description
        case .threadNotStarted(let errno): "no thread could be started (errno \(errno))"
        case .stopping: "the event loop is stopping"
        }
    }
}

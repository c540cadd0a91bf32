import EventLoops

/// The phase of a connection. It is registered with its loop as long as it is open.
enum ConnectionPhase {
    /// The connection waits for its start.
    case accepted
    /// The driver gets the events.
    case serving(RegistrationID)
    /// The server is shutting down. The driver gets the events, and finishes what has begun.
    case draining(RegistrationID)
    /// The output ends, and the input is dropped: until now, this many bytes.
    case lingering(RegistrationID, droppedSize: Int)
    case closed

    /// The registration of an open connection.
    var registration: RegistrationID? {
        switch self {
        case .serving(let registration), .draining(let registration), .lingering(let registration, _): registration
        case .accepted, .closed: nil
        }
    }

    var isServed: Bool {
        switch self {
        case .serving, .draining: true
        case .accepted, .lingering, .closed: false
        }
    }

    var isDraining: Bool { if case .draining = self { true } else { false } }
    var isLingering: Bool { if case .lingering = self { true } else { false } }
    var isClosed: Bool { if case .closed = self { true } else { false } }
}

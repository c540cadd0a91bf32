import HTTPServing
import Licensing
import POSIXSockets
import Synchronization
import Telemetry

/// Logs that connections are refused or closed because places or memory ran short: for each reason one line at once,
/// and then at most one in each minute.
///
/// Such an event can come for each connection, and an operator needs to hear of it once.
final class ConnectionShortages: Sendable {
    static let pause: Duration = .seconds(60)

    private struct State {
        var log: (@Sendable (_ fields: [LogField], _ client: IPAddress?) -> Void)?
        /// By reason: when the next line may come, and how many connections no line has told.
        var reasons: [HTTPConnectionRefusal: (next: MonotonicTime, untold: Int)] = [:]
    }

    private let clock: any MonotonicClock
    private let state = Mutex(State())

    init(clock: any MonotonicClock = SystemMonotonicClock()) {
        self.clock = clock
    }

    /// Writes the lines to this logger from now on. `clientAddress` is how much of an address a line may have.
    func log(to logger: Logger, _ clientAddress: @escaping @Sendable () -> ClientAddressForm) {
        state.withLock { state in
            state.log = { fields, client in
                let client = clientAddress().text(of: client).map { [LogField.string("client", $0)] } ?? []
                logger.warning("connections_short", fields + client)
            }
        }
    }

    func note(_ peer: HTTPPeer?, _ reason: HTTPConnectionRefusal) {
        guard reason.isShortage, let peer else { return }
        let now = clock.monotonicTime
        let (log, count) = state.withLock { state in
            let (next, untold) = state.reasons[reason] ?? (now, 0)
            let isTold = now >= next
            state.reasons[reason] = isTold ? (now + Self.pause, 0) : (next, untold + 1)
            return (isTold ? state.log : nil, untold + 1)
        }
        log?(
            [
                .string("listener", peer.listener), .string("reason", reason.rawValue),
                .integer("connections", count),
            ], peer.address.ip)
    }
}

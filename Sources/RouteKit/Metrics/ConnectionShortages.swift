import HTTPServing
package import Licensing
import POSIXSockets
import Synchronization
package import Telemetry

/// Logs that connections are refused or closed because places or memory ran short: for each reason the first one at
/// once, and then one line for each minute with further ones.
///
/// Such an event can come for each connection, and an operator needs to hear of it once. The line for a minute names
/// the client network that lost the most connections.
package final class ConnectionShortages: Sendable {
    static let pause: Duration = .seconds(60)
    /// How often `look` is called.
    package static let lookPause: Duration = .seconds(5)

    private struct Client: Hashable {
        let listener: String
        let network: IPAddress?
    }

    /// The connections of one reason since its last line.
    private struct Untold {
        private static let clientCountMaximum = 64

        let end: MonotonicTime
        private(set) var count = 0
        /// A client with more than a 65th of the connections is always there, with at most its own number.
        private var clients: [Client: Int] = [:]

        init(until end: MonotonicTime) {
            self.end = end
        }

        var largest: (client: Client, count: Int)? {
            clients.max { $0.value < $1.value }.map { (client: $0.key, count: $0.value) }
        }

        /// Counts a connection. If there is no room for another client, each client loses one (Misra and Gries).
        mutating func add(_ client: Client) {
            count += 1
            if clients[client] != nil || clients.count < Self.clientCountMaximum {
                clients[client, default: 0] += 1
            } else {
                clients = clients.compactMapValues { $0 > 1 ? $0 - 1 : nil }
            }
        }
    }

    private struct State {
        var log: (@Sendable (_ fields: [LogField], _ client: IPAddress?) -> Void)?
        /// Only reasons that had a line in the last minute.
        var reasons: [HTTPConnectionRefusal: Untold] = [:]
    }

    private let clock: any MonotonicClock
    private let state = Mutex(State())

    init(clock: any MonotonicClock = SystemMonotonicClock()) {
        self.clock = clock
    }

    /// Writes the lines to this logger from now on. `clientAddress` is how much of an address a line may have.
    package func log(to logger: Logger, _ clientAddress: @escaping @Sendable () -> ClientAddressForm) {
        state.withLock { state in
            state.log = { fields, client in
                let client = clientAddress().text(of: client).map { [LogField.string("client", $0)] } ?? []
                logger.warning("connections_short", fields + client)
            }
        }
    }

    func note(_ peer: HTTPPeer?, _ reason: HTTPConnectionRefusal) {
        guard reason.isShortage, let peer else { return }
        let client = Client(listener: peer.listener, network: peer.address.unmapped.ip?.clientNetwork)
        let now = clock.monotonicTime
        let isFirst = state.withLock { state in
            guard state.reasons[reason] == nil else {
                state.reasons[reason]?.add(client)
                return false
            }
            state.reasons[reason] = Untold(until: now + Self.pause)
            return true
        }
        if isFirst { write(reason, count: 1, (client: client, count: 1)) }
    }

    /// Writes the line of each reason whose minute is over. A minute without connections ends silently.
    package func look() {
        let now = clock.monotonicTime
        let ended = state.withLock { state in
            let ended = state.reasons.filter { now >= $0.value.end }
            for (reason, untold) in ended {
                state.reasons[reason] = untold.count > 0 ? Untold(until: now + Self.pause) : nil
            }
            return ended
        }
        for (reason, untold) in ended where untold.count > 0 { write(reason, count: untold.count, untold.largest) }
    }

    private func write(_ reason: HTTPConnectionRefusal, count: Int, _ largest: (client: Client, count: Int)?) {
        let log = state.withLock { $0.log }
        var fields: [LogField] = [.string("reason", reason.rawValue), .integer("connections", count)]
        if let largest {
            fields.insert(.string("listener", largest.client.listener), at: 0)
            fields.append(.integer("of_client", largest.count))
        }
        log?(fields, largest?.client.network)
    }
}

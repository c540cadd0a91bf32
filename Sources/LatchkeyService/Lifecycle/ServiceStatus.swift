import POSIXSockets
import RouteKit
import Synchronization
import Telemetry

/// Tells systemd what the daemon does, in the one line that `systemctl status` shows, whenever that changes.
final class ServiceStatus: Sendable {
    /// What the line is made of.
    struct State: Equatable, Sendable {
        /// The operator who has ordered that the node is not ready; nil while none has.
        var drainedBy: String?
        var degraded: [DegradedPart] = []
        /// Why the last reload was refused; nil if it was not.
        var reloadRefusal: String?

        var text: String {
            var parts = [drainedBy.map { "Not ready by order of \($0), and serving what comes" } ?? "Serving"]
            if !degraded.isEmpty { parts.append("degraded: \(degraded.map(\.rawValue).joined(separator: " "))") }
            if let reloadRefusal { parts.append("the last reload was refused: \(reloadRefusal)") }
            return String(parts.joined(separator: "; ").prefix(Self.lengthMaximum))
        }

        /// A cause may name many faults; the log has them all.
        private static let lengthMaximum = 400
    }

    private let notifier: ServiceNotifier
    private let logger: Logger
    private let state = Mutex((current: State(), told: String?.none))

    init(_ notifier: ServiceNotifier, logger: Logger) {
        self.notifier = notifier
        self.logger = logger
    }

    /// The daemon serves: after its start, and after each reload. `body` changes the state before.
    func ready(_ body: (inout State) -> Void = { _ in }) {
        let text = state.withLock { state in
            body(&state.current)
            state.told = state.current.text
            return state.current.text
        }
        send { () throws(SocketError) in try notifier.ready(status: text) }
    }

    /// A reload begins, at this time of the monotonic clock.
    func reloading(at time: MonotonicTime) {
        send { () throws(SocketError) in
            try notifier.reloading(
                monotonicMicroseconds: UInt64(max(0, time.nanoseconds / 1000)), status: "Reloading")
        }
    }

    /// The daemon goes down, and has done so after `limit` at the latest.
    func stopping(within limit: Duration, _ text: String) {
        send { () throws(SocketError) in try notifier.stopping(within: limit, status: text) }
    }

    /// Tells the new line, if it differs from what was told. Says nothing before `ready`. Does not block.
    func change(_ body: (inout State) -> Void) {
        let text: String? = state.withLock { state in
            body(&state.current)
            let text = state.current.text
            guard let told = state.told, told != text else { return nil }
            state.told = text
            return text
        }
        if let text { send { () throws(SocketError) in try notifier.status(text) } }
    }

    private func send(_ message: () throws(SocketError) -> Void) {
        do throws(SocketError) {
            try message()
        } catch {
            logger.warning("notify_failed", [.string("cause", error.description)])
        }
    }
}

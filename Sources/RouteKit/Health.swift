package import Administration
package import HTTPMessages
package import HTTPServing
import Synchronization
package import Telemetry

/// Answers whether the daemon is alive and whether it is ready for requests.
///
/// It is ready while it can issue any license (architecture, "When the database or the disk fails").
package final class Health: Sendable {
    /// The paths of the checks, the same at all listeners.
    package static let paths: Set<String> = ["/livez", "/readyz"]

    private let isReady = Atomic<Bool>(false)
    /// Whether the daemon was ready before.
    private let hasServed = Atomic<Bool>(false)
    private let hasEnded = Atomic<Bool>(false)
    private let order = Mutex<Drain?>(nil)
    private let degradations: DegradationSource
    private let changed: @Sendable (Drain?) -> Void

    /// An operator's order that the node is not ready.
    package struct Drain: Equatable, Sendable {
        /// As the log names the operator.
        package let actor: String
        package let since: MonotonicTime
    }

    /// Not ready before `setReady`. `degradations` has the parts that do not work now. `changed` hears of each order to
    /// drain, and of its end.
    package init(
        degradations: DegradationSource = DegradationSource(), changed: @escaping @Sendable (Drain?) -> Void = { _ in }
    ) {
        self.degradations = degradations
        self.changed = changed
    }

    /// The order in force.
    package var drain: Drain? { order.withLock { $0 } }

    /// Takes the node out of service. False if it was already.
    package func drain(by actor: String, at time: MonotonicTime) -> Bool {
        replace(with: Drain(actor: actor, since: time)) { $0 == nil }
    }

    /// Takes the node back. False if no order was in force.
    package func endDrain() -> Bool {
        replace(with: nil) { $0 != nil }
    }

    private func replace(with drain: Drain?, if isWanted: (Drain?) -> Bool) -> Bool {
        let isChange = order.withLock { order in
            guard isWanted(order) else { return false }
            order = drain
            return true
        }
        if isChange { changed(drain) }
        return isChange
    }

    /// Whether the public listeners are closed and the rest of the daemon is stopping: only health and metrics are
    /// served then.
    package var isEnding: Bool { hasEnded.load(ordering: .acquiring) }

    package func beginEnd() {
        hasEnded.store(true, ordering: .releasing)
    }

    package func setReady(_ ready: Bool) {
        isReady.store(ready, ordering: .releasing)
        if ready { hasServed.store(true, ordering: .releasing) }
    }

    /// Whether the node is ready for requests now.
    package var isReadyNow: Bool { isReady(with: degradations.current) }

    private func isReady(with degradations: [Degradation]) -> Bool {
        isReady.load(ordering: .acquiring) && drain == nil && !degradations.contains(where: \.stopsLicenses)
    }

    /// What operators see of the node's readiness. `now` is the present time on both clocks.
    package func condition(now: (wall: WallTime, monotonic: MonotonicTime)) -> StatusReport.Condition {
        let degradations = degradations.current
        let isServing = isReady.load(ordering: .acquiring)
        let isStopping = !isServing && hasServed.load(ordering: .acquiring)
        let stops = degradations.filter(\.stopsLicenses).map(\.part.rawValue)
        let drain = drain
        var cause: String?
        if isStopping {
            cause = "the daemon is stopping"
        } else if !isServing {
            cause = "the daemon is starting"
        } else if let drain {
            cause = "drained by \(drain.actor)"
        } else if !stops.isEmpty {
            cause = "no license can be issued: \(stops.joined(separator: " "))"
        }
        return StatusReport.Condition(
            isReady: cause == nil, readiness: cause.map { "not ready: \($0)" } ?? "ready",
            drain: drain.map { drain in
                StatusReport.Drain(
                    actor: drain.actor, since: now.wall.second(before: now.monotonic - drain.since))
            },
            isStopping: isStopping,
            degraded: degradations.map { degradation in
                StatusReport.DegradedPart(
                    name: degradation.part.rawValue, cause: degradation.cause, remedy: degradation.part.remedy)
            })
    }

    /// Always 200: a running loop gives the answer, so the answer itself is the proof.
    package func liveResponse(_ id: RequestID) -> HTTPResponse {
        Self.response(.ok, Self.live, id)
    }

    /// 503 before the daemon serves, while it stops, while an operator has taken it out of service, and while it can
    /// issue no license at all.
    package func readyResponse(_ id: RequestID) -> HTTPResponse {
        response(to: degradations.current, id)
    }

    private func response(to degradations: [Degradation], _ id: RequestID, names: [UInt8] = []) -> HTTPResponse {
        isReady(with: degradations)
            ? Self.response(.ok, Self.ready + names, id)
            : Self.response(.serviceUnavailable, Self.notReady + names, id)
    }

    /// The same answer for operators, with the names of degraded parts.
    ///
    /// A daemon that can still issue licenses without a part stays ready. Otherwise an outage of PostgreSQL, which all
    /// nodes share, would make all of them not ready at the same time.
    package func detailedReadyResponse(_ id: RequestID) -> HTTPResponse {
        let degradations = degradations.current
        var lines = ""
        if let drain { lines += "drained by \(drain.actor)\n" }
        if !degradations.isEmpty {
            let parts = DegradedPart.allCases.filter { part in degradations.contains { $0.part == part } }
            lines += "degraded: \(parts.map(\.rawValue).joined(separator: " "))\n"
        }
        return response(to: degradations, id, names: Array(lines.utf8))
    }

    /// What does not work now, with the reasons; nil if everything does.
    package var degradedText: String? {
        let degradations = degradations.current
        guard !degradations.isEmpty else { return nil }
        return degradations.map { "\($0.part.rawValue): \($0.cause)" }.joined(separator: "; ")
    }

    private static let live = Array("ok\n".utf8)
    private static let ready = Array("ready\n".utf8)
    private static let notReady = Array("not ready\n".utf8)
    private static let fields: HTTPFields = ["Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store"]

    /// Load balancers ask often, so the constant fields are made once, and there is room for the fields of CORS.
    private static func response(_ status: HTTPStatus, _ text: [UInt8], _ id: RequestID) -> HTTPResponse {
        var fields = HTTPFields(roomForFields: 8, bytes: 512)
        fields.append(contentsOf: Self.fields)
        fields.append("X-Request-Id", id.text)
        return HTTPResponse(status: status, fields: fields, body: text)
    }
}

extension WallTime {
    /// The second, since 1970, in which something began that has lasted this long. It is the same for later times.
    package func second(before elapsed: Duration) -> Int64 {
        let (whole, rest) = elapsed.components
        return seconds - whole - (Int64(nanoseconds) < rest / 1_000_000_000 ? 1 : 0)
    }
}

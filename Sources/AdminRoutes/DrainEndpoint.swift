package import HTTPMessages
package import HTTPServing
import Licensing
package import RouteKit
package import Telemetry

/// `POST /v1/drain` and `POST /v1/ready` of the admin listener: an operator takes the node out of service, and back.
///
/// Only readiness changes, and with it what a load balancer does. Requests that come all the same are served. The order
/// ends with the process.
package struct DrainEndpoint: Sendable {
    static let drainPath = "/v1/drain"
    static let readyPath = "/v1/ready"

    package let health: Health
    package let logger: Logger
    package let clock: any MonotonicClock

    package init(health: Health, logger: Logger, clock: any MonotonicClock) {
        self.health = health
        self.logger = logger
        self.clock = clock
    }

    /// Answers an administrator, whose name is `actor`. The log has the order, unless it changes nothing.
    package func answer(_ request: HTTPRequest, by actor: String, id: RequestID) -> HTTPResponse {
        let isDrain = request.path == Self.drainPath
        let isChange = isDrain ? health.drain(by: actor, at: clock.monotonicTime) : health.endDrain()
        if isChange {
            logger.warning(
                isDrain ? "drain_ordered" : "drain_ended",
                [.string("actor", actor)] + id.logFields)
        }
        return HTTPResponse(
            status: .ok, fields: .answer("application/json", id),
            body: Array(#"{"ready":\#(!isDrain),"changed":\#(isChange)}"#.utf8))
    }
}

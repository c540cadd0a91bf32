import HTTPMessages
import HTTPServing
import Licensing
import Telemetry

/// Turns problems into responses, and writes the line of the log that an operator finds by the request id.
struct Refusals: Sendable {
    private let logger: Logger
    private let clock: any WallClock

    init(logger: Logger, clock: any WallClock) {
        self.logger = logger
        self.clock = clock
    }

    /// The answer to a request that is refused; `event` names the kind of request in the log.
    func response(
        to event: String, _ problem: Problem, because cause: RefusalCause, id: RequestID, spcVersion: UInt32 = 0
    ) -> HTTPResponse {
        // Every line has the same fields, so that writing it takes the same time for all rejections of an SPC.
        logger.log(
            problem.code.status.code >= 500 ? .error : .info, event,
            [
                .string("request_id", id.text), .string("code", problem.code.rawValue), .string("cause", cause.text),
                .string("tag", sixteenDigits(cause.tag)), .unsigned("number", cause.number),
                .unsigned("spc_version", UInt64(spcVersion)),
            ])
        return problem.response(requestID: id, time: clock.wallTime)
    }
}

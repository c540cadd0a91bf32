import ByteCoding
package import Entitlements
package import EventLoops
import HTTPMessages
package import HTTPServing
package import Licensing
import POSIXSockets
import Records
package import Telemetry

/// The parts that the ExpressPlay routes share: the minter, the rate limits, and the log of refusals.
package final class ExpressPlayService: Sendable {
    package let minter: ExpressPlayMinter
    private let pipelines: LicensePipelines
    private let customers = RateLimiter<String>(capacity: 65_536)
    private let logger: Logger
    private let recent: RecentRefusals
    private let clock: any WallClock
    private let refused: Counter

    package init(
        minter: ExpressPlayMinter, pipelines: LicensePipelines, metrics: MetricsRegistry, logger: Logger,
        recent: RecentRefusals = RecentRefusals(), clock: any WallClock = SystemWallClock()
    ) {
        self.recent = recent
        self.clock = clock
        self.minter = minter
        self.pipelines = pipelines
        self.logger = logger
        refused = metrics.counter(
            "latchkey_token_requests_refused_total", help: "Requests for tokens that were refused.")
    }

    /// Refuses an address that asks too often. The parameters of the request are not read before that.
    package func admit(
        _ request: HTTPRequest, under rules: LicenseRules, on loop: LoopContext
    ) throws(ExpressPlayRefusal) {
        do throws(LicenseError) {
            try pipelines.pipeline(on: loop).admissionControl.admit(from: request.peer.address.ip, under: rules)
        } catch {
            guard case .rateLimited(_, let seconds) = error else {
                // The cryptography of the loop failed to start.
                throw ExpressPlayRefusal(.licenseNotMade, error.cause)
            }
            throw ExpressPlayRefusal(.quotaExhausted, error.cause, retryAfterSeconds: seconds)
        }
    }

    /// Refuses a customer that is disabled or asks too often.
    package func admit(_ customer: ExpressPlayCustomer) throws(ExpressPlayRefusal) {
        guard !customer.isDisabled else {
            throw ExpressPlayRefusal(.accountDisabled, RefusalCause("the customer \(customer.name) is disabled"))
        }
        guard let rate = customer.rate, let wait = customers.take(customer.name, at: rate) else { return }
        // The wait is rounded up, because a customer that asks again too early is refused again.
        throw ExpressPlayRefusal(
            .quotaExhausted, RefusalCause("too many requests from the customer \(customer.name)"),
            retryAfterSeconds: wait.components.seconds + 1)
    }

    // MARK: The log

    /// Logs a token. The lines of this class contain no token and no text of the request.
    func logMinted(by customer: ExpressPlayCustomer, _ id: RequestID) {
        logger.log(
            .debug, "token_minted", from: .client,
            id.logFields + [.string("customer", customer.name)])
    }

    func logRefusal(_ refusal: ExpressPlayRefusal, _ id: RequestID, under rules: LicenseRules) {
        refused.increment()
        let facts = RefusalFacts(listener: id.place?.listener, client: id.place?.client, rules.clientAddress)
        recent.note(
            .init(
                id.text, trace: id.trace?.traceID, at: clock.wallTime, event: "token_refused",
                code: String(refusal.code.rawValue),
                cause: refusal.cause.text, facts: facts.all.map { ($0.name.word, $0.text) }),
            of: .init(isProven: false, network: facts[.client]))
        logger.log(
            refusal.status.code >= 500 ? .error : .info, "token_refused", from: .stranger,
            id.logFields + [
                .integer("code", refusal.code.rawValue),
                .string("cause", refusal.cause.text),
            ] + facts.all.map { .string($0.name.word, $0.text) })
    }
}

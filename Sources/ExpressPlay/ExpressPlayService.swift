import ByteCoding
package import Entitlements
import HTTPMessages
import HTTPServing
import Licensing
package import POSIXSockets
import Synchronization
package import Telemetry

/// What the routes in ExpressPlay's manner share: the settings in force, the minter, and how refusals are told and logged.
package final class ExpressPlayService: Sendable {
    let minter: ExpressPlayMinter
    private let addressWait: @Sendable (IPAddress?) -> Duration?
    private let current: Mutex<ExpressPlaySettings>
    /// A rate for each customer that has one.
    private let limiters: Mutex<[String: RateLimiter<Int>]>
    private let logger: Logger
    private let refused: Counter

    package init(
        _ settings: ExpressPlaySettings, minter: ExpressPlayMinter,
        addressWait: @escaping @Sendable (IPAddress?) -> Duration?, metrics: MetricsRegistry,
        logger: Logger
    ) {
        current = Mutex(settings)
        limiters = Mutex(Self.limiters(settings))
        self.minter = minter
        self.addressWait = addressWait
        self.logger = logger
        refused = metrics.counter(
            "latchkey_token_requests_refused_total", help: "Requests for tokens that were refused.")
    }

    package var settings: ExpressPlaySettings { current.withLock { $0 } }

    /// For requests that arrive from now on.
    package func replaceSettings(with settings: ExpressPlaySettings) {
        current.withLock { $0 = settings }
        limiters.withLock { $0 = Self.limiters(settings) }
    }

    private static func limiters(_ settings: ExpressPlaySettings) -> [String: RateLimiter<Int>] {
        let rates = settings.customers.entries.compactMap { entry in
            entry.customer.rate.map { (entry.customer.name, RateLimiter<Int>($0, capacity: 32)) }
        }
        return Dictionary(rates) { first, _ in first }
    }

    /// Refuses who asks too often, before anything of the request is looked at.
    func admit(_ request: HTTPRequest) throws(ExpressPlayRefusal) {
        guard let wait = addressWait(request.peer.address.ip) else { return }
        throw Self.tooMany(RefusalCause("too many requests of an address"), wait)
    }

    /// Refuses a customer that may not, or asks too often.
    func admit(_ customer: ExpressPlayCustomer) throws(ExpressPlayRefusal) {
        guard !customer.isDisabled else {
            throw ExpressPlayRefusal(.accountDisabled, RefusalCause("the customer \(customer.name) is disabled"))
        }
        guard let wait = limiters.withLock({ $0[customer.name] })?.take(0) else { return }
        throw Self.tooMany(RefusalCause("too many requests of the customer \(customer.name)"), wait)
    }

    /// Rounded up: who comes back too early is refused again.
    private static func tooMany(_ cause: RefusalCause, _ wait: Duration) -> ExpressPlayRefusal {
        ExpressPlayRefusal(.quotaExhausted, cause, retryAfterSeconds: wait.components.seconds + 1)
    }

    func tokenURL(_ token: String) -> String { settings.redeemURL + "?ExpressPlayToken=" + token }

    // MARK: The log

    /// Neither a token nor anything of the request is in these lines.
    func logMinted(by customer: ExpressPlayCustomer, _ id: RequestID) {
        logger.debug("token_minted", [.string("request_id", id.text), .string("customer", customer.name)])
    }

    func logRefusal(_ refusal: ExpressPlayRefusal, _ id: RequestID) {
        refused.increment()
        logger.log(
            refusal.status.code >= 500 ? .error : .info, "token_refused",
            [
                .string("request_id", id.text), .integer("code", refusal.code.rawValue),
                .string("cause", refusal.cause.text),
            ])
    }

    /// The fields of every answer.
    static func fields(_ contentType: String, _ id: RequestID) -> HTTPFields {
        [
            "Content-Type": contentType, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
            "X-Request-Id": id.text,
        ]
    }
}

import ByteCoding
import Entitlements
package import EventLoops
import HTTPCalls
import KeyCrypto
package import Licensing
package import ServiceConfiguration
package import Telemetry

/// Calls the operator's entitlement service over HTTP, and decides by its answers.
///
/// The owners are the rules in force, and requests that were admitted under earlier rules. The thread ends by itself
/// after the last owner is gone. The last owner may end on a loop, where nothing may block, so only `stop` waits for
/// calls.
package struct EntitlementCallback: Sendable {
    package let decider: CallbackDecider
    private let caller: HTTPCaller

    /// Starts the thread that makes the calls.
    package init(_ material: CallbackMaterial, counts: CallbackCounts = CallbackCounts()) throws(EventLoopError) {
        caller = try HTTPCaller(material.calls)
        decider = CallbackDecider(
            material.settings, transport: CallbackOverHTTP(caller: caller, secret: material.secret), counts: counts)
    }

    /// Stops the thread. Blocks until no call is under way.
    package func stop() {
        caller.stop()
    }

    /// Registers the metrics of the service that the rules in force name. Its successor after a reload keeps the
    /// counts.
    package static func register(
        _ current: @escaping @Sendable () -> CallbackDecider?, in registry: MetricsRegistry
    ) {
        registry.samples(
            "latchkey_callback_decisions_total",
            help: "Requests that the entitlement service decides about, by their outcome.", isCounter: true,
            label: "outcome",
            CallbackCounts.Outcome.allCases.map { outcome in
                (outcome.label, { current().map { Double($0.counts[outcome]) } ?? 0 })
            })
        registry.sample(
            "latchkey_callback_available", help: "Whether the entitlement service is used; 0 while it does not answer."
        ) { current()?.isAvailable == false ? 0 : 1 }
    }
}

extension CallbackCounts.Outcome {
    fileprivate var label: String {
        switch self {
        case .allowed: "allowed"
        case .denied: "denied"
        case .remembered: "remembered"
        case .grace: "grace"
        case .failed: "failed"
        }
    }
}

/// Sends each question by POST. If a secret is configured, a MAC covers the time and the body.
private struct CallbackOverHTTP: CallbackTransport {
    let caller: HTTPCaller
    let secret: HMACSHA256Key?

    func ask(_ question: CallbackQuestion, on loop: LoopContext) async throws(CallbackOutage) -> [UInt8] {
        let body = question.body
        let trace = question.trace?.forwardedFields.map { "\($0.name): \($0.value)" } ?? []
        let fields = try fields(for: body) + trace
        return try await wrapAsync(CallbackOutage.init, try await caller.post(body, fields: fields))
    }

    /// The header fields that prove who asks: the time, and the MAC over it. None without a secret.
    ///
    /// The MAC is HMAC-SHA-256 over the time as decimal digits, a dot, and the body. It covers the time, so that an old
    /// question cannot be replayed as a new one.
    private func fields(for body: [UInt8]) throws(CallbackOutage) -> [String] {
        guard let secret else { return [] }
        let time = String(SystemWallClock().wallTime.seconds)
        do throws(CryptoError) {
            let code = try secret.code(for: (Array("\(time).".utf8) + body)[...])
            return ["X-Latchkey-Timestamp: \(time)", "X-Latchkey-Signature: sha256=\(Hexadecimal.encode(code))"]
        } catch {
            throw .busy
        }
    }
}

extension CallbackOutage {
    fileprivate init(_ error: HTTPCallError) {
        self =
            switch error {
            case .busy, .stopped: .busy
            case .timedOut: .timedOut
            case .addressForbidden: .addressForbidden
            case .failed(let code): .failed(code: code)
            case .status(let status): .status(status)
            case .answerTooLarge: .answerTooLarge
            }
    }
}

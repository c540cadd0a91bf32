import ByteCoding
import Entitlements
import EventLoops
import HTTPCalls
import KeyCrypto
import Licensing
import ServiceConfiguration
import Telemetry

/// The operator's own service: calls it over HTTP, and decides by what it says.
///
/// Its thread ends by itself after its last owner: the rules in force, or a request that was admitted under earlier
/// rules. Only `stop` waits for them, because that last owner may end on a loop.
struct EntitlementCallback: Sendable {
    let decider: CallbackDecider
    private let caller: HTTPCaller

    /// Starts the thread that calls.
    init(_ material: CallbackMaterial, counts: CallbackCounts = CallbackCounts()) throws(EventLoopError) {
        caller = try HTTPCaller(material.calls)
        decider = CallbackDecider(
            material.settings, transport: CallbackOverHTTP(caller: caller, secret: material.secret), counts: counts)
    }

    /// Blocks until no call is under way.
    func stop() {
        caller.stop()
    }

    /// Registers what the service of the rules in force does; a service that takes its place counts on.
    static func register(_ cell: LiveRulesCell, in registry: MetricsRegistry) {
        registry.samples(
            "latchkey_callback_decisions_total",
            help: "Requests that the entitlement service decides about, by what came of them.", isCounter: true,
            label: "outcome",
            CallbackCounts.Outcome.allCases.map { outcome in
                (outcome.label, { cell.current.license.callback.map { Double($0.counts[outcome]) } ?? 0 })
            })
        registry.sample(
            "latchkey_callback_available", help: "Whether the entitlement service is asked; 0 while it does not answer."
        ) { cell.current.license.callback?.isAvailable == false ? 0 : 1 }
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

/// Posts questions, each with a code over its time and its bytes if a secret is configured.
private struct CallbackOverHTTP: CallbackTransport {
    let caller: HTTPCaller
    let secret: HMACSHA256Key?

    func ask(_ body: [UInt8], on loop: LoopContext) async throws(CallbackOutage) -> [UInt8] {
        let fields = try fields(for: body)
        return try await wrapAsync(CallbackOutage.init, try await caller.post(body, fields: fields))
    }

    /// The code is HMAC-SHA-256 of the time as decimal digits, a dot, and the body, so that an old question cannot be
    /// told as a new one.
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

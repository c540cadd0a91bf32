package import TestSupport

/// One format from outside, and what must hold for any bytes that claim to be in it.
///
/// A target is driven by libFuzzer (`Scripts/fuzz`), and by the tests with saved failures and seeded mutations. It
/// depends on its input alone: keys and secrets never change, so that a saved input means the same in every run.
package protocol FuzzTarget {
    /// Runs the code under test on `input`. Throws `PropertyViolation` if a property does not hold; any other error
    /// is a finding too.
    func check(_ input: [UInt8]) throws -> Verdict

    /// Inputs to start from: at least one that is accepted for every way through the code.
    func seeds() throws -> [[UInt8]]

    /// A change that keeps the outer form of an input, so that more than its outermost check is reached.
    func mutate(_ input: [UInt8], using generator: inout SeededGenerator) -> [UInt8]
}

/// What the code under test said to an input.
package enum Verdict: Sendable {
    case accepted
    case refused
}

/// A property that does not hold for an input.
struct PropertyViolation: Error, Equatable, CustomStringConvertible {
    package let description: String
}

/// Throws `PropertyViolation` unless the property holds.
func require(_ isHeld: Bool, _ property: @autoclosure () -> String) throws(PropertyViolation) {
    guard isHeld else { throw PropertyViolation(description: property()) }
}

/// The value, or a `PropertyViolation` if it is nil.
func require<Value>(_ value: Value?, _ property: @autoclosure () -> String) throws(PropertyViolation) -> Value {
    guard let value else { throw PropertyViolation(description: property()) }
    return value
}

/// Every target there is; the raw value is the name of its program and of its folder in `FailCases`.
package enum FuzzTargetKind: String, Sendable, CaseIterable {
    case spcContainer = "fuzz-spc-container"
    case spcPayload = "fuzz-spc-payload"
    case ckc = "fuzz-ckc"
    case workerFraming = "fuzz-worker-framing"
    case http1Head = "fuzz-http1-head"
    case http2Session = "fuzz-http2-session"
    case json = "fuzz-json"
    case token = "fuzz-token"
    case playerMessage = "fuzz-player-message"
    case cpix = "fuzz-cpix"
    case playlist = "fuzz-playlist"

    package var name: String { rawValue }

    package func makeTarget() throws -> any FuzzTarget {
        switch self {
        case .spcContainer: try SPCContainerTarget()
        case .spcPayload: try SPCPayloadTarget()
        case .ckc: try CKCTarget()
        case .workerFraming: WorkerFramingTarget()
        case .http1Head: HTTP1HeadTarget()
        case .http2Session: HTTP2SessionTarget()
        case .json: JSONTarget()
        case .token: try TokenTarget()
        case .playerMessage: PlayerMessageTarget()
        case .cpix: try CPIXTarget()
        case .playlist: PlaylistTarget()
        }
    }
}

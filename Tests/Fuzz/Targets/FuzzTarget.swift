package import TestSupport

/// One format from outside, and the properties that must hold for any bytes that claim to be in it.
///
/// libFuzzer runs a target (`Scripts/fuzz`), and so do the tests, with saved failures and seeded mutations. A target
/// depends only on its input: keys and secrets never change, so that a saved input means the same in every run.
package protocol FuzzTarget {
    /// Runs the code under test on `input`. Throws `PropertyViolation` if a property does not hold. Any other error is
    /// a finding too.
    func check(_ input: [UInt8]) throws -> Verdict

    /// The first inputs: at least one accepted input for every path through the code.
    func seeds() throws -> [[UInt8]]

    /// Changes an input but keeps its outer form, so that the code after the outermost check is reached.
    func mutate(_ input: [UInt8], using generator: inout SeededGenerator) -> [UInt8]
}

/// The result of the code under test for an input.
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

/// Every target. The raw value is the name of its program and of its folder in `FailCases`.
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

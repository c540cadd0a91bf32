import Telemetry

/// Keeps a loop from going on.
final class Hold: Sendable {
    private enum State {
        case coming
        case held
        case released
    }

    private let state = Monitor(State.coming)

    func wait() {
        state.update { $0 = .held }
        state.wait { $0 == .released ? () : nil }
    }

    func waitUntilHeld() {
        state.wait { $0 == .held ? () : nil }
    }

    func release() {
        state.update { $0 = .released }
    }
}

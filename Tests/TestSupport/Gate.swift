import Telemetry

/// A gate at which tasks wait until a test opens it.
package final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Monitor(State())

    /// Makes a closed gate.
    package init() {}

    package func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.update { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    /// Waits until `count` tasks wait at the gate.
    package func waitForTasks(_ count: Int) {
        state.wait { $0.waiting.count >= count ? () : nil }
    }

    package func open() {
        let waiting = state.update { state in
            state.isOpen = true
            let waiting = state.waiting
            state.waiting = []
            return waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

/// The entries that a test's loops have reported, in order. A test can wait for them.
package final class Log<Entry: Sendable & Equatable>: Sendable {
    private let entries = Monitor<[Entry]>([])

    /// Makes an empty log.
    package init() {}

    package func append(_ entry: Entry) {
        entries.update { $0.append(entry) }
    }

    /// Waits until there are at least `count` entries, and returns all entries.
    package func wait(for count: Int) -> [Entry] {
        entries.wait { $0.count >= count ? $0 : nil }
    }

    package var all: [Entry] { entries.update { $0 } }
}

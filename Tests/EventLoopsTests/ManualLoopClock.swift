import EventLoops
import Synchronization
import Telemetry

/// A clock that stands until a test moves it.
final class ManualLoopClock: LoopClock {
    private let nanoseconds = Atomic<Int64>(1_000_000_000)

    var now: LoopInstant { LoopInstant(nanoseconds: nanoseconds.load(ordering: .relaxed)) }

    /// Moves the clock; wake the loops afterwards.
    func advance(by duration: Duration) {
        nanoseconds.add(duration.clampedNanoseconds, ordering: .relaxed)
    }
}

/// What a test's loops have reported, in order; the test waits for it.
final class Log<Entry: Sendable & Equatable>: Sendable {
    private let entries = Monitor<[Entry]>([])

    func append(_ entry: Entry) {
        entries.update { $0.append(entry) }
    }

    /// Waits until there are so many entries and returns all.
    func wait(for count: Int) -> [Entry] {
        entries.wait { $0.count >= count ? $0 : nil }
    }

    var all: [Entry] { entries.update { $0 } }
}

/// Tasks wait here until a test opens it.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Monitor(State())

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.update { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    /// Waits until so many tasks wait.
    func waitForTasks(_ count: Int) {
        state.wait { $0.waiting.count >= count ? () : nil }
    }

    func open() {
        let waiting = state.update { state in
            state.isOpen = true
            let waiting = state.waiting
            state.waiting = []
            return waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

import Foundation

/// The output of a process on one descriptor. A separate thread collects it.
package final class CollectedOutput: @unchecked Sendable {
    // Safe to share: both variables are used only while `condition` is held.
    private let condition = NSCondition()
    private var collected: [UInt8] = []
    private var hasEnded = false

    /// Reads the descriptor to its end and closes it.
    init(descriptor: Int32) {
        Thread.detachNewThread { [self] in
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while true {
                // The buffer has room for the number of bytes that are requested.
                let count = unsafe read(descriptor, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                change { collected += buffer.prefix(count) }
            }
            close(descriptor)
            change { hasEnded = true }
        }
    }

    /// The bytes that have arrived so far.
    package var bytes: [UInt8] {
        condition.lock()
        defer { condition.unlock() }
        return collected
    }

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Waits until `look` finds something in the output. Returns nil if the output ends first, or if no output arrives
    /// for two minutes.
    package func wait<Result>(for look: ([UInt8]) -> Result?) -> Result? {
        let deadline = Date(timeIntervalSinceNow: 120)
        condition.lock()
        defer { condition.unlock() }
        while true {
            if let result = look(collected) { return result }
            if hasEnded || !condition.wait(until: deadline) { return look(collected) }
        }
    }

    /// Waits for the end of the output, for at most `seconds`. Returns false if the time passes.
    package func waitForEnd(seconds: Double) -> Bool {
        let deadline = Date(timeIntervalSinceNow: seconds)
        condition.lock()
        defer { condition.unlock() }
        while !hasEnded {
            if !condition.wait(until: deadline) { return hasEnded }
        }
        return true
    }

    private func change(_ body: () -> Void) {
        condition.lock()
        body()
        condition.broadcast()
        condition.unlock()
    }
}

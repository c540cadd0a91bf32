package import EventLoops
package import HTTPServing
import POSIXSockets
import Telemetry

/// Returns memory to the system: large blocks immediately, and the rest after a peak.
///
/// Otherwise the allocator would keep freed memory.
///
/// Belongs to one loop.
package final class MemoryTrimmer: @unchecked Sendable {
    // Safe to send: made before its loop knows it, and used there only.
    package static let interval: Duration = .seconds(5)

    private let loop: LoopContext
    private let resources: ServerResources
    private var policy: TrimPolicy?

    package init(_ resources: ServerResources, on loop: LoopContext) {
        self.resources = resources
        self.loop = loop
    }

    /// Starts to watch the memory. The size that is resident now counts as the size at rest.
    package func start() {
        ProcessMemory.returnLargeBlocks()
        loop.execute { [self] in
            guard let resident = ProcessMetrics.residentSize else { return }
            policy = TrimPolicy(restingSize: resident)
            schedule()
        }
    }

    private func schedule() {
        _ = loop.schedule(after: Self.interval) { [self] in look() }
    }

    private func look() {
        defer { schedule() }
        guard let before = ProcessMetrics.residentSize,
            policy?.shouldTrim(resident: before, charged: resources.memory.chargedSize) == true
        else { return }
        ProcessMemory.trim()
        policy?.trimmed(from: before, to: ProcessMetrics.residentSize ?? before)
    }
}

/// Decides when memory is returned: if much more is resident than clients are charged for, and than at rest.
///
/// A trim stops every thread that allocates meanwhile. So after a trim that did not help, some checks are skipped.
struct TrimPolicy: Equatable {
    /// The least number of bytes that a trim must return to count as helpful.
    static let gainMinimum = 1 << 20
    /// The least number of bytes by which the resident size must exceed the size at rest.
    static let excessMinimum = 8 << 20
    /// The number of checks that are skipped after a trim that did not help.
    static let pauseLength = 5

    let restingSize: Int
    private var pause = 0

    init(restingSize: Int) {
        self.restingSize = restingSize
    }

    /// Whether to trim now. Called once per check; sizes are in bytes.
    mutating func shouldTrim(resident: Int, charged: Int) -> Bool {
        guard pause == 0 else {
            pause -= 1
            return false
        }
        return resident > 2 * charged && resident > restingSize + Self.excessMinimum
    }

    mutating func trimmed(from before: Int, to after: Int) {
        if before - after < Self.gainMinimum { pause = Self.pauseLength }
    }
}

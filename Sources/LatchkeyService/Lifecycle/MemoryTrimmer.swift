import EventLoops
import HTTPServing
import POSIXSockets
import Telemetry

/// Gives memory back to the system after a peak. The allocator keeps freed memory for itself otherwise, for ever.
///
/// Belongs to one loop.
final class MemoryTrimmer: @unchecked Sendable {
    // Safe to send: made before its loop knows it, and used there only.
    static let interval: Duration = .seconds(5)

    private let loop: LoopContext
    private let resources: ServerResources
    private var policy: TrimPolicy?

    init(_ resources: ServerResources, on loop: LoopContext) {
        self.resources = resources
        self.loop = loop
    }

    /// Begins to look at the memory; what is resident now is what the daemon needs at rest.
    func start() {
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

/// When memory is given back: while much more is resident than is charged, and more than at rest. A trim that did not
/// help is tried again after a while only, because it stops every thread that allocates meanwhile.
struct TrimPolicy: Equatable {
    /// What a trim must give back to count as a help, and by how much the size must exceed that at rest.
    static let gainMinimum = 1 << 20
    static let excessMinimum = 8 << 20
    /// So many looks are skipped after a trim that did not help.
    static let pauseLength = 5

    let restingSize: Int
    private var pause = 0

    init(restingSize: Int) {
        self.restingSize = restingSize
    }

    /// Asked at each look; sizes are in bytes.
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

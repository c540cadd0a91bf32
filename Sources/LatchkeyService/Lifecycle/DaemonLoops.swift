import ByteCoding
import EventLoops
import ServiceConfiguration
import Telemetry

/// The loops of a daemon.
struct DaemonLoops: Sendable {
    /// The most time that the tasks of a loop may take after the order to stop.
    static let taskLimit: Duration = .seconds(2)

    /// The connections of the public listeners, and their requests.
    let requests: EventLoopGroup
    /// The loop of the admin listeners. It serves no public requests, so they answer while the other loops are busy.
    let adminGroup: EventLoopGroup
    private let upkeepGroup: EventLoopGroup

    var admin: LoopContext { adminGroup.loops[0] }
    /// The maintenance of the daemon.
    var upkeep: LoopContext { upkeepGroup.loops[0] }
    /// The loops of all listeners.
    var serving: [LoopContext] { requests.loops + adminGroup.loops }

    /// Starts the threads. `running` gets what stops them, also if a later one cannot be started.
    init(count: Int, logger: Logger, _ running: inout RunningParts) throws(DaemonError) {
        let requests = try wrap(DaemonError.loops, try EventLoopGroup(count: count, computing: true))
        running.add(.loops) {
            let stopped = requests.stop(within: Self.taskLimit)
            guard stopped.abandonedTaskCount > 0 else { return }
            logger.warning("stopped_with_work_left", [.integer("tasks", stopped.abandonedTaskCount)])
        }
        let admin = try wrap(DaemonError.loops, try EventLoopGroup(count: 1, name: "admin", firstIndex: count))
        running.add(.adminLoop) { admin.stop(within: Self.taskLimit) }
        let upkeep = try wrap(DaemonError.loops, try EventLoopGroup(count: 1, name: "upkeep"))
        // After the records, whose last writes and shipments run there.
        running.add(.storage) { upkeep.stop(within: Self.taskLimit) }
        (self.requests, adminGroup, upkeepGroup) = (requests, admin, upkeep)
    }
}

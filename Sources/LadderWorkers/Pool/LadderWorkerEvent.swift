package import POSIXSockets
package import Telemetry

/// An event of a pool's workers, which is reported on the pool's loop.
package enum LadderWorkerEvent: Equatable, Sendable {
    /// A worker has opened the module and answers calls.
    case ready(processID: Int32)
    /// A ready worker has ended, or was ended. `lostCall` tells whether a call was lost with it.
    case ended(processID: Int32, LadderWorkerLoss, ProgramEnd, lostCall: Bool)
    /// A worker could not be made ready. After several failures for the same reason, it is reported only once until a
    /// worker is ready again.
    case startFailed(LadderStartFailure)
}

/// Why a worker was lost.
package enum LadderWorkerLoss: Equatable, Sendable {
    /// The worker ended by itself, or another program ended it.
    case died
    /// The worker was ended because a call exceeded its deadline.
    case hung
    /// The worker was ended because it used too much processor time.
    case overspent
    /// The worker was ended because it sent an invalid message.
    case misbehaved(LadderFrameError)
}

extension LadderWorkerEvent {
    /// Writes the event as a line of the log.
    package func log(to logger: Logger, credential: String) {
        let name = LogField.string("credential", credential)
        switch self {
        case .ready(let processID):
            logger.info("ladder_worker_ready", [name, .integer("pid", Int(processID))])
        case .ended(let processID, let loss, let end, let lostCall):
            logger.error(
                "ladder_worker_ended",
                [
                    name, .integer("pid", Int(processID)), .string("cause", loss.word), .string("end", end.words),
                    .bool("lost_call", lostCall),
                ])
        case .startFailed(let failure):
            logger.error("ladder_module_unavailable", [name, .string("cause", failure.description)])
        }
    }
}

extension LadderWorkerLoss {
    fileprivate var word: String {
        switch self {
        case .died: "died"
        case .hung: "hung"
        case .overspent: "processor_time"
        case .misbehaved: "misbehaved"
        }
    }
}

extension ProgramEnd {
    fileprivate var words: String {
        switch self {
        case .exited(let status): "status \(status)"
        case .killed(let signal): "signal \(signal)"
        }
    }
}

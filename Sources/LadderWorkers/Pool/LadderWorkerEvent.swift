package import POSIXSockets
package import Telemetry

/// What happens to a pool's workers; told on the pool's loop.
package enum LadderWorkerEvent: Equatable, Sendable {
    /// A worker has opened the module and answers calls.
    case ready(processID: Int32)
    /// A worker that was ready has ended, or was ended; `lostCall` if a call was lost with it.
    case ended(processID: Int32, LadderWorkerLoss, ProgramEnd, lostCall: Bool)
    /// No worker could be made ready. Told once for each reason until a worker is ready again, however often it is
    /// tried.
    case startFailed(LadderStartFailure)
}

/// Why a worker is no more.
package enum LadderWorkerLoss: Equatable, Sendable {
    /// It ended by itself, or another program ended it.
    case died
    /// It was ended, because a call took longer than it may.
    case hung
    /// It was ended, because it used more of the processors than it may.
    case overspent
    /// It was ended, because what it sent was no answer.
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

extension LadderWorkerEvent {
    /// Why there may be no worker, in words; nil if one is ready.
    package var trouble: String? {
        switch self {
        case .ready: nil
        case .ended(_, let loss, let end, _): "the last worker \(loss.words), \(end.words)"
        case .startFailed(let failure): failure.description
        }
    }
}

extension LadderWorkerLoss {
    fileprivate var words: String {
        switch self {
        case .died: "died"
        case .hung: "was ended because a call took too long"
        case .overspent: "was ended because it used too much processor time"
        case .misbehaved: "was ended because it sent something that is no answer"
        }
    }

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

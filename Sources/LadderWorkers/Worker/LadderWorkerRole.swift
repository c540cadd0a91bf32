import FairPlay
import POSIXSockets

/// Runs `latchkeyd` as a worker that a pool has started: it opens one module, and answers calls until its stream ends.
///
/// The process has one thread, which blocks. No code of the module runs before the process is confined.
package enum LadderWorkerRole {
    /// The only argument of a worker process. It is not an option for people.
    package static let argument = "--ladder-worker"

    /// Runs until the pool closes the stream. Returns the exit status.
    package static func run() -> Int32 {
        do throws(WorkerExit) {
            try work()
        } catch {
            return error.rawValue
        }
    }

    private static func work() throws(WorkerExit) -> Never {
        guard let stream = InheritedStream(), let begunCall = SharedWord() else { throw .notStartedByPool }
        // The memory is protected before the first secret arrives.
        guard isUnreadable() else { throw .notProtected }
        var line = WorkerLine(stream, begunCall)
        let module = try open(&line)
        try line.send(LadderFrameHead(.ready, number: 0, bodySize: 0).message())
        while true { try line.answerCall(with: module) }
    }

    /// Reads the first message, confines the process and opens the module. It reports a fault to the pool before it
    /// throws.
    private static func open(_ line: inout WorkerLine) throws(WorkerExit) -> LoadedModule {
        let start = try line.readStart()
        do throws(LadderModuleFault) {
            try confine(start.confinement, library: start.libraryPath)
        } catch {
            throw try refuse(error, &line)
        }
        // If the parent has ended before `confine`, this process was not ended with it, so it must end here.
        guard line.isOfParent else { throw .poolGone }
        do throws(LadderModuleFault) {
            return try LoadedModule(libraryPath: start.libraryPath, moduleData: start.moduleData)
        } catch {
            throw try refuse(error, &line)
        }
    }

    private static func refuse(_ fault: LadderModuleFault, _ line: inout WorkerLine) throws(WorkerExit) -> WorkerExit {
        try line.send(fault.message())
        return .moduleNotOpened
    }

    private static func isUnreadable() -> Bool {
        do throws(SocketError) {
            try ProcessProtection.forbidDumpsAndTracing()
            return true
        } catch {
            return false
        }
    }

    private static func confine(_ confinement: ProcessConfinement, library: String) throws(LadderModuleFault) {
        do throws(SocketError) {
            try confinement.apply(library: library)
        } catch {
            switch error {
            case .failed(let call, let errno): throw .notConfined(step: call.rawValue, errno: errno)
            case .addressInUse, .addressUnavailable, .addressForbidden, .notASocket:
                throw .notConfined(step: "socket", errno: 0)
            }
        }
    }
}

/// Why a worker process ends by itself, as its exit status.
enum WorkerExit: Int32, Error {
    /// The pool has closed the stream.
    case streamEnded = 0
    /// The module could not be opened. The pool has got the reason.
    case moduleNotOpened = 1
    /// Descriptor 3 is not a stream, so no pool has started this process.
    case notStartedByPool = 2
    /// The stream failed, or contained an invalid message.
    case streamBroken = 3
    /// The process that has started this one has ended.
    case poolGone = 4
    /// The kernel could not protect the memory of this process.
    case notProtected = 5
}

import FairPlay
import POSIXSockets

/// What `latchkeyd` is when a pool has started it: a process that holds one module and answers calls, until its stream
/// ends.
///
/// One thread, which blocks. Nothing of the module runs before the process is confined.
package enum LadderWorkerRole {
    /// The only argument of such a process; no option that people use.
    package static let argument = "--ladder-worker"

    /// Runs until the pool closes the stream, and gives the exit status.
    package static func run() -> Int32 {
        do throws(WorkerExit) {
            try work()
        } catch {
            return error.rawValue
        }
    }

    private static func work() throws(WorkerExit) -> Never {
        guard let stream = InheritedStream(), let begunCall = SharedWord() else { throw .notStartedByPool }
        // Before anything that is secret comes.
        guard isUnreadable() else { throw .notProtected }
        var line = WorkerLine(stream, begunCall)
        let module = try open(&line)
        try line.send(LadderFrameHead(.ready, number: 0, bodySize: 0).message())
        while true { try line.answerCall(with: module) }
    }

    /// Reads what this process is to be, confines it and opens the module; tells the pool what is wrong before it
    /// throws.
    private static func open(_ line: inout WorkerLine) throws(WorkerExit) -> LoadedModule {
        let start = try line.readStart()
        do throws(LadderModuleFault) {
            try confine(start.confinement, library: start.libraryPath)
        } catch {
            throw try refuse(error, &line)
        }
        // A parent that ended before `confine` has not taken this process along, as a later end of it will.
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
    /// The module could not be opened; the pool knows why.
    case moduleNotOpened = 1
    /// Descriptor 3 is no stream: a person has started this process.
    case notStartedByPool = 2
    /// The stream broke, or held something that is no message.
    case streamBroken = 3
    /// The process that has started this one is no more.
    case poolGone = 4
    /// The kernel would not keep this process's memory from others.
    case notProtected = 5
}

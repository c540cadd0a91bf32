import ByteCoding
import FairPlay
import POSIXSockets

/// Runs `latchkeyd` as a worker that a pool has started: it opens one module or library, and answers calls until its
/// stream ends.
///
/// The process has one thread, which blocks. No foreign code runs before the process is confined.
package enum LadderWorkerRole {
    /// The only argument of a worker process. It is not an option for people.
    package static let argument = "--ladder-worker"

    /// Runs until the pool closes the stream. Returns the exit status.
    package static func run() -> Int32 {
        do throws(WorkerExit) {
            try work()
            return WorkerExit.streamEnded.rawValue
        } catch {
            return error.rawValue
        }
    }

    /// Ends by an error only.
    private static func work() throws(WorkerExit) {
        guard let stream = InheritedStream(), let begunCall = SharedWord() else { throw .notStartedByPool }
        // The memory is protected before the first secret arrives.
        guard isUnreadable() else { throw .notProtected }
        var line = WorkerLine(stream, begunCall)
        switch try line.readStart() {
        case .module(let start):
            let module = try reporting(to: &line) { line throws(OpeningEnd) in
                try confine(start.confinement, library: start.libraryPath, line)
                return try wrap(
                    OpeningEnd.fault, try LoadedModule(libraryPath: start.libraryPath, moduleData: start.moduleData))
            }
            try serve(module, &line)
        case .library(let start):
            let library = try reporting(to: &line) { line throws(OpeningEnd) in
                // The confined process could not make files any more, not even in memory.
                try wrap(OpeningEnd.fault, try KeptFiles.make(start.files.files))
                try confine(start.confinement, library: start.libraryPath, line)
                return try wrap(
                    OpeningEnd.fault, try LoadedLibrary(libraryPath: start.libraryPath, files: start.files))
            }
            try serve(library, &line)
        }
    }

    private static func serve(
        _ ladder: borrowing some LoadedLadder & ~Copyable, _ line: inout WorkerLine
    ) throws(WorkerExit) {
        try line.send(LadderFrameHead(.ready, number: 0, bodySize: 0).message())
        while true { try line.answerCall(with: ladder) }
    }

    /// Why a worker does not become ready.
    private enum OpeningEnd: Error {
        case fault(LadderModuleFault)
        case poolGone
    }

    /// Opens a module or a library. Reports a fault to the pool before it throws.
    private static func reporting<Ladder: ~Copyable>(
        to line: inout WorkerLine, _ open: (borrowing WorkerLine) throws(OpeningEnd) -> Ladder
    ) throws(WorkerExit) -> Ladder {
        do throws(OpeningEnd) {
            return try open(line)
        } catch .fault(let fault) {
            try line.send(fault.message())
            throw .moduleNotOpened
        } catch {
            throw .poolGone
        }
    }

    private static func isUnreadable() -> Bool {
        do throws(SocketError) {
            try ProcessProtection.forbidDumpsAndTracing()
            return true
        } catch {
            return false
        }
    }

    private static func confine(
        _ confinement: ProcessConfinement, library: String, _ line: borrowing WorkerLine
    ) throws(OpeningEnd) {
        do throws(SocketError) {
            try confinement.apply(library: library)
        } catch {
            switch error {
            case .failed(let call, let errno): throw .fault(.notConfined(step: call.rawValue, errno: errno))
            case .addressInUse, .addressUnavailable, .addressForbidden, .notASocket:
                throw .fault(.notConfined(step: "socket", errno: 0))
            }
        }
        // If the parent has ended before, this process was not ended with it, so it must end here.
        guard line.isOfParent else { throw .poolGone }
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

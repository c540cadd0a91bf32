import CommandLineKit
package import EventLoops
import Glibc
import KeyCrypto
import ServiceConfiguration
package import Telemetry

/// The file that keeps the plots over a restart. It lies beside the node's ledger.
///
/// A thread of its own writes it each minute and at the end, because a write may wait for the disk. Each write makes a
/// new file and gives it the name of the one before, so a crash leaves one of them. A file that is damaged or too large
/// is ignored.
package final class HistoryFile: Sendable {
    private static let pause: Duration = .seconds(60)
    /// The most time that the last write may take.
    private static let stopLimit: Duration = .seconds(2)

    private let isStopped = Monitor(false)
    private let hasEnded = Monitor(false)
    private let thread: JoinableThread

    /// Fills the history with what the file has of the last hour, and begins to write.
    package init(_ path: String, of history: History, logger: Logger) throws(EventLoopError) {
        Self.restore(history, from: path, logger: logger)
        thread = JoinableThread(
            try NativeThread(name: "plot-history") { [isStopped, hasEnded] in
                var isFailing = false
                var isLast = false
                repeat {
                    isLast = Self.rest(isStopped)
                    let fault = Self.write(history.saved.encoded, to: path)
                    if let fault, !isFailing {
                        logger.warning("history_file_unwritable", [.string("cause", fault)])
                    }
                    isFailing = fault != nil
                } while !isLast
                hasEnded.update { $0 = true }
            })
    }

    /// Writes for the last time, and ends the thread. If that takes longer than `stopLimit`, it is left running.
    ///
    /// Must not be called on a loop. A second call returns immediately.
    package func stop() {
        isStopped.update { $0 = true }
        let deadline = SystemMonotonicClock().monotonicTime + Self.stopLimit
        if hasEnded.wait(until: deadline, { $0 ? true : nil }) != nil { thread.join() }
    }

    private static func rest(_ isStopped: Monitor<Bool>) -> Bool {
        isStopped.wait(until: SystemMonotonicClock().monotonicTime + pause) { $0 ? true : nil } ?? false
    }

    // MARK: The file

    static func restore(_ history: History, from path: String, logger: Logger) {
        var cause = "its content is damaged, or of another version"
        do throws(FileError) {
            let bytes = try FileReading.read(path, sizeMaximum: SavedHistory.sizeMaximum, permissions: .any).revealed()
            if let saved = SavedHistory(bytes) { return history.restore(saved) }
        } catch .notFound {
            return
        } catch {
            cause = error.description
        }
        logger.warning("history_file_ignored", [.string("file", path), .string("cause", cause)])
    }

    /// Returns why the file could not be written; nil if it was.
    static func write(_ bytes: [UInt8], to path: String) -> String? {
        let part = path + ".part"
        // An earlier run may have left a part of a file. Safe: the C strings of paths are valid until the calls return.
        let descriptor = unsafe open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return SystemText.lastError }
        let isWritten = unsafe bytes.withUnsafeBytes { buffer in
            // Safe: the buffer is valid until the call returns. A regular file takes all bytes unless the disk is full.
            unsafe Glibc.write(descriptor, buffer.baseAddress, buffer.count) == buffer.count
        }
        let isThere = isWritten && fsync(descriptor) == 0
        let fault = isThere ? nil : SystemText.lastError
        close(descriptor)
        if let fault {
            _ = unsafe unlink(part)
            return fault
        }
        return unsafe rename(part, path) == 0 ? nil : SystemText.lastError
    }
}

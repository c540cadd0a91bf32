import Foundation
import Glibc

/// The signals that an operator or systemd sends to the daemon.
///
/// SIGTERM or SIGINT stops the daemon; a second one ends it immediately. `block` must be called before any thread is
/// made. All threads then inherit the mask, and only the thread in `wait` takes signals.
package enum StopSignals {
    private static let stopping = [SIGTERM, SIGINT]

    /// Blocks these signals, so that `wait` can take them. Writing to a closed socket becomes an error, not a signal.
    package static func block() {
        signal(SIGPIPE, SIG_IGN)
        var set = signalSet()
        // Safe: the set is read only during the call.
        unsafe _ = pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Blocks until a signal to stop arrives, and calls `reload` for each SIGHUP until then.
    package static func wait(reload: () -> Void) {
        while true {
            let number = next()
            if stopping.contains(number) { break }
            if number == SIGHUP { reload() }
        }
        Thread.detachNewThread {
            while !stopping.contains(next()) {}
            _exit(1)
        }
    }

    /// Ends this process after `limit`, even if it still works.
    ///
    /// Closing its files may wait for a disk that hangs. All acknowledged writes are durable by then.
    static func endThisProcess(after limit: Duration) {
        let seconds = Double(limit.components.seconds)
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: seconds)
            _exit(0)
        }
    }

    /// Stops this process as a signal from outside would.
    static func stopThisProcess() {
        kill(getpid(), SIGTERM)
    }

    private static func next() -> Int32 {
        var set = signalSet()
        var number: Int32 = 0
        // Safe: both pointers are valid during the call. It fails only for an invalid set.
        unsafe sigwait(&set, &number)
        return number
    }

    private static func signalSet() -> sigset_t {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for number in stopping + [SIGHUP] { unsafe sigaddset(&set, number) }
        return set
    }
}

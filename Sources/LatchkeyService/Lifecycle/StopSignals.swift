import Foundation
import Glibc

/// The signals that a person or systemd sends: SIGTERM and SIGINT stop the daemon, a second one ends it at once.
///
/// `block` comes before any thread is made, so that all of them inherit the mask and only the thread here takes
/// signals.
package enum StopSignals {
    private static let stopping = [SIGTERM, SIGINT]

    /// Keeps the signals for `wait`, and makes writing to a closed socket an error instead of a signal.
    package static func block() {
        signal(SIGPIPE, SIG_IGN)
        var set = signalSet()
        // The set is read during the call alone.
        unsafe _ = pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Asks the thread in `wait` to stop the daemon, as SIGTERM does.
    static func request() {
        kill(getpid(), SIGTERM)
    }

    /// Blocks until a signal to stop has come. SIGHUP is handed to `reload` as often as it comes.
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

    /// Ends this process after a while, even if it still works: closing its files may wait for a disk that hangs, and
    /// all that was acknowledged is durable.
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
        // Both are valid during the call; it only fails for an invalid set.
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

import CLinux
import Glibc
import Synchronization

/// A thread of the operating system that is joined, not detached.
@safe
package struct NativeThread: ~Copyable, Sendable {
    private let thread: pthread_t

    /// Starts a thread under a name (the first 15 bytes count).
    package init(name: String, _ body: @escaping @Sendable () -> Void) throws(EventLoopError) {
        let start = unsafe Unmanaged.passRetained(ThreadStart(name: String(name.utf8.prefix(15)) ?? "", body: body))
        var thread = pthread_t()
        // Safe: the retained box is what `runThread` takes back, exactly once.
        let result = unsafe pthread_create(&thread, nil, runThread, start.toOpaque())
        guard result == 0 else {
            unsafe start.release()
            throw .threadNotStarted(errno: result)
        }
        self.thread = thread
    }

    /// Waits until the thread's body has returned.
    package consuming func join() {
        // The handle is valid until this one join, which consumes it.
        _ = pthread_join(thread, nil)
    }

    /// Lets the thread end by itself: nothing waits for it.
    package consuming func detach() {
        // As for `join`.
        _ = pthread_detach(thread)
    }
}

/// A thread in an array, which cannot hold what is not copyable.
package final class JoinableThread: Sendable {
    private let thread: Mutex<NativeThread?>

    package init(_ thread: consuming NativeThread) {
        self.thread = Mutex(thread)
    }

    /// Waits for the thread's end; a second call returns at once.
    package func join() {
        if let thread = thread.withLock({ $0.take() }) { thread.join() }
    }
}

private final class ThreadStart: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }
}

/// A free function, because a closure could inherit the isolation of the place where it is written.
private func runThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { return nil }
    // Safe: `NativeThread.init` passed this box retained, and only to this call.
    let start = unsafe Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue()
    unsafe start.name.withCString { name in _ = unsafe latchkey_name_this_thread(name) }
    start.body()
    return nil
}

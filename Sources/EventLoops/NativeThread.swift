import CLinux
import Glibc
import Synchronization

/// A thread of the operating system. Its owner must join or detach it.
@safe
package struct NativeThread: ~Copyable, Sendable {
    private let thread: pthread_t

    /// Starts a thread with a name, of which the first 15 bytes are used.
    package init(name: String, _ body: @escaping @Sendable () -> Void) throws(EventLoopError) {
        let start = unsafe Unmanaged.passRetained(ThreadStart(name: String(name.utf8.prefix(15)) ?? "", body: body))
        var thread = pthread_t()
        // Safe: `runThread` releases the retained box exactly once.
        let result = unsafe pthread_create(&thread, nil, runThread, start.toOpaque())
        guard result == 0 else {
            unsafe start.release()
            throw .threadNotStarted(errno: result)
        }
        self.thread = thread
    }

    /// Waits until the thread's body has returned.
    package consuming func join() {
        // Safe: the handle is valid until it is joined or detached, and both consume it.
        _ = pthread_join(thread, nil)
    }

    /// Lets the thread end by itself, without a thread that waits for it.
    package consuming func detach() {
        // Safe: see `join`.
        _ = pthread_detach(thread)
    }
}

/// A reference to a thread, for arrays, which cannot contain types that are not copyable.
package final class JoinableThread: Sendable {
    private let thread: Mutex<NativeThread?>

    package init(_ thread: consuming NativeThread) {
        self.thread = Mutex(thread)
    }

    /// Waits for the thread's end. A second call returns immediately.
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

import Glibc

/// A value with a lock. Threads can wait until the value changes.
///
/// `Synchronization.Mutex` has no condition variable, so this type uses pthread's mutex and condition variable. It
/// blocks its caller, so it is only for dedicated threads (workers, `main`), never for a loop or a task.
@safe
package final class Monitor<State>: @unchecked Sendable {
    // Safe to share: `state` is used only while `mutex` is held. This object owns both pointers until its end.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var state: State

    /// A monitor of this value.
    package init(_ state: sending State) {
        self.state = state
        // None of these calls can fail on Linux with these attributes.
        unsafe pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        // Deadlines are on the clock of `SystemMonotonicClock`.
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(condition, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Reads the value, or makes a change for which no thread waits.
    package func withLock<Result>(_ body: (inout State) -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body(&state)
    }

    /// Changes the value and wakes all waiting threads.
    package func update<Result>(_ body: (inout State) -> Result) -> Result {
        let result = withLock(body)
        unsafe pthread_cond_broadcast(condition)
        return result
    }

    /// Changes the value, and wakes all waiting threads if `body` returns true: then a thread waits for this change.
    package func change(_ body: (inout State) -> Bool) {
        if withLock(body) { unsafe pthread_cond_broadcast(condition) }
    }

    /// Waits until `body` returns a value. `body` is called at once, and again each time the thread is woken.
    package func wait<Result>(_ body: (inout State) -> Result?) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            unsafe pthread_cond_wait(condition, mutex)
        }
    }

    /// Like `wait`, but only until a deadline on the machine's monotonic clock. Calls `body` once more then, and
    /// returns nil if it still returns nil.
    package func wait<Result>(until deadline: MonotonicTime, _ body: (inout State) -> Result?) -> Result? {
        let nanoseconds = Int(max(0, deadline.nanoseconds))
        var time = timespec(tv_sec: nanoseconds / 1_000_000_000, tv_nsec: nanoseconds % 1_000_000_000)
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            let status = unsafe pthread_cond_timedwait(condition, mutex, &time)
            if status == ETIMEDOUT { return body(&state) }
        }
    }
}

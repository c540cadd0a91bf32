import Glibc

/// A value behind a lock that threads can wait on until it changes.
///
/// `Synchronization.Mutex` has no condition to wait on, so this one is made of pthread's two. It blocks its caller and
/// is therefore for threads of their own (workers, `main`), never for a loop or a task.
@safe
package final class Monitor<State>: @unchecked Sendable {
    // Safe to share: `state` is touched only while `mutex` is held. Both pointers are owned, and live as long as this.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var state: State

    /// A monitor of this value.
    package init(_ state: sending State) {
        self.state = state
        // Nothing here can fail on Linux with these attributes.
        unsafe pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        // Deadlines are those of `SystemMonotonicClock`.
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

    /// Looks at the value, or changes what no thread waits for.
    package func withLock<Result>(_ body: (inout State) -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body(&state)
    }

    /// Changes the value and wakes all threads that wait.
    package func update<Result>(_ body: (inout State) -> Result) -> Result {
        let result = withLock(body)
        unsafe pthread_cond_broadcast(condition)
        return result
    }

    /// Changes the value, and wakes all threads that wait if `body` says that one of them waits for this change.
    package func change(_ body: (inout State) -> Bool) {
        if withLock(body) { unsafe pthread_cond_broadcast(condition) }
    }

    /// Waits until `body` returns something. It is called at first and after each change.
    package func wait<Result>(_ body: (inout State) -> Result?) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            unsafe pthread_cond_wait(condition, mutex)
        }
    }

    /// Waits like `wait`, but not beyond a deadline on the machine's monotonic clock; returns nil then.
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

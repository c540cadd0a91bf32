import Glibc

/// A value behind a lock, with threads that wait until it has become what they need.
///
/// `Synchronization.Mutex` has no condition to wait on, so this one is made of pthread's two.
@safe
final class Monitor<Value>: @unchecked Sendable {
    // Safe to share: `value` is touched only while `mutex` is held. Both pointers are owned, and live as long as this.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var value: Value

    init(_ value: sending Value) {
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        self.value = value
        var attributes = pthread_condattr_t()
        unsafe pthread_mutex_init(mutex, nil)
        unsafe pthread_condattr_init(&attributes)
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

    /// Looks at the value, or changes what nobody waits for.
    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body(&value)
    }

    /// Changes the value and wakes all who wait.
    func update(_ body: (inout Value) -> Void) {
        withLock(body)
        unsafe pthread_cond_broadcast(condition)
    }

    /// Waits until the body gives a result, which it is asked for at first and after each change; nil past the deadline.
    func wait<Result>(until deadline: MonotonicTime? = nil, for body: (inout Value) -> Result?) -> Result? {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value) { return result }
            guard let deadline else {
                unsafe pthread_cond_wait(condition, mutex)
                continue
            }
            var time = timespec()
            time.tv_sec = Int(deadline.nanoseconds / 1_000_000_000)
            time.tv_nsec = Int(deadline.nanoseconds % 1_000_000_000)
            let status = unsafe pthread_cond_timedwait(condition, mutex, &time)
            if status == ETIMEDOUT { return body(&value) }
        }
    }
}

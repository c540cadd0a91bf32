// Tells the thread sanitizer of the slow paths of Swift's `Mutex`; loaded before the tests by
// `Scripts/test-sanitize thread`.
//
// On Linux a `Mutex` is a futex that knows its owner. Its quick paths are compiled into the caller, where the sanitizer
// sees the atomic operation on the word. The slow ones are in libswiftSynchronization.so, which is built without the
// sanitizer: there the kernel writes the word, and everything that the lock protects looks like a race as soon as two
// threads meet. These two functions stand before the library's and say of the same word what the quick paths say of it:
// who gets the lock has seen what was done before it was given back.
//
// Nothing is suppressed by this. A value that one side touches without the lock is still reported.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

// The programs that this is loaded into before the tests have no sanitizer.
extern void __tsan_acquire(void *word) __attribute__((weak));
extern void __tsan_release(void *word) __attribute__((weak));

// Synchronization._MutexHandle._lockSlow(UInt32) and ._unlockSlow()
#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

typedef SWIFT void LockSlow(uint32_t thread, SELF void *word);
typedef SWIFT void UnlockSlow(SELF void *word);

SWIFT void lock_slow(uint32_t thread, SELF void *word) __asm__(LOCK_SLOW);
SWIFT void unlock_slow(SELF void *word) __asm__(UNLOCK_SLOW);

SWIFT void lock_slow(uint32_t thread, SELF void *word) {
    LockSlow *library = (LockSlow *)dlsym(RTLD_NEXT, LOCK_SLOW);
    library(thread, word);
    if (__tsan_acquire) __tsan_acquire(word);
}

SWIFT void unlock_slow(SELF void *word) {
    UnlockSlow *library = (UnlockSlow *)dlsym(RTLD_NEXT, UNLOCK_SLOW);
    if (__tsan_release) __tsan_release(word);
    library(word);
}

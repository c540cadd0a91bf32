// Tells the thread sanitizer about the slow paths of Swift's `Mutex`. `Scripts/test-sanitize thread` preloads it into
// the tests.
//
// On Linux a `Mutex` is a futex that knows its owner. Its fast paths are compiled into the caller, where the sanitizer
// sees the atomic operation on the word. The slow paths are in libswiftSynchronization.so, which is built without the
// sanitizer. There the kernel writes the word, so everything that the lock protects looks like a race as soon as two
// threads contend. These two functions are called instead of the library's, and report the same as the fast paths: the
// thread that gets the lock sees everything that was done before the lock was released.
//
// This suppresses no report. A value that one thread accesses without the lock is still reported.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

// Programs that run before the tests also load this library, and have no sanitizer.
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

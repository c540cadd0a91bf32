// A file system for SQLite's tests that knows what a power cut would leave, and fails when it is told to.
//
// It lies over SQLite's own, on real files. Beside each file it keeps the bytes that a disk would have after a power
// cut: those that were there when the file was opened, and those that a successful sync has made durable since. A sync
// that fails makes nothing durable, and neither does a later one for what was written before it, unless it is written
// again: as Linux does.
//
// One process uses it at a time, for one database. All functions are safe on any thread.
#ifndef LATCHKEY_TEST_VFS_H
#define LATCHKEY_TEST_VFS_H

#include <stddef.h>
#include <stdint.h>

// Makes this file system the default of the process; 0 when that went well.
int latchkey_test_vfs_install(void);

enum latchkey_test_fault {
    // No fault.
    LATCHKEY_FAULT_NONE = 0,
    // A sync fails as fsync does with EIO.
    LATCHKEY_FAULT_SYNC_EIO = 1,
    // A write fails as write does with ENOSPC.
    LATCHKEY_FAULT_WRITE_ENOSPC = 2,
    // A write fails as write does with EIO.
    LATCHKEY_FAULT_WRITE_EIO = 3,
    // The power goes: at a write or a sync, counted together.
    LATCHKEY_FAULT_POWER = 4,
};

// Lets the `nth` operation of its kind from now on fail, and the `times - 1` behind it. At a power cut each write that
// is not durable is lost or kept as `seed` has it, all of them when it is 0.
void latchkey_test_vfs_arm(enum latchkey_test_fault fault, uint64_t nth, uint64_t times, uint64_t seed);

// How many operations have failed since the last arming.
uint64_t latchkey_test_vfs_failed(void);

// Cuts the power now: leaves on the disk what a cut would, and ends the process by SIGKILL.
void latchkey_test_vfs_cut(uint64_t seed);

// The trace: the writes and syncs so far, in their order, from `latchkey_test_vfs_trace(1)` on.
void latchkey_test_vfs_trace(int is_on);
// Puts a mark of the test's own into the trace, and returns its place.
uint64_t latchkey_test_vfs_mark(void);
// The place of the first write that holds these bytes; 0 for none.
uint64_t latchkey_test_vfs_find_write(const uint8_t *bytes, size_t count);
// The place of the first successful sync of the same file behind the write at `place`; 0 for none.
uint64_t latchkey_test_vfs_find_sync(uint64_t place);

#endif

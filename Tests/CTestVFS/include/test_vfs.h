// A file system for SQLite's tests that knows what a power cut would leave, and fails on request.
//
// It is a layer over SQLite's own file system, on real files. For each file it also keeps the bytes that a disk would
// have after a power cut: the bytes when the file was opened, and those that a successful sync has made durable since.
// A failed sync makes nothing durable. As on Linux, a later sync does not make earlier writes durable either, unless
// they are written again.
//
// One process uses it at a time, for one database. All functions are safe on any thread.
#ifndef LATCHKEY_TEST_VFS_H
#define LATCHKEY_TEST_VFS_H

#include <stddef.h>
#include <stdint.h>

// Makes this file system the default of the process. Returns 0 if that succeeds.
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
    // A power cut at a write or a sync, which are counted together.
    LATCHKEY_FAULT_POWER = 4,
};

// Makes the `nth` operation of its kind from now on fail, and the `times - 1` operations after it. At a power cut,
// `seed` decides for each write that is not durable whether it is lost or kept. If `seed` is 0, all of them are lost.
void latchkey_test_vfs_arm(enum latchkey_test_fault fault, uint64_t nth, uint64_t times, uint64_t seed);

// Returns how many operations have failed since the last arming.
uint64_t latchkey_test_vfs_failed(void);

// Cuts the power now: leaves on the disk only what a cut would leave, and ends the process by SIGKILL.
void latchkey_test_vfs_cut(uint64_t seed);

// The trace has the writes and syncs in their order, starting with `latchkey_test_vfs_trace(1)`.
void latchkey_test_vfs_trace(int is_on);
// Adds a mark of the test to the trace, and returns its place.
uint64_t latchkey_test_vfs_mark(void);
// Returns the place of the first write that contains these bytes, or 0.
uint64_t latchkey_test_vfs_find_write(const uint8_t *bytes, size_t count);
// Returns the place of the first successful sync of the same file after the write at `place`, or 0.
uint64_t latchkey_test_vfs_find_sync(uint64_t place);

#endif

// What libFuzzer, which the toolchain carries as libclang_rt.fuzzer, offers to a program with a `main` of its own.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Reads the options in `arguments` and calls `callback` with one input after another. Does not return if a run ends
// as planned.
int LLVMFuzzerRunDriver(int *count, char ***arguments, int (*callback)(const uint8_t *data, size_t size));

// Changes `size` bytes at `data` in place, up to `maximum` bytes; returns the new size.
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maximum);

// Between these two calls the leak checker leaves out what the thread allocates, and all that it leads to
// (sanitizer/lsan_interface.h).
void __lsan_disable(void);
void __lsan_enable(void);

// The functions of libFuzzer for a program with its own `main`. The toolchain contains it as libclang_rt.fuzzer.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Reads the options in `arguments` and calls `callback` with one input after another. Does not return if a run ends
// regularly.
int LLVMFuzzerRunDriver(int *count, char ***arguments, int (*callback)(const uint8_t *data, size_t size));

// Changes `size` bytes at `data` in place, up to `maximum` bytes. Returns the new size.
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maximum);

// Between these two calls, the leak checker ignores the thread's allocations and everything that they point to
// (sanitizer/lsan_interface.h).
void __lsan_disable(void);
void __lsan_enable(void);

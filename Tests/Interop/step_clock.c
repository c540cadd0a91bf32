// A wall clock that a test can step while a program runs: if preloaded, it adds an offset to the time that the program
// reads from CLOCK_REALTIME.
//
// LATCHKEY_STEP_CLOCK names a file with two 64-bit numbers in the machine's byte order, which the test changes in
// place:
//
//     offset  size  field
//          0     8  the offset that is added to the wall clock, in nanoseconds, signed
//          8     8  whether adjtimex reports the clock synchronised: 0 or 1
//
// The boot-time and monotonic clocks stay as they are. The library would not shift waits until a time of the wall
// clock, but the programs have no such waits.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

struct state {
    int64_t offset;
    int64_t is_synchronised;
};

static const struct state *state;

__attribute__((constructor)) static void open_state(void) {
    const char *path = getenv("LATCHKEY_STEP_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) {
        static const char message[] = "step_clock: LATCHKEY_STEP_CLOCK names no file that can be read\n";
        (void)!write(STDERR_FILENO, message, sizeof message - 1);
        _exit(127);
    }
    void *mapped = mmap(NULL, sizeof *state, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (mapped == MAP_FAILED) _exit(127);
    state = mapped;
}

static int64_t offset(void) {
    // Before the constructor has run, no test has stepped anything.
    return state ? __atomic_load_n(&state->offset, __ATOMIC_ACQUIRE) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (result != 0 || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE && clock != CLOCK_TAI)) return result;
    int64_t added = offset();
    time->tv_sec += added / 1000000000;
    time->tv_nsec += added % 1000000000;
    if (time->tv_nsec < 0) {
        time->tv_sec -= 1;
        time->tv_nsec += 1000000000;
    } else if (time->tv_nsec >= 1000000000) {
        time->tv_sec += 1;
        time->tv_nsec -= 1000000000;
    }
    return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    struct timespec now;
    if (zone) memset(zone, 0, sizeof(struct timezone));
    int result = clock_gettime(CLOCK_REALTIME, &now);
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return result;
}

time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}

int timespec_get(struct timespec *time, int base) {
    return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, time) == 0 ? base : 0;
}

int adjtimex(struct timex *values) {
    memset(values, 0, sizeof *values);
    int is_synchronised = state && __atomic_load_n(&state->is_synchronised, __ATOMIC_ACQUIRE) != 0;
    values->status = is_synchronised ? STA_PLL : STA_UNSYNC;
    values->maxerror = is_synchronised ? 1000 : 16000000;
    return is_synchronised ? TIME_OK : TIME_ERROR;
}

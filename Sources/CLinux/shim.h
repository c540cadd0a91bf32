// Static inline wrappers for Linux system calls that Swift's Glibc module does not import.
#ifndef LATCHKEY_CLINUX_SHIM_H
#define LATCHKEY_CLINUX_SHIM_H

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timex.h>

// glibc declares these only under _GNU_SOURCE. A module that shares headers with the Glibc module cannot define it.
extern long syscall(long number, ...);
extern int accept4(int socket, struct sockaddr *address, socklen_t *length, int flags);
extern int pthread_setname_np(pthread_t thread, const char *name);
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);

extern int malloc_trim(size_t pad);
extern int mallopt(int parameter, int value);

// Returns free memory to the system; 1 if some memory was returned.
static inline int latchkey_trim_memory(void) {
    return malloc_trim(0);
}

// Makes the allocator return each block of at least this many bytes to the system as soon as it is freed; 1 on success.
// Otherwise glibc raises that size with each such block, up to 32 MiB. The top of an arena is returned if more than
// twice that is free, as is glibc's own relation. The parameters are M_MMAP_THRESHOLD (-3) and M_TRIM_THRESHOLD (-1).
static inline int latchkey_return_large_blocks(int size) {
    return mallopt(-3, size) && mallopt(-1, 2 * size);
}

// Accepts one connection as a non-blocking, close-on-exec descriptor; -1 and errno on failure.
static inline int latchkey_accept_nonblocking(int socket, struct sockaddr *address, socklen_t *length) {
    return accept4(socket, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

// Opens a non-blocking, close-on-exec socket; -1 and errno on failure.
static inline int latchkey_socket_nonblocking(int family, int type) {
    return socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

// Makes the kernel drop each packet that would begin a TCP connection to a listening socket. Such a packet has SYN
// without ACK in byte 13 of the TCP header (RFC 9293, section 3.1), and the filter's data begins with this header.
// Handshakes that have already begun continue. -1 and errno on failure.
static inline int latchkey_drop_new_connections(int socket) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 13),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x12),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x02, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
    };
    struct sock_fprog program = {sizeof steps / sizeof steps[0], steps};
    return setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

static inline int latchkey_epoll_create(void) {
    return epoll_create1(EPOLL_CLOEXEC);
}

static inline int latchkey_epoll_control(int set, int operation, int descriptor, uint32_t events, uint64_t token) {
    struct epoll_event event;
    event.events = events;
    event.data.u64 = token;
    return epoll_ctl(set, operation, descriptor, &event);
}

static inline uint64_t latchkey_epoll_token(const struct epoll_event *event) {
    return event->data.u64;
}

// Opens a non-blocking, close-on-exec event counter that starts at zero.
static inline int latchkey_eventfd(void) {
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

// Creates shared memory that has no name in any folder, as a close-on-exec descriptor.
static inline int latchkey_shared_memory(void) {
    return (int)syscall(SYS_memfd_create, "latchkey", 1u);
}

// Makes a close-on-exec pipe that does not block. 0, or -1 with errno.
static inline int latchkey_pipe(int ends[2]) {
    return (int)syscall(SYS_pipe2, ends, O_CLOEXEC | O_NONBLOCK);
}

// Asks for another size of a pipe. The kernel rounds it up. -1 with errno on failure.
static inline int latchkey_set_pipe_size(int descriptor, int size) {
    return fcntl(descriptor, 1031, size);  // F_SETPIPE_SZ
}

// A new anonymous file in memory that can be sealed; -1 with errno on failure.
static inline int latchkey_sealable_memory(void) {
    return (int)syscall(SYS_memfd_create, "latchkey", 3u);  // MFD_CLOEXEC | MFD_ALLOW_SEALING
}

// Makes such a file unchangeable; 0, or -1 with errno.
static inline int latchkey_seal_memory(int descriptor) {
    // F_ADD_SEALS with F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW and F_SEAL_WRITE, which glibc declares only under
    // _GNU_SOURCE.
    return fcntl(descriptor, 1033, 15);
}

// Atomic access to a word that another process may read or write at the same time.
static inline uint64_t latchkey_load(const uint64_t *word) {
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void latchkey_store(uint64_t *word, uint64_t value) {
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

// Names the calling thread. The name may have at most 15 bytes and the terminator.
static inline int latchkey_name_this_thread(const char *name) {
    return pthread_setname_np(pthread_self(), name);
}

// The number of processors on which the calling thread may run; -1 and errno on failure. Works up to 8192 processors.
static inline int latchkey_allowed_processor_count(void) {
    unsigned long set[8192 / 8 / sizeof(unsigned long)];
    long size = syscall(SYS_sched_getaffinity, 0, sizeof set, set);
    int count = 0;
    for (long index = 0; index < size / (long)sizeof set[0]; index++) count += __builtin_popcountl(set[index]);
    return size < 0 ? -1 : count;
}

// Sets PR_SET_DUMPABLE to 0: the process writes no core file, and the same user cannot use ptrace or /proc/PID/mem on
// it.
static inline int latchkey_forbid_dumps(void) {
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

// Whether the kernel reports the wall clock as synchronised, with a maximum error under one second (adjtimex(2)); 0 if
// it reports nothing.
static inline int latchkey_clock_is_synchronised(void) {
    struct timex state = {0};
    int result = adjtimex(&state);
    return result >= 0 && result != TIME_ERROR && !(state.status & STA_UNSYNC) && state.maxerror < 1000000;
}

// The date on which this header was compiled, in local time and in the form "Jan 31 2026". It makes builds differ,
// which is accepted, so the warning about it is switched off.
#pragma clang diagnostic ignored "-Wpch-date-time"
static inline const char *latchkey_build_date(void) {
    return __DATE__;
}

// Closes all descriptors from this number on in the program that is started.
static inline int latchkey_spawn_closing_from(posix_spawn_file_actions_t *actions, int from) {
    return posix_spawn_file_actions_addclosefrom_np(actions, from);
}

#endif

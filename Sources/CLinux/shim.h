// Linux system calls that Swift's Glibc module does not import: each a static inline wrapper of one call.
#ifndef LATCHKEY_CLINUX_SHIM_H
#define LATCHKEY_CLINUX_SHIM_H

#include <errno.h>
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

// glibc declares these only under _GNU_SOURCE, which a module that shares its headers with Glibc's cannot set.
extern long syscall(long number, ...);
extern int accept4(int socket, struct sockaddr *address, socklen_t *length, int flags);
extern int pthread_setname_np(pthread_t thread, const char *name);
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);

extern int malloc_trim(size_t pad);

// Gives free memory back to the system; 1 if there was some.
static inline int latchkey_trim_memory(void) {
    return malloc_trim(0);
}

// Accepts one connection as a non-blocking, close-on-exec descriptor; -1 and errno on failure.
static inline int latchkey_accept_nonblocking(int socket, struct sockaddr *address, socklen_t *length) {
    return accept4(socket, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

// Opens a non-blocking, close-on-exec socket; -1 and errno on failure.
static inline int latchkey_socket_nonblocking(int family, int type) {
    return socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

// Lets the kernel drop each packet that would begin a TCP connection to a listening socket: SYN without ACK, in byte 13
// of the TCP header, where the data of the filter begins (RFC 9293, section 3.1). Handshakes that have begun go on. -1
// and errno on failure.
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

// Memory without a name, as a descriptor; close-on-exec.
static inline int latchkey_shared_memory(void) {
    return (int)syscall(SYS_memfd_create, "latchkey", 1u);
}

// One word that another process reads or writes at the same time.
static inline uint64_t latchkey_load(const uint64_t *word) {
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void latchkey_store(uint64_t *word, uint64_t value) {
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

// Names the calling thread; at most 15 bytes and the terminator count.
static inline int latchkey_name_this_thread(const char *name) {
    return pthread_setname_np(pthread_self(), name);
}

// On how many processors the calling thread may run, of at most 8192; -1 and errno on failure.
static inline int latchkey_allowed_processor_count(void) {
    unsigned long set[8192 / 8 / sizeof(unsigned long)];
    long size = syscall(SYS_sched_getaffinity, 0, sizeof set, set);
    int count = 0;
    for (long index = 0; index < size / (long)sizeof set[0]; index++) count += __builtin_popcountl(set[index]);
    return size < 0 ? -1 : count;
}

// PR_SET_DUMPABLE 0: no core file, and no ptrace or /proc/PID/mem by the same user.
static inline int latchkey_forbid_dumps(void) {
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

// Whether the kernel reports the wall clock as synchronised, with a maximum error under one second (adjtimex(2)); 0 if
// it says nothing.
static inline int latchkey_clock_is_synchronised(void) {
    struct timex state = {0};
    int result = adjtimex(&state);
    return result >= 0 && result != TIME_ERROR && !(state.status & STA_UNSYNC) && state.maxerror < 1000000;
}

// The day on which this header was compiled, as "Jan 31 2026" in local time. Two builds need not have the same bytes.
#pragma clang diagnostic ignored "-Wpch-date-time"
static inline const char *latchkey_build_date(void) {
    return __DATE__;
}

// Closes all descriptors of the program from this number on.
static inline int latchkey_spawn_closing_from(posix_spawn_file_actions_t *actions, int from) {
    return posix_spawn_file_actions_addclosefrom_np(actions, from);
}

#endif

// How a process gives up for good what it does not need: users and capabilities, limits, system calls. All of it for a
// process with a single thread, before foreign code is loaded into it. Each function returns 0, or -1 and errno.
#ifndef LATCHKEY_CLINUX_CONFINEMENT_H
#define LATCHKEY_CLINUX_CONFINEMENT_H

#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

// glibc declares these only under _GNU_SOURCE or _DEFAULT_SOURCE.
extern int clearenv(void);
extern int setgroups(size_t count, const gid_t *groups);
extern int setresgid(gid_t real, gid_t effective, gid_t saved);
extern int setresuid(uid_t real, uid_t effective, uid_t saved);

// A descriptor that becomes readable when a child of this process has ended; close-on-exec by itself.
static inline int latchkey_process_descriptor(pid_t process) {
    return (int)syscall(SYS_pidfd_open, process, 0);
}

// Sends a signal to the process behind a descriptor, never to another one that has its number by now.
static inline int latchkey_process_signal(int descriptor, int signal) {
    return (int)syscall(SYS_pidfd_send_signal, descriptor, signal, NULL, 0);
}

// Becomes another user for good, without supplementary groups.
static inline int latchkey_become_user(uid_t user, gid_t group) {
    if (setgroups(0, NULL) != 0 || setresgid(group, group, group) != 0) return -1;
    return setresuid(user, user, user);
}

// Gives up all capabilities, those of root included. A process that has none asks for nothing: a service's filter of
// system calls may refuse even that.
static inline int latchkey_drop_capabilities(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct held[_LINUX_CAPABILITY_U32S_3] = {{0, 0, 0}};
    struct __user_cap_data_struct nothing[_LINUX_CAPABILITY_U32S_3] = {{0, 0, 0}};
    if (syscall(SYS_capget, &header, held) != 0) return -1;
    uint32_t all = 0;
    for (int index = 0; index < _LINUX_CAPABILITY_U32S_3; index++) {
        all |= held[index].effective | held[index].permitted | held[index].inheritable;
    }
    return all == 0 ? 0 : (int)syscall(SYS_capset, &header, nothing);
}

// The process that made a pair of stream sockets, by one of the two; -1 and errno on failure.
static inline pid_t latchkey_socket_maker(int socket) {
    // glibc declares `struct ucred` only under _GNU_SOURCE.
    struct { pid_t process; uid_t user; gid_t group; } maker;
    socklen_t size = sizeof maker;
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &maker, &size) == 0 ? maker.process : -1;
}

// SIGKILL for this process when the thread that started it ends.
static inline int latchkey_die_with_parent(void) {
    return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

// No program that is executed from here on has more rights than this process.
static inline int latchkey_forbid_new_privileges(void) {
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

// Sets a limit for good.
static inline int latchkey_limit(int resource, uint64_t maximum) {
    struct rlimit limit = {maximum, maximum};
    return setrlimit((__rlimit_resource_t)resource, &limit);
}

static inline int latchkey_limit_memory(uint64_t bytes) { return latchkey_limit(RLIMIT_AS, bytes); }
static inline int latchkey_limit_descriptors(uint64_t count) { return latchkey_limit(RLIMIT_NOFILE, count); }
static inline int latchkey_limit_tasks(uint64_t count) { return latchkey_limit(RLIMIT_NPROC, count); }
static inline int latchkey_limit_cores(uint64_t bytes) { return latchkey_limit(RLIMIT_CORE, bytes); }
static inline int latchkey_limit_files(uint64_t bytes) { return latchkey_limit(RLIMIT_FSIZE, bytes); }

// Landlock (landlock(7)): which files a process may still open. The numbers are those of the kernel's interface; the
// headers of the oldest system that is built on know only some of them.
#define LATCHKEY_LANDLOCK_CREATE 444
#define LATCHKEY_LANDLOCK_ADD 445
#define LATCHKEY_LANDLOCK_ENFORCE 446
#define LATCHKEY_LANDLOCK_EXECUTE (UINT64_C(1) << 0)
#define LATCHKEY_LANDLOCK_READ_FILE (UINT64_C(1) << 2)
#define LATCHKEY_LANDLOCK_READ_FOLDER (UINT64_C(1) << 3)

// The version of Landlock that the kernel has; 0 without.
static inline int latchkey_landlock_version(void) {
    long version = syscall(LATCHKEY_LANDLOCK_CREATE, NULL, 0, 1);
    return version < 0 ? 0 : (int)version;
}

// Rules that allow no file at all, as a descriptor: every right to files that this version of Landlock knows is denied.
static inline int latchkey_landlock_rules(int version) {
    // 13 rights at first; then the move between folders, the cut of files, and since version 5 the control of devices.
    int count = version >= 5 ? 16 : version >= 3 ? 15 : version == 2 ? 14 : 13;
    uint64_t handled = (UINT64_C(1) << count) - 1;
    return (int)syscall(LATCHKEY_LANDLOCK_CREATE, &handled, sizeof handled, 0);
}

// Allows to read a file, or all files under a folder. A path that is not there is allowed nothing, and is no error.
static inline int latchkey_landlock_allow_reading(int rules, const char *path) {
    struct { uint64_t access; int32_t parent; } __attribute__((packed)) rule;
    struct stat facts;
    rule.parent = open(path, O_RDONLY | O_CLOEXEC | 010000000);  // O_PATH, which glibc declares only under _GNU_SOURCE.
    if (rule.parent < 0) return errno == ENOENT || errno == EACCES || errno == ENOTDIR ? 0 : -1;
    rule.access = LATCHKEY_LANDLOCK_EXECUTE | LATCHKEY_LANDLOCK_READ_FILE;
    if (fstat(rule.parent, &facts) == 0 && S_ISDIR(facts.st_mode)) rule.access |= LATCHKEY_LANDLOCK_READ_FOLDER;
    long result = syscall(LATCHKEY_LANDLOCK_ADD, rules, 1, &rule, 0);
    int error = errno;
    close(rule.parent);
    errno = error;
    return (int)result;
}

// Puts the rules in force for this thread and those that it starts, for good.
static inline int latchkey_landlock_enforce(int rules) {
    return (int)syscall(LATCHKEY_LANDLOCK_ENFORCE, rules, 0);
}

// The limit of descriptors that is in force; 0 if the kernel does not tell it.
static inline uint64_t latchkey_descriptor_limit(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

// Raises the soft limit of descriptors to the hard one; the limit in force then, or 0 if the kernel does not tell it.
static inline uint64_t latchkey_raise_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    return latchkey_descriptor_limit();
}

// Makes the kernel's table of this process's descriptors large enough for so many; 0, or -1 with errno.
static inline int latchkey_grow_descriptor_table(int count) {
    int source = eventfd(0, EFD_CLOEXEC);
    if (source < 0) return -1;
    // The lowest free number from there on, so no open descriptor is replaced.
    int last = fcntl(source, F_DUPFD_CLOEXEC, count - 1);
    int saved = errno;
    if (last >= 0) close(last);
    close(source);
    errno = saved;
    return last >= 0 ? 0 : -1;
}

#if defined(__x86_64__)
#define LATCHKEY_AUDIT_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define LATCHKEY_AUDIT_ARCH AUDIT_ARCH_AARCH64
#else
#error "the filter of system calls knows x86-64 and arm64"
#endif

#define LATCHKEY_FIELD(name) ((uint32_t)offsetof(struct seccomp_data, name))
// The lower half of an argument; both machines are little-endian.
#define LATCHKEY_ARGUMENT(index) ((uint32_t)(offsetof(struct seccomp_data, args) + 8 * (index)))
#define LATCHKEY_REFUSE(number) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (number))
#define LATCHKEY_ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
// The call is refused unless its argument has this value.
#define LATCHKEY_ONLY_WITH(call, index, value)                                                                          \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 4),                                                                  \
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, LATCHKEY_ARGUMENT(index)),                                                   \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, 1), LATCHKEY_ALLOW, LATCHKEY_REFUSE(EPERM)
// The same the other way: refused if one of these bits is set.
#define LATCHKEY_NOT_WITH_BITS(call, index, bits)                                                                       \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 4),                                                                  \
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, LATCHKEY_ARGUMENT(index)),                                                   \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 1, 0), LATCHKEY_ALLOW, LATCHKEY_REFUSE(EPERM)
// The system calls that the filter refuses with EPERM, with any arguments.
#define LATCHKEY_REFUSED_CALLS                                                                                          \
    /* Sockets, and descriptors that come or go over the one that the process has. */                                  \
    SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4, SYS_sendmsg,                \
        SYS_sendmmsg, SYS_recvmsg, SYS_recvmmsg,                                                                        \
        /* What devices, terminals and descriptors' owners are told. */                                                 \
        SYS_ioctl,                                                                                                      \
        /* Memory and queues that processes share by name. */                                                           \
        SYS_shmget, SYS_shmat, SYS_shmctl, SYS_semget, SYS_semctl, SYS_semop, SYS_semtimedop, SYS_msgget, SYS_msgctl,   \
        SYS_msgsnd, SYS_msgrcv, SYS_mq_open, SYS_mq_unlink,                                                             \
        /* A ring makes system calls that no filter sees. */                                                           \
        SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register,                                                  \
        /* Programs and other processes. */                                                                            \
        SYS_execve, SYS_execveat, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_process_madvise,         \
        SYS_process_mrelease, SYS_kcmp, SYS_pidfd_open, SYS_pidfd_getfd, SYS_pidfd_send_signal, SYS_rt_sigqueueinfo,    \
        SYS_rt_tgsigqueueinfo, SYS_tkill, SYS_setpriority, SYS_ioprio_set, SYS_sched_setaffinity,                       \
        SYS_sched_setscheduler, SYS_sched_setparam, SYS_sched_setattr, SYS_migrate_pages, SYS_move_pages,               \
        SYS_perf_event_open, SYS_bpf, SYS_userfaultfd,                                                                  \
        /* Users and keys. */                                                                                          \
        SYS_setuid, SYS_setgid, SYS_setreuid, SYS_setregid, SYS_setresuid, SYS_setresgid, SYS_setgroups, SYS_capset,    \
        SYS_add_key, SYS_request_key, SYS_keyctl,                                                                       \
        /* Changes of files. Written bytes are limited to none; this is about names, sizes and owners. */              \
        SYS_openat2, SYS_open_by_handle_at, SYS_truncate, SYS_ftruncate, SYS_fallocate, SYS_mkdirat, SYS_mknodat,       \
        SYS_unlinkat, SYS_renameat2, SYS_linkat, SYS_symlinkat, SYS_fchmod, SYS_fchmodat, SYS_fchown, SYS_fchownat,     \
        SYS_utimensat, SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr,                   \
        SYS_fremovexattr, SYS_copy_file_range, SYS_quotactl, SYS_fanotify_init,                                         \
        /* The view of the system. */                                                                                  \
        SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_unshare, SYS_setns, SYS_fsopen, SYS_fsconfig,           \
        SYS_fsmount, SYS_fspick, SYS_move_mount, SYS_open_tree, SYS_mount_setattr, SYS_swapon, SYS_swapoff,             \
        SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_kexec_file_load, SYS_reboot,          \
        SYS_sethostname, SYS_setdomainname, SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_clock_adjtime,       \
        SYS_acct, SYS_syslog, SYS_nfsservctl, SYS_lookup_dcookie

// The same for calls that only the older of the two machines has.
#if defined(__x86_64__)
#define LATCHKEY_REFUSED_OLDER_CALLS                                                                                    \
    SYS_fork, SYS_vfork, SYS_creat, SYS_mkdir, SYS_rmdir, SYS_mknod, SYS_unlink, SYS_rename, SYS_renameat, SYS_link,    \
        SYS_symlink, SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat, SYS_iopl, SYS_ioperm,      \
        SYS_modify_ldt
#else
#define LATCHKEY_REFUSED_OLDER_CALLS SYS_renameat
#endif

// For writing at all: the limit on written bytes does not bind what is written through a mapping. The last one is
// O_TMPFILE without its directory part.
#define LATCHKEY_WRITING_FLAGS (O_ACCMODE | O_CREAT | O_TRUNC | 020000000)
#define LATCHKEY_CLONE_THREAD 0x00010000
// glibc declares these only under _GNU_SOURCE.
#define LATCHKEY_F_SETSIG 10
#define LATCHKEY_F_SETOWN_EX 15
// The first number that the lists above do not know: later calls, such as fchmodat2, are refused as a kernel without
// them would.
#define LATCHKEY_FIRST_UNKNOWN_CALL 451

// Refuses, for this process and for good, what a library that computes has no need of. The calling process must be one
// that cannot get new privileges. It may still signal itself.
static inline int latchkey_filter_system_calls(void) {
    static const uint32_t refused[] = {LATCHKEY_REFUSED_CALLS, LATCHKEY_REFUSED_OLDER_CALLS};
    enum { refused_count = sizeof(refused) / sizeof(refused[0]) };
    const uint32_t process = (uint32_t)getpid();
    const struct sock_filter head[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, LATCHKEY_FIELD(arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, LATCHKEY_AUDIT_ARCH, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, LATCHKEY_FIELD(nr)),
        // Numbers of another calling convention of the same machine (x32).
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
        LATCHKEY_REFUSE(EPERM),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, LATCHKEY_FIRST_UNKNOWN_CALL, 0, 1),
        LATCHKEY_REFUSE(ENOSYS),
        // Threads yes, processes no. Without clone3, whose flags no filter can read, the C library falls back to clone.
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
        LATCHKEY_REFUSE(ENOSYS),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, LATCHKEY_ARGUMENT(0)),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, LATCHKEY_CLONE_THREAD, 0, 1),
        LATCHKEY_ALLOW,
        LATCHKEY_REFUSE(EPERM),
        LATCHKEY_ONLY_WITH(SYS_kill, 0, process),
        LATCHKEY_ONLY_WITH(SYS_tgkill, 0, process),
        LATCHKEY_ONLY_WITH(SYS_prlimit64, 0, 0),
        // What was asked of the kernel for this process stays.
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 5),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, LATCHKEY_ARGUMENT(0)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_DUMPABLE, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_PDEATHSIG, 1, 0),
        LATCHKEY_ALLOW,
        LATCHKEY_REFUSE(EPERM),
        // A descriptor that names another process as its owner makes the kernel send that one signals, SIGKILL if it is
        // asked for.
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 6),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, LATCHKEY_ARGUMENT(1)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_SETOWN, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, LATCHKEY_F_SETSIG, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, LATCHKEY_F_SETOWN_EX, 1, 0),
        LATCHKEY_ALLOW,
        LATCHKEY_REFUSE(EPERM),
        LATCHKEY_NOT_WITH_BITS(SYS_openat, 2, LATCHKEY_WRITING_FLAGS),
#if defined(__x86_64__)
        LATCHKEY_NOT_WITH_BITS(SYS_open, 1, LATCHKEY_WRITING_FLAGS),
#endif
    };
    enum { head_count = sizeof(head) / sizeof(head[0]) };
    struct sock_filter program[head_count + 2 * refused_count + 1];
    unsigned short count = 0;
    for (int index = 0; index < head_count; index++) program[count++] = head[index];
    for (int index = 0; index < refused_count; index++) {
        program[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refused[index], 0, 1);
        program[count++] = (struct sock_filter)LATCHKEY_REFUSE(EPERM);
    }
    program[count++] = (struct sock_filter)LATCHKEY_ALLOW;
    struct sock_fprog filter = {count, program};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
}

#endif

// Functions with which a process permanently gives up rights that it does not need: its user, capabilities, limits and
// system calls. They are for a process with a single thread, before it loads foreign code. Unless their comments say
// otherwise, they return 0, or -1 with errno.
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

// Leaves the process an empty environment. `clearenv` leaves none at all, and the Swift runtime of a library that is
// loaded later reads it without a check.
static inline void latchkey_clear_environment(void) {
    extern char **environ;
    static char *empty[1];
    (void)clearenv();
    environ = empty;
}

// A descriptor that becomes readable when a child of this process has ended. It is always close-on-exec.
static inline int latchkey_process_descriptor(pid_t process) {
    return (int)syscall(SYS_pidfd_open, process, 0);
}

// Sends a signal to the process of a descriptor, never to another process that has since received its number.
static inline int latchkey_process_signal(int descriptor, int signal) {
    return (int)syscall(SYS_pidfd_send_signal, descriptor, signal, NULL, 0);
}

// Changes to another user permanently, without supplementary groups.
static inline int latchkey_become_user(uid_t user, gid_t group) {
    if (setgroups(0, NULL) != 0 || setresgid(group, group, group) != 0) return -1;
    return setresuid(user, user, user);
}

// Gives up all capabilities, including those of root. Without capabilities it does not call capset, because the
// system call filter of a service may refuse even that call.
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

// The process that created a pair of stream sockets, found from one of the two; -1 with errno on failure.
static inline pid_t latchkey_socket_maker(int socket) {
    // glibc declares `struct ucred` only under _GNU_SOURCE.
    struct { pid_t process; uid_t user; gid_t group; } maker;
    socklen_t size = sizeof maker;
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &maker, &size) == 0 ? maker.process : -1;
}

// Makes the kernel send SIGKILL to this process when the thread that started it ends.
static inline int latchkey_die_with_parent(void) {
    return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

// Makes sure that no program that this process executes later gets more rights than the process has.
static inline int latchkey_forbid_new_privileges(void) {
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

// Sets a limit permanently.
static inline int latchkey_limit(int resource, uint64_t maximum) {
    struct rlimit limit = {maximum, maximum};
    return setrlimit((__rlimit_resource_t)resource, &limit);
}

static inline int latchkey_limit_memory(uint64_t bytes) { return latchkey_limit(RLIMIT_AS, bytes); }
static inline int latchkey_limit_descriptors(uint64_t count) { return latchkey_limit(RLIMIT_NOFILE, count); }
static inline int latchkey_limit_tasks(uint64_t count) { return latchkey_limit(RLIMIT_NPROC, count); }
static inline int latchkey_limit_cores(uint64_t bytes) { return latchkey_limit(RLIMIT_CORE, bytes); }
static inline int latchkey_limit_files(uint64_t bytes) { return latchkey_limit(RLIMIT_FSIZE, bytes); }

// Landlock (landlock(7)) limits which files a process can open. The numbers are from the kernel's interface, because
// the headers of the oldest supported build system have only some of them.
#define LATCHKEY_LANDLOCK_CREATE 444
#define LATCHKEY_LANDLOCK_ADD 445
#define LATCHKEY_LANDLOCK_ENFORCE 446
#define LATCHKEY_LANDLOCK_EXECUTE (UINT64_C(1) << 0)
#define LATCHKEY_LANDLOCK_READ_FILE (UINT64_C(1) << 2)
#define LATCHKEY_LANDLOCK_READ_FOLDER (UINT64_C(1) << 3)

// The kernel's version of Landlock; 0 if it has no Landlock.
static inline int latchkey_landlock_version(void) {
    long version = syscall(LATCHKEY_LANDLOCK_CREATE, NULL, 0, 1);
    return version < 0 ? 0 : (int)version;
}

// A descriptor of new rules that allow no file at all: they deny every right to files that this version of Landlock
// knows.
static inline int latchkey_landlock_rules(int version) {
    // Version 1 has 13 rights. Version 2 adds moving files between folders, version 3 truncating files, and version 5
    // the control of devices.
    int count = version >= 5 ? 16 : version >= 3 ? 15 : version == 2 ? 14 : 13;
    uint64_t handled = (UINT64_C(1) << count) - 1;
    return (int)syscall(LATCHKEY_LANDLOCK_CREATE, &handled, sizeof handled, 0);
}

// Allows the process to read a file, or all files under a folder. A path that is missing or not accessible is ignored.
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

// Applies the rules permanently to this thread and to the threads that it starts.
static inline int latchkey_landlock_enforce(int rules) {
    return (int)syscall(LATCHKEY_LANDLOCK_ENFORCE, rules, 0);
}

// The current limit of descriptors; 0 if it cannot be read.
static inline uint64_t latchkey_descriptor_limit(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

// Raises the soft limit of descriptors to the hard limit. Returns the limit after that, or 0 if it cannot be read.
static inline uint64_t latchkey_raise_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    return latchkey_descriptor_limit();
}

// Makes the kernel's table of this process's descriptors large enough for `count` of them; 0, or -1 with errno.
static inline int latchkey_grow_descriptor_table(int count) {
    int source = eventfd(0, EFD_CLOEXEC);
    if (source < 0) return -1;
    // This takes the lowest free number from `count - 1` on, so no open descriptor is replaced.
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
#error "the filter of system calls supports only x86-64 and arm64"
#endif

#define LATCHKEY_FIELD(name) ((uint32_t)offsetof(struct seccomp_data, name))
// The lower half of an argument; both architectures are little-endian.
#define LATCHKEY_ARGUMENT(index) ((uint32_t)(offsetof(struct seccomp_data, args) + 8 * (index)))
#define LATCHKEY_REFUSE(number) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (number))
#define LATCHKEY_ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
// Refuses the call unless its argument has this value.
#define LATCHKEY_ONLY_WITH(call, index, value)                                                                          \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 4),                                                                  \
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, LATCHKEY_ARGUMENT(index)),                                                   \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, 1), LATCHKEY_ALLOW, LATCHKEY_REFUSE(EPERM)
// Refuses the call if its argument has one of these bits set.
#define LATCHKEY_NOT_WITH_BITS(call, index, bits)                                                                       \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 4),                                                                  \
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, LATCHKEY_ARGUMENT(index)),                                                   \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 1, 0), LATCHKEY_ALLOW, LATCHKEY_REFUSE(EPERM)
// The system calls that the filter refuses with EPERM, with any arguments.
#define LATCHKEY_REFUSED_CALLS                                                                                          \
    /* Sockets, and passing descriptors over the one socket that the process has. */                                   \
    SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4, SYS_sendmsg,                \
        SYS_sendmmsg, SYS_recvmsg, SYS_recvmmsg,                                                                        \
        /* Commands to devices and terminals, and setting the owner of a descriptor. */                                 \
        SYS_ioctl,                                                                                                      \
        /* Shared memory, semaphores and message queues that other processes can open by name. */                       \
        SYS_shmget, SYS_shmat, SYS_shmctl, SYS_semget, SYS_semctl, SYS_semop, SYS_semtimedop, SYS_msgget, SYS_msgctl,   \
        SYS_msgsnd, SYS_msgrcv, SYS_mq_open, SYS_mq_unlink,                                                             \
        /* io_uring makes system calls that the filter does not see. */                                                \
        SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register,                                                  \
        /* Executing programs, and acting on other processes. */                                                       \
        SYS_execve, SYS_execveat, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_process_madvise,         \
        SYS_process_mrelease, SYS_kcmp, SYS_pidfd_open, SYS_pidfd_getfd, SYS_pidfd_send_signal, SYS_rt_sigqueueinfo,    \
        SYS_rt_tgsigqueueinfo, SYS_tkill, SYS_setpriority, SYS_ioprio_set, SYS_sched_setaffinity,                       \
        SYS_sched_setscheduler, SYS_sched_setparam, SYS_sched_setattr, SYS_migrate_pages, SYS_move_pages,               \
        SYS_perf_event_open, SYS_bpf, SYS_userfaultfd,                                                                  \
        /* Changing the user, and using keys that the kernel keeps. */                                                 \
        SYS_setuid, SYS_setgid, SYS_setreuid, SYS_setregid, SYS_setresuid, SYS_setresgid, SYS_setgroups, SYS_capset,    \
        SYS_add_key, SYS_request_key, SYS_keyctl,                                                                       \
        /* Changing names, sizes and owners of files. A limit already forbids writing bytes. */                        \
        SYS_openat2, SYS_open_by_handle_at, SYS_truncate, SYS_ftruncate, SYS_fallocate, SYS_mkdirat, SYS_mknodat,       \
        SYS_unlinkat, SYS_renameat2, SYS_linkat, SYS_symlinkat, SYS_fchmod, SYS_fchmodat, SYS_fchown, SYS_fchownat,     \
        SYS_utimensat, SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr,                   \
        SYS_fremovexattr, SYS_copy_file_range, SYS_quotactl,                                                            \
        /* Watching what happens to files, which Landlock does not limit. */                                           \
        SYS_fanotify_init, SYS_inotify_init1, SYS_inotify_add_watch, SYS_inotify_rm_watch,                              \
        /* Mounts, namespaces, kernel modules, clocks and other state of the system. */                                \
        SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_unshare, SYS_setns, SYS_fsopen, SYS_fsconfig,           \
        SYS_fsmount, SYS_fspick, SYS_move_mount, SYS_open_tree, SYS_mount_setattr, SYS_swapon, SYS_swapoff,             \
        SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_kexec_file_load, SYS_reboot,          \
        SYS_sethostname, SYS_setdomainname, SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_clock_adjtime,       \
        SYS_acct, SYS_syslog, SYS_nfsservctl, SYS_lookup_dcookie

// Further refused calls, which x86-64 has and arm64 mostly does not.
#if defined(__x86_64__)
#define LATCHKEY_REFUSED_OLDER_CALLS                                                                                    \
    SYS_fork, SYS_vfork, SYS_creat, SYS_mkdir, SYS_rmdir, SYS_mknod, SYS_unlink, SYS_rename, SYS_renameat, SYS_link,    \
        SYS_symlink, SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat, SYS_iopl, SYS_ioperm,      \
        SYS_modify_ldt, SYS_inotify_init
#else
#define LATCHKEY_REFUSED_OLDER_CALLS SYS_renameat
#endif

// The flags that open a file for writing. They are refused although written bytes are limited, because that limit does
// not apply to writing through a memory mapping. The last flag is O_TMPFILE without O_DIRECTORY.
#define LATCHKEY_WRITING_FLAGS (O_ACCMODE | O_CREAT | O_TRUNC | 020000000)
#define LATCHKEY_CLONE_THREAD 0x00010000
// glibc declares these only under _GNU_SOURCE.
#define LATCHKEY_F_SETSIG 10
#define LATCHKEY_F_SETOWN_EX 15
#define LATCHKEY_F_SETLEASE 1024
#define LATCHKEY_F_NOTIFY 1026
// The first system call number that is newer than the lists above. Such calls, for instance fchmodat2, fail with
// ENOSYS, as on a kernel that does not have them.
#define LATCHKEY_FIRST_UNKNOWN_CALL 451

// Permanently refuses to this process the system calls that a library for computing does not need. The process must
// first call latchkey_forbid_new_privileges. It can still send signals to itself.
static inline int latchkey_filter_system_calls(void) {
    static const uint32_t refused[] = {LATCHKEY_REFUSED_CALLS, LATCHKEY_REFUSED_OLDER_CALLS};
    enum { refused_count = sizeof(refused) / sizeof(refused[0]) };
    const uint32_t process = (uint32_t)getpid();
    const struct sock_filter head[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, LATCHKEY_FIELD(arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, LATCHKEY_AUDIT_ARCH, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, LATCHKEY_FIELD(nr)),
        // Numbers of x32, another calling convention of x86-64.
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
        LATCHKEY_REFUSE(EPERM),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, LATCHKEY_FIRST_UNKNOWN_CALL, 0, 1),
        LATCHKEY_REFUSE(ENOSYS),
        // Threads can be created, processes cannot. A filter cannot read the flags of clone3, so clone3 fails with
        // ENOSYS, and the C library uses clone instead.
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
        // The process cannot undo its own settings of PR_SET_DUMPABLE and PR_SET_PDEATHSIG.
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 5),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, LATCHKEY_ARGUMENT(0)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_DUMPABLE, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_PDEATHSIG, 1, 0),
        LATCHKEY_ALLOW,
        LATCHKEY_REFUSE(EPERM),
        // If a descriptor names another process as its owner, the kernel sends that process signals, even SIGKILL if
        // that was requested. Leases and notifications tell when others open files and change folders.
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 8),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, LATCHKEY_ARGUMENT(1)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_SETOWN, 5, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, LATCHKEY_F_SETSIG, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, LATCHKEY_F_SETOWN_EX, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, LATCHKEY_F_SETLEASE, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, LATCHKEY_F_NOTIFY, 1, 0),
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

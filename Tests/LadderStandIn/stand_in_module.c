// A ladder module for tests. It opens SK..R1 blocks of test devices as a server with an application secret would (ASk
// or DASk in the module data). The module data also says how long a call takes, and how it fails. The module has no
// code of a vendor, and does not work with real devices.
//
// The module data has lines with a name and a value.
//
//     ask HEX      the application secret, 16 bytes            dask HEX    or the DASk itself
//     busy US      microseconds of CPU time per call           sleep US    microseconds of sleep per call
//     video 1      wraps for the video session key if the call asks for it
//     fault N      does this (a number of enum fault) instead of answering, in every call
//     open-fault N the same while the module is opened
//     file PATH    an existing file, for the probes of files
//
// A single call can request a fault by a key format: FAULT_FORMAT plus the fault's number.
//
// The video blocks of a test device: SK..R1 video is built like SK..R1, as 112 bytes with the same integrity value at
// its end. R2 video replaces R2.
#include "latchkey_ladder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef STAND_IN_ABI_VERSION
#define STAND_IN_ABI_VERSION LATCHKEY_LADDER_ABI_VERSION
#endif

#define FAULT_FORMAT UINT64_C(0x4641554C54000000)
#define KEY_FORMAT UINT64_C(0x58b38165af0e3d5a)

// The faults and probes. A probe answers with a failure whose status is its finding: an errno, or a count.
enum fault {
    NO_FAULT = 0,
    CRASH = 1,
    ABORT = 2,
    EXIT = 3,
    HANG = 4,
    OVERRUN_ANSWER = 5,
    OVERRUN_HEAP = 6,
    VALUE_TOO_SMALL = 7,
    VALUE_TOO_LARGE = 8,
    GARBAGE_KEYS = 9,
    GARBAGE_ANSWER = 10,
    ERROR_STATUS = 11,
    REFUSE = 12,
    CLOSE_DESCRIPTORS = 13,
    GARBAGE_ON_STREAM = 14,
    FORGED_FRAME = 15,
    EXHAUST_MEMORY = 16,
    EXHAUST_DESCRIPTORS = 17,
    SLOW = 18,
    BURN = 19,
    BURN_BEHIND = 20,
    PROBE_SOCKET = 32,
    PROBE_SOCKET_PAIR = 33,
    PROBE_EXEC = 34,
    PROBE_FORK = 35,
    PROBE_THREAD = 36,
    PROBE_CREATE_FILE = 37,
    PROBE_REMOVE_FILE = 38,
    PROBE_WRITE_FILE = 39,
    PROBE_SIGNAL_PARENT = 40,
    PROBE_TRACE_PARENT = 41,
    PROBE_READ_PARENT = 42,
    PROBE_LIMIT_PARENT = 43,
    PROBE_ENVIRONMENT = 44,
    PROBE_DESCRIPTORS = 45,
    PROBE_DUMPABLE = 46,
    PROBE_PRIVILEGES = 47,
    PROBE_USER = 48,
    PROBE_CAPABILITIES = 49,
    PROBE_CORE_LIMIT = 50,
    PROBE_UNDUMPABLE_CHANGE = 51,
    PROBE_RING = 52,
    PROBE_LEFTOVERS = 53,
    PROBE_MAP_FILE = 54,
    PROBE_LATER_CALL = 55,
    PROBE_OWN_BY_PARENT = 56,
    PROBE_READ_FILE = 57,
    PROBE_READ_FOLDER = 58,
    PROBE_THREADS = 59,
    PROBE_WATCH = 60,
    PROBE_WATCH_FOLDER = 61,
    PROBE_LEASE = 62,
    PROBE_READ_NETWORK = 63,
    PROBE_READ_MOUNTS = 64,
    PROBE_READ_MAPS = 65,
};

struct latchkey_ladder {
    uint8_t secret[16];
    int has_application_secret;
    long busy_microseconds;
    long sleep_microseconds;
    int uses_video;
    int fault;
    EVP_CIPHER *ecb;
    EVP_CIPHER *cbc;
    EVP_MD *sha1;
    EVP_CIPHER_CTX *cipher;
    char path[256];
};

// --- The ladder ------------------------------------------------------------------------------------------------------

static uint32_t scramble(uint32_t value) {
    for (int round = 0; round < 16; round++) value = (value & 1) ? value >> 1 : (3 * value + 1) % UINT32_C(813416437);
    return value;
}

static void write_little_endian(uint32_t value, uint8_t *bytes) {
    for (int index = 0; index < 4; index++) bytes[index] = (uint8_t)(value >> (8 * index));
}

// The D function of the protocol: the first 16 bytes of the SHA-1 of R2, its padding and two scrambled sums.
static int d_function(const struct latchkey_ladder *ladder, const uint8_t *r2, size_t size, uint8_t hash[16]) {
    uint8_t block[64] = {0};
    uint32_t sums[2] = {0, 0};
    uint8_t digest[EVP_MAX_MD_SIZE];
    if (size < 1 || size > 55) return 0;
    memcpy(block, r2, size);
    block[size] = 0x80;
    for (int word = 0; word < 14; word++) {
        const uint8_t *at = block + 4 * word;
        sums[word / 7] += (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
    }
    write_little_endian(scramble(sums[0]), block + 56);
    write_little_endian(scramble(sums[1]), block + 60);
    if (!EVP_Digest(block, sizeof block, digest, NULL, ladder->sha1, NULL)) return 0;
    memcpy(hash, digest, 16);
    return 1;
}

static int cipher(
    const struct latchkey_ladder *ladder, const EVP_CIPHER *kind, int encrypts, const uint8_t *key, const uint8_t *iv,
    const uint8_t *input, int size, uint8_t *output) {
    int count = 0;
    return EVP_CipherInit_ex2(ladder->cipher, kind, key, iv, encrypts, NULL)
        && EVP_CIPHER_CTX_set_padding(ladder->cipher, 0)
        && EVP_CipherUpdate(ladder->cipher, output, &count, input, size) && count == size;
}

// Opens an SK..R1 block of 112 bytes into SK 16, HU 20, R1 44 and integrity 16.
static int open_block(
    const struct latchkey_ladder *ladder, const uint8_t *block, const uint8_t *r2, size_t r2_size, uint8_t plain[96]) {
    uint8_t dask[16];
    if (ladder->has_application_secret) {
        uint8_t hash[16];
        if (!d_function(ladder, r2, r2_size, hash)) return 0;
        if (!cipher(ladder, ladder->ecb, 1, ladder->secret, NULL, hash, 16, dask)) return 0;
    } else {
        memcpy(dask, ladder->secret, 16);
    }
    return cipher(ladder, ladder->cbc, 0, dask, block, block + 16, 96, plain);
}

static int32_t wrap(
    const struct latchkey_ladder *ladder, const struct latchkey_ladder_call *call, struct latchkey_ladder_answer *answer) {
    uint8_t plain[96];
    int video = ladder->uses_video && call->session_key_wanted == LATCHKEY_LADDER_SESSION_KEY_VIDEO;
    if (video && call->video_session_key_block_size != 112) return -3;
    int is_open = video
        ? open_block(ladder, call->video_session_key_block, call->video_r2, call->video_r2_size, plain)
        : open_block(ladder, call->session_key_block, call->r2, 21, plain);
    if (!is_open) return -1;
    if (CRYPTO_memcmp(plain + 80, call->integrity, 16) != 0) {
        answer->own_status = -42589;
        return LATCHKEY_LADDER_REFUSED;
    }
    memcpy(answer->device_id, plain + 16, 20);
    memcpy(answer->r1, plain + 36, 44);
    memcpy(answer->content_key_value, call->content_iv, 16);
    if (!cipher(ladder, ladder->ecb, 1, plain, NULL, call->content_key, 16, answer->content_key_value + 16)) return -2;
    answer->content_key_value_size = 32;
    answer->content_key_tag = KEY_FORMAT;
    answer->session_key_used = video ? LATCHKEY_LADDER_SESSION_KEY_VIDEO : LATCHKEY_LADDER_SESSION_KEY_GENERIC;
    answer->r1_used = answer->session_key_used;
    OPENSSL_cleanse(plain, sizeof plain);
    return LATCHKEY_LADDER_OK;
}

// --- The service time ------------------------------------------------------------------------------------------------

static long thread_nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

// Measures the thread's own CPU time, because time in which another process had the core is no work.
static void be_busy(long microseconds) {
    long end = thread_nanoseconds() + microseconds * 1000;
    while (thread_nanoseconds() < end) {}
}

static void rest(long microseconds) {
    struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &time, &time) == EINTR) {}
}

// --- Faults and probes -----------------------------------------------------------------------------------------------

static int32_t failure(struct latchkey_ladder_answer *answer, long status) {
    answer->own_status = (int32_t)status;
    return -100;
}

// The status of a probe whose action should be refused: errno, or -1 if the action was not refused.
static long refusal(long result) { return result < 0 ? errno : -1; }

static void *nothing(void *argument) { return argument; }

static void *burning(void *argument) {
    volatile int goes_on = 1;
    while (goes_on) {}
    return argument;
}

// Starts a thread that computes without end, while the call is answered.
static void burn_behind(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, burning, NULL) != 0) abort();
}

static long probe_thread(void) {
    pthread_t thread;
    int error = pthread_create(&thread, NULL, nothing, NULL);
    if (error == 0) pthread_join(thread, NULL);
    return error == 0 ? 1000 : error;
}

static void *waiting(void *argument) {
    pause();
    return argument;
}

// Returns how many threads can exist at the same time, at most 500. The threads do not end.
static long probe_threads(void) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 * 1024);
    long count = 0;
    pthread_t thread;
    while (count < 500 && pthread_create(&thread, &attributes, waiting, NULL) == 0) count++;
    return 1000 + count;
}

static long probe_read(const char *path) {
    int file = open(path, O_RDONLY);
    if (file >= 0) close(file);
    return refusal(file);
}

static long probe_read_folder(const char *path) {
    char name[300];
    snprintf(name, sizeof name, "%s", path);
    *strrchr(name, '/') = 0;
    return probe_read(name);
}

// Calls fcntl on a file that the confinement lets a module open.
static long probe_command(const char *path, int command, long argument) {
    int file = open(path, O_RDONLY);
    if (file < 0) return -2;
    long result = refusal(fcntl(file, command, argument));
    close(file);
    return result;
}

static long probe_fork(void) {
    pid_t child = fork();
    if (child == 0) _exit(0);
    return refusal(child);
}

static long probe_exec(void) {
    char *arguments[] = {"true", NULL};
    return refusal(execv("/bin/true", arguments));
}

// If the file can be opened, the size limit of zero bytes makes the kernel send a signal.
static long probe_write(const char *path) {
    signal(SIGXFSZ, SIG_IGN);
    int file = open(path, O_WRONLY);
    if (file < 0) return errno;
    long result = refusal(write(file, "x", 1));
    close(file);
    return result;
}

// Writes through a mapping, to which no limit of file sizes applies.
static long probe_map(const char *path) {
    int file = open(path, O_RDWR);
    if (file < 0) return errno;
    char *bytes = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (bytes != MAP_FAILED) bytes[0] = 'x';
    long result = bytes == MAP_FAILED ? errno : -1;
    close(file);
    return result;
}

// Calls fchmodat2, whose number is the same on all machines.
static long probe_later_call(const char *path) { return refusal(syscall(452, AT_FDCWD, path, 0600, 0)); }

static long probe_create(const char *path) {
    char name[300];
    snprintf(name, sizeof name, "%s.new", path);
    return refusal(open(name, O_CREAT | O_WRONLY, 0600));
}

static long probe_limit_parent(void) {
    struct rlimit limit = {1, 1};
    return refusal(prlimit(getppid(), RLIMIT_NOFILE, &limit, NULL));
}

static long probe_read_parent(void) {
    char byte;
    struct iovec here = {&byte, 1};
    struct iovec there = {(void *)&probe_read_parent, 1};
    return refusal(process_vm_readv(getppid(), &here, 1, &there, 1, 0));
}

static long count_descriptors(void) {
    long count = 0;
    for (int number = 0; number < 4096; number++) count += fcntl(number, F_GETFD) >= 0;
    return 1000 + count;
}

static long count_environment(void) {
    extern char **environ;
    long count = 0;
    while (environ != NULL && environ[count] != NULL) count++;
    return 1000 + count;
}

static long probe_capabilities(void) {
    uint32_t header[2] = {0x20080522, 0};
    uint32_t data[6] = {1, 1, 1, 1, 1, 1};
    if (syscall(SYS_capget, header, data) != 0) return errno;
    return (data[0] | data[1] | data[3] | data[4]) == 0 ? 1000 : 1001;
}

static long probe_core_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_CORE, &limit) != 0) return errno;
    return limit.rlim_max == 0 ? 1000 : 1001;
}

// Whether the buffer for the answer still contains something of the previous call.
static long probe_leftovers(const struct latchkey_ladder_answer *answer) {
    int found = 0;
    for (int index = 0; index < 20; index++) found |= answer->device_id[index];
    for (int index = 0; index < 44; index++) found |= answer->r1[index];
    for (uint32_t index = 0; index < answer->content_key_value_capacity; index++) found |= answer->content_key_value[index];
    return found == 0 ? 1000 : 1001;
}

static int32_t exhaust_memory(struct latchkey_ladder_answer *answer) {
    size_t size = 16 << 20;
    long count = 0;
    for (void *block; (block = malloc(size)) != NULL; count++) {
        memset(block, 1, size);
        if (count > 4096) return failure(answer, -1);
    }
    return failure(answer, ENOMEM);
}

static int32_t exhaust_descriptors(struct latchkey_ladder_answer *answer) {
    for (int count = 0; count < 100000; count++) {
        if (open("/dev/null", O_RDONLY) < 0) return failure(answer, errno);
    }
    return failure(answer, -1);
}

// Writes past the end of a heap block, then frees it, so that the heap detects the damage.
static void overrun_heap(void) {
    char *block = malloc(4096);
    char *next = malloc(4096);
    memset(block, 0x5A, 4096 + 64);
    // Without this, the compiler would notice that the bytes are not read before they are freed.
    __asm__ volatile("" : : "r"(block), "r"(next) : "memory");
    free(next);
    free(block);
    free(malloc(100000));
}

static void crash(void) {
    volatile int *volatile nowhere = NULL;
    *nowhere = 1;
}

static void fill(uint8_t *bytes, size_t size) {
    for (size_t index = 0; index < size; index++) bytes[index] = (uint8_t)(index * 37 + 11);
}

// Sends a well-formed head and body of an answer to a call that was never made.
static void forge_frame(void) {
    uint8_t frame[16 + 8] = {1, 6, 0, 0, 0, 0, 0, 8, 0x7F, 1, 2, 3, 4, 5, 6, 7, 0, 0, 0, 2, 0, 0, 0, 9};
    if (write(3, frame, sizeof frame) < 0) abort();
}

static int32_t fail(
    struct latchkey_ladder *ladder, int fault, const struct latchkey_ladder_call *call, struct latchkey_ladder_answer *answer) {
    switch ((enum fault)fault) {
    case CRASH: crash(); break;
    case ABORT: abort();
    case EXIT: exit(0);
    case HANG:
        // A test can see this name.
        prctl(PR_SET_NAME, "hanging", 0, 0, 0);
        for (;;) pause();
    case OVERRUN_ANSWER: memset(answer->content_key_value, 0x5A, 256 * 1024); break;
    case OVERRUN_HEAP: overrun_heap(); break;
    case VALUE_TOO_SMALL: {
        int32_t status = wrap(ladder, call, answer);
        answer->content_key_value_size = 16;
        return status;
    }
    case VALUE_TOO_LARGE: {
        int32_t status = wrap(ladder, call, answer);
        answer->content_key_value_size = 0xFFFFFFF0u;
        return status;
    }
    case GARBAGE_KEYS: {
        int32_t status = wrap(ladder, call, answer);
        answer->r1_used = 7;
        return status;
    }
    case GARBAGE_ANSWER:
        fill((uint8_t *)answer, sizeof *answer);
        return LATCHKEY_LADDER_OK;
    case ERROR_STATUS: return failure(answer, -42601);
    case REFUSE:
        answer->own_status = -42589;
        return LATCHKEY_LADDER_REFUSED;
    case CLOSE_DESCRIPTORS:
        for (int number = 0; number < 4096; number++) close(number);
        break;
    case GARBAGE_ON_STREAM: {
        uint8_t garbage[512];
        fill(garbage, sizeof garbage);
        if (write(3, garbage, sizeof garbage) < 0) abort();
        break;
    }
    case FORGED_FRAME: forge_frame(); break;
    case EXHAUST_MEMORY: return exhaust_memory(answer);
    case EXHAUST_DESCRIPTORS: return exhaust_descriptors(answer);
    case SLOW: rest(200000); break;
    case BURN: burning(NULL); break;
    case BURN_BEHIND: burn_behind(); break;
    case PROBE_SOCKET: return failure(answer, refusal(socket(AF_INET, SOCK_STREAM, 0)));
    case PROBE_SOCKET_PAIR: {
        int ends[2];
        return failure(answer, refusal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends)));
    }
    case PROBE_EXEC: return failure(answer, probe_exec());
    case PROBE_FORK: return failure(answer, probe_fork());
    case PROBE_THREAD: return failure(answer, probe_thread());
    case PROBE_THREADS: return failure(answer, probe_threads());
    case PROBE_READ_FILE: return failure(answer, probe_read(ladder->path));
    case PROBE_WATCH: return failure(answer, refusal(inotify_init1(0)));
    case PROBE_WATCH_FOLDER: return failure(answer, probe_command("/usr/lib", F_NOTIFY, DN_CREATE));
    case PROBE_LEASE: return failure(answer, probe_command("/dev/null", F_SETLEASE, F_UNLCK));
    case PROBE_READ_NETWORK: return failure(answer, probe_read("/proc/self/net/tcp"));
    case PROBE_READ_MOUNTS: return failure(answer, probe_read("/proc/self/mountinfo"));
    case PROBE_READ_MAPS: return failure(answer, probe_read("/proc/self/maps"));
    case PROBE_READ_FOLDER: return failure(answer, probe_read_folder(ladder->path));
    case PROBE_CREATE_FILE: return failure(answer, probe_create(ladder->path));
    case PROBE_REMOVE_FILE: return failure(answer, refusal(unlink(ladder->path)));
    case PROBE_WRITE_FILE: return failure(answer, probe_write(ladder->path));
    case PROBE_SIGNAL_PARENT: return failure(answer, refusal(kill(getppid(), SIGURG)));
    case PROBE_TRACE_PARENT: return failure(answer, refusal(ptrace(PTRACE_SEIZE, getppid(), 0, 0)));
    case PROBE_READ_PARENT: return failure(answer, probe_read_parent());
    case PROBE_LIMIT_PARENT: return failure(answer, probe_limit_parent());
    case PROBE_ENVIRONMENT: return failure(answer, count_environment());
    case PROBE_DESCRIPTORS: return failure(answer, count_descriptors());
    case PROBE_DUMPABLE: return failure(answer, 1000 + prctl(PR_GET_DUMPABLE, 0, 0, 0, 0));
    case PROBE_PRIVILEGES: return failure(answer, 1000 + prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
    case PROBE_USER: return failure(answer, 1000 + (long)geteuid());
    case PROBE_CAPABILITIES: return failure(answer, probe_capabilities());
    case PROBE_CORE_LIMIT: return failure(answer, probe_core_limit());
    case PROBE_UNDUMPABLE_CHANGE: return failure(answer, refusal(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)));
    case PROBE_RING: return failure(answer, refusal(syscall(SYS_io_uring_setup, 4, NULL)));
    case PROBE_MAP_FILE: return failure(answer, probe_map(ladder->path));
    case PROBE_LATER_CALL: return failure(answer, probe_later_call(ladder->path));
    case PROBE_OWN_BY_PARENT: return failure(answer, refusal(fcntl(3, F_SETOWN, getppid())));
    case PROBE_LEFTOVERS: return failure(answer, probe_leftovers(answer));
    case NO_FAULT: break;
    }
    // If the fault has not ended the process or the answer, the call continues normally.
    return wrap(ladder, call, answer);
}

// --- The module ------------------------------------------------------------------------------------------------------

static int read_hex(const char *text, uint8_t bytes[16]) {
    for (int index = 0; index < 16; index++) {
        unsigned value;
        if (sscanf(text + 2 * index, "%2x", &value) != 1) return 0;
        bytes[index] = (uint8_t)value;
    }
    return 1;
}

static int read_line(struct latchkey_ladder *ladder, const char *name, const char *value) {
    if (strcmp(name, "ask") == 0 || strcmp(name, "dask") == 0) {
        ladder->has_application_secret = name[0] == 'a';
        return read_hex(value, ladder->secret);
    }
    if (strcmp(name, "busy") == 0) return (ladder->busy_microseconds = atol(value)) >= 0;
    if (strcmp(name, "sleep") == 0) return (ladder->sleep_microseconds = atol(value)) >= 0;
    if (strcmp(name, "video") == 0) return (ladder->uses_video = atoi(value)) >= 0;
    if (strcmp(name, "fault") == 0) return (ladder->fault = atoi(value)) >= 0;
    if (strcmp(name, "file") == 0) return snprintf(ladder->path, sizeof ladder->path, "%s", value) > 0;
    if (strcmp(name, "open-fault") == 0) {
        struct latchkey_ladder_answer none = {0};
        fail(ladder, atoi(value), NULL, &none);
        return 1;
    }
    return 0;
}

static int read_data(struct latchkey_ladder *ladder, const struct latchkey_ladder_setup *setup) {
    char *text = strndup((const char *)setup->data, setup->data_size);
    int is_good = 1;
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        char name[32] = "";
        char value[256] = "";
        is_good = is_good && sscanf(line, "%31s %255s", name, value) == 2 && read_line(ladder, name, value);
    }
    free(text);
    return is_good;
}

uint32_t latchkey_ladder_abi_version(void) { return STAND_IN_ABI_VERSION; }

int32_t latchkey_ladder_open(const struct latchkey_ladder_setup *setup, latchkey_ladder **ladder) {
    struct latchkey_ladder *module = calloc(1, sizeof *module);
    module->ecb = EVP_CIPHER_fetch(NULL, "AES-128-ECB", NULL);
    module->cbc = EVP_CIPHER_fetch(NULL, "AES-128-CBC", NULL);
    module->sha1 = EVP_MD_fetch(NULL, "SHA1", NULL);
    module->cipher = EVP_CIPHER_CTX_new();
    // With the default timer slack, a sleep of 50 us would take 100 us.
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    if (setup->size < sizeof *setup || !read_data(module, setup)) return -7;
    *ladder = module;
    return LATCHKEY_LADDER_OK;
}

#ifndef STAND_IN_WITHOUT_ANSWER
int32_t latchkey_ladder_answer_call(
    latchkey_ladder *ladder, const struct latchkey_ladder_call *call, struct latchkey_ladder_answer *answer) {
    int fault = ladder->fault;
    if (ladder->busy_microseconds > 0) be_busy(ladder->busy_microseconds);
    if (ladder->sleep_microseconds > 0) rest(ladder->sleep_microseconds);
    for (uint32_t index = 0; index < call->key_format_count; index++) {
        if (call->key_formats[index] >> 24 == FAULT_FORMAT >> 24) fault = (int)(call->key_formats[index] & 0xFFFFFF);
    }
    return fail(ladder, fault, call, answer);
}
#endif

void latchkey_ladder_close(latchkey_ladder *ladder) {
    EVP_CIPHER_free(ladder->ecb);
    EVP_CIPHER_free(ladder->cbc);
    EVP_MD_free(ladder->sha1);
    EVP_CIPHER_CTX_free(ladder->cipher);
    OPENSSL_cleanse(ladder, sizeof *ladder);
    free(ladder);
}

// The interface between Latchkey and a ladder module: a shared library that opens those SK..R1 blocks of FairPlay
// Streaming that only a library of Apple's can open. Latchkey does not contain, link or describe that library. A vendor
// that is licensed to have it writes a short bridge: a shared library that defines the four functions at the end of
// this file and calls Apple's library from them.
//
//     cc -shared -fPIC -o my_ladder.so my_bridge.c -lvendor        with this header in the include path
//
// How a module is run
//
// - latchkeyd never loads a module into its own process. It starts itself again as a worker, one process for each
//   worker in the configuration, and the worker loads the module. If a module crashes, hangs or leaks memory, only the
//   call that it is working on fails.
// - Before it loads the module, the worker gives up all rights that it does not need:
//   - It has no network, and cannot create sockets of any kind.
//   - It cannot start, trace or signal other processes. It can create threads.
//   - It cannot create, change or remove files, or open them for writing, which includes devices such as /dev/null.
//   - If the kernel has Landlock, it can read only the module, the shared libraries in the same folder, and files that
//     the system's libraries need. Otherwise it can read every file that its user can read.
//   - Its memory and descriptors are limited, it has no capabilities, and its environment is empty. Standard input,
//     output and error lead nowhere. Calls of ioctl fail.
// - The processor time of all threads together is limited to the sum of three parts: the time that answered calls took,
//   one twentieth of the elapsed time, and an advance (`processorTime` in the configuration). A module that uses
//   several threads at once for a call, or computes between calls, uses up the advance; then the daemon ends its
//   worker.
// - Calls come one at a time, all on the thread that called latchkey_ladder_open. The module need not be thread-safe,
//   and may keep state between calls.
// - A module normally ends with its process, without notice. Only when the daemon stops in an orderly way, the worker
//   calls latchkey_ladder_close.
//
// Sizes and versions
//
// All sizes are in bytes. Each structure begins with its own size in the daemon's version of this header. Later
// versions of this header may add members at the end without changing the ABI version. A module may use such members
// only if `size` includes them, and must not write beyond `size`. A change that would break an existing module gets a
// new ABI version.
//
// All pointers belong to the daemon: the module copies data that it wants to keep, and frees nothing. The memory that
// the pointers of a call refer to is wiped after the call.
#ifndef LATCHKEY_LADDER_H
#define LATCHKEY_LADDER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LATCHKEY_LADDER_EXPORT __attribute__((visibility("default")))

// The version of the interface in this file.
#define LATCHKEY_LADDER_ABI_VERSION 1u

// The return values of the functions. Every other value means failure: the module cannot do the work for any device.
#define LATCHKEY_LADDER_OK 0
// Only from latchkey_ladder_answer_call: the module refuses the SK..R1 block, because its integrity check fails or it
// belongs to another credential. The client is told that its request was rejected, not that the server failed.
#define LATCHKEY_LADDER_REFUSED 0x4C4B5231

// What a content key is for (content_kind).
#define LATCHKEY_LADDER_CONTENT_UNKNOWN 0u
#define LATCHKEY_LADDER_CONTENT_VIDEO 1u
#define LATCHKEY_LADDER_CONTENT_AUDIO 2u

// The two session keys of a device, each with its own R1. The CKC's session key version has the same values.
#define LATCHKEY_LADDER_SESSION_KEY_GENERIC UINT64_C(0x182b0bb9f37383d1)
#define LATCHKEY_LADDER_SESSION_KEY_VIDEO UINT64_C(0x02a69d25f4b94c7c)

// The smallest and the largest size of the value of a finished content key block.
#define LATCHKEY_LADDER_VALUE_SIZE_MINIMUM 17u
#define LATCHKEY_LADDER_VALUE_CAPACITY 1024u

// An opened module. The module defines this structure; the daemon does not look into it.
typedef struct latchkey_ladder latchkey_ladder;

// The input for opening a module.
struct latchkey_ladder_setup {
    uint32_t size;
    // The content of the file that the configuration names as the module's data, for instance provisioning data: 1 to
    // 1,048,576 bytes. Secret. Valid during the call only.
    uint32_t data_size;
    const uint8_t *data;
};

// One call: the blocks of one SPC, and the content key for its device.
struct latchkey_ladder_call {
    uint32_t size;
    // LATCHKEY_LADDER_CONTENT_…
    uint32_t content_kind;
    // The content key, 16 bytes. Secret.
    const uint8_t *content_key;
    // Its initialization vector, 16 bytes.
    const uint8_t *content_iv;
    // The value of the block SK..R1, 112 bytes.
    const uint8_t *session_key_block;
    // The value of the block R2, 21 bytes.
    const uint8_t *r2;
    // The value of the block SK..R1 integrity, 16 bytes. The module must check it.
    const uint8_t *integrity;
    // The SHA-1 of the certificate or certificate bundle that the SPC names, 20 bytes.
    const uint8_t *certificate_hash;
    // The key formats that the device supports, 1 to 64 of them. If the SPC has no list, it is 0x58b38165af0e3d5a
    // alone.
    const uint64_t *key_formats;
    uint32_t key_format_count;
    // The value of the block "protocol version used".
    uint32_t protocol_version_used;
    // The values of the blocks SK..R1 video, 1 to 256 bytes, and R2 video, 1 to 64 bytes. If the SPC does not have
    // them, both pointers are null and both sizes are 0.
    const uint8_t *video_session_key_block;
    const uint8_t *video_r2;
    uint32_t video_session_key_block_size;
    uint32_t video_r2_size;
    // The session key that is to wrap the content key: LATCHKEY_LADDER_SESSION_KEY_… It is the one for video only if
    // the video blocks are present. The module may use the other one, and reports that in the answer.
    uint64_t session_key_wanted;
};

// The answer to one call. All memory that the pointers refer to is zero before the call.
struct latchkey_ladder_answer {
    uint32_t size;
    // A number for the daemon's log, such as the status of Apple's library. If it is 0, the log shows the return value
    // of latchkey_ladder_answer_call. Never put anything secret here.
    int32_t own_status;
    // HU, the anonymized device id: the module writes 20 bytes.
    uint8_t *device_id;
    // R1: the module writes 44 bytes. Secret. SK itself stays in the module.
    uint8_t *r1;
    // The value of the finished content key block, exactly as it goes into the CKC: the module writes 17 to 1,024
    // bytes, and sets their number.
    uint8_t *content_key_value;
    uint32_t content_key_value_capacity;
    uint32_t content_key_value_size;
    // The block's tag.
    uint64_t content_key_tag;
    // The session key that wraps the content key, and the R1 that was returned: LATCHKEY_LADDER_SESSION_KEY_… Both must
    // be set. With the R1 for video, the CKC has version 2.
    uint64_t session_key_used;
    uint64_t r1_used;
};

// Returns LATCHKEY_LADDER_ABI_VERSION of the header with which the module was built. The worker calls it first. If it
// does not know the version, it calls no other function.
LATCHKEY_LADDER_EXPORT uint32_t latchkey_ladder_abi_version(void);

// Opens the module and sets its handle, which may be null. Called once in a process. Any status other than
// LATCHKEY_LADDER_OK means that the module cannot work with this data; the status is written to the daemon's log.
LATCHKEY_LADDER_EXPORT int32_t latchkey_ladder_open(const struct latchkey_ladder_setup *setup, latchkey_ladder **ladder);

// Answers one call. With any status other than LATCHKEY_LADDER_OK, the daemon uses only own_status of the answer.
LATCHKEY_LADDER_EXPORT int32_t latchkey_ladder_answer_call(
    latchkey_ladder *ladder, const struct latchkey_ladder_call *call, struct latchkey_ladder_answer *answer);

// Closes the module, which must wipe its secrets.
LATCHKEY_LADDER_EXPORT void latchkey_ladder_close(latchkey_ladder *ladder);

// The types of these functions.
typedef uint32_t (*latchkey_ladder_abi_version_function)(void);
typedef int32_t (*latchkey_ladder_open_function)(const struct latchkey_ladder_setup *, latchkey_ladder **);
typedef int32_t (*latchkey_ladder_answer_call_function)(
    latchkey_ladder *, const struct latchkey_ladder_call *, struct latchkey_ladder_answer *);
typedef void (*latchkey_ladder_close_function)(latchkey_ladder *);

#ifdef __cplusplus
}
#endif

#endif

// The interface between Latchkey and a ladder module: a shared library that opens SK..R1 blocks of FairPlay Streaming
// where only a library of Apple's can. Latchkey contains, links and describes nothing of that library. A vendor that is
// licensed to have it writes a short bridge: a shared library that defines the four functions at the end of this file
// and calls the vendor's library from them.
//
//     cc -shared -fPIC -o my_ladder.so my_bridge.c -lvendor        with this header in the include path
//
// How a module is run
//
// - latchkeyd never loads a module into its own process. It starts itself again as a worker, one process for each
//   worker that the configuration asks for, and the worker loads the module. A module that crashes, hangs or leaks
//   costs the one call that it had begun.
// - Before the module is loaded, the worker gives up what it does not need. There is no network and no socket of any
//   kind; no process can be started, traced or signalled; no file can be opened for writing, made, changed or removed,
//   devices such as /dev/null included; memory and descriptors are limited; capabilities are gone, the environment is
//   empty, and standard input, output and error lead nowhere. Files can be read as far as their permissions let the
//   worker's user. Threads can be made. Calls of ioctl fail.
// - Processor time, of all threads together, is limited to the time that answered calls took, a twentieth of all
//   time, and an advance (`processorTime`). A module that computes a call on several threads at once, or computes
//   between calls, uses up the advance: its worker is ended then.
// - Calls come one at a time, all on the thread that called latchkey_ladder_open. The module need not be safe for
//   threads, and may keep state between calls.
// - The worker ends a module by ending the process. latchkey_ladder_close is called in good order only: when the daemon
//   stops.
//
// Sizes and versions
//
// All sizes are in bytes. Each structure begins with its own size, as the daemon knows it. Later versions of this
// header may add members at the end, under the same ABI version: a module looks at members that were added later only
// if `size` says that they are there, and must not write beyond `size`. A change that would break an existing module
// gets a new ABI version.
//
// All pointers are the daemon's: the module copies what it wants to keep, and frees nothing. Memory that a call lends
// is wiped after it.
#ifndef LATCHKEY_LADDER_H
#define LATCHKEY_LADDER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LATCHKEY_LADDER_EXPORT __attribute__((visibility("default")))

// The version of the interface in this file.
#define LATCHKEY_LADDER_ABI_VERSION 1u

// What the functions return. Every other value means failure: the module cannot do what is asked for, for any device.
#define LATCHKEY_LADDER_OK 0
// Only from latchkey_ladder_answer_call: the SK..R1 block is refused, because its integrity fails or it belongs to
// another credential. The client is told that its request was rejected, not that the server failed.
#define LATCHKEY_LADDER_REFUSED 0x4C4B5231

// What a content key is for (content_kind).
#define LATCHKEY_LADDER_CONTENT_UNKNOWN 0u
#define LATCHKEY_LADDER_CONTENT_VIDEO 1u
#define LATCHKEY_LADDER_CONTENT_AUDIO 2u

// The two session keys of a device, and the two R1 that go with them. The values are those of the CKC's session key
// version.
#define LATCHKEY_LADDER_SESSION_KEY_GENERIC UINT64_C(0x182b0bb9f37383d1)
#define LATCHKEY_LADDER_SESSION_KEY_VIDEO UINT64_C(0x02a69d25f4b94c7c)

// The room for a finished content key block; its size is at least LATCHKEY_LADDER_VALUE_SIZE_MINIMUM.
#define LATCHKEY_LADDER_VALUE_SIZE_MINIMUM 17u
#define LATCHKEY_LADDER_VALUE_CAPACITY 1024u

// A module that has been opened: the module's own, and opaque to the daemon.
typedef struct latchkey_ladder latchkey_ladder;

// What a module is opened with.
struct latchkey_ladder_setup {
    uint32_t size;
    // The content of the file that the configuration names as the module's data: provisioning data, for instance. 1 to
    // 1,048,576. Secret. Valid during the call only.
    uint32_t data_size;
    const uint8_t *data;
};

// One call: the blocks of one SPC, and the content key that its device is to get.
struct latchkey_ladder_call {
    uint32_t size;
    // LATCHKEY_LADDER_CONTENT_…
    uint32_t content_kind;
    // The content key, 16. Secret.
    const uint8_t *content_key;
    // Its initialization vector, 16.
    const uint8_t *content_iv;
    // The value of the block SK..R1, 112.
    const uint8_t *session_key_block;
    // The value of the block R2, 21.
    const uint8_t *r2;
    // The value of the block SK..R1 integrity, 16. The module checks it.
    const uint8_t *integrity;
    // The SHA-1 of the certificate or certificate bundle that the SPC names, 20.
    const uint8_t *certificate_hash;
    // The key formats that the device supports, 1 to 64. A device that names none supports 0x58b38165af0e3d5a.
    const uint64_t *key_formats;
    uint32_t key_format_count;
    // The value of the block "protocol version used".
    uint32_t protocol_version_used;
    // The values of the blocks SK..R1 video, 1 to 256, and R2 video, 1 to 64. Without them both pointers are null and
    // both sizes 0.
    const uint8_t *video_session_key_block;
    const uint8_t *video_r2;
    uint32_t video_session_key_block_size;
    uint32_t video_r2_size;
    // Which session key the content key is to be wrapped for: LATCHKEY_LADDER_SESSION_KEY_… The one for video is asked
    // for only if the video blocks are there. The module may use the other one, and says so.
    uint64_t session_key_wanted;
};

// The answer to one call. What the pointers lead to is zero before the call.
struct latchkey_ladder_answer {
    uint32_t size;
    // A number for the daemon's log, such as the status of the vendor's library. 0 for none; then
    // the log shows what latchkey_ladder_answer_call returned. Never anything secret.
    int32_t own_status;
    // HU, the anonymized device id: 20 bytes to be written.
    uint8_t *device_id;
    // R1: 44 bytes to be written. Secret. SK itself stays in the module.
    uint8_t *r1;
    // The finished content key block's value, as it goes into the CKC: 17 to 1,024 bytes to be written, and their
    // number.
    uint8_t *content_key_value;
    uint32_t content_key_value_capacity;
    uint32_t content_key_value_size;
    // The block's tag.
    uint64_t content_key_tag;
    // The session key that wraps the content key, and the R1 that was given out: LATCHKEY_LADDER_SESSION_KEY_… Both
    // must be set. With the R1 for video the CKC is one of version 2.
    uint64_t session_key_used;
    uint64_t r1_used;
};

// The module's ABI version: LATCHKEY_LADDER_ABI_VERSION of the header that it was built with. Called first; a daemon
// that does not know the version calls nothing else.
LATCHKEY_LADDER_EXPORT uint32_t latchkey_ladder_abi_version(void);

// Opens the module and gives its handle, which may be null. Called once in a process. Any status but LATCHKEY_LADDER_OK
// means that the module cannot work with this data; it goes to the daemon's log.
LATCHKEY_LADDER_EXPORT int32_t latchkey_ladder_open(const struct latchkey_ladder_setup *setup, latchkey_ladder **ladder);

// Answers one call. With any status but LATCHKEY_LADDER_OK nothing but own_status counts.
LATCHKEY_LADDER_EXPORT int32_t latchkey_ladder_answer_call(
    latchkey_ladder *ladder, const struct latchkey_ladder_call *call, struct latchkey_ladder_answer *answer);

// Closes the module: it wipes its secrets.
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

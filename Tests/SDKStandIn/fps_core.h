// The interface of libfpscrypto.so of the stand-in, which both flavours of the library use.
//
// A flavour reads the JSON of a call, passes each member to `fps_take`, runs the operations and writes their facts as
// JSON. Everything else is in this core: certificates, SPC, rules, CKC and faults.
#ifndef FPS_CORE_H
#define FPS_CORE_H

#include <stddef.h>
#include <stdint.h>

#define FPS_EXPORT __attribute__((visibility("default")))

// The version of the library, which the 2048-bit certificates of newer versions exceed.
#define FPS_VERSION_MAJOR 26
#define FPS_VERSION_MINOR 0
#define FPS_VERSION_TEXT "26.0.0"

enum fps_status {
    FPS_OK = 0,
    FPS_SPC_VERSION = -42580,
    FPS_PARSER = -42581,
    FPS_MISSING_TAG = -42583,
    FPS_PARAMETER = -42585,
    FPS_MEMORY = -42586,
    FPS_INTEGRITY = -42589,
    FPS_VERSION = -42590,
    FPS_DUPLICATE_TAG = -42591,
    FPS_INTERNAL = -42601,
    FPS_SECURITY_LEVEL = -42604,
    FPS_CERTIFICATE = -42605,
    // No answer has this number. The flavour must fail as it does for its own mistakes.
    FPS_PANIC = 1,
};

// The kind of a JSON value. The text of a number is the number as it was written. The text of a list has one space
// between its elements.
enum fps_kind { FPS_OTHER, FPS_TEXT, FPS_NUMBER, FPS_TRUE, FPS_FALSE, FPS_OBJECT, FPS_LIST };

enum fps_flavour { FPS_SWIFT_FLAVOUR = 1, FPS_RUST_FLAVOUR = 2 };

// One member of an item of the answer. Slashes in the path separate the names of nested objects.
struct fps_fact {
    const char *path;
    enum fps_kind kind;
    const char *text;
    size_t size;
};

// What the call returns. With a fault, `size` is not the size of the text.
struct fps_answer {
    char *text;
    uint64_t size;
    int32_t call_status;
    int writes_32_bits_of_size;
};

enum fps_certificates { FPS_CERTIFICATES_LOADED, FPS_CERTIFICATES_UNUSABLE, FPS_CERTIFICATES_NOT_JSON };

struct fps_call;
struct fps_operation;

// Reads the file that FPS_CERT_PATH names. Later calls in the same process return the first result.
FPS_EXPORT enum fps_certificates fps_load_certificates(void);

FPS_EXPORT struct fps_call *fps_call_begin(enum fps_flavour flavour, const char *request, size_t size);
FPS_EXPORT struct fps_operation *fps_call_add(struct fps_call *call, int makes_ckc);

// Passes one member of the request. Members with an unknown name and values of an unexpected kind are ignored.
FPS_EXPORT void fps_take(
    struct fps_operation *operation, const char *name, enum fps_kind kind, const char *text, size_t size);

// Returns FPS_OK, FPS_PANIC, or the status with which the whole call fails, after all members were passed.
FPS_EXPORT int32_t fps_check(const struct fps_operation *operation);

// Runs the operation, which has a list of facts afterwards. Returns FPS_OK or FPS_PANIC.
FPS_EXPORT int32_t fps_run(struct fps_operation *operation);

FPS_EXPORT size_t fps_fact_count(const struct fps_operation *operation);
FPS_EXPORT const struct fps_fact *fps_fact_at(const struct fps_operation *operation, size_t index);
// How often the answer contains the item: once without a fault.
FPS_EXPORT int fps_item_count(const struct fps_operation *operation);

// Makes an answer of a text with `size` bytes, and ends the call. `answer_size` is the size to report, which includes
// the NUL. If it is less, the answer is cut and has no NUL.
FPS_EXPORT void fps_call_finish(
    struct fps_call *call, const char *text, size_t size, size_t answer_size, struct fps_answer *answer);
// Makes the answer after a panic: it has an item with the status FPS_INTERNAL, and no NUL in its size.
FPS_EXPORT void fps_call_panic(struct fps_call *call, struct fps_answer *answer);

// Releases an answer. Stops the process if the memory does not come from this library, or was changed in a way that
// the real library does not survive.
FPS_EXPORT void fps_dispose(char *text);

#endif

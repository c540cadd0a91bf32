#include "faults.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

// Without a limit of the process's memory, the fault stops here.
#define EXHAUSTED_CHUNKS_MAXIMUM 128
#define CHUNK_SIZE (16 << 20)

static const struct {
    const char *name;
    enum fault_kind kind;
} names[] = {
    {"crash", CRASH},                         // writes to address 0
    {"abort", ABORT},                         // aborts
    {"exit", EXIT},                           // ends the process with the status 0
    {"hang", HANG},                           // waits without end
    {"slow", SLOW},                           // waits before it answers: "slow-MS"
    {"exhaust-memory", EXHAUST_MEMORY},       // takes all memory, and answers that it has none
    {"panic", PANIC},                         // panics; the Swift flavour traps
    {"call-status", CALL_STATUS},             // returns a status and no answer
    {"no-answer", NO_ANSWER},                 // returns the status 0 and no answer
    {"print-request", PRINT_REQUEST},         // prints the request, with the content key, as an error
    {"print-output", PRINT_OUTPUT},           // prints the answer
    {"hu-random", HU_RANDOM},                 // a new HU in each call
    {"hu-wrong", HU_WRONG},                   // a wrong HU, the same in each call
    {"facts-wrong", FACTS_WRONG},             // wrong transaction and playback session
    {"numbers-large", NUMBERS_LARGE},         // all numbers of the facts are 2^64 - 1
    {"numbers-too-large", NUMBERS_TOO_LARGE}, // all numbers of the facts are 2^65
    {"id-wrong", ID_WRONG},                   // the id of another operation
    {"item-status", ITEM_STATUS},             // a status that is not known
    {"ckc-missing", CKC_MISSING},             // an item without a CKC
    {"ckc-not-base64", CKC_NOT_BASE64},       // a CKC that is not Base64
    {"ckc-length", CKC_LENGTH},               // a length in the CKC that is 16 too large
    {"ckc-cut", CKC_CUT},                     // a CKC that lacks 16 bytes
    {"ckc-other-key", CKC_OTHER_KEY},         // a CKC with a random content key
    {"items-empty", ITEMS_EMPTY},             // a list without items
    {"items-twice", ITEMS_TWICE},             // the item twice
    {"not-json", NOT_JSON},                   // an answer that is not JSON
    {"cut", CUT},                             // half an answer, without NUL
    {"no-nul", NO_NUL},                       // a whole answer whose size does not include a NUL
    {"size-32", SIZE_32},                     // only the lower 32 bits of the size are written
    {"size-large", SIZE_LARGE},               // a size that is too large
    {"nul-in-the-middle", NUL_IN_THE_MIDDLE}, // a NUL in the middle of the answer
    {"huge", HUGE_ANSWER},                    // an answer of 10 MiB
};

static size_t ends_name(const char *text, size_t size, size_t at) { return at == size || text[at] == '-' ? at : 0; }

// Reads "-MS" after the name.
static size_t read_amount(const char *text, size_t size, size_t at, struct fault *fault) {
    size_t digit = at + 1;
    fault->amount = 0;
    while (digit < size && digit < at + 8 && text[digit] >= '0' && text[digit] <= '9') {
        fault->amount = 10 * fault->amount + text[digit++] - '0';
    }
    return digit > at + 1 ? ends_name(text, size, digit) : 0;
}

size_t fault_read(const char *text, size_t size, struct fault *fault) {
    for (size_t index = 0; index < sizeof names / sizeof names[0]; index++) {
        size_t length = strlen(names[index].name);
        if (length > size || memcmp(text, names[index].name, length) != 0) continue;
        size_t end = names[index].kind == SLOW ? read_amount(text, size, length, fault) : ends_name(text, size, length);
        if (end == 0) continue;
        fault->kind = names[index].kind;
        return end;
    }
    return 0;
}

struct fault fault_of_asset(const uint8_t *asset_id, size_t size) {
    static const char prefix[] = "fault-";
    struct fault fault = {NO_FAULT, 0};
    size_t length = sizeof prefix - 1;
    if (size > length && memcmp(asset_id, prefix, length) == 0) {
        fault_read((const char *)asset_id + length, size - length, &fault);
    }
    return fault;
}

static void crash(void) {
    volatile int *volatile nowhere = NULL;
    *nowhere = 1;
}

static void rest(long milliseconds) {
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &time, &time) == EINTR) {}
}

// Takes memory until there is no more, and gives it back.
static void exhaust_memory(void) {
    void *chunks[EXHAUSTED_CHUNKS_MAXIMUM];
    int count = 0;
    while (count < EXHAUSTED_CHUNKS_MAXIMUM && (chunks[count] = malloc(CHUNK_SIZE)) != NULL) {
        memset(chunks[count++], 1, CHUNK_SIZE);
    }
    while (count > 0) free(chunks[--count]);
}

int fault_act(struct fault fault) {
    switch (fault.kind) {
    case CRASH: crash(); break;
    case ABORT: abort();
    case EXIT: exit(0);
    case HANG:
        // A test can see this name.
        prctl(PR_SET_NAME, "hanging", 0, 0, 0);
        for (;;) pause();
    case SLOW: rest(fault.amount); break;
    case EXHAUST_MEMORY: exhaust_memory(); return 0;
    default: break;
    }
    return 1;
}

// What the stand-in can do wrong on purpose.
//
// A fault has a name. The provisioning data names the faults of all calls for a credential (credentials.c lists the
// lines), and an asset id names the fault of one call ("fault-NAME" or "fault-NAME-…").
#ifndef FAULTS_H
#define FAULTS_H

#include <stddef.h>
#include <stdint.h>

enum fault_kind {
    NO_FAULT,
    // These end or delay the call.
    CRASH, ABORT, EXIT, HANG, SLOW, EXHAUST_MEMORY, PANIC, CALL_STATUS, NO_ANSWER,
    // These write what must stay secret.
    PRINT_REQUEST, PRINT_OUTPUT,
    // These make the facts or the CKC wrong.
    HU_RANDOM, HU_WRONG, FACTS_WRONG, NUMBERS_LARGE, NUMBERS_TOO_LARGE, ID_WRONG, ITEM_STATUS,
    CKC_MISSING, CKC_NOT_BASE64, CKC_LENGTH, CKC_CUT, CKC_OTHER_KEY,
    // These make the list of items or the text of the answer wrong.
    ITEMS_EMPTY, ITEMS_TWICE, NOT_JSON, CUT, NO_NUL, SIZE_32, SIZE_LARGE, NUL_IN_THE_MIDDLE, HUGE_ANSWER,
};

struct fault {
    enum fault_kind kind;
    // Milliseconds of SLOW.
    long amount;
};

// Reads the name of a fault at the start of a text; it ends at the end of the text or at a hyphen. Returns how many
// characters it has, or 0 if the text starts with no such name.
size_t fault_read(const char *text, size_t size, struct fault *fault);

// Reads the fault that an asset id names, if any.
struct fault fault_of_asset(const uint8_t *asset_id, size_t size);

// Does what ends or delays the call. Returns 0 if the memory is exhausted, otherwise 1.
int fault_act(struct fault fault);

#endif

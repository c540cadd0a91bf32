// The certificates file and the entries in it.
#ifndef CREDENTIALS_H
#define CREDENTIALS_H

#include <openssl/evp.h>
#include <stdint.h>

#include "faults.h"
#include "fps_core.h"

// The 1024-bit certificate, the 2048-bit one, and the file with both. An SPC names one of them.
enum { NAMED_FILES = 3 };

struct entry {
    uint8_t sha1[NAMED_FILES][20];
    uint8_t sha256[NAMED_FILES][32];
    int named_files;
    EVP_PKEY *key_1024;
    EVP_PKEY *key_2048;
    uint8_t secret[16];
    // The secret is an application secret, not a DASk.
    int has_application_secret;
    int uses_video;
    struct fault fault;
    struct fault failure_fault;
};

// Returns the entry whose certificate has this hash of 20 or 32 bytes, or NULL. It also returns NULL if the file is
// not usable.
const struct entry *entry_named(const uint8_t *hash, size_t size);

#endif

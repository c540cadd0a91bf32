// An opened SPC: its blocks, its session keys and what the device states about itself.
#ifndef SPC_H
#define SPC_H

#include "credentials.h"

#define BLOCKS_MAXIMUM 512

struct block {
    uint64_t tag;
    const uint8_t *value;
    size_t size;
};

struct session_keys {
    uint8_t session_key[16];
    uint8_t device_id[20];
    uint8_t r1[44];
};

struct spc {
    const struct entry *entry;
    uint8_t *payload;
    struct block blocks[BLOCKS_MAXIMUM];
    size_t count;
    struct session_keys keys;
    // What the rules need. A level of 0 means that there is no report.
    uint64_t capabilities;
    uint64_t level;
    uint32_t deny_list_version;
    uint32_t version_used;
    // The sync block if it has a version that is known, with its version and flags.
    const uint8_t *sync;
    uint32_t sync_version;
    uint64_t sync_flags;
    uint32_t sync_records;
    int has_playback_state;
};

// Opens a message. Returns FPS_OK or the status of the operation. The SPC must be freed in both cases.
int32_t spc_open(struct spc *spc, const uint8_t *message, size_t size);
void spc_free(struct spc *spc);

const struct block *spc_block(const struct spc *spc, uint64_t tag);
// Opens an SK..R1 block with an R2. Returns FPS_OK or a status.
int32_t spc_open_keys(
    const struct spc *spc, const struct block *block, const struct block *r2, struct session_keys *keys);

#endif

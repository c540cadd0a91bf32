#include "spc.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "keys.h"
#include "tags.h"

#define SESSION_BLOCK_SIZE 112
#define SYNC_RECORDS_MAXIMUM 250

static const uint8_t transport_uuid[16] = {
    0x66, 0x44, 0xff, 0x2b, 0xa8, 0x7c, 0x99, 0xb6, 0xff, 0x96, 0x55, 0x27, 0x0c, 0xd0, 0x68, 0xa6};
static const uint8_t payload_key_seed[16] = {
    0x70, 0xd1, 0xe6, 0xc3, 0x4f, 0x07, 0xe8, 0x49, 0xb3, 0xa6, 0x24, 0x34, 0x0f, 0x4f, 0x17, 0x6d};
static const uint8_t payload_iv_seed[16] = {
    0xc1, 0x1b, 0x3e, 0xd1, 0xa3, 0x80, 0x3f, 0x4e, 0x13, 0x22, 0xa0, 0x88, 0x03, 0x14, 0x5a, 0xc6};
static const uint8_t mac_key_seed[16] = {
    0x96, 0xd3, 0x43, 0x5f, 0x6e, 0xf0, 0x8d, 0x7d, 0x12, 0x1f, 0xa8, 0x6b, 0x25, 0x3e, 0x4a, 0xc9};

// The clear part of an SPC. The offsets of version 1, 2 and 3 differ.
struct container {
    uint32_t version;
    const uint8_t *wrapped;
    size_t wrapped_size;
    const uint8_t *certificate_hash;
    size_t hash_size;
    const uint8_t *payload;
    // What the length field says, and what follows until the end of the message.
    size_t payload_size;
    size_t rest_size;
};

static int32_t read_container(struct container *container, const uint8_t *message, size_t size) {
    if (size < 8) return FPS_PARSER;
    uint32_t version = (uint32_t)read_number(message, 4);
    if (version < 1 || version > 3) return FPS_SPC_VERSION;
    size_t wrapped_size = version == 1 ? 128 : 256;
    size_t hash_size = version == 3 ? 32 : 20;
    size_t length_size = version == 3 ? 16 : 4;
    size_t head_size = 24 + wrapped_size + hash_size + length_size;
    if (size < head_size) return FPS_PARSER;
    if (version == 3 && memcmp(message + 8, transport_uuid, 16) != 0) return FPS_VERSION;
    *container = (struct container){
        .version = version,
        .wrapped = message + 24,
        .wrapped_size = wrapped_size,
        .certificate_hash = message + 24 + wrapped_size,
        .hash_size = hash_size,
        .payload = message + head_size,
        .payload_size = (size_t)read_number(message + head_size - 4, 4),
        .rest_size = size - head_size,
    };
    // All that follows is decrypted, also what is beyond the length, and even the tag of version 3.
    size_t needed = container->payload_size + (version == 3 ? 16 : 0);
    return container->rest_size < needed || container->rest_size % 16 != 0 ? FPS_PARSER : FPS_OK;
}

static int32_t derive_version_3(const struct container *container, uint8_t key[16], uint8_t iv[16]) {
    uint8_t mac_key[16], tag[16], master[16];
    memcpy(master, key, 16);
    if (!aes_encrypt_block(master, payload_key_seed, key) || !aes_encrypt_block(master, payload_iv_seed, iv)
        || !aes_encrypt_block(master, mac_key_seed, mac_key)) {
        return FPS_INTERNAL;
    }
    struct buffer covered = {0};
    buffer_add(&covered, container->wrapped, container->wrapped_size);
    buffer_add(&covered, container->certificate_hash, container->hash_size);
    buffer_add_number(&covered, 0, 8);
    buffer_add_number(&covered, container->payload_size, 8);
    buffer_add(&covered, container->payload, container->payload_size);
    int is_done = aes_cmac(mac_key, covered.bytes, covered.size, tag);
    buffer_free(&covered);
    if (!is_done) return FPS_INTERNAL;
    return CRYPTO_memcmp(tag, container->payload + container->payload_size, 16) == 0 ? FPS_OK : FPS_INTEGRITY;
}

static int32_t decrypt_payload(struct spc *spc, const struct container *container, const uint8_t *message) {
    spc->entry = entry_named(container->certificate_hash, container->hash_size);
    if (spc->entry == NULL) return FPS_CERTIFICATE;
    EVP_PKEY *rsa = container->version == 1 ? spc->entry->key_1024 : spc->entry->key_2048;
    const EVP_MD *digest = container->version == 1 ? EVP_sha1() : EVP_sha256();
    uint8_t key[16], iv[16];
    if (rsa == NULL || !unwrap_key(rsa, digest, container->wrapped, container->wrapped_size, key)) {
        return FPS_CERTIFICATE;
    }
    memcpy(iv, message + 8, 16);
    int32_t status = container->version == 3 ? derive_version_3(container, key, iv) : FPS_OK;
    if (status != FPS_OK) return status;
    spc->payload = malloc(container->rest_size + 1);
    if (spc->payload == NULL) return FPS_MEMORY;
    return aes_cbc(0, key, iv, container->payload, container->rest_size, spc->payload) ? FPS_OK : FPS_PARSER;
}

// Reads the blocks. Like the real library, this does not check that lengths are multiples of 16.
static int32_t read_blocks(struct spc *spc, size_t size) {
    size_t offset = 0;
    while (offset < size) {
        if (size - offset < 16 || spc->count == BLOCKS_MAXIMUM) return FPS_PARSER;
        const uint8_t *head = spc->payload + offset;
        uint64_t tag = read_number(head, 8);
        size_t block_size = (size_t)read_number(head + 8, 4);
        size_t value_size = (size_t)read_number(head + 12, 4);
        offset += 16;
        if (block_size > size - offset || value_size > block_size) return FPS_PARSER;
        if (spc_block(spc, tag) != NULL) return FPS_DUPLICATE_TAG;
        spc->blocks[spc->count++] = (struct block){tag, head + 16, value_size};
        offset += block_size;
    }
    return FPS_OK;
}

static const struct {
    uint64_t tag;
    int is_required;
    size_t size_minimum;
    size_t size_maximum;
} sizes[] = {
    {TAG_SESSION_KEY_AND_R1, 1, SESSION_BLOCK_SIZE, SESSION_BLOCK_SIZE},
    {TAG_INTEGRITY, 1, 16, 16},
    {TAG_ANTI_REPLAY_SEED, 1, 16, 16},
    {TAG_R2, 1, 1, 55},
    {TAG_RETURN_REQUEST, 1, 0, SIZE_MAX},
    {TAG_ASSET_ID, 1, 2, 200},
    {TAG_TRANSACTION_ID, 1, 8, 8},
    {TAG_VERSIONS_SUPPORTED, 1, 4, 4 * 99},
    {TAG_VERSION_USED, 1, 4, 4},
    {TAG_STREAMING_INDICATOR, 0, 8, SIZE_MAX},
    {TAG_PLAYBACK_STATE, 0, 16, SIZE_MAX},
    {TAG_CAPABILITIES, 0, 16, SIZE_MAX},
    {TAG_DEVICE_IDENTITY, 0, 36, SIZE_MAX},
    {TAG_DEVICE_INFO, 0, 16, SIZE_MAX},
    {TAG_DENY_LIST_VERSION, 0, 4, SIZE_MAX},
    {TAG_VM_DEVICE_INFO, 0, 28, SIZE_MAX},
    {TAG_SYNC, 0, 4, SIZE_MAX},
    {TAG_SESSION_KEY_AND_R1_VIDEO, 0, 0, 256},
    {TAG_R2_VIDEO, 0, 0, 64},
};

static int32_t check_sizes(const struct spc *spc) {
    int32_t status = FPS_OK;
    for (size_t index = 0; index < sizeof sizes / sizeof sizes[0]; index++) {
        const struct block *block = spc_block(spc, sizes[index].tag);
        if (block == NULL) {
            if (sizes[index].is_required) return FPS_MISSING_TAG;
        } else if (block->size < sizes[index].size_minimum || block->size > sizes[index].size_maximum) {
            status = FPS_PARSER;
        }
    }
    const struct block *request = spc_block(spc, TAG_RETURN_REQUEST);
    if (request->size % 8 != 0 || spc_block(spc, TAG_VERSIONS_SUPPORTED)->size % 4 != 0) status = FPS_PARSER;
    if (status != FPS_OK) return status;
    for (size_t offset = 0; offset < request->size; offset += 8) {
        if (spc_block(spc, read_number(request->value + offset, 8)) == NULL) return FPS_MISSING_TAG;
    }
    return FPS_OK;
}

// Reads the report of the security level. The encrypted form, of 32 bytes, and other versions are ignored.
static int32_t read_level(struct spc *spc) {
    const struct block *report = spc_block(spc, TAG_SECURITY_LEVEL_REPORT);
    const struct block *deny_list = spc_block(spc, TAG_DENY_LIST_VERSION);
    if (report != NULL && report->size != 32 && report->size >= 20 && read_number(report->value, 4) == 1) {
        if (read_number(report->value + 4, 4) != 0) return FPS_PARAMETER;
        spc->level = read_number(report->value + 8, 8);
        spc->deny_list_version = (uint32_t)read_number(report->value + 16, 4);
    }
    // The block takes precedence over the report.
    if (deny_list != NULL) spc->deny_list_version = (uint32_t)read_number(deny_list->value, 4);
    return FPS_OK;
}

static int32_t read_sync(struct spc *spc) {
    const struct block *block = spc_block(spc, TAG_SYNC);
    if (block == NULL) return FPS_OK;
    uint32_t version = (uint32_t)read_number(block->value, 4);
    if (version != 1 && version != 2) return FPS_OK;
    if (block->size < (version == 1 ? 28u : 48u)) return FPS_PARSER;
    // Only version 1 is refused if its reserved word is not zero.
    if (version == 1 && read_number(block->value + 4, 4) != 0) return FPS_PARAMETER;
    if (version == 2) {
        spc->sync_flags = read_number(block->value + 16, 8);
        spc->sync_records = (uint32_t)read_number(block->value + 44, 4);
        if (spc->sync_records > SYNC_RECORDS_MAXIMUM) return FPS_INTERNAL;
        if (block->size < 48 + 16 * (size_t)spc->sync_records) return FPS_PARSER;
    }
    spc->sync = block->value;
    spc->sync_version = version;
    return FPS_OK;
}

static int32_t read_facts(struct spc *spc) {
    const struct block *capabilities = spc_block(spc, TAG_CAPABILITIES);
    if (capabilities != NULL) spc->capabilities = read_number(capabilities->value + 8, 8);
    spc->version_used = (uint32_t)read_number(spc_block(spc, TAG_VERSION_USED)->value, 4);
    spc->has_playback_state = spc_block(spc, TAG_PLAYBACK_STATE) != NULL;
    int32_t status = read_level(spc);
    return status != FPS_OK ? status : read_sync(spc);
}

int32_t spc_open_keys(
    const struct spc *spc, const struct block *block, const struct block *r2, struct session_keys *keys) {
    uint8_t dask[16], plain[96];
    if (block->size != SESSION_BLOCK_SIZE) return FPS_PARSER;
    memcpy(dask, spc->entry->secret, 16);
    if (spc->entry->has_application_secret && !device_key(spc->entry->secret, r2->value, r2->size, dask)) {
        return FPS_INTERNAL;
    }
    if (!aes_cbc(0, dask, block->value, block->value + 16, sizeof plain, plain)) return FPS_INTERNAL;
    memcpy(keys, plain, sizeof *keys);
    return CRYPTO_memcmp(plain + 80, spc_block(spc, TAG_INTEGRITY)->value, 16) == 0 ? FPS_OK : FPS_INTEGRITY;
}

int32_t spc_open(struct spc *spc, const uint8_t *message, size_t size) {
    struct container container;
    memset(spc, 0, sizeof *spc);
    int32_t status = read_container(&container, message, size);
    if (status == FPS_OK) status = decrypt_payload(spc, &container, message);
    if (status == FPS_OK) status = read_blocks(spc, container.payload_size);
    if (status == FPS_OK) status = check_sizes(spc);
    if (status == FPS_OK) {
        status = spc_open_keys(spc, spc_block(spc, TAG_SESSION_KEY_AND_R1), spc_block(spc, TAG_R2), &spc->keys);
    }
    return status != FPS_OK ? status : read_facts(spc);
}

void spc_free(struct spc *spc) {
    free(spc->payload);
    spc->payload = NULL;
}

const struct block *spc_block(const struct spc *spc, uint64_t tag) {
    for (size_t index = 0; index < spc->count; index++) {
        if (spc->blocks[index].tag == tag) return &spc->blocks[index];
    }
    return NULL;
}

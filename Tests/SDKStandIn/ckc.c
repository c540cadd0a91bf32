#include "ckc.h"

#include <string.h>

#include "keys.h"
#include "tags.h"

#define DENY_LIST_VERSION_MINIMUM 31
#if defined(__aarch64__)
#define PLATFORM 2
#else
#define PLATFORM 1
#endif

// --- Rules -----------------------------------------------------------------------------------------------------------

static int has(const struct spc *spc, uint64_t capability) { return (spc->capabilities & capability) != 0; }

// Whether the device is known to be below Main. A device that states nothing is not known to be.
static int is_below_main(const struct spc *spc) {
    if (spc->level != 0) return spc->level < LEVEL_MAIN;
    return has(spc, CAPABILITY_LEVEL_BASELINE) && !has(spc, CAPABILITY_LEVEL_MAIN);
}

static int32_t check_content_type(const struct spc *spc, const struct asset *asset) {
    switch (asset->content_type) {
    case CONTENT_UHD:
        if (is_below_main(spc)) return FPS_SECURITY_LEVEL;
        return asset->hdcp_type == 1 ? FPS_OK : FPS_PARAMETER;
    case CONTENT_HD:
        if (spc->level != 0 && spc->level < LEVEL_BASELINE) return FPS_SECURITY_LEVEL;
        return asset->hdcp_type == -1 ? FPS_PARAMETER : FPS_OK;
    case CONTENT_SD:
    case CONTENT_AUDIO: return FPS_OK;
    case CONTENT_UNKNOWN: break;
    }
    return FPS_PARAMETER;
}

int32_t check_rules(const struct spc *spc, const struct asset *asset, int checks_in) {
    if (spc->deny_list_version > 0 && spc->deny_list_version < DENY_LIST_VERSION_MINIMUM) return FPS_SECURITY_LEVEL;
    if (asset->lease_seconds != 0 && asset->is_offline) return FPS_PARAMETER;
    if (checks_in) return spc->sync_flags == 0 ? FPS_PARAMETER : FPS_OK;
    int32_t status = check_content_type(spc, asset);
    if (status != FPS_OK) return status;
    if (asset->hdcp_type == 1 && !has(spc, CAPABILITY_HDCP_TYPE_1)) return FPS_SECURITY_LEVEL;
    int has_ids = asset->has_stream_id && asset->has_title_id;
    if (asset->is_offline && has_ids && !has(spc, CAPABILITY_OFFLINE_KEY_2)) return FPS_PARAMETER;
    return FPS_OK;
}

// --- Blocks ----------------------------------------------------------------------------------------------------------

// Adds a block with random padding.
static void add_block(struct buffer *payload, uint64_t tag, const uint8_t *value, size_t size) {
    uint8_t padding[64];
    random_bytes(padding, sizeof padding);
    size_t padding_size = (16 - size % 16) % 16 + 16 * (padding[63] % 4u);
    buffer_add_number(payload, tag, 8);
    buffer_add_number(payload, size + padding_size, 4);
    buffer_add_number(payload, size, 4);
    buffer_add(payload, value, size);
    buffer_add(payload, padding, padding_size);
}

static void add_value(struct buffer *payload, uint64_t tag, struct buffer *value) {
    add_block(payload, tag, value->bytes, value->size);
    buffer_free(value);
}

static void add_content_key(
    struct buffer *payload, const struct asset *asset, const struct session_keys *keys, struct fault fault) {
    uint8_t value[32], key[16];
    memcpy(key, asset->content_key, 16);
    if (fault.kind == CKC_OTHER_KEY) random_bytes(key, 16);
    memcpy(value, asset->content_iv, 16);
    aes_encrypt_block(keys->session_key, key, value + 16);
    add_block(payload, TAG_CONTENT_KEY, value, sizeof value);
}

static void add_versioned(struct buffer *payload, uint64_t tag, uint64_t word) {
    struct buffer value = {0};
    buffer_add_number(&value, 1, 4);
    buffer_add_number(&value, 0, 4);
    buffer_add_number(&value, word, 8);
    add_value(payload, tag, &value);
}

static void add_duration(struct buffer *payload, uint32_t lease, uint32_t rental, uint32_t key_type) {
    struct buffer value = {0};
    buffer_add_number(&value, lease, 4);
    buffer_add_number(&value, rental, 4);
    buffer_add_number(&value, key_type, 4);
    buffer_add_number(&value, DURATION_RESERVED_WORD, 4);
    add_value(payload, TAG_DURATION, &value);
}

static void add_offline_key(struct buffer *payload, const struct asset *asset) {
    int is_version_2 = asset->has_stream_id;
    struct buffer value = {0};
    buffer_add_number(&value, is_version_2 ? 2 : 1, 4);
    buffer_add_number(&value, 0, 4);
    buffer_add(&value, asset->stream_id, 16);
    buffer_add_number(&value, asset->rental_seconds, 4);
    buffer_add_number(&value, asset->playback_seconds, 4);
    if (is_version_2) buffer_add(&value, asset->title_id, 16);
    add_value(payload, TAG_OFFLINE_KEY, &value);
}

// Adds the limits. A lease and a persistence without an offline key are left out silently if the SPC has no playback
// state. The offline key of version 1 needs the capability of version 2.
static void add_terms(struct buffer *payload, const struct spc *spc, const struct asset *asset) {
    if (asset->is_offline) {
        int has_limit = asset->rental_seconds != 0 || asset->playback_seconds != 0;
        uint32_t key_type = has_limit ? KEY_TYPE_PERSISTENT_LIMITED : KEY_TYPE_PERSISTENT;
        if (has(spc, CAPABILITY_OFFLINE_KEY_2)) {
            add_offline_key(payload, asset);
        } else if (spc->has_playback_state) {
            add_duration(payload, 0, asset->rental_seconds, key_type);
        }
    } else if (asset->lease_seconds != 0 && spc->has_playback_state) {
        add_duration(payload, asset->lease_seconds, 0, KEY_TYPE_LEASE);
    }
}

static void add_echoes(struct buffer *payload, const struct spc *spc) {
    const struct block *request = spc_block(spc, TAG_RETURN_REQUEST);
    for (size_t offset = 0; offset < request->size; offset += 8) {
        uint64_t tag = read_number(request->value + offset, 8);
        int is_repeated = 0;
        for (size_t earlier = 0; earlier < offset; earlier += 8) {
            is_repeated = is_repeated || read_number(request->value + earlier, 8) == tag;
        }
        const struct block *block = spc_block(spc, tag);
        if (!is_repeated) add_block(payload, tag, block->value, block->size);
    }
}

static void add_hdcp(struct buffer *payload, int type) {
    uint8_t random[8];
    struct buffer value = {0};
    random_bytes(random, sizeof random);
    buffer_add_number(&value, type == -1 ? HDCP_NOT_REQUIRED : type == 0 ? HDCP_TYPE_0 : HDCP_TYPE_1, 8);
    buffer_add(&value, random, sizeof random);
    add_value(payload, TAG_HDCP, &value);
}

static uint64_t required_level(enum content_type type) {
    return type == CONTENT_UHD ? LEVEL_MAIN : type == CONTENT_AUDIO ? LEVEL_AUDIO : LEVEL_BASELINE;
}

// --- The CKC ---------------------------------------------------------------------------------------------------------

static int uses_video(const struct spc *spc, const struct asset *asset) {
    int is_video = asset->content_type == CONTENT_SD || asset->content_type == CONTENT_HD
        || asset->content_type == CONTENT_UHD;
    return spc->entry->uses_video && asset->is_cbcs && is_video && spc->version_used == 1
        && spc_block(spc, TAG_SESSION_KEY_AND_R1_VIDEO) != NULL && spc_block(spc, TAG_R2_VIDEO) != NULL;
}

// The layout of the reserved word: major version, minor version, language and platform.
static uint32_t reserved_word(enum fps_flavour flavour) {
    return FPS_VERSION_MAJOR << 9 | FPS_VERSION_MINOR << 5 | (uint32_t)flavour << 3 | PLATFORM;
}

static int32_t seal(
    struct buffer *ckc, const struct buffer *payload, const struct spc *spc, const struct session_keys *keys,
    enum fault_kind fault) {
    uint8_t digest[20], key[16], iv[16];
    struct buffer encrypted = {0};
    buffer_add(&encrypted, payload->bytes, payload->size);
    const uint8_t *seed = spc_block(spc, TAG_ANTI_REPLAY_SEED)->value;
    int is_done = hash(EVP_sha1(), keys->r1, sizeof keys->r1, digest) && aes_encrypt_block(digest, seed, key)
        && random_bytes(iv, 16) && aes_cbc(1, key, iv, payload->bytes, payload->size, encrypted.bytes);
    buffer_add(ckc, iv, 16);
    buffer_add_number(ckc, payload->size + (fault == CKC_LENGTH ? 16 : 0), 4);
    buffer_add(ckc, encrypted.bytes, encrypted.size - (fault == CKC_CUT ? 16 : 0));
    buffer_free(&encrypted);
    return is_done ? FPS_OK : FPS_INTERNAL;
}

int32_t ckc_write(
    const struct spc *spc, const struct asset *asset, enum fps_flavour flavour, struct fault fault,
    struct buffer *ckc) {
    struct session_keys keys = spc->keys;
    int is_video = uses_video(spc, asset);
    if (is_video) {
        int32_t status = spc_open_keys(
            spc, spc_block(spc, TAG_SESSION_KEY_AND_R1_VIDEO), spc_block(spc, TAG_R2_VIDEO), &keys);
        if (status != FPS_OK) return status;
    }
    struct buffer payload = {0};
    add_content_key(&payload, asset, &keys, fault);
    add_block(&payload, TAG_R1, keys.r1, sizeof keys.r1);
    add_versioned(&payload, TAG_SESSION_KEY_VERSION, is_video ? SESSION_KEY_VIDEO : SESSION_KEY_GENERIC);
    add_echoes(&payload, spc);
    add_hdcp(&payload, asset->hdcp_type);
    add_versioned(&payload, TAG_REQUIRED_LEVEL, required_level(asset->content_type));
    add_terms(&payload, spc, asset);
    buffer_add_number(ckc, is_video ? 2 : 1, 4);
    buffer_add_number(ckc, reserved_word(flavour), 4);
    int32_t status = seal(ckc, &payload, spc, &keys, fault.kind);
    buffer_free(&payload);
    return status;
}

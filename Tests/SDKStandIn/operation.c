// Reads the members of a request, runs an operation and collects its facts.
#include "operation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "keys.h"
#include "tags.h"

#define LARGE_NUMBER "18446744073709551615"
#define TOO_LARGE_NUMBER "36893488147419103232"
#define UNKNOWN_STATUS (-42999)

// --- The members of the request --------------------------------------------------------------------------------------

// Reads a number that is written with digits only and has at most 64 bits.
static int read_digits(const char *text, size_t size, uint64_t *number) {
    *number = 0;
    for (size_t index = 0; index < size; index++) {
        if (text[index] < '0' || text[index] > '9') return 0;
        uint64_t digit = (uint64_t)(text[index] - '0');
        if (*number > (UINT64_MAX - digit) / 10) return 0;
        *number = 10 * *number + digit;
    }
    return size > 0;
}

static int is(const char *text, size_t size, const char *word) {
    return size == strlen(word) && memcmp(text, word, size) == 0;
}

static void note(struct fps_operation *operation, int32_t problem) {
    if (operation->problem == FPS_OK || problem == FPS_PANIC) operation->problem = problem;
}

static void take_key(struct fps_operation *operation, uint8_t key[16], const char *text, size_t size) {
    long count = read_hex(text, size, key, 16);
    if (count < 0 || count > 16) note(operation, FPS_PARAMETER);
}

// An empty identifier counts as absent. The real library stops if one is not hexadecimal.
static void take_identifier(
    struct fps_operation *operation, uint8_t identifier[16], int *has_identifier, const char *text, size_t size) {
    *has_identifier = size > 0;
    // A short identifier is filled with zeros at its end, and a long one is cut.
    if (read_hex(text, size, identifier, 16) < 0) note(operation, FPS_PANIC);
}

static enum content_type content_type_of(const char *text, size_t size) {
    if (is(text, size, "uhd")) return CONTENT_UHD;
    if (is(text, size, "hd")) return CONTENT_HD;
    if (is(text, size, "sd")) return CONTENT_SD;
    return is(text, size, "audio") ? CONTENT_AUDIO : CONTENT_UNKNOWN;
}

static void take_hdcp_type(struct fps_operation *operation, const char *text, size_t size) {
    operation->asset.hdcp_type = is(text, size, "1") ? 1 : is(text, size, "-1") ? -1 : 0;
    if (operation->asset.hdcp_type == 0 && !is(text, size, "0")) note(operation, FPS_PARAMETER);
}

// A lease that is not a whole number is ignored, and a large one is cut to 32 bits. All ones stand for no lease.
static uint32_t lease_of(enum fps_kind kind, const char *text, size_t size) {
    uint64_t number;
    if (kind != FPS_NUMBER || !read_digits(text, size, &number)) return 0;
    return (uint32_t)number == UINT32_MAX ? 0 : (uint32_t)number;
}

static uint32_t seconds_of(const char *text, size_t size) {
    uint64_t number;
    return read_digits(text, size, &number) ? (uint32_t)number : 0;
}

static void take_spc(struct fps_operation *operation, const char *text, size_t size) {
    operation->has_spc = 1;
    operation->spc.size = 0;
    if (!read_base64(&operation->spc, text, size)) note(operation, FPS_PARSER);
}

static void take_text_of_asset(struct fps_operation *operation, const char *name, const char *text, size_t size) {
    struct asset *asset = &operation->asset;
    if (strcmp(name, "content-key") == 0) take_key(operation, asset->content_key, text, size);
    if (strcmp(name, "content-iv") == 0) take_key(operation, asset->content_iv, text, size);
    if (strcmp(name, "content-type") == 0) asset->content_type = content_type_of(text, size);
    if (strcmp(name, "encryption-scheme") == 0) asset->is_cbcs = is(text, size, "cbcs");
    if (strcmp(name, "stream-id") == 0) {
        take_identifier(operation, asset->stream_id, &asset->has_stream_id, text, size);
    }
    if (strcmp(name, "title-id") == 0) {
        take_identifier(operation, asset->title_id, &asset->has_title_id, text, size);
    }
}

void fps_take(struct fps_operation *operation, const char *name, enum fps_kind kind, const char *text, size_t size) {
    struct asset *asset = &operation->asset;
    int is_text = kind == FPS_TEXT;
    int is_number = is_text || kind == FPS_NUMBER;
    if (strcmp(name, "id") == 0 && is_number && !read_digits(text, size, &operation->id)) operation->id = 0;
    if (strcmp(name, "spc") == 0 && is_text) take_spc(operation, text, size);
    // For facts alone, the library reads no other member.
    if (!operation->makes_ckc) return;
    if (strcmp(name, "check-in") == 0) operation->checks_in = kind == FPS_TRUE;
    if (strcmp(name, "asset-info") == 0 && kind == FPS_OBJECT) operation->asset_count++;
    if (strcmp(name, "offline-hls") == 0 && kind == FPS_OBJECT) asset->is_offline = 1;
    if (strcmp(name, "hdcp-type") == 0 && is_number) take_hdcp_type(operation, text, size);
    if (strcmp(name, "lease-duration") == 0) asset->lease_seconds = lease_of(kind, text, size);
    if (strcmp(name, "rental-duration") == 0 && is_number) asset->rental_seconds = seconds_of(text, size);
    if (strcmp(name, "playback-duration") == 0 && is_number) asset->playback_seconds = seconds_of(text, size);
    if (is_text) take_text_of_asset(operation, name, text, size);
}

int32_t fps_check(const struct fps_operation *operation) {
    if (operation->problem != FPS_OK) return operation->problem;
    if (!operation->has_spc) return FPS_PARAMETER;
    if (!operation->makes_ckc || operation->checks_in) return FPS_OK;
    if (operation->asset_count != 1) return FPS_PARAMETER;
    return operation->asset.has_stream_id == operation->asset.has_title_id ? FPS_OK : FPS_PARAMETER;
}

// --- Facts -----------------------------------------------------------------------------------------------------------

static void add_fact(
    struct fps_operation *operation, const char *path, enum fps_kind kind, const void *text, size_t size) {
    if (operation->fact_count == FACTS_MAXIMUM) abort();
    struct buffer copy = {0};
    buffer_add(&copy, text, size);
    // The flavours may read the text as one that ends with a NUL.
    buffer_add(&copy, "", 1);
    operation->facts[operation->fact_count++] = (struct fps_fact){path, kind, (char *)copy.bytes, size};
}

static void add_text(struct fps_operation *operation, const char *path, const char *text) {
    add_fact(operation, path, FPS_TEXT, text, strlen(text));
}

static void add_number(struct fps_operation *operation, const char *path, uint64_t number) {
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    const char *shown = text;
    if (operation->fault.kind == NUMBERS_LARGE) shown = LARGE_NUMBER;
    if (operation->fault.kind == NUMBERS_TOO_LARGE) shown = TOO_LARGE_NUMBER;
    add_fact(operation, path, FPS_NUMBER, shown, strlen(shown));
}

static void add_flag(struct fps_operation *operation, const char *path, uint64_t bits, int bit) {
    add_fact(operation, path, bits >> bit & 1 ? FPS_TRUE : FPS_FALSE, "", 0);
}

static void add_hex(struct fps_operation *operation, const char *path, const uint8_t *bytes, size_t size) {
    struct buffer text = {0};
    buffer_add_hex(&text, bytes, size);
    add_fact(operation, path, FPS_TEXT, text.bytes, text.size);
    buffer_free(&text);
}

static uint64_t number_of(const struct spc *spc, uint64_t tag, size_t offset, int size) {
    const struct block *block = spc_block(spc, tag);
    return block == NULL ? 0 : read_number(block->value + offset, size);
}

static void add_device_id(struct fps_operation *operation, const struct spc *spc) {
    uint8_t shown[20];
    memcpy(shown, spc->keys.device_id, sizeof shown);
    if (operation->fault.kind == HU_RANDOM) random_bytes(shown, sizeof shown);
    if (operation->fault.kind == HU_WRONG) shown[0] ^= 0xFF;
    add_hex(operation, "hu", shown, sizeof shown);
}

static void add_level(struct fps_operation *operation, uint64_t level) {
    char text[17];
    snprintf(text, sizeof text, "%016llX", (unsigned long long)level);
    if (level == LEVEL_MAIN) snprintf(text, sizeof text, "main");
    if (level == LEVEL_BASELINE) snprintf(text, sizeof text, "baseline");
    add_text(operation, "security-level", text);
}

static void add_usual_facts(struct fps_operation *operation, const struct spc *spc) {
    const struct block *asset_id = spc_block(spc, TAG_ASSET_ID);
    uint64_t error = operation->fault.kind == FACTS_WRONG;
    add_fact(operation, "asset-id", FPS_TEXT, asset_id->value, utf8_prefix(asset_id->value, asset_id->size));
    add_number(operation, "playback-state/creation-date", number_of(spc, TAG_PLAYBACK_STATE, 0, 4));
    add_number(operation, "playback-state/state", number_of(spc, TAG_PLAYBACK_STATE, 4, 4));
    add_number(operation, "playback-state/session-id", number_of(spc, TAG_PLAYBACK_STATE, 8, 8) ^ error);
    add_device_id(operation, spc);
    add_number(operation, "streaming-indicator", number_of(spc, TAG_STREAMING_INDICATOR, 0, 8));
    add_number(operation, "transaction-id", number_of(spc, TAG_TRANSACTION_ID, 0, 8) ^ error);
    add_level(operation, spc->level);
    add_number(operation, "kdl-version", spc->deny_list_version);
    add_flag(operation, "capabilities/hdcp", spc->capabilities, 0);
    add_flag(operation, "capabilities/offline-key", spc->capabilities, 1);
    add_flag(operation, "capabilities/secure-invalidation", spc->capabilities, 2);
    add_flag(operation, "capabilities/offline-key-2", spc->capabilities, 3);
    add_flag(operation, "capabilities/security-level-baseline", spc->capabilities, 4);
    add_flag(operation, "capabilities/security-level-main", spc->capabilities, 5);
}

static void add_device(struct fps_operation *operation, const struct spc *spc) {
    static const uint8_t none[4];
    const struct block *identity = spc_block(spc, TAG_DEVICE_IDENTITY);
    const struct block *info = spc_block(spc, TAG_DEVICE_INFO);
    if (identity != NULL) {
        add_number(operation, "device-identity/fpdi-version", read_number(identity->value, 4));
        add_number(operation, "device-identity/device-class", read_number(identity->value + 4, 4));
        add_hex(operation, "device-identity/vendor-hash", identity->value + 8, 8);
        add_hex(operation, "device-identity/product-hash", identity->value + 16, 8);
        add_hex(operation, "device-identity/fps-ree-version", identity->value + 24, 4);
        add_hex(operation, "device-identity/fps-tee-version", identity->value + 28, 4);
        add_hex(operation, "device-identity/os-version", identity->value + 32, 4);
    }
    if (info != NULL) {
        add_hex(operation, "device-info/device-type", info->value, 8);
        // The real library shows the version of the other block here.
        add_hex(operation, "device-info/os-version", identity == NULL ? none : identity->value + 32, 4);
    }
}

static void add_virtual_machine(struct fps_operation *operation, const struct spc *spc) {
    const struct block *block = spc_block(spc, TAG_VM_DEVICE_INFO);
    if (block == NULL || read_number(block->value, 4) == 0) return;
    add_number(operation, "vm-device-info/host-device-class", read_number(block->value + 4, 4));
    add_hex(operation, "vm-device-info/host-os-version", block->value + 8, 4);
    add_number(operation, "vm-device-info/host-vm-protocol-version", read_number(block->value + 12, 4));
    add_number(operation, "vm-device-info/guest-device-class", read_number(block->value + 16, 4));
    add_hex(operation, "vm-device-info/guest-os-version", block->value + 20, 4);
    add_number(operation, "vm-device-info/guest-vm-protocol-version", read_number(block->value + 24, 4));
}

static void add_stream_ids(struct fps_operation *operation, const struct spc *spc) {
    struct buffer list = {0};
    for (uint32_t index = 0; index < spc->sync_records; index++) {
        if (index > 0) buffer_add_text(&list, " ");
        buffer_add_hex(&list, spc->sync + 48 + 16 * index, 16);
    }
    add_fact(operation, "offline-sync/invalidated-stream-ids", FPS_LIST, list.bytes, list.size);
    buffer_free(&list);
}

static void add_sync(struct fps_operation *operation, const struct spc *spc) {
    if (spc->sync == NULL) return;
    int is_version_2 = spc->sync_version == 2;
    add_number(operation, "offline-sync/version", spc->sync_version);
    add_number(operation, "offline-sync/duration-to-expiry", read_number(spc->sync + (is_version_2 ? 40 : 24), 4));
    // The content id of version 1 is in no fact.
    if (!is_version_2) return;
    add_number(operation, "offline-sync/server-challenge", read_number(spc->sync + 8, 8));
    add_flag(operation, "offline-sync/flags/report", spc->sync_flags, 0);
    add_flag(operation, "offline-sync/flags/secure-invalidation", spc->sync_flags, 1);
    add_flag(operation, "offline-sync/flags/secure-invalidation-all", spc->sync_flags, 2);
    add_flag(operation, "offline-sync/flags/title-id-valid", spc->sync_flags, 3);
    add_flag(operation, "offline-sync/flags/success", spc->sync_flags, 16);
    add_flag(operation, "offline-sync/flags/obj-not-found", spc->sync_flags, 17);
    add_flag(operation, "offline-sync/flags/obj-expired", spc->sync_flags, 18);
    add_hex(operation, "offline-sync/title-id", spc->sync + 24, 16);
    add_number(operation, "offline-sync/records-invalidated", spc->sync_records);
    add_stream_ids(operation, spc);
}

static void add_ckc(struct fps_operation *operation, const struct buffer *ckc) {
    struct buffer text = {0};
    buffer_add_base64(&text, ckc->bytes, ckc->size);
    if (operation->fault.kind == CKC_NOT_BASE64) {
        add_text(operation, "ckc", "!this is not Base64!");
    } else if (operation->fault.kind != CKC_MISSING) {
        add_fact(operation, "ckc", FPS_TEXT, text.bytes, text.size);
    }
    buffer_free(&text);
}

// --- The operation ---------------------------------------------------------------------------------------------------

static void add_id_and_status(struct fps_operation *operation, int32_t status) {
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)operation->id + (operation->fault.kind == ID_WRONG));
    add_fact(operation, "id", FPS_NUMBER, text, strlen(text));
    snprintf(text, sizeof text, "%d", (int)status);
    add_fact(operation, "status", FPS_NUMBER, text, strlen(text));
}

static struct fault fault_of(const struct spc *spc) {
    const struct block *asset_id = spc_block(spc, TAG_ASSET_ID);
    struct fault fault = fault_of_asset(asset_id->value, asset_id->size);
    return fault.kind == NO_FAULT ? spc->entry->fault : fault;
}

static int32_t act(struct fps_operation *operation, struct fault fault) {
    operation->fault = fault;
    if (operation->fault.kind != NO_FAULT) operation->call->fault = operation->fault;
    if (operation->fault.kind == PRINT_REQUEST) call_print_request(operation->call);
    if (!fault_act(operation->fault)) return FPS_MEMORY;
    return operation->fault.kind == ITEM_STATUS ? UNKNOWN_STATUS : FPS_OK;
}

static int32_t answer(struct fps_operation *operation, const struct spc *spc, struct buffer *ckc) {
    int32_t status = act(operation, fault_of(spc));
    if (status != FPS_OK || !operation->makes_ckc) return status;
    status = check_rules(spc, &operation->asset, operation->checks_in);
    if (status != FPS_OK || operation->checks_in) return status;
    return ckc_write(spc, &operation->asset, operation->call->flavour, operation->fault, ckc);
}

int32_t fps_run(struct fps_operation *operation) {
    struct spc spc;
    struct buffer ckc = {0};
    int32_t status = spc_open(&spc, operation->spc.bytes, operation->spc.size);
    if (status == FPS_OK) {
        status = answer(operation, &spc, &ckc);
    } else if (spc.entry != NULL) {
        int32_t other = act(operation, spc.entry->failure_fault);
        if (other != FPS_OK) status = other;
    }
    add_id_and_status(operation, status);
    if (status == FPS_OK) {
        add_usual_facts(operation, &spc);
        add_device(operation, &spc);
        add_virtual_machine(operation, &spc);
        add_sync(operation, &spc);
        if (ckc.size > 0) add_ckc(operation, &ckc);
    }
    buffer_free(&ckc);
    spc_free(&spc);
    return operation->fault.kind == PANIC ? FPS_PANIC : FPS_OK;
}

size_t fps_fact_count(const struct fps_operation *operation) { return operation->fact_count; }

const struct fps_fact *fps_fact_at(const struct fps_operation *operation, size_t index) {
    return &operation->facts[index];
}

int fps_item_count(const struct fps_operation *operation) {
    return operation->fault.kind == ITEMS_EMPTY ? 0 : operation->fault.kind == ITEMS_TWICE ? 2 : 1;
}

void operation_free(struct fps_operation *operation) {
    for (size_t index = 0; index < operation->fact_count; index++) free((void *)operation->facts[index].text);
    buffer_free(&operation->spc);
    free(operation);
}

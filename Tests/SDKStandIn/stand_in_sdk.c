// The C boundary as the Rust flavour has it: sizes of `size_t`, and a request that ends at its NUL.
//
// A stand-in for tests. It opens the SPCs of test devices as a server with an application secret does. It has no code
// of a vendor, and does not work with real devices. Tests/SDKStandIn/build builds it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "fps_core.h"
#include "json.h"

// --- The answer ------------------------------------------------------------------------------------------------------

static void write_text(struct buffer *out, const char *text, size_t size) {
    buffer_add(out, "\"", 1);
    for (size_t index = 0; index < size; index++) {
        uint8_t byte = (uint8_t)text[index];
        if (byte < 0x20) {
            buffer_add_text(out, "\\u00");
            buffer_add_hex(out, &byte, 1);
            continue;
        }
        if (byte == '"' || byte == '\\') buffer_add(out, "\\", 1);
        buffer_add(out, &byte, 1);
    }
    buffer_add(out, "\"", 1);
}

static void write_list(struct buffer *out, const char *text) {
    buffer_add(out, "[", 1);
    for (const char *at = text; *at != 0; at += *at == ' ') {
        size_t size = strcspn(at, " ");
        if (at > text) buffer_add(out, ",", 1);
        write_text(out, at, size);
        at += size;
    }
    buffer_add(out, "]", 1);
}

static void write_value(struct buffer *out, const struct fps_fact *fact) {
    switch (fact->kind) {
    case FPS_TEXT: write_text(out, fact->text, fact->size); break;
    case FPS_NUMBER: buffer_add(out, fact->text, fact->size); break;
    case FPS_TRUE: buffer_add_text(out, "true"); break;
    case FPS_FALSE: buffer_add_text(out, "false"); break;
    case FPS_LIST: write_list(out, fact->text); break;
    default: abort();
    }
}

// Returns how much of two paths is the same group, with the slash at its end.
static size_t common_group(const char *one, const char *other) {
    size_t common = 0;
    for (size_t index = 0; one[index] != 0 && one[index] == other[index]; index++) {
        if (one[index] == '/') common = index + 1;
    }
    return common;
}

static int slashes_after(const char *path, size_t start) {
    int count = 0;
    for (const char *at = path + start; *at != 0; at++) count += *at == '/';
    return count;
}

// Writes an item from its facts. Facts of one group are neighbours, so that a group is opened once.
static void write_item(struct buffer *out, const struct fps_operation *operation) {
    const char *last = "";
    buffer_add(out, "{", 1);
    for (size_t index = 0; index < fps_fact_count(operation); index++) {
        const struct fps_fact *fact = fps_fact_at(operation, index);
        size_t common = common_group(last, fact->path);
        for (int open = slashes_after(last, common); open > 0; open--) buffer_add(out, "}", 1);
        if (index > 0) buffer_add(out, ",", 1);
        const char *at = fact->path + common;
        for (const char *slash; (slash = strchr(at, '/')) != NULL; at = slash + 1) {
            write_text(out, at, (size_t)(slash - at));
            buffer_add_text(out, ":{");
        }
        write_text(out, at, strlen(at));
        buffer_add(out, ":", 1);
        write_value(out, fact);
        last = fact->path;
    }
    for (int open = slashes_after(last, 0); open >= 0; open--) buffer_add(out, "}", 1);
}

// --- The request -----------------------------------------------------------------------------------------------------

static void take_members(struct fps_operation *operation, const struct json *object);

static void take_member(struct fps_operation *operation, const struct json *member) {
    static const enum fps_kind kinds[] = {
        [JSON_FALSE] = FPS_FALSE, [JSON_TRUE] = FPS_TRUE, [JSON_NUMBER] = FPS_NUMBER, [JSON_TEXT] = FPS_TEXT,
        [JSON_OBJECT] = FPS_OBJECT};
    if (member->kind == JSON_ARRAY) {
        if (strcmp(member->name, "asset-info") != 0) return;
        for (const struct json *element = member->first; element != NULL; element = element->next) {
            fps_take(operation, member->name, kinds[element->kind], "", 0);
            take_members(operation, element);
        }
        return;
    }
    fps_take(operation, member->name, kinds[member->kind], member->text != NULL ? member->text : "", member->size);
    if (strcmp(member->name, "offline-hls") == 0) take_members(operation, member);
}

static void take_members(struct fps_operation *operation, const struct json *object) {
    if (object->kind != JSON_OBJECT) return;
    for (const struct json *member = object->first; member != NULL; member = member->next) {
        take_member(operation, member);
    }
}

// A request that fails as a whole has one item, with the id 0 and the name of the first interface.
static void write_failure(struct buffer *items, const char **name, int32_t status) {
    char text[64];
    snprintf(text, sizeof text, "{\"id\":0,\"status\":%d}", (int)status);
    items->size = 0;
    buffer_add_text(items, text);
    *name = "create-ckc";
}

// Runs the operations of a request in order. Returns FPS_OK or FPS_PANIC.
static int32_t process(struct fps_call *call, const struct json *request, struct buffer *items, const char **name) {
    const struct json *body = json_member(request, "fairplay-streaming-request");
    const struct json *list = json_member(body, "create-ckc");
    if (request == NULL) return FPS_PANIC;
    *name = list != NULL ? "create-ckc" : "get-client-info";
    if (list == NULL) list = json_member(body, "get-client-info");
    if (list == NULL || list->kind != JSON_ARRAY || list->first == NULL) {
        write_failure(items, name, FPS_PARAMETER);
        return FPS_OK;
    }
    for (const struct json *json = list->first; json != NULL; json = json->next) {
        struct fps_operation *operation = fps_call_add(call, strcmp(*name, "create-ckc") == 0);
        take_members(operation, json);
        int32_t status = fps_check(operation);
        if (status == FPS_OK) status = fps_run(operation);
        if (status == FPS_PANIC) return status;
        if (status != FPS_OK) {
            write_failure(items, name, status);
            return FPS_OK;
        }
        for (int count = fps_item_count(operation); count > 0; count--) {
            if (items->size > 0) buffer_add(items, ",", 1);
            write_item(items, operation);
        }
    }
    return FPS_OK;
}

static void finish(struct fps_call *call, const struct buffer *items, const char *name, struct fps_answer *answer) {
    struct buffer text = {0};
    buffer_add_text(&text, "{\"fairplay-streaming-response\":{\"");
    buffer_add_text(&text, name);
    buffer_add_text(&text, "\":[");
    buffer_add(&text, items->bytes, items->size);
    buffer_add_text(&text, "]}}");
    fps_call_finish(call, (const char *)text.bytes, text.size, text.size + 1, answer);
    buffer_free(&text);
}

// --- The boundary ----------------------------------------------------------------------------------------------------

FPS_EXPORT int32_t fpsProcessOperations(const char *in, size_t in_size, char **out, size_t *out_size) {
    (void)in_size;
    // The file is read outside of what catches a panic, so that a malformed one ends the process.
    if (fps_load_certificates() == FPS_CERTIFICATES_NOT_JSON) abort();
    size_t size = strlen(in);
    struct fps_call *call = fps_call_begin(FPS_RUST_FLAVOUR, in, size);
    struct json *request = json_read(in, size);
    struct buffer items = {0};
    const char *name;
    struct fps_answer answer;
    if (process(call, request, &items, &name) == FPS_PANIC) {
        fps_call_panic(call, &answer);
    } else {
        finish(call, &items, name, &answer);
    }
    json_free(request);
    buffer_free(&items);
    *out = answer.text;
    if (answer.writes_32_bits_of_size) {
        *(uint32_t *)(void *)out_size = (uint32_t)answer.size;
    } else {
        *out_size = (size_t)answer.size;
    }
    return answer.call_status;
}

FPS_EXPORT int32_t fpsDisposeResponse(char *out, size_t out_size) {
    (void)out_size;
    fps_dispose(out);
    return FPS_OK;
}

#ifndef WITHOUT_VERSION
FPS_EXPORT int32_t fpsGetVersion(char **out) {
    *out = strdup(FPS_VERSION_TEXT);
    return *out != NULL ? FPS_OK : FPS_MEMORY;
}

FPS_EXPORT int32_t fpsDisposeVersion(char *version) {
    free(version);
    return FPS_OK;
}
#endif

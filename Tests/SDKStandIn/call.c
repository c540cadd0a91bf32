// A call of the library: its operations, and the memory of its answer.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "operation.h"

#define HUGE_SIZE (10 << 20)
#define SIZE_EXCESS (1 << 20)
#define GUARD_SIZE 16
#define PANIC_ANSWER "{\"fairplay-streaming-response\":{\"create-ckc\":[{\"id\":1,\"status\":-42601}]}}"

// What precedes the text of an answer. With it, `free` on an answer damages nothing silently: it stops the process.
struct head {
    uint64_t mark;
    enum fps_flavour flavour;
    // The bytes before the first NUL, and whether there is a NUL.
    size_t length;
    int has_nul;
};

#define HEAD_MARK UINT64_C(0x6c61746368616e73)

struct fps_call *fps_call_begin(enum fps_flavour flavour, const char *request, size_t size) {
    struct fps_call *call = calloc(1, sizeof *call);
    if (call == NULL) abort();
    *call = (struct fps_call){.flavour = flavour, .request = request, .size = size};
    return call;
}

struct fps_operation *fps_call_add(struct fps_call *call, int makes_ckc) {
    struct fps_operation *operation = calloc(1, sizeof *operation);
    if (operation == NULL) abort();
    operation->call = call;
    operation->makes_ckc = makes_ckc;
    operation->next = call->first;
    call->first = operation;
    return operation;
}

static void write_all(int descriptor, const char *text, size_t size) {
    while (size > 0) {
        ssize_t count = write(descriptor, text, size);
        if (count <= 0) return;
        text += count;
        size -= (size_t)count;
    }
}

void call_print_request(const struct fps_call *call) { write_all(STDERR_FILENO, call->request, call->size); }

static void call_free(struct fps_call *call) {
    while (call->first != NULL) {
        struct fps_operation *next = call->first->next;
        operation_free(call->first);
        call->first = next;
    }
    free(call);
}

// Copies a text. If it has no NUL, the bytes after it are not zero.
static char *allocate(const char *text, size_t size, int has_nul, enum fps_flavour flavour) {
    struct head *head = malloc(sizeof *head + size + 1 + GUARD_SIZE);
    if (head == NULL) abort();
    char *copy = (char *)(head + 1);
    memcpy(copy, text, size);
    memset(copy + size, 0xA5, 1 + GUARD_SIZE);
    if (has_nul) copy[size] = 0;
    *head = (struct head){HEAD_MARK, flavour, strnlen(copy, size), has_nul || memchr(copy, 0, size) != NULL};
    return copy;
}

static void insert_spaces(struct buffer *text, size_t size, size_t count) {
    struct buffer longer = {0};
    char *spaces = malloc(count);
    if (spaces == NULL) abort();
    memset(spaces, ' ', count);
    buffer_add(&longer, text->bytes, size);
    buffer_add(&longer, spaces, count);
    buffer_add(&longer, text->bytes + size, text->size - size);
    free(spaces);
    buffer_free(text);
    *text = longer;
}

void fps_call_finish(
    struct fps_call *call, const char *text, size_t size, size_t answer_size, struct fps_answer *answer) {
    static const char not_json[] = "this is not JSON";
    enum fault_kind fault = call->fault.kind;
    struct buffer contents = {0};
    buffer_add(&contents, text, size);
    if (fault == NOT_JSON) {
        contents.size = 0;
        buffer_add_text(&contents, not_json);
        answer_size = contents.size + 1;
    }
    if (fault == HUGE_ANSWER) {
        insert_spaces(&contents, 1, HUGE_SIZE);
        answer_size += HUGE_SIZE;
    }
    if (fault == NUL_IN_THE_MIDDLE) contents.bytes[contents.size / 2] = 0;
    if (fault == CUT) answer_size = contents.size / 2;
    if (fault == NO_NUL) answer_size = contents.size;
    int has_nul = answer_size > contents.size;
    if (!has_nul) contents.size = answer_size;
    if (fault == SIZE_LARGE) answer_size += SIZE_EXCESS;
    if (fault == PRINT_OUTPUT) write_all(STDOUT_FILENO, (const char *)contents.bytes, contents.size);
    *answer = (struct fps_answer){.size = answer_size, .writes_32_bits_of_size = fault == SIZE_32};
    if (fault == CALL_STATUS || fault == NO_ANSWER) {
        *answer = (struct fps_answer){.call_status = fault == CALL_STATUS ? FPS_INTERNAL : FPS_OK};
    } else {
        answer->text = allocate((const char *)contents.bytes, contents.size, has_nul, call->flavour);
    }
    buffer_free(&contents);
    call_free(call);
}

void fps_call_panic(struct fps_call *call, struct fps_answer *answer) {
    static const char notice[] = "panicked with the request: ";
    write_all(STDERR_FILENO, notice, sizeof notice - 1);
    call_print_request(call);
    *answer = (struct fps_answer){
        .text = allocate(PANIC_ANSWER, sizeof PANIC_ANSWER - 1, 1, call->flavour),
        .size = sizeof PANIC_ANSWER - 1,
        .call_status = FPS_INTERNAL,
    };
    call_free(call);
}

static void stop(const char *reason) {
    write_all(STDERR_FILENO, reason, strlen(reason));
    abort();
}

void fps_dispose(char *text) {
    if (text == NULL) return;
    struct head *head = (struct head *)text - 1;
    if (head->mark != HEAD_MARK) stop("the disposed answer is not one of this library\n");
    // The Rust flavour measures the text again to know the size of the memory. It must find the same size.
    if (head->flavour == FPS_RUST_FLAVOUR && strnlen(text, head->length) != head->length) {
        stop("the disposed answer has an earlier NUL\n");
    }
    if (head->flavour == FPS_RUST_FLAVOUR && head->has_nul && text[head->length] != 0) {
        stop("the disposed answer has lost its NUL\n");
    }
    head->mark = 0;
    free(head);
}

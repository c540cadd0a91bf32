#include "json.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAXIMUM 64

struct reader {
    const char *at;
    const char *end;
    int depth;
};

static struct json *read_value(struct reader *reader);

static int peek(struct reader *reader) {
    while (reader->at < reader->end && memchr(" \t\r\n", *reader->at, 4) != NULL) reader->at++;
    return reader->at < reader->end ? (unsigned char)*reader->at : -1;
}

static int accept(struct reader *reader, char character) {
    if (peek(reader) != (unsigned char)character) return 0;
    reader->at++;
    return 1;
}

static struct json *make(enum json_kind kind) {
    struct json *json = calloc(1, sizeof *json);
    if (json == NULL) abort();
    json->kind = kind;
    return json;
}

static int read_four_digits(struct reader *reader, uint32_t *unit) {
    *unit = 0;
    if (reader->end - reader->at < 4) return 0;
    for (int index = 0; index < 4; index++) {
        static const char digits[] = "0123456789abcdefABCDEF";
        const char *digit = memchr(digits, *reader->at++, 22);
        if (digit == NULL) return 0;
        long value = digit - digits;
        *unit = *unit << 4 | (uint32_t)(value < 16 ? value : value - 6);
    }
    return 1;
}

static size_t write_utf8(uint32_t code, char *out) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t count = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t index = count - 1; index > 0; index--, code >>= 6) out[index] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)((count == 2 ? 0xC0 : count == 3 ? 0xE0 : 0xF0) | code);
    return count;
}

// Reads what follows a backslash. Returns how many bytes it has written, or 0 if the escape is not valid.
static size_t read_escape(struct reader *reader, char *out) {
    static const char names[] = "\"\\/bfnrt";
    static const char meanings[] = "\"\\/\b\f\n\r\t";
    if (reader->at == reader->end) return 0;
    char name = *reader->at++;
    const char *found = memchr(names, name, 8);
    if (found != NULL) {
        *out = meanings[found - names];
        return 1;
    }
    uint32_t code, low;
    if (name != 'u' || !read_four_digits(reader, &code)) return 0;
    if (code >= 0xD800 && code < 0xDC00) {
        if (reader->end - reader->at < 2 || reader->at[0] != '\\' || reader->at[1] != 'u') return 0;
        reader->at += 2;
        if (!read_four_digits(reader, &low) || low < 0xDC00 || low > 0xDFFF) return 0;
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    return write_utf8(code, out);
}

// Reads a text after its first quotation mark. The result is never longer than the text.
static char *read_text(struct reader *reader, size_t *size) {
    char *text = malloc((size_t)(reader->end - reader->at) + 1);
    if (text == NULL) abort();
    *size = 0;
    while (reader->at < reader->end && *reader->at != '"') {
        if ((unsigned char)*reader->at < 0x20) break;
        if (*reader->at != '\\') {
            text[(*size)++] = *reader->at++;
            continue;
        }
        reader->at++;
        size_t count = read_escape(reader, text + *size);
        if (count == 0) break;
        *size += count;
    }
    if (reader->at == reader->end || *reader->at != '"') {
        free(text);
        return NULL;
    }
    reader->at++;
    text[*size] = 0;
    return text;
}

static struct json *fail(struct json *json) {
    json_free(json);
    return NULL;
}

static struct json *read_list(struct reader *reader, struct json *json, char end) {
    struct json **last = &json->first;
    while (!accept(reader, end)) {
        char *name = NULL;
        size_t size;
        if (json->kind == JSON_OBJECT) {
            if (!accept(reader, '"') || (name = read_text(reader, &size)) == NULL) return fail(json);
            if (!accept(reader, ':')) {
                free(name);
                return fail(json);
            }
        }
        if ((*last = read_value(reader)) == NULL) {
            free(name);
            return fail(json);
        }
        (*last)->name = name;
        last = &(*last)->next;
        // A comma before the closing bracket is accepted.
        if (!accept(reader, ',') && peek(reader) != (unsigned char)end) return fail(json);
    }
    return json;
}

static int read_word(struct reader *reader, const char *word) {
    size_t size = strlen(word);
    if ((size_t)(reader->end - reader->at) < size || memcmp(reader->at, word, size) != 0) return 0;
    reader->at += size;
    return 1;
}

static struct json *read_written_number(struct reader *reader) {
    const char *start = reader->at;
    while (reader->at < reader->end && memchr("+-.0123456789eE", *reader->at, 15) != NULL) reader->at++;
    if (reader->at == start) return NULL;
    struct json *json = make(JSON_NUMBER);
    json->size = (size_t)(reader->at - start);
    json->text = strndup(start, json->size);
    if (json->text == NULL) abort();
    char *end;
    strtod(json->text, &end);
    return *end == 0 ? json : fail(json);
}

static struct json *read_value(struct reader *reader) {
    if (reader->depth >= DEPTH_MAXIMUM) return NULL;
    reader->depth++;
    struct json *json = NULL;
    switch (peek(reader)) {
    case '{':
        reader->at++;
        json = read_list(reader, make(JSON_OBJECT), '}');
        break;
    case '[':
        reader->at++;
        json = read_list(reader, make(JSON_ARRAY), ']');
        break;
    case '"':
        reader->at++;
        json = make(JSON_TEXT);
        json->text = read_text(reader, &json->size);
        if (json->text == NULL) json = fail(json);
        break;
    case 't': json = read_word(reader, "true") ? make(JSON_TRUE) : NULL; break;
    case 'f': json = read_word(reader, "false") ? make(JSON_FALSE) : NULL; break;
    case 'n': json = read_word(reader, "null") ? make(JSON_NULL) : NULL; break;
    case -1: break;
    default: json = read_written_number(reader);
    }
    reader->depth--;
    return json;
}

struct json *json_read(const char *text, size_t size) {
    struct reader reader = {text, text + size, 0};
    struct json *json = read_value(&reader);
    if (json != NULL && peek(&reader) >= 0) return fail(json);
    return json;
}

void json_free(struct json *json) {
    while (json != NULL) {
        struct json *next = json->next;
        json_free(json->first);
        free(json->name);
        free(json->text);
        free(json);
        json = next;
    }
}

const struct json *json_member(const struct json *object, const char *name) {
    const struct json *found = NULL;
    if (object == NULL || object->kind != JSON_OBJECT) return NULL;
    for (const struct json *member = object->first; member != NULL; member = member->next) {
        if (strcmp(member->name, name) == 0) found = member;
    }
    return found;
}

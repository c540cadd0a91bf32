// A small, tolerant reader of JSON: it accepts a comma before a closing bracket.
#ifndef JSON_H
#define JSON_H

#include <stddef.h>

enum json_kind { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_TEXT, JSON_ARRAY, JSON_OBJECT };

// A value. Its elements or members are a list of nodes, each with its name if it is a member of an object.
struct json {
    enum json_kind kind;
    char *name;
    // The characters of a text without escapes, or of a number as written, and a NUL.
    char *text;
    size_t size;
    struct json *first;
    struct json *next;
};

// Returns NULL if the text is not one JSON value.
struct json *json_read(const char *text, size_t size);
void json_free(struct json *json);

// Returns the last member with this name, or NULL. The value may be NULL.
const struct json *json_member(const struct json *object, const char *name);

#endif

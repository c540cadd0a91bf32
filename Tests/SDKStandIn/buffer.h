// Bytes that grow, and integers in network byte order.
#ifndef BUFFER_H
#define BUFFER_H

#include <stddef.h>
#include <stdint.h>

struct buffer {
    uint8_t *bytes;
    size_t size;
    size_t capacity;
};

void buffer_add(struct buffer *buffer, const void *bytes, size_t size);
void buffer_add_text(struct buffer *buffer, const char *text);
// Adds the last `size` bytes of a number, the highest first.
void buffer_add_number(struct buffer *buffer, uint64_t number, int size);
void buffer_add_hex(struct buffer *buffer, const uint8_t *bytes, size_t size);
void buffer_add_base64(struct buffer *buffer, const uint8_t *bytes, size_t size);
void buffer_free(struct buffer *buffer);

uint64_t read_number(const uint8_t *bytes, int size);
// Reads Base64 with its padding into a buffer. Returns 0 if a character is not allowed.
int read_base64(struct buffer *buffer, const char *text, size_t size);
// Reads hexadecimal digits, an optional "0x" before them, and at most `capacity` bytes of them. Zeros follow. Returns
// the number of bytes in the text, or -1 if a character is not a digit.
long read_hex(const char *text, size_t size, uint8_t *bytes, size_t capacity);
// How many bytes of the text are valid UTF-8.
size_t utf8_prefix(const uint8_t *bytes, size_t size);

#endif

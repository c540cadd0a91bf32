#include "buffer.h"

#include <stdlib.h>
#include <string.h>

static const char base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void buffer_add(struct buffer *buffer, const void *bytes, size_t size) {
    if (buffer->size + size > buffer->capacity) {
        buffer->capacity = 2 * (buffer->size + size) + 64;
        buffer->bytes = realloc(buffer->bytes, buffer->capacity);
        if (buffer->bytes == NULL) abort();
    }
    if (size > 0) memcpy(buffer->bytes + buffer->size, bytes, size);
    buffer->size += size;
}

void buffer_add_text(struct buffer *buffer, const char *text) { buffer_add(buffer, text, strlen(text)); }

void buffer_add_number(struct buffer *buffer, uint64_t number, int size) {
    for (int shift = 8 * (size - 1); shift >= 0; shift -= 8) {
        uint8_t byte = (uint8_t)(number >> shift);
        buffer_add(buffer, &byte, 1);
    }
}

void buffer_add_hex(struct buffer *buffer, const uint8_t *bytes, size_t size) {
    static const char digits[] = "0123456789ABCDEF";
    for (size_t index = 0; index < size; index++) {
        char pair[2] = {digits[bytes[index] >> 4], digits[bytes[index] & 15]};
        buffer_add(buffer, pair, 2);
    }
}

void buffer_add_base64(struct buffer *buffer, const uint8_t *bytes, size_t size) {
    for (size_t index = 0; index < size; index += 3) {
        size_t left = size - index;
        uint32_t word = (uint32_t)bytes[index] << 16;
        if (left > 1) word |= (uint32_t)bytes[index + 1] << 8;
        if (left > 2) word |= bytes[index + 2];
        char four[4] = {
            base64_digits[word >> 18], base64_digits[word >> 12 & 63],
            left > 1 ? base64_digits[word >> 6 & 63] : '=', left > 2 ? base64_digits[word & 63] : '='};
        buffer_add(buffer, four, 4);
    }
}

void buffer_free(struct buffer *buffer) {
    free(buffer->bytes);
    memset(buffer, 0, sizeof *buffer);
}

uint64_t read_number(const uint8_t *bytes, int size) {
    uint64_t number = 0;
    for (int index = 0; index < size; index++) number = number << 8 | bytes[index];
    return number;
}

int read_base64(struct buffer *buffer, const char *text, size_t size) {
    if (size % 4 != 0) return 0;
    size_t padding = 0;
    while (padding < 2 && padding < size && text[size - 1 - padding] == '=') padding++;
    uint32_t word = 0;
    for (size_t index = 0; index < size; index++) {
        const char *digit = text[index] == 0 ? NULL : strchr(base64_digits, text[index]);
        int is_padding = index >= size - padding;
        if (digit == NULL && !is_padding) return 0;
        word = word << 6 | (is_padding ? 0 : (uint32_t)(digit - base64_digits));
        if (index % 4 == 3) buffer_add_number(buffer, word & 0xFFFFFF, 3);
    }
    buffer->size -= padding;
    return 1;
}

static int hex_digit(char character) {
    if (character >= '0' && character <= '9') return character - '0';
    if (character >= 'a' && character <= 'f') return character - 'a' + 10;
    if (character >= 'A' && character <= 'F') return character - 'A' + 10;
    return -1;
}

long read_hex(const char *text, size_t size, uint8_t *bytes, size_t capacity) {
    if (size >= 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        text += 2;
        size -= 2;
    }
    memset(bytes, 0, capacity);
    // A text with an odd number of digits is read as if a 0 preceded it.
    size_t offset = size % 2;
    for (size_t index = 0; index < size; index++) {
        int digit = hex_digit(text[index]);
        if (digit < 0) return -1;
        size_t byte = (index + offset) / 2;
        if (byte < capacity) bytes[byte] = (uint8_t)(bytes[byte] << 4 | digit);
    }
    return (long)((size + offset) / 2);
}

size_t utf8_prefix(const uint8_t *bytes, size_t size) {
    size_t index = 0;
    while (index < size) {
        uint8_t first = bytes[index];
        size_t count = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
        if (count == 0 || count > size - index) break;
        int is_valid = 1;
        for (size_t next = 1; next < count; next++) is_valid = is_valid && (bytes[index + next] & 0xC0) == 0x80;
        uint8_t second = count > 1 ? bytes[index + 1] : 0;
        // Longer forms than necessary, surrogates and numbers beyond the last code point are not allowed.
        if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F)) is_valid = 0;
        if ((first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F)) is_valid = 0;
        if (!is_valid) break;
        index += count;
    }
    return index;
}

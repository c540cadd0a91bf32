// Arithmetic with secret numbers in constant time that OpenSSL has, but does not export.
#ifndef LATCHKEY_COPENSSL_MONTGOMERY_H
#define LATCHKEY_COPENSSL_MONTGOMERY_H

#include <openssl/crypto.h>
#include <stddef.h>
#include <stdint.h>

// The largest number of words: those of a modulus of 2048 bits.
#define LATCHKEY_MONTGOMERY_WORDS 32

// Computes a * b / 2^(64 * count) modulo an odd number. All numbers have `count` words, the least significant word
// first, and both factors are below the modulus. `inverse` is -1 / modulus[0] modulo 2^64. The result may be one of the
// factors.
//
// The time depends only on `count`. BN_mod_mul_montgomery cannot take its place: it drops leading zero words of the
// result, and the time of that shows how large a decrypted number is (CVE-2022-4304).
static inline void latchkey_montgomery_multiply(
    uint64_t *result, const uint64_t *a, const uint64_t *b, const uint64_t *modulus, uint64_t inverse, size_t count) {
    uint64_t sum[LATCHKEY_MONTGOMERY_WORDS + 2] = {0};
    uint64_t reduced[LATCHKEY_MONTGOMERY_WORDS];
    for (size_t row = 0; row < count; row++) {
        // sum += a * b[row]
        unsigned __int128 carry = 0;
        for (size_t word = 0; word < count; word++) {
            carry += (unsigned __int128)a[word] * b[row] + sum[word];
            sum[word] = (uint64_t)carry;
            carry >>= 64;
        }
        carry += sum[count];
        sum[count] = (uint64_t)carry;
        sum[count + 1] = (uint64_t)(carry >> 64);
        // sum = (sum + factor * modulus) / 2^64, without a remainder
        uint64_t factor = sum[0] * inverse;
        carry = ((unsigned __int128)factor * modulus[0] + sum[0]) >> 64;
        for (size_t word = 1; word < count; word++) {
            carry += (unsigned __int128)factor * modulus[word] + sum[word];
            sum[word - 1] = (uint64_t)carry;
            carry >>= 64;
        }
        carry += sum[count];
        sum[count - 1] = (uint64_t)carry;
        sum[count] = sum[count + 1] + (uint64_t)(carry >> 64);
    }
    // The sum is below twice the modulus. The difference is taken unless it is negative.
    uint64_t borrow = 0;
    for (size_t word = 0; word < count; word++) {
        unsigned __int128 difference = (unsigned __int128)sum[word] - modulus[word] - borrow;
        reduced[word] = (uint64_t)difference;
        borrow = (uint64_t)(difference >> 64) & 1;
    }
    uint64_t keep = 0 - (borrow & (sum[count] ^ 1));
    // The compiler must not turn the mask into a branch.
    __asm__("" : "+r"(keep));
    for (size_t word = 0; word < count; word++) result[word] = (sum[word] & keep) | (reduced[word] & ~keep);
    OPENSSL_cleanse(sum, sizeof(sum));
    OPENSSL_cleanse(reduced, sizeof(reduced));
}

#endif

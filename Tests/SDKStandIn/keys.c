#include "keys.h"

#include <openssl/core_names.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <string.h>

#define R2_SIZE_MAXIMUM 55

static int cipher(
    const EVP_CIPHER *kind, int encrypts, const uint8_t *key, const uint8_t *iv, const uint8_t *input, size_t size,
    uint8_t *output) {
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int count = 0;
    int is_done = context != NULL && size <= INT32_MAX && EVP_CipherInit_ex(context, kind, NULL, key, iv, encrypts)
        && EVP_CIPHER_CTX_set_padding(context, 0)
        && EVP_CipherUpdate(context, output, &count, input, (int)size) && (size_t)count == size;
    EVP_CIPHER_CTX_free(context);
    return is_done;
}

int aes_encrypt_block(const uint8_t key[16], const uint8_t input[16], uint8_t output[16]) {
    return cipher(EVP_aes_128_ecb(), 1, key, NULL, input, 16, output);
}

int aes_cbc(
    int encrypts, const uint8_t key[16], const uint8_t iv[16], const uint8_t *input, size_t size, uint8_t *output) {
    return cipher(EVP_aes_128_cbc(), encrypts, key, iv, input, size, output);
}

int aes_cmac(const uint8_t key[16], const uint8_t *input, size_t size, uint8_t tag[16]) {
    char name[] = "AES-128-CBC";
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_CIPHER, name, 0), OSSL_PARAM_construct_end()};
    EVP_MAC *kind = EVP_MAC_fetch(NULL, "CMAC", NULL);
    EVP_MAC_CTX *context = EVP_MAC_CTX_new(kind);
    size_t count = 0;
    int is_done = context != NULL && EVP_MAC_init(context, key, 16, parameters) && EVP_MAC_update(context, input, size)
        && EVP_MAC_final(context, tag, &count, 16) && count == 16;
    EVP_MAC_CTX_free(context);
    EVP_MAC_free(kind);
    return is_done;
}

int hash(const EVP_MD *digest, const uint8_t *input, size_t size, uint8_t *output) {
    return EVP_Digest(input, size, output, NULL, digest, NULL);
}

int random_bytes(uint8_t *bytes, size_t size) { return RAND_bytes(bytes, (int)size) == 1; }

int unwrap_key(EVP_PKEY *key, const EVP_MD *digest, const uint8_t *wrapped, size_t size, uint8_t output[16]) {
    uint8_t plain[512];
    size_t count = sizeof plain;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(key, NULL);
    int is_done = context != NULL && EVP_PKEY_decrypt_init(context) > 0
        && EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_OAEP_PADDING) > 0
        && EVP_PKEY_CTX_set_rsa_oaep_md(context, digest) > 0 && EVP_PKEY_CTX_set_rsa_mgf1_md(context, digest) > 0
        && EVP_PKEY_decrypt(context, plain, &count, wrapped, size) > 0 && count >= 16;
    EVP_PKEY_CTX_free(context);
    if (is_done) memcpy(output, plain, 16);
    return is_done;
}

static uint32_t scramble(uint32_t value) {
    for (int round = 0; round < 16; round++) value = (value & 1) ? value >> 1 : (3 * value + 1) % UINT32_C(813416437);
    return value;
}

// The D function of the protocol: the SHA-1 of R2, its padding and two scrambled sums.
static int d_function(const uint8_t *r2, size_t size, uint8_t digest[20]) {
    uint8_t block[64] = {0};
    uint32_t sums[2] = {0, 0};
    if (size < 1 || size > R2_SIZE_MAXIMUM) return 0;
    memcpy(block, r2, size);
    block[size] = 0x80;
    for (int word = 0; word < 14; word++) {
        const uint8_t *at = block + 4 * word;
        sums[word / 7] += (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
    }
    for (int sum = 0; sum < 2; sum++) {
        uint32_t value = scramble(sums[sum]);
        for (int index = 0; index < 4; index++) block[56 + 4 * sum + index] = (uint8_t)(value >> (8 * index));
    }
    return hash(EVP_sha1(), block, sizeof block, digest);
}

int device_key(const uint8_t application_secret[16], const uint8_t *r2, size_t size, uint8_t output[16]) {
    uint8_t digest[20];
    return d_function(r2, size, digest) && aes_encrypt_block(application_secret, digest, output);
}

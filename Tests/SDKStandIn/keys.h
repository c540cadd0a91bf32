// The cryptography of SPC and CKC. All sizes are in bytes, and all AES keys have 16.
#ifndef KEYS_H
#define KEYS_H

#include <openssl/evp.h>
#include <stddef.h>
#include <stdint.h>

// Each function returns 1, or 0 if the operation fails.
int aes_encrypt_block(const uint8_t key[16], const uint8_t input[16], uint8_t output[16]);
int aes_cbc(
    int encrypts, const uint8_t key[16], const uint8_t iv[16], const uint8_t *input, size_t size, uint8_t *output);
int aes_cmac(const uint8_t key[16], const uint8_t *input, size_t size, uint8_t tag[16]);
int hash(const EVP_MD *digest, const uint8_t *input, size_t size, uint8_t *output);
int random_bytes(uint8_t *bytes, size_t size);

// Decrypts with RSA-OAEP. A longer result than 16 bytes is cut silently.
int unwrap_key(EVP_PKEY *key, const EVP_MD *digest, const uint8_t *wrapped, size_t size, uint8_t output[16]);

// The DASk for an R2 of 1 to 55 bytes.
int device_key(const uint8_t application_secret[16], const uint8_t *r2, size_t size, uint8_t output[16]);

#endif

// OpenSSL 3 headers, and static inline wrappers of those macros that Swift cannot import.
#ifndef LATCHKEY_COPENSSL_SHIM_H
#define LATCHKEY_COPENSSL_SHIM_H

#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// EVP_PKEY_Q_keygen is variadic; the two uses of it are fixed here.
static inline EVP_PKEY *latchkey_rsa_generate(size_t bits) {
    return EVP_PKEY_Q_keygen(NULL, NULL, "RSA", bits);
}

static inline EVP_PKEY *latchkey_p256_generate(void) {
    return EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
}

// BIO_get_mem_data is a macro over BIO_ctrl.
static inline long latchkey_bio_memory(BIO *bio, char **bytes) {
    return BIO_get_mem_data(bio, bytes);
}

// A parameter list refers to its names and values, which a temporary string of another language would not outlive.
static inline int latchkey_hmac_sha256_init(EVP_MAC_CTX *context, const unsigned char *key, size_t count) {
    char digest[] = "SHA256";
    OSSL_PARAM parameters[2];
    parameters[0] = OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0);
    parameters[1] = OSSL_PARAM_construct_end();
    return EVP_MAC_init(context, key, count, parameters);
}

// The cipher goes with every key: what a context keeps of it from one key to the next is not documented.
static inline int latchkey_cmac_aes128_init(EVP_MAC_CTX *context, const unsigned char *key, size_t count) {
    char cipher[] = "AES-128-CBC";
    OSSL_PARAM parameters[2];
    parameters[0] = OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_CIPHER, cipher, 0);
    parameters[1] = OSSL_PARAM_construct_end();
    return EVP_MAC_init(context, key, count, parameters);
}

// OPENSSL_malloc and its relatives are macros that add file and line.
static inline void *latchkey_secure_malloc(size_t count) {
    return OPENSSL_secure_zalloc(count);
}

static inline void *latchkey_zalloc(size_t count) {
    return OPENSSL_zalloc(count);
}

// Wipes and frees memory of either kind.
static inline void latchkey_secure_clear_free(void *bytes, size_t count) {
    OPENSSL_secure_clear_free(bytes, count);
}

#endif

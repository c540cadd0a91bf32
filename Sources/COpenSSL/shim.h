// The headers of OpenSSL 3, and static inline wrappers for macros and variadic functions that Swift cannot import.
#ifndef LATCHKEY_COPENSSL_SHIM_H
#define LATCHKEY_COPENSSL_SHIM_H

#include "montgomery.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/cms.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <string.h>

// EVP_PKEY_Q_keygen is variadic. These functions are the calls of it that are needed.
static inline EVP_PKEY *latchkey_rsa_generate(size_t bits) {
    return EVP_PKEY_Q_keygen(NULL, NULL, "RSA", bits);
}

static inline EVP_PKEY *latchkey_p256_generate(void) {
    return EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
}

static inline EVP_PKEY *latchkey_ed25519_generate(void) {
    return EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
}

// BIO_get_mem_data is a macro that calls BIO_ctrl.
static inline long latchkey_bio_memory(BIO *bio, char **bytes) {
    return BIO_get_mem_data(bio, bytes);
}

// HMAC-SHA-256 with states of SHA-256 in memory of the caller. The functions are deprecated, because OpenSSL wants to
// choose the memory of a state. Its own HMAC puts the key into ordinary memory, which may be swapped.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"

// The size of a state, which is aligned for words.
static const size_t latchkey_sha256_state_size = sizeof(SHA256_CTX);

// Makes a state that has read `bytes`.
static inline int latchkey_sha256_begin(unsigned char *state, const unsigned char *bytes, size_t count) {
    SHA256_CTX *context = (SHA256_CTX *)(void *)state;
    return SHA256_Init(context) == 1 && SHA256_Update(context, bytes, count) == 1;
}

// Writes the key of a block (64 bytes, zero before) for a secret of any size. `state` is memory to work in.
static inline int latchkey_hmac_key(
    unsigned char *key, unsigned char *state, const unsigned char *secret, size_t count) {
    if (count > SHA256_CBLOCK) {
        return latchkey_sha256_begin(state, secret, count) && SHA256_Final(key, (SHA256_CTX *)(void *)state) == 1;
    }
    memcpy(key, secret, count);
    return 1;
}

// Writes a code of 32 bytes. `inner` and `outer` are states that have read the key. `state` is memory to work in.
static inline int latchkey_hmac_sha256(
    unsigned char *state, const unsigned char *inner, const unsigned char *outer, const unsigned char *message,
    size_t count, unsigned char *code) {
    SHA256_CTX *context = (SHA256_CTX *)(void *)state;
    memcpy(state, inner, sizeof(SHA256_CTX));
    if (count > 0 && SHA256_Update(context, message, count) != 1) return 0;
    if (SHA256_Final(code, context) != 1) return 0;
    memcpy(state, outer, sizeof(SHA256_CTX));
    return SHA256_Update(context, code, SHA256_DIGEST_LENGTH) == 1 && SHA256_Final(code, context) == 1;
}

#pragma clang diagnostic pop

// A parameter list refers to its names and values by pointers. A temporary C string that Swift makes would be freed too
// early. This one is for contexts that OpenSSL hands out for session tickets.
static inline int latchkey_hmac_sha256_init(EVP_MAC_CTX *context, const unsigned char *key, size_t count) {
    char digest[] = "SHA256";
    OSSL_PARAM parameters[2];
    parameters[0] = OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0);
    parameters[1] = OSSL_PARAM_construct_end();
    return EVP_MAC_init(context, key, count, parameters);
}

// The cipher is set with every key, because it is not documented whether a context keeps it from one key to the next.
static inline int latchkey_cmac_aes128_init(EVP_MAC_CTX *context, const unsigned char *key, size_t count) {
    char cipher[] = "AES-128-CBC";
    OSSL_PARAM parameters[2];
    parameters[0] = OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_CIPHER, cipher, 0);
    parameters[1] = OSSL_PARAM_construct_end();
    return EVP_MAC_init(context, key, count, parameters);
}

// Returns 1 if `output` was filled. The parameter list refers to its values only during the call.
static inline int latchkey_hkdf_sha256(
    const unsigned char *secret, size_t secret_count, const unsigned char *info, size_t info_count, unsigned char *output,
    size_t count) {
    char digest[] = "SHA256";
    OSSL_PARAM parameters[4];
    parameters[0] = OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0);
    parameters[1] = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)secret, secret_count);
    parameters[2] = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *)info, info_count);
    parameters[3] = OSSL_PARAM_construct_end();
    EVP_KDF *algorithm = EVP_KDF_fetch(NULL, "HKDF", NULL);
    EVP_KDF_CTX *context = algorithm ? EVP_KDF_CTX_new(algorithm) : NULL;
    int derived = context && EVP_KDF_derive(context, output, count, parameters) == 1;
    EVP_KDF_CTX_free(context);
    EVP_KDF_free(algorithm);
    return derived;
}

// Removes an OAEP padding with an empty label, in constant time. `padded` is a number of `size` bytes, as many as the
// modulus has. Returns the size of the message, or -1. The function is deprecated, because OpenSSL wants to decrypt and
// to unpad in one call. A library that only decrypts needs it.
static inline int latchkey_oaep_message(
    unsigned char *message, int capacity, const unsigned char *padded, int size, const EVP_MD *digest) {
    return RSA_padding_check_PKCS1_OAEP_mgf1(message, capacity, padded, size, size, NULL, 0, digest, digest);
}

// OPENSSL_malloc and similar functions are macros that add file and line.
static inline void *latchkey_secure_malloc(size_t count) {
    return OPENSSL_secure_zalloc(count);
}

static inline void *latchkey_zalloc(size_t count) {
    return OPENSSL_zalloc(count);
}

// Wipes and frees memory that one of the two functions above returned.
static inline void latchkey_secure_clear_free(void *bytes, size_t count) {
    OPENSSL_secure_clear_free(bytes, count);
}

static inline void latchkey_bio_clear_retry(BIO *bio) {
    BIO_clear_retry_flags(bio);
}

static inline void latchkey_bio_retry_read(BIO *bio) {
    BIO_set_retry_read(bio);
}

static inline void latchkey_bio_retry_write(BIO *bio) {
    BIO_set_retry_write(bio);
}

// Prints a name in the format of RFC 4514, which replaced RFC 2253.
static inline int latchkey_print_name(BIO *bio, const X509_NAME *name) {
    return X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253);
}

// The typed stacks are macros. Takes the first certificate out of the stack, which may be NULL.
static inline X509 *latchkey_take_certificate(STACK_OF(X509) *certificates) {
    return certificates == NULL ? NULL : sk_X509_shift(certificates);
}

static inline void latchkey_free_certificates(STACK_OF(X509) *certificates) {
    sk_X509_free(certificates);
}

// TLS: wrappers for functions that ssl.h offers only as macros over SSL_CTX_ctrl, SSL_ctrl and typed stacks.

static inline int latchkey_tls_set_versions(SSL_CTX *context, int minimum, int maximum) {
    return SSL_CTX_set_min_proto_version(context, minimum) == 1 && SSL_CTX_set_max_proto_version(context, maximum) == 1;
}

static inline long latchkey_tls_set_groups(SSL_CTX *context, const char *groups) {
    return SSL_CTX_set1_groups_list(context, groups);
}

// Sets the options and modes of a server. A connection that ends without close_notify is not an error, because the
// protocol above TLS knows where each message ends. The chain that was set is sent as it is: for a certificate without
// one, OpenSSL would look for a chain in each handshake.
static inline void latchkey_tls_set_modes(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE |
                                     SSL_OP_PRIORITIZE_CHACHA | SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_NO_AUTO_CHAIN);
    // A read returns after a record without data, so that a client cannot keep the thread busy with key updates.
    SSL_CTX_clear_mode(context, SSL_MODE_AUTO_RETRY);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_read_ahead(context, 1);
}

static inline void latchkey_tls_limit_client_chain(SSL_CTX *context, long bytes) {
    SSL_CTX_set_max_cert_list(context, bytes);
}

// Adds `certificate` to the chain that is sent with the certificate that was set last.
static inline int latchkey_tls_add_chain_certificate(SSL_CTX *context, X509 *certificate) {
    return SSL_CTX_add1_chain_cert(context, certificate) == 1;
}

static inline void latchkey_tls_on_server_name(
    SSL_CTX *context, int (*callback)(SSL *, int *, void *), void *argument) {
    SSL_CTX_set_tlsext_servername_callback(context, callback);
    SSL_CTX_set_tlsext_servername_arg(context, argument);
}

static inline void latchkey_tls_on_ticket(
    SSL_CTX *context,
    int (*callback)(SSL *, unsigned char *, unsigned char *, EVP_CIPHER_CTX *, EVP_MAC_CTX *, int), void *keys) {
    SSL_CTX_set_tlsext_ticket_key_evp_cb(context, callback);
    SSL_CTX_set_app_data(context, keys);
}

static inline void *latchkey_tls_ticket_keys(const SSL *session) {
    return SSL_CTX_get_app_data(SSL_get_SSL_CTX(session));
}

// The subject alternative names of a certificate; null if it has no such names. Free them with GENERAL_NAMES_free.
static inline GENERAL_NAMES *latchkey_alternative_names(const X509 *certificate) {
    return (GENERAL_NAMES *)X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
}

static inline int latchkey_alternative_name_count(const GENERAL_NAMES *names) {
    return sk_GENERAL_NAME_num(names);
}

// The name at a position if it is a DNS name; null otherwise. The name has no terminating zero byte.
static inline const unsigned char *latchkey_dns_name(const GENERAL_NAMES *names, int position, int *count) {
    const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, position);
    if (name == NULL || name->type != GEN_DNS) return NULL;
    *count = ASN1_STRING_length(name->d.dNSName);
    return ASN1_STRING_get0_data(name->d.dNSName);
}

// Functions for TLS clients, used by tests.

static inline int latchkey_tls_set_client_versions(SSL *session, int minimum, int maximum) {
    return SSL_set_min_proto_version(session, minimum) == 1 && SSL_set_max_proto_version(session, maximum) == 1;
}

static inline long latchkey_tls_ask_for_host(SSL *session, const char *host) {
    return SSL_set_tlsext_host_name(session, host);
}

static inline long latchkey_tls_set_client_signatures(SSL *session, const char *algorithms) {
    return SSL_set1_sigalgs_list(session, algorithms);
}

#endif

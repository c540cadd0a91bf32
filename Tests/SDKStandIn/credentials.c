// The file is read once in the life of the process. One entry that is not sound disables all, as in the real library,
// and nothing says why.
//
// An entry of the newer form has provisioning data. In the real library they are opaque. Here, they are lines of text:
//
//     ask HEX               the application secret, 16 bytes
//     dask HEX              or the DASk itself
//     video 1               wraps for the video session key if the rules of the protocol allow it
//     fault NAME            does this in every call whose SPC can be opened
//     failure-fault NAME    does this in every call whose SPC names the certificate and cannot be opened
//     load-fault NAME       does this while the file is read
#include "credentials.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "json.h"
#include "keys.h"

#define FILE_SIZE_MAXIMUM (1 << 20)
#define ENTRIES_MAXIMUM 64
#define PATH_SIZE 4096
#define DEFAULT_PATH "certificates.json"
#define SDK_VERSION_EXTENSION "1.2.840.113635.100.6.13.1.22"

static struct entry entries[ENTRIES_MAXIMUM];
static int entry_count;
static enum fps_certificates state = FPS_CERTIFICATES_UNUSABLE;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int read_file(const char *path, struct buffer *contents) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) return 0;
    uint8_t part[4096];
    size_t count;
    while ((count = fread(part, 1, sizeof part, file)) > 0 && contents->size < FILE_SIZE_MAXIMUM) {
        buffer_add(contents, part, count);
    }
    fclose(file);
    // Some of the readers below need a NUL after the contents.
    buffer_add(contents, "", 1);
    contents->size--;
    return 1;
}

// Reads the file that a member names, relative to the folder of the certificates file.
static int read_named(const struct json *entry, const char *member, const char *folder, struct buffer *contents) {
    const struct json *name = json_member(entry, member);
    char path[PATH_SIZE];
    if (name == NULL || name->kind != JSON_TEXT || name->size == 0) return 0;
    int size = snprintf(path, sizeof path, "%s%s", name->text[0] == '/' ? "" : folder, name->text);
    return size < PATH_SIZE && read_file(path, contents);
}

// A private key with a passphrase is not usable.
static int no_passphrase(char *buffer, int size, int writes, void *context) {
    (void)buffer, (void)size, (void)writes, (void)context;
    return -1;
}

// Only the form of PKCS#1 is read. Its second element is the modulus, an INTEGER; in PKCS#8, it is a sequence.
static EVP_PKEY *read_der_key(const struct buffer *file) {
    const uint8_t *at = file->bytes;
    if (file->size < 8 || at[0] != 0x30 || at[1] != 0x82 || at[4] != 2 || at[7] != 2) return NULL;
    return d2i_PrivateKey(EVP_PKEY_RSA, NULL, &at, (long)file->size);
}

static EVP_PKEY *read_key(const struct buffer *file, int bits) {
    EVP_PKEY *key;
    if (strstr((const char *)file->bytes, "-----BEGIN ") != NULL) {
        BIO *text = BIO_new_mem_buf(file->bytes, (int)file->size);
        key = PEM_read_bio_PrivateKey(text, NULL, no_passphrase, NULL);
        BIO_free(text);
    } else {
        key = read_der_key(file);
    }
    if (key == NULL || !EVP_PKEY_is_a(key, "RSA") || EVP_PKEY_get_bits(key) != bits) {
        EVP_PKEY_free(key);
        return NULL;
    }
    return key;
}

static EVP_PKEY *read_named_key(const struct json *entry, const char *member, const char *folder, int bits) {
    struct buffer file = {0};
    EVP_PKEY *key = read_named(entry, member, folder, &file) ? read_key(&file, bits) : NULL;
    buffer_free(&file);
    return key;
}

static void add_hashes(struct entry *entry, const uint8_t *bytes, size_t size) {
    hash(EVP_sha1(), bytes, size, entry->sha1[entry->named_files]);
    hash(EVP_sha256(), bytes, size, entry->sha256[entry->named_files]);
    entry->named_files++;
}

// Whether the certificate is for this version of the library or an older one. The extension is a DER integer of two
// bytes.
static int is_for_this_version(const X509 *certificate) {
    ASN1_OBJECT *name = OBJ_txt2obj(SDK_VERSION_EXTENSION, 1);
    int index = X509_get_ext_by_OBJ(certificate, name, -1);
    ASN1_OBJECT_free(name);
    if (index < 0) return 1;
    const ASN1_OCTET_STRING *value = X509_EXTENSION_get_data(X509_get_ext(certificate, index));
    const uint8_t *bytes = ASN1_STRING_get0_data(value);
    if (ASN1_STRING_length(value) != 4 || bytes[0] != 2 || bytes[1] != 2) return 0;
    return (bytes[2] << 8 | bytes[3]) <= (FPS_VERSION_MAJOR << 8 | FPS_VERSION_MINOR);
}

static int belongs(X509 *certificate, EVP_PKEY *key) {
    return key != NULL && EVP_PKEY_eq(X509_get0_pubkey(certificate), key) == 1;
}

// Takes the next certificate of a file of DER encodings, which must belong to the key.
static int take_certificate(struct entry *entry, const uint8_t **at, const uint8_t *end, EVP_PKEY *key) {
    const uint8_t *start = *at;
    X509 *certificate = d2i_X509(NULL, at, end - *at);
    int is_sound = certificate != NULL && belongs(certificate, key) && is_for_this_version(certificate);
    X509_free(certificate);
    if (is_sound) add_hashes(entry, start, (size_t)(*at - start));
    return is_sound;
}

static int read_bundle(struct entry *entry, const struct buffer *file) {
    const uint8_t *at = file->bytes;
    const uint8_t *end = file->bytes + file->size;
    if (!take_certificate(entry, &at, end, entry->key_1024) || !take_certificate(entry, &at, end, entry->key_2048)) {
        return 0;
    }
    add_hashes(entry, file->bytes, file->size);
    return at == end;
}

static int read_older_certificate(struct entry *entry, const struct buffer *file) {
    uint8_t *der = NULL;
    int size = 0;
    BIO *text = BIO_new_mem_buf(file->bytes, (int)file->size);
    X509 *certificate = PEM_read_bio_X509(text, NULL, no_passphrase, NULL);
    BIO_free(text);
    if (certificate != NULL) {
        size = i2d_X509(certificate, &der);
        X509_free(certificate);
    }
    const uint8_t *start = der != NULL ? der : file->bytes;
    const uint8_t *end = der != NULL ? der + size : file->bytes + file->size;
    const uint8_t *at = start;
    int is_sound = take_certificate(entry, &at, end, entry->key_1024) && at == end;
    OPENSSL_free(der);
    return is_sound;
}

static int read_secret(struct entry *entry, const char *text) {
    return read_hex(text, strlen(text), entry->secret, 16) == 16;
}

static int read_fault(const char *name, struct fault *fault) {
    return fault_read(name, strlen(name), fault) == strlen(name);
}

static int read_line(struct entry *entry, const char *name, const char *value) {
    if (strcmp(name, "ask") == 0 || strcmp(name, "dask") == 0) {
        entry->has_application_secret = name[0] == 'a';
        return read_secret(entry, value);
    }
    if (strcmp(name, "video") == 0) return (entry->uses_video = atoi(value)) == 1;
    if (strcmp(name, "fault") == 0) return read_fault(value, &entry->fault);
    if (strcmp(name, "failure-fault") == 0) return read_fault(value, &entry->failure_fault);
    struct fault load_fault;
    return strcmp(name, "load-fault") == 0 && read_fault(value, &load_fault) && fault_act(load_fault);
}

static int read_provisioning_data(struct entry *entry, const struct buffer *file) {
    int has_secret = 0;
    char *rest = NULL;
    for (char *line = strtok_r((char *)file->bytes, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        char name[32] = "";
        char value[128] = "";
        if (sscanf(line, "%31s %127s", name, value) != 2 || !read_line(entry, name, value)) return 0;
        has_secret = has_secret || strstr(name, "ask") != NULL;
    }
    return has_secret;
}

// Reads 32 hexadecimal digits or, if the value is something else, Base64 of 16 bytes.
static int read_application_secret(struct entry *entry, const struct json *value) {
    entry->has_application_secret = 1;
    if (value->kind != JSON_TEXT) return 0;
    if (value->size == 32 && read_secret(entry, value->text)) return 1;
    struct buffer decoded = {0};
    int is_sound = read_base64(&decoded, value->text, value->size) && decoded.size == 16;
    if (is_sound) memcpy(entry->secret, decoded.bytes, 16);
    buffer_free(&decoded);
    return is_sound;
}

static int read_newer_entry(struct entry *entry, const struct json *json, const char *folder) {
    struct buffer bundle = {0};
    struct buffer data = {0};
    entry->key_2048 = read_named_key(json, "2048-private-key", folder, 2048);
    int is_sound = read_named(json, "certificate", folder, &bundle) && read_bundle(entry, &bundle)
        && read_named(json, "provisioning-data", folder, &data) && read_provisioning_data(entry, &data);
    buffer_free(&bundle);
    buffer_free(&data);
    return is_sound;
}

static int read_older_entry(struct entry *entry, const struct json *json, const char *folder) {
    struct buffer certificate = {0};
    int is_sound = read_named(json, "certificate", folder, &certificate)
        && read_older_certificate(entry, &certificate) && read_application_secret(entry, json_member(json, "ask"));
    buffer_free(&certificate);
    return is_sound;
}

static int read_entry(struct entry *entry, const struct json *json, const char *folder) {
    entry->key_1024 = read_named_key(json, "1024-private-key", folder, 1024);
    if (json_member(json, "ask") != NULL) return read_older_entry(entry, json, folder);
    return read_newer_entry(entry, json, folder);
}

static enum fps_certificates read_entries(const struct json *list, const char *folder) {
    if (list == NULL || list->kind != JSON_ARRAY) return FPS_CERTIFICATES_UNUSABLE;
    for (const struct json *json = list->first; json != NULL; json = json->next) {
        if (entry_count == ENTRIES_MAXIMUM) return FPS_CERTIFICATES_UNUSABLE;
        if (!read_entry(&entries[entry_count++], json, folder)) return FPS_CERTIFICATES_UNUSABLE;
    }
    return FPS_CERTIFICATES_LOADED;
}

static void load(void) {
    // A confined process cannot read the configuration file of OpenSSL.
    OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL);
    const char *path = getenv("FPS_CERT_PATH");
    if (path == NULL) path = DEFAULT_PATH;
    const char *slash = strrchr(path, '/');
    char folder[PATH_SIZE];
    snprintf(folder, sizeof folder, "%.*s", slash == NULL ? 0 : (int)(slash + 1 - path), path);
    struct buffer file = {0};
    if (read_file(path, &file)) {
        struct json *json = json_read((const char *)file.bytes, file.size);
        state = json == NULL ? FPS_CERTIFICATES_NOT_JSON : read_entries(json_member(json, "certificates"), folder);
        json_free(json);
    }
    buffer_free(&file);
}

enum fps_certificates fps_load_certificates(void) {
    pthread_once(&once, load);
    return state;
}

const struct entry *entry_named(const uint8_t *hash, size_t size) {
    if (fps_load_certificates() != FPS_CERTIFICATES_LOADED) return NULL;
    for (int index = 0; index < entry_count; index++) {
        const struct entry *entry = &entries[index];
        for (int file = 0; file < entry->named_files; file++) {
            if (memcmp(size == 20 ? entry->sha1[file] : entry->sha256[file], hash, size) == 0) return entry;
        }
    }
    return NULL;
}

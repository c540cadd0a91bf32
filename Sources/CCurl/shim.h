// libcurl's headers, and static inline wrappers for its variadic functions, which Swift cannot call.
#ifndef LATCHKEY_CCURL_SHIM_H
#define LATCHKEY_CCURL_SHIM_H

// Switches off the header's checks of argument types, which are macros around those functions.
#define CURL_DISABLE_TYPECHECK 1
#include <curl/curl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>

static inline CURLcode latchkey_curl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

// libcurl copies the text.
static inline CURLcode latchkey_curl_set_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

// libcurl copies the bytes.
static inline CURLcode latchkey_curl_set_bytes(CURL *handle, CURLoption option, const void *bytes, size_t count) {
    struct curl_blob blob;
    blob.data = (void *)bytes;
    blob.len = count;
    blob.flags = CURL_BLOB_COPY;
    return curl_easy_setopt(handle, option, &blob);
}

// libcurl copies the bytes.
static inline CURLcode latchkey_curl_set_body(CURL *handle, const void *bytes, size_t count) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
    return code == CURLE_OK ? curl_easy_setopt(handle, CURLOPT_COPYPOSTFIELDS, bytes) : code;
}

// libcurl does not copy the list: the caller keeps it until the transfer has ended.
static inline CURLcode latchkey_curl_set_fields(CURL *handle, struct curl_slist *fields) {
    return curl_easy_setopt(handle, CURLOPT_HTTPHEADER, fields);
}

static inline CURLcode latchkey_curl_set_callbacks(
    CURL *handle, curl_write_callback write, curl_opensocket_callback open_socket, void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, write);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_WRITEDATA, context);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, context);
    return code;
}

static inline CURLMcode latchkey_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

// A timer that can be waited for together with the connections of a multi handle. -1 if the kernel has none left.
static inline int latchkey_curl_timer(void) {
    return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
}

// Waits until a connection is ready, a transfer's timeout is reached, or `nanoseconds` (at least 1) have passed.
// libcurl itself counts only whole milliseconds.
static inline CURLMcode latchkey_curl_multi_poll(CURLM *multi, int timer, int64_t nanoseconds) {
    struct itimerspec time = {{0, 0}, {nanoseconds / 1000000000, nanoseconds % 1000000000}};
    struct curl_waitfd wait = {timer, CURL_WAIT_POLLIN, 0};
    timerfd_settime(timer, 0, &time, NULL);
    return curl_multi_poll(multi, &wait, 1, (int)(nanoseconds / 1000000) + 1, NULL);
}

// Returns the handle of the next transfer that has ended, and sets its result; NULL if no further transfer has ended.
static inline CURL *latchkey_curl_multi_ended(CURLM *multi, CURLcode *result) {
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left)) != NULL) {
        if (message->msg != CURLMSG_DONE) continue;
        *result = message->data.result;
        return message->easy_handle;
    }
    return NULL;
}

static inline CURLcode latchkey_curl_status(CURL *handle, long *status) {
    return curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, status);
}

// The version of HTTP that was used, one of CURL_HTTP_VERSION_*.
static inline CURLcode latchkey_curl_version(CURL *handle, long *version) {
    return curl_easy_getinfo(handle, CURLINFO_HTTP_VERSION, version);
}

// The status of a proxy's answer to CONNECT; 0 if no proxy was used.
static inline CURLcode latchkey_curl_connect_status(CURL *handle, long *status) {
    return curl_easy_getinfo(handle, CURLINFO_HTTP_CONNECTCODE, status);
}

// The number of connections that the transfer opened.
static inline CURLcode latchkey_curl_connections(CURL *handle, long *count) {
    return curl_easy_getinfo(handle, CURLINFO_NUM_CONNECTS, count);
}

// The time from the beginning of the transfer to its end, in microseconds.
static inline CURLcode latchkey_curl_total_time(CURL *handle, int64_t *microseconds) {
    curl_off_t time = 0;
    CURLcode code = curl_easy_getinfo(handle, CURLINFO_TOTAL_TIME_T, &time);
    *microseconds = time;
    return code;
}

// The header field after `previous`, or the first one if `previous` is NULL. Returns NULL if there are no more. The
// fields are from the last answer of the server itself, not of a proxy.
static inline struct curl_header *latchkey_curl_next_field(CURL *handle, struct curl_header *previous) {
    return curl_easy_nextheader(handle, CURLH_HEADER, -1, previous);
}

// Returns the leaf certificate of the server in PEM, for a transfer with CURLOPT_CERTINFO, or NULL. libcurl keeps the
// text until the handle is used again.
static inline const char *latchkey_curl_served_certificate(CURL *handle) {
    struct curl_certinfo *info = NULL;
    if (curl_easy_getinfo(handle, CURLINFO_CERTINFO, &info) != CURLE_OK || info == NULL || info->num_of_certs < 1)
        return NULL;
    for (struct curl_slist *item = info->certinfo[0]; item != NULL; item = item->next)
        if (strncmp(item->data, "Cert:", 5) == 0) return item->data + 5;
    return NULL;
}

// libcurl does not copy the buffer: it must have CURL_ERROR_SIZE bytes, and the caller keeps it until the transfer has
// ended.
static inline CURLcode latchkey_curl_set_error_buffer(CURL *handle, char *buffer) {
    return curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, buffer);
}

static inline CURLcode latchkey_curl_set_writer(CURL *handle, curl_write_callback write, void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, write);
    return code == CURLE_OK ? curl_easy_setopt(handle, CURLOPT_WRITEDATA, context) : code;
}

// Copies the address to which a connection would go, in network order. Returns its size in bytes, 4 or 16, or 0 for
// another address family.
static inline size_t latchkey_curl_address(const struct curl_sockaddr *target, uint8_t bytes[16]) {
    if (target->family == AF_INET && target->addrlen >= sizeof(struct sockaddr_in)) {
        struct sockaddr_in address;
        memcpy(&address, &target->addr, sizeof address);
        memcpy(bytes, &address.sin_addr, 4);
        return 4;
    }
    if (target->family == AF_INET6 && target->addrlen >= sizeof(struct sockaddr_in6)) {
        struct sockaddr_in6 address;
        // libcurl's structure ends with a plain sockaddr; the rest of a longer address follows it in memory.
        memcpy(&address, (const char *)&target->addr, sizeof address);
        memcpy(bytes, &address.sin6_addr, 16);
        return 16;
    }
    return 0;
}

static inline curl_socket_t latchkey_curl_open_socket(const struct curl_sockaddr *target) {
    return socket(target->family, target->socktype | SOCK_CLOEXEC, target->protocol);
}

#endif

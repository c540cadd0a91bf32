// libpq's header, and static inline wrappers for constants that Swift cannot import, and for a callback that should be
// a C function.
#ifndef LATCHKEY_CPOSTGRESQL_SHIM_H
#define LATCHKEY_CPOSTGRESQL_SHIM_H

#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>

// glibc declares it only under _GNU_SOURCE.
extern char **environ;

static inline void latchkey_pq_ignore_notice(void *context, const PGresult *result) {
    (void)context;
    (void)result;
}

// Drops notices. libpq would write them to standard error, which is for the daemon's log. The callback is a C function,
// because libpq keeps a pointer to it.
static inline void latchkey_pq_silence_notices(PGconn *connection) {
    PQsetNoticeReceiver(connection, latchkey_pq_ignore_notice, (void *)0);
}

// Removes libpq's variables, all names that begin with "PG", from the environment. Some of them have effects that no
// parameter of a connection overrides: PGHOSTADDR leads to another server, and PGSERVICE to a file with parameters.
// Only libpq reads them. glibc frees nothing here, so another thread may read the environment at the same time.
static inline void latchkey_pq_clear_environment(void) {
    char **entry = environ;
    while (entry != NULL && *entry != NULL) {
        const char *end = strncmp(*entry, "PG", 2) == 0 ? strchr(*entry, '=') : NULL;
        char *name = end == NULL ? NULL : strndup(*entry, (size_t)(end - *entry));
        // unsetenv moves the next variable to this place.
        if (name == NULL || unsetenv(name) != 0) entry++;
        free(name);
    }
}

// The SQLSTATE of an error, five characters and a zero byte; NULL if there is no SQLSTATE. PG_DIAG_SQLSTATE is a
// character constant that Swift cannot import.
static inline const char *latchkey_pq_sqlstate(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_SQLSTATE);
}

#endif

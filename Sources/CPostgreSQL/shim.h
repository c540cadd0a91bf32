// libpq's header, and static inline wrappers for constants that Swift cannot import, and for a callback that should be
// a C function.
#ifndef LATCHKEY_CPOSTGRESQL_SHIM_H
#define LATCHKEY_CPOSTGRESQL_SHIM_H

#include <libpq-fe.h>

static inline void latchkey_pq_ignore_notice(void *context, const PGresult *result) {
    (void)context;
    (void)result;
}

// Drops notices. libpq would write them to standard error, which is for the daemon's log. The callback is a C function,
// because libpq keeps a pointer to it.
static inline void latchkey_pq_silence_notices(PGconn *connection) {
    PQsetNoticeReceiver(connection, latchkey_pq_ignore_notice, (void *)0);
}

// The SQLSTATE of an error, five characters and a zero byte; NULL if there is no SQLSTATE. PG_DIAG_SQLSTATE is a
// character constant that Swift cannot import.
static inline const char *latchkey_pq_sqlstate(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_SQLSTATE);
}

#endif

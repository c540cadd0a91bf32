// libpq's header, and static inline wrappers of what Swift cannot import or should not hand over.
#ifndef LATCHKEY_CPOSTGRESQL_SHIM_H
#define LATCHKEY_CPOSTGRESQL_SHIM_H

#include <libpq-fe.h>

static inline void latchkey_pq_ignore_notice(void *context, const PGresult *result) {
    (void)context;
    (void)result;
}

// Notices would go to standard error, which belongs to the daemon's log. The function is kept by libpq, so it is one of
// C.
static inline void latchkey_pq_silence_notices(PGconn *connection) {
    PQsetNoticeReceiver(connection, latchkey_pq_ignore_notice, (void *)0);
}

// The SQLSTATE of an error, five characters and a zero byte, or NULL. PG_DIAG_SQLSTATE is a character constant that
// Swift cannot import.
static inline const char *latchkey_pq_sqlstate(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_SQLSTATE);
}

#endif

// SQLite's header, and static inline wrappers for macros and variadic functions that Swift cannot import.
#ifndef LATCHKEY_CSQLITE_SHIM_H
#define LATCHKEY_CSQLITE_SHIM_H

#include <sqlite3.h>

// SQLITE_TRANSIENT makes SQLite copy the bytes before the call returns. It is a cast that Swift cannot import.
static inline int latchkey_sqlite3_bind_blob_copy(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    return sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}

static inline int latchkey_sqlite3_bind_text_copy(sqlite3_stmt *statement, int index, const char *text, int count) {
    return sqlite3_bind_text(statement, index, text, count, SQLITE_TRANSIENT);
}

// After this call, SQL statements cannot write to the tables of the schema, or deliberately damage the file in another
// way.
static inline int latchkey_sqlite3_set_defensive(sqlite3 *connection) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
}

#endif

// Texts that are part of the programs: the operator's page, the description of the API, and the schemas of the
// databases. They are constants.
#ifndef LATCHKEY_CEMBEDDED_H
#define LATCHKEY_CEMBEDDED_H

#include <stddef.h>

struct latchkey_embedded_file {
    /// The name of the file, without a folder. It ends with a zero byte.
    const char *name;
    /// The content of the file. No zero byte follows it.
    const unsigned char *bytes;
    /// The size of the content in bytes.
    size_t size;
};

/// How many files the operator's page has.
size_t latchkey_page_file_count(void);

/// The files of the operator's page, sorted by their names.
const struct latchkey_embedded_file *latchkey_page_files(void);

/// `openapi.json`: the description of all routes in OpenAPI 3.1.
const struct latchkey_embedded_file *latchkey_api_description(void);

/// `postgresql.sql`: the schema of an installation in PostgreSQL.
const struct latchkey_embedded_file *latchkey_postgresql_schema(void);

/// `sqlite.sql`: the schema of a database file.
const struct latchkey_embedded_file *latchkey_sqlite_schema(void);

#endif

// The texts that are part of the daemon. `#embed` reads them when this file is compiled, so the files beside it are the
// only copies. Each file of the page stands here twice: with its bytes, and with its name.
#include "CEmbedded.h"

// `#embed` is of C23, and this file otherwise is not.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char account_js[] = {
#embed "OperatorPage/account.js"
};
static const unsigned char actions_js[] = {
#embed "OperatorPage/actions.js"
};
static const unsigned char api_js[] = {
#embed "OperatorPage/api.js"
};
static const unsigned char condition_js[] = {
#embed "OperatorPage/condition.js"
};
static const unsigned char contents_js[] = {
#embed "OperatorPage/contents.js"
};
static const unsigned char devices_js[] = {
#embed "OperatorPage/devices.js"
};
static const unsigned char dialogs_js[] = {
#embed "OperatorPage/dialogs.js"
};
static const unsigned char dom_js[] = {
#embed "OperatorPage/dom.js"
};
static const unsigned char explanation_js[] = {
#embed "OperatorPage/explanation.js"
};
static const unsigned char favicon_svg[] = {
#embed "OperatorPage/favicon.svg"
};
static const unsigned char find_js[] = {
#embed "OperatorPage/find.js"
};
static const unsigned char format_js[] = {
#embed "OperatorPage/format.js"
};
static const unsigned char grouped_timeline_js[] = {
#embed "OperatorPage/grouped-timeline.js"
};
static const unsigned char index_html[] = {
#embed "OperatorPage/index.html"
};
static const unsigned char kinds_js[] = {
#embed "OperatorPage/kinds.js"
};
static const unsigned char ledger_words_js[] = {
#embed "OperatorPage/ledger-words.js"
};
static const unsigned char live_js[] = {
#embed "OperatorPage/live.js"
};
static const unsigned char login_js[] = {
#embed "OperatorPage/login.js"
};
static const unsigned char main_js[] = {
#embed "OperatorPage/main.js"
};
static const unsigned char now_js[] = {
#embed "OperatorPage/now.js"
};
static const unsigned char other_nodes_js[] = {
#embed "OperatorPage/other-nodes.js"
};
static const unsigned char parts_css[] = {
#embed "OperatorPage/parts.css"
};
static const unsigned char plot_table_js[] = {
#embed "OperatorPage/plot-table.js"
};
static const unsigned char plots_css[] = {
#embed "OperatorPage/plots.css"
};
static const unsigned char plots_js[] = {
#embed "OperatorPage/plots.js"
};
static const unsigned char recognition_js[] = {
#embed "OperatorPage/recognition.js"
};
static const unsigned char refusal_groups_js[] = {
#embed "OperatorPage/refusal-groups.js"
};
static const unsigned char refusals_js[] = {
#embed "OperatorPage/refusals.js"
};
static const unsigned char revocations_js[] = {
#embed "OperatorPage/revocations.js"
};
static const unsigned char scales_js[] = {
#embed "OperatorPage/scales.js"
};
static const unsigned char series_js[] = {
#embed "OperatorPage/series.js"
};
static const unsigned char session_js[] = {
#embed "OperatorPage/session.js"
};
static const unsigned char standing_js[] = {
#embed "OperatorPage/standing.js"
};
static const unsigned char status_panels_js[] = {
#embed "OperatorPage/status-panels.js"
};
static const unsigned char theme_css[] = {
#embed "OperatorPage/theme.css"
};
static const unsigned char timeline_js[] = {
#embed "OperatorPage/timeline.js"
};
static const unsigned char views_css[] = {
#embed "OperatorPage/views.css"
};
static const unsigned char why_js[] = {
#embed "OperatorPage/why.js"
};

static const struct latchkey_embedded_file page[] = {
    {"account.js", account_js, sizeof account_js},
    {"actions.js", actions_js, sizeof actions_js},
    {"api.js", api_js, sizeof api_js},
    {"condition.js", condition_js, sizeof condition_js},
    {"contents.js", contents_js, sizeof contents_js},
    {"devices.js", devices_js, sizeof devices_js},
    {"dialogs.js", dialogs_js, sizeof dialogs_js},
    {"dom.js", dom_js, sizeof dom_js},
    {"explanation.js", explanation_js, sizeof explanation_js},
    {"favicon.svg", favicon_svg, sizeof favicon_svg},
    {"find.js", find_js, sizeof find_js},
    {"format.js", format_js, sizeof format_js},
    {"grouped-timeline.js", grouped_timeline_js, sizeof grouped_timeline_js},
    {"index.html", index_html, sizeof index_html},
    {"kinds.js", kinds_js, sizeof kinds_js},
    {"ledger-words.js", ledger_words_js, sizeof ledger_words_js},
    {"live.js", live_js, sizeof live_js},
    {"login.js", login_js, sizeof login_js},
    {"main.js", main_js, sizeof main_js},
    {"now.js", now_js, sizeof now_js},
    {"other-nodes.js", other_nodes_js, sizeof other_nodes_js},
    {"parts.css", parts_css, sizeof parts_css},
    {"plot-table.js", plot_table_js, sizeof plot_table_js},
    {"plots.css", plots_css, sizeof plots_css},
    {"plots.js", plots_js, sizeof plots_js},
    {"recognition.js", recognition_js, sizeof recognition_js},
    {"refusal-groups.js", refusal_groups_js, sizeof refusal_groups_js},
    {"refusals.js", refusals_js, sizeof refusals_js},
    {"revocations.js", revocations_js, sizeof revocations_js},
    {"scales.js", scales_js, sizeof scales_js},
    {"series.js", series_js, sizeof series_js},
    {"session.js", session_js, sizeof session_js},
    {"standing.js", standing_js, sizeof standing_js},
    {"status-panels.js", status_panels_js, sizeof status_panels_js},
    {"theme.css", theme_css, sizeof theme_css},
    {"timeline.js", timeline_js, sizeof timeline_js},
    {"views.css", views_css, sizeof views_css},
    {"why.js", why_js, sizeof why_js},
};

static const unsigned char openapi_json[] = {
#embed "openapi.json"
};
static const struct latchkey_embedded_file description = {"openapi.json", openapi_json, sizeof openapi_json};

static const unsigned char postgresql_sql[] = {
#embed "Schemas/postgresql.sql"
};
static const struct latchkey_embedded_file postgresql_schema = {
    "postgresql.sql", postgresql_sql, sizeof postgresql_sql};

static const unsigned char sqlite_sql[] = {
#embed "Schemas/sqlite.sql"
};
static const struct latchkey_embedded_file sqlite_schema = {"sqlite.sql", sqlite_sql, sizeof sqlite_sql};

size_t latchkey_page_file_count(void) { return sizeof page / sizeof *page; }

const struct latchkey_embedded_file *latchkey_page_files(void) { return page; }

const struct latchkey_embedded_file *latchkey_api_description(void) { return &description; }

const struct latchkey_embedded_file *latchkey_postgresql_schema(void) { return &postgresql_schema; }

const struct latchkey_embedded_file *latchkey_sqlite_schema(void) { return &sqlite_schema; }

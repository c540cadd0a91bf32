// What happened, from the ledger of this node.

import { get } from "./api.js";
import { problem } from "./dialogs.js";
import { button, el, facts, folded, refill } from "./dom.js";
import { dateAndTime, day, duration, localised, timeOfDay, words } from "./format.js";
import { searchFor } from "./kinds.js";
import { sentence } from "./ledger-words.js";
import { elsewhere } from "./other-nodes.js";

const PAGE_SIZE = 50;

const TONES = {
  license_issued: "good",
  license_renewed: "good",
  token_minted: "good",
  sync_report_accepted: "good",
  license_refused: "bad",
  revoked: "warn",
  revocation_lifted: "warn",
  device_removed: "warn",
  playback_ended: "warn",
  rental_forgotten: "warn",
  key_revealed: "warn",
  key_withdrawn: "warn",
  key_deleted: "warn",
  store_restored: "warn",
  ledger_rejoined: "warn",
};

/** Members that the line itself shows. */
const SHOWN_ABOVE = new Set(["text", "at", "time", "kind"]);
const LABELS = {
  sequence: "Row",
  node: "Node",
  license: "License",
  previous: "License before",
  kid: "Key id",
  key: "Key id",
  content: "Content",
  subject: "Subject",
  device: "Device",
  token: "Token id",
  cookie: "Cookie",
  cmcdSession: "Player's session",
  cmcdContent: "Player's content",
  detail: "Detail",
  lease: "Lease",
  rental: "Rental",
  until: "Ends",
  playback: "Playback",
  renewAfter: "Renew after",
  actor: "By",
  request: "Request",
  report: "Report",
};
const LINKED = {
  license: "license",
  previous: "license",
  kid: "key",
  key: "key",
  content: "content",
  request: "request",
};
const IDS = new Set(["subject", "device", "token", "cookie", "cmcdSession"]);
const SECONDS = new Set(["lease", "rental", "playback"]);

/** A panel that reads rows of the ledger by pages. `onEntry` hears each, and `onPage` is called after each page. */
export function timeline(query, listeners) {
  const list = el("div", {});
  const state = { day: null, group: null };
  const add = (entries) => entries.forEach((entry) => append(list, state, entry));
  return panel(list, query, PAGE_SIZE, add, listeners);
}

/**
 * A panel that fills a list with rows of the ledger: `add` shows those of each page, and is told whether there are
 * more. The ledger is that of this node.
 */
export function panel(list, query, size, add, listeners) {
  const more = el("div", { class: "row" });
  load(more, { query, size, add, ...listeners, count: 0 }, null);
  return el("section", { class: "panel" }, el("h2", {}, "What happened on this node"), list, more, elsewhere(query));
}

async function load(more, state, after) {
  const { query, size, add, onEntry, onPage } = state;
  refill(more, el("p", { class: "empty", role: "status" }, "Reading the ledger…"));
  try {
    const { entries, next, isComplete, order } = await get("/v1/ledger", { ...query, after, limit: size });
    add(entries, Boolean(next));
    entries.forEach(onEntry);
    onPage();
    state.count += entries.length;
    const isCutShort = isComplete === false && entries.length < size;
    const isOldestFirst = order && order !== "newestFirst" && order !== "newest";
    refill(
      more,
      state.count === 0 &&
        el("p", { class: "empty" }, next ? "Nothing found so far." : "The ledger of this node has nothing about this."),
      state.count > 0 &&
        !next &&
        isComplete !== false &&
        el("p", { class: "hint" }, "That is all that the ledger of this node has."),
      isCutShort &&
        el("p", { class: "hint" }, "The search has read as many rows as one request may. Continue to read more."),
      next &&
        button(state.count === 0 || isCutShort ? "Continue" : isOldestFirst ? "Later" : "Earlier", () =>
          load(more, state, next),
        ),
    );
  } catch (error) {
    refill(
      more,
      problem(error),
      button("Try again", () => load(more, state, after)),
    );
  }
}

/** Rows of one day stand under its name. */
function append(list, state, entry) {
  const name = day(entry.at);
  if (name !== state.day) {
    state.day = name;
    state.group = el("ol", { class: "timeline" });
    list.append(el("h3", { class: "day" }, name), state.group);
  }
  state.group.append(line(entry));
}

/** A row as an item of a list. */
export function line(entry) {
  const members = Object.keys(entry).filter((name) => !SHOWN_ABOVE.has(name));
  return el(
    "li",
    { class: TONES[entry.kind] ?? "" },
    el("div", { class: "what" }, timeOfDay(entry.at), el("span", { class: "said" }, sentence(entry))),
    folded(el("summary", {}, "Details"), () =>
      facts([
        ["Kind", words(entry.kind)],
        ["Time", dateAndTime(entry.at)],
        ...members.map((name) => [LABELS[name] ?? words(name), value(name, entry[name])]),
      ]),
    ),
  );
}

function value(name, content) {
  if (content === null || content === undefined || content === "") return null;
  if (LINKED[name])
    return el("a", { class: name === "content" ? "" : "mono", href: searchFor(LINKED[name], content) }, content);
  if (IDS.has(name)) return el("span", { class: "mono" }, content);
  if (SECONDS.has(name) && typeof content === "number") return duration(content);
  if (name === "until" || name === "renewAfter") return dateAndTime(content);
  if (typeof content !== "object") return localised(String(content));
  const parts = Object.entries(content).filter(
    ([, one]) => one !== null && one !== "" && !(Array.isArray(one) && !one.length),
  );
  return parts.length
    ? facts(parts.map(([key, one]) => [words(key), localised(Array.isArray(one) ? one.join(", ") : String(one))]))
    : null;
}

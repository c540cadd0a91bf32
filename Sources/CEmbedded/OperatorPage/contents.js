// The view Contents: which contents the server has keys for, and the facts about each key. Never a key itself.

import { get } from "./api.js";
import { problem } from "./dialogs.js";
import { button, el, facts, field, fill, refill, table } from "./dom.js";
import { dateAndTime, moment, whole, words } from "./format.js";
import { searchFor } from "./kinds.js";

export const contents = { name: "contents", label: "Contents", permission: "look", open };

const PAGE_SIZE = 50;
const FLOORS = { securityLevel: "security level", hdcp: "HDCP", contentType: "content type" };

function open(parameters) {
  const place = el("div", { class: "view" });
  const update = (changed) => {
    const id = changed.get("id");
    fill(place, id ? oneContent(id) : list(changed.get("prefix") ?? ""));
  };
  update(parameters);
  return { element: place, update };
}

// --- The list ------------------------------------------------------------------------------------------------------

function list(begin) {
  const prefix = field(
    "Content ids that begin with",
    el("input", { name: "prefix", value: begin, autocomplete: "off", spellcheck: false, maxLength: 200 }),
  );
  const page = el("div", {}, el("p", { class: "empty" }, "Reading…"));
  const submit = (event) => {
    event.preventDefault();
    showPage(page, prefix.control.value.trim(), []);
  };
  showPage(page, begin, []);
  return [
    el("h1", {}, "Contents"),
    el(
      "section",
      { class: "panel stack" },
      el(
        "form",
        { class: "filter", role: "search", onsubmit: submit },
        prefix,
        el("button", { class: "button", type: "submit" }, "Show"),
      ),
      page,
    ),
  ];
}

/** Shows the page after the last of `starts`. The others are the pages before it. */
async function showPage(place, prefix, starts) {
  place.setAttribute("aria-busy", "true");
  try {
    const { contents: all, next } = await get("/v1/contents", { limit: PAGE_SIZE, prefix, after: starts.at(-1) });
    const rows = all.map((one) => [
      el("a", { href: `#contents?id=${encodeURIComponent(one.contentId)}` }, one.contentId),
      whole(one.keyCount),
      (one.tracks ?? []).join(", "),
      one.periodCount ? whole(one.periodCount) : "",
      dateAndTime(one.createdAt),
    ]);
    const columns = [["Content"], ["Keys", "number"], ["Tracks"], ["Periods", "number"], ["First key"]];
    refill(
      place,
      rows.length
        ? table("Contents", columns, rows)
        : el("p", { class: "empty" }, prefix ? "No content begins so." : "There are no contents yet."),
      el(
        "div",
        { class: "row" },
        starts.length > 0 && button("Back", () => showPage(place, prefix, starts.slice(0, -1))),
        next && button("More", () => showPage(place, prefix, [...starts, next])),
      ),
    );
  } catch (error) {
    refill(place, problem(error));
  } finally {
    place.removeAttribute("aria-busy");
  }
}

// --- One content ---------------------------------------------------------------------------------------------------

function oneContent(id) {
  const place = el("div", { class: "stack" }, el("p", { class: "empty" }, "Reading…"));
  showKeys(place, id, []);
  return [
    el("p", {}, el("a", { href: "#contents" }, "All contents")),
    el(
      "div",
      { class: "head" },
      el("h1", {}, id),
      el("a", { class: "button small", href: searchFor("content", id) }, "What happened"),
    ),
    place,
  ];
}

async function showKeys(place, id, starts) {
  try {
    const answer = await get(`/v1/contents/${encodeURIComponent(id)}/keys`, { limit: PAGE_SIZE, after: starts.at(-1) });
    refill(
      place,
      rotation(answer),
      keys(answer),
      el(
        "div",
        { class: "row" },
        starts.length > 0 && button("Back", () => showKeys(place, id, starts.slice(0, -1))),
        answer.next && button("More", () => showKeys(place, id, [...starts, answer.next])),
      ),
    );
  } catch (error) {
    refill(
      place,
      error.status === 404
        ? el("p", { class: "panel empty" }, "The server has no key of this content.")
        : problem(error),
    );
  }
}

function keys({ keys: all }) {
  const hasPeriods = all.some(({ period }) => period !== null && period !== undefined);
  const columns = [
    ["Key id"],
    ["Track"],
    ...(hasPeriods ? [["Period", "number"]] : []),
    ["State"],
    ["Floors"],
    ["Created"],
  ];
  const rows = all.map((one) => [
    el("a", { class: "mono", href: searchFor("key", one.keyId) }, one.keyId),
    one.track ?? "",
    ...(hasPeriods ? [one.period === null || one.period === undefined ? "" : whole(one.period)] : []),
    el("span", { class: `tag ${one.state === "live" ? "good" : "warn"}` }, words(one.state)),
    floors(one.floors),
    dateAndTime(one.createdAt),
  ]);
  return el(
    "section",
    { class: "panel" },
    el("h2", {}, "Keys"),
    rows.length ? table("Keys", columns, rows) : el("p", { class: "empty" }, "There is no key."),
  );
}

/** The least that a device must have for the key. */
function floors(known) {
  const shown = Object.entries(known ?? {}).filter(
    ([, value]) => value !== null && value !== undefined && value !== false && typeof value !== "object",
  );
  return shown.length
    ? shown.map(([name, value]) => `${FLOORS[name] ?? words(name)} ${value === true ? "" : value}`.trim()).join(", ")
    : "none";
}

function rotation({ periods, nextRotation }) {
  if (!periods?.length && !nextRotation) return null;
  const rows = (periods ?? []).map(({ index, startsAt, endsAt }) => [
    whole(index),
    dateAndTime(startsAt),
    endsAt === null ? "open" : dateAndTime(endsAt),
  ]);
  return el(
    "section",
    { class: "panel stack" },
    el("h2", {}, "Key periods"),
    facts([
      [
        "Next rotation",
        nextRotation &&
          moment(nextRotation.at) &&
          el("span", {}, "period ", whole(nextRotation.index), " at ", dateAndTime(nextRotation.at)),
      ],
    ]),
    rows.length > 0 && table("Key periods", [["Period", "number"], ["Starts"], ["Ends"]], rows),
  );
}

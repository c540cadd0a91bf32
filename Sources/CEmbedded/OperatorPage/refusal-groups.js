// Refused requests, counted by code, issuer and content: which app, which film, and since when.

import { get } from "./api.js";
import { REASONS } from "./condition.js";
import { problem } from "./dialogs.js";
import { button, el, field, refill, say, table } from "./dom.js";
import { dateAndTime, localised, recently, timeOfDay, whole } from "./format.js";
import { refusalsOf, searchFor } from "./kinds.js";
import { live } from "./live.js";
import { otherNodes } from "./other-nodes.js";
import { issuerOf } from "./refusals.js";

/** The most that one request gives. */
const PAGE_SIZE = 200;
/** A node remembers at least so many before it forgets one: it has places for two kinds of senders. */
const FORGETS_AFTER = 4000;
/** How many requests of a group are listed. */
const SHOWN_REQUESTS = 10;
const ALL = "refusals";
const TIMES = { 300: "the last 5 minutes", 3600: "the last hour", 0: "this node's memory" };

/**
 * A panel with the groups. `series` is one of /v1/history, `seconds` says how far back it counts (0: everything), and
 * with `code` only refusals of this code are counted.
 */
export function refusalGroups({ series = ALL, seconds = 3600, code = null }) {
  const place = el("div", { class: "stack" }, el("p", { class: "empty" }, "Counting…"));
  const options = (all, chosen) =>
    Object.entries(all).map(([value, label]) => el("option", { value, selected: value === String(chosen) }, label));
  const reasons = { [ALL]: "any reason", ...REASONS };
  const reason = field("Refused for", el("select", { name: "series" }, options(reasons, series)));
  const within = field("In", el("select", { name: "within" }, options(TIMES, seconds)));
  const choose = () => {
    if (code) return count(place, { code, seconds: Number(within.control.value) });
    location.hash = refusalsOf(reason.control.value, within.control.value);
  };
  for (const { control } of [reason, within]) control.addEventListener("change", choose);
  const again = () => count(place, { series, code, seconds: Number(within.control.value) });
  again();
  return el(
    "section",
    { class: "panel stack" },
    el("div", { class: "head" }, el("h2", {}, "Refusals, counted"), button("Refresh", again)),
    el("div", { class: "filter" }, !code && reason, within),
    place,
  );
}

async function count(place, { series, code, seconds }) {
  place.setAttribute("aria-busy", "true");
  const begin = seconds ? Date.now() - 1000 * seconds : 0;
  const groups = new Map();
  let [total, before, oldest, hasOlder] = [0, null, null, false];
  try {
    do {
      const page = await get("/v1/refusals", { limit: PAGE_SIZE, before, code, series: code ? null : series });
      const recent = page.refusals.filter(({ time }) => Date.parse(time) >= begin);
      for (const one of recent) add(groups, one);
      total += recent.length;
      oldest = recent.at(-1)?.time ?? oldest;
      hasOlder = recent.length < page.refusals.length;
      before = hasOlder ? null : page.next;
    } while (before && place.isConnected);
    const least = !hasOlder && total >= FORGETS_AFTER ? "At least " : "";
    const text = `${least}${whole(total)} ${total === 1 ? "refusal" : "refusals"} in ${TIMES[seconds]}`;
    refill(
      place,
      el("p", {}, text, ", counted at ", timeOfDay(Date.now() / 1000), "."),
      total > 0 && groupTable([...groups.values()].sort((one, other) => other.count - one.count)),
      el(
        "p",
        { class: "hint" },
        oldest && ["The oldest of them is from ", dateAndTime(oldest), ". "],
        ...memory(begin),
      ),
    );
    say(`${text}.`);
  } catch (error) {
    refill(place, problem(error));
  } finally {
    place.removeAttribute("aria-busy");
  }
}

/** What the node may not know of the time that was asked for. */
function memory(begin) {
  const [startedAt, others] = [live.status?.startedAt, otherNodes()];
  return [
    "This node remembers refusals since its start",
    startedAt && 1000 * startedAt > begin && [" (", dateAndTime(startedAt), ")"],
    ": at most 6,000 of tokens that it has verified, and 4,000 others.",
    others.length > 0 && ` Not asked: ${others.join(", ")}.`,
  ];
}

function add(groups, one) {
  const name = JSON.stringify([one.code, one.issuer, Boolean(one.token_key), one.content]);
  const group = groups.get(name) ?? { count: 0, newest: one, requests: [] };
  group.count += 1;
  if (group.requests.length < SHOWN_REQUESTS) group.requests.push(one);
  groups.set(name, group);
}

function groupTable(groups) {
  const columns = [["Count", "number"], ["Code"], ["Issuer"], ["Content"], ["Newest"], ["Requests"]];
  const rows = groups.map(({ count: times, newest, requests }) => [
    el("strong", {}, whole(times)),
    [
      el("a", { href: searchFor("code", newest.code) }, el("code", {}, newest.code)),
      el("span", { class: "left" }, localised(newest.explanation || newest.cause)),
    ],
    issuerOf(newest),
    newest.content
      ? el("a", { href: searchFor("content", newest.content) }, newest.content)
      : el("span", { class: "hint" }, "not known"),
    recently(newest.time),
    el(
      "details",
      {},
      el("summary", {}, times > requests.length ? `The newest ${requests.length}` : "Show"),
      el(
        "ul",
        {},
        requests.map((one) =>
          el("li", {}, el("a", { class: "mono", href: searchFor("request", one.request_id) }, one.request_id)),
        ),
      ),
    ),
  ]);
  return table("Refusals by code, issuer and content", columns, rows);
}

// The panels of the view Now: what will end, the nodes, the clock, the listeners, and pages that browsers stopped.

import { endTone, isSilent } from "./condition.js";
import { el, facts, table } from "./dom.js";
import { bytes, date, dateAndTime, duration, untilThen, whole, words } from "./format.js";

const panel = (title, ...content) => el("section", { class: "panel" }, el("h2", {}, title), content);

/** Certificates, credentials and everything else that has an end, the next one first. */
export function endsPanel({ ends, now }) {
  const rows = [...(ends ?? [])]
    .sort((one, other) => one.endsAt - other.endsAt)
    .map(({ kind, name, endsAt }) => [
      el("span", {}, name, el("span", { class: "left" }, ENDING[kind] ?? words(kind))),
      endsAt - now < 2 * 86400 ? dateAndTime(endsAt) : date(endsAt),
      el("span", { class: `tag ${endTone(kind, endsAt - now)}` }, untilThen(endsAt, now)),
    ]);
  return panel(
    "Certificates and credentials",
    rows.length
      ? table("What will end", [["Name"], ["Ends"], ["Remaining", "act"]], rows)
      : el("p", { class: "empty" }, "Nothing here has an end."),
  );
}

const ENDING = { tls: "TLS", fairplay: "FairPlay" };

const STATES = {
  ready: ["good", "ready"],
  degraded: ["warn", "degraded"],
  drained: ["warn", "drained"],
  stopping: ["warn", "stopping"],
  not_ready: ["bad", "not ready"],
};

/**
 * All nodes of the database: state, version, and number of licenses. The five minutes of each node end when it was
 * seen, so the numbers have no common sum and no shares.
 */
export function nodesPanel({ nodes, now, node, degraded }) {
  // Without the database, this node hears nothing of the others.
  const isDeaf = degraded.some(({ part }) => part === "postgresql");
  const all = (nodes ?? [])
    .map((one) => (isDeaf && !one.isThis ? { ...one, state: null, licenses: null } : one))
    .map((one) => ({ ...one, isSilent: !isDeaf && isSilent(one, now) }))
    .sort((one, other) => one.node.localeCompare(other.node));
  const rows = all.map((one) => [
    [
      el("span", { class: "mono" }, one.node),
      one.isThis && [" ", el("span", { class: "tag" }, "this node")],
      one.version && el("span", { class: "left" }, `version ${one.version}`),
    ],
    nodeState(one),
    one.isSilent || !isKnown(one.licenses) ? "–" : whole(one.licenses),
    one.isThis ? "now" : seen(one.seenAt, now),
  ]);
  const columns = [["Node"], ["State"], ["Licenses in 5 min", "number"], ["Seen", "number"]];
  return panel(
    "Nodes",
    rows.length
      ? [
          table("Nodes", columns, rows),
          el(
            "p",
            { class: "hint" },
            "The five minutes of this node end now, and those of each other node when it was seen.",
          ),
        ]
      : el("p", { class: "empty" }, "This is the only node: ", el("span", { class: "mono" }, node ?? "no name"), "."),
  );
}

function nodeState({ isSilent, state }) {
  const [tone, text] = isSilent ? ["bad", "not seen"] : (STATES[state] ?? ["", "not known"]);
  return el("span", { class: `tag ${tone}` }, text);
}

const isKnown = (value) => value !== null && value !== undefined;
const seen = (seenAt, now) => (now - seenAt < 2 ? "now" : `${duration(now - seenAt)} ago`);
const signed = (seconds) => `${seconds < 0 ? "−" : "+"}${duration(Math.abs(seconds))}`;

const CLOCKS = {
  unproved: "Since the start it is ahead of the time in the store. That is right if the node was down meanwhile.",
  stepped: "It was set while the daemon ran. Licenses are given.",
  behind: "It is behind the time in the store. Only renewals are served.",
  apart: "It differs too much from the database's. Nothing is counted.",
};

function clockState(state) {
  if (!CLOCKS[state]) return words(state);
  const more = `${CLOCKS[state]} Nothing is deleted until it is trusted. `;
  return [words(state), el("span", { class: "left" }, more, el("code", {}, "latchkey clock show"), " says more.")];
}

export function clockPanel({ clock, memory, nodes, now }) {
  const own = nodes?.find(({ isThis }) => isThis);
  const used = memory && `${bytes(memory.charged)} of ${bytes(memory.budget)}`;
  return panel(
    "Clock and memory",
    facts([
      ["Server time", dateAndTime(now)],
      ["Clock", clock?.state && clockState(clock.state)],
      ["Before the database's clock", isKnown(own?.clockOffsetSeconds) && signed(own.clockOffsetSeconds)],
      ["Waits for the ledger's copy", isKnown(own?.ledgerLagRows) && `${whole(own.ledgerLagRows)} rows`],
      ["Charged memory", used],
    ]),
  );
}

export function listenersPanel({ listeners }) {
  if (!listeners?.length) return null;
  return panel("Listeners", el("ul", { class: "stack" }, listeners.map(listener)));
}

/** A listener is a text, or an object whose members are shown as they are. */
function listener(one) {
  if (typeof one === "string") return el("li", {}, el("code", {}, one));
  const { name, address, ...more } = one;
  const others = Object.entries(more).filter(([, value]) => ["string", "number", "boolean"].includes(typeof value));
  return el(
    "li",
    { class: "row" },
    name && el("span", {}, name),
    address && el("code", {}, address),
    others.map(
      ([key, value]) =>
        value !== false && el("span", { class: "tag" }, value === true ? words(key) : `${words(key)} ${value}`),
    ),
  );
}

/** What browsers asked for in preflights and did not get: such a page cannot play, and no refusal shows it. */
export function preflightsPanel({ refusedPreflights, now }) {
  if (!refusedPreflights?.length) return null;
  const rows = refusedPreflights.map(({ text, remedy, count, lastAt }) => [
    el("span", {}, text, el("span", { class: "left" }, remedy)),
    whole(count),
    seen(lastAt, now),
  ]);
  return panel(
    "Web pages that browsers stop",
    table("Preflights", [["What"], ["Times", "number"], ["Last", "number"]], rows),
  );
}

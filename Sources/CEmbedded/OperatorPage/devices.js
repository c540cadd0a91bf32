// The panel of devices: which kinds ask for licenses, and how many of each kind are refused.

import { getQuietly } from "./api.js";
import { problem } from "./dialogs.js";
import { el, fill, table } from "./dom.js";
import { timeOfDay, whole, words } from "./format.js";
import { session } from "./session.js";

const INTERVAL_MS = 10_000;
/** More rows would hide what is large. */
const ROWS_MAX = 8;
/** Fewer requests than this say nothing about a kind of device. */
const REQUESTS_MIN = 20;
/** A kind is marked if its share of refusals is this many times that of all, and at least this large. */
const OUTLIER_FACTOR = 2;
const OUTLIER_SHARE_MIN = 0.05;

const NAMES = {
  none: "not stated",
  other: "another",
  living_room: "Apple TV, television",
  mobile: "iPhone, iPad",
  desktop: "Mac",
  spatial: "Vision",
  wearable: "Watch",
  apple_other: "another of Apple's",
  partner_living_room: "partner's television",
  partner_other: "another of a partner's",
  unknown: "class “unknown”",
};

const ASPECTS = [
  { name: "device_class", title: "Class" },
  { name: "security_level", title: "Security level" },
  { name: "os_major", title: "System version" },
];

const requests = ({ licenses, refusals }) => licenses + refusals;
const share = (part, all) => (all ? part / all : 0);
const percent = (value) => `${value > 0 && value < 0.01 ? "< 1" : Math.round(value * 100)} %`;

/** Whether a kind is refused much more often than all devices together. */
export function isOutlier(count, all) {
  const own = share(count.refusals, requests(count));
  const whole = share(all.refusals, requests(all));
  return requests(count) >= REQUESTS_MIN && own >= OUTLIER_SHARE_MIN && own >= OUTLIER_FACTOR * whole;
}

/** The rows of an aspect, the largest first; what is beyond the limit is one row. */
export function rowsOf(counts) {
  const sorted = [...counts].sort((one, other) => requests(other) - requests(one));
  if (sorted.length <= ROWS_MAX) return sorted;
  const rest = sorted.slice(ROWS_MAX - 1);
  const sum = (name) => rest.reduce((total, one) => total + one[name], 0);
  const value = `${rest.length} more`;
  return [...sorted.slice(0, ROWS_MAX - 1), { value, licenses: sum("licenses"), refusals: sum("refusals") }];
}

function aspectTable({ name, title }, counts) {
  const all = counts.reduce(
    (sum, { licenses, refusals }) => ({ licenses: sum.licenses + licenses, refusals: sum.refusals + refusals }),
    { licenses: 0, refusals: 0 },
  );
  const rows = rowsOf(counts).map((count) => {
    const part = share(requests(count), requests(all));
    const bar = el("span", { class: "bar", "aria-hidden": "true" });
    bar.style.setProperty("--share", part);
    const refused = percent(share(count.refusals, requests(count)));
    return [
      [NAMES[count.value] ?? words(count.value), bar],
      percent(part),
      whole(requests(count)),
      isOutlier(count, all) ? el("span", { class: "tag bad" }, refused) : refused,
    ];
  });
  const columns = [[title], ["Share", "number"], ["Requests", "number"], ["Refused", "number"]];
  const made = table(`Devices by ${title.toLowerCase()}`, columns, rows);
  // Its four short columns fit on a phone.
  made.classList.remove("cards");
  return made;
}

/** The panel, and a function that asks the server again if the last answer is old. */
export function makeDevices() {
  const content = el("div", {});
  const element = el("section", { class: "panel devices" }, el("h2", {}, "Devices"), content);
  let askedAt = 0;
  let shown = null;
  const show = (answer) => {
    const text = JSON.stringify(answer);
    if (text === shown) return;
    shown = text;
    const hint = el(
      "p",
      { class: "hint" },
      "What devices state in requests that could be read, since ",
      timeOfDay(answer.since),
      ". A kind that is refused much more often than others is marked.",
    );
    const isEmpty = ASPECTS.every(({ name }) => !answer[name].length);
    fill(
      content,
      isEmpty
        ? el("p", { class: "empty" }, "No device has asked since ", timeOfDay(answer.since), ".")
        : [el("div", { class: "kinds" }, ASPECTS.map((aspect) => aspectTable(aspect, answer[aspect.name]))), hint],
    );
  };
  const look = async () => {
    if (Date.now() - askedAt < INTERVAL_MS || (shown && !session.isInUse)) return;
    askedAt = Date.now();
    try {
      show(await getQuietly("/v1/device-kinds"));
    } catch (error) {
      // What is shown stays: the sentence above says if the server does not answer.
      if (!shown) fill(content, problem(error));
    }
  };
  return { element, look };
}

// What the server stores about a subject: devices, playbacks and rentals, with what can be done to each.

import { endPlayback, forgetRental, removeDevice } from "./actions.js";
import { get } from "./api.js";
import { notify, problem } from "./dialogs.js";
import { button, el, refill, table } from "./dom.js";
import { dateAndTime } from "./format.js";
import { searchFor } from "./kinds.js";
import { session } from "./session.js";

const PAGE_SIZE = 25;

const shortened = (name) => name.replace(/([0-9a-f]{12})[0-9a-f]{16,}/g, "$1…");
const deviceLink = (device) =>
  el("a", { class: "mono", href: searchFor("device", device), title: device }, shortened(device));

const LISTS = [
  {
    name: "devices",
    title: "Devices",
    none: "No device takes a place.",
    columns: [["Device"], ["Added"], ["Last license"], ["Kept until"]],
    cells: (one) => [
      deviceLink(one.device),
      dateAndTime(one.addedAt),
      dateAndTime(one.seenAt),
      dateAndTime(one.keptUntil),
    ],
    action: ["Remove", "The device is removed.", (query, one) => removeDevice(query, one.device)],
    describe: (one) => `Remove the device ${shortened(one.device)}`,
  },
  {
    name: "playbacks",
    title: "Playbacks",
    none: "No playback runs.",
    columns: [["Content"], ["Group"], ["State"], ["Until"], ["Device"], ["Playback"]],
    cells: (one) => [
      one.content ?? "not known",
      one.group,
      `${one.playing ? "playing" : "ready"}${one.counted ? "" : ", not counted"}`,
      dateAndTime(one.heldUntil),
      deviceLink(one.device),
      el(
        "a",
        { class: "mono", href: searchFor("playback", one.playback), title: one.playback },
        shortened(one.playback),
      ),
    ],
    action: ["End", "The playback is ended.", (query, one) => endPlayback(query, one.playback)],
    describe: (one) => `End the playback of ${one.content ?? one.playback}`,
  },
  {
    name: "rentals",
    title: "Rentals",
    none: "No rental is stored.",
    columns: [["Content"], ["Opened"], ["First play"], ["Kept until"]],
    cells: (one) => [
      one.content,
      dateAndTime(one.openedAt),
      one.firstPlay ? dateAndTime(one.firstPlay) : "not played",
      dateAndTime(one.keptUntil),
    ],
    action: ["Forget", "The rental is forgotten.", (query, one) => forgetRental(query, one.content)],
    describe: (one) => `Forget the rental of ${one.content}`,
  },
];

export const accountPanels = (query) => LISTS.map((list) => panel(list, query));

function panel(list, query) {
  const place = el("div", {}, el("p", { class: "empty" }, "Reading…"));
  const heading = el("h2", { tabIndex: -1 }, list.title);
  show(list, query, place, heading, []);
  return el("section", { class: "panel" }, heading, place);
}

/** Shows the page after the last of `starts`. The others are the pages before it. */
async function show(list, query, place, heading, starts) {
  try {
    const page = await get(`/v1/${list.name}`, { ...query, limit: PAGE_SIZE, after: starts.at(-1) });
    const items = page[list.name];
    const mayChange = session.can("release");
    const columns = mayChange ? [...list.columns, ["Action", "act"]] : list.columns;
    const reload = async (done) => {
      if (!done) return;
      notify("good", list.action[1]);
      await show(list, query, place, heading, starts);
      heading.focus();
    };
    const rows = items.map((one) => [
      ...list.cells(one),
      ...(mayChange ? [changeButton(list, query, one, reload)] : []),
    ]);
    refill(
      place,
      rows.length
        ? table(list.title, columns, rows)
        : el("p", { class: "empty" }, starts.length ? "There are no more." : list.none),
      el(
        "div",
        { class: "row" },
        starts.length > 0 && button("Back", () => show(list, query, place, heading, starts.slice(0, -1))),
        page.next && button("More", () => show(list, query, place, heading, [...starts, page.next])),
      ),
    );
  } catch (error) {
    refill(place, problem(error));
  }
}

function changeButton(list, query, one, reload) {
  const [label, , act] = list.action;
  return button(label, async () => reload(await act(query, one)), { kind: "small danger", label: list.describe(one) });
}

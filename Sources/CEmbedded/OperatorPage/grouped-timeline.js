// What happened to a subject: by device, then by content, then by playback, so that 200 licenses stay readable.

import { el, folded, refill } from "./dom.js";
import { dateAndTime, moment, timeOfDay, whole } from "./format.js";
import { searchFor } from "./kinds.js";
import { line, panel } from "./timeline.js";

/** The most that one request gives: a group with a part of its rows would tell half. */
const PAGE_SIZE = 200;
const LICENSES = new Set(["license_issued", "license_renewed"]);

/** A panel like the one of `timeline`. */
export function groupedTimeline(query, listeners) {
  const place = el("div", { class: "stack" });
  const entries = [];
  const add = (page, hasMore) => {
    entries.push(...page);
    const open = new Set([...place.querySelectorAll("details[open][data-name]")].map((one) => one.dataset.name));
    const { devices, others } = grouped(entries);
    refill(
      place,
      hasMore &&
        el(
          "p",
          { class: "hint" },
          `Counted in the newest ${counted(entries.length, "row", "rows")}. There are older ones.`,
        ),
      others.length > 0 && list(others),
      [...devices].map(([device, contents]) => deviceGroup(device, contents)),
    );
    for (const one of place.querySelectorAll("details[data-name]")) one.open = open.has(one.dataset.name);
  };
  return panel(place, query, PAGE_SIZE, add, listeners);
}

/**
 * Rows, newest first, as devices with contents with playbacks: a playback is a license with all that renewed it. Rows
 * of no device or content, and what operators did, are by themselves.
 */
function grouped(entries) {
  const [devices, others, playbackOf] = [new Map(), [], new Map()];
  for (const entry of entries) {
    if (!entry.device || !entry.content || entry.actor) {
      others.push(entry);
      continue;
    }
    const contents = devices.get(entry.device) ?? new Map();
    devices.set(entry.device, contents);
    const playbacks = contents.get(entry.content) ?? [];
    contents.set(entry.content, playbacks);
    let playback = playbackOf.get(entry.license);
    if (!playback) playbacks.push((playback = []));
    playback.push(entry);
    playbackOf.set(entry.license, playback);
    if (entry.previous) playbackOf.set(entry.previous, playback);
  }
  return { devices, others };
}

function deviceGroup(device, contents) {
  const name = `pseudonym:${device}`;
  const link = el("a", { class: "mono", href: searchFor("device", name), title: name }, device.slice(0, 12), "…");
  return el(
    "section",
    { class: "group" },
    el("h3", {}, "Device ", link),
    [...contents].map(([content, playbacks]) => contentGroup(device, content, playbacks)),
  );
}

function contentGroup(device, content, playbacks) {
  const rows = playbacks.flat();
  const isRefused = rows.some(({ kind }) => kind === "license_refused");
  const parts = [
    counted(rows.filter(({ kind }) => LICENSES.has(kind)).length, "license", "licenses"),
    playbacks.length > 1 && counted(playbacks.filter(isPlayback).length, "playback", "playbacks"),
    counted(rows.filter(({ kind }) => kind === "license_refused").length, "refusal", "refusals"),
  ].filter(Boolean);
  const summary = el(
    "summary",
    { class: isRefused ? "refused" : "" },
    el("strong", {}, content),
    ` ${parts.join(", ")}; `,
    span(rows),
  );
  const shown = () => (playbacks.length === 1 ? list(rows) : playbacks.map(playbackGroup));
  return folded(summary, shown, { "data-name": `${device} ${content}` });
}

const list = (rows) => el("ol", { class: "timeline" }, rows.map(line));
const isPlayback = (playback) => playback.some(({ kind }) => LICENSES.has(kind));

function playbackGroup(playback) {
  if (playback.length === 1) return list(playback);
  const summary = el("summary", {}, `Playback with ${counted(playback.length, "row", "rows")}; `, span(playback));
  return folded(summary, () => list(playback), { "data-name": playback.at(-1).license });
}

const counted = (count, one, many) => count > 0 && `${whole(count)} ${count === 1 ? one : many}`;

/** From the oldest row to the newest one. */
function span(rows) {
  const times = rows.map(({ at }) => at);
  const [first, last] = [Math.min(...times), Math.max(...times)];
  if (first === last) return dateAndTime(first);
  const isOneDay = moment(first).toDateString() === moment(last).toDateString();
  return [dateAndTime(first), " to ", isOneDay ? timeOfDay(last) : dateAndTime(last)];
}

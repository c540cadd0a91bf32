// Numbers, times and units in words. Times are in the time zone of the browser; the title of each has it in UTC.

import { el } from "./dom.js";

const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const SHORT_CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const DAY = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long", year: "numeric" });
const DATE = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });

const YEAR = 365.25 * 86400;

export const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

const digits = (value) => (value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3);
const trimmed = (value, places) => new Intl.NumberFormat("en", { maximumFractionDigits: places }).format(value);

/** A number with about three digits. */
export const number = (value) => trimmed(value, digits(Math.abs(value)));

export const whole = (value) => WHOLE.format(value);

const FORMS = {
  per_second: (value) => number(value),
  seconds: (value) => duration(value),
  share: (value) => `${trimmed(value * 100, value >= 0.1 ? 0 : 1)} %`,
  bytes: (value) => bytes(value),
  count: (value) => WHOLE.format(value),
};

/** A value of a series in its unit. A value that is not known is a dash. */
export const measured = (value, unit) => (Number.isFinite(value) ? (FORMS[unit] ?? number)(value) : "–");

/** A short time: microseconds to minutes. */
export function duration(seconds) {
  if (seconds === 0) return "0 ms";
  if (seconds < 0.001) return `${number(seconds * 1e6)} µs`;
  if (seconds < 1) return `${number(seconds * 1000)} ms`;
  if (seconds < 120) return `${number(seconds)} s`;
  return span(seconds);
}

export function bytes(count) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let power = 0;
  while (Math.abs(count) >= 1024 && power < units.length - 1) [count, power] = [count / 1024, power + 1];
  return `${power ? number(count) : WHOLE.format(count)} ${units[power]}`;
}

/** A long time in its two largest units, such as "3 days 4 h". */
export function span(seconds) {
  const total = Math.round(Math.abs(seconds));
  const [days, hours] = [Math.floor(total / 86400), Math.floor(total / 3600) % 24];
  const minutes = Math.floor(total / 60) % 60;
  if (days >= 14) return `${days} days`;
  if (days) return `${days} ${days === 1 ? "day" : "days"}${hours ? ` ${hours} h` : ""}`;
  if (hours) return `${hours} h${minutes ? ` ${minutes} min` : ""}`;
  return minutes ? `${minutes} min` : `${total} s`;
}

/** The moment of a number of seconds, a text in RFC 3339, or null. */
export function moment(value) {
  if (value === null || value === undefined || value === "") return null;
  const date = new Date(typeof value === "number" ? value * 1000 : value);
  return Number.isNaN(date.getTime()) ? null : date;
}

const stamp = (value, text) => {
  const date = moment(value);
  if (!date) return value === null || value === undefined ? "–" : String(value);
  const utc = date.toISOString();
  return el("time", { dateTime: utc, title: `${utc.replace("T", " ").replace(/\.\d+Z|Z/, "")} UTC` }, text(date));
};

/** A `time` element with the date. */
export const date = (value) => stamp(value, (moment) => DATE.format(moment));

/** A `time` element with date and time of day. */
export const dateAndTime = (value) => stamp(value, (date) => `${DATE.format(date)}, ${CLOCK.format(date)}`);

/** The server's sentences have their times in UTC. */
const TIMES_IN_TEXT = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/;

/** A text of the server as parts of an element, with `time` elements in place of its times. */
export const localised = (text) =>
  typeof text === "string" && TIMES_IN_TEXT.test(text)
    ? text.split(TIMES_IN_TEXT).map((part) => (TIMES_IN_TEXT.test(part) ? dateAndTime(part) : part))
    : text;

/** A `time` element with the time of day. */
export const timeOfDay = (value) => stamp(value, (date) => CLOCK.format(date));

/** A `time` element with the time of day, and with the date if it is not today. */
export const recently = (value) => (isToday(moment(value)) ? timeOfDay(value) : dateAndTime(value));

const isToday = (moment) => moment?.toDateString() === new Date().toDateString();

export const clock = (seconds) => CLOCK.format(new Date(seconds * 1000));
export const shortClock = (seconds) => SHORT_CLOCK.format(new Date(seconds * 1000));
export const day = (value) => DAY.format(moment(value));

/** "in 23 days" or "ended 2 h ago". Below two days, hours and minutes matter. */
export function untilThen(seconds, now) {
  return seconds > now ? `in ${remaining(seconds - now)}` : `ended ${remaining(now - seconds)} ago`;
}

function remaining(seconds) {
  if (seconds >= 2 * YEAR) return `${trimmed(seconds / YEAR, 1)} years`;
  if (seconds >= 2 * 86400) return span(seconds);
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** A name such as `license_issued` or `spc_rejected` as words. */
export const words = (name) =>
  name.replaceAll("_", " ").replace(/([a-z])([A-Z])/g, (_, a, b) => `${a} ${b.toLowerCase()}`);

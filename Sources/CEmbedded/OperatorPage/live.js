// What the daemon measures: the last hour from /v1/history, and then the events of /v1/events.

import { get } from "./api.js";

const HOUR = 3600;
/** The daemon's own step. */
export const STEP_SECONDS = 10;
const SAMPLE_SECONDS = 2;
/** Times of samples are cut to milliseconds, and those of steps are not. */
const CLOCK_SLACK = 0.05;
const WATCH_INTERVAL_MS = 1_000;
/** Samples come every two seconds, and answers about the history every ten. */
const SILENCE_MAX_MS = 15_000;
const HISTORY_INTERVAL_MS = 10_000;
const REOPEN_MIN_MS = 2_000;
const REOPEN_MAX_MS = 30_000;

/** The largest of several values holds for all of them. Their mean would be no percentile and no peak. */
const LARGEST = new Set(["latency_p50", "latency_p99", "loop_lag", "loop_longest_turn"]);

/** One point in place of several: the mean or the largest of the values that were measured. */
function joined(points) {
  const values = {};
  for (const name of Object.keys(points.at(-1).values)) {
    const known = points.map((point) => point.values[name] ?? null).filter((value) => value !== null);
    const sum = known.reduce((sum, value) => sum + value, 0);
    values[name] = known.length ? (LARGEST.has(name) ? Math.max(...known) : sum / known.length) : null;
  }
  return { at: points.at(-1).at, values };
}

/**
 * Puts the steps of an answer of /v1/history into `points`, whose steps end at `knownEnd`. Returns the points and the
 * end of the last step. The time of a step is its end, as that of a sample.
 *
 * The daemon computes its times for each answer, so they differ by microseconds. Steps are the same if they are
 * less than half a step apart.
 */
export function withHistory(points, knownEnd, { stepSeconds, startsAt, count, series }) {
  if (!count) return [points, knownEnd];
  const steps = Array.from({ length: count }, (_, step) => ({
    at: startsAt + (step + 1) * stepSeconds,
    values: Object.fromEntries(series.map(({ name, values }) => [name, values[step] ?? null])),
  }));
  const [first, end] = [steps[0].at, steps.at(-1).at];
  const older = points.filter(({ at }) => at <= knownEnd && at < first - stepSeconds / 2);
  const newer = points.filter(({ at }) => at > knownEnd && at >= end - CLOCK_SLACK);
  // The daemon ends a step with its first sample after the step's time, so that sample is a part of the step.
  if (newer.length && newer[0].at < end + SAMPLE_SECONDS + CLOCK_SLACK) newer.shift();
  return [[...older, ...steps, ...newer], end];
}

/**
 * Sends `points` when there are new points, `status` with the answer of /v1/status, and `state`: "waiting" before the
 * first answer, "live" while events come, "polling" if only history comes, and "lost" without an answer for 15 seconds,
 * also if the connection is still there: a tunnel or a proxy may keep it.
 *
 * It stops while the page is hidden, because the daemon serves few streams, and a browser opens few connections.
 */
class Live extends EventTarget {
  /** The points of the last hour, oldest first: `{ at, values }`. */
  points = [];
  units = new Map();
  status = null;
  state = "waiting";
  /** When the daemon answered last, in milliseconds; null before its first answer. */
  answeredAt = null;
  #silentSince = 0;
  #historyEnd = 0;
  #source = null;
  #timers = [];
  #reopen = null;
  #delay = REOPEN_MIN_MS;
  #isWanted = false;

  constructor() {
    super();
    document.addEventListener(
      "visibilitychange",
      () => this.#isWanted && (document.hidden ? this.#pause() : this.#run()),
    );
  }

  start() {
    this.#isWanted = true;
    if (!document.hidden) this.#run();
  }

  /** Stops, and forgets everything: the next operator may have other rights. */
  stop() {
    this.#isWanted = false;
    this.#pause();
    [this.points, this.status, this.#historyEnd, this.answeredAt] = [[], null, 0, null];
    this.#set("waiting");
  }

  #run() {
    this.#pause();
    this.#silentSince = Date.now();
    this.#readHistory();
    this.#open();
    this.#timers = [
      setInterval(() => this.#readHistory(), HISTORY_INTERVAL_MS),
      setInterval(() => this.#watch(), WATCH_INTERVAL_MS),
    ];
  }

  #pause() {
    this.#source?.close();
    this.#source = null;
    this.#timers.forEach(clearInterval);
    this.#timers = [];
    clearTimeout(this.#reopen);
  }

  #open() {
    const source = new EventSource("/v1/events");
    this.#source = source;
    source.addEventListener("open", () => {
      this.#delay = REOPEN_MIN_MS;
    });
    source.addEventListener("sample", ({ data }) => {
      this.#answered("live");
      this.#take(JSON.parse(data));
    });
    source.addEventListener("status", ({ data }) => {
      this.#answered("live");
      this.#show(JSON.parse(data));
    });
    source.addEventListener("error", () => this.#failed(source));
  }

  /** The stream is over or refused. Until the next attempt, a plain request says whether the daemon is there. */
  #failed(source) {
    if (source !== this.#source) return;
    source.close();
    this.#source = null;
    this.#ask();
    this.#reopen = setTimeout(() => this.#open(), this.#delay);
    this.#delay = Math.min(this.#delay * 2, REOPEN_MAX_MS);
  }

  #answered(state) {
    this.answeredAt = this.#silentSince = Date.now();
    this.#set(state);
  }

  #watch() {
    if (Date.now() - this.#silentSince <= SILENCE_MAX_MS) return;
    this.#silentSince = Date.now();
    this.#set("lost");
    if (this.#source) this.#failed(this.#source);
  }

  async #ask() {
    try {
      const status = await get("/v1/status");
      if (!this.#isWanted) return;
      this.#answered(this.#source ? this.state : "polling");
      this.#show(status);
    } catch {
      if (this.#isWanted) this.#set("lost");
    }
  }

  async #readHistory() {
    try {
      const since = this.#historyEnd;
      const history = await get("/v1/history", { since: since || null });
      if (this.#isWanted && since === this.#historyEnd) this.#takeHistory(history);
    } catch (error) {
      // An older daemon or a full one still sends its events.
      if (error.status === 0 && this.#isWanted) this.#set("lost");
    }
    // The stream tells only of a change of the state; other nodes, ends and the clock move on meanwhile.
    if (this.#isWanted) this.#ask();
  }

  #takeHistory(history) {
    for (const { name, unit } of history.series) this.units.set(name, unit);
    [this.points, this.#historyEnd] = withHistory(this.points, this.#historyEnd, history);
    this.#trim();
  }

  /**
   * The points in one resolution: the steps of the history, and after them one point for each whole step of samples.
   * Right after a start there is only a part of a step, with its length in `seconds`.
   */
  get steps() {
    const steps = this.points.filter(({ at }) => at <= this.#historyEnd);
    let samples = [];
    for (const point of this.points.slice(steps.length)) {
      samples.push(point);
      if (point.at - (steps.at(-1)?.at ?? samples[0].at) < STEP_SECONDS) continue;
      steps.push(joined(samples));
      samples = [];
    }
    if (steps.length || !samples.length) return steps;
    return [{ ...joined(samples), seconds: SAMPLE_SECONDS * samples.length }];
  }

  #take({ at, values }) {
    if (at <= (this.points.at(-1)?.at ?? 0)) return;
    this.points.push({ at, values });
    this.#trim();
  }

  #trim() {
    const begin = (this.points.at(-1)?.at ?? 0) - HOUR;
    this.points = this.points.filter(({ at }) => at >= begin);
    this.dispatchEvent(new Event("points"));
  }

  #show(status) {
    // The daemon computes the time of its start from two clocks in whole seconds, so it differs by one.
    const known = this.status?.startedAt;
    if (known !== undefined && Math.abs(status.startedAt - known) <= 1) status.startedAt = known;
    this.status = status;
    this.dispatchEvent(new Event("status"));
  }

  #set(state) {
    if (state === this.state) return;
    this.state = state;
    this.dispatchEvent(new Event("state"));
  }
}

export const live = new Live();

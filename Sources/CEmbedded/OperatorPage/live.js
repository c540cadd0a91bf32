// What the daemon measures: the last hour from /v1/history, and then the events of /v1/events.

import { get } from "./api.js";

const HOUR = 3600;
const HISTORY_INTERVAL_MS = 10_000;
const REOPEN_MIN_MS = 2_000;
const REOPEN_MAX_MS = 30_000;

/**
 * Sends `points` when there are new points, `status` with the answer of /v1/status, and `state`: "waiting" before the
 * first answer, "live" while events come, "polling" if only history comes, and "lost".
 *
 * It stops while the page is hidden, because the daemon serves few streams, and a browser opens few connections.
 */
class Live extends EventTarget {
  /** The points of the last hour, oldest first: `{ at, values }`. */
  points = [];
  units = new Map();
  status = null;
  state = "waiting";
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
    [this.points, this.status, this.#historyEnd] = [[], null, 0];
    this.#set("waiting");
  }

  #run() {
    this.#pause();
    this.#readHistory();
    this.#open();
    this.#timers = [setInterval(() => this.#readHistory(), HISTORY_INTERVAL_MS)];
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
      this.#set("live");
      this.#take(JSON.parse(data));
    });
    source.addEventListener("status", ({ data }) => {
      this.#set("live");
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

  async #ask() {
    try {
      this.#show(await get("/v1/status"));
      if (!this.#source && this.#isWanted) this.#set("polling");
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
    if (this.#isWanted && !this.#source) this.#ask();
  }

  /** The exact steps replace the samples of the same time. */
  #takeHistory({ stepSeconds, startsAt, count, series }) {
    for (const { name, unit } of series) this.units.set(name, unit);
    const steps = Array.from({ length: count }, (_, step) => ({
      at: startsAt + step * stepSeconds,
      values: Object.fromEntries(series.map(({ name, values }) => [name, values[step] ?? null])),
    }));
    const end = steps.at(-1)?.at ?? this.#historyEnd;
    const [older, newer] = [
      this.points.filter(({ at }) => at <= this.#historyEnd),
      this.points.filter(({ at }) => at > end),
    ];
    const known = new Set(older.map(({ at }) => at));
    this.points = [...older, ...steps.filter(({ at }) => !known.has(at)), ...newer];
    this.#historyEnd = end;
    this.#trim();
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

// Who is logged in, and until when.

import { Refused, get, link, post, remove } from "./api.js";

const WATCH_INTERVAL_MS = 5_000;
/** How long before its end the operator is warned. */
const WARNING_SECONDS = 60;
/** A request of the page itself makes the server's session longer, so it is sent only so soon after an activity. */
const RECENT_USE_MS = 60_000;
/** Reading and moving count as activity too: at most once in this time the server hears of them. */
const TOUCH_INTERVAL_MS = 60_000;

/**
 * The session of this page. Sends `change` when an operator has logged in, `ended` with a reason, and `warning` with
 * the remaining seconds (null takes it back).
 */
class Session extends EventTarget {
  who = null;
  #lastUse = 0;
  #timer = null;
  #isWarning = false;

  constructor() {
    super();
    link.onUse = () => this.#used();
    link.onUnknown = () => this.#end(this.#remaining() <= 0 ? "idle" : "unknown");
    for (const type of ["pointerdown", "keydown"]) addEventListener(type, () => this.#touch(), { passive: true });
  }

  can(permission) {
    return Boolean(this.who?.permissions.includes(permission));
  }

  /** Whether the operator has just done something, or has no session that could end. */
  get isInUse() {
    return this.who !== null && (this.who.kind !== "session" || Date.now() - this.#lastUse < RECENT_USE_MS);
  }

  /** Whether the listener knows this browser. With a client certificate there is no log-in. */
  async load() {
    try {
      this.#begin(await get("/v1/whoami"));
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 401) throw error;
    }
    return this.who !== null;
  }

  async logIn(token) {
    this.#begin(await post("/v1/session", { token }));
  }

  async logOut() {
    await remove("/v1/session");
    this.#end("left");
  }

  /** Tells the server that the operator is still there. */
  async stay() {
    this.#begin(await get("/v1/whoami"));
  }

  #begin(who) {
    const isNew = this.who?.name !== who.name || this.who?.permissions.join() !== who.permissions.join();
    this.who = who;
    link.formToken = who.formToken ?? null;
    this.#used();
    clearInterval(this.#timer);
    if (who.kind === "session") this.#timer = setInterval(() => this.#watch(), WATCH_INTERVAL_MS);
    if (isNew) this.dispatchEvent(new Event("change"));
  }

  #end(reason) {
    if (!this.who) return;
    this.who = null;
    link.formToken = null;
    clearInterval(this.#timer);
    this.#warn(null);
    this.dispatchEvent(new CustomEvent("ended", { detail: reason }));
  }

  #used() {
    this.#lastUse = Date.now();
    this.#warn(null);
  }

  #touch() {
    if (this.who?.kind !== "session" || Date.now() - this.#lastUse < TOUCH_INTERVAL_MS) return;
    this.#lastUse = Date.now();
    this.stay().catch(() => {});
  }

  /** The seconds until the session ends if nothing happens. */
  #remaining() {
    if (this.who?.kind !== "session") return Infinity;
    const idleEnd = this.#lastUse / 1000 + this.who.idleSeconds;
    return Math.min(idleEnd, this.who.endsAt ?? Infinity) - Date.now() / 1000;
  }

  #watch() {
    const remaining = this.#remaining();
    if (remaining > WARNING_SECONDS) return this.#warn(null);
    if (remaining > 0) return this.#warn(Math.ceil(remaining));
    // Another tab may have kept the session. A quiet request tells: if the session is over, its answer is 401.
    get("/v1/status").catch(() => {});
  }

  #warn(seconds) {
    if (seconds === null && !this.#isWarning) return;
    this.#isWarning = seconds !== null;
    this.dispatchEvent(new CustomEvent("warning", { detail: seconds }));
  }
}

export const session = new Session();

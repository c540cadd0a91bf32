// What the kits for browsers share: refusals of the server, pauses, and the renewal of leases.

// An SPC is sent again for at most a minute. The server counts all copies once.
const SPC_SECONDS = 60;
const REQUEST_SECONDS = 20;
const PAUSE_SECONDS_MAXIMUM = 60;
const ATTEMPTS_MAXIMUM = 9;
// Browsers run a timer at once if it is longer than 2^31 ms.
const TIMER_MILLISECONDS_MAXIMUM = 1e9;

const now = () => performance.now() / 1000;
const isSeconds = (text) => /^\d+$/.test(text ?? "");

// --- Refusals --------------------------------------------------------------------------------------------------------

// A request without an answer. `detail` says more if something is known.
export const noAnswer = (detail = null) => ({
  status: 0, code: null, detail, hint: null, requestID: null, retryAfter: null,
});

// Reads a refusal. `header` returns a header field, or null. The header fields repeat the most important members of the
// body, because a proxy may replace it.
export function readProblem(status, header, body) {
  let members = null;
  try {
    members = JSON.parse(body);
  } catch {
    // A proxy has answered instead of the server.
  }
  return {
    status,
    code: header("X-Error-Code") ?? members?.code ?? null,
    detail: members?.detail ?? null,
    hint: members?.hint ?? null,
    requestID: header("X-Request-Id") ?? members?.request_id ?? null,
    retryAfter: isSeconds(header("Retry-After")) ? Number(header("Retry-After")) : null,
  };
}

// What to do after a refusal. "token": get a new token, and ask again. "retry": ask again later. "stop": asking again
// does not help.
export function adviceOn({ status, code }) {
  if (status === 401 || code === "session_expired" || code === "session_killed") return "token";
  return status === 0 || status === 408 || status === 429 || status >= 500 ? "retry" : "stop";
}

// --- Pauses ----------------------------------------------------------------------------------------------------------

// Waits. If `signal` is aborted, the promise is rejected.
export function pause(seconds, signal) {
  return new Promise((resolve, reject) => {
    let left = 1000 * seconds;
    let timer;
    const stop = () => (clearTimeout(timer), reject(signal.reason));
    const wait = () => {
      if (left <= 0) return signal?.removeEventListener("abort", stop), resolve();
      const part = Math.min(left, TIMER_MILLISECONDS_MAXIMUM);
      left -= part;
      timer = setTimeout(wait, part);
    };
    if (signal?.aborted) return reject(signal.reason);
    signal?.addEventListener("abort", stop);
    wait();
  });
}

// The attempts to send one SPC for a request that the viewer waits for.
export class Attempts {
  #began = now();
  #count = 0;

  // The seconds to wait before the next attempt, or null if there must not be one.
  pauseAfter(problem) {
    const seconds = Math.max(problem.retryAfter ?? 0, Math.min(2 ** this.#count, 8));
    this.#count += 1;
    const mayRepeat = adviceOn(problem) === "retry" && this.#count < ATTEMPTS_MAXIMUM;
    return mayRepeat && now() + seconds - this.#began < SPC_SECONDS ? seconds : null;
  }
}

// --- Requests --------------------------------------------------------------------------------------------------------

// Posts an SPC. Returns null if there is no answer.
async function post(url, { spc, token, credentials, signal }) {
  const request = new AbortController();
  const abort = () => request.abort();
  const timer = setTimeout(abort, 1000 * REQUEST_SECONDS);
  signal.addEventListener("abort", abort);
  try {
    const headers = { Authorization: `Bearer ${token}` };
    const answer = await fetch(url, { method: "POST", headers, body: spc, credentials, signal: request.signal });
    const header = (name) => answer.headers.get(name);
    return { status: answer.status, header, body: new Uint8Array(await answer.arrayBuffer()) };
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}

const problemIn = (answer) =>
  answer ? readProblem(answer.status, answer.header, new TextDecoder().decode(answer.body)) : noAnswer();

// Gets the first licence for an SPC. Repeats lost requests, and asks for a new token once. Throws a problem.
export async function getFirstLicense({ url, getToken, credentials = "same-origin" }, spc, signal) {
  const attempts = new Attempts();
  let token = null;
  for (let refusedToken = null; ; ) {
    try {
      token ??= await getToken();
    } catch (error) {
      throw refusedToken ?? noAnswer(error.message);
    }
    signal.throwIfAborted();
    const answer = await post(url, { spc, token, credentials, signal });
    signal.throwIfAborted();
    if (answer?.status === 200) return { ckc: answer.body, header: answer.header, token };
    const problem = problemIn(answer);
    if (adviceOn(problem) === "token" && !refusedToken) {
      [token, refusedToken] = [null, problem];
      continue;
    }
    const seconds = attempts.pauseAfter(problem);
    if (seconds === null) throw problem;
    await pause(seconds, signal);
  }
}

// --- Leases ----------------------------------------------------------------------------------------------------------

// The lease of a licence: the seconds until its renewal and until its end, the pause after a failed attempt, and the
// session token. Returns null if there is nothing to renew. The times are differences of the server's times, because
// the device's own clock may be wrong.
export function readLease(header) {
  const since = (name) => (isSeconds(header(name)) ? Number(header(name)) - Number(header("X-License-Issued")) : NaN);
  const delay = since("X-License-Renew-After");
  if (!isSeconds(header("X-License-Issued")) || !(delay >= 0)) return null;
  // If the end is not known, it is estimated: the renewal is at two thirds of the lease at the latest.
  const life = since("X-License-Expires") >= delay ? since("X-License-Expires") : 1.5 * delay;
  return { delay: Math.max(1, delay), life, pause: Math.max(1, life / 100), token: header("X-Session-Token") };
}

// Renews the licences of one session of the browser (`MediaKeySession`, or Safari's older `WebKitMediaKeySession`),
// until it is closed. The player gets the first licence. Renewals do not go through the player, because players give up
// after few attempts, and then stop a playback whose lease has not ended yet.
export class Renewal {
  #session;
  #options;
  #stopped = new AbortController();
  #round = null;
  #lease = null;
  #takeMessage = null;

  // `url` is the licence URL. `getToken` returns a new token of the app's own service. `onProblem` is called if the
  // server refuses the renewal, or if there is none at the end of the lease.
  constructor(session, { url, getToken, onProblem, credentials = "same-origin" }) {
    this.#session = session;
    this.#options = { url, getToken, onProblem, credentials };
    // This listener must come before those of the player, so the session must be new.
    const options = { capture: true, signal: this.#stopped.signal };
    for (const type of ["message", "webkitkeymessage"]) {
      session.addEventListener(type, (event) => this.#take(event), options);
    }
    // Players give up a session whose lease has ended. The next licence makes it usable again.
    const keep = (event) => {
      const statuses = [...session.keyStatuses.values()];
      if (this.#round && statuses.includes("expired")) event.stopImmediatePropagation();
    };
    session.addEventListener("keystatuseschange", keep, options);
    session.closed?.then(() => this.stop(), () => this.stop());
  }

  // Call this after a licence, with its header fields and the token that was used for it.
  licensed(header, token) {
    const lease = readLease(header);
    this.#lease = { endsAt: now() + (lease?.life ?? Infinity), pause: lease?.pause ?? 1, token: lease?.token ?? token };
    this.#end();
    if (lease) this.#begin(lease.delay);
  }

  stop() {
    this.#stopped.abort();
    this.#end();
  }

  #end() {
    this.#round?.abort();
    this.#round = null;
  }

  // Takes the message with an SPC for a renewal. Other messages are for the player.
  #take(event) {
    const isRenewal = event.messageType ? event.messageType === "license-renewal" : this.#takeMessage !== null;
    if (!isRenewal || !this.#lease) return;
    event.stopImmediatePropagation();
    // Without a wish of this object, the app has asked the browser's module. It takes only the answer to its last SPC.
    if (this.#takeMessage) this.#takeMessage(event.message);
    else this.#begin(0, event.message);
  }

  #begin(delay, spc = null) {
    this.#end();
    if (this.#stopped.signal.aborted) return;
    this.#round = new AbortController();
    const { signal } = this.#round;
    this.#renew(delay, spc, signal).catch((error) => {
      if (!signal.aborted) this.#options.onProblem(noAnswer(error.message));
    });
  }

  async #renew(delay, message, signal) {
    const { url, getToken, onProblem, credentials } = this.#options;
    const renewalURL = `${url}${url.includes("?") ? "&" : "?"}renew=true`;
    const lease = this.#lease;
    let [token, spc, madeAt] = [lease.token, message, now()];
    let refusedToken = null;
    let hasTold = false;
    const tell = (problem) => {
      if (!hasTold) onProblem(problem);
      hasTold = true;
    };
    for (let wait = delay; ; ) {
      await pause(wait, signal);
      wait = lease.pause;
      const hasEnded = now() >= lease.endsAt;
      if (hasEnded) lease.pause = Math.min(2 * lease.pause, Math.max(PAUSE_SECONDS_MAXIMUM, lease.pause));
      let problem;
      try {
        token ??= await getToken();
      } catch (error) {
        // The app knows why its own service gives no token. It may not know why the server wants another one.
        tell(refusedToken ?? noAnswer(error.message));
        continue;
      }
      signal.throwIfAborted();
      try {
        if (!spc || now() - madeAt >= SPC_SECONDS) [spc, madeAt] = [await this.#makeSPC(signal), now()];
        const answer = await post(renewalURL, { spc, token, credentials, signal });
        if (answer?.status === 200) {
          // Whatever comes of it, the module does not take another answer to this SPC.
          spc = null;
          await this.#session.update(answer.body);
          return this.licensed(answer.header, token);
        }
        problem = problemIn(answer);
      } catch (error) {
        signal.throwIfAborted();
        problem = noAnswer(error.message);
      }
      signal.throwIfAborted();
      const advice = adviceOn(problem);
      if (advice === "stop") {
        this.#end();
        return tell(problem);
      }
      if (advice === "retry") wait = Math.max(wait, problem.retryAfter ?? 0);
      if (advice === "token") {
        token = null;
        // If a new token is refused as well, the next one must not follow at once.
        if (refusedToken) tell(problem);
        else wait = 0;
        refusedToken = problem;
      }
      if (hasEnded) tell(problem);
    }
  }

  // Lets the browser's module make an SPC for a renewal.
  #makeSPC(signal) {
    return new Promise((resolve, reject) => {
      const end = (settle, value) => {
        clearTimeout(timer);
        if (this.#takeMessage === take) this.#takeMessage = null;
        settle(value);
      };
      const take = (spc) => end(resolve, spc);
      const timer = setTimeout(() => end(reject, new Error("there is no SPC for a renewal")), 1000 * REQUEST_SECONDS);
      this.#takeMessage = take;
      signal.addEventListener("abort", () => end(reject, signal.reason), { once: true });
      // The older interface returns no promise.
      Promise.resolve(this.#session.update(new TextEncoder().encode("renew"))).catch((error) => end(reject, error));
    });
  }
}

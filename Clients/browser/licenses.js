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

// The same for a renewal. An answer without the server's code comes from a proxy, and says nothing about the lease.
export function adviceOnRenewal(problem) {
  const advice = adviceOn(problem);
  return advice === "stop" && !problem.code ? "retry" : advice;
}

// Tells the app about a problem. An error of the app's own function must not end the renewals. The browser reports it.
export function tellApp(onProblem, problem) {
  try {
    onProblem(problem);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
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
  pauseAfter(problem, advice = adviceOn(problem)) {
    const seconds = Math.max(problem.retryAfter ?? 0, Math.min(2 ** this.#count, 8));
    this.#count += 1;
    const mayRepeat = advice === "retry" && this.#count < ATTEMPTS_MAXIMUM;
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

// Whether an answer is a license: a CKC, whose header has 28 bytes and the version 1 or 2, or a JSON array of them. A
// proxy may answer with 200 too.
export function isLicense(status, body) {
  const [first, second, third, version] = new Uint8Array(body);
  const isCKC = !first && !second && !third && (version === 1 || version === 2);
  return status === 200 && body.byteLength > 28 && (isCKC || first === "[".charCodeAt());
}

// The problem in an answer that is not a license. Without an answer it is null.
export function problemIn(answer) {
  if (!answer) return noAnswer();
  const problem = readProblem(answer.status, answer.header, new TextDecoder().decode(answer.body));
  return answer.status < 400 ? { ...problem, code: null, detail: "the answer is not a license" } : problem;
}

// Asks the app for a token. An app that does not answer must not hold up a playback.
export function askForToken(getToken) {
  return new Promise((resolve, reject) => {
    const fail = (error) => reject(new Error(error?.message ?? "there is no token"));
    const timer = setTimeout(() => fail(new Error("the app gives no token")), 1000 * REQUEST_SECONDS);
    new Promise((give) => give(getToken())).then(resolve, fail).finally(() => clearTimeout(timer));
  });
}

// Gets the first license for an SPC. Repeats lost requests, and asks for a new token once. Throws a problem.
export async function getFirstLicense({ url, getToken, credentials = "same-origin" }, spc, signal) {
  const attempts = new Attempts();
  let token = null;
  for (let refusedToken = null; ; ) {
    try {
      token ??= await askForToken(getToken);
    } catch (error) {
      throw refusedToken ?? noAnswer(error.message);
    }
    signal.throwIfAborted();
    const answer = await post(url, { spc, token, credentials, signal });
    signal.throwIfAborted();
    if (answer && isLicense(answer.status, answer.body)) return { ckc: answer.body, header: answer.header, token };
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

// The lease of a license: the seconds until its renewal and until its end, the pause after a failed attempt, and the
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

// Renews the licenses of one session of the browser (`MediaKeySession`, or Safari's older `WebKitMediaKeySession`),
// until it is closed. The player gets the first license. Renewals do not go through the player, because players give up
// after few attempts, and then stop a playback whose lease has not ended yet.
export class Renewal {
  #session;
  #options;
  #stopped = new AbortController();
  #round = null;
  #lease = null;
  #takeMessage = null;
  #hurriedAt = -Infinity;

  // `url` is the license URL. `getToken` returns a new token of the app's own service. `onProblem` is called if the
  // server refuses the renewal, or if there is none at the end of the lease.
  constructor(session, { url, getToken, onProblem, credentials = "same-origin" }) {
    this.#session = session;
    this.#options = { url, getToken, onProblem, credentials };
    // This listener must come before those of the player, so the session must be new.
    const options = { capture: true, signal: this.#stopped.signal };
    for (const type of ["message", "webkitkeymessage"]) {
      session.addEventListener(type, (event) => this.#take(event), options);
    }
    // Players give up a session whose lease has ended. The next license makes it usable again.
    const keep = (event) => {
      if (!this.#round || ![...session.keyStatuses.values()].includes("expired")) return;
      event.stopImmediatePropagation();
      this.#hurry();
    };
    session.addEventListener("keystatuseschange", keep, options);
    session.closed?.then(() => this.stop(), () => this.stop());
  }

  // Call this after a license, with its header fields and the token that was used for it.
  licensed(header, token) {
    const lease = readLease(header);
    // Without a lease, nothing bridges the time until the next license.
    const { life, pause } = lease ?? { life: 0, pause: 1 };
    this.#lease = { life, endsAt: now() + life, pause, token: lease?.token ?? token, hasTold: false };
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
    if (this.#takeMessage) return this.#takeMessage(event.message);
    this.#lease.hasTold = false;
    this.#begin(0, event.message);
  }

  // The key has expired, and the renewal still waits: timers stop while a device sleeps. The renewal begins now. This
  // is done once in half a lease, because a session may have a key of an older period, which stays expired.
  #hurry() {
    const date = Date.now() / 1000;
    if (Math.abs(date - this.#hurriedAt) < this.#lease.life / 2) return;
    this.#hurriedAt = date;
    this.#lease.endsAt = Math.min(this.#lease.endsAt, now());
    this.#begin(0);
  }

  #tell(problem) {
    if (!this.#lease.hasTold) tellApp(this.#options.onProblem, problem);
    this.#lease.hasTold = true;
  }

  #begin(delay, spc = null) {
    this.#end();
    if (this.#stopped.signal.aborted) return;
    this.#round = new AbortController();
    const { signal } = this.#round;
    this.#renew(delay, spc, signal).catch((error) => {
      if (!signal.aborted) this.#tell(noAnswer(error.message));
    });
  }

  async #renew(delay, message, signal) {
    const { url, getToken, credentials } = this.#options;
    const renewalURL = `${url}${url.includes("?") ? "&" : "?"}renew=true`;
    const lease = this.#lease;
    let [token, spc, madeAt] = [lease.token, message, now()];
    let refusedToken = null;
    let problem = noAnswer("the lease was not renewed");
    // A pause for the server, or the app's own service, may take longer than the lease.
    const untilEnd = Math.max(lease.endsAt - now(), delay + REQUEST_SECONDS);
    pause(untilEnd, signal).then(() => this.#tell(problem), () => {});
    for (let wait = delay; ; ) {
      await pause(wait, signal);
      const hasEnded = now() >= lease.endsAt;
      wait = hasEnded ? Math.min(lease.pause, PAUSE_SECONDS_MAXIMUM) : lease.pause;
      if (hasEnded) lease.pause = 2 * wait;
      try {
        token ??= await askForToken(getToken);
      } catch (error) {
        signal.throwIfAborted();
        // The app knows why its own service gives no token. It may not know why the server wants another one.
        this.#tell(refusedToken ?? noAnswer(error.message));
        continue;
      }
      signal.throwIfAborted();
      try {
        if (!spc || now() - madeAt >= SPC_SECONDS) [spc, madeAt] = [await this.#makeSPC(signal), now()];
        const answer = await post(renewalURL, { spc, token, credentials, signal });
        if (answer && isLicense(answer.status, answer.body)) {
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
      const advice = adviceOnRenewal(problem);
      if (advice === "stop") {
        this.#end();
        return this.#tell(problem);
      }
      if (advice === "retry") wait = Math.max(wait, problem.retryAfter ?? 0);
      if (advice === "token") {
        token = null;
        // If a new token is refused as well, the next one must not follow at once.
        if (refusedToken) this.#tell(problem);
        else wait = 0;
        refusedToken = problem;
      }
      if (hasEnded) this.#tell(problem);
    }
  }

  // Lets the browser's module make an SPC for a renewal.
  #makeSPC(signal) {
    return new Promise((resolve, reject) => {
      const end = (settle, value) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", stop);
        if (this.#takeMessage === take) this.#takeMessage = null;
        settle(value);
      };
      const stop = () => end(reject, signal.reason);
      const take = (spc) => end(resolve, spc);
      const timer = setTimeout(() => end(reject, new Error("there is no SPC for a renewal")), 1000 * REQUEST_SECONDS);
      this.#takeMessage = take;
      signal.addEventListener("abort", stop);
      // The older interface returns no promise.
      Promise.resolve(this.#session.update(new TextEncoder().encode("renew"))).catch((error) => end(reject, error));
    });
  }
}

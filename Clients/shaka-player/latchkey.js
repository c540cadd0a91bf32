// FairPlay with Shaka Player 5 and Latchkey. Call `configure` before each `player.load()`.
//
//   configure(player, {
//     base: "https://keys.example.com",
//     getToken: () => shop.token("movie-42"), // asked for each key, and if a token is not accepted any more
//     onProblem: ({ status, code, detail, hint, retryAfter }) => show(code ?? detail),
//   });
//
// If the first license is refused, Shaka's own error 6007 follows. If a renewal is refused, there is only `onProblem`,
// because the license is still valid.
import {
  Attempts, adviceOn, adviceOnRenewal, askForToken, isLicense, noAnswer, pause, problemIn, readLease, readProblem,
  tellApp,
} from "../browser/licenses.js";

// An attempt to renew with the same SPC may take a minute. Then there is a new one.
const SPC_SECONDS = 60;

const guards = new WeakMap();

export function configure(player, { base, getToken, onProblem }) {
  const server = base.replace(/\/$/, "");
  if (!guards.has(player)) guards.set(player, new Guard(player));
  const guard = guards.get(player);
  guard.film = { getToken, onProblem };
  player.configure({
    drm: {
      servers: { "com.apple.fps": `${server}/fps/license` },
      advanced: { "com.apple.fps": { serverCertificateUri: `${server}/fps/certificate` } },
      // The pauses are the kit's own.
      retryParameters: { maxAttempts: 9, baseDelay: 0, backoffFactor: 1, fuzzFactor: 0, timeout: 20_000 },
      failureCallback: (error) => guard.takeFailure(error),
    },
  });
}

// The server's reason in an error of Shaka: 6007 (license), or 6017 (certificate), with which `load()` is rejected.
export function problemOf(error) {
  const {
    BAD_HTTP_STATUS, LICENSE_REQUEST_FAILED, SERVER_CERTIFICATE_REQUEST_FAILED, REQUEST_FILTER_ERROR,
    RESPONSE_FILTER_ERROR,
  } = shaka.util.Error.Code;
  const [first] = error.data ?? [];
  switch (error.code) {
    case LICENSE_REQUEST_FAILED:
    case SERVER_CERTIFICATE_REQUEST_FAILED:
      return problemOf(first);
    case BAD_HTTP_STATUS: {
      const [, status, body, headers] = error.data;
      return readProblem(status, headerOf(headers), body);
    }
    case REQUEST_FILTER_ERROR:
    case RESPONSE_FILTER_ERROR:
      return first?.problem ?? noAnswer(first?.message);
    default:
      return noAnswer();
  }
}

// Shaka gives the names of header fields in lower case. By default the server lets pages read these fields.
const headerOf = (headers) => (name) => headers?.[name.toLowerCase()] ?? null;

// One for each player. Filters and listeners stay for its whole life, so that they do not pile up.
class Guard {
  film = null;
  #player;
  // For each request: its film and token. Shaka passes the same object to all attempts.
  #requests = new WeakMap();
  // For each session of the browser that has a license: film, token, lease, timer, and the newest request.
  #sessions = new Map();
  // For each session whose first license is under way: its film.
  #films = new Map();
  #lastFailure = null;

  constructor(player) {
    this.#player = player;
    const network = player.getNetworkingEngine();
    network.registerRequestFilter((type, request, context) => this.#prepare(type, request, context));
    network.registerResponseFilter((type, response) => this.#takeResponse(type, response));
    player.addEventListener("downloadfailed", (failure) => (this.#lastFailure = failure));
    // Shaka would repeat every refusal. It fires this event directly after "downloadfailed".
    network.addEventListener("retry", (event) => {
      const request = this.#requests.get(this.#lastFailure?.request);
      if (request && !this.#mayRepeat(request, this.#lastFailure.error)) event.preventDefault();
    });
  }

  // --- Requests

  #prepare(type, request, context) {
    if (type !== shaka.net.NetworkingEngine.RequestType.LICENSE) return undefined;
    const controller = new AbortController();
    const promise = this.#authorize(request, context, controller.signal);
    // Without `abort`, `player.destroy()` would wait for the end of a pause.
    return { promise, abort: () => (controller.abort(aborted()), promise.catch(() => {})) };
  }

  // The body is not changed: it is the raw SPC of the browser's module. A renewal has the session token, if there is
  // one.
  async #authorize(request, context, signal) {
    const isRenewal = request.licenseRequestType === "license-renewal";
    const session = this.#sessions.get(request.sessionId);
    let known = this.#requests.get(request);
    if (!known) {
      const film = session?.film ?? this.film;
      const token = isRenewal ? session?.token : null;
      known = { film, token, isRenewal, attempts: new Attempts(), pause: 0, problem: null, hasNewToken: false };
      this.#requests.set(request, known);
      if (!session) this.#films.set(request.sessionId, film);
      else {
        session.request = request;
        session.timer?.abort();
      }
      if (isRenewal) request.uris = request.uris.map((uri) => `${uri}?renew=true`);
    } else if (!context?.isPreload && !this.#isActive(request.sessionId)) {
      throw aborted(); // Another film is loaded now.
    }
    await pause(known.pause, signal);
    if (session && session.request !== request) throw aborted();
    try {
      known.token ??= await askForToken(known.film.getToken);
    } catch (error) {
      throw Object.assign(new Error(error.message), { problem: known.problem });
    }
    signal.throwIfAborted();
    request.headers["Authorization"] = `Bearer ${known.token}`;
    request.headers["Content-Type"] = "application/octet-stream";
  }

  #isActive(sessionId) {
    return this.#player.getActiveSessionsMetadata().some((session) => session.sessionId === sessionId);
  }

  #mayRepeat(known, error) {
    const problem = problemOf(error);
    const advice = known.isRenewal ? adviceOnRenewal(problem) : adviceOn(problem);
    known.problem = problem;
    if (advice === "token" && !known.hasNewToken) {
      [known.token, known.hasNewToken, known.pause] = [null, true, 0];
      return true;
    }
    const seconds = known.attempts.pauseAfter(problem, advice);
    known.pause = seconds ?? 0;
    return seconds !== null;
  }

  // --- Licenses and renewals

  #takeResponse(type, { status, headers, data, originalRequest }) {
    const known = this.#requests.get(originalRequest);
    if (type !== shaka.net.NetworkingEngine.RequestType.LICENSE || !known) return;
    const { sessionId } = originalRequest;
    const older = this.#sessions.get(sessionId);
    // The browser's module takes only the answer to its last SPC.
    if (older && older.request !== originalRequest) throw new Error("this license is for an older request");
    const header = headerOf(headers);
    if (!isLicense(status ?? 200, data)) {
      const problem = problemIn({ status: status ?? 200, header, body: data });
      throw Object.assign(new Error(problem.detail), { problem });
    }
    this.#films.delete(sessionId);
    const lease = readLease(header);
    this.#forget(sessionId);
    if (!lease) return;
    const session = {
      film: known.film, token: lease.token ?? known.token, pause: lease.pause, request: originalRequest,
      endsAt: performance.now() + 1000 * lease.life, timer: null, hasTold: false, ended: new AbortController(),
      problem: noAnswer("the lease was not renewed"),
    };
    this.#sessions.set(sessionId, session);
    this.#renewLater(sessionId, session, lease.delay);
    this.#tellAtEnd(sessionId, session, lease.life);
  }

  #forget(sessionId) {
    this.#sessions.get(sessionId)?.timer?.abort();
    this.#sessions.get(sessionId)?.ended.abort();
    this.#sessions.delete(sessionId);
  }

  // A pause for the server, or the app's own service, may take longer than the lease.
  async #tellAtEnd(sessionId, session, seconds) {
    try {
      await pause(seconds, session.ended.signal);
    } catch {
      return;
    }
    if (this.#isActive(sessionId)) this.#tell(session, session.problem);
  }

  async #renewLater(sessionId, session, seconds) {
    session.timer?.abort();
    session.timer = new AbortController();
    const { signal } = session.timer;
    try {
      await pause(seconds, signal);
    } catch {
      return;
    }
    if (!this.#isActive(sessionId)) return this.#forget(sessionId);
    this.#player.renewLicense(sessionId);
    // If no request comes of it, this is tried again.
    this.#renewLater(sessionId, session, SPC_SECONDS);
  }

  // Shaka calls this when it does not repeat a request any more.
  takeFailure(error) {
    if (error.code !== shaka.util.Error.Code.LICENSE_REQUEST_FAILED) return;
    const [cause, { sessionId } = {}] = error.data;
    const { OPERATION_ABORTED, RESPONSE_FILTER_ERROR } = shaka.util.Error.Code;
    // A response filter fails without a problem if the license is for an older request.
    if (cause.code === OPERATION_ABORTED || (cause.code === RESPONSE_FILTER_ERROR && !cause.data[0]?.problem)) {
      error.handled = true;
      this.#films.delete(sessionId);
      return;
    }
    const session = this.#sessions.get(sessionId);
    const problem = problemOf(cause);
    if (!session) {
      tellApp((this.#films.get(sessionId) ?? this.film).onProblem, problem);
      this.#films.delete(sessionId);
      return;
    }
    error.handled = true;
    session.problem = problem;
    const hasEnded = performance.now() >= session.endsAt;
    const advice = adviceOnRenewal(problem);
    if (advice !== "retry" || hasEnded) this.#tell(session, problem);
    if (advice === "stop") return session.timer?.abort();
    if (advice === "token") session.token = null;
    const seconds = hasEnded ? Math.min(session.pause, SPC_SECONDS) : session.pause;
    this.#renewLater(sessionId, session, Math.max(seconds, problem.retryAfter ?? 0));
    if (hasEnded) session.pause = 2 * seconds;
  }

  #tell(session, problem) {
    if (!session.hasTold) tellApp(session.film.onProblem, problem);
    session.hasTold = true;
  }
}

function aborted() {
  const { Severity, Category, Code } = shaka.util.Error;
  return new shaka.util.Error(Severity.CRITICAL, Category.PLAYER, Code.OPERATION_ABORTED);
}

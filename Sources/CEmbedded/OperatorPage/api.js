// Requests to the admin listener that this page came from.

const TIME_LIMIT_MS = 30_000;

/** Reads that the page makes by itself. The server does not count them as activity of the operator. */
const QUIET_PATHS = new Set(["/v1/status", "/v1/history", "/v1/device-kinds", "/v1/events"]);

/** A refusal of the server (RFC 9457). Without an answer, the status is 0. */
export class Refused extends Error {
  constructor(status, problem, retryAfter = null) {
    super(problem.detail || problem.title || `The server answered with status ${status}.`);
    this.status = status;
    this.code = problem.code ?? null;
    this.hint = problem.hint ?? null;
    this.requestID = problem.request_id ?? null;
    this.retryAfter = retryAfter;
  }
}

/** What the session tells this module, and what this module tells the session. */
export const link = {
  /** Shown by each request that changes something, so that no other page can make one. */
  formToken: null,
  onUse: () => {},
  onUnknown: () => {},
};

/** The path with a query. Parameters without a value are left out. */
export function address(path, query = {}) {
  const pairs = Object.entries(query)
    .filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  return pairs.length ? `${path}?${pairs.join("&")}` : path;
}

export const get = (path, query) => request("GET", path, { query });
/** A read that the page makes by itself: to the page it is no activity of the operator. */
export const getQuietly = (path, query) => request("GET", path, { query, isQuiet: true });
export const post = (path, body) => request("POST", path, { body });
export const remove = (path, query) => request("DELETE", path, { query });

async function request(method, path, { query, body, isQuiet = QUIET_PATHS.has(path) } = {}) {
  const headers = { Accept: "application/json" };
  if (method !== "GET" && link.formToken) headers["X-Latchkey-Form"] = link.formToken;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const target = address(path, query);
  let response;
  try {
    response = await fetch(target, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: "same-origin",
      cache: "no-store",
      redirect: "error",
      signal: AbortSignal.timeout(TIME_LIMIT_MS),
    });
  } catch (error) {
    const detail =
      error.name === "TimeoutError"
        ? "The server has not answered within 30 seconds."
        : "The server cannot be reached. Check the network, and whether the daemon runs.";
    throw new Refused(0, { detail });
  }
  const answer = await parsed(response);
  if (response.ok) {
    if (!isQuiet) link.onUse();
    return answer;
  }
  // A wrong token in the log-in form has the same status, and ends no session.
  if (response.status === 401 && path !== "/v1/session") link.onUnknown();
  throw new Refused(response.status, answer ?? {}, Number(response.headers.get("Retry-After")) || null);
}

async function parsed(response) {
  const text = await response.text();
  try {
    return text ? JSON.parse(text) : null;
  } catch {
    return null;
  }
}

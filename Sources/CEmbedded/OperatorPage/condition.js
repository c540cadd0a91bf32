// How the node does, in one word and one sentence. The shares are those of Config/prometheus-alerts.yaml, for the
// last five minutes; Documentation/operate/page.md has the rules as a table.

/** The time that is judged. */
export const RECENT_SECONDS = 300;
/** Fewer refusals than this in that time prove nothing: 0.05 a second. */
const REFUSALS_MINIMUM = 15;
const FAULT_SHARE = 0.05;
/** Fewer faults than this in that time are one viewer who tries again. */
const FAULTS_MINIMUM = 5;
/** More refusals in that time than an app sends that tries each second: 1.5 a second. */
const MANY_REFUSALS = 450;
const HARDLY_ANY = 0.1;
const REFUSAL_SHARE = 0.1;

/** When an end is near: as in the alerts. */
const NEAR_SECONDS = { tls: 14 * 86400, fairplay: 60 * 86400 };
/** A certificate of TLS that ends within this time must be replaced now. */
const URGENT_SECONDS = { tls: 2 * 86400, fairplay: 0 };

/** The tone of something that ends in so many seconds. Devices use a FairPlay certificate that has ended further. */
export function endTone(kind, seconds) {
  if (seconds < (URGENT_SECONDS[kind] ?? 0)) return kind === "fairplay" ? "warn" : "bad";
  return seconds < (NEAR_SECONDS[kind] ?? NEAR_SECONDS.tls) ? "warn" : "good";
}

const CERTIFICATES = {
  tls: ["TLS certificate of", "TLS certificates of"],
  fairplay: ["FairPlay certificate", "FairPlay certificates"],
};

/** The certificates of one kind whose end a condition is about, as a part of a sentence; null without any. */
function certificates({ ends, now }, kind, isWanted, verbs) {
  const names = (ends ?? []).filter((end) => end.kind === kind && isWanted(end.endsAt - now)).map(({ name }) => name);
  if (!names.length) return null;
  const form = names.length > 1 ? 1 : 0;
  return `${CERTIFICATES[kind][form]} ${names.join(", ")} ${verbs[form]}`;
}

/** A node tells of itself each minute. After three minutes without that it is down, or cut off from the database. */
const SILENCE_SECONDS = 180;
/** After this time, a node that is silent was taken away. */
const FAREWELL_SECONDS = 3600;

/** Whether a node of the database has told nothing for three minutes. */
export const isSilent = ({ isThis, seenAt }, now) => !isThis && now - seenAt > SILENCE_SECONDS;

/** The nodes that have fallen silent within the hour, as a part of a sentence; null without any. */
function silentNodes({ nodes, now }) {
  const names = (nodes ?? [])
    .filter((node) => isSilent(node, now) && now - node.seenAt < FAREWELL_SECONDS)
    .map(({ node }) => node);
  return names.length ? `${names.join(", ")} ${names.length > 1 ? "are" : "is"} not seen` : null;
}

const hasEnded = (seconds) => seconds <= 0;
const ENDED = ["has ended", "have ended"];
const ENDS = ["ends soon", "end soon"];

const LICENSES = ["licenses_v1", "licenses_v2", "licenses_v3"];
/** What most requests were refused for. Each name is a series. */
export const REASONS = {
  refusals_token: "their token",
  refusals_rights: "the right in their token",
  refusals_spc: "their SPC",
  refusals_key: "a missing key",
  refusals_overload: "the load or a rate limit",
  refusals_fault: "a fault of the server",
  refusals_other: "another reason",
  refusals_unproven: "a token that is not known here",
  refusals_anonymous: "want of a token or SPC to read",
};
/** The codes of a fault of the server: what does not work, and what to do. */
export const FAULTS = {
  entitlement_unavailable: [
    "the entitlement service, or the address of an issuer's keys, does not answer",
    "See whether the service of entitlement.callback (or the keysURL of the issuer) answers from this machine.",
  ],
  storage_unavailable: [
    "the ledger or PostgreSQL takes no records",
    "See whether PostgreSQL answers, and whether the disk of the ledger has room.",
  ],
  key_store_timeout: ["the key store does not answer in time", "See whether PostgreSQL answers from this machine."],
  clock_untrusted: [
    "the clock of this node is behind its store",
    "Set the clock. If it is right, run latchkey clock accept.",
  ],
  module_unavailable: [
    "no worker of the external module is alive",
    "Look for the events of the external module in the log.",
  ],
  internal: [
    "the daemon has met an error of its own",
    "Look for license_refused at the level error in the log. latchkey store check opens every sealed key.",
  ],
};

/** Refused before a token was verified. Anyone can cause it, so a flood of it makes no other share small. */
const ANONYMOUS = "refusals_anonymous";

/**
 * The licenses and refusals of the last five minutes. `requests` are all but those that were refused before a token was
 * verified; `proven` are those with a good one. A point is a step of this length, if it has no other.
 */
export function recent(points, stepSeconds) {
  const end = points.at(-1)?.at ?? 0;
  // The times of steps differ by microseconds: half a step decides.
  const within = points.filter(({ at }) => at > end - RECENT_SECONDS + stepSeconds / 2);
  const length = ({ seconds = stepSeconds }) => seconds;
  const sum = (steps, name) => steps.reduce((sum, step) => sum + (step.values[name] ?? 0) * length(step), 0);
  const total = (name) => sum(within, name);
  const time = within.reduce((sum, point) => sum + length(point), 0);
  const licenses = LICENSES.reduce((sum, name) => sum + total(name), 0);
  const refusals = total("refusals");
  const requests = licenses + Math.max(0, refusals - total(ANONYMOUS));
  const names = Object.keys(REASONS).filter((name) => name !== ANONYMOUS || requests - licenses < 1);
  const reasons = names.map((name) => ({ name, count: total(name) }));
  const most = reasons.reduce((one, other) => (other.count > one.count ? other : one));
  return {
    licenses,
    licensesInHour: LICENSES.reduce((all, name) => all + sum(points, name), 0),
    refusals,
    requests,
    proven: Math.max(licenses, requests - total("refusals_unproven")),
    faults: total("refusals_fault"),
    most: most.count > 0 ? most.name : null,
    share: requests >= 1 ? licenses / requests : refusals >= 1 ? 0 : null,
    perSecond: time ? licenses / time : 0,
    p99: within.reduce((top, { values }) => Math.max(top, values.latency_p99 ?? 0), 0) || null,
  };
}

/** Rounded down: 99.96 % is not everything. */
export const percent = (share) => `${Math.floor(share * 1000) / 10} %`;

/** The tone of a banner, its sentence, and the series of the refusals that it is about. */
export function condition(status, traffic) {
  const { ready, drained, stopping, degraded } = status;
  const { licenses, licensesInHour, refusals, requests, proven, faults, most } = traffic;
  const refused = requests - licenses;
  const parts = `${degraded.length} ${degraded.length === 1 ? "part does" : "parts do"} not work`;
  const because = most ? `, most for ${REASONS[most]}` : "";
  if (stopping) return { tone: "warn", sentence: "The daemon is stopping." };
  if (!ready && !drained)
    return { tone: "bad", sentence: degraded.length ? `This node is not ready: ${parts}.` : "This node is not ready." };
  const ended = certificates(status, "tls", hasEnded, ENDED);
  if (ended) return { tone: "bad", sentence: `The ${ended}. Clients refuse such a certificate.` };
  // Strangers at night are no outage. Those who come where viewers got licenses within the hour may be these viewers.
  if (licenses < 1 && (refused >= REFUSALS_MINIMUM || (refusals >= REFUSALS_MINIMUM && licensesInHour >= 1)))
    return {
      tone: "bad",
      sentence: `No request got a license in the last 5 minutes: ${Math.round(refusals)} were refused${because}.`,
      series: most ?? "refusals",
    };
  if (faults >= FAULTS_MINIMUM && faults > FAULT_SHARE * proven)
    return {
      tone: "bad",
      sentence: `${percent(faults / proven)} of the requests of the last 5 minutes failed at this server.`,
      series: "refusals_fault",
    };
  if (proven - licenses > MANY_REFUSALS && licenses < HARDLY_ANY * proven)
    return {
      tone: "bad",
      sentence: `Only ${percent(licenses / proven)} of the requests of the last 5 minutes got a license${because}.`,
      series: most ?? "refusals",
    };
  if (drained) return { tone: "warn", sentence: "This node is drained. It serves what still comes." };
  if (degraded.length) return { tone: "warn", sentence: `This node serves, but ${parts}.` };
  if (refused >= REFUSALS_MINIMUM && refused > REFUSAL_SHARE * requests)
    return {
      tone: "warn",
      sentence: `This node serves, but ${percent(refused / requests)} of the requests are refused${because}.`,
      series: most ?? "refusals",
    };
  const anonymous = refusals - refused;
  if (anonymous >= REFUSALS_MINIMUM && anonymous > REFUSAL_SHARE * requests)
    return {
      tone: "warn",
      sentence:
        `This node serves. ${Math.round(anonymous)} requests of the last 5 minutes were refused before a token was ` +
        "verified: the token was missing or is none, or the body is no request.",
      series: ANONYMOUS,
    };
  const silent = silentNodes(status);
  if (silent) return { tone: "warn", sentence: `This node serves, but ${silent}.` };
  const isNear = (kind) => (seconds) => seconds > 0 && seconds < NEAR_SECONDS[kind];
  const ending =
    certificates(status, "tls", isNear("tls"), ENDS) ??
    certificates(status, "fairplay", hasEnded, ENDED) ??
    certificates(status, "fairplay", isNear("fairplay"), ENDS);
  if (ending) return { tone: "warn", sentence: `This node serves, but the ${ending}.` };
  return { tone: "good", sentence: "This node serves, and every part works." };
}

// How the node does, in one word and one sentence. The rules are those of Config/prometheus-alerts.yaml, for the last
// five minutes; the article Page has them as a table.

/** The time that is judged. */
export const RECENT_SECONDS = 300;
/** Fewer refusals than this in that time prove nothing: 0.05 a second. */
const REFUSALS_MINIMUM = 15;
const FAULT_SHARE = 0.05;
const REFUSAL_SHARE = 0.1;

const LICENSES = ["licenses_v1", "licenses_v2", "licenses_v3"];
/** What most requests were refused for. Each name is a series. */
export const REASONS = {
  refusals_token: "their token",
  refusals_rights: "the right in their token",
  refusals_spc: "their SPC",
  refusals_key: "a missing key",
  refusals_overload: "a rate or the load",
  refusals_fault: "a fault of the server",
  refusals_other: "another reason",
};

/** The licences and refusals of the last five minutes. A point is a step of this length, if it has no other. */
export function recent(points, stepSeconds) {
  const end = points.at(-1)?.at ?? 0;
  const within = points.filter(({ at }) => at > end - RECENT_SECONDS);
  const length = ({ seconds = stepSeconds }) => seconds;
  const total = (name) => within.reduce((sum, point) => sum + (point.values[name] ?? 0) * length(point), 0);
  const time = within.reduce((sum, point) => sum + length(point), 0);
  const licenses = LICENSES.reduce((sum, name) => sum + total(name), 0);
  const refusals = total("refusals");
  const reasons = Object.keys(REASONS).map((name) => ({ name, count: total(name) }));
  const most = reasons.reduce((one, other) => (other.count > one.count ? other : one));
  return {
    licenses,
    refusals,
    faults: total("refusals_fault"),
    most: most.count > 0 ? most.name : null,
    share: licenses + refusals > 0 ? licenses / (licenses + refusals) : null,
    perSecond: time ? licenses / time : 0,
    p99: within.reduce((top, { values }) => Math.max(top, values.latency_p99 ?? 0), 0) || null,
  };
}

/** Rounded down: 99.96 % is not everything. */
export const percent = (share) => `${Math.floor(share * 1000) / 10} %`;

/** The tone of a banner, its sentence, and the series of the refusals that it is about. */
export function condition({ ready, drained, stopping, degraded }, { licenses, refusals, faults, most }) {
  const parts = `${degraded.length} ${degraded.length === 1 ? "part does" : "parts do"} not work`;
  const requests = licenses + refusals;
  const because = most ? `, most for ${REASONS[most]}` : "";
  if (stopping) return { tone: "warn", sentence: "The daemon is stopping." };
  if (!ready && !drained)
    return { tone: "bad", sentence: degraded.length ? `This node is not ready: ${parts}.` : "This node is not ready." };
  if (licenses < 1 && refusals >= REFUSALS_MINIMUM)
    return {
      tone: "bad",
      sentence: `No request got a licence in the last 5 minutes: ${Math.round(refusals)} were refused${because}.`,
      series: most ?? "refusals",
    };
  if (faults >= 1 && faults > FAULT_SHARE * requests)
    return {
      tone: "bad",
      sentence: `${percent(faults / requests)} of the requests of the last 5 minutes failed at this server.`,
      series: "refusals_fault",
    };
  if (drained) return { tone: "warn", sentence: "This node is drained. It serves what still comes." };
  if (degraded.length) return { tone: "warn", sentence: `This node serves, but ${parts}.` };
  if (refusals >= REFUSALS_MINIMUM && refusals > REFUSAL_SHARE * requests)
    return {
      tone: "warn",
      sentence: `This node serves, but ${percent(refusals / requests)} of the requests are refused${because}.`,
      series: most ?? "refusals",
    };
  return { tone: "good", sentence: "This node serves, and every part works." };
}

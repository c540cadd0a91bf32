// Refused requests: the newest ones as a list, and one of them with its cause and what to do.

import { get } from "./api.js";
import { problem } from "./dialogs.js";
import { banner, button, el, facts, refill, table } from "./dom.js";
import { dateAndTime, localised, recently, words } from "./format.js";
import { pseudonym, searchFor } from "./kinds.js";

const PAGE_SIZE = 25;
/** The order in which members of a refusal are shown; all others follow. */
const FIRST = ["event", "found", "expected", "listener", "client", "issuer", "content", "kid", "subject", "trace_id"];
const SHOWN_ABOVE = new Set([
  "source",
  "request_id",
  "time",
  "code",
  "cause",
  "explanation",
  "remedy",
  "degraded",
  "text",
]);

const LABELS = {
  event: "Request",
  found: "Found",
  expected: "Expected",
  trace_id: "Trace",
  token_key: "Token key",
  kid: "Key id",
  spc_version: "SPC version",
  tag: "Tag",
  number: "Number",
  credential: "Credential",
  listener: "Listener",
  client: "Client",
  issuer: "Issuer",
  content: "Content",
  subject: "Subject",
  cmcd_session: "Player's session",
  cmcd_content: "Player's content",
};

/** The refusal of one request: what is wrong, what to do, and what was seen. */
export function refusalReport(report) {
  const names = [...FIRST, ...Object.keys(report).filter((name) => !FIRST.includes(name))].filter(
    (name) =>
      !SHOWN_ABOVE.has(name) &&
      report[name] !== undefined &&
      typeof report[name] !== "object" &&
      !isNoise(name, report[name]),
  );
  return el(
    "section",
    { class: "panel stack" },
    el(
      "div",
      { class: "head" },
      el("h2", {}, "Refused: ", words(report.code)),
      el("span", { class: "hint" }, dateAndTime(report.time), report.source === "ledger" && ", from the ledger"),
    ),
    banner("bad", el("p", {}, localised(report.explanation || report.cause))),
    report.remedy && banner("info", el("p", {}, el("strong", {}, "What to do")), el("p", {}, localised(report.remedy))),
    report.degraded && banner("warn", el("p", {}, "Does not work now: ", localised(report.degraded))),
    facts([
      ["Code", el("code", {}, report.code)],
      ["Cause", localised(report.cause)],
      ...names.map((name) => [LABELS[name] ?? words(name), value(name, report)]),
    ]),
  );
}

/** Every refusal has these members, so that the time to write them shows nothing. Zero says nothing. */
const isNoise = (name, value) => ["tag", "number", "spc_version"].includes(name) && /^0*$/.test(value);

function value(name, report) {
  if (name === "event") return words(report.event);
  if (name === "content") return el("a", { href: searchFor("content", report.content) }, report.content);
  if (name === "kid") return el("a", { class: "mono", href: searchFor("key", report.kid) }, report.kid);
  if (name === "subject") return subjectLink(report);
  return el("span", { class: name === "trace_id" ? "mono" : "" }, localised(String(report[name])));
}

const subjectLink = ({ subject, issuer }) =>
  el(
    "a",
    { class: "mono", href: searchFor("subject", pseudonym(subject), issuer), title: subject },
    `${subject.slice(0, 12)}…`,
  );

/** The issuer of a refusal's token. Without one, the token has an unknown key, or no token was read. */
export const issuerOf = ({ issuer, token_key: key }) =>
  issuer ?? el("span", { class: "hint" }, key ? "not known here" : "token not read");

/** The newest refusals in the memory of this node, by pages: all, or those of a code or a series. */
export function latestRefusals(filter = {}) {
  const list = el("div", {});
  showPage(list, filter, null);
  return el("section", { class: "panel" }, el("h2", {}, "Latest refusals"), list);
}

async function showPage(place, filter, before) {
  place.setAttribute("aria-busy", "true");
  try {
    const { refusals, next } = await get("/v1/refusals", { limit: PAGE_SIZE, before, ...filter });
    const columns = [["Time"], ["Code"], ["Why"], ["Issuer"], ["Subject"], ["Content"], ["Request"]];
    const rows = refusals.map((one) => [
      recently(one.time),
      el("code", {}, one.code),
      localised(one.explanation || one.cause),
      issuerOf(one),
      one.subject ? subjectLink(one) : "",
      one.content ?? "",
      el("a", { class: "mono", href: searchFor("request", one.request_id) }, one.request_id),
    ]);
    refill(
      place,
      rows.length
        ? table("Latest refusals", columns, rows)
        : el("p", { class: "empty" }, next ? "None of the newest." : "This node remembers no such refusal."),
      el(
        "div",
        { class: "row" },
        before && button("Newest", () => showPage(place, filter, null)),
        next && button("Older", () => showPage(place, filter, next)),
      ),
    );
  } catch (error) {
    refill(place, problem(error));
  } finally {
    place.removeAttribute("aria-busy");
  }
}

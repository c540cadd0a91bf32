// The answer of /v1/explain: the verdict, every check, and the terms that would come of it.

import { banner, el, facts, icon, table } from "./dom.js";
import { dateAndTime, duration, localised, words } from "./format.js";
import { searchFor } from "./kinds.js";

const SECTIONS = {
  token: "Token",
  revocations: "Revocations",
  spc: "SPC",
  request: "Request",
  sync: "Sync report",
  terms: "Terms",
};
const USES = { offline: "offline use", streaming: "streaming" };
const VERDICTS = {
  passed: ["good", "check", "passed"],
  failed: ["bad", "cross", "failed"],
  not_reached: ["none", "dash", "not reached"],
};

export function explanationReport(answer) {
  return [
    verdict(answer),
    checks(answer),
    answer.findings.length > 0 &&
      panel(
        "About the rights",
        el(
          "ul",
          { class: "stack" },
          answer.findings.map((text) => el("li", {}, localised(text))),
        ),
      ),
    el("div", { class: "pair" }, claims(answer.claims), request(answer), terms(answer.terms)),
    answer.spends.length > 0 &&
      panel(
        "Would be counted",
        el("p", { class: "hint" }, "Only the store knows what is left."),
        el(
          "ul",
          {},
          answer.spends.map((text) => el("li", {}, localised(text))),
        ),
      ),
  ];
}

const panel = (title, ...content) => el("section", { class: "panel" }, el("h2", {}, title), content);

function verdict({ allowed, refusal, use }) {
  if (refusal) {
    return banner(
      "bad",
      el("p", {}, el("strong", {}, "Refused: ", words(refusal.code)), " ", el("code", {}, refusal.code)),
      el("p", {}, localised(refusal.cause)),
      refusal.remedy && el("p", {}, el("strong", {}, "What to do: "), localised(refusal.remedy)),
    );
  }
  const text =
    allowed === null
      ? "The token is good. With an SPC, the rest can be explained."
      : `A license for ${USES[use] ?? use} would be issued, unless the store has something recorded as spent.`;
  return banner("good", el("p", {}, el("strong", {}, text)));
}

function checks({ checks: sections }) {
  const rows = Object.entries(sections).map(([name, list]) => [
    el("h3", {}, title(name)),
    table(`Checks: ${title(name)}`, [["Check"], ["Verdict"], ["Why"]], list.map(check)),
  ]);
  return el("section", { class: "panel checks stack" }, el("h2", {}, "Checks"), rows);
}

function title(name) {
  const right = /^rights\[(\d+)\]$/.exec(name);
  return right ? `Right ${Number(right[1]) + 1}` : (SECTIONS[name] ?? words(name));
}

function check({ name, verdict: result, code, cause, found, expected }) {
  const [tone, drawing, text] = VERDICTS[result] ?? VERDICTS.not_reached;
  const because = (label, value) =>
    value && el("p", { class: "because" }, label && el("b", {}, label, " "), localised(value));
  return [
    words(name),
    el("span", { class: `verdict ${tone}` }, icon(drawing), text),
    [
      because(null, cause),
      because("Found", found),
      because("Expected", expected),
      code && because("Code", el("code", {}, code)),
    ],
  ];
}

const claims = (known) =>
  known &&
  panel(
    "Claims of the token",
    facts([
      ["Issuer", known.issuer],
      ["Subject", known.subject && el("a", { href: searchFor("subject", known.subject, known.issuer) }, known.subject)],
      ["Token id", known.tokenID && el("span", { class: "mono" }, known.tokenID)],
      ["Signing key", known.kid],
      ["Expires", dateAndTime(known.expiresAt)],
      ["Rights", String(known.rights)],
    ]),
  );

function request({ spc, key, rental }) {
  if (!spc && !key && !rental) return null;
  return panel(
    "SPC and key",
    facts([
      ["SPC version", spc && String(spc.version)],
      ["Credential", spc?.credential],
      ["Asset id", spc && el("span", { class: "mono" }, spc.assetID)],
      ["Device", spc && el("span", { class: "mono" }, spc.deviceID ?? "known only to the external module")],
      ["Sync report", spc?.sync && "yes"],
      ["Key id", key && el("a", { class: "mono", href: searchFor("key", key.kid) }, key.kid)],
      ["Content", key && el("a", { href: searchFor("content", key.content) }, key.content)],
      ["Content type", key?.contentType],
      ["Rental opened", rental && (rental.unknown ?? (rental.openedAt ? dateAndTime(rental.openedAt) : "not yet"))],
      ["First play", rental && !rental.unknown && (rental.firstPlay ? dateAndTime(rental.firstPlay) : "not yet")],
    ]),
  );
}

function terms(known) {
  if (!known) return null;
  const time = (seconds) => (seconds === null ? null : duration(seconds));
  return panel(
    "What the device would be told",
    facts([
      ["Validity", words(known.validity)],
      ["Lease", time(known.lease)],
      ["Rental", time(known.rental)],
      ["Storage", time(known.storage)],
      ["Playback", time(known.playback)],
      ["Key is kept", known.kept ? "yes" : "no"],
      ["HDCP", known.hdcp],
      ["Security level", known.securityLevel && `at least ${known.securityLevel}`],
    ]),
    known.blocks.length > 0 &&
      el(
        "details",
        {},
        el("summary", {}, `Blocks of the CKC: ${known.blocks.length}`),
        table(
          "Blocks",
          [["Tag"], ["Name"], ["Value"]],
          known.blocks.map(({ tag, name, value }) => [el("code", {}, tag), name ?? "unknown", el("code", {}, value)]),
        ),
      ),
  );
}

// The view Find: a search by id or name, with what is stored, what happened, and what can be done.

import { accountPanels } from "./account.js";
import { get } from "./api.js";
import { revokeButton } from "./actions.js";
import { problem } from "./dialogs.js";
import { el, field, fill, say } from "./dom.js";
import { KINDS, recognised } from "./kinds.js";
import { latestRefusals, refusalReport } from "./refusals.js";
import { session } from "./session.js";
import { timeline } from "./timeline.js";

export const find = { name: "find", label: "Find", permission: "look", open };

/** What can be revoked of a search. */
const REVOCATIONS = { subject: "sub", device: "hu", content: "content" };

function open(parameters) {
  const form = searchForm();
  const results = el("div", { class: "stack" });
  const update = (changed) => {
    form.show(changed);
    const search = searchIn(changed);
    fill(results, search ? found(search) : latestRefusals());
  };
  update(parameters);
  return { element: el("div", { class: "view" }, el("h1", {}, "Find"), form.element, results), update };
}

/** The search of the address: its kind, its text, and the issuer of a subject. */
function searchIn(parameters) {
  const kind = KINDS.find(({ name }) => parameters.get(name));
  return kind ? { kind: kind.name, text: parameters.get(kind.name), issuer: parameters.get("issuer") } : null;
}

function searchForm() {
  const kind = field(
    "Look for",
    el(
      "select",
      { name: "kind", onchange: () => shape() },
      KINDS.map(({ name, label }) => el("option", { value: name }, label)),
    ),
  );
  const text = field(
    "Name or id",
    el("input", { name: "text", required: true, autocomplete: "off", spellcheck: false, maxLength: 1024 }),
  );
  const issuer = field(
    "Issuer",
    el("input", { name: "issuer", autocomplete: "off", spellcheck: false }),
    "Only needed if several issuers are configured.",
  );
  issuer.classList.add("more");
  const shape = () => {
    const chosen = KINDS.find(({ name }) => name === kind.control.value);
    text.control.placeholder = chosen.example;
    issuer.hidden = chosen.name !== "subject";
  };
  text.control.addEventListener("input", () => {
    const known = recognised(text.control.value.trim());
    if (!known || known === kind.control.value) return;
    kind.control.value = known;
    shape();
    say(`This looks like: ${KINDS.find(({ name }) => name === known).label}.`);
  });
  const submit = (event) => {
    event.preventDefault();
    const pairs = [[kind.control.value, text.control.value.trim()]];
    if (!issuer.hidden && issuer.control.value.trim()) pairs.push(["issuer", issuer.control.value.trim()]);
    const hash = `#find?${pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&")}`;
    if (location.hash === hash) dispatchEvent(new Event("hashchange"));
    else location.hash = hash;
  };
  kind.control.value = "request";
  shape();
  return {
    element: el(
      "form",
      { class: "panel search", role: "search", onsubmit: submit },
      kind,
      text,
      issuer,
      el("button", { class: "button main", type: "submit" }, "Find"),
    ),
    show(parameters) {
      const search = searchIn(parameters);
      if (!search) return;
      [kind.control.value, text.control.value, issuer.control.value] = [search.kind, search.text, search.issuer ?? ""];
      shape();
    },
  };
}

function found(search) {
  const { kind, text, issuer } = search;
  const label = KINDS.find(({ name }) => name === kind).label;
  const actions =
    session.can("revoke") &&
    REVOCATIONS[kind] &&
    revokeButton(REVOCATIONS[kind], text, kind === "subject" ? issuer : null);
  const query = kind === "subject" ? { subject: text, issuer } : { [kind]: text };
  return [
    el(
      "div",
      { class: "head" },
      el("h2", {}, `${label} `, el("code", {}, text)),
      el("div", { class: "row" }, contentLink(kind, text), actions),
    ),
    kind === "request" && refusalPlace(text),
    kind === "subject" && accountPanels(query),
    timeline(query),
  ];
}

const contentLink = (kind, text) =>
  kind === "content" &&
  el("a", { class: "button small", href: `#contents?id=${encodeURIComponent(text)}` }, "Its keys");

/** Only refused requests have a report. For any other request a line says so. */
function refusalPlace(requestID) {
  const place = el("div", { class: "stack" });
  get(`/v1/refusals/${encodeURIComponent(requestID)}`).then(
    (report) => fill(place, refusalReport(report)),
    (error) =>
      fill(
        place,
        error.status === 404
          ? el(
              "p",
              { class: "empty" },
              "This node has no refusal of this request in memory. The ledger may still know the request.",
            )
          : problem(error),
      ),
  );
  return place;
}

// The view Find: a search by id or name, with what is stored, what happened, and what can be done.

import { accountPanels } from "./account.js";
import { get } from "./api.js";
import { revokeButton } from "./actions.js";
import { problem } from "./dialogs.js";
import { el, field, fill, refill, say } from "./dom.js";
import { groupedTimeline } from "./grouped-timeline.js";
import { KINDS, faultOf, guesses, isHalfPseudonym, labelOf, searchFor, tokenIn } from "./kinds.js";
import { firstKnown } from "./recognition.js";
import { refusalGroups } from "./refusal-groups.js";
import { latestRefusals, refusalReport } from "./refusals.js";
import { session } from "./session.js";
import { keyMarks, revocationMark } from "./standing.js";
import { timeline } from "./timeline.js";
import { given } from "./why.js";

export const find = { name: "find", label: "Find", permission: "look", open };

/** What can be revoked of a search. */
const REVOCATIONS = { subject: "sub", device: "hu", content: "content" };
/** The search whose kind the page finds out. */
const ANY = "any";

function open(parameters) {
  const form = searchForm();
  const results = el("div", { class: "stack" });
  const update = (changed) => {
    form.show(changed);
    const search = searchIn(changed);
    const content = search?.kind === ANY ? recognising(search.text) : search ? found(search) : refused(changed);
    // Another choice in a list leaves the focus on the list. After a link it goes to the heading.
    if (document.activeElement.matches("select")) refill(results, content);
    else fill(results, content);
  };
  update(parameters);
  return { element: el("div", { class: "view" }, el("h1", {}, "Find"), form.element, results), update };
}

/** The search of the address: its kind, its text, and the issuer of a subject. */
function searchIn(parameters) {
  const kind = [ANY, ...KINDS.map(({ name }) => name)].find((name) => parameters.get(name));
  if (!kind) return null;
  const [text, issuer] = [parameters.get(kind), parameters.get("issuer")];
  return { kind, text, issuer, isGuess: parameters.has("guess") };
}

/** Without a search: what was refused, and for what. */
function refused(parameters) {
  const series = parameters.get("refused") ?? "refusals";
  const seconds = Number(parameters.get("within") ?? 3600);
  return [refusalGroups({ series, seconds }), latestRefusals(parameters.has("refused") ? { series } : {})];
}

function searchForm() {
  const kind = field(
    "Look for",
    el(
      "select",
      { name: "kind", onchange: () => shape() },
      el("option", { value: ANY }, "Anything"),
      KINDS.map(({ name, label }) => el("option", { value: name }, label)),
    ),
  );
  const text = field(
    "Name or id",
    el("input", { name: "text", required: true, autocomplete: "off", spellcheck: false, maxLength: 16384 }),
    " ",
  );
  const hint = text.querySelector(".hint");
  const issuer = field(
    "Issuer",
    el("input", { name: "issuer", autocomplete: "off", spellcheck: false }),
    "Only needed if several issuers are configured.",
  );
  issuer.classList.add("more");
  const shape = () => {
    const chosen = KINDS.find(({ name }) => name === kind.control.value);
    text.control.placeholder = chosen?.example ?? "an id, a name, a token, a skd: address, a line of the log";
    issuer.hidden = chosen?.name !== "subject";
    hint.textContent = chosen ? "" : looksLike(text.control.value);
  };
  text.control.addEventListener("input", () => {
    shape();
    if (hint.textContent) say(hint.textContent);
  });
  const submit = (event) => {
    event.preventDefault();
    const value = text.control.value.trim();
    const token = tokenIn(value);
    if (token) {
      text.control.value = "";
      given.token = token;
      location.hash = "#why";
      return;
    }
    const hash = searchFor(kind.control.value, value, issuer.hidden ? null : issuer.control.value.trim());
    if (location.hash === hash) dispatchEvent(new Event("hashchange"));
    else location.hash = hash;
  };
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
      // The next text may be of another kind than the one that was guessed.
      kind.control.value = search && !search.isGuess ? search.kind : ANY;
      if (search) [text.control.value, issuer.control.value] = [search.text, search.issuer ?? ""];
      shape();
    },
  };
}

function looksLike(text) {
  if (!text.trim()) return "";
  if (tokenIn(text)) return "This looks like a token. Find opens it in the view Why, and stores it nowhere.";
  const labels = guesses(text).map(({ kind }) => labelOf(kind).toLowerCase());
  return labels.length === 1 ? `This looks like a ${labels[0]}.` : "";
}

/** Asks the server what the text is, and opens that. */
function recognising(text) {
  const place = el("div", { class: "panel stack", role: "status" }, el("p", { class: "empty" }, "Looking for it…"));
  // A text that is too long for a name may have a name in it.
  const all = guesses(text).filter((one) => !faultOf(one.text));
  if (!all.length) return fill(place, el("p", {}, faultOf(text) ?? "This text names nothing."));
  firstKnown(all).then(
    (known) => {
      if (!place.isConnected) return;
      if (known) location.replace(`${searchFor(known.kind, known.text)}&guess`);
      else fill(place, el("p", {}, "This node knows nothing under it. "), choices(all, "Look for it as "));
    },
    (error) => fill(place, problem(error)),
  );
  return place;
}

function found(search) {
  const { kind, text, issuer } = search;
  const fault = faultOf(text);
  if (fault) return el("p", { class: "panel empty" }, fault);
  const query = kind === "subject" ? { subject: text, issuer } : { [kind]: text };
  // Half of a pseudonym finds rows of the ledger and a revocation. An account and a new revocation need the whole one.
  const isWhole = !isHalfPseudonym(text);
  const revocable = REVOCATIONS[kind];
  const mark = revocable && revocationMark(revocable, text, kind === "subject" ? issuer : null, query);
  const actions =
    session.can("revoke") &&
    revocable &&
    isWhole &&
    revokeButton(revocable, text, kind === "subject" ? issuer : null, () => mark.load());
  const keys = (kind === "key" || kind === "content") && keyMarks(query);
  const listeners = {
    onEntry: (entry) => [mark, keys].forEach((one) => one && one.hear(entry)),
    onPage: () => mark && mark.read(),
  };
  return [
    el(
      "div",
      { class: "head" },
      el("h2", {}, `${labelOf(kind)} `, el("code", {}, text)),
      el("div", { class: "row" }, contentLink(kind, text), actions),
    ),
    search.isGuess && others(search),
    mark && mark.element,
    keys && keys.element,
    kind === "request" && refusalPlace(text),
    kind === "subject" &&
      (isWhole
        ? accountPanels(query)
        : el(
            "p",
            { class: "hint" },
            "Devices, playbacks and rentals are found by the name or the whole pseudonym only.",
          )),
    kind === "code"
      ? [refusalGroups({ code: text }), latestRefusals({ code: text })]
      : kind === "subject"
        ? groupedTimeline(query, listeners)
        : timeline(query, listeners),
  ];
}

/** What else the text may be. */
function others({ kind, text }) {
  const rest = guesses(text).filter((one) => one.kind !== kind);
  return rest.length > 0 && choices(rest, "If you mean something else, look for it as ");
}

const choices = (all, begin) =>
  el(
    "p",
    { class: "hint" },
    begin,
    all.map((one, index) => [
      index > 0 && (index === all.length - 1 ? " or " : ", "),
      el("a", { href: searchFor(one.kind, one.text) }, labelOf(one.kind).toLowerCase()),
    ]),
    ".",
  );

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

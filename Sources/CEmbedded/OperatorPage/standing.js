// The marks "revoked" and "withdrawn" of what a search has found, with the reason, the date and the operator.

import { get } from "./api.js";
import { problem } from "./dialogs.js";
import { banner, el, fill } from "./dom.js";
import { dateAndTime, whole } from "./format.js";

/**
 * A strip that says that a value is revoked; nothing if it is not. The reason and the date are in the revocation, and
 * the operator in its row of the ledger, which `hear` waits for.
 */
export function revocationMark(kind, value, issuer) {
  const element = el("div", {});
  let [revocation, actor] = [null, null];
  const actors = new Map();
  const show = () => {
    if (!revocation) return fill(element);
    actor = actors.get(Date.parse(revocation.revokedAt)) ?? actor;
    fill(
      element,
      banner(
        "bad",
        el(
          "p",
          {},
          el("strong", {}, "Revoked"),
          actor && ` by ${actor}`,
          " on ",
          dateAndTime(revocation.revokedAt),
          revocation.until ? [", until ", dateAndTime(revocation.until)] : ", without end",
          ".",
        ),
        el("p", {}, revocation.reason ? `Reason: ${revocation.reason}` : "No reason was given."),
      ),
    );
  };
  get("/v1/revocations", { kind, value, issuer })
    .then(({ revocations }) => revocations[0] ?? null)
    .catch((error) => {
      // Without a credential there are no revocations; a pseudonym or an unknown spelling names none.
      if (error.status === 404 || error.status === 400) return null;
      fill(element, problem(error));
      return null;
    })
    .then((known) => {
      revocation = known;
      if (known) show();
    });
  return {
    element,
    hear({ kind: what, at, actor: who }) {
      if (what !== "revoked" || !who) return;
      actors.set(1000 * at, who);
      show();
    },
  };
}

/** The state of one key, or of all keys of a content: what is withdrawn is not delivered. */
export function keyMarks({ key, content }) {
  const element = el("div", {});
  let asked = null;
  const ask = async (name) => {
    if (asked || !name) return;
    asked = name;
    try {
      const { keys } = await get(`/v1/contents/${encodeURIComponent(name)}/keys`, { limit: 500 });
      const gone = keys.filter((one) => one.state !== "live" && (!key || one.keyId === key));
      if (gone.length) fill(element, banner("warn", el("p", {}, key ? sentence(gone[0]) : many(gone, keys))));
    } catch (error) {
      if (error.status !== 404) fill(element, problem(error));
    }
  };
  ask(content);
  return { element, hear: (entry) => key && ask(entry.content) };
}

const sentence = ({ state }) => [el("strong", {}, "This key is ", state), ": no licence is given for it."];
const many = (gone, keys) => [
  el("strong", {}, whole(gone.length), " of ", whole(keys.length), " keys are withdrawn"),
  ": no licence is given for them.",
];

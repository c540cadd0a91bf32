// The marks "revoked" and "withdrawn" of what a search has found, with the reason, the date and the operator.

import { get } from "./api.js";
import { problem } from "./dialogs.js";
import { banner, el, fill } from "./dom.js";
import { dateAndTime, whole } from "./format.js";
import { otherNodes, sharedQuery } from "./other-nodes.js";

/**
 * A strip that says that a value is revoked; nothing if it is not. The reason and the date are in the revocation, and
 * the operator in its row of the ledger, which `hear` waits for. `read` is called after each page of the ledger, and
 * `load` after a change.
 */
export function revocationMark(kind, value, issuer, query) {
  const element = el("div", {});
  let [revocation, actor, hasRead] = [null, null, false];
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
        !actor && hasRead && el("p", { class: "hint" }, byWhom(query)),
      ),
    );
  };
  const load = async () => {
    try {
      const { revocations } = await get("/v1/revocations", { kind, value, issuer });
      revocation = revocations[0] ?? null;
    } catch (error) {
      // A subject without its issuer, or an unknown spelling of a device.
      if (error.status === 400)
        return fill(element, el("p", { class: "hint" }, "Whether it is revoked is not known. ", error.message));
      // Without a credential there are no revocations.
      if (error.status !== 404) return fill(element, problem(error));
      revocation = null;
    }
    show();
  };
  load();
  return {
    element,
    load,
    read() {
      hasRead = true;
      show();
    },
    hear({ kind: what, at, actor: who }) {
      if (what !== "revoked" || !who) return;
      actors.set(1000 * at, who);
      show();
    },
  };
}

function byWhom(query) {
  const others = otherNodes();
  if (!others.length) return "The rows that are shown below do not say by whom.";
  const command = sharedQuery(query);
  return [
    "The ledger of the node where it was done says by whom",
    command ? [": ", el("code", {}, command)] : `: look at the pages of ${others.join(", ")}`,
    ".",
  ];
}

/** The most keys of a content that are read. */
const KEYS_MAXIMUM = 5000;
const PAGE_SIZE = 500;

/** The state of one key, or of all keys of a content: what is withdrawn is not delivered. */
export function keyMarks({ key, content }) {
  const element = el("div", {});
  let asked = null;
  const ask = async (name) => {
    if (asked || !name) return;
    asked = name;
    try {
      const [keys, isAll] = await keysOf(name, key);
      const gone = keys.filter((one) => one.state !== "live" && (!key || one.keyId === key));
      if (gone.length) fill(element, banner("warn", el("p", {}, key ? sentence(gone[0]) : many(gone, keys, isAll))));
    } catch (error) {
      if (error.status !== 404) fill(element, problem(error));
    }
  };
  ask(content);
  return { element, hear: (entry) => key && ask(entry.content) };
}

/** The keys of a content, until the wanted one is among them, and whether these are all. */
async function keysOf(content, wanted) {
  const [keys, path] = [[], `/v1/contents/${encodeURIComponent(content)}/keys`];
  let after = null;
  do {
    const page = await get(path, { limit: PAGE_SIZE, after });
    keys.push(...page.keys);
    after = page.next;
  } while (after && keys.length < KEYS_MAXIMUM && !keys.some(({ keyId }) => keyId === wanted));
  return [keys, !after];
}

const sentence = ({ state }) => [el("strong", {}, "This key is ", state), ": no license is given for it."];
const many = (gone, keys, isAll) => [
  el("strong", {}, whole(gone.length), isAll ? " of " : " of the first ", whole(keys.length), " keys are withdrawn"),
  ": no license is given for them.",
];

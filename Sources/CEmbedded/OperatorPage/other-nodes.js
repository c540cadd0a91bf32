// What this node cannot say: each node has a ledger of its own.

import { el, fill } from "./dom.js";
import { live } from "./live.js";

/** The names of the other nodes of the database. */
export const otherNodes = () => (live.status?.nodes ?? []).filter(({ isThis }) => !isThis).map(({ node }) => node);

const OPTIONS = { subject: "--subject", license: "--license", content: "--content" };

/** The command that asks the copies of all ledgers; null if it has no option for this search. */
export function sharedQuery(query) {
  const [kind, text] = Object.entries(query)[0];
  if (!OPTIONS[kind] || text.startsWith("pseudonym:")) return null;
  const options = [OPTIONS[kind], quoted(text), ...(query.issuer ? ["--issuer", quoted(query.issuer)] : [])];
  return `latchkey ledger query --config latchkey.json5 --shared ${options.join(" ")}`;
}

/** A text as one word of a shell. */
const quoted = (text) => (/^[\w.@:+/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** A sentence about the ledgers of the other nodes; nothing if this node is the only one. */
export function elsewhere(query) {
  const place = el("div", {});
  const show = () => fill(place, sentence(query));
  if (live.status) show();
  else live.addEventListener("status", show, { once: true });
  return place;
}

function sentence(query) {
  const others = otherNodes();
  if (!others.length) return null;
  const command = sharedQuery(query);
  return el(
    "p",
    { class: "hint" },
    `Not asked: ${others.join(", ")}. `,
    command ? ["This command reads the ledgers of all nodes: ", el("code", {}, command)] : "Look at their pages.",
  );
}

// Which of several things a pasted text is: the server is asked what it knows.

import { get } from "./api.js";

const length = (all) => all.length > 0;

/** Whether the server knows something under a name of a kind. */
const ASKED = {
  code: async (text) => length((await get("/v1/refusals", { code: text, limit: 1 })).refusals),
  content: async (text) => length((await get(`/v1/contents/${encodeURIComponent(text)}/keys`, { limit: 1 })).keys),
  request: (text) =>
    get(`/v1/refusals/${encodeURIComponent(text)}`).then(
      () => true,
      () => inLedger("request", text),
    ),
};

const inLedger = async (kind, text) => length((await get("/v1/ledger", { [kind]: text, limit: 1 })).entries);

/** How sure it is: 2 if the server knows it, 1 if more must be said to find out, 0 otherwise. */
async function certainty({ kind, text }) {
  try {
    return (await (ASKED[kind]?.(text) ?? inLedger(kind, text))) ? 2 : 0;
  } catch (error) {
    // With several issuers, a subject needs its issuer.
    return kind === "subject" && error.status === 400 ? 1 : 0;
  }
}

/** The first of the guesses that the server knows best; the first of all if it knows none. */
export async function firstKnown(guesses) {
  if (guesses.length < 2) return guesses[0];
  const certainties = await Promise.all(guesses.map(certainty));
  return guesses[certainties.indexOf(Math.max(...certainties))];
}

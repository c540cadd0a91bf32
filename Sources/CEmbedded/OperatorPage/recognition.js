// Which of several things a pasted text is: the server is asked what it knows.

import { get } from "./api.js";

const length = (all) => all.length > 0;
/** The answer of a search that has not read everything. */
const MAYBE = Symbol("maybe");

/** Whether the server knows something under a name of a kind. */
const ASKED = {
  // A code of which there is no refusal now is still a code.
  code: async (text) => length((await get("/v1/refusals", { code: text, limit: 1 })).refusals) || MAYBE,
  content: async (text) => length((await get(`/v1/contents/${encodeURIComponent(text)}/keys`, { limit: 1 })).keys),
  request: (text) =>
    get(`/v1/refusals/${encodeURIComponent(text)}`).then(
      () => true,
      (error) => (error.status === 404 ? inLedger("request", text) : Promise.reject(error)),
    ),
};

/** A page of the ledger reads a limited number of rows. Without an entry, a next page may still have one. */
async function inLedger(kind, text) {
  const { entries, next } = await get("/v1/ledger", { [kind]: text, limit: 1 });
  return entries.length ? true : next ? MAYBE : false;
}

/** How sure it is: 2 if the server knows it, 1 if more must be said or read to find out, 0 otherwise. */
async function certainty({ kind, text }) {
  try {
    const found = await (ASKED[kind]?.(text) ?? inLedger(kind, text));
    return found === MAYBE ? 1 : found ? 2 : 0;
  } catch (error) {
    // With several issuers, a subject needs its issuer. The others of these answers say that there is no such thing.
    if (error.status === 400) return kind === "subject" ? 1 : 0;
    if (error.status === 404) return 0;
    throw error;
  }
}

/**
 * The first of the guesses that the server knows best; null if it knows none of them. If there is only one, that is
 * what the text is. Fails if the server could not say it.
 */
export async function firstKnown(guesses) {
  if (guesses.length < 2) return guesses[0];
  const answers = await Promise.allSettled(guesses.map(certainty));
  const certainties = answers.map(({ value }) => value ?? 0);
  const best = Math.max(...certainties);
  if (best > 0) return guesses[certainties.indexOf(best)];
  const failure = answers.find(({ status }) => status === "rejected");
  if (failure) throw failure.reason;
  return null;
}

// What a row of the ledger says, as a sentence.

import { REVOCABLE } from "./actions.js";
import { duration, words } from "./format.js";

/** A part in brackets is left out if the row has no value for a name in it. */
const SENTENCES = {
  license_issued: "License issued[ for {content}][: {detail}][, lease {lease}][, rental {rental}].",
  license_renewed: "License renewed[ for {content}][, lease {lease}].",
  license_refused: "License refused[ for {content}][: {detail}].",
  sync_report_accepted: "Report of a device about a kept key accepted.",
  key_revealed: "Key shown[ to {actor}][ for {content}].",
  revoked: "Revoked[ by {actor}][: {detail}].",
  revocation_lifted: "Revocation lifted[ by {actor}][: {detail}].",
  refusals_omitted: "Refusals without a row of their own[: {detail}].",
  renewals_rolled_up: "Older renewals of one playback, counted[: {detail}].",
  session_end_reported: "A device reported the end of its playback.",
  key_delivered: "Key delivered[ to {actor}][ for {content}].",
  rotation_set: "Key rotation changed[ by {actor}][ for {content}][: {detail}].",
  token_minted: "Token made[ for {content}].",
  key_created: "Key made[ for {content}][ by {actor}].",
  key_imported: "Key imported[ for {content}][ by {actor}].",
  key_aliased: "Asset id added to a key[: {detail}].",
  key_alias_removed: "Asset id removed from a key[: {detail}].",
  key_withdrawn: "Key withdrawn[ for {content}][ by {actor}].",
  key_restored: "Withdrawn key delivered again[ for {content}][ by {actor}].",
  key_deleted: "Key deleted[ for {content}][ by {actor}].",
  key_restore_accepted: "Restored database without its latest keys accepted[ by {actor}][: {detail}].",
  node_started: "The daemon started[, version {detail}].",
  configuration_reloaded: "A new configuration is in force.",
  node_stopped: "The daemon stopped.",
  clock_accepted: "The clock was accepted[ by {actor}].",
  device_removed: "Device removed[ by {actor}].",
  playback_ended: "Playback ended[ by {actor}][ in the group {detail}].",
  rental_forgotten: "Rental forgotten[ by {actor}][ for {content}].",
  rows_purged: "Old rows purged from this ledger.",
  shared_rows_purged: "Old rows purged from the copy of this ledger.",
  ledger_rejoined: "The ledger continues after a loss[: {detail}].",
  store_restored: "A backup was put in the place of the store[: {detail}].",
};

const shown = {
  detail: (text, { kind }) => (kind.startsWith("revo") && REVOCABLE[text]) || words(text),
  lease: duration,
  rental: duration,
};

/** The sentence of a row. A newer daemon may have kinds that this page does not know. */
export function sentence(entry) {
  const pattern = SENTENCES[entry.kind];
  if (!pattern) return `${words(entry.kind)}.`;
  return pattern.replace(/\[([^\]{]*)\{(\w+)\}([^\]]*)\]/g, (_, before, name, after) => {
    const value = entry[name];
    // The lease itself follows.
    if (name === "detail" && value === "lease" && entry.lease) return "";
    if (value === null || value === undefined || value === "") return "";
    return `${before}${(shown[name] ?? String)(value, entry)}${after}`;
  });
}

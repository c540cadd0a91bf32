// What a row of the ledger says, as a sentence.

import { REVOCABLE } from "./actions.js";
import { duration, words } from "./format.js";

/** A part in brackets is left out if the row has no value for a name in it. */
const SENTENCES = {
  licenseIssued: "Licence issued[ for {content}][: {detail}][, lease {lease}][, rental {rental}].",
  licenseRenewed: "Licence renewed[ for {content}][, lease {lease}].",
  licenseRefused: "Licence refused[ for {content}][: {detail}].",
  syncReportAccepted: "Report of a device about a kept key accepted.",
  keyRevealed: "Key shown[ to {actor}][ for {content}].",
  revoked: "Revoked[ by {actor}][: {detail}].",
  revocationLifted: "Revocation lifted[ by {actor}][: {detail}].",
  refusalsOmitted: "Refusals without a row of their own[: {detail}].",
  renewalsRolledUp: "Older renewals of one playback, counted[: {detail}].",
  sessionEndReported: "A device reported the end of its playback.",
  keyDelivered: "Key delivered[ to {actor}][ for {content}].",
  rotationSet: "Key rotation changed[ by {actor}][ for {content}][: {detail}].",
  tokenMinted: "Token made[ for {content}].",
  keyCreated: "Key made[ for {content}][ by {actor}].",
  keyImported: "Key imported[ for {content}][ by {actor}].",
  keyAliased: "Asset id added to a key[: {detail}].",
  keyWithdrawn: "Key withdrawn[ for {content}][ by {actor}].",
  keyRestored: "Withdrawn key delivered again[ for {content}][ by {actor}].",
  keyDeleted: "Key deleted[ for {content}][ by {actor}].",
  keyRestoreAccepted: "Restored database without its latest keys accepted[ by {actor}][: {detail}].",
  nodeStarted: "The daemon started[, version {detail}].",
  configurationReloaded: "A new configuration is in force.",
  nodeStopped: "The daemon stopped.",
  clockAccepted: "The clock was accepted[ by {actor}].",
  deviceRemoved: "Device removed[ by {actor}].",
  playbackEnded: "Playback ended[ by {actor}][ in the group {detail}].",
  rentalForgotten: "Rental forgotten[ by {actor}][ for {content}].",
  rowsPurged: "Old rows purged from this ledger.",
  sharedRowsPurged: "Old rows purged from the copy of this ledger.",
  ledgerRejoined: "The ledger continues after a loss[: {detail}].",
  storeRestored: "A backup was put in the place of the store[: {detail}].",
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

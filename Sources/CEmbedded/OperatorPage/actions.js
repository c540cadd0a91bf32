// The changes that operators can make, each with what it does and does not do.

import { post, remove } from "./api.js";
import { confirmAction, notify } from "./dialogs.js";
import { button, el, field } from "./dom.js";
import { TIME_ZONE } from "./format.js";

const KEPT_KEY = "It does not take back a key that a device has kept for offline use. Nothing can.";
const IN_LEDGER = "Writes a row with your name into the ledger.";

export const REVOCABLE = {
  jti: "Token (jti)",
  kid: "Signing key (kid)",
  iss: "Issuer (iss)",
  sub: "Subject (sub)",
  hu: "Device, by its HU",
  device: "Device, by the issuer's name",
  content: "Content",
  session: "Session",
};
/** The kinds whose values an issuer chooses. */
export const OF_ISSUER = new Set(["jti", "sub", "device", "session"]);

export function removeDevice(query, device) {
  return confirmAction({
    title: "Remove this device?",
    subject: el("code", {}, device),
    does: ["Frees its place at once, so that the subject can use another device.", IN_LEDGER],
    doesNot: [
      "It does not stop a playback on the device while session tokens renew it.",
      "It does not keep the device out: with its next license it takes a place again. Revoke it for that.",
      KEPT_KEY,
    ],
    label: "Remove the device",
    act: () => remove("/v1/devices", { ...query, device }),
  });
}

export function endPlayback(query, playback) {
  return confirmAction({
    title: "End this playback?",
    subject: el("code", {}, playback),
    does: ["Frees its place at once.", "Refuses its renewals, so that it stops when its lease ends.", IN_LEDGER],
    doesNot: [
      "It does not stop the picture at once: the device may use its key until the lease ends.",
      "It does not keep the viewer from starting another playback.",
      KEPT_KEY,
    ],
    label: "End the playback",
    act: () => remove("/v1/playbacks", { ...query, playback }),
  });
}

export function forgetRental(query, content) {
  return confirmAction({
    title: "Forget this rental?",
    subject: content,
    does: [
      "Deletes its first license and its first play. The next token begins a new rental with its full time.",
      IN_LEDGER,
    ],
    doesNot: ["It does not end licenses that devices already have.", KEPT_KEY],
    label: "Forget the rental",
    act: () => remove("/v1/rentals", { ...query, content }),
  });
}

/** Asks for the rest of a revocation, and adds it. What is given cannot be changed in the dialog. */
export async function revoke(kind = null, value = null, issuer = null) {
  const kinds = field(
    "What",
    el(
      "select",
      { name: "kind", disabled: kind !== null, onchange: () => shape() },
      Object.entries(REVOCABLE).map(([name, label]) => el("option", { value: name }, label)),
    ),
  );
  const name = field(
    "Value",
    el("input", {
      name: "value",
      required: true,
      readOnly: value !== null,
      value: value ?? "",
      autocomplete: "off",
      spellcheck: false,
      maxLength: 200,
    }),
  );
  const owner = field(
    "Issuer",
    el("input", { name: "issuer", value: issuer ?? "", autocomplete: "off", spellcheck: false }),
    "Only needed if several issuers are configured.",
  );
  const until = field(
    "Until",
    el("input", { name: "until", type: "datetime-local" }),
    `In ${TIME_ZONE}. Without a time the revocation does not end.`,
  );
  const reason = field(
    "Reason",
    el("input", { name: "reason", maxLength: 200, autocomplete: "off" }),
    "Shown in the list of revocations.",
  );
  const shape = () => {
    owner.hidden = !OF_ISSUER.has(kinds.control.value) || (value ?? "").startsWith("pseudonym:");
  };
  kinds.control.value = kind ?? "sub";
  shape();
  const text = (one) => (one.hidden ? null : one.control.value.trim() || null);
  const added = await confirmAction({
    title: "Revoke?",
    does: [
      "Refuses the next license and the next renewal: here at once, on others within entitlement.revocationRefresh.",
      IN_LEDGER,
    ],
    doesNot: ["It does not stop a license that runs: it ends with its lease.", KEPT_KEY],
    fields: [kinds, name, owner, until, reason],
    label: "Revoke",
    act: () =>
      post("/v1/revocations", {
        kind: kinds.control.value,
        value: text(name),
        issuer: text(owner),
        until: text(until) && new Date(text(until)).toISOString(),
        reason: text(reason),
      }),
  });
  if (added)
    notify(
      "good",
      added.isShared
        ? "It is revoked, on all nodes."
        : "It is revoked on this node. Other nodes learn of it when the shared database is back.",
    );
  return added;
}

export async function lift({ kind, value, issuer }) {
  const lifted = await confirmAction({
    title: "Lift this revocation?",
    subject: [`${REVOCABLE[kind] ?? kind}: `, el("code", {}, value)],
    does: ["Allows licenses and renewals again, if nothing else forbids them.", IN_LEDGER],
    doesNot: [
      "It does not restart a playback that has stopped.",
      "It does not renew a token that has expired meanwhile.",
    ],
    label: "Lift",
    isDangerous: false,
    act: () => remove("/v1/revocations", { kind, value, issuer }),
  });
  if (lifted) notify("good", "The revocation is lifted.");
  return lifted;
}

/** `done` is called after a revocation. */
export const revokeButton = (kind, value, issuer, done) =>
  button("Revoke", async () => (await revoke(kind, value, issuer)) && done(), { kind: "small danger" });

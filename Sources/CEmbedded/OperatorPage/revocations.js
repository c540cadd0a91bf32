// The view Revocations: what is revoked now, and the way to revoke and to lift.

import { REVOCABLE, lift, revoke } from "./actions.js";
import { get } from "./api.js";
import { problem } from "./dialogs.js";
import { button, el, refill, table } from "./dom.js";
import { dateAndTime, whole } from "./format.js";
import { session } from "./session.js";

export const revocations = { name: "revocations", label: "Revoked", permission: "look", open };

function open() {
  const list = el("div", {}, el("p", { class: "empty" }, "Reading…"));
  const heading = el("h1", { tabIndex: -1 }, "Revoked");
  const add =
    session.can("revoke") && button("Revoke", async () => (await revoke()) && show(list, heading), { kind: "danger" });
  show(list, heading);
  return {
    element: el(
      "div",
      { class: "view" },
      el("div", { class: "head" }, heading, add),
      el(
        "p",
        { class: "lead" },
        "A revocation refuses the next license and the next renewal. ",
        "Subjects and devices are shown by pseudonyms, because the server stores nothing else.",
      ),
      el("section", { class: "panel" }, list),
    ),
  };
}

async function show(place, heading) {
  try {
    const { revocations: all, isComplete } = await get("/v1/revocations");
    const mayLift = session.can("revoke");
    const columns = [
      ["What"],
      ["Value"],
      ["Issuer"],
      ["Revoked"],
      ["Until"],
      ["Reason"],
      ...(mayLift ? [["Action", "act"]] : []),
    ];
    const rows = all.map((one) => [
      REVOCABLE[one.kind] ?? one.kind,
      el("code", {}, one.value),
      one.issuer ?? "",
      dateAndTime(one.revokedAt),
      one.until ? dateAndTime(one.until) : "no end",
      one.reason,
      ...(mayLift ? [liftButton(one, place, heading)] : []),
    ]);
    refill(
      place,
      rows.length ? table("Revocations", columns, rows) : el("p", { class: "empty" }, "Nothing is revoked."),
      !isComplete &&
        el(
          "p",
          { class: "hint" },
          `These are the newest ${whole(all.length)}. The command latchkey revocations list prints all.`,
        ),
    );
  } catch (error) {
    refill(
      place,
      error.status === 404
        ? el("p", { class: "empty" }, "This listener has no credential, so it serves no revocations.")
        : problem(error),
    );
  }
}

function liftButton(one, place, heading) {
  const act = async () => {
    if (!(await lift(one))) return;
    await show(place, heading);
    heading.focus();
  };
  return button("Lift", act, { label: `Lift the revocation of ${one.value}` });
}

// Dialogs and notices. A dialog of an action says what the action does and what it does not do.

import { Refused } from "./api.js";
import { banner, button, canTell, el, icon } from "./dom.js";
import { localised } from "./format.js";

/** The browser gives the focus back to what had it before the dialog. If that is gone, the heading gets it. */
function remove(dialog) {
  dialog.remove();
  if (document.activeElement === document.body) document.querySelector("#view h1")?.focus({ preventScroll: true });
}

/** Opens a dialog that only shows something. Esc and the button close it. Returns the dialog. */
export function openDialog(title, { isWide = false } = {}, content) {
  const heading = el("h2", { id: `dialog-${Date.now()}` }, title);
  const close = button("Close", () => dialog.close(), { kind: "" });
  const dialog = el(
    "dialog",
    { class: isWide ? "wide" : "", "aria-labelledby": heading.id, onclose: () => remove(dialog) },
    el("div", { class: "stack" }, heading, content(), el("div", { class: "row end" }, close)),
  );
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

const effects = (kind, title, drawing, lines) =>
  lines.length > 0 &&
  el(
    "div",
    {},
    el("h3", {}, title),
    el(
      "ul",
      { class: `effects ${kind}` },
      lines.map((line) => el("li", {}, icon(drawing), el("span", {}, line))),
    ),
  );

/**
 * Asks before an action, and carries it out. The focus begins on Cancel, or in the first field if one must be filled,
 * so that Enter alone changes nothing. A failed action keeps the dialog open with the reason. Returns what `act` has
 * returned; null if the operator cancels, or if the action fails after the dialog was closed.
 *
 * `subject` says what the action is about, `fields` are shown above the buttons.
 */
export function confirmAction({ title, subject, does, doesNot, fields = [], label, isDangerous = true, act }) {
  return new Promise((resolve) => {
    const heading = el("h2", { id: `dialog-${Date.now()}` }, title);
    const failure = el("div", { role: "alert" });
    // The `close` event of a dialog comes later. Until then a closed dialog must not stay beside a new one.
    const finish = (result) => {
      dialog.close();
      remove(dialog);
      resolve(result);
    };
    const cancel = button("Cancel", () => finish(null), { kind: "" });
    const go = el("button", { class: `button main ${isDangerous ? "danger" : ""}`, type: "submit" }, label);
    const setBusy = (isBusy) => {
      go.disabled = isBusy;
      cancel.disabled = isBusy;
    };
    const submit = async (event) => {
      event.preventDefault();
      if (go.disabled) return;
      setBusy(true);
      failure.replaceChildren();
      try {
        finish((await act()) ?? true);
      } catch (error) {
        setBusy(false);
        if (dialog.open) {
          failure.replaceChildren(problem(error));
          go.focus();
        } else {
          notifyOfProblem(error);
          finish(null);
        }
      }
    };
    const dialog = el(
      "dialog",
      {
        "aria-labelledby": heading.id,
        // Esc closes the dialog although the action is on its way. Its result is still told.
        onclose: () => go.disabled || finish(null),
      },
      el(
        "form",
        { class: "stack", onsubmit: submit },
        heading,
        subject && el("p", {}, subject),
        effects("does", "What it does", "check", does),
        effects("not", "What it does not do", "cross", doesNot),
        fields,
        failure,
        el("div", { class: "row end" }, cancel, go),
      ),
    );
    document.body.append(dialog);
    dialog.showModal();
    const isToFill = fields.some(({ control }) => control.required && !control.value);
    (isToFill ? fields[0].control : cancel).focus();
  });
}

/** An error as a strip: what happened, what to do, and the id to ask for. */
export function problem(error) {
  if (!(error instanceof Refused)) console.error(error);
  const again = error.retryAfter ? `Try again in ${error.retryAfter} s.` : null;
  return banner(
    "bad",
    el("p", {}, localised(error.message)),
    error.hint && el("p", {}, localised(error.hint)),
    again && el("p", {}, again),
    error.requestID && el("p", { class: "hint" }, "Request ", el("code", {}, error.requestID)),
  );
}

const place = () => document.getElementById("notices");

/** Shows a sentence above the view until it is dismissed or another view is opened. */
export function notify(tone, ...content) {
  show(banner(tone, el("p", {}, ...content)));
}

/** Shows the error of an action whose dialog is closed. */
const notifyOfProblem = (error) => show(problem(error));

/** After the end of the session the log-in view says why. */
function show(note) {
  if (!canTell()) return;
  const dismiss = () => {
    note.remove();
    // The next message, or the view that the message was about.
    (place().querySelector("button") ?? document.querySelector("#view h1"))?.focus();
  };
  note.append(button("Dismiss", dismiss, { label: "Dismiss the message" }));
  place().append(note);
}

export const clearNotices = () => place().replaceChildren();

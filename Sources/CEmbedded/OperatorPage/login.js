// The log-in with an operator's token.

import { problem } from "./dialogs.js";
import { el, field, fill, icon } from "./dom.js";
import { session } from "./session.js";

/** Shows the form in a place, with a sentence on why it is shown. */
export function showLogIn(place, reason = null) {
  const token = field(
    "Token",
    el("input", {
      type: "password",
      name: "token",
      autocomplete: "current-password",
      required: true,
      spellcheck: false,
    }),
    "The content of a token file of this listener.",
  );
  const failure = el("div", { role: "alert" });
  const enter = el("button", { class: "button main", type: "submit" }, "Log in");
  const submit = async (event) => {
    event.preventDefault();
    enter.disabled = true;
    fill(failure);
    try {
      await session.logIn(token.control.value.trim());
    } catch (error) {
      const isWrong = error.status === 401;
      fill(failure, isWrong ? el("p", { class: "wrong" }, "This is not a token of this listener.") : problem(error));
      token.control.focus();
      token.control.select();
    } finally {
      enter.disabled = false;
    }
  };
  fill(
    place,
    el(
      "div",
      { class: "login" },
      el(
        "div",
        { class: "panel" },
        el("h1", {}, icon("key"), "Latchkey"),
        el("p", { class: "empty" }, reason ?? "Log in to watch and manage this server."),
        el("form", { class: "stack", onsubmit: submit }, token, failure, el("div", { class: "row" }, enter)),
      ),
    ),
  );
  token.control.focus();
}

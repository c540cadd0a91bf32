// The view Why: the cause of one refused request, or every check of a token and an SPC.

import { get, post } from "./api.js";
import { problem } from "./dialogs.js";
import { el, field, fill, say } from "./dom.js";
import { explanationReport } from "./explanation.js";
import { refusalReport } from "./refusals.js";
import { session } from "./session.js";

export const why = { name: "why", label: "Why", permission: "explain", open };

/** A token that another view has been given. It stays in memory: an address would keep it. */
export const given = { token: null };

/** A larger file is no SPC. */
const SPC_SIZE_MAXIMUM = 1 << 20;

function open(parameters) {
  const results = el("div", { class: "stack" });
  const [asked, message] = [byRequest(results), byMessage(results)];
  const update = (changed) => {
    const request = changed.get("request");
    if (request) asked.ask(request);
    if (given.token) message.ask(given.token);
    given.token = null;
  };
  update(parameters);
  return {
    element: el(
      "div",
      { class: "view" },
      el("h1", {}, "Why"),
      el(
        "p",
        { class: "lead" },
        "Ask why a request was refused, or what a token and an SPC would get. ",
        "Nothing is issued, and nothing of what you enter is stored.",
      ),
      el("div", { class: "pair" }, session.can("look") && asked.element, message.element),
      results,
    ),
    update,
  };
}

/** Carries out a question, and shows its answer or its failure in the place of the one before. */
async function show(place, button, ask) {
  const hadFocus = document.activeElement === button;
  button.disabled = true;
  try {
    fill(place, await ask());
    place.firstElementChild?.scrollIntoView({ block: "nearest" });
    say(place.querySelector("h2, .banner, p")?.textContent ?? "");
  } catch (error) {
    fill(place, problem(error));
  } finally {
    button.disabled = false;
    // A button that was disabled has lost the focus.
    if (hadFocus && document.activeElement === document.body) button.focus({ preventScroll: true });
  }
}

function byRequest(results) {
  const id = field(
    "Request id",
    el("input", {
      name: "request",
      required: true,
      autocomplete: "off",
      spellcheck: false,
      maxLength: 64,
      placeholder: "5f0c2b7e91d3a846",
    }),
    "From the header X-Request-Id, from request_id of the error, or from the log. The id of a trace works too.",
  );
  const button = el("button", { class: "button main", type: "submit" }, "Explain");
  const ask = () =>
    show(results, button, async () => {
      try {
        return refusalReport(await get(`/v1/refusals/${encodeURIComponent(id.control.value.trim())}`));
      } catch (error) {
        if (error.status !== 404) throw error;
        return el(
          "p",
          { class: "panel empty" },
          "This node remembers no refusal of this request. It keeps at most 10,000 since its start. ",
          "Another node may have refused it, or the request was answered.",
        );
      }
    });
  const submit = (event) => {
    event.preventDefault();
    ask();
  };
  return {
    element: el(
      "form",
      { class: "panel ask", onsubmit: submit },
      el("h2", {}, "A refused request"),
      id,
      el("div", { class: "row" }, button),
    ),
    ask(request) {
      id.control.value = request;
      ask();
    },
  };
}

function byMessage(results) {
  const token = field(
    "Token",
    el("textarea", { name: "token", required: true, autocomplete: "off", spellcheck: false }),
    "The token of the request, in its compact form.",
  );
  const spc = field(
    "SPC",
    el("textarea", { name: "spc", autocomplete: "off", spellcheck: false }),
    "In Base64, or as a file. Without it, only the token is checked.",
  );
  const file = field(
    "SPC as a file",
    el("input", { type: "file", onchange: () => readFile(file.control, spc.control, results) }),
  );
  const offline = el("input", { type: "checkbox", name: "offline", id: "offline" });
  const address = field(
    "Client's address",
    el("input", { name: "address", autocomplete: "off", spellcheck: false, placeholder: "203.0.113.7" }),
  );
  const country = field(
    "Country",
    el("input", { name: "country", autocomplete: "off", spellcheck: false, maxLength: 2, placeholder: "DE" }),
  );
  const button = el("button", { class: "button main", type: "submit" }, "Explain");
  const ask = () => {
    const question = { token: token.control.value.trim(), offline: offline.checked };
    if (spc.control.value.trim()) question.spc = spc.control.value.replace(/\s/g, "");
    if (address.control.value.trim()) question.address = address.control.value.trim();
    if (country.control.value.trim()) question.country = country.control.value.trim().toUpperCase();
    show(results, button, async () => explanationReport(await post("/v1/explain", question)));
  };
  const submit = (event) => {
    event.preventDefault();
    ask();
  };
  const element = el(
    "form",
    { class: "panel ask", onsubmit: submit },
    el("h2", {}, "A token and an SPC"),
    token,
    spc,
    file,
    el("div", { class: "line" }, address, country),
    el(
      "div",
      { class: "check" },
      offline,
      el("label", { for: "offline" }, "The device asks for a key to keep (offline)"),
    ),
    el("div", { class: "row" }, button),
  );
  return {
    element,
    ask(text) {
      token.control.value = text;
      ask();
    },
  };
}

/** Puts a file into the field as Base64. A file that has Base64 itself is taken as it is. */
async function readFile(input, target, results) {
  const [file] = input.files;
  if (!file) return;
  if (file.size > SPC_SIZE_MAXIMUM) {
    input.value = "";
    fill(results, problem(new Error("This file is larger than 1 MiB, so it is no SPC.")));
    return;
  }
  const bytes = new Uint8Array(await file.arrayBuffer());
  const text = String.fromCharCode(...bytes.subarray(0, 64));
  target.value = /^[A-Za-z0-9+/=\s_-]+$/.test(text) ? new TextDecoder().decode(bytes).trim() : base64(bytes);
}

function base64(bytes) {
  let text = "";
  for (let index = 0; index < bytes.length; index += 8192)
    text += String.fromCharCode(...bytes.subarray(index, index + 8192));
  return btoa(text);
}

// Starts the page: who is there, which view is shown, and what every view has around it.

import { clearNotices, openDialog, problem } from "./dialogs.js";
import { button, el, fill, say, setMayTell } from "./dom.js";
import { TIME_ZONE } from "./format.js";
import { live } from "./live.js";
import { showLogIn } from "./login.js";
import { session } from "./session.js";
import { contents } from "./contents.js";
import { find } from "./find.js";
import { now } from "./now.js";
import { revocations } from "./revocations.js";
import { why } from "./why.js";

/** Each view has a name for the address, a label, the permission that it needs, and `open(parameters)`. */
const VIEWS = [now, find, why, contents, revocations];

const CONNECTION = {
  waiting: ["waiting", "connecting"],
  live: ["live", "live"],
  polling: ["waiting", "every 10 s"],
  lost: ["lost", "no connection"],
};

const part = (id) => document.getElementById(id);
let shown = null;
let warning = null;

// --- The view ------------------------------------------------------------------------------------------------------

function route() {
  const [name, query = ""] = location.hash.slice(1).split("?");
  return { name, parameters: new URLSearchParams(query) };
}

/** Shows what the address names. The focus goes to the heading, as after a new page. */
function show() {
  if (!session.who) return;
  const { name, parameters } = route();
  // "Skip to the content" names no view.
  if (name === "view" && shown) return;
  const view = VIEWS.find((one) => one.name === name) ?? VIEWS.find((one) => session.can(one.permission)) ?? now;
  if (shown?.view === view && shown.update) {
    shown.update(parameters);
    // The link that was followed may be gone.
    if (document.activeElement === document.body) focusHeading();
    return;
  }
  close();
  clearNotices();
  document.title = `${view.label} – Latchkey`;
  for (const anchor of part("nav").children) {
    if (anchor.hash === `#${view.name}`) anchor.setAttribute("aria-current", "page");
    else anchor.removeAttribute("aria-current");
  }
  const content = session.can(view.permission) ? view.open(parameters) : forbidden(view);
  fill(part("view"), content.element);
  shown = { view, ...content };
  focusHeading();
}

function focusHeading() {
  const heading = part("view").querySelector("h1");
  if (!heading) return;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  scrollTo(0, 0);
}

function forbidden(view) {
  const roles = session.who.roles.join(", ") || "none";
  return {
    element: el(
      "div",
      { class: "view" },
      el("h1", {}, view.label),
      el(
        "p",
        { class: "lead" },
        `Your roles (${roles}) do not include this view. Ask an administrator for another role.`,
      ),
    ),
  };
}

function close() {
  shown?.close?.();
  shown = null;
}

// --- The head ------------------------------------------------------------------------------------------------------

function showHead() {
  const { who } = session;
  part("top").hidden = false;
  part("zone").hidden = false;
  const hint = TIME_ZONE === "UTC" ? "" : " Point at a time to read it in UTC.";
  part("zone").textContent = `All times are in ${TIME_ZONE}.${hint}`;
  fill(
    part("nav"),
    VIEWS.filter((view) => session.can(view.permission)).map((view) => el("a", { href: `#${view.name}` }, view.label)),
  );
  const state = el("span", { class: "dot", id: "state" });
  const name = el(
    "span",
    {},
    who.kind === "none" ? "no credential" : who.name,
    who.roles.length > 0 && el("span", { class: "roles" }, ` ${who.roles.join(", ")}`),
  );
  const leave = who.kind === "session" && button("Log out", logOut);
  const help = who.help && el("a", { href: who.help, target: "_blank", rel: "noopener" }, "Help");
  fill(part("who"), state, name, help, leave);
  showConnection();
}

function showConnection() {
  const state = part("state");
  if (!state) return;
  const [tone, text] = CONNECTION[live.state];
  state.className = `dot ${tone}`;
  state.textContent = text;
}

async function logOut(event) {
  event.target.disabled = true;
  try {
    await session.logOut();
  } catch (error) {
    event.target.disabled = false;
    event.target.focus();
    fill(part("notices"), problem(error));
  }
}

// --- The session -----------------------------------------------------------------------------------------------------

const REASONS = {
  left: "You are logged out.",
  idle: "You were logged out, because nothing was done for a while.",
  unknown: "Your session has ended. Log in again.",
};

/** Nothing of the session stays on the screen. */
function leave(reason) {
  setMayTell(false);
  live.stop();
  close();
  clearNotices();
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
  part("top").hidden = true;
  part("zone").hidden = true;
  fill(part("who"));
  part("node").textContent = "";
  document.title = "Latchkey";
  showLogIn(part("view"), REASONS[reason]);
}

/** Shows the page for the operator who is there now. */
function enter() {
  close();
  setMayTell(true);
  showHead();
  live.start();
  show();
}

/** The warning before an idle log-out. Any key or click on the page keeps the session. */
function warn(seconds) {
  if (seconds === null) {
    warning?.close();
    warning = null;
    return;
  }
  const text = `You will be logged out in ${seconds} seconds, because nothing was done for a while.`;
  warning ??= openDialog("Are you still there?", {}, () => [
    el("p", { id: "warning" }),
    button("Stay logged in", () => session.stay().catch(() => {}), { kind: "main" }),
  ]);
  warning.querySelector("#warning").textContent = text;
}

session.addEventListener("change", enter);
session.addEventListener("ended", ({ detail }) => leave(detail));
session.addEventListener("warning", ({ detail }) => warn(detail));
live.addEventListener("state", () => {
  showConnection();
  if (live.state === "lost") say("The connection to the server is lost.");
});
live.addEventListener("status", () => {
  part("node").textContent = live.status.node ?? "";
});
addEventListener("hashchange", () => show());

try {
  if (!(await session.load())) showLogIn(part("view"));
} catch (error) {
  fill(part("view"), problem(error));
}

// The view Now: whether the server works, the last hour in plots, and what will end.

import { getQuietly, post } from "./api.js";
import { FAULTS, RECENT_SECONDS, REASONS, condition, percent, recent } from "./condition.js";
import { makeDevices } from "./devices.js";
import { confirmAction, notify } from "./dialogs.js";
import { banner, button, el, fill, say } from "./dom.js";
import { dateAndTime, localised, measured, timeOfDay, words } from "./format.js";
import { refusalsOf } from "./kinds.js";
import { STEP_SECONDS, live } from "./live.js";
import { Cursor, Plot } from "./plots.js";
import { PLOTS } from "./series.js";
import { session } from "./session.js";
import { clockPanel, endsPanel, listenersPanel, nodesPanel, preflightsPanel } from "./status-panels.js";

/** So many of the newest refusals tell which code is the most frequent. */
const NEWEST_REFUSALS = 100;
const FAULT_SERIES = "refusals_fault";
/** How long a code that was found is shown without another look. */
const CODES_AGE_MS = 30_000;

export const now = { name: "now", label: "Now", permission: "watch", open };

function open() {
  const cursor = new Cursor();
  const opens = session.can("look") ? refusalsOf : null;
  const plots = PLOTS.map((plan) => new Plot(plan, cursor, plan.id === "refusals" ? opens : null));
  const [state, headline, panels] = [makeState(), makeHeadline(), el("div", { class: "tiles" })];
  const codes = makeCodes(() => showCondition());
  const devices = makeDevices();
  let [spokenState, shownState] = [null, null];
  const showCondition = () => {
    const { status } = live;
    const isLost = live.state === "lost";
    view.classList.toggle("stale", isLost);
    if (!status) {
      shownState = null;
      const [tone, text] = isLost ? ["bad", "The server does not answer."] : ["info", "Waiting for the server."];
      return state.show(banner(tone, el("p", {}, text)));
    }
    const traffic = recent(live.steps, STEP_SECONDS);
    const found = isLost ? silence() : withCode(withService(condition(status, traffic), traffic, codes), codes);
    const spoken = found.spoken ?? found.sentence;
    // The buttons stay while nothing changes: one of them may have the focus.
    const { ready, drained, readiness, degraded } = status;
    const silentSince = isLost && live.answeredAt;
    const next = JSON.stringify([found.tone, spoken, found.cause, silentSince, ready, drained, readiness, degraded]);
    if (next !== shownState) state.showStatus(status, found, isLost);
    shownState = next;
    headline.show(traffic);
    if (spokenState !== null && spokenState !== spoken) say(spoken);
    spokenState = spoken;
  };
  const onPoints = () => {
    const { steps } = live;
    plots.forEach((plot) => plot.show(steps));
    showCondition();
  };
  const onStatus = () => {
    showCondition();
    const { status } = live;
    if (!status) return;
    devices.look();
    fill(
      panels,
      endsPanel(status),
      nodesPanel(status),
      preflightsPanel(status),
      el("div", { class: "stack" }, clockPanel(status), listenersPanel(status)),
    );
  };
  const figures = (wanted) => plots.filter((_, index) => !!PLOTS[index].isFirst === wanted).map(({ figure }) => figure);
  const view = el(
    "div",
    { class: "view" },
    el("h1", {}, "Now"),
    state.element,
    headline.element,
    el(
      "section",
      { class: "stack", "aria-label": "The last hour" },
      el("div", { class: "plots first" }, figures(true)),
      innerWorkings(figures(false)),
    ),
    devices.element,
    panels,
    el(
      "p",
      { class: "foot" },
      "Point at a plot to read a moment in all of them. ",
      "By keyboard, go to a plot and use the arrow keys. ",
      session.can("look") && "A colour of the refusals, or its name below the plot, opens the refusals that it counts.",
    ),
  );
  live.addEventListener("points", onPoints);
  live.addEventListener("status", onStatus);
  live.addEventListener("state", showCondition);
  onPoints();
  onStatus();
  return {
    element: view,
    update() {},
    close() {
      live.removeEventListener("points", onPoints);
      live.removeEventListener("status", onStatus);
      live.removeEventListener("state", showCondition);
      plots.forEach((plot) => plot.close());
    },
  };
}

/** A service that does not answer is no fault of one viewer, so it is told even if few requests needed it. */
const SERVICE = "entitlement_unavailable";

function withService(found, { faults }, codes) {
  if (found.tone !== "good" || faults < 1 || !codes.of(FAULT_SERIES)?.causes.has(SERVICE)) return found;
  const count = Math.round(faults);
  const sentence =
    `This node serves, but ${count} ${count === 1 ? "request" : "requests"} of the last 5 minutes failed at this ` +
    "server.";
  return { tone: "warn", sentence, series: FAULT_SERIES, code: SERVICE };
}

/** The sentence about a fault names its code, if it is known, and what the code means. */
function withCode(found, codes) {
  const known = codes.of(found.series);
  const code = found.code ?? known?.code;
  if (!code) return found;
  const meaning = FAULTS[code] ? `: ${FAULTS[code][0]}` : "";
  const sentence = `${found.sentence.replace(/\.$/, "")} (${code}${meaning}).`;
  return { ...found, code, cause: known.causes.get(code), sentence };
}

/** Whether the operator wants to see them: until the page is left. */
let showsInnerWorkings = false;

function innerWorkings(figures) {
  const details = el(
    "details",
    { class: "inner", open: showsInnerWorkings },
    el("summary", {}, "Inner workings"),
    el("div", { class: "plots" }, figures),
  );
  details.addEventListener("toggle", () => {
    showsInnerWorkings = details.open;
  });
  return details;
}

/** What is shown instead of the last state of a server that does not answer. */
function silence() {
  const since = live.answeredAt && timeOfDay(live.answeredAt / 1000);
  return { tone: "bad", spoken: "The server does not answer.", sentence: ["No answer since ", since, "."] };
}

/** The numbers of the last five minutes. Only a number that changes is replaced: its link may have the focus. */
function makeHeadline() {
  const shown = new Map();
  const one = (label, hint) => {
    const value = el("strong", {}, "–");
    shown.set(label, { value, text: "–" });
    return el("li", {}, el("span", { class: "label" }, label), value, el("span", { class: "hint" }, hint));
  };
  const set = (label, text, content = text) => {
    const known = shown.get(label);
    if (known.text !== text) fill(known.value, content);
    known.text = text;
  };
  const element = el(
    "ul",
    { class: "headline" },
    one("Got a license", "of the requests that could be read"),
    one("Licenses", "a second"),
    one("Time to a license", `99 % within, in the slowest ${STEP_SECONDS} s`),
    one("Refused most for", `in the last ${RECENT_SECONDS / 60} minutes`),
  );
  const show = ({ share, perSecond, p99, most }) => {
    set("Got a license", share === null ? "–" : percent(share));
    set("Licenses", measured(perSecond, "per_second"));
    set("Time to a license", p99 === null ? "–" : measured(p99, "seconds"));
    set("Refused most for", most ? REASONS[most] : "–", most ? refused(most) : "–");
  };
  return { element, show };
}

const refused = (series) =>
  session.can("look") ? el("a", { href: refusalsOf(series, RECENT_SECONDS) }, REASONS[series]) : REASONS[series];

/**
 * The banner of the state. Its controls stay the same elements, so that the focus and a dialog that returns the focus
 * find them after a change.
 */
function makeState() {
  const element = el("div", { class: "parts" });
  const link = el("a", {}, "Open these refusals");
  const drainControl = button("", () => (live.status?.drained ? endDrain() : drain()));
  const show = (...children) => fill(element, ...children);
  const showStatus = (status, { tone, sentence, series, code, cause }, isLost) => {
    const { drained, readiness, degraded, version, startedAt } = status;
    const drainedBy = drained && el("p", {}, `Drained by ${drained.by} since `, dateAndTime(drained.since), ".");
    const details = el("p", { class: "hint" }, `Version ${version}, started `, dateAndTime(startedAt), ".");
    if (series) link.href = refusalsOf(series, RECENT_SECONDS);
    drainControl.textContent = drained ? "End the drain" : "Drain this node";
    // A control that is put into a new strip loses the focus.
    const focused = [link, drainControl].find((one) => one === document.activeElement);
    show(
      banner(
        tone,
        el("p", {}, el("strong", {}, sentence)),
        isLost &&
          el("p", {}, "The daemon, its machine or the way to it is down. What is shown below is from that time."),
        !isLost && cause && el("p", {}, "The newest of them: ", localised(cause), "."),
        !isLost &&
          code &&
          el("p", {}, "What to do: ", FAULTS[code]?.[1] ?? "open these refusals, each of which says it."),
        !isLost && degraded.map(degradedPart),
        series && session.can("look") && el("p", {}, link),
        !isLost && drainedBy,
        !isLost && !status.ready && !drained && readiness && el("p", {}, localised(readiness)),
        details,
        !isLost && session.can("operate") && drainControl,
      ),
    );
    if (focused?.isConnected) focused.focus({ preventScroll: true });
  };
  return { element, show, showStatus };
}

const degradedPart = ({ part, text, remedy }) =>
  el(
    "div",
    { class: "part" },
    el("p", {}, el("strong", {}, sentenceCase(words(part))), ": ", localised(text)),
    remedy && el("p", {}, remedy),
  );

/**
 * Finds the code that most of the newest refusals of a series have, and the newest cause of each code: the history has
 * neither. `tell` is called when they are known, and `of(series)` gives them.
 */
function makeCodes(tell) {
  let known = { series: null, code: null, causes: new Map(), askedAt: 0 };
  const ask = async (series) => {
    const old = known.series === series ? known : { code: null, causes: new Map() };
    known = { ...old, series, askedAt: Date.now() };
    try {
      const { refusals } = await getQuietly("/v1/refusals", { series, limit: NEWEST_REFUSALS });
      if (known.series !== series) return;
      const [counts, causes] = [new Map(), new Map()];
      const begin = Date.now() - 1000 * RECENT_SECONDS;
      for (const { code, cause, time } of refusals) {
        if (Date.parse(time) < begin) continue;
        counts.set(code, (counts.get(code) ?? 0) + 1);
        if (!causes.has(code)) causes.set(code, cause);
      }
      const code = [...counts].sort(([, one], [, other]) => other - one)[0]?.[0] ?? null;
      const isSame = code === known.code && [...causes].join() === [...known.causes].join();
      Object.assign(known, { code, causes });
      if (!isSame) tell();
    } catch {
      // The sentence is true without a code.
    }
  };
  return {
    of(series) {
      if (series !== FAULT_SERIES || !session.can("look")) return null;
      const isOld = known.series !== series || Date.now() - known.askedAt > CODES_AGE_MS;
      if (isOld && session.isInUse) ask(series);
      return known.series === series ? known : null;
    },
  };
}

const sentenceCase = (text) =>
  text === "postgresql" ? "PostgreSQL" : text.charAt(0).toUpperCase() + text.slice(1);

async function drain() {
  const done = await confirmAction({
    title: "Drain this node?",
    does: [
      "Makes /readyz answer 503, so that a load balancer sends new requests to other nodes.",
      "Writes your name into the log.",
    ],
    doesNot: ["It does not stop the daemon: requests that still come are served.", "It does not change other nodes."],
    label: "Drain",
    act: () => post("/v1/drain"),
  });
  if (done) notify("good", "This node is drained.");
}

async function endDrain() {
  const done = await confirmAction({
    title: "End the drain?",
    does: ["Makes /readyz answer 200 again, if nothing else keeps the node from being ready."],
    doesNot: ["It does not repair a part that does not work."],
    label: "End the drain",
    isDangerous: false,
    act: () => post("/v1/ready"),
  });
  if (done) notify("good", "The drain has ended.");
}

// The view Now: whether the server works, the last hour in plots, and what will end.

import { post } from "./api.js";
import { confirmAction, notify } from "./dialogs.js";
import { banner, button, el, fill, say } from "./dom.js";
import { TIME_ZONE, dateAndTime, words } from "./format.js";
import { live } from "./live.js";
import { Cursor, Plot } from "./plots.js";
import { PLOTS } from "./series.js";
import { session } from "./session.js";
import { clockPanel, endsPanel, listenersPanel, nodesPanel, preflightsPanel } from "./status-panels.js";

export const now = { name: "now", label: "Now", permission: "watch", open };

function open() {
  const cursor = new Cursor();
  const plots = PLOTS.map((plan) => new Plot(plan, cursor));
  const [state, panels] = [el("div", { class: "parts" }), el("div", { class: "tiles" })];
  let spokenState = null;
  const onPoints = () => plots.forEach((plot) => plot.show(live.points));
  const onStatus = () => {
    const { status } = live;
    if (!status) return fill(state, el("p", { class: "empty" }, "Waiting for the server."));
    const { sentence, tone } = summary(status);
    showState(state, status, sentence, tone);
    fill(
      panels,
      endsPanel(status),
      nodesPanel(status),
      preflightsPanel(status),
      el("div", { class: "stack" }, clockPanel(status), listenersPanel(status)),
    );
    if (spokenState !== null && spokenState !== sentence) say(sentence);
    spokenState = sentence;
  };
  live.addEventListener("points", onPoints);
  live.addEventListener("status", onStatus);
  onPoints();
  onStatus();
  return {
    element: el(
      "div",
      { class: "view" },
      el("h1", {}, "Now"),
      state,
      el(
        "section",
        { "aria-label": "The last hour" },
        el(
          "div",
          { class: "plots" },
          plots.map(({ figure }) => figure),
        ),
      ),
      panels,
      el(
        "p",
        { class: "foot" },
        `Times are in ${TIME_ZONE}. Point at a plot to read a moment in all of them. `,
        "By keyboard, go to a plot and use the arrow keys.",
      ),
    ),
    update() {},
    close() {
      live.removeEventListener("points", onPoints);
      live.removeEventListener("status", onStatus);
      plots.forEach((plot) => plot.close());
    },
  };
}

/** The state in one sentence. */
function summary({ ready, drained, stopping, degraded }) {
  const parts = `${degraded.length} ${degraded.length === 1 ? "part does" : "parts do"} not work`;
  if (stopping) return { tone: "warn", sentence: "The daemon is stopping." };
  if (drained) return { tone: "warn", sentence: "This node is drained. It serves what still comes." };
  if (!ready)
    return { tone: "bad", sentence: degraded.length ? `This node is not ready: ${parts}.` : "This node is not ready." };
  if (degraded.length) return { tone: "warn", sentence: `This node serves, but ${parts}.` };
  return { tone: "good", sentence: "This node serves, and every part works." };
}

function showState(place, status, sentence, tone) {
  const { drained, readiness, degraded, version, startedAt } = status;
  const drain = drained && el("p", {}, `Drained by ${drained.by} since `, dateAndTime(drained.since), ".");
  const details = el("p", { class: "hint" }, `Version ${version}, started `, dateAndTime(startedAt), ".");
  fill(
    place,
    banner(
      tone,
      el("p", {}, el("strong", {}, sentence)),
      drain,
      !status.ready && !drained && readiness && el("p", {}, readiness),
      details,
      session.can("operate") && drainButton(drained),
    ),
    degraded.map(({ part, text, remedy }) =>
      banner(
        "warn",
        el("p", {}, el("strong", {}, sentenceCase(words(part)))),
        el("p", {}, text),
        remedy && el("p", {}, remedy),
      ),
    ),
  );
}

const sentenceCase = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function drainButton(drained) {
  return drained ? button("End the drain", endDrain) : button("Drain this node", drain);
}

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

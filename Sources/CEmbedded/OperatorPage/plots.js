// A small plot of the last hour, drawn as SVG, with a read-out for pointer, touch and keyboard.

import { button, el, fill, svg } from "./dom.js";
import { clock, measured, shortClock } from "./format.js";
import { decades, ticks, timeTicks } from "./scales.js";
import { showTable } from "./plot-table.js";

const HOUR = 3600;
/** Soon after a start, the plots show what there is, and at least this time in seconds. */
const LEAST_RANGE = 300;
const MARGIN = { left: 46, right: 6, top: 8, bottom: 18 };
/** Two points that are further apart are not joined: nothing was measured in between. */
const GAP_SECONDS = 35;
const MINUTE_STEPS = 6;

/** The time that all plots show together; null for now. */
export class Cursor extends EventTarget {
  time = null;

  set(time) {
    if (time === this.time) return;
    this.time = time;
    this.dispatchEvent(new Event("move"));
  }
}

export class Plot {
  #plan;
  #cursor;
  #opens;
  #points = [];
  #size = { width: 0, height: 0 };
  #frame = 0;

  /** `opens` gives the address that a colour of the plot leads to. */
  constructor(plan, cursor, opens = null) {
    this.#plan = plan;
    this.#cursor = cursor;
    this.#opens = opens;
    this.#build();
    this.resizing = new ResizeObserver(([{ contentRect }]) => {
      this.#size = { width: contentRect.width, height: contentRect.height };
      this.#later();
    });
    this.resizing.observe(this.stage);
    cursor.addEventListener("move", () => this.#later());
  }

  show(points) {
    this.#points = points;
    this.#later();
  }

  close() {
    this.resizing.disconnect();
    cancelAnimationFrame(this.#frame);
  }

  #build() {
    const { id, title, unitText, series } = this.#plan;
    this.values = new Map(series.map(([name]) => [name, el("span", { class: "value" }, "–")]));
    const legend = series.map(([name, label, tone]) =>
      el(
        "li",
        { class: `tone-${tone}` },
        this.#opens ? el("a", { href: this.#opens(name) }, label) : label,
        this.values.get(name),
      ),
    );
    this.chart = svg("svg", { class: "chart", "aria-hidden": "true" });
    this.at = el("span", { class: "at" });
    this.none = el("p", { class: "none" }, "Nothing measured yet");
    this.stage = el(
      "div",
      {
        class: "stage",
        tabIndex: 0,
        role: "slider",
        "aria-label": `${title}: time`,
        "aria-valuemin": "0",
        "aria-valuemax": "0",
        "aria-valuenow": "0",
        onpointermove: (event) => this.#point(event),
        onpointerdown: (event) => this.#point(event),
        onclick: (event) => this.#open(event),
        onpointerleave: (event) => event.pointerType !== "touch" && this.#cursor.set(null),
        onkeydown: (event) => this.#key(event),
        onblur: () => this.#cursor.set(null),
        onfocus: () => this.#speak(),
      },
      this.chart,
      this.none,
    );
    const open = () => showTable(this.#plan, this.#points);
    this.figure = el(
      "figure",
      { class: "plot", id: `plot-${id}` },
      el(
        "header",
        {},
        el("h2", {}, title, unitText && el("span", { class: "unit" }, ` ${unitText}`)),
        this.at,
        button("Table", open, { kind: "plain", label: `${title} as a table` }),
      ),
      this.stage,
      el("ul", { class: "legend" }, legend),
    );
  }

  /** A finger reads the values of a time; the legend has the same addresses. */
  #open(event) {
    if (!this.#opens || event.pointerType === "touch") return;
    // Since the button went down, the plot may have been drawn again, so the event's own target says nothing.
    const area = document.elementsFromPoint(event.clientX, event.clientY).find((one) => one.dataset.series);
    if (area) location.hash = this.#opens(area.dataset.series);
  }

  // --- Reading a time ------------------------------------------------------------------------------------------------

  #point(event) {
    if (!this.#points.length) return;
    const { left } = this.stage.getBoundingClientRect();
    const [begin, end] = this.#range();
    const share = (event.clientX - left - MARGIN.left) / Math.max(1, this.#inner().width);
    this.#cursor.set(this.#points[this.#nearest(begin + share * (end - begin))].at);
  }

  #key(event) {
    const last = this.#points.length - 1;
    if (last < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const index = this.#cursor.time === null ? last : this.#nearest(this.#cursor.time);
    const steps = {
      ArrowLeft: index - 1,
      ArrowDown: index - 1,
      ArrowRight: index + 1,
      ArrowUp: index + 1,
      PageDown: index - MINUTE_STEPS,
      PageUp: index + MINUTE_STEPS,
      Home: 0,
      End: last,
    };
    if (event.key === "Escape") this.#cursor.set(null);
    else if (event.key in steps) this.#cursor.set(this.#points[Math.min(last, Math.max(0, steps[event.key]))].at);
    else return;
    event.preventDefault();
    this.#speak();
  }

  /** What a screen reader says: the time and every value. */
  #speak() {
    const index = this.#cursor.time === null ? this.#points.length - 1 : this.#nearest(this.#cursor.time);
    const point = this.#points[index];
    const { unit, unitText, series } = this.#plan;
    const values = series
      .filter(([name]) => point && name in point.values)
      .map(([name, label]) => `${label} ${measured(point.values[name], unit)}${unitText ? ` ${unitText}` : ""}`);
    const text = point ? `${clock(point.at)}: ${values.join(", ")}` : "nothing measured yet";
    this.stage.setAttribute("aria-valuemax", String(Math.max(0, this.#points.length - 1)));
    this.stage.setAttribute("aria-valuenow", String(Math.max(0, index)));
    this.stage.setAttribute("aria-valuetext", text);
  }

  #nearest(time) {
    let [low, high] = [0, this.#points.length - 1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#points[middle].at <= time) low = middle;
      else high = middle;
    }
    return time - this.#points[low].at <= this.#points[high].at - time ? low : high;
  }

  // --- Drawing -------------------------------------------------------------------------------------------------------

  #later() {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
  }

  #range() {
    const end = this.#points.at(-1)?.at ?? Date.now() / 1000;
    const begin = this.#points[0]?.at ?? end;
    return [Math.max(end - HOUR, Math.min(begin, end - LEAST_RANGE)), end];
  }

  #inner() {
    const { width, height } = this.#size;
    return { width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom };
  }

  #draw() {
    const { width, height } = this.#size;
    if (width < 80 || height < 40) return;
    const { unit, stack, series } = this.#plan;
    const present = series.filter(([name]) => this.#points.some(({ values }) => (values[name] ?? null) !== null));
    this.none.hidden = present.length > 0;
    const [begin, end] = this.#range();
    const inner = this.#inner();
    const x = (time) => MARGIN.left + ((time - begin) / (end - begin)) * inner.width;
    const { rule, share } = this.#scale(present);
    const y = (value) => MARGIN.top + (1 - Math.min(1, Math.max(0, share(value)))) * inner.height;
    this.chart.setAttribute("viewBox", `0 0 ${width} ${height}`);
    fill(
      this.chart,
      rule.map((value, index) => this.#level(y(value), measured(value, unit), index === 0)),
      this.#times(begin, end, x, height),
      this.#traces(present, stack, x, y),
      this.#cursorMarks(present, stack, x, y),
    );
    this.#readOut();
  }

  /** The ticks of the vertical axis, and the share of its length at which a value stands. */
  #scale(present) {
    const { unit, stack, log } = this.#plan;
    const ofPoint = ({ values }) => present.map(([name]) => values[name] ?? 0);
    if (log) {
      const values = this.#points.flatMap(ofPoint).filter((value) => value > 0);
      const rule = values.length ? decades(Math.min(...values), Math.max(...values)) : decades(0.001, 0.1);
      const [first, last] = [Math.log10(rule[0]), Math.log10(rule.at(-1))];
      return { rule, share: (value) => (value > 0 ? (Math.log10(value) - first) / (last - first) : 0) };
    }
    const top = (point) => ofPoint(point).reduce((one, other) => (stack ? one + other : Math.max(one, other)), 0);
    const rule = ticks(Math.max(0, ...this.#points.map(top)), unit);
    return { rule, share: (value) => value / rule.at(-1) };
  }

  #level(y, text, isAxis) {
    const line = {
      class: isAxis ? "axis" : "grid",
      x1: MARGIN.left,
      x2: this.#size.width - MARGIN.right,
      y1: y,
      y2: y,
    };
    return [svg("line", line), svg("text", { x: MARGIN.left - 6, y: y + 3.5, "text-anchor": "end" }, text)];
  }

  #times(begin, end, x, height) {
    const offset = -new Date(end * 1000).getTimezoneOffset() * 60;
    return timeTicks(begin, end, offset)
      .filter((time) => x(time) > MARGIN.left + 14 && x(time) < this.#size.width - 18)
      .map((time) => svg("text", { x: x(time), y: height - 4, "text-anchor": "middle" }, shortClock(time)));
  }

  /** The lines of all series. In a stack each stands on those before it, and has no line where it is 0. */
  #traces(present, stack, x, y) {
    let base = this.#points.map(() => 0);
    const line = (indexes, level) =>
      indexes.map((index) => `${x(this.#points[index].at).toFixed(1)} ${y(level[index]).toFixed(1)}`).join("L");
    return present.flatMap(([name, , tone]) => {
      const floor = base;
      const values = this.#points.map((point) => point.values[name] ?? null);
      const level = values.map((value, index) => (value === null ? null : value + (stack ? floor[index] : 0)));
      base = level.map((value, index) => value ?? floor[index]);
      const drawn = level.map((value, index) => (stack && values[index] === 0 ? null : value));
      const areas = stack ? this.#pieces(level) : [];
      return [
        areas.map((piece) => {
          const outline = `M${line(piece, level)}L${line(piece.toReversed(), floor)}Z`;
          const link = this.#opens ? { "data-series": name } : {};
          return svg("path", { class: `area tone-${tone}`, d: outline, ...link });
        }),
        this.#pieces(drawn).map((piece) => {
          // A line of no length is a dot, because its ends are round.
          const isDot = piece.length === 1;
          return svg("path", {
            class: `trace ${stack ? "stack" : ""} ${isDot ? "dot" : ""} tone-${tone}`,
            d: `M${line(piece, level)}${isDot ? "h0" : ""}`,
          });
        }),
      ].flat();
    });
  }

  /** The indexes of points that belong to one line. */
  #pieces(level) {
    const pieces = [];
    level.forEach((value, index) => {
      if (value === null) return;
      const isJoined =
        index > 0 && level[index - 1] !== null && this.#points[index].at - this.#points[index - 1].at <= GAP_SECONDS;
      if (isJoined) pieces.at(-1).push(index);
      else pieces.push([index]);
    });
    return pieces;
  }

  #cursorMarks(present, stack, x, y) {
    if (this.#cursor.time === null || !this.#points.length) return [];
    const { at, values } = this.#points[this.#nearest(this.#cursor.time)];
    let base = 0;
    const marks = present
      .filter(([name]) => (values[name] ?? null) !== null)
      .map(([name, , tone]) => {
        const level = values[name] + (stack ? base : 0);
        base = level;
        return svg("circle", { class: `mark tone-${tone}`, cx: x(at), cy: y(level), r: 3.5 });
      });
    return [
      svg("line", { class: "cursor", x1: x(at), x2: x(at), y1: MARGIN.top, y2: this.#size.height - MARGIN.bottom }),
      marks,
    ];
  }

  /** The legend has the values of the cursor's time, or the newest ones. */
  #readOut() {
    const { time } = this.#cursor;
    const point = this.#points.length
      ? this.#points[time === null ? this.#points.length - 1 : this.#nearest(time)]
      : null;
    for (const [name, value] of this.values) value.textContent = measured(point?.values[name], this.#plan.unit);
    this.at.textContent = time === null || !point ? "" : clock(point.at);
    if (document.activeElement !== this.stage) this.#speak();
  }
}

// Makes the page's elements. All text becomes text nodes, so nothing that a server or a client has sent can become
// markup.

const SVG = "http://www.w3.org/2000/svg";

/**
 * Makes an element. A property that begins with "on" is a listener, `class` and names with a hyphen are attributes, and
 * all others are set as they are. Children are elements, texts, or lists of them; null and false are left out.
 */
export function el(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "class" || key === "for" || key === "role" || key.includes("-")) element.setAttribute(key, value);
    else element[key] = value;
  }
  element.append(...nodes(children));
  return element;
}

/** Makes an element of SVG with attributes. */
export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...nodes(children));
  return element;
}

/** Replaces everything in an element. */
export function fill(element, ...children) {
  element.replaceChildren(...nodes(children));
  return element;
}

const CONTROLS = "button, a[href], select, input, textarea, summary";
/** What a person or a screen reader calls a control. */
const nameOf = (control) =>
  (control.getAttribute("aria-label") || control.labels?.[0]?.textContent || control.textContent).trim();
/** The name of the control of a place that had the focus, until a control with this name is there again. */
const lastNames = new WeakMap();

/**
 * Replaces everything in an element, and keeps the focus there: on the control with the same name, or on the element
 * itself. So a page of a list that is replaced does not send a keyboard back to the top.
 */
export function refill(element, ...children) {
  const { activeElement } = document;
  const hadFocus = element.contains(activeElement);
  if (hadFocus && activeElement !== element) lastNames.set(element, nameOf(activeElement));
  fill(element, ...children);
  if (!hadFocus) return element;
  const name = lastNames.get(element);
  const same = [...element.querySelectorAll(CONTROLS)].find((one) => !one.disabled && nameOf(one) === name);
  if (!same) element.tabIndex = -1;
  (same ?? element).focus({ preventScroll: true });
  return element;
}

const nodes = (children) =>
  children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false && child !== "");

const PATHS = {
  check: "m5 12.5 4.5 4.5L19 7.5",
  cross: "m6 6 12 12M18 6 6 18",
  dash: "M6 12h12",
  warn: "M12 4 2.8 20h18.4L12 4Zm0 6v4.5m0 2.6v.1",
  info: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18Zm0 8v5m0-8.2v.1",
  key: "M8 3.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9Zm3.2 7.7L20 20m-4-4 2.5-2.5M18 18l2-2",
};

/** A drawing beside a text that says the same. */
export const icon = (name) =>
  svg("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: PATHS[name] }));

/** A button that does something. `label` is for screen readers, if the text alone says too little. */
export const button = (text, act, { kind = "small", label = null } = {}) =>
  el("button", { class: `button ${kind}`, type: "button", "aria-label": label, onclick: act }, text);

/** Something to open, whose content is made when it is opened for the first time: most of them never are. */
export function folded(summary, content, properties = {}) {
  const details = el("details", properties, summary);
  const make = () => details.open && details.children.length === 1 && details.append(...nodes([content()]));
  details.addEventListener("toggle", make);
  return details;
}

let lastID = 0;

/** A labelled input, select or textarea. Returns the wrapper; the control is its `control`. */
export function field(label, control, hint = null) {
  control.id ||= `field-${++lastID}`;
  const note = hint && el("p", { class: "hint", id: `${control.id}-hint` }, hint);
  if (note) control.setAttribute("aria-describedby", note.id);
  const wrapper = el("div", { class: "field" }, el("label", { for: control.id }, label), control, note);
  wrapper.control = control;
  return wrapper;
}

/** A coloured strip with a sentence, for a state or an error. */
export function banner(tone, ...children) {
  const drawing = { good: "check", warn: "warn", bad: "warn" }[tone] ?? "info";
  return el("div", { class: `banner ${tone}` }, icon(drawing), el("div", {}, ...children));
}

/** Names with their values; entries without a value are left out. */
export function facts(entries) {
  const shown = entries.filter(([, value]) => ![null, undefined, false, ""].includes(value));
  return el(
    "dl",
    { class: "facts" },
    shown.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]),
  );
}

/** A list of parts stays one part of the card. */
const content = (cell) => (Array.isArray(cell) && nodes(cell).length ? el("div", {}, cell) : cell);

/**
 * A table that becomes cards on a phone. `columns` are `[title, class]`; a cell is a text, an element or a list.
 * The explicit roles keep the table a table for screen readers when its rows are shown as cards.
 */
export function table(label, columns, rows) {
  const heads = columns.map(([title, kind]) => el("th", { scope: "col", role: "columnheader", class: kind }, title));
  return el(
    "table",
    { class: "cards", role: "table", "aria-label": label },
    el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, heads)),
    el(
      "tbody",
      { role: "rowgroup" },
      rows.map((cells) =>
        el(
          "tr",
          { role: "row" },
          cells.map((cell, index) =>
            el("td", { role: "cell", class: columns[index][1], "data-label": columns[index][0] }, content(cell)),
          ),
        ),
      ),
    ),
  );
}

const spoken = () => document.getElementById("spoken");
let mayTell = false;

/**
 * Whether an operator is there to be told something. Answers may come after the end of a session: then nothing of them
 * is said or shown.
 */
export function setMayTell(may) {
  mayTell = may;
  spoken().textContent = "";
}

export const canTell = () => mayTell;

/** Lets a screen reader say a sentence. */
export function say(text) {
  if (mayTell) spoken().textContent = text;
}

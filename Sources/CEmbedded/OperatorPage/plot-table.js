// The values of a plot as a table, for those who cannot see the plot or want the numbers.

import { openDialog } from "./dialogs.js";
import { el, table } from "./dom.js";
import { measured, shortClock } from "./format.js";
import { STEP_SECONDS } from "./live.js";

/** Shows one row for each minute, the newest first: the mean of a rate, and the largest of every other value. */
export function showTable(plan, points) {
  const { title, unit, unitText, series } = plan;
  const minutes = new Map();
  for (const point of points) {
    const minute = Math.floor(point.at / 60) * 60;
    minutes.set(minute, [...(minutes.get(minute) ?? []), point]);
  }
  const rows = [...minutes]
    .reverse()
    .map(([minute, within]) => [
      shortClock(minute),
      ...series.map(([name]) => measured(combined(within, name, unit), unit)),
    ]);
  const columns = [["Minute"], ...series.map(([, label]) => [label, "number"])];
  // A time within which a share of the licenses was given has no sum: the table has the worst step.
  const kind = unit === "per_second" ? "Mean" : `Largest value of a step of ${STEP_SECONDS} s, in`;
  const caption = `${kind}${unit === "per_second" ? " of" : ""} each minute${unitText ? `, ${unitText}` : ""}.`;
  openDialog(title, { isWide: true }, () => [
    el("p", { class: "hint" }, rows.length ? caption : "Nothing was measured yet."),
    rows.length > 0 &&
      el(
        "div",
        { class: "scroll", tabIndex: 0, role: "region", "aria-label": `Values of ${title}` },
        table(title, columns, rows),
      ),
  ]);
}

function combined(points, name, unit) {
  const values = points.map(({ values }) => values[name]).filter((value) => value !== null && value !== undefined);
  if (!values.length) return null;
  return unit === "per_second" ? values.reduce((sum, value) => sum + value, 0) / values.length : Math.max(...values);
}

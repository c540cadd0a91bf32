// Round values for the axes of plots.

const STEPS = [1, 2, 2.5, 5, 10];
const BYTE_STEPS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/** The least top that would make a plot of nothing look busy. */
const LEAST_TOP = { per_second: 1, seconds: 0.01, share: 0.1, bytes: 1 << 20, count: 4 };

/** The ticks from 0 to a round value that is at least `maximum`: three or four of them. */
export function ticks(maximum, unit) {
  const top = Math.max(maximum, LEAST_TOP[unit] ?? 1);
  const step = unit === "bytes" ? byteStep(top / 3) : roundStep(top / 3, unit === "count");
  const count = Math.ceil(top / step - 1e-9);
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}

/** The ticks of an axis of ratios: powers of ten around the values, at least two steps. */
export function decades(least, most) {
  const first = Math.floor(Math.log10(least));
  const last = Math.max(first + 2, Math.ceil(Math.log10(most) - 1e-9));
  return Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index));
}

function roundStep(least, isWhole) {
  const power = 10 ** Math.floor(Math.log10(least));
  const step = STEPS.find((one) => one * power >= least * (1 - 1e-9)) * power;
  return isWhole ? Math.max(1, Math.ceil(step)) : step;
}

function byteStep(least) {
  const power = 1024 ** Math.floor(Math.log2(least) / 10);
  return BYTE_STEPS.find((one) => one * power >= least) * power;
}

const TIME_STEPS = [60, 120, 300, 900];

/** Round times within a range, for the axis of time: at most five. */
export function timeTicks(begin, end, zoneOffsetSeconds) {
  const step = TIME_STEPS.find((one) => (end - begin) / one <= 5) ?? TIME_STEPS.at(-1);
  const first = Math.ceil((begin + zoneOffsetSeconds) / step) * step - zoneOffsetSeconds;
  const times = [];
  for (let time = first; time <= end; time += step) times.push(time);
  return times;
}

"""The table and the plots of a standard set of loads (`standard_load.py`)."""

import json
import math
from html import escape
from pathlib import Path

import load_goals

WIDTH, HEIGHT, MARGIN = 640, 360, 60
# These can be seen on a light and on a dark page. The color of text depends on the page.
COLOURS = ("#3a82c8", "#d9662f", "#4a9c4e", "#9a6cc4")
TEXT, TEXT_IN_THE_DARK = "#24292f", "#e2e4e9"


def write(report: dict, folder: Path, earlier: dict | None = None) -> None:
    """Writes `report.json`, `report.md` and the plots. An earlier report adds its ratios to the table."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.json").write_text(json.dumps(report, indent=2) + "\n")
    tables = table(report) + "\n" + load_goals.table(report)
    if earlier is not None:
        tables += "\n" + comparison(report, earlier)
    (folder / "report.md").write_text(tables)
    write_plot(folder, "throughput", throughput_plot(report))
    write_plot(folder, "latency", latency_plot(report))
    write_plot(folder, "cost", cost_plot(report))


# --- Tables -----------------------------------------------------------------------------------------------------------


def capacity(report: dict) -> float:
    """The licenses per second of the first row, which is the closed loop of version 1."""
    return report["rows"][0]["rate"]


def rsa_microseconds(report: dict, row: dict) -> float:
    """The time of the row's RSA operation in `openssl speed`."""
    return 1e6 / report["opensslPerSecond"]["2048" if row["name"].startswith("v2") else "1024"]


def ratios(report: dict, row: dict) -> dict[str, float]:
    """The figures of a row that do not depend on the speed of the machine."""
    return {
        "of capacity": row["rate"] / capacity(report),
        "RSA share": rsa_microseconds(report, row) / row["daemon_cpu"] if row["daemon_cpu"] else math.nan,
        "p99 x capacity": row["p99"] * capacity(report) / 1e6,
    }


def table(report: dict) -> str:
    speeds = report["opensslPerSecond"]
    lines = [
        f"`openssl speed` on one core: {speeds['1024']:.0f} RSA operations per second with 1024 bits, "
        f"{speeds['2048']:.0f} with 2048 bits. Each load took {report['seconds']} s, {report['rounds']} times. "
        f"The accelerator was {'on' if report.get('accelerator') else 'off'}.",
        "",
        "| load | licenses/s | of capacity | p50 ms | p99 ms | refused | unsent | daemon CPU µs | RSA share | generator |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in report["rows"]:
        own = ratios(report, row)
        lines.append(
            f"| {row['name']} | {row['rate']:.0f} | {own['of capacity']:.2f} | {row['p50'] / 1000:.2f} "
            f"| {row['p99'] / 1000:.2f} | {row['refused']} | {row['unsent']} | {row['daemon_cpu']:.0f} "
            f"| {own['RSA share']:.2f} | {row['generator_share']:.2f} |"
        )
    lines += [
        "",
        "- of capacity: licenses per second, compared with the closed loop of version 1.",
        "- daemon CPU: processor time of the daemon for each license. RSA share: the part of it that `openssl speed` needs",
        "  for the RSA operation alone.",
        "- generator: processor time of `latchkey bench`, as a share of the measured time. Near 1, it was the limit.",
        "- unsent: requests that were due and found no free connection. Their latency is missing in the percentiles.",
        "",
        cold_devices(report.get("coldDevices")),
        "",
        memory(report["memory"], report["allocations"]),
    ]
    return "\n".join(lines) + "\n"


def cold_devices(cold: dict | None) -> str:
    kind = "Cold devices (a new TLS connection and a new token for each, three keys of version 2 in one request)"
    if cold is None:
        return f"{kind}: no rate kept the 99th percentile under its limit."
    return (
        f"{kind}: {cold['offered']} a second is the highest rate that kept the 99th percentile under 250 ms for "
        f"{cold['seconds']} s without an error (it was {cold['p99'] / 1000:.1f} ms). 1,000 devices cost "
        f"{cold['cost']:.2f} s of the daemon's processor time."
    )


def memory(memory: dict, allocations: dict) -> str:
    return (
        f"Resident memory: {memory['idle'] / 1e6:.1f} MB idle, {memory['after'] / 1e6:.1f} MB after "
        f"{memory['licenses']:,} licenses. Heap allocations for each license: {allocations['loops']:.0f} on the loops, "
        f"{allocations['others']:.0f} on other threads."
    )


def comparison(report: dict, earlier: dict) -> str:
    """Each ratio of this report, divided by the same ratio of the earlier one. Missing rows are left out."""
    before = {row["name"]: row for row in earlier["rows"]}
    lines = [
        "This report compared with the earlier one. 1.00 is no change; each figure is a ratio within its own run.",
        "",
        "| load | of capacity | RSA share | p99 x capacity |",
        "|---|---|---|---|",
        f"| capacity / RSA operations of one core | {_against(report, earlier):.2f} | | |",
    ]
    for row in report["rows"]:
        if row["name"] not in before:
            continue
        old = ratios(earlier, before[row["name"]])
        cells = (f"{value / old[name]:.2f}" if old[name] else "-" for name, value in ratios(report, row).items())
        lines.append(f"| {row['name']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _against(report: dict, earlier: dict) -> float:
    def share(one: dict) -> float:
        return capacity(one) / one["opensslPerSecond"]["1024"]

    return share(report) / share(earlier)


# --- Plots ------------------------------------------------------------------------------------------------------------


def write_plot(folder: Path, name: str, plot: str) -> None:
    """Writes a plot for a light page, and one for a dark page. Their background is transparent."""
    (folder / f"{name}.svg").write_text(plot)
    (folder / f"{name}-dark.svg").write_text(plot.replace(f'fill="{TEXT}"', f'fill="{TEXT_IN_THE_DARK}"', 1))


def svg(title: str, parts: list[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12"'
        f' fill="{TEXT}">{text(WIDTH / 2, 20, title, "middle")}' + "".join(parts) + "</svg>\n"
    )


def text(x: float, y: float, text: str, anchor: str = "end") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, colour: str = "#808080") -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-opacity="0.4"/>'


def _offered(report: dict) -> list[dict]:
    return sorted((row for row in report["rows"] if row["offered"] is not None), key=lambda row: row["offered"])


def _curve(points: list[tuple[float, float]], ticks: list[tuple[float, str]], title: str) -> str:
    """A curve over the offered load. Points and ticks have heights from 0 to 1."""
    longest = max(x for x, _ in points)

    def place(x: float, y: float) -> tuple[float, float]:
        return (
            MARGIN + x / longest * (WIDTH - 2 * MARGIN),
            HEIGHT - MARGIN - y * (HEIGHT - 2 * MARGIN),
        )

    parts = []
    for height, label in ticks:
        x, y = place(0, height)
        parts += [line(x, y, WIDTH - MARGIN, y), text(x - 6, y + 4, label)]
    for x, _ in points:
        parts.append(text(place(x, 0)[0], HEIGHT - MARGIN + 18, f"{x:.1f}", "middle"))
    parts.append(text(WIDTH / 2, HEIGHT - 16, "offered load / capacity in a closed loop", "middle"))
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in points))
    parts.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[0]}" stroke-width="2"/>')
    for point in points:
        x, y = place(*point)
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{COLOURS[0]}"/>')
    return svg(title, parts)


def throughput_plot(report: dict) -> str:
    rows = _offered(report)
    top = max(1.2, *(row["rate"] / capacity(report) for row in rows))
    points = [(row["offered"], row["rate"] / capacity(report) / top) for row in rows]
    ticks = [(share / top, f"{share:.1f}") for share in (0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2)]
    return _curve(points, ticks, "Licenses per second / capacity")


def latency_plot(report: dict) -> str:
    """The 99th percentile, on a logarithmic scale of whole powers of ten."""
    rows = _offered(report)
    powers = [math.log10(max(row["p99"], 1) / 1000) for row in rows]
    low, high = math.floor(min(powers)), max(math.ceil(max(powers)), math.floor(min(powers)) + 1)
    points = [(row["offered"], (power - low) / (high - low)) for row, power in zip(rows, powers)]
    ticks = [((power - low) / (high - low), f"{10.0 ** power:g} ms") for power in range(low, high + 1)]
    return _curve(points, ticks, "99th percentile of the latency, from the time at which a request was due")


def costs(report: dict) -> list[tuple[str, list[tuple[str, float]]]]:
    """The daemon's processor time for each license by part, in microseconds. A part is never less than 0."""
    rows = {row["name"]: row for row in report["rows"]}
    bars = []
    plain = rows["v1, closed loop"]["daemon_cpu"]
    keep_alive = rows["v1, TLS, keep-alive"]["daemon_cpu"]
    for name in ("v1, closed loop", "v2, closed loop", "v1, TLS, keep-alive", "v1, TLS, new connections"):
        cpu, rsa = rows[name]["daemon_cpu"], rsa_microseconds(report, rows[name])
        records = max(0, keep_alive - plain) if "TLS" in name else 0
        handshake = max(0, cpu - keep_alive) if "new" in name else 0
        rest = max(0, cpu - rsa - records - handshake)
        parts = [("RSA", rsa), ("other work", rest), ("TLS records", records), ("new connection", handshake)]
        bars.append((name, parts))
    return bars


def cost_plot(report: dict) -> str:
    bars = costs(report)
    longest = max(sum(value for _, value in parts) for _, parts in bars) or 1
    left, parts = 190, []
    for index, (name, values) in enumerate(bars):
        y, x = 50 + index * 56, float(left)
        parts.append(text(left - 8, y + 20, name))
        for (_, value), colour in zip(values, COLOURS):
            width = value / longest * (WIDTH - left - 90)
            parts.append(f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="32" fill="{colour}"/>')
            x += width
        parts.append(text(x + 6, y + 20, f"{sum(value for _, value in values):.0f} µs", "start"))
    for index, ((name, _), colour) in enumerate(zip(bars[0][1], COLOURS)):
        x = left + index * 110
        parts.append(f'<rect x="{x}" y="{HEIGHT - 50}" width="12" height="12" fill="{colour}"/>')
        parts.append(text(x + 18, HEIGHT - 40, name, "start"))
    return svg("Processor time of the daemon for each license", parts)

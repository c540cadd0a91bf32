"""The tables and plots of a capacity measurement (`capacity.py`)."""

import json
import math
from pathlib import Path

from load_report import COLOURS, HEIGHT, MARGIN, WIDTH, line, svg, text, write_plot

# The planned use of the processors. The rest is a reserve for peaks. It is chosen, not measured.
USE = 0.7
NODES = (1, 2, 3, 4)
CORES = (2, 4, 8)


def write(report: dict, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "capacity.json").write_text(json.dumps(report, indent=2) + "\n")
    (folder / "capacity.md").write_text(tables(report))
    write_plot(folder, "capacity-cost", cost_plot(report))
    write_plot(folder, "capacity-nodes", nodes_plot(report))


# --- The model --------------------------------------------------------------------------------------------------------


def operation(report: dict, name: str) -> float:
    """The microseconds of the kind's RSA operation in `openssl speed`."""
    return report["opensslMicroseconds"]["2048" if name.startswith("v2") else "1024"]


def parts(report: dict) -> dict[str, float]:
    """What is added to the cost of a license with SPC version 1, in microseconds."""
    kinds, nodes = report["kinds"], report["nodes"]
    return {
        "SPC version 2": kinds["v2"] - kinds["v1"],
        "a new token, ES256": kinds["v1, new ES256 token"] - kinds["v1"],
        "a new token, EdDSA": kinds["v1, new EdDSA token"] - kinds["v1"],
        "a new token, RS256": kinds["v1, new RS256 token"] - kinds["v1"],
        "a new token, HS256": kinds["v1, new HS256 token"] - kinds["v1"],
        "a new connection without TLS": kinds["v1, new connection"] - kinds["v1"],
        "TLS on a connection that stays open": kinds["v1, TLS"] - kinds["v1"],
        "a new connection with TLS": kinds["v1, TLS, new connection"] - kinds["v1"],
        "keys and ledger in PostgreSQL": nodes["v1"] - kinds["v1"],
    }


def capacity(cost: float, nodes: int, cores: int, use: float = USE) -> float:
    """Licenses per second for a cost in microseconds."""
    return nodes * cores * use / cost * 1e6


def predicted(report: dict) -> float:
    """The licenses per second that the model says for the check: one processor, fully used, and as many licenses of
    version 1 as of version 2."""
    return capacity((report["nodes"]["v1"] + report["nodes"]["v2"]) / 2, nodes=1, cores=1, use=1)


def examples(report: dict) -> dict[str, float]:
    """The costs of three kinds of licenses that operators plan for, in microseconds."""
    base, added = report["nodes"]["v1"], parts(report)
    return {
        "a renewal or a further key: v1, known token, open TLS connection": base
        + added["TLS on a connection that stays open"],
        "a new viewer: v1, new ES256 token, new TLS connection": base
        + added["a new token, ES256"]
        + added["a new connection with TLS"],
        "the same with SPC version 2": base
        + added["SPC version 2"]
        + added["a new token, ES256"]
        + added["a new connection with TLS"],
    }


# --- Tables -----------------------------------------------------------------------------------------------------------


def tables(report: dict) -> str:
    speeds = report["opensslMicroseconds"]
    backend = "the accelerator" if report["accelerator"] else "OpenSSL"
    base = report["kinds"]["v1"]
    lines = [
        f"RSA by {backend}. In `openssl speed`, an RSA operation takes {speeds['1024']:.0f} µs with 1024 bits and "
        f"{speeds['2048']:.0f} µs with 2048 bits on the same processor.",
        "",
        "| part of a license | processor time in µs | as a multiple of RSA-1024 |",
        "|---|---|---|",
        f"| SPC version 1, known token, open connection, SQLite | {base:.0f} | {base / speeds['1024']:.2f} |",
    ]
    lines += [
        f"| + {name} | {value:.0f} | {value / speeds['1024']:.2f} |" for name, value in parts(report).items()
    ]
    lines += [
        f"| PostgreSQL itself | {report['nodes']['database']:.0f} "
        f"| {report['nodes']['database'] / speeds['1024']:.2f} |",
        "",
        f"Licenses per second at {USE:.0%} use of the processors, with keys and ledger in PostgreSQL:",
        "",
        "| licenses | µs each | " + " | ".join(f"{nodes} x {cores} cores" for nodes in (1, 2, 4) for cores in (2, 8)) + " |",
        "|---|---|" + "---|" * 6,
    ]
    for name, cost in examples(report).items():
        cells = (f"{capacity(cost, nodes, cores):,.0f}" for nodes in (1, 2, 4) for cores in (2, 8))
        lines.append(f"| {name} | {cost:.0f} | {' | '.join(cells)} |")
    measured, said = report["nodes"]["rate"], predicted(report)
    lines += [
        "",
        f"Check: two nodes on one PostgreSQL share one processor, with as many licenses of version 1 as of version 2. The "
        f"model says {said:,.0f} licenses per second, measured were {measured:,.0f}: {measured / said:.2f} of it.",
    ]
    return "\n".join(lines) + "\n"


# --- Plots ------------------------------------------------------------------------------------------------------------


def cost_plot(report: dict) -> str:
    """A bar for each kind: the RSA operation of `openssl speed`, the rest of the first kind, and what the kind adds."""
    rows = [(name, cost, operation(report, name)) for name, cost in report["kinds"].items()]
    longest = max(cost for _, cost, _ in rows)
    rest = max(0, report["kinds"]["v1"] - operation(report, "v1"))
    left, height, drawn = 190, (HEIGHT - 100) / len(rows), []
    for index, (name, cost, rsa) in enumerate(rows):
        y, x = 36 + index * height, float(left)
        drawn.append(text(left - 8, y + height / 2, name))
        rsa = min(rsa, cost)
        own = min(rest, cost - rsa)
        for value, colour in zip((rsa, own, cost - rsa - own), COLOURS):
            width = value / longest * (WIDTH - left - 80)
            drawn.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height - 8:.1f}" fill="{colour}"/>')
            x += width
        drawn.append(text(x + 6, y + height / 2, f"{cost:.0f} µs", "start"))
    for index, (name, colour) in enumerate(zip(("one RSA operation", "other work", "what the kind adds"), COLOURS)):
        x = left + index * 145
        drawn.append(f'<rect x="{x}" y="{HEIGHT - 40}" width="12" height="12" fill="{colour}"/>')
        drawn.append(text(x + 18, HEIGHT - 30, name, "start"))
    return svg("Processor time of the daemon for each license", drawn)


def round_ticks(highest: float) -> list[int]:
    """From 0 to the first round number that is not below the highest value, in at most six steps."""
    power = 10 ** max(0, math.floor(math.log10(highest)) - 1)
    step = next(factor * power for factor in (1, 2, 5, 10, 20) if factor * power * 6 >= highest)
    return list(range(0, math.ceil(highest / step) * step + 1, step))


def nodes_plot(report: dict) -> str:
    """The licenses per second of new viewers over the number of nodes, for several numbers of cores."""
    cost = examples(report)["a new viewer: v1, new ES256 token, new TLS connection"]
    ticks = round_ticks(capacity(cost, NODES[-1], CORES[-1]))
    top = ticks[-1]

    def place(nodes: int, rate: float) -> tuple[float, float]:
        share = (nodes - NODES[0]) / (NODES[-1] - NODES[0])
        return MARGIN + share * (WIDTH - 2.6 * MARGIN), HEIGHT - MARGIN - rate / top * (HEIGHT - 2 * MARGIN)

    drawn = []
    for tick in ticks:
        x, y = place(NODES[0], tick)
        drawn += [line(x, y, WIDTH - MARGIN, y), text(x - 6, y + 4, f"{tick:,}")]
    for nodes in NODES:
        drawn.append(text(place(nodes, 0)[0], HEIGHT - MARGIN + 18, str(nodes), "middle"))
    drawn.append(text(WIDTH / 2, HEIGHT - 16, "nodes", "middle"))
    for cores, colour in zip(CORES, COLOURS):
        points = [place(nodes, capacity(cost, nodes, cores)) for nodes in NODES]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        drawn.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        drawn += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in points]
        drawn.append(text(points[-1][0] + 8, points[-1][1] + 4, f"{cores} cores", "start"))
    return svg(f"New viewers per second at {USE:.0%} use: SPC version 1, new token, new TLS connection", drawn)

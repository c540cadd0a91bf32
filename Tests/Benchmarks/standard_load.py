"""The standard set of loads on one machine: a real daemon, `latchkey bench`, and `openssl speed` in the same run.

    standard_load.py --bin DIR [--short] [--accelerator LIBRARY] [--output FOLDER] [--compare EARLIER.json]

Writes `report.json`, `report.md` with the goals, and three plots (SVG) to the folder. Speeds of a shared machine change from minute to
minute, so every figure is also given as a ratio to others of the same run: to the capacity in a closed loop, and to the
RSA operations of `openssl speed`. With --compare, the ratios are compared with those of an earlier report.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import load_report
from load_daemon import Daemon, Plan, Programs, accelerated, add_tls, openssl_speed, resident_bytes, running

FORMAT = "latchkey-standard-load-1"
OFFERED = (0.3, 0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2)


# A cold device asks for three keys of a film at once.
COLD_CONTENT = "film"
COLD_TRACKS = ("AUDIO", "SD", "HD")
COLD_P99_MILLISECONDS = 250
COLD_SHARES = [share / 100 for share in range(100, 25, -5)]

# The memory of a daemon is read at rest, and then after so many licenses, which are made and sent in parts.
LICENSES = {True: 50_000, False: 1_000_000}
LICENSES_OF_A_PART = 250_000
REST_SECONDS = 2
# Allocations are counted after the first licenses, which fill caches.
COUNTED_LICENSES = 20_000

SHORT = Plan(seconds=2, rounds=1, openssl_seconds=1)
FULL = Plan(seconds=10, rounds=3, openssl_seconds=5)


@dataclass(frozen=True)
class Row:
    """One load: medians of its rounds. Times are in microseconds."""

    name: str
    rate: float
    p50: float
    p99: float
    refused: int
    unsent: int
    daemon_cpu: float
    """Processor time of the daemon for each license."""
    generator_share: float
    """Processor time of the generator as a share of the measured time. Near 1, the generator is the limit."""
    offered: float | None = None
    """The offered load as a multiple of the capacity, for loads at a fixed rate."""


def row(name: str, target: Daemon, plan: Plan, *arguments: object, offered: float | None = None) -> Row:
    """Runs a load in several rounds, and prints its line."""
    runs = [target.bench("--seconds", plan.seconds, *arguments) for _ in range(plan.rounds)]
    reports = [report for report, _ in runs]

    def median(values: Iterable[float]) -> float:
        return statistics.median(values)

    made = Row(
        name=name,
        rate=median(report["licenses"] * 1000 / report["milliseconds"] for report in reports),
        p50=median(report["latencyMicroseconds"]["p50"] for report in reports),
        p99=median(report["latencyMicroseconds"]["p99"] for report in reports),
        refused=sum(report["refused"] for report in reports),
        unsent=sum(report["unsent"] for report in reports),
        daemon_cpu=median(cpu * 1e6 for _, cpu in runs),
        generator_share=median(report["generatorMilliseconds"] / report["milliseconds"] for report in reports),
        offered=offered,
    )
    print(f"{name:36} {made.rate:9.0f} licenses/s  p99 {made.p99 / 1000:8.2f} ms", flush=True)
    return made


def closed(name: str, target: Daemon, plan: Plan, *arguments: object) -> Row:
    """A closed loop, with enough SPCs for its time. A short load before it finds how many that are."""
    probe, _ = target.bench("--seconds", 1, "--count", 20_000, *arguments)
    rate = probe["licenses"] * 1000 / probe["milliseconds"]
    return row(name, target, plan, "--count", max(1000, int(rate * plan.seconds * 1.5)), *arguments)


@dataclass(frozen=True)
class ColdDevices:
    """The highest rate of new devices that keeps the limit of the latency. Each has a connection and a token that the
    daemon has not seen, and asks for three keys of version 2."""

    offered: int
    """Devices per second."""
    seconds: int
    p99: float
    """In microseconds."""
    cost: float
    """Seconds of the daemon's processor time for 1,000 devices."""


def cold_devices(target: Daemon, plan: Plan) -> ColdDevices | None:
    """Offers less and less, from the devices per second of a closed loop, until the latency keeps its limit.

    Returns None if it never does.
    """
    assets = target.create_tracks(COLD_CONTENT, COLD_TRACKS)

    def load(count: int, *arguments: object) -> tuple[dict, float]:
        words = ("--keys", len(COLD_TRACKS), "--spc-version", 2, "--new-connections", "--count", count, *arguments)
        tokens = target.mint(count, content=COLD_CONTENT)
        report, cpu = target.bench(*words, tokens=tokens, asset_id=f"@{assets}")
        return report, cpu * len(COLD_TRACKS) * 1000

    probe, _ = load(2_000, "--seconds", 60, "--connections", 64)
    capacity = probe["sent"] * 1000 / probe["milliseconds"]
    seconds = 60 if plan == FULL else plan.seconds
    for share in COLD_SHARES:
        rate = max(1, round(capacity * share))
        report, cost = load(rate * seconds, "--rate", rate, "--seconds", seconds, "--connections", 512)
        p99 = report["latencyMicroseconds"]["p99"]
        print(f"cold devices, {rate}/s offered: p99 {p99 / 1000:.2f} ms, {cost:.3f} s for 1,000 devices", flush=True)
        # What was due in the last moments may still wait for a connection. It has waited for less than the limit.
        is_whole = (
            report["licenses"] == report["sent"] * len(COLD_TRACKS)
            and report["unsent"] <= rate * COLD_P99_MILLISECONDS / 1000
        )
        if is_whole and p99 < COLD_P99_MILLISECONDS * 1000:
            return ColdDevices(offered=rate, seconds=seconds, p99=p99, cost=cost)
    return None


def licenses(target: Daemon, count: int) -> None:
    """Takes so many licenses, each for a new SPC."""
    report, _ = target.bench("--connections", 64, "--count", count, "--seconds", 3600)
    if report["licenses"] != count:
        sys.exit(f"standard_load: {report['licenses']} licenses of {count}")


def memory(programs: Programs, plan: Plan, accelerator: str | None) -> dict:
    """The resident size of a new daemon in bytes, and what it is right after many licenses."""
    total = LICENSES[plan == SHORT]
    with running(programs, accelerated(accelerator)) as target:
        # A daemon does some work after it is ready. There is no event for its end.
        time.sleep(REST_SECONDS)
        idle = resident_bytes(target.process.pid)
        for first in range(0, total, LICENSES_OF_A_PART):
            licenses(target, min(LICENSES_OF_A_PART, total - first))
        after = resident_bytes(target.process.pid)
    print(f"memory: {idle / 1e6:.1f} MB idle, {after / 1e6:.1f} MB after {total:,} licenses", flush=True)
    return {"idle": idle, "after": after, "licenses": total}


def allocations(programs: Programs, accelerator: str | None) -> dict:
    """The heap allocations for each license, on the loops and on all other threads of the daemon."""
    with tempfile.TemporaryDirectory(prefix="latchkey-load-") as folder:
        counts = Path(folder) / "counts"
        library = Path(folder) / "count_allocations.so"
        source = Path(__file__).with_name("count_allocations.c")
        compiler = next(filter(None, map(shutil.which, ("cc", "clang", "gcc"))), None)
        if compiler is None:
            sys.exit("standard_load: there is no C compiler: install clang or gcc")
        subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-Wall", "-Werror", "-o", library, source], check=True)
        environment = {"LD_PRELOAD": str(library), "LATCHKEY_ALLOCATION_COUNTS": str(counts)}

        def read() -> list[int]:
            content = counts.read_bytes()
            return [int.from_bytes(content[place : place + 8], sys.byteorder) for place in (0, 8)]

        with running(programs, accelerated(accelerator), environment) as target:
            licenses(target, COUNTED_LICENSES)
            before = read()
            licenses(target, COUNTED_LICENSES)
            loops, others = ((after - start) / COUNTED_LICENSES for start, after in zip(before, read()))
    print(f"heap allocations for each license: {loops:.1f} on the loops, {others:.1f} on other threads", flush=True)
    return {"loops": loops, "others": others}


def measure(programs: Programs, plan: Plan, accelerator: str | None) -> dict:
    openssl = {bits: openssl_speed(bits, plan.openssl_seconds) for bits in (1024, 2048)}
    openssl_on_all = openssl_speed(1024, plan.openssl_seconds, processes=os.cpu_count() or 1)
    rows: list[Row] = []
    with running(programs, accelerated(accelerator)) as plain:
        rows.append(closed("v1, closed loop", plain, plan, "--connections", 64))
        rows.append(closed("v2, closed loop", plain, plan, "--connections", 64, "--spc-version", 2))
        rows.append(closed("v1, one connection", plain, plan, "--connections", 1))
        for share in OFFERED:
            rate = max(1, round(rows[0].rate * share))
            name = f"v1, {share:.1f} of the capacity offered"
            rows.append(row(name, plain, plan, "--rate", rate, "--connections", 256, offered=share))
        rate = max(1, round(rows[0].rate * 0.7))
        rows.append(row("v1, 0.7, 64 connections", plain, plan, "--rate", rate, "--connections", 64))
        rows.append(closed("v1, new connections", plain, plan, "--connections", 64, "--new-connections"))
    if accelerator is not None:
        with running(programs) as slow:
            rows.append(closed("v1, one connection, accelerator off", slow, plan, "--connections", 1))
    with running(programs, accelerated(accelerator, add_tls)) as secure:
        rows.append(closed("v1, TLS, keep-alive", secure, plan, "--connections", 64))
        rows.append(closed("v1, TLS, HTTP/2", secure, plan, "--connections", 8, "--streams", 8, "--http2"))
        rows.append(closed("v1, TLS, new connections", secure, plan, "--connections", 64, "--new-connections"))
        cold = cold_devices(secure, plan)
    return {
        "format": FORMAT, "seconds": plan.seconds, "rounds": plan.rounds, "accelerator": accelerator is not None,
        "opensslPerSecond": {str(bits): rate for bits, rate in openssl.items()}, "opensslOnAllPerSecond": openssl_on_all,
        "rows": [asdict(row) for row in rows], "coldDevices": asdict(cold) if cold else None,
        "memory": memory(programs, plan, accelerator), "allocations": allocations(programs, accelerator),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="the folder of latchkey and latchkeyd")
    parser.add_argument("--short", action="store_true", help="shorter loads, for a first look: about four minutes")
    parser.add_argument("--output", type=Path, default=Path("load-report"), help="the folder of the report")
    parser.add_argument("--accelerator", help="the library crypto_mb; without it, OpenSSL computes RSA")
    parser.add_argument("--compare", type=Path, help="the report.json of an earlier run")
    arguments = parser.parse_args()
    earlier = json.loads(arguments.compare.read_text()) if arguments.compare else None
    if earlier is not None and earlier.get("format") != FORMAT:
        sys.exit(f"standard_load: {arguments.compare} is not a report of this script")
    report = measure(Programs(arguments.bin.resolve()), SHORT if arguments.short else FULL, arguments.accelerator)
    load_report.write(report, arguments.output, earlier)
    print((arguments.output / "report.md").read_text())


if __name__ == "__main__":
    main()

"""The latency that a daemon keeps under load and what a license costs it, for one build or two builds in turn.

    latency.py --bin DIR [--other DIR] [--rounds N] [--seconds N] [--only TEXT] [--accelerator LIBRARY] [--output FILE]

With --other, both builds run in turn, so that both meet the same moods of the machine. The medians of the ratios of
--bin to --other are printed in brackets. A probe asks `/livez` all the time, beside the load, as a health check
would. Another one asks an idle daemon beside the same load: this is the floor, what the machine itself takes.
"""

import argparse
import http.client
import json
import os
import statistics
import subprocess
import threading
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from load_daemon import Daemon, Programs, accelerated, add_tls, finish, running

CONNECTIONS = 64
# Between two questions, so that the probe itself is no load; in seconds.
PROBE_PAUSE = 0.004
PROBES_MINIMUM = 100


@dataclass(frozen=True)
class Load:
    """One load. `share` of the capacity is offered; without it, the load is a closed loop."""

    name: str
    version: int = 1
    share: float | None = None
    connections: int = CONNECTIONS
    is_secure: bool = False
    is_probed: bool = False
    further: tuple[str, ...] = ()


LOADS = (
    Load("v1, closed loop", is_probed=True),
    Load("v2, closed loop", version=2, is_probed=True),
    Load("v1, one connection", connections=1),
    Load("v2, one connection", version=2, connections=1),
    *(Load(f"v1, {share} of the capacity", share=share, connections=256) for share in (0.3, 0.5, 0.7)),
    Load("v1, TLS, closed loop", is_secure=True),
    Load("v1, TLS, new connections", is_secure=True, further=("--new-connections",)),
)


class Probe:
    """Asks for `/livez` on one connection until it is stopped."""

    def __init__(self, daemon: Daemon):
        address = urlsplit(daemon.url)
        self.times: list[float] = []
        self._ends = threading.Event()
        self._connection = http.client.HTTPConnection(address.hostname or "", address.port)
        self._thread = threading.Thread(target=self._ask)
        self._thread.start()

    def _ask(self) -> None:
        # What the probe itself waits for a processor does not count, as far as the system allows it.
        with suppress(PermissionError):
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        while not self._ends.wait(PROBE_PAUSE):
            start = time.monotonic()
            self._connection.request("GET", "/livez")
            answer = self._connection.getresponse()
            answer.read()
            assert answer.status == 200, answer.status
            self.times.append(time.monotonic() - start)

    def stop(self) -> dict[str, float]:
        """Ends the probe. Returns percentiles in microseconds."""
        self._ends.set()
        self._thread.join()
        assert len(self.times) >= PROBES_MINIMUM, "the load was too short for a percentile"
        percentiles = statistics.quantiles(self.times, n=100)
        return {"p50": percentiles[49] * 1e6, "p99": percentiles[98] * 1e6}


def measure(target: Daemon, idle: Daemon | None, load: Load, rate: float, seconds: int) -> dict[str, float]:
    """Runs a load. `rate` is what the load is expected to reach, or what is offered. If there is an idle daemon, the
    loaded one and the idle one are probed."""
    words: list[object] = ["--spc-version", load.version, "--connections", load.connections, "--seconds", seconds]
    if load.share is None:
        words += ["--count", max(1000, int(rate * seconds * 1.5))]
    else:
        words += ["--rate", max(1, round(rate * load.share))]
    before = target.cpu_seconds()
    with ExitStack() as stack:
        command = target.bench_command(*words, *load.further)
        process = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        probes = started_probes(process, target, idle)
        report = finish(process)
        found = {f"{name} {figure}": value for name, probe in probes.items() for figure, value in probe.stop().items()}
    return found | {
        "p50": report["latencyMicroseconds"]["p50"],
        "p99": report["latencyMicroseconds"]["p99"],
        "licenses/s": report["licenses"] * 1000 / report["milliseconds"],
        "CPU": (target.cpu_seconds() - before) / report["licenses"] * 1e6,
    }


def started_probes(process: subprocess.Popen[str], target: Daemon, idle: Daemon | None) -> dict[str, Probe]:
    """Starts probes once the load has begun: the generator makes its SPCs first."""
    if idle is None:
        return {}
    before = target.cpu_seconds()
    while target.cpu_seconds() - before < 0.1 and process.poll() is None:
        time.sleep(0.01)
    return {"probe": Probe(target), "floor": Probe(idle)}


def capacity(target: Daemon, load: Load) -> float:
    report, _ = target.bench(
        *("--spc-version", load.version, "--connections", load.connections, "--seconds", 2, "--count", 20_000),
        *load.further,
    )
    return report["licenses"] * 1000 / report["milliseconds"]


def compare(
    builds: dict[str, Programs], load: Load, rounds: int, seconds: int, accelerator: str | None
) -> dict[str, dict[str, float]]:
    """Runs a load in turn on a daemon of each build. Returns the medians by build, and those of the ratios of the
    pairs as "ratio"."""
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in builds}
    with ExitStack() as stack:
        prepare = accelerated(accelerator, *[add_tls] * load.is_secure)
        targets = {name: stack.enter_context(running(programs, prepare)) for name, programs in builds.items()}
        idle = stack.enter_context(running(builds["this"])) if load.is_probed else None
        # All are offered the same. The first load also fills the caches.
        rate = statistics.mean(capacity(target, LOADS[0] if load.share else load) for target in targets.values())
        for number in range(rounds):
            # Each build is the first one in every second round.
            for name in sorted(targets, reverse=number % 2 == 1):
                runs[name].append(measure(targets[name], idle, load, rate, seconds))
    if "other" in builds:
        pairs = zip(runs["this"], runs["other"])
        runs["ratio"] = [{figure: this[figure] / other[figure] for figure in this} for this, other in pairs]
    return {
        name: {figure: statistics.median(run[figure] for run in of) for figure in of[0]} for name, of in runs.items()
    }


def show(load: Load, medians: dict[str, dict[str, float]]) -> None:
    ratios = medians.get("ratio", {})
    cells = [
        f"{figure} {value:.0f}" + (f" ({ratios[figure]:.2f})" if ratios else "")
        for figure, value in medians["this"].items()
    ]
    print(f"{load.name:26} " + "  ".join(cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="the folder of latchkey and latchkeyd")
    parser.add_argument("--other", type=Path, help="the folder of the programs to compare with")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5, help="how long a load takes")
    parser.add_argument("--only", default="", help="the loads whose names contain this text")
    parser.add_argument("--accelerator", help="the library crypto_mb; without it, OpenSSL computes RSA")
    parser.add_argument("--output", type=Path, help="a file for all medians, in JSON")
    arguments = parser.parse_args()
    builds = {"this": Programs(arguments.bin.resolve())}
    if arguments.other is not None:
        builds["other"] = Programs(arguments.other.resolve())
    print("times in microseconds")
    found = {}
    for load in LOADS:
        if arguments.only not in load.name:
            continue
        medians = compare(builds, load, arguments.rounds, arguments.seconds, arguments.accelerator)
        found[load.name] = medians
        show(load, medians)
    if arguments.output is not None:
        arguments.output.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()

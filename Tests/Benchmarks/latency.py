"""The latency that a daemon keeps under load and what a license costs it, for one build or two builds in turn.

    latency.py --bin DIR [--other DIR] [--rounds N] [--seconds N] [--only TEXT] [--output FILE]

With --other, both builds run in turn, so that both meet the same moods of the machine, and the ratios of --bin to --other
are printed. A probe asks `/livez` all the time, beside the load, as a health check would.
"""

import argparse
import http.client
import json
import statistics
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from load_daemon import Daemon, Programs, add_tls, finish, running

CONNECTIONS = 64
# The probe is a player of its own, so it waits between its questions.
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
        while not self._ends.wait(PROBE_PAUSE):
            start = time.monotonic()
            self._connection.request("GET", "/livez")
            answer = self._connection.getresponse()
            answer.read()
            assert answer.status == 200, answer.status
            self.times.append(time.monotonic() - start)

    def stop(self) -> float:
        """Ends the probe. Returns the 99th percentile in microseconds."""
        self._ends.set()
        self._thread.join()
        assert len(self.times) >= PROBES_MINIMUM, "the load was too short for a percentile"
        return statistics.quantiles(self.times, n=100)[98] * 1e6


def measure(target: Daemon, load: Load, rate: float, seconds: int) -> dict[str, float]:
    """Runs a load. `rate` is what the load is expected to reach, or what is offered."""
    words: list[object] = ["--spc-version", load.version, "--connections", load.connections, "--seconds", seconds]
    if load.share is None:
        words += ["--count", max(1000, int(rate * seconds * 1.5))]
    else:
        words += ["--rate", max(1, round(rate * load.share))]
    before = target.cpu_seconds()
    with ExitStack() as stack:
        command = target.bench_command(*words, *load.further)
        process = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        probe = started_probe(target, process) if load.is_probed else None
        report = finish(process)
        found = {} if probe is None else {"probe p99": probe.stop()}
    return found | {
        "p50": report["latencyMicroseconds"]["p50"],
        "p99": report["latencyMicroseconds"]["p99"],
        "licenses/s": report["licenses"] * 1000 / report["milliseconds"],
        "CPU": (target.cpu_seconds() - before) / report["licenses"] * 1e6,
    }


def started_probe(target: Daemon, process: subprocess.Popen[str]) -> Probe:
    """Starts a probe once the load has begun: the generator makes its SPCs first."""
    idle = target.cpu_seconds()
    while target.cpu_seconds() - idle < 0.1 and process.poll() is None:
        time.sleep(0.01)
    return Probe(target)


def capacity(target: Daemon, load: Load) -> float:
    report, _ = target.bench(
        *("--spc-version", load.version, "--connections", load.connections, "--seconds", 2, "--count", 20_000),
        *load.further,
    )
    return report["licenses"] * 1000 / report["milliseconds"]


def compare(builds: dict[str, Programs], load: Load, rounds: int, seconds: int) -> dict[str, dict[str, float]]:
    """Runs a load in turn on new daemons of each build. Returns the medians by build."""
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in builds}
    rate = 0.0
    for number in range(rounds):
        # Each build is the first one in every second round.
        for name in sorted(builds, reverse=number % 2 == 1):
            with running(builds[name], add_tls if load.is_secure else None) as target:
                # All are offered the same.
                warm = capacity(target, load if load.share is None else LOADS[0])
                rate = rate or warm
                runs[name].append(measure(target, load, rate if load.share else warm, seconds))
    return {
        name: {figure: statistics.median(run[figure] for run in of) for figure in of[0]} for name, of in runs.items()
    }


def show(load: Load, medians: dict[str, dict[str, float]], ratio: Callable[[str], str]) -> None:
    figures = medians["this"]
    cells = [f"{figure} {value:.0f}{ratio(figure)}" for figure, value in figures.items()]
    print(f"{load.name:26} " + "  ".join(cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="the folder of latchkey and latchkeyd")
    parser.add_argument("--other", type=Path, help="the folder of the programs to compare with")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5, help="how long a load takes")
    parser.add_argument("--only", default="", help="the loads whose names contain this text")
    parser.add_argument("--output", type=Path, help="a file for all medians, in JSON")
    arguments = parser.parse_args()
    builds = {"this": Programs(arguments.bin.resolve())}
    if arguments.other is not None:
        builds["other"] = Programs(arguments.other.resolve())
    print("times in microseconds; in brackets the ratio to the other build")
    found = {}
    for load in LOADS:
        if arguments.only not in load.name:
            continue
        medians = compare(builds, load, arguments.rounds, arguments.seconds)
        found[load.name] = medians

        def ratio(figure: str, medians: dict[str, dict[str, float]] = medians) -> str:
            return f" ({medians['this'][figure] / medians['other'][figure]:.2f})" if "other" in medians else ""

        show(load, medians, ratio)
    if arguments.output is not None:
        arguments.output.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()

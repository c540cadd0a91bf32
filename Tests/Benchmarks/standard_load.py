"""The standard set of loads on one machine: a real daemon, `latchkey bench`, and `openssl speed` in the same run.

    standard_load.py --bin DIR [--short] [--output FOLDER] [--compare EARLIER.json]

Writes `report.json`, `report.md` and three plots (SVG) to the folder. Speeds of a shared machine change from minute to
minute, so every figure is also given as a ratio to others of the same run: to the capacity in a closed loop, and to the
RSA operations of `openssl speed`. With --compare, the ratios are compared with those of an earlier report.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import load_report

FORMAT = "latchkey-standard-load-1"
OFFERED = (0.3, 0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2)
SUBJECTS = 16
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Plan:
    seconds: int
    rounds: int
    openssl_seconds: int


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
    """Processor time of the daemon for each licence."""
    generator_share: float
    """Processor time of the generator as a share of the measured time. Near 1, the generator is the limit."""
    offered: float | None = None
    """The offered load as a multiple of the capacity, for loads at a fixed rate."""


class Daemon:
    """A daemon with a development set-up of its own, and tokens of several subjects."""

    def __init__(self, programs: Path, folder: Path, tls: bool):
        self.latchkey = programs / "latchkey"
        self.setup = folder / ("tls" if tls else "plain")
        self._run("init", self.setup)
        self.configuration = self.setup / "latchkey.json5"
        if tls:
            self._add_tls()
        self._run("keys", "create", "--config", self.configuration, "--content", "movie-1")
        mint = ("token", "mint", "--config", self.configuration, "--content", "movie-1", "--lease", "300", "--subject")
        tokens = [self._run(*mint, f"viewer-{number}") for number in range(SUBJECTS)]
        (self.setup / "tokens").write_text("".join(tokens))
        log = (self.setup / "daemon.log").open("wb")
        self.process = subprocess.Popen(
            [programs / "latchkeyd", "--config", self.configuration],
            stderr=log,
            env=os.environ | {"LATCHKEY_LISTEN": "127.0.0.1:0", "LATCHKEY_ADMIN_LISTEN": "127.0.0.1:0"},
        )
        self.url = f"{'https' if tls else 'http'}://{self._address()}"

    def _run(self, *arguments: object) -> str:
        return subprocess.run([self.latchkey, *arguments], check=True, capture_output=True, text=True).stdout

    def _add_tls(self) -> None:
        address = 'address: "127.0.0.1:8080"'
        text = self.configuration.read_text()
        if address not in text:
            raise SystemExit("the set-up has no public listener at 127.0.0.1:8080")
        tls = 'tls: { certificate: "tls/certificate.pem", privateKey: "tls/private-key.pem" }'
        self.configuration.write_text(text.replace(address, f"{address}, {tls}", 1))

    def _address(self) -> str:
        """Reads the log until the daemon is ready. Returns the address of the public listener."""
        with (self.setup / "daemon.log").open() as log:
            address, line = "", ""
            while self.process.poll() is None:
                line += log.readline()
                if not line.endswith("\n"):
                    continue
                entry, line = json.loads(line), ""
                if entry["event"] == "listening" and entry["listener"] == "public":
                    address = entry["address"]
                if entry["event"] == "ready":
                    return address
        raise SystemExit(f"the daemon did not start; its log is {self.setup / 'daemon.log'}")

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def bench(self, *arguments: object) -> tuple[dict, float]:
        """Runs a load. Returns its report, and the daemon's processor time for each licence in seconds."""
        fairplay = self.setup / "fairplay"
        words = ["bench", "--url", self.url, "--asset-id", "movie-1", "--token", f"@{self.setup / 'tokens'}",
                 "--certificate", fairplay / "bundle.bin",
                 "--application-secret", fairplay / "application-secret.hex", "--json", *map(str, arguments)]
        if self.url.startswith("https:"):
            words += ["--ca", self.setup / "tls" / "certificate.pem"]
        before = self.cpu_seconds()
        finished = subprocess.run([self.latchkey, *words], capture_output=True, text=True)
        if finished.returncode != 0:
            raise SystemExit(f"latchkey bench failed: {finished.stderr}")
        report = json.loads(finished.stdout)
        return report, (self.cpu_seconds() - before) / report["licenses"]

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


@contextmanager
def daemon(programs: Path, tls: bool = False) -> Iterator[Daemon]:
    with tempfile.TemporaryDirectory(prefix="latchkey-load-") as folder:
        running = Daemon(programs, Path(folder), tls)
        try:
            yield running
        finally:
            running.stop()


def row(name: str, target: Daemon, plan: Plan, *arguments: object, offered: float | None = None) -> Row:
    """Runs a load in several rounds, and prints its line."""
    runs = [target.bench("--seconds", plan.seconds, *arguments) for _ in range(plan.rounds)]
    reports = [report for report, _ in runs]

    def median(values: Iterator[float]) -> float:
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
    print(f"{name:36} {made.rate:9.0f} licences/s  p99 {made.p99 / 1000:8.2f} ms", flush=True)
    return made


def closed(name: str, target: Daemon, plan: Plan, *arguments: object) -> Row:
    """A closed loop, with enough SPCs for its time. A short load before it finds how many that are."""
    probe, _ = target.bench("--seconds", 1, "--count", 20_000, *arguments)
    rate = probe["licenses"] * 1000 / probe["milliseconds"]
    return row(name, target, plan, "--count", max(1000, int(rate * plan.seconds * 1.5)), *arguments)


def openssl_speed(bits: int, plan: Plan) -> float:
    """RSA private operations per second of one core."""
    command = ["openssl", "speed", "-seconds", str(plan.openssl_seconds), f"rsa{bits}"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    line = next(line for line in output.splitlines() if line.startswith(f"rsa {bits} bits"))
    return float(line.split()[-2])


def measure(programs: Path, plan: Plan) -> dict:
    openssl = {bits: openssl_speed(bits, plan) for bits in (1024, 2048)}
    rows: list[Row] = []
    with daemon(programs) as plain:
        rows.append(closed("v1, closed loop", plain, plan, "--connections", 64))
        rows.append(closed("v2, closed loop", plain, plan, "--connections", 64, "--spc-version", 2))
        for share in OFFERED:
            rate = max(1, round(rows[0].rate * share))
            name = f"v1, {share:.1f} of the capacity offered"
            rows.append(row(name, plain, plan, "--rate", rate, "--connections", 256, offered=share))
        rows.append(closed("v1, new connections", plain, plan, "--connections", 64, "--new-connections"))
    with daemon(programs, tls=True) as secure:
        rows.append(closed("v1, TLS, keep-alive", secure, plan, "--connections", 64))
        rows.append(closed("v1, TLS, HTTP/2", secure, plan, "--connections", 8, "--streams", 8, "--http2"))
        rows.append(closed("v1, TLS, new connections", secure, plan, "--connections", 64, "--new-connections"))
    return {
        "format": FORMAT, "seconds": plan.seconds, "rounds": plan.rounds,
        "opensslPerSecond": {str(bits): rate for bits, rate in openssl.items()},
        "rows": [asdict(row) for row in rows],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="the folder of latchkey and latchkeyd")
    parser.add_argument("--short", action="store_true", help="shorter loads, for a first look: about two minutes")
    parser.add_argument("--output", type=Path, default=Path("load-report"), help="the folder of the report")
    parser.add_argument("--compare", type=Path, help="the report.json of an earlier run")
    arguments = parser.parse_args()
    earlier = json.loads(arguments.compare.read_text()) if arguments.compare else None
    if earlier is not None and earlier.get("format") != FORMAT:
        sys.exit(f"standard_load: {arguments.compare} is not a report of this script")
    report = measure(arguments.bin.resolve(), SHORT if arguments.short else FULL)
    load_report.write(report, arguments.output, earlier)
    print((arguments.output / "report.md").read_text())


if __name__ == "__main__":
    main()

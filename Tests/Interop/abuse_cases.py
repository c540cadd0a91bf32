"""Runs the attacks of `resource_clients.py` and `slow_clients.py`, each on its own daemon, beside a well-behaved
client."""

import json
import os
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from deployment import run_latchkey
from own_daemon import OwnDaemon, running_daemon
from tls_material import make_pair

IS_LONG = os.environ.get("LATCHKEY_ABUSE") == "long"
MEBIBYTE = 1 << 20
BUDGET = 64 * MEBIBYTE
RESIDENT_MAXIMUM = 128 * MEBIBYTE + BUDGET
# After the attack, the daemon must give its memory back within `REST_SECONDS`, except for `REST_MAXIMUM` bytes.
REST_SECONDS = 30 if IS_LONG else 120
REST_MAXIMUM = 20 * MEBIBYTE
GOOD_PAUSE_SECONDS = 0.01
GOOD_TIMEOUT_SECONDS = 10 if IS_LONG else 60
P99_MAXIMUM = 0.02
ATTACK_SECONDS_MAXIMUM = 180
LOWEST_PRIORITY = 19
# The clients of an attack that has a rate must reach at least this share of the rate.
RATE_SHARE_MINIMUM = 0.95
REQUEST = b"GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"


# --- A good client ---------------------------------------------------------------------------------------------------


@dataclass
class Watch:
    """A well-behaved client with one connection for each request, which also measures the daemon's memory."""

    daemon: OwnDaemon
    is_tls: bool = False
    times: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    peak: int = 0
    _stop: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def running(self) -> Iterator[None]:
        threads = [threading.Thread(target=target) for target in (self._ask, self._measure)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stop.set()
            for thread in threads:
                thread.join()

    def quantile(self, share: float) -> float:
        return sorted(self.times)[int(len(self.times) * share)]

    def _ask(self) -> None:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        while not self._stop.is_set():
            start = time.perf_counter()
            try:
                with socket.create_connection(self.daemon.public, timeout=GOOD_TIMEOUT_SECONDS) as plain:
                    with context.wrap_socket(plain) if self.is_tls else plain as connection:
                        connection.sendall(REQUEST)
                        answer = b"".join(iter(lambda: connection.recv(4096), b""))
                assert answer.startswith(b"HTTP/1.1 200 "), answer
                self.times.append(time.perf_counter() - start)
            except (OSError, AssertionError) as error:
                self.failures.append(repr(error))
            self._stop.wait(GOOD_PAUSE_SECONDS)

    def _measure(self) -> None:
        while not self._stop.is_set():
            self.peak = max(self.peak, self.daemon.resident_bytes())
            self._stop.wait(0.1)


# --- Attacks ---------------------------------------------------------------------------------------------------------


REFUSED = 'latchkey_http_connections_refused_total{reason="%s"}'
ABUSED = 'latchkey_http_connections_abused_total{abuse="%s"}'
NO_ROOM = 'latchkey_memory_refused_total{share="%s"}'
NO_TOKEN = 'latchkey_licenses_refused_total{code="token_missing"}'
HANDSHAKE = 'latchkey_tls_handshakes_failed_total{reason="%s"}'
# The metrics that can say why connections and requests have ended.
FAMILIES = (
    "latchkey_http_connections_refused_total",
    "latchkey_http_connections_abused_total",
    "latchkey_tls_handshakes_failed_total",
    "latchkey_memory_refused_total",
    "latchkey_licenses_refused_total",
    "latchkey_http_inputs_refused_total",
)


@dataclass(frozen=True)
class Attack:
    """One attack, and what the daemon must count and end during it.

    `counted` has groups of metrics that count why the server ended or refused something. In each group, at least one
    metric must have counted.

    `ended_share` is the smallest share of the opened connections that the server must have ended. If `is_rate` is true,
    `count` is a rate per second.
    """

    kind: str
    short_count: int
    long_count: int
    addresses: int
    seconds: float
    counted: tuple[tuple[str, ...], ...]
    ended_share: float = 0
    program: str = "resource_clients.py"
    limits: tuple[tuple[str, object], ...] = ()
    is_tls: bool = False
    has_token: bool = False
    is_rate: bool = False
    # Another case shows nearly the same in less time.
    is_long_only: bool = False

    @property
    def count(self) -> int:
        return self.long_count if IS_LONG else self.short_count

    @property
    def name(self) -> str:
        rate = " a second" if self.is_rate else ""
        holder = " of a token holder" if self.has_token else ""
        tls = " over TLS" if self.is_tls else ""
        return f"{self.count} {self.kind}{rate}{holder}{tls} from {self.addresses}"


# Deadlines of one second are enough for a test. The default of 30 seconds would take too long.
QUICK = (("headDeadline", "1s"), ("bodyDeadline", "2s"), ("writeDeadline", "2s"))
# A connection whose requests were refused for lack of memory is idle afterwards, and the idle deadline ends it.
QUICK_IDLE = (*QUICK, ("idleDeadline", "2s"))
SLOW = "slow_clients.py"
_ALL = [
    # The heads are 6 kB on the wire and 1.6 MiB when decoded. Their bodies never come.
    Attack("heads", 100, 1000, 1, 5, ((NO_TOKEN,), (ABUSED % "slow_body",)), 0.5, is_long_only=True),
    Attack("heads", 100, 1000, 16, 5, ((NO_TOKEN,), (ABUSED % "slow_body",)), 0.5),
    Attack("heads", 100, 1000, 16, 3, ((REFUSED % "memory",), (NO_ROOM % "heads",)), 0.5, has_token=True),
    Attack("bodies", 100, 400, 1, 5, ((NO_TOKEN,), (ABUSED % "slow_body",)), 0.5, is_long_only=True),
    Attack("bodies", 100, 400, 16, 5, ((NO_TOKEN,), (ABUSED % "slow_body",)), 0.5),
    Attack(
        "bodies", 100, 400, 16, 4, ((NO_ROOM % "bodies",), (ABUSED % "slow_body",)), 0.5, limits=QUICK_IDLE,
        has_token=True,
    ),
    Attack("silent", 1200, 16_400, 16, 3, ((REFUSED % "evicted",),), 0.01),
    Attack("silent", 500, 10_000, 16, 12, ((REFUSED % "silent",),), 1),
    Attack("tls", 1200, 16_400, 16, 3, ((REFUSED % "evicted", REFUSED % "memory"),), 0.01),
    # The server waits for the rest of a TLS handshake as long as for a first byte.
    Attack("tls", 1200, 16_400, 16, 3, ((REFUSED % "evicted", REFUSED % "memory"),), 0.01, is_tls=True),
    Attack("tls", 500, 10_000, 16, 12, ((HANDSHAKE % "timeout",),), 1, is_tls=True, is_long_only=True),
    # Each connection sends 64 KiB of requests. The server holds the requests that wait as decoded heads.
    Attack("readers", 300, 1000, 16, 5, ((ABUSED % "slow_reading", REFUSED % "memory"),), 0.5, limits=QUICK),
    Attack("header", 100, 1000, 16, 4, ((ABUSED % "slow_head",),), 0.5, SLOW, QUICK),
    Attack("body", 100, 1000, 16, 4, ((NO_TOKEN,),), 0.5, SLOW, QUICK, is_long_only=True),
    Attack("body", 100, 1000, 16, 4, ((ABUSED % "slow_body",),), 0.5, SLOW, QUICK, has_token=True),
    Attack("read", 100, 1000, 16, 8, ((ABUSED % "slow_reading",),), 0.5, SLOW, QUICK, is_long_only=True),
    Attack("abort", 200, 2000, 16, 3, (), is_rate=True),
    Attack("handshakes", 200, 2000, 16, 3, ((HANDSHAKE % "closed",),), is_tls=True, is_rate=True),
]
ATTACKS = [case for case in _ALL if IS_LONG or not case.is_long_only]


@dataclass(frozen=True)
class Outcome:
    """What an attack has cost the daemon. Times are in seconds, sizes in bytes."""

    case: Attack
    watch: Watch
    tally: dict[str, int]
    start: int
    rest: int
    rests: bool
    counts: dict[str, float]

    @property
    def row(self) -> tuple[str, ...]:
        watch = self.watch
        reasons = ", ".join(f"{short(name)} {count:.0f}" for name, count in self.counts.items() if count)
        return (
            self.case.name,
            f"{watch.quantile(0.5) * 1e3:.2f}",
            f"{watch.quantile(0.99) * 1e3:.1f}",
            f"{len(watch.failures)} of {len(watch.failures) + len(watch.times)}",
            *(f"{size / MEBIBYTE:.0f}" for size in (self.start, watch.peak, self.rest)),
            f"{self.tally['ended']} of {self.tally['opened']}",
            reasons or "-",
        )

    def check(self) -> None:
        """Fails if the daemon was harmed, or if its metrics do not count what it has ended."""
        assert self.watch.failures == []
        assert self.watch.peak < RESIDENT_MAXIMUM
        assert self.rests, f"{self.rest} bytes stay"
        for names in self.case.counted:
            assert any(self.counts.get(name) for name in names), (names, self.counts)
        assert self.tally["ended"] >= self.case.ended_share * self.tally["opened"], self.tally
        if IS_LONG:
            if self.case.is_rate:
                assert self.tally["opened"] >= RATE_SHARE_MINIMUM * self.case.count * self.case.seconds, self.tally
            assert self.watch.quantile(0.99) < P99_MAXIMUM, self.row


HEADINGS = ("attack", "p50 ms", "p99 ms", "lost", "MiB at start", "peak", "after", "ended", "reasons")


def short(name: str) -> str:
    """The name of a metric without the prefixes and suffixes that all metrics share."""
    family, _, labels = name.partition("{")
    family = family.removeprefix("latchkey_").removeprefix("http_").removesuffix("_total")
    return f"{family}: {labels.split(chr(34))[1]}" if labels else family


def table(rows: list[tuple[str, ...]]) -> str:
    lines = [HEADINGS, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def run(case: Attack, folder: Path, knows_budget: bool = True) -> Outcome:
    """Runs one attack to its end.

    Without `knows_budget`, the configuration sets no memory budget, because older versions refuse that setting.
    """
    limits = dict(case.limits)
    if knows_budget:
        limits["memoryBudget"] = BUDGET
    if not IS_LONG:
        limits["connectionsMaximum"] = 1024
    tls = make_pair(folder, "main", hosts=("localhost",)).configuration if case.is_tls else None
    with running_daemon(folder, limits=limits, tls=tls) as daemon:
        token = run_latchkey(daemon.setup, "token", "mint", "--content", "sample").strip() if case.has_token else ""
        watch = Watch(daemon, case.is_tls)
        before = daemon.metrics()
        start = daemon.resident_bytes()
        with watch.running():
            tally = attack(daemon, case, token)
        after = daemon.metrics()
        rests = has_rest(daemon, start)
        counts = {
            name: value - before.get(name, 0) for name, value in after.items() if name.partition("{")[0] in FAMILIES
        }
        return Outcome(case, watch, tally, start, daemon.resident_bytes(), rests, counts)


def attack(daemon: OwnDaemon, case: Attack, token: str) -> dict[str, int]:
    """Runs the clients of an attack to their end, and returns what they counted."""
    program = str(Path(__file__).with_name(case.program))
    host, port = daemon.public
    command = [sys.executable, program, case.kind, host, str(port), str(case.count), str(case.seconds)]
    if IS_LONG:
        # The clients stand for other machines, so they must not take processor time from the daemon and the good
        # client. The short form has no limits on times. On a busy machine, its clients would never get to run.
        command = ["nice", "-n", str(LOWEST_PRIORITY), *command]
    command += [str(case.addresses), token, str(case.ended_share)]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=ATTACK_SECONDS_MAXIMUM)
    return json.loads(ended.stdout.splitlines()[-1])


def has_rest(daemon: OwnDaemon, start: int) -> bool:
    """Whether the daemon gives its memory back in time, and no longer charges memory to clients that have gone."""
    deadline = time.monotonic() + REST_SECONDS
    while daemon.resident_bytes() > start + REST_MAXIMUM or charged(daemon) > 0:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.2)
    return True


def charged(daemon: OwnDaemon) -> float:
    metrics = daemon.metrics()
    return sum(value for name, value in metrics.items() if name.startswith("latchkey_memory_charged_bytes{"))

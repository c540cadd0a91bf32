"""What clients can do with HTTP/2 frames and TLS records that are each valid: see `wire_attacks.py`.

A well-behaved client sends requests beside each attack. The short form demands that it loses no request, that the
daemon uses little memory, and that the attackers' connections end and are counted. `Scripts/test-abuse` also limits its
times.
"""

import json
import os
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import http1_wire
from own_daemon import OwnDaemon, running_daemon
from tls_material import make_pair

IS_LONG = os.environ.get("LATCHKEY_ABUSE") == "long"
ATTACK_SECONDS = 10 if IS_LONG else 4
PREPARE_SECONDS = 60
ATTEMPTS = 3
PAUSE_SECONDS = 0.002
P99_MAXIMUM_SECONDS = 0.020
GROWTH_MAXIMUM = 128 * 1024 * 1024
REQUEST = b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"

# For each attack: the number of clients, whether they use TLS, and the reasons that count their connections.
ATTACKS = {
    "outbound": (1, False, {"resets", "outbound_frames", "slow_reading"}),
    "expanded": (4, False, {"expanded_headers"}),
    "key_updates": (4, True, {"small_records"}),
    "small_records": (1, True, {"small_records"}),
}
# The unit tests of the session have the same floods, so they run here only in the long form.
FLOODS = {
    "pings": (4, False, {"control_frames"}),
    "settings": (4, False, {"control_frames"}),
    "windows": (4, False, {"control_frames"}),
    "priorities": (4, False, {"control_frames"}),
    "unknown": (4, False, {"control_frames"}),
    "empty_data": (4, False, {"control_frames"}),
    "resets": (4, False, {"resets"}),
    "continuations": (4, False, {"continuations"}),
}


class GoodClient:
    """Sends one request at a time on one connection. Every request must be answered."""

    def __init__(self, address: tuple[str, int], is_tls: bool):
        plain = socket.create_connection(address, timeout=http1_wire.TIMEOUT_SECONDS)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self._connection = context.wrap_socket(plain) if is_tls else plain

    def times(self, is_over) -> list[float]:
        """Sends requests until `is_over` returns true. Returns the seconds that each answer took, shortest first."""
        times = []
        while not is_over():
            start = time.perf_counter()
            self._connection.sendall(REQUEST)
            answer = b""
            while not answer.endswith(b"ok\n"):
                received = self._connection.recv(4096)
                assert received, f"the connection has ended after {len(times)} answers"
                answer += received
            times.append(time.perf_counter() - start)
            assert answer.startswith(b"HTTP/1.1 200 ")
            time.sleep(PAUSE_SECONDS)
        return sorted(times)

    def close(self) -> None:
        self._connection.close()


def after(seconds: float):
    end = time.monotonic() + seconds
    return lambda: time.monotonic() > end


def figures(times: list[float]) -> str:
    quantiles = (times[len(times) // 2], times[int(len(times) * 0.99)], times[-1])
    return "p50 {:.2f}, p99 {:.2f}, longest {:.2f} ms".format(*(one * 1e3 for one in quantiles))


@contextmanager
def attackers(kind: str, count: int, daemon: OwnDaemon) -> Iterator[subprocess.Popen[str]]:
    program = str(Path(__file__).with_name("wire_attacks.py"))
    arguments = [kind, *map(str, daemon.public), str(count), str(ATTACK_SECONDS)]
    with subprocess.Popen([sys.executable, program, *arguments], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            assert process.stdout.readline() == f"{count} are there\n"
            yield process
        finally:
            process.kill()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ATTACKS | (FLOODS if IS_LONG else {}))
def test_an_attack_by_frames_and_records_ends_and_harms_nobody(
    kind: str, tmp_path: Path, latchkey_programs: None
) -> None:
    count, is_tls, reasons = (ATTACKS | FLOODS)[kind]
    tls = make_pair(tmp_path, "main", hosts=("localhost",)).configuration if is_tls else None
    # By default, a client that does not read has 30 seconds.
    with running_daemon(tmp_path, limits={"writeDeadline": "1s"}, tls=tls) as daemon:
        slowest = []
        for _ in range(ATTEMPTS if IS_LONG else 1):
            good = GoodClient(daemon.public, is_tls)
            before = good.times(after(1))
            resident = daemon.resident_bytes()
            with attackers(kind, count, daemon) as process:
                during = good.times(lambda: process.poll() is not None)
                assert process.stdout
                tally = json.loads(process.stdout.read())
            growth = daemon.resident_bytes_at_most() - resident
            good.close()
            counts = {
                name.split('"')[1]: int(value)
                for name, value in daemon.metrics().items()
                if name.startswith("latchkey_http_connections_abused_total{") and value
            }
            print(f"\n{kind}: before {figures(before)}; during {figures(during)}; {tally}; "
                  f"grown by {growth / 2**20:.1f} MiB; ended {counts}")
            assert growth < GROWTH_MAXIMUM
            assert tally["ended"] > 0
            assert reasons & set(counts)
            slowest.append(during[int(len(during) * 0.99)])
            if slowest[-1] < P99_MAXIMUM_SECONDS:
                break
        if IS_LONG:
            assert min(slowest) < P99_MAXIMUM_SECONDS, slowest

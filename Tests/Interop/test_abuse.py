"""What strangers can do to a listener without a valid request: slow clients, too many connections, endless bodies.

    LATCHKEY_ABUSE=long    500 slow clients, limits on times, also slowhttptest: `Scripts/test-abuse`
                           without it a short form, which prints times and asserts only sanity

All traffic stays on this machine, and every attack ends by itself.
"""

import json
import os
import select
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

import http1_wire
from deployment import Deployment, deployment_of, run_latchkey
from fairplay_device.spc import Device, SPCOptions, device_for
from own_daemon import OwnDaemon, running_daemon

IS_LONG = os.environ.get("LATCHKEY_ABUSE") == "long"
CONNECTIONS = 500 if IS_LONG else 100
ATTACK_SECONDS = 20 if IS_LONG else 3
ADDRESSES = 16
# `refused` are slow bodies without a token: the daemon refuses them at once, and each client comes again.
WIRE_KINDS = {"refused": "body"}
# Clients of these kinds are never quiet.
BUSY_KINDS = ("pipeline", "refused")
# Slow readers first request more than the kernel buffers. The measurement begins when these buffers are full.
# The attack must go on after it.
SETTLE_SECONDS = 10 if IS_LONG else 1
SETTLED_CPU_SHARE = 0.1
SAMPLE_COUNT = 1500 if IS_LONG else 150
# The test measures several times, because a busy machine can disturb one measurement.
ATTEMPTS = 3
SLOWDOWN_MAXIMUM = 2.0
SLOWHTTPTEST_OPTIONS = {
    "header": ["-H"],
    "body": ["-B"],
    # Three requests at the same time; a window of at most a kilobyte, from which 32 bytes are taken every five seconds.
    "read": ["-X", "-k", "3", "-w", "512", "-y", "1024", "-z", "32", "-n", "5"],
}
RECOVERY_SECONDS = 1.0 if IS_LONG else 5.0
CPU_SHARE_MAXIMUM = 0.2

FILES = 64
HELD_CONNECTIONS = 200
HELD_SECONDS = 3.0
HUGE_SIZE = 64 * 1024 * 1024
HUGE_COUNT = 50
GROWTH_MAXIMUM = 8 * 1024 * 1024


@pytest.fixture
def daemon(tmp_path: Path, latchkey_programs: None) -> Iterator[OwnDaemon]:
    with running_daemon(tmp_path) as daemon:
        yield daemon


# --- A good client ---------------------------------------------------------------------------------------------------


class GoodClient:
    """Requests licenses one after the other on one connection. Every request must be granted."""

    def __init__(self, daemon: OwnDaemon):
        self.deployment: Deployment = deployment_of(daemon.url, daemon.setup)
        device: Device = device_for(self.deployment.credential, 1)
        self._requests = [device.request(SPCOptions(self.deployment.asset_id)) for _ in range(100)]

    def times(self, count: int) -> list[float]:
        """Requests `count` licenses, and returns the seconds that each took, shortest first."""
        times = []
        for index in range(count):
            request = self._requests[index % len(self._requests)]
            start = time.perf_counter()
            answer = self.deployment.client.license(request.message, self.deployment.token)
            times.append(time.perf_counter() - start)
            assert answer.status == 200, answer
            if index % 50 == 0:
                self.deployment.open(answer, request.secrets)
        return sorted(times)


@pytest.fixture
def good_client(daemon: OwnDaemon) -> Iterator[GoodClient]:
    client = GoodClient(daemon)
    client.times(100)
    yield client
    client.deployment.client.close()


def quantile(times: list[float], share: float) -> float:
    return times[min(len(times) - 1, int(len(times) * share))]


def figures(name: str, times: list[float]) -> str:
    return f"{name} p50 {quantile(times, 0.5) * 1e3:.2f} ms, p99 {quantile(times, 0.99) * 1e3:.2f} ms"


# --- Slow clients ----------------------------------------------------------------------------------------------------


def settle(daemon: OwnDaemon) -> None:
    """Waits until the daemon is idle, but not longer than `SETTLE_SECONDS`, because one attack keeps it busy all the
    time."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while time.monotonic() < deadline:
        cpu = daemon.cpu_seconds()
        time.sleep(0.5)
        if (daemon.cpu_seconds() - cpu) / 0.5 < SETTLED_CPU_SHARE:
            return


@contextmanager
def slow_clients(kind: str, daemon: OwnDaemon) -> Iterator[dict[str, int]]:
    """Runs the clients inside the context, which begins when all are connected. Fills the tally when they have gone."""
    tally: dict[str, int] = {}
    host, port = daemon.public
    arguments = [WIRE_KINDS.get(kind, kind), host, str(port), str(CONNECTIONS), str(ATTACK_SECONDS), str(ADDRESSES)]
    if kind == "body":
        # Without a token, the daemon refuses the request after its head, and waits for no body.
        arguments.append(run_latchkey(daemon.setup, "token", "mint", "--content", "sample").strip())
    program = str(Path(__file__).with_name("slow_clients.py"))
    with subprocess.Popen([sys.executable, program, *arguments], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            assert process.stdout.readline() == f"{CONNECTIONS} are there\n"
            if kind not in BUSY_KINDS:
                settle(daemon)
            yield tally
            tally |= json.loads(process.stdout.readline())
        finally:
            process.kill()


@contextmanager
def normal_times(kind: str, folders: pytest.TempPathFactory) -> Iterator[None]:
    """Keeps the machine, inside the context, in the state whose times count as normal: at rest.

    Some clients keep any server busy: they pipeline without end, or open a new connection whenever they are refused.
    For them, the state is normal while the same clients use another daemon on the same cores.
    """
    if kind not in BUSY_KINDS:
        yield
        return
    with running_daemon(folders.mktemp("other")) as other, slow_clients(kind, other):
        yield


@contextmanager
def slowhttptest(kind: str, daemon: OwnDaemon) -> Iterator[dict[str, int]]:
    """Runs the tool of this name, which uses only one address."""
    command = ["slowhttptest", *SLOWHTTPTEST_OPTIONS[kind], "-c", str(CONNECTIONS), "-r", "200", "-i", "1"]
    command += ["-l", str(ATTACK_SECONDS + 5)]
    address = f"{daemon.url}/nothing"
    with subprocess.Popen([*command, "-u", address], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            time.sleep(CONNECTIONS / 200)
            yield {}
        finally:
            process.kill()


# These marks skip a test before a daemon is started for it.
NEEDS_SLOWHTTPTEST = (
    pytest.mark.skipif(not IS_LONG, reason="slowhttptest runs in Scripts/test-abuse"),
    pytest.mark.skipif(not shutil.which("slowhttptest"), reason="Scripts/test-abuse installs slowhttptest"),
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "attack"),
    [(kind, slow_clients) for kind in ("header", "body", "refused", "read", "pipeline")]
    + [pytest.param(kind, slowhttptest, marks=NEEDS_SLOWHTTPTEST) for kind in SLOWHTTPTEST_OPTIONS],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_slow_clients_do_not_slow_a_good_one(
    kind: str, attack, daemon: OwnDaemon, good_client: GoodClient, tmp_path_factory: pytest.TempPathFactory
) -> None:
    slowdowns = []
    for _ in range(ATTEMPTS if IS_LONG else 1):
        with normal_times(kind, tmp_path_factory):
            before = good_client.times(SAMPLE_COUNT)
        with attack(kind, daemon) as tally:
            cpu, start = daemon.cpu_seconds(), time.monotonic()
            open_connections = daemon.metrics()["latchkey_http_connections"]
            requests = daemon.seen().requests
            during = good_client.times(SAMPLE_COUNT)
            share = (daemon.cpu_seconds() - cpu) / (time.monotonic() - start)
        after = good_client.times(SAMPLE_COUNT)
        normal = max(quantile(before, 0.99), quantile(after, 0.99))
        slowdowns.append(quantile(during, 0.99) / normal)
        print(
            f"\nslow {kind}, {open_connections:.0f} connections open: {figures('before', before)}; "
            f"{figures('during', during)}; {figures('after', after)}; p99 x {slowdowns[-1]:.2f}, "
            f"daemon CPU {share:.2f} of a core; {requests} requests before; {tally}"
        )
        # slowhttptest may still be opening connections, and the daemon may have ended some of them already.
        if kind == "refused":
            # At any one time, most of these clients are between two connections.
            assert tally["ended"] >= CONNECTIONS
        elif attack is slow_clients:
            assert open_connections >= CONNECTIONS / 2
        if slowdowns[-1] < SLOWDOWN_MAXIMUM:
            break
    if IS_LONG:
        assert min(slowdowns) < SLOWDOWN_MAXIMUM, slowdowns
        # The daemon ends each slow head and slow body after its deadline. A slow reader has 30 seconds.
        if tally and kind in ("header", "body", "refused"):
            assert tally["ended"] >= CONNECTIONS


# --- Too many connections --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_no_descriptor_left(tmp_path: Path, latchkey_programs: None) -> None:
    """200 connections with 64 descriptors: the daemon waits without spinning, and serves again as soon as some are
    free."""
    with running_daemon(tmp_path, files=FILES) as daemon:
        with ExitStack() as held:
            for _ in range(HELD_CONNECTIONS):
                # The daemon may reset a connection before the client has noticed that it was accepted.
                with suppress(ConnectionResetError):
                    held.enter_context(socket.create_connection(daemon.public, timeout=5))
            cpu = daemon.cpu_seconds()
            time.sleep(HELD_SECONDS)
            share = (daemon.cpu_seconds() - cpu) / HELD_SECONDS
        released = time.monotonic()
        while not _is_alive(daemon):
            assert time.monotonic() - released < 10 * RECOVERY_SECONDS
        recovery = time.monotonic() - released
        refused = sum(
            value
            for name, value in daemon.metrics().items()
            if name.startswith("latchkey_http_connections_refused_total{")
        )
        print(f"\n{FILES} descriptors: CPU {share:.3f} of a core, recovered in {recovery:.3f} s, {refused:.0f} refused")
    assert refused > 0, "no connection was refused"
    assert share < CPU_SHARE_MAXIMUM
    assert recovery < RECOVERY_SECONDS


def _is_alive(daemon: OwnDaemon) -> bool:
    request = b"GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    try:
        return http1_wire.exchange(daemon.public, request).statuses == [200]
    except OSError:
        return False


# --- Bodies without end ----------------------------------------------------------------------------------------------


def huge_request(framing: bytes) -> Iterator[bytes]:
    """A head that announces a body, then 64 MiB of it."""
    yield b"POST /livez HTTP/1.1\r\nHost: a\r\n" + framing + b"\r\n\r\n"
    piece = b"a" * 16 * 1024
    is_chunked = framing.startswith(b"Transfer-Encoding")
    for _ in range(HUGE_SIZE // len(piece)):
        yield b"%x\r\n%s\r\n" % (len(piece), piece) if is_chunked else piece


@pytest.mark.slow
@pytest.mark.parametrize(
    "framing", [b"Content-Length: %d" % HUGE_SIZE, b"Transfer-Encoding: chunked"], ids=["sized", "chunked"]
)
@pytest.mark.parametrize("stops", [True, False], ids=["which listens", "which does not"])
def test_a_huge_body_is_refused_and_not_kept(framing: bytes, stops: bool, daemon: OwnDaemon) -> None:
    """A client that stops when it gets the answer reads 413.

    A client that continues is disconnected. Neither costs memory.
    """
    assert _is_alive(daemon)
    before = daemon.resident_bytes()
    sent_most = 0
    for _ in range(HUGE_COUNT):
        sent = 0
        with socket.create_connection(daemon.public, timeout=http1_wire.TIMEOUT_SECONDS) as connection:
            try:
                for piece in huge_request(framing):
                    connection.sendall(piece)
                    sent += len(piece)
                    # If the head announces the size, the client waits for the answer after the head. In a chunked body,
                    # it hardly waits.
                    wait = http1_wire.TIMEOUT_SECONDS if framing.startswith(b"C") else 0.005
                    if stops and select.select([connection], [], [], wait)[0]:
                        break
                assert stops, "the daemon accepted 64 MiB"
            except (BrokenPipeError, ConnectionResetError):
                assert not stops, "the answer was lost"
            if stops:
                connection.shutdown(socket.SHUT_WR)
                received, ended = http1_wire.read_all(connection)
                assert http1_wire.parse(received, ended).statuses == [413]
                assert ended
        sent_most = max(sent_most, sent)
    growth = daemon.resident_bytes() - before
    grown = f"resident memory grew by {growth // 1024} KiB"
    print(f"\n{HUGE_COUNT} bodies: at most {sent_most / 1024:.0f} KiB sent, {grown}")
    assert growth < GROWTH_MAXIMUM
    if stops and framing.startswith(b"C"):
        assert sent_most < 1024, "the answer came after some of the body"
    assert _is_alive(daemon)

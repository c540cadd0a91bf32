"""What strangers can make the daemon hold: memory, connections, descriptors, and lines of its log.

    LATCHKEY_ABUSE=long    as many clients as in the attacks that were found: `Scripts/test-abuse`
                           without it a short form with smaller limits

All traffic stays on this machine, and every attack ends by itself. Beside each attack runs a well-behaved client, which
must lose no request.
"""

import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import http1_wire
from abuse_cases import ATTACKS, GOOD_TIMEOUT_SECONDS, IS_LONG, P99_MAXIMUM, REFUSED, REQUEST, Attack, run, table
from lengths import inputs
from own_daemon import OwnDaemon, new_setup, running_daemon, start_daemon, stop_daemon


# --- Memory and connections ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rows() -> Iterator[list[tuple[str, ...]]]:
    """Collects one row for each attack, and prints all rows as one table at the end."""
    rows: list[tuple[str, ...]] = []
    yield rows
    print(f"\n{table(rows)}")


@pytest.mark.slow
@pytest.mark.parametrize("case", ATTACKS, ids=lambda case: case.name.replace(" ", "-"))
def test_what_clients_hold_is_bounded(
    case: Attack, tmp_path: Path, latchkey_programs: None, rows: list[tuple[str, ...]]
) -> None:
    outcome = run(case, tmp_path)
    rows.append(outcome.row)
    outcome.check()
    assert outcome.watch.times


# --- Descriptors -----------------------------------------------------------------------------------------------------


def test_one_address_cannot_take_the_descriptors_that_the_daemon_needs(tmp_path: Path, latchkey_programs: None) -> None:
    with running_daemon(tmp_path, files=256) as daemon:
        daemon.await_log("descriptors_limit_connections")
        held = []
        try:
            for _ in range(300):
                # The daemon may reset a connection before the client has noticed that it was accepted.
                with suppress(OSError):
                    held.append(socket.create_connection(daemon.public, timeout=5))
                    held[-1].sendall(b"GET /livez HTTP/1.1\r\n")
            assert http1_wire.exchange(daemon.admin, REQUEST).statuses == [200]
            daemon.process.send_signal(signal.SIGHUP)
            daemon.await_log('"event":"reloaded"')
            with socket.socket() as other:
                other.bind(("127.0.0.9", 0))
                other.settimeout(GOOD_TIMEOUT_SECONDS)
                other.connect(daemon.public)
                other.sendall(REQUEST)
                assert other.recv(4096).startswith(b"HTTP/1.1 200 ")
            metrics = daemon.metrics()
            # Half a head gives way like an idle connection.
            assert metrics[REFUSED % "address"] + metrics[REFUSED % "address_idle"] > 0
            assert metrics["process_open_fds"] < 256 - 16
        finally:
            for connection in held:
                connection.close()
        assert "ledger_upkeep_failed" not in daemon.log.read_text()


def test_the_soft_limit_of_descriptors_is_raised(tmp_path: Path, latchkey_programs: None) -> None:
    with running_daemon(tmp_path) as daemon:
        limits = Path(f"/proc/{daemon.process.pid}/limits").read_text()
        (line,) = (line for line in limits.splitlines() if line.startswith("Max open files"))
        soft, hard = line.split()[3:5]
        assert soft == hard


def test_the_table_of_descriptors_has_its_size_from_the_start(tmp_path: Path, latchkey_programs: None) -> None:
    """Otherwise a flood of connections would make the table grow, and the loops would wait for that."""
    with running_daemon(tmp_path, limits={"connectionsMaximum": 1500}, files=2000) as daemon:
        status = Path(f"/proc/{daemon.process.pid}/status").read_text()
        assert int(status.partition("FDSize:")[2].split()[0]) >= 2000


# --- The log ---------------------------------------------------------------------------------------------------------


def test_refusals_do_not_flood_the_log(tmp_path: Path, latchkey_programs: None) -> None:
    with running_daemon(tmp_path) as daemon:
        requests = b"GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n" * 500
        start = time.monotonic()
        identifiers = []
        for _ in range(4):
            last = requests + b"GET /nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
            conversation = http1_wire.exchange(daemon.public, last)
            assert set(conversation.statuses) == {404}
            identifiers += [response.field("X-Request-Id") for response in conversation.responses]
            daemon.process.send_signal(signal.SIGHUP)
            daemon.await_log('"event":"reloaded"')
        seconds = time.monotonic() - start + 1
        refused = daemon.log.read_text().count('"event":"request_refused"')
        assert 20 <= refused <= 20 * (seconds + 1)
        left_out = daemon.metrics()['latchkey_log_lines_dropped_total{reason="sampled"}']
        assert left_out == len(identifiers) - refused
        # The daemon can still tell the cause of each refusal.
        token = (daemon.setup / "secrets" / "admin-token").read_text().strip()
        for identifier in identifiers[:: len(identifiers) // 20]:
            request = f"GET /v1/refusals/{identifier} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            answer = http1_wire.exchange(daemon.admin, f"{request}Authorization: Bearer {token}\r\n\r\n".encode())
            assert answer.statuses == [200]
            assert json.loads(answer.responses[0].body)["code"] == "not_found"


RELOADS = inputs(short=4, long=12)
RELOAD_SECONDS = 60
SETTLE_SECONDS = 60
SLOW_READ_SIZE = 2048
# Slower than a daemon on a busy machine writes.
SLOW_READ_PAUSE_SECONDS = 0.2


class SlowReader:
    """Reads a daemon's log from a named pipe: first line by line, then slowly, and at the end as fast as possible."""

    def __init__(self, path: Path) -> None:
        self.lines: list[dict[str, object]] = []
        self._rest = b""
        os.mkfifo(path)
        # With O_NONBLOCK, opening the pipe does not wait for the daemon, which itself waits for a reader.
        self._descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self._hurries = threading.Event()
        self._thread = threading.Thread(target=self._read_slowly)

    def read_to(self, event: str) -> list[dict[str, object]]:
        while not any(line["event"] == event for line in self.lines):
            assert self._read(65536), "the log ends"
        return self.lines

    def go_on_slowly(self) -> None:
        self._thread.start()

    def hurry(self) -> None:
        self._hurries.set()

    def read_to_the_end(self) -> list[dict[str, object]]:
        self._thread.join()
        os.close(self._descriptor)
        return self.lines

    def _read_slowly(self) -> None:
        while self._read(65536 if self._hurries.is_set() else SLOW_READ_SIZE):
            self._hurries.wait(SLOW_READ_PAUSE_SECONDS)

    def _read(self, size: int) -> bool:
        """Reads the next bytes. Returns false at the end of the log."""
        select.select([self._descriptor], [], [])
        data = os.read(self._descriptor, size)
        *lines, self._rest = (self._rest + data).split(b"\n")
        self.lines += [json.loads(line) for line in lines]
        return data != b""


def reload_with_another_origin(process: subprocess.Popen[bytes], setup: Path, public: tuple[str, int], number: int) -> None:
    """Reloads the daemon with another allowed origin. Returns when the origin is in force, without reading the log."""
    origin = f"https://page-{number}.example"
    configuration = setup / "latchkey.json5"
    text = re.sub(r"^    cors: .*\n", "", configuration.read_text(), flags=re.MULTILINE)
    configuration.write_text(text.replace("    logging: {", f'    cors: {{ origins: ["{origin}"] }},\n    logging: {{', 1))
    process.send_signal(signal.SIGHUP)
    request = f"OPTIONS /fps/license HTTP/1.1\r\nHost: a\r\nOrigin: {origin}\r\nAccess-Control-Request-Method: POST\r\n"
    deadline = time.monotonic() + RELOAD_SECONDS
    while True:
        (answer,) = http1_wire.exchange(public, f"{request}Connection: close\r\n\r\n".encode()).responses
        if answer.field("Access-Control-Allow-Origin") == origin:
            return
        assert time.monotonic() < deadline, answer


def test_reloads_are_in_the_log_although_its_reader_is_slow(tmp_path: Path, latchkey_programs: None) -> None:
    """Strangers cause more log lines than the reader can read.

    The loops do not wait for the log, and lost lines are counted.
    """
    setup = new_setup(tmp_path)
    configuration = setup / "latchkey.json5"
    text = configuration.read_text()
    assert "logging: {" in text
    configuration.write_text(text.replace("logging: {", "logging: { linesPerEvent: 1000000,", 1))
    log = tmp_path / "log"
    reader = SlowReader(log)
    process = start_daemon(setup, log)
    try:
        listening = [line for line in reader.read_to("ready") if line["event"] == "listening"]
        addresses = {str(line["listener"]): str(line["address"]).rpartition(":") for line in listening}
        public, admin = ((addresses[name][0], int(addresses[name][2])) for name in ("public", "admin"))
        reader.go_on_slowly()
        request = b"GET /nothing HTTP/1.1\r\nHost: a\r\n"
        flood = (request + b"\r\n") * 1999 + request + b"Connection: close\r\n\r\n"
        for number in range(RELOADS):
            assert http1_wire.exchange(public, flood).statuses == [404] * 2000
            reload_with_another_origin(process, setup, public, number)
        metrics = OwnDaemon(process, setup, public, admin, log).metrics()
    finally:
        # When the daemon stops, it waits at most two seconds for the reader.
        reader.hurry()
        status = stop_daemon(process)
        lines = reader.read_to_the_end()
    assert status == 0
    events = [line["event"] for line in lines]
    assert events.count("reloaded") == RELOADS
    assert events[-1] == "stopped"
    lost = metrics['latchkey_log_lines_dropped_total{reason="reader"}']
    assert lost > 0
    assert events.count("request_refused") + lost == 2000 * RELOADS
    # The log itself reports the same number.
    assert sum(int(str(line["count"])) for line in lines if line["event"] == "log_lines_dropped") == lost


def test_unknown_methods_and_versions_are_no_errors(tmp_path: Path, latchkey_programs: None) -> None:
    with running_daemon(tmp_path) as daemon:
        for line, status in ((b"BREW / HTTP/1.1", 501), (b"GET / HTTP/2.7", 505)):
            assert http1_wire.exchange(daemon.public, line + b"\r\nHost: a\r\n\r\n").statuses == [status]
        daemon.await_log("version_not_supported")
        assert '"level":"error"' not in daemon.log.read_text()


# --- The admin listener ----------------------------------------------------------------------------------------------


METRICS_ARTICLE = Path(__file__).parents[2] / "Documentation/reference/metrics.md"
# The metrics that show how busy the daemon is, each with its label and the label's values.
SATURATION = {
    "latchkey_loop_lag_seconds": ("loop", {"0"}),
    "latchkey_loop_longest_turn_seconds": ("loop", {"0"}),
    "latchkey_loop_computation_seconds": ("loop", {"0"}),
    "latchkey_memory_charged_bytes": ("share", {"connections", "heads", "bodies", "outbound", "requests"}),
    "latchkey_memory_maximum_bytes": ("share", {"connections", "heads", "bodies", "outbound", "requests"}),
    "latchkey_memory_refused_total": ("share", {"connections", "heads", "bodies", "outbound", "requests"}),
    "latchkey_http_connections_by_state": ("state", {"arriving", "idle", "busy", "closing"}),
    "latchkey_http_connections_maximum": ("listener", {"public", "admin"}),
    "latchkey_http_connections_refused_total": (
        "reason",
        {"connections", "address", "descriptors", "memory", "evicted", "silent", "not_a_proxy", "proxy_header"},
    ),
    "latchkey_http_connections_abused_total": (
        "abuse",
        {"resets", "control_frames", "continuations", "header_block", "expanded_headers", "outbound_frames", "slow_head",
         "slow_body",
         "small_records", "slow_reading"},
    ),
    "latchkey_admin_tokens_refused_total": ("reason", {"wrong", "slowed"}),
    "latchkey_log_lines_dropped_total": ("reason", {"sampled", "reader"}),
    "latchkey_http_requests_in_flight": (None, set()),
    "latchkey_http_connections": (None, set()),
}


def test_saturation_is_visible_and_every_metric_is_in_the_article(tmp_path: Path, latchkey_programs: None) -> None:
    with running_daemon(tmp_path) as daemon:
        with socket.create_connection(daemon.public) as idle:
            idle.sendall(b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")
            assert idle.recv(65536).startswith(b"HTTP/1.1 200 ")
            metrics = _metrics_with(daemon, 'latchkey_http_connections_by_state{state="idle"}', 1)
    assert metrics['latchkey_memory_charged_bytes{share="connections"}'] > 0
    found: dict[str, dict[str | None, set[str]]] = {}
    for sample in metrics:
        name, _, rest = re.sub(r"_(bucket|sum|count)(?=\{|$)", "", sample).partition("{")
        labels = found.setdefault(name, {})
        for label, value in re.findall(r'(\w+)="([^"]*)"', rest):
            labels.setdefault(label, set()).add(value)
    for name, (label, values) in SATURATION.items():
        assert values <= found[name].get(label, set()), name
    rows = [line for line in METRICS_ARTICLE.read_text().splitlines() if line.startswith("| `")]
    for name, labels in found.items():
        (row,) = (line for line in rows if f"`{name}`" in line)
        for label in labels.keys() - {"le"}:
            assert f"`{label}`" in row.split("|")[2], name


def _metrics_with(daemon: OwnDaemon, sample: str, value: float) -> dict[str, float]:
    """Waits until a sample has a value, because the client may get its answer before the loop has finished its turn."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while (metrics := daemon.metrics())[sample] != value:
        assert time.monotonic() < deadline, f"{sample} is {metrics[sample]}"
    return metrics


def test_most_wrong_admin_tokens_are_answered_with_a_wait(tmp_path: Path, latchkey_programs: None) -> None:
    with running_daemon(tmp_path) as daemon:
        request = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer wrong-wrong-wrong\r\n"
        start = time.monotonic()
        answers = http1_wire.exchange(daemon.admin, (request + b"\r\n") * 499 + request + b"Connection: close\r\n\r\n")
        codes = [response.field("X-Error-Code") for response in answers.responses]
        assert len(codes) == 500
        assert set(codes) == {"admin_token_invalid", "rate_limited"}
        assert codes.count("admin_token_invalid") <= 10 + (time.monotonic() - start) + 1
        # The right token is accepted all the time.
        token = (daemon.setup / "secrets" / "admin-token").read_text().strip()
        right = request.replace(b"wrong-wrong-wrong", token.encode()) + b"Connection: close\r\n\r\n"
        assert http1_wire.exchange(daemon.admin, right).statuses == [200]
        metrics = daemon.metrics()
        for reason, code in (("wrong", "admin_token_invalid"), ("slowed", "rate_limited")):
            assert metrics[f'latchkey_admin_tokens_refused_total{{reason="{reason}"}}'] == codes.count(code)


@pytest.mark.slow
def test_the_admin_listener_answers_while_the_loops_are_busy(tmp_path: Path, latchkey_programs: None) -> None:
    """Clients that pipeline without end keep all loops busy."""
    with running_daemon(tmp_path) as daemon:
        program = str(Path(__file__).with_name("slow_clients.py"))
        host, port = daemon.public
        command = [sys.executable, program, "pipeline", host, str(port), "64", "5"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as clients:
            assert clients.stdout and clients.stdout.readline() == "64 are there\n"
            times, statuses = [], []
            for _ in range(100):
                start = time.perf_counter()
                statuses += http1_wire.exchange(daemon.admin, REQUEST.replace(b"/livez", b"/readyz")).statuses
                times.append(time.perf_counter() - start)
            metrics = daemon.metrics()
            clients.kill()
        print(f"\n/readyz beside busy loops: p99 {sorted(times)[98] * 1e3:.1f} ms")
        assert statuses == [200] * 100
        assert max(value for name, value in metrics.items() if name.startswith("latchkey_loop_longest_turn")) > 0
        assert 'latchkey_loop_lag_seconds{loop="0"}' in metrics
        if IS_LONG:
            assert sorted(times)[98] < P99_MAXIMUM

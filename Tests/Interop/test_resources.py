"""What strangers can make the daemon hold: memory, places for connections, descriptors, lines of its log.

    LATCHKEY_ABUSE=long    as many clients as the attacks had that were found: `Scripts/test-abuse`
                           without it a short form with smaller limits

Everything stays on this machine and ends by itself. Each attack has a good client beside it, which must lose no request.
"""

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import http1_wire
from abuse_cases import ATTACKS, GOOD_TIMEOUT_SECONDS, IS_LONG, P99_MAXIMUM, REFUSED, REQUEST, Attack, run, table
from own_daemon import running_daemon


# --- Memory and connections ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rows() -> Iterator[list[tuple[str, ...]]]:
    """One row for each attack, printed as one table behind the last."""
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
                # The daemon may reset a connection before the client has seen that it is there.
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
            assert metrics[REFUSED % "address"] > 0
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
        # The cause of each is known all the same.
        token = (daemon.setup / "secrets" / "admin-token").read_text().strip()
        for identifier in identifiers[:: len(identifiers) // 20]:
            request = f"GET /v1/refusals/{identifier} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            answer = http1_wire.exchange(daemon.admin, f"{request}Authorization: Bearer {token}\r\n\r\n".encode())
            assert answer.statuses == [200]
            assert json.loads(answer.responses[0].body)["code"] == "not_found"


def test_unknown_methods_and_versions_are_no_errors(tmp_path: Path, latchkey_programs: None) -> None:
    with running_daemon(tmp_path) as daemon:
        for line, status in ((b"BREW / HTTP/1.1", 501), (b"GET / HTTP/2.7", 505)):
            assert http1_wire.exchange(daemon.public, line + b"\r\nHost: a\r\n\r\n").statuses == [status]
        daemon.await_log("version_not_supported")
        assert '"level":"error"' not in daemon.log.read_text()


# --- The admin listener ----------------------------------------------------------------------------------------------


def test_wrong_admin_tokens_are_slowed(tmp_path: Path, latchkey_programs: None) -> None:
    with running_daemon(tmp_path) as daemon:
        request = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer wrong-wrong-wrong\r\n"
        start = time.monotonic()
        answers = http1_wire.exchange(daemon.admin, (request + b"\r\n") * 499 + request + b"Connection: close\r\n\r\n")
        codes = [response.field("X-Error-Code") for response in answers.responses]
        assert len(codes) == 500
        assert set(codes) == {"admin_token_invalid", "rate_limited"}
        assert codes.count("admin_token_invalid") <= 10 + (time.monotonic() - start) + 1


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

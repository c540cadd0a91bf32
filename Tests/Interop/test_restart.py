"""Restarts with socket activation, and the daemon's end without it.

With socket activation, this program keeps the listening socket, as systemd does, and no client notices a restart. A
daemon that owns its socket answers everything that clients have sent before its end.

    LATCHKEY_ABUSE=long    20 restarts; `Scripts/test-abuse`
"""

import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import http1_wire
from own_daemon import await_addresses, new_setup, start_daemon, stop_daemon

RESTARTS = 20 if os.environ.get("LATCHKEY_ABUSE") == "long" else 4
CLIENTS = 16
# Half of the clients send one request per connection, the others send requests until the daemon ends the connection.
REQUESTS_PER_CONNECTION = (1, 1000)
ANSWERS_BETWEEN = 200
ANSWER_SECONDS = 20.0
FIRST_PASSED_DESCRIPTOR = 3
REQUEST = b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"


@dataclass
class Load:
    """Clients that send requests without a pause until they are told to stop."""

    address: tuple[str, int]
    answered: int = 0
    connections: int = 0
    failures: list[str] = field(default_factory=list)
    longest: float = 0.0
    stopping: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def wait(self, answers: int) -> None:
        goal = self.answered + answers
        deadline = time.monotonic() + ANSWER_SECONDS
        while self.answered < goal and not self.failures:
            assert time.monotonic() < deadline, "no answers"
            time.sleep(0.005)

    def run(self, requests: int) -> None:
        while not self.stopping:
            try:
                self._use_a_connection(requests)
            except (OSError, AssertionError) as failure:
                self.failures.append(repr(failure))

    def _use_a_connection(self, requests: int) -> None:
        start = time.monotonic()
        with socket.create_connection(self.address, timeout=ANSWER_SECONDS) as connection:
            for number in range(requests):
                ends = self._ask(connection, is_first=number == 0)
                with self.lock:
                    self.answered += not ends or number == 0
                    self.connections += number == 0
                    self.longest = max(self.longest, time.monotonic() - start)
                start = time.monotonic()
                if ends or self.stopping:
                    break

    @staticmethod
    def _ask(connection: socket.socket, is_first: bool) -> bool:
        """Sends one request. Returns whether the daemon ends the connection.

        The daemon may end it between two requests. The client then sends its request on another connection.
        """
        received = b""
        try:
            connection.sendall(REQUEST)
            while b"\r\n\r\nok\n" not in received:
                data = connection.recv(65536)
                if not data:
                    break
                received += data
        except ConnectionError:
            if is_first or received:
                raise
        if not received and not is_first:
            return True
        (response,) = http1_wire.parse(received, ended=True).responses
        assert response.status == 200, response
        return response.field("Connection") == "close"


@contextmanager
def load(address: tuple[str, int]) -> Iterator[Load]:
    clients = Load(address)
    threads = [
        threading.Thread(target=clients.run, args=(REQUESTS_PER_CONNECTION[number % 2],)) for number in range(CLIENTS)
    ]
    for thread in threads:
        thread.start()
    try:
        yield clients
    finally:
        clients.stopping = True
        for thread in threads:
            thread.join()


def start_activated(setup: Path, log: Path, listening: socket.socket) -> subprocess.Popen[bytes]:
    """Starts the daemon as systemd does: the socket is descriptor 3, and the environment names the process that gets
    it."""
    environment = {"LATCHKEY_LISTEN": "systemd:public", "LISTEN_FDS": "1", "LISTEN_FDNAMES": "public"}
    return start_daemon(
        setup,
        log,
        environment,
        # Only the process itself knows its id, so a shell sets LISTEN_PID.
        through=("/bin/sh", "-c", 'LISTEN_PID=$$ exec "$0" "$@"'),
        preexec_fn=lambda: os.dup2(listening.fileno(), FIRST_PASSED_DESCRIPTOR),
        pass_fds=(FIRST_PASSED_DESCRIPTOR,),
    )


def test_no_connection_is_refused_while_the_daemon_restarts(tmp_path: Path, latchkey_programs: None) -> None:
    setup = new_setup(tmp_path)
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listening:
        address = listening.getsockname()
        process = start_activated(setup, tmp_path / "daemon-0.log", listening)
        try:
            assert await_addresses(process, tmp_path / "daemon-0.log")["public"] == address
            start = time.monotonic()
            with load(address) as clients:
                clients.wait(ANSWERS_BETWEEN)
                for number in range(1, RESTARTS + 1):
                    assert stop_daemon(process) == 0
                    log = tmp_path / f"daemon-{number}.log"
                    process = start_activated(setup, log, listening)
                    await_addresses(process, log)
                    clients.wait(ANSWERS_BETWEEN)
            elapsed = time.monotonic() - start
        finally:
            stop_daemon(process)
    print(
        f"\n{RESTARTS} restarts in {elapsed:.1f} s: {clients.connections} connections, {clients.answered} answers, "
        f"the longest after {clients.longest:.2f} s, {len(clients.failures)} failures"
    )
    assert clients.failures == []


# --- The end without socket activation -------------------------------------------------------------------------------

ENDS = 100 if os.environ.get("LATCHKEY_ABUSE") == "long" else 3
# Half of the clients keep their connections and send a request from time to time. Most of them are idle at the end.
ENDING_CLIENTS = 32
IDLE_SECONDS = 0.02


@dataclass
class EndingLoad:
    """Clients that send requests until the daemon no longer answers."""

    address: tuple[str, int]
    answered: int = 0
    lost: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, keeps: bool) -> None:
        while True:
            try:
                connection = socket.create_connection(self.address, timeout=ANSWER_SECONDS)
            except OSError:
                return  # No request was sent.
            with connection:
                goes_on = self._ask(connection)
                while goes_on and keeps:
                    time.sleep(IDLE_SECONDS)
                    goes_on = self._ask(connection)

    def _ask(self, connection: socket.socket) -> bool:
        """Sends one request. Returns whether the connection stays open.

        A request must be answered if it was sent before the client could see the end.
        """
        connection.setblocking(False)
        try:
            if connection.recv(1) == b"":
                return False  # Closed between two requests.
        except BlockingIOError:
            pass
        except ConnectionError:
            return False
        connection.settimeout(ANSWER_SECONDS)
        received = b""
        try:
            connection.sendall(REQUEST)
            while not received.endswith(b"\r\n\r\nok\n"):
                data = connection.recv(65536)
                if not data:
                    break
                received += data
        except OSError as failure:
            received += repr(failure).encode()
        with self.lock:
            if received.endswith(b"\r\n\r\nok\n"):
                self.answered += 1
            else:
                self.lost.append(received.decode())
        return received.endswith(b"ok\n") and b"Connection: close" not in received


def test_an_end_loses_no_request(tmp_path: Path, latchkey_programs: None) -> None:
    """SIGTERM while connections are idle, in their handshake, in the accept queue, and between a request and its answer."""
    setup = new_setup(tmp_path)
    lost, answered = [], 0
    for number in range(ENDS):
        log = tmp_path / f"daemon-{number}.log"
        process = start_daemon(setup, log)
        load = EndingLoad(await_addresses(process, log)["public"])
        clients = [threading.Thread(target=load.run, args=(index % 2 == 0,)) for index in range(ENDING_CLIENTS)]
        for client in clients:
            client.start()
        deadline = time.monotonic() + ANSWER_SECONDS
        while load.answered < 1000:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert stop_daemon(process) == 0
        for client in clients:
            client.join()
        lost += load.lost
        answered += load.answered
    print(f"\n{ENDS} ends: {answered} answered, {len(lost)} lost")
    assert lost == []

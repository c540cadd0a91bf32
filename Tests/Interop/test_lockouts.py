"""What clients of one address can take from each other: connections, and the answer to a right secret.

Beside each attack, a good client of the same address must lose no request.
"""

import itertools
import json
import secrets
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import http1_wire
from admin_client import AdminClient
from own_daemon import OwnDaemon, running_daemon
from test_admin_roles import Lab, running_lab, write_secret

# The admin listener has 64 places, of which one address may have half.
SHARE = 32
PARTIAL_HEAD = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n"
CLOSED_FOR_ADDRESS = 'latchkey_http_connections_refused_total{reason="address_idle"}'
WRONG_PER_SECOND = 200
GUESS_SECONDS = 4


def request(path: str, token: str | None = None, *, closes: bool = True) -> bytes:
    fields = (f"Authorization: Bearer {token}\r\n" if token else "") + ("Connection: close\r\n" if closes else "")
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n".encode()


@contextmanager
def holding(address: tuple[str, int], count: int, first: bytes = b"") -> Iterator[list[socket.socket]]:
    """Keeps connections open, each of which has sent `first`. The server may close some of them."""
    held: list[socket.socket] = []
    try:
        for _ in range(count):
            # The server may reset a connection before the client has noticed that it was accepted.
            with suppress(OSError):
                held.append(socket.create_connection(address, timeout=5))
                held[-1].sendall(first)
                if first.endswith(b"\r\n\r\n"):
                    held[-1].recv(65536)
        yield held
    finally:
        for connection in held:
            connection.close()


def statuses(address: tuple[str, int], *requests: bytes) -> list[int]:
    return [status for sent in requests for status in http1_wire.exchange(address, sent).statuses]


@pytest.fixture(scope="module")
def lab(latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with running_lab(tmp_path_factory.mktemp("lockouts")) as lab:
        yield lab


# --- Connections ------------------------------------------------------------------------------------------------------


def assert_good_clients_are_served(lab: Lab) -> None:
    support = lab.tokens["support"]
    good = (request("/livez"), request("/readyz"), request("/v1/whoami", support), request("/v1/status", support))
    assert statuses(lab.daemon.admin, *good * 3) == [200] * len(good) * 3


def test_idle_connections_do_not_lock_out_their_address(lab: Lab) -> None:
    before = lab.daemon.metrics()
    with holding(lab.daemon.admin, SHARE + 8) as held:
        assert_good_clients_are_served(lab)
        assert lab.daemon.metrics()[CLOSED_FOR_ADDRESS] > before[CLOSED_FOR_ADDRESS]
        # What gave way are the connections that were idle for the longest time.
        assert is_ended(held[0]) and not is_ended(held[-1])
    lab.daemon.await_log('"event":"connections_short"')
    (line,) = [line for line in lab.daemon.log.read_text().splitlines() if '"reason":"address_idle"' in line]
    entry = json.loads(line)
    assert (entry["level"], entry["listener"], entry["client"]) == ("warning", "admin", "127.0.0.0/24")


def test_streams_and_kept_connections_of_one_token_do_not_lock_out_others(lab: Lab) -> None:
    support = lab.tokens["support"]
    kept = request("/v1/whoami", support, closes=False)
    with (
        holding(lab.daemon.admin, 16, request("/v1/events", support, closes=False)),
        holding(lab.daemon.admin, 16, kept) as idle,
    ):
        assert_good_clients_are_served(lab)
        # Requests go on at the connections that were used last.
        idle[-1].sendall(kept)
        assert idle[-1].recv(65536).startswith(b"HTTP/1.1 200 ")


def await_places(daemon: OwnDaemon) -> None:
    """Waits until the connections of earlier tests are gone."""
    deadline = time.monotonic() + 60
    while daemon.metrics("latchkey_http_connections ")["latchkey_http_connections"] > 1:
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize("addresses", [1, 2], ids=["address", "listener"])
def test_health_has_a_place_beside_busy_connections(addresses: int, lab: Lab) -> None:
    """Half a head keeps a connection busy for five seconds, and a busy connection gives no place away."""
    await_places(lab.daemon)
    support = lab.tokens["support"]
    held: dict[int, socket.socket] = {}
    deadline = time.monotonic() + 60
    try:
        while True:
            # A connection gives its place away until the daemon has read its half head, so the attacker tries again.
            for number in range(addresses * (SHARE + 4)):
                if number not in held or select.select([held[number]], [], [], 0)[0]:
                    held[number] = busy_connection(f"127.0.0.{1 + number % addresses}", lab.daemon.admin)
            assert statuses(lab.daemon.admin, *(request("/livez"), request("/readyz")) * 4) == [200] * 8
            # These places are for nothing else, and the answer says what to do.
            (other,) = http1_wire.exchange(lab.daemon.admin, request("/v1/whoami", support)).responses
            if other.status == 429:
                break
            assert other.status == 200 and time.monotonic() < deadline
    finally:
        for connection in held.values():
            connection.close()


def busy_connection(source: str, address: tuple[str, int]) -> socket.socket:
    connection = socket.socket()
    connection.bind((source, 0))
    connection.settimeout(5)
    with suppress(OSError):
        connection.connect(address)
        connection.sendall(PARTIAL_HEAD)
    return connection


def test_the_kept_places_give_way_to_newer_connections(lab: Lab) -> None:
    """An attacker who holds the kept places too must not lock out health checks."""
    await_places(lab.daemon)
    with holding(lab.daemon.admin, SHARE + 40, PARTIAL_HEAD):
        assert statuses(lab.daemon.admin, request("/livez"), request("/readyz")) == [200, 200]


@pytest.fixture(scope="module")
def shared_address(latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnDaemon]:
    """A daemon whose clients share an address."""
    with running_daemon(tmp_path_factory.mktemp("nat"), limits={"connectionsPerAddressMaximum": 256}) as daemon:
        yield daemon


def test_idle_connections_behind_one_address_do_not_lock_out_others_behind_it(shared_address: OwnDaemon) -> None:
    with holding(shared_address.public, 256 + 1):
        good = [request("/livez"), request("/fps/certificate")] * 10
        assert statuses(shared_address.public, *good) == [200] * len(good)


def test_the_longest_idle_connection_gives_way_on_whichever_loop_it_is(shared_address: OwnDaemon) -> None:
    """Each new connection may belong to another loop than the idle ones."""
    with holding(shared_address.public, 256) as held:
        newer = request("/livez", closes=False)
        with holding(shared_address.public, 64, newer) as later:
            assert len(later) == 64
            for connection in later:
                connection.sendall(newer)
                assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")
            ended = [connection for connection in held if is_ended(connection)]
            assert len(ended) >= 48
            assert all(not is_ended(connection) for connection in later)


def is_ended(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def test_idle_connections_behind_one_proxy_do_not_lock_out_others_behind_it(
    latchkey_programs: None, tmp_path: Path
) -> None:
    """The PROXY header names the same client again and again."""

    def prepare(setup: Path) -> None:
        file = setup / "latchkey.json5"
        address = 'address: "127.0.0.1:8080"'
        more = f'{address}, trustedProxies: ["127.0.0.1/32"], proxyProtocol: true'
        file.write_text(file.read_text().replace(address, more, 1))

    header = b"PROXY TCP4 192.0.2.7 192.0.2.1 40000 443\r\n"
    with running_daemon(tmp_path, limits={"connectionsPerAddressMaximum": 64}, prepare=prepare) as daemon:
        with holding(daemon.public, 64 + 8, header):
            good = [header + request("/livez"), header + request("/fps/certificate")] * 10
            assert statuses(daemon.public, *good) == [200] * len(good)


# --- Secrets ----------------------------------------------------------------------------------------------------------


@contextmanager
def guessing(send: Callable[[str], int]) -> Iterator[list[int]]:
    """Sends wrong secrets at a steady rate, and collects the statuses of the answers."""
    answers: list[int] = []
    ended = threading.Event()

    def guess() -> None:
        start = time.monotonic()
        for number in itertools.count():
            if ended.wait(max(0.0, start + number / WRONG_PER_SECOND - time.monotonic())):
                return
            answers.append(send(secrets.token_hex(20)))

    thread = threading.Thread(target=guess)
    thread.start()
    try:
        while len(answers) < 20:
            time.sleep(0.01)
        yield answers
    finally:
        ended.set()
        thread.join()


def assert_most_waited(answers: list[int], start: float) -> None:
    """Ten wrong secrets and then one a second are answered as wrong, the others with a wait."""
    seconds = time.monotonic() - start
    plain = [status for status in answers if status != 429]
    assert set(plain) == {401} and len(answers) > len(plain)
    assert len(plain) <= 10 + seconds + 1


def sender(address: tuple[str, int], path: str) -> Callable[[str], int]:
    """A client that presents a secret on a connection that it keeps."""
    connection = socket.create_connection(address)
    reader = connection.makefile("rb")

    def send(secret: str) -> int:
        connection.sendall(request(path, secret, closes=False))
        status = int(reader.readline().split()[1])
        length = 0
        while line := reader.readline().strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        reader.read(length)
        return status

    return send


def test_a_right_token_is_never_refused_beside_wrong_ones(latchkey_programs: None, tmp_path: Path) -> None:
    """No token was right before the guesses began, as after a restart."""
    with running_lab(tmp_path) as lab:
        admin = lab.daemon.admin
        start = time.monotonic()
        with guessing(sender(admin, "/v1/whoami")) as answers:
            send = sender(admin, "/v1/whoami")
            right = []
            while len(right) < 16:
                right += [send(lab.tokens[role]) for role in ("support", "metrics")]
                time.sleep(GUESS_SECONDS / 8)
            assert right == [200] * 16
            # An operator can log in.
            browser = AdminClient(admin).send("POST", "/v1/session", {"token": lab.tokens["support"]})
            assert browser.status == 200
        assert_most_waited(answers, start)


def test_a_token_that_was_withdrawn_is_a_wrong_one(latchkey_programs: None, tmp_path: Path) -> None:
    with running_lab(tmp_path) as lab:
        send = sender(lab.daemon.admin, "/v1/whoami")
        old, new = lab.tokens["support"], secrets.token_hex(20)
        assert send(old) == 200
        write_secret(lab.daemon.setup, "admin-token-support", new)
        lab.configure()
        with guessing(sender(lab.daemon.admin, "/v1/whoami")):
            answers = [(send(old), send(new)) for _ in range(8)]
        assert {status for status, _ in answers} <= {401, 429} and [status for _, status in answers] == [200] * 8


def test_a_right_packager_is_never_refused_beside_wrong_ones(latchkey_programs: None, tmp_path: Path) -> None:
    secret = secrets.token_hex(24)

    def prepare(setup: Path) -> None:
        write_secret(setup, "packager", secret)

    with running_daemon(tmp_path, prepare=prepare) as daemon:
        path = "/v1/keys/no-such-content"
        start = time.monotonic()
        with guessing(sender(daemon.public, path)) as answers:
            send = sender(daemon.public, path)
            right = []
            while len(right) < 15:
                right.append(send(secret))
                time.sleep(GUESS_SECONDS / 15)
            assert right == [404] * 15
        assert_most_waited(answers, start)

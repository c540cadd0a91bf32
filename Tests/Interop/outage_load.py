"""Nodes under a steady load while something fails.

Records the answer to each request, and each second the state that each node reports.
"""

import json
import os
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import http1_wire
import preload
from counting_node import ISSUERS, KEY, Node, message, subject, token
from deployment import register, run_latchkey
from fairplay_device import tags
from license_client import Answer, LicenseClient
from outage_server import Server
from own_daemon import FREE_PORTS, await_addresses, new_setup, start_daemon, stop_daemon

PLAIN_PER_SECOND = 40
RENEWALS_PER_SECOND = 10
SESSIONS = 5
COUNTED_PER_SECOND = 10
LEASE_SECONDS = 600
UNKNOWN_CONTENT = "a-content-that-nobody-asked-for"


# --- A node -----------------------------------------------------------------------------------------------------------


@dataclass
class OutageNode(Node):
    """A daemon whose disk a test can make fail, with the addresses of both listeners."""

    environment: dict[str, str] = field(default_factory=dict)
    admin: tuple[str, int] = ("", 0)

    def start(self, *options: str) -> None:
        self.spawn(*options)
        self.await_ready()

    def spawn(self, *options: str) -> None:
        self.starts += 1
        self.process = start_daemon(self.setup, self.log, self.environment, addresses=FREE_PORTS, arguments=options)

    def await_ready(self) -> None:
        assert self.process is not None
        addresses = await_addresses(self.process, self.log)
        self.url = "http://{}:{}".format(*addresses["public"])
        self.admin = addresses["admin"]

    @property
    def log(self) -> Path:
        return self.setup / f"daemon-{self.starts}.log"

    def stop(self) -> tuple[int, float]:
        """Stops the daemon. Returns its exit status and the seconds that the stop took."""
        assert self.process is not None
        start = time.monotonic()
        return stop_daemon(self.process), time.monotonic() - start

    @property
    def switch(self) -> Path:
        return self.setup / "disk-switch"

    @contextmanager
    def disk(self, fault: str) -> Iterator[None]:
        """Makes the disk of the node's database hang, be full or be read-only inside the context."""
        fresh = self.switch.with_suffix(".new")
        fresh.write_text(fault)
        fresh.rename(self.switch)
        try:
            yield
        finally:
            self.switch.unlink(missing_ok=True)

    def state(self) -> "NodeState":
        metrics = http1_wire.exchange(self.admin, self._request("/metrics")).responses[0]
        assert metrics.status == 200
        lines = (line for line in metrics.body.decode().splitlines() if not line.startswith("#"))
        values = {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}
        ready = http1_wire.exchange(self.admin, self._request("/readyz")).responses[0]
        degraded = ready.body.decode().partition("degraded: ")[2].split()
        return NodeState(ready.status, degraded, values)

    def _request(self, path: str) -> bytes:
        admin_token = (self.setup / "secrets" / "admin-token").read_text().strip()
        return (
            f"GET {path} HTTP/1.1\r\nHost: admin\r\nConnection: close\r\nAuthorization: Bearer {admin_token}\r\n\r\n"
        ).encode()

    def await_state(self, is_wanted: Callable[["NodeState"], bool], seconds: float = 60) -> "NodeState":
        deadline = time.monotonic() + seconds
        while not is_wanted(state := self.state()):
            assert time.monotonic() < deadline, f"{state.ready} {state.degraded} {self.log.read_text()[-2000:]}"
            time.sleep(0.1)
        return state

    def licenses(self) -> Counter[str]:
        """How often each license is in the node's own ledger. Fails if the ledger does not verify."""
        run_latchkey(self.setup, "ledger", "verify")
        rows = (json.loads(line) for line in run_latchkey(self.setup, "ledger", "export").splitlines())
        return Counter(row["license"] for row in rows if row["kind"] in ("license_issued", "license_renewed"))


@dataclass(frozen=True)
class NodeState:
    """The state that a node reports. `ready` is the HTTP status of /readyz."""

    ready: int
    degraded: list[str]
    metrics: dict[str, float]

    def metric(self, name: str) -> float:
        return self.metrics[name]


def build_hanging_disk(folder: Path) -> Path:
    return preload.build("hanging_disk.c", folder)


def node_with_disk(folder: Path, wait: str = "3s") -> OutageNode:
    """A node with SQLite on a disk that can fail. Requests wait at most `wait` for their turn."""
    node = OutageNode(new_setup(folder, {"overload": {"wait": wait}}))
    _prepare(node)
    register(node.setup, ISSUERS.content, KEY)
    return node


def node_on(server: Server, folder: Path, *, url: str | None = None, name: str = "node-1",
            like: OutageNode | None = None, on_outage: str = "refuse") -> OutageNode:
    """A node with PostgreSQL. It gets the secrets of the node `like`, if given."""
    folder.mkdir(exist_ok=True)
    node = OutageNode(new_setup(folder))
    if like is not None:
        for kept in ("fairplay", "secrets"):
            shutil.rmtree(node.setup / kept)
            shutil.copytree(like.setup / kept, node.setup / kept)
    shutil.copy(server.password_file, node.setup / "secrets" / "postgresql-password")
    (node.setup / "secrets" / "postgresql-password").chmod(0o600)
    _replace(
        node,
        'storage: { url: "sqlite:latchkey.db" }',
        f'node: "{name}", storage: {{ url: "{url or server.url()}", password: "secrets/postgresql-password", '
        f'ledger: "latchkey.db", onStoreOutage: "{on_outage}", admitInOutage: {{ perToken: 2, perSubject: 4 }} }}',
    )
    _prepare(node)
    if like is None:
        register(node.setup, ISSUERS.content, KEY)
    return node


def _prepare(node: OutageNode) -> None:
    ISSUERS.write(node.setup)
    # With this, the ledgers have only licenses, and no rate limit refuses a request.
    _replace(node, "ledger: {", "ledger: { refusals: { perSecond: 0 },")
    library = build_hanging_disk(node.setup)
    node.environment = {
        "LD_PRELOAD": str(library),
        "HANGING_DISK_SWITCH": str(node.switch),
        "HANGING_DISK_NAME": str(node.setup / "latchkey.db"),
    }


def _replace(node: OutageNode, old: str, new: str) -> None:
    configuration = node.setup / "latchkey.json5"
    text = configuration.read_text()
    assert old in text, old
    configuration.write_text(text.replace(old, new, 1))


# --- The load ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Asked:
    """A request and its answer. Times are monotonic; `license` is the id of the license, if one was granted."""

    kind: str
    due: float
    answered: float
    status: int
    code: str | None
    license: str | None


class Load:
    """Sends requests at a steady rate until it is stopped: some without counts, some renewals, some that spend a
    use."""

    def __init__(self, nodes: list[OutageNode], kinds: tuple[str, ...] = ("plain", "renewal", "counted")):
        self.nodes = nodes
        self.kinds = kinds
        self.asked: list[Asked] = []
        self.states: list[tuple[float, NodeState]] = []
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        bodies = {"plain": self._plain, "renewal": self._renewals, "counted": self._counted}
        counts = {"plain": 8, "renewal": SESSIONS, "counted": 8}
        for kind in self.kinds:
            for number in range(counts[kind]):
                self._run(bodies[kind], number, counts[kind])
        for node in self.nodes:
            self._run(self._watch, node)

    def _run(self, body: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=body, args=arguments, daemon=True)
        thread.start()
        self._threads.append(thread)

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive(), "a request has got no answer for a minute"

    def _beats(self, number: int, count: int, per_second: float) -> Iterator[float]:
        """Yields when each request of one worker is due.

        A worker that is late sends its requests immediately, to catch up.
        """
        due = time.monotonic() + number / per_second
        while not self._stop.wait(max(0.0, due - time.monotonic())):
            yield due
            due += count / per_second

    def _note(self, kind: str, due: float, answer: Answer | None) -> None:
        license = answer.header("X-License-Id") if answer is not None and answer.status == 200 else None
        status, code = (answer.status, answer.code) if answer is not None else (0, "connection")
        with self._lock:
            self.asked.append(Asked(kind, due, time.monotonic(), status, code, license))

    def _client(self, number: int) -> LicenseClient:
        return LicenseClient(self.nodes[number % len(self.nodes)].url)

    def _ask(self, client: LicenseClient, kind: str, due: float, spc: bytes, presented: str, query: str = "") -> Answer | None:
        headers = {"Content-Type": "application/octet-stream", "Authorization": f"Bearer {presented}"}
        try:
            answer = client.send("POST", f"/fps/license{query}", spc, headers)
        except OSError:
            client.close()
            answer = None
        self._note(kind, due, answer)
        return answer

    def _plain(self, number: int, count: int) -> None:
        client = self._client(number)
        device = self.nodes[0].device()
        presented = token(sub=subject(), exp=int(time.time()) + 3000)
        for due in self._beats(number, count, PLAIN_PER_SECOND):
            self._ask(client, "plain", due, message(device), presented)

    def _counted(self, number: int, count: int) -> None:
        client = self._client(number)
        device = self.nodes[0].device()
        for due in self._beats(number, count, COUNTED_PER_SECOND):
            self._ask(client, "counted", due, message(device), token(sub=subject(), limits={"uses": 1}))

    def _renewals(self, number: int, count: int) -> None:
        client = self._client(number)
        device = self.nodes[0].device()
        session = 1000 + number
        claims = {"sub": subject(), "rights": [{"content": ISSUERS.content, "lease": LEASE_SECONDS}]}
        first = self._ask(client, "first", time.monotonic(), message(device, session), token(**claims))
        assert first is not None and first.status == 200, first
        presented = first.header("X-Session-Token")
        assert presented
        for due in self._beats(number, count, RENEWALS_PER_SECOND):
            spc = message(device, session, tags.LEASE_ABOUT_TO_EXPIRE)
            answer = self._ask(client, "renewal", due, spc, presented, "?renew=true")
            if answer is not None and answer.status == 200:
                presented = answer.header("X-Session-Token") or presented

    def _watch(self, node: OutageNode) -> None:
        while not self._stop.wait(0.5):
            try:
                state = node.state()
            except (OSError, IndexError, ValueError):
                continue
            with self._lock:
                self.states.append((time.monotonic(), state))

    # --- Results ------------------------------------------------------------------------------------------------------

    def share(self, kind: str, start: float, end: float) -> float:
        """The share of the requests due in this time that got a license before one second after its end."""
        with self._lock:
            due = [asked for asked in self.asked if asked.kind == kind and start <= asked.due < end]
        assert len(due) >= 5, f"{len(due)} requests of {kind}"
        return sum(asked.status == 200 and asked.answered < end + 1 for asked in due) / len(due)

    def codes(self, kind: str, start: float = 0, end: float = float("inf")) -> Counter[str | None]:
        with self._lock:
            return Counter(a.code for a in self.asked if a.kind == kind and start <= a.due < end)

    @property
    def given(self) -> list[str]:
        with self._lock:
            return [asked.license for asked in self.asked if asked.license]

    def states_between(self, start: float, end: float) -> list[NodeState]:
        with self._lock:
            return [state for at, state in self.states if start <= at < end]


@contextmanager
def load_on(nodes: list[OutageNode], kinds: tuple[str, ...] = ("plain", "renewal", "counted")) -> Iterator[Load]:
    load = Load(nodes, kinds)
    load.start()
    try:
        yield load
    finally:
        load.stop()


def pass_seconds(seconds: float) -> tuple[float, float]:
    """Waits while a fault lasts. Returns the start and the end of the wait."""
    start = time.monotonic()
    threading.Event().wait(seconds)
    return start, time.monotonic()


def assert_in_ledgers(nodes: list[OutageNode], given: list[str]) -> None:
    """Fails if a license that was granted is in no node's ledger."""
    recorded: Counter[str] = Counter()
    for node in nodes:
        recorded += node.licenses()
    missing = [license for license in given if license not in recorded]
    assert not missing, f"{len(missing)} of {len(given)} licenses are in no ledger: {missing[:3]}"


def shipped_licenses(server: Server) -> int:
    """The number of rows in the shared ledger."""
    return int(server.sql("SELECT count(*) FROM ledger_entry"))

"""Databases and disks that hang, fail, forget or vanish under a steady load. An outage means no answer, not a slow one.

The short tests run with all other tests. Tests with the mark `outage` take longer, and `Scripts/test-outage` runs them
too.
"""

import json
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from counting_node import message, subject, token
from deployment import run_latchkey
from outage_load import (
    Load,
    NodeState,
    OutageNode,
    assert_in_ledgers,
    load_on,
    node_on,
    node_with_disk,
    pass_seconds,
    shipped_licenses,
)
from outage_server import PROGRAMS, Server, as_server, free_port, own_server
from packagers import Credential, Packager, Request, document
from slow_network import slow_network

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not PROGRAMS, reason="PostgreSQL is not installed")]

SHARE = 0.9
WARM_UP_SECONDS = 1.5
# The codes that a client may get for a license that must be counted, while the node cannot count it.
UNCOUNTABLE = {None, "storage_unavailable", "overloaded"}
LOCKED = "content_key, cell"
# The cells of kind 2 count uses: a byte for the version, then the number of uses, which is below 128.
USES = "FROM cell WHERE kind = 2 AND value IS NOT NULL"
MOST_USES = f"SELECT coalesce(max(get_byte(value, 1)), 0) {USES}"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Server]:
    with own_server() as server:
        yield server


@pytest.fixture
def server(cluster: Server) -> Server:
    cluster.restore()
    return cluster


@pytest.fixture
def running(latchkey_programs: None) -> Iterator[list[OutageNode]]:
    """The nodes that the test starts. Those that still run at its end are stopped in the regular way."""
    nodes: list[OutageNode] = []
    yield nodes
    for node in nodes:
        if node.process is not None and node.process.poll() is None:
            node.switch.unlink(missing_ok=True)
            status, _ = node.stop()
            assert status == 0, node.log.read_text()[-2000:]


def started(nodes: list[OutageNode], node: OutageNode, *options: str) -> OutageNode:
    nodes.append(node)
    node.start(*options)
    return node


def is_up(state: NodeState) -> bool:
    return state.metric("latchkey_postgresql_up") == 1


def assert_served(load: Load, start: float, end: float) -> None:
    """Checks that requests which need no count are still served at their rate."""
    shares = {kind: load.share(kind, start, end) for kind in ("plain", "renewal")}
    assert min(shares.values()) >= SHARE, f"{shares} {load.codes('plain', start, end)} {load.codes('renewal', start, end)}"


def assert_counted_once(load: Load, server: Server, nodes: list[OutageNode]) -> None:
    """Checks that no token of `counted` has more than its one use, and that every granted license is counted.

    A node sends rows again that a standby's copy of the ledger lacks.
    """
    assert server.sql(MOST_USES) in ("0", "1")
    given = load.codes("counted")[None]
    counted = int(server.sql(f"SELECT count(*) {USES}"))
    assert counted >= given, f"{given} licenses were given, and {counted} uses are counted"
    assert_in_ledgers(nodes, load.given)
    rows = sum(sum(node.licenses().values()) for node in nodes)
    deadline = time.monotonic() + 60
    while shipped_licenses(server) < rows and time.monotonic() < deadline:
        time.sleep(0.2)
    assert shipped_licenses(server) >= rows


# --- PostgreSQL: the short form ---------------------------------------------------------------------------------------


def test_a_silent_server_is_an_outage(server: Server, running: list[OutageNode], tmp_path: Path) -> None:
    node = started(running, node_on(server, tmp_path / "1"))
    with load_on([node]) as load:
        pass_seconds(WARM_UP_SECONDS)
        server.pause()
        start, end = pass_seconds(6.5)
        late = load.states_between(start + 5.2, end)
        server.go_on()
        node.await_state(is_up)
        pass_seconds(1)
    assert late and all(not is_up(state) and state.degraded == ["postgresql"] for state in late)
    assert all(state.metric('latchkey_degraded{part="postgresql"}') == 1 and state.ready == 200 for state in late)
    assert_served(load, start, end)
    assert set(load.codes("counted", start, end)) <= UNCOUNTABLE
    assert '"event":"degraded"' in node.log.read_text() and '"event":"recovered"' in node.log.read_text()
    assert_counted_once(load, server, [node])


def test_a_locked_table_is_no_outage(server: Server, running: list[OutageNode], tmp_path: Path) -> None:
    """With `admit`, a spent token gets no license while the database is only locked."""
    node = started(running, node_on(server, tmp_path / "1", on_outage="admit"))
    spent = token(sub=subject(), limits={"uses": 1})
    device = node.device()
    assert node.ask(message(device), spent).status == 200
    with load_on([node], ("plain", "renewal")) as load:
        pass_seconds(WARM_UP_SECONDS)
        with server.holding("LOCK TABLE " + LOCKED + " IN ACCESS EXCLUSIVE MODE"):
            codes = []
            asking = threading.Thread(target=lambda: codes.append(node.ask(message(device), spent).code))
            asking.start()
            start, end = pass_seconds(3)
            asking.join()
        states = load.states_between(start, end)
        pass_seconds(1)
    assert codes == ["overloaded"]
    assert states and all(is_up(state) and state.degraded == [] and state.ready == 200 for state in states)
    assert states[-1].metric("latchkey_licenses_admitted_in_outage_total") == 0
    assert states[-1].metric("latchkey_renewals_unchecked_total") > 0
    assert_served(load, start, end)
    assert node.ask(message(device), spent).code == "token_used"
    assert_in_ledgers([node], load.given)


@pytest.mark.parametrize("is_silent", [True, False], ids=["silent", "killed"])
def test_packagers_get_the_keys_that_the_node_knows(
    server: Server, running: list[OutageNode], tmp_path: Path, is_silent: bool
) -> None:
    """SPEKE and `/v1/keys` in an outage: a node gives the keys again that it gave within the last hour.

    Each gets its row in the ledger. The node makes no new key, and gives no key that it did not give before.
    """
    node = started(running, node_on(server, tmp_path / "1"))
    secret = (node.setup / "secrets" / "packager").read_text().strip()
    packager = Packager(node.url, Credential("development", secret))
    known, unknown = Request(), Request()
    wanted = {"contentId": f"json-{known.content}", "tracks": ["VIDEO"]}
    before = document(packager.post(known.document())).keys
    first = packager.ask("POST", "/v1/keys", wanted)
    assert first.status == 200, first.body
    server.pause() if is_silent else server.kill()
    node.await_state(lambda state: not is_up(state))
    assert document(packager.post(known.document())).keys == before
    again = packager.ask("POST", "/v1/keys", wanted)
    assert again.status == 200 and again.body == first.body.replace(b'"created"', b'"found"')
    for answer in (packager.post(unknown.document()), packager.ask("POST", "/v1/keys", wanted | {"contentId": unknown.content})):
        assert (answer.status, answer.code) == (503, "storage_unavailable")
        assert int(answer.header("Retry-After")) >= 1
    server.go_on() if is_silent else server.start()
    node.await_state(is_up)
    assert len(document(packager.post(unknown.document())).keys) == 2
    assert document(packager.post(known.document())).keys == before
    rows = [json.loads(line) for line in run_latchkey(node.setup, "ledger", "export").splitlines()]
    kinds = [row["kind"] for row in rows if row.get("content") == known.content]
    assert sorted(kinds) == ["key_created"] * 2 + ["key_delivered"] * 4


# --- The disk: the short form -----------------------------------------------------------------------------------------


def test_a_hanging_disk_has_a_deadline_and_does_not_keep_the_node_from_stopping(
    running: list[OutageNode], tmp_path: Path
) -> None:
    node = started(running, node_with_disk(tmp_path, wait="1s"))
    with load_on([node], ("plain",)) as load:
        pass_seconds(1)
        with node.disk("hang"):
            start, end = pass_seconds(2.5)
            states = load.states_between(start + 1.7, end)
        after = node.await_state(lambda state: state.ready == 200)
        pass_seconds(0.5)
    with node.disk("hang"):
        assert node.ask(message(node.device()), token()).code == "storage_unavailable"
        status, seconds = node.stop()
    assert status == 0 and seconds < 30
    assert '"event":"ledger_writer_hangs"' in node.log.read_text()
    assert set(load.codes("plain", start, end)) <= {None, "storage_unavailable", "overloaded"}
    assert load.codes("plain", start + 0.5, end)["storage_unavailable"] > 0
    assert max(asked.answered - asked.due for asked in load.asked) < 15, "requests wait no longer than overload.wait"
    assert states and all(state.ready == 503 and state.degraded == ["ledger"] for state in states)
    assert after.degraded == []
    assert "does not answer" in node.log.read_text()
    assert_in_ledgers([node], load.given)


def test_a_database_file_that_is_gone_is_noticed(running: list[OutageNode], tmp_path: Path) -> None:
    node = started(running, node_with_disk(tmp_path))
    database = node.setup / "latchkey.db"
    with load_on([node], ("plain",)) as load:
        pass_seconds(1)
        kept = database.with_name("kept.db")
        database.rename(kept)
        gone = time.monotonic()
        state = node.await_state(lambda state: state.ready == 503, 5)
        noticed = time.monotonic()
        pass_seconds(0.5)
    assert state.degraded == ["ledger"]
    # The node granted no license while the file was missing.
    assert not [asked for asked in load.asked if asked.status == 200 and asked.due > gone + 0.2], noticed - gone
    assert_in_kept(node, kept, load)
    # A restart creates an empty database only if the operator demands it.
    refused = OutageNode(node.setup, starts=node.starts, environment=node.environment)
    running.append(refused)
    refused.spawn()
    assert refused.process is not None and refused.process.wait(30) != 0
    assert "--new-database" in refused.log.read_text() and not database.exists()


def assert_in_kept(node: OutageNode, kept: Path, load: Load) -> None:
    """Checks that the kept file, with its write-ahead log under the old name, has everything that was acknowledged."""
    node.stop()
    database = node.setup / "latchkey.db"
    kept.rename(database)
    assert_in_ledgers([node], load.given)
    database.rename(kept)


@pytest.mark.outage
def test_a_new_database_is_made_only_on_demand(running: list[OutageNode], tmp_path: Path) -> None:
    node = started(running, node_with_disk(tmp_path))
    node.stop()
    for file in node.setup.glob("latchkey.db*"):
        if not file.name.endswith("-lock"):
            file.unlink()
    again = OutageNode(node.setup, starts=node.starts, environment=node.environment)
    running.append(again)
    again.spawn()
    assert again.process is not None and again.process.wait(30) != 0
    assert not (node.setup / "latchkey.db").exists()
    started(running, again, "--new-database")
    assert again.state().ready == 200


# --- Starts -----------------------------------------------------------------------------------------------------------


@pytest.mark.outage
def test_a_node_starts_without_its_database_and_is_not_ready(
    server: Server, running: list[OutageNode], tmp_path: Path
) -> None:
    node = node_on(server, tmp_path / "1")
    server.kill()
    started(running, node)
    state = node.state()
    assert state.ready == 503 and state.degraded == ["postgresql", "revocations"]
    assert "password file" not in node.log.read_text()
    server.start()
    state = node.await_state(lambda state: state.ready == 200)
    assert state.degraded == []
    assert node.ask(message(node.device()), token(limits={"uses": 1})).status == 200


@pytest.mark.outage
def test_a_node_stops_if_the_first_connection_shows_another_key(
    server: Server, running: list[OutageNode], tmp_path: Path
) -> None:
    node = node_on(server, tmp_path / "1")
    server.kill()
    (node.setup / "secrets" / "key-encryption-key").write_text("ab" * 32 + "\n")
    started(running, node)
    server.start()
    assert node.process is not None and node.process.wait(60) != 0
    assert "key-encryption key" in node.log.read_text()


@pytest.mark.outage
def test_libpq_says_nothing_of_password_files(running: list[OutageNode], server: Server, tmp_path: Path) -> None:
    node = node_on(server, tmp_path / "1")
    configuration = node.setup / "latchkey.json5"
    configuration.write_text(
        configuration.read_text()
        .replace('password: "secrets/postgresql-password", ', "")
        .replace(f":{server.port}/", f":{free_port()}/")
    )
    started(running, node)
    node.await_state(lambda state: state.degraded == ["postgresql", "revocations"])
    assert all(line.startswith("{") for line in node.log.read_text().splitlines())


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("/latchkey?", "/no_such_database?", "3D000"),
        pytest.param("//latchkey@", "//no_such_role@", "28P01", marks=pytest.mark.outage),
    ],
)
def test_a_mistake_in_the_configuration_is_no_outage(
    server: Server, running: list[OutageNode], tmp_path: Path, old: str, new: str, named: str
) -> None:
    node = node_on(server, tmp_path / "1")
    configuration = node.setup / "latchkey.json5"
    configuration.write_text(configuration.read_text().replace(old, new))
    running.append(node)
    node.spawn()
    assert node.process is not None and node.process.wait(30) != 0
    assert named in node.log.read_text() and "does not answer" not in node.log.read_text()


@pytest.mark.parametrize(
    "ignored",
    [pytest.param("", marks=pytest.mark.outage), "ignore_startup_parameters = options,extra_float_digits"],
)
def test_a_pooler_in_transaction_mode_is_refused_in_one_sentence(
    server: Server, running: list[OutageNode], tmp_path: Path, ignored: str
) -> None:
    program = Path("/usr/sbin/pgbouncer")
    if not program.exists():
        pytest.skip("pgbouncer is not installed")
    node = node_on(server, tmp_path / "1")
    with pooler(program, server, ignored) as port:
        configuration = node.setup / "latchkey.json5"
        configuration.write_text(
            configuration.read_text().replace(f":{server.port}/", f":{port}/").replace(server.schema, "pooled")
        )
        running.append(node)
        node.spawn()
        assert node.process is not None and node.process.wait(30) != 0
    log = node.log.read_text()
    assert "connection pooler" in log and "does not answer" not in log
    assert server.sql("SELECT count(*) FROM pg_tables WHERE schemaname IN ('public', 'pooled')") == "0"


class pooler:
    """pgbouncer in front of a server, with transaction pooling."""

    def __init__(self, program: Path, server: Server, ignored: str):
        self.program, self.server, self.ignored = program, server, ignored
        self.port = free_port()

    def __enter__(self) -> int:
        folder = self.server.folder / f"pooler-{self.port}"
        folder.mkdir()
        password = self.server.password_file.read_text().strip()
        (folder / "users").write_text(f'"latchkey" "{password}"\n')
        (folder / "pgbouncer.ini").write_text(
            f"[databases]\nlatchkey = host=127.0.0.1 port={self.server.port} password={password}\n[pgbouncer]\n"
            f"listen_addr = 127.0.0.1\nlisten_port = {self.port}\nunix_socket_dir =\nauth_type = scram-sha-256\n"
            f"auth_file = {folder / 'users'}\npool_mode = transaction\n{self.ignored}\n"
        )
        with (folder / "log").open("wb") as log:
            self.process = subprocess.Popen(
                [*as_server(), self.program, folder / "pgbouncer.ini"], stdout=log, stderr=log
            )
        deadline = time.monotonic() + 30
        while subprocess.run(
            [PROGRAMS[0] / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)], check=False
        ).returncode:
            assert time.monotonic() < deadline, (folder / "log").read_text()
            time.sleep(0.05)
        return self.port

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)


# --- Scripts/test-outage ----------------------------------------------------------------------------------------------


@pytest.mark.outage
@pytest.mark.parametrize("round_trip", [0.5, 2.0])
def test_a_slow_network_reaches_nothing_that_needs_no_database(
    server: Server, running: list[OutageNode], tmp_path: Path, round_trip: float
) -> None:
    with slow_network("127.0.0.1", server.port) as network:
        node = started(running, node_on(server, tmp_path / "1", url=server.url(network.port)))
        with load_on([node]) as load:
            pass_seconds(WARM_UP_SECONDS)
            network.round_trip = round_trip
            start, end = pass_seconds(15)
            states = load.states_between(start, end)
            network.round_trip = 0.0
            pass_seconds(4)
        # A slow database does not count as an outage.
        assert states and all(is_up(state) and state.ready == 200 for state in states)
        assert_served(load, start, end)
        assert_counted_once(load, server, [node])


@pytest.mark.outage
@pytest.mark.parametrize("seconds", [9, 20])
def test_a_long_lock(server: Server, running: list[OutageNode], tmp_path: Path, seconds: int) -> None:
    node = started(running, node_on(server, tmp_path / "1"))
    with load_on([node]) as load:
        pass_seconds(WARM_UP_SECONDS)
        with server.holding("LOCK TABLE " + LOCKED + " IN ACCESS EXCLUSIVE MODE"):
            start, end = pass_seconds(seconds)
        pass_seconds(4)
    assert set(load.codes("counted", start, end)) <= UNCOUNTABLE
    assert_served(load, start, end)
    assert_counted_once(load, server, [node])


@pytest.mark.outage
def test_a_killed_server_and_what_was_admitted_meanwhile(
    server: Server, running: list[OutageNode], tmp_path: Path
) -> None:
    node = started(running, node_on(server, tmp_path / "1", on_outage="admit"))
    thrice, device = token(sub=subject(), limits={"uses": 3}), node.device()
    assert node.ask(message(device), thrice).status == 200
    with load_on([node]) as load:
        pass_seconds(WARM_UP_SECONDS)
        server.kill()
        start, end = pass_seconds(8)
        codes = [node.ask(message(device), thrice).code for _ in range(20)]
        late = load.states_between(start + 5.5, end)
        server.start()
        node.await_state(is_up)
        node.await_state(lambda state: state.metric("latchkey_recounted_total") > 0)
        pass_seconds(3)
    # In one outage, each token gets two licenses at most.
    assert codes == [None] * 2 + ["storage_unavailable"] * 18
    assert late and all(not is_up(state) and state.ready == 200 for state in late)
    assert_served(load, start, end)
    assert node.ask(message(device), thrice).code == "token_used"
    assert server.sql(MOST_USES) == "3"
    assert_in_ledgers([node], load.given)
    assert int(server.sql(f"SELECT count(*) {USES}")) >= load.codes("counted")[None]


@pytest.mark.outage
def test_a_server_silent_for_long(server: Server, running: list[OutageNode], tmp_path: Path) -> None:
    nodes = [started(running, node_on(server, tmp_path / "1"))]
    nodes.append(started(running, node_on(server, tmp_path / "2", name="node-2", like=nodes[0])))
    with load_on(nodes) as load:
        pass_seconds(WARM_UP_SECONDS)
        server.pause()
        start, end = pass_seconds(30)
        late = load.states_between(start + 5.5, end)
        server.go_on()
        for node in nodes:
            node.await_state(is_up)
        pass_seconds(4)
    assert late and all(not is_up(state) and state.ready == 200 for state in late)
    assert_served(load, start, end)
    assert_counted_once(load, server, nodes)


@pytest.mark.outage
def test_a_synchronous_standby_that_is_gone(server: Server, running: list[OutageNode], tmp_path: Path) -> None:
    node = started(running, node_on(server, tmp_path / "1"))
    with load_on([node]) as load:
        pass_seconds(WARM_UP_SECONDS)
        server.sql("ALTER SYSTEM SET synchronous_standby_names = 'gone'; SELECT pg_reload_conf()", user="postgres")
        start, end = pass_seconds(15)
        states = load.states_between(start + 1, end)
        server.sql(
            "SET synchronous_commit = local; ALTER SYSTEM RESET synchronous_standby_names; SELECT pg_reload_conf()",
            user="postgres",
        )
        pass_seconds(5)
    assert states and all(is_up(state) and state.ready == 200 for state in states)
    assert set(load.codes("counted", start, end)) <= UNCOUNTABLE
    assert_served(load, start, end)
    assert_counted_once(load, server, [node])


@pytest.mark.outage
def test_a_standby_that_lacks_the_last_two_seconds(running: list[OutageNode], tmp_path: Path) -> None:
    with own_server(wal_level="replica", max_wal_senders="5") as primary:
        (primary.data / "pg_hba.conf").open("a").write("host replication all 127.0.0.1/32 scram-sha-256\n")
        primary.sql("SELECT pg_reload_conf()", user="postgres")
        with slow_network("127.0.0.1", primary.port) as network:
            standby = primary.make_standby(primary.folder.parent / "standby")
            configuration = standby.data / "postgresql.auto.conf"
            configuration.write_text(configuration.read_text().replace(f"port={primary.port}", f"port={network.port}"))
            standby.start()
            try:
                _fail_over(primary, standby, network, running, tmp_path)
            finally:
                standby.stop()


def _fail_over(primary, standby, network, running, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    url = primary.url().replace("/latchkey?", f",127.0.0.1:{standby.port}/latchkey?")
    nodes = [started(running, node_on(primary, tmp_path / "1", url=url))]
    nodes.append(started(running, node_on(primary, tmp_path / "2", url=url, name="node-2", like=nodes[0])))
    with load_on(nodes) as load:
        pass_seconds(WARM_UP_SECONDS + 3)
        # From now on, the standby gets nothing that the primary writes.
        network.round_trip = 100_000.0
        pass_seconds(2)
        primary.kill()
        standby.promote()
        start, end = pass_seconds(10)
        for node in nodes:
            node.await_state(is_up)
            node.await_state(lambda state: state.metric("latchkey_recounts_restored_total") > 0)
        pass_seconds(3)
    assert_served(load, start, end)
    # The counts that the standby lacked have been restored.
    assert_counted_once(load, standby, nodes)


@pytest.mark.outage
@pytest.mark.parametrize("fault", ["hang", "full", "readonly"])
def test_disks_that_fail(
    server: Server, running: list[OutageNode], tmp_path: Path, fault: str
) -> None:
    node = started(running, node_on(server, tmp_path / "1"))
    with load_on([node]) as load:
        pass_seconds(WARM_UP_SECONDS)
        with node.disk(fault):
            start, end = pass_seconds(12)
            states = load.states_between(start + 4.5, end)
        node.await_state(lambda state: state.ready == 200 and state.degraded == [])
        pass_seconds(3)
    for kind in ("plain", "renewal", "counted"):
        assert set(load.codes(kind, start, end)) <= UNCOUNTABLE | {"token_used"}
    assert states and all(state.ready == 503 and state.degraded == ["ledger"] for state in states)
    assert load.share("plain", end + 1.5, end + 2.5) >= SHARE
    assert_counted_once(load, server, [node])


@pytest.mark.outage
def test_a_full_disk_at_start_is_named(running: list[OutageNode], tmp_path: Path) -> None:
    node = node_with_disk(tmp_path)
    with node.disk("full"):
        running.append(node)
        node.spawn()
        assert node.process is not None and node.process.wait(30) != 0
    assert "is full" in node.log.read_text()

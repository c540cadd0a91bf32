"""The copy of each node's ledger in PostgreSQL: it is complete, verified and readable, and kept only for its
retention."""

import json
import os
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import http1_wire
from counting_node import Node, message, nodes_on_one_database, subject, token
from deployment import run_latchkey
from own_daemon import OwnDaemon, await_addresses, stop_daemon
from test_ledger_identity import configure, verify
from upgrade_data import sql

pytestmark = pytest.mark.slow

WAIT_SECONDS = 60
COMMAND_SECONDS = 60
LICENSES = 5


@pytest.fixture
def nodes(latchkey_programs: None, tmp_path: Path) -> list[Node]:
    if "LATCHKEY_POSTGRESQL" not in os.environ:
        pytest.skip("LATCHKEY_POSTGRESQL names no server: Scripts/with-postgresql Scripts/test-interop starts one")
    return nodes_on_one_database(tmp_path, 2)


def schema_of(node: Node) -> str:
    text = (node.setup / "latchkey.json5").read_text()
    return text.split("schema=")[1].split('"')[0]


def copy(node: Node, statement: str) -> str:
    """Runs a statement in the schema of the nodes."""
    return sql(f"SET search_path = {schema_of(node)}; {statement}").splitlines()[-1]


def start(node: Node) -> OwnDaemon:
    node.start()
    assert node.process is not None
    log = node.setup / f"daemon-{node.starts}.log"
    addresses = await_addresses(node.process, log)
    return OwnDaemon(node.process, node.setup, addresses["public"], addresses["admin"], log)


def stop(node: Node) -> None:
    assert node.process is not None and stop_daemon(node.process) == 0


def licenses(node: Node, count: int = LICENSES) -> list[str]:
    """Requests licenses one after the other, so that each becomes its own batch."""
    device = node.device()
    answers = [node.ask(message(device), token(sub=subject())) for _ in range(count)]
    assert [answer.status for answer in answers] == [200] * count
    return [answer.header("X-License-Id") or "" for answer in answers]


def wait(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)
    assert condition()


def await_shipped(node: Node, daemon: OwnDaemon) -> None:
    own = len(run_latchkey(node.setup, "ledger", "export").splitlines())
    wait(lambda: copied(node) >= own, f"{copied(node)} of {own} rows were shipped")


def identity(node: Node) -> str:
    return str(verify(node)["node"])


def copied(node: Node) -> int:
    return int(copy(node, f"SELECT count(*) FROM ledger_entry WHERE node = '{identity(node)}'"))


def shared(node: Node, *words: str, status: int = 0) -> dict[str, Any]:
    finished = subprocess.run(
        [os.environ["LATCHKEY_BIN"], "ledger", *words, "--shared", "--json", "--config", node.setup / "latchkey.json5"],
        capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False,
    )
    assert finished.returncode == status, finished.stderr
    return json.loads(finished.stdout)


def issued(node: Node, *words: str) -> list[dict[str, Any]]:
    """The entries of issued licenses in the copies."""
    return [entry for entry in shared(node, "query", *words)["entries"] if entry["kind"] == "license_issued"]


def test_the_copies_of_all_nodes_are_verified_and_read(nodes: list[Node]) -> None:
    daemons = [start(node) for node in nodes]
    given = [licenses(node) for node in nodes]
    for node, daemon in zip(nodes, daemons, strict=True):
        await_shipped(node, daemon)
    verified = shared(nodes[0], "verify")
    rows = {identity(node): len(run_latchkey(node.setup, "ledger", "export").splitlines()) for node in nodes}
    assert verified["isSound"] and {node["node"]: node["entries"] for node in verified["nodes"]} == rows
    assert {node["name"] for node in verified["nodes"]} == {"node-0", "node-1"}
    found = issued(nodes[0])
    assert {entry["license"] for entry in found} == set(given[0] + given[1])
    one = shared(nodes[0], "query", "--license", given[1][0])["entries"]
    assert [(entry["license"], entry["name"]) for entry in one] == [(given[1][0], "node-1")]
    alone = issued(nodes[0], "--node", "node-1")
    assert {entry["license"] for entry in alone} == set(given[1])
    late = shared(nodes[0], "query", "--from", "2001-01-01T00:00:00Z", "--to", "2002-01-01T00:00:00Z")
    assert late["entries"] == []
    copy(nodes[0], f"UPDATE ledger_entry SET body = body || '\\x00' WHERE node = '{identity(nodes[1])}' AND sequence = 3 RETURNING 1")
    broken = shared(nodes[0], "verify", status=1)
    assert not broken["isSound"]
    assert [finding["finding"] for node in broken["nodes"] for finding in node["findings"]] == ["row_altered"]
    for node in nodes:
        stop(node)


def why(node: Node, request: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [os.environ["LATCHKEY_BIN"], "why", request, "--config", node.setup / "latchkey.json5", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False)


def test_why_finds_the_refusal_of_another_node_in_the_copies(nodes: list[Node]) -> None:
    here, there = nodes
    start(here)
    daemon = start(there)
    refused = there.ask(message(there.device(), asset="another-content"), token(sub=subject()))
    assert refused.status == 403
    request = refused.header("X-Request-Id") or ""
    await_shipped(there, daemon)
    stop(there)
    alone = why(here, request)
    assert alone.returncode == 1 and "another node" in alone.stderr
    found = why(here, request, "--shared")
    assert found.returncode == 0, found.stderr
    assert json.loads(refused.body)["code"] in found.stdout
    nowhere = why(here, "0" * 16, "--shared")
    assert nowhere.returncode == 1 and "the copies of all ledgers" in nowhere.stderr
    stop(here)


def test_rows_that_the_copy_has_lost_are_sent_again_after_a_reconnect(nodes: list[Node]) -> None:
    node = nodes[0]
    daemon = start(node)
    licenses(node)
    await_shipped(node, daemon)
    rows = copied(node)
    assert rows > LICENSES
    lost = [
        "DELETE FROM ledger_entry WHERE sequence = 2",
        "DELETE FROM ledger_batch WHERE first = 3",
        "DELETE FROM ledger_entry WHERE sequence = 4",
        "DELETE FROM ledger_batch WHERE first = 4",
    ]
    for statement in lost:
        copy(node, f"{statement} RETURNING 1")
    assert not shared(node, "verify", status=1)["isSound"]
    # Ends all connections, as a failover to a standby does.
    sql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()")
    wait(lambda: copied(node) == rows, "the missing rows were not sent")
    assert shared(node, "verify")["isSound"]
    wait(lambda: daemon.metrics()["latchkey_ledger_copy_rows_mended_total"] >= 3, "the metric counts no rows")
    daemon.await_log('"event":"ledger_copy_mended"')
    stop(node)


def test_rows_past_the_retention_leave_the_copy_and_are_not_sent_again(nodes: list[Node]) -> None:
    node = nodes[0]
    daemon = start(node)
    licenses(node)
    await_shipped(node, daemon)
    stop(node)
    # Makes all batches except the last one older, in the ledger and in its copy.
    copy(node, f"UPDATE ledger_batch SET at = at - 100000 WHERE first < {LICENSES} RETURNING 1")
    execute(node.setup / "ledger.db", f"UPDATE ledger_batch SET at = at - 100000 WHERE first_sequence < {LICENSES}")
    configure(node, "ledger: {", 'ledger: { sharedRetention: "24h",')
    daemon = start(node)
    daemon.await_log('"place":"copy"')
    floor = f"SELECT last FROM ledger_batch WHERE node = '{identity_unverified(node)}' AND first = 0"
    wait(lambda: copy(node, floor) == str(LICENSES - 1), "the copy was not purged")
    assert daemon.metrics()["latchkey_ledger_copy_rows_purged_total"] == LICENSES - 1
    stop(node)
    # After it has connected again, the node still has all rows, but does not send the purged ones.
    daemon = start(node)
    licenses(node, 1)
    count = f"SELECT count(*) FROM ledger_entry WHERE node = '{identity_unverified(node)}' AND sequence < {LICENSES}"
    newest = f"SELECT max(sequence) FROM ledger_entry WHERE node = '{identity_unverified(node)}'"
    wait(lambda: int(copy(node, newest)) >= LICENSES + 2, "the new license was not shipped")
    assert copy(node, count) == "0"
    said = shared(node, "query", status=0)["entries"]
    assert [entry["detail"] for entry in said if entry["kind"] == "shared_rows_purged"] == [
        f"{LICENSES - 1} through {LICENSES - 1} kept 86400 s"
    ]
    stop(node)


def execute(database: Path, statement: str) -> None:
    connection = sqlite3.connect(database)
    connection.execute(statement)
    connection.commit()
    connection.close()


def identity_unverified(node: Node) -> str:
    connection = sqlite3.connect(node.setup / "ledger.db")
    (name,) = connection.execute("SELECT node FROM ledger_node").fetchone()
    connection.close()
    return str(name)


def test_a_ledger_that_was_put_back_is_degraded_until_it_rejoins(nodes: list[Node], tmp_path: Path) -> None:
    node = nodes[0]
    daemon = start(node)
    first = licenses(node)
    await_shipped(node, daemon)
    stop(node)
    rows = int(str(verify(node)["entries"]))
    # Each run of the daemon adds an entry for its start and one for its stop.
    run = LICENSES + 2
    saved = tmp_path / "saved"
    saved.mkdir()
    for file in node.setup.glob("ledger.db*"):
        shutil.copy(file, saved)
    daemon = start(node)
    second = licenses(node)
    await_shipped(node, daemon)
    stop(node)
    for file in node.setup.glob("ledger.db*"):
        file.unlink()
    for file in saved.iterdir():
        shutil.copy(file, node.setup)
    daemon = start(node)
    third = licenses(node)
    wait(lambda: daemon.metrics()["latchkey_ledger_copy_contradicted"] == 1, "nothing says that the copy is ahead")
    assert daemon.metrics()["latchkey_ledger_copy_lag_rows"] >= LICENSES
    assert "ledger_copy" in degraded(daemon)
    refused = subprocess.run(
        [os.environ["LATCHKEY_BIN"], "ledger", "rejoin", "--config", node.setup / "latchkey.json5"],
        capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False,
    )
    assert refused.returncode == 1 and "stop it first" in refused.stderr
    stop(node)
    done = json.loads(run_latchkey(node.setup, "ledger", "rejoin", "--json"))
    assert (done["taken"], done["again"], done["succeeded"]) == (run, run, [])
    daemon = start(node)
    await_shipped(node, daemon)
    assert daemon.metrics()["latchkey_ledger_copy_contradicted"] == 0
    assert "ledger_copy" not in degraded(daemon)
    entries = shared(node, "query")["entries"]
    assert {entry["license"] for entry in entries} >= set(first + second + third)
    assert [entry["kind"] for entry in entries].count("ledger_rejoined") == 1
    assert shared(node, "verify")["isSound"] and verify(node)["entries"] == rows + 2 * run + 2
    assert "agree" in subprocess.run(
        [os.environ["LATCHKEY_BIN"], "ledger", "rejoin", "--config", node.setup / "latchkey.json5"],
        capture_output=True, text=True, timeout=COMMAND_SECONDS, check=True,
    ).stderr
    stop(node)


def degraded(daemon: OwnDaemon) -> str:
    """The admin listener's answer about readiness."""
    bearer = (daemon.setup / "secrets" / "admin-token").read_text().strip()
    request = f"GET /readyz HTTP/1.1\r\nHost: admin\r\nConnection: close\r\nAuthorization: Bearer {bearer}\r\n\r\n"
    (answer,) = http1_wire.exchange(daemon.admin, request.encode()).responses
    assert answer.status == 200, answer
    return answer.body.decode()


def test_a_ledger_that_was_lost_is_degraded_until_it_rejoins(nodes: list[Node]) -> None:
    node = nodes[0]
    daemon = start(node)
    first = licenses(node)
    await_shipped(node, daemon)
    lost = identity(node)
    stop(node)
    # The whole disk is lost, and the mark of the database with it.
    for file in [*node.setup.glob("ledger.db*"), node.setup / ".ledger.db-lock"]:
        file.unlink()
    # Makes the node look as if it had been away for longer than a running node is ever silent.
    copy(node, "UPDATE ledger_node SET seen_at = 0 RETURNING 1")
    daemon = start(node)
    second = licenses(node)
    wait(lambda: daemon.metrics()["latchkey_ledger_copy_lost_nodes"] == 1, "nothing says that a ledger was lost")
    assert "ledger_copy" in degraded(daemon)
    await_shipped(node, daemon)
    done = json.loads(run_latchkey(node.setup, "ledger", "rejoin", "--json"))
    assert done["succeeded"] == [lost] and done["node"] != lost
    stop(node)
    daemon = start(node)
    await_shipped(node, daemon)
    assert daemon.metrics()["latchkey_ledger_copy_lost_nodes"] == 0
    entries = shared(node, "query")["entries"]
    assert {entry["license"] for entry in entries} >= set(first + second)
    assert [entry["detail"] for entry in entries if entry["kind"] == "ledger_rejoined"] == [f"goes on for {lost}"]
    successors = {item["node"]: item["successor"] for item in shared(node, "verify")["nodes"]}
    assert successors[lost] == done["node"]
    stop(node)

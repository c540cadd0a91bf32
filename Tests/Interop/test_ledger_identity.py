"""To which node a ledger belongs, and to which installation secrets belong.

The cases are renamed nodes, new ledger keys, and secrets that are not the installation's.
"""

import json
import os
import re
import secrets
import signal
import subprocess
import time
from pathlib import Path

import pytest

from counting_node import Node, message, node_alone, nodes_on_one_database, subject, token
from deployment import run_latchkey
from own_daemon import FREE_PORTS, START_SECONDS, start_daemon, stop_daemon

pytestmark = pytest.mark.slow

RESTART_SECONDS = 60


@pytest.fixture
def node(latchkey_programs: None, tmp_path: Path) -> Node:
    return node_alone(tmp_path)


@pytest.fixture
def nodes(latchkey_programs: None, tmp_path: Path) -> list[Node]:
    if "LATCHKEY_POSTGRESQL" not in os.environ:
        pytest.skip("LATCHKEY_POSTGRESQL names no server: Scripts/with-postgresql Scripts/test-interop starts one")
    return nodes_on_one_database(tmp_path, 2)


def configure(node: Node, pattern: str, replacement: str) -> None:
    file = node.setup / "latchkey.json5"
    text, count = re.subn(pattern, lambda _: replacement, file.read_text(), count=1)
    assert count == 1, pattern
    file.write_text(text)


def write_secret(node: Node, name: str) -> None:
    file = node.setup / "secrets" / name
    file.write_text(secrets.token_hex(32) + "\n")
    file.chmod(0o600)


def serve(node: Node, licenses: int = 3) -> list[str]:
    """Starts the node, requests licenses, stops it in the regular way, and returns the licenses' ids."""
    node.start()
    device = node.device()
    answers = [node.ask(message(device), token(sub=subject())) for _ in range(licenses)]
    assert [answer.status for answer in answers] == [200] * licenses
    assert node.process is not None and stop_daemon(node.process) == 0
    return [answer.header("X-License-Id") or "" for answer in answers]


def refusal(node: Node, *arguments: str) -> str:
    """The output of a daemon that must refuse to start, or of a check that must fail."""
    program = Path(os.environ["LATCHKEY_BIN"]).with_name("latchkeyd")
    finished = subprocess.run(
        [program, "--config", node.setup / "latchkey.json5", *arguments], env=os.environ | FREE_PORTS, text=True,
        capture_output=True, timeout=START_SECONDS, check=False,
    )
    assert finished.returncode == 1, finished.stderr
    return finished.stderr


def verify(node: Node, *arguments: str) -> dict[str, object]:
    verified = json.loads(run_latchkey(node.setup, "ledger", "verify", "--json", *arguments))
    assert verified["isSound"] and verified["findings"] == []
    return verified


# --- The node's id ----------------------------------------------------------------------------------------------------


def test_a_renamed_node_goes_on_with_its_ledger(node: Node) -> None:
    first = serve(node)
    identity = verify(node)["node"]
    assert re.fullmatch("[0-9a-f]{32}", str(identity))
    configure(node, r"(?m)^\{", '{ node: "another-name",')
    second = serve(node)
    assert verify(node)["node"] == identity
    exported = run_latchkey(node.setup, "ledger", "export")
    assert all(license in exported for license in first + second)


def test_a_copy_under_another_name_verifies(node: Node, tmp_path: Path) -> None:
    serve(node)
    rows = len(run_latchkey(node.setup, "ledger", "export").splitlines())
    configure(node, r"(?m)^\{", '{ node: "a-copy-elsewhere",')
    assert verify(node)["entries"] == rows > 3


def test_a_ledger_of_another_key_is_one_finding(node: Node) -> None:
    node.start()
    device = node.device()
    for _ in range(20):
        assert node.ask(message(device), token()).status == 200
    assert node.process is not None and stop_daemon(node.process) == 0
    write_secret(node, "ledger-key")
    finished = subprocess.run(
        [os.environ["LATCHKEY_BIN"], "ledger", "verify", "--config", node.setup / "latchkey.json5", "--json"],
        capture_output=True, text=True, timeout=START_SECONDS, check=False,
    )
    assert finished.returncode == 1
    assert [finding["finding"] for finding in json.loads(finished.stdout)["findings"]] == ["sealed_by_others"]


def test_checkpoints_of_several_nodes_are_taken(nodes: list[Node], tmp_path: Path) -> None:
    for node in nodes:
        serve(node)
    log = tmp_path / "all.log"
    log.write_text("".join(path.read_text() for node in nodes for path in node.setup.glob("daemon-*.log")))
    for node in nodes:
        verified = verify(node, "--checkpoints", str(log))
        assert int(verified["checkpoints"]) >= 1
        assert int(verified["otherNodesCheckpoints"]) >= 1


# --- The ledger's key -------------------------------------------------------------------------------------------------


def test_a_ledger_key_is_replaced(node: Node) -> None:
    before = serve(node)
    os.rename(node.setup / "secrets" / "ledger-key", node.setup / "secrets" / "ledger-key-1")
    write_secret(node, "ledger-key")
    assert "ledger.key" in refusal(node)
    older = 'ledger: { keyVersion: 2, olderKeys: [{ version: 1, key: "secrets/ledger-key-1" }],'
    configure(node, "ledger: {", older)
    after = serve(node)
    exported = run_latchkey(node.setup, "ledger", "export").splitlines()
    assert verify(node)["entries"] == len(exported) > len(before + after)
    assert all(any(license in row for row in exported) for license in before + after)
    # Without the older key nothing is called altered: only the version that is missing is named.
    configure(node, re.escape(older), "ledger: { keyVersion: 2,")
    configuration = str(node.setup / "latchkey.json5")
    for command in (("ledger", "verify"), ("store", "check")):
        checked = subprocess.run(
            [os.environ["LATCHKEY_BIN"], *command, "--config", configuration], capture_output=True, text=True,
            timeout=60, check=False)
        output = checked.stdout + checked.stderr
        assert checked.returncode == 1 and "altered" not in output, output
        assert "the key that sealed them is not configured" in output and "olderKeys does not name: 1." in output, output
    configure(node, re.escape("ledger: { keyVersion: 2,"), older)
    # A node that has lost the newer key must not seal under the older one again.
    configure(node, re.escape(older), "ledger: {")
    os.replace(node.setup / "secrets" / "ledger-key-1", node.setup / "secrets" / "ledger-key")
    assert "ledger.key" in refusal(node)


# --- Shared secrets ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "field"),
    [("pseudonym-key", "ledger.pseudonymKey"), ("session-key", "entitlement.sessions.key")],
)
def test_another_secret_refuses_to_start_and_is_named(node: Node, file: str, field: str) -> None:
    serve(node)
    before = (node.setup / "secrets" / file).read_text()
    write_secret(node, file)
    assert field in refusal(node)
    assert field in refusal(node, "--check=full")
    (node.setup / "secrets" / file).write_text(before)
    serve(node)


@pytest.mark.parametrize(
    ("file", "field"),
    [
        ("pseudonym-key", "ledger.pseudonymKey"),
        ("session-key", "entitlement.sessions.key"),
        ("key-encryption-key", "keys.keyEncryptionKey"),
    ],
)
def test_a_second_node_with_another_secret_refuses_to_start(nodes: list[Node], file: str, field: str) -> None:
    serve(nodes[0])
    write_secret(nodes[1], file)
    assert field in refusal(nodes[1])
    assert field in refusal(nodes[1], "--check=full")
    serve(nodes[0])


def test_a_full_check_changes_nothing_and_needs_no_database(node: Node) -> None:
    for path in node.setup.glob("latchkey.db*"):
        path.unlink()
    program = Path(os.environ["LATCHKEY_BIN"]).with_name("latchkeyd")
    finished = subprocess.run(
        [program, "--config", node.setup / "latchkey.json5", "--check=full"], capture_output=True, text=True,
        timeout=START_SECONDS, check=False,
    )
    assert (finished.returncode, list(node.setup.glob("latchkey.db*"))) == (0, []), finished.stderr


def test_a_session_key_follows_another_one_that_is_retired(node: Node) -> None:
    serve(node)
    os.rename(node.setup / "secrets" / "session-key", node.setup / "secrets" / "session-key-1")
    write_secret(node, "session-key")
    assert "entitlement.sessions.key" in refusal(node)
    configure(node, "sessions: {", 'sessions: { retiredKeys: ["secrets/session-key-1"],')
    serve(node)
    configure(node, re.escape('retiredKeys: ["secrets/session-key-1"],'), "")
    serve(node)
    # The retired key no longer exists.
    os.replace(node.setup / "secrets" / "session-key-1", node.setup / "secrets" / "session-key")
    assert "entitlement.sessions.key" in refusal(node)


def test_a_reload_replaces_the_session_key_for_the_next_start(node: Node) -> None:
    node.start()
    write_secret(node, "session-key")
    assert node.process is not None
    node.process.send_signal(signal.SIGHUP)
    log = node.setup / f"daemon-{node.starts}.log"
    deadline = time.monotonic() + START_SECONDS
    while '"event":"reloaded"' not in log.read_text():
        assert time.monotonic() < deadline, log.read_text()[-2000:]
        time.sleep(0.05)
    assert stop_daemon(node.process) == 0
    assert len(serve(node)) == 3


def test_a_node_stops_if_its_database_comes_back_with_other_secrets(nodes: list[Node]) -> None:
    """PostgreSQL is not reachable at the start. The daemon checks the proofs of the secrets when it first connects."""
    serve(nodes[0])
    write_secret(nodes[1], "pseudonym-key")
    server = int(Path(os.environ["LATCHKEY_POSTGRESQL_PID_FILE"]).read_text().split()[0])
    os.kill(server, signal.SIGSTOP)
    try:
        log = nodes[1].setup / "away.log"
        process = start_daemon(nodes[1].setup, log)
        deadline = time.monotonic() + RESTART_SECONDS
        while '"event":"ready"' not in log.read_text():
            assert time.monotonic() < deadline and process.poll() is None, log.read_text()[-2000:]
            time.sleep(0.1)
    finally:
        os.kill(server, signal.SIGCONT)
    assert process.wait(RESTART_SECONDS) == 1
    assert "ledger.pseudonymKey" in log.read_text()

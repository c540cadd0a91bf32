"""A node of the version before beside one of this version, on one PostgreSQL; and its data under this version.

`LATCHKEY_BIN_BEFORE` names the program `latchkey` of the version before, with its `latchkeyd` beside it. Without it
nothing runs here.
"""

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from counting_node import Node, message, node_alone, nodes_on_one_database, token
from deployment import run_latchkey
from licence_client import LicenceClient
from own_daemon import stop_daemon

WAIT_SECONDS = 30
BEFORE = os.environ.get("LATCHKEY_BIN_BEFORE", "")

pytestmark = pytest.mark.skipif(not BEFORE, reason="LATCHKEY_BIN_BEFORE names no program of the version before")


@pytest.fixture
def of_version_before(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    def run(body: Callable[[], object]) -> None:
        with monkeypatch.context() as context:
            context.setenv("LATCHKEY_BIN", BEFORE)
            body()

    return run


@pytest.fixture
def nodes(
    latchkey_programs: None, tmp_path: Path, of_version_before: Callable[[Callable[[], object]], None]
) -> Iterator[tuple[Node, Node]]:
    """The old one, which made the database, and the new one."""
    if "LATCHKEY_POSTGRESQL" not in os.environ:
        pytest.skip("LATCHKEY_POSTGRESQL names no server: Scripts/with-postgresql Scripts/test-interop starts one")
    made: list[Node] = []
    of_version_before(lambda: made.extend(nodes_on_one_database(tmp_path, 2)))
    old, new = made
    for node in made:
        text = (node.setup / "latchkey.json5").read_text()
        (node.setup / "latchkey.json5").write_text(
            text.replace("entitlement: {", 'entitlement: { revocationRefresh: "1s",', 1)
        )
    of_version_before(old.start)
    new.start()
    yield old, new
    for node in made:
        assert node.process is not None
        assert stop_daemon(node.process) == 0


def await_status(node: Node, presented: str, status: int) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while (answer := node.ask(message(node.device()), presented)).status != status:
        assert time.monotonic() < deadline, answer
        time.sleep(0.05)


def revocations(node: Node, *arguments: str) -> None:
    run_latchkey(node.setup, "revocations", *arguments, "--issuer", "https://portal.example")


def test_both_count_together(
    nodes: tuple[Node, Node], of_version_before: Callable[[Callable[[], object]], None]
) -> None:
    old, new = nodes
    for first, second in ((old, new), (new, old)):
        thrice = token(limits={"uses": 3})
        spc = message(old.device())
        licence = first.ask(spc, thrice).header("X-License-Id")
        # A repetition at the other version is the same licence.
        assert second.ask(spc, thrice).header("X-License-Id") == licence is not None
        statuses = [node.ask(message(node.device()), thrice).status for node in (second, first, second, first)]
        assert statuses == [200, 200, 403, 403]
    run_latchkey(new.setup, "ledger", "verify")
    of_version_before(lambda: run_latchkey(old.setup, "ledger", "verify"))


def test_each_hears_of_the_others_revocations(
    nodes: tuple[Node, Node], of_version_before: Callable[[Callable[[], object]], None]
) -> None:
    old, new = nodes
    for number, by_old in enumerate((True, False)):
        name = f"revoked-{number}"
        presented = token(sub=name)
        for node in nodes:
            await_status(node, presented, 200)
        add = lambda: revocations(old if by_old else new, "add", "--kind", "sub", "--value", name)  # noqa: E731
        of_version_before(add) if by_old else add()
        for node in nodes:
            await_status(node, presented, 403)
        lift = lambda: revocations(new if by_old else old, "lift", "--kind", "sub", "--value", name)  # noqa: E731
        lift() if by_old else of_version_before(lift)
        for node in nodes:
            await_status(node, presented, 200)


def test_the_data_of_the_version_before_serves(
    latchkey_programs: None, tmp_path: Path, of_version_before: Callable[[Callable[[], object]], None]
) -> None:
    made: list[Node] = []
    of_version_before(lambda: made.append(node_alone(tmp_path)))
    node = made[0]
    of_version_before(node.start)
    once, spc = token(limits={"uses": 1}), message(node.device())
    licence = node.ask(spc, once).header("X-License-Id")
    of_version_before(lambda: revocations(node, "add", "--kind", "sub", "--value", "gone"))
    assert node.process is not None and stop_daemon(node.process) == 0

    node.start()
    assert node.ask(spc, once).header("X-License-Id") == licence is not None
    assert node.ask(message(node.device()), once).code == "token_used"
    assert node.ask(message(node.device()), token(sub="gone")).code == "subject_disabled"
    assert node.process is not None and stop_daemon(node.process) == 0
    run_latchkey(node.setup, "ledger", "verify")
    rows = json.loads(run_latchkey(node.setup, "ledger", "query", "--license", str(licence), "--json"))["entries"]
    assert [row["kind"] for row in rows] == ["licenseIssued"]

    # The version before goes on with what this one has written.
    of_version_before(node.start)
    client = LicenceClient(node.url)
    assert client.licence(message(node.device()), token()).status == 200
    client.close()
    assert node.ask(message(node.device()), token(sub="gone")).code == "subject_disabled"
    assert node.process is not None and stop_daemon(node.process) == 0
    run_latchkey(node.setup, "ledger", "verify")

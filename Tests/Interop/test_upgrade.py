"""Programs of an older commit and of this tree on the same data: an upgrade, nodes of both, and a roll-back.

    LATCHKEY_OLD_BIN    folder with `latchkey` and `latchkeyd` of an older version. `Scripts/test-upgrade` builds the
                        commit that the file `upgrade-commit` names

Without that folder, only the tests of databases from before the first release run.
"""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

import upgrade_data
from counting_node import Node, limited_to, message, nodes_on_one_database, subject, token
from deployment import run_latchkey
from own_daemon import stop_daemon
from packagers import Credential, Packager, Request, document
from upgrade_data import (
    CONTENT, FLOORED, PLACED, REVOKED, WITHDRAWN, Data, Running, import_key, new_data, new_database, new_shared_data,
    programs,
)

COMMAND_SECONDS = 60
WAIT_SECONDS = 90


# --- Databases from before the first release --------------------------------------------------------------------------

# What their programs left: a table with the numbers of their steps.
STEPS = """
    CREATE TABLE schema_migration (number bigint NOT NULL PRIMARY KEY, oldest_program bigint NOT NULL);
    INSERT INTO schema_migration (number, oldest_program) VALUES
    """ + ", ".join(f"({number}, 1)" for number in range(1, 15))


def refusals(data: Data) -> list[subprocess.CompletedProcess[str]]:
    """Starts the daemon, and checks the store."""
    program = Path(os.environ["LATCHKEY_BIN"])
    commands = ([program.with_name("latchkeyd")], [program, "store", "check"])
    return [
        subprocess.run(
            [*command, "--config", data.setup / "latchkey.json5"], capture_output=True, text=True,
            timeout=COMMAND_SECONDS, check=False,
        )
        for command in commands
    ]


def assert_refused(data: Data) -> None:
    for refused in refusals(data):
        words = " ".join(refused.stderr.split())
        assert refused.returncode == 1 and "before the first release" in words and "import" in words, refused


def test_a_file_from_before_the_first_release_is_refused(latchkey_programs: None, tmp_path: Path) -> None:
    data = new_data(tmp_path / "setup")
    database = data.setup / "latchkey.db"
    database.unlink(missing_ok=True)
    with sqlite3.connect(database) as connection:
        connection.executescript(f"PRAGMA journal_mode = WAL; PRAGMA application_id = {0x4C544348}; {STEPS}")
    connection.close()
    database.chmod(0o600)
    before = database.read_bytes()
    assert_refused(data)
    assert database.read_bytes() == before


def test_a_schema_from_before_the_first_release_is_refused(latchkey_programs: None, tmp_path: Path) -> None:
    with new_database() as database:
        data = new_shared_data(tmp_path / "setup", database)
        schema = upgrade_data.SCHEMA
        upgrade_data.sql(f"CREATE SCHEMA {schema}; SET search_path TO {schema}; {STEPS}", database)
        before = upgrade_data.dump(database)
        assert "INSERT" in before or "COPY" in before
        assert_refused(data)
        assert upgrade_data.dump(database) == before


# --- Data of the older programs ---------------------------------------------------------------------------------------


@pytest.fixture
def old_programs(latchkey_programs: None) -> str:
    folder = os.environ.get("LATCHKEY_OLD_BIN")
    if not folder:
        pytest.skip("LATCHKEY_OLD_BIN names no programs of the older commit; Scripts/test-upgrade builds them")
    return folder


@pytest.fixture
def shared_data(old_programs: str, tmp_path: Path) -> Iterator[Data]:
    with new_database() as database:
        with programs(old_programs):
            data = new_shared_data(tmp_path / "setup", database)
            upgrade_data.fill(data)
        yield data


@pytest.fixture(params=["sqlite", "postgresql"])
def data(request: pytest.FixtureRequest, old_programs: str, tmp_path: Path) -> Data:
    if request.param == "postgresql":
        return request.getfixturevalue("shared_data")
    with programs(old_programs):
        data = new_data(tmp_path / "setup")
        upgrade_data.fill(data)
    return data


@contextmanager
def running(data: Data, program: str | None = None) -> Iterator[Running]:
    daemon = Running.start(data, program=program)
    try:
        yield daemon
    finally:
        status = daemon.stop()
    assert status == 0, daemon.log.read_text()[-2000:]


def check_memory(daemon: Running, data: Data) -> None:
    """Checks that keys are served, and that spent uses, taken places and revocations are remembered."""
    key = data.keys[CONTENT]
    assert daemon.ask(data.token(sub="viewer-new"), data.device("a"), key=key).status == 200
    assert daemon.ask(data.token(), data.device("a"), content="another-name", key=key).status == 200
    assert daemon.ask(data.token(FLOORED), data.device("a"), content=FLOORED).code == "security_level"
    assert daemon.ask(data.token(WITHDRAWN), data.device("a"), content=WITHDRAWN).status in (403, 404)
    assert daemon.ask(data.token(sub=PLACED, device={"max": 1}), data.device("b")).code == "device_limit"
    assert daemon.ask(data.token(sub=PLACED, device={"max": 1}), data.device("a"), key=key).status == 200
    assert daemon.ask(data.token(sub=REVOKED), data.device("a")).code == "subject_disabled"
    assert daemon.ask(data.spent, data.device("b")).code == "token_used"


def check_records(data: Data) -> int:
    """Checks that ledger and keys verify, and that the older commit's licenses are found.

    Returns the number of entries.
    """
    verified = json.loads(run_latchkey(data.setup, "ledger", "verify", "--json"))
    assert verified["isSound"] and verified["findings"] == []
    checked = json.loads(run_latchkey(data.setup, "store", "check", "--json"))
    assert checked["isSound"] and checked["keys"] >= len(data.keys)
    found = {json.loads(line)["license"] for line in run_latchkey(data.setup, "ledger", "export").splitlines()}
    assert found >= set(data.licenses)
    return verified["entries"]


def check_records_by_older_programs(data: Data, folder: str) -> None:
    """Checks that older programs report at most rows of kinds that they do not know, and no other fault."""
    with programs(folder):
        for command in (["ledger", "verify"], ["store", "check"]):
            finished = subprocess.run(
                [os.environ["LATCHKEY_BIN"], *command, "--json", "--config", data.setup / "latchkey.json5"],
                capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False,
            )
            assert "isSound" in json.loads(finished.stdout), finished
            assert set(re.findall(r'"finding": ?"(\w+)"', finished.stdout)) <= {"entry_unreadable"}, finished.stdout


def test_data_of_the_older_commit_opens_verifies_and_serves(data: Data) -> None:
    before = check_records(data)
    with running(data) as daemon:
        # A request that is repeated after the upgrade is not counted again.
        assert daemon.send(data.spent_by, data.spent).header("X-License-Id") == data.licenses[0]
        check_memory(daemon, data)
    assert check_records(data) > before
    # A second start checks the data that the first start has added.
    with running(data) as daemon:
        check_memory(daemon, data)
    check_records(data)


def packager_of(data: Data) -> Credential:
    """The packager of the set-up."""
    return Credential("development", (data.setup / "secrets" / "packager").read_text().strip())


def keys_by_speke(daemon: Running, credential: Credential, request: Request) -> dict[str, dict[str, str]]:
    """The keys that a packager gets, by key id."""
    found = document(Packager(daemon.url, credential).post(request.document())).keys
    assert [key.kid for key in found] == request.kids
    return {str(key.kid): {"key": key.key.hex(), "iv": key.iv.hex()} for key in found}


def check_packaged(daemon: Running, data: Data, content: str, keys: dict[str, dict[str, str]]) -> None:
    for kid, key in keys.items():
        assert daemon.ask(data.token(content), data.device("a"), kid, key=key).status == 200


def test_the_older_commit_opens_what_this_one_has_used(data: Data, old_programs: str) -> None:
    """A roll-back, also with contents whose keys packagers have got, and with live contents."""
    request, credential = Request(content="packaged", period=3), packager_of(data)
    with running(data) as daemon:
        check_memory(daemon, data)
        packaged = keys_by_speke(daemon, credential, request)
        check_packaged(daemon, data, "packaged", packaged)
    run_latchkey(data.setup, "keys", "rotate", "--content", CONTENT, "--window", "3", "--no-keys")
    run_latchkey(data.setup, "keys", "rotate", "--content", "live-new", "--every", "10m", "--track", "HD")
    key = import_key(data, "movie-new")
    check_records_by_older_programs(data, old_programs)
    with running(data, old_programs) as daemon:
        check_memory(daemon, data)
        assert daemon.ask(data.token("movie-new"), data.device("a"), "movie-new", key=key).status == 200
        check_packaged(daemon, data, "packaged", packaged)
    # The same after the second upgrade.
    with running(data) as daemon:
        assert keys_by_speke(daemon, credential, request) == packaged
    check_records(data)


def second_node(data: Data, setup: Path) -> Data:
    """A node with the same secrets and its own ledger."""
    shutil.copytree(data.setup, setup, ignore=shutil.ignore_patterns("*ledger.db*"))
    configuration = setup / "latchkey.json5"
    text = configuration.read_text()
    assert f'node: "{upgrade_data.NODE}"' in text
    configuration.write_text(text.replace(f'node: "{upgrade_data.NODE}"', 'node: "upgraded-2"'))
    return replace(data, setup=setup)


def test_keys_of_either_version_are_served_by_both(shared_data: Data, old_programs: str, tmp_path: Path) -> None:
    new, credential = shared_data, packager_of(shared_data)
    old = second_node(new, tmp_path / "old")
    with running(old, old_programs) as before, running(new) as after:
        for daemon in (before, after):
            check_memory(daemon, new)
        for number, (first, second) in enumerate(((before, after), (after, before))):
            request = Request(content=f"packaged-{number}", period=3)
            packaged = keys_by_speke(first, credential, request)
            assert keys_by_speke(second, credential, request) == packaged
            for daemon in (before, after):
                check_packaged(daemon, new, f"packaged-{number}", packaged)
        with programs(old_programs):
            imported = {"by-old": import_key(old, "by-old")}
        imported["by-new"] = import_key(new, "by-new")
        for daemon in (before, after):
            for content, key in imported.items():
                assert daemon.ask(new.token(content), new.device("a"), content, key=key).status == 200
    check_records(new)
    check_records_by_older_programs(old, old_programs)


# --- Nodes of both versions -------------------------------------------------------------------------------------------


@pytest.fixture
def stopped_nodes(tmp_path: Path, old_programs: str) -> Iterator[tuple[Node, Node]]:
    """Two nodes on a database that the older programs made; those that run at the end are stopped."""
    if "LATCHKEY_POSTGRESQL" not in os.environ:
        pytest.skip("LATCHKEY_POSTGRESQL names no server: Scripts/with-postgresql Scripts/test-interop starts one")
    with programs(old_programs):
        first, second = nodes_on_one_database(tmp_path, 2)
    yield first, second
    for node in (first, second):
        assert node.process is not None
        assert stop_daemon(node.process) == 0


@pytest.fixture
def nodes(stopped_nodes: tuple[Node, Node], old_programs: str) -> tuple[Node, Node]:
    """The old one, and the new one."""
    old, new = stopped_nodes
    with programs(old_programs):
        old.start()
    new.start()
    return old, new


def await_status(node: Node, presented: str, status: int) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while (answer := node.ask(message(node.device()), presented)).status != status:
        assert time.monotonic() < deadline, answer
        time.sleep(0.05)


def revocations(folder: str | None, node: Node, *arguments: str) -> None:
    """Runs the command with the programs in the folder, or with this version's programs if it is None."""
    with programs(folder):
        run_latchkey(node.setup, "revocations", *arguments, "--issuer", "https://portal.example")


def test_nodes_of_both_versions_count_together(nodes: tuple[Node, Node], old_programs: str) -> None:
    old, new = nodes
    for first, second in ((old, new), (new, old)):
        thrice = token(limits={"uses": 3})
        spc = message(old.device())
        license = first.ask(spc, thrice).header("X-License-Id")
        # A repeated request to the node of the other version gets the same license.
        assert second.ask(spc, thrice).header("X-License-Id") == license is not None
        statuses = [node.ask(message(node.device()), thrice).status for node in (second, first, second, first)]
        assert statuses == [200, 200, 403, 403]
        one_device, device = token(sub=subject(), device={"max": 1}), first.device()
        assert first.ask(message(device), one_device).status == 200
        assert second.ask(message(second.device()), one_device).code == "device_limit"
        one_playback = token(**limited_to(1))
        assert first.ask(message(device, 1), one_playback).status == 200
        assert second.ask(message(second.device(), 2), one_playback).code == "concurrency_limit"
    run_latchkey(new.setup, "ledger", "verify")
    with programs(old_programs):
        run_latchkey(old.setup, "ledger", "verify")


def test_nodes_of_both_versions_hear_of_each_others_revocations(
    nodes: tuple[Node, Node], old_programs: str
) -> None:
    old, new = nodes
    for number, by_old in enumerate((True, False)):
        name = f"revoked-{number}"
        presented = token(sub=name)
        for node in nodes:
            await_status(node, presented, 200)
        revocations(old_programs if by_old else None, old if by_old else new, "add", "--kind", "sub", "--value", name)
        for node in nodes:
            await_status(node, presented, 403)
        revocations(None if by_old else old_programs, new if by_old else old, "lift", "--kind", "sub", "--value", name)
        for node in nodes:
            await_status(node, presented, 200)


def test_two_nodes_are_upgraded_and_rolled_back_one_after_the_other(
    stopped_nodes: tuple[Node, Node], old_programs: str
) -> None:
    """One node always serves, and what was spent before a step is spent after it."""
    first, second = stopped_nodes
    with programs(old_programs):
        first.start()
        second.start()
    steps = [(first, None), (second, None), (second, old_programs), (first, old_programs), (first, None)]
    once = token(limits={"uses": len(steps) + 2})
    place = token(sub=subject(), device={"max": 1})
    device = first.device()
    assert first.ask(message(device), once).status == 200
    assert second.ask(message(device), place).status == 200
    for changed, folder in steps:
        other = second if changed is first else first
        assert changed.process is not None and stop_daemon(changed.process) == 0
        assert other.ask(message(device), token()).status == 200
        with programs(folder):
            changed.start()
        assert changed.ask(message(device), once).status == 200
        assert changed.ask(message(device), place).status == 200
        assert other.ask(message(other.device()), place).status == 403
    assert first.ask(message(device), once).status == 200
    for node in stopped_nodes:
        assert node.ask(message(node.device()), once).code == "token_used"
    for node in stopped_nodes:
        run_latchkey(node.setup, "ledger", "verify")

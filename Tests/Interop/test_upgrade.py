"""Data of commit 51d79ea opens, verifies and serves.

A node of that commit also runs beside a node of this version, and again after a roll-back.

    LATCHKEY_OLD_BIN    folder with `latchkey` and `latchkeyd` of an older version; `Scripts/test-upgrade` builds that commit

Without that folder, only the tests with the stored data in this folder run (`upgrade_data.py`).
"""

import json
import os
import re
import secrets
import shutil
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import upgrade_data
from counting_node import Node, message, node_alone, nodes_on_one_database, token
from deployment import run_latchkey
from license_client import LicenseClient
from own_daemon import stop_daemon
from packagers import Credential, Packager, Request, document
from upgrade_data import CONTENT, FLOORED, PLACED, REVOKED, SINGLE, WITHDRAWN, Data, Running, programs

REFRESH_SECONDS = 20
WAIT_SECONDS = 90


@pytest.fixture(params=["sqlite", "postgresql"])
def data(request: pytest.FixtureRequest, latchkey_programs: None, tmp_path: Path) -> Data:
    if request.param == "sqlite":
        return upgrade_data.sqlite_copy(tmp_path)
    if "LATCHKEY_POSTGRESQL" not in os.environ:
        pytest.skip("LATCHKEY_POSTGRESQL names no server: Scripts/with-postgresql Scripts/test-interop starts one")
    return upgrade_data.postgresql_copy(tmp_path, upgrade_data.restored_database())


@contextmanager
def running(data: Data, program: str | None = None) -> Iterator[Running]:
    daemon = Running.start(data, program=program)
    try:
        yield daemon
    finally:
        status = daemon.stop()
    assert status == 0, daemon.log.read_text()[-2000:]


def check_memory(daemon: Running, data: Data, is_older: bool = False) -> None:
    """Checks that keys are served, and that spent uses, taken places and revocations are remembered."""
    # The older commit had another code for a subject that may have only one device.
    no_place = "device_mismatch" if is_older else "device_limit"
    keys = data.facts["keys"]
    assert daemon.ask(data.token(sub="viewer-new"), data.device("a"), key=keys[CONTENT]).status == 200
    assert daemon.ask(data.token(), data.device("a"), content="another-name", key=keys[CONTENT]).status == 200
    assert daemon.ask(data.token(FLOORED), data.device("a"), content=FLOORED).code == "security_level"
    assert daemon.ask(data.token(WITHDRAWN), data.device("a"), content=WITHDRAWN).status in (403, 404)
    assert daemon.ask(data.token(sub=PLACED, device={"max": 1}), data.device("b")).code == no_place
    assert daemon.ask(data.token(sub=PLACED, device={"max": 1}), data.device("a"), key=keys[CONTENT]).status == 200
    assert daemon.ask(data.token(sub=REVOKED), data.device("a")).code == "subject_disabled"
    spent = "token_used" if time.time() < data.facts["spentUntil"] else "token_expired"
    assert daemon.ask(data.facts["spent"], data.device("b")).code == spent


def check_records(data: Data) -> int:
    """Checks that ledger and keys verify, and that the older commit's licenses are found.

    Returns the number of entries.
    """
    verified = json.loads(run_latchkey(data.setup, "ledger", "verify", "--json"))
    assert verified["isSound"] and verified["findings"] == []
    checked = json.loads(run_latchkey(data.setup, "store", "check", "--json"))
    assert checked["isSound"] and checked["keys"] >= len(data.facts["keys"])
    found = {
        json.loads(line)["license"] for line in run_latchkey(data.setup, "ledger", "export").splitlines()
    }
    assert found >= set(data.facts["licenses"])
    return verified["entries"]


def check_records_by_older_programs(data: Data) -> None:
    """Checks that older programs report only rows of kinds that they do not know, and no other fault."""
    for command in (["ledger", "verify"], ["store", "check"]):
        finished = subprocess.run(
            [os.environ["LATCHKEY_BIN"], *command, "--json", "--config", data.setup / "latchkey.json5"],
            capture_output=True, text=True, timeout=60, check=False,
        )
        assert set(re.findall(r'"finding": ?"(\w+)"', finished.stdout)) == {"entry_unreadable"}, finished.stdout


def test_data_of_the_older_commit_opens_verifies_and_serves(data: Data) -> None:
    before = check_records(data)
    with running(data) as daemon:
        check_memory(daemon, data)
    assert check_records(data) > before
    # A second start checks the data that the first start has added.
    with running(data) as daemon:
        check_memory(daemon, data)
    check_records(data)


# --- With the programs of that commit ---------------------------------------------------------------------------------


@pytest.fixture
def old_programs() -> str:
    folder = os.environ.get("LATCHKEY_OLD_BIN")
    if not folder:
        pytest.skip("LATCHKEY_OLD_BIN names no programs of the older commit; Scripts/test-upgrade builds them")
    return folder


def import_key(data: Data, content: str) -> dict[str, str]:
    key = {"kid": str(uuid.uuid4()), "key": secrets.token_hex(16), "iv": secrets.token_hex(16)}
    run_latchkey(
        data.setup, "keys", "import", "--content", content, "--kid", key["kid"], "--key", key["key"], "--iv", key["iv"]
    )
    return key


def await_code(daemon: Running, data: Data, subject: str, code: str) -> None:
    """Waits until a node has learned of another node's revocation."""
    deadline = time.monotonic() + REFRESH_SECONDS
    while (answer := daemon.ask(data.token(sub=subject), data.device("a"))).code != code:
        assert time.monotonic() < deadline, f"{answer.status} {answer.code}"
        time.sleep(0.1)
    assert answer.code == code


@contextmanager
def packager_of(data: Data) -> Iterator[Credential]:
    """Adds a packager to the configuration inside the context only, because older programs do not know packagers."""
    configuration = data.setup / "latchkey.json5"
    before = configuration.read_text()
    credential = Credential("packager-1", secrets.token_hex(32))
    secret = data.setup / "secrets" / "packager-1"
    secret.write_text(credential.secret + "\n")
    secret.chmod(0o600)
    entry = '{ name: "packager-1", secret: "secrets/packager-1" }'
    configuration.write_text(before.replace("{", "{ packagers: [" + entry + "],", 1))
    yield credential
    configuration.write_text(before)


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
    request = Request(content="packaged", period=3)
    with packager_of(data) as credential, running(data) as daemon:
        check_memory(daemon, data)
        packaged = keys_by_speke(daemon, credential, request)
        check_packaged(daemon, data, "packaged", packaged)
    run_latchkey(data.setup, "keys", "rotate", "--content", CONTENT, "--window", "3", "--no-keys")
    run_latchkey(data.setup, "keys", "rotate", "--content", "live-new", "--every", "10m", "--track", "HD")
    key = import_key(data, "movie-new")
    with programs(old_programs):
        check_records_by_older_programs(data)
    with running(data, old_programs) as daemon:
        check_memory(daemon, data, is_older=True)
        assert daemon.ask(data.token("movie-new"), data.device("a"), "movie-new", key=key).status == 200
        check_packaged(daemon, data, "packaged", packaged)
    # The same after the second upgrade.
    with packager_of(data) as credential, running(data) as daemon:
        assert keys_by_speke(daemon, credential, request) == packaged
    check_records(data)


def test_a_node_of_the_older_commit_runs_beside_this_one(
    latchkey_programs: None, tmp_path: Path, old_programs: str
) -> None:
    if "LATCHKEY_POSTGRESQL" not in os.environ:
        pytest.skip("LATCHKEY_POSTGRESQL names no server: Scripts/with-postgresql starts one")
    database = upgrade_data.restored_database()
    new = upgrade_data.postgresql_copy(tmp_path, database)
    old = second_node(new, tmp_path / "old")
    with packager_of(new) as credential, running(old, old_programs) as before, running(new) as after:
        packaged = keys_by_speke(after, credential, Request(content="packaged", period=3))
        for daemon in (before, after):
            check_packaged(daemon, new, "packaged", packaged)
        check_memory(before, old, is_older=True)
        check_memory(after, new)
        with programs(old_programs):
            by_old = import_key(old, "by-old")
        by_new = import_key(new, "by-new")
        for daemon in (before, after):
            assert daemon.ask(new.token("by-old"), new.device("a"), "by-old", key=by_old).status == 200
            assert daemon.ask(new.token("by-new"), new.device("a"), "by-new", key=by_new).status == 200
        for first, second in ((before, after), (after, before)):
            once = new.token(sub=SINGLE, jti=secrets.token_hex(8), limits={"uses": 1})
            assert first.ask(once, new.device("a")).status == 200
            assert second.ask(once, new.device("a")).code == "token_used"
            place = f"viewer-{secrets.token_hex(4)}"
            assert first.ask(new.token(sub=place, device={"max": 1}), new.device("a")).status == 200
            refused = "device_limit" if second is after else "device_mismatch"
            assert second.ask(new.token(sub=place, device={"max": 1}), new.device("b")).code == refused
        run_latchkey(new.setup, "revocations", "add", "--kind", "sub", "--value", "viewer-by-new")
        with programs(old_programs):
            run_latchkey(old.setup, "revocations", "add", "--kind", "sub", "--value", "viewer-by-old")
        for daemon in (before, after):
            await_code(daemon, new, "viewer-by-new", "subject_disabled")
            await_code(daemon, new, "viewer-by-old", "subject_disabled")
    check_records(new)
    with programs(old_programs):
        json.loads(run_latchkey(old.setup, "ledger", "verify", "--json"))
    assert int(upgrade_data.sql(f"SELECT count(DISTINCT node) FROM {upgrade_data.SCHEMA}.ledger_entry", database)) == 2


def second_node(data: Data, setup: Path) -> Data:
    """A node with the same secrets and its own ledger."""
    shutil.copytree(data.setup, setup)
    (setup / "ledger.db").unlink()
    configuration = setup / "latchkey.json5"
    text = configuration.read_text()
    assert f'node: "{upgrade_data.NODE}"' in text
    configuration.write_text(text.replace(f'node: "{upgrade_data.NODE}"', 'node: "fixture-2"'))
    return Data(setup)


# --- With new data of the older programs ------------------------------------------------------------------------------


@pytest.fixture
def stopped_nodes(latchkey_programs: None, tmp_path: Path, old_programs: str) -> Iterator[tuple[Node, Node]]:
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


def test_the_data_of_the_older_version_serves(latchkey_programs: None, tmp_path: Path, old_programs: str) -> None:
    with programs(old_programs):
        node = node_alone(tmp_path)
        node.start()
    once, spc = token(limits={"uses": 1}), message(node.device())
    license = node.ask(spc, once).header("X-License-Id")
    revocations(old_programs, node, "add", "--kind", "sub", "--value", "gone")
    assert node.process is not None and stop_daemon(node.process) == 0

    node.start()
    assert node.ask(spc, once).header("X-License-Id") == license is not None
    assert node.ask(message(node.device()), once).code == "token_used"
    assert node.ask(message(node.device()), token(sub="gone")).code == "subject_disabled"
    assert node.process is not None and stop_daemon(node.process) == 0
    run_latchkey(node.setup, "ledger", "verify")
    rows = json.loads(run_latchkey(node.setup, "ledger", "query", "--license", str(license), "--json"))["entries"]
    assert [row["kind"] for row in rows] == ["license_issued"]

    # The older version continues with the data that this version has written.
    with programs(old_programs):
        node.start()
    client = LicenseClient(node.url)
    assert client.license(message(node.device()), token()).status == 200
    client.close()
    assert node.ask(message(node.device()), token(sub="gone")).code == "subject_disabled"
    assert node.process is not None and stop_daemon(node.process) == 0
    run_latchkey(node.setup, "ledger", "verify")


def test_two_nodes_are_upgraded_and_rolled_back_one_after_the_other(
    stopped_nodes: tuple[Node, Node], old_programs: str
) -> None:
    """One node always serves, and what was spent before a step is spent after it."""
    first, second = stopped_nodes
    with programs(old_programs):
        first.start()
        second.start()
    subject = f"viewer-{secrets.token_hex(4)}"
    steps = [(first, None), (second, None), (second, old_programs), (first, old_programs), (first, None)]
    once = token(limits={"uses": len(steps) + 2})
    place = token(sub=subject, device={"max": 1})
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

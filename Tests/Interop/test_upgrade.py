"""Data of commit 51d79ea: it opens, verifies and serves; a node of that commit runs beside this one, and again after a roll-back.

    LATCHKEY_OLD_BIN    folder with `latchkey` and `latchkeyd` of that commit; `Scripts/test-upgrade` builds them

Without that folder, only the tests of the data run that is kept in this folder (`upgrade_data.py`).
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
from deployment import run_latchkey
from upgrade_data import CONTENT, FLOORED, PLACED, REVOKED, SINGLE, WITHDRAWN, Data, Running, programs

REFRESH_SECONDS = 20


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


def check_memory(daemon: Running, data: Data) -> None:
    """Keys are served, and what was spent, taken and revoked is remembered."""
    keys = data.facts["keys"]
    assert daemon.ask(data.token(sub="viewer-new"), data.device("a"), key=keys[CONTENT]).status == 200
    assert daemon.ask(data.token(), data.device("a"), content="another-name", key=keys[CONTENT]).status == 200
    assert daemon.ask(data.token(FLOORED), data.device("a"), content=FLOORED).code == "security_level"
    assert daemon.ask(data.token(WITHDRAWN), data.device("a"), content=WITHDRAWN).status in (403, 404)
    assert daemon.ask(data.token(sub=PLACED, device={"max": 1}), data.device("b")).code == "device_mismatch"
    assert daemon.ask(data.token(sub=PLACED, device={"max": 1}), data.device("a"), key=keys[CONTENT]).status == 200
    assert daemon.ask(data.token(sub=REVOKED), data.device("a")).code == "subject_disabled"
    spent = "token_used" if time.time() < data.facts["spentUntil"] else "token_expired"
    assert daemon.ask(data.facts["spent"], data.device("b")).code == spent


def check_records(data: Data) -> int:
    """Ledger and keys verify, and the licences of the older commit are found; the number of entries."""
    verified = json.loads(run_latchkey(data.setup, "ledger", "verify", "--json"))
    assert verified["isSound"] and verified["findings"] == []
    checked = json.loads(run_latchkey(data.setup, "store", "check", "--json"))
    assert checked["isSound"] and checked["keys"] >= len(data.facts["keys"])
    found = {
        json.loads(line)["license"] for line in run_latchkey(data.setup, "ledger", "export").splitlines()
    }
    assert found >= set(data.facts["licences"])
    return verified["entries"]


def check_records_by_older_programs(data: Data) -> None:
    """They cannot read rows of kinds that they do not know, and find nothing else that is wrong."""
    for command in (["ledger", "verify"], ["store", "check"]):
        finished = subprocess.run(
            [os.environ["LATCHKEY_BIN"], *command, "--json", "--config", data.setup / "latchkey.json5"],
            capture_output=True, text=True, timeout=60, check=False,
        )
        assert set(re.findall(r'"finding": ?"(\w+)"', finished.stdout)) == {"entryUnreadable"}, finished.stdout


def test_data_of_the_older_commit_opens_verifies_and_serves(data: Data) -> None:
    before = check_records(data)
    with running(data) as daemon:
        check_memory(daemon, data)
    assert check_records(data) > before
    # And once more: what the first start has added fits itself.
    with running(data) as daemon:
        check_memory(daemon, data)
    check_records(data)


# --- With the programs of that commit ----------------------------------------------------------------------------------


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
    """Until a node has heard of a revocation of another."""
    deadline = time.monotonic() + REFRESH_SECONDS
    while (answer := daemon.ask(data.token(sub=subject), data.device("a"))).code != code:
        assert time.monotonic() < deadline, f"{answer.status} {answer.code}"
        time.sleep(0.1)
    assert answer.code == code


def test_the_older_commit_opens_what_this_one_has_used(data: Data, old_programs: str) -> None:
    """A roll-back."""
    with running(data) as daemon:
        check_memory(daemon, data)
    key = import_key(data, "movie-new")
    with programs(old_programs):
        check_records_by_older_programs(data)
    with running(data, old_programs) as daemon:
        check_memory(daemon, data)
        assert daemon.ask(data.token("movie-new"), data.device("a"), "movie-new", key=key).status == 200
    check_records(data)


def test_a_node_of_the_older_commit_runs_beside_this_one(
    latchkey_programs: None, tmp_path: Path, old_programs: str
) -> None:
    if "LATCHKEY_POSTGRESQL" not in os.environ:
        pytest.skip("LATCHKEY_POSTGRESQL names no server: Scripts/with-postgresql starts one")
    database = upgrade_data.restored_database()
    new = upgrade_data.postgresql_copy(tmp_path, database)
    old = second_node(new, tmp_path / "old")
    with running(old, old_programs) as before, running(new) as after:
        check_memory(before, old)
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
            assert second.ask(new.token(sub=place, device={"max": 1}), new.device("b")).code == "device_mismatch"
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
    """A node with the same secrets and a ledger of its own."""
    shutil.copytree(data.setup, setup)
    (setup / "ledger.db").unlink()
    configuration = setup / "latchkey.json5"
    text = configuration.read_text()
    assert f'node: "{upgrade_data.NODE}"' in text
    configuration.write_text(text.replace(f'node: "{upgrade_data.NODE}"', 'node: "fixture-2"'))
    return Data(setup)

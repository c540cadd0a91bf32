"""`latchkeyd --check=full` finds what a start would find, and the start says the same.

The tests run as the user of the daemon, who is not root, because root may write everywhere.
"""

import os
import re
import secrets
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import upgrade_data
from own_daemon import UNPRIVILEGED, new_setup

CHECK_SECONDS = 60
CONFIGURATION = "latchkey.json5"


@pytest.fixture
def setup(latchkey_programs: None, tmp_path: Path) -> Path:
    """A new set-up that belongs to the user without rights."""
    if os.geteuid() != 0:
        pytest.skip("only root can make files that another user may not write")
    setup = new_setup(tmp_path)
    for path in [setup, *setup.rglob("*")]:
        os.chown(path, UNPRIVILEGED, UNPRIVILEGED)
    for parent in [tmp_path, *list(tmp_path.parents)[:3]]:
        if parent.stat().st_uid == 0:
            parent.chmod(parent.stat().st_mode | 0o711)
    return setup


def latchkeyd(setup: Path, *arguments: str, user: int = UNPRIVILEGED) -> subprocess.CompletedProcess[str]:
    program = Path(os.environ["LATCHKEY_BIN"]).with_name("latchkeyd")
    return subprocess.run(
        [program, "--config", setup / CONFIGURATION, *arguments],
        capture_output=True, text=True, timeout=CHECK_SECONDS, check=False, user=user, group=user, extra_groups=[],
    )  # fmt: skip


def change(setup: Path, old: str, new: str) -> None:
    file = setup / CONFIGURATION
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def files(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


def missing_storage_folder(setup: Path) -> str:
    change(setup, "sqlite:latchkey.db", "sqlite:data/latchkey.db")
    return f"database {setup}/data/latchkey.db: its folder {setup}/data is missing; .*StateDirectory.*mkdir .*{setup}/data"


def foreign_storage_folder(setup: Path) -> str:
    """The folder around it belongs to root as well, and must not be given away."""
    change(setup, "sqlite:latchkey.db", "sqlite:lib/data/latchkey.db")
    folder = setup / "lib" / "data"
    for made in (folder.parent, folder):
        made.mkdir(mode=0o755)
    return f"may not write in the folder {folder}, where SQLite makes files .*: chown USER {folder}"


def foreign_lock(setup: Path) -> str:
    """As root has left it, who has started the daemon once."""
    database = setup / "latchkey.db"
    sqlite3.connect(database).execute("VACUUM")
    database.chmod(0o600)
    os.chown(database, UNPRIVILEGED, UNPRIVILEGED)
    (setup / ".latchkey.db-lock").touch(mode=0o600)
    return f"{setup}/.latchkey.db-lock; it must belong to the user of the daemon"


def lost_database(setup: Path) -> str:
    lock = setup / ".latchkey.db-lock"
    lock.touch(mode=0o600)
    os.chown(lock, UNPRIVILEGED, UNPRIVILEGED)
    return "this node had its database there"


def missing_socket_folder(setup: Path) -> str:
    change(setup, 'address: "127.0.0.1:9080"', f'address: "unix:{setup}/sockets/admin"')
    return rf"listeners.admin\[0\] cannot make its socket in {setup}/sockets: No such file or directory"


def foreign_socket_folder(setup: Path) -> str:
    (setup / "sockets").mkdir(mode=0o755)
    change(setup, 'address: "127.0.0.1:8080"', f'address: "unix:{setup}/sockets/public"')
    return rf"listeners.public\[0\] cannot make its socket in {setup}/sockets: Permission denied"


FAULTS: list[Callable[[Path], str]] = [
    missing_storage_folder, foreign_storage_folder, foreign_lock, lost_database, missing_socket_folder,
    foreign_socket_folder,
]  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_what_keeps_the_daemon_from_starting_is_found_before(fault: Callable[[Path], str], setup: Path) -> None:
    assert latchkeyd(setup, "--check=full").returncode == 0
    cause = fault(setup)
    before = files(setup)
    checked = latchkeyd(setup, "--check=full")
    assert checked.returncode == 1 and re.search(cause, checked.stderr), checked.stderr
    assert files(setup) == before
    started = latchkeyd(setup)
    assert started.returncode == 1 and re.search(cause, started.stderr), started.stderr


def test_all_faults_are_told_at_once(setup: Path) -> None:
    missing_storage_folder(setup)
    missing_socket_folder(setup)
    foreign_socket_folder(setup)
    checked = latchkeyd(setup, "--check=full")
    assert checked.returncode == 1, checked.stderr
    for part in (f"{setup}/data", "listeners.admin[0]", "listeners.public[0]"):
        assert part in checked.stderr, checked.stderr


def test_a_folder_that_systemd_makes_is_no_fault(setup: Path) -> None:
    """Before the first start, `RuntimeDirectory=` of the unit has made nothing."""
    change(setup, 'address: "127.0.0.1:9080"', f'address: "unix:/run/latchkey-{secrets.token_hex(4)}/admin"')
    checked = latchkeyd(setup, "--check=full")
    assert checked.returncode == 0, checked.stderr
    assert "RuntimeDirectory" in checked.stderr and "listeners.admin[0]" in checked.stderr


def test_a_socket_of_systemd_is_tried_only_at_the_start(setup: Path) -> None:
    change(setup, 'address: "127.0.0.1:8080"', 'address: "systemd:public"')
    checked = latchkeyd(setup, "--check=full")
    assert checked.returncode == 0, checked.stderr
    assert "note: listeners.public[0]: the socket systemd:public is tried only at the start" in checked.stderr
    started = latchkeyd(setup)
    assert started.returncode != 0 and "systemd has passed no socket of that name" in started.stderr, started.stderr


# --- PostgreSQL -------------------------------------------------------------------------------------------------------


@pytest.fixture
def database(latchkey_programs: None, tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A set-up that uses a new database, and the name of that."""
    with upgrade_data.new_database() as name:
        url = urlsplit(os.environ["LATCHKEY_POSTGRESQL"])._replace(path=f"/{name}").geturl()
        setup = new_setup(tmp_path)
        shutil.copy(os.environ["LATCHKEY_POSTGRESQL_PASSWORD_FILE"], setup / "secrets" / "postgresql-password")
        storage = f'url: "{url}", password: "secrets/postgresql-password", ledger: "ledger.db"'
        change(setup, 'url: "sqlite:latchkey.db"', storage)
        yield setup, name


# An owner may take rights from itself.
RIGHTS = {
    "database": ("REVOKE CREATE ON DATABASE {name} FROM CURRENT_USER", False),
    "schema": ("CREATE SCHEMA latchkey; REVOKE CREATE ON SCHEMA latchkey FROM CURRENT_USER", False),
    "all": ("SELECT 1", True),
    "schema-alone": ("CREATE SCHEMA latchkey; REVOKE CREATE ON DATABASE {name} FROM CURRENT_USER", True),
}


@pytest.mark.parametrize(("rights", "is_good"), RIGHTS.values(), ids=RIGHTS.keys())
def test_a_role_that_may_create_nothing_is_found(rights: str, is_good: bool, database: tuple[Path, str]) -> None:
    setup, name = database
    for statement in rights.format(name=name).split("; "):
        upgrade_data.sql(statement, database=name)
    checked = latchkeyd(setup, "--check=full", user=os.geteuid())
    lacks = "the role lacks a right (SQLSTATE 42501)"
    assert (checked.returncode == 0, lacks in checked.stderr) == (is_good, not is_good), checked.stderr
    if not is_good:
        started = latchkeyd(setup, user=os.geteuid())
        assert started.returncode == 1 and lacks in started.stderr, started.stderr

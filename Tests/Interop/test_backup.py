"""Backups of nodes that serve: made under load, damaged, interrupted, and put back on a host that has nothing."""

import hashlib
import json
import os
import secrets
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import preload
import upgrade_data
from counting_node import Node, message, node_alone, token
from deployment import run_latchkey
from fairplay_device.credentials import read_device_credential
from fairplay_device.spc import device_for
from license_client import LicenseClient
from own_daemon import new_setup, start_daemon, stop_daemon
from upgrade_data import CONTENT, Data, Running

COMMAND_SECONDS = 120
WAIT_SECONDS = 90
RESTORE_SECONDS = 600
LOAD_CLIENTS = 4
LICENSES_BEFORE = 200


def latchkey(*arguments: str | Path, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """A command that may be refused."""
    words = [os.environ["LATCHKEY_BIN"], *map(str, arguments)]
    return subprocess.run(
        words, capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False,
        env=os.environ | (environment or {}),
    )


def done(*arguments: str | Path) -> str:
    finished = latchkey(*arguments)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


def create(setup: Path, backup: Path, *options: str | Path) -> dict[str, object]:
    configuration = setup / "latchkey.json5"
    return json.loads(done("backup", "create", "--config", configuration, "--output", backup, "--json", *options))


def findings(backup: Path, *options: str | Path) -> list[str]:
    finished = latchkey("backup", "verify", backup, "--json", *options)
    found = json.loads(finished.stdout)
    assert finished.returncode == (0 if found["isSound"] else 1)
    return [" ".join(filter(None, (one["finding"], one.get("file")))) for one in found["findings"]]


def licenses_in_ledger(setup: Path) -> set[str]:
    rows = map(json.loads, run_latchkey(setup, "ledger", "export").splitlines())
    return {row["license"] for row in rows if row["kind"] in ("license_issued", "license_renewed")}


def remove_database(setup: Path, name: str = "latchkey.db") -> None:
    for file in setup.glob(f"{name}*"):
        file.unlink()


def recipient(folder: Path) -> tuple[Path, Path]:
    """A certificate and its private key, made as the article says."""
    certificate, key = folder / "recovery.pem", folder / "recovery-key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:3072", "-nodes", "-days", "3650", "-subj", "/CN=recovery",
         "-keyout", key, "-out", certificate],
        check=True, capture_output=True, timeout=COMMAND_SECONDS,
    )
    return certificate, key


# --- Under load -------------------------------------------------------------------------------------------------------


@dataclass
class Load:
    """Clients that ask for licenses, each after the other."""

    node: Node
    given: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    is_over: threading.Event = field(default_factory=threading.Event)

    def ask(self) -> None:
        device = device_for(read_device_credential(self.node.setup / "fairplay"), 1)
        client = LicenseClient(self.node.url)
        try:
            while not self.is_over.is_set():
                answer = client.license(message(device), token(sub=f"viewer-{secrets.token_hex(8)}"))
                if answer.status == 200:
                    self.given.append(answer.header("X-License-Id") or "")
                else:
                    self.failures.append(f"{answer.status} {answer.code}")
        finally:
            client.close()

    def await_count(self, count: int) -> None:
        deadline = time.monotonic() + WAIT_SECONDS
        while len(self.given) < count:
            assert time.monotonic() < deadline, f"{len(self.given)} licenses, {self.failures[:3]}"
            time.sleep(0.01)


@contextmanager
def load_on(node: Node) -> Iterator[Load]:
    load = Load(node)
    threads = [threading.Thread(target=load.ask) for _ in range(LOAD_CLIENTS)]
    for thread in threads:
        thread.start()
    try:
        yield load
    finally:
        load.is_over.set()
        for thread in threads:
            thread.join()


def test_a_backup_has_every_license_that_was_answered_before(latchkey_programs: None, tmp_path: Path) -> None:
    """Three in a row under a load that goes on meanwhile; each is put back into a set-up of its own."""
    node = node_alone(tmp_path)
    node.start()
    answered: list[set[str]] = []
    try:
        with load_on(node) as load:
            for number in range(3):
                load.await_count(len(load.given) + LICENSES_BEFORE)
                answered.append(set(load.given))
                create(node.setup, tmp_path / f"backup-{number}")
            load.await_count(len(load.given) + 10)
        assert not load.failures, load.failures[:3]
    finally:
        assert node.process is not None
        assert stop_daemon(node.process) == 0
    for number, before in enumerate(answered):
        backup = tmp_path / f"backup-{number}"
        assert findings(backup, "--config", node.setup / "latchkey.json5") == []
        restored = tmp_path / f"restored-{number}"
        shutil.copytree(node.setup, restored)
        remove_database(restored)
        done("backup", "restore", backup, "--config", restored / "latchkey.json5")
        assert licenses_in_ledger(restored) >= before
        verified = json.loads(run_latchkey(restored, "ledger", "verify", "--json"))
        assert verified["isSound"] and verified["entries"] > len(before)


# --- A new host -------------------------------------------------------------------------------------------------------


def test_a_new_host_gives_licenses_with_the_backup_and_one_private_key(
    latchkey_programs: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    node = node_alone(tmp_path)
    certificate, key = recipient(tmp_path)
    node.start()
    once, device, other = token(sub="viewer-1", limits={"uses": 1}), node.device(), node.device()
    assert node.ask(message(device), once).status == 200
    create(node.setup, tmp_path / "backup", "--recipient", certificate)
    assert node.process is not None and stop_daemon(node.process) == 0
    # OpenSSL opens what is sealed, without this program.
    opened = subprocess.run(
        ["openssl", "cms", "-decrypt", "-inform", "DER", "-in", tmp_path / "backup" / "secrets.cms", "-inkey", key],
        check=True, capture_output=True, timeout=COMMAND_SECONDS,
    )
    assert "ledger.key" in {file["field"] for file in json.loads(opened.stdout)["files"]}
    shutil.rmtree(node.setup)

    begin = time.monotonic()
    host = tmp_path / "host"
    host.mkdir()
    restored = json.loads(
        done(
            *("backup", "restore", tmp_path / "backup", "--config", host / "latchkey.json5"),
            *("--recipient-key", key, "--json"),
        )
    )
    again = Node(host)
    again.start()
    answer = again.ask(message(other), token(sub="viewer-2"))
    seconds = time.monotonic() - begin
    assert answer.status == 200
    with capsys.disabled():
        print(f" first license after {seconds:.1f} s")
    assert seconds < RESTORE_SECONDS
    # What was spent is spent, and what the ledger had is there.
    assert again.ask(message(other), once).code == "token_used"
    assert again.process is not None and stop_daemon(again.process) == 0
    kinds = [json.loads(line)["kind"] for line in run_latchkey(host, "ledger", "export").splitlines()]
    assert kinds.count("store_restored") == 1
    assert json.loads(run_latchkey(host, "ledger", "verify", "--json"))["isSound"]
    for name in restored["placed"]:
        assert Path(name).stat().st_mode & 0o027 in (0, 0o004)
    assert all((host / "secrets" / name).stat().st_mode & 0o777 == 0o600 for name in ("ledger-key", "session-key"))


# --- Faults -----------------------------------------------------------------------------------------------------------


@dataclass
class FailingDisk:
    """A disk under files whose path holds a text, which hangs or is full while the switch says so."""

    library: Path
    switch: Path
    name: str

    @property
    def environment(self) -> dict[str, str]:
        return {
            "LD_PRELOAD": str(self.library), "HANGING_DISK_SWITCH": str(self.switch), "HANGING_DISK_NAME": self.name,
        }


def failing_disk(folder: Path, name: str, fault: str) -> FailingDisk:
    disk = FailingDisk(preload.build("hanging_disk.c", folder), folder / "disk-switch", name)
    disk.switch.write_text(fault)
    return disk


@pytest.fixture
def filled(latchkey_programs: None, tmp_path: Path) -> Path:
    """A set-up with keys and ledger entries, whose daemon does not run."""
    setup = new_setup(tmp_path)
    for number in range(20):
        run_latchkey(setup, "keys", "create", "--content", f"movie-{number}")
    return setup


def begun(*arguments: str | Path, disk: FailingDisk) -> subprocess.Popen[bytes]:
    words = [os.environ["LATCHKEY_BIN"], *map(str, arguments)]
    return subprocess.Popen(words, env=os.environ | disk.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def await_file(pattern: str, folder: Path) -> Path:
    deadline = time.monotonic() + WAIT_SECONDS
    while not (found := list(folder.glob(pattern))):
        assert time.monotonic() < deadline, f"no {pattern} in {folder}"
        time.sleep(0.01)
    return found[0]


def test_a_full_disk_leaves_nothing_of_a_backup(filled: Path, tmp_path: Path) -> None:
    disk = failing_disk(tmp_path, ".part/", "full")
    (tmp_path / "backups").mkdir()
    arguments = ("backup", "create", "--config", filled / "latchkey.json5", "--output", tmp_path / "backups" / "one")
    refused = latchkey(*arguments, environment=disk.environment)
    assert refused.returncode == 1 and "no room" in refused.stderr, refused.stderr
    assert list((tmp_path / "backups").iterdir()) == []
    disk.switch.unlink()
    assert latchkey(*arguments, environment=disk.environment).returncode == 0
    assert findings(tmp_path / "backups" / "one") == []


def test_a_backup_that_was_killed_is_taken_for_none(filled: Path, tmp_path: Path) -> None:
    disk = failing_disk(tmp_path, ".part/", "hang")
    (tmp_path / "backups").mkdir()
    process = begun(
        "backup", "create", "--config", filled / "latchkey.json5", "--output", tmp_path / "backups" / "one", disk=disk
    )
    part = await_file("one.*.part/latchkey.db", tmp_path / "backups").parent
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert [entry.name for entry in (tmp_path / "backups").iterdir()] == [part.name]
    assert findings(part) == ["manifestMissing"]
    refused = latchkey("backup", "restore", part, "--config", filled / "latchkey.json5")
    assert refused.returncode == 1 and "manifest.json is missing" in refused.stderr


def test_a_restore_that_was_killed_lets_no_daemon_start_and_goes_on(filled: Path, tmp_path: Path) -> None:
    create(filled, tmp_path / "backup")
    remove_database(filled)
    disk = failing_disk(tmp_path, ".restoring", "hang")
    arguments = ("backup", "restore", tmp_path / "backup", "--config", filled / "latchkey.json5")
    process = begun(*arguments, disk=disk)
    await_file("latchkey.db.restoring", filled)
    second = latchkey(*arguments)
    assert second.returncode == 1 and "another restore" in second.stderr, second.stderr
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (filled / "latchkey.db").exists()
    daemon = start_daemon(filled, tmp_path / "daemon.log")
    assert daemon.wait(WAIT_SECONDS) != 0
    assert "latchkeyd --new-database" in (tmp_path / "daemon.log").read_text()
    done(*arguments)
    assert not (filled / "latchkey.db.restoring").exists()
    assert json.loads(run_latchkey(filled, "store", "check", "--json"))["keys"] == 20


def test_a_daemon_that_starts_between_the_steps_of_the_manual_makes_no_database(
    latchkey_programs: None, tmp_path: Path
) -> None:
    node = node_alone(tmp_path)
    create(node.setup, tmp_path / "backup")
    node.start()
    assert node.process is not None and stop_daemon(node.process) == 0
    subprocess.run(
        "mkdir lost && mv latchkey.db* lost/", shell=True, cwd=node.setup, check=True, timeout=COMMAND_SECONDS
    )
    daemon = start_daemon(node.setup, tmp_path / "daemon.log")
    try:
        assert daemon.wait(WAIT_SECONDS) != 0
    finally:
        daemon.kill()
    assert "latchkeyd --new-database" in (tmp_path / "daemon.log").read_text()
    assert not (node.setup / "latchkey.db").exists()
    done("backup", "restore", tmp_path / "backup", "--config", node.setup / "latchkey.json5")
    node.start()
    assert node.process is not None and stop_daemon(node.process) == 0


def test_a_restore_is_refused_while_the_daemon_runs(latchkey_programs: None, tmp_path: Path) -> None:
    node = node_alone(tmp_path)
    create(node.setup, tmp_path / "backup")
    node.start()
    refused = latchkey("backup", "restore", tmp_path / "backup", "--config", node.setup / "latchkey.json5")
    assert node.process is not None and stop_daemon(node.process) == 0
    assert refused.returncode == 1 and "stop it first" in refused.stderr, refused.stderr


@pytest.mark.parametrize("part", ["latchkey.db", "latchkey.json5"])
def test_every_part_has_its_digest_in_the_manifest(filled: Path, tmp_path: Path, part: str) -> None:
    """As `sha256sum` computes it, so that another program can check a backup too."""
    create(filled, tmp_path / "backup")
    manifest = json.loads((tmp_path / "backup" / "manifest.json").read_text())
    (file,) = [file for file in manifest["files"] if file["name"] == part]
    contents = (tmp_path / "backup" / part).read_bytes()
    assert file["sha256"] == hashlib.sha256(contents).hexdigest() and file["size"] == len(contents)
    for offset in (0, len(contents) // 2, len(contents) - 1):
        altered = bytearray(contents)
        altered[offset] ^= 0x20
        (tmp_path / "backup" / part).write_bytes(altered)
        assert findings(tmp_path / "backup") == [f"fileAltered {part}"]


# --- Versions ---------------------------------------------------------------------------------------------------------


def test_a_newer_schema_is_named(filled: Path, tmp_path: Path) -> None:
    with sqlite3.connect(filled / "latchkey.db") as database:
        database.execute("INSERT INTO schema_version (number, oldest_program) VALUES (99, 99)")
    database.close()
    refused = latchkey(
        "backup", "create", "--config", filled / "latchkey.json5", "--output", tmp_path / "backup"
    )
    assert refused.returncode == 1 and "schema 99" in refused.stderr, refused.stderr
    assert not (tmp_path / "backup").exists()
    told = json.loads(latchkey("store", "info", "--config", filled / "latchkey.json5", "--json").stdout)
    assert (told["schema"], told["oldestProgram"], told["isServed"]) == (99, 99, False)


# --- PostgreSQL -------------------------------------------------------------------------------------------------------


@pytest.fixture
def shared(latchkey_programs: None, tmp_path: Path) -> Iterator[tuple[Data, str]]:
    """A node over a database of its own, and the name of that."""
    with upgrade_data.new_database() as name:
        yield upgrade_data.new_shared_data(tmp_path / "setup", name), name


def shipped(data: Data, database: str) -> None:
    """Until PostgreSQL has as many rows as the node's own ledger."""
    own = len(run_latchkey(data.setup, "ledger", "export").splitlines())
    deadline = time.monotonic() + COMMAND_SECONDS
    while int(upgrade_data.sql(f"SELECT count(*) FROM {upgrade_data.SCHEMA}.ledger_entry", database)) < own:
        assert time.monotonic() < deadline, "the ledger was not shipped"
        time.sleep(0.1)


def test_everything_is_lost_beside_postgresql(shared: tuple[Data, str], tmp_path: Path) -> None:
    """The dump and the node's backup are put back on hosts that have nothing."""
    data, database = shared
    key = upgrade_data.import_key(data, CONTENT)
    certificate, private_key = recipient(tmp_path)
    spent = data.token(sub="viewer-1", jti="spent-once", limits={"uses": 1})
    first, second = data.device("a"), data.device("b")
    running = Running.start(data)
    try:
        before = [running.ask(data.token(sub=f"viewer-{n}"), data.device("a"), key=key) for n in range(5)]
        assert running.ask(spent, data.device("a"), key=key).status == 200
        shipped(data, database)
        # In this order: a ledger that is newer than its copy is sent to it by itself.
        upgrade_data.postgresql_command("pg_dump", database, "--format=custom", f"--file={tmp_path / 'dump'}")
        made = create(data.setup, tmp_path / "backup", "--recipient", certificate)
        assert database in made["shared"] and "password" not in made["shared"]
    finally:
        assert running.stop() == 0
    password = Path(os.environ["LATCHKEY_POSTGRESQL_PASSWORD_FILE"]).read_text().strip().encode()
    for file in (tmp_path / "backup").iterdir():
        assert password not in file.read_bytes()
    info = json.loads(run_latchkey(data.setup, "store", "info", "--json"))
    assert info["kind"] == "postgresql" and info["shared"]["keys"] == 1 and "password" not in info["shared"]["address"]
    assert [node["name"] for node in info["shared"]["nodes"]] == [upgrade_data.NODE]

    upgrade_data.drop_database(database)
    shutil.move(data.setup, tmp_path / "gone")
    upgrade_data.sql(f"CREATE DATABASE {database}")
    upgrade_data.postgresql_command("pg_restore", database, f"--dbname={database}", "--exit-on-error", str(tmp_path / "dump"))
    host = Data(tmp_path / "host")
    done(
        *("backup", "restore", tmp_path / "backup", "--config", host.setup / "latchkey.json5"),
        *("--recipient-key", private_key),
    )
    # Tokens are the issuer's, and no part of a backup.
    shutil.copy(tmp_path / "gone" / "secrets" / "token-signing-key.pem", host.setup / "secrets")
    done("ledger", "rejoin", "--config", host.setup / "latchkey.json5")
    running = Running.start(host)
    try:
        assert running.ask(host.token(), first, key=key).status == 200
        assert running.ask(spent, second).code == "token_used"
        assert licenses_in_ledger(host.setup) >= {answer.header("X-License-Id") for answer in before}
        shipped(host, database)
    finally:
        assert running.stop() == 0
    assert json.loads(run_latchkey(host.setup, "ledger", "verify", "--json"))["isSound"]
    assert json.loads(run_latchkey(host.setup, "ledger", "verify", "--shared", "--json"))["isSound"]


def test_a_node_is_lost_beside_postgresql(shared: tuple[Data, str], tmp_path: Path) -> None:
    """The copy in PostgreSQL has what the ledger's backup lacks, and `ledger rejoin` brings it back."""
    data, database = shared
    key = upgrade_data.import_key(data, CONTENT)
    running = Running.start(data)
    try:
        create(data.setup, tmp_path / "backup")
        after = [running.ask(data.token(sub=f"viewer-{n}"), data.device("a"), key=key) for n in range(5)]
        shipped(data, database)
    finally:
        assert running.stop() == 0
    remove_database(data.setup, "ledger.db")
    done("backup", "restore", tmp_path / "backup", "--config", data.setup / "latchkey.json5")
    lost = {answer.header("X-License-Id") for answer in after}
    assert not licenses_in_ledger(data.setup) & lost
    done("ledger", "rejoin", "--config", data.setup / "latchkey.json5")
    assert licenses_in_ledger(data.setup) >= lost
    running = Running.start(data)
    try:
        assert running.ask(data.token(), data.device("a"), key=key).status == 200
        shipped(data, database)
    finally:
        assert running.stop() == 0
    kinds = [json.loads(line)["kind"] for line in run_latchkey(data.setup, "ledger", "export").splitlines()]
    assert kinds.count("store_restored") == 1 and kinds.count("ledger_rejoined") == 1
    assert json.loads(run_latchkey(data.setup, "ledger", "verify", "--shared", "--json"))["isSound"]

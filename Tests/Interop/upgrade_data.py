"""Data that a node of an older commit has left: makes it, opens it and serves it.

The data has keys, licenses, a spent token, a device place, a revocation and a ledger, once in SQLite and once in
PostgreSQL. The folder `data-51d79ea` has it as commit 51d79ea made it. `Scripts/test-upgrade --fixture` makes it again.
All of its secrets are development material of `latchkey init`, made only for this folder.

    python upgrade_data.py make FOLDER     with the programs beside LATCHKEY_BIN and the server of LATCHKEY_POSTGRESQL
"""

import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit, urlunsplit

import tokens
from deployment import run_latchkey
from fairplay_device.ckc import open_ckc
from fairplay_device.credentials import read_device_credential
from fairplay_device.spc import Device, SPCOptions, device_for
from license_client import Answer, LicenseClient
from own_daemon import await_addresses, start_daemon, stop_daemon

COMMIT = "51d79ea"
FIXTURE = Path(__file__).with_name(f"data-{COMMIT}")
NODE = "fixture-1"
SCHEMA = f"latchkey_{COMMIT}"
ALONE = 'storage: { url: "sqlite:latchkey.db" }'
COMMAND_SECONDS = 60
YEAR = 365 * 86_400

CONTENT, FLOORED, WITHDRAWN = "movie-1", "movie-2", "movie-3"
REVOKED, PLACED, SINGLE = "viewer-revoked", "viewer-placed", "viewer-single"


@dataclass
class Data:
    """A set-up with a database, and the facts about its contents (`facts.json`)."""

    setup: Path

    @property
    def facts(self) -> dict[str, object]:
        return json.loads((self.setup / "facts.json").read_text())

    def device(self, name: str) -> Device:
        """The device with this name. It is the same device in every process."""
        device = device_for(read_device_credential(self.setup / "fairplay"), 1)
        device.device_id = (name.encode() * 20)[:20]
        return device

    def token(self, content: str = CONTENT, life: int = 3600, **claims: object) -> str:
        """A token of the set-up's own issuer, signed with its development key."""
        minted = run_latchkey(self.setup, "token", "mint", "--content", content, "--expires", str(life)).strip()
        key = tokens.read_signing_key(self.setup / "secrets" / "token-signing-key.pem")
        header, old = tokens.header_and_claims(minted)
        return tokens.sign_es256(header, old | claims, key)


@dataclass
class Running:
    """A daemon over such data."""

    data: Data
    process: subprocess.Popen[bytes]
    url: str
    log: Path
    admin: tuple[str, int]

    @classmethod
    def start(cls, data: Data, name: str = "daemon", program: str | None = None) -> "Running":
        """Starts a daemon. `program` is a folder with programs that replace those of the environment."""
        log = data.setup / f"{name}-{secrets.token_hex(3)}.log"
        with programs(program):
            process = start_daemon(data.setup, log)
        addresses = await_addresses(process, log)
        host, port = addresses["public"]
        return cls(data, process, f"http://{host}:{port}", log, addresses["admin"])

    def stop(self) -> int:
        return stop_daemon(self.process)

    def ask(self, token: str, device: Device, content: str = CONTENT, key: dict[str, str] | None = None) -> Answer:
        """Requests a license. If `key` is given, the license must have exactly this key."""
        context = device.request(SPCOptions(content.encode()))
        client = LicenseClient(self.url)
        try:
            answer = client.license(context.message, token)
        finally:
            client.close()
        if key is not None:
            assert answer.status == 200, f"{answer.status} {answer.body!r}"
            opened = open_ckc(answer.body, context.secrets)
            assert (opened.content_key.hex(), opened.content_iv.hex()) == (key["key"], key["iv"])
        return answer


class programs:
    """Uses the programs in a folder inside the context, or those of the environment if the folder is None."""

    def __init__(self, folder: str | None) -> None:
        self.folder = folder

    def __enter__(self) -> None:
        self.before = os.environ.get("LATCHKEY_BIN")
        if self.folder is not None:
            os.environ["LATCHKEY_BIN"] = str(Path(self.folder) / "latchkey")

    def __exit__(self, *_: object) -> None:
        if self.folder is not None and self.before is not None:
            os.environ["LATCHKEY_BIN"] = self.before


# --- Making it --------------------------------------------------------------------------------------------------------


def new_data(setup: Path, storage: str = ALONE) -> Data:
    """A new set-up whose places, tokens and rows last for years."""
    subprocess.run(
        [os.environ["LATCHKEY_BIN"], "init", str(setup)], check=True, stdout=subprocess.DEVNULL, timeout=COMMAND_SECONDS
    )
    configuration = setup / "latchkey.json5"
    text = configuration.read_text()
    assert ALONE in text and "entitlement: {" in text and "ledger: {" in text
    text = text.replace(ALONE, f'node: "{NODE}", {storage}')
    text = text.replace("entitlement: {", 'entitlement: { deviceLife: "3650d",', 1)
    text = text.replace("ledger: {", 'ledger: { retention: "36500d", rollUpRenewalsAfter: "36500d",', 1)
    configuration.write_text(text)
    return Data(setup)


def shared_storage() -> str:
    return (
        f'storage: {{ url: "{os.environ["LATCHKEY_POSTGRESQL"]}&schema={SCHEMA}", '
        'password: "secrets/postgresql-password", ledger: "ledger.db" }'
    )


def new_shared_data(setup: Path) -> Data:
    data = new_data(setup, shared_storage())
    shutil.copy(os.environ["LATCHKEY_POSTGRESQL_PASSWORD_FILE"], setup / "secrets" / "postgresql-password")
    return data


def fill(data: Data) -> None:
    """Makes keys, licenses, a spent token, a place and a revocation, all with a running daemon."""
    keys = {
        content: {"kid": str(uuid.uuid4()), "key": secrets.token_hex(16), "iv": secrets.token_hex(16)}
        for content in (CONTENT, FLOORED, WITHDRAWN)
    }
    demands = {FLOORED: ("--track", "UHD", "--hdcp", "type1", "--security-level", "main")}
    for content, key in keys.items():
        run_latchkey(
            data.setup, "keys", "import", "--content", content, *("--kid", key["kid"], "--key", key["key"]),
            *("--iv", key["iv"], *demands.get(content, ())),
        )
    run_latchkey(data.setup, "keys", "alias", "--kid", keys[CONTENT]["kid"], "--alias", "another-name")
    run_latchkey(data.setup, "keys", "delete", "--kid", keys[WITHDRAWN]["kid"])
    run_latchkey(
        data.setup, "revocations", "add", "--kind", "sub", "--value", REVOKED, "--reason", "before the upgrade"
    )
    spent = data.token(life=86_000, sub=SINGLE, jti="spent-once", limits={"uses": 1})
    running = Running.start(data)
    try:
        licenses = _use(running, data, spent, keys)
        if "postgresql://" in (data.setup / "latchkey.json5").read_text():
            await_shipped(data)
    finally:
        status = running.stop()
    assert status == 0
    facts = {
        "keys": keys, "spent": spent, "spentUntil": int(time.time()) + 86_000,
        "licenses": [license.header("X-License-Id") for license in licenses],
    }
    (data.setup / "facts.json").write_text(json.dumps(facts, indent=2) + "\n")


def _use(running: Running, data: Data, spent: str, keys: dict[str, dict[str, str]]) -> list[Answer]:
    """Requests licenses of three kinds, and then requests that must be refused because of them."""
    licenses = [
        running.ask(spent, data.device("a"), key=keys[CONTENT]),
        running.ask(data.token(sub=PLACED, device={"max": 1}), data.device("a"), key=keys[CONTENT]),
        *(running.ask(data.token(sub=f"viewer-{number}"), data.device("a"), key=keys[CONTENT]) for number in range(20)),
    ]
    refused = [
        running.ask(spent, data.device("b")),
        running.ask(data.token(sub=PLACED, device={"max": 1}), data.device("b")),
        running.ask(data.token(sub=REVOKED), data.device("a")),
    ]
    codes = [answer.code for answer in refused]
    assert codes == ["token_used", "device_mismatch", "subject_disabled"], codes
    return licenses


def await_shipped(data: Data) -> None:
    """Waits until PostgreSQL has as many rows as the node's own ledger."""
    own = len(run_latchkey(data.setup, "ledger", "export").splitlines())
    deadline = time.monotonic() + COMMAND_SECONDS
    while int(sql(f"SELECT count(*) FROM {SCHEMA}.ledger_entry WHERE node = '{NODE}'")) < own:
        assert time.monotonic() < deadline, "the ledger was not shipped"
        time.sleep(0.1)


# --- PostgreSQL -------------------------------------------------------------------------------------------------------


def postgresql_programs() -> Path:
    folders = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: [int(n) for n in re.findall(r"\d+", str(folder))]
    )
    assert folders, "PostgreSQL is not installed"
    return folders[-1]


def postgresql_command(program: str, database: str | None, *arguments: str, **options: object) -> str:
    """Runs a program of PostgreSQL with the role of Scripts/with-postgresql, and returns its output."""
    url = urlsplit(os.environ["LATCHKEY_POSTGRESQL"])
    settings = parse_qs(url.query)
    environment = os.environ | {
        "PGHOST": url.hostname or "", "PGPORT": str(url.port), "PGUSER": url.username or "",
        "PGDATABASE": database or url.path.lstrip("/"), "PGSSLMODE": settings["sslmode"][0],
        "PGSSLROOTCERT": settings["sslrootcert"][0],
        "PGPASSWORD": Path(os.environ["LATCHKEY_POSTGRESQL_PASSWORD_FILE"]).read_text().strip(),
    }
    finished = subprocess.run(
        [str(postgresql_programs() / program), *arguments], env=environment, text=True, capture_output=True,
        timeout=COMMAND_SECONDS, check=False, **options,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def sql(statement: str, database: str | None = None) -> str:
    return postgresql_command(
        "psql", database, "--no-psqlrc", "--tuples-only", "--no-align", "--set", "ON_ERROR_STOP=1", "--command", statement
    ).strip()


def dump() -> str:
    """The schema as a script. The key of psql's restricted mode, which is random, is left out."""
    text = postgresql_command("pg_dump", None, "--schema", SCHEMA, "--no-owner", "--no-privileges")
    return "".join(line for line in text.splitlines(keepends=True) if not re.match(r"\\(un)?restrict ", line))


def drop_database(name: str) -> None:
    """Drops a database whose nodes have stopped.

    `WITH (FORCE)` may end sessions of its own role only, and an autovacuum worker has none, so that it fails beside one.
    Without it the server ends such a worker itself, and waits up to 5 s for the others.
    """
    sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}' AND usename = current_user")
    sql(f"DROP DATABASE IF EXISTS {name}")


def restored_database() -> str:
    """Makes a new database with the schema of the fixture, and returns its name."""
    name = f"upgrade_{secrets.token_hex(6)}"
    sql(f"CREATE DATABASE {name}")
    script = (FIXTURE / "postgresql.sql").read_text()
    postgresql_command("psql", name, "--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", input=script)
    return name


def url_of(database: str) -> str:
    url = urlsplit(os.environ["LATCHKEY_POSTGRESQL"])
    return urlunsplit(url._replace(path=f"/{database}", query=f"{url.query}&schema={SCHEMA}"))


# --- The fixture ------------------------------------------------------------------------------------------------------


def make_fixture(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    alone = new_data(folder / "sqlite")
    fill(alone)
    sql(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    shared = new_shared_data(folder / "postgresql")
    fill(shared)
    (folder / "postgresql.sql").write_text(dump())
    configuration = shared.setup / "latchkey.json5"
    configuration.write_text(configuration.read_text().replace(shared_storage(), "storage: STORAGE"))
    (shared.setup / "secrets" / "postgresql-password").unlink()
    for left in [*folder.glob("*/*.log"), *folder.glob("*/*-lock"), *folder.glob("*/*-ledger-index*")]:
        left.unlink()
    for database in folder.glob("*/*.db"):
        assert not database.with_name(f"{database.name}-wal").exists(), "the daemon has not closed its database"


def sqlite_copy(folder: Path) -> Data:
    """The SQLite set-up of the fixture, copied into a folder."""
    return _copy("sqlite", folder)


def postgresql_copy(folder: Path, database: str) -> Data:
    """The PostgreSQL set-up of the fixture, over a restored database."""
    data = _copy("postgresql", folder)
    shutil.copy(os.environ["LATCHKEY_POSTGRESQL_PASSWORD_FILE"], data.setup / "secrets" / "postgresql-password")
    configuration = data.setup / "latchkey.json5"
    storage = f'storage: {{ url: "{url_of(database)}", password: "secrets/postgresql-password", ledger: "ledger.db" }}'
    configuration.write_text(configuration.read_text().replace("storage: STORAGE", storage))
    return data


def _copy(name: str, folder: Path) -> Data:
    setup = folder / name
    shutil.copytree(FIXTURE / name, setup)
    # Git stores no file mode except whether a file is executable.
    for file in setup.rglob("*"):
        file.chmod(0o700 if file.is_dir() else 0o600)
    return Data(setup)


if __name__ == "__main__":
    if sys.argv[1:2] != ["make"] or len(sys.argv) != 3:
        sys.exit(__doc__)
    make_fixture(Path(sys.argv[2]))

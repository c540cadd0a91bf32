"""Set-ups over a database that any version's programs have made and filled, and daemons over them."""

import os
import re
import secrets
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlsplit, urlunsplit

import pytest

import tokens
from deployment import run_latchkey
from fairplay_device.ckc import open_ckc
from fairplay_device.credentials import read_device_credential
from fairplay_device.spc import Device, SPCOptions, device_for
from license_client import Answer, LicenseClient
from own_daemon import await_addresses, start_daemon, stop_daemon

NODE = "upgraded-1"
SCHEMA = "latchkey_upgraded"
ALONE = 'storage: { url: "sqlite:latchkey.db" }'
COMMAND_SECONDS = 60

CONTENT, FLOORED, WITHDRAWN = "movie-1", "movie-2", "movie-3"
REVOKED, PLACED, SINGLE = "viewer-revoked", "viewer-placed", "viewer-single"


@dataclass
class Data:
    """A set-up with a database, and what `fill` has put into it."""

    setup: Path
    # By content: kid, key and iv in hexadecimal.
    keys: dict[str, dict[str, str]] = field(default_factory=dict)
    # A token whose only use is spent, the SPC that has spent it, and its license.
    spent: str = ""
    spent_by: bytes = b""
    licenses: list[str] = field(default_factory=list)

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
        answer = self.send(context.message, token)
        if key is not None:
            assert answer.status == 200, f"{answer.status} {answer.body!r}"
            opened = open_ckc(answer.body, context.secrets)
            assert (opened.content_key.hex(), opened.content_iv.hex()) == (key["key"], key["iv"])
        return answer

    def send(self, message: bytes, token: str) -> Answer:
        client = LicenseClient(self.url)
        try:
            return client.license(message, token)
        finally:
            client.close()


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
    subprocess.run(
        [os.environ["LATCHKEY_BIN"], "init", str(setup)], check=True, stdout=subprocess.DEVNULL, timeout=COMMAND_SECONDS
    )
    configuration = setup / "latchkey.json5"
    text = configuration.read_text()
    assert ALONE in text
    configuration.write_text(text.replace(ALONE, f'node: "{NODE}", {storage}'))
    return Data(setup)


def new_shared_data(setup: Path, database: str) -> Data:
    storage = f'storage: {{ url: "{url_of(database)}", password: "secrets/postgresql-password", ledger: "ledger.db" }}'
    data = new_data(setup, storage)
    shutil.copy(os.environ["LATCHKEY_POSTGRESQL_PASSWORD_FILE"], setup / "secrets" / "postgresql-password")
    return data


def import_key(data: Data, content: str, *demands: str) -> dict[str, str]:
    key = {"kid": str(uuid.uuid4()), "key": secrets.token_hex(16), "iv": secrets.token_hex(16)}
    run_latchkey(
        data.setup, "keys", "import", "--content", content, "--kid", key["kid"], "--key", key["key"], "--iv", key["iv"],
        *demands,
    )
    return key


def fill(data: Data) -> None:
    """Makes keys, licenses, a spent token, a place and a revocation, all with a running daemon."""
    data.keys = {content: import_key(data, content) for content in (CONTENT, WITHDRAWN)}
    data.keys[FLOORED] = import_key(
        data, FLOORED, "--track", "UHD", "--hdcp", "type1", "--security-level", "main"
    )
    run_latchkey(data.setup, "keys", "alias", "--kid", data.keys[CONTENT]["kid"], "--alias", "another-name")
    run_latchkey(data.setup, "keys", "delete", "--kid", data.keys[WITHDRAWN]["kid"])
    run_latchkey(
        data.setup, "revocations", "add", "--kind", "sub", "--value", REVOKED, "--reason", "before the upgrade"
    )
    data.spent = data.token(sub=SINGLE, jti="spent-once", limits={"uses": 1})
    running = Running.start(data)
    try:
        _use(running, data)
    finally:
        assert running.stop() == 0


def _use(running: Running, data: Data) -> None:
    """Requests licenses of three kinds, and then requests that must be refused because of them."""
    key, request = data.keys[CONTENT], data.device("a").request(SPCOptions(CONTENT.encode()))
    data.spent_by = request.message
    licenses = [
        running.send(data.spent_by, data.spent),
        running.ask(data.token(sub=PLACED, device={"max": 1}), data.device("a"), key=key),
        *(running.ask(data.token(sub=f"viewer-{number}"), data.device("a"), key=key) for number in range(20)),
    ]
    assert [answer.status for answer in licenses] == [200] * 22
    data.licenses = [answer.header("X-License-Id") or "" for answer in licenses]
    refused = [
        running.ask(data.spent, data.device("b")),
        running.ask(data.token(sub=PLACED, device={"max": 1}), data.device("b")),
        running.ask(data.token(sub=REVOKED), data.device("a")),
    ]
    codes = [answer.code for answer in refused]
    assert codes == ["token_used", "device_limit", "subject_disabled"], codes


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


def dump(database: str, schema: str = SCHEMA) -> str:
    """The schema as a script. The key of psql's restricted mode, which is random, is left out."""
    text = postgresql_command("pg_dump", database, "--schema", schema)
    return "".join(line for line in text.splitlines(keepends=True) if not re.match(r"\\(un)?restrict ", line))


def drop_database(name: str) -> None:
    """Drops a database whose nodes have stopped.

    `WITH (FORCE)` may end sessions of its own role only, and an autovacuum worker has none, so that it fails beside one.
    Without it the server ends such a worker itself, and waits up to 5 s for the others.
    """
    sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}' AND usename = current_user")
    sql(f"DROP DATABASE IF EXISTS {name}")


@contextmanager
def new_database() -> Iterator[str]:
    """A database that exists inside the context. The test is skipped if there is no server."""
    if "LATCHKEY_POSTGRESQL" not in os.environ:
        pytest.skip("LATCHKEY_POSTGRESQL names no server: Scripts/with-postgresql Scripts/test-interop starts one")
    name = f"test_{secrets.token_hex(6)}"
    sql(f"CREATE DATABASE {name}")
    try:
        yield name
    finally:
        drop_database(name)


def url_of(database: str) -> str:
    url = urlsplit(os.environ["LATCHKEY_POSTGRESQL"])
    return urlunsplit(url._replace(path=f"/{database}", query=f"{url.query}&schema={SCHEMA}"))

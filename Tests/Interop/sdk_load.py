"""Set-ups and clients for tests that load a daemon with credentials of the kind `sdk`.

    store_keys, Kept    content keys with the asset ids by which a request asks the stand-in for a fault
    Asker               a client that repeats a request if the daemon tells it to
    worker_ids          the worker processes of a daemon
    write_credentials   credentials of several kinds in one configuration
"""

import csv
import json
import secrets
import shutil
import subprocess
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from deployment import run_latchkey
from fairplay_device import tags
from fairplay_device.credentials import Credential
from fairplay_device.facts import PlaybackState
from fairplay_device.spc import PlaybackContext, SPCOptions, device_for
from license_client import Answer, LicenseClient
from sdk_certificates import newer_entry, private_key, write_certificates
from secret_watch import WATCH

WAIT_SECONDS = 90
MODULE_SOURCE = Path(__file__).parents[1] / "LadderStandIn" / "stand_in_module.c"
MODULE_HEADERS = Path(__file__).parents[2] / "Sources" / "CLadder"
# What a daemon may answer to a request that it would give later.
LATER = (429, 503)


# --- Keys and requests ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kept:
    """A stored key. Requests for `faulty` ask the stand-in for a fault, and those for `content` do not."""

    content: str
    faulty: str
    key: bytes
    iv: bytes


def store_keys(setup: Path, faults: Iterable[str]) -> dict[str, Kept]:
    """Stores a key for each fault, by one command because a command takes a second in a debug build."""
    kept = {
        fault: Kept(f"film-{fault}", f"fault-{fault}", secrets.token_bytes(16), secrets.token_bytes(16))
        for fault in faults
    }
    file = setup.parent / "keys.csv"
    with file.open("w", newline="") as rows:
        table = csv.writer(rows)
        table.writerow(["kid", "content", "key", "iv", "alias"])
        for each in kept.values():
            WATCH.note("a content key", each.key)
            WATCH.note("the IV of a content key", each.iv)
            table.writerow([uuid.uuid4(), each.content, each.key.hex(), each.iv.hex(), each.faulty])
    run_latchkey(setup, "keys", "import", "--file", str(file))
    file.unlink()
    return kept


def spc(credential: Credential, asset: str, version: int = 1) -> PlaybackContext:
    state = PlaybackState(1_700_000_000, tags.READY_TO_START, secrets.randbits(64))
    return device_for(credential, version).request(SPCOptions(asset.encode(), playback_state=state))


@dataclass
class Asker:
    """A client of one thread, which does what the daemon says about repeating a request."""

    client: LicenseClient
    # How often a request was repeated.
    repetitions: int = 0

    def ask(self, message: bytes, token: str) -> Answer:
        """The first answer that is no request to come again later. The daemon says how much later."""
        deadline = time.monotonic() + WAIT_SECONDS
        while (answer := self.client.license(message, token)).status in LATER:
            wait = answer.header("Retry-After")
            assert wait is not None and 0 < int(wait) <= 30, (answer.status, answer.headers, answer.body)
            assert time.monotonic() < deadline, answer.body
            self.repetitions += 1
            time.sleep(int(wait))
        return answer


def licenses_in_ledger(setup: Path) -> Counter[str]:
    """How often each license is in the ledger. Fails if the ledger does not verify."""
    run_latchkey(setup, "ledger", "verify")
    rows = (json.loads(line) for line in run_latchkey(setup, "ledger", "export").splitlines())
    return Counter(row["license"] for row in rows if row["kind"] in ("license_issued", "license_renewed"))


def await_true(what: str, is_true: Callable[[], bool], seconds: float = WAIT_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.02)


# --- Worker processes -------------------------------------------------------------------------------------------------


def worker_ids(daemon: int) -> set[int]:
    """The worker processes of a daemon that have not ended."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            after_name = (folder / "stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(after_name[1]) == daemon and after_name[0] != "Z":
            found.add(int(folder.name))
    return found


def ready_workers(log: Path, credential: str) -> list[int]:
    """The processes that have become workers of a credential, by the log of their daemon."""
    return [entry["pid"] for entry in events(log, "ladder_worker_ready") if entry["credential"] == credential]


def events(log: Path, name: str) -> list[dict[str, object]]:
    """The lines of one event in a log, which may be long and be read often. Its last line may be incomplete."""
    mark = f'"event":"{name}"'.encode()
    found = []
    with log.open("rb") as lines:
        for line in lines:
            if mark in line and line.endswith(b"}\n"):
                found.append(json.loads(line))
    return found


# --- Credentials of several kinds -------------------------------------------------------------------------------------


def write_private(file: Path, contents: bytes) -> None:
    """Writes a file of its owner alone. A reader finds the old contents or the new ones."""
    draft = file.with_name(f"{file.name}.new")
    draft.touch(mode=0o600)
    draft.write_bytes(contents)
    draft.replace(file)


def write_credentials(setup: Path, entries: list[str]) -> None:
    """Replaces the credentials of a set-up's configuration."""
    configuration = setup / "latchkey.json5"
    text = configuration.read_text()
    start = text.index("credentials: [")
    end = text.index("        ],\n", start)
    configuration.write_text(text[:start] + "credentials: [\n" + ",\n".join(entries) + ",\n" + text[end:])


def sdk_entry(
    setup: Path, name: str, credential: Credential, library: Path, fields: str = "", lines: tuple[str, ...] = ()
) -> str:
    """A credential of the kind `sdk`, and its delivery in a folder of the credential's name."""
    folder = setup / name
    folder.mkdir()
    write_certificates(folder, newer_entry(folder, credential, "one", *lines))
    for file in folder.iterdir():
        file.chmod(0o600)
    return (
        f'{{ name: "{name}", spcVersion3: true, '
        f'sdk: {{ library: "{library}", certificates: "{name}/certificates.json"{fields} }} }}'
    )


def pairs_entry(setup: Path, name: str, credential: Credential, ladder: str) -> str:
    """A credential of another kind, and the files of its certificates in a folder of the credential's name."""
    folder = setup / name
    folder.mkdir()
    (folder / "bundle.bin").write_bytes(credential.bundle)
    for bits in (1024, 2048):
        write_private(folder / f"private-key-{bits}.pem", private_key(credential, bits))
    keys = ", ".join(f'privateKey{bits}: "{name}/private-key-{bits}.pem"' for bits in (1024, 2048))
    return f'{{ name: "{name}", spcVersion3: true, certificateBundle: "{name}/bundle.bin", {keys}, {ladder} }}'


def native_entry(setup: Path, name: str, credential: Credential) -> str:
    entry = pairs_entry(setup, name, credential, f'applicationSecret: "{name}/secret.hex"')
    write_private(setup / name / "secret.hex", credential.application_secret.hex().encode())
    return entry


def module_entry(setup: Path, name: str, credential: Credential, fields: str = "") -> str:
    """A credential with the external module of Tests/LadderStandIn."""
    library = setup / "module.so"
    subprocess.run(
        ["cc", "-O1", "-std=gnu11", "-shared", "-fPIC", "-D_GNU_SOURCE", f"-I{MODULE_HEADERS}", "-o", library,
         MODULE_SOURCE, "-lcrypto"], check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    write_private(setup / "module-data", f"ask {credential.application_secret.hex()}\n".encode())
    ladder = f'module: {{ library: "module.so", data: "module-data"{fields} }}'
    return pairs_entry(setup, name, credential, ladder)


def with_new_secret(credential: Credential) -> Credential:
    return replace(credential, application_secret=secrets.token_bytes(16))


def copy_library(library: Path, folder: Path) -> Path:
    """Copies a library, with the closed one beside it, to where every user can read it."""
    folder.mkdir()
    folder.chmod(0o755)
    for file in (library, library.parent / "libfpscrypto.so"):
        shutil.copy(file, folder / file.name)
        (folder / file.name).chmod(0o755)
    return folder / library.name

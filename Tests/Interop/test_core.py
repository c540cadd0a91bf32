"""No key is in a core dump of the running daemon, or in its files, log or answers."""

import os
import re
import resource
import secrets
import shutil
import signal
import subprocess
import uuid
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from deployment import register, run_latchkey
from fairplay_device.ckc import open_ckc
from fairplay_device.credentials import read_device_credential
from fairplay_device.spc import SPCOptions, device_for
from license_client import LicenseClient
from license_policy import ContentKey
from own_daemon import OwnDaemon, await_addresses, new_setup, running_daemon, start_daemon

LICENSES = 40
CONTENT = "core-movie"


@pytest.fixture(scope="module")
def key() -> ContentKey:
    return ContentKey(key_id=uuid.uuid4().bytes, key=secrets.token_bytes(16), iv=secrets.token_bytes(16))


@pytest.fixture(scope="module")
def daemon(latchkey_programs: None, key: ContentKey, tmp_path_factory: pytest.TempPathFactory):
    """A daemon that has granted licenses of every version and refused others.

    It has also loaded a key that a command stored while it ran.
    """
    folder = tmp_path_factory.mktemp("core")
    with running_daemon(folder, prepare=lambda setup: register(setup, CONTENT, key)) as daemon:
        token = run_latchkey(daemon.setup, "token", "mint", "--content", CONTENT).strip()
        other = run_latchkey(daemon.setup, "token", "mint", "--content", "another").strip()
        client = LicenseClient(daemon.url)
        device = device_for(read_device_credential(daemon.setup / "fairplay"), 1)
        for _ in range(LICENSES):
            request = device.request(SPCOptions(CONTENT.encode()))
            answer = client.license(request.message, token)
            assert answer.status == 200
            assert open_ckc(answer.body, request.secrets).content_key == key.key
            assert client.license(device.request(SPCOptions(CONTENT.encode())).message, other).status == 403
            # The wrapped key does not decrypt.
            assert client.license(request.message[:40] + bytes(16) + request.message[56:], token).status == 422
        client.close()
        yield daemon


def secrets_of(setup: Path, key: ContentKey) -> dict[str, bytes]:
    """Every secret, in raw form, that must be only in pages that a core dump leaves out."""

    def hexadecimal(name: str) -> bytes:
        return bytes.fromhex((setup / name).read_text().strip())

    return {
        "content key": key.key,
        "key-encryption key": hexadecimal("secrets/key-encryption-key"),
        "application secret": hexadecimal("fairplay/application-secret.hex"),
        "ledger key": hexadecimal("secrets/ledger-key"),
        "pseudonym key": hexadecimal("secrets/pseudonym-key"),
        "session key": hexadecimal("secrets/session-key"),
    } | private_numbers(setup)


def private_numbers(setup: Path) -> dict[str, bytes]:
    """The secret numbers of the RSA keys, big-endian; `spellings` reverses them."""
    found = {}
    for path in sorted((setup / "fairplay").glob("*.pem")):
        if b"PRIVATE KEY" not in path.read_bytes():
            continue
        key = serialization.load_pem_private_key(path.read_bytes(), None)
        assert isinstance(key, rsa.RSAPrivateKey)
        numbers = key.private_numbers()
        for name in ("p", "q", "dmp1", "dmq1", "iqmp", "d"):
            size = key.key_size // (8 if name == "d" else 16)
            # Without the first byte, because a number may be shorter than the others.
            found[f"{name} of the {key.key_size}-bit key"] = getattr(numbers, name).to_bytes(size, "big")[1:]
    assert len(found) == 12
    return found


def spellings(secret: bytes) -> list[bytes]:
    return [secret, secret.hex().encode(), secret.hex().upper().encode(), secret[::-1]]


def dumpable_memory(process: int) -> list[tuple[str, bytes]]:
    """The contents of every readable mapping that is not marked "do not dump", regardless of the filter for core
    dumps."""
    mappings = []
    head = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \S+\s*(.*)$")
    current: tuple[int, int, str, str] | None = None
    for line in Path(f"/proc/{process}/smaps").read_text().splitlines():
        if match := head.match(line):
            current = (int(match[1], 16), int(match[2], 16), match[3], match[4])
        elif line.startswith("VmFlags:") and current is not None:
            start, end, mode, name = current
            if "r" in mode and "dd" not in line.split() and name not in ("[vvar]", "[vsyscall]"):
                mappings.append((start, end, name))
    found = []
    with Path(f"/proc/{process}/mem").open("rb", buffering=0) as memory:
        for start, end, name in mappings:
            memory.seek(start)
            try:
                found.append((f"{start:x} {name}", memory.read(end - start)))
            except OSError:
                # These pages are past the end of a mapped file.
                continue
    return found


def hits(own: dict[str, bytes], places: list[tuple[str, bytes]]) -> set[str]:
    return {
        f"{name} in {place}"
        for name, secret in own.items()
        for place, part in places
        for spelling in spellings(secret)
        if spelling in part
    }


@pytest.mark.slow
def test_ordinary_memory_holds_no_key_at_rest(daemon: OwnDaemon, key: ContentKey) -> None:
    """Keys at rest are only in the secure heap, which is locked and left out of core dumps.

    Not the primes of a used RSA key: OpenSSL keeps them in its contexts, as the threat model says.
    """
    try:
        memory = dumpable_memory(daemon.process.pid)
    except PermissionError:
        pytest.skip("only CAP_SYS_PTRACE allows reading the memory of a process that is not dumpable")
    assert sum(len(part) for _, part in memory) > 1 << 20
    # This proves that the scan works: it finds the content's name, which is not secret.
    assert hits({"content": CONTENT.encode()}, memory)
    own = secrets_of(daemon.setup, key)
    primes = {name for name in own if re.match(r"[pq] of ", name)}
    assert not hits({name: secret for name, secret in own.items() if name not in primes}, memory)


@pytest.mark.slow
def test_a_forced_core_holds_no_secret(daemon: OwnDaemon, key: ContentKey, tmp_path: Path) -> None:
    """A core dump that root forces leaves out the process's memory.

    The primes of used RSA keys are in contexts of OpenSSL in ordinary memory.
    """
    assert int(Path(f"/proc/{daemon.process.pid}/coredump_filter").read_text(), 16) == 0
    gcore = shutil.which("gcore")
    if gcore is None or os.geteuid() != 0:
        pytest.skip("only root may use gcore on a process that is not dumpable")
    forced = subprocess.run(
        [gcore, "-o", tmp_path / "core", str(daemon.process.pid)], capture_output=True, timeout=60, check=False
    )
    (core,) = [path for path in tmp_path.iterdir() if path.name.startswith("core")] or [None]
    if core is None:
        pytest.skip(f"gcore wrote no core: {forced.stderr.decode()[-200:]}")
    assert not hits(secrets_of(daemon.setup, key), [("the core", core.read_bytes())])
    # The daemon keeps running.
    assert daemon.process.poll() is None


def test_no_core_is_written(latchkey_programs: None, tmp_path: Path) -> None:
    """A crash writes no core dump, even if the resource limit allows one."""
    unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    if resource.getrlimit(resource.RLIMIT_CORE)[1] != resource.RLIM_INFINITY and os.geteuid() != 0:
        pytest.skip("the limit of core dumps cannot be raised")
    log = tmp_path / "daemon.log"
    process = start_daemon(
        new_setup(tmp_path),
        log,
        # Swift's backtracer would handle the signal itself.
        {"SWIFT_BACKTRACE": "enable=no"},
        cwd=tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, unlimited),
    )
    await_addresses(process, log)
    process.send_signal(signal.SIGABRT)
    _, status = os.waitpid(process.pid, 0)
    process.returncode = -os.WTERMSIG(status)
    assert os.WTERMSIG(status) == signal.SIGABRT
    assert not os.WCOREDUMP(status)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("core")]


def test_no_file_and_no_line_of_the_log_holds_a_key(daemon: OwnDaemon, key: ContentKey) -> None:
    own = secrets_of(daemon.setup, key)
    places = {
        daemon.setup / "secrets/key-encryption-key", daemon.setup / "fairplay/application-secret.hex",
        daemon.setup / "secrets/ledger-key", daemon.setup / "secrets/pseudonym-key",
        daemon.setup / "secrets/session-key",
    }
    files = [path for path in daemon.setup.parent.rglob("*") if path.is_file() and path not in places]
    assert any(path.name == "latchkey.db" for path in files) and daemon.log in files
    assert not hits(own, [(path.name, path.read_bytes()) for path in files])

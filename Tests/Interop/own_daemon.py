"""A daemon that belongs to one test and has the test's limits. The test can read its metrics and log."""

import atexit
import json
import os
import re
import resource
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

import http1_wire
from deployment import sample_process
from secret_watch import WATCH

START_SECONDS = 120
STOP_SECONDS = 35
LOG_SECONDS = 60
# The number of the user without rights.
UNPRIVILEGED = 65534


@dataclass(frozen=True)
class OwnDaemon:
    """A running `latchkeyd`; addresses are host and port."""

    process: subprocess.Popen[bytes]
    setup: Path
    public: tuple[str, int]
    admin: tuple[str, int]
    log: Path

    @property
    def url(self) -> str:
        return f"http://{self.public[0]}:{self.public[1]}"

    def metrics(self, of: str | tuple[str, ...] = "") -> dict[str, float]:
        """Every sample by its name with labels, or only those whose name begins with `of`.

        The request for the metrics is counted too, but only in the next samples.
        """
        token = (self.setup / "secrets" / "admin-token").read_text().strip()
        request = (
            f"GET /metrics HTTP/1.1\r\nHost: admin\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\r\n"
        )
        (answer,) = http1_wire.exchange(self.admin, request.encode()).responses
        assert answer.status == 200, answer
        lines = (line for line in answer.body.decode().splitlines() if line.startswith(of))
        return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if line[0] != "#")}

    def seen(self) -> "Seen":
        """What the daemon has counted on both listeners so far, without the request of this method."""
        refused = "latchkey_http_inputs_refused_total"
        metrics = self.metrics(("latchkey_http_requests_total{", refused))
        refused_inputs = metrics.pop(refused)
        return Seen(int(sum(metrics.values())), int(refused_inputs))

    def await_log(self, text: str) -> None:
        """Waits for a text in the log. The daemon may write to its log after it has answered."""
        deadline = time.monotonic() + LOG_SECONDS
        while text not in self.log.read_text():
            assert time.monotonic() < deadline, f"no {text} in {self.log.read_text()[-2000:]}"
            time.sleep(0.02)
        assert text in self.log.read_text()

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_bytes(self) -> int:
        return sample_process(self.process.pid).resident_bytes

    def resident_bytes_at_most(self) -> int:
        """The process's largest resident memory so far, as the kernel has recorded it."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return 1024 * int(status.partition("VmHWM:")[2].split()[0])


@dataclass(frozen=True)
class Seen:
    """Counts of the requests that were answered, and of the inputs that never became a request."""

    requests: int
    refused_inputs: int

    def since(self, before: "Seen") -> "Seen":
        """The difference to an earlier count, without the request that read the earlier count."""
        return Seen(self.requests - before.requests - 1, self.refused_inputs - before.refused_inputs)


@contextmanager
def running_daemon(
    folder: Path,
    limits: dict[str, object] | None = None,
    files: int | None = None,
    tls: dict[str, object] | None = None,
    prepare: Callable[[Path], None] | None = None,
) -> Iterator[OwnDaemon]:
    """Runs a daemon with a new set-up in the folder, after `prepare` has changed the set-up.

    `files` is its limit of open descriptors. `tls` is the member `tls` of its public listener.
    """
    setup = new_setup(folder, limits, tls)
    if prepare is not None:
        prepare(setup)
    log = folder / "daemon.log"
    process = start_daemon(setup, log, preexec_fn=_descriptor_limit(files))
    try:
        addresses = await_addresses(process, log)
        yield OwnDaemon(process, setup, addresses["public"], addresses["admin"], log)
        assert process.poll() is None, f"the daemon is gone: {log.read_text()[-2000:]}"
    finally:
        stop_daemon(process)


@contextmanager
def installed_programs(system: Path) -> Iterator[Path]:
    """The programs in `usr/bin` of a folder, as the package has them. Yields the folder of the documents beside them."""
    given = Path(os.environ["LATCHKEY_BIN"])
    (system / "usr/bin").mkdir(parents=True)
    for program in (given, given.with_name("latchkeyd")):
        copy = system / "usr/bin" / program.name
        try:
            os.link(program.resolve(), copy)
        except OSError:
            shutil.copy(program, copy)
    os.environ["LATCHKEY_BIN"] = str(system / "usr/bin" / given.name)
    try:
        yield system / "usr/share/doc/latchkey/html"
    finally:
        os.environ["LATCHKEY_BIN"] = str(given)


@contextmanager
def without_locked_memory(folder: Path) -> Iterator[OwnDaemon]:
    """Runs a daemon that may lock no memory: as another user if this is root, who may always lock memory."""
    setup = new_setup(folder)
    log = folder / "daemon.log"
    is_root = os.geteuid() == 0

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0))
        if is_root:
            os.setgid(UNPRIVILEGED)
            os.setuid(UNPRIVILEGED)

    if is_root:
        for path in [setup, *setup.rglob("*")]:
            os.chown(path, UNPRIVILEGED, UNPRIVILEGED)
        for parent in [folder, *list(folder.parents)[:3]]:
            if parent.stat().st_uid == 0:
                parent.chmod(parent.stat().st_mode | 0o711)
    process = start_daemon(setup, log, preexec_fn=limit)
    try:
        addresses = await_addresses(process, log)
        yield OwnDaemon(process, setup, addresses["public"], addresses["admin"], log)
    finally:
        stop_daemon(process)


def new_setup(
    folder: Path, limits: dict[str, object] | None = None, tls: dict[str, object] | None = None
) -> Path:
    """Makes a set-up as `latchkey init` does, and changes its limits and TLS.

    All set-ups of a process have the same FairPlay credential and the same TLS certificate.
    """
    setup = folder / "setup"
    copy_setup(first_setup(os.environ["LATCHKEY_BIN"]), setup)
    configuration = setup / "latchkey.json5"
    if limits:
        lines = [line for line in configuration.read_text().splitlines() if line.strip().startswith("limits: {")]
        if lines:
            # The set-up gets very high rates, unless the test gives other rates.
            own = {"rates": {name: {"perSecond": 100_000} for name in ("perAddress", "perSubject")}} | limits
            (line,) = lines
            _replace(configuration, line, f"    limits: {json.dumps(own)},")
        else:
            # The set-up is from an older version, whose default rates are high enough.
            _replace(configuration, "    logging: {", f"    limits: {json.dumps(limits)},\n\n    logging: {{")
    if tls:
        address = 'address: "127.0.0.1:8080"'
        _replace(configuration, address, f"{address}, tls: {json.dumps(tls)}")
    return setup


def initialise(setup: Path, tool: str) -> Path:
    """Makes a set-up with `latchkey init`, so that every secret is its own."""
    subprocess.run([tool, "init", setup], check=True, stdout=subprocess.DEVNULL, timeout=START_SECONDS)
    return setup


@cache
def first_setup(tool: str) -> Path:
    """The set-up of which those of the tests are copies, because making RSA keys takes most of the time of `init`."""
    folder = tempfile.mkdtemp(prefix="latchkey-setup-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return initialise(Path(folder) / "setup", tool)


def copy_setup(original: Path, setup: Path) -> None:
    """Copies a set-up, and gives it random secrets and a token signing key of its own."""
    shutil.copytree(original, setup)
    for file in [*(setup / "secrets").iterdir(), *(setup / "fairplay").glob("*.hex")]:
        text = file.read_text()
        if re.fullmatch(r"[0-9a-f]+\n", text):
            file.write_text(secrets.token_hex(len(text) // 2) + "\n")
        elif "-----BEGIN" not in text:
            file.write_text(secrets.token_urlsafe(32) + "\n")
    key = ec.generate_private_key(ec.SECP256R1())
    (setup / "secrets/token-signing-key.pem").write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    )
    (setup / "secrets/token-verification-key.pem").write_bytes(
        key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    )


def _replace(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


FREE_PORTS = {"LATCHKEY_LISTEN": "127.0.0.1:0", "LATCHKEY_ADMIN_LISTEN": "127.0.0.1:0"}


def start_daemon(
    setup: Path,
    log: Path,
    environment: dict[str, str] | None = None,
    through: tuple[str, ...] = (),
    addresses: dict[str, str] = FREE_PORTS,
    arguments: tuple[str, ...] = (),
    log_level: str | None = "debug",
    **options: Any,
) -> subprocess.Popen[bytes]:
    """Starts the daemon of a set-up on free ports, which it writes to its log. Does not wait until it is ready.

    `through` is a command that replaces itself by the daemon. `addresses` replace the addresses of the configuration.
    `arguments` are added at the end of the command line.
    `log_level` replaces the level that `latchkey init` writes, and no other one. At the end of the run the log is
    searched for secrets.
    """
    program = Path(os.environ["LATCHKEY_BIN"]).with_name("latchkeyd")
    WATCH.watch(setup, log)
    level = {}
    if log_level is not None and 'level: "info"' in (setup / "latchkey.json5").read_text():
        level = {"LATCHKEY_LOG_LEVEL": log_level}
    with log.open("wb") as output:
        return subprocess.Popen(
            [*through, program, "--config", setup / "latchkey.json5", *arguments],
            stdout=output,
            stderr=output,
            env=os.environ | addresses | level | (environment or {}),
            **options,
        )


def stop_daemon(process: subprocess.Popen[bytes]) -> int:
    """Ends the daemon by SIGTERM, or by force if it does not end. Returns its exit status."""
    process.terminate()
    try:
        return process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def _descriptor_limit(files: int | None) -> Callable[[], None] | None:
    if files is None:
        return None
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))


def await_addresses(process: subprocess.Popen[bytes], log: Path) -> dict[str, tuple[str, int]]:
    """Waits until the daemon is ready, and returns the listeners' addresses by name."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        complete = log.read_text().rpartition("\n")[0].splitlines()
        entries = [json.loads(line) for line in complete if line.startswith("{")]
        if any(entry["event"] == "ready" for entry in entries):
            listening = (entry for entry in entries if entry["event"] == "listening")
            return {entry["listener"]: _host_and_port(entry["address"]) for entry in listening}
        time.sleep(0.05)
    raise AssertionError(f"the daemon did not start: {log.read_text()[-2000:]}")


def _host_and_port(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host, int(port)

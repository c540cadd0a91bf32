"""A daemon with a set-up of its own, and loads on it by `latchkey bench`."""

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SUBJECTS = 16
CONTENT = "movie-1"
# What `latchkey init` writes for the public listener, and what stands behind it for TLS.
ADDRESS = 'address: "127.0.0.1:8080"'
TLS = 'tls: { certificate: "tls/certificate.pem", privateKey: "tls/private-key.pem" }'
FREE_ADDRESSES = {"LATCHKEY_LISTEN": "127.0.0.1:0", "LATCHKEY_ADMIN_LISTEN": "127.0.0.1:0"}
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(process: int | str, with_children: bool = False) -> float:
    """The processor time of a process, and on request that of its children which have ended."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11 : 15 if with_children else 13])) / TICKS


def resident_bytes(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text().splitlines()
    return int(next(line for line in status if line.startswith("VmRSS:")).split()[1]) * 1024


@dataclass(frozen=True)
class Plan:
    """How long each load takes, how often it is repeated, and how long `openssl speed` runs."""

    seconds: int
    rounds: int
    openssl_seconds: int


@dataclass(frozen=True)
class Programs:
    """The programs under test, and the processor on which daemons run; any processor if it is None."""

    folder: Path
    core: int | None = None

    def tool(self, *arguments: object) -> str:
        command = [self.folder / "latchkey", *map(str, arguments)]
        finished = subprocess.run(command, capture_output=True, text=True)
        if finished.returncode != 0:
            raise SystemExit(f"latchkey {arguments[0]} failed: {finished.stderr}")
        return finished.stdout

    def daemon(self, configuration: Path) -> list[object]:
        place = [] if self.core is None else ["taskset", "-c", self.core]
        return [*map(str, place), self.folder / "latchkeyd", "--config", configuration]


class Daemon:
    """A daemon with a set-up of its own, and tokens of several subjects for one content.

    `prepare` may change the set-up before the daemon starts. A node of a shared database has its content already. A
    set-up with several listeners has addresses with the port 0; others are told to use such an address.
    """

    def __init__(
        self,
        programs: Programs,
        setup: Path,
        *,
        prepare: Callable[[Path], None] | None = None,
        has_content: bool = False,
        environment: dict[str, str] | None = None,
        has_addresses: bool = False,
    ):
        self.programs = programs
        self.setup = setup
        programs.tool("init", setup)
        if prepare is not None:
            prepare(setup)
        self.configuration = setup / "latchkey.json5"
        if not has_content:
            programs.tool("keys", "create", "--config", self.configuration, "--content", CONTENT)
        self.tokens = self.mint(SUBJECTS)
        log = (setup / "daemon.log").open("wb")
        self.process = subprocess.Popen(
            programs.daemon(self.configuration),
            stderr=log,
            env=os.environ | ({} if has_addresses else FREE_ADDRESSES) | (environment or {}),
        )
        self.urls = self._urls()
        self.url = self.urls[-1]

    def mint(self, count: int, *options: object, content: str = CONTENT) -> Path:
        """Mints tokens into a new file, one a line. Returns the file."""
        tokens = self.programs.tool(
            *("token", "mint", "--config", self.configuration, "--content", content, "--lease", 300),
            *("--subject", "viewer", "--count", count, *options),
        )
        number, file = tempfile.mkstemp(prefix="tokens-", dir=self.setup)
        with os.fdopen(number, "w") as output:
            output.write(tokens)
        return Path(file)

    def create_tracks(self, content: str, tracks: tuple[str, ...]) -> Path:
        """Makes a key for each track of a content. Returns a file with their asset ids, one a line."""
        for track in tracks:
            words = ("--content", content, "--another", "--track", track, "--alias", f"{content}-{track}")
            self.programs.tool("keys", "create", "--config", self.configuration, *words)
        assets = self.setup / "assets"
        assets.write_text("".join(f"{content}-{track}\n" for track in tracks))
        return assets

    def _urls(self) -> list[str]:
        """Reads the log until the daemon is ready. Returns the URLs of the public listeners."""
        with (self.setup / "daemon.log").open() as log:
            urls, line = [], ""
            while self.process.poll() is None:
                line += log.readline()
                if not line.endswith("\n"):
                    time.sleep(0.01)
                    continue
                entry, line = json.loads(line), ""
                if entry["event"] == "listening" and entry["listener"] == "public":
                    urls.append(f"{'https' if entry['tls'] else 'http'}://{entry['address']}")
                if entry["event"] == "ready":
                    return urls
        raise SystemExit(f"the daemon did not start; its log is {self.setup / 'daemon.log'}")

    def cpu_seconds(self) -> float:
        return cpu_seconds(self.process.pid)

    def bench_command(self, *arguments: object, tokens: Path | None = None, asset_id: str = CONTENT) -> list[str]:
        fairplay = self.setup / "fairplay"
        words = [
            *(self.programs.folder / "latchkey", "bench", "--url", self.url, "--asset-id", asset_id),
            *("--token", f"@{tokens or self.tokens}", "--certificate", fairplay / "bundle.bin"),
            *("--application-secret", fairplay / "application-secret.hex", "--json", *arguments),
        ]
        if self.url.startswith("https:"):
            words += ["--ca", self.setup / "tls" / "certificate.pem"]
        return [str(word) for word in words]

    def bench(self, *arguments: object, tokens: Path | None = None, asset_id: str = CONTENT) -> tuple[dict, float]:
        """Runs a load. Returns its report, and the daemon's processor time for each license in seconds."""
        before = self.cpu_seconds()
        command = self.bench_command(*arguments, tokens=tokens, asset_id=asset_id)
        report = finish(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        return report, (self.cpu_seconds() - before) / report["licenses"]

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


def finish(load: subprocess.Popen[str]) -> dict:
    """Waits for the end of a load, and returns its report."""
    output, _ = load.communicate()
    if load.returncode != 0:
        raise SystemExit("latchkey bench failed")
    return json.loads(output)


def add_tls(setup: Path) -> None:
    """Gives the public listener of a set-up the certificate of `latchkey init`."""
    replace(setup, ADDRESS, f"{ADDRESS}, {TLS}")


def accelerated(library: str | None, *further: Callable[[Path], None]) -> Callable[[Path], None]:
    """Gives a set-up the accelerator, unless the library is None, and then the further changes."""

    def prepare(setup: Path) -> None:
        if library is not None:
            replace(setup, "limits: {", f"crypto: {{ accelerator: {json.dumps(library)} }},\n    limits: {{")
        for change in further:
            change(setup)

    return prepare


def replace(setup: Path, old: str, new: str) -> None:
    """Replaces a text of the set-up's configuration. Fails if it is not there."""
    configuration = setup / "latchkey.json5"
    text = configuration.read_text()
    if old not in text:
        raise SystemExit(f"{configuration} has no {old}")
    configuration.write_text(text.replace(old, new, 1))


@contextmanager
def running(
    programs: Programs,
    prepare: Callable[[Path], None] | None = None,
    environment: dict[str, str] | None = None,
    has_addresses: bool = False,
) -> Iterator[Daemon]:
    """Runs a daemon in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="latchkey-load-") as folder:
        setup = Path(folder) / "setup"
        daemon = Daemon(programs, setup, prepare=prepare, environment=environment, has_addresses=has_addresses)
        try:
            yield daemon
        finally:
            daemon.stop()


def openssl_speed(bits: int, seconds: int, core: int | None = None, processes: int = 1) -> float:
    """RSA private operations per second of one processor, or of as many as there are processes."""
    place = [] if core is None else ["taskset", "-c", str(core)]
    several = [] if processes == 1 else ["-multi", str(processes)]
    command = [*place, "openssl", "speed", "-seconds", str(seconds), *several, f"rsa{bits}"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    line = next(line for line in output.splitlines() if line.startswith(f"rsa {bits} bits"))
    return float(line.split()[-2])

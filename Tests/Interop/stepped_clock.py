"""A wall clock that a test steps while programs run, and a PostgreSQL server with such a clock."""

import mmap
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import preload

START_SECONDS = 90
SCRIPTS = Path(__file__).parents[2] / "Scripts"


class SteppedClock:
    """The state that `step_clock.c` reads. Programs that run with `environment` see this wall clock."""

    def __init__(self, folder: Path, library: Path, name: str):
        self._library = library
        self._file = folder / name
        self._file.write_bytes(bytes(16))
        self._file.chmod(0o644)
        with self._file.open("r+b") as opened:
            self._state = mmap.mmap(opened.fileno(), 16)
        self.offset = 0

    def step(self, seconds: int) -> None:
        """Sets the offset from the real clock."""
        self.offset = seconds
        self._state[0:8] = (seconds * 1_000_000_000).to_bytes(8, "little", signed=True)

    def set_synchronised(self, is_synchronised: bool) -> None:
        """Sets whether `adjtimex` reports the clock as synchronised."""
        self._state[8:16] = int(is_synchronised).to_bytes(8, "little")

    @property
    def environment(self) -> dict[str, str]:
        return {"LD_PRELOAD": str(self._library), "LATCHKEY_STEP_CLOCK": str(self._file)}


@contextmanager
def stepped_clocks() -> Iterator["ClockFactory"]:
    """Makes a folder with the built library. The user of a database server can read it too."""
    with tempfile.TemporaryDirectory(prefix="latchkey-clock-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        library = preload.build("step_clock.c", folder)
        library.chmod(0o755)
        yield ClockFactory(folder, library)


@dataclass
class ClockFactory:
    folder: Path
    library: Path
    made: list[SteppedClock] = field(default_factory=list)

    def make(self) -> SteppedClock:
        clock = SteppedClock(self.folder, self.library, f"clock-{len(self.made)}")
        self.made.append(clock)
        return clock

    def set_right(self) -> None:
        for clock in self.made:
            clock.step(0)
            clock.set_synchronised(False)


@dataclass
class SteppedDatabase:
    """A PostgreSQL server that `Scripts/with-postgresql` runs, with its own stepped clock."""

    clock: SteppedClock
    environment: dict[str, str]

    @property
    def url(self) -> str:
        """The URL of the server's Unix socket. A stepped clock would make certificates for TLS expire."""
        return self.environment["LATCHKEY_POSTGRESQL_SOCKET"]

    @property
    def password_file(self) -> Path:
        return Path(self.environment["LATCHKEY_POSTGRESQL_PASSWORD_FILE"])

    def _process_id(self) -> int | None:
        try:
            return int(Path(self.environment["LATCHKEY_POSTGRESQL_PID_FILE"]).read_text().splitlines()[0])
        except (OSError, ValueError, IndexError):
            return None

    def restart(self) -> None:
        """Stops the server immediately, and waits until the script has started it again."""
        before = self._process_id()
        assert before is not None
        os.kill(before, signal.SIGINT)
        deadline = time.monotonic() + START_SECONDS
        while self._process_id() in (None, before):
            assert time.monotonic() < deadline, "the server did not start again"
            time.sleep(0.05)


@contextmanager
def starting_database(clock: SteppedClock) -> Iterator[Callable[[], SteppedDatabase]]:
    """Starts a server, and yields a function that waits until the server runs."""
    process = subprocess.Popen(
        [SCRIPTS / "with-postgresql", "--without-sync", "--preload", clock.environment["LD_PRELOAD"],
         "sh", "-c", "env; echo ready; exec sleep 3600"],
        stdout=subprocess.PIPE,
        env=os.environ | {"LATCHKEY_STEP_CLOCK": clock.environment["LATCHKEY_STEP_CLOCK"]},
        text=True,
    )  # fmt: skip
    assert process.stdout is not None
    output = process.stdout

    def ready() -> SteppedDatabase:
        pairs = {}
        for line in output:
            if line == "ready\n":
                break
            name, _, value = line.rstrip("\n").partition("=")
            pairs[name] = value
        assert "LATCHKEY_POSTGRESQL_SOCKET" in pairs, "the server did not start"
        return SteppedDatabase(clock, pairs)

    try:
        yield ready
    finally:
        process.terminate()
        process.wait(START_SECONDS)
        output.close()

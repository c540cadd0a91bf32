"""PostgreSQL servers that belong to one test, which may kill, stop, slow down and promote them."""

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

COMMAND_SECONDS = 60
PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))[-1:]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def as_server() -> list[str]:
    """The command prefix that runs a program as another user, because PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return []
    try:
        account = pwd.getpwnam("postgres")
    except KeyError:
        account = pwd.getpwnam("nobody")
    return ["setpriv", f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups"]


@dataclass
class Server:
    """One PostgreSQL server.

    `password_file` has the password of its role `latchkey`, which owns the database `latchkey`.
    """

    folder: Path
    port: int
    password_file: Path
    process: subprocess.Popen[bytes] | None = None
    settings: dict[str, str] = field(default_factory=dict)
    # Each test uses a new schema.
    schema: str = "latchkey"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def url(self, port: int | None = None) -> str:
        return f"postgresql://latchkey@127.0.0.1:{port or self.port}/latchkey?sslmode=disable&schema={self.schema}"

    def start(self) -> None:
        assert self.process is None or self.process.poll() is not None
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        options = [word for name, value in self.settings.items() for word in ("-c", f"{name}={value}")]
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                [*as_server(), PROGRAMS[0] / "postgres", "-D", self.data, "-p", str(self.port), *options],
                stdout=log, stderr=log,
            )
        self.await_answer()

    def await_answer(self) -> None:
        deadline = time.monotonic() + COMMAND_SECONDS
        while subprocess.run(
            [PROGRAMS[0] / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)], check=False
        ).returncode:
            assert time.monotonic() < deadline, (self.folder / "server.log").read_text()[-2000:]
            time.sleep(0.05)

    def processes(self) -> list[int]:
        """The ids of the server's first process and of its children."""
        assert self.process is not None
        first = int((self.data / "postmaster.pid").read_text().split()[0])
        return [first, *map(int, Path(f"/proc/{first}/task/{first}/children").read_text().split())]

    def signal(self, number: int) -> None:
        for process in self.processes():
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass

    def pause(self) -> None:
        """Stops the server's processes: it accepts connections but answers nothing."""
        self.signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self.signal(signal.SIGCONT)

    def kill(self) -> None:
        """Kills all its processes at the same time, as if the machine had failed."""
        self.signal(signal.SIGKILL)
        assert self.process is not None
        self.process.wait()

    def restore(self) -> None:
        """Makes the server ready for the next test: it runs, with a new schema."""
        assert self.process is not None
        if self.process.poll() is None:
            self.go_on()
            self.await_answer()
        else:
            self.start()
        self.schema = f"outage_{secrets.token_hex(6)}"

    def stop(self) -> None:
        """Ends the server. It cannot be started again."""
        if self.process is not None and self.process.poll() is None:
            self.kill()

    def environment(self) -> dict[str, str]:
        return os.environ | {"PGPASSWORD": self.password_file.read_text().strip()}

    def sql(self, script: str, user: str = "latchkey") -> str:
        script = f"SET search_path TO {self.schema};\n{script}"
        finished = subprocess.run(
            [PROGRAMS[0] / "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1",
             "-p", str(self.port), "-U", user, "-d", "latchkey" if user == "latchkey" else "postgres"],
            input=script, env=self.environment(), capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False,
        )
        assert finished.returncode == 0, finished.stderr
        return finished.stdout.strip()

    @contextmanager
    def holding(self, script: str) -> Iterator[None]:
        """Keeps a transaction of another client open inside the context, after it has run the script, for example LOCK
        TABLE."""
        client = subprocess.Popen(
            [PROGRAMS[0] / "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1",
             "-p", str(self.port), "-U", "latchkey", "-d", "latchkey"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.environment(), text=True,
        )
        assert client.stdin is not None and client.stdout is not None
        client.stdin.write(f"SET search_path TO {self.schema}; BEGIN; {script}; SELECT 'held';\n")
        client.stdin.flush()
        assert client.stdout.readline().strip() == "held"
        try:
            yield
        finally:
            client.stdin.write("ROLLBACK;\n")
            client.stdin.close()
            client.wait(COMMAND_SECONDS)

    # --- A standby ----------------------------------------------------------------------------------------------------

    def make_standby(self, folder: Path) -> "Server":
        """Starts a standby server, which replicates this one, on another port."""
        standby = Server(folder, free_port(), self.password_file, schema=self.schema)
        folder.mkdir()
        _give(folder)
        subprocess.run(
            [*as_server(), PROGRAMS[0] / "pg_basebackup", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres",
             "-D", standby.data, "-R", "-c", "fast"],
            env=self.environment(), check=True, capture_output=True, timeout=COMMAND_SECONDS,
        )
        return standby

    def promote(self) -> None:
        self.sql("SELECT pg_promote(true, 60)", user="postgres")


def _give(folder: Path) -> None:
    if os.geteuid() == 0:
        words = as_server()
        os.chown(folder, int(words[1].partition("=")[2]), int(words[2].partition("=")[2]))


@contextmanager
def own_server(**settings: str) -> Iterator[Server]:
    """Runs a server inside the context, and deletes its files afterwards."""
    root = Path(tempfile.mkdtemp(prefix="latchkey-outage-"))
    root.chmod(0o755)
    folder = root / "primary"
    folder.mkdir()
    _give(folder)
    password = folder / "password"
    password.write_text(secrets.token_hex(16) + "\n")
    password.chmod(0o644)
    server = Server(folder, free_port(), password, settings=settings)
    servers = [server]
    try:
        subprocess.run(
            [*as_server(), PROGRAMS[0] / "initdb", "-D", server.data, "-U", "postgres", "--auth", "scram-sha-256",
             "--pwfile", password, "-E", "UTF8", "--no-sync"],
            check=True, capture_output=True, timeout=COMMAND_SECONDS,
        )
        with (server.data / "postgresql.conf").open("a") as file:
            file.write(
                f"listen_addresses = '127.0.0.1'\nunix_socket_directories = ''\nmax_connections = 200\n"
                "shared_buffers = 32MB\nrestart_after_crash = on\nhot_standby = on\n"
            )
        server.start()
        server.sql(
            f"CREATE ROLE latchkey LOGIN CREATEDB PASSWORD '{password.read_text().strip()}';\n"
            "CREATE DATABASE latchkey OWNER latchkey;",
            user="postgres",
        )
        yield server
    finally:
        for one in servers:
            one.stop()
        shutil.rmtree(root, ignore_errors=True)

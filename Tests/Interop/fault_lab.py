"""Faults that an operator must be able to name with one command, and the daemons in which they are made.

A fault is made in a real daemon, and named by one command of the operator: `latchkey why`, `latchkey token explain`,
`latchkey doctor`, `latchkeyd --check` or the daemon's refusal to start. The output must have every word that the cause
consists of; what a fault needs beside its words is in `test_faults.py`.
"""

import json
import os
import socket
import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import http1_wire
from counting_node import ISSUERS, KEY, OTHER, OTHER_KEY, Node, message, token
from deployment import register
from license_client import LICENSE_PATH, Answer, LicenseClient
from own_daemon import new_setup, stop_daemon

COMMAND_SECONDS = 120
TABLE_VARIABLE = "LATCHKEY_TEST_FAULTS_TABLE"


@dataclass(frozen=True)
class Naming:
    """The one command that was asked, and what it printed."""

    command: str
    output: str


@dataclass
class Fault:
    """A row of the table. `words` must all be in the output, in any order; case does not count."""

    number: int
    name: str
    make: Callable[["FaultLab"], Naming]
    words: tuple[str, ...]
    # Another form of the same fault has a name of its own.
    form: str = ""

    @property
    def id(self) -> str:
        return f"{self.number}-{(self.form or self.name).replace(' ', '-')}"

    def missing_in(self, output: str) -> list[str]:
        return [word for word in self.words if word.lower() not in output.lower()]


class FaultLab:
    """Makes daemons in folders of their own, and stops them all at the end."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._stack = ExitStack()
        self._shared: Node | None = None
        self._count = 0

    def __enter__(self) -> "FaultLab":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    # --- Daemons -----------------------------------------------------------------------------------------------------

    def setup(self, limits: dict[str, object] | None = None, tls: dict[str, object] | None = None) -> Path:
        """A set-up with the test's issuers."""
        self._count += 1
        folder = self.folder / str(self._count)
        folder.mkdir()
        setup = new_setup(folder, limits, tls)
        ISSUERS.write(setup)
        return setup

    def started(self, node: Node) -> Node:
        node.start()
        self._stack.callback(self.stop, node)
        return node

    @staticmethod
    def stop(node: Node) -> None:
        if node.process is not None and node.process.poll() is None:
            stop_daemon(node.process)

    def node(
        self, prepare: Callable[[Path], None] | None = None, limits: dict[str, object] | None = None
    ) -> Node:
        """A daemon with SQLite and two keys, whose set-up `prepare` has changed."""
        setup = self.setup(limits)
        register(setup, ISSUERS.content, KEY)
        register(setup, OTHER, OTHER_KEY)
        if prepare is not None:
            prepare(setup)
        return self.started(Node(setup))

    @property
    def shared(self) -> Node:
        """The daemon of all faults that break nothing in it."""
        if self._shared is None:
            self._shared = self.node()
        return self._shared

    # --- Requests ----------------------------------------------------------------------------------------------------

    @staticmethod
    def send(node: Node, body: bytes, headers: dict[str, str], method: str = "POST", path: str = LICENSE_PATH) -> Answer:
        client = LicenseClient(node.url)
        try:
            return client.send(method, path, body, {"Content-Type": "application/octet-stream"} | headers)
        finally:
            client.close()

    def refused(self, node: Node, code: str, body: bytes | None = None, bearer: str | None = None) -> str:
        """The id of a request that must be refused with this code."""
        answer = node.ask(message(node.device()) if body is None else body, token() if bearer is None else bearer)
        return self.id_of(answer, code)

    @staticmethod
    def id_of(answer: Answer, code: str) -> str:
        assert answer.code == code, f"{answer.status} {answer.code}, and not {code}: {answer.body!r}"
        request_id = answer.header("X-Request-Id")
        assert request_id
        return request_id

    # --- Commands ----------------------------------------------------------------------------------------------------

    @staticmethod
    def run(program: str, *arguments: str | Path, environment: dict[str, str] | None = None) -> tuple[int, str]:
        """Status and all output of `latchkey` or `latchkeyd`."""
        path = Path(os.environ["LATCHKEY_BIN"]).with_name(program)
        finished = subprocess.run(
            [path, *arguments], capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False,
            env=os.environ | (environment or {}),
        )  # fmt: skip
        return finished.returncode, finished.stdout + finished.stderr

    def why(self, node: Node, request_id: str) -> Naming:
        """What `latchkey why` says; it must find the request, and say the same in JSON."""
        host, port = node.admin
        words = (
            "why", request_id, "--config", node.setup / "latchkey.json5", "--server", f"http://{host}:{port}",
        )  # fmt: skip
        status, output = self.run("latchkey", *words)
        assert status == 0, output
        status, text = self.run("latchkey", *words, "--json")
        assert status == 0, text
        report = json.loads(text)
        assert report["request_id"] == request_id and report["remedy"] and report["explanation"], report
        assert report["explanation"] in output and report["remedy"] in output, output
        return Naming("latchkey why", output)

    def check(self, setup: Path, *arguments: str) -> Naming:
        _, output = self.run("latchkeyd", "--config", setup / "latchkey.json5", *(arguments or ("--check",)))
        return Naming(f"latchkeyd {' '.join(arguments or ('--check',))}", output)

    def doctor(
        self, setup: Path, admin: tuple[str, int], environment: dict[str, str] | None = None
    ) -> Naming:
        _, output = self.run(
            "latchkey", "doctor", "--config", setup / "latchkey.json5", "--server", f"http://{admin[0]}:{admin[1]}",
            environment=environment,
        )  # fmt: skip
        return Naming("latchkey doctor", output)

    def refusal_to_start(self, setup: Path) -> Naming:
        """The daemon must not start by itself."""
        status, output = self.run(
            "latchkeyd", "--config", setup / "latchkey.json5",
            environment={"LATCHKEY_LISTEN": "127.0.0.1:0", "LATCHKEY_ADMIN_LISTEN": "127.0.0.1:0"},
        )  # fmt: skip
        assert status != 0, output
        return Naming("latchkeyd (refuses to start)", output)

    @staticmethod
    def answer_to(address: tuple[str, int], request: bytes) -> tuple[int, str]:
        """Status and request id of the answer to raw bytes."""
        with socket.create_connection(address, timeout=COMMAND_SECONDS) as connection:
            connection.sendall(request)
            received = b""
            while b"\r\n\r\n" not in received and (part := connection.recv(65536)):
                received += part
        head = received.partition(b"\r\n\r\n")[0].decode("latin-1").splitlines()
        fields = dict(line.lower().split(": ", 1) for line in head[1:])
        return int(head[0].split()[1]), fields["x-request-id"]


def replace_in(setup: Path, old: str, new: str) -> None:
    configuration = setup / "latchkey.json5"
    text = configuration.read_text()
    assert text.count(old) >= 1, old
    configuration.write_text(text.replace(old, new, 1))


def exchange(address: tuple[str, int], request: str) -> http1_wire.Response:
    (answer,) = http1_wire.exchange(address, request.encode()).responses
    return answer


# --- The table --------------------------------------------------------------------------------------------------------


@dataclass
class Row:
    number: int
    name: str
    command: str
    verdict: str


@dataclass
class Table:
    """What became of each fault; several forms of one fault are one row, which is named if all of them are."""

    rows: dict[int, Row] = field(default_factory=dict)

    def note(self, number: int, name: str, command: str, is_named: bool) -> None:
        row = self.rows.setdefault(number, Row(number, name, command, "named"))
        if command not in row.command.split(", "):
            row.command += f", {command}"
        if not is_named:
            row.verdict = "NOT NAMED"

    @property
    def named_count(self) -> int:
        return sum(row.verdict == "named" for row in self.rows.values())

    def text(self) -> str:
        width = max((len(row.name) for row in self.rows.values()), default=0)
        commands = max((len(row.command) for row in self.rows.values()), default=0)
        lines = [f"{'#':>2}  {'fault':<{width}}  {'command':<{commands}}  verdict"]
        for number in sorted(self.rows):
            row = self.rows[number]
            lines.append(f"{number:>2}  {row.name:<{width}}  {row.command:<{commands}}  {row.verdict}")
        lines.append(f"{self.named_count} of {len(self.rows)} faults are named with one command")
        return "\n".join(lines)

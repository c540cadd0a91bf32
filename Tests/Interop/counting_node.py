"""Daemons that count the uses of tokens, alone or several on one database, and the requests that their tests send."""

import os
import secrets
import shutil
import signal
import subprocess
import uuid
from dataclasses import dataclass, field
from pathlib import Path

from deployment import register
from fairplay_device import tags
from fairplay_device.credentials import read_device_credential
from fairplay_device.spc import Device, PlaybackState, SPCOptions, device_for
from license_client import Answer, LicenseClient
from license_policy import ContentKey
from own_daemon import await_addresses, new_setup, start_daemon
from token_issuers import Issuers

KEY = ContentKey(key_id=uuid.uuid4().bytes, key=secrets.token_bytes(16), iv=secrets.token_bytes(16))
OTHER = f"another-{secrets.token_hex(4)}"
OTHER_KEY = ContentKey(key_id=uuid.uuid4().bytes, key=secrets.token_bytes(16), iv=secrets.token_bytes(16))
ISSUERS = Issuers.make(f"counted-{secrets.token_hex(4)}", str(uuid.UUID(bytes=KEY.key_id)))


@dataclass
class Node:
    """A daemon that can be killed and started again."""

    setup: Path
    starts: int = 0
    url: str = ""
    admin: tuple[str, int] = ("", 0)
    # Variables that are added to the test's own environment.
    environment: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None
    recorded: set[str] = field(default_factory=set)

    def start(self) -> None:
        self.starts += 1
        self.process = start_daemon(self.setup, self.log, self.environment)
        addresses = await_addresses(self.process, self.log)
        host, port = addresses["public"]
        self.url = f"http://{host}:{port}"
        self.admin = addresses["admin"]

    @property
    def log(self) -> Path:
        """The log of the process that was started last."""
        return self.setup / f"daemon-{self.starts}.log"

    def kill_and_start(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.start()

    def ask(self, message: bytes, token: str) -> Answer:
        client = LicenseClient(self.url)
        try:
            answer = client.license(message, token)
        finally:
            client.close()
        if answer.status == 200:
            self.recorded.add(answer.header("X-License-Id") or "")
        return answer

    def device(self) -> Device:
        return device_for(read_device_credential(self.setup / "fairplay"), 1)


def token(**claims: object) -> str:
    return ISSUERS.native["HS256"].sign(ISSUERS.claims(**claims))


def message(
    device: Device,
    session: int = 1,
    state: int = tags.READY_TO_START,
    indicator: int | None = None,
    asset: str = ISSUERS.content,
) -> bytes:
    options = SPCOptions(
        asset.encode(),
        playback_state=PlaybackState(1_700_000_000, state, session),
        streaming_indicator=indicator,
    )
    return device.request(options).message


def subject() -> str:
    return f"account-{secrets.token_hex(6)}"


def limited_to(playbacks: int, mode: str = "deny_new", lease: int = 300) -> dict[str, object]:
    return {
        "sub": subject(),
        "rights": [{"content": content, "lease": lease} for content in (ISSUERS.content, OTHER)],
        "session": {"groups": [{"id": "all", "max": playbacks}], "mode": mode},
    }


# --- Set-ups ----------------------------------------------------------------------------------------------------------


def node_alone(folder: Path, limits: dict[str, object] | None = None) -> Node:
    """With SQLite."""
    node = Node(new_setup(folder, limits))
    ISSUERS.write(node.setup)
    register(node.setup, ISSUERS.content, KEY)
    register(node.setup, OTHER, OTHER_KEY)
    return node


def nodes_on_one_database(
    folder: Path,
    count: int,
    url: str | None = None,
    password_file: Path | None = None,
    limits: dict[str, object] | None = None,
) -> list[Node]:
    """Sets up nodes with the same secrets on one PostgreSQL server.

    Without a `url` it is the server that the environment names (Scripts/with-postgresql).
    """
    url = url or os.environ["LATCHKEY_POSTGRESQL"]
    password_file = password_file or Path(os.environ["LATCHKEY_POSTGRESQL_PASSWORD_FILE"])
    schema = f"{'&' if '?' in url else '?'}schema=interop_{secrets.token_hex(8)}"
    nodes: list[Node] = []
    for number in range(count):
        (folder / str(number)).mkdir()
        setup = new_setup(folder / str(number), limits)
        if nodes:
            for name in ("fairplay", "secrets"):
                shutil.rmtree(setup / name)
                shutil.copytree(nodes[0].setup / name, setup / name)
        shutil.copy(password_file, setup / "secrets" / "postgresql-password")
        configuration = setup / "latchkey.json5"
        text = configuration.read_text()
        alone = 'storage: { url: "sqlite:latchkey.db" }'
        assert alone in text
        shared = (
            f'node: "node-{number}", storage: {{ url: "{url}{schema}", '
            'password: "secrets/postgresql-password", ledger: "ledger.db" }'
        )
        configuration.write_text(text.replace(alone, shared))
        ISSUERS.write(setup)
        nodes.append(Node(setup))
    register(nodes[0].setup, ISSUERS.content, KEY)
    register(nodes[0].setup, OTHER, OTHER_KEY)
    return nodes

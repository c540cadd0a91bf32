"""The commands of the article about rotation, run on a daemon under load.

The test keeps the listening sockets, as systemd does. Clients ask for licenses, renewals, certificates and metrics on
connections that stay open. No client repeats a request: a connection that ends without an answer is a failure.
"""

import http.client
import os
import re
import secrets
import shlex
import signal
import socket
import ssl
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from deployment import register, run_latchkey
from fairplay_device import tags
from fairplay_device.credentials import Credential, read_device_credential
from fairplay_device.facts import PlaybackState
from fairplay_device.spc import Device, SPCOptions, device_for
from license_client import Answer
from license_policy import ContentKey
from own_daemon import await_addresses, start_daemon, stop_daemon

REPOSITORY = Path(__file__).parent.parent.parent
ARTICLE = REPOSITORY / "Documentation/operate/rotation.md"
WAIT_SECONDS = 90
BLOCK_SECONDS = 60
PAUSE_SECONDS = 0.005
CONTENT = "movie-42"
# The addresses of `latchkey init`, as the article has them.
PUBLIC, ADMIN = "127.0.0.1:8080", "127.0.0.1:9080"
FIRST_PASSED_DESCRIPTOR = 3


def sections() -> dict[str, list[str]]:
    """The ```sh blocks of the article by the heading above them; those of the first heading prepare the others."""
    found: dict[str, list[str]] = {}
    for part in re.split(r"^## ", ARTICLE.read_text(), flags=re.MULTILINE)[1:]:
        heading, _, text = part.partition("\n")
        found[heading] = re.findall(r"^```sh\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    return found


# The block with the functions of the other blocks.
(TOOLS,) = [block for block in sections()["Preparation"] if "change() {" in block]


# --- Clients --------------------------------------------------------------------------------------------------------


class Client:
    """One connection that stays open until the daemon says that it closes it. Never repeats a request."""

    def __init__(self, address: tuple[str, int], tls: bool) -> None:
        if tls:
            # Certificates are what rotates here; the tests look at them by themselves.
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            self._connection = http.client.HTTPSConnection(*address, timeout=WAIT_SECONDS, context=context)
        else:
            self._connection = http.client.HTTPConnection(*address, timeout=WAIT_SECONDS)

    def send(self, method: str, path: str, body: bytes | None = None, token: str | None = None) -> Answer:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        if body is not None:
            headers["Content-Type"] = "application/octet-stream"
        self._connection.request(method, path, body, headers)
        response = self._connection.getresponse()
        return Answer(response.status, tuple(response.getheaders()), response.read())

    def close(self) -> None:
        self._connection.close()


@dataclass
class Load:
    """Threads that each ask the same kind of request without an end."""

    kinds: dict[str, Callable[[Client], Answer]]
    public: tuple[str, int]
    admin: tuple[str, int]
    answered: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def start(self) -> None:
        self.answered = dict.fromkeys(self.kinds, 0)
        self._threads = [threading.Thread(target=self._run, args=(kind,)) for kind in self.kinds]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def await_answers(self, count: int = 3) -> None:
        """Waits until each kind was answered so often again. What was asked before is answered then."""
        goals = {kind: answered + count for kind, answered in self.answered.items()}
        deadline = time.monotonic() + WAIT_SECONDS
        while any(self.answered[kind] < goal for kind, goal in goals.items()):
            assert self.failures == []
            assert time.monotonic() < deadline, (goals, self.answered)
            time.sleep(PAUSE_SECONDS)

    def _run(self, kind: str) -> None:
        address, tls = (self.admin, False) if kind == "metrics" else (self.public, True)
        client = Client(address, tls)
        while not self._stop.is_set():
            try:
                answer = self.kinds[kind](client)
                if answer.status != 200:
                    self.failures.append(f"{kind}: {answer.status} {answer.body!r}")
            except Exception as error:  # With any error, a request has failed.
                self.failures.append(f"{kind}: {error!r}")
                client.close()
            self.answered[kind] += 1
            if kind == "license on a new connection":
                client.close()
            self._stop.wait(PAUSE_SECONDS)
        client.close()


# --- The daemon and its operator ------------------------------------------------------------------------------------


@dataclass
class RotationLab:
    """A daemon of the article, its clients, and the operator who runs the article's commands."""

    folder: Path
    sockets: tuple[socket.socket, socket.socket]
    credentials: list[Credential]
    # The device that renews its lease.
    viewer: Device
    # What clients present from now on.
    messages: list[bytes] = field(default_factory=list)
    token: str = ""
    admin_token: str = ""
    session_token: str = ""
    load: Load = field(init=False)
    process: subprocess.Popen[bytes] = field(init=False)
    log: Path = field(init=False)
    starts: int = 0

    @property
    def public(self) -> tuple[str, int]:
        return self.sockets[0].getsockname()

    @property
    def admin(self) -> tuple[str, int]:
        return self.sockets[1].getsockname()

    @property
    def configuration(self) -> Path:
        return self.folder / "latchkey.json5"

    # --- Orders of the article --------------------------------------------------------------------------------------

    def start(self) -> None:
        self.starts += 1
        self.log = self.folder.parent / f"daemon-{self.starts}.log"
        descriptors = [listening.fileno() for listening in self.sockets]

        def pass_sockets() -> None:
            # First out of the way of each other.
            copies = [os.dup(descriptor) for descriptor in descriptors]
            for place, copy in enumerate(copies, FIRST_PASSED_DESCRIPTOR):
                os.dup2(copy, place)

        self.process = start_daemon(
            self.folder,
            self.log,
            {"LISTEN_FDS": "2", "LISTEN_FDNAMES": "public:admin"},
            # The process's own number is known only within it.
            through=("/bin/sh", "-c", 'LISTEN_PID=$$ exec "$0" "$@"'),
            addresses={"LATCHKEY_LISTEN": "systemd:public", "LATCHKEY_ADMIN_LISTEN": "systemd:admin"},
            preexec_fn=pass_sockets,
            pass_fds=(FIRST_PASSED_DESCRIPTOR, FIRST_PASSED_DESCRIPTOR + 1),
        )
        await_addresses(self.process, self.log)

    def restart(self) -> bool:
        if stop_daemon(self.process) != 0:
            return False
        self.start()
        return True

    def reload(self) -> bool:
        """Whether the daemon has taken the configuration."""
        before = len(self.log.read_text().splitlines())
        self.process.send_signal(signal.SIGHUP)
        deadline = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < deadline:
            for line in self.log.read_text().splitlines()[before:]:
                if '"event":"reloaded"' in line or '"event":"reload_failed"' in line:
                    return '"event":"reloaded"' in line
            time.sleep(PAUSE_SECONDS)
        raise AssertionError(f"no reload: {self.log.read_text()[-2000:]}")

    def run(self, block: str) -> str:
        """Runs a block of the article in the folder; its `reload` and `restart` are this lab's."""
        block = TOOLS + block
        for address, listening in ((PUBLIC, self.public), (ADMIN, self.admin)):
            block = block.replace(address, f"{listening[0]}:{listening[1]}")
        orders, answers = (self.folder.parent / name for name in ("orders", "answers"))
        for file in (orders, answers):
            if not file.exists():
                os.mkfifo(file)
        order = f'{{ echo "$FUNCNAME" > {shlex.quote(str(orders))}; [[ $(cat {shlex.quote(str(answers))}) == True ]]; }}'
        script = f"set -Eeuo pipefail\numask 077\nreload() {order}\nrestart() {order}\n{block}\necho end > {orders}\n"
        path = f"{Path(os.environ['LATCHKEY_BIN']).parent}:{os.environ['PATH']}"
        output = self.folder.parent / "output"
        with output.open("wb") as file:
            shell = subprocess.Popen(
                ["bash", "-c", script],
                cwd=self.folder, env=os.environ | {"PATH": path}, stdin=subprocess.DEVNULL, stdout=file, stderr=file,
            )
        # Not blocking, so that a shell that ends without a word is seen.
        reading = os.open(orders, os.O_RDWR | os.O_NONBLOCK)
        try:
            deadline = time.monotonic() + BLOCK_SECONDS
            received = b""
            while shell.poll() is None:
                assert time.monotonic() < deadline, output.read_text()
                try:
                    received += os.read(reading, 100)
                except BlockingIOError:
                    time.sleep(PAUSE_SECONDS)
                if received in (b"reload\n", b"restart\n"):
                    answer = self.reload() if received == b"reload\n" else self.restart()
                    received = b""
                    answers.write_text(f"{answer}\n")
        finally:
            os.close(reading)
            shell.kill()
            shell.wait()
        assert shell.returncode == 0, f"{block}\n{output.read_text()}\n{self.log.read_text()[-2000:]}"
        return output.read_text()

    # --- Clients ----------------------------------------------------------------------------------------------------

    def new_messages(self, credential: Credential) -> list[bytes]:
        """SPCs of both versions that name the credential."""
        return [
            device_for(credential, version).request(self.options()).message for version in (1, 2) for _ in range(12)
        ]

    def options(self, state: int = tags.READY_TO_START, session: int = 1) -> SPCOptions:
        return SPCOptions(CONTENT.encode(), playback_state=PlaybackState(1_700_000_000, state, session))

    def mint(self, *options: str) -> str:
        return run_latchkey(self.folder, "token", "mint", "--content", CONTENT, "--lease", "3600", *options).strip()

    def ask(self, message: bytes, token: str | None = None) -> Answer:
        return self.send("POST", "/fps/license", message, token or self.token)

    def certificate(self, query: str = "") -> bytes | None:
        answer = self.send("GET", f"/fps/certificate{query}")
        assert answer.status in (200, 404), answer
        return answer.body if answer.status == 200 else None

    def send(self, method: str, path: str, body: bytes | None = None, token: str | None = None) -> Answer:
        client = Client(self.public, tls=True)
        try:
            return client.send(method, path, body, token)
        finally:
            client.close()

    def read_status(self, admin_token: str) -> int:
        """The status that a client of the admin listener gets with a token."""
        return self._administer(admin_token).status

    def _administer(self, admin_token: str) -> Answer:
        client = Client(self.admin, tls=False)
        try:
            return client.send("GET", "/metrics", token=admin_token)
        finally:
            client.close()

    def metrics(self) -> dict[str, float]:
        answer = self._administer(self.admin_token)
        assert answer.status == 200, answer
        lines = (line for line in answer.body.decode().splitlines() if not line.startswith("#"))
        return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}

    def presented_certificate(self) -> bytes:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        with (
            socket.create_connection(self.public, WAIT_SECONDS) as plain,
            context.wrap_socket(plain) as connection,
        ):
            certificate = connection.getpeercert(binary_form=True)
        assert certificate
        return certificate

    def begin_session(self) -> str:
        """A session token for the viewer of the load."""
        answer = self.ask(self.viewer.request(self.options(session=7)).message)
        token = answer.header("X-Session-Token")
        assert answer.status == 200 and token, answer
        return token

    # --- Kinds of load ----------------------------------------------------------------------------------------------

    def ask_for_license(self, client: Client) -> Answer:
        return client.send("POST", "/fps/license", secrets.choice(self.messages), self.token)

    def play_as_app(self, client: Client) -> Answer:
        """Fetches the certificate, and asks for a license with it, as an app does that keeps nothing."""
        bundle = client.send("GET", "/fps/certificate")
        if bundle.status != 200:
            return bundle
        (credential,) = [credential for credential in self.credentials if credential.bundle == bundle.body]
        message = device_for(credential, 2).request(self.options()).message
        return client.send("POST", "/fps/license", message, self.token)

    def renew(self, client: Client) -> Answer:
        return client.send("POST", "/fps/license?renew=true", self.renewal(), self.session_token)

    def renewal(self) -> bytes:
        """The SPC of a player whose lease ends soon."""
        return self.viewer.request(self.options(tags.LEASE_ABOUT_TO_EXPIRE, session=7)).message

    def read_metrics(self, client: Client) -> Answer:
        return client.send("GET", "/metrics", token=self.admin_token)


@contextmanager
def running_rotation(folder: Path) -> Iterator[RotationLab]:
    """The daemon of the article's first block under load. No request may have failed at the end."""
    setup = sections()["Preparation"][0]
    path = f"{Path(os.environ['LATCHKEY_BIN']).parent}:{os.environ['PATH']}"
    finished = subprocess.run(
        ["bash", "-c", f"set -euo pipefail\n{setup}"],
        cwd=folder, env=os.environ | {"PATH": path}, capture_output=True, text=True, timeout=BLOCK_SECONDS, check=False,
    )
    assert finished.returncode == 0, finished.stderr
    rotation = folder / "rotation"
    file = rotation / "latchkey.json5"
    text = file.read_text()
    # Clients here may be slow to ask again on an open connection, because the machine is busy.
    assert text.count("limits: {") == 1
    file.write_text(text.replace("limits: {", 'limits: { drainPatience: "20s",'))
    key = ContentKey(key_id=uuid.uuid4().bytes, key=secrets.token_bytes(16), iv=secrets.token_bytes(16), track="SD")
    register(rotation, CONTENT, key)
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as public, socket.create_server(("127.0.0.1", 0)) as admin:
        credential = read_device_credential(rotation / "fairplay")
        lab = RotationLab(rotation, (public, admin), [credential], device_for(credential, 1))
        lab.start()
        try:
            lab.messages = lab.new_messages(lab.credentials[0])
            lab.token = lab.mint()
            lab.admin_token = (rotation / "secrets" / "admin-token").read_text().strip()
            lab.session_token = lab.begin_session()
            kinds = {
                "license": lab.ask_for_license,
                "license on a new connection": lab.ask_for_license,
                "app": lab.play_as_app,
                "renewal": lab.renew,
                "metrics": lab.read_metrics,
            }
            lab.load = Load(kinds, lab.public, lab.admin)
            lab.load.start()
            try:
                lab.load.await_answers()
                yield lab
                lab.load.await_answers()
            finally:
                lab.load.stop()
            assert lab.load.failures == []
            assert min(lab.load.answered.values()) > 0
        finally:
            stop_daemon(lab.process)

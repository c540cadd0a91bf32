"""Licenses for the HTTP clients that apps and services use, in every shape of request that the daemon reads.

Each row of `SHAPES` is one shape, and each row of `CLIENTS` one client. Every client is tested with every shape.
"""

import base64
import json
import os
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
import requests

from deployment import Deployment, deployment_of
from fairplay_device import tags
from fairplay_device.ckc import open_ckc
from fairplay_device.facts import PlaybackState
from fairplay_device.spc import PlaybackContext, SPCOptions, device_for
from license_client import LICENSE_PATH, Answer
from own_daemon import running_daemon
from slow_network import SlowNetwork, slow_network
from tls_material import make_pair

ROOT = Path(__file__).parents[2]
TIMEOUT_SECONDS = 20
# Each client sends this number of requests, over one connection.
REQUEST_COUNT = 3


def as_it_is(data: bytes) -> bytes:
    return data


@dataclass(frozen=True)
class Shape:
    """How a body carries the SPC, and how its answer carries the CKC."""

    content_type: str | None
    body_of: Callable[[bytes], bytes] = as_it_is
    ckc_of: Callable[[bytes], bytes] = as_it_is
    answer_type: str = "application/octet-stream"
    # The bytes between the SPC and the asset id; None if the body has no asset id.
    asset_id_after: bytes | None = None

    def body(self, spc: bytes, asset_id: bytes) -> bytes:
        named = b"" if self.asset_id_after is None else self.asset_id_after + quote(asset_id).encode()
        return self.body_of(spc) + named


SHAPES = {
    "raw": Shape("application/octet-stream"),
    "raw without a type": Shape(None),
    "raw that says it is a form": Shape("application/x-www-form-urlencoded"),
    "raw that says it is JSON": Shape("application/json"),
    "form": Shape(
        "application/x-www-form-urlencoded",
        lambda spc: b"spc=" + base64.b64encode(spc),
        lambda answer: base64.b64decode(answer.removeprefix(b"<ckc>").removesuffix(b"</ckc>"), validate=True),
        "text/plain; charset=utf-8",
        asset_id_after=b"&assetId=",
    ),
    "form of react-native-video": Shape(
        "application/x-www-form-urlencoded",
        lambda spc: b"spc=" + quote(base64.b64encode(spc)).encode(),
        lambda answer: base64.b64decode(answer, validate=True),
        "text/plain; charset=utf-8",
        asset_id_after=b"&",
    ),
    "Base64": Shape(
        "application/octet-stream", base64.b64encode, lambda answer: from_json(answer, "ckc"), "application/json"
    ),
    "JSON": Shape(
        "application/json",
        lambda spc: json.dumps({"spc": base64.urlsafe_b64encode(spc).decode()}).encode(),
        lambda answer: from_json(answer, "ckc"),
        "application/json",
    ),
    "JSON that says it is bytes": Shape(
        "application/octet-stream",
        lambda spc: json.dumps({"spcMessage": base64.b64encode(spc).decode()}).encode(),
        lambda answer: from_json(answer, "ckcMessage"),
        "application/json",
    ),
    "getFairplayLicense": Shape(
        "application/json",
        lambda spc: json.dumps({"getFairplayLicense": {"spcMessage": base64.b64encode(spc).decode()}}).encode(),
        lambda answer: from_json(answer, "getFairplayLicenseResponse", "ckcResponse"),
        "application/json",
    ),
    "array of keys": Shape(
        None,
        lambda spc: json.dumps([{"keyID": "AQ==", "payload": base64.b64encode(spc).decode()}]).encode(),
        lambda answer: from_json(answer, 0, "payload"),
        "application/json",
    ),
    "streaming keys": Shape(
        "application/x-www-form-urlencoded",
        lambda spc: json.dumps(
            {"fairplay-streaming-request": {"streaming-keys": [{"id": 1, "spc": base64.b64encode(spc).decode()}]}}
        ).encode(),
        lambda answer: from_json(answer, "fairplay-streaming-response", "streaming-keys", 0, "ckc"),
        "application/json",
    ),
}


def from_json(answer: bytes, *path: str | int) -> bytes:
    node = json.loads(answer)
    for step in path:
        node = node[step]
    return base64.b64decode(node, validate=True)


@dataclass(frozen=True)
class Server:
    """A daemon behind a network that counts connections. If it uses TLS, `authority` has signed its certificate."""

    deployment: Deployment
    network: SlowNetwork
    is_secure: bool
    authority: Path

    @property
    def url(self) -> str:
        return f"{'https' if self.is_secure else 'http'}://localhost:{self.network.port}"


@dataclass(frozen=True)
class Reply:
    version: str
    answer: Answer


@dataclass(frozen=True)
class Client:
    """One way to post bodies, all on one connection if the client can do that."""

    version: str
    is_secure: bool
    post: Callable[[Server, list[bytes], dict[str, str], Path], list[Reply]] = field(repr=False)
    reuses_connection: bool = True


def curl(version: str, is_secure: bool, *options: str, reuses_connection: bool = True) -> Client:
    def post(server: Server, bodies: list[bytes], headers: dict[str, str], folder: Path) -> list[Reply]:
        # If it is given no type, curl declares the body to be a form.
        fields = headers if "Content-Type" in headers else headers | {"Content-Type": ""}
        requests = []
        for index, body in enumerate(bodies):
            (folder / f"{index}.body").write_bytes(body)
            requests.append(
                [
                    *("--silent", "--show-error", "--noproxy", "*", "--cacert", str(server.authority), *options),
                    *("--max-time", str(TIMEOUT_SECONDS)),
                    *(word for name, value in fields.items() for word in ("--header", f"{name}: {value}".rstrip(" "))),
                    *("--data-binary", f"@{folder / f'{index}.body'}", "--dump-header", str(folder / f"{index}.head")),
                    *("--output", str(folder / f"{index}.answer"), "--write-out", "%{http_version} %{http_code}\n"),
                    server.url + LICENSE_PATH,
                ]
            )
        if reuses_connection:
            requests = [[word for request in requests for word in ("--next", *request)][1:]]
        said = "".join(
            subprocess.run(
                ["curl", *request], capture_output=True, text=True, timeout=2 * TIMEOUT_SECONDS, check=True
            ).stdout
            for request in requests
        )
        return [
            Reply(
                spoken,
                Answer(int(status), fields_of(folder / f"{index}.head"), (folder / f"{index}.answer").read_bytes()),
            )
            for index, (spoken, status) in enumerate(line.split() for line in said.splitlines())
        ]

    return Client(version, is_secure, post, reuses_connection)


def fields_of(head: Path) -> tuple[tuple[str, str], ...]:
    """The fields of the last answer. An interim answer may precede it."""
    last = head.read_text().replace("\r\n", "\n").strip().split("\n\n")[-1]
    return tuple((name, value.strip()) for name, _, value in (line.partition(":") for line in last.split("\n")[1:]))


def by_requests(is_secure: bool, is_chunked: bool = False) -> Client:
    def post(server: Server, bodies: list[bytes], headers: dict[str, str], _: Path) -> list[Reply]:
        with requests.Session() as session:
            session.trust_env = False
            session.verify = str(server.authority)
            answers = [
                session.post(
                    server.url + LICENSE_PATH,
                    data=iter([body[:7], body[7:]]) if is_chunked else body,
                    headers=headers,
                    timeout=TIMEOUT_SECONDS,
                )
                for body in bodies
            ]
        versions = {11: "1.1", 20: "2"}
        return [
            Reply(versions[one.raw.version], Answer(one.status_code, tuple(one.headers.items()), one.content))
            for one in answers
        ]

    return Client("1.1", is_secure, post)


def by_httpx(version: str, is_secure: bool, is_chunked: bool = False) -> Client:
    def post(server: Server, bodies: list[bytes], headers: dict[str, str], _: Path) -> list[Reply]:
        is_second = version == "2"
        with httpx.Client(
            http1=not is_second,
            http2=is_second,
            verify=ssl.create_default_context(cafile=server.authority),
            trust_env=False,
            timeout=TIMEOUT_SECONDS,
        ) as client:
            answers = [
                client.post(
                    server.url + LICENSE_PATH,
                    content=iter([body[:7], body[7:]]) if is_chunked else body,
                    headers=headers,
                )
                for body in bodies
            ]
        return [
            Reply(
                one.http_version.removeprefix("HTTP/"), Answer(one.status_code, tuple(one.headers.items()), one.content)
            )
            for one in answers
        ]

    return Client(version, is_secure, post)


# The curl of Debian 12 aborts a second HTTP/2 request by prior knowledge on one connection (curl issue 10634).
CURL_REUSES = False
CHUNKED = ("--header", "Transfer-Encoding: chunked")
EXPECT = ("--header", "Expect: 100-continue", "--expect100-timeout", str(TIMEOUT_SECONDS))
CLIENTS = {
    "curl": curl("1.1", False, "--http1.1"),
    "curl, chunked": curl("1.1", False, "--http1.1", *CHUNKED),
    "curl, Expect": curl("1.1", False, "--http1.1", *EXPECT),
    "curl, chunked, Expect": curl("1.1", False, "--http1.1", *CHUNKED, *EXPECT),
    "curl, HTTP/2 by prior knowledge": curl("2", False, "--http2-prior-knowledge", reuses_connection=CURL_REUSES),
    "curl, TLS": curl("1.1", True, "--http1.1"),
    "curl, HTTP/2 over TLS": curl("2", True, "--http2"),
    "requests": by_requests(False),
    "requests, chunked": by_requests(False, is_chunked=True),
    "requests, TLS": by_requests(True),
    "httpx": by_httpx("1.1", False),
    "httpx, chunked": by_httpx("1.1", False, is_chunked=True),
    "httpx, HTTP/2 by prior knowledge": by_httpx("2", False),
    "httpx, HTTP/2 over TLS": by_httpx("2", True),
    "httpx, HTTP/2 over TLS, no length": by_httpx("2", True, is_chunked=True),
}


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory, latchkey_programs: None) -> Iterator[dict[bool, Server]]:
    """A daemon without TLS and a daemon with TLS."""
    folder = tmp_path_factory.mktemp("clients")
    authority = make_pair(folder, "authority")
    identity = make_pair(folder, "server", hosts=("localhost",), issuer=authority)
    with ExitStack() as stack:
        found = {}
        for is_secure in (False, True):
            own = folder / ("secure" if is_secure else "plain")
            own.mkdir()
            daemon = stack.enter_context(running_daemon(own, tls=identity.configuration if is_secure else None))
            network = stack.enter_context(slow_network(*daemon.public))
            deployment = deployment_of(daemon.url, daemon.setup)
            found[is_secure] = Server(deployment, network, is_secure, authority.certificate_file)
        yield found


def contexts_for(deployment: Deployment) -> list[PlaybackContext]:
    """SPCs of both versions, in turn."""
    return [
        device_for(deployment.credential, 1 + index % 2).request(SPCOptions(deployment.asset_id))
        for index in range(REQUEST_COUNT)
    ]


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_gets_a_license(client: Client, shape: Shape, servers: dict[bool, Server], tmp_path: Path) -> None:
    server = servers[client.is_secure]
    deployment = server.deployment
    contexts = contexts_for(deployment)
    headers = {"Authorization": f"Bearer {deployment.token}"}
    if shape.content_type:
        headers["Content-Type"] = shape.content_type
    before = server.network.connections
    replies = client.post(server, [shape.body(context.message, deployment.asset_id) for context in contexts], headers, tmp_path)
    assert server.network.connections - before == (1 if client.reuses_connection else REQUEST_COUNT)
    assert [reply.version for reply in replies] == [client.version] * REQUEST_COUNT
    for context, reply in zip(contexts, replies, strict=True):
        answer = reply.answer
        assert (answer.status, answer.header("Content-Type")) == (200, shape.answer_type), answer.body
        opened = open_ckc(shape.ckc_of(answer.body), context.secrets)
        assert (opened.content_key, opened.content_iv) == (deployment.key.key, deployment.key.iv)


# --- URLSession ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def license_client() -> str:
    """The program of the client kit, which sends requests as apps do, with Foundation's URLSession."""
    program = Path(
        os.environ.get("LATCHKEY_LICENSE_CLIENT") or ROOT / ".build" / "clients" / "debug" / "license-client"
    )
    if not program.exists():
        pytest.skip(f"no program {program}; Scripts/test builds it")
    return str(program)


def ask_by_url_session(
    program: str, server: Server, token: str, purpose: str, kind: str, bodies: list[bytes], folder: Path
) -> list[tuple[dict[str, object], bytes]]:
    """Runs the program. Returns, for each body, the line that it printed and the CKC."""
    files = []
    for index, body in enumerate(bodies):
        (folder / f"{index}.spc").write_bytes(body)
        files += [folder / f"{index}.spc", folder / f"{index}.ckc"]
    finished = subprocess.run(
        [program, server.url, token, purpose, kind, *files],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=True,
        env=os.environ | {"NO_PROXY": "*"},
    )
    lines = [json.loads(line) for line in finished.stdout.splitlines()]
    assert len(lines) == len(bodies), finished.stderr
    return [(line, file.read_bytes() if file.exists() else b"") for line, file in zip(lines, files[1::2], strict=True)]


@pytest.mark.parametrize("kind", ["none", "application/octet-stream"])
def test_url_session_gets_licenses_on_one_connection(
    license_client: str, servers: dict[bool, Server], kind: str, tmp_path: Path
) -> None:
    """If it is given no type, URLSession declares the body to be a form.

    On Linux it trusts only the system's authorities, so this test uses no TLS.
    """
    server = servers[False]
    contexts = contexts_for(server.deployment)
    bodies = [context.message for context in contexts]
    before = server.network.connections
    answers = ask_by_url_session(license_client, server, server.deployment.token, "streaming", kind, bodies, tmp_path)
    assert server.network.connections - before == 1
    for context, (line, ckc) in zip(contexts, answers, strict=True):
        assert line["type"] == "session" and line["id"]
        assert open_ckc(ckc, context.secrets).content_key == server.deployment.key.key


def test_the_article_has_the_code_that_is_compiled() -> None:
    """The Swift tests of the client kit compile these files, and run one of them."""
    article = (ROOT / "Documentation/apps/ios.md").read_text()
    files = sorted((ROOT / "Clients/Apple/Sources/Example").glob("Film*.swift"))
    assert [file.name for file in files] == ["FilmKeys.swift", "FilmPlayer.swift"]
    for file in files:
        assert f"```swift\n{file.read_text()}```\n" in article, file.name


def test_url_session_reads_a_refusal(license_client: str, servers: dict[bool, Server], tmp_path: Path) -> None:
    """The request has the token of another installation."""
    server = servers[False]
    message = contexts_for(server.deployment)[0].message
    token = servers[True].deployment.token
    ((line, ckc),) = ask_by_url_session(license_client, server, token, "streaming", "none", [message], tmp_path)
    assert line == {"status": 401, "code": "token_signature", "advice": "getToken"}
    assert ckc == b""


def test_url_session_renews_with_the_session_token(
    license_client: str, servers: dict[bool, Server], tmp_path: Path
) -> None:
    """The kit takes from an answer what the next request needs."""
    server = servers[False]
    deployment = server.deployment
    device = device_for(deployment.credential, 1)
    states = [PlaybackState(1_700_000_000, state, 7) for state in (tags.READY_TO_START, tags.LEASE_ABOUT_TO_EXPIRE)]
    first, second = (device.request(SPCOptions(deployment.asset_id, playback_state=state)) for state in states)

    def ask(message: bytes, token: str, purpose: str) -> tuple[dict[str, object], bytes]:
        (answer,) = ask_by_url_session(license_client, server, token, purpose, "none", [message], tmp_path)
        return answer

    line, _ = ask(first.message, deployment.mint("--lease", "300"), "streaming")
    assert (line["type"], line["life"]) == ("lease", 300) and 150 <= line["renewalDelay"] <= 200
    renewed, ckc = ask(second.message, line["sessionToken"], "renewal")
    assert renewed["type"] == "lease" and renewed["sessionToken"] != line["sessionToken"]
    assert open_ckc(ckc, second.secrets).content_key == deployment.key.key


# --- The script of the client kit ------------------------------------------------------------------------------------


def run_script(server: Server | str, *arguments: object, token: str = "") -> subprocess.CompletedProcess[str]:
    url = server if isinstance(server, str) else server.url
    return subprocess.run(
        [ROOT / "Clients" / "curl" / "license.sh", url, *arguments],
        capture_output=True,
        text=True,
        timeout=2 * TIMEOUT_SECONDS,
        check=False,
        env=os.environ | {"LATCHKEY_TOKEN": token, "NO_PROXY": "*"},
    )


def lines_of(finished: subprocess.CompletedProcess[str]) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in finished.stdout.splitlines() if ": " in line and line[0] != "{")


def test_the_script_gets_and_renews_a_license(servers: dict[bool, Server], tmp_path: Path) -> None:
    server = servers[False]
    device = device_for(server.deployment.credential, 1)
    states = [PlaybackState(1_700_000_000, state, 9) for state in (tags.READY_TO_START, tags.LEASE_ABOUT_TO_EXPIRE)]
    token = server.deployment.mint("--lease", "300")
    for state, more in zip(states, ([], ["renew"]), strict=True):
        context = device.request(SPCOptions(server.deployment.asset_id, playback_state=state))
        (tmp_path / "spc").write_bytes(context.message)
        finished = run_script(server, tmp_path / "spc", tmp_path / "ckc", *more, token=token)
        assert finished.returncode == 0, finished
        said = lines_of(finished)
        assert said["X-License-Type"] == "lease"
        assert int(said["X-License-Expires"]) - int(said["X-License-Issued"]) == 300
        opened = open_ckc((tmp_path / "ckc").read_bytes(), context.secrets)
        assert opened.content_key == server.deployment.key.key
        token = said["X-Session-Token"]


def test_the_script_gets_the_certificate(servers: dict[bool, Server], tmp_path: Path) -> None:
    finished = run_script(servers[False], "certificate", tmp_path / "certificate")
    assert finished.returncode == 0, finished
    assert (tmp_path / "certificate").read_bytes() == servers[False].deployment.credential.bundle


def test_the_script_tells_refusals_apart(servers: dict[bool, Server], tmp_path: Path) -> None:
    server = servers[False]
    (tmp_path / "spc").write_bytes(contexts_for(server.deployment)[0].message)
    (tmp_path / "other").write_bytes(device_for(server.deployment.credential, 1).request(SPCOptions(b"other")).message)
    token = server.deployment.token
    for file, presented, status, code in (
        ("spc", "x.y.z", 4, "token_malformed"),
        ("other", token, 1, "content_mismatch"),
        ("spc", "", 2, None),
    ):
        finished = run_script(server, tmp_path / file, tmp_path / "ckc", token=presented)
        assert finished.returncode == status, finished
        assert lines_of(finished).get("X-Error-Code") == code
        assert presented not in finished.stderr or not presented
    # A port that is bound but has no listener refuses connections.
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        nowhere = f"http://127.0.0.1:{bound.getsockname()[1]}"
        assert run_script(nowhere, tmp_path / "spc", tmp_path / "ckc", token=token).returncode == 3
    assert run_script(server, tmp_path / "spc").returncode == 2
    assert not (tmp_path / "ckc").exists()


@contextmanager
def proxy(body: bytes) -> Iterator[str]:
    """A proxy that answers everything with 200."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", "0")))
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            """Writes no log."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("body", [b"<html>Sign in to this network, with your room number</html>", b"", bytes(64)])
@pytest.mark.parametrize("wish", ["spc", "certificate"])
def test_the_script_takes_nothing_else_for_a_license(body: bytes, wish: str, tmp_path: Path) -> None:
    (tmp_path / "spc").write_bytes(b"an SPC")
    with proxy(body) as url:
        wished = wish if wish == "certificate" else tmp_path / wish
        finished = run_script(url, wished, tmp_path / "answer", token="x.y.z")
    assert finished.returncode == 3, finished
    assert "something else" in finished.stderr
    assert not (tmp_path / "answer").exists()


def test_the_script_sends_nothing_if_the_license_has_no_place(servers: dict[bool, Server], tmp_path: Path) -> None:
    server = servers[False]
    (tmp_path / "spc").write_bytes(contexts_for(server.deployment)[0].message)
    before = server.network.connections
    for place in (tmp_path / "none" / "ckc", tmp_path):
        finished = run_script(server, tmp_path / "spc", place, token=server.deployment.token)
        assert finished.returncode == 2, finished
        assert f"the file {place} cannot be written" in finished.stderr
    assert server.network.connections == before, "nothing was sent"


@pytest.mark.parametrize("url", ["htp://keys.example.com", "http://keys.example.com:port", "http://", ""])
def test_the_script_tells_a_wrong_url(url: str, tmp_path: Path) -> None:
    (tmp_path / "spc").write_bytes(b"an SPC")
    finished = run_script(url, tmp_path / "spc", tmp_path / "ckc", token="x.y.z")
    assert finished.returncode == 2, finished


@pytest.mark.parametrize(("content", "reason"), [(None, "cannot be read"), (b"", "is empty")])
def test_the_script_sends_nothing_without_an_spc(
    servers: dict[bool, Server], content: bytes | None, reason: str, tmp_path: Path
) -> None:
    """curl itself posts an empty body if it cannot read the file."""
    server = servers[False]
    spc = tmp_path / "spc"
    if content is not None:
        spc.write_bytes(content)
    before = server.network.connections
    finished = run_script(server, spc, tmp_path / "ckc", token=server.deployment.token)
    assert finished.returncode == 2
    assert f"the SPC {spc} {reason}" in finished.stderr
    assert server.network.connections == before, "nothing was sent"
    assert not (tmp_path / "ckc").exists()

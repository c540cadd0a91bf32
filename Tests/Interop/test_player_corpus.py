"""Every request of `Tests/PlayerCorpus` against a running daemon.

Over HTTP/1.1 the SPCs have version 1, over HTTP/2 version 2.

Each CKC is opened, and must have the key of the content whose SPC was sent. The text of a refusal is checked as well:
`says` has words that `title`, `detail` and `hint` together must contain.
"""

import base64
import json
import secrets
import socket
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

import tokens
from deployment import Deployment, deployment_of, register
from fairplay_device import tags
from fairplay_device.ckc import OpenedCKC, open_ckc
from fairplay_device.credentials import Credential, certificate_hash, make_credential
from fairplay_device.facts import PlaybackState, SyncV2
from fairplay_device.spc import PlaybackContext, SPCOptions, device_for
from license_client import TIMEOUT_SECONDS, Answer, LicenseClient
from license_policy import ContentKey, Right
from own_daemon import OwnDaemon, running_daemon
from player_corpus import Case, expand, read_cases

CASES = read_cases()
# The section with mistakes of integrators. Their refusals must say what was received and how to correct it.
MISTAKES = "clients, section 5"
# Two keys with names, and more keys for requests with many.
NAMES = ("movie", "audio", *(f"key{number}" for number in range(15)))
STORAGE_SECONDS = 7200
LEASE_SECONDS = 300
RIGHTS = {
    "stream": Right(),
    "offline": Right(mode="both", storage=STORAGE_SECONDS),
    "lease": Right(lease=LEASE_SECONDS),
}
RATES = {"rates": {name: {"perSecond": 100_000, "burst": 100_000} for name in ("perAddress", "perSubject")}}
# SPCs with these names are refused, each for its own reason. All other SPCs are valid.
REFUSED = ("other", "stranger", "broken", "short")


@dataclass(frozen=True)
class Content:
    name: str
    key: ContentKey


@dataclass(frozen=True)
class Server:
    """One daemon with a content for each name, and one content that no token names."""

    daemon: OwnDaemon
    deployment: Deployment
    contents: dict[str, Content]
    tokens: dict[str, str]
    stranger: Credential


@dataclass(frozen=True)
class Transport:
    """The protocol that carries the requests, and the version of their SPCs."""

    name: str
    spc_version: int
    send: Callable[[str, str, bytes, dict[str, str]], Answer] = field(repr=False)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, latchkey_programs: None) -> Iterator[Server]:
    with running_daemon(tmp_path_factory.mktemp("corpus"), limits=RATES, prepare=prepare) as daemon:
        deployment = deployment_of(daemon.url, daemon.setup)
        contents = {}
        for name in (*NAMES, "other"):
            # A name without "+", "/" or "=" in any of its encodings, like most asset ids.
            content = Content(
                f"{name}-{secrets.token_hex(4)}",
                ContentKey(uuid.uuid4().bytes, secrets.token_bytes(16), secrets.token_bytes(16)),
            )
            register(daemon.setup, content.name, content.key)
            contents[name] = content
        yield Server(daemon, deployment, contents, tokens_for(deployment, contents), make_credential())


def prepare(setup: Path) -> None:
    """Allows tokens in bodies, and sets the limit of log lines so high that no line is left out."""
    configuration = setup / "latchkey.json5"
    text = configuration.read_text()
    for section, field in (("entitlement", "tokenInBody: true"), ("logging", "linesPerEvent: 10000")):
        assert text.count(f"{section}: {{") == 1
        text = text.replace(f"{section}: {{", f"{section}: {{ {field},")
    configuration.write_text(text)


def tokens_for(deployment: Deployment, contents: dict[str, Content]) -> dict[str, str]:
    def signed(right: Right, subject: str) -> str:
        claims = [{"content": contents[name].name} | right.claims for name in NAMES]
        return tokens.with_rights(deployment.token, deployment.signing_key, claims, subject)

    made = {name: signed(right, f"viewer of {name}") for name, right in RIGHTS.items()}
    made["another"] = signed(RIGHTS["stream"], "another viewer")
    made["expired"] = tokens.expired(made["stream"], deployment.signing_key)
    return made


@contextmanager
def over_http1(server: Server) -> Iterator[Transport]:
    client = LicenseClient(server.daemon.url)

    def send(method: str, path: str, body: bytes, headers: dict[str, str]) -> Answer:
        return client.send(method, path, body or None, headers)

    yield Transport("HTTP/1.1", 1, send)
    client.close()


@contextmanager
def over_http2(server: Server) -> Iterator[Transport]:
    with httpx.Client(http1=False, http2=True, trust_env=False, timeout=TIMEOUT_SECONDS) as client:
        # Removes the client's default fields, such as `Accept`, because only the case decides what is sent.
        client.headers.clear()

        def send(method: str, path: str, body: bytes, headers: dict[str, str]) -> Answer:
            response = client.request(method, server.daemon.url + path, content=body or None, headers=headers)
            assert response.http_version == "HTTP/2"
            return Answer(response.status_code, tuple(response.headers.multi_items()), response.content)

        yield Transport("HTTP/2", 2, send)


TRANSPORTS = {"HTTP/1.1": over_http1, "HTTP/2": over_http2}


@pytest.fixture(scope="module", params=TRANSPORTS)
def transport(request: pytest.FixtureRequest, server: Server) -> Iterator[Transport]:
    with TRANSPORTS[request.param](server) as made:
        yield made


# --- A request -------------------------------------------------------------------------------------------------------


class Values:
    """The values of the place holders in the templates of one request. An SPC is made when it is first needed."""

    def __init__(self, server: Server, case: Case, spc_version: int):
        self.server = server
        self.case = case
        self.spc_version = spc_version
        self.contexts: dict[str, PlaybackContext] = {}

    def of(self, name: str, wanted: str | None) -> bytes:
        movie = self.server.contents["movie"]
        if wanted is not None:
            if wanted == "name":
                return self.content(name).name.encode()
            assert wanted == "keyID", wanted
            return base64.b64encode(self.content(name).key.key_id)
        match name:
            case "content":
                return movie.name.encode()
            case "skdContent":
                return f"skd://{movie.name}".encode()
            case "kid":
                return movie.key.key_id
            case "iv":
                return movie.key.iv
            case "audioKID":
                return self.server.contents["audio"].key.key_id
            case "token":
                return self.server.tokens[self.case.right].encode()
            case "otherToken":
                return self.server.tokens["another"].encode()
            case "certificate":
                return self.server.deployment.credential.certificate(self.spc_version)
            case "heldHash":
                return self.hash_of(self.server.deployment.credential)
            case "strangerHash":
                return self.hash_of(self.server.stranger)
            case _:
                return self.spc(name)

    def hash_of(self, credential: Credential) -> bytes:
        return certificate_hash(self.spc_version, credential.certificate(self.spc_version))

    def content(self, name: str) -> Content:
        """The content that an SPC names. SPCs that are refused for another reason name the first content."""
        return self.server.contents.get(name) or self.server.contents["movie"]

    def spc(self, name: str) -> bytes:
        if name not in self.contexts:
            self.contexts[name] = self.make_context(name)
        message = self.contexts[name].message
        match name:
            case "broken":
                # This byte is inside the RSA-wrapped key.
                return message[:60] + bytes([message[60] ^ 0x01]) + message[61:]
            case "short":
                return message[:-16]
            case _:
                return message

    def make_context(self, name: str) -> PlaybackContext:
        """An SPC whose Base64 text shows which alphabet it uses and whether it is padded."""
        credential = self.server.stranger if name == "stranger" else self.server.deployment.credential
        device = device_for(credential, self.spc_version)
        for _ in range(200):
            context = device.request(self.options(name))
            text = base64.b64encode(context.message)
            if b"+" in text and b"/" in text and text.endswith(b"="):
                return context
        raise AssertionError("no SPC has a Base64 with padding")

    def options(self, name: str) -> SPCOptions:
        asset = self.case.asset if name == "movie" else None
        return SPCOptions(
            asset_id=expand(asset, self.of) if asset else self.content(name).name.encode(),
            playback_state=PlaybackState(1_700_000_000, tags.READY_TO_START, secrets.randbits(64)),
            capabilities=tags.CAPABILITY_OFFLINE_KEY,
            sync=SyncV2(0, tags.SYNC_REPORT, bytes(16), 3600) if name == "sync" else None,
        )

    def expand(self, template: str) -> bytes:
        return expand(template, self.of)

    def text(self, template: str) -> str:
        return self.expand(template).decode()


def ask(server: Server, transport: Transport, case: Case) -> tuple[Values, Answer]:
    values = Values(server, case, transport.spc_version)
    headers = {name: values.text(value) for name, value in case.headers.items()}
    if case.authorization != "none":
        token = server.tokens["expired" if case.authorization == "expired" else case.right]
        headers["Authorization"] = f"Bearer {token}"
    return values, transport.send(case.method, values.text(case.path), values.expand(case.body), headers)


# --- What a request must get -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_gets_the_answer_of_the_corpus(case: Case, server: Server, transport: Transport) -> None:
    values, answer = ask(server, transport, case)
    expected = case.answer
    assert answer.status == expected["status"], f"{answer.status} {answer.headers} {answer.body[:2000]!r}"
    assert answer.header("X-Request-Id")
    assert answer.header("Content-Encoding") is None
    if "code" in expected:
        return assert_refusal(answer, expected, values)
    assert answer.header("X-Error-Code") is None
    assert answer.header("Cache-Control") == "no-store"
    assert answer.header("X-Content-Type-Options") == "nosniff"
    assert answer.header("Content-Length") == str(len(answer.body))
    if "type" in expected:
        assert answer.header("Content-Type") == expected["type"]
    CHECKS[expected["shape"]](answer.body, values, expected)


def assert_refusal(answer: Answer, expected: dict, values: Values) -> None:
    assert answer.code == expected["code"], answer.body
    assert answer.header("Content-Type") == "application/problem+json"
    problem = answer.problem
    assert (problem["code"], problem["status"]) == (expected["code"], expected["status"])
    said = " ".join(str(problem.get(member, "")) for member in ("title", "detail", "hint")).lower()
    for word in expected["says"]:
        assert values.text(word).lower() in said, answer.body
    if values.case.source == MISTAKES:
        assert problem["detail"] and problem["hint"], answer.body
    if "allow" in expected:
        assert expected["allow"] in (answer.header("Allow") or "")
    # A refusal repeats no part of a secret.
    assert server_token(values) not in answer.body


def server_token(values: Values) -> bytes:
    return values.of("token", None)


def opened(ckc: bytes, name: str, values: Values) -> OpenedCKC:
    """Opens the CKC with the secrets of its request. Checks that it has the key of the content."""
    found = open_ckc(ckc, values.contexts[name].secrets)
    key = values.content(name).key
    assert (found.content_key, found.content_iv) == (key.key, key.iv)
    return found


def from_base64(text: object) -> bytes:
    """Decodes strictly: only the standard alphabet with padding is accepted."""
    assert isinstance(text, str | bytes)
    return base64.b64decode(text, validate=True)


def check_member(*path: str) -> Callable[[bytes, Values, dict], None]:
    def check(body: bytes, values: Values, _: dict) -> None:
        node = json.loads(body)
        for name in path:
            node = node[name]
        assert not opened(from_base64(node), "movie", values).is_persistent

    return check


def check_raw(body: bytes, values: Values, _: dict) -> None:
    assert not opened(body, "movie", values).is_persistent


def check_base64(body: bytes, values: Values, _: dict) -> None:
    """react-native-video up to 6.4 decodes strictly: it accepts no line end and no tags."""
    assert not opened(from_base64(body), "movie", values).is_persistent


def check_tags(body: bytes, values: Values, _: dict) -> None:
    start, end = b"<ckc>", b"</ckc>"
    assert body.startswith(start) and body.endswith(end)
    assert not opened(from_base64(body.removeprefix(start).removesuffix(end)), "movie", values).is_persistent


def check_kaltura(body: bytes, values: Values, expected: dict) -> None:
    node = json.loads(body)
    license = opened(from_base64(node["ckc"]), "movie", values)
    assert type(node["persistence_duration"]) is int and node["persistence_duration"] >= 0
    assert license.is_persistent == ("persistenceDuration" in expected)
    if license.is_persistent:
        # Less than a minute has passed since the answer.
        assert 0 <= expected["persistenceDuration"] - node["persistence_duration"] < 60


def results_of(expected: dict, values: Values) -> list[int]:
    return expected.get("results") or [0] * len(values.case.decoded["keys"])


def labels_of(values: Values) -> list[object]:
    return [values.text(label) if isinstance(label, str) else label for label in values.case.decoded["labels"]]


def check_key_array(body: bytes, values: Values, expected: dict) -> None:
    entries = json.loads(body)
    names = values.case.decoded["keys"]
    assert [entry["keyID"] for entry in entries] == labels_of(values)
    for entry, name, result in zip(entries, names, results_of(expected, values), strict=True):
        assert ("payload" in entry) != ("error" in entry)
        if result == 0:
            assert not opened(from_base64(entry["payload"]), name, values).is_persistent
        else:
            assert type(entry["error"]) is int and entry["error"] == result


def check_streaming_keys(body: bytes, values: Values, expected: dict) -> None:
    entries = json.loads(body)["fairplay-streaming-response"]["streaming-keys"]
    names = values.case.decoded["keys"]
    if "labels" in values.case.decoded:
        labels = labels_of(values)
        # In Python, 1 and True are equal.
        assert [(type(entry["id"]), entry["id"]) for entry in entries] == [(type(label), label) for label in labels]
    for entry, name, result in zip(entries, names, results_of(expected, values), strict=True):
        assert type(entry["status"]) is int and entry["status"] == result
        assert ("ckc" in entry) == (result == 0)
        if result != 0:
            continue
        license = opened(from_base64(entry["ckc"]), name, values)
        assert license.is_persistent == expected.get("isOffline", False)
        if "lease" in expected:
            assert license.duration is not None and license.duration.lease_seconds == expected["lease"]
            assert 0 < entry["renew-after"] < expected["lease"]


def check_offline_sync(body: bytes, _: Values, __: dict) -> None:
    members = json.loads(body)
    assert "expirationDate" in members and "ckc" not in members


def check_acknowledged(body: bytes, _: Values, __: dict) -> None:
    """Browsers pass the body to `update`, which accepts only this word."""
    assert body == b"acknowledged"


CHECKS: dict[str, Callable[[bytes, Values, dict], None]] = {
    "raw": check_raw,
    "base64": check_base64,
    "ckcTag": check_tags,
    "ckc": check_member("ckc"),
    "ckcMessage": check_member("ckcMessage"),
    "CkcMessage": check_member("CkcMessage"),
    "ckcData": check_member("ckcData"),
    "payload": check_member("payload"),
    "getFairplayLicenseResponse": check_member("getFairplayLicenseResponse", "ckcResponse"),
    "kaltura": check_kaltura,
    "keyArray": check_key_array,
    "streamingKeys": check_streaming_keys,
    "offlineSync": check_offline_sync,
    "acknowledged": check_acknowledged,
}


# --- The corpus as a whole -------------------------------------------------------------------------------------------


def test_the_corpus_has_every_answer() -> None:
    assert {case.answer["shape"] for case in CASES if "shape" in case.answer} == CHECKS.keys()
    assert len([case for case in CASES if case.source == MISTAKES]) >= 45
    named = {name for case in CASES for name in case.decoded.get("keys", [])}
    assert named == {*NAMES[:-1], *REFUSED, "sync"}


def test_metrics_count_each_shape(server: Server) -> None:
    """A request of each shape increases the sample with that label by the number of its SPCs."""

    def counts(shape: str) -> dict[str, float]:
        return {name: value for name, value in server.daemon.metrics().items() if f'shape="{shape}"' in name}

    with over_http1(server) as transport:
        for case in first_of_each_shape():
            before = counts(case.decoded["shape"])
            _, answer = ask(server, transport, case)
            assert answer.status == 200
            after = counts(case.decoded["shape"])
            grown = {name: value - before.get(name, 0) for name, value in after.items() if value != before.get(name, 0)}
            assert list(grown.values()) == [len(case.decoded["keys"])], (case.name, before, after)


def test_the_log_names_the_shape_of_a_refusal(server: Server) -> None:
    with over_http1(server) as transport:
        for case in CASES:
            if not case.name.startswith("Denied: "):
                continue
            _, answer = ask(server, transport, case)
            request_id = answer.header("X-Request-Id")
            assert answer.status == 403 and request_id
            server.daemon.await_log(request_id)
            entry = log_entry(server.daemon.log, request_id)
            assert entry["shape"] == case.decoded["shape"], entry


def test_a_report_without_a_token_is_acknowledged_when_its_head_comes_first(deployment: Deployment) -> None:
    """The daemon answers after the head alone. Its configuration is the one that `latchkey init` makes."""
    (case,) = [case for case in CASES if case.name == "Session report without a token"]
    body = expand(case.body, lambda name, wanted: b"")
    head = (
        f"POST /fps/license HTTP/1.1\r\nHost: latchkey\r\nContent-Length: {len(body)}\r\n"
        "Expect: 100-continue\r\nConnection: close\r\n\r\n"
    )
    parts = urlsplit(deployment.client.url)
    with socket.create_connection((parts.hostname, parts.port), TIMEOUT_SECONDS) as connection:
        connection.sendall(head.encode())
        interim = connection.recv(65_536)
        assert interim.startswith(b"HTTP/1.1 100 "), interim
        connection.sendall(body)
        answer = b"".join(iter(lambda: connection.recv(65_536), b""))
    assert answer.startswith(b"HTTP/1.1 200 ") and answer.endswith(b"\r\n\r\nacknowledged"), answer


def first_of_each_shape() -> list[Case]:
    found: dict[str, Case] = {}
    for case in CASES:
        if case.answer["status"] == 200 and "shape" in case.decoded:
            found.setdefault(case.decoded["shape"], case)
    return list(found.values())


def log_entry(log: Path, request_id: str) -> dict[str, object]:
    lines = [line for line in log.read_text().splitlines() if request_id in line]
    return json.loads(lines[-1])

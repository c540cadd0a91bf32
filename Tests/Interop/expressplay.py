"""A daemon with customers in ExpressPlay's manner, and what their back ends and apps send to it."""

import base64
import http.server
import json
import os
import secrets
import threading
import time
import urllib.parse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

import tokens
from deployment import register
from fairplay_device import tags
from fairplay_device.ckc import OpenedCKC, open_ckc
from fairplay_device.credentials import read_device_credential
from fairplay_device.facts import PlaybackState
from fairplay_device.spc import Device, SPCOptions, device_for
from license_client import Answer, LicenseClient
from license_policy import ContentKey
from own_daemon import OwnDaemon, running_daemon

TOKEN_PATH = "/hms/fp/token"
SEES_PATH = "/sees/SEESServlet"
REDEEM_PATH = "/hms/fp/rights/"
OTHER_REDEEM_PATH = "/licenses/expressplay"
# The URL to which the daemon sends apps, with the port of ExpressPlay's own URLs. No such host exists.
REDEEM_URL = f"https://fp.keys.example:80{REDEEM_PATH}"
AUTHENTICATOR = f"201722,{secrets.token_hex(16)}"
TEST_AUTHENTICATOR = f"201722,{secrets.token_hex(16)}"
DISABLED_AUTHENTICATOR = f"201723,{secrets.token_hex(16)}"
FRUGAL_AUTHENTICATOR = f"201724,{secrets.token_hex(16)}"
FRUGAL_TOKENS_PER_DAY = 2
SCOPED_AUTHENTICATOR = f"11,{secrets.token_hex(16)}"
SEES_AUTHENTICATOR = secrets.token_hex(24)
SEALING_KEY = secrets.token_bytes(32)
SEALING_KEY_ID = 7
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def prepare(setup: Path, clients: tuple[str, ...] = (), devices_maximum: int = 1) -> None:
    """Adds the customers to a new set-up.

    `clients` are the subjects of certificates that may use the entitlement server.
    """
    files = {
        "sealing": SEALING_KEY.hex(), "player": AUTHENTICATOR, "player-test": TEST_AUTHENTICATOR,
        "closed": DISABLED_AUTHENTICATOR, "frugal": FRUGAL_AUTHENTICATOR, "sees": SEES_AUTHENTICATOR,
        "scoped": SCOPED_AUTHENTICATOR,
    }
    for name, text in files.items():
        file = setup / "secrets" / name
        file.write_text(text + "\n")
        file.chmod(0o600)
    issuer = {
        "issuer": "customers", "dialect": "expressplay",
        "keys": [{"kid": str(SEALING_KEY_ID), "algorithm": "A256GCM", "key": "secrets/sealing"}],
    }
    section = {
        "customers": [
            {
                "name": "player", "issuer": "customers", "authenticator": "secrets/player",
                "otherAuthenticator": "secrets/player-test",
            },
            {"name": "closed", "issuer": "customers", "authenticator": "secrets/closed", "disabled": True},
            {
                "name": "frugal", "issuer": "customers", "authenticator": "secrets/frugal",
                "tokensPerDay": FRUGAL_TOKENS_PER_DAY,
            },
            {
                "name": "scoped", "issuer": "customers", "authenticator": "secrets/scoped", "contents": ["scoped/*"],
            },
        ],
        "redeemURL": REDEEM_URL,
        "redeemPaths": [REDEEM_PATH, OTHER_REDEEM_PATH],
        "sees": {"customer": "player", "authenticator": "secrets/sees", "devicesMaximum": devices_maximum},
    }
    if clients:
        section["sees"]["clients"] = list(clients)
    configuration = setup / "latchkey.json5"
    text = configuration.read_text()
    changed = text.replace("issuers: [", f"issuers: [{json.dumps(issuer)}, ", 1)
    changed = changed.replace(
        'logging: { level: "info" }', f'expressPlay: {json.dumps(section)}, logging: {{ level: "trace", linesPerEvent: 1000000 }}', 1
    )
    assert changed.count("customers") > 1 and "trace" in changed
    configuration.write_text(changed)


@dataclass(frozen=True)
class Service:
    """A running daemon with one stored content."""

    daemon: OwnDaemon
    content: str
    key: ContentKey

    def send(self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None) -> Answer:
        client = LicenseClient(self.daemon.url)
        try:
            return client.send(method, path, body, headers)
        finally:
            client.close()

    # --- A customer's back end --------------------------------------------------------------------------------------

    def ask(self, parameters: Mapping[str, str] | str, authenticator: str | None = AUTHENTICATOR) -> Answer:
        """Requests a token by POST."""
        return self.send("POST", TOKEN_PATH, form(parameters, authenticator).encode(), dict(FORM))

    def ask_by_get(self, parameters: Mapping[str, str] | str, authenticator: str | None = AUTHENTICATOR) -> Answer:
        return self.send("GET", f"{TOKEN_PATH}?{form(parameters, authenticator)}")

    def token_url(self, parameters: Mapping[str, str] | str) -> str:
        answer = self.ask(parameters)
        assert answer.status == 200, answer
        assert answer.header("Content-Type") == "text/uri-list"
        url = answer.body.decode()
        assert url.startswith(f"{REDEEM_URL}?ExpressPlayToken=")
        return url

    def ask_sees(self, authenticator: str | None = SEES_AUTHENTICATOR, **members: object) -> Answer:
        message = {"messageID": "0f8fad5b-d9cb-469f-a165-70867728950e", "version": 1, "contentID": self.content}
        headers = {"Content-Type": "application/json"}
        if authenticator is not None:
            headers["Authorization"] = f"Bearer {authenticator}"
        body = json.dumps({name: value for name, value in (message | members).items() if value is not None})
        return self.send("POST", SEES_PATH, body.encode(), headers)

    # --- An app ------------------------------------------------------------------------------------------------------

    def device(self, version: int = 1) -> Device:
        return device_for(read_device_credential(self.daemon.setup / "fairplay"), version)

    def redeem(self, url: str, message: bytes, headers: dict[str, str] | None = None) -> Answer:
        """Redeems a token URL as an app does: it POSTs the SPC to the URL, and the body of the answer is the CKC."""
        parts = urllib.parse.urlsplit(url)
        query = f"?{parts.query}" if parts.query else ""
        return self.send("POST", parts.path + query, message, {"Content-Type": "application/octet-stream"} | (headers or {}))

    def license(self, url: str, asset_id: bytes, device: Device | None = None) -> OpenedCKC:
        """Redeems a token URL and opens the license.

        The SPC has a playback state, so that the license can have durations.
        """
        context = (device or self.device()).request(options(asset_id))
        answer = self.redeem(url, context.message)
        assert answer.status == 200, answer
        assert answer.header("Content-Type") == "application/octet-stream"
        return open_ckc(answer.body, context.secrets)

    def code(self, url: str, device: Device | None = None, asset_id: bytes = b"movie") -> int:
        """Redeems a token URL that must be refused, and returns the code of the refusal."""
        answer = self.redeem(url, (device or self.device()).request(options(asset_id)).message, {"Accept": "application/json"})
        assert answer.status != 200
        assert answer.header("X-Error-Code")
        return json.loads(answer.body)["errorCode"]


def options(asset_id: bytes) -> SPCOptions:
    return SPCOptions(asset_id, playback_state=PlaybackState(1_700_000_000, tags.READY_TO_START, secrets.randbits(64)))


@contextmanager
def running_service(folder: Path, devices_maximum: int = 1) -> Iterator[Service]:
    content = f"movie-{secrets.token_hex(4)}"
    key = ContentKey(key_id=secrets.token_bytes(16), key=secrets.token_bytes(16), iv=secrets.token_bytes(16))
    with running_daemon(folder, prepare=lambda setup: prepare(setup, devices_maximum=devices_maximum)) as daemon:
        register(daemon.setup, content, key)
        yield Service(daemon, content, key)


def form(parameters: Mapping[str, str] | str, authenticator: str | None) -> str:
    text = parameters if isinstance(parameters, str) else urllib.parse.urlencode(parameters)
    if authenticator is None:
        return text
    return urllib.parse.urlencode({"customerAuthenticator": authenticator}) + (f"&{text}" if text else "")


def token_of(url: str) -> str:
    return urllib.parse.parse_qs(urllib.parse.urlsplit(url).query)["ExpressPlayToken"][0]


def opened_token(url: str) -> dict[int, bytes]:
    """The fields of a token by their tags, as `cryptography` opens it."""
    message = tokens.decode(token_of(url))
    assert message[:2] == b"\x02\x00" and int.from_bytes(message[2:6], "big") == SEALING_KEY_ID
    plain = AESGCM(SEALING_KEY).decrypt(message[6:18], message[18:], message[:18])
    fields: dict[int, bytes] = {}
    while plain:
        fields[plain[0]] = plain[2 : 2 + plain[1]]
        plain = plain[2 + plain[1] :]
    return fields


def sealed_url(**changes: bytes | int) -> str:
    """A token URL that this module sealed. By default its token contains the key and is valid for five minutes."""
    now = int(time.time())
    fields = {
        1: secrets.token_bytes(16), 2: now, 3: now + 300, 4: secrets.token_bytes(16), 5: secrets.token_bytes(16),
    } | {int(name.removeprefix("f")): value for name, value in changes.items()}
    plain = b""
    for tag in sorted(fields):
        value = fields[tag]
        if isinstance(value, int):
            value = value.to_bytes((value.bit_length() + 7) // 8, "big")
        plain += bytes([tag, len(value)]) + value
    head = b"\x02\x00" + SEALING_KEY_ID.to_bytes(4, "big")
    nonce = os.urandom(12)
    token = tokens.encode(head + nonce + AESGCM(SEALING_KEY).encrypt(nonce, plain, head + nonce))
    return f"{REDEEM_URL}?ExpressPlayToken={token}"


def extension(name: str, payload: bytes) -> str:
    return f"{name},{base64.b64encode(payload).decode()}"


class EntitlementServer(http.server.ThreadingHTTPServer):
    """An app's own entitlement server: it answers `GET /entitlement?cid=…` of a known viewer with a token URL.

    It knows no keys, only the names of contents. It requests the tokens from the token service as a customer.
    """

    daemon_threads = True

    def __init__(self, service: Service, viewers: set[str]):
        super().__init__(("127.0.0.1", 0), _EntitlementHandler)
        self.service = service
        self.viewers = viewers

    @property
    def authority(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"


class _EntitlementHandler(http.server.BaseHTTPRequestHandler):
    server: EntitlementServer

    def do_GET(self) -> None:
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        status, body = 403, b""
        if self.headers.get("X-Viewer") in self.server.viewers and "cid" in query:
            answer = self.server.service.ask({"kid": f"^{query['cid'][0]}", "expirationTime": "+60"})
            status, body = answer.status, answer.body
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Writes no access log: the test itself reports what went wrong."""


@contextmanager
def running_entitlement_server(service: Service, viewers: set[str]) -> Iterator[EntitlementServer]:
    server = EntitlementServer(service, viewers)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

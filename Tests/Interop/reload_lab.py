"""A daemon with every section of the configuration, its table of fields, and license requests while it reloads."""

import http.client
import json
import os
import re
import secrets
import signal
import socket
import ssl
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, NoEncryption, PrivateFormat

from deployment import register, run_latchkey
from fairplay_device import tags
from fairplay_device.ckc import OpenedCKC, open_ckc
from fairplay_device.credentials import Credential, make_credential, read_device_credential
from fairplay_device.facts import PlaybackState
from fairplay_device.spc import Device, SPCOptions, device_for
from license_client import Answer, LicenseClient
from license_policy import ContentKey
from own_daemon import await_addresses, new_setup, start_daemon, stop_daemon
from tls_material import make_pair
from token_issuers import SigningKey

WAIT_SECONDS = 90
LOAD_THREADS = 3
LOAD_PAUSE_SECONDS = 0.01
PORTAL = "https://portal.example"
CUSTOMERS = "https://customers.example"
TOKEN_HEADER = "x-customer-token"
EVERY_CAPABILITY = 0b111111
# A reload does not reset the used part of a rate limit. With this burst, that never affects a test.
AMPLE = {"perSecond": 1_000_000, "burst": 10_000_000}


# --- The table of fields --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Field:
    """A line of `--print-config`: a field, its value as JSON if it has one, and whether a change needs a restart."""

    path: str
    value: str | None
    is_fixed: bool

    @property
    def name(self) -> str:
        """The path without list indexes."""
        return re.sub(r"\[\d+\]", "[]", self.path)


def table_of(configuration: Path) -> list[Field]:
    """The table of fields of a configuration, read from the daemon's output."""
    program = Path(os.environ["LATCHKEY_BIN"]).with_name("latchkeyd")
    printed = subprocess.run(
        [program, "--config", configuration, "--print-config"], capture_output=True, text=True, check=True
    ).stdout
    return list(_fields(printed.splitlines()))


def _fields(lines: list[str]) -> Iterator[Field]:
    """Parses the printed configuration: one field per line, and one line for each bracket."""
    # For each open bracket: the path before it, and the index of the next element if it is a list.
    stack: list[tuple[str, int | None]] = []
    for line in lines[lines.index("{") :]:
        text = line.strip().removeprefix("// ")
        if text in ("}", "},", "],"):
            stack.pop()
            continue
        name, path = _place(text, stack)
        rest = text.removeprefix(name)
        if rest in ("{", "["):
            stack.append((path, 0 if rest == "[" else None))
            continue
        is_fixed = rest.endswith("restart")
        value = None if rest.startswith("not set;") else re.sub(r",(  // .*)?$", "", rest)
        yield Field(path, value, is_fixed)


def _place(text: str, stack: list[tuple[str, int | None]]) -> tuple[str, str]:
    """The name at the start of the line, and the path of the value after it."""
    if not stack:
        return "", ""
    outer, index = stack[-1]
    if index is not None:
        stack[-1] = (outer, index + 1)
        return "", f"{outer}[{index}]"
    match = re.match(r'("(?:[^"\\]|\\.)*"|\w+): ', text)
    assert match, text
    name = json.loads(match[1]) if match[1].startswith('"') else match[1]
    return match[0], f"{outer}.{name}" if outer else name


# --- The configuration ----------------------------------------------------------------------------------------------


def with_values(configuration: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    """A copy of the configuration with other values at some paths; `None` removes a field."""
    copy = deepcopy(configuration)
    for path, value in values.items():
        steps = [int(number) if number else name for name, number in re.findall(r"([^.\[\]]+)|\[(\d+)\]", path)]
        place: Any = copy
        for step in steps[:-1]:
            place = place[step] if isinstance(step, int) else place.setdefault(step, {})
        if value is None:
            place.pop(steps[-1], None)
        else:
            place[steps[-1]] = value
    return copy


@dataclass(frozen=True)
class Materials:
    """The contents of the configuration's files, and replacements for tests."""

    setup: Path

    def secret(self, name: str, contents: str | bytes) -> str:
        """Writes a secret file, and returns its name as the configuration gives it."""
        file = self.setup / "secrets" / name
        file.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
        file.chmod(0o600)
        return f"secrets/{name}"

    def credential(self, name: str, credential: Credential, passphrase: bytes | None = None) -> dict[str, str]:
        """Writes the files of a credential, and returns their names by kind."""
        folder = self.setup / "fairplay"
        encryption = BestAvailableEncryption(passphrase) if passphrase else NoEncryption()
        contents = {
            "certificate1024": credential.certificate_1024,
            "certificate2048": credential.certificate_2048,
            "certificateBundle": credential.bundle,
            "applicationSecret": credential.application_secret.hex().encode(),
            "fixedDASk": credential.application_secret.hex().encode(),
        }
        for bits, key in ((1024, credential.private_key_1024), (2048, credential.private_key_2048)):
            assert key is not None
            contents[f"privateKey{bits}"] = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption)
        names = {}
        for kind, data in contents.items():
            file = folder / f"{name}-{kind}"
            file.write_bytes(data)
            file.chmod(0o600)
            names[kind] = f"fairplay/{name}-{kind}"
        return names


def rich_configuration(setup: Path, service_url: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A configuration with every section and as many fields as can be combined, and the materials of its files."""
    materials = Materials(setup)
    tls = setup / "tls"
    authority = make_pair(tls, "authority")
    other_authority = make_pair(tls, "other-authority")
    made: dict[str, Any] = {
        "materials": materials,
        "authority": authority,
        "other authority": other_authority,
        "client": make_pair(tls, "client", issuer=authority),
        "main credential": read_device_credential(setup / "fairplay"),
        "bundle credential": make_credential(),
        "fixed credential": make_credential(),
        "other credential": make_credential(),
        "portal": SigningKey.make("portal-1", "ES256"),
        "portal HS256": SigningKey.make("portal-2", "HS256"),
        "portal set": SigningKey.make("portal-3", "ES256"),
        "callback secret": secrets.token_hex(32),
        "sealing": secrets.token_bytes(32),
        "customer": f"1,{secrets.token_hex(16)}",
        "customer elsewhere": f"1,{secrets.token_hex(16)}",
        "sees": secrets.token_hex(24),
        "packager": secrets.token_hex(24),
    }
    bundle = materials.credential("bundle", made["bundle credential"], b"a passphrase")
    fixed = materials.credential("fixed", made["fixed credential"])
    materials.secret("portal.pem", made["portal"].public_pem)
    key_set = {"keys": [made["portal set"].for_verifiers]}
    server_tls = {
        listener: {
            **make_pair(tls, f"{listener}-first", hosts=("first.example", "localhost")).configuration,
            "additional": [make_pair(tls, f"{listener}-second", hosts=("second.example",)).configuration],
            "clientCA": "tls/authority.pem",
        }
        for listener in ("public", "admin")
    }
    configuration = {
        "publicURL": "https://keys.example",
        "listeners": {
            "public": [
                {"address": "127.0.0.1:0", "trustedProxies": ["127.0.0.0/8"]},
                {"address": "127.0.0.1:0", "tls": server_tls["public"]},
            ],
            "admin": [
                {
                    "address": "127.0.0.1:0",
                    "tokenFile": "secrets/admin-token",
                    "tokens": [
                        {"name": "carol", "file": materials.secret("admin-token-carol", secrets.token_hex(20))}
                    ],
                },
                {
                    "address": "127.0.0.2:0",
                    "tokenFile": "secrets/admin-token",
                    "tls": server_tls["admin"],
                    "clients": [{"name": "unused", "clientCertificates": ["CN=unused"], "roles": ["admin"]}],
                },
            ],
        },
        "cors": {"origins": ["https://www.example"]},
        "fairplay": {
            "allowTestCredentials": True,
            "credentials": [
                {
                    "name": "development",
                    "certificate1024": "fairplay/certificate-1024.der",
                    "privateKey1024": "fairplay/private-key-1024.pem",
                    "certificate2048": "fairplay/certificate-2048.der",
                    "privateKey2048": "fairplay/private-key-2048.pem",
                    "applicationSecret": "fairplay/application-secret.hex",
                },
                {
                    "name": "bundle",
                    **{name: bundle[name] for name in ("certificateBundle", "privateKey1024", "privateKey2048")},
                    "privateKeyPassphrase": materials.secret("passphrase", "a passphrase"),
                    "applicationSecret": bundle["applicationSecret"],
                },
                {"name": "fixed", **{name: fixed[name] for name in ("certificate1024", "privateKey1024", "fixedDASk")}},
            ],
        },
        "keys": {
            "keyEncryptionKey": "secrets/key-encryption-key",
            "keyEncryptionKeyVersion": 5,
            "olderKeyEncryptionKeys": [{"version": 1, "key": materials.secret("older-key", secrets.token_hex(32))}],
            "masterSecret": materials.secret("master-secret", secrets.token_hex(32)),
        },
        "storage": {"url": "sqlite:latchkey.db"},
        "ledger": {
            "key": "secrets/ledger-key",
            "keyVersion": 5,
            "olderKeys": [{"version": 1, "key": materials.secret("older-ledger-key", secrets.token_hex(32))}],
            "pseudonymKey": "secrets/pseudonym-key",
            "sharedRetention": "400d",
        },
        "entitlement": {
            "issuers": [
                {
                    "issuer": "latchkey-development",
                    "keys": [
                        {"kid": "development-1", "algorithm": "ES256", "key": "secrets/token-verification-key.pem"}
                    ],
                },
                {
                    "issuer": PORTAL,
                    "audience": "portal",
                    "keys": [{"kid": "portal-1", "algorithm": "ES256", "key": "secrets/portal.pem"}],
                    "keysFile": materials.secret("portal-keys.json", json.dumps(key_set)),
                    "maximumLife": "1h",
                },
                {
                    "issuer": CUSTOMERS,
                    "dialect": "expressplay",
                    "keys": [
                        {"kid": "7", "algorithm": "A256GCM", "key": materials.secret("sealing", made["sealing"].hex())}
                    ],
                },
            ],
            "leeway": "0s",
            "tokenHeaders": [TOKEN_HEADER],
            "countryField": "x-country",
            "profiles": {"P": {"tracks": {"SD": {}}}},
            "limitsForEveryLicense": {"tracks": {"OTHER": {}}},
            "sessions": {"key": "secrets/session-key"},
            "callback": {
                "url": service_url,
                "hosts": ["127.0.0.1"],
                "secret": materials.secret("callback", made["callback secret"]),
                "timeout": "10s",
                "memory": {"allowed": "0s"},
                "rates": {"all": dict(AMPLE), "perAddress": dict(AMPLE)},
            },
        },
        "licensePaths": [
            {
                "path": "/licenses/{tenant}",
                "serves": "both",
                "dialect": "standard",
                "answer": "raw",
                "certificateFormat": "json",
            }
        ],
        "expressPlay": {
            "customers": [
                {
                    "name": "player",
                    "issuer": CUSTOMERS,
                    "authenticator": materials.secret("player", made["customer"]),
                    "otherAuthenticator": materials.secret("player-elsewhere", made["customer elsewhere"]),
                    "tokensPerDay": 1000000,
                    "rate": dict(AMPLE),
                }
            ],
            "redeemPaths": ["/redeem/"],
            "sees": {"customer": "player", "authenticator": materials.secret("sees", made["sees"])},
        },
        "packagers": [
            {"name": "packager", "secret": materials.secret("packager", made["packager"]), "rate": dict(AMPLE)}
        ],
        "limits": {
            "rates": {name: dict(AMPLE) for name in ("all", "perAddress", "perSubject")},
            "overload": {"wait": "30s"},
            "loopCount": 2,
        },
        "logging": {"level": "info"},
    }
    return configuration, made


# --- The daemon and its clients -------------------------------------------------------------------------------------


@dataclass
class Load:
    """Sends license requests on a few connections until it is stopped. Each must be answered with a license."""

    url: str
    messages: list[bytes]
    token: str
    answered: int = 0
    failures: list[str] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def start(self) -> None:
        self._stop.clear()
        # The first thread opens a new connection for each request, as most devices do.
        self._threads = [threading.Thread(target=self._run, args=(number,)) for number in range(LOAD_THREADS)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stops the load inside the context, for tests in which requests are refused on purpose."""
        self.stop()
        try:
            yield
        finally:
            self.start()

    def _run(self, number: int) -> None:
        client = LicenseClient(self.url)
        index = number
        while not self._stop.is_set():
            if number == 0:
                client.close()
                client = LicenseClient(self.url)
            try:
                answer = client.license(self.messages[index % len(self.messages)], self.token)
                if answer.status != 200:
                    self.failures.append(f"{answer.status} {answer.body!r}")
            except Exception as error:  # Any error means that a request has failed.
                self.failures.append(repr(error))
                client.close()
            self.answered += 1
            index += LOAD_THREADS
            self._stop.wait(LOAD_PAUSE_SECONDS)
        client.close()


@dataclass
class Lab:
    """A daemon that a test reloads, and what its clients know."""

    setup: Path
    base: dict[str, Any]
    made: dict[str, Any]
    process: subprocess.Popen[bytes]
    log: Path
    public: list[tuple[str, int]]
    admin: list[tuple[str, int]]
    load: Load
    service: Any
    contents: dict[str, str]
    keys: dict[str, ContentKey]
    client: LicenseClient
    # How many lines the log had before the last SIGHUP.
    read_before: int = 0
    # The changed fields of the last reload that need a restart.
    needs: set[str] = field(default_factory=set)
    _offset: int = 0
    _entries: list[dict[str, Any]] = field(default_factory=list)

    @property
    def materials(self) -> Materials:
        return self.made["materials"]

    @property
    def configuration(self) -> Path:
        return self.setup / "latchkey.json5"

    @property
    def url(self) -> str:
        return f"http://{self.public[0][0]}:{self.public[0][1]}"

    # --- Reloads ----------------------------------------------------------------------------------------------------

    def write(self, values: dict[str, Any]) -> None:
        """Writes the first configuration with these values changed."""
        self.configuration.write_text(json.dumps(with_values(self.base, values)))

    def reload(self) -> dict[str, Any]:
        """Sends SIGHUP, waits until the daemon has logged the outcome, and returns that line of the log."""
        entries = self.entries()
        if not self.needs:
            assert [entry for entry in entries[self.read_before :] if entry["event"] == "restart_needed"] == []
        self.read_before, self.needs = len(entries), set()
        self.process.send_signal(signal.SIGHUP)
        return self.await_entry("reloaded", "reload_failed")

    def change(self, values: dict[str, Any], needs: set[str] | None = None) -> None:
        """Reloads with other values at some paths.

        The reload must succeed, and the log must name the fields in `needs`.
        """
        self.write(values)
        entry = self.reload()
        assert entry["event"] == "reloaded", entry
        self.needs = needs or set()
        if needs:
            assert set(self.await_entry("restart_needed")["fields"].split()) == needs

    def restore(self) -> None:
        self.change({})

    def await_entry(self, *events: str) -> dict[str, Any]:
        """Waits for the first log line with one of these events since the last SIGHUP, and returns it."""
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            for entry in self.entries()[self.read_before :]:
                if entry["event"] in events:
                    return entry
            assert time.monotonic() < deadline, f"none of {events} in {self.log.read_text()[-3000:]}"
            time.sleep(0.005)

    def entries(self) -> list[dict[str, Any]]:
        """All entries of the log so far. Only the new part of the file is read."""
        with self.log.open("rb") as file:
            file.seek(self._offset)
            new = file.read()
        complete = new[: new.rfind(b"\n") + 1]
        self._offset += len(complete)
        self._entries += [json.loads(line) for line in complete.splitlines() if line.startswith(b"{")]
        return self._entries

    # --- Devices and apps -------------------------------------------------------------------------------------------

    def options(self, content: str = "SD", **facts: Any) -> SPCOptions:
        state = PlaybackState(1_700_000_000, facts.pop("state", tags.READY_TO_START), facts.pop("session", 1))
        strong = {"capabilities": EVERY_CAPABILITY, "playback_state": state}
        return SPCOptions(self.contents[content].encode(), **(strong | facts))

    def device(self, credential: str = "main credential", version: int = 1) -> Device:
        return device_for(self.made[credential], version)

    def token(self, key: str = "portal", header: dict[str, object] | None = None, **claims: object) -> str:
        """A token of the portal for every content. A claim with the value `None` is left out."""
        now = int(time.time())
        right = claims.pop("right", {})
        good = {
            "iss": PORTAL,
            "aud": "portal",
            "sub": f"viewer-{secrets.token_hex(4)}",
            "jti": secrets.token_hex(8),
            "iat": now,
            "nbf": now,
            "exp": now + 300,
            "rights": [{"content": content} | right for content in self.contents.values()],
        }
        members = {name: value for name, value in (good | claims).items() if value is not None}
        return self.made[key].sign(members, **(header or {}))

    def post(self, message: bytes, headers: dict[str, str], query: str = "", path: str = "/fps/license") -> Answer:
        return self.client.send("POST", path + query, message, {"Content-Type": "application/octet-stream"} | headers)

    def ask(
        self,
        token: str | None = None,
        *,
        query: str = "",
        headers: dict[str, str] | None = None,
        device: Device | None = None,
        **facts: Any,
    ) -> Answer:
        message = (device or self.device()).request(self.options(**facts)).message
        bearer = {"Authorization": f"Bearer {token or self.token()}"}
        return self.post(message, headers if headers is not None else bearer, query)

    def code(self, *arguments: Any, **named: Any) -> str:
        """Requests a license. Returns the code of the refusal, or "good"."""
        return self.ask(*arguments, **named).code or "good"

    def opened(self, token: str, query: str = "", **facts: Any) -> OpenedCKC:
        context = self.device().request(self.options(**facts))
        answer = self.post(context.message, {"Authorization": f"Bearer {token}"}, query)
        assert answer.status == 200, answer.body
        return open_ckc(answer.body, context.secrets)

    # --- Other clients ----------------------------------------------------------------------------------------------

    def preflight(self, name: str, origin: str = "https://www.example") -> str | None:
        """Sends the preflight request of a browser, and returns one field of the answer."""
        headers = {
            "Origin": origin,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization,x-mine",
        }
        return self.client.send("OPTIONS", "/fps/license", None, headers).header(f"Access-Control-{name}")

    def administer(self, method: str, path: str, body: bytes | None = None, token: str | None = None) -> Answer:
        """Sends a request to the first admin listener.

        Tests present wrong tokens too, and most of them are answered with 429. So this waits as it is told.
        """
        host, port = self.admin[0]
        client = LicenseClient(f"http://{host}:{port}")
        token = token or (self.setup / "secrets" / "admin-token").read_text().strip()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        deadline = time.monotonic() + WAIT_SECONDS
        try:
            while True:
                answer = client.send(method, path, body, headers)
                if answer.status != 429 or time.monotonic() > deadline:
                    return answer
                time.sleep(int(answer.header("Retry-After") or 1))
        finally:
            client.close()

    def newest_ledger_row(self, kind: str) -> dict[str, Any]:
        text = run_latchkey(self.setup, "ledger", "query", "--limit", "10000", "--json")
        return [row for row in json.loads(text)["entries"] if row["kind"] == kind][0]

    def metric(self, name: str) -> float:
        lines = self.administer("GET", "/metrics").body.decode().splitlines()
        (value,) = [line.rpartition(" ")[2] for line in lines if line.startswith(f"{name} ")]
        return float(value)

    def ask_over_tls(self, method: str, path: str, body: bytes) -> int:
        """Sends a request with a client certificate to the public TLS listener, and returns the status."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.load_cert_chain(self.made["client"].certificate_file, self.made["client"].key_file)
        connection = http.client.HTTPSConnection(*self.public[1], timeout=WAIT_SECONDS, context=context)
        try:
            connection.request(method, path, body, {"Content-Type": "application/json"})
            return connection.getresponse().status
        finally:
            connection.close()

    def administer_over_tls(self, path: str) -> Answer:
        """Asks the admin listener with TLS, with the client certificate and without a token."""
        connection = http.client.HTTPSConnection(
            *self.admin[1], timeout=WAIT_SECONDS, context=self.client_context())
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return Answer(response.status, tuple(response.getheaders()), response.read())
        finally:
            connection.close()

    def client_context(self, client: str = "client") -> ssl.SSLContext:
        """A TLS context that trusts any server and has a client certificate."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        pair = self.made[client]
        context.load_cert_chain(pair.certificate_file, pair.key_file)
        return context

    def negotiate(
        self, address: tuple[str, int], maximum: ssl.TLSVersion = ssl.TLSVersion.MAXIMUM_SUPPORTED
    ) -> str | None:
        """The cipher that a TLS listener chooses; `None` if there is no version or cipher in common."""
        context = self.client_context()
        context.maximum_version = maximum
        with socket.create_connection(address, WAIT_SECONDS) as plain:
            try:
                with context.wrap_socket(plain, server_hostname="first.example") as connection:
                    cipher = connection.cipher()
                    return cipher[0] if cipher else None
            except (ssl.SSLError, ConnectionResetError):
                return None

    def session(self, address: tuple[str, int]) -> tuple[ssl.SSLContext, ssl.SSLSession]:
        """Opens a TLS session that later connections can resume. Returns it with its context."""
        context = self.client_context()
        # In TLS 1.2, the ticket is part of the handshake.
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        with (
            socket.create_connection(address, WAIT_SECONDS) as plain,
            context.wrap_socket(plain, server_hostname="first.example") as connection,
        ):
            assert connection.session
            return context, connection.session

    def resumes(self, address: tuple[str, int], session: tuple[ssl.SSLContext, ssl.SSLSession]) -> bool:
        """Whether the listener accepts the session's ticket."""
        context, ticket = session
        with (
            socket.create_connection(address, WAIT_SECONDS) as plain,
            context.wrap_socket(plain, server_hostname="first.example", session=ticket) as connection,
        ):
            return bool(connection.session_reused)

    def handshake(self, address: tuple[str, int], name: str = "first.example", client: str = "client") -> bytes | None:
        """The certificate that a TLS listener presents for a name; `None` if it refuses the client."""
        context = self.client_context(client)
        with socket.create_connection(address, WAIT_SECONDS) as plain:
            try:
                with context.wrap_socket(plain, server_hostname=name) as connection:
                    connection.sendall(b"GET /livez HTTP/1.1\r\nHost: first.example\r\nConnection: close\r\n\r\n")
                    # In TLS 1.3, the client learns only at its first read that its certificate was refused.
                    if not connection.recv(1):
                        return None
                    return connection.getpeercert(binary_form=True)
            except (ssl.SSLError, ConnectionResetError):
                return None


@contextmanager
def running_lab(folder: Path, service: Any) -> Iterator[Lab]:
    """Runs a daemon with every section configured, under load.

    `service` decides about the tokens that only it can read.
    """
    setup = new_setup(folder)
    base, made = rich_configuration(setup, service.url)
    service.secret = made["callback secret"].encode()
    (setup / "latchkey.json5").write_text(json.dumps(base))
    contents, keys = {}, {}
    for track in ("AUDIO", "SD", "HD", "UHD", "OTHER"):
        contents[track] = f"{track.lower()}-{secrets.token_hex(4)}"
        keys[track] = ContentKey(
            key_id=uuid.uuid4().bytes,
            key=secrets.token_bytes(16),
            iv=secrets.token_bytes(16),
            track=track,
            content_type="sd" if track == "OTHER" else None,
        )
        register(setup, contents[track], keys[track])
    token = run_latchkey(setup, "token", "mint", "--content", contents["OTHER"]).strip()
    device = device_for(made["main credential"], 1)
    options = SPCOptions(
        contents["OTHER"].encode(),
        capabilities=EVERY_CAPABILITY,
        playback_state=PlaybackState(1_700_000_000, tags.READY_TO_START, 1),
    )
    messages = [device.request(options).message for _ in range(24)]
    log = folder / "daemon.log"
    # The level is one of the fields that are reloaded.
    process = start_daemon(setup, log, addresses={}, log_level=None)
    try:
        public, admin = await_listeners(process, log)
        url = f"http://{public[0][0]}:{public[0][1]}"
        load = Load(url, messages, token)
        client = LicenseClient(url)
        lab = Lab(setup, base, made, process, log, public, admin, load, service, contents, keys, client)
        load.start()
        try:
            yield lab
        finally:
            load.stop()
            client.close()
        assert process.poll() is None, f"the daemon is gone: {log.read_text()[-2000:]}"
    finally:
        stop_daemon(process)


def await_listeners(process: subprocess.Popen[bytes], log: Path) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """The addresses of the public listeners and of those for operators, in the order of the configuration."""
    await_addresses(process, log)
    entries = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    found: dict[str, list[tuple[str, int]]] = {"public": [], "admin": []}
    for entry in entries:
        if entry["event"] == "listening":
            host, _, port = entry["address"].rpartition(":")
            found[entry["listener"]].append((host, int(port)))
    return found["public"], found["admin"]

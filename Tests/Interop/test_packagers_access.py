"""Which credentials may request content keys, each over HTTP/1.1 and HTTP/2.

A packager's credential gets no license. A credential for licenses or for the admin listener gets no content key.
"""

import base64
import itertools
import json
import re
import secrets
import signal
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from cryptography.hazmat.primitives import hashes

from deployment import Deployment, deployment_of
from fairplay_device.spc import SPCOptions, device_for
from license_client import LICENSE_PATH
from own_daemon import OwnDaemon, running_daemon
from tls_material import KeyPair, make_pair

TIMEOUT_SECONDS = 20.0
WAIT_SECONDS = 90
GUESSES = 10
SECRET, OTHER_SECRET, READER_SECRET = (secrets.token_hex(24) for _ in range(3))
SPEKE = {"Content-Type": "application/xml", "X-Speke-Version": "2.0"}
DOCUMENT = Path(__file__).parent.parent / "Vectors" / "speke" / "v2_vod_fairplay_video_audio.xml"
# Many wrong secrets of one address are answered with 429, so each request uses another address.
addresses = itertools.count(2)

by_version = pytest.mark.parametrize("is_version_two", [False, True], ids=["HTTP/1.1", "HTTP/2"])


@dataclass(frozen=True)
class KeyServer:
    daemon: OwnDaemon
    authority: KeyPair
    packagers: list[dict[str, object]]

    @property
    def url(self) -> str:
        return f"https://localhost:{self.daemon.public[1]}"

    @contextmanager
    def client(
        self, is_version_two: bool = False, certificate: KeyPair | None = None, address: str = "127.0.0.1"
    ) -> Iterator[httpx.Client]:
        context = ssl.create_default_context(cafile=str(self.authority.certificate_file))
        if certificate:
            context.load_cert_chain(certificate.certificate_file, certificate.key_file)
        transport = httpx.HTTPTransport(verify=context, http2=is_version_two, local_address=address)
        with httpx.Client(transport=transport, base_url=self.url, timeout=TIMEOUT_SECONDS) as client:
            yield client

    def order(self, headers: dict[str, str] | list[tuple[str, str]], **options: object) -> httpx.Response:
        """Requests a key for a new content, from a new address."""
        number = next(addresses)
        options = {"address": f"127.0.{number // 250 + 1}.{number % 250 + 2}"} | options
        with self.client(**options) as client:
            return client.post("/v1/keys", headers=headers, content=order())

    def configure(self, packagers: list[dict[str, object]]) -> None:
        """Reloads the daemon with other packagers. The reload must succeed."""
        configuration = self.daemon.setup / "latchkey.json5"
        lines = configuration.read_text().splitlines()
        (place,) = [number for number, line in enumerate(lines) if line.strip().startswith("packagers: ")]
        lines[place] = f"    packagers: {json.dumps(packagers)},"
        configuration.write_text("\n".join(lines) + "\n")
        before = self.daemon.log.read_text().count('"reloaded"')
        self.daemon.process.send_signal(signal.SIGHUP)
        deadline = time.monotonic() + WAIT_SECONDS
        while self.daemon.log.read_text().count('"reloaded"') == before:
            assert time.monotonic() < deadline, self.daemon.log.read_text()[-2000:]
            time.sleep(0.02)


def order(content: str | None = None) -> bytes:
    return json.dumps({"contentId": content or f"movie-{secrets.token_hex(6)}", "tracks": ["VIDEO"]}).encode()


def basic(user: str, secret: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{secret}".encode()).decode()}


def bearer(text: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {text}"}


def add_packagers(setup: Path, packagers: list[dict[str, object]]) -> None:
    """Replaces the packager of the set-up."""
    for name, secret in (("first", SECRET), ("second", OTHER_SECRET), ("reader", READER_SECRET)):
        file = setup / "secrets" / f"packager-{name}"
        file.write_text(secret + "\n")
        file.chmod(0o600)
    configuration = setup / "latchkey.json5"
    section = f"packagers: {json.dumps(packagers)},"
    # The replacement is a function, because a replacement text would have its own escapes.
    text, count = re.subn(r"packagers: \[.*\],", lambda _: section, configuration.read_text())
    assert count == 1
    # Allows a viewer's token in the body too.
    configuration.write_text(text.replace("entitlement: {", "entitlement: {\n        tokenInBody: true,", 1))


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> dict[str, KeyPair]:
    folder = tmp_path_factory.mktemp("tls")
    authority = make_pair(folder, "authority")
    clients = make_pair(folder, "clients")
    made = {"authority": authority, "main": make_pair(folder, "main", hosts=("localhost",), issuer=authority)}
    return made | {"clients": clients} | {
        name: make_pair(folder, name, issuer=clients) for name in ("by-subject", "by-fingerprint", "unknown", "two")
    }


PACKAGERS: list[dict[str, object]] = [
    {"name": "first", "secret": "secrets/packager-first"},
    {"name": "second", "user": "tenänt", "secret": "secrets/packager-second"},
    {"name": "reader", "secret": "secrets/packager-reader", "scopes": ["read"], "contents": ["live/*"]},
]


@pytest.fixture(scope="module")
def server(
    material: dict[str, KeyPair], tmp_path_factory: pytest.TempPathFactory, latchkey_programs: None
) -> Iterator[KeyServer]:
    """A daemon with packagers that have secrets, on a listener that requests no certificate."""
    with running_daemon(
        tmp_path_factory.mktemp("keys"),
        tls=material["main"].configuration,
        prepare=lambda setup: add_packagers(setup, PACKAGERS),
    ) as daemon:
        yield KeyServer(daemon, material["authority"], PACKAGERS)


@pytest.fixture(scope="module")
def guarded(
    material: dict[str, KeyPair], tmp_path_factory: pytest.TempPathFactory, latchkey_programs: None
) -> Iterator[KeyServer]:
    """A daemon with packagers that have certificates, on a listener that demands one from every client."""
    fingerprint = material["by-fingerprint"].certificate.fingerprint(hashes.SHA256()).hex(":").upper()
    two = material["two"].certificate.fingerprint(hashes.SHA256()).hex()
    packagers: list[dict[str, object]] = [
        {"name": "first", "secret": "secrets/packager-first", "clientCertificates": ["CN=by-subject", "CN=two"]},
        {"name": "second", "clientCertificates": [fingerprint, two]},
    ]
    settings = material["main"].configuration | {"clientCA": str(material["clients"].certificate_file)}
    with running_daemon(
        tmp_path_factory.mktemp("guarded"), tls=settings, prepare=lambda setup: add_packagers(setup, packagers)
    ) as daemon:
        yield KeyServer(daemon, material["authority"], packagers)


@pytest.fixture(scope="module")
def deployment(server: KeyServer) -> Deployment:
    """A content of the daemon, and a viewer's token for it."""
    return deployment_of(server.daemon.url, server.daemon.setup)


# --- Valid credentials -----------------------------------------------------------------------------------------------


@by_version
@pytest.mark.parametrize(
    "headers",
    [
        basic("first", SECRET),
        basic("tenänt", OTHER_SECRET),
        bearer(SECRET),
        {"authorization": f"bearer  {SECRET}"},
        {"x-api-key": SECRET},
        {"X-API-Key": SECRET} | bearer(SECRET),
    ],
    ids=["basic", "basic in UTF-8", "bearer", "bearer in lower case", "x-api-key", "both"],
)
def test_a_secret_opens_keys(headers: dict[str, str], is_version_two: bool, server: KeyServer) -> None:
    answer = server.order(headers, is_version_two=is_version_two)
    assert answer.status_code == 200, answer.text
    assert answer.http_version == ("HTTP/2" if is_version_two else "HTTP/1.1")
    assert len(answer.json()["keys"]) == 1


@by_version
@pytest.mark.parametrize("name", ["by-subject", "by-fingerprint"])
def test_a_certificate_opens_keys(
    name: str, is_version_two: bool, guarded: KeyServer, material: dict[str, KeyPair]
) -> None:
    answer = guarded.order({}, is_version_two=is_version_two, certificate=material[name])
    assert answer.status_code == 200, answer.text


def test_what_an_api_gateway_forwards_opens_keys(server: KeyServer) -> None:
    """API Gateway checks the signature of an encoder, removes it, and adds the secret."""
    forwarded = {
        "x-api-key": SECRET,
        "X-Amz-Date": "20261128T191500Z",
        "X-Amz-Security-Token": "IQoJb3JpZ2luX2VjEXAMPLE",
        "X-Amzn-Trace-Id": "Root=1-67891233-abcdef012345678912345678",
        "X-Forwarded-For": "198.51.100.7",
        "User-Agent": "AmazonAPIGateway_abcdef0123",
    }
    with server.client() as client:
        answer = client.post("/speke/v2.0/copyProtection", headers=forwarded | SPEKE, content=DOCUMENT.read_bytes())
        assert answer.status_code == 200, answer.text
        assert answer.headers["X-Speke-Version"] == "2.0"
    signature = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261128/eu-west-1/execute-api/aws4_request, Signature=00"
    assert server.order(forwarded | {"Authorization": signature}).status_code == 401


def test_a_secret_counts_beside_a_certificate_of_nobody(guarded: KeyServer, material: dict[str, KeyPair]) -> None:
    assert guarded.order(bearer(SECRET), certificate=material["unknown"]).status_code == 200
    assert guarded.order(bearer(SECRET), certificate=material["by-subject"]).status_code == 200


def test_curl_presents_each_form(server: KeyServer) -> None:
    for form in (
        ["--user", f"first:{SECRET}"],
        ["--header", f"Authorization: Bearer {SECRET}"],
        ["--header", f"x-api-key: {SECRET}"],
    ):
        command = ["curl", "--silent", "--show-error", "--noproxy", "*", "--max-time", "20", "--output", "/dev/null"]
        command += ["--write-out", "%{http_code}", "--cacert", str(server.authority.certificate_file)]
        command += [*form, "--data-binary", "@-", f"{server.url}/v1/keys"]
        result = subprocess.run(command, input=order(), capture_output=True, check=True, timeout=40)
        assert result.stdout == b"200", form


# --- Refused credentials---------------------------------------------------------------------------------------------


def wrong_credentials() -> list[tuple[str, list[tuple[str, str]]]]:
    def fields(*parts: dict[str, str]) -> list[tuple[str, str]]:
        return [field for part in parts for field in part.items()]

    return [
        ("nothing", []),
        ("a wrong secret", fields(bearer(SECRET[:-1]))),
        ("a longer secret", fields({"x-api-key": SECRET + "0"})),
        ("another user", fields(basic("second", OTHER_SECRET))),
        ("another packager's name", fields(basic("first", OTHER_SECRET))),
        ("no user", fields(basic("", SECRET))),
        ("two packagers", fields(bearer(SECRET), {"x-api-key": OTHER_SECRET})),
        ("two fields", fields(bearer(SECRET), bearer(OTHER_SECRET))),
        ("Basic that is not Base64", [("Authorization", f"Basic first:{SECRET}")]),
        ("Digest", [("Authorization", f'Digest username="first", response="{SECRET}"')]),
        ("AWS", [("Authorization", "AWS4-HMAC-SHA256 Credential=a"), ("x-api-key", SECRET)]),
        ("no scheme", [("Authorization", SECRET)]),
    ]


def same_but_for_the_request(answer: httpx.Response) -> tuple[int, list[tuple[str, str]], dict[str, object]]:
    # If a refusal is sent before the request's body has arrived, it closes the connection. That depends on timing.
    of_one_request = ("connection", "date", "x-request-id")
    headers = [field for field in answer.headers.multi_items() if field[0] not in of_one_request]
    problem = {key: value for key, value in answer.json().items() if key not in ("request_id", "server_time")}
    return answer.status_code, headers, problem


@by_version
def test_every_refusal_is_the_same(is_version_two: bool, server: KeyServer) -> None:
    answers = {
        name: same_but_for_the_request(server.order(headers, is_version_two=is_version_two))
        for name, headers in wrong_credentials()
    }
    status, headers, problem = answers["nothing"]
    assert (status, problem["code"]) == (401, "packager_invalid")
    schemes = {value.split(" ")[0] for name, value in headers if name == "www-authenticate"}
    assert schemes == {"Basic", "Bearer"}
    for name, answer in answers.items():
        assert answer == answers["nothing"], name


def test_certificates_of_others_open_nothing(guarded: KeyServer, material: dict[str, KeyPair]) -> None:
    cases = [("unknown", {}), ("two", {}), ("by-fingerprint", bearer(SECRET)), ("by-subject", bearer("0" * 48))]
    for name, headers in cases:
        answer = guarded.order(headers, certificate=material[name])
        assert (answer.status_code, answer.json()["code"]) == (401, "packager_invalid"), name


def test_what_opens_licenses_or_the_admin_listener_opens_no_key(server: KeyServer, deployment: Deployment) -> None:
    admin = (server.daemon.setup / "secrets" / "admin-token").read_text().strip()
    for text in (admin, deployment.token):
        for headers in (bearer(text), {"x-api-key": text}, basic("first", text), {"ExpressPlayToken": text}):
            number = next(addresses)
            with server.client(address=f"127.0.{number // 250 + 1}.{number % 250 + 2}") as client:
                asked = [
                    client.post("/v1/keys", headers=headers, content=order()),
                    client.get(f"/v1/keys/{deployment.content}", headers=headers),
                    client.post(
                        "/speke/v2.0/copyProtection", headers=SPEKE | headers, content=DOCUMENT.read_bytes()
                    ),
                    client.get(f"/v1/keys/{deployment.content}?token={text}"),
                ]
            assert [answer.status_code for answer in asked] == [401] * 4, headers


def test_a_packager_s_secret_opens_no_license(server: KeyServer, deployment: Deployment) -> None:
    message = device_for(deployment.credential, 2).request(SPCOptions(deployment.asset_id)).message
    raw = {"Content-Type": "application/octet-stream"}

    def asked(text: str) -> dict[str, httpx.Response]:
        ways = {
            "bearer": (bearer(text), ""),
            "x-api-key": ({"x-api-key": text}, ""),
            "header": ({"ExpressPlayToken": text}, ""),
            "query": ({}, f"?token={text}"),
            "ExpressPlay's query": ({}, f"?ExpressPlayToken={text}"),
            "basic": (basic("first", text), ""),
        }
        with server.client() as client:
            answers = {
                name: client.post(LICENSE_PATH + query, headers=raw | headers, content=message)
                for name, (headers, query) in ways.items()
            }
            body = {"spc": base64.b64encode(message).decode(), "token": text}
            return answers | {"body": client.post(LICENSE_PATH, json=body)}

    other = asked(secrets.token_hex(24))
    for secret in (SECRET, OTHER_SECRET, READER_SECRET):
        for name, answer in asked(secret).items():
            assert answer.status_code == 401, name
            # The token is refused like any other unknown text.
            assert answer.headers["X-Error-Code"] == other[name].headers["X-Error-Code"], name
    # A viewer's token works in the same places, except the two that are not for tokens.
    opened = {name for name, answer in asked(deployment.token).items() if answer.status_code == 200}
    assert opened == set(other) - {"x-api-key", "basic"}


def test_a_packager_s_secret_opens_nothing_of_operators(server: KeyServer) -> None:
    host, port = server.daemon.admin
    answer = httpx.get(f"http://{host}:{port}/metrics", headers=bearer(SECRET), trust_env=False)
    assert (answer.status_code, answer.headers["X-Error-Code"]) == (401, "admin_token_invalid")


# --- What a packager may do ------------------------------------------------------------------------------------------


def test_scopes_and_contents_hold(server: KeyServer) -> None:
    live, film = f"live/{secrets.token_hex(4)}", f"film-{secrets.token_hex(4)}"
    reader, writer = bearer(READER_SECRET), bearer(SECRET)
    with server.client() as client:
        # The reader cannot make keys, but reads the keys of its contents that another packager has made.
        assert client.post("/v1/keys", headers=reader, content=order(live)).status_code == 403
        for content in (live, film):
            assert client.post("/v1/keys", headers=writer, content=order(content)).status_code == 200
        again = client.post("/v1/keys", headers=reader, content=order(live))
        assert again.status_code == 200
        assert client.post("/v1/keys", headers=reader, content=order(film)).status_code == 403
        path = f"/v1/keys/{live.replace('/', '%2F')}"
        assert client.get(path, headers=reader).json()["keys"][0]["key"] == again.json()["keys"][0]["key"]
        assert client.get(f"/v1/keys/{film}", headers=reader).status_code == 403
        # Importing a key needs another scope than ordering a new key.
        own = {"track": "VIDEO", "key": secrets.token_hex(16), "iv": secrets.token_hex(16)}
        body = json.dumps({"contentId": f"own-{secrets.token_hex(4)}", "tracks": [own]}).encode()
        assert client.post("/v1/keys", headers=writer, content=body).status_code == 403


def test_most_guesses_are_answered_with_a_wait(server: KeyServer) -> None:
    with server.client(address="127.77.0.1") as client:
        answers = [client.post("/v1/keys", headers=bearer(f"guess-{n:010}"), content=order()) for n in range(40)]
        codes = [answer.json()["code"] for answer in answers]
        assert set(codes) == {"packager_invalid", "rate_limited"}
        assert codes[:GUESSES] == ["packager_invalid"] * GUESSES
        slowed = [answer for answer in answers if answer.status_code == 429]
        assert slowed and all(int(answer.headers["Retry-After"]) >= 1 for answer in slowed)
        # The right secret is accepted from the same address.
        assert client.post("/v1/keys", headers=bearer(SECRET), content=order()).status_code == 200
    metrics = server.daemon.metrics()
    assert metrics['latchkey_packager_credentials_refused_total{reason="slowed"}'] >= len(slowed)


def test_a_secret_is_replaced_without_a_gap(server: KeyServer) -> None:
    new = secrets.token_hex(24)
    file = server.daemon.setup / "secrets" / "packager-new"
    file.write_text(new)
    file.chmod(0o600)
    current = {"name": "first", "secret": "secrets/packager-new"}
    try:
        for packager, accepted in (
            (current | {"previousSecret": "secrets/packager-first"}, [200, 200]),
            (current, [401, 200]),
            (current | {"disabled": True}, [401, 401]),
        ):
            server.configure([packager, *PACKAGERS[1:]])
            assert [server.order(bearer(text)).status_code for text in (SECRET, new)] == accepted
            assert server.order(bearer(OTHER_SECRET)).status_code == 200
    finally:
        server.configure(PACKAGERS)
    assert server.order(bearer(SECRET)).status_code == 200


def test_no_secret_of_a_packager_is_in_the_log(server: KeyServer) -> None:
    assert server.order(bearer(SECRET)).status_code == 200
    assert server.order(bearer(OTHER_SECRET[:-1])).status_code == 401
    server.daemon.await_log("packager_refused")
    log = server.daemon.log.read_text()
    for secret in (SECRET, OTHER_SECRET, OTHER_SECRET[:-1], READER_SECRET):
        assert secret not in log and base64.b64encode(secret.encode()).decode() not in log

"""TLS with Python's `ssl`, curl and httpx: versions, ALPN, names, resumption, client certificates."""

import http.client
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

import http1_wire
from deployment import Deployment, deployment_of
from fairplay_device.spc import SPCOptions, device_for
from license_client import LICENSE_PATH, Answer
from own_daemon import OwnDaemon, running_daemon
from tls_material import KeyPair, make_pair

TIMEOUT_SECONDS = 20.0
LIVEZ = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"
LAST_LIVEZ = b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
VERSIONS = [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3]
# More connections than the daemon has loops, so that loops open tickets of other loops.
RESUMPTION_COUNT = 16

by_version = pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.name)


@dataclass(frozen=True)
class TLSDaemon:
    daemon: OwnDaemon
    authority: KeyPair
    main: KeyPair
    rsa: KeyPair
    other: KeyPair

    @property
    def url(self) -> str:
        return f"https://localhost:{self.daemon.public[1]}"

    def context(self, version: ssl.TLSVersion | None = None) -> ssl.SSLContext:
        """A TLS context that trusts only the authority of the test."""
        context = ssl.create_default_context(cafile=str(self.authority.certificate_file))
        if version:
            context.minimum_version = context.maximum_version = version
        return context

    @contextmanager
    def connect(
        self, context: ssl.SSLContext, host: str | None = "localhost", session: ssl.SSLSession | None = None
    ) -> Iterator[ssl.SSLSocket]:
        with (
            socket.create_connection(self.daemon.public, timeout=TIMEOUT_SECONDS) as plain,
            context.wrap_socket(plain, server_hostname=host, session=session) as connection,
        ):
            yield connection


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> dict[str, KeyPair]:
    folder = tmp_path_factory.mktemp("tls")
    authority = make_pair(folder, "authority")
    return {
        "authority": authority,
        "main": make_pair(folder, "main", hosts=("localhost",), issuer=authority),
        "rsa": make_pair(folder, "rsa", hosts=("localhost",), algorithm="RSA", issuer=authority),
        "other": make_pair(folder, "other", hosts=("other.test", "*.wild.test"), issuer=authority),
        "clients": make_pair(folder, "clients"),
        "strangers": make_pair(folder, "strangers"),
    }


@pytest.fixture(scope="module")
def server(
    material: dict[str, KeyPair], tmp_path_factory: pytest.TempPathFactory, latchkey_programs: None
) -> Iterator[TLSDaemon]:
    """A daemon with an ECDSA and an RSA certificate for `localhost`, and one certificate for other names."""
    main, rsa, other = (material[name] for name in ("main", "rsa", "other"))
    settings = main.configuration | {"additional": [rsa.configuration, other.configuration]}
    with running_daemon(tmp_path_factory.mktemp("daemon"), tls=settings) as daemon:
        yield TLSDaemon(daemon, material["authority"], main, rsa, other)


def ask(connection: ssl.SSLSocket, request: bytes = LAST_LIVEZ) -> list[int]:
    """The statuses of all responses up to the end of the stream."""
    connection.sendall(request)
    received, ended = http1_wire.read_all(connection)
    return http1_wire.parse(received, ended).statuses


# --- Versions and algorithms -----------------------------------------------------------------------------------------


@by_version
def test_a_version_is_served(version: ssl.TLSVersion, server: TLSDaemon) -> None:
    with server.connect(server.context(version)) as connection:
        assert connection.version() == version.name.replace("_", ".")
        assert ask(connection) == [200]


def test_an_old_version_is_refused(server: TLSDaemon) -> None:
    context = server.context()
    with pytest.warns(DeprecationWarning):
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
    # Without this setting, OpenSSL would not even send a ClientHello.
    context.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.raises(ssl.SSLError, match="protocol version|unsupported protocol|internal error"):
        with server.connect(context):
            pass


@pytest.mark.parametrize("algorithm", ["ECDSA", "RSA"])
def test_the_client_s_ciphers_choose_the_certificate(algorithm: str, server: TLSDaemon) -> None:
    context = server.context(ssl.TLSVersion.TLSv1_2)
    context.set_ciphers(f"ECDHE-{algorithm}-AES128-GCM-SHA256")
    with server.connect(context) as connection:
        assert connection.cipher()[0] == f"ECDHE-{algorithm}-AES128-GCM-SHA256"
        expected = server.main if algorithm == "ECDSA" else server.rsa
        assert connection.getpeercert()["serialNumber"] == f"{expected.certificate.serial_number:X}".rjust(
            len(connection.getpeercert()["serialNumber"]), "0"
        )


@pytest.mark.parametrize("ciphers", ["AES128-GCM-SHA256", "ECDHE-RSA-AES128-SHA", "DHE-RSA-AES128-GCM-SHA256"])
def test_no_cipher_without_forward_secrecy_and_authentication(ciphers: str, server: TLSDaemon) -> None:
    context = server.context(ssl.TLSVersion.TLSv1_2)
    context.set_ciphers(ciphers)
    with pytest.raises(ssl.SSLError, match="handshake failure"):
        with server.connect(context):
            pass


# --- Names and protocols ---------------------------------------------------------------------------------------------


@by_version
@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", "main"),
        ("other.test", "other"),
        ("OTHER.test", "other"),
        ("a.wild.test", "other"),
        ("a.b.wild.test", "main"),
        ("unknown.test", "main"),
        (None, "main"),
    ],
)
def test_the_name_chooses_the_certificate(
    host: str | None, expected: str, version: ssl.TLSVersion, server: TLSDaemon
) -> None:
    context = server.context(version)
    # The chain is verified. The test itself checks whether the name matches.
    context.check_hostname = False
    with server.connect(context, host) as connection:
        (((_, name),),) = connection.getpeercert()["subject"]
        assert name == expected


@by_version
@pytest.mark.parametrize(
    ("offer", "chosen"),
    [(["h2", "http/1.1"], "h2"), (["http/1.1", "h2"], "h2"), (["http/1.1"], "http/1.1"), (["x", "http/1.1"], "http/1.1")],
)
def test_alpn_prefers_version_two(offer: list[str], chosen: str, version: ssl.TLSVersion, server: TLSDaemon) -> None:
    context = server.context(version)
    context.set_alpn_protocols(offer)
    with server.connect(context) as connection:
        assert connection.selected_alpn_protocol() == chosen
        if chosen == "http/1.1":
            assert ask(connection) == [200]


def test_a_client_without_alpn_speaks_version_one(server: TLSDaemon) -> None:
    with server.connect(server.context()) as connection:
        assert connection.selected_alpn_protocol() is None
        assert ask(connection) == [200]


def test_a_foreign_protocol_is_refused(server: TLSDaemon) -> None:
    """RFC 7301 section 3.2."""
    context = server.context()
    context.set_alpn_protocols(["spdy/1"])
    with pytest.raises(ssl.SSLError, match="no application protocol"):
        with server.connect(context):
            pass


def test_plain_http_gets_no_answer(server: TLSDaemon) -> None:
    assert http1_wire.exchange(server.daemon.public, LAST_LIVEZ).statuses == []
    with server.connect(server.context()) as connection:
        assert ask(connection) == [200]


# --- Resumption ------------------------------------------------------------------------------------------------------


@by_version
def test_a_session_is_resumed_on_every_loop(version: ssl.TLSVersion, server: TLSDaemon) -> None:
    context = server.context(version)
    with server.connect(context) as connection:
        connection.sendall(LIVEZ)
        # In TLS 1.3, the ticket arrives with the first answer.
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        assert not connection.session_reused
        session = connection.session
    assert session.has_ticket
    for _ in range(RESUMPTION_COUNT):
        with server.connect(context, session=session) as connection:
            assert connection.session_reused
            assert ask(connection) == [200]


@by_version
def test_a_session_is_resumed_after_a_restart_and_by_another_node(
    version: ssl.TLSVersion, material: dict[str, KeyPair], tmp_path: Path, latchkey_programs: None
) -> None:
    """Resumes with the same `ticketKeys`. Without them, a new process cannot open the old process's tickets."""
    key = tmp_path / "ticket-key"
    key.write_text("07" * 32)
    key.chmod(0o600)
    main = material["main"].configuration
    for number, (settings, is_resumed) in enumerate([(main | {"ticketKeys": [str(key)]}, True), (main, False)]):
        session = None
        context = None
        for run in range(3):
            folder = tmp_path / f"{number}-{run}"
            folder.mkdir()
            with running_daemon(folder, tls=settings) as daemon:
                node = TLSDaemon(daemon, material["authority"], *(material[name] for name in ("main", "rsa", "other")))
                context = context or node.context(version)
                with node.connect(context, session=session) as connection:
                    connection.sendall(LIVEZ)
                    assert connection.recv(65536).startswith(b"HTTP/1.1 200")
                    assert connection.session_reused == (is_resumed and session is not None)
                    session = session or connection.session


# --- Client certificates ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def guarded(
    material: dict[str, KeyPair], tmp_path_factory: pytest.TempPathFactory, latchkey_programs: None
) -> Iterator[TLSDaemon]:
    """A daemon that accepts only clients with a certificate of one authority."""
    main = material["main"]
    settings = main.configuration | {"clientCA": str(material["clients"].certificate_file)}
    with running_daemon(tmp_path_factory.mktemp("guarded"), tls=settings) as daemon:
        yield TLSDaemon(daemon, material["authority"], main, material["rsa"], material["other"])


@by_version
@pytest.mark.parametrize("issuer", ["clients", "strangers", None])
def test_only_clients_of_the_authority_are_let_in(
    issuer: str | None, version: ssl.TLSVersion, guarded: TLSDaemon, material: dict[str, KeyPair], tmp_path: Path
) -> None:
    context = guarded.context(version)
    if issuer:
        client = make_pair(tmp_path, "client", issuer=material[issuer])
        context.load_cert_chain(client.certificate_file, client.key_file)
    if issuer == "clients":
        with guarded.connect(context) as connection:
            assert ask(connection) == [200]
        return
    # In TLS 1.3, the refusal comes after the client's part of the handshake.
    with pytest.raises((ssl.SSLError, ConnectionResetError, BrokenPipeError)):
        with guarded.connect(context) as connection:
            connection.sendall(LIVEZ)
            assert connection.recv(65536) != b"", "no answer and no alert"


# --- Licenses --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def deployment(server: TLSDaemon) -> Deployment:
    """A content of the daemon with TLS. The deployment's client is not used, because it speaks only plain HTTP."""
    return deployment_of(server.daemon.url, server.daemon.setup)


def headers(deployment: Deployment) -> dict[str, str]:
    return {"Authorization": f"Bearer {deployment.token}", "Content-Type": "application/octet-stream"}


@by_version
def test_the_standard_library_gets_a_license(
    version: ssl.TLSVersion, server: TLSDaemon, deployment: Deployment
) -> None:
    context = device_for(deployment.credential, 1).request(SPCOptions(deployment.asset_id))
    connection = http.client.HTTPSConnection(
        "localhost", server.daemon.public[1], context=server.context(version), timeout=TIMEOUT_SECONDS
    )
    connection.request("POST", LICENSE_PATH, context.message, headers(deployment))
    response = connection.getresponse()
    answer = Answer(response.status, tuple(response.getheaders()), response.read())
    connection.close()
    deployment.open(answer, context.secrets)


@pytest.mark.parametrize("offers_version_two", [True, False])
def test_httpx_gets_a_license(offers_version_two: bool, server: TLSDaemon, deployment: Deployment) -> None:
    context = device_for(deployment.credential, 2).request(SPCOptions(deployment.asset_id))
    with httpx.Client(http2=offers_version_two, verify=server.context()) as client:
        answer = client.post(server.url + LICENSE_PATH, content=context.message, headers=headers(deployment))
    assert answer.http_version == ("HTTP/2" if offers_version_two else "HTTP/1.1")
    deployment.open(Answer(answer.status_code, tuple(answer.headers.items()), answer.content), context.secrets)


@pytest.mark.parametrize("protocol", ["--http2", "--http1.1"])
@pytest.mark.parametrize("way", [[], ["--header", "Transfer-Encoding: chunked"], ["--header", "Expect: 100-continue"]])
def test_curl_gets_a_license(protocol: str, way: list[str], server: TLSDaemon, deployment: Deployment) -> None:
    if not shutil.which("curl"):
        pytest.skip("curl is not installed")
    context = device_for(deployment.credential, 1).request(SPCOptions(deployment.asset_id))
    fields = [word for name, value in headers(deployment).items() for word in ("--header", f"{name}: {value}")]
    result = subprocess.run(
        [
            *("curl", "--silent", "--show-error", "--noproxy", "*", "--max-time", str(int(TIMEOUT_SECONDS)), protocol),
            *("--cacert", server.authority.certificate_file, "--dump-header", "/dev/stderr", *fields, *way),
            *("--data-binary", "@-", server.url + LICENSE_PATH),
        ],
        input=context.message,
        capture_output=True,
        timeout=2 * TIMEOUT_SECONDS,
        check=True,
    )
    lines = result.stderr.decode().split("\r\n")
    assert any(line.startswith("HTTP/2 200" if protocol == "--http2" else "HTTP/1.1 200") for line in lines), lines
    fields_received = tuple(tuple(line.split(": ", 1)) for line in lines if ": " in line)
    deployment.open(Answer(200, fields_received, result.stdout), context.secrets)


# --- What the daemon has counted -------------------------------------------------------------------------------------


def test_handshakes_are_counted(server: TLSDaemon) -> None:
    before = server.daemon.metrics()
    context = server.context()
    with server.connect(context) as connection:
        assert ask(connection) == [200]
    context.set_alpn_protocols(["spdy/1"])
    with pytest.raises(ssl.SSLError), server.connect(context):
        pass
    full = 'latchkey_tls_handshakes_total{result="full"}'
    failed = 'latchkey_tls_handshakes_failed_total{reason="application_protocol"}'
    # The client knows of its failure before the server has counted it.
    end = time.monotonic() + 60
    while (after := server.daemon.metrics())[failed] == before[failed]:
        assert time.monotonic() < end
    assert (after[full], after[failed]) == (before[full] + 1, before[failed] + 1)

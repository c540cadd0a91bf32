"""A server that publishes an issuer's keys over TLS. A test chooses its keys, and lets it fail."""

import hashlib
import http.server
import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tls_material import KeyPair, make_pair
from token_issuers import SigningKey

PATH = "/keys"
DOCUMENT_PATH = "/.well-known/openid-configuration"
OTHER_PATH = "/other-keys"


@dataclass
class KeyServer:
    """A running server. The paths map to documents; a failure replaces the answer to every request."""

    authority: KeyPair
    documents: dict[str, bytes] = field(default_factory=dict)
    failure: Callable[["_Handler"], None] | None = None
    # The paths of all requests, with the entity tag that each named.
    requests: list[tuple[str, str | None]] = field(default_factory=list)
    # Ends answers that take their time.
    stopping: threading.Event = field(default_factory=threading.Event)
    port: int = 0

    @property
    def url(self) -> str:
        return f"https://localhost:{self.port}{PATH}"

    @property
    def issuer(self) -> str:
        return f"https://localhost:{self.port}"

    def describe(self, **changes: object) -> None:
        """Publishes the issuer's OpenID document, which names the keys."""
        document = {"issuer": self.issuer, "jwks_uri": self.url, "response_types_supported": ["code"]} | changes
        self.documents[DOCUMENT_PATH] = json.dumps(document).encode()

    def publish(self, *keys: SigningKey, path: str = PATH) -> None:
        self.documents[path] = json.dumps({"keys": [key.for_verifiers for key in keys]}).encode()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "_Server"

    def do_GET(self) -> None:
        keys = self.server.keys
        keys.requests.append((self.path, self.headers.get("If-None-Match")))
        try:
            if keys.failure is not None:
                keys.failure(self)
                return
            document = keys.documents.get(self.path)
            if document is None:
                self.answer(404, b"")
                return
            tag = f'"{hashlib.sha256(document).hexdigest()}"'
            if self.headers.get("If-None-Match") == tag:
                self.answer(304, b"", ETag=tag)
            else:
                self.answer(200, document, ETag=tag)
        except OSError:
            # The daemon closes the connection when it has had enough.
            self.close_connection = True

    def answer(self, status: int, body: bytes, **fields: str) -> None:
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Logs nothing."""


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, keys: KeyServer, context: ssl.SSLContext) -> None:
        super().__init__(("127.0.0.1", keys.port), _Handler)
        self.keys = keys
        self.context = context
        keys.port = self.server_address[1]

    def finish_request(self, request: object, client_address: object) -> None:
        # The handshake happens on the connection's own thread.
        try:
            with self.context.wrap_socket(request, server_side=True) as connection:
                super().finish_request(connection, client_address)
        except OSError:
            pass


# --- Failures ---------------------------------------------------------------------------------------------------------


def status_500(handler: _Handler) -> None:
    handler.answer(500, b"{}")


def garbage(handler: _Handler) -> None:
    handler.answer(200, b"<html>\xff\x00")


def empty_set(handler: _Handler) -> None:
    handler.answer(200, b'{"keys":[]}')


def shared_secret(handler: _Handler) -> None:
    handler.server.keys.publish(SigningKey.make("secret", "HS256"), path="/secret")
    handler.answer(200, handler.server.keys.documents["/secret"])


def ten_megabytes(handler: _Handler) -> None:
    handler.answer(200, b"[" * 10_000_000)


def redirect(handler: _Handler) -> None:
    handler.answer(302, b"", Location=OTHER_PATH)


def slow(handler: _Handler) -> None:
    """Sends a byte now and then, so that the connection is never idle for long."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    while not handler.server.keys.stopping.wait(0.5):
        handler.wfile.write(b" ")


def hang_up(handler: _Handler) -> None:
    handler.close_connection = True


# --- Running ----------------------------------------------------------------------------------------------------------


def make_keys(folder: Path) -> KeyServer:
    """A server with an authority of its own, which does not run yet."""
    folder.mkdir(parents=True, exist_ok=True)
    return KeyServer(make_pair(folder, "authority"))


@contextmanager
def serving(keys: KeyServer) -> Iterator[KeyServer]:
    """Runs the server, at its former port if it has run before."""
    folder = keys.authority.certificate_file.parent
    pair = make_pair(folder, "key-server", hosts=("localhost",), issuer=keys.authority)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate_file, pair.key_file)
    keys.stopping.clear()
    server = _Server(keys, context)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield keys
    finally:
        keys.stopping.set()
        server.shutdown()
        server.server_close()
        thread.join()

"""The Python key server behind HTTP, on a free loopback port, for a device that somebody else wrote."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from fairplay_device.key_server import KeyServer, Licence, OpenedSPC, Refusal

BODY_SIZE_MAXIMUM = 65536


@dataclass
class LicenceServer:
    """Answers every POST with a CKC for one licence, and remembers what it was asked.

    `seal` makes the CKC; replace it to make a faulty one.
    """

    key_server: KeyServer
    licence: Licence
    seal: Callable[[KeyServer, OpenedSPC, Licence], bytes] = KeyServer.answer
    status: int = 200
    opened: list[OpenedSPC] = field(default_factory=list)
    messages: list[bytes] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)

    def respond(self, spc: bytes, authorization: str | None) -> tuple[int, bytes]:
        self.messages.append(spc)
        self.authorizations.append(authorization)
        try:
            opened = self.key_server.open(spc)
        except Refusal as refusal:
            self.refusals.append(refusal)
            return refusal.status, b""
        self.opened.append(opened)
        return self.status, self.seal(self.key_server, opened, self.licence)

    @contextmanager
    def running(self) -> Iterator[str]:
        """Serves while the context lasts; gives the licence route's address."""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                size = min(int(self.headers.get("Content-Length") or 0), BODY_SIZE_MAXIMUM)
                status, body = outer.respond(self.rfile.read(size), self.headers.get("Authorization"))
                self.send_response(status)
                self.send_header("Content-Type", "application/octet-stream")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *arguments: object) -> None:
                """The tests say what matters; an access log would only be noise."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/fps/license"
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

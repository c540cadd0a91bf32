"""The operator's service, which the daemon asks about tokens that only this service can read. Tests make it fail."""

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Portal(ThreadingHTTPServer):
    """Fails for a token as often as `failures` says, and then allows it. It allows every token."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Question)
        self.failures: Counter[str] = Counter()

    @property
    def settings(self) -> dict[str, object]:
        """The daemon's `entitlement.callback`. It remembers no answer, and always asks again after a failure."""
        url = f"http://127.0.0.1:{self.server_address[1]}/entitle"
        settings = {"url": url, "hosts": ["127.0.0.1"], "sources": ["authorization"], "timeout": "10s"}
        return settings | {"memory": {"allowed": "0s"}, "breaker": {"failures": 1000}}


class _Question(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Portal

    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        token = question["token"]
        fails = self.server.failures[token] > 0
        self.server.failures[token] -= fails
        answer = (
            b"{}"
            if fails
            else json.dumps({"messageID": question["messageID"], "version": 1, "isAllowed": True}).encode()
        )
        self.send_response(500 if fails else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Writes no log, because tokens are secrets."""


@contextmanager
def running_portal() -> Iterator[Portal]:
    portal = Portal()
    thread = threading.Thread(target=portal.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield portal
    finally:
        portal.shutdown()
        portal.server_close()
        thread.join()

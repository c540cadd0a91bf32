"""A web server for pages, players and clips, on a free port of this machine. Its origin is not the license server's."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


class Pages(ThreadingHTTPServer):
    """Serves the `files` by path. For other paths the answer is 404."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, tuple[str, bytes]] = {}

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def add(self, folder: str, files: dict[str, tuple[str, bytes]]) -> str:
        """Serves files in a folder, and returns its URL, which ends with a slash."""
        for name, file in files.items():
            self.files[f"/{folder}/{name}"] = file
        return f"{self.origin}/{folder}/"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Pages

    def do_GET(self) -> None:
        kind, content = self.server.files.get(urlsplit(self.path).path, (None, b""))
        self.send_response(404 if kind is None else 200)
        self.send_header("Content-Type", kind or "text/plain")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Set-Cookie", "viewer=one; Path=/")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Writes no log, because the test reports faults."""


@contextmanager
def serving() -> Iterator[Pages]:
    pages = Pages()
    thread = threading.Thread(target=pages.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield pages
    finally:
        pages.shutdown()
        pages.server_close()
        thread.join()

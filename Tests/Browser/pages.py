"""A web server for pages, players and clips, on a free port of this machine: another origin than the licence server."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


class Pages(ThreadingHTTPServer):
    """Serves what is in `files`, by path; anything else is 404."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, tuple[str, bytes]] = {}

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def add(self, folder: str, files: dict[str, tuple[str, bytes]]) -> str:
        """Serves files in a folder, and gives its URL, which ends in a slash."""
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
        """Writes nothing: the test says what went wrong."""


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

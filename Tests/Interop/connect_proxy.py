"""A forward proxy for TLS: answers CONNECT, passes bytes on, and records the requests."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

HEAD_BYTES_MAXIMUM = 16 * 1024
TIMEOUT_SECONDS = 20


class ConnectProxy:
    """A forward proxy that connects every name to one server.

    A test may set `status`, with which it answers CONNECT.
    """

    def __init__(self, server: tuple[str, int]):
        self._server = server
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self.port: int = self._listener.getsockname()[1]
        self.status = 200
        # The first lines of all requests.
        self.requests: list[str] = []
        # Everything that clients sent in the clear.
        self.heads = b""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(TIMEOUT_SECONDS)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=[client], daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client:
            client.settimeout(TIMEOUT_SECONDS)
            head = b""
            while b"\r\n\r\n" not in head and len(head) < HEAD_BYTES_MAXIMUM:
                piece = client.recv(4096)
                if not piece:
                    return
                head += piece
            self.heads += head
            self.requests.append(head.split(b"\r\n", 1)[0].decode("ascii", "replace"))
            if self.status != 200:
                client.sendall(f"HTTP/1.1 {self.status} No\r\nContent-Length: 0\r\n\r\n".encode())
                return
            with socket.create_connection(self._server, TIMEOUT_SECONDS) as server:
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                back = threading.Thread(target=_pass, args=[server, client], daemon=True)
                back.start()
                _pass(client, server)
                back.join(TIMEOUT_SECONDS)


def _pass(source: socket.socket, target: socket.socket) -> None:
    try:
        while piece := source.recv(65536):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        # One side has closed its connection. The end of the other connection tells the other side.
        pass


@contextmanager
def connect_proxy(server: tuple[str, int]) -> Iterator[ConnectProxy]:
    proxy = ConnectProxy(server)
    proxy.start()
    try:
        yield proxy
    finally:
        proxy.stop()

"""A relay that takes plain connections and resumes a TLS session for each of them.

`latchkey bench` does a full handshake for each new connection. Behind this relay its connections resume the session of
the connection before, with the ticket that the server sent there.
"""

import select
import socket
import ssl
import threading
from contextlib import suppress
from pathlib import Path

# No record of TLS is larger, so that nothing stays in the buffer of the TLS socket.
PIECE = 16_384


class ResumingRelay:
    """Serves one connection after the other until it is closed."""

    def __init__(self, server: tuple[str, int], authorities: Path) -> None:
        self._server = server
        self._context = ssl.create_default_context(cafile=authorities)
        self._context.check_hostname = False
        self._context.minimum_version = ssl.TLSVersion.TLSv1_3
        self._session: ssl.SSLSession | None = None
        self.resumed = 0
        """The connections that resumed a session."""
        self._listener = socket.create_server(("127.0.0.1", 0))
        host, port = self._listener.getsockname()
        self.url = f"http://{host}:{port}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        # A shutdown ends the waiting accept, which a close alone does not.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            with client, socket.create_connection(self._server) as plain:
                with self._context.wrap_socket(plain, session=self._session) as server:
                    self.resumed += bool(server.session_reused)
                    self._relay(client, server)
                    # The answer brought a new ticket with it.
                    self._session = server.session

    @staticmethod
    def _relay(client: socket.socket, server: ssl.SSLSocket) -> None:
        """Passes on requests and answers until one side ends the connection."""
        server.setblocking(False)
        while True:
            ready = select.select([client, server], [], [])[0]
            if client in ready:
                request = client.recv(PIECE)
                if not request:
                    break
                server.sendall(request)
            if server in ready:
                try:
                    answer = server.recv(PIECE)
                except ssl.SSLWantReadError:
                    continue  # It was a ticket.
                if not answer:
                    break
                client.sendall(answer)
        # Without this message OpenSSL does not use the session again. Nothing waits for the other side's message.
        with suppress(OSError):
            server.unwrap()

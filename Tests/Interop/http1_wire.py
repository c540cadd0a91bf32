"""HTTP/1.1 as bytes on a socket: sends exactly the bytes of the test, and reads the answers strictly."""

import re
import socket
import time
from dataclasses import dataclass, field

from license_client import Answer

TIMEOUT_SECONDS = 60.0
STATUS_LINE = re.compile(rb"HTTP/1\.1 ([1-5][0-9][0-9]) [\x20-\x7e]*")
FIELD_LINE = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([\x20-\x7e\t]*)")


@dataclass(frozen=True)
class Response:
    status: int
    fields: tuple[tuple[str, str], ...]
    body: bytes

    def field(self, name: str) -> str | None:
        """The field's value. Fails if the field occurs twice."""
        values = [value for key, value in self.fields if key.lower() == name.lower()]
        assert len(values) <= 1, f"{name} occurs {len(values)} times"
        return values[0] if values else None


@dataclass(frozen=True)
class Conversation:
    """All responses, the bytes after them that are no response, and whether the server ended the stream in an orderly
    way."""

    responses: list[Response] = field(default_factory=list)
    rest: bytes = b""
    ended: bool = False

    @property
    def statuses(self) -> list[int]:
        return [response.status for response in self.responses]


def exchange(
    address: tuple[str, int],
    sent: bytes,
    *,
    head_at: tuple[int, ...] = (),
    piece: int | None = None,
    ends: bool = False,
) -> Conversation:
    """Sends the bytes on a new connection, and reads until the server ends the stream.

    `head_at` has the indexes of the responses to HEAD, which have no body even if their fields announce one. `piece` is
    the number of bytes to send at a time. `ends` closes the sending side afterwards.
    """
    with socket.create_connection(address, timeout=TIMEOUT_SECONDS) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            for start in range(0, len(sent), piece or max(1, len(sent))):
                connection.sendall(sent[start : start + (piece or len(sent))])
            if ends:
                connection.shutdown(socket.SHUT_WR)
        except (BrokenPipeError, ConnectionResetError):
            pass  # The answer to what was sent may still be there.
        received, ended = read_all(connection)
    return parse(received, ended, head_at)


def read_all(connection: socket.socket) -> tuple[bytes, bool]:
    """All bytes, and whether an orderly end followed them."""
    received = bytearray()
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while time.monotonic() < deadline:
        try:
            data = connection.recv(65536)
        except (TimeoutError, ConnectionResetError):
            return bytes(received), False
        if not data:
            return bytes(received), True
        received += data
    return bytes(received), False


def parse(received: bytes, ended: bool, head_at: tuple[int, ...] = ()) -> Conversation:
    """Splits a stream into responses. Bytes that are not a well-formed response are kept as the rest."""
    responses: list[Response] = []
    while received:
        head, separator, after = received.partition(b"\r\n\r\n")
        lines = head.split(b"\r\n")
        status = STATUS_LINE.fullmatch(lines[0])
        matches = [FIELD_LINE.fullmatch(line) for line in lines[1:]]
        if not separator or not status or None in matches:
            break
        fields = tuple((match[1].decode(), match[2].decode()) for match in matches if match)
        response = Response(int(status[1]), fields, b"")
        final_count = sum(one.status >= 200 for one in responses)
        length = 0 if response.status < 200 or final_count in head_at else int(response.field("Content-Length") or 0)
        if len(after) < length:
            break
        responses.append(Response(response.status, fields, after[:length]))
        received = after[length:]
    return Conversation(responses, received, ended)


def as_answer(response: Response) -> Answer:
    """The response as the type that the license client returns."""
    return Answer(response.status, response.fields, response.body)

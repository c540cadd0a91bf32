"""An HTTP/2 client that can send any frame over a plain connection.

It uses `hyperframe` and `hpack`, and enforces no rules.
"""

import socket
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest
from hpack import Decoder, Encoder
from hyperframe.frame import (
    DataFrame,
    Frame,
    GoAwayFrame,
    HeadersFrame,
    PingFrame,
    RstStreamFrame,
    SettingsFrame,
)

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
TIMEOUT_SECONDS = 10

NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, FLOW_CONTROL_ERROR, SETTINGS_TIMEOUT, STREAM_CLOSED = range(6)
FRAME_SIZE_ERROR, REFUSED_STREAM, CANCEL, COMPRESSION_ERROR, CONNECT_ERROR, ENHANCE_YOUR_CALM = range(6, 12)


def raw_frame(kind: int, flags: int, stream: int, payload: bytes = b"", length: int | None = None) -> bytes:
    """A frame as bytes, which may break any rule. `length` replaces the length in its header."""
    size = len(payload) if length is None else length
    return size.to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


class ConnectionEnded(Exception):
    """The server has closed the connection."""


@dataclass
class Answer:
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def status(self) -> str:
        return dict(self.headers)[":status"]


@dataclass
class RawConnection:
    """One connection. It keeps the server's frames in the order in which they arrived."""

    address: tuple[str, int]
    encoder: Encoder = field(default_factory=Encoder)
    decoder: Decoder = field(default_factory=Decoder)
    frames: list[Frame] = field(default_factory=list)
    _buffer: bytes = b""

    @classmethod
    def to(cls, url: str) -> "RawConnection":
        parts = urlsplit(url)
        connection = cls((parts.hostname or "", parts.port or 0))
        connection.socket = socket.create_connection(connection.address, timeout=TIMEOUT_SECONDS)
        connection.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def close(self) -> None:
        self.socket.close()

    # --- Sending -----------------------------------------------------------------------------------------------------

    def start(self, settings: dict[int, int] | None = None) -> None:
        """Exchanges the preface, the SETTINGS of both sides and their acknowledgements."""
        self.send_bytes(PREFACE)
        self.send(SettingsFrame(0, settings=settings or {}))
        self.receive_until(lambda frame: isinstance(frame, SettingsFrame) and "ACK" not in frame.flags)
        self.send(SettingsFrame(0, flags=["ACK"]))
        self.receive_until(lambda frame: isinstance(frame, SettingsFrame) and "ACK" in frame.flags)

    def send_bytes(self, data: bytes) -> None:
        try:
            self.socket.sendall(data)
        except OSError:
            # The server may have closed the connection already. The next read will show that.
            pass

    def send(self, *frames: Frame) -> None:
        self.send_bytes(b"".join(frame.serialize() for frame in frames))

    def request(
        self,
        stream: int,
        headers: list[tuple[str, str]] | None = None,
        *,
        block: bytes | None = None,
        flags: tuple[str, ...] = ("END_STREAM", "END_HEADERS"),
    ) -> None:
        if block is None:
            block = self.encoder.encode(headers if headers is not None else self.fields())
        self.send(HeadersFrame(stream, data=block, flags=list(flags)))

    def fields(self, method: str = "GET", path: str = "/livez", **more: str) -> list[tuple[str, str]]:
        basic = [(":method", method), (":scheme", "http"), (":path", path), (":authority", "localhost")]
        return basic + [(name.replace("_", "-"), value) for name, value in more.items()]

    # --- Receiving ---------------------------------------------------------------------------------------------------

    def receive(self) -> Frame:
        """The next frame."""
        while True:
            if len(self._buffer) >= 9:
                frame, length = Frame.parse_frame_header(memoryview(self._buffer[:9]))
                if len(self._buffer) >= 9 + length:
                    frame.parse_body(memoryview(self._buffer[9 : 9 + length]))
                    self._buffer = self._buffer[9 + length :]
                    self.frames.append(frame)
                    return frame
            try:
                data = self.socket.recv(65536)
            except ConnectionResetError:
                data = b""
            if not data:
                raise ConnectionEnded
            self._buffer += data

    def receive_until(self, wanted) -> Frame:
        while True:
            frame = self.receive()
            if wanted(frame):
                return frame

    def answer(self, stream: int) -> Answer:
        """Receives the whole response on a stream."""
        headers: list[tuple[str, str]] = []
        body = b""
        while True:
            frame = self.receive()
            if isinstance(frame, HeadersFrame):
                # Every field block must be decoded, to keep the dynamic table in step.
                decoded = self.decoder.decode(frame.data)
                if frame.stream_id == stream and ("status", "100") not in decoded:
                    headers = decoded
            if isinstance(frame, DataFrame) and frame.stream_id == stream:
                body += frame.data
            if isinstance(frame, RstStreamFrame) and frame.stream_id == stream:
                raise AssertionError(f"stream {stream} was reset with {frame.error_code}")
            if isinstance(frame, GoAwayFrame) and frame.error_code != NO_ERROR:
                raise AssertionError(f"the connection ended with {frame.error_code}")
            if frame.stream_id == stream and "END_STREAM" in frame.flags:
                return Answer(headers, body)

    # --- Expecting ---------------------------------------------------------------------------------------------------

    def expect_connection_error(self, *codes: int) -> None:
        """Expects GOAWAY with one of these codes, then the end of the connection, and no response before."""
        frame = self.receive_until(lambda frame: isinstance(frame, GoAwayFrame))
        assert frame.error_code in codes, f"GOAWAY with {frame.error_code}"
        self.expect_end()

    def expect_stream_error(self, stream: int, *codes: int) -> None:
        """Expects RST_STREAM with one of these codes. An error of the whole connection is stricter and passes too."""
        frame = self.receive_until(
            lambda frame: isinstance(frame, GoAwayFrame)
            or (isinstance(frame, RstStreamFrame) and frame.stream_id == stream)
        )
        assert frame.error_code in codes, f"{type(frame).__name__} with {frame.error_code}"
        if isinstance(frame, GoAwayFrame):
            self.expect_end()
        else:
            self.expect_alive()

    def expect_end(self) -> None:
        with pytest.raises(ConnectionEnded):
            while True:
                self.receive()

    def expect_alive(self) -> None:
        """Expects that the connection still answers a PING."""
        data = b"is alive"
        self.send(PingFrame(0, opaque_data=data))
        self.receive_until(
            lambda frame: isinstance(frame, PingFrame) and "ACK" in frame.flags and frame.opaque_data == data
        )
        assert not any(isinstance(frame, GoAwayFrame) for frame in self.frames)

    def expect_ok(self, stream: int) -> Answer:
        answer = self.answer(stream)
        assert answer.status == "200", answer
        return answer

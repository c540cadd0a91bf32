"""Clients that make a server hold memory and places and give nothing for it; a program of its own.

    python resource_clients.py silent|tls|heads|bodies|readers|abort HOST PORT COUNT SECONDS [ADDRESSES]

`silent` sends nothing. `tls` sends half of a ClientHello. `heads` has 100 HTTP/2 requests on each connection, whose heads are 17 bytes on
the wire and 16 KiB decoded, and whose bodies never come. `bodies` has 16 HTTP/2 requests on each, of whose bodies the last byte is
missing. `readers` ask for much over HTTP/1.1 and read nothing. `abort` connects, sends half of a ClientHello and resets, again and again,
COUNT times a second.

The clients come from so many loopback addresses, 127.0.0.2 and following ones. Prints one line when they are there, and at the end one of
JSON: how many were opened, how many the server ended, and how many bytes were sent. Nothing is tried again.
"""

import json
import resource
import select
import socket
import struct
import sys
import time

from hpack import Encoder

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS, SETTINGS_ACKNOWLEDGEMENT = b"\0\0\0\4\0\0\0\0\0", b"\0\0\0\4\1\0\0\0\0"
DATA, HEADERS, END_HEADERS = 0, 1, 4
STREAMS, BODIES, BODY_SIZE = 100, 16, 65_536
HELLO = bytes.fromhex("16030100c8010000c40303") + b"\x11" * 32
OPENING_SECONDS = 60


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def header_blocks(size: int, count: int) -> tuple[bytes, bytes]:
    """The first block, which puts a long field into the table, and every later one, which names it `count` times."""
    encoder = Encoder()
    request = [(":method", "POST"), (":path", "/fps/license"), (":scheme", "http"), (":authority", "a")]
    # Without a length a body would reserve as much as one may have, and the server would refuse most of the requests.
    length = [("content-length", "1" if count else str(BODY_SIZE))]
    fields = length + [("x-a", "a" * size)] * count
    return encoder.encode(request + fields, huffman=False), encoder.encode(request + fields, huffman=False)


def heads() -> bytes:
    first, later = header_blocks(3900, 4)
    frames = [frame(HEADERS, END_HEADERS, 1 + 2 * index, later if index else first) for index in range(STREAMS)]
    return PREFACE + SETTINGS + SETTINGS_ACKNOWLEDGEMENT + b"".join(frames)


def bodies() -> bytes:
    first, later = header_blocks(0, 0)
    frames = [frame(HEADERS, END_HEADERS, 1 + 2 * index, later if index else first) for index in range(BODIES)]
    piece = b"a" * 16_383
    for index in range(BODIES):
        frames += [frame(DATA, 0, 1 + 2 * index, piece) for _ in range(BODY_SIZE // len(piece))]
    return PREFACE + SETTINGS + SETTINGS_ACKNOWLEDGEMENT + b"".join(frames)


FIRST = {
    "silent": b"",
    "tls": HELLO,
    "heads": heads(),
    "bodies": bodies(),
    "readers": b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n" * 2000,
    "abort": HELLO,
}


def open_one(kind: str, address: tuple[str, int], index: int, addresses: int) -> socket.socket:
    connection = socket.socket()
    connection.settimeout(5)
    if kind == "readers":
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
    connection.bind((f"127.0.{index % addresses // 250}.{2 + index % addresses % 250}", 0))
    connection.connect(address)
    return connection


def send_all(connection: socket.socket, data: bytes) -> int:
    """As much as the server takes at once; the client does not wait for it."""
    connection.settimeout(0.5)
    sent = 0
    try:
        while sent < len(data):
            sent += connection.send(data[sent : sent + 65_536])
    except OSError:
        pass
    return sent


def ended(connections: list[socket.socket]) -> int:
    """How many of them the server has ended."""
    poll = select.poll()
    names = {}
    for connection in connections:
        poll.register(connection, select.POLLRDHUP | select.POLLHUP | select.POLLERR)
        names[connection.fileno()] = connection
    return len(poll.poll(0))


def abort(address: tuple[str, int], rate: int, seconds: float) -> dict[str, int]:
    start, count, failed = time.monotonic(), 0, 0
    print(f"{rate} are there", flush=True)
    while time.monotonic() - start < seconds:
        if count > rate * (time.monotonic() - start):
            time.sleep(0.001)
            continue
        count += 1
        try:
            with open_one("abort", address, count, 16) as connection:
                connection.send(HELLO)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        except OSError:
            failed += 1
    return {"opened": count, "ended": failed, "sent": count * len(HELLO)}


def hold(kind: str, address: tuple[str, int], count: int, seconds: float, addresses: int) -> dict[str, int]:
    connections: list[socket.socket] = []
    sent = failed = 0
    deadline = time.monotonic() + OPENING_SECONDS
    for index in range(count):
        if time.monotonic() > deadline:
            break
        try:
            connection = open_one(kind, address, index, addresses)
        except OSError:
            failed += 1
            continue
        connections.append(connection)
        sent += send_all(connection, FIRST[kind])
    print(f"{len(connections)} are there", flush=True)
    time.sleep(seconds)
    return {"opened": len(connections), "ended": ended(connections) + failed, "sent": sent}


def main() -> None:
    kind, host, port, count, seconds = sys.argv[1:6]
    addresses = int(sys.argv[6]) if len(sys.argv) > 6 else 1
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if kind == "abort":
        tally = abort((host, int(port)), int(count), float(seconds))
    else:
        tally = hold(kind, (host, int(port)), int(count), float(seconds), addresses)
    print(json.dumps(tally), flush=True)


if __name__ == "__main__":
    main()

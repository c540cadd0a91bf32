"""Many clients that waste a server's connections, from several loopback addresses. This is a program.

    python slow_clients.py header|body|read|pipeline HOST PORT COUNT SECONDS [ADDRESSES [TOKEN [SHARE]]]

`read` sends many requests and hardly reads. `pipeline` sends requests without end and reads slowly, so that the server
always has more to answer.

Prints one line when all clients are connected. At the end it prints a line of JSON: how many connections were opened,
and how many the server ended. A client opens a new connection when the server has ended the old one. SHARE is the part
of the opened connections that the server must have ended before the clients leave. They wait for it at most 60 seconds
longer than SECONDS. (slowhttptest does the same, but from only one address.)
"""

import asyncio
import json
import resource
import socket
import sys
import time
from dataclasses import asdict, dataclass, replace

ADDRESSES = 16
RETRY_SECONDS = 0.5
OPENING_SECONDS = 20
WAIT_SECONDS = 60
PIPELINED_COUNT = 2000
REQUEST = b"GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n"


@dataclass(frozen=True)
class Kind:
    """What a client sends first, what it then sends repeatedly, and how much it reads each time."""

    first: bytes
    more: bytes
    read_size: int = 4096
    interval_seconds: float = 0.5
    # If false, any answer of the server means that it is about to end the connection.
    reads_on: bool = False


KINDS = {
    "header": Kind(b"GET /livez HTTP/1.1\r\nHost: a\r\n", b"X-a: b\r\n"),
    "body": Kind(b"POST /fps/license HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n", b"x"),
    "read": Kind(REQUEST * PIPELINED_COUNT, b"", read_size=5, reads_on=True),
    "pipeline": Kind(
        REQUEST * PIPELINED_COUNT, REQUEST * PIPELINED_COUNT, read_size=4096, interval_seconds=0.1, reads_on=True
    ),
}


def with_token(kind: Kind, token: str) -> Kind:
    """The same kind with a token in its requests."""
    if not token:
        return kind
    host = b"Host: a\r\n"
    return replace(kind, first=kind.first.replace(host, host + f"Authorization: Bearer {token}\r\n".encode()))


@dataclass
class Tally:
    opened: int = 0
    ended: int = 0
    failed: int = 0


async def waste(kind: Kind, address: tuple[str, int], source: str, deadline: float, tally: Tally) -> None:
    loop = asyncio.get_running_loop()
    while time.monotonic() < deadline:
        with socket.socket() as connection:
            connection.setblocking(False)
            if kind.reads_on:
                # Small segments keep the server's send buffer small too, so that the server soon has to wait for the
                # client.
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
            try:
                connection.bind((source, 0))
                await loop.sock_connect(connection, address)
            except OSError:
                tally.failed += 1
                await asyncio.sleep(RETRY_SECONDS)
                continue
            tally.opened += 1
            try:
                await keep_busy(connection, kind, deadline)
            except OSError:
                tally.ended += 1


async def keep_busy(connection: socket.socket, kind: Kind, deadline: float) -> None:
    """Runs one client until the deadline. Raises `OSError` if the server ends the connection."""
    _send_some(connection, kind.first)
    while time.monotonic() < deadline:
        await asyncio.sleep(kind.interval_seconds)
        _send_some(connection, kind.more)
        try:
            received = connection.recv(kind.read_size)
        except BlockingIOError:
            continue
        if not received or not kind.reads_on:
            raise ConnectionAbortedError


def _send_some(connection: socket.socket, data: bytes) -> None:
    try:
        connection.send(data)
    except BlockingIOError:
        pass


async def main() -> None:
    kind, host, port, count, seconds = sys.argv[1:6]
    addresses = int(sys.argv[6]) if len(sys.argv) > 6 else ADDRESSES
    token = sys.argv[7] if len(sys.argv) > 7 else ""
    share = float(sys.argv[8]) if len(sys.argv) > 8 else 0
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    tally = Tally()
    opening_deadline = time.monotonic() + OPENING_SECONDS
    deadline = opening_deadline + float(seconds) + WAIT_SECONDS
    behaviour = with_token(KINDS[kind], token)
    sources = (f"127.0.0.{2 + index % addresses}" for index in range(int(count)))
    clients = [
        asyncio.create_task(waste(behaviour, (host, int(port)), source, deadline, tally)) for source in sources
    ]
    while tally.opened < int(count) and time.monotonic() < opening_deadline:
        await asyncio.sleep(0.02)
    # Clients whose connection has ended already count once.
    print(f"{min(tally.opened, int(count))} are there", flush=True)
    await asyncio.sleep(float(seconds))
    while tally.ended < share * tally.opened and time.monotonic() < deadline:
        await asyncio.sleep(0.02)
    for client in clients:
        client.cancel()
    await asyncio.gather(*clients, return_exceptions=True)
    print(json.dumps(asdict(tally)), flush=True)


if __name__ == "__main__":
    asyncio.run(main())

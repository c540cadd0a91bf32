"""Many clients that waste a server's connections, from several addresses of this machine; a program of its own.

    python slow_clients.py header|body|read HOST PORT COUNT SECONDS

Prints one line when all are there, and at the end one of JSON: how many connections were opened, and how many the
server ended. A client whose connection has ended opens the next. (slowhttptest does the same from one address only.)
"""

import asyncio
import json
import socket
import sys
import time
from dataclasses import asdict, dataclass

ADDRESS_COUNT = 16
INTERVAL_SECONDS = 0.5
OPENING_SECONDS = 20
PIPELINED_COUNT = 2000
HEADER = (b"GET /livez HTTP/1.1\r\nHost: a\r\n", b"X-a: b\r\n")
BODY = (b"POST /fps/license HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n", b"x")
READ = (b"GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n" * PIPELINED_COUNT, b"")
KINDS = {"header": HEADER, "body": BODY, "read": READ}


@dataclass
class Tally:
    opened: int = 0
    ended: int = 0
    failed: int = 0


async def waste(kind: str, address: tuple[str, int], index: int, deadline: float, tally: Tally) -> None:
    first, more = KINDS[kind]
    loop = asyncio.get_running_loop()
    while time.monotonic() < deadline:
        with socket.socket() as connection:
            connection.setblocking(False)
            if kind == "read":
                # Small segments keep the server's own buffer small too: it has to wait for its client soon.
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
            try:
                connection.bind((f"127.0.0.{2 + index % ADDRESS_COUNT}", 0))
                await loop.sock_connect(connection, address)
            except OSError:
                tally.failed += 1
                await asyncio.sleep(INTERVAL_SECONDS)
                continue
            tally.opened += 1
            try:
                await keep_busy(connection, kind, first, more, deadline)
            except OSError:
                tally.ended += 1


async def keep_busy(connection: socket.socket, kind: str, first: bytes, more: bytes, deadline: float) -> None:
    """Raises `OSError` when the server has ended the connection."""
    _send_some(connection, first)
    while time.monotonic() < deadline:
        await asyncio.sleep(INTERVAL_SECONDS)
        _send_some(connection, more)
        try:
            received = connection.recv(5 if kind == "read" else 4096)
        except BlockingIOError:
            continue
        if not received or kind != "read":
            raise ConnectionAbortedError


def _send_some(connection: socket.socket, data: bytes) -> None:
    try:
        connection.send(data)
    except BlockingIOError:
        pass


async def main() -> None:
    kind, host, port, count, seconds = sys.argv[1:]
    tally = Tally()
    deadline = time.monotonic() + OPENING_SECONDS + float(seconds)
    clients = [
        asyncio.create_task(waste(kind, (host, int(port)), index, deadline, tally)) for index in range(int(count))
    ]
    while tally.opened < int(count) and time.monotonic() < deadline - float(seconds):
        await asyncio.sleep(0.02)
    print(f"{tally.opened} are there", flush=True)
    await asyncio.sleep(float(seconds))
    for client in clients:
        client.cancel()
    await asyncio.gather(*clients, return_exceptions=True)
    print(json.dumps(asdict(tally)), flush=True)


if __name__ == "__main__":
    asyncio.run(main())

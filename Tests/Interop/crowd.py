"""License requests of many clients at the same time.

Each client opens its connection before the first request is sent.
"""

import asyncio
from urllib.parse import urlsplit

import h11

from license_client import LICENSE_PATH, Answer

ANSWER_SECONDS = 120
CONNECTIONS_AT_A_TIME = 100


def ask_at_once(requests: list[tuple[str, bytes, str]]) -> list[Answer]:
    """Sends all requests, each of (URL of the server, SPC, token), and returns the answers in the same order."""
    return asyncio.run(_ask_all(requests))


async def _ask_all(requests: list[tuple[str, bytes, str]]) -> list[Answer]:
    # At most as many connections as the server's listen backlog holds.
    door = asyncio.Semaphore(CONNECTIONS_AT_A_TIME)
    streams = await asyncio.gather(*(_connect(url, door) for url, _, _ in requests))
    async with asyncio.timeout(ANSWER_SECONDS):
        return await asyncio.gather(*(_ask(stream, *request) for stream, request in zip(streams, requests)))


Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _connect(url: str, door: asyncio.Semaphore) -> Stream:
    parts = urlsplit(url)
    async with door:
        return await asyncio.open_connection(parts.hostname, parts.port)


async def _ask(stream: Stream, url: str, spc: bytes, token: str) -> Answer:
    reader, writer = stream
    connection = h11.Connection(h11.CLIENT)
    fields = [
        ("Host", urlsplit(url).netloc),
        ("Content-Type", "application/octet-stream"),
        ("Content-Length", str(len(spc))),
        ("Authorization", f"Bearer {token}"),
    ]
    request = h11.Request(method="POST", target=LICENSE_PATH, headers=fields)
    for event in (request, h11.Data(data=spc), h11.EndOfMessage()):
        writer.write(connection.send(event) or b"")
    await writer.drain()
    try:
        return await _answer(connection, reader)
    finally:
        writer.close()


async def _answer(connection: h11.Connection, reader: asyncio.StreamReader) -> Answer:
    status, headers, body = 0, (), b""
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(65_536))
        elif isinstance(event, h11.Response):
            status = event.status_code
            headers = tuple((name.decode(), value.decode()) for name, value in event.headers)
        elif isinstance(event, h11.Data):
            body += event.data
        elif isinstance(event, h11.EndOfMessage):
            return Answer(status, headers, bytes(body))

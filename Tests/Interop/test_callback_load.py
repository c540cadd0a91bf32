"""Many decisions at the same time: a stand-in service takes 100 ms for each, and a daemon asks it."""

import asyncio
import json
import secrets
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from deployment import register
from fairplay_device.credentials import read_device_credential
from fairplay_device.spc import SPCOptions, device_for
from license_client import LicenseClient
from license_policy import ContentKey
from own_daemon import running_daemon

DECISION_SECONDS = 0.1
CLIENTS = 96
REQUESTS_PER_CLIENT = 20
# The daemon's default limit of calls at the same time.
CALLS_MAXIMUM = 64
CONTENT = f"crowded-{secrets.token_hex(4)}"
KEY = ContentKey(key_id=uuid.uuid4().bytes, key=secrets.token_bytes(16), iv=secrets.token_bytes(16))
TOKEN_HEADER = "X-Session"


@dataclass
class SlowService:
    """Allows everything after a delay. Counts connections, questions, and the most questions at the same time."""

    port: int = 0
    connections: int = 0
    questions: int = 0
    at_once: int = 0
    most_at_once: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if line)
                question = json.loads(await reader.readexactly(int(fields[b"content-length"])))
                self.questions += 1
                self.at_once += 1
                self.most_at_once = max(self.most_at_once, self.at_once)
                await asyncio.sleep(DECISION_SECONDS)
                self.at_once -= 1
                answer = json.dumps({"messageID": question["messageID"], "version": 1, "isAllowed": True}).encode()
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(answer) + answer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@contextmanager
def slow_service() -> Iterator[SlowService]:
    service, loop, ready = SlowService(), asyncio.new_event_loop(), threading.Event()

    async def start() -> asyncio.Server:
        server = await asyncio.start_server(service.serve, "127.0.0.1", 0, backlog=256)
        service.port = server.sockets[0].getsockname()[1]
        ready.set()
        return server

    def run() -> None:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(start())
        loop.run_forever()

    thread = threading.Thread(target=run)
    thread.start()
    assert ready.wait(10)
    try:
        yield service
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


def test_asks_the_service_about_many_requests_at_once(latchkey_programs: None, tmp_path: Path) -> None:
    with slow_service() as service:

        def prepare(setup: Path) -> None:
            callback = {
                "url": f"http://127.0.0.1:{service.port}/",
                "hosts": ["127.0.0.1"],
                "timeout": "10s",
                "memory": {"allowed": "0s"},
                "rates": {"all": {"perSecond": 100_000}, "perAddress": {"perSecond": 100_000}},
            }
            configuration = setup / "latchkey.json5"
            text = configuration.read_text()
            section = f'tokenHeaders: ["{TOKEN_HEADER}"], callback: {json.dumps(callback)}, issuers: ['
            configuration.write_text(text.replace("issuers: [", section, 1))
            register(setup, CONTENT, KEY)

        with running_daemon(tmp_path, prepare=prepare) as daemon:
            device = device_for(read_device_credential(daemon.setup / "fairplay"), 1)
            message = device.request(SPCOptions(CONTENT.encode())).message
            statuses: list[int] = []

            def ask() -> None:
                client = LicenseClient(daemon.url)
                for _ in range(REQUESTS_PER_CLIENT):
                    token = {TOKEN_HEADER: secrets.token_hex(16)}
                    statuses.append(client.send("POST", "/fps/license", message, token).status)
                client.close()

            threads = [threading.Thread(target=ask) for _ in range(CLIENTS)]
            start = time.monotonic()
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            seconds = time.monotonic() - start

    count = CLIENTS * REQUESTS_PER_CLIENT
    print(
        f"{count} decisions of {DECISION_SECONDS * 1000:.0f} ms in {seconds:.2f} s: {count / seconds:.0f} a second, "
        f"{service.most_at_once} at once over {service.connections} connections"
    )
    assert statuses == [200] * count
    assert service.questions == count
    # Four at a time would be 40 decisions a second.
    assert service.most_at_once == CALLS_MAXIMUM
    assert service.connections <= CALLS_MAXIMUM, "connections are kept"

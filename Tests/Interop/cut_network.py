"""A TCP proxy before PostgreSQL that forwards only the first messages of a decision, and then nothing more."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from loopback_proxy import LoopbackProxy

# Bind of the prepared statement that locks the cells of an action. A decision has several cells, and what follows it
# has one: the note that its ledger entry is written.
LOCK = b"\0lockCells\0"
LOCK_OF_ONE_CELL_SIZE = 300


class CutNetwork(LoopbackProxy):
    """A proxy in front of one server. Its connections are not encrypted.

    After `cut_after(n)`, the next connection that begins a decision forwards n of its messages. It then stays open, but
    forwards nothing in both directions until `close_cut`.
    """

    def __init__(self, host: str, port: int):
        super().__init__(host, port, asyncio.new_event_loop())
        self._messages: int | None = None
        self._writers: list[asyncio.StreamWriter] = []
        self.is_cut = threading.Event()
        # The types of the messages of the decision that were forwarded, for example "BDE".
        self.forwarded = ""

    def cut_after(self, messages: int) -> None:
        self.is_cut.clear()
        self.forwarded = ""
        self._messages = messages

    def close_cut(self) -> None:
        def close() -> None:
            for writer in self._writers:
                writer.close()
            self._writers.clear()

        self._loop.call_soon_threadsafe(close)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        below_reader, below_writer = await asyncio.open_connection(*self._server)
        answers = asyncio.ensure_future(self._pass(below_reader, writer))
        try:
            if await self._pass_messages(reader, below_writer):
                answers.cancel()
                self._writers += [writer, below_writer]
                self.is_cut.set()
                return
        except (OSError, asyncio.IncompleteReadError):
            pass
        below_writer.close()

    async def _pass_messages(self, reader: asyncio.StreamReader, below: asyncio.StreamWriter) -> bool:
        """Forwards messages until the client closes the connection. Returns true if the connection is cut."""
        length = await reader.readexactly(4)
        below.write(length + await reader.readexactly(int.from_bytes(length) - 4))
        left: int | None = None
        while True:
            messages = await self._round_trip(reader)
            bodies = [message[5:] for message in messages]
            if self._messages is not None and any(
                body.startswith(LOCK) and len(body) > LOCK_OF_ONE_CELL_SIZE for body in bodies
            ):
                left, self._messages = self._messages, None
            for message in messages:
                if left == 0:
                    return True
                below.write(message)
                await below.drain()
                if left is not None:
                    self.forwarded += message[:1].decode()
                    left -= 1
            if left == 0:
                return True

    async def _round_trip(self, reader: asyncio.StreamReader) -> list[bytes]:
        """Reads messages up to one that the server answers."""
        messages: list[bytes] = []
        while not messages or messages[-1][:1] not in b"SQpX":
            head = await reader.readexactly(5)
            messages.append(head + await reader.readexactly(int.from_bytes(head[1:]) - 4))
        return messages

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while piece := await reader.read(65_536):
                writer.write(piece)
                await writer.drain()
        except OSError:
            pass
        writer.close()


@contextmanager
def cut_network(host: str, port: int) -> Iterator[CutNetwork]:
    network = CutNetwork(host, port)
    network.start()
    try:
        yield network
    finally:
        network.stop()

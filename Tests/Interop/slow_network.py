"""A TCP proxy that forwards everything with a delay that the test sets."""

import asyncio
import selectors
from collections.abc import Iterator
from contextlib import contextmanager

from loopback_proxy import LoopbackProxy


class SlowNetwork(LoopbackProxy):
    """A proxy in front of one server, which counts connections.

    `round_trip` is in seconds. A new value applies to bytes that are sent afterwards. A `SelectSelector` delays by
    microseconds, but serves few connections; the default one waits for whole milliseconds.
    """

    def __init__(self, host: str, port: int, selector: selectors.BaseSelector | None = None):
        super().__init__(host, port, asyncio.SelectorEventLoop(selector))
        self.round_trip = 0.0
        self.connections = 0

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            below_reader, below_writer = await asyncio.open_connection(*self._server)
        except OSError:
            writer.close()
            return
        try:
            await asyncio.gather(self._pass(reader, below_writer), self._pass(below_reader, writer))
        except asyncio.CancelledError:
            # The network stops. asyncio would print a traceback.
            pass

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Forwards each piece half a round trip after it arrived, in the order of arrival."""
        pieces: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

        async def send() -> None:
            while True:
                due, piece = await pieces.get()
                await asyncio.sleep(max(0.0, due - self._loop.time()))
                if not piece:
                    writer.close()
                    return
                writer.write(piece)
                await writer.drain()

        sender = asyncio.ensure_future(send())
        try:
            while piece := await reader.read(65_536):
                pieces.put_nowait((self._loop.time() + self.round_trip / 2, piece))
        except OSError:
            pass
        pieces.put_nowait((self._loop.time(), b""))
        try:
            await sender
        except OSError:
            pass


@contextmanager
def slow_network(
    host: str, port: int, selector: selectors.BaseSelector | None = None
) -> Iterator[SlowNetwork]:
    network = SlowNetwork(host, port, selector)
    network.start()
    try:
        yield network
    finally:
        network.stop()

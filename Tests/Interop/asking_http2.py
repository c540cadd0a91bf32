"""An HTTP/2 client for many requests at a time, which can cancel some of them."""

import asyncio
import ssl

import h2.config
import h2.connection
import h2.events

READ_SIZE = 65536


class HTTP2Client:
    """One HTTP/2 connection, which any number of tasks may use at the same time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, is_over_tls: bool) -> None:
        self._reader, self._writer = reader, writer
        self._scheme = "https" if is_over_tls else "http"
        self._connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
        self._statuses: dict[int, asyncio.Future[int]] = {}
        self._found: dict[int, int] = {}
        self._connection.initiate_connection()
        self._flush()
        self._task = asyncio.create_task(self._read())

    @classmethod
    async def connect(cls, address: tuple[str, int], over_tls: bool, source: str = "127.0.0.1") -> "HTTP2Client":
        """Opens a connection. Over TLS, ALPN chooses the protocol, and the client does not check the certificate."""
        context = None
        if over_tls:
            context = ssl._create_unverified_context()
            context.set_alpn_protocols(["h2"])
        reader, writer = await asyncio.open_connection(*address, ssl=context, local_addr=(source, 0))
        if over_tls:
            assert writer.get_extra_info("ssl_object").selected_alpn_protocol() == "h2"
        return cls(reader, writer, over_tls)

    async def ask(
        self, method: str, path: str, fields: dict[str, str] | None = None, body: bytes = b""
    ) -> int:
        """The status."""
        stream = self._begin(method, path, fields or {}, ends=not body)
        self._statuses[stream] = answer = asyncio.get_running_loop().create_future()
        if body:
            self._connection.send_data(stream, body, end_stream=True)
        self._flush()
        return await answer

    async def cancel(self, path: str, body: bytes, after_seconds: float) -> None:
        """Sends a part of a request's body, and cancels the request after some seconds."""
        stream = self._begin("POST", path, {"content-length": "9000"}, ends=False)
        self._connection.send_data(stream, body)
        self._flush()
        await asyncio.sleep(after_seconds)
        self._connection.reset_stream(stream, error_code=8)
        self._flush()

    async def close(self) -> None:
        self._task.cancel()
        self._writer.transport.abort()

    def _begin(self, method: str, path: str, fields: dict[str, str], *, ends: bool) -> int:
        stream = self._connection.get_next_available_stream_id()
        head = {":method": method, ":scheme": self._scheme, ":authority": "a", ":path": path} | fields
        self._connection.send_headers(stream, list(head.items()), end_stream=ends)
        return stream

    def _flush(self) -> None:
        self._writer.write(self._connection.data_to_send())

    async def _read(self) -> None:
        try:
            while data := await self._reader.read(READ_SIZE):
                for event in self._connection.receive_data(data):
                    self._take(event)
                self._flush()
            raise ConnectionError("the server has ended the connection")
        except (OSError, h2.exceptions.ProtocolError) as error:
            for answer in self._statuses.values():
                if not answer.done():
                    answer.set_exception(error)

    def _take(self, event: h2.events.Event) -> None:
        match event:
            case h2.events.ResponseReceived():
                self._found[event.stream_id] = int(dict(event.headers)[b":status"])
            case h2.events.DataReceived():
                self._connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            case h2.events.StreamEnded() if event.stream_id in self._statuses:
                self._statuses.pop(event.stream_id).set_result(self._found.pop(event.stream_id))
            case h2.events.StreamReset() if event.stream_id in self._statuses:
                self._statuses.pop(event.stream_id).set_exception(ConnectionError(f"reset: {event.error_code}"))
            case h2.events.ConnectionTerminated():
                raise ConnectionError(f"GOAWAY: {event.error_code}")

"""HTTP/2 with raw frames against a running daemon: RFC 9113 section by section, and floods.

The cases are the 146 cases of h2spec 2.6 (MIT license), which names them after the sections of RFC 7540 and RFC 7541.
Each is written again here, with what it sends and what it expects. Sections 8.1.2.x of RFC 7540 became RFC 9113,
sections 8.2 and 8.3.
"""

import os
import subprocess
import time
from collections.abc import Callable, Iterator

import httpx
import pytest
from hyperframe.frame import (
    ContinuationFrame,
    DataFrame,
    GoAwayFrame,
    HeadersFrame,
    PingFrame,
    PriorityFrame,
    RstStreamFrame,
    SettingsFrame,
    WindowUpdateFrame,
)

from deployment import Deployment
from fairplay_device.spc import SPCOptions, device_for
from license_client import LICENSE_PATH, Answer
from raw_http2 import (
    CANCEL,
    COMPRESSION_ERROR,
    ENHANCE_YOUR_CALM,
    FLOW_CONTROL_ERROR,
    FRAME_SIZE_ERROR,
    NO_ERROR,
    PREFACE,
    PROTOCOL_ERROR,
    REFUSED_STREAM,
    STREAM_CLOSED,
    ConnectionEnded,
    RawConnection,
    raw_frame,
)

HEADER_TABLE_SIZE, ENABLE_PUSH, MAX_CONCURRENT_STREAMS, INITIAL_WINDOW_SIZE, MAX_FRAME_SIZE = range(1, 6)
OPEN = ("END_HEADERS",)
MAX_WINDOW = 2**31 - 1

Case = Callable[[RawConnection], None]
CASES: dict[str, Case] = {}

# The cases that are not run, each with its reason.
SKIPPED = {
    "http2/5.3.1/2": "RFC 9113 section 5.3 has taken priorities back; we announce SETTINGS_NO_RFC7540_PRIORITIES and ignore PRIORITY",
}


@pytest.fixture(scope="session")
def url() -> str:
    url = os.environ.get("LATCHKEY_URL")
    if not url:
        pytest.skip("LATCHKEY_URL names no running daemon; Scripts/test-interop starts one")
    return url


@pytest.fixture
def raw(url: str) -> Iterator[RawConnection]:
    connection = RawConnection.to(url)
    yield connection
    connection.close()


def case(name: str) -> Callable[[Case], Case]:
    def add(function: Case) -> Case:
        assert name not in CASES
        CASES[name] = function
        return function

    return add


def started(connection: RawConnection, settings: dict[int, int] | None = None) -> RawConnection:
    connection.start(settings)
    return connection


def cases(section: str, *functions: Case) -> None:
    """Registers the cases of one section, numbered from 1."""
    for number, function in enumerate(functions, 1):
        case(f"{section}/{number}")(function)


def sending(
    *frames: bytes, connection_error: tuple[int, ...] = (), stream_error: tuple[int, ...] = (), stream: int = 1
) -> Case:
    """A case that sends these bytes after the connection's start, and expects this error, or none."""

    def run(c: RawConnection) -> None:
        started(c).send_bytes(b"".join(frames))
        if connection_error:
            c.expect_connection_error(*connection_error)
        elif stream_error:
            c.expect_stream_error(stream, *stream_error)
        else:
            c.expect_alive()

    return run


# --- Generic: what must work -----------------------------------------------------------------------------------------


@case("generic/1/1")
def preface_is_answered_with_settings(c: RawConnection) -> None:
    c.send_bytes(PREFACE)
    c.send(SettingsFrame(0))
    assert isinstance(c.receive(), SettingsFrame)


def request_then(*frames) -> Case:
    """A case with frames on a stream that is half-closed (remote), which must not disturb the response."""

    def run(c: RawConnection) -> None:
        started(c).request(1)
        c.send(*frames)
        c.expect_ok(1)
        c.expect_alive()

    return run


def reset_of_a_half_closed_stream(c: RawConnection) -> None:
    started(c).request(1)
    c.send(RstStreamFrame(1, error_code=CANCEL))
    c.expect_alive()


def priority_on_a_closed_stream(c: RawConnection) -> None:
    started(c).request(1)
    c.expect_ok(1)
    c.send(PriorityFrame(1, stream_weight=255))
    c.expect_alive()


cases(
    "generic/2",
    sending(PriorityFrame(1, stream_weight=255).serialize()),
    request_then(WindowUpdateFrame(1, window_increment=100)),
    request_then(PriorityFrame(1, stream_weight=255)),
    reset_of_a_half_closed_stream,
    priority_on_a_closed_stream,
)


def posting(*frames, path: str = "/nowhere", status: str = "404", **fields: str) -> Case:
    def run(c: RawConnection) -> None:
        started(c).request(1, c.fields("POST", path, **fields), flags=OPEN)
        c.send(*frames)
        assert c.answer(1).status == status

    return run


cases(
    "generic/3.1",
    posting(DataFrame(1, b"test", flags=["END_STREAM"])),
    posting(DataFrame(1, b"test"), DataFrame(1, b"test", flags=["END_STREAM"])),
    posting(DataFrame(1, b"test", pad_length=10, flags=["PADDED", "END_STREAM"])),
)


def get_with(**options) -> Case:
    def run(c: RawConnection) -> None:
        started(c)
        flags = ["END_STREAM", "END_HEADERS"] + options.pop("more_flags", [])
        c.send(HeadersFrame(1, data=c.encoder.encode(c.fields()), flags=flags, **options))
        c.expect_ok(1)

    return run


cases(
    "generic/3.2",
    get_with(),
    get_with(pad_length=10, more_flags=["PADDED"]),
    get_with(depends_on=0, stream_weight=255, more_flags=["PRIORITY"]),
)


def priority(**options) -> Case:
    def run(c: RawConnection) -> None:
        started(c).send(PriorityFrame(1, **options))
        c.request(1)
        c.expect_ok(1)

    return run


def priority_of_an_idle_stream_and_a_lower_request(c: RawConnection) -> None:
    started(c).send(PriorityFrame(3, stream_weight=255))
    c.request(1)
    c.expect_ok(1)


cases(
    "generic/3.3",
    priority(stream_weight=0),
    priority(stream_weight=255),
    priority(depends_on=3, stream_weight=255),
    priority(depends_on=3, stream_weight=255, exclusive=True),
    priority_of_an_idle_stream_and_a_lower_request,
)


@case("generic/3.4/1")
def reset_of_an_open_stream(c: RawConnection) -> None:
    started(c).request(1, flags=OPEN)
    c.send(RstStreamFrame(1, error_code=CANCEL))
    c.expect_alive()


@case("generic/3.5/1")
def settings_are_acknowledged(c: RawConnection) -> None:
    started(c).send(SettingsFrame(0, settings={MAX_CONCURRENT_STREAMS: 100}))
    assert "ACK" in c.receive_until(lambda frame: isinstance(frame, SettingsFrame)).flags


@case("generic/3.7/1")
def a_ping_is_answered(c: RawConnection) -> None:
    started(c).send(PingFrame(0, opaque_data=b"h2spec!!"))
    frame = c.receive_until(lambda frame: isinstance(frame, PingFrame))
    assert "ACK" in frame.flags and frame.opaque_data == b"h2spec!!"


@case("generic/3.8/1")
def a_goaway_ends_the_connection(c: RawConnection) -> None:
    started(c).send(GoAwayFrame(0, last_stream_id=0, error_code=NO_ERROR))
    c.expect_end()


@case("generic/3.9/1")
def a_window_of_the_connection_is_taken(c: RawConnection) -> None:
    started(c).send(WindowUpdateFrame(0, window_increment=1))
    c.request(1)
    c.expect_ok(1)


@case("generic/3.9/2")
def a_window_of_a_stream_opens_it(c: RawConnection) -> None:
    started(c, {INITIAL_WINDOW_SIZE: 0}).request(1)
    c.receive_until(lambda frame: isinstance(frame, HeadersFrame))
    c.send(WindowUpdateFrame(1, window_increment=1000))
    assert "END_STREAM" in c.receive_until(lambda frame: isinstance(frame, DataFrame)).flags


def continued(pieces: int) -> Case:
    def run(c: RawConnection) -> None:
        block = started(c).encoder.encode(c.fields() + [("x-dummy", "y" * 100)])
        size = len(block) // (pieces + 1) + 1
        parts = [block[start : start + size] for start in range(0, len(block), size)]
        c.request(1, block=parts[0], flags=("END_STREAM",))
        for part in parts[1:-1]:
            c.send(ContinuationFrame(1, part))
        c.send(ContinuationFrame(1, parts[-1], flags=["END_HEADERS"]))
        c.expect_ok(1)

    return run


cases("generic/3.10", continued(1), continued(3))


@case("generic/4/1")
def get_request(c: RawConnection) -> None:
    started(c).request(1)
    assert c.expect_ok(1).body == b"ok\n"


@case("generic/4/2")
def head_request(c: RawConnection) -> None:
    started(c).request(1, c.fields("HEAD"))
    answer = c.expect_ok(1)
    assert answer.body == b"" and dict(answer.headers)["content-length"] == "3"


case("generic/4/3")(posting(DataFrame(1, b"test", flags=["END_STREAM"]), content_length="4"))


@case("generic/4/4")
def post_with_trailers(c: RawConnection) -> None:
    started(c).request(1, c.fields("POST", "/nowhere", trailer="x-test"), flags=OPEN)
    c.send(DataFrame(1, b"test"))
    c.request(1, [("x-test", "ok")])
    assert c.answer(1).status == "404"


# Field lines from RFC 7541, section 6. The daemon answers the request in the same way without them.
USER_AGENT, SHORT, HUFFMAN_SHORT = b"\x7a", b"\x04test", b"\x83\x49\x50\x9f"
FIELD_LINES = [
    b"\x90",  # accept-encoding: gzip, deflate, from the static table
    b"\x7a\x04test",
    b"\x7a\x83\x49\x50\x9f",
    b"\x40\x04test\x04test",
    b"\x40\x83\x49\x50\x9f\x83\x49\x50\x9f",
    b"\x0f\x2b\x04test",
    b"\x0f\x2b\x83\x49\x50\x9f",
    b"\x00\x04test\x04test",
    b"\x00\x83\x49\x50\x9f\x83\x49\x50\x9f",
    b"\x1f\x2b\x04test",
    b"\x1f\x2b\x83\x49\x50\x9f",
    b"\x10\x04test\x04test",
    b"\x10\x83\x49\x50\x9f\x83\x49\x50\x9f",
]
SIZE_UPDATES = [b"\x20", b"\x20\x3f\xe1\x1f"]


def with_block(prefix: bytes = b"", suffix: bytes = b"") -> Case:
    def run(c: RawConnection) -> None:
        started(c).request(1, block=prefix + c.encoder.encode(c.fields()) + suffix)
        c.expect_ok(1)

    return run


cases(
    "generic/5",
    *(with_block(suffix=line) for line in FIELD_LINES),
    *(with_block(prefix=update) for update in SIZE_UPDATES),
)


# --- HPACK (RFC 7541): what must fail --------------------------------------------------------------------------------


def with_bad_block(line: bytes) -> Case:
    def run(c: RawConnection) -> None:
        started(c).request(1, block=c.encoder.encode(c.fields()) + line)
        c.expect_connection_error(COMPRESSION_ERROR)

    return run


cases("hpack/2.3.3", with_bad_block(b"\xff\x80\x01"), with_bad_block(b"\x7f\x81\x01\x04test"))
cases("hpack/4.2", with_bad_block(b"\x20"))
cases(
    "hpack/5.2",
    with_bad_block(b"\x00\x85\xf2\xb2\x4a\x84\xff\x84\x49\x50\x9f\xff"),
    with_bad_block(b"\x00\x85\xf2\xb2\x4a\x84\xff\x83\x49\x50\x90"),
    with_bad_block(b"\x00\x85\xf2\xb2\x4a\x84\xff\x87\x49\x51\x0f\xff\xff\xff\xff"),
)
cases("hpack/6.1", with_bad_block(b"\x80"))


@case("hpack/6.3/1")
def a_table_larger_than_allowed(c: RawConnection) -> None:
    started(c).request(1, block=b"\x3f\xe2\x1f" + c.encoder.encode(c.fields()))
    c.expect_connection_error(COMPRESSION_ERROR)


# --- HTTP/2: beginning and frames ------------------------------------------------------------------------------------


@case("http2/3.5/1")
def client_preface(c: RawConnection) -> None:
    started(c).expect_alive()


@case("http2/3.5/2")
def wrong_preface(c: RawConnection) -> None:
    # These bytes cannot become the preface, so the daemon reads them as an HTTP/1.1 request with an unknown version.
    c.send_bytes(b"INVALID CONNECTION PREFACE\r\n\r\n")
    # The client reads the answer as the start of a frame that never ends.
    c.expect_end()
    assert c._buffer.startswith(b"HTTP/1.1 400 "), c._buffer


@case("http2/4.1/1")
def unknown_frame(c: RawConnection) -> None:
    sending(raw_frame(0xFF, 0, 0, b"\0" * 8))(c)


@case("http2/4.1/2")
def undefined_flags(c: RawConnection) -> None:
    started(c).send_bytes(raw_frame(6, 0x16, 0, b"\0" * 8))
    assert "ACK" in c.receive_until(lambda frame: isinstance(frame, PingFrame)).flags


@case("http2/4.1/3")
def reserved_bit(c: RawConnection) -> None:
    started(c).send_bytes(raw_frame(6, 0, 1 << 31, b"\0" * 8))
    assert "ACK" in c.receive_until(lambda frame: isinstance(frame, PingFrame)).flags


case("http2/4.2/1")(posting(DataFrame(1, b"x" * 16384, flags=["END_STREAM"])))


@case("http2/4.2/2")
def data_that_is_too_large(c: RawConnection) -> None:
    started(c).request(1, c.fields("POST", "/nowhere"), flags=OPEN)
    c.send_bytes(raw_frame(0, 1, 1, b"x" * 16385))
    c.expect_stream_error(1, FRAME_SIZE_ERROR)


@case("http2/4.2/3")
def headers_that_are_too_large(c: RawConnection) -> None:
    block = started(c).encoder.encode(c.fields()) + b"\x00\x01x\x7f" + bytes([0x81, 0x80, 0x01]) + b"y" * 16384
    c.send_bytes(raw_frame(1, 5, 1, block))
    c.expect_connection_error(FRAME_SIZE_ERROR)


def interrupted(frame: Callable[[RawConnection], bytes]) -> Case:
    """A case with another frame inside a header block."""

    def run(c: RawConnection) -> None:
        started(c).request(1, flags=("END_STREAM",))
        c.send_bytes(frame(c))
        c.expect_connection_error(PROTOCOL_ERROR)

    return run


def another_request(c: RawConnection) -> bytes:
    return HeadersFrame(3, data=c.encoder.encode(c.fields()), flags=["END_STREAM", "END_HEADERS"]).serialize()


PRIORITY_ON_1 = PriorityFrame(1, stream_weight=255).serialize()

cases(
    "http2/4.3",
    sending(HeadersFrame(1, data=b"\x82\x40", flags=["END_STREAM", "END_HEADERS"]).serialize(),
            connection_error=(COMPRESSION_ERROR,)),
    interrupted(lambda c: PRIORITY_ON_1),
    interrupted(another_request),
)

# --- HTTP/2: streams -------------------------------------------------------------------------------------------------


def after(prepare: Callable[[RawConnection], None], frame: Callable[[RawConnection], bytes], *codes: int) -> Case:
    def run(c: RawConnection) -> None:
        prepare(started(c))
        c.send_bytes(frame(c))
        c.expect_stream_error(1, *codes)

    return run


def half_closed(c: RawConnection) -> None:
    # With no flow-control window, the stream stays half-closed.
    c.send(SettingsFrame(0, settings={INITIAL_WINDOW_SIZE: 0}))
    c.request(1)


def reset(c: RawConnection) -> None:
    c.request(1, c.fields("POST"), flags=OPEN)
    c.send(RstStreamFrame(1, error_code=CANCEL))


def closed(c: RawConnection) -> None:
    c.request(1)
    c.expect_ok(1)


def data(c: RawConnection) -> bytes:
    return DataFrame(1, b"test", flags=["END_STREAM"]).serialize()


def headers(c: RawConnection) -> bytes:
    return HeadersFrame(1, data=c.encoder.encode(c.fields()), flags=["END_STREAM", "END_HEADERS"]).serialize()


def continuation(c: RawConnection) -> bytes:
    return ContinuationFrame(1, c.encoder.encode([("x", "y")]), flags=["END_HEADERS"]).serialize()


cases(
    "http2/5.1",
    sending(DataFrame(1, b"test", flags=["END_STREAM"]).serialize(), connection_error=(PROTOCOL_ERROR,)),
    sending(RstStreamFrame(1, error_code=CANCEL).serialize(), connection_error=(PROTOCOL_ERROR,)),
    sending(WindowUpdateFrame(1, window_increment=100).serialize(), connection_error=(PROTOCOL_ERROR,)),
    sending(ContinuationFrame(1, b"\x82", flags=["END_HEADERS"]).serialize(), connection_error=(PROTOCOL_ERROR,)),
    after(half_closed, data, STREAM_CLOSED),
    after(half_closed, headers, STREAM_CLOSED),
    after(half_closed, continuation, STREAM_CLOSED, PROTOCOL_ERROR),
    after(reset, data, STREAM_CLOSED),
    after(reset, headers, STREAM_CLOSED),
    after(reset, continuation, STREAM_CLOSED, PROTOCOL_ERROR),
    after(closed, data, STREAM_CLOSED),
    after(closed, headers, STREAM_CLOSED),
    after(closed, continuation, STREAM_CLOSED, PROTOCOL_ERROR),
)


@case("http2/5.1.1/1")
def even_stream(c: RawConnection) -> None:
    started(c).request(2)
    c.expect_connection_error(PROTOCOL_ERROR)


@case("http2/5.1.1/2")
def lower_stream(c: RawConnection) -> None:
    started(c).request(5)
    c.expect_ok(5)
    c.request(3)
    c.expect_connection_error(PROTOCOL_ERROR)


@case("http2/5.1.2/1")
def more_streams_than_allowed(c: RawConnection) -> None:
    started(c, {INITIAL_WINDOW_SIZE: 0})
    announced = next(frame for frame in c.frames if isinstance(frame, SettingsFrame))
    count = announced.settings[MAX_CONCURRENT_STREAMS]
    for number in range(count + 1):
        c.request(2 * number + 1)
    c.expect_stream_error(2 * count + 1, PROTOCOL_ERROR, REFUSED_STREAM)


@case("http2/5.3.1/1")
def headers_that_depend_on_themselves(c: RawConnection) -> None:
    started(c)
    c.send(
        HeadersFrame(
            1, data=c.encoder.encode(c.fields()), depends_on=1, stream_weight=255,
            flags=["END_STREAM", "END_HEADERS", "PRIORITY"],
        )
    )
    c.expect_stream_error(1, PROTOCOL_ERROR)


case("http2/5.3.1/2")(
    sending(raw_frame(2, 0, 2, b"\0\0\0\2\xff"), stream_error=(PROTOCOL_ERROR,), stream=2))
cases(
    "http2/5.4.1",
    sending(raw_frame(6, 0, 3, b"\0" * 8), connection_error=(PROTOCOL_ERROR,)),
    sending(raw_frame(6, 0, 3, b"\0" * 8), connection_error=(PROTOCOL_ERROR,)),
)
cases("http2/5.5", sending(raw_frame(0xFF, 0, 0, b"\0" * 8)), interrupted(lambda c: raw_frame(0xFF, 0, 0, b"\0" * 8)))

# --- HTTP/2: each frame ----------------------------------------------------------------------------------------------


def data_after_the_end(c: RawConnection) -> None:
    half_closed(started(c))
    c.send_bytes(data(c))
    c.expect_stream_error(1, STREAM_CLOSED)


def data_with_more_padding_than_payload(c: RawConnection) -> None:
    started(c).request(1, c.fields("POST", "/nowhere"), flags=OPEN)
    c.send_bytes(raw_frame(0, 0x9, 1, b"\x06test"))
    c.expect_connection_error(PROTOCOL_ERROR)


cases(
    "http2/6.1",
    sending(raw_frame(0, 1, 0, b"test"), connection_error=(PROTOCOL_ERROR,)),
    data_after_the_end,
    data_with_more_padding_than_payload,
)


def headers_with_more_padding_than_payload(c: RawConnection) -> None:
    block = started(c).encoder.encode(c.fields())
    c.send_bytes(raw_frame(1, 0xD, 1, bytes([len(block) + 1]) + block))
    c.expect_connection_error(PROTOCOL_ERROR)


cases(
    "http2/6.2",
    interrupted(lambda c: PRIORITY_ON_1),
    interrupted(another_request),
    sending(raw_frame(1, 5, 0, b"\x82\x86\x84\x41\x01h"), connection_error=(PROTOCOL_ERROR,)),
    headers_with_more_padding_than_payload,
)


def short_priority(c: RawConnection) -> None:
    started(c).request(1, c.fields("POST"), flags=OPEN)
    c.send_bytes(raw_frame(2, 0, 1, b"\x80\0\0\1"))
    c.expect_stream_error(1, FRAME_SIZE_ERROR)


cases("http2/6.3", sending(raw_frame(2, 0, 0, b"\0\0\0\0\xff"), connection_error=(PROTOCOL_ERROR,)), short_priority)


def short_reset(c: RawConnection) -> None:
    started(c).request(1, c.fields("POST"), flags=OPEN)
    c.send_bytes(raw_frame(3, 0, 1, b"\0\0\0"))
    c.expect_connection_error(FRAME_SIZE_ERROR)


cases(
    "http2/6.4",
    sending(raw_frame(3, 0, 0, b"\0\0\0\x08"), connection_error=(PROTOCOL_ERROR,)),
    sending(raw_frame(3, 0, 1, b"\0\0\0\x08"), connection_error=(PROTOCOL_ERROR,)),
    short_reset,
)
cases(
    "http2/6.5",
    sending(raw_frame(4, 1, 0, b"\0" * 6), connection_error=(FRAME_SIZE_ERROR,)),
    sending(raw_frame(4, 0, 1, b"\0\3\0\0\0\x64"), connection_error=(PROTOCOL_ERROR,)),
    sending(raw_frame(4, 0, 0, b"\0\3\0"), connection_error=(FRAME_SIZE_ERROR,)),
)


def setting(identifier: int, value: int) -> bytes:
    return raw_frame(4, 0, 0, identifier.to_bytes(2, "big") + value.to_bytes(4, "big"))


cases(
    "http2/6.5.2",
    sending(setting(ENABLE_PUSH, 2), connection_error=(PROTOCOL_ERROR,)),
    sending(setting(INITIAL_WINDOW_SIZE, 2**31), connection_error=(FLOW_CONTROL_ERROR,)),
    sending(setting(MAX_FRAME_SIZE, 2**14 - 1), connection_error=(PROTOCOL_ERROR,)),
    sending(setting(MAX_FRAME_SIZE, 2**24), connection_error=(PROTOCOL_ERROR,)),
    sending(setting(0xFF, 1)),
)


def the_last_value_of_a_setting_holds(c: RawConnection) -> None:
    started(c, {INITIAL_WINDOW_SIZE: 100})
    c.send_bytes(raw_frame(4, 0, 0, b"\0\4\0\0\0\x64\0\4\0\0\0\1"))
    c.request(1)
    assert len(c.receive_until(lambda frame: isinstance(frame, DataFrame)).data) == 1


cases("http2/6.5.3", the_last_value_of_a_setting_holds, settings_are_acknowledged)


def an_acknowledgement_is_not_answered(c: RawConnection) -> None:
    started(c).send(PingFrame(0, opaque_data=b"unwanted", flags=["ACK"]))
    c.expect_alive()
    assert [frame.opaque_data for frame in c.frames if isinstance(frame, PingFrame)] == [b"is alive"]


cases(
    "http2/6.7",
    a_ping_is_answered,
    an_acknowledgement_is_not_answered,
    sending(raw_frame(6, 0, 1, b"\0" * 8), connection_error=(PROTOCOL_ERROR,)),
    sending(raw_frame(6, 0, 0, b"\0" * 6), connection_error=(FRAME_SIZE_ERROR,)),
)
cases("http2/6.8", sending(raw_frame(7, 0, 1, b"\0" * 8), connection_error=(PROTOCOL_ERROR,)))


def no_increment_of_a_stream(c: RawConnection) -> None:
    started(c).request(1, c.fields("POST"), flags=OPEN)
    c.send_bytes(raw_frame(8, 0, 1, b"\0\0\0\0"))
    c.expect_stream_error(1, PROTOCOL_ERROR)


cases(
    "http2/6.9",
    sending(raw_frame(8, 0, 0, b"\0\0\0\0"), connection_error=(PROTOCOL_ERROR,)),
    no_increment_of_a_stream,
    sending(raw_frame(8, 0, 0, b"\0\0\1"), connection_error=(FRAME_SIZE_ERROR,)),
)


def one_byte_of_window(c: RawConnection) -> None:
    started(c, {INITIAL_WINDOW_SIZE: 1}).request(1)
    assert len(c.receive_until(lambda frame: isinstance(frame, DataFrame)).data) == 1


def too_much_window_of_a_stream(c: RawConnection) -> None:
    started(c).request(1, c.fields("POST"), flags=OPEN)
    c.send(WindowUpdateFrame(1, window_increment=MAX_WINDOW), WindowUpdateFrame(1, window_increment=MAX_WINDOW))
    c.expect_stream_error(1, FLOW_CONTROL_ERROR)


cases(
    "http2/6.9.1",
    one_byte_of_window,
    sending(*[WindowUpdateFrame(0, window_increment=MAX_WINDOW).serialize()] * 2,
            connection_error=(FLOW_CONTROL_ERROR,)),
    too_much_window_of_a_stream,
)


def a_window_that_grows_by_settings(c: RawConnection) -> None:
    started(c, {INITIAL_WINDOW_SIZE: 0}).request(1)
    c.receive_until(lambda frame: isinstance(frame, HeadersFrame))
    c.send(SettingsFrame(0, settings={INITIAL_WINDOW_SIZE: 1}))
    assert len(c.receive_until(lambda frame: isinstance(frame, DataFrame)).data) == 1


def a_window_that_becomes_negative(c: RawConnection) -> None:
    started(c, {INITIAL_WINDOW_SIZE: 2}).request(1)
    assert len(c.receive_until(lambda frame: isinstance(frame, DataFrame)).data) == 2
    c.send(SettingsFrame(0, settings={INITIAL_WINDOW_SIZE: 0}))
    c.send(WindowUpdateFrame(1, window_increment=2))
    c.expect_alive()
    assert sum(len(frame.data) for frame in c.frames if isinstance(frame, DataFrame)) == 2
    c.send(WindowUpdateFrame(1, window_increment=1))
    assert len(c.receive_until(lambda frame: isinstance(frame, DataFrame)).data) == 1


cases(
    "http2/6.9.2",
    a_window_that_grows_by_settings,
    a_window_that_becomes_negative,
    sending(setting(INITIAL_WINDOW_SIZE, 2**31), connection_error=(FLOW_CONTROL_ERROR,)),
)


def continuation_after_the_end(prepare: Callable[[RawConnection], None]) -> Case:
    def run(c: RawConnection) -> None:
        prepare(started(c))
        c.send_bytes(continuation(c))
        c.expect_connection_error(PROTOCOL_ERROR)

    return run


def continued_and_ended(c: RawConnection) -> None:
    c.request(1, c.fields("POST"), flags=())
    c.send(ContinuationFrame(1, c.encoder.encode([("x", "y")]), flags=["END_HEADERS"]))


def open_with_data(c: RawConnection) -> None:
    c.request(1, c.fields("POST"), flags=OPEN)
    c.send(DataFrame(1, b"test"))


cases(
    "http2/6.10",
    continued(2),
    interrupted(lambda c: PRIORITY_ON_1),
    interrupted(lambda c: raw_frame(9, 4, 0, b"\x82")),
    continuation_after_the_end(lambda c: c.request(1, c.fields("POST"), flags=OPEN)),
    continuation_after_the_end(continued_and_ended),
    continuation_after_the_end(open_with_data),
)


def goaway_with_an_unknown_code(c: RawConnection) -> None:
    started(c).send_bytes(raw_frame(7, 0, 0, b"\0\0\0\0\0\0\0\xff"))
    c.expect_end()


def reset_with_an_unknown_code(c: RawConnection) -> None:
    started(c).request(1, c.fields("POST"), flags=OPEN)
    c.send_bytes(raw_frame(3, 0, 1, b"\0\0\0\xff"))
    c.expect_alive()


cases("http2/7", goaway_with_an_unknown_code, reset_with_an_unknown_code)

# --- HTTP/2: messages (RFC 9113 sections 8.1 to 8.4) -----------------------------------------------------------------


def malformed(change: Callable[[list[tuple[str, str]]], list[tuple[str, str]]]) -> Case:
    def run(c: RawConnection) -> None:
        started(c).request(1, change(c.fields()))
        c.expect_stream_error(1, PROTOCOL_ERROR)

    return run


def adding(name: str, value: str) -> Case:
    return malformed(lambda fields: fields + [(name, value)])


def without(name: str) -> Case:
    return malformed(lambda fields: [field for field in fields if field[0] != name])


def doubling(name: str) -> Case:
    return malformed(lambda fields: [field for field in fields if field[0] == name] + fields)


@case("http2/8.1/1")
def a_trailer_that_does_not_end(c: RawConnection) -> None:
    started(c).request(1, c.fields("POST", trailer="x-test"), flags=OPEN)
    c.send(DataFrame(1, b"test"))
    c.request(1, [("x-test", "ok")], flags=OPEN)
    c.expect_stream_error(1, PROTOCOL_ERROR)


def an_upper_case_name(c: RawConnection) -> None:
    started(c).request(1, block=c.encoder.encode(c.fields()) + b"\x00\x06X-TEST\x02ok")
    c.expect_stream_error(1, PROTOCOL_ERROR)


cases("http2/8.1.2", an_upper_case_name)


def a_pseudo_field_in_the_trailer(c: RawConnection) -> None:
    started(c).request(1, c.fields("POST", trailer="x-test"), flags=OPEN)
    c.send(DataFrame(1, b"test"))
    c.request(1, [(":method", "200"), ("x-test", "ok")])
    c.expect_stream_error(1, PROTOCOL_ERROR)


cases(
    "http2/8.1.2.1",
    malformed(lambda fields: fields + [(":test", "test")]),
    malformed(lambda fields: fields + [(":status", "200")]),
    a_pseudo_field_in_the_trailer,
    malformed(lambda fields: [("x-test", "ok")] + fields),
)
cases("http2/8.1.2.2", adding("connection", "keep-alive"), adding("te", "trailers, deflate"))
cases(
    "http2/8.1.2.3",
    malformed(lambda fields: [(name, "" if name == ":path" else value) for name, value in fields]),
    without(":method"),
    without(":scheme"),
    without(":path"),
    doubling(":method"),
    doubling(":scheme"),
    doubling(":path"),
)


def wrong_length(*sizes: int) -> Case:
    def run(c: RawConnection) -> None:
        started(c).request(1, c.fields("POST", content_length="1"), flags=OPEN)
        for size in sizes[:-1]:
            c.send(DataFrame(1, b"x" * size))
        c.send(DataFrame(1, b"x" * sizes[-1], flags=["END_STREAM"]))
        c.expect_stream_error(1, PROTOCOL_ERROR)

    return run


cases("http2/8.1.2.6", wrong_length(4), wrong_length(2, 4))
cases("http2/8.2", sending(raw_frame(5, 4, 1, b"\0\0\0\2\x82\x86\x84"), connection_error=(PROTOCOL_ERROR,)))

# --- The cases above, as tests ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_section(name: str, raw: RawConnection) -> None:
    if name in SKIPPED:
        pytest.skip(SKIPPED[name])
    CASES[name](raw)


def test_there_are_as_many_cases_as_h2spec_has() -> None:
    assert len(CASES) >= 146
    assert set(SKIPPED) <= set(CASES)


# --- Our own strictness ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "field",
    [
        ("host", "elsewhere"),
        ("x", " leading"),
        ("x", "trailing "),
        ("x", "a\nb"),
        ("x", "a\0b"),
        ("x y", "z"),
        ("transfer-encoding", "chunked"),
        ("upgrade", "h2c"),
        ("keep-alive", "5"),
        ("proxy-connection", "close"),
        ("content-length", "+0"),
        ("content-length", "0, 0"),
    ],
)
def test_a_malformed_field_resets_the_stream(raw: RawConnection, field: tuple[str, str]) -> None:
    block = started(raw).encoder.encode(raw.fields())
    line = b"\x00" + b"".join(bytes([len(part)]) + part.encode() for part in field)
    raw.request(1, block=block + line)
    raw.expect_stream_error(1, PROTOCOL_ERROR)


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"method": "BREW"}, "501", "not_implemented"),
        ({"path": "/" + "a" * 8192}, "414", "uri_too_long"),
        ({"x": "y" * 16384}, "431", "head_too_large"),
        ({"expect": "200-maybe"}, "417", "expectation_failed"),
    ],
)
def test_what_is_not_served_is_refused_as_over_version_one(
    raw: RawConnection, headers: dict[str, str], status: str, code: str
) -> None:
    started(raw)
    block = raw.encoder.encode(raw.fields(**headers))
    raw.request(1, block=block[:16000], flags=("END_STREAM",) + (() if len(block) > 16000 else OPEN))
    if len(block) > 16000:
        raw.send(ContinuationFrame(1, block[16000:], flags=["END_HEADERS"]))
    answer = raw.answer(1)
    assert answer.status == status
    assert dict(answer.headers)["x-error-code"] == code
    # Only the stream has ended, not the connection.
    raw.request(3)
    raw.expect_ok(3)


def test_a_body_is_refused_by_its_declared_length(raw: RawConnection) -> None:
    started(raw).request(1, raw.fields("POST", "/fps/license", content_length=str(64 << 20)), flags=OPEN)
    answer = raw.answer(1)
    assert answer.status == "413"
    raw.request(3)
    raw.expect_ok(3)


# --- Floods ----------------------------------------------------------------------------------------------------------


def processor_seconds() -> float | None:
    """The processor seconds that the daemon has used, or `None` if its process id is not known."""
    process = os.environ.get("LATCHKEY_PID")
    if not process:
        return None
    fields = open(f"/proc/{process}/stat", encoding="ascii").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def flood(raw: RawConnection, piece: Callable[[int], bytes], count: int, code: int = ENHANCE_YOUR_CALM) -> None:
    """Sends pieces until the server ends the connection. It must do so long before `count` pieces, and at low cost."""
    started(raw)
    before = processor_seconds()
    raw.send_bytes(b"".join(piece(number) for number in range(count)))
    frame = raw.receive_until(lambda frame: isinstance(frame, GoAwayFrame))
    assert frame.error_code == code
    raw.expect_end()
    after = processor_seconds()
    if before is not None and after is not None:
        assert after - before < 2


def request_and_reset(raw: RawConnection) -> Callable[[int], bytes]:
    block = raw.encoder.encode(raw.fields())
    again = raw.encoder.encode(raw.fields())

    def piece(number: int) -> bytes:
        stream = 2 * number + 1
        head = HeadersFrame(stream, data=again if number else block, flags=["END_STREAM", "END_HEADERS"]).serialize()
        return head + RstStreamFrame(stream, error_code=CANCEL).serialize()

    return piece


def test_rapid_reset_ends_the_connection(raw: RawConnection) -> None:
    """CVE-2023-44487."""
    flood(raw, request_and_reset(raw), 2000)


def test_a_continuation_flood_ends_the_connection(raw: RawConnection) -> None:
    """CVE-2024-28182."""
    head = HeadersFrame(1, data=raw.encoder.encode(raw.fields()), flags=["END_STREAM"]).serialize()
    flood(raw, lambda number: ContinuationFrame(1, b"\x00\x01x\x01y").serialize() if number else head, 2000)


def test_empty_continuations_end_the_connection(raw: RawConnection) -> None:
    head = HeadersFrame(1, data=raw.encoder.encode(raw.fields()), flags=["END_STREAM"]).serialize()
    flood(raw, lambda number: ContinuationFrame(1, b"").serialize() if number else head, 2000)


@pytest.mark.parametrize(
    "frame",
    [
        PingFrame(0),
        PingFrame(0, flags=["ACK"]),
        SettingsFrame(0),
        SettingsFrame(0, settings={INITIAL_WINDOW_SIZE: 65535}),
        PriorityFrame(1, stream_weight=255),
        WindowUpdateFrame(0, window_increment=1),
    ],
    ids=str,
)
def test_a_flood_of_control_frames_ends_the_connection(raw: RawConnection, frame) -> None:
    flood(raw, lambda number: frame.serialize(), 5000)


def test_a_flood_of_empty_data_ends_the_connection(raw: RawConnection) -> None:
    head = HeadersFrame(1, data=raw.encoder.encode(raw.fields("POST")), flags=["END_HEADERS"]).serialize()
    flood(raw, lambda number: DataFrame(1, b"").serialize() if number else head, 5000)


def test_a_flood_of_unknown_frames_ends_the_connection(raw: RawConnection) -> None:
    flood(raw, lambda number: raw_frame(0xEE, 0, 0), 5000)


ENTRY = b"\x40\x01x" + b"\x7f\xe1\x1d" + b"y" * (127 + 0x61 + (0x1D << 7))


def test_a_header_block_that_expands_somewhat_is_answered(raw: RawConnection) -> None:
    """A dynamic table entry of nearly 4,000 bytes, and five references to it.

    Together they are larger than a head may be, but less than twice that size.
    """
    started(raw).request(1, block=raw.encoder.encode(raw.fields()) + ENTRY + b"\xbe" * 5)
    assert raw.answer(1).status == "431"
    raw.expect_alive()


def test_header_blocks_that_expand_a_lot_end_the_connection(raw: RawConnection) -> None:
    """A block of a kilobyte that expands to megabytes is not decoded into fields.

    The second such block ends the connection.
    """
    started(raw).request(1, block=raw.encoder.encode(raw.fields()) + ENTRY + b"\xbe" * 4000)
    raw.expect_stream_error(1, ENHANCE_YOUR_CALM)
    raw.request(3, block=raw.encoder.encode(raw.fields()) + b"\xbe" * 4000)
    raw.expect_connection_error(ENHANCE_YOUR_CALM)


# --- Clients that keep the rules -------------------------------------------------------------------------------------


def test_curl_by_prior_knowledge(url: str) -> None:
    result = subprocess.run(
        ["curl", "--silent", "--show-error", "--http2-prior-knowledge", "--include", f"{url}/livez"],
        capture_output=True, timeout=20, check=True,
    )
    assert result.stdout.startswith(b"HTTP/2 200")
    assert result.stdout.endswith(b"ok\n")


def test_curl_learns_why_a_body_is_too_large(url: str) -> None:
    result = subprocess.run(
        ["curl", "--silent", "--show-error", "--http2-prior-knowledge", "--data-binary", "@-", f"{url}/fps/license"],
        input=b"x" * 100_000, capture_output=True, timeout=20, check=True,
    )
    assert b'"code":"body_too_large"' in result.stdout


def test_curl_uploads_without_a_length(url: str) -> None:
    result = subprocess.run(
        ["curl", "--silent", "--show-error", "--http2-prior-knowledge", "--request", "POST", "--upload-file", "-",
         "--write-out", "%{http_code}", f"{url}/fps/license"],
        input=b"x" * 60_000, capture_output=True, timeout=20, check=True,
    )
    assert result.stdout.endswith(b"401")


def test_httpx(url: str) -> None:
    with httpx.Client(http1=False, http2=True) as client:
        for _ in range(20):
            answer = client.get(f"{url}/livez")
            assert (answer.http_version, answer.status_code, answer.text) == ("HTTP/2", 200, "ok\n")
        refused = client.post(f"{url}/fps/license", content=b"x" * 10_000)
        assert (refused.status_code, refused.headers["x-error-code"]) == (401, "token_missing")


@pytest.mark.parametrize("version", [1, 2])
def test_httpx_gets_a_license(deployment: Deployment, url: str, version: int) -> None:
    context = device_for(deployment.credential, version).request(SPCOptions(deployment.asset_id))
    with httpx.Client(http1=False, http2=True) as client:
        answer = client.post(
            url + LICENSE_PATH, content=context.message, headers={"Authorization": f"Bearer {deployment.token}"}
        )
    assert answer.http_version == "HTTP/2"
    deployment.open(Answer(answer.status_code, tuple(answer.headers.items()), answer.content), context.secrets)


@pytest.mark.parametrize(
    "options", [[], ["--header", "Content-Length:"], ["--header", "Expect: 100-continue"]], ids=["plain", "no length", "expect"]
)
def test_curl_gets_a_license(deployment: Deployment, url: str, options: list[str]) -> None:
    context = device_for(deployment.credential, 1).request(SPCOptions(deployment.asset_id))
    authorization = ["--header", f"Authorization: Bearer {deployment.token}"]
    result = subprocess.run(
        ["curl", "--silent", "--show-error", "--fail", "--http2-prior-knowledge", "--data-binary", "@-", *options,
         *authorization, "--dump-header", "/dev/stderr", url + LICENSE_PATH],
        input=context.message, capture_output=True, timeout=20, check=True,
    )
    lines = result.stderr.decode().split("\r\n")
    assert any(line.startswith("HTTP/2 200") for line in lines)
    headers = tuple(tuple(line.split(": ", 1)) for line in lines if ": " in line)
    deployment.open(Answer(200, headers, result.stdout), context.secrets)


def test_many_requests_side_by_side(raw: RawConnection) -> None:
    started(raw)
    began = time.monotonic()
    for number in range(50):
        raw.request(2 * number + 1)
    ended = set()
    while len(ended) < 50:
        frame = raw.receive()
        if isinstance(frame, HeadersFrame):
            raw.decoder.decode(frame.data)
        if "END_STREAM" in frame.flags:
            ended.add(frame.stream_id)
    assert time.monotonic() - began < 10

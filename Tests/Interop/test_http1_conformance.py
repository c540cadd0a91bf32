"""HTTP/1.1 byte by byte against a running daemon: RFC 9112, and the parts of RFC 9110 that concern a listener."""

import socket
from collections.abc import Iterator

import pytest

import http1_wire
from http1_cases import ACCEPTED, CHUNKED, GET, MARKER, REFUSED, get, sized
from own_daemon import OwnDaemon, Seen, running_daemon

# Longer cases are not sent byte by byte.
SPLIT_SIZE_MAXIMUM = 1024
CODES = {
    400: "bad_request",
    413: "body_too_large",
    414: "uri_too_long",
    417: "expectation_failed",
    431: "head_too_large",
    501: "not_implemented",
    505: "version_not_supported",
}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory, latchkey_programs: None) -> Iterator[OwnDaemon]:
    with running_daemon(tmp_path_factory.mktemp("http1")) as daemon:
        yield daemon


def assert_refused(daemon: OwnDaemon, name: str, piece: int | None = None) -> None:
    """Checks that there is one answer, that the stream ends after it, and that the daemon has not served the marker
    request."""
    status, sent = REFUSED[name]
    before = daemon.seen()
    conversation = http1_wire.exchange(daemon.public, sent + MARKER, piece=piece)
    assert conversation.statuses == [status], conversation
    assert conversation.rest == b""
    assert conversation.ended, "the connection stays open"
    (response,) = conversation.responses
    assert response.field("Connection") == "close"
    assert response.field("X-Error-Code") == CODES[status]
    assert response.field("X-Request-Id")
    assert daemon.seen().since(before) == Seen(requests=0, refused_inputs=1)


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused_and_nothing_follows(name: str, daemon: OwnDaemon) -> None:
    assert_refused(daemon, name)


@pytest.mark.parametrize("name", [name for name, (_, sent) in REFUSED.items() if len(sent) <= SPLIT_SIZE_MAXIMUM])
def test_is_refused_byte_by_byte_too(name: str, daemon: OwnDaemon) -> None:
    assert_refused(daemon, name, piece=1)


@pytest.mark.parametrize("piece", [None, 7], ids=["at once", "in pieces"])
@pytest.mark.parametrize("name", ACCEPTED)
def test_is_answered(name: str, piece: int | None, daemon: OwnDaemon) -> None:
    case = ACCEPTED[name]
    before = daemon.seen()
    conversation = http1_wire.exchange(daemon.public, case.sent + MARKER, head_at=case.head_at, piece=piece)
    expected = [*case.statuses] if case.closes else [*case.statuses, 200]
    # A body that is sent in pieces may or may not arrive before the daemon sends 100, so interim answers are ignored.
    final = [response for response in conversation.responses if response.status != 100 or piece is None]
    assert [response.status for response in final] == expected, conversation
    assert conversation.rest == b""
    # If a client keeps sending after the last answer, a reset may reach it before the end of the stream.
    assert conversation.ended or (case.closes and piece is not None)
    assert final[-1].field("Connection") == "close"
    assert all(response.field("Connection") != "close" for response in final[:-1])
    assert daemon.seen().since(before) == Seen(requests=len(expected), refused_inputs=0)


def test_asterisk_is_for_options(daemon: OwnDaemon) -> None:
    """RFC 9112, section 3.2.4: the asterisk is a valid target, and the connection stays open."""
    conversation = http1_wire.exchange(daemon.public, b"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n" + MARKER)
    assert len(conversation.responses) == 2
    assert conversation.statuses[0] in (200, 204, 404)
    assert conversation.statuses[1] == 200


@pytest.mark.parametrize("chunked", [False, True], ids=["sized", "chunked"])
def test_a_body_is_asked_for_once(chunked: bool, daemon: OwnDaemon) -> None:
    """RFC 9110, section 10.1.1."""
    expecting = b"Expect: 100-continue\r\n\r\n"
    head = CHUNKED[:-2] + expecting if chunked else sized(b" 5\r\nExpect: 100-continue", b"")
    with socket.create_connection(daemon.public, timeout=http1_wire.TIMEOUT_SECONDS) as connection:
        connection.sendall(head)
        assert connection.recv(4096) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall((b"5\r\nabcde\r\n0\r\n\r\n" if chunked else b"abcde") + MARKER)
        received, ended = http1_wire.read_all(connection)
    assert http1_wire.parse(received, ended).statuses == [405, 200]
    assert ended


@pytest.mark.parametrize("asks", [False, True], ids=["not invited", "invited"])
@pytest.mark.parametrize("framing", [b"Content-Length: 8193", b"Transfer-Encoding: chunked"], ids=["sized", "chunked"])
def test_a_license_request_without_a_token_is_refused_by_its_head(
    framing: bytes, asks: bool, daemon: OwnDaemon
) -> None:
    """The body never arrives, and the daemon does not ask for it. The rest of the stream is not read as a request.

    The daemon waits for a smaller body, because it may be a report of ended sessions.
    """
    head = b"POST /fps/license HTTP/1.1\r\nHost: a\r\n" + framing + b"\r\nExpect: 100-continue" * asks + b"\r\n\r\n"
    with socket.create_connection(daemon.public, timeout=http1_wire.TIMEOUT_SECONDS) as connection:
        connection.sendall(head)
        received = connection.recv(65536)
        connection.sendall(MARKER)
        rest, ended = http1_wire.read_all(connection)
    (answer,) = http1_wire.parse(received + rest, ended).responses
    assert (answer.status, answer.field("X-Error-Code")) == (401, "token_missing")
    assert answer.field("Connection") == "close"
    assert ended


@pytest.mark.parametrize("sent", [b"", b"G", GET, get(b"")[:-2], sized(b" 5", b"abcd"), CHUNKED + b"5\r\nabc", CHUNKED])
def test_half_a_request_is_not_answered(sent: bytes, daemon: OwnDaemon) -> None:
    """RFC 9112, section 8: a request is incomplete if the client ends its stream before the request's end."""
    before = daemon.seen()
    conversation = http1_wire.exchange(daemon.public, sent, ends=True)
    assert (conversation.responses, conversation.rest, conversation.ended) == ([], b"", True)
    assert daemon.seen().since(before) == Seen(requests=0, refused_inputs=0)


def test_whole_requests_are_answered_after_the_end_of_the_stream(daemon: OwnDaemon) -> None:
    conversation = http1_wire.exchange(daemon.public, get(b""), ends=True)
    assert conversation.statuses == [200]
    assert conversation.ended


def test_a_good_request_before_a_bad_one_is_answered(daemon: OwnDaemon) -> None:
    conversation = http1_wire.exchange(daemon.public, get(b"") + get(b"X : 1\r\n") + MARKER)
    assert conversation.statuses == [200, 400]
    assert conversation.ended

"""The HTTP/1.1 corpus through nginx and HAProxy: the proxy and the daemon must read every request in the same way.

The proxy logs which answers of the daemon it has forwarded, and the daemon counts the requests that it has answered. If
the daemon saw the end of a body elsewhere, these numbers would differ, or the next client would get a wrong answer.
"""

import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

import http1_wire
from deployment import deployment_of
from fairplay_device.spc import SPCOptions, device_for
from http1_cases import ACCEPTED, BODY_SIZE, MARKER, REFUSED, chunks_of, sized
from own_daemon import OwnDaemon, Seen, running_daemon
from proxies import SEARCH_PATH, Proxy, running_proxy

SETTLE_SECONDS = 60
# The requests of the next two clients, and the statuses of their answers.
NEXT_CLIENTS = {b"/livez": 200, b"/nothing": 404}
CASES = {f"refused {name}": sent for name, (_, sent) in REFUSED.items()} | {
    f"accepted {name}": case.sent for name, case in ACCEPTED.items()
}

# These announce a body and never send all of it. A proxy waits for it as long as configured.
UNENDED = {f"refused {name}" for name, (status, _) in REFUSED.items() if status == 413}


@dataclass(frozen=True)
class Pair:
    """A proxy and the daemon behind it, which has no other clients."""

    proxy: Proxy
    daemon: OwnDaemon


@pytest.fixture(scope="module", params=["nginx", "nginx, lax", "haproxy", "haproxy, lax"])
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, latchkey_programs: None
) -> Iterator[Pair]:
    program = request.param.split(",")[0]
    if not shutil.which(program, path=SEARCH_PATH):
        pytest.skip(f"{program} is not installed; Scripts/test-interop installs it")
    folder = tmp_path_factory.mktemp("proxies")
    with running_daemon(folder) as daemon, running_proxy(request.param, daemon.public, folder) as proxy:
        yield Pair(proxy, daemon)


def assert_own_answers(pair: Pair) -> None:
    """Checks that each of the next clients gets the answer to its own request."""
    for path, status in NEXT_CLIENTS.items():
        request = b"GET " + path + b" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        assert http1_wire.exchange(pair.proxy.address, request).statuses == [status]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in UNENDED else ()) for name in CASES]
)
def test_both_read_the_same_requests(name: str, pair: Pair) -> None:
    forwarded_before = set(pair.proxy.forwarded())
    seen_before = pair.daemon.seen()
    conversation = http1_wire.exchange(pair.proxy.address, CASES[name] + MARKER)
    assert_own_answers(pair)

    # Both record an answer only after they have sent it. Each look at the daemon's metrics is also a request to it.
    deadline = time.monotonic() + SETTLE_SECONDS
    looks = 0
    while True:
        answers = {key: status for key, status in pair.proxy.forwarded().items() if key not in forwarded_before}
        seen = pair.daemon.seen().since(seen_before)
        in_all = Seen(seen.requests - looks, seen.refused_inputs)
        if in_all.requests + in_all.refused_inputs == len(answers) or time.monotonic() > deadline:
            break
        looks += 1
        time.sleep(0.02)
    assert in_all.requests + in_all.refused_inputs == len(answers), (in_all, answers, conversation)
    assert len(answers) >= len(NEXT_CLIENTS)
    # Every answer that reached the client is in the proxy's log.
    identifiers = [one.field("X-Request-Id") for one in conversation.responses]
    assert {one for one in identifiers if one} <= set(answers)


@pytest.mark.parametrize("chunked", [False, True], ids=["sized", "chunked"])
@pytest.mark.parametrize(("size", "status"), [(1, 405), (4097, 405), (BODY_SIZE, 405), (BODY_SIZE + 1, 413)])
def test_both_agree_on_the_length_of_a_body(size: int, status: int, chunked: bool, pair: Pair) -> None:
    """The daemon's size limit shows the body's length as the daemon has read it, to the byte."""
    sent = chunks_of(size) if chunked else sized(b" %d" % size, b"a" * size)
    assert http1_wire.exchange(pair.proxy.address, sent + MARKER).statuses[0] == status
    assert_own_answers(pair)


def test_a_license_comes_through_in_chunks(pair: Pair) -> None:
    """No byte of the body is lost or added: the SPC decrypts, and its length is part of it."""
    deployment = deployment_of(pair.daemon.url, pair.daemon.setup)
    for version in (1, 2):
        context = device_for(deployment.credential, version).request(SPCOptions(deployment.asset_id))
        message = context.message
        pieces = [message[start : start + 97] for start in range(0, len(message), 97)]
        head = (
            "POST /fps/license HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n"
            f"Content-Type: application/octet-stream\r\nAuthorization: Bearer {deployment.token}\r\n\r\n"
        ).encode()
        body = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
        conversation = http1_wire.exchange(pair.proxy.address, head + body)
        assert conversation.statuses == [200]
        (response,) = conversation.responses
        deployment.open(http1_wire.as_answer(response), context.secrets)
    deployment.client.close()

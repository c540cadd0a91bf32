"""What every address refuses before it looks at a request: coded bodies, and queries with very many parameters."""

import asyncio
import gzip
import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

import http1_wire
from asking_http2 import HTTP2Client
from licence_client import LICENCE_PATH, Answer
from openapi_lab import Lab, running_lab

MANY = "&" * 64


@pytest.fixture(scope="module")
def lab(latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with running_lab(tmp_path_factory.mktemp("limits")) as lab:
        yield lab


def places(path: str) -> dict[str, str]:
    return {name: "movie" for name in re.findall(r"{(\w+)}", path)}


def raw(lab: Lab, method: str, path: str, fields: str = "") -> Answer:
    """Asks a route by its path in the description, with a query. The answer must be one of the description."""
    is_admin = lab.complete.document["paths"][path]["x-listeners"] == ["admin"]
    address = urlsplit(lab.admin_url if is_admin else lab.daemon.url)
    target = re.sub(r"{\w+}", "movie", path)
    text = f"{method} {target}?{MANY} HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n".encode()
    answer = http1_wire.as_answer(http1_wire.exchange((address.hostname, address.port), text).responses[-1])
    lab.complete.assert_describes(method, path, answer)
    return answer


def test_no_address_decodes_a_body(lab: Lab) -> None:
    body = gzip.compress(b"{}")
    for method, path in lab.complete.operations:
        answer = lab.ask(method, path, body, at=places(path), Content_Encoding="gzip", Host="localhost")
        assert (answer.status, answer.header("X-Error-Code")) == (415, "content_encoding_unsupported"), (method, path)
        if method != "HEAD":
            assert answer.problem["header"] == "Content-Encoding"


def test_no_address_reads_very_many_parameters(lab: Lab) -> None:
    for method, path in lab.complete.operations:
        if method == "HEAD":  # The refusal of a head that is not read to its end has a body, and closes the connection.
            continue
        answer = raw(lab, method, path)
        assert (answer.status, answer.header("X-Error-Code")) == (400, "request_invalid"), (method, path)
        assert "64 parameters" in str(answer.problem["detail"])


def test_version_2_refuses_the_same(lab: Lab) -> None:
    address = urlsplit(lab.daemon.url)

    async def statuses() -> list[int]:
        client = await HTTP2Client.connect((address.hostname, address.port), over_tls=False)
        found = [
            await client.ask("POST", LICENCE_PATH, {"content-encoding": "gzip"}, b"{}"),
            await client.ask("POST", f"{LICENCE_PATH}?{MANY}", {}, b"{}"),
            await client.ask("POST", f"{LICENCE_PATH}?{MANY[1:]}", {"content-encoding": "identity"}, b"{}"),
        ]
        await client.close()
        return found

    assert asyncio.run(statuses()) == [415, 400, 401]


@pytest.mark.parametrize("query", ["format=zzz", "offline=yes", "renew=2", "previous=7", "offline=1&offline=1"])
def test_a_wrong_parameter_is_not_called_bad_http(lab: Lab, query: str) -> None:
    answer = lab.ask("POST", LICENCE_PATH, b"-", dict([query.split("&")[0].split("=")]))
    if "&" in query:
        answer = lab.deployment.client.send("POST", f"{LICENCE_PATH}?{query}", b"-")
    assert (answer.status, answer.code) == (400, "request_invalid")
    problem = answer.problem
    assert problem["parameter"] == query.partition("=")[0] and str(problem["parameter"]) in str(problem["hint"])
    assert "HTTP" not in str(problem["title"]) and "stands between" not in str(problem["hint"])


def test_an_unknown_member_is_not_called_bad_http(lab: Lab) -> None:
    answer = lab.ask("POST", "/v1/keys", {"contentId": "a", "unknown": 1}, authorization=lab.packager)
    assert (answer.status, answer.code) == (400, "request_invalid")
    assert "HTTP" not in str(answer.problem["title"]) and "stands between" not in str(answer.problem["hint"])

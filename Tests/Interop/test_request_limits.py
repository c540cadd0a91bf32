"""What every address refuses before it looks at a request: coded bodies, and queries with very many parameters."""

import asyncio
import gzip
import json
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import http1_wire
from asking_http2 import HTTP2Client
from deployment import run_latchkey
from license_client import LICENSE_PATH, Answer
from openapi_lab import Lab, running_lab
from own_daemon import OwnDaemon, running_daemon

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


def is_problem(answer: Answer) -> bool:
    """Whether there is a problem to read: HEAD has no body, and ExpressPlay's addresses have pages."""
    return bool(answer.body) and "json" in str(answer.header("Content-Type"))


def test_no_address_decodes_a_body(lab: Lab) -> None:
    body = gzip.compress(b"{}")
    for method, path in lab.complete.operations:
        answer = lab.ask(method, path, body, at=places(path), Content_Encoding="gzip", Host="localhost")
        assert (answer.status, answer.header("X-Error-Code")) == (415, "content_encoding_unsupported"), (method, path)
        if is_problem(answer):
            assert answer.problem["header"] == "Content-Encoding"


def test_no_address_reads_very_many_parameters(lab: Lab) -> None:
    for method, path in lab.complete.operations:
        if method == "HEAD":  # `raw` waits for a body.
            continue
        answer = raw(lab, method, path)
        assert (answer.status, answer.header("X-Error-Code")) == (400, "request_invalid"), (method, path)
        if is_problem(answer):
            assert "64 parameters" in str(answer.problem["detail"])


def test_version_2_refuses_the_same(lab: Lab) -> None:
    address = urlsplit(lab.daemon.url)

    async def statuses() -> list[int]:
        client = await HTTP2Client.connect((address.hostname, address.port), over_tls=False)
        found = [
            await client.ask("POST", LICENSE_PATH, {"content-encoding": "gzip"}, b"{}"),
            await client.ask("POST", f"{LICENSE_PATH}?{MANY}", {}, b"{}"),
            await client.ask("POST", f"{LICENSE_PATH}?{MANY[1:]}", {"content-encoding": "identity"}, b"{}"),
        ]
        await client.close()
        return found

    assert asyncio.run(statuses()) == [415, 400, 401]


PAGE = "https://app.example.com"
REFUSED_HEADS = {
    "content_encoding_unsupported": ("", "Content-Encoding: gzip\r\n"),
    "request_invalid": (f"?{MANY}", ""),
    "body_too_large": ("", "Content-Length: 99999999\r\n"),
    "expectation_failed": ("", "Expect: x\r\n"),
    "not_implemented": ("", "Transfer-Encoding: gzip\r\n"),
}


@pytest.fixture(scope="module")
def proxied(latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnDaemon]:
    def prepare(setup: Path) -> None:
        file = setup / "latchkey.json5"
        address = 'address: "127.0.0.1:8080"'
        text = file.read_text()
        assert address in text and "    logging: {" in text
        text = text.replace(address, f'{address}, trustedProxies: ["127.0.0.1"]')
        file.write_text(text.replace("    logging: {", f'    cors: {{ origins: ["{PAGE}"] }},\n    logging: {{', 1))

    with running_daemon(tmp_path_factory.mktemp("proxied"), prepare=prepare) as daemon:
        yield daemon


def refused_head(daemon: OwnDaemon, code: str, fields: str, path: str = LICENSE_PATH) -> Answer:
    query, more = REFUSED_HEADS[code]
    text = f"POST {path}{query} HTTP/1.1\r\nHost: localhost\r\n{fields}{more}\r\n".encode()
    answer = http1_wire.as_answer(http1_wire.exchange(daemon.public, text).responses[-1])
    assert answer.header("X-Error-Code") == code
    return answer


@pytest.mark.parametrize("code", REFUSED_HEADS)
def test_the_refusal_of_a_head_knows_what_the_head_says(code: str, proxied: OwnDaemon) -> None:
    trace = secrets.token_hex(16)
    said = f"X-Forwarded-For: 203.0.113.7\r\ntraceparent: 00-{trace}-b7ad6b7169203331-01\r\n"
    answer = refused_head(proxied, code, f"{said}Origin: {PAGE}\r\n")
    assert answer.header("Access-Control-Allow-Origin") == PAGE and answer.header("Access-Control-Expose-Headers")
    report = json.loads(
        run_latchkey(proxied.setup, "why", trace, "--json", "--server", "http://{}:{}".format(*proxied.admin))
    )
    assert (report["code"], report["client"]) == (code, "203.0.113.0/24")
    other = refused_head(proxied, code, "Origin: https://evil.example.com\r\n")
    assert other.header("Access-Control-Allow-Origin") is None
    assert other.header("Access-Control-Expose-Headers") is None
    nagra = json.loads(refused_head(proxied, code, "nv-authorizations: a\r\n").body)
    assert isinstance(nagra["errorCode"], int) and nagra["code"] == code


def test_the_refusal_of_a_head_without_a_trusted_proxy_believes_no_field(lab: Lab) -> None:
    answer = refused_head(lab.daemon, "content_encoding_unsupported", "X-Forwarded-For: 203.0.113.7\r\n")
    rid = str(answer.header("X-Request-Id"))
    report = json.loads(run_latchkey(lab.daemon.setup, "why", rid, "--json", "--server", lab.admin_url))
    assert report["client"] == "127.0.0.0/24"


@pytest.mark.parametrize("query", ["format=zzz", "offline=yes", "renew=2", "previous=7", "offline=1&offline=1"])
def test_a_wrong_parameter_is_not_called_bad_http(lab: Lab, query: str) -> None:
    answer = lab.ask("POST", LICENSE_PATH, b"-", dict([query.split("&")[0].split("=")]))
    if "&" in query:
        answer = lab.deployment.client.send("POST", f"{LICENSE_PATH}?{query}", b"-")
    assert (answer.status, answer.code) == (400, "request_invalid")
    problem = answer.problem
    assert problem["parameter"] == query.partition("=")[0] and str(problem["parameter"]) in str(problem["hint"])
    assert "HTTP" not in str(problem["title"]) and "stands between" not in str(problem["hint"])


def test_an_unknown_member_is_not_called_bad_http(lab: Lab) -> None:
    answer = lab.ask("POST", "/v1/keys", {"contentId": "a", "unknown": 1}, authorization=lab.packager)
    assert (answer.status, answer.code) == (400, "request_invalid")
    assert "HTTP" not in str(answer.problem["title"]) and "stands between" not in str(answer.problem["hint"])

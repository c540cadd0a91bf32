"""Distributed traces (W3C Trace Context): what the daemon logs of them, and what it passes on to the operator's service."""

import asyncio
import json
import os
import re
import secrets
import subprocess
from collections.abc import Iterator

import pytest

from asking_http2 import HTTP2Client
from license_client import Answer, LicenseClient
from test_callback import TOKEN_HEADER, Asked, asking, service, token

TRACE_MEMBERS = ("trace_id", "parent_span_id", "span_id")
STATE = "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7"


@pytest.fixture(scope="module")
def asked(latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    with service() as running, asking(
        tmp_path_factory.mktemp("traces"), running.url, memory={"allowed": "0s"}, breaker={"failures": 1000}
    ) as daemon:
        yield Asked(daemon, running)


def new_ids() -> tuple[str, str]:
    """A trace id and a parent id."""
    return secrets.token_hex(16), secrets.token_hex(8)


def send(asked: Asked, opaque: str, headers: list[tuple[str, str]]) -> Answer:
    """Asks for a license. A header may occur several times."""
    client = LicenseClient(asked.daemon.url)
    try:
        connection = client._connection
        message = asked.request()[0]
        connection.putrequest("POST", "/fps/license")
        for name, value in [(TOKEN_HEADER, opaque), ("Content-Length", str(len(message))), *headers]:
            connection.putheader(name, value)
        connection.endheaders(message)
        response = connection.getresponse()
        return Answer(response.status, tuple(response.getheaders()), response.read())
    finally:
        client.close()


def trace_of_question(asked: Asked, opaque: str) -> tuple[str | None, str | None]:
    """The `traceparent` and the `tracestate` that the service got."""
    (trace,) = [
        trace
        for question, trace in zip(asked.service.questions, asked.service.traces, strict=True)
        if question["token"] == opaque
    ]
    return trace


def line_of(asked: Asked, text: str) -> dict[str, object]:
    asked.daemon.await_log(text)
    lines = asked.daemon.log.read_text().rpartition("\n")[0].splitlines()
    (line,) = [json.loads(line) for line in lines if text in line]
    return line


@pytest.mark.parametrize(("flags", "sent"), [("01", "01"), ("00", "00"), ("03", "03"), ("ff", "03")])
def test_a_license_and_its_question_are_in_the_trace(asked: Asked, flags: str, sent: str) -> None:
    opaque = token("allow")
    trace, parent = new_ids()
    answer = send(asked, opaque, [("Traceparent", f"00-{trace}-{parent}-{flags}"), ("tracestate", STATE)])
    assert answer.status == 200, answer.body
    line = line_of(asked, trace)
    assert line["event"] == "license_issued" and line["request_id"] == answer.header("X-Request-Id")
    assert (line["trace_id"], line["parent_span_id"]) == (trace, parent)
    span = line["span_id"]
    assert re.fullmatch("[0-9a-f]{16}", str(span)) and span != parent
    assert trace_of_question(asked, opaque) == (f"00-{trace}-{span}-{sent}", STATE)


def test_a_refusal_is_in_the_trace_and_is_found_by_it(asked: Asked) -> None:
    opaque = token("deny")
    trace, parent = new_ids()
    answer = send(asked, opaque, [("traceparent", f"00-{trace}-{parent}-01")])
    assert answer.code == "entitlement_denied"
    request_id = answer.header("X-Request-Id")
    line = line_of(asked, trace)
    assert line["event"] == "license_refused" and line["request_id"] == request_id
    (sent, state) = trace_of_question(asked, opaque)
    assert sent == f"00-{trace}-{line['span_id']}-01" and state is None
    host, port = asked.daemon.admin
    for name in (trace, request_id or ""):
        why = subprocess.run(
            [
                os.environ["LATCHKEY_BIN"], "why", name, "--json", "--config", asked.daemon.setup / "latchkey.json5",
                "--server", f"http://{host}:{port}",
            ], capture_output=True, text=True, timeout=30, check=True,
        )  # fmt: skip
        report = json.loads(why.stdout)
        assert (report["request_id"], report["trace_id"], report["code"]) == (request_id, trace, "entitlement_denied")


def test_a_request_over_http_2_is_in_the_trace(asked: Asked) -> None:
    opaque = token("allow")
    trace, parent = new_ids()

    async def ask() -> int:
        client = await HTTP2Client.connect(asked.daemon.public, over_tls=False)
        try:
            fields = {TOKEN_HEADER.lower(): opaque, "traceparent": f"00-{trace}-{parent}-01", "tracestate": STATE}
            return await client.ask("POST", "/fps/license", fields, asked.request()[0])
        finally:
            await client.close()

    assert asyncio.run(ask()) == 200
    span = line_of(asked, trace)["span_id"]
    assert trace_of_question(asked, opaque) == (f"00-{trace}-{span}-01", STATE)


def test_several_fields_of_state_are_one_list(asked: Asked) -> None:
    opaque = token("allow")
    trace, parent = new_ids()
    headers = [("traceparent", f"00-{trace}-{parent}-01"), ("tracestate", "a=1"), ("tracestate", "b=2 , ,c=3")]
    assert send(asked, opaque, headers).status == 200
    assert trace_of_question(asked, opaque)[1] == "a=1,b=2,c=3"


@pytest.mark.parametrize("state", ["no-list", "a=1,B=2", "a=" + "x" * 600, ",".join(f"k{n}=1" for n in range(33))])
def test_a_state_that_is_malformed_or_long_is_not_passed_on(asked: Asked, state: str) -> None:
    opaque = token("allow")
    trace, parent = new_ids()
    headers = [("traceparent", f"00-{trace}-{parent}-01"), ("tracestate", state)]
    assert send(asked, opaque, headers).status == 200
    (sent, passed) = trace_of_question(asked, opaque)
    assert sent is not None and trace in sent and passed is None


@pytest.mark.parametrize(
    "headers",
    [
        [],
        ["00-{trace}-{parent}"],
        ["00-{trace}-{parent}-01-"],
        ["ff-{trace}-{parent}-01"],
        ["00-{TRACE}-{parent}-01"],
        ["00-{trace}-0000000000000000-01"],
        ["00-00000000000000000000000000000000-{parent}-01"],
        ["00-{trace}-{parent}-01", "00-{trace}-{parent}-01"],
        ["00-{trace}-{parent}-01,00-{trace}-{parent}-01"],
        ["00-{trace}-{parent}-\x8101"],
        ["x" * 4000],
    ],
)  # fmt: skip
def test_an_invalid_trace_is_ignored_and_not_passed_on(asked: Asked, headers: list[str]) -> None:
    """The license is issued all the same."""
    opaque = token("allow")
    trace, parent = "a" + secrets.token_hex(15) + "b", secrets.token_hex(8)
    values = [value.format(trace=trace, TRACE=trace.upper(), parent=parent) for value in headers]
    answer = send(asked, opaque, [*(("traceparent", value) for value in values), ("tracestate", STATE)])
    assert answer.status == 200, answer.body
    assert trace_of_question(asked, opaque) == (None, None)
    line = line_of(asked, answer.header("X-Request-Id") or "no request id")
    assert not set(TRACE_MEMBERS) & set(line)
    assert trace not in asked.daemon.log.read_text().lower()


def test_pages_may_send_a_trace(asked: Asked) -> None:
    client = LicenseClient(asked.daemon.url)
    try:
        headers = {"Origin": "https://player.example", "Access-Control-Request-Headers": "traceparent,tracestate"}
        answer = client.send("OPTIONS", "/fps/license", headers=headers)
    finally:
        client.close()
    assert {"traceparent", "tracestate"} <= set((answer.header("Access-Control-Allow-Headers") or "").split(", "))

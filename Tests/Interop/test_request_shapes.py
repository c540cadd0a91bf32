"""How a daemon handles requests with several keys, copies of requests, and reports of ended sessions."""

import base64
import json
import plistlib
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from deployment import Deployment, deployment_of, run_latchkey
from fairplay_device.ckc import open_ckc
from fairplay_device.spc import PlaybackContext, SPCOptions, device_for
from license_client import LICENSE_PATH, Answer, LicenseClient
from own_daemon import OwnDaemon, running_daemon

COPIES = 9
BATCHES = "latchkey_store_batches_total"
OPERATIONS = "latchkey_rsa_operations_total"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory, latchkey_programs: None) -> Iterator[OwnDaemon]:
    with running_daemon(tmp_path_factory.mktemp("shapes")) as daemon:
        yield daemon


@pytest.fixture(scope="module")
def deployment(daemon: OwnDaemon) -> Deployment:
    return deployment_of(daemon.url, daemon.setup)


def request(deployment: Deployment, version: int = 1, asset_id: bytes | None = None) -> PlaybackContext:
    return device_for(deployment.credential, version).request(SPCOptions(asset_id or deployment.asset_id))


def ask(deployment: Deployment, body: bytes, token: str | None, client: LicenseClient | None = None) -> Answer:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return (client or deployment.client).send("POST", LICENSE_PATH, body, headers)


def array_of(messages: list[bytes]) -> bytes:
    entries = [
        {"keyID": str(index), "payload": base64.b64encode(one).decode()} for index, one in enumerate(messages)
    ]
    return json.dumps(entries).encode()


def since(daemon: OwnDaemon, before: dict[str, float], *names: str) -> list[float]:
    after = daemon.metrics()
    return [after[name] - before[name] for name in names]


def rows(daemon: OwnDaemon, kind: str) -> list[dict[str, object]]:
    found = [json.loads(line) for line in run_latchkey(daemon.setup, "ledger", "export").splitlines()]
    return [row for row in found if row["kind"] == kind]


def test_several_keys_are_one_batch_and_one_commit(daemon: OwnDaemon, deployment: Deployment) -> None:
    """Each key has its own result: a denied key does not affect the others."""
    contexts = [request(deployment), request(deployment, asset_id=b"another"), request(deployment, 2)]
    # A request before the measurement makes the daemon verify the token.
    assert ask(deployment, request(deployment).message, deployment.token).status == 200
    before = daemon.metrics()
    issued = len(rows(daemon, "license_issued"))
    answer = ask(deployment, array_of([context.message for context in contexts]), deployment.token)
    assert answer.status == 200, answer.body
    names = [OPERATIONS, "latchkey_rsa_batches_total"]
    names += [
        f'latchkey_license_requests_total{{shape="key_array",outcome="{outcome}"}}' for outcome in ("issued", "refused")
    ]
    assert since(daemon, before, *names) == [3, 1, 2, 1]
    # One batch for both licenses. The row of the refusal may be in a second batch.
    assert 1 <= since(daemon, before, BATCHES)[0] <= 2
    assert len(rows(daemon, "license_issued")) == issued + 2
    entries = json.loads(answer.body)
    assert [entry["keyID"] for entry in entries] == ["0", "1", "2"]
    assert entries[1] == {"keyID": "1", "error": -42604}
    for index in (0, 2):
        opened = open_ckc(base64.b64decode(entries[index]["payload"]), contexts[index].secrets)
        assert opened.content_key == deployment.key.key


@pytest.mark.parametrize("shape", ["raw", "form", "JSON"])
def test_a_burst_of_copies_costs_one_operation(daemon: OwnDaemon, deployment: Deployment, shape: str) -> None:
    """Nine copies at the same time on nine connections, as hls.js sends them, and one copy a little later."""
    context = request(deployment, 2)
    text = base64.b64encode(context.message).decode()
    body = {"raw": context.message, "form": f"spc={text}".encode(), "JSON": json.dumps({"spc": text}).encode()}[shape]
    before = daemon.metrics()
    issued = len(rows(daemon, "license_issued"))
    answers: list[Answer] = []
    start = threading.Barrier(COPIES)

    def copy() -> None:
        client = LicenseClient(daemon.url)
        try:
            start.wait(timeout=20)
            answers.append(ask(deployment, body, deployment.token, client))
        finally:
            client.close()

    threads = [threading.Thread(target=copy) for _ in range(COPIES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    answers.append(ask(deployment, body, deployment.token))
    assert [answer.status for answer in answers] == [200] * (COPIES + 1)
    assert len({answer.header("X-License-Id") for answer in answers}) == 1
    names = (OPERATIONS, "latchkey_spc_copies_total", "latchkey_licenses_repeated_total")
    assert since(daemon, before, *names) == [1, COPIES, COPIES]
    assert len(rows(daemon, "license_issued")) == issued + 1


@pytest.mark.parametrize("form", [plistlib.FMT_BINARY, plistlib.FMT_XML], ids=["binary", "XML"])
def test_reports_are_acknowledged_and_recorded_once(
    daemon: OwnDaemon, deployment: Deployment, form: plistlib.PlistFormat
) -> None:
    name = f"{form.name}".encode()
    report = plistlib.dumps([{"PlaybackSessionID": name, "Reason": 1}, {"PlaybackSessionID": b"both"}], fmt=form)
    for token in (deployment.token, deployment.token, deployment.mint("--subject", "viewer-7")):
        answer = ask(deployment, report, token)
        assert (answer.status, answer.body) == (200, b"acknowledged")
        assert answer.header("Content-Type").startswith("text/plain")
    found = [row for row in rows(daemon, "session_end_reported") if row["detail"] == name.hex()]
    # The report of another subject is a separate report.
    assert len(found) == 2 and len({row["subject"] for row in found}) == 2


def test_a_report_that_cannot_be_read_is_acknowledged(daemon: OwnDaemon, deployment: Deployment) -> None:
    before = daemon.metrics()
    recorded = len(rows(daemon, "session_end_reported"))
    good = plistlib.dumps({"PlaybackSessionID": b"x"}, fmt=plistlib.FMT_BINARY)
    bodies = [good[:-1], good[:9], b"bplist00" + bytes(60_000), b"<?xml version='1.0'?><plist>" + b"<array>" * 5000]
    for body in bodies:
        answer = ask(deployment, body, deployment.token)
        assert (answer.status, answer.body) == (200, b"acknowledged")
    assert since(daemon, before, 'latchkey_session_reports_total{outcome="unreadable"}') == [len(bodies)]
    assert len(rows(daemon, "session_end_reported")) == recorded


@pytest.mark.parametrize(
    ("body", "code", "word"),
    [
        (b"0\x82\x04\xd3" + bytes(1235), "spc_is_certificate", "certificate"),
        (b"spc=" + base64.b64encode(b"0\x82\x04\xd3" + bytes(60)), "spc_is_certificate", "certificate"),
        (b"#EXTM3U\n#EXT-X-VERSION:5\n", "body_unrecognised", "playlist"),
        (b"<!DOCTYPE html><html></html>", "body_unrecognised", "HTML"),
        ("spc=AAAA".encode("utf-16"), "body_unrecognised", "UTF-16"),
        (b"", "body_empty", "empty"),
    ],
)
def test_a_refusal_says_what_came(deployment: Deployment, body: bytes, code: str, word: str) -> None:
    answer = ask(deployment, body, deployment.token)
    assert (answer.status, answer.code) == (400, code)
    assert word in answer.problem["detail"] and answer.problem["hint"]


def test_a_refusal_names_the_certificates(deployment: Deployment) -> None:
    message = bytearray(request(deployment).message)
    held = message[152:172].hex()
    message[152] ^= 1
    answer = ask(deployment, bytes(message), deployment.token)
    assert (answer.status, answer.code) == (422, "spc_certificate_unknown")
    assert answer.problem["certificate_hash"] == message[152:172].hex()
    assert held in answer.problem["held_hashes"].split() and held in answer.problem["hint"]


def test_a_refusal_names_the_header_of_the_token(deployment: Deployment) -> None:
    message = request(deployment).message
    answer = deployment.client.send("POST", LICENSE_PATH, message, {"X-Player-Token": deployment.token})
    assert (answer.status, answer.code) == (401, "token_missing")
    assert answer.problem["header"].lower() == "x-player-token"
    headers = {"Authorization": f"Bearer {deployment.token}", "x-dt-auth-token": "another"}
    answer = deployment.client.send("POST", LICENSE_PATH, message, headers)
    assert (answer.status, answer.code) == (400, "token_ambiguous")
    assert "Authorization" in answer.problem["detail"] and "x-dt-auth-token" in answer.problem["detail"]


def test_get_says_what_to_do(deployment: Deployment) -> None:
    answer = deployment.client.send("GET", LICENSE_PATH)
    assert (answer.status, answer.code, answer.header("Allow")) == (405, "method_not_allowed", "POST, OPTIONS")
    assert "only POST" in answer.problem["detail"] and "by POST" in answer.problem["hint"]
    assert "the method GET" in answer.problem["detail"]


def test_tokens_in_bodies_need_the_setting(tmp_path: Path, deployment: Deployment, latchkey_programs: None) -> None:
    def read_bodies(setup: Path) -> None:
        file = setup / "latchkey.json5"
        text = file.read_text()
        assert text.count("entitlement: {") == 1
        file.write_text(text.replace("entitlement: {", "entitlement: { tokenInBody: true,"))

    def body(own: Deployment) -> tuple[PlaybackContext, bytes]:
        context = request(own)
        spc = base64.urlsafe_b64encode(context.message).decode()
        return context, json.dumps({"spc": spc, "token": own.token}).encode()

    assert ask(deployment, body(deployment)[1], None).code == "token_missing"
    with running_daemon(tmp_path, prepare=read_bodies) as daemon:
        own = deployment_of(daemon.url, daemon.setup)
        context, message = body(own)
        answer = ask(own, message, None)
        assert answer.status == 200, answer.body
        ckc = base64.b64decode(json.loads(answer.body)["ckc"])
        assert open_ckc(ckc, context.secrets).content_key == own.key.key
        answer = ask(own, message, own.mint("--subject", "another"))
        assert (answer.status, answer.code) == (400, "token_ambiguous")
        assert "the body" in answer.problem["detail"]

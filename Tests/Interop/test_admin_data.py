"""What admin listeners tell operators: state, plots, events, refusals, the ledger, contents and keys.

Runs a real daemon, for the plots under some load.
"""

import json
import secrets
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest

from admin_events import EVENTS_PATH, reading_events
from deployment import Deployment, deployment_of
from fairplay_device.spc import SPCOptions, device_for
from license_client import Answer, LicenseClient
from own_daemon import OwnDaemon, await_addresses, new_setup, running_daemon, start_daemon, stop_daemon

READERS_MAXIMUM = 4
STEP_SECONDS = 10
SUBJECT = "viewer-9"
# More than enough for a step, at one sample in two seconds.
SAMPLES_MAXIMUM = 30
RATES = {"rates": {name: {"perSecond": 100_000, "burst": 100_000} for name in ("perAddress", "perSubject")}}


class Admin:
    """An operator of one daemon, with its token."""

    def __init__(self, daemon: OwnDaemon):
        self.daemon = daemon
        self.url = "http://{}:{}".format(*daemon.admin)
        self.deployment = deployment_of(daemon.url, daemon.setup)

    @property
    def token(self) -> str:
        return (self.daemon.setup / "secrets" / "admin-token").read_text().strip()

    def ask(self, path: str, method: str = "GET", **query: object) -> Answer:
        target = path + ("?" + urlencode(query) if query else "")
        client = LicenseClient(self.url)
        try:
            return client.send(method, target, headers={"Authorization": f"Bearer {self.token}"})
        finally:
            client.close()

    def json(self, path: str, **query: object) -> dict:
        answer = self.ask(path, **query)
        assert answer.status == 200, answer
        return json.loads(answer.body)


def license(deployment: Deployment, token: str | None = None) -> Answer:
    message = device_for(deployment.credential, 2).request(SPCOptions(deployment.asset_id)).message
    return deployment.client.license(message, token or deployment.token)


@contextmanager
def under_load(admin: Admin) -> Iterator[None]:
    """Requests licenses one after the other, every fourth with a token that is none."""
    isDone = threading.Event()
    faults: list[object] = []
    deployment = deployment_of(admin.daemon.url, admin.daemon.setup)

    def run() -> None:
        number = 0
        while not isDone.is_set():
            number += 1
            answer = license(deployment, "none" if number % 4 == 0 else None)
            if answer.status != (401 if number % 4 == 0 else 200):
                faults.append(answer)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        isDone.set()
        thread.join()
    assert not faults, faults[:3]


@pytest.fixture(scope="module")
def admin(latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Admin]:
    with running_daemon(tmp_path_factory.mktemp("admin-data"), limits=RATES) as daemon:
        yield Admin(daemon)


# --- State and plots --------------------------------------------------------------------------------------------------


def test_the_state_follows_an_order_to_drain(admin: Admin) -> None:
    status = admin.json("/v1/status")
    assert status["ready"] is True and status["readiness"] == "ready" and status["drained"] is None
    assert status["degraded"] == [] and status["nodes"] == [] and status["stopping"] is False
    assert {listener["name"] for listener in status["listeners"]} == {"public[0]", "admin[0]"}
    assert status["startedAt"] <= status["now"] and 0 <= status["memory"]["charged"] < status["memory"]["budget"]
    assert {end["kind"] for end in status["ends"]} <= {"tls", "fairplay"}
    with reading_events(admin.url, admin.token) as events:
        assert events.answer.header("Content-Type") == "text/event-stream"
        assert events.next()[0] == "status"
        assert admin.ask("/v1/drain", "POST").status == 200
        drained = events.next_of("status")
        assert drained["ready"] is False and drained["drained"]["by"] == "token:tokenFile"
        assert admin.json("/v1/status")["drained"] == drained["drained"]
        assert admin.ask("/v1/ready", "POST").status == 200
        assert events.next_of("status")["ready"] is True


@pytest.mark.slow
def test_plots_show_the_load(admin: Admin) -> None:
    with reading_events(admin.url, admin.token) as events, under_load(admin):
        last = 0.0
        while True:
            sample = events.next_of("sample")
            assert sample["at"] > last
            last = sample["at"]
            values = sample["values"]
            if values["licenses_v2"] and values["refusals_anonymous"]:
                break
        assert values["refusals"] >= values["refusals_anonymous"] > 0 and values["http_2xx"] > 0
        assert 0 < values["latency_p50"] <= values["latency_p99"] <= 2.5
        assert 0 < values["rsa_busy"] <= 1 and values["processors"] > 0
        assert values["connections"] >= 2 and values["memory_resident"] > 1 << 20
        assert values["ledger_lag"] is None and values["licenses_v1"] == 0
        # The load goes on for a whole step. The events are the clock.
        for _ in range(SAMPLES_MAXIMUM):
            events.next_of("sample")
            history = admin.json("/v1/history")
            series = {one["name"]: one for one in history["series"]}
            if any(series["licenses_v2"]["values"]) and series["latency_p99"]["values"][-1]:
                break
    assert history["stepSeconds"] == STEP_SECONDS and 1 <= history["count"] <= 360
    assert list(series) == list(values)
    assert all(len(one["values"]) == history["count"] for one in series.values())
    assert max(series["refusals_anonymous"]["values"]) > 0
    assert series["latency_p99"]["unit"] == "seconds" and series["licenses_v2"]["unit"] == "per_second"
    end = history["startsAt"] + history["count"] * STEP_SECONDS
    newer = admin.json("/v1/history", since=end)
    assert newer["count"] <= 1 and newer["startsAt"] == pytest.approx(end, abs=1)
    assert admin.json("/v1/history", since=0)["count"] >= history["count"]


def test_a_token_has_only_so_many_readers_of_events(admin: Admin) -> None:
    with ExitStack() as stack:
        for _ in range(READERS_MAXIMUM):
            events = stack.enter_context(reading_events(admin.url, admin.token))
            assert events.answer.status == 200 and events.next()[0] == "status"
        refused = admin.ask(EVENTS_PATH)
        assert refused.code == "rate_limited" and b"close a tab" in refused.body
        assert int(refused.header("Retry-After") or 0) > 0
        # Other requests are served all the same.
        assert admin.json("/v1/status")["ready"] is True
    # The readers are gone, and leave their places to others.
    for _ in range(SAMPLES_MAXIMUM):
        with reading_events(admin.url, admin.token) as events:
            if events.answer.status == 200:
                break
    assert events.answer.status == 200


def test_strangers_read_nothing(admin: Admin) -> None:
    for path in ("status", "history", "device-kinds", "events", "refusals", "ledger", "contents", "contents/a/keys"):
        client = LicenseClient(admin.url)
        try:
            answer = client.send("GET", f"/v1/{path}")
        finally:
            client.close()
        assert (answer.status, answer.code) == (401, "admin_token_invalid"), path
        assert admin.ask(f"/v1/{path}", "POST").status == 405


# --- Look-ups ---------------------------------------------------------------------------------------------------------


def test_refusals_are_listed(admin: Admin) -> None:
    refused = [license(admin.deployment, "none") for _ in range(3)]
    ids = [str(answer.header("X-Request-Id")) for answer in refused]
    code = str(refused[0].code)
    page = admin.json("/v1/refusals", limit=2, code=code)
    assert [one["request_id"] for one in page["refusals"]] == [ids[2], ids[1]]
    assert page["refusals"][0] == admin.json(f"/v1/refusals/{ids[2]}")
    older = admin.json("/v1/refusals", limit=1, before=page["next"], code=code)
    assert [one["request_id"] for one in older["refusals"]] == [ids[0]]


def test_the_ledger_is_searched(admin: Admin) -> None:
    deployment = admin.deployment
    token = deployment.mint("--subject", SUBJECT)
    issued = [license(deployment, token) for _ in range(5)]
    licenses = [str(answer.header("X-License-Id")) for answer in issued]
    page = admin.json("/v1/ledger", content=deployment.content, limit=3)
    assert page["order"] == "newestFirst" and page["isComplete"] is False
    assert [entry["license"] for entry in page["entries"]] == licenses[:1:-1]
    entry = page["entries"][0]
    assert entry["kind"] == "license_issued" and entry["content"] == deployment.content
    assert entry["text"].startswith("license_issued") and licenses[4] in entry["text"]
    rest = admin.json("/v1/ledger", content=deployment.content, after=page["next"])
    # The key was made before.
    assert [one["license"] for one in rest["entries"]][:2] == [licenses[1], licenses[0]]
    assert rest["isComplete"] is True and rest["next"] is None
    assert admin.json("/v1/ledger", license=licenses[0])["entries"][0]["sequence"] < entry["sequence"]
    by_device = admin.json("/v1/ledger", device=f"pseudonym:{entry['device']}", limit=200)
    assert entry["sequence"] in [one["sequence"] for one in by_device["entries"]]
    found = admin.json("/v1/ledger", subject=SUBJECT, key=entry["kid"])
    assert [one["license"] for one in found["entries"]] == licenses[::-1]


def test_contents_and_keys_are_listed_without_secrets(admin: Admin) -> None:
    deployment = admin.deployment
    page = admin.json("/v1/contents", prefix=deployment.content)
    (content,) = page["contents"]
    assert content["contentId"] == deployment.content and content["keyCount"] == 1 and page["next"] is None
    answer = admin.ask(f"/v1/contents/{quote(deployment.content)}/keys")
    keys = json.loads(answer.body)
    (key,) = keys["keys"]
    assert key["keyId"].replace("-", "") == deployment.key.key_id.hex() and key["state"] == "live"
    assert set(key["floors"]) == {"securityLevel", "hdcp"} and keys["nextRotation"] is None
    for secret in (deployment.key.key, deployment.key.iv):
        assert secret.hex().encode() not in answer.body.lower()
    assert admin.ask("/v1/contents/none/keys").code == "not_found"


def test_a_look_up_of_nothing_is_no_refusal(admin: Admin) -> None:
    before = admin.json("/v1/refusals", limit=1)["refusals"]
    missing: list[tuple[str, str, dict[str, str], str]] = [
        ("GET", "/v1/contents/none/keys", {}, "No content"),
        ("GET", "/v1/refusals/0000000000000000", {}, "No refusal"),
        ("DELETE", "/v1/revocations", {"kind": "iss", "value": "nobody"}, "Nothing of this kind"),
    ]
    for method, path, query, words in missing:
        answer = admin.ask(path, method, **query)
        assert answer.status == 404 and answer.code == "not_found", answer
        assert str(answer.problem["detail"]).startswith(words) and "/fps/license" not in str(answer.problem["hint"])
    assert admin.json("/v1/refusals", limit=1)["refusals"] == before


# --- The end ----------------------------------------------------------------------------------------------------------


def test_events_end_with_the_daemon(latchkey_programs: None, tmp_path: Path) -> None:
    setup = new_setup(tmp_path)
    log = tmp_path / "daemon.log"
    process = start_daemon(setup, log)
    try:
        host, port = await_addresses(process, log)["admin"]
        with reading_events(f"http://{host}:{port}", (setup / "secrets" / "admin-token").read_text().strip()) as events:
            assert events.next()[0] == "status"
            ended: list[bool] = []
            reader = threading.Thread(target=lambda: ended.append(events.ends()))
            reader.start()
            assert stop_daemon(process) == 0
            reader.join()
            assert ended == [True]
    finally:
        stop_daemon(process)


def test_events_end_with_the_token(latchkey_programs: None, tmp_path: Path) -> None:
    """A reload replaces the token with which the reader has come."""
    with running_daemon(tmp_path) as daemon:
        file = daemon.setup / "secrets" / "admin-token"
        with reading_events("http://{}:{}".format(*daemon.admin), file.read_text().strip()) as events:
            assert events.next_of("sample")
            file.write_text(secrets.token_hex(32) + "\n")
            daemon.process.send_signal(signal.SIGHUP)
            daemon.await_log('"reloaded"')
            assert events.ends()

"""Devices, playbacks and rentals as operators manage them, and contents that issuers are limited to.

Runs on one node, on two nodes over one database, and through an outage of that database.
"""

import base64
import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

import pytest

from accounts import Desk, command, ledger_rows, play_with, rented, renew
from counting_node import ISSUERS, OTHER, Node, limited_to, message, node_alone, nodes_on_one_database, subject, token
from fairplay_device import tags
from license_client import LicenseClient
from outage_load import OutageNode, node_on
from outage_server import PROGRAMS, own_server
from own_daemon import stop_daemon

HOUR = 3600
PLAY = 48 * HOUR
PLAYING = tags.PLAYING_OR_PAUSED
# The name that the ledger has for the operator with the token of `latchkey init`.
OPERATOR = "token:tokenFile"


def epoch(text: object) -> int:
    """A time in UTC as seconds since 1970."""
    return int(datetime.fromisoformat(str(text).replace("Z", "+00:00")).timestamp())


@pytest.fixture(scope="module", params=["alone", "two nodes"])
def nodes(
    request: pytest.FixtureRequest, latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[Node]]:
    """Two nodes: the same node with SQLite twice, or two nodes over PostgreSQL."""
    folder = tmp_path_factory.mktemp("accounts")
    if request.param == "alone":
        started = [node_alone(folder)]
    elif "LATCHKEY_POSTGRESQL" not in os.environ:
        pytest.skip("LATCHKEY_POSTGRESQL names no server: Scripts/with-postgresql Scripts/test-interop starts one")
    else:
        started = nodes_on_one_database(folder, 2)
    for node in started:
        node.start()
    yield [started[0], started[-1]]
    for node in started:
        assert node.process is not None and stop_daemon(node.process) == 0


# --- Devices ----------------------------------------------------------------------------------------------------------


def test_a_device_is_listed_and_removed(nodes: list[Node]) -> None:
    one, other = nodes
    someone = subject()
    mine, second = one.device(), one.device()

    def ask(node: Node, device: object) -> str | None:
        return node.ask(message(device), token(sub=someone, device={"max": 1})).code

    assert ask(one, mine) is None
    refusal = other.ask(message(second), token(sub=someone, device={"max": 1}))
    assert refusal.code == "device_limit"
    assert "latchkey account devices remove" in str(refusal.problem["hint"])
    listed = Desk(other).listed("devices", someone)
    assert len(listed) == 1 and listed[0]["addedAt"] == listed[0]["seenAt"]
    assert command(one, "devices", "list", someone) == listed
    name = str(listed[0]["device"])
    assert name.startswith("pseudonym:") and mine.device_id.hex() not in json.dumps(listed)

    named = {"subject": someone, "issuer": ISSUERS.ISSUER, "device": second.device_id.hex()}
    assert Desk(other).send("DELETE", "devices", **named).status == 404
    assert Desk(other).change("devices", someone, device=mine.device_id.hex()) == listed
    assert Desk(one).listed("devices", someone) == []
    assert ask(one, second) is None
    assert ask(other, mine) == "device_limit"
    shown = str(command(other, "devices", "list", someone)[0]["device"])
    assert len(command(one, "devices", "remove", someone, "--device", shown)) == 1
    assert ask(other, mine) is None

    rows = ledger_rows(other, "device_removed")
    assert OPERATOR in [row["actor"] for row in rows] and all(row["device"] and row["subject"] for row in rows)
    assert str(ledger_rows(one, "device_removed")[-1]["actor"]).startswith("user:")


def test_lists_come_in_pages(nodes: list[Node]) -> None:
    one, other = nodes
    someone = subject()
    for _ in range(5):
        assert one.ask(message(one.device()), token(sub=someone, device={"max": 5})).status == 200
    whole = Desk(other).listed("devices", someone)
    assert len(whole) == 5 and Desk(other).listed("devices", someone, limit="2") == whole
    assert len(Desk(other).change("devices", someone, all="true")) == 5
    assert Desk(one).listed("devices", someone) == []


def test_strangers_and_wrong_questions_get_nothing(nodes: list[Node]) -> None:
    desk = Desk(nodes[0])
    for kind in ("devices", "playbacks", "rentals"):
        for method in ("GET", "DELETE"):
            assert desk.send(method, kind, with_token=False, subject="viewer", all="true").status == 401
        named = {"subject": "viewer", "issuer": ISSUERS.ISSUER}
        for wrong in (
            {}, {"subject": "viewer"}, named | {"issuer": "nobody"}, named | {"limit": "0"}, named | {"limit": "1001"},
            named | {"after": "x"}, named | {"more": "1"}, named | {"cookie": "c"}, {"cookie": "c"},
            {"subject": "pseudonym:00"},
        ):
            assert desk.send("GET", kind, **wrong).status == 400, wrong
        for wrong in ({}, {"all": "yes"}, {"all": "true", "content": "a", "device": "00"}, {"limit": "1"}):
            assert desk.send("DELETE", kind, **(named | wrong)).status == 400, wrong
        assert desk.send("POST", kind, **named).status == 405
    assert desk.send("DELETE", "devices", subject="v", issuer=ISSUERS.ISSUER, device="zz").status == 400
    assert desk.send("GET", "accounts", subject="v").status == 404


def test_two_devices_race_for_the_last_place(nodes: list[Node]) -> None:
    for _ in range(8):
        someone = subject()
        messages = [message(nodes[0].device()) for _ in range(2)]
        with ThreadPoolExecutor(2) as pool:
            answers = pool.map(
                lambda pair: pair[0].ask(pair[1], token(sub=someone, device={"max": 1})).code or "good",
                zip(nodes, messages, strict=True),
            )
            assert Counter(answers) == {"good": 1, "device_limit": 1}
        assert len(Desk(nodes[1]).listed("devices", someone)) == 1


# --- Playbacks --------------------------------------------------------------------------------------------------------


def test_a_playback_is_listed_and_ended(nodes: list[Node]) -> None:
    one, other = nodes
    claims = limited_to(1)
    someone = str(claims["sub"])
    mine, second = one.device(), one.device()
    first = one.ask(message(mine, 7, PLAYING), token(**claims))
    session = first.header("X-Session-Token")
    assert first.status == 200 and session
    assert other.ask(message(second, 8, PLAYING, asset=OTHER), token(**claims)).code == "concurrency_limit"
    listed = Desk(other).listed("playbacks", someone)
    assert command(one, "playbacks", "list", someone) == listed
    assert [(row["group"], row["content"], row["session"], row["playing"]) for row in listed] == [
        ("all", ISSUERS.content, "0000000000000007", True)
    ]
    assert Desk(other).change("playbacks", someone, playback=str(listed[0]["playback"])) == listed
    assert Desk(one).listed("playbacks", someone) == []
    assert renew(one, session, mine, 7).code == "session_killed"
    assert other.ask(message(second, 8, PLAYING, asset=OTHER), token(**claims)).status == 200
    assert len(command(one, "playbacks", "end", someone, "--all")) == 1
    assert one.ask(message(mine, 9, PLAYING), token(**claims)).status == 200
    rows = [row for row in ledger_rows(other, "playback_ended") if row["actor"] == OPERATOR]
    assert [(row["detail"], row["content"]) for row in rows] == [("all", ISSUERS.content)]


# --- Rentals ----------------------------------------------------------------------------------------------------------


def test_a_rental_is_remembered_over_devices_nodes_and_a_kill(nodes: list[Node]) -> None:
    one, other = nodes
    someone = subject()
    mine, second = one.device(), one.device()
    answer, ready = play_with(one, rented(someone), mine, tags.READY_TO_START)
    assert answer.status == 200 and ready.terms.rental == 30 * 24 * HOUR and ready.terms.lease == 300
    assert Desk(other).listed("rentals", someone)[0]["firstPlay"] is None
    answer, playing = play_with(other, rented(someone), mine, PLAYING)
    assert PLAY - 5 <= playing.terms.rental <= PLAY
    known = command(one, "rentals", "list", someone)
    assert len(known) == 1 and known[0]["content"] == ISSUERS.content and known[0]["firstPlay"]
    one.kill_and_start()
    for node in (one, other):
        for device in (mine, second):
            _, again = play_with(node, rented(someone), device, tags.READY_TO_START, 3)
            assert PLAY - 120 <= again.terms.rental <= PLAY
    assert Desk(one).listed("rentals", someone)[0]["firstPlay"] == known[0]["firstPlay"]


def test_a_rental_ends_and_can_be_forgotten(nodes: list[Node]) -> None:
    one, other = nodes
    someone = subject()
    device = one.device()
    short = {"play": "2s", "lease": 60}
    first, _ = play_with(one, rented(someone, finish=True, **short), device, PLAYING)
    session = first.header("X-Session-Token")
    assert first.status == 200 and session
    cut, license = play_with(one, rented(subject(), finish=False, **short), one.device(), PLAYING)
    assert license.terms.lease <= 2 and cut.header("X-Session-Token") is None
    deadline = time.monotonic() + 30
    while play_with(other, rented(someone, **short), one.device(), PLAYING)[0].code is None:
        assert time.monotonic() < deadline
    refused, _ = play_with(other, rented(someone, **short), device, tags.READY_TO_START)
    assert refused.code == "right_ended"
    # A playback that has begun is not interrupted.
    renewed = renew(other, session, device)
    assert renewed.status == 200 and renewed.header("X-Session-Token")
    assert len(Desk(other).change("rentals", someone, content=ISSUERS.content)) == 1
    assert Desk(one).listed("rentals", someone) == []
    assert play_with(one, rented(someone, **short), device, tags.READY_TO_START)[0].status == 200
    row = ledger_rows(other, "rental_forgotten")[-1]
    assert row["actor"] == OPERATOR and row["content"] == ISSUERS.content and "first play" in row["detail"]


def test_two_nodes_race_for_the_first_play(nodes: list[Node]) -> None:
    for _ in range(6):
        someone = subject()
        devices = [nodes[0].device() for _ in range(8)]
        with ThreadPoolExecutor(8) as pool:
            played = list(
                pool.map(
                    lambda pair: play_with(nodes[pair[0] % 2], rented(someone), pair[1], PLAYING), enumerate(devices)
                )
            )
        assert {answer.status for answer, _ in played} == {200}
        remembered = Desk(nodes[1]).listed("rentals", someone)
        assert len(remembered) == 1
        # The rentals of all licenses end at the same time, counted from when each license was issued.
        ends = {int(answer.header("X-License-Issued")) + license.terms.rental for answer, license in played}
        assert ends == {epoch(remembered[0]["firstPlay"]) + PLAY}


@pytest.mark.parametrize(
    "right",
    [
        {"duration": 60, "rental": {"start": "30d", "play": "48h"}}, {"rental": {"start": "30d"}},
        {"rental": {"start": "30d", "play": "0h"}}, {"rental": "48h"},
    ],
)
def test_a_rental_that_says_nothing_clear_is_refused(nodes: list[Node], right: dict[str, object]) -> None:
    asked = token(sub=subject(), rights=[{"content": ISSUERS.content} | right])
    assert nodes[0].ask(message(nodes[0].device()), asked).code == "token_schema"


def test_a_rental_without_a_subject_is_refused(nodes: list[Node]) -> None:
    right = {"content": ISSUERS.content, "rental": {"start": "30d", "play": "48h"}}
    claims = ISSUERS.claims(rights=[right])
    claims.pop("sub", None)
    asked = ISSUERS.native["HS256"].sign(claims)
    answer = nodes[0].ask(message(nodes[0].device()), asked)
    assert answer.code == "token_schema"


def test_explain_shows_the_rental(nodes: list[Node]) -> None:
    one, other = nodes
    someone = subject()
    play_with(one, rented(someone), one.device(), PLAYING)
    host, port = other.admin
    client = LicenseClient(f"http://{host}:{port}")
    secret = (other.setup / "secrets" / "admin-token").read_text().strip()
    body = {"token": rented(someone), "spc": base64.b64encode(message(one.device())).decode()}
    answer = client.send("POST", "/v1/explain", json.dumps(body).encode(), {"Authorization": f"Bearer {secret}"})
    client.close()
    report = json.loads(answer.body)
    assert report["allowed"] is True and report["terms"]["rental"] <= PLAY
    assert report["rental"]["firstPlay"] == Desk(one).listed("rentals", someone)[0]["firstPlay"]


# --- Scopes -----------------------------------------------------------------------------------------------------------


def set_scope(node: Node, contents: list[str] | None) -> None:
    """Limits the tokens' issuer to these contents, and reloads the daemon."""
    configuration = node.setup / "latchkey.json5"
    text = configuration.read_text()
    marked = '"keysFile": "secrets/native.json"'
    assert marked in text
    start = text.index(marked) + len(marked)
    end = text.index("}", start)
    scope = "" if contents is None else f', "contents": {json.dumps(contents)}'
    configuration.write_text(text[:start] + scope + text[end:])
    assert node.process is not None
    before = node.log.read_text().count('"event":"reloaded"')
    node.process.send_signal(1)
    deadline = time.monotonic() + 20
    while node.log.read_text().count('"event":"reloaded"') == before:
        assert time.monotonic() < deadline, node.log.read_text()[-2000:]
        time.sleep(0.05)


def test_an_issuer_opens_its_contents_alone(nodes: list[Node]) -> None:
    one, other = nodes
    device = one.device()
    leased = token(sub=subject(), rights=[{"content": OTHER, "lease": 300}])
    begun = one.ask(message(device, 5, PLAYING, asset=OTHER), leased)
    session = begun.header("X-Session-Token")
    assert begun.status == 200 and session
    for node in {id(node): node for node in nodes}.values():
        set_scope(node, ["counted-*"])
    try:
        for node in (one, other):
            assert node.ask(message(device), token(sub=subject())).status == 200
            wide = token(sub=subject(), rights=[{"content_prefix": "a"}, {"content": OTHER}])
            assert node.ask(message(device, asset=OTHER), wide).code == "content_mismatch"
            # A session that was granted before ends at its next renewal.
            late = message(device, 5, tags.LEASE_ABOUT_TO_EXPIRE, asset=OTHER)
            assert node.ask(late, session).code == "content_mismatch"
            client = LicenseClient(node.url)
            assert client.challenge(wide).code == "content_mismatch"
            assert client.challenge(token(sub=subject())).status == 200
            asked = client.send(
                "POST", "/fps/licenses/query", json.dumps({"licenses": [begun.header("X-License-Id")]}).encode(),
                {"Authorization": f"Bearer {leased}"},
            )
            client.close()
            assert asked.status == 200 and json.loads(asked.body)["licenses"][0]["state"] == "unknown"
    finally:
        for node in {id(node): node for node in nodes}.values():
            set_scope(node, None)
    assert one.ask(message(device, 6, asset=OTHER), leased).status == 200


# --- An outage of the database ----------------------------------------------------------------------------------------


def await_first_play(node: Node, subject: str) -> list[dict[str, object]]:
    """Waits until a rental of the subject was played, and returns its rentals.

    A node that has just reconnected may still answer 503 with Retry-After.
    """
    deadline = time.monotonic() + 60
    while True:
        answer = Desk(node).send("GET", "rentals", subject=subject, issuer=ISSUERS.ISSUER)
        assert answer.status in (200, 503), answer
        rows = json.loads(answer.body)["rentals"] if answer.status == 200 else []
        if any(row["firstPlay"] for row in rows):
            return rows
        assert time.monotonic() < deadline, answer
        time.sleep(0.1)


@pytest.mark.slow
@pytest.mark.skipif(not PROGRAMS, reason="PostgreSQL is not installed")
def test_two_nodes_hold_through_an_outage(latchkey_programs: None, tmp_path: Path) -> None:
    """In an outage, one node refuses and the other admits. When the database is back, both agree on everything."""
    with own_server() as server:
        refusing = node_on(server, tmp_path / "1", name="node-1", on_outage="refuse")
        admitting = node_on(server, tmp_path / "2", name="node-2", like=refusing, on_outage="admit")
        pair: list[OutageNode] = [refusing, admitting]
        for node in pair:
            node.start()
        try:
            known, fresh, played = subject(), subject(), subject()
            device = refusing.device()
            begun, _ = play_with(refusing, rented(known), device, tags.READY_TO_START)
            session = begun.header("X-Session-Token")
            assert begun.status == 200 and session
            play_with(refusing, rented(played), device, PLAYING, 2)
            first_play = Desk(admitting).listed("rentals", played)[0]["firstPlay"]
            # Makes both nodes cache the content's key.
            assert play_with(admitting, rented(subject()), device, tags.READY_TO_START, 9)[0].status == 200
            server.kill()
            for node in pair:
                node.await_state(lambda state: "postgresql" in state.degraded)

            # A renewal is served, and the record of the play is not lost.
            assert renew(refusing, session, device).status == 200
            refused, _ = play_with(refusing, rented(fresh), refusing.device(), PLAYING, 3)
            assert refused.code == "storage_unavailable"
            admitted, _ = play_with(admitting, rented(fresh), refusing.device(), PLAYING, 4)
            assert admitted.status == 200
            again, _ = play_with(admitting, rented(played), refusing.device(), PLAYING, 5)
            assert again.status == 200
            for node in pair:
                assert Desk(node).send("GET", "rentals", subject=known, issuer=ISSUERS.ISSUER).status == 503
                answer = Desk(node).send("DELETE", "devices", subject=known, issuer=ISSUERS.ISSUER, all="true")
                assert answer.status == 503

            server.start()
            for node in pair:
                node.await_state(lambda state: "postgresql" not in state.degraded)
            rows = await_first_play(refusing, fresh)
            assert await_first_play(refusing, known)
            assert Desk(admitting).listed("rentals", fresh) == rows
            assert Desk(admitting).listed("rentals", played)[0]["firstPlay"] == first_play, "the earlier play is the first"
            _, left = play_with(refusing, rented(fresh), refusing.device(), tags.READY_TO_START, 6)
            assert left.terms.rental <= PLAY
        finally:
            for node in pair:
                if node.process is not None and node.process.poll() is None:
                    node.stop()

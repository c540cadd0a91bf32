"""The same SPC with another token, as a cheating viewer sends it, and honest retries.

On one node with SQLite, on two nodes with one PostgreSQL database, after a kill, and in an outage.
"""

import os
import random
import secrets
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import pytest

from accounts import Desk as AccountDesk
from accounts import ledger_rows
from counting_node import ISSUERS, Node, message, node_alone, nodes_on_one_database, token
from fairplay_device import tags
from license_client import Answer
from outage_load import OutageNode, node_on
from outage_server import own_server
from own_daemon import stop_daemon


@dataclass(frozen=True)
class Desk:
    """Two nodes that a viewer can reach, or twice the same one."""

    nodes: tuple[Node, Node]
    # Between the first request and the second.
    meanwhile: Callable[[Node], None] = lambda node: None

    def twice(self, spc: bytes, first: str, second: str) -> tuple[Answer, Answer]:
        given = self.nodes[0].ask(spc, first)
        self.meanwhile(self.nodes[1])
        return given, self.nodes[1].ask(spc, second)


@pytest.fixture(scope="module")
def alone(latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    node = node_alone(tmp_path_factory.mktemp("alone"))
    node.start()
    yield node
    assert node.process is not None and stop_daemon(node.process) == 0


@pytest.fixture(scope="module")
def pair(latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Node]]:
    nodes = nodes_on_one_database(tmp_path_factory.mktemp("pair"), 2)
    for node in nodes:
        node.start()
    yield nodes
    for node in nodes:
        assert node.process is not None and stop_daemon(node.process) == 0


@pytest.fixture(params=["alone", "killed", "two nodes"])
def desk(request: pytest.FixtureRequest) -> Desk:
    if request.param == "two nodes":
        first, second = request.getfixturevalue("pair")
        return Desk((first, second))
    node = request.getfixturevalue("alone")
    return Desk((node, node), Node.kill_and_start) if request.param == "killed" else Desk((node, node))


def account() -> dict[str, object]:
    return {"sub": f"viewer-{secrets.token_hex(6)}"}


def rights(**members: object) -> list[dict[str, object]]:
    return [{"content": ISSUERS.content, **members}]


# --- A cheating viewer with two tokens --------------------------------------------------------------------------------


def test_a_cheap_token_is_no_way_to_a_spent_one(desk: Desk) -> None:
    who, node = account(), desk.nodes[0]
    spent = token(**who, limits={"uses": 1})
    device = node.device()
    assert node.ask(message(device), spent).status == 200
    given, refused = desk.twice(message(device), token(**who, rights=rights(lease=60)), spent)
    assert (given.status, refused.code) == (200, "token_used")


@pytest.mark.parametrize(
    ("limit", "code"),
    [
        ({"device": {"max": 1}}, "device_limit"),
        ({"device": {"bind": "first"}}, "device_mismatch"),
        ({"session": {"groups": [{"id": "all", "max": 1}]}}, "concurrency_limit"),
    ],
)
def test_a_cheap_token_is_no_way_to_a_second_device(desk: Desk, limit: dict[str, object], code: str) -> None:
    who, node = account(), desk.nodes[0]
    strict = token(**who, **limit, rights=rights(lease=300))
    assert node.ask(message(node.device(), 1, tags.PLAYING_OR_PAUSED), strict).status == 200
    spc = message(node.device(), 2, tags.PLAYING_OR_PAUSED)
    given, refused = desk.twice(spc, token(**who, rights=rights(lease=60)), strict)
    assert (given.status, refused.code) == (200, code)


def test_a_spent_token_begins_no_new_session(desk: Desk) -> None:
    who, node = account(), desk.nodes[0]
    once = token(**who, limits={"uses": 1}, rights=rights(lease=60))
    device = node.device()
    first = node.ask(message(device, 7, tags.PLAYING_OR_PAUSED), once)
    session = first.header("X-Session-Token")
    assert first.status == 200 and session is not None
    renewed, refused = desk.twice(message(device, 7, tags.LEASE_ABOUT_TO_EXPIRE), session, once)
    assert (renewed.status, refused.code) == (200, "token_used")


def test_an_evicted_playback_gets_nothing_with_its_session_token(desk: Desk) -> None:
    who, node = account(), desk.nodes[0]
    group = {"session": {"groups": [{"id": "all", "max": 1}], "mode": "evict_oldest"}}
    strict = token(**who, **group, rights=rights(lease=300))
    evicted = node.device()
    session = node.ask(message(evicted, 1, tags.PLAYING_OR_PAUSED), strict).header("X-Session-Token")
    assert session is not None
    assert node.ask(message(node.device(), 2, tags.PLAYING_OR_PAUSED), strict).status == 200
    spc = message(evicted, 1, tags.LEASE_ABOUT_TO_EXPIRE)
    given, refused = desk.twice(spc, token(**who, rights=rights(lease=60)), session)
    assert given.status == 200 and refused.status == 403, refused
    assert refused.header("X-Session-Token") is None


def test_a_rental_leaves_its_trace(desk: Desk) -> None:
    who, node = account(), desk.nodes[0]
    rental = token(**who, rights=rights(rental={"start": "30d", "play": "48h"}, lease=300))
    spc = message(node.device(), 1, tags.PLAYING_OR_PAUSED)
    given, rented = desk.twice(spc, token(**who, rights=rights(lease=60)), rental)
    assert (given.status, rented.status) == (200, 200)
    assert given.header("X-License-Id") != rented.header("X-License-Id")


# --- Honest retries ---------------------------------------------------------------------------------------------------


def test_a_retry_costs_one_use_and_one_row(desk: Desk) -> None:
    who, node = account(), desk.nodes[0]
    twice = token(**who, limits={"uses": 2}, rights=rights(lease=60))
    device = node.device()
    first, again = desk.twice(message(device), twice, token(**who, limits={"uses": 3}, rights=rights(lease=60)))
    assert (first.status, again.status) == (200, 200)
    name = first.header("X-License-Id")
    assert again.header("X-License-Id") == name
    for each in desk.nodes:
        # Another node may not know yet that the row is written, and write it too.
        rows = [row for row in ledger_rows(each, "license_issued") if row["license"] == name]
        assert len(rows) <= 1 and (rows or each is not node)
    assert node.ask(message(device), twice).status == 200, "one use is left"
    assert node.ask(message(device), twice).code == "token_used"


def test_nine_copies_at_once_cost_one_use(desk: Desk) -> None:
    once, spc = token(**account(), limits={"uses": 1}), message(desk.nodes[0].device())
    with ThreadPoolExecutor(9) as pool:
        answers = list(pool.map(lambda number: desk.nodes[number % 2].ask(spc, once), range(9)))
    assert {answer.status for answer in answers} == {200}
    assert len({answer.header("X-License-Id") for answer in answers}) == 1


@pytest.mark.parametrize("newer", [False, True])
def test_a_lost_renewal_is_repeated(desk: Desk, newer: bool) -> None:
    node = desk.nodes[0]
    device = node.device()
    first = node.ask(message(device, 7), token(**account(), rights=rights(lease=60)))
    older = first.header("X-Session-Token")
    assert older is not None
    spc = message(device, 7, tags.LEASE_ABOUT_TO_EXPIRE)
    renewed = node.ask(spc, older)
    session = renewed.header("X-Session-Token") if newer else older
    assert renewed.status == 200 and session is not None
    desk.meanwhile(desk.nodes[1])
    again = desk.nodes[1].ask(spc, session)
    assert again.status == 200 and again.header("X-License-Id") == renewed.header("X-License-Id")


# --- An outage --------------------------------------------------------------------------------------------------------


def test_an_outage_gives_nothing_twice(latchkey_programs: None, tmp_path: Path) -> None:
    """The database is away, and the node admits. It knows what it has given before."""
    with own_server() as server:
        node: OutageNode = node_on(server, tmp_path, on_outage="admit")
        node.start()
        who = account()
        spent = token(**who, limits={"uses": 1})
        device, known = node.device(), message(node.device())
        first = node.ask(known, spent)
        assert first.status == 200
        server.stop()
        again = node.ask(known, spent)
        assert again.status == 200 and again.header("X-License-Id") == first.header("X-License-Id")
        assert node.ask(message(device), spent).status == 503
        spc = message(device)
        assert node.ask(spc, token(**who, rights=rights(lease=60))).status == 200
        assert node.ask(spc, spent).status == 503
        server.start()
        assert node.process is not None and stop_daemon(node.process) == 0


# --- Lost connections -------------------------------------------------------------------------------------------------

TERMINATE = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename = 'latchkey'
    """


def ask_again(node: Node, spc: bytes, bearer: str) -> Answer:
    """Asks until the node can decide: on a busy machine a connection comes late, and others wait in front."""
    end = time.monotonic() + 300
    while (answer := node.ask(spc, bearer)).code in {"storage_unavailable", "overloaded"}:
        assert time.monotonic() < end, answer
    return answer


@pytest.mark.parametrize("rule", ["refuse", "admit"])
def test_a_lost_connection_is_no_outage(latchkey_programs: None, tmp_path: Path, rule: str) -> None:
    with own_server() as server:
        node = node_on(server, tmp_path, on_outage=rule)
        node.start()
        for _ in range(6):
            who, device = account(), node.device()
            thrice = token(**who, limits={"uses": 3})
            assert [ask_again(node, message(device), thrice).status for _ in range(3)] == [200] * 3
            server.sql(TERMINATE)
            assert ask_again(node, message(device), thrice).code == "token_used"
            strict = token(**who, device={"max": 1})
            assert ask_again(node, message(device), strict).status == 200
            server.sql(TERMINATE)
            assert ask_again(node, message(node.device()), strict).code == "device_limit"
        assert node.process is not None and stop_daemon(node.process) == 0


def test_a_database_that_takes_over_gives_no_use_again(latchkey_programs: None, tmp_path: Path) -> None:
    """It has the node's mark, and lacks what was decided after it."""
    with own_server() as server:
        node = node_on(server, tmp_path)
        node.start()
        for _ in range(8):
            device, once = node.device(), token(**account(), limits={"uses": 1})
            assert ask_again(node, message(device), token(**account(), limits={"uses": 1})).status == 200
            mark = server.sql("SELECT number FROM node_mark")
            assert ask_again(node, message(device), once).status == 200
            # The lock keeps the node from counting its mark up while the commits are lost.
            server.sql(
                f"BEGIN; LOCK TABLE node_mark; DELETE FROM cell; UPDATE node_mark SET number = {mark}; "
                f"{TERMINATE}; COMMIT"
            )
            assert ask_again(node, message(device), once).code == "token_used"
        assert node.process is not None and stop_daemon(node.process) == 0


@dataclass(frozen=True)
class Ask:
    """A request, and what is counted with it: the account, the kind of its limit, and who asks."""

    counted: tuple[str, str]
    asker: int
    spc: bytes
    bearer: str


def asks_of(node: Node, who: str) -> list[Ask]:
    """Forty requests of one account, for three uses, two devices, two playbacks and one rental."""
    devices = [node.device() for _ in range(4)]
    # All of them are used until the end of the long form.
    end = int(time.time()) + 3600
    uses = token(sub=who, exp=end, limits={"uses": 3})
    places = token(sub=f"{who}-devices", exp=end, device={"max": 2})
    group = {"session": {"groups": [{"id": "all", "max": 2}]}}
    slots = token(sub=f"{who}-slots", exp=end, rights=rights(lease=3600), **group)
    rental = token(sub=f"{who}-rental", exp=end, rights=rights(rental={"start": "30d", "play": "48h"}, lease=300))
    asks = [Ask((who, "uses"), number, message(devices[0]), uses) for number in range(12)]
    for number, device in enumerate(devices):
        asks += [Ask((who, "devices"), number, message(device), places) for _ in range(3)]
        playing = message(device, number + 1, tags.PLAYING_OR_PAUSED)
        asks.append(Ask((who, "slots"), number, playing, slots))
        asks += [Ask((who, "rental"), number, message(device, 1, tags.PLAYING_OR_PAUSED), rental) for _ in range(3)]
    return asks


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["alone", "two nodes"])
def test_sixty_four_threads_are_counted_exactly(latchkey_programs: None, tmp_path: Path, kind: str) -> None:
    """Connections to the database are lost all the time, and the clients repeat what was not answered."""
    accounts = 130 if "LATCHKEY_TEST_LONG" in os.environ else 6
    with own_server() as server:
        if kind == "alone":
            (tmp_path / "alone").mkdir()
            nodes: list[Node] = [node_alone(tmp_path / "alone")]
        else:
            first = node_on(server, tmp_path / "first")
            nodes = [first, node_on(server, tmp_path / "second", name="node-2", like=first)]
        for node in nodes:
            node.start()
        asks = [ask for number in range(accounts) for ask in asks_of(nodes[0], f"{kind}-{number}")]
        random.Random(len(asks)).shuffle(asks)
        given: dict[tuple[str, str], list[int]] = defaultdict(list)
        refused: dict[tuple[str, str], list[tuple[int, str | None]]] = defaultdict(list)
        with ThreadPoolExecutor(64) as pool:
            running = {
                pool.submit(ask_again, nodes[number % len(nodes)], ask.spc, ask.bearer): ask
                for number, ask in enumerate(asks)
            }
            for number, answer in enumerate(as_completed(running)):
                ask = running[answer]
                if answer.result().status == 200:
                    given[ask.counted].append(ask.asker)
                else:
                    refused[ask.counted].append((ask.asker, answer.result().code))
                if kind != "alone" and number % 40 == 0:
                    server.sql(TERMINATE)
        for (who, limit), askers in given.items():
            counted = len(askers) if limit == "uses" else len(set(askers))
            assert counted == {"uses": 3, "devices": 2, "slots": 2, "rental": 4}[limit], (who, limit, askers)
            if limit == "devices":
                assert len(askers) == 6, ("a device that has a place keeps it", askers, refused[who, limit])
        assert len(given) == 4 * accounts
        for number in range(accounts):
            assert len(AccountDesk(nodes[0]).listed("rentals", f"{kind}-{number}-rental")) == 1
        for node in nodes:
            assert node.process is not None and stop_daemon(node.process) == 0


@pytest.mark.slow
def test_terminations_at_random_give_nothing_twice(latchkey_programs: None, tmp_path: Path) -> None:
    with own_server() as server:
        node = node_on(server, tmp_path, on_outage="admit")
        node.start()
        device, tokens = node.device(), [token(**account(), limits={"uses": 3}) for _ in range(8)]
        messages = [(bearer, message(device)) for _ in range(25) for bearer in tokens]
        with ThreadPoolExecutor(9) as pool:
            answers = [pool.submit(node.ask, spc, bearer) for bearer, spc in messages]
            while not all(answer.done() for answer in answers):
                server.sql(TERMINATE)
        # A use may be spent for a request whose answer was lost. It gets its license when it is repeated.
        final = [
            answer.result() if answer.result().status != 503 else ask_again(node, spc, bearer)
            for (bearer, spc), answer in zip(messages, answers)
        ]
        assert {answer.status for answer in final} == {200, 403}
        given = [bearer for (bearer, _), answer in zip(messages, final) if answer.status == 200]
        assert {given.count(bearer) for bearer in tokens} == {3}
        assert node.process is not None and stop_daemon(node.process) == 0

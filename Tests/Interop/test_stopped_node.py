"""A node that is stopped at any moment of a decision does not keep another node from deciding about the same subject.

A decision is two round trips of one transaction. A node that is stopped between them holds the locks of its cells until
the database cuts it off. The network between this node and the database is slow, so that most stops are in between.
"""

import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from counting_node import ISSUERS, message, subject, token
from cut_network import CutNetwork, cut_network
from fairplay_device import tags
from fairplay_device.spc import Device
from lengths import inputs
from license_client import Answer, LicenseClient
from outage_load import OutageNode, assert_in_ledgers, node_on
from outage_server import PROGRAMS, Server, own_server
from own_daemon import stop_daemon
from sdk_load import events
from slow_network import SlowNetwork, slow_network

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not PROGRAMS, reason="PostgreSQL is not installed")]

ROUNDS = inputs(short=8, long=60)
ROUND_TRIP_SECONDS = 0.03
# Longer than the database waits for a node.
STOP_SECONDS = (2.2, 4)
# The types of a decision's messages: Bind, Describe and Execute of each statement, and Sync after each round trip.
MESSAGES = 3 * "BDE" + "S" + 2 * "BDE" + "S"
# What a client gets that must ask again.
UNANSWERED = {"storage_unavailable", "overloaded", "connection"}
DENIAL = "concurrency_limit"


@dataclass
class Player(threading.Thread):
    """Asks a node for one license after the other. It sends a request again until it gets a license or a denial."""

    node: OutageNode
    device: Device
    session: int
    presented: str
    is_over: threading.Event
    # The start, the end and the code of each answer.
    answers: list[tuple[float, float, str | None]] = field(default_factory=list)
    given: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__(daemon=True)

    def __hash__(self) -> int:
        return id(self)

    def run(self) -> None:
        client = LicenseClient(self.node.url)
        while not self.is_over.wait(0.05):
            spc = message(self.device, self.session, tags.PLAYING_OR_PAUSED)
            while self._ask(client, spc) in UNANSWERED:
                time.sleep(0.1)

    def _ask(self, client: LicenseClient, spc: bytes) -> str | None:
        start = time.monotonic()
        try:
            answer: Answer | None = client.license(spc, self.presented)
        except OSError:
            client.close()
            answer = None
        code = answer.code if answer is not None else "connection"
        self.answers.append((start, time.monotonic(), code))
        if answer is not None and answer.status == 200:
            self.given.add(answer.header("X-License-Id") or "")
        return code


@pytest.fixture
def server() -> Iterator[Server]:
    with own_server() as server:
        server.restore()
        yield server


def held_transactions(server: Server) -> int:
    """The number of transactions between their two round trips."""
    return int(server.sql("SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction'"))


def counted_uses(server: Server) -> int:
    """The uses of all tokens. They follow the first byte of a cell, seven bits in each byte."""
    counted = 0
    for line in server.sql("SELECT encode(value, 'hex') FROM cell WHERE kind = 2").split():
        for place, byte in enumerate(bytes.fromhex(line)[1:]):
            counted += (byte & 0x7F) << 7 * place
            if byte < 0x80:
                break
    return counted


def await_decision(players: list[Player]) -> None:
    """Waits until one of the players gets another license or denial."""
    counts = {player: len(player.answers) for player in players}
    deadline = time.monotonic() + 30
    while not any({None, DENIAL} & {code for _, _, code in player.answers[counts[player] :]} for player in players):
        assert time.monotonic() < deadline, "the node does not decide any more"
        time.sleep(0.005)


def claims() -> dict[str, object]:
    """A subject with places for all of four devices, with two playbacks, and with uses that are only counted."""
    return {
        "sub": subject(),
        "exp": int(time.time()) + 3600,
        "limits": {"uses": 1_000_000},
        "device": {"max": 4},
        "rights": [{"content": ISSUERS.content, "lease": 300}],
        "session": {"groups": [{"id": "all", "max": 2}], "mode": "deny_new"},
    }


def assert_stopped_rounds(
    server: Server, stopped: OutageNode, other: OutageNode, network: SlowNetwork, seed: int
) -> None:
    choices = random.Random(seed)
    presented, is_over = token(**claims()), threading.Event()
    devices = [stopped.device() for _ in range(4)]
    players = [
        Player((stopped, other)[number % 2], devices[number // 2], number // 2, presented, is_over)
        for number in range(8)
    ]
    halves = players[0::2], players[1::2]
    for player in players:
        player.start()
    network.round_trip = ROUND_TRIP_SECONDS
    held, longest = 0, 0.0
    process = stopped.process
    assert process is not None
    for number in range(ROUNDS):
        await_decision(halves[0])
        time.sleep(choices.uniform(0, 0.2))
        start = time.monotonic()
        process.send_signal(signal.SIGSTOP)
        try:
            time.sleep(ROUND_TRIP_SECONDS)
            transactions = held_transactions(server)
            time.sleep(choices.uniform(*STOP_SECONDS))
        finally:
            process.send_signal(signal.SIGCONT)
        held += transactions > 0
        waits = [end - begin for player in halves[1] for begin, end, _ in player.answers if end > start]
        longest = max([longest, *waits])
        print(f"round {number}: {transactions} transactions held, the other node answered within {max(waits, default=0):.2f} s")
    time.sleep(0.5)
    is_over.set()
    for player in players:
        player.join(30)
        assert not player.is_alive(), "a request has got no answer"
    stopped_codes, codes = (Counter(code for player in half for _, _, code in player.answers) for half in halves)
    print(f"{held} of {ROUNDS} stops held a transaction, longest answer of the other node {longest:.2f} s")
    print(f"stopped node {dict(stopped_codes)}, other node {dict(codes)}")
    assert held > 0, "no stop was between the two round trips"
    assert set(codes) == {None, DENIAL}
    assert {None, DENIAL} <= set(stopped_codes) <= {None, DENIAL} | UNANSWERED
    # Each player has a license of its own for each use.
    given = [license for player in players for license in player.given]
    assert len(set(given)) == len(given) == counted_uses(server)
    assert server.sql("SELECT count(*) FROM cell WHERE value IS NULL") == "0"
    # The node does not take its own stop for an outage of the database. A stop amid a write may look like a hanging
    # disk.
    assert {event["part"] for event in events(stopped.log, "degraded")} <= {"ledger"}
    assert_in_ledgers([stopped, other], given)


def test_a_stopped_node_holds_up_no_other_node(
    latchkey_programs: None, server: Server, tmp_path: Path, seed: int
) -> None:
    with slow_network("127.0.0.1", server.port) as network:
        stopped = node_on(server, tmp_path / "1", url=server.url(network.port))
        other = node_on(server, tmp_path / "2", name="node-2", like=stopped)
        for node in (stopped, other):
            node.start()

        try:
            assert_stopped_rounds(server, stopped, other, network, seed)
            network.round_trip = 0.0
        finally:
            statuses = [stop_daemon(node.process) for node in (stopped, other) if node.process is not None]
        assert statuses == [0, 0]


def test_a_decision_that_arrives_in_part_holds_up_no_other_node(
    latchkey_programs: None, server: Server, tmp_path: Path
) -> None:
    """The database gets only the first messages of a decision, because the node, its machine or its network stops."""
    with cut_network("127.0.0.1", server.port) as network:
        cut = node_on(server, tmp_path / "1", url=server.url(network.port))
        other = node_on(server, tmp_path / "2", name="node-2", like=cut)
        for node in (cut, other):
            node.start()
        try:
            uses = 0
            for number in range(1, len(MESSAGES) + 1):
                # A new connection settles earlier decisions again. Such a transaction writes nothing.
                while cut_after(number, network, cut, other) != MESSAGES[:number]:
                    uses += 3
                uses += 3
                assert counted_uses(server) == uses
        finally:
            statuses = [stop_daemon(node.process) for node in (cut, other) if node.process is not None]
        assert statuses == [0, 0]


def cut_after(number: int, network: CutNetwork, cut: OutageNode, other: OutageNode) -> str:
    """Cuts a decision after some messages, and returns the types of those that were forwarded.

    Three licenses are given: before, by the other node, and for the request that was cut.
    """
    presented, device = token(**claims()), cut.device()
    before, spc, after = (message(device, 1, tags.PLAYING_OR_PAUSED) for _ in range(3))
    while cut.ask(before, presented).status != 200:
        time.sleep(0.1)
    network.cut_after(number)
    asking = threading.Thread(target=cut.ask, args=(spc, presented))
    asking.start()
    try:
        assert network.is_cut.wait(10)
        start = time.monotonic()
        answer = other.ask(after, presented)
        print(f"cut after {network.forwarded}: {answer.status} after {time.monotonic() - start:.2f} s")
    finally:
        network.close_cut()
        asking.join()
    assert answer.status == 200, answer
    # It may have been counted already, if only its answer is missing.
    assert other.ask(spc, presented).status == 200
    return network.forwarded

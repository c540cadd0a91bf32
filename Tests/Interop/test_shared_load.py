"""A thousand requests at the same time for something scarce.

Runs on one daemon with SQLite, and on two daemons with one PostgreSQL server.
"""

import os
from collections import Counter
from collections.abc import Iterator

import pytest

from counting_node import Node, limited_to, message, node_alone, nodes_on_one_database, token
from crowd import ask_at_once
from deployment import run_latchkey
from fairplay_device import tags
from license_client import Answer
from own_daemon import stop_daemon

REQUESTS = 1000
# No request is refused because a busy machine serves it late.
LIMITS = {"overload": {"wait": "30s"}}


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def nodes(
    request: pytest.FixtureRequest, latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[Node]]:
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "sqlite":
        nodes = [node_alone(folder, LIMITS)]
    elif "LATCHKEY_POSTGRESQL" in os.environ:
        nodes = nodes_on_one_database(folder, 2, limits=LIMITS)
    else:
        pytest.skip("LATCHKEY_POSTGRESQL names no server: Scripts/with-postgresql Scripts/test-interop starts one")
    for node in nodes:
        node.start()
    yield nodes
    for node in nodes:
        assert node.process is not None
        assert stop_daemon(node.process) == 0


def ask_all(nodes: list[Node], requests: list[tuple[bytes, str]]) -> list[Answer]:
    """Sends all requests at the same time, in turn to each node."""
    return ask_at_once([(nodes[number % len(nodes)].url, *request) for number, request in enumerate(requests)])


def given(answers: list[Answer]) -> set[str | None]:
    return {answer.header("X-License-Id") for answer in answers if answer.status == 200}


def recorded(nodes: list[Node]) -> list[str]:
    """The lines of all ledgers. Fails if a ledger does not verify."""
    for node in nodes:
        run_latchkey(node.setup, "ledger", "verify")
    return [line for node in nodes for line in run_latchkey(node.setup, "ledger", "export").splitlines()]


def test_three_uses_give_three_licenses(nodes: list[Node]) -> None:
    thrice = token(limits={"uses": 3})
    device = nodes[0].device()
    answers = ask_all(nodes, [(message(device), thrice) for _ in range(REQUESTS)])
    assert Counter(answer.code or "good" for answer in answers) == {"good": 3, "token_used": REQUESTS - 3}
    lines = recorded(nodes)
    assert len(given(answers)) == 3
    assert all(sum(str(license) in line for line in lines) == 1 for license in given(answers))


def test_playbacks_never_exceed_their_limit(nodes: list[Node]) -> None:
    claims = limited_to(5)
    device = nodes[0].device()
    devices = [nodes[0].device() for _ in range(50)]
    presented = token(**claims)
    requests = [
        (message(devices[number % len(devices)], 1 + number % len(devices), tags.PLAYING_OR_PAUSED), presented)
        for number in range(REQUESTS)
    ]
    answers = ask_all(nodes, requests)
    assert set(answer.code for answer in answers) == {None, "concurrency_limit"}
    # The first five devices keep their places, and no other device ever gets one.
    holders = {number % len(devices) for number, answer in enumerate(answers) if answer.status == 200}
    assert len(holders) == 5
    refused = ask_all(nodes, [(message(device, 999, tags.PLAYING_OR_PAUSED), presented)])
    assert refused[0].code == "concurrency_limit"


def test_the_same_request_is_one_license(nodes: list[Node]) -> None:
    once = token(limits={"uses": 1})
    device = nodes[0].device()
    spc = message(device)
    answers = ask_all(nodes, [(spc, once)] * REQUESTS)
    assert {answer.status for answer in answers} == {200}
    assert len(given(answers)) == 1
    assert ask_all(nodes, [(message(device), once)])[0].code == "token_used"

"""Stepped clocks of a node and of its database: the node forgets nothing, and serves by the rules of trusted time
(architecture, "Trusted time").

`Scripts/test-clock` runs all steps and holds each for ten seconds. Without LATCHKEY_CLOCK_HOLD, a few steps are held
only briefly.
"""

import os
import time
from collections.abc import Callable, Iterator

import pytest

from clock_lab import (
    DAY,
    YEAR,
    ClockedNode,
    Remembered,
    await_true,
    fresh,
    lone_node,
    refuses_to_start,
    serves_again,
    serves_as_designed,
    two_nodes,
)
from counting_node import message, token
from stepped_clock import ClockFactory, SteppedDatabase, starting_database, stepped_clocks

pytestmark = pytest.mark.slow

HOLD_SECONDS = float(os.environ.get("LATCHKEY_CLOCK_HOLD") or 0)
ALL_STEPS = (-25 * YEAR, -7200, -10, 10, 600, 7200, 60 * DAY, 500 * DAY)
# Long enough for a refresh of the revocations, and for the upkeep of the ledger.
REVOCATION_SECONDS = 1.2
UPKEEP_SECONDS = 2.2


def steps(*short: int) -> tuple[int, ...]:
    return ALL_STEPS if HOLD_SECONDS else short


def hold(seconds: float = REVOCATION_SECONDS) -> None:
    """Keeps the clock wrong for some time, which is the subject of the test."""
    time.sleep(HOLD_SECONDS or seconds)


@pytest.fixture(scope="module")
def clocks(latchkey_programs: None) -> Iterator[ClockFactory]:
    with stepped_clocks() as factory:
        yield factory


@pytest.fixture(autouse=True)
def right_at_the_end(clocks: ClockFactory) -> Iterator[None]:
    """Sets all clocks right after each test, so that a failed test does not affect the next one."""
    yield
    clocks.set_right()


# --- SQLite -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server(clocks: ClockFactory) -> Iterator[Callable[[], SteppedDatabase]]:
    """Starts the database server early, while the tests that do not need it still run."""
    with starting_database(clocks.make()) as ready:
        yield ready


@pytest.fixture(scope="module")
def lone(clocks: ClockFactory, server: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClockedNode]:
    node = lone_node(tmp_path_factory.mktemp("clock"), clocks.make())
    node.start()
    yield node
    node.stop()


@pytest.mark.parametrize("seconds", steps(-7200, -10, 500 * DAY))
def test_a_step_while_serving_forgets_nothing(lone: ClockedNode, seconds: int) -> None:
    remembered = Remembered(lone)
    lone.clock.step(seconds)
    serves_as_designed(lone, remembered, shared=False)
    if abs(seconds) > 10 or HOLD_SECONDS:
        hold(UPKEEP_SECONDS if seconds > 0 else 0)
        # New requests make the daemon look for records that have expired.
        assert lone.ask(message(lone.device()), fresh(lone.clock)).status in (200, 503)
        remembered.nothing_is_given(lone)
        # The tool writes to the same file, with the same wrong clock.
        lone.latchkey("revocations", "add", "--kind", "kid", "--value", f"no-key-{seconds}")
    lone.clock.step(0)
    serves_again(lone)
    remembered.is_not_forgotten(lone)
    remembered.rows_are_kept(lone)
    assert remembered.renew(lone).status == 200


@pytest.mark.parametrize("seconds", steps(-25 * YEAR, 60 * DAY))
def test_a_step_before_the_start_forgets_nothing(lone: ClockedNode, seconds: int) -> None:
    remembered = Remembered(lone)
    lone.stop()
    lone.clock.step(seconds)
    if seconds < -YEAR:
        log = refuses_to_start(lone)
        assert "before this program was built" in log and "start_failed" in log
    else:
        lone.start()
        answer = lone.ask(message(lone.device()), fresh(lone.clock))
        if seconds < -60:
            assert (answer.status, answer.code) == (503, "clock_untrusted")
            assert lone.degraded and remembered.renew(lone).status == 200
        elif seconds > 0:
            assert answer.status == 200, answer.body
            assert not lone.degraded, "at its start, a node takes a clock that is ahead for a long downtime"
        if seconds > 60:
            assert lone.metric("latchkey_clock_may_delete") == 0
        hold()
        remembered.nothing_is_given(lone)
    # A time service does the same if it finds the clock wrong after the machine has started.
    lone.clock.step(0)
    if lone.node.process is None:
        lone.start()
    serves_again(lone)
    remembered.is_not_forgotten(lone)
    remembered.rows_are_kept(lone)


def test_an_operator_accepts_the_clock(lone: ClockedNode) -> None:
    remembered = Remembered(lone)
    # No record that the test has made ends within this step. Records that end by an accepted clock are deleted.
    lone.clock.step(600)
    await_true("the step is noticed", lambda: lone.degraded)
    assert '"standing":"stepped"' in await_standing(lone, "stepped")
    assert "accepted" in lone.latchkey("clock", "accept")
    await_true("the acceptance is known", lambda: not lone.degraded)
    # In fact the clock was right before, and the operator has accepted a wrong one.
    lone.clock.step(0)
    answer = lone.ask(message(lone.device()), token())
    assert (answer.status, answer.code) == (503, "clock_untrusted")
    lone.stop()
    assert "behind" in lone.latchkey("clock", "show")
    assert "accepted" in lone.latchkey("clock", "accept")
    lone.start()
    serves_again(lone)
    remembered.is_not_forgotten(lone)
    assert lone.latchkey("ledger", "export").count('"kind":"clock_accepted"') >= 2
    remembered.rows_are_kept(lone)


@pytest.mark.skipif(not HOLD_SECONDS, reason="takes a minute")
def test_a_synchronised_clock_is_trusted_after_a_minute(lone: ClockedNode) -> None:
    remembered = Remembered(lone)
    lone.clock.step(-7200)
    assert lone.ask(message(lone.device()), token()).code == "clock_untrusted"
    lone.clock.set_synchronised(True)
    await_true("the clock is trusted", lambda: not lone.degraded, seconds=80)
    now = int(time.time()) - 7200
    answer = lone.ask(message(lone.device()), token(iat=now, nbf=now, exp=now + 300))
    assert answer.status == 200, answer.body
    assert "clock_trusted" in lone.events()
    remembered.nothing_is_given(lone)
    lone.clock.step(0)
    await_true("the clock is trusted again", lambda: not lone.degraded, seconds=80)
    serves_again(lone)
    remembered.is_not_forgotten(lone)


def await_standing(node: ClockedNode, standing: str) -> str:
    shown = ""

    def is_shown() -> bool:
        nonlocal shown
        shown = node.latchkey("clock", "show", "--json").replace(" ", "")
        return f'"standing":"{standing}"' in shown

    await_true(f"the node has stored that its clock is {standing}", is_shown)
    return shown


# --- PostgreSQL -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def database(server: Callable[[], SteppedDatabase]) -> SteppedDatabase:
    return server()


@pytest.fixture(scope="module")
def pair(
    clocks: ClockFactory, database: SteppedDatabase, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[ClockedNode]]:
    nodes = two_nodes(tmp_path_factory.mktemp("clocks"), [clocks.make(), clocks.make()], database)
    for node in nodes:
        node.start()
    yield nodes
    for node in nodes:
        node.stop()


@pytest.mark.parametrize("seconds", steps(60 * DAY))
def test_a_step_of_one_node_forgets_nothing_for_all(pair: list[ClockedNode], seconds: int) -> None:
    stepped, other = pair
    remembered = Remembered(stepped, other)
    stepped.clock.step(seconds)
    serves_as_designed(stepped, remembered, shared=True)
    hold_for_all(stepped, seconds)
    remembered.nothing_is_given(stepped)
    remembered.is_not_forgotten(other)
    assert not other.degraded
    stepped.clock.step(0)
    for node in pair:
        serves_again(node)
        remembered.is_not_forgotten(node)
    remembered.rows_are_kept(stepped)


def hold_for_all(node: ClockedNode, seconds: int) -> None:
    if seconds > 60 or HOLD_SECONDS:
        hold()
        assert node.ask(message(node.device()), fresh(node.clock)).status in (200, 503)


@pytest.mark.parametrize("seconds", steps(600))
def test_a_node_that_starts_with_a_stepped_clock_forgets_nothing_for_all(
    pair: list[ClockedNode], seconds: int
) -> None:
    stepped, other = pair
    remembered = Remembered(other, stepped)
    stepped.stop()
    stepped.clock.step(seconds)
    if seconds < -YEAR:
        assert "before this program was built" in refuses_to_start(stepped)
    else:
        stepped.start()
        answer = stepped.ask(message(stepped.device()), fresh(stepped.clock, limits={"uses": 1}))
        if abs(seconds) > 10:
            assert (answer.status, answer.code) == (503, "clock_untrusted")
            assert stepped.degraded and abs(stepped.metric("latchkey_clock_offset_seconds") - seconds) < 60
        hold_for_all(stepped, seconds)
        remembered.nothing_is_given(stepped)
        stepped.stop()
    remembered.is_not_forgotten(other)
    stepped.clock.step(0)
    stepped.start()
    for node in pair:
        serves_again(node)
        remembered.is_not_forgotten(node)
    remembered.rows_are_kept(other)


def is_remembered_until_its_clock_is_right(
    remembered: Remembered, pair: list[ClockedNode], database: SteppedDatabase
) -> None:
    """Nothing that was spent is granted while the database's clock is wrong, and nothing is forgotten afterwards."""
    if HOLD_SECONDS:
        hold()
    for node in pair:
        remembered.nothing_is_given(node)
    database.clock.step(0)
    for node in pair:
        serves_again(node)
        remembered.is_not_forgotten(node)
    remembered.rows_are_kept(pair[0])


@pytest.mark.parametrize("seconds", steps(500 * DAY))
def test_a_step_of_the_database_forgets_nothing(
    pair: list[ClockedNode], database: SteppedDatabase, seconds: int
) -> None:
    remembered = Remembered(*pair)
    database.clock.step(seconds)
    for node in pair:
        # Each request is a query to the database, until the nodes have measured its clock and send no more queries.
        remembered.nothing_is_given(node)
        assert node.ask(message(node.device()), token()).status == 200
    is_remembered_until_its_clock_is_right(remembered, pair, database)


@pytest.mark.parametrize("seconds", steps(60 * DAY))
def test_a_database_that_starts_with_a_stepped_clock_forgets_nothing(
    pair: list[ClockedNode], database: SteppedDatabase, seconds: int
) -> None:
    remembered = Remembered(*pair)
    database.clock.step(seconds)
    database.restart()
    if abs(seconds) > 11:
        for node in pair:
            await_true("the node has measured the clock", lambda node=node: node.degraded)
            answer = node.ask(message(node.device()), token(limits={"uses": 1}))
            assert (answer.status, answer.code) == (503, "clock_untrusted"), answer
    is_remembered_until_its_clock_is_right(remembered, pair, database)

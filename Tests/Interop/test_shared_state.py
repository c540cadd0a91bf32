"""How a running daemon counts uses, devices, playbacks and repeated requests: in parallel, and after it was killed."""

import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from counting_node import ISSUERS, OTHER, Node, limited_to, message, node_alone, subject, token
from deployment import run_latchkey
from fairplay_device import tags
from fairplay_device.spc import Device
from license_client import LicenseClient
from own_daemon import stop_daemon

CLIENTS = 16
TRIES = 200


@pytest.fixture(scope="module")
def node(latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    node = node_alone(tmp_path_factory.mktemp("shared"))
    node.start()
    yield node
    assert node.process is not None
    assert stop_daemon(node.process) == 0


# --- Uses -------------------------------------------------------------------------------------------------------------


def test_three_uses_give_three_licenses_in_parallel(node: Node) -> None:
    thrice = token(limits={"uses": 3})
    device = node.device()
    messages = [message(device) for _ in range(TRIES)]
    with ThreadPoolExecutor(CLIENTS) as pool:
        codes = Counter(pool.map(lambda spc: node.ask(spc, thrice).code or "good", messages))
    assert codes == {"good": 3, "token_used": TRIES - 3}


def test_a_kill_forgets_neither_a_use_nor_an_answer(node: Node) -> None:
    twice = token(limits={"uses": 2})
    device = node.device()
    first = message(device)
    answer = node.ask(first, twice)
    node.kill_and_start()
    again = node.ask(first, twice)
    assert (answer.status, again.status) == (200, 200)
    assert again.header("X-License-Id") == answer.header("X-License-Id")
    assert node.ask(message(device), twice).status == 200
    node.kill_and_start()
    assert node.ask(message(device), twice).code == "token_used"


def test_a_repeated_request_is_counted_once(node: Node) -> None:
    once = token(limits={"uses": 1})
    spc = message(node.device())
    with ThreadPoolExecutor(CLIENTS) as pool:
        answers = list(pool.map(lambda _: node.ask(spc, once), range(CLIENTS * 2)))
    assert {answer.status for answer in answers} == {200}
    assert len({answer.header("X-License-Id") for answer in answers}) == 1


def test_a_repetition_is_of_the_same_viewer(node: Node) -> None:
    spc = message(node.device())
    first = node.ask(spc, token(limits={"uses": 1}, sub="one"))
    assert first.status == 200
    # Another viewer pays with a use of its own.
    other = token(limits={"uses": 1}, sub="another")
    second = node.ask(spc, other)
    assert second.status == 200 and second.header("X-License-Id") != first.header("X-License-Id")
    assert node.ask(message(node.device()), other).code == "token_used"
    # A new token of the same viewer, with the same rights, counts as the same sender.
    again = node.ask(spc, token(limits={"uses": 1}, sub="one"))
    assert again.status == 200 and again.header("X-License-Id") == first.header("X-License-Id")


def test_what_a_token_spends_is_remembered_beyond_its_end(node: Node) -> None:
    """Clocks may differ, so a token is valid for a short time after its end.

    Its uses are remembered at least as long.
    """
    now = int(time.time())
    once = token(iat=now - 60, nbf=now - 60, exp=now, limits={"uses": 1})
    device = node.device()
    assert node.ask(message(device), once).status == 200
    assert node.ask(message(device), once).code == "token_used"


def test_a_request_for_another_use_is_no_repetition(node: Node) -> None:
    once = token(limits={"uses": 1}, rights=[{"content": ISSUERS.content, "mode": "both"}])
    spc = message(node.device())
    assert node.ask(spc, once).status == 200
    client = LicenseClient(node.url)
    assert client.license(spc, once, offline=True).code == "token_used"
    client.close()


# --- Devices ----------------------------------------------------------------------------------------------------------


def test_a_token_is_bound_to_the_device_that_used_it_first(node: Node) -> None:
    bound = token(device={"bind": "first"})
    first, second = node.device(), node.device()
    assert node.ask(message(first), bound).status == 200
    assert node.ask(message(second), bound).code == "device_mismatch"
    assert node.ask(message(first), bound).status == 200


def test_a_pinned_token_is_good_for_its_device_alone(node: Node) -> None:
    device = node.device()
    pinned = token(cnf={"fps:hu": device.device_id.hex()})
    assert node.ask(message(device), pinned).status == 200
    assert node.ask(message(node.device()), pinned).code == "device_mismatch"


def test_a_subject_has_so_many_devices(node: Node) -> None:
    someone = subject()
    devices = [node.device() for _ in range(3)]

    def ask(device: Device) -> str | None:
        return node.ask(message(device), token(sub=someone, device={"max": 2})).code

    assert [ask(device) for device in devices] == [None, None, "device_limit"]
    assert [ask(device) for device in devices[:2]] == [None, None]


def test_many_devices_at_once_are_no_more_than_there_may_be(node: Node) -> None:
    someone = subject()
    messages = [message(node.device()) for _ in range(CLIENTS * 4)]
    with ThreadPoolExecutor(CLIENTS) as pool:
        answers = pool.map(lambda spc: node.ask(spc, token(sub=someone, device={"max": 5})).code or "good", messages)
    assert Counter(answers) == {"good": 5, "device_limit": len(messages) - 5}


# --- Playbacks --------------------------------------------------------------------------------------------------------


def test_playbacks_at_once_are_no_more_than_there_may_be(node: Node) -> None:
    claims = limited_to(3)
    messages = [message(node.device(), session, tags.PLAYING_OR_PAUSED) for session in range(1, CLIENTS * 4)]
    with ThreadPoolExecutor(CLIENTS) as pool:
        answers = pool.map(lambda spc: node.ask(spc, token(**claims)).code or "good", messages)
    assert Counter(answers) == {"good": 3, "concurrency_limit": len(messages) - 3}


def test_a_playback_that_goes_on_keeps_its_place(node: Node) -> None:
    claims = limited_to(1)
    device = node.device()
    assert node.ask(message(device, 7), token(**claims)).status == 200
    for state in (tags.PLAYING_OR_PAUSED, tags.LEASE_ABOUT_TO_EXPIRE, tags.PLAYING_OR_PAUSED):
        assert node.ask(message(device, 7, state), token(**claims)).status == 200
    assert node.ask(message(node.device(), 8), token(**claims)).code == "concurrency_limit"


def test_a_player_that_crashed_comes_back(node: Node) -> None:
    """A new session with the same device and content takes over the place of the old session."""
    claims = limited_to(1)
    device = node.device()
    assert node.ask(message(device, 7, tags.PLAYING_OR_PAUSED), token(**claims)).status == 200
    assert node.ask(message(device, 8, tags.PLAYING_OR_PAUSED), token(**claims)).status == 200


def test_the_oldest_playback_makes_room(node: Node) -> None:
    claims = limited_to(1, "evict_oldest")
    first, second = node.device(), node.device()
    assert node.ask(message(first, 7, tags.PLAYING_OR_PAUSED), token(**claims)).status == 200
    assert node.ask(message(second, 8, tags.PLAYING_OR_PAUSED), token(**claims)).status == 200
    assert node.ask(message(first, 7, tags.LEASE_ABOUT_TO_EXPIRE), token(**claims)).code == "session_killed"
    assert node.ask(message(second, 8, tags.LEASE_ABOUT_TO_EXPIRE), token(**claims)).status == 200


def test_a_screen_that_is_lent_shares_the_place(node: Node) -> None:
    """AirPlay: another HU, the same subject and content."""
    claims = limited_to(1)
    assert node.ask(message(node.device(), 7, tags.PLAYING_OR_PAUSED), token(**claims)).status == 200
    screen = message(node.device(), 9, tags.PLAYING_OR_PAUSED, tags.STREAMING_TO_AIRPLAY)
    assert node.ask(screen, token(**claims)).status == 200


def test_the_adapter_of_a_screen_shares_the_place_and_is_no_device(node: Node) -> None:
    """Apple's AV adapter has its own HU, which does not count as the viewer's device."""
    claims = limited_to(1) | {"device": {"max": 1}}
    assert node.ask(message(node.device(), 7, tags.PLAYING_OR_PAUSED), token(**claims)).status == 200
    adapter = message(node.device(), 9, tags.PLAYING_OR_PAUSED, tags.STREAMING_TO_AV_ADAPTER)
    assert node.ask(adapter, token(**claims)).status == 200
    assert node.ask(message(node.device(), 10, tags.PLAYING_OR_PAUSED), token(**claims)).code == "device_limit"


def test_a_lent_screen_is_counted_where_nothing_plays(node: Node) -> None:
    """A request that only claims to be for AirPlay takes its own place, like any other device."""
    claims = limited_to(1)
    screen = message(node.device(), 9, tags.PLAYING_OR_PAUSED, tags.STREAMING_TO_AIRPLAY)
    assert node.ask(screen, token(**claims)).status == 200
    assert node.ask(message(node.device(), 7, tags.PLAYING_OR_PAUSED), token(**claims)).code == "concurrency_limit"


def test_the_next_episode_is_made_ready_beside_the_one_that_plays(node: Node) -> None:
    """A request in the state "ready to start" takes a provisional place. The same session confirms it when it plays."""
    claims = limited_to(1)
    device = node.device()
    assert node.ask(message(device, 7, tags.PLAYING_OR_PAUSED), token(**claims)).status == 200
    assert node.ask(message(device, 8, tags.READY_TO_START, asset=OTHER), token(**claims)).status == 200
    assert node.ask(message(device, 8, tags.PLAYING_OR_PAUSED, asset=OTHER), token(**claims)).status == 200
    # No other device could take the provisional place.
    assert node.ask(message(node.device(), 9, tags.READY_TO_START), token(**claims)).code == "concurrency_limit"


def test_views_beside_one_another_count_each(node: Node) -> None:
    """Several contents in several sessions of one device count as several playbacks."""
    claims = limited_to(2)
    device = node.device()
    assert node.ask(message(device, 7, tags.PLAYING_OR_PAUSED), token(**claims)).status == 200
    assert node.ask(message(device, 8, tags.PLAYING_OR_PAUSED, asset=OTHER), token(**claims)).status == 200
    assert node.ask(message(device, 7, tags.LEASE_ABOUT_TO_EXPIRE), token(**claims)).status == 200
    assert node.ask(message(device, 8, tags.LEASE_ABOUT_TO_EXPIRE, asset=OTHER), token(**claims)).status == 200
    assert node.ask(message(node.device(), 9, tags.PLAYING_OR_PAUSED), token(**claims)).code == "concurrency_limit"


# --- The ledger -------------------------------------------------------------------------------------------------------


def test_the_ledger_holds_what_was_answered(node: Node) -> None:
    run_latchkey(node.setup, "ledger", "verify")
    exported = run_latchkey(node.setup, "ledger", "export")
    assert len(node.recorded) > 30
    assert all(license in exported for license in node.recorded)

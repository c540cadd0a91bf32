"""The corpus of malformed SPCs against the strict key server, which later judges the daemon's answers.

Needs no daemon.
"""

import random

import pytest

import malformed_bulk as bulk
from fairplay_device.credentials import Credential
from fairplay_device.key_server import KeyServer, key_server_for
from fairplay_device.refusal import Refusal
from fairplay_device.spc import device_for
from malformed_spcs import CASES, CASES_BY_VERSION
from workbench import HASH_UNKNOWN, LICENSE, OTHER_CONTENT, REJECTED, SYNC_ANSWER, Case, Outcome, Workbench

ASSET_ID = b"interop-asset"


pytestmark = pytest.mark.oracle


@pytest.fixture(scope="module")
def key_server(made_credential: Credential) -> KeyServer:
    return key_server_for(made_credential)


@pytest.fixture(scope="module", params=[1, 2, 3], ids=["version 1", "version 2", "version 3"])
def bench(request: pytest.FixtureRequest, made_credential: Credential, seed: int) -> Workbench:
    return Workbench(made_credential, device_for(made_credential, request.param, random.Random(seed)), ASSET_ID)


def outcome_of(server: KeyServer, body: bytes) -> Outcome:
    try:
        opened = server.open(body)
    except Refusal as refusal:
        return Outcome(refusal.status, refusal.code)
    if opened.asset_id != ASSET_ID:
        return OTHER_CONTENT
    return LICENSE if opened.sync_request is None else SYNC_ANSWER


@pytest.mark.parametrize(("bench", "case"), CASES_BY_VERSION, indirect=["bench"])
def test_the_strict_key_server_agrees_with_every_named_case(
    case: Case, bench: Workbench, key_server: KeyServer
) -> None:
    assert outcome_of(key_server, case.make(bench)) in case.outcomes


def test_every_named_case_has_a_name_of_its_own() -> None:
    names = [case.name for case in CASES]
    assert len(names) == len(set(names))


def test_the_strict_key_server_agrees_with_the_bulk(bench: Workbench, key_server: KeyServer, seed: int) -> None:
    for name, body, outcomes in bulk.truncations(bench.message):
        assert outcome_of(key_server, body) in outcomes, name
    for name, body, outcomes in bulk.random_blobs(bench, random.Random(seed)):
        assert outcome_of(key_server, body) in outcomes, name


def test_the_yardstick_without_private_keys_agrees_about_flips(bench: Workbench, key_server: KeyServer) -> None:
    outcomes = set()
    for name, body in bulk.flips(bench.message):
        outcomes.add(outcome_of(key_server, body))
        assert outcome_of(bench.yardstick, body) == outcome_of(key_server, body), name
    expected = {REJECTED, HASH_UNKNOWN} if bench.version == 3 else {LICENSE, REJECTED, HASH_UNKNOWN}
    assert expected <= outcomes

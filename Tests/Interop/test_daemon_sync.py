"""Sync requests against a running daemon: they get data instead of a CKC, and each challenge is valid once."""

import datetime
import random
import re
import uuid
from collections.abc import Iterator
from dataclasses import replace

import pytest

from deployment import Deployment, assert_problem, json_of
from fairplay_device import containers, tags
from fairplay_device.facts import NO_EXPIRY, SyncV1, SyncV2
from fairplay_device.spc import Device, SPCOptions, device_for
from license_client import Answer
from license_policy import Right, sync_answer
from random_requests import named_on_failure, random_options, random_sync
from workbench import OTHER_CONTENT, Outcome

SYNC_COUNT = 200
CHALLENGE_LIFE_SECONDS = 300
CLOCK_SECONDS = 30
OFFLINE = Right(mode="both", storage=3600)
REPORT = SyncV2(0, tags.SYNC_REPORT | tags.SYNC_TITLE_ID_VALID, bytes(range(16)), 3600)
REPLAYED = Outcome(409, "spc_replayed")


@pytest.fixture(params=containers.VERSIONS, ids=["version 1", "version 2", "version 3"])
def device(request: pytest.FixtureRequest, deployment: Deployment) -> Device:
    return device_for(deployment.credential, request.param)


@pytest.fixture
def token(deployment: Deployment) -> Iterator[str]:
    """A token of a new subject, so that the challenges of other tests do not count."""
    yield deployment.token_for(OFFLINE, subject=f"viewer-{uuid.uuid4()}")


def sync(deployment: Deployment, device: Device, request: SyncV1 | SyncV2, token: str, **options: object) -> Answer:
    message = device.request(SPCOptions(deployment.asset_id, sync=request, **options)).message
    return deployment.client.license(message, token)


def challenge(deployment: Deployment, token: str) -> int:
    members = json_of(deployment.client.challenge(token))
    assert members.keys() == {"challenge", "expiresIn"}
    assert members["expiresIn"] == CHALLENGE_LIFE_SECONDS
    assert re.fullmatch("[0-9a-f]{16}", str(members["challenge"]))
    assert int(str(members["challenge"]), 16) != 0
    return int(str(members["challenge"]), 16)


def assert_sync_answer(answer: Answer, request: SyncV1 | SyncV2, *, challenge_accepted: bool) -> None:
    """Checks that the answer repeats the request, and that its expiry date agrees with this machine's clock."""
    now = datetime.datetime.now(datetime.timezone.utc)
    expected = sync_answer(request, now, challenge_accepted=challenge_accepted)
    members = json_of(answer)
    date, expected_date = members.pop("expirationDate"), expected.pop("expirationDate")
    assert members == expected
    assert (date is None) == (expected_date is None)
    if date is not None:
        parsed, near = (datetime.datetime.fromisoformat(str(each)) for each in (date, expected_date))
        assert abs((parsed - near).total_seconds()) < CLOCK_SECONDS


@pytest.mark.parametrize("duration", [0, 1, 3600, 2_591_995, NO_EXPIRY - 1, NO_EXPIRY])
def test_a_sync_request_is_answered_without_a_ckc(
    duration: int, deployment: Deployment, device: Device, token: str
) -> None:
    for request in (SyncV1(bytes(range(16)), duration), replace(REPORT, duration=duration)):
        answer = sync(deployment, device, request, token, return_request=(tags.SYNC, tags.ASSET_ID))
        assert_sync_answer(answer, request, challenge_accepted=False)


def test_the_wish_to_keep_changes_nothing(deployment: Deployment, device: Device, token: str) -> None:
    message = device.request(SPCOptions(deployment.asset_id, sync=REPORT)).message
    assert_sync_answer(deployment.client.license(message, token, offline=True), REPORT, challenge_accepted=False)


def test_the_same_challenge_is_accepted_once(deployment: Deployment, device: Device, token: str) -> None:
    request = replace(REPORT, challenge=challenge(deployment, token))
    assert_sync_answer(sync(deployment, device, request, token), request, challenge_accepted=True)
    assert_problem(sync(deployment, device, request, token), REPLAYED)


def test_two_challenges_differ_and_both_are_good(deployment: Deployment, device: Device, token: str) -> None:
    first, second = challenge(deployment, token), challenge(deployment, token)
    assert first != second
    for number in (second, first):
        request = replace(REPORT, challenge=number)
        assert_sync_answer(sync(deployment, device, request, token), request, challenge_accepted=True)


def test_a_challenge_that_was_not_issued_is_refused(deployment: Deployment, device: Device, token: str) -> None:
    issued = challenge(deployment, token)
    for number in (1, issued ^ 1, (1 << 64) - 1):
        assert_problem(sync(deployment, device, replace(REPORT, challenge=number), token), REPLAYED)
    good = replace(REPORT, challenge=issued)
    assert_sync_answer(sync(deployment, device, good, token), good, challenge_accepted=True)


def test_a_challenge_of_another_subject_is_refused(deployment: Deployment, device: Device, token: str) -> None:
    request = replace(REPORT, challenge=challenge(deployment, token))
    other = deployment.token_for(OFFLINE, subject=f"viewer-{uuid.uuid4()}")
    assert_problem(sync(deployment, device, request, other), REPLAYED)


def test_a_malformed_sync_request_spends_no_challenge(deployment: Deployment, device: Device, token: str) -> None:
    request = replace(REPORT, challenge=challenge(deployment, token))
    broken = sync(deployment, device, replace(request, flags=0), token)
    assert_problem(broken, Outcome(422, "spc_rejected"))
    assert_sync_answer(sync(deployment, device, request, token), request, challenge_accepted=True)


def test_a_challenge_needs_a_token(deployment: Deployment) -> None:
    assert_problem(deployment.client.challenge(None), Outcome(401, "token_missing"))
    assert_problem(deployment.client.challenge("nonsense"), Outcome(401, "token_malformed"))


def test_a_sync_request_needs_a_right_to_the_content(deployment: Deployment, device: Device, token: str) -> None:
    message = device.request(SPCOptions(deployment.asset_id, sync=REPORT)).message
    assert_problem(deployment.client.license(message, None), Outcome(401, "token_missing"))
    other = deployment.token_for(OFFLINE, content="another-content")
    assert_problem(deployment.client.license(message, other), OTHER_CONTENT)


def test_random_sync_requests(deployment: Deployment, seed: int) -> None:
    print(f"seed {seed}")
    randomness = random.Random(f"{seed} sync")
    devices = [device_for(deployment.credential, version, randomness) for version in containers.VERSIONS]
    for number in range(SYNC_COUNT):
        token = deployment.token_for(OFFLINE, subject=f"viewer-{number}-{uuid.uuid4()}")
        supplied = challenge(deployment, token) if randomness.random() < 0.3 else 0
        request = random_sync(randomness, supplied)
        options = replace(random_options(randomness, deployment.asset_id), sync=request, return_request=())
        message = randomness.choice(devices).request(options).message
        accepted = isinstance(request, SyncV2) and supplied != 0
        with named_on_failure(f"sync request {number}", options):
            assert_sync_answer(deployment.client.license(message, token), request, challenge_accepted=accepted)

"""The Python device against the Python key server over HTTP: licenses to stream and to keep, sync requests."""

import datetime
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from fairplay_device import containers, tags
from fairplay_device.ckc import open_ckc
from fairplay_device.credentials import Credential
from fairplay_device.facts import NO_EXPIRY, SyncV2
from fairplay_device.key_server import key_server_for
from fairplay_device.license import License, OfflineKey, Streaming
from fairplay_device.spc import Device, SPCOptions, device_for
from license_client import Answer, LicenseClient
from license_policy import ContentKey, Refused, Right
from license_server import LicenseServer, always, by_right
from random_requests import named_on_failure, random_content_key, random_options, random_right, random_sync

ASSET_ID = b"interop-asset"
TOKEN = "any.token.will-do"
COMBINATION_COUNT = 200
SYNC_COUNT = 200
KEY = ContentKey(b"the id of a key-", bytes(range(16)), bytes(range(16, 32)))
SYNC = SyncV2(0, tags.SYNC_REPORT, bytes(16), NO_EXPIRY)


pytestmark = pytest.mark.oracle


@dataclass(frozen=True)
class Running:
    """A server, a client of the server, and the credential that both use."""

    server: LicenseServer
    client: LicenseClient
    credential: Credential

    def sync(self, device: Device, request: SyncV2) -> Answer:
        return self.client.license(device.request(SPCOptions(ASSET_ID, sync=request)).message, TOKEN)

    def challenge(self) -> int:
        answer = self.client.challenge(TOKEN)
        assert answer.status == 200
        members = json.loads(answer.body)
        assert members["expiresIn"] == 300
        assert len(members["challenge"]) == 16
        return int(members["challenge"], 16)


@pytest.fixture(scope="module")
def running(made_credential: Credential) -> Iterator[Running]:
    server = LicenseServer(key_server_for(made_credential), always(License(KEY.key, KEY.iv)))
    with server.running() as url:
        client = LicenseClient(url.removesuffix("/fps/license"))
        yield Running(server, client, made_credential)
        client.close()


@pytest.fixture(params=containers.VERSIONS, ids=["version 1", "version 2", "version 3"])
def device(request: pytest.FixtureRequest, made_credential: Credential) -> Device:
    return device_for(made_credential, request.param)


@pytest.mark.parametrize("offline", [False, True])
def test_keeping_is_asked_for_in_the_address(offline: bool, running: Running, device: Device) -> None:
    running.server.grant = by_right(Right(mode="both", storage=60), KEY)
    context = device.request(SPCOptions(ASSET_ID, capabilities=tags.CAPABILITY_OFFLINE_KEY))
    answer = running.client.license(context.message, TOKEN, offline=offline)
    assert answer.status == 200
    expected = OfflineKey(KEY.key_id, 60, None) if offline else Streaming()
    assert open_ckc(answer.body, context.secrets).terms == expected


def test_a_right_to_stream_is_none_to_keep(running: Running, device: Device) -> None:
    running.server.grant = by_right(Right(), KEY)
    context = device.request(SPCOptions(ASSET_ID, capabilities=tags.CAPABILITY_OFFLINE_KEY))
    answer = running.client.license(context.message, TOKEN, offline=True)
    assert (answer.status, answer.code) == (403, "offline_not_allowed")


def test_random_combinations(running: Running, seed: int) -> None:
    randomness = random.Random(seed)
    devices = [device_for(running.credential, version, randomness) for version in containers.VERSIONS]
    for number in range(COMBINATION_COUNT):
        options, key = random_options(randomness, ASSET_ID), random_content_key(randomness)
        right, offline = random_right(randomness, key), randomness.random() < 0.5
        running.server.grant = grant = by_right(right, key)
        context = randomness.choice(devices).request(options)
        answer = running.client.license(context.message, TOKEN, offline=offline)
        with named_on_failure(f"combination {number}, offline {offline}", options, key, right):
            try:
                license = grant(running.server.opened[-1], offline)
            except Refused as refused:
                assert answer.status == 403
                assert answer.code in refused.codes
                continue
            granted = open_ckc(answer.body, context.secrets)
            assert (granted.content_key, granted.content_iv, granted.terms) == (key.key, key.iv, license.terms)


# --- Sync requests ---------------------------------------------------------------------------------------------------


def test_a_sync_request_is_answered_without_a_ckc(running: Running, device: Device) -> None:
    before = datetime.datetime.now(datetime.timezone.utc)
    answer = running.sync(device, replace(SYNC, duration=3600))
    assert (answer.status, answer.header("Content-Type")) == (200, "application/json")
    members = json.loads(answer.body)
    assert members.keys() == {"offline-sync", "expiresInSeconds", "expirationDate", "challengeAccepted"}
    assert members["expiresInSeconds"] == 3600
    expiry = datetime.datetime.fromisoformat(members["expirationDate"])
    assert abs((expiry - before).total_seconds() - 3600) < 30


def test_a_challenge_is_accepted_once(running: Running, device: Device) -> None:
    challenge = running.challenge()
    first = running.sync(device, replace(SYNC, challenge=challenge))
    assert first.status == 200
    assert json.loads(first.body)["challengeAccepted"] is True
    again = running.sync(device, replace(SYNC, challenge=challenge))
    assert (again.status, again.code) == (409, "spc_replayed")


def test_a_challenge_of_somebody_else_is_refused_and_none_is_not(running: Running, device: Device) -> None:
    unknown = running.sync(device, replace(SYNC, challenge=running.challenge() ^ 1))
    assert (unknown.status, unknown.code) == (409, "spc_replayed")
    none = running.sync(device, SYNC)
    assert json.loads(none.body)["challengeAccepted"] is False


def test_random_sync_requests(running: Running, seed: int) -> None:
    randomness = random.Random(seed)
    devices = [device_for(running.credential, version, randomness) for version in containers.VERSIONS]
    for number in range(SYNC_COUNT):
        request = random_sync(randomness, challenge=running.challenge() if randomness.random() < 0.3 else 0)
        options = replace(random_options(randomness, ASSET_ID), sync=request, return_request=())
        answer = running.client.license(randomness.choice(devices).request(options).message, TOKEN)
        with named_on_failure(f"sync request {number}", options):
            members = json.loads(answer.body)
            assert members["offline-sync"]["version"] == request.version
            assert members["expiresInSeconds"] == (None if request.duration == NO_EXPIRY else request.duration)
            if isinstance(request, SyncV2):
                assert members["offline-sync"]["invalidated-stream-ids"] == [each.hex() for each in request.stream_ids]
                assert members["challengeAccepted"] is (request.challenge != 0)
            else:
                assert members["offline-sync"]["content-id"] == request.content_id.hex()

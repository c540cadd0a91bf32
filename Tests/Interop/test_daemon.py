"""The Python device against a running daemon: streaming licenses, tokens, and the daemon's state afterwards."""

import uuid
from dataclasses import replace

import pytest

import tokens
from deployment import Deployment, assert_problem, sample_process
from fairplay_device import tags
from fairplay_device.ckc import Duration
from fairplay_device.facts import (
    DeviceIdentity,
    KeyFormats,
    NotSync,
    PlaybackState,
    SecurityLevelReport,
    VMDeviceInfo,
)
from fairplay_device.license import Streaming
from fairplay_device.spc import Device, SPCOptions, device_for, device_with_bundle_hash
from fairplay_device.tllv import Padding
from license_client import Answer
from license_policy import Right
from random_requests import PLAYBACK_STATES
from workbench import OTHER_CONTENT, Outcome

LEASE_SECONDS = 120
RENTAL_SECONDS = 3600
LEASE_AND_RENTAL = Right(lease=LEASE_SECONDS, rental=RENTAL_SECONDS)
RESIDENT_GROWTH_MAXIMUM = 32 * 1024 * 1024
NOT_EXPRESSIBLE = Outcome(403, "terms_not_expressible")
STATE = PlaybackState(1_700_000_000, tags.READY_TO_START, 0x0102030405060708)
UNKNOWN_BLOCKS = (
    (0x90AC153DACFF0416, bytes(range(16))),
    (0x82C2A59E989CD817, bytes(range(88))),
    (0xA8F47E43AF7E84E8, bytes(range(8))),
    (tags.UNNAMED_IN_LEASE_REQUESTS, bytes(range(8))),
    (0xE03F762BA84CC8E0, b""),
)
DEVICES = ["version 1", "version 2", "version 3", "version 1, bundle hash", "version 3, bundle hash"]


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest, deployment: Deployment) -> Device:
    version = int(request.param.split(",")[0][-1])
    if "bundle" in request.param:
        return device_with_bundle_hash(deployment.credential, version)
    return device_for(deployment.credential, version)


# --- Licenses --------------------------------------------------------------------------------------------------------


def test_a_plain_request_gets_the_registered_key(deployment: Deployment, device: Device) -> None:
    assert deployment.license(device, SPCOptions(deployment.asset_id)).duration is None


def test_every_ckc_has_an_initialization_vector_of_its_own(deployment: Deployment, device: Device) -> None:
    options = SPCOptions(deployment.asset_id)
    vectors = {deployment.license(device, options).initialization_vector for _ in range(20)}
    assert len(vectors) == 20


@pytest.mark.parametrize("options", [(), ("--lease",), ("--rental",), ("--lease", "--rental")], ids=" ".join)
def test_a_minted_limit_has_its_own_key_type(
    options: tuple[str, ...], deployment: Deployment, device: Device
) -> None:
    """Uses tokens of `latchkey token mint` with a lease of 120 seconds and a rental of 3600 seconds."""
    seconds = {"--lease": LEASE_SECONDS, "--rental": RENTAL_SECONDS}
    words = [word for option in options for word in (option, str(seconds[option]))]
    expected = {
        (): None,
        ("--lease",): Duration(LEASE_SECONDS, 0, tags.LEASE_ONLY, tags.DURATION_RESERVED_WORD),
        ("--rental",): Duration(0, RENTAL_SECONDS, tags.RENTAL_ONLY, tags.DURATION_RESERVED_WORD),
        ("--lease", "--rental"): Duration(
            LEASE_SECONDS, RENTAL_SECONDS, tags.LEASE_AND_RENTAL, tags.DURATION_RESERVED_WORD
        ),
    }
    request = SPCOptions(deployment.asset_id, playback_state=STATE)
    assert deployment.license(device, request, deployment.mint(*words)).duration == expected[options]


@pytest.mark.parametrize("state", PLAYBACK_STATES, ids=[f"{state:08x}" for state in PLAYBACK_STATES])
def test_no_playback_state_loosens_a_lease(state: int, deployment: Deployment, device: Device) -> None:
    options = SPCOptions(deployment.asset_id, playback_state=replace(STATE, state=state))
    if state == tags.PLAYBACK_STOPPED:
        answer = deployment.client.license(device.request(options).message, deployment.token_for(LEASE_AND_RENTAL))
        assert answer.status == 200 and answer.problem["playback"] == "ended"
        return
    opened = deployment.license(device, options, deployment.token_for(LEASE_AND_RENTAL))
    assert opened.terms == Streaming(LEASE_SECONDS, RENTAL_SECONDS)


def test_a_token_without_limits_gives_no_duration(deployment: Deployment, device: Device) -> None:
    for playback_state in (STATE, None):
        options = SPCOptions(deployment.asset_id, playback_state=playback_state)
        assert deployment.license(device, options).duration is None


@pytest.mark.parametrize("right", [LEASE_AND_RENTAL, Right(lease=LEASE_SECONDS), Right(rental=RENTAL_SECONDS)])
def test_a_limit_without_playback_state_is_refused(right: Right, deployment: Deployment, device: Device) -> None:
    message = device.request(SPCOptions(deployment.asset_id)).message
    assert_problem(deployment.client.license(message, deployment.token_for(right)), NOT_EXPRESSIBLE)


RETURN_REQUESTS = {
    "none": (),
    "as lease requests have it": (tags.ASSET_ID, tags.TRANSACTION_ID, tags.UNNAMED_IN_LEASE_REQUESTS),
    "with the streaming indicator": (tags.ASSET_ID, tags.TRANSACTION_ID, tags.STREAMING_INDICATOR),
    "unknown blocks": tuple(tag for tag, _ in UNKNOWN_BLOCKS),
    "in another order": tuple(tag for tag, _ in reversed(UNKNOWN_BLOCKS)),
    "repeated": (tags.TRANSACTION_ID, tags.ASSET_ID, tags.TRANSACTION_ID, tags.ASSET_ID),
    "an empty value": (0xE03F762BA84CC8E0,),
    "optional blocks": (tags.MEDIA_PLAYBACK_STATE, tags.CAPABILITIES, tags.STREAMING_INDICATOR),
    "every block that may be asked back": (
        tags.SESSION_KEY_AND_R1_INTEGRITY,
        tags.ANTI_REPLAY_SEED,
        tags.R2,
        tags.ASSET_ID,
        tags.TRANSACTION_ID,
        tags.PROTOCOL_VERSION_USED,
        tags.PROTOCOL_VERSIONS_SUPPORTED,
        tags.STREAMING_INDICATOR,
        tags.MEDIA_PLAYBACK_STATE,
        tags.CAPABILITIES,
        tags.DEVICE_IDENTITY,
        tags.SECURITY_LEVEL_REPORT,
        tags.SUPPORTED_KEY_FORMATS,
        tags.VM_DEVICE_INFO,
        tags.SYNC,
        *(tag for tag, _ in UNKNOWN_BLOCKS),
    ),
}


def rich_options(deployment: Deployment) -> SPCOptions:
    return SPCOptions(
        deployment.asset_id,
        transaction_id=0x1122334455667788,
        streaming_indicator=0x0123456789ABCDEF,
        playback_state=STATE,
        capabilities=tags.CAPABILITY_HDCP_TYPE_1,
        device_identity=DeviceIdentity(1, 2, bytes(8), bytes(8), 1, 2, 0x00110402),
        security_level_report=SecurityLevelReport(tags.LEVEL_MAIN, 31),
        key_formats=KeyFormats(),
        vm_device_info=VMDeviceInfo(0),
        sync=NotSync(),
        unknown_blocks=UNKNOWN_BLOCKS,
    )


@pytest.mark.parametrize("name", RETURN_REQUESTS)
@pytest.mark.parametrize("padding", list(Padding), ids=lambda padding: padding.name.lower())
def test_requested_blocks_come_back_byte_for_byte(
    name: str, padding: Padding, deployment: Deployment, device: Device
) -> None:
    options = replace(rich_options(deployment), return_request=RETURN_REQUESTS[name], padding=padding)
    deployment.license(device, options)


def test_blocks_may_come_in_any_order(deployment: Deployment, device: Device) -> None:
    for shuffled in (False, True, True, True):
        deployment.license(device, replace(rich_options(deployment), shuffled=shuffled))


def test_an_asset_id_may_be_utf_16(deployment: Deployment, device: Device) -> None:
    deployment.license(device, SPCOptions(deployment.asset_id.decode().encode("utf-16-le")))


def test_an_asset_id_may_be_the_key_id_in_any_spelling(deployment: Deployment, device: Device) -> None:
    key_id = uuid.UUID(bytes=deployment.key.key_id)
    for asset_id in (key_id.bytes, str(key_id).encode(), str(key_id).upper().encode(), key_id.hex.encode()):
        deployment.license(device, SPCOptions(asset_id))


# --- Tokens ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def message(deployment: Deployment, device: Device) -> bytes:
    return device.request(SPCOptions(deployment.asset_id)).message


def assert_unauthorised(answer: Answer, *codes: str) -> None:
    assert_problem(answer, *(Outcome(401, code) for code in codes))
    assert (answer.header("WWW-Authenticate") or "").startswith("Bearer")


def test_no_token_is_refused(deployment: Deployment, message: bytes) -> None:
    assert_unauthorised(deployment.client.license(message, None), "token_missing")


def test_an_expired_token_is_refused(deployment: Deployment, message: bytes) -> None:
    expired = tokens.expired(deployment.token, deployment.signing_key)
    assert_unauthorised(deployment.client.license(message, expired), "token_expired")


def test_a_token_that_is_none_is_refused(deployment: Deployment, message: bytes) -> None:
    for text in ("nonsense", "a.b.c", "..", deployment.token.rpartition(".")[0]):
        assert_unauthorised(deployment.client.license(message, text), "token_malformed")


def test_a_wrong_signature_is_refused(deployment: Deployment, message: bytes) -> None:
    for forged in (tokens.with_altered_signature(deployment.token), tokens.with_altered_claims(deployment.token)):
        assert_unauthorised(deployment.client.license(message, forged), "token_signature")
    # The daemon caches verified tokens. The cache must not accept the forged token.
    assert deployment.client.license(message, deployment.token).status == 200
    forged = tokens.with_altered_signature(deployment.token)
    assert_unauthorised(deployment.client.license(message, forged), "token_signature")


def test_an_algorithm_that_the_token_chose_is_refused(deployment: Deployment, message: bytes) -> None:
    key = deployment.signing_key
    unsigned = deployment.client.license(message, tokens.unsigned(deployment.token))
    # The daemon may refuse the empty signature before it checks the algorithm.
    assert_unauthorised(unsigned, "token_alg", "token_malformed")
    confused = tokens.signed_with_public_key_as_secret(deployment.token, key)
    assert_unauthorised(deployment.client.license(message, confused), "token_alg")
    other_curve = tokens.with_header(deployment.token, key, alg="ES384")
    assert_unauthorised(deployment.client.license(message, other_curve), "token_alg")


def test_an_unknown_key_id_is_refused(deployment: Deployment, message: bytes) -> None:
    key = deployment.signing_key
    forged = tokens.with_header(deployment.token, key, kid="no-such-key")
    assert_unauthorised(deployment.client.license(message, forged), "kid_unknown")


def test_a_token_for_one_content_is_not_good_for_another(deployment: Deployment, device: Device) -> None:
    message = device.request(SPCOptions(deployment.asset_id + b"-other")).message
    assert_problem(deployment.client.license(message, deployment.token), OTHER_CONTENT)


# --- Afterwards ------------------------------------------------------------------------------------------------------


@pytest.mark.last
@pytest.mark.each_process
def test_the_daemon_still_answers(deployment: Deployment, device: Device) -> None:
    deployment.license(device, rich_options(deployment))
    assert deployment.client.send("GET", "/livez").status == 200


@pytest.mark.last
@pytest.mark.each_process
def test_every_answer_had_a_request_id_of_its_own(deployment: Deployment) -> None:
    identifiers = deployment.client.request_ids
    assert None not in identifiers
    assert len(set(identifiers)) == len(identifiers)


@pytest.mark.last
@pytest.mark.each_process
def test_the_daemon_is_the_same_process_and_has_not_grown(deployment: Deployment) -> None:
    before = deployment.process_before
    if before is None:
        pytest.skip("LATCHKEY_PID is not set")
    after = sample_process(before.process)
    assert after.start_time == before.start_time
    growth = after.resident_bytes - before.resident_bytes
    print(f"resident memory grew by {growth // 1024} KiB")
    assert growth < RESIDENT_GROWTH_MAXIMUM

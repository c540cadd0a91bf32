"""The Python device against a running daemon, which the environment names.

    LATCHKEY_URL                 base address, plain HTTP
    LATCHKEY_SETUP               folder that `latchkey init` made
    LATCHKEY_CONTENT             content id, used as the asset id too
    LATCHKEY_CONTENT_KEY, _IV    what is registered for it, hex
    LATCHKEY_TOKEN               token for that content, without any limit on the licence
    LATCHKEY_LEASE_TOKEN         the same with lease 120 and rental 3600
    LATCHKEY_EXPIRED_TOKEN       the same as LATCHKEY_TOKEN, expired

and, each for the tests that need it:

    LATCHKEY_LEASE_ONLY_TOKEN    with lease 120 alone
    LATCHKEY_RENTAL_ONLY_TOKEN   with rental 3600 alone
    LATCHKEY_HDCP_TOKEN          demands HDCP Type 1
    LATCHKEY_KID                 key id of the content key, a UUID
    LATCHKEY_PID                 process of the daemon on this machine
"""

import os
import random
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import malformed_spcs as corpus
import tokens
from fairplay_device import tags
from fairplay_device.ckc import OpenedCKC, open_ckc
from fairplay_device.credentials import Credential, read_device_credential
from fairplay_device.key_server import Refusal
from fairplay_device.spc import (
    Device,
    PlaybackState,
    RequestSecrets,
    SPCOptions,
    device_for,
    device_with_bundle_hash,
)
from fairplay_device.tllv import Padding
from licence_client import Answer, LicenceClient

pytestmark = pytest.mark.skipif(
    "LATCHKEY_URL" not in os.environ, reason="LATCHKEY_URL names no running daemon; Scripts/test-interop starts one"
)

LEASE_SECONDS = 120
RENTAL_SECONDS = 3600
COMBINATION_COUNT = 200
WARM_UP_COUNT = 50
RESIDENT_GROWTH_MAXIMUM = 32 * 1024 * 1024
UNAUTHORISED_TYPE = "https://dashif.org/drm-problems/insufficient-proof-of-authorization"
STATES = (tags.READY_TO_START, tags.PLAYING_OR_PAUSED, tags.LEASE_ABOUT_TO_EXPIRE, tags.PLAYBACK_STOPPED, 0x12345678)
STATE = PlaybackState(1_700_000_000, tags.READY_TO_START, 0x0102030405060708)
UNKNOWN_BLOCKS = (
    (0x90AC153DACFF0416, bytes(range(16))),
    (0x82C2A59E989CD817, bytes(range(88))),
    (0xA8F47E43AF7E84E8, bytes(range(8))),
    (tags.UNNAMED_IN_LEASE_REQUESTS, bytes(range(8))),
    (0xE03F762BA84CC8E0, b""),
)


@dataclass(frozen=True)
class Deployment:
    """The daemon under test and what a client of it knows."""

    client: LicenceClient
    credential: Credential
    asset_id: bytes
    content_key: bytes
    content_iv: bytes
    token: str
    lease_token: str
    setup: Path
    process: int | None

    def open(self, answer: Answer, secrets: RequestSecrets) -> OpenedCKC:
        """The opened CKC of an answer that must be a licence for the registered key."""
        assert answer.status == 200, f"{answer.status} {answer.body!r}"
        assert answer.header("Content-Type") == "application/octet-stream"
        assert answer.header("X-Request-Id")
        assert answer.header("X-Error-Code") is None
        opened = open_ckc(answer.body, secrets)
        assert opened.content_key == self.content_key
        assert opened.content_iv == self.content_iv
        return opened

    def licence(self, device: Device, options: SPCOptions, token: str | None = None) -> OpenedCKC:
        context = device.request(options)
        return self.open(self.client.licence(context.message, token or self.token), context.secrets)


def optional_environment(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        pytest.skip(f"{name} is not set")
    return value


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    environment = os.environ
    setup = Path(environment["LATCHKEY_SETUP"])
    client = LicenceClient(environment["LATCHKEY_URL"])
    process = environment.get("LATCHKEY_PID")
    yield Deployment(
        client=client,
        credential=read_device_credential(setup / "fairplay"),
        asset_id=environment["LATCHKEY_CONTENT"].encode(),
        content_key=bytes.fromhex(environment["LATCHKEY_CONTENT_KEY"]),
        content_iv=bytes.fromhex(environment["LATCHKEY_CONTENT_IV"]),
        token=environment["LATCHKEY_TOKEN"],
        lease_token=environment["LATCHKEY_LEASE_TOKEN"],
        setup=setup,
        process=int(process) if process else None,
    )
    client.close()


@dataclass(frozen=True)
class ProcessSample:
    """A process at one moment; the start time tells it from a later one with the same id."""

    start_time: str
    resident_bytes: int


def sample_process(process: int) -> ProcessSample:
    after_name = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    status = Path(f"/proc/{process}/status").read_text().splitlines()
    resident = next(line for line in status if line.startswith("VmRSS:")).split()[1]
    return ProcessSample(start_time=after_name[19], resident_bytes=int(resident) * 1024)


@pytest.fixture(scope="module", autouse=True)
def process_before(deployment: Deployment) -> ProcessSample | None:
    """The daemon after its first licences, before any fault is sent."""
    for version in (1, 2):
        device = device_for(deployment.credential, version)
        for _ in range(WARM_UP_COUNT):
            deployment.licence(device, SPCOptions(deployment.asset_id))
    return None if deployment.process is None else sample_process(deployment.process)


@pytest.fixture(params=["version 1", "version 2", "version 1, bundle hash"])
def device(request: pytest.FixtureRequest, deployment: Deployment) -> Device:
    if request.param == "version 1, bundle hash":
        return device_with_bundle_hash(deployment.credential)
    return device_for(deployment.credential, int(request.param[-1]))


def assert_problem(answer: Answer, *expected: corpus.Outcome) -> None:
    """The answer is one of the expected refusals and has every member that a refusal has."""
    assert corpus.Outcome(answer.status, answer.code) in expected, answer.body
    assert answer.header("Content-Type") == "application/problem+json"
    problem = answer.problem
    assert problem["status"] == answer.status
    assert problem["code"] == answer.code
    assert problem["type"] in (f"urn:latchkey:error:{answer.code}", UNAUTHORISED_TYPE)
    assert problem["request_id"] == answer.header("X-Request-Id")
    for member in ("title", "detail", "request_id", "server_time"):
        assert problem.get(member), f"no {member} in {answer.body!r}"


# --- Licences --------------------------------------------------------------------------------------------------------


def test_a_plain_request_gets_the_registered_key(deployment: Deployment, device: Device) -> None:
    assert deployment.licence(device, SPCOptions(deployment.asset_id)).duration is None


def test_every_ckc_has_an_initialization_vector_of_its_own(deployment: Deployment, device: Device) -> None:
    options = SPCOptions(deployment.asset_id)
    vectors = {deployment.licence(device, options).initialization_vector for _ in range(20)}
    assert len(vectors) == 20


def test_lease_and_rental_are_told_to_a_device_with_playback_state(deployment: Deployment, device: Device) -> None:
    options = SPCOptions(deployment.asset_id, playback_state=STATE)
    duration = deployment.licence(device, options, deployment.lease_token).duration
    assert duration is not None
    assert duration.key_type == tags.LEASE_AND_RENTAL
    assert (duration.lease_seconds, duration.rental_seconds) == (LEASE_SECONDS, RENTAL_SECONDS)
    assert duration.reserved == tags.DURATION_RESERVED_WORD


@pytest.mark.parametrize(
    ("variable", "key_type", "fields"),
    [
        ("LATCHKEY_LEASE_ONLY_TOKEN", tags.LEASE_ONLY, (LEASE_SECONDS, 0)),
        ("LATCHKEY_RENTAL_ONLY_TOKEN", tags.RENTAL_ONLY, (0, RENTAL_SECONDS)),
    ],
)
def test_one_limit_alone_has_its_own_key_type(
    variable: str, key_type: int, fields: tuple[int, int], deployment: Deployment, device: Device
) -> None:
    options = SPCOptions(deployment.asset_id, playback_state=STATE)
    duration = deployment.licence(device, options, optional_environment(variable)).duration
    assert duration is not None
    assert (duration.key_type, duration.lease_field, duration.rental_field) == (key_type, *fields)


@pytest.mark.parametrize("state", STATES, ids=[f"{state:08x}" for state in STATES])
def test_no_playback_state_loosens_a_lease(state: int, deployment: Deployment, device: Device) -> None:
    options = SPCOptions(deployment.asset_id, playback_state=replace(STATE, state=state))
    duration = deployment.licence(device, options, deployment.lease_token).duration
    assert duration is not None
    assert (duration.lease_seconds, duration.rental_seconds) == (LEASE_SECONDS, RENTAL_SECONDS)


def test_a_token_without_limits_gives_no_duration(deployment: Deployment, device: Device) -> None:
    for playback_state in (STATE, None):
        options = SPCOptions(deployment.asset_id, playback_state=playback_state)
        assert deployment.licence(device, options).duration is None


def test_a_lease_without_playback_state_is_refused(deployment: Deployment, device: Device) -> None:
    message = device.request(SPCOptions(deployment.asset_id)).message
    answer = deployment.client.licence(message, deployment.lease_token)
    assert_problem(answer, corpus.Outcome(403, "terms_not_expressible"))


@pytest.mark.parametrize("variable", ["LATCHKEY_LEASE_ONLY_TOKEN", "LATCHKEY_RENTAL_ONLY_TOKEN"])
def test_one_limit_without_playback_state_is_refused(variable: str, deployment: Deployment, device: Device) -> None:
    message = device.request(SPCOptions(deployment.asset_id)).message
    answer = deployment.client.licence(message, optional_environment(variable))
    assert_problem(answer, corpus.Outcome(403, "terms_not_expressible"))


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
        unknown_blocks=UNKNOWN_BLOCKS,
    )


@pytest.mark.parametrize("name", RETURN_REQUESTS)
@pytest.mark.parametrize("padding", list(Padding), ids=lambda padding: padding.name.lower())
def test_requested_blocks_come_back_byte_for_byte(
    name: str, padding: Padding, deployment: Deployment, device: Device
) -> None:
    options = replace(rich_options(deployment), return_request=RETURN_REQUESTS[name], padding=padding)
    deployment.licence(device, options)


def test_blocks_may_come_in_any_order(deployment: Deployment, device: Device) -> None:
    for shuffled in (False, True, True, True):
        deployment.licence(device, replace(rich_options(deployment), shuffled=shuffled))


def test_an_asset_id_may_be_utf_16(deployment: Deployment, device: Device) -> None:
    deployment.licence(device, SPCOptions(deployment.asset_id.decode().encode("utf-16-le")))


def test_an_asset_id_may_be_the_key_id_in_any_spelling(deployment: Deployment, device: Device) -> None:
    key_id = uuid.UUID(optional_environment("LATCHKEY_KID"))
    for asset_id in (key_id.bytes, str(key_id).encode(), str(key_id).upper().encode(), key_id.hex.encode()):
        deployment.licence(device, SPCOptions(asset_id))


def test_a_demanded_hdcp_type_is_never_dropped(deployment: Deployment, device: Device) -> None:
    """A device that can do Type 1 is told so; one that cannot gets nothing."""
    token = optional_environment("LATCHKEY_HDCP_TOKEN")
    able = SPCOptions(deployment.asset_id, capabilities=tags.CAPABILITY_HDCP_TYPE_1)
    assert deployment.licence(device, able, token).hdcp_level == tags.HDCP_TYPE_1
    for capabilities in (0, None):
        message = device.request(replace(able, capabilities=capabilities)).message
        assert_problem(deployment.client.licence(message, token), corpus.Outcome(403, "security_level"))


def random_options(deployment: Deployment, randomness: random.Random) -> SPCOptions:
    unknown = tuple(
        (randomness.getrandbits(64), randomness.randbytes(randomness.randrange(100)))
        for _ in range(randomness.randrange(28))
    )
    options = SPCOptions(
        deployment.asset_id,
        transaction_id=randomness.getrandbits(64),
        protocol_versions_supported=randomness.choice([(1,), (1, 2), (2, 1), (3, 2, 1)]),
        streaming_indicator=randomness.choice([None, 0, randomness.getrandbits(64)]),
        playback_state=randomness.choice(
            [None, PlaybackState(randomness.getrandbits(32), randomness.choice(STATES), randomness.getrandbits(64))]
        ),
        capabilities=randomness.choice([None, 0, randomness.getrandbits(6), randomness.getrandbits(128)]),
        unknown_blocks=unknown,
        padding=randomness.choice(list(Padding)),
        shuffled=randomness.random() < 0.9,
    )
    echoable = [tags.ASSET_ID, tags.TRANSACTION_ID, *(tag for tag, _ in unknown)]
    if options.streaming_indicator is not None:
        echoable.append(tags.STREAMING_INDICATOR)
    if options.playback_state is not None:
        echoable.append(tags.MEDIA_PLAYBACK_STATE)
    return replace(
        options, return_request=tuple(randomness.choices(echoable, k=randomness.randrange(len(echoable) + 1)))
    )


def test_random_combinations_of_options(deployment: Deployment, seed: int) -> None:
    print(f"seed {seed}")
    randomness = random.Random(seed)
    devices = [
        device_for(deployment.credential, 1, randomness),
        device_for(deployment.credential, 2, randomness),
        device_with_bundle_hash(deployment.credential, randomness),
    ]
    for number in range(COMBINATION_COUNT):
        options = random_options(deployment, randomness)
        limited = randomness.random() < 0.5
        context = randomness.choice(devices).request(options)
        print(f"combination {number}, lease and rental {limited}: {options}")
        answer = deployment.client.licence(context.message, deployment.lease_token if limited else deployment.token)
        if limited and options.playback_state is None:
            assert_problem(answer, corpus.Outcome(403, "terms_not_expressible"))
            continue
        duration = deployment.open(answer, context.secrets).duration
        granted = None if duration is None else (duration.lease_seconds, duration.rental_seconds)
        assert granted == ((LEASE_SECONDS, RENTAL_SECONDS) if limited else None)


# --- Tokens ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def message(deployment: Deployment, device: Device) -> bytes:
    return device.request(SPCOptions(deployment.asset_id)).message


def assert_unauthorised(answer: Answer, *codes: str) -> None:
    assert_problem(answer, *(corpus.Outcome(401, code) for code in codes))
    assert (answer.header("WWW-Authenticate") or "").startswith("Bearer")


def test_no_token_is_refused(deployment: Deployment, message: bytes) -> None:
    assert_unauthorised(deployment.client.licence(message, None), "token_missing")


def test_an_expired_token_is_refused(deployment: Deployment, message: bytes) -> None:
    expired = os.environ["LATCHKEY_EXPIRED_TOKEN"]
    assert_unauthorised(deployment.client.licence(message, expired), "token_expired")


def test_a_token_that_is_none_is_refused(deployment: Deployment, message: bytes) -> None:
    for text in ("nonsense", "a.b.c", "..", deployment.token.rpartition(".")[0]):
        assert_unauthorised(deployment.client.licence(message, text), "token_malformed")


def test_a_wrong_signature_is_refused(deployment: Deployment, message: bytes) -> None:
    for forged in (tokens.with_altered_signature(deployment.token), tokens.with_altered_claims(deployment.token)):
        assert_unauthorised(deployment.client.licence(message, forged), "token_signature")
    # The verified good token is remembered; that must not help the forged one.
    assert deployment.client.licence(message, deployment.token).status == 200
    forged = tokens.with_altered_signature(deployment.token)
    assert_unauthorised(deployment.client.licence(message, forged), "token_signature")


def test_an_algorithm_that_the_token_chose_is_refused(deployment: Deployment, message: bytes) -> None:
    key = tokens.read_signing_key(deployment.setup / "secrets" / "token-signing-key.pem")
    unsigned = deployment.client.licence(message, tokens.unsigned(deployment.token))
    # An empty signature may be noticed before the algorithm is.
    assert_unauthorised(unsigned, "token_alg", "token_malformed")
    confused = tokens.signed_with_public_key_as_secret(deployment.token, key)
    assert_unauthorised(deployment.client.licence(message, confused), "token_alg")
    other_curve = tokens.with_header(deployment.token, key, alg="ES384")
    assert_unauthorised(deployment.client.licence(message, other_curve), "token_alg")


def test_an_unknown_key_id_is_refused(deployment: Deployment, message: bytes) -> None:
    key = tokens.read_signing_key(deployment.setup / "secrets" / "token-signing-key.pem")
    forged = tokens.with_header(deployment.token, key, kid="no-such-key")
    assert_unauthorised(deployment.client.licence(message, forged), "kid_unknown")


def test_a_token_for_one_content_is_not_good_for_another(deployment: Deployment, device: Device) -> None:
    message = device.request(SPCOptions(deployment.asset_id + b"-other")).message
    assert_problem(deployment.client.licence(message, deployment.token), corpus.OTHER_CONTENT)


# --- Malformed SPCs --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=[1, 2], ids=["version 1", "version 2"])
def bench(request: pytest.FixtureRequest, deployment: Deployment, seed: int) -> corpus.Workbench:
    device = device_for(deployment.credential, request.param, random.Random(seed))
    return corpus.Workbench(deployment.credential, device, deployment.asset_id)


def assert_outcome(deployment: Deployment, bench: corpus.Workbench, body: bytes, *expected: corpus.Outcome) -> None:
    """The answer is one of the expected; where it is a licence, the CKC opens with what the SPC really says."""
    answer = deployment.client.licence(body, deployment.token)
    if answer.status == 200:
        assert corpus.LICENCE in expected
        deployment.open(answer, bench.yardstick.open(body).secrets)
    else:
        assert_problem(answer, *expected)


@pytest.mark.parametrize("case", corpus.CASES, ids=lambda case: case.name)
def test_a_malformed_spc_gets_its_status_and_code(
    case: corpus.Case, deployment: Deployment, bench: corpus.Workbench
) -> None:
    if bench.version in case.versions:
        assert_outcome(deployment, bench, case.make(bench), *case.outcomes)


def test_every_truncation_is_refused(deployment: Deployment, bench: corpus.Workbench) -> None:
    for name, body, outcomes in corpus.truncations(bench.message):
        print(name)
        assert_outcome(deployment, bench, body, *outcomes)


def test_random_blobs_are_refused(deployment: Deployment, bench: corpus.Workbench, seed: int) -> None:
    print(f"seed {seed}")
    for name, body, outcomes in corpus.random_blobs(bench, random.Random(seed)):
        print(name)
        assert_outcome(deployment, bench, body, *outcomes)


def test_one_byte_flips_get_what_a_strict_key_server_says(deployment: Deployment, bench: corpus.Workbench) -> None:
    for name, body in corpus.flips(bench.message):
        print(name)
        assert_outcome(deployment, bench, body, strict_outcome(deployment, bench, body))


def strict_outcome(deployment: Deployment, bench: corpus.Workbench, body: bytes) -> corpus.Outcome:
    try:
        opened = bench.yardstick.open(body)
    except Refusal as refusal:
        return corpus.Outcome(refusal.status, refusal.code)
    return corpus.LICENCE if opened.asset_id == deployment.asset_id else corpus.OTHER_CONTENT


def test_everything_after_the_hash_gets_the_same_bytes(deployment: Deployment, seed: int) -> None:
    """Only the request's id and the time may tell two answers apart, not even their lengths."""
    seen: dict[tuple[int, tuple[tuple[str, str], ...], bytes], str] = {}
    for version in (1, 2):
        device = device_for(deployment.credential, version, random.Random(seed))
        bench = corpus.Workbench(deployment.credential, device, deployment.asset_id)
        for case in corpus.MALFORMED:
            if case.outcomes == (corpus.REJECTED,):
                answer = deployment.client.licence(case.make(bench), deployment.token)
                seen.setdefault(answer.without_identity, f"version {version}, {case.name}")
    assert len(seen) == 1, seen


# --- Afterwards ------------------------------------------------------------------------------------------------------


def test_the_daemon_still_answers(deployment: Deployment, device: Device) -> None:
    deployment.licence(device, rich_options(deployment))
    assert deployment.client.send("GET", "/livez").status == 200


def test_every_answer_had_a_request_id_of_its_own(deployment: Deployment) -> None:
    identifiers = deployment.client.request_ids
    assert None not in identifiers
    assert len(set(identifiers)) == len(identifiers)


def test_the_daemon_is_the_same_process_and_has_not_grown(
    deployment: Deployment, process_before: ProcessSample | None
) -> None:
    if deployment.process is None or process_before is None:
        pytest.skip("LATCHKEY_PID is not set")
    after = sample_process(deployment.process)
    assert after.start_time == process_before.start_time
    growth = after.resident_bytes - process_before.resident_bytes
    print(f"resident memory grew by {growth // 1024} KiB")
    assert growth < RESIDENT_GROWTH_MAXIMUM

"""What a running daemon grants to which device: licenses to keep, HDCP, security levels, tracks.

`license_policy` decides what the daemon must grant, from what the Python key server reads in the same request.
"""

import random
import time
import uuid
from dataclasses import replace

import pytest

from deployment import Deployment, assert_problem
from fairplay_device import containers, tags
from fairplay_device.ckc import OpenedCKC
from fairplay_device.facts import DenyListVersion, PlaybackState, SecurityLevelReport
from fairplay_device.key_server import KeyServer, OpenedSPC, key_server_without_private_keys
from fairplay_device.license import License, OfflineKey, Persistent, Streaming, Terms
from fairplay_device.spc import Device, PlaybackContext, SPCOptions, device_for, device_with_bundle_hash
from lengths import inputs
from license_client import Answer
from license_policy import ContentKey, Demand, Policy, Refused, Right, decide, enforced_hdcp
from random_requests import named_on_failure, random_content_key, random_options, random_right
from token_policy import ends_playback
from workbench import Outcome

COMBINATION_COUNT = inputs(short=150, long=400)
KEY_COUNT = 24
STATE = PlaybackState(1_700_000_000, tags.READY_TO_START, 0x0102030405060708)
OFFLINE = Right(mode="both", storage=2_592_000, playback=86_400)
OFFLINE_V1 = tags.CAPABILITY_OFFLINE_KEY
OFFLINE_V2 = tags.CAPABILITY_OFFLINE_KEY_V2
NOT_ALLOWED = Outcome(403, "offline_not_allowed")
NOT_EXPRESSIBLE = Outcome(403, "terms_not_expressible")
TOO_WEAK = Outcome(403, "security_level")


@pytest.fixture(params=containers.VERSIONS, ids=["version 1", "version 2", "version 3"])
def device(request: pytest.FixtureRequest, deployment: Deployment) -> Device:
    return device_for(deployment.credential, request.param)


# --- Licenses to keep ------------------------------------------------------------------------------------------------


def kept(
    deployment: Deployment, device: Device, right: Right, capabilities: int | None, state: PlaybackState | None = STATE
) -> Terms:
    options = SPCOptions(deployment.asset_id, capabilities=capabilities, playback_state=state)
    return deployment.license(device, options, deployment.token_for(right), offline=True).terms


def assert_not_kept(
    deployment: Deployment,
    device: Device,
    right: Right,
    capabilities: int | None,
    expected: Outcome,
    state: PlaybackState | None = STATE,
) -> None:
    options = SPCOptions(deployment.asset_id, capabilities=capabilities, playback_state=state)
    message = device.request(options).message
    assert_problem(deployment.client.license(message, deployment.token_for(right), offline=True), expected)


@pytest.mark.parametrize("state", [STATE, None], ids=["playback state", "none"])
@pytest.mark.parametrize("mode", ["offline", "both"])
@pytest.mark.parametrize("limits", [(None, None), (60, None), (None, 60), (2_592_000, 86_400), (1, 0xFFFFFFFE)])
def test_an_older_device_keeps_an_offline_key_of_version_1(
    limits: tuple[int | None, int | None],
    mode: str,
    state: PlaybackState | None,
    deployment: Deployment,
    device: Device,
) -> None:
    right = Right(mode=mode, storage=limits[0], playback=limits[1])
    assert kept(deployment, device, right, OFFLINE_V1, state) == OfflineKey(deployment.key.key_id, *limits)


@pytest.mark.parametrize("capabilities", [OFFLINE_V2, OFFLINE_V1 | OFFLINE_V2])
@pytest.mark.parametrize("limits", [(None, None), (60, None), (None, 60), (2_592_000, 86_400)])
def test_a_newer_device_keeps_an_offline_key_of_version_2(
    limits: tuple[int | None, int | None], capabilities: int, deployment: Deployment, device: Device
) -> None:
    right = Right(mode="both", storage=limits[0], playback=limits[1])
    terms = kept(deployment, device, right, capabilities)
    assert isinstance(terms, OfflineKey)
    assert terms == OfflineKey(deployment.key.key_id, *limits, terms.title_id)
    assert terms.version == 2


@pytest.mark.parametrize("capabilities", [None, 0, tags.CAPABILITY_HDCP_TYPE_1 | tags.CAPABILITY_SECURE_INVALIDATION])
def test_a_device_without_offline_keys_keeps_one_limit_or_none(
    capabilities: int | None, deployment: Deployment, device: Device
) -> None:
    assert kept(deployment, device, Right(mode="both"), capabilities) == Persistent()
    assert kept(deployment, device, replace(OFFLINE, playback=None), capabilities) == Persistent(2_592_000)
    assert_not_kept(deployment, device, OFFLINE, capabilities, NOT_EXPRESSIBLE)
    assert_not_kept(deployment, device, replace(OFFLINE, storage=None), capabilities, NOT_EXPRESSIBLE)
    assert_not_kept(deployment, device, Right(mode="both"), capabilities, NOT_EXPRESSIBLE, None)
    assert_not_kept(deployment, device, replace(OFFLINE, playback=None), capabilities, NOT_EXPRESSIBLE, None)


@pytest.mark.parametrize("capabilities", [None, 0, OFFLINE_V1, OFFLINE_V2])
def test_a_right_to_stream_is_none_to_keep(capabilities: int | None, deployment: Deployment, device: Device) -> None:
    assert_not_kept(deployment, device, Right(mode="stream"), capabilities, NOT_ALLOWED)


@pytest.mark.parametrize("capabilities", [None, OFFLINE_V1, OFFLINE_V2])
def test_a_lease_is_nothing_to_keep(capabilities: int | None, deployment: Deployment, device: Device) -> None:
    assert_not_kept(deployment, device, Right(mode="both", lease=60), capabilities, NOT_ALLOWED)


@pytest.mark.parametrize(
    ("rental", "storage"), [(5_000_000, 2_592_000), (2_678_400, 2_592_000), (2_000_000, 1_913_600), (172_800, 86_400)]
)
def test_storage_and_playback_fit_into_a_rental(
    rental: int, storage: int, deployment: Deployment, device: Device
) -> None:
    right = replace(OFFLINE, rental=rental)
    assert kept(deployment, device, right, OFFLINE_V1) == OfflineKey(deployment.key.key_id, storage, 86_400)


@pytest.mark.parametrize("rental", [60, 86_400, 172_799])
def test_a_short_rental_is_a_hard_end(rental: int, deployment: Deployment, device: Device) -> None:
    """A device that sent no playback state cannot be told one end, so it divides the rental between two limits."""
    right = replace(OFFLINE, rental=rental)
    end = min(rental, 86_400)
    shared = OfflineKey(deployment.key.key_id, end - end // 2, end // 2)
    assert kept(deployment, device, right, OFFLINE_V1) == Persistent(end)
    assert kept(deployment, device, right, OFFLINE_V1, None) == shared
    assert kept(deployment, device, right, 0) == Persistent(end)


@pytest.mark.parametrize("capabilities", [OFFLINE_V1, OFFLINE_V2, 0])
def test_a_duration_or_an_end_alone_is_one_end(capabilities: int, deployment: Deployment, device: Device) -> None:
    for seconds in (1, 86_401, 2_592_000):
        right = Right(mode="both", rental=seconds)
        assert kept(deployment, device, right, capabilities) == Persistent(seconds)
    end = int(time.time()) + 3600
    terms = kept(deployment, device, Right(mode="both", end=end), capabilities)
    assert isinstance(terms, Persistent) and terms.storage is not None and 3540 <= terms.storage <= 3600


def test_a_reported_level_of_zero_gets_no_license(deployment: Deployment, device: Device) -> None:
    options = SPCOptions(
        deployment.asset_id, capabilities=0xFF, playback_state=STATE, security_level_report=SecurityLevelReport(0)
    )
    answer = deployment.client.license(device.request(options).message, deployment.token)
    assert_problem(answer, Outcome(403, "security_level"))


@pytest.mark.parametrize(("own", "is_old"), [(None, True), (0, False), (30, True), (31, False)])
def test_a_deny_list_of_its_own_counts_before_the_report(
    own: int | None, is_old: bool, deployment: Deployment, device: Device
) -> None:
    """An outdated list limits the device to Baseline. Version 0 is not outdated, and differs from no version."""
    options = SPCOptions(
        deployment.asset_id,
        playback_state=STATE,
        deny_list_version=None if own is None else DenyListVersion(own),
        security_level_report=SecurityLevelReport(tags.LEVEL_MAIN, deny_list_version=20),
    )
    token = deployment.token_for(Right(demand=Demand(security_level="main")))
    answer = deployment.client.license(device.request(options).message, token)
    assert (answer.status, answer.code) == ((403, "security_level") if is_old else (200, None))


def test_a_right_to_both_streams_unless_keeping_is_asked(deployment: Deployment, device: Device) -> None:
    options = SPCOptions(deployment.asset_id, capabilities=OFFLINE_V2, playback_state=STATE)
    token = deployment.token_for(replace(OFFLINE, lease=60))
    assert deployment.license(device, options, token).terms == Streaming(lease=60)


def test_a_right_to_keep_is_none_to_stream(deployment: Deployment, device: Device) -> None:
    message = device.request(SPCOptions(deployment.asset_id, capabilities=OFFLINE_V2, playback_state=STATE)).message
    answer = deployment.client.license(message, deployment.token_for(replace(OFFLINE, mode="offline")))
    assert_problem(answer, Outcome(403, "content_mismatch"))


@pytest.mark.parametrize("state", [STATE, None], ids=["playback state", "none"])
@pytest.mark.parametrize("capabilities", [None, OFFLINE_V1, OFFLINE_V2])
@pytest.mark.parametrize(
    "right", [Right(mode="both"), replace(OFFLINE, playback=None), replace(OFFLINE, storage=None), OFFLINE]
)
def test_nothing_that_is_kept_outlives_the_end_of_the_right(
    right: Right, capabilities: int | None, state: PlaybackState | None, deployment: Deployment, device: Device
) -> None:
    """The device always stops at the end: the request is refused, or the sum of its limits fits."""
    for seconds in (2, 600, 3_000_000):
        end = int(time.time()) + seconds
        options = SPCOptions(deployment.asset_id, capabilities=capabilities, playback_state=state)
        context = device.request(options)
        token = deployment.token_for(replace(right, end=end))
        answer = deployment.client.license(context.message, token, offline=True)
        if answer.status != 200:
            assert_problem(answer, NOT_EXPRESSIBLE, Outcome(403, "right_ended"))
            continue
        terms = deployment.open(answer, context.secrets).terms
        if isinstance(terms, Persistent):
            assert terms.storage is not None
            assert terms.storage <= seconds
        else:
            assert isinstance(terms, OfflineKey)
            assert terms.storage is not None and terms.playback is not None
            assert terms.storage + terms.playback <= seconds


@pytest.mark.parametrize("right", [Right(), Right(lease=3_000_000), Right(rental=3_000_000)])
def test_no_stream_outlives_the_end_of_the_right(right: Right, deployment: Deployment, device: Device) -> None:
    for seconds in (60, 2_000_000):
        end = int(time.time()) + seconds
        options = SPCOptions(deployment.asset_id, playback_state=STATE)
        terms = deployment.license(device, options, deployment.token_for(replace(right, end=end))).terms
        assert isinstance(terms, Streaming)
        assert terms.lease is not None
        assert terms.lease <= seconds


@pytest.mark.parametrize(
    ("query", "is_kept"), [("offline=1", True), ("offline=true", True), ("offline=0", False), ("", False)]
)
def test_the_wish_to_keep_stands_in_the_address(
    query: str, is_kept: bool, deployment: Deployment, device: Device
) -> None:
    context = device.request(SPCOptions(deployment.asset_id, capabilities=OFFLINE_V1))
    token = deployment.token_for(OFFLINE)
    headers = {"Content-Type": "application/octet-stream", "Authorization": f"Bearer {token}"}
    answer = deployment.client.send("POST", f"/fps/license?{query}", context.message, headers)
    assert deployment.open(answer, context.secrets).is_persistent is is_kept


def test_all_keys_of_a_content_have_one_title_and_each_its_stream(
    deployment: Deployment, device: Device
) -> None:
    titles = []
    for content in (f"title-a-{uuid.uuid4()}", f"title-b-{uuid.uuid4()}"):
        keys = [
            ContentKey(uuid.uuid4().bytes, uuid.uuid4().bytes, uuid.uuid4().bytes, track)
            for track in ("AUDIO", "SD", "HD")
        ]
        for key in keys:
            deployment.register(content, key)
        terms = [kept_key(deployment, device, content, key) for key in keys]
        assert [each.identifier for each in terms] == [key.key_id for key in keys]
        assert len({each.title_id for each in terms}) == 1
        titles.append(terms[0].title_id)
    assert titles[0] != titles[1]


def kept_key(deployment: Deployment, device: Device, content: str, key: ContentKey) -> OfflineKey:
    """Requests an offline key of version 2 for one of several keys, by its key id."""
    context = device.request(SPCOptions(str(uuid.UUID(bytes=key.key_id)).encode(), capabilities=OFFLINE_V2))
    answer = deployment.client.license(context.message, deployment.token_for(OFFLINE, content), offline=True)
    terms = deployment.open(answer, context.secrets, key).terms
    assert isinstance(terms, OfflineKey)
    return terms


# --- Protection ------------------------------------------------------------------------------------------------------


ABLE = tags.CAPABILITY_HDCP_TYPE_1 | tags.CAPABILITY_LEVEL_MAIN
# The content id and one of its keys, for each track label.
Ladder = dict[str, tuple[str, ContentKey]]


@pytest.fixture(scope="module")
def ladder(deployment: Deployment) -> Ladder:
    """One key for each content type, in one content."""
    content = f"ladder-{uuid.uuid4()}"
    keys = {
        track: ContentKey(uuid.uuid4().bytes, uuid.uuid4().bytes, uuid.uuid4().bytes, track)
        for track in ("AUDIO", "SD", "HD", "UHD")
    }
    for key in keys.values():
        deployment.register(content, key)
    return {track: (content, key) for track, key in keys.items()}


def ask(
    deployment: Deployment, device: Device, track: tuple[str, ContentKey], right: Right, **options: object
) -> tuple[PlaybackContext, Answer]:
    content, key = track
    context = device.request(SPCOptions(str(uuid.UUID(bytes=key.key_id)).encode(), **options))
    return context, deployment.client.license(context.message, deployment.token_for(right, content))


def granted(
    deployment: Deployment, device: Device, track: tuple[str, ContentKey], right: Right, **options: object
) -> OpenedCKC:
    context, answer = ask(deployment, device, track, right, **options)
    return deployment.open(answer, context.secrets, track[1])


@pytest.mark.parametrize(
    ("track", "hdcp", "level"),
    [
        ("AUDIO", tags.HDCP_TYPE_0, tags.LEVEL_AUDIO),
        ("SD", tags.HDCP_TYPE_0, tags.LEVEL_BASELINE),
        ("HD", tags.HDCP_TYPE_0, tags.LEVEL_BASELINE),
        ("UHD", tags.HDCP_TYPE_1, tags.LEVEL_MAIN),
    ],
)
def test_each_content_type_has_its_protection(
    track: str, hdcp: int, level: int, deployment: Deployment, device: Device, ladder: Ladder
) -> None:
    for right in (Right(), Right(demand=Demand("none", "audio"))):
        opened = granted(deployment, device, ladder[track], right, capabilities=ABLE)
        assert opened.security_level == level
        if track in ("HD", "UHD") or right == Right():
            assert enforced_hdcp(opened.hdcp_level) == hdcp


def test_a_right_may_ask_for_more(
    deployment: Deployment, device: Device, ladder: Ladder
) -> None:
    strict = Right(tracks={"SD": Demand("type1", "main"), "HD": Demand()})
    opened = granted(deployment, device, ladder["SD"], strict, capabilities=ABLE)
    assert (opened.hdcp_level, opened.security_level) == (tags.HDCP_TYPE_1, tags.LEVEL_MAIN)
    opened = granted(deployment, device, ladder["HD"], strict, capabilities=ABLE)
    assert (enforced_hdcp(opened.hdcp_level), opened.security_level) == (tags.HDCP_TYPE_0, tags.LEVEL_BASELINE)


LEVEL_AUDIO = SecurityLevelReport(tags.LEVEL_AUDIO)
LEVEL_MAIN = SecurityLevelReport(tags.LEVEL_MAIN)
BASELINE = tags.CAPABILITY_HDCP_TYPE_1 | tags.CAPABILITY_LEVEL_BASELINE
TYPE_1 = tags.CAPABILITY_HDCP_TYPE_1


@pytest.mark.parametrize(
    ("track", "options", "is_granted"),
    [
        ("UHD", {"capabilities": ABLE}, True),
        ("UHD", {"capabilities": TYPE_1}, True),
        ("UHD", {"capabilities": BASELINE}, False),
        ("UHD", {"capabilities": BASELINE, "security_level_report": LEVEL_MAIN}, True),
        ("UHD", {"capabilities": ABLE, "security_level_report": LEVEL_AUDIO}, False),
        ("UHD", {"capabilities": tags.CAPABILITY_LEVEL_MAIN}, False),
        ("UHD", {}, False),
        ("UHD", {"capabilities": ABLE, "deny_list_version": DenyListVersion(30)}, False),
        ("UHD", {"capabilities": ABLE, "deny_list_version": DenyListVersion(31)}, True),
        ("UHD", {"capabilities": ABLE, "deny_list_version": DenyListVersion(0)}, True),
        ("UHD", {"capabilities": ABLE, "security_level_report": replace(LEVEL_MAIN, deny_list_version=30)}, False),
        ("HD", {}, True),
        ("HD", {"security_level_report": LEVEL_AUDIO}, False),
        ("HD", {"deny_list_version": DenyListVersion(1)}, True),
        ("SD", {"security_level_report": LEVEL_AUDIO}, False),
        ("SD", {"security_level_report": replace(LEVEL_AUDIO, version=2)}, True),
        ("AUDIO", {"security_level_report": LEVEL_AUDIO}, True),
    ],
)
def test_a_device_below_the_required_level_is_refused(
    track: str,
    options: dict[str, object],
    is_granted: bool,
    deployment: Deployment,
    device: Device,
    ladder: Ladder,
) -> None:
    if is_granted:
        granted(deployment, device, ladder[track], Right(), **options)
    else:
        _, answer = ask(deployment, device, ladder[track], Right(), **options)
        assert_problem(answer, TOO_WEAK)


def test_a_demanded_hdcp_type_is_never_dropped(deployment: Deployment, device: Device) -> None:
    """A device that supports Type 1 gets a license that demands it. Any other device gets no license."""
    token = deployment.token_for(Right(demand=Demand(hdcp="type1")))
    able = SPCOptions(deployment.asset_id, capabilities=TYPE_1)
    assert deployment.license(device, able, token).hdcp_level == tags.HDCP_TYPE_1
    for capabilities in (0, None):
        message = device.request(replace(able, capabilities=capabilities)).message
        assert_problem(deployment.client.license(message, token), TOO_WEAK)


# --- Random combinations ---------------------------------------------------------------------------------------------


def yardstick(deployment: Deployment, context: PlaybackContext) -> OpenedSPC:
    """What the Python key server reads in the request."""
    session = context.session
    server: KeyServer = key_server_without_private_keys(
        deployment.credential, {session.wrapped_key: session.keys.transport_key}
    )
    return server.open(context.message)


def assert_grants(opened: OpenedCKC, license: License) -> None:
    """Checks that key, terms and protection are as the license demands. The daemon may choose the title id."""
    terms = opened.terms
    if isinstance(terms, OfflineKey) and terms.title_id is not None:
        terms = replace(terms, title_id=Policy().title_id)
    assert (opened.content_key, opened.content_iv) == (license.content_key, license.content_iv)
    assert terms == license.terms
    assert enforced_hdcp(opened.hdcp_level) == enforced_hdcp(license.hdcp_level)
    assert opened.security_level == license.security_level
    assert (opened.version, opened.session_key_version) == (1, None)


def judge(
    asked: Deployment,
    context: PlaybackContext,
    answer: Answer,
    right: Right,
    key: ContentKey,
    policy: Policy,
    *,
    offline: bool,
) -> str:
    """Checks that the answer is the one that the policy demands, and returns its kind."""
    opened = yardstick(asked, context)
    try:
        license = decide(opened, right, key, policy, offline=offline)
    except Refused as refused:
        assert_problem(answer, *(Outcome(403, code) for code in refused.codes))
        return str(answer.code)
    if ends_playback(opened, license, offline=offline):
        assert answer.status == 200 and answer.problem["playback"] == "ended"
        return "ended"
    assert_grants(asked.open(answer, context.secrets, key), license)
    return type(license.terms).__name__


@pytest.mark.slow
def test_random_combinations_get_what_is_owed(deployment: Deployment, seed: int) -> None:
    print(f"seed {seed}")
    randomness = random.Random(f"{seed} terms")
    policy = Policy()
    devices = [device_for(deployment.credential, version, randomness) for version in containers.VERSIONS]
    devices += [device_with_bundle_hash(deployment.credential, version, randomness) for version in (1, 3)]
    content = f"random-{uuid.uuid4()}"
    keys = [random_content_key(randomness) for _ in range(KEY_COUNT)]
    for key in keys:
        deployment.register(content, key)
    outcomes: dict[str, int] = {}
    for number in range(COMBINATION_COUNT):
        key = randomness.choice(keys)
        right = random_right(randomness, key)
        offline = randomness.random() < {"stream": 0.2, "offline": 0.9, "both": 0.5}[right.mode]
        options = random_options(randomness, str(uuid.UUID(bytes=key.key_id)).encode())
        context = randomness.choice(devices).request(options)
        answer = deployment.client.license(context.message, deployment.token_for(right, content), offline=offline)
        with named_on_failure(f"combination {number}, offline {offline}", options, key, right):
            outcome = judge(deployment, context, answer, right, key, policy, offline=offline)
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
    print(outcomes)
    assert {"Streaming", "OfflineKey", "security_level", "terms_not_expressible"} <= outcomes.keys()

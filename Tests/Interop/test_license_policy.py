"""The rules that judge the daemon, each with a case written by hand. Needs no daemon."""

import datetime
from dataclasses import replace

import pytest

from fairplay_device import tags
from fairplay_device.credentials import Credential
from fairplay_device.facts import (
    NO_EXPIRY,
    DenyListVersion,
    EncryptedSecurityLevelReport,
    PlaybackState,
    SecurityLevelReport,
    SyncV1,
    SyncV2,
)
from fairplay_device.key_server import OpenedSPC, key_server_for
from fairplay_device.license import OfflineKey, Persistent, Streaming, Terms
from fairplay_device.spc import SPCOptions, device_for
from license_policy import (
    ContentKey,
    Demand,
    Policy,
    Refused,
    Right,
    decide,
    device_security_level,
    enforced_hdcp,
    sync_answer,
)

KEY = ContentKey(b"the id of a key-", bytes(range(16)), bytes(range(16, 32)))
POLICY = Policy(title_id=b"the title of all")
STATE = PlaybackState(1_700_000_000, tags.READY_TO_START, 1)
ABLE = tags.CAPABILITY_HDCP_TYPE_1 | tags.CAPABILITY_LEVEL_MAIN
OFFLINE = Right(mode="both", storage=3600, playback=60)


pytestmark = pytest.mark.oracle


@pytest.fixture(scope="module")
def opened(made_credential: Credential) -> OpenedSPC:
    """The request of a device that reports nothing except its playback state."""
    message = device_for(made_credential, 1).request(SPCOptions(b"asset", playback_state=STATE)).message
    return key_server_for(made_credential).open(message)


def codes_of(spc: OpenedSPC, right: Right, key: ContentKey = KEY, **asked: bool) -> set[str]:
    with pytest.raises(Refused) as refused:
        decide(spc, right, key, POLICY, **({"offline": False} | asked))
    return refused.value.codes


def terms_of(spc: OpenedSPC, right: Right, policy: Policy = POLICY) -> Terms:
    return decide(spc, right, KEY, policy, offline=True).terms


# --- Terms -----------------------------------------------------------------------------------------------------------


def test_streaming_has_the_limits_of_the_right(opened: OpenedSPC) -> None:
    right = Right(lease=60, rental=600)
    assert decide(opened, right, KEY, POLICY, offline=False).terms == Streaming(60, 600)
    assert decide(opened, replace(right, lease=700), KEY, POLICY, offline=False).terms == Streaming(600, 600)
    silent = replace(opened, playback_state=None)
    assert decide(silent, Right(), KEY, POLICY, offline=False).terms == Streaming()
    assert codes_of(silent, right) == {"terms_not_expressible"}


def test_keeping_needs_a_right_to_it(opened: OpenedSPC) -> None:
    assert codes_of(opened, Right(), offline=True) == {"offline_not_allowed"}


def test_streaming_needs_a_right_to_it(opened: OpenedSPC) -> None:
    assert codes_of(opened, Right(mode="offline")) == {"content_mismatch"}
    assert decide(opened, Right(mode="both"), KEY, POLICY, offline=False).terms == Streaming()


def test_an_offline_key_is_of_the_newest_version_that_the_device_reads(opened: OpenedSPC) -> None:
    first = OfflineKey(KEY.key_id, 3600, 60)
    second = replace(first, title_id=POLICY.title_id)
    old = tags.CAPABILITY_OFFLINE_KEY
    new = tags.CAPABILITY_OFFLINE_KEY_V2
    for capabilities, expected in ((old, first), (new, second), (old | new, second)):
        assert terms_of(replace(opened, capabilities=capabilities), OFFLINE) == expected


@pytest.mark.parametrize("capabilities", [None, 0, ABLE])
def test_a_device_without_offline_keys_gets_one_limit_or_none(opened: OpenedSPC, capabilities: int | None) -> None:
    device = replace(opened, capabilities=capabilities)
    assert terms_of(device, replace(OFFLINE, playback=None)) == Persistent(3600)
    assert terms_of(device, Right(mode="offline")) == Persistent()
    assert codes_of(device, OFFLINE, offline=True) == {"terms_not_expressible"}
    assert codes_of(replace(device, playback_state=None), Right(mode="both"), offline=True) == {
        "terms_not_expressible"
    }


def test_a_lease_is_nothing_to_keep(opened: OpenedSPC) -> None:
    able = replace(opened, capabilities=tags.CAPABILITY_OFFLINE_KEY_V2)
    assert codes_of(able, replace(OFFLINE, lease=60), offline=True) == {"offline_not_allowed"}


def test_a_rental_limits_storage_and_playback_together(opened: OpenedSPC) -> None:
    able = replace(opened, capabilities=tags.CAPABILITY_OFFLINE_KEY)
    assert terms_of(able, replace(OFFLINE, rental=4000)) == OfflineKey(KEY.key_id, 3600, 60)
    assert terms_of(able, replace(OFFLINE, rental=3000)) == OfflineKey(KEY.key_id, 2940, 60)
    assert terms_of(able, replace(OFFLINE, storage=None, rental=3000)) == OfflineKey(KEY.key_id, 2940, 60)
    assert terms_of(able, replace(OFFLINE, playback=None, rental=3700)) == OfflineKey(KEY.key_id, 3600, 100)
    assert terms_of(able, replace(OFFLINE, rental=100)) == Persistent(60)
    assert terms_of(replace(able, capabilities=0), replace(OFFLINE, rental=100)) == Persistent(60)
    stateless = replace(able, playback_state=None)
    assert terms_of(stateless, replace(OFFLINE, rental=100)) == OfflineKey(KEY.key_id, 30, 30)


def test_an_end_alone_is_one_end_unless_the_operator_splits_it(opened: OpenedSPC) -> None:
    """Only an offline key can be reported and invalidated, but it has no single end: an unplayed key ends too early.

    A device without such keys, and a single second, always get the one end.
    """
    right = Right(mode="both", rental=4001)
    splitting = replace(POLICY, splits_hard_ends=True)
    able = replace(opened, capabilities=tags.CAPABILITY_OFFLINE_KEY)
    shared = OfflineKey(KEY.key_id, 2001, 2000)
    assert terms_of(able, right) == Persistent(4001)
    assert terms_of(able, right, splitting) == shared
    assert terms_of(replace(able, playback_state=None), right) == shared
    assert terms_of(able, replace(right, rental=1), splitting) == Persistent(1)
    assert terms_of(replace(opened, capabilities=0), right, splitting) == Persistent(4001)


@pytest.mark.parametrize("own", [None, 0, 30, 31])
def test_the_lists_own_version_counts_before_the_report(opened: OpenedSPC, own: int | None) -> None:
    device = replace(
        opened,
        deny_list_version=None if own is None else DenyListVersion(own),
        security_level_report=SecurityLevelReport(tags.LEVEL_MAIN, deny_list_version=20),
    )
    is_old = own in (None, 30)
    assert device_security_level(device) == (tags.LEVEL_BASELINE if is_old else tags.LEVEL_MAIN)


def test_a_reported_level_of_zero_is_below_all(opened: OpenedSPC) -> None:
    device = replace(opened, capabilities=0xFF, security_level_report=SecurityLevelReport(0))
    assert device_security_level(device) == 0
    assert "security_level" in codes_of(device, Right(), key=replace(KEY, track="AUDIO"))


# --- Protection ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "hdcp", "level"),
    [
        (KEY, tags.HDCP_TYPE_0, tags.LEVEL_BASELINE),
        (replace(KEY, track="AUDIO"), tags.HDCP_TYPE_0, tags.LEVEL_AUDIO),
        (replace(KEY, track="SD"), tags.HDCP_TYPE_0, tags.LEVEL_BASELINE),
        (replace(KEY, track="HD"), tags.HDCP_TYPE_0, tags.LEVEL_BASELINE),
        (replace(KEY, track="UHD"), tags.HDCP_TYPE_1, tags.LEVEL_MAIN),
        (replace(KEY, track="EXTRAS", content_type="uhd"), tags.HDCP_TYPE_1, tags.LEVEL_MAIN),
        (replace(KEY, demand=Demand("type1", "main")), tags.HDCP_TYPE_1, tags.LEVEL_MAIN),
        (replace(KEY, demand=Demand("none", "audio")), tags.HDCP_TYPE_0, tags.LEVEL_BASELINE),
    ],
    ids=["unlabelled", "audio", "SD", "HD", "UHD", "own label", "floor of the key", "floor below the policy"],
)
def test_each_content_type_has_its_protection(opened: OpenedSPC, key: ContentKey, hdcp: int, level: int) -> None:
    license = decide(replace(opened, capabilities=ABLE), Right(), key, POLICY, offline=False)
    assert (enforced_hdcp(license.hdcp_level), license.security_level) == (hdcp, level)


def test_the_stricter_of_two_demands_holds(opened: OpenedSPC) -> None:
    able = replace(opened, capabilities=ABLE)
    lax = Right(demand=Demand("none", "audio"))
    floors = {"UHD": (tags.HDCP_TYPE_1, tags.LEVEL_MAIN), "HD": (tags.HDCP_TYPE_0, tags.LEVEL_BASELINE)}
    for track, floor in floors.items():
        license = decide(able, lax, replace(KEY, track=track), POLICY, offline=False)
        assert (license.hdcp_level, license.security_level) == floor
    assert decide(able, lax, KEY, POLICY, offline=False).hdcp_level == tags.HDCP_NOT_REQUIRED
    strict = Right(tracks={"SD": Demand("type1", "main"), "HD": Demand()})
    license = decide(able, strict, replace(KEY, track="SD"), POLICY, offline=False)
    assert (license.hdcp_level, license.security_level) == (tags.HDCP_TYPE_1, tags.LEVEL_MAIN)
    license = decide(able, strict, replace(KEY, track="HD"), POLICY, offline=False)
    assert (license.hdcp_level, license.security_level) == (tags.HDCP_TYPE_0, tags.LEVEL_BASELINE)


@pytest.mark.parametrize("capabilities", [None, 0, tags.CAPABILITY_LEVEL_MAIN])
def test_hdcp_type_1_needs_its_capability(opened: OpenedSPC, capabilities: int | None) -> None:
    device = replace(opened, capabilities=capabilities)
    assert codes_of(device, Right(demand=Demand(hdcp="type1"))) == {"security_level"}


BASELINE = tags.CAPABILITY_LEVEL_BASELINE
MAIN = tags.CAPABILITY_LEVEL_MAIN
ENCRYPTED = EncryptedSecurityLevelReport(bytes(32))


@pytest.mark.parametrize(
    ("facts", "level"),
    [
        ({}, None),
        ({"capabilities": 0}, None),
        ({"capabilities": BASELINE}, tags.LEVEL_BASELINE),
        ({"capabilities": MAIN}, tags.LEVEL_MAIN),
        ({"capabilities": BASELINE | MAIN}, tags.LEVEL_MAIN),
        ({"capabilities": MAIN, "security_level_report": SecurityLevelReport(tags.LEVEL_AUDIO)}, tags.LEVEL_AUDIO),
        ({"capabilities": 0, "security_level_report": SecurityLevelReport(tags.LEVEL_MAIN)}, tags.LEVEL_MAIN),
        ({"capabilities": MAIN, "security_level_report": SecurityLevelReport(1, version=2)}, tags.LEVEL_MAIN),
        ({"capabilities": BASELINE, "security_level_report": ENCRYPTED}, tags.LEVEL_BASELINE),
        ({"security_level_report": ENCRYPTED}, None),
        ({"deny_list_version": DenyListVersion(0)}, None),
        ({"deny_list_version": DenyListVersion(31)}, None),
        ({"deny_list_version": DenyListVersion(30)}, tags.LEVEL_BASELINE),
        ({"deny_list_version": DenyListVersion(1), "capabilities": MAIN}, tags.LEVEL_BASELINE),
        ({"security_level_report": SecurityLevelReport(tags.LEVEL_MAIN, 30)}, tags.LEVEL_BASELINE),
        ({"security_level_report": SecurityLevelReport(tags.LEVEL_AUDIO, 30)}, tags.LEVEL_AUDIO),
        (
            {
                "security_level_report": SecurityLevelReport(tags.LEVEL_MAIN, 30),
                "deny_list_version": DenyListVersion(31),
            },
            tags.LEVEL_MAIN,
        ),
    ],
)
def test_the_level_of_a_device_is_what_it_says_with_most_authority(
    opened: OpenedSPC, facts: dict[str, object], level: int | None
) -> None:
    assert device_security_level(replace(opened, **facts)) == level


def test_a_level_below_the_required_is_refused_and_an_unknown_one_is_not(opened: OpenedSPC) -> None:
    uhd = replace(KEY, track="UHD")
    hdcp = tags.CAPABILITY_HDCP_TYPE_1
    assert codes_of(replace(opened, capabilities=hdcp | BASELINE), Right(), uhd) == {"security_level"}
    decide(replace(opened, capabilities=hdcp), Right(), uhd, POLICY, offline=False)
    audio_device = replace(opened, security_level_report=SecurityLevelReport(tags.LEVEL_AUDIO))
    assert codes_of(audio_device, Right()) == {"security_level"}
    decide(audio_device, Right(), replace(KEY, track="AUDIO"), POLICY, offline=False)


def test_every_reason_to_refuse_is_named(opened: OpenedSPC) -> None:
    right = Right(playback=60, demand=Demand(hdcp="type1"))
    assert codes_of(opened, right, offline=True) == {
        "offline_not_allowed",
        "terms_not_expressible",
        "security_level",
    }


# --- Tokens and sync requests ----------------------------------------------------------------------------------------


def test_a_right_has_only_the_claims_that_it_needs() -> None:
    assert Right().claims == {"mode": "stream"}
    full = Right("both", 1, 2, 3, 4, Demand("type0", "main"), {"SD": Demand(), "HD": Demand("type1")}, 5)
    assert full.claims == {
        "mode": "both",
        "lease": 1,
        "duration": 2,
        "storage": 3,
        "playback": 4,
        "end": 5,
        "hdcp": "type0",
        "min_level": "main",
        "tracks": {"SD": {}, "HD": {"hdcp": "type1"}},
    }


NOW = datetime.datetime(2026, 2, 3, 4, 5, 6, tzinfo=datetime.timezone.utc)


def test_a_sync_request_of_version_1_is_answered() -> None:
    answer = sync_answer(SyncV1(bytes(range(16)), 3600), NOW, challenge_accepted=False)
    assert answer == {
        "offline-sync": {
            "version": 1,
            "duration-to-expiry": 3600,
            "content-id": "000102030405060708090a0b0c0d0e0f",
        },
        "expiresInSeconds": 3600,
        "expirationDate": "2026-02-03T05:05:06Z",
        "challengeAccepted": False,
    }


def test_a_sync_request_of_version_2_is_answered() -> None:
    flags = tags.SYNC_REPORT | tags.SYNC_TITLE_ID_VALID | tags.SYNC_OBJECT_EXPIRED
    request = SyncV2(0xABCDEF, flags, bytes(16), NO_EXPIRY, (b"\x01" * 16, b"\x02" * 16))
    answer = sync_answer(request, NOW, challenge_accepted=True)
    assert answer["offline-sync"] == {
        "version": 2,
        "duration-to-expiry": 0xFFFFFFFF,
        "server-challenge": "0000000000abcdef",
        "flags": {
            "report": True,
            "secure-invalidation": False,
            "secure-invalidation-all": False,
            "title-id-valid": True,
            "success": False,
            "obj-not-found": False,
            "obj-expired": True,
        },
        "title-id": "0" * 32,
        "records-invalidated": 2,
        "invalidated-stream-ids": ["01" * 16, "02" * 16],
    }
    assert (answer["expiresInSeconds"], answer["expirationDate"]) == (None, None)
    assert answer["challengeAccepted"] is True


def test_an_expired_key_expires_now() -> None:
    answer = sync_answer(replace(SyncV1(bytes(16), 1), duration=0), NOW, challenge_accepted=False)
    assert (answer["expiresInSeconds"], answer["expirationDate"]) == (0, "2026-02-03T04:05:06Z")

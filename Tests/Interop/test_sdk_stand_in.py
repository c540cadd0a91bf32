"""The stand-ins for the library of the FairPlay Streaming Server SDK do what the library is known to do.

A device of our own makes the SPCs and opens the CKCs. Each flavour runs in a process of its own, because some calls end
it.
"""

import json
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fairplay_device import tags
from fairplay_device.credentials import Credential
from fairplay_device.facts import (
    DenyListVersion,
    DeviceIdentity,
    DeviceInfo,
    EncryptedSecurityLevelReport,
    NotSync,
    SecurityLevelReport,
    SyncV1,
    SyncV2,
    VMDeviceInfo,
)
from fairplay_device.license import OfflineKey, Persistent, Streaming, Terms
from fairplay_device.session_keys import aes_cbc_encrypt, device_key
from fairplay_device.spc import Device, PlaybackContext, SPCOptions, VideoSession, device_for, device_with_bundle_hash
from fairplay_device.tllv import Block
from sdk_lab import (
    ASSET, BASELINE, CERTIFICATE, DUPLICATE, HDCP_TYPE_1, INTEGRITY, INTERNAL, KEY, MAIN, MISSING, OFFLINE_1,
    OFFLINE_2, PARAMETER, PARSER, SECURITY_LEVEL, SPC_VERSION, STATE, STREAM_ID, TITLE_ID, VERSION, Flavour, Start,
    assert_panicked, asset_info, built, certificates, device, facts, flavour, granted, library, one_item,
    opened_ckc, operation, options, request_of, start, status_of,
)  # fmt: skip
from sdk_library import Died, Library

pytestmark = pytest.mark.oracle

# --- Licenses ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("version", "is_bundle"), [(1, False), (2, False), (3, False), (1, True), (3, True)])
def test_every_version_gets_a_license(
    version: int, is_bundle: bool, library: Library, flavour: Flavour, made_credential: Credential
) -> None:
    device = (device_with_bundle_hash if is_bundle else device_for)(made_credential, version)
    opened = granted(library, device.request(options()))
    assert (opened.version, opened.terms, opened.duration) == (1, Streaming(), None)
    assert (opened.hdcp_level, opened.security_level) == (tags.HDCP_TYPE_0, tags.LEVEL_BASELINE)
    assert opened.session_key_version == tags.SESSION_KEY_GENERIC
    assert opened.reserved >> 9 == 26
    assert opened.reserved >> 3 & 3 == (1 if flavour.is_swift else 2)


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize(
    ("changes", "capabilities", "terms"),
    [
        ({"lease_duration": 1200}, None, Streaming(lease=1200)),
        ({"offline_hls": {}}, None, Persistent()),
        ({"offline_hls": {"rental-duration": 60}}, None, Persistent(60)),
        ({"offline_hls": {"rental-duration": 60, "playback-duration": 30}}, OFFLINE_1, Persistent(60)),
        ({"offline_hls": {}}, OFFLINE_2, OfflineKey(bytes(16))),
        ({"offline_hls": {"rental-duration": 60, "playback-duration": 30}}, OFFLINE_2, OfflineKey(bytes(16), 60, 30)),
        ({"offline_hls": {"rental-duration": "60"}}, OFFLINE_1 | OFFLINE_2, OfflineKey(bytes(16), 60)),
        (
            {"offline_hls": {"stream-id": STREAM_ID.hex(), "title-id": TITLE_ID.hex(), "playback-duration": 86400}},
            OFFLINE_2,
            OfflineKey(STREAM_ID, None, 86400, TITLE_ID),
        ),
    ],
)
def test_terms_are_those_of_the_request(
    version: int, changes: dict[str, object], capabilities: int | None, terms: Terms, library: Library,
    made_credential: Credential,
) -> None:  # fmt: skip
    context = device_for(made_credential, version).request(options(capabilities=capabilities))
    assert granted(library, context, **changes).terms == terms


@pytest.mark.parametrize(
    ("content_type", "hdcp_type", "hdcp", "level"),
    [
        ("audio", -1, tags.HDCP_NOT_REQUIRED, tags.LEVEL_AUDIO),
        ("sd", None, tags.HDCP_TYPE_0, tags.LEVEL_BASELINE),
        ("sd", "1", tags.HDCP_TYPE_1, tags.LEVEL_BASELINE),
        ("hd", 0, tags.HDCP_TYPE_0, tags.LEVEL_BASELINE),
        ("uhd", 1, tags.HDCP_TYPE_1, tags.LEVEL_MAIN),
    ],
)
def test_output_protection_and_level_are_always_sent(
    content_type: str, hdcp_type: object, hdcp: int, level: int, library: Library, device: Device
) -> None:
    context = device.request(options(capabilities=HDCP_TYPE_1 | MAIN))
    opened = granted(library, context, content_type=content_type, hdcp_type=hdcp_type)
    assert (opened.hdcp_level, opened.security_level) == (hdcp, level)


def test_echoes_come_once_and_in_order(library: Library, device: Device) -> None:
    wanted = (tags.TRANSACTION_ID, 0x1111111111111111, tags.ASSET_ID, tags.TRANSACTION_ID)
    context = device.request(options(unknown_blocks=((0x1111111111111111, b"kept"),), return_request=wanted))
    echoes = [block.tag for block in granted(library, context).blocks if block.tag in wanted]
    assert echoes == list(dict.fromkeys(wanted))


def with_video(device: Device, request: SPCOptions) -> PlaybackContext:
    """A request whose video blocks the library can open: they are built like the generic ones."""
    session = device.start_session()
    r2, iv = os.urandom(21), os.urandom(16)
    plain = os.urandom(16) + session.device_id + os.urandom(44) + session.integrity
    key = device_key(device.application_secret, r2)
    video = VideoSession(plain[:16], plain[36:80], iv + aes_cbc_encrypt(key, iv, plain), r2)
    session = replace(session, video=video)
    device.start_session = lambda: session
    try:
        return device.request(replace(request, video=True))
    finally:
        del device.start_session


@pytest.mark.parametrize(
    ("changes", "used", "version"),
    [
        ({"encryption_scheme": "cbcs"}, 1, 2),
        ({"encryption_scheme": "cenc-v1"}, 1, 1),
        ({}, 1, 1),
        ({"encryption_scheme": "cbcs", "content_type": "audio"}, 1, 1),
        ({"encryption_scheme": "cbcs"}, 2, 1),
    ],
)
def test_the_video_session_key_needs_its_conditions(
    changes: dict[str, object], used: int, version: int, library: Library, device: Device
) -> None:
    context = with_video(device, options(protocol_version_used=used))
    opened = granted(library, context, **changes)
    key = tags.SESSION_KEY_VIDEO if version == 2 else tags.SESSION_KEY_GENERIC
    assert (opened.version, opened.session_key_version) == (version, key)


# --- Quirks of the request --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"content_key": None}, bytes(16)),
        ({"content_key": ""}, bytes(16)),
        ({"content_key": "0"}, bytes(16)),
        ({"content_key": "aabb"}, bytes.fromhex("aabb") + bytes(14)),
        ({"content_key": "0x" + KEY.hex()}, KEY),
    ],
)
def test_a_missing_or_short_key_is_filled_with_zeros_silently(
    changes: dict[str, object], key: bytes, library: Library, device: Device
) -> None:
    context = device.request(options())
    item = one_item(library.call(request_of(operation(context.message, **changes))))
    assert opened_ckc(item, context.secrets).content_key == key


@pytest.mark.parametrize("changes", [{"content_key": "00" * 17}, {"content_iv": "z" * 32}])
def test_a_long_or_wrong_key_is_refused_or_ends_the_process(
    changes: dict[str, object], flavour: Flavour, certificates: Path, device: Device, start: Start
) -> None:
    library = start(certificates)
    request = request_of(operation(device.request(options()).message, **changes))
    if flavour.is_swift:
        with pytest.raises(Died) as died:
            library.call(request)
        assert died.value.status in (-signal.SIGILL, -signal.SIGTRAP)
    else:
        assert one_item(library.call(request)) == {"id": 0, "status": PARAMETER}


@pytest.mark.parametrize("lease", ["1200", 12.5, -1, 0, 2**32 - 1, 2**32, 2**64, True])
def test_a_lease_that_is_no_number_of_seconds_is_ignored(lease: object, library: Library, device: Device) -> None:
    assert granted(library, device.request(options()), lease_duration=lease).duration is None


@pytest.mark.parametrize(("lease", "seconds"), [(1, 1), (2**32 - 2, 2**32 - 2), (2**32 + 60, 60)])
def test_a_lease_is_cut_to_32_bits(lease: int, seconds: int, library: Library, device: Device) -> None:
    assert granted(library, device.request(options()), lease_duration=lease).terms == Streaming(lease=seconds)


@pytest.mark.parametrize("changes", [{"lease_duration": 60}, {"offline_hls": {"rental-duration": 60}}])
def test_terms_are_left_out_without_the_playback_state(
    changes: dict[str, object], library: Library, device: Device
) -> None:
    opened = granted(library, device.request(options(playback_state=None)), **changes)
    assert opened.terms == Streaming()


def test_stream_and_title_id_are_filled_and_cut(library: Library, device: Device) -> None:
    ids = {"stream-id": "ab", "title-id": (TITLE_ID + b"more").hex()}
    opened = granted(library, device.request(options(capabilities=OFFLINE_2)), offline_hls=ids)
    assert opened.terms == OfflineKey(b"\xab" + bytes(15), None, None, TITLE_ID)


def test_a_wrong_title_id_is_a_panic(flavour: Flavour, certificates: Path, device: Device, start: Start) -> None:
    library = start(certificates)
    ids = {"stream-id": STREAM_ID.hex(), "title-id": "no number"}
    request = request_of(operation(device.request(options()).message, offline_hls=ids))
    if flavour.is_swift:
        with pytest.raises(Died):
            library.call(request)
        return
    answer = library.call(request)
    assert_panicked(answer, library)


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"asset-info": []}, PARAMETER),
        ({"asset-info": [asset_info(), asset_info()]}, PARAMETER),
        ({"spc": "no base64"}, PARSER),
        ({"spc": None}, PARAMETER),
    ],
)
def test_one_bad_operation_ends_the_whole_call(
    changes: dict[str, object], status: int, library: Library, device: Device
) -> None:
    good = operation(device.request(options()).message)
    assert one_item(library.call(request_of(good, good | changes))) == {"id": 0, "status": status}


@pytest.mark.parametrize("body", [b'{"fairplay-streaming-request": {}}', b"[]", b"{}"])
def test_a_request_without_operations_is_refused(body: bytes, library: Library) -> None:
    assert one_item(library.call(body)) == {"id": 0, "status": PARAMETER}


def test_what_is_not_json_is_an_internal_error(flavour: Flavour, library: Library) -> None:
    answer = library.call(b"no JSON {")
    (item,) = answer.items()
    assert item["status"] == INTERNAL
    assert answer.status == (0 if flavour.is_swift else INTERNAL)


def test_json_is_read_tolerantly(library: Library, device: Device) -> None:
    context = device.request(options())
    text = json.dumps(request_of(operation(context.message, unknown={"a": [1, None]}, lease_duration=1200)))
    text = text.replace("}", ", }").replace("]", ", ]").replace('"id": 1', '"id": "7", "other": [[]]')
    text = text.replace("[1, null, ]", "[1, null]").replace("{, }", "{}")
    item = one_item(library.call(text.encode()))
    assert item["id"] == 7
    assert opened_ckc(item, context.secrets).terms == Streaming(lease=1200)


def test_operations_are_answered_in_order(library: Library, device: Device) -> None:
    contexts = [device.request(options(transaction_id=number)) for number in range(3)]
    operations = [operation(context.message) | {"id": 10 + index} for index, context in enumerate(contexts)]
    operations[1]["spc"] = "AAAA"
    items = library.call(request_of(*operations)).items()
    assert [item["id"] for item in items] == [10, 11, 12]
    assert [item["status"] for item in items] == [0, PARSER, 0]
    assert [items[0]["transaction-id"], items[2]["transaction-id"]] == [0, 2]


# --- Rules ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "said", "status"),
    [
        ({}, {"deny_list_version": DenyListVersion(30)}, SECURITY_LEVEL),
        ({}, {"deny_list_version": DenyListVersion(31)}, 0),
        ({}, {"deny_list_version": DenyListVersion(0)}, 0),
        ({}, {"security_level_report": SecurityLevelReport(tags.LEVEL_MAIN, 30)}, SECURITY_LEVEL),
        (
            {},
            {
                "security_level_report": SecurityLevelReport(tags.LEVEL_MAIN, 30),
                "deny_list_version": DenyListVersion(31),
            },
            0,
        ),
        ({}, {"security_level_report": SecurityLevelReport(tags.LEVEL_MAIN, reserved=1)}, PARAMETER),
        ({"lease_duration": 60, "offline_hls": {}}, {}, PARAMETER),
        ({"content_type": "uhd", "hdcp_type": 1}, {"capabilities": HDCP_TYPE_1}, 0),
        ({"content_type": "uhd", "hdcp_type": 1}, {"capabilities": HDCP_TYPE_1 | BASELINE}, SECURITY_LEVEL),
        ({"content_type": "uhd", "hdcp_type": 1}, {"capabilities": HDCP_TYPE_1 | BASELINE | MAIN}, 0),
        (
            {"content_type": "uhd", "hdcp_type": 1},
            {"capabilities": HDCP_TYPE_1, "security_level_report": SecurityLevelReport(tags.LEVEL_BASELINE)},
            SECURITY_LEVEL,
        ),
        ({"content_type": "uhd"}, {"capabilities": HDCP_TYPE_1 | MAIN}, PARAMETER),
        ({"content_type": "uhd", "hdcp_type": 1}, {}, SECURITY_LEVEL),
        ({"content_type": "hd"}, {"security_level_report": SecurityLevelReport(tags.LEVEL_AUDIO)}, SECURITY_LEVEL),
        ({"content_type": "hd"}, {"security_level_report": EncryptedSecurityLevelReport(bytes(32))}, 0),
        ({"content_type": "hd", "hdcp_type": -1}, {}, PARAMETER),
        ({"content_type": "sd", "hdcp_type": 1}, {}, SECURITY_LEVEL),
        ({"content_type": None}, {}, PARAMETER),
        ({"content_type": "video"}, {}, PARAMETER),
        (
            {"offline_hls": {"stream-id": STREAM_ID.hex(), "title-id": TITLE_ID.hex()}},
            {"capabilities": OFFLINE_1},
            PARAMETER,
        ),
    ],
)
def test_each_rule_has_its_status(
    changes: dict[str, object], said: dict[str, object], status: int, library: Library, device: Device
) -> None:
    context = device.request(options(**said))
    assert status_of(library, context.message, **changes) == status
    if not any(isinstance(fact, SecurityLevelReport) and fact.reserved for fact in said.values()):
        assert facts(library, context)["status"] == 0


@pytest.mark.parametrize(
    "changes",
    [{"hdcp_type": 2}, {"hdcp_type": "none"}, {"offline_hls": {"stream-id": STREAM_ID.hex()}}],
)
def test_a_wrong_member_ends_the_call(changes: dict[str, object], library: Library, device: Device) -> None:
    request = request_of(operation(device.request(options()).message, **changes))
    assert one_item(library.call(request)) == {"id": 0, "status": PARAMETER}


# --- SPCs that are wrong ----------------------------------------------------------------------------------------------


def changed(message: bytes, offset: int) -> bytes:
    return message[:offset] + bytes([message[offset] ^ 1]) + message[offset + 1 :]


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_wrong_container_has_its_status(version: int, library: Library, made_credential: Credential) -> None:
    device = device_for(made_credential, version)
    context = device.request(options())
    message = context.message
    hash_offset = 24 + (128 if version == 1 else 256)
    assert status_of(library, b"\x00\x00\x00\x04" + message[4:]) == SPC_VERSION
    assert status_of(library, made_credential.certificate_1024) == SPC_VERSION
    assert status_of(library, message[:100]) == PARSER
    assert status_of(library, message[:-1]) == PARSER
    assert status_of(library, changed(message, hash_offset)) == CERTIFICATE
    assert status_of(library, changed(message, 30)) == CERTIFICATE
    if version == 3:
        assert status_of(library, changed(message, 8)) == VERSION
        assert status_of(library, changed(message, len(message) - 40)) == INTEGRITY
    assert status_of(library, message) == 0


Change = Callable[[list[Block]], list[Block]]


def with_blocks(device: Device, change: Change) -> bytes:
    session = device.start_session()
    blocks = change(device.blocks(session, options()))
    return device.seal(session, b"".join(block.encoded for block in blocks))


def replaced(tag: int, value: bytes) -> Change:
    padded = value + bytes(-len(value) % 16)
    return lambda blocks: [
        Block(tag, value, padded[len(value) :]) if block.tag == tag else block for block in blocks
    ]


@pytest.mark.parametrize(
    ("change", "status"),
    [
        *((lambda blocks, tag=tag: [b for b in blocks if b.tag != tag], MISSING) for tag in tags.REQUIRED_IN_SPC),
        (lambda blocks: [*blocks, blocks[0]], DUPLICATE),
        (replaced(tags.RETURN_REQUEST, bytes(7)), PARSER),
        (replaced(tags.RETURN_REQUEST, bytes(8)), MISSING),
        (replaced(tags.ASSET_ID, b"a"), PARSER),
        (replaced(tags.ASSET_ID, b"a" * 201), PARSER),
        (replaced(tags.ANTI_REPLAY_SEED, bytes(15)), PARSER),
        (replaced(tags.SESSION_KEY_AND_R1, bytes(96)), PARSER),
        (replaced(tags.MEDIA_PLAYBACK_STATE, bytes(8)), PARSER),
        (replaced(tags.SESSION_KEY_AND_R1_INTEGRITY, bytes(16)), INTEGRITY),
        (replaced(tags.R2, bytes(21)), INTEGRITY),
    ],
)
def test_wrong_blocks_have_their_status(change: Change, status: int, library: Library, device: Device) -> None:
    assert status_of(library, with_blocks(device, change)) == status


@pytest.mark.parametrize("version", [1, 2, 3])
def test_some_wrong_containers_are_accepted(version: int, library: Library, made_credential: Credential) -> None:
    """A longer key is cut, and what follows the payload is decrypted but not read."""
    device = device_for(made_credential, version)
    session = device.start_session()
    payload = b"".join(block.encoded for block in device.blocks(session, options()))
    longer_key = device.wrap(session.keys.transport_key + b"more")
    assert status_of(library, device.seal(session, payload, wrapped_key=longer_key)) == 0
    assert status_of(library, device.seal(session, payload) + bytes(16)) == 0
    assert status_of(library, device.seal(session, payload) + bytes(8)) == PARSER
    short_key = device.wrap(session.keys.transport_key[:15])
    assert status_of(library, device.seal(session, payload, wrapped_key=short_key)) == CERTIFICATE


def test_another_application_secret_does_not_open(library: Library, made_credential: Credential) -> None:
    device = Device(1, made_credential.certificate_1024, application_secret=bytes(16))
    assert status_of(library, device.request(options()).message) == INTEGRITY


# --- Facts ------------------------------------------------------------------------------------------------------------


def test_every_fact_is_in_the_answer(library: Library, device: Device) -> None:
    context = device.request(
        options(
            transaction_id=2**64 - 1,
            streaming_indicator=tags.STREAMING_TO_AIRPLAY,
            capabilities=HDCP_TYPE_1 | OFFLINE_2 | MAIN,
            device_identity=DeviceIdentity(1, 2, b"vendor--", b"product-", 3, 4, 0x00110402),
            device_info=DeviceInfo(tags.DEVICE_TYPE_MAC, 0x000F0000),
            deny_list_version=DenyListVersion(33),
            security_level_report=SecurityLevelReport(tags.LEVEL_MAIN, 32),
            vm_device_info=VMDeviceInfo(1, 2, 3, 4, 5, 6, 7),
            sync=NotSync(),
        )
    )
    expected = {
        "id": 1,
        "status": 0,
        "asset-id": "movie",
        "playback-state": {
            "creation-date": STATE.creation_date, "state": STATE.state, "session-id": STATE.session,
        },
        "hu": device.device_id.hex().upper(),
        "streaming-indicator": tags.STREAMING_TO_AIRPLAY,
        "transaction-id": 2**64 - 1,
        "security-level": "main",
        "kdl-version": 33,
        "capabilities": {
            "hdcp": True, "offline-key": False, "secure-invalidation": False, "offline-key-2": True,
            "security-level-baseline": False, "security-level-main": True,
        },
        "device-identity": {
            "fpdi-version": 1, "device-class": 2, "vendor-hash": b"vendor--".hex().upper(),
            "product-hash": b"product-".hex().upper(), "fps-ree-version": "00000003", "fps-tee-version": "00000004",
            "os-version": "00110402",
        },
        # The version is that of the device identity.
        "device-info": {"device-type": "358C41B1EC78F599", "os-version": "00110402"},
        "vm-device-info": {
            "host-device-class": 2, "host-os-version": "00000003", "host-vm-protocol-version": 4,
            "guest-device-class": 5, "guest-os-version": "00000006", "guest-vm-protocol-version": 7,
        },
    }  # fmt: skip
    assert facts(library, context) == expected
    item = one_item(library.call(request_of(operation(context.message))))
    assert item.pop("ckc")
    assert item == expected


def test_what_a_device_does_not_say_is_zero_or_absent(library: Library, device: Device) -> None:
    item = facts(library, device.request(SPCOptions(ASSET)))
    assert item["playback-state"] == {"creation-date": 0, "state": 0, "session-id": 0}
    assert (item["streaming-indicator"], item["kdl-version"]) == (0, 0)
    assert item["security-level"] == "0000000000000000"
    assert not any(item["capabilities"].values())
    assert item.keys().isdisjoint({"device-identity", "device-info", "vm-device-info", "offline-sync", "ckc"})


@pytest.mark.parametrize(
    ("level", "text"), [(tags.LEVEL_BASELINE, "baseline"), (tags.LEVEL_AUDIO, "17D99D574EED567D"), (1, "0" * 15 + "1")]
)
def test_other_levels_have_a_name_or_a_number(level: int, text: str, library: Library, device: Device) -> None:
    context = device.request(options(security_level_report=SecurityLevelReport(level)))
    assert facts(library, context)["security-level"] == text


@pytest.mark.parametrize(
    ("asset_id", "text"),
    [(b'a"\\/\x00\x1f\nb', 'a"\\/\x00\x1f\nb'), (b"movie\xff more", "movie"), (b"\xaa\xbb", ""), (b"\xc3\xc3", "")],
)
def test_an_asset_id_ends_at_the_first_byte_that_is_no_utf_8(
    asset_id: bytes, text: str, library: Library, device: Device
) -> None:
    assert facts(library, device.request(options(asset_id=asset_id)))["asset-id"] == text


def test_the_swift_flavour_cuts_an_answer_with_other_characters(
    flavour: Flavour, library: Library, device: Device
) -> None:
    name = "Füße 東京"
    context = device.request(options(asset_id=name.encode()))
    answer = library.call(request_of(operation(context.message)))
    if not flavour.is_swift:
        assert (one_item(answer)["asset-id"], answer.has_nul) == (name, True)
        return
    assert not answer.has_nul
    assert answer.size == len(answer.text)
    with pytest.raises(json.JSONDecodeError):
        assert answer.json


# --- Sync -------------------------------------------------------------------------------------------------------------


def test_a_sync_request_is_checked_in_without_a_ckc(library: Library, device: Device) -> None:
    sync = SyncV2(
        2**64 - 1, tags.SYNC_REPORT | tags.SYNC_SUCCESS, TITLE_ID, 90, (STREAM_ID, bytes(16)), reserved=5
    )
    context = device.request(options(sync=sync))
    item = one_item(library.call(request_of(operation(context.message) | {"check-in": True})))
    assert "ckc" not in item
    assert item["offline-sync"] == {
        "version": 2,
        "duration-to-expiry": 90,
        "server-challenge": 2**64 - 1,
        "flags": {
            "report": True, "secure-invalidation": False, "secure-invalidation-all": False, "title-id-valid": False,
            "success": True, "obj-not-found": False, "obj-expired": False,
        },
        "title-id": TITLE_ID.hex().upper(),
        "records-invalidated": 2,
        "invalidated-stream-ids": [STREAM_ID.hex().upper(), "0" * 32],
    }  # fmt: skip
    assert facts(library, context)["offline-sync"] == item["offline-sync"]


def test_a_sync_request_without_records_has_an_empty_list(library: Library, device: Device) -> None:
    item = facts(library, device.request(options(sync=SyncV2(0, 1, TITLE_ID, 0))))
    assert (item["offline-sync"]["records-invalidated"], item["offline-sync"]["invalidated-stream-ids"]) == (0, [])


def test_the_content_id_of_an_older_sync_request_is_dropped(library: Library, device: Device) -> None:
    item = facts(library, device.request(options(sync=SyncV1(STREAM_ID, 60))))
    assert item["offline-sync"] == {"version": 1, "duration-to-expiry": 60}


@pytest.mark.parametrize("sync", [None, NotSync(), SyncV1(STREAM_ID, 60), SyncV2(1, 0, TITLE_ID, 60)])
def test_a_check_in_needs_flags(sync: object, library: Library, device: Device) -> None:
    context = device.request(options(sync=sync))
    item = one_item(library.call(request_of(operation(context.message) | {"check-in": True})))
    assert item == {"id": 1, "status": PARAMETER}


@pytest.mark.parametrize(
    ("sync", "status"),
    [(SyncV1(STREAM_ID, 60, reserved=1), PARAMETER), (SyncV2(1, 1, TITLE_ID, 60, (STREAM_ID,) * 251), INTERNAL)],
)
def test_a_wrong_sync_request_has_its_status(sync: object, status: int, library: Library, device: Device) -> None:
    assert facts(library, device.request(options(sync=sync))) == {"id": 1, "status": status}

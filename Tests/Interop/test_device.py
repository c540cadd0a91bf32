"""The Python device and its own key server against each other, and against published values; needs no daemon."""

import random
import struct
from collections.abc import Callable
from dataclasses import replace

import pytest

import malformed_spcs as corpus
from fairplay_device import tags
from fairplay_device.ckc import CKCFault, open_ckc
from fairplay_device.credentials import Credential, sha1
from fairplay_device.key_server import KeyServer, Licence, Refusal, key_server_for
from fairplay_device.session_keys import aes_cbc_decrypt, aes_cbc_encrypt, ckc_payload_key, d_function
from fairplay_device.spc import (
    Device,
    PlaybackContext,
    PlaybackState,
    SPCOptions,
    device_for,
    device_with_bundle_hash,
)
from fairplay_device.tllv import Block, FramingError, Padding, by_tag, parse, serialise

ASSET_ID = b"interop-asset"
LICENCE = Licence(bytes(range(16)), bytes(range(16, 32)), lease=120, rental=3600, hdcp_level=tags.HDCP_TYPE_1)
STATE = PlaybackState(1_700_000_000, tags.READY_TO_START, 0x0102030405060708)

# R2 and the first 16 bytes of the digest, as published.
D_FUNCTION_VALUES = [
    line.split()
    for line in """
a4c411c54d94727143504aece5613da8c6ee6dd2 3a24a068c116842f10fac5c86cb1cb5c
ee810dd5779ce50aa8df3824b3f2594cf9ee68a9 93c82dc4d1c4a338896bfce2e7dc12a0
9a0618db8a4ecc1c8f1fa8e9482dbbe56647afe1 73b8445fd639462154f3503c6ea32c89
303838a2b4cab66f25d53bd331b5ee4c035b6e12 c74f35704ec58c0882bc4014a74152a8
a4c411c54d94727143504aece5613da8c6ee6dd26ba5d07ec0dc44c84ec4 4b46ab65bd04af0dd721718a68663390
ee810dd5779ce50aa8df3824b3f2594cf9ee68a9c6caa7a36709f55494d5 c63d0c630bcd579d072901dba82ae2a6
9a0618db8a4ecc1c8f1fa8e9482dbbe56647afe10739e4bd00d29db0d9cc 2d467d6fc4aab309e8b4618247567e06
303838a2b4cab66f25d53bd331b5ee4c035b6e12afcd05c5a5a85a382ff4 353d491edc8f6f8191a3cb366bafe14c
a4c411c54d94727143504aece5613da8c6ee6dd26ba5d07ec0dc44c84ec48140b244d5be323d251a 8439a36b359c7c1c5b698c594b56b020
ee810dd5779ce50aa8df3824b3f2594cf9ee68a9c6caa7a36709f55494d5c56971d390bc57a68223 430b6db2ce11ce6bcd7076187c44aa1b
303838a2b4cab66f25d53bd331b5ee4c035b6e12afcd05c5a5a85a382ff4bfae230844aef7e2ae5c a77994aeda51df868cd82bd3b1131401
9a0618db8a4ecc1c8f1fa8e9482dbbe56647afe10739e4bd00d29db0d9ccf4ba5d556f4c869ebb9e fcff3ff19e2911e52ce252e85f0498da
a4c411c54d94727143504aece5613da8c6ee6dd26ba5d07ec0dc44c84ec48140b244d5be323d251acb3a4bb19898891973db \
f2272c254504fc4ce7af2873c1de184f
ee810dd5779ce50aa8df3824b3f2594cf9ee68a9c6caa7a36709f55494d5c56971d390bc57a68223d588edb0e48ec073d28b \
0f25a9bf940daca0a520937be1752f75
9a0618db8a4ecc1c8f1fa8e9482dbbe56647afe10739e4bd00d29db0d9ccf4ba5d556f4c869ebb9eceeb019acaa7ae6c8ca7 \
10e41b10df29f8c2ea91fe7d126f50e1
303838a2b4cab66f25d53bd331b5ee4c035b6e12afcd05c5a5a85a382ff4bfae230844aef7e2ae5c834671c1632afca943eb \
b1caecddef433ceb4d8ed554f1702dbd
""".strip().splitlines()
]


@pytest.fixture(params=["version 1", "version 2", "version 1, bundle hash"])
def device(request: pytest.FixtureRequest, made_credential: Credential) -> Device:
    if request.param == "version 1, bundle hash":
        return device_with_bundle_hash(made_credential)
    return device_for(made_credential, int(request.param[-1]))


@pytest.fixture(scope="session")
def key_server(made_credential: Credential) -> KeyServer:
    return key_server_for(made_credential)


def rich_options() -> SPCOptions:
    return SPCOptions(
        ASSET_ID,
        transaction_id=7,
        playback_state=STATE,
        streaming_indicator=tags.STREAMING_TO_AIRPLAY,
        capabilities=tags.CAPABILITY_HDCP_TYPE_1,
        unknown_blocks=((0x1111111111111111, b"kept"), (0x2222222222222222, b"")),
        return_request=(0x2222222222222222, tags.ASSET_ID, 0x1111111111111111, tags.ASSET_ID),
    )


@pytest.mark.parametrize(("r2", "expected"), D_FUNCTION_VALUES)
def test_the_d_function_gives_the_published_values(r2: str, expected: str) -> None:
    assert d_function(bytes.fromhex(r2)).hex() == expected


def test_there_are_sixteen_published_values() -> None:
    assert len(D_FUNCTION_VALUES) == 16


@pytest.mark.parametrize("size", [0, 56])
def test_the_d_function_refuses_an_r2_out_of_bounds(size: int) -> None:
    with pytest.raises(ValueError, match="R2"):
        d_function(bytes(size))


def test_the_container_has_the_published_layout(made_credential: Credential) -> None:
    for version, wrapped_size in ((1, 128), (2, 256)):
        context = device_for(made_credential, version).request(SPCOptions(ASSET_ID))
        message, hash_start = context.message, 24 + wrapped_size
        assert struct.unpack_from(">II", message) == (version, 0)
        assert message[hash_start : hash_start + 20] == sha1(made_credential.certificate(version))
        assert struct.unpack_from(">I", message, hash_start + 20) == (len(context.payload),)
        assert len(message) == hash_start + 24 + len(context.payload)


def test_what_a_device_asks_is_what_a_key_server_reads(device: Device, key_server: KeyServer) -> None:
    context = device.request(rich_options())
    opened = key_server.open(context.message)
    assert opened.asset_id == ASSET_ID
    assert opened.transaction_id == 7
    assert opened.playback_state == STATE
    assert opened.streaming_indicator == tags.STREAMING_TO_AIRPLAY
    assert opened.payload_key == context.session.payload_key
    assert opened.device_id == device.device_id
    assert opened.secrets == context.secrets


def test_what_a_key_server_grants_is_what_a_device_opens(device: Device, key_server: KeyServer) -> None:
    context = device.request(rich_options())
    opened = open_ckc(key_server.answer(key_server.open(context.message), LICENCE), context.secrets)
    assert (opened.content_key, opened.content_iv) == (LICENCE.content_key, LICENCE.content_iv)
    assert opened.duration is not None
    assert (opened.duration.lease_seconds, opened.duration.rental_seconds) == (120, 3600)
    assert opened.hdcp_level == tags.HDCP_TYPE_1


@pytest.mark.parametrize(
    ("lease", "rental", "key_type"),
    [(60, None, tags.LEASE_ONLY), (None, 60, tags.RENTAL_ONLY), (60, 61, tags.LEASE_AND_RENTAL)],
)
def test_durations_have_their_key_type(
    lease: int | None, rental: int | None, key_type: int, made_credential: Credential, key_server: KeyServer
) -> None:
    context = device_for(made_credential, 1).request(SPCOptions(ASSET_ID, playback_state=STATE))
    licence = replace(LICENCE, lease=lease, rental=rental)
    duration = open_ckc(key_server.answer(key_server.open(context.message), licence), context.secrets).duration
    assert duration is not None
    assert (duration.key_type, duration.lease_seconds, duration.rental_seconds) == (key_type, lease, rental)


@pytest.mark.parametrize("padding", list(Padding))
def test_every_padding_is_read(padding: Padding, made_credential: Credential, key_server: KeyServer) -> None:
    context = device_for(made_credential, 1).request(replace(rich_options(), padding=padding))
    assert key_server.open(context.message).secrets == context.secrets


def test_a_fixed_device_key_needs_no_application_secret(made_credential: Credential) -> None:
    fixed = bytes(range(16))
    device = Device(1, made_credential.certificate_1024, fixed_device_key=fixed)
    context = device.request(SPCOptions(ASSET_ID))
    server = replace(key_server_for(made_credential), application_secret=None, fixed_device_key=fixed)
    assert server.open(context.message).secrets == context.secrets


def test_another_application_secret_does_not_open(made_credential: Credential, key_server: KeyServer) -> None:
    device = Device(1, made_credential.certificate_1024, application_secret=bytes(16))
    with pytest.raises(Refusal, match="integrity"):
        key_server.open(device.request(SPCOptions(ASSET_ID)).message)


def test_a_seed_repeats_a_payload(made_credential: Credential) -> None:
    first, second = (
        device_for(made_credential, 1, random.Random(5)).request(rich_options()).payload for _ in range(2)
    )
    assert first == second


def test_every_truncation_of_a_payload_is_refused() -> None:
    payload = serialise([Block(1, b"", b""), Block(2, b"value", bytes(11)), Block(3, bytes(32), b"")])
    starts = {0, 16, 48}
    for length in set(range(len(payload))) - starts:
        with pytest.raises(FramingError):
            parse(payload[:length])


def test_a_tag_that_occurs_twice_is_refused() -> None:
    with pytest.raises(FramingError, match="twice"):
        by_tag([Block(1, b"", b""), Block(1, b"", b"")])


# --- The corpus of malformed SPCs against the strict key server ------------------------------------------------------


def bench_for(credential: Credential, version: int, seed: int) -> corpus.Workbench:
    return corpus.Workbench(credential, device_for(credential, version, random.Random(seed)), ASSET_ID)


@pytest.fixture(scope="module", params=[1, 2], ids=["version 1", "version 2"])
def bench(request: pytest.FixtureRequest, made_credential: Credential, seed: int) -> corpus.Workbench:
    return bench_for(made_credential, request.param, seed)


def outcome_of(server: KeyServer, body: bytes) -> corpus.Outcome:
    try:
        opened = server.open(body)
    except Refusal as refusal:
        return corpus.Outcome(refusal.status, refusal.code)
    return corpus.LICENCE if opened.asset_id == ASSET_ID else corpus.OTHER_CONTENT


@pytest.mark.parametrize("case", corpus.CASES, ids=lambda case: case.name)
def test_the_strict_key_server_agrees_with_every_named_case(
    case: corpus.Case, bench: corpus.Workbench, key_server: KeyServer
) -> None:
    if bench.version in case.versions:
        assert outcome_of(key_server, case.make(bench)) in case.outcomes


def test_every_named_case_has_a_name_of_its_own() -> None:
    names = [case.name for case in corpus.CASES]
    assert len(names) == len(set(names))


def test_the_strict_key_server_agrees_with_the_bulk(
    bench: corpus.Workbench, key_server: KeyServer, seed: int
) -> None:
    for name, body, outcomes in corpus.truncations(bench.message):
        assert outcome_of(key_server, body) in outcomes, name
    for name, body, outcomes in corpus.random_blobs(bench, random.Random(seed)):
        assert outcome_of(key_server, body) in outcomes, name


def test_the_yardstick_without_private_keys_agrees_about_flips(
    bench: corpus.Workbench, key_server: KeyServer
) -> None:
    outcomes = set()
    for name, body in corpus.flips(bench.message):
        outcomes.add(outcome_of(key_server, body))
        assert outcome_of(bench.yardstick, body) == outcome_of(key_server, body), name
    assert {corpus.LICENCE, corpus.REJECTED, corpus.HASH_UNKNOWN} <= outcomes


# --- CKCs with one thing wrong ---------------------------------------------------------------------------------------

BlockEdit = Callable[[list[Block]], list[Block]]


def replaced(tag: int, value: bytes) -> BlockEdit:
    return lambda blocks: [
        Block(tag, value, bytes(-len(value) % 16)) if block.tag == tag else block for block in blocks
    ]


def without(tag: int) -> BlockEdit:
    return lambda blocks: [block for block in blocks if block.tag != tag]


BLOCK_FAULTS: dict[str, tuple[str, BlockEdit]] = {
    "no R1": ("no R1", without(tags.R1)),
    "another R1": ("R1 is not", replaced(tags.R1, bytes(44))),
    "R1 of 43 bytes": ("R1 of 43", replaced(tags.R1, bytes(43))),
    "no content key": ("no content key", without(tags.ENCRYPTED_CONTENT_KEY)),
    "content key of 31 bytes": ("content key of 31", replaced(tags.ENCRYPTED_CONTENT_KEY, bytes(31))),
    "missing echo": ("is missing", without(tags.ASSET_ID)),
    "altered echo": ("is altered", replaced(tags.ASSET_ID, b"another-asset")),
    "echo with other padding": (
        "is altered",
        lambda blocks: [replace(block, padding=block.padding + bytes(16)) for block in blocks],
    ),
    "echoes out of order": ("order", lambda blocks: blocks[:-2] + [blocks[-1], blocks[-2]]),
    "duplicate tag": ("twice", lambda blocks: blocks + [blocks[0]]),
    "HDCP of 8 bytes": ("HDCP of 8", replaced(tags.HDCP_ENFORCEMENT, bytes(8))),
    "unknown HDCP level": ("HDCP level", replaced(tags.HDCP_ENFORCEMENT, bytes(16))),
    "duration of 12 bytes": ("duration of 12", replaced(tags.CONTENT_KEY_DURATION, bytes(12))),
    "unknown key type": ("key type", replaced(tags.CONTENT_KEY_DURATION, bytes(16))),
    "persistent key type": (
        "key type",
        replaced(tags.CONTENT_KEY_DURATION, struct.pack(">4I", 1, 1, 0x3DF2D9FB, tags.DURATION_RESERVED_WORD)),
    ),
    "offline key beside a duration": ("offline", lambda blocks: blocks + [Block(tags.OFFLINE_KEY, bytes(32))]),
    "reserved word in the duration": (
        "reserved word",
        replaced(tags.CONTENT_KEY_DURATION, struct.pack(">4I", 1, 1, tags.LEASE_AND_RENTAL, 0)),
    ),
    "a block nobody asked for": (
        "not asked for",
        lambda blocks: [Block(0xE6D0A3E72C92A4EF, bytes(7) + b"\x01", bytes(range(8)))] + blocks,
    ),
    "constant padding": (
        "constant",
        lambda blocks: [replace(block, padding=bytes(4)) if block.tag == tags.R1 else block for block in blocks],
    ),
    "echoes not last": ("not the last", lambda blocks: blocks[1:] + blocks[:1]),
}


@pytest.fixture
def asked(made_credential: Credential) -> PlaybackContext:
    return device_for(made_credential, 1).request(rich_options())


@pytest.mark.parametrize("name", BLOCK_FAULTS)
def test_a_ckc_with_a_wrong_block_is_refused(name: str, asked: PlaybackContext, key_server: KeyServer) -> None:
    expected, edit = BLOCK_FAULTS[name]
    opened = key_server.open(asked.message)
    blocks = edit(key_server.answer_blocks(opened, LICENCE))
    with pytest.raises(CKCFault, match=expected):
        open_ckc(key_server.seal(opened, blocks), asked.secrets)


CONTAINER_FAULTS: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda message: b"",
    "only a header": lambda message: message[:24] + bytes(4),
    "version 2": lambda message: struct.pack(">I", 2) + message[4:],
    "reserved word": lambda message: message[:4] + b"\x00\x00\x00\x01" + message[8:],
    "length too small": lambda message: message[:24] + struct.pack(">I", len(message) - 28 - 16) + message[28:],
    "length too large": lambda message: message[:24] + b"\xff\xff\xff\xff" + message[28:],
    "one trailing byte": lambda message: message + b"\x00",
    "other initialization vector": lambda message: message[:8] + bytes(16) + message[24:],
}


@pytest.mark.parametrize("name", CONTAINER_FAULTS)
def test_a_ckc_with_a_wrong_container_is_refused(name: str, asked: PlaybackContext, key_server: KeyServer) -> None:
    message = CONTAINER_FAULTS[name](key_server.answer(key_server.open(asked.message), LICENCE))
    with pytest.raises(CKCFault):
        open_ckc(message, asked.secrets)


def test_every_truncation_of_a_ckc_is_refused(asked: PlaybackContext, key_server: KeyServer) -> None:
    message = key_server.answer(key_server.open(asked.message), LICENCE)
    for length in range(len(message)):
        with pytest.raises(CKCFault):
            open_ckc(message[:length], asked.secrets)


def test_a_payload_cut_and_sealed_again_is_refused(asked: PlaybackContext, key_server: KeyServer) -> None:
    opened = key_server.open(asked.message)
    message = key_server.answer(opened, LICENCE)
    key = ckc_payload_key(opened.r1, opened.anti_replay_seed)
    payload = aes_cbc_decrypt(key, message[8:24], message[28:])
    for length in range(0, len(payload), 16):
        cut = struct.pack(">I", length) + aes_cbc_encrypt(key, message[8:24], payload[:length])
        with pytest.raises(CKCFault):
            open_ckc(message[:24] + cut, asked.secrets)


def test_a_duration_without_media_playback_state_is_refused(asked: PlaybackContext, key_server: KeyServer) -> None:
    message = key_server.answer(key_server.open(asked.message), LICENCE)
    with pytest.raises(CKCFault, match="without media playback state"):
        open_ckc(message, replace(asked.secrets, has_playback_state=False))

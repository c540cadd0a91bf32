"""CKCs with one fault each: the Python device must refuse every one of them. Needs no daemon."""

import struct
from collections.abc import Callable
from dataclasses import replace

import pytest

from fairplay_device import tags
from fairplay_device.ckc import CKCFault, open_ckc
from fairplay_device.credentials import Credential
from fairplay_device.facts import PlaybackState
from fairplay_device.key_server import KeyServer, key_server_for
from fairplay_device.license import License, OfflineKey, Persistent, Streaming, duration_value
from fairplay_device.session_keys import aes_cbc_decrypt, aes_cbc_encrypt, ckc_payload_key
from fairplay_device.spc import PlaybackContext, SPCOptions, device_for
from fairplay_device.tllv import Block

LICENSE = License(
    bytes(range(16)),
    bytes(range(16, 32)),
    Streaming(lease=120, rental=3600),
    hdcp_level=tags.HDCP_TYPE_1,
    security_level=tags.LEVEL_MAIN,
)
OFFLINE_KEY = OfflineKey(b"the identifier--", 3600, 60, b"a title of a key")
OFFLINE = replace(LICENSE, terms=OFFLINE_KEY)
OPTIONS = SPCOptions(
    b"interop-asset",
    playback_state=PlaybackState(1_700_000_000, tags.READY_TO_START, 0x0102030405060708),
    capabilities=tags.CAPABILITY_HDCP_TYPE_1 | tags.CAPABILITY_OFFLINE_KEY | tags.CAPABILITY_OFFLINE_KEY_V2,
    video=True,
    unknown_blocks=((0x1111111111111111, b"kept"), (0x2222222222222222, b"")),
    return_request=(0x2222222222222222, tags.ASSET_ID, 0x1111111111111111, tags.ASSET_ID),
)
BlockEdit = Callable[[list[Block]], list[Block]]


pytestmark = pytest.mark.oracle


@pytest.fixture(scope="module")
def key_server(made_credential: Credential) -> KeyServer:
    return key_server_for(made_credential)


@pytest.fixture
def asked(made_credential: Credential) -> PlaybackContext:
    return device_for(made_credential, 1).request(OPTIONS)


def sealed_with(edit: BlockEdit, asked: PlaybackContext, key_server: KeyServer, license: License) -> bytes:
    """A CKC for the license, whose blocks were edited before they were encrypted."""
    opened = key_server.open(asked.message)
    blocks = key_server.answer_blocks(opened, license)
    edited = edit(blocks)
    assert edited != blocks
    return key_server.seal(opened, edited)


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
    "offline key beside a duration": ("offline", lambda blocks: blocks + [Block(tags.OFFLINE_KEY, bytes(32))]),
    "reserved word in the duration": (
        "reserved word",
        replaced(tags.CONTENT_KEY_DURATION, struct.pack(">4I", 1, 1, tags.LEASE_AND_RENTAL, 0)),
    ),
    "a block that was not asked for": (
        "not asked for",
        lambda blocks: [Block(0xE6D0A3E72C92A4EF, bytes(7) + b"\x01", bytes(range(8)))] + blocks,
    ),
    "constant padding": (
        "constant",
        lambda blocks: [replace(block, padding=bytes(4)) if block.tag == tags.R1 else block for block in blocks],
    ),
    "echoes not last": ("not the last", lambda blocks: blocks[1:] + blocks[:1]),
}


@pytest.mark.parametrize("name", BLOCK_FAULTS)
def test_a_ckc_with_a_wrong_block_is_refused(name: str, asked: PlaybackContext, key_server: KeyServer) -> None:
    expected, edit = BLOCK_FAULTS[name]
    message = sealed_with(edit, asked, key_server, LICENSE)
    with pytest.raises(CKCFault, match=expected):
        open_ckc(message, asked.secrets)


# --- Durations: fields that the key type does not use, and limits that limit nothing ----------------------------------

DURATION_FAULTS = {
    "lease of 0": (0, 0, tags.LEASE_ONLY),
    "lease with a rental beside it": (60, 60, tags.LEASE_ONLY),
    "rental of 0": (0, 0, tags.RENTAL_ONLY),
    "rental with a lease beside it": (60, 60, tags.RENTAL_ONLY),
    "lease and a rental of 0": (60, 0, tags.LEASE_AND_RENTAL),
    "rental and a lease of 0": (0, 60, tags.LEASE_AND_RENTAL),
    "persistent with a lease": (60, 0, tags.PERSISTENT),
    "persistent with a limit": (0, 60, tags.PERSISTENT),
    "persistent limited to 0": (0, 0, tags.PERSISTENT_LIMITED),
    "persistent limited with a lease": (60, 60, tags.PERSISTENT_LIMITED),
    "lease of 2^32-1": (0xFFFFFFFF, 0, tags.LEASE_ONLY),
    "persistent limited to 2^32-1": (0, 0xFFFFFFFF, tags.PERSISTENT_LIMITED),
}


@pytest.mark.parametrize("name", DURATION_FAULTS)
def test_a_ckc_with_a_doubtful_duration_is_refused(name: str, asked: PlaybackContext, key_server: KeyServer) -> None:
    edit = replaced(tags.CONTENT_KEY_DURATION, duration_value(*DURATION_FAULTS[name]))
    message = sealed_with(edit, asked, key_server, LICENSE)
    with pytest.raises(CKCFault, match="seconds"):
        open_ckc(message, asked.secrets)
    open_ckc(message, asked.secrets, strict=False)


# --- Offline keys ----------------------------------------------------------------------------------------------------


def offline_value(version: int, reserved: int = 0, size: int | None = None) -> BlockEdit:
    """An offline key block with another version or reserved word, cut or lengthened to a size."""
    value = struct.pack(">II16sII16s", version, reserved, bytes(16), 60, 60, bytes(16))
    return replaced(tags.OFFLINE_KEY, value if size is None else value.ljust(size, b"\x01")[:size])


OFFLINE_FAULTS: dict[str, tuple[str, BlockEdit]] = {
    "version 0": ("version 0", offline_value(0)),
    "version 3": ("version 3", offline_value(3)),
    "reserved word": ("reserved", offline_value(2, reserved=1)),
    "4 bytes": ("of 4 bytes", offline_value(2, size=4)),
    "version 1 of 31 bytes": ("of 31 bytes", offline_value(1, size=31)),
    "version 1 with a title id": ("of 48 bytes", offline_value(1)),
    "version 2 without a title id": ("of 32 bytes", offline_value(2, size=32)),
    "version 2 of 49 bytes": ("of 49 bytes", offline_value(2, size=49)),
    "beside a persistent duration": (
        "beside",
        lambda blocks: [Block(*Persistent(60).block()), *blocks],
    ),
    "storage of 2^32-1": (
        "no limit",
        replaced(tags.OFFLINE_KEY, replace(OFFLINE_KEY, storage=0xFFFFFFFF).block()[1]),
    ),
    "playback of 2^32-1": (
        "no limit",
        replaced(tags.OFFLINE_KEY, replace(OFFLINE_KEY, playback=0xFFFFFFFF).block()[1]),
    ),
}


@pytest.mark.parametrize("name", OFFLINE_FAULTS)
def test_a_ckc_with_a_wrong_offline_key_is_refused(name: str, asked: PlaybackContext, key_server: KeyServer) -> None:
    expected, edit = OFFLINE_FAULTS[name]
    message = sealed_with(edit, asked, key_server, OFFLINE)
    with pytest.raises(CKCFault, match=expected):
        open_ckc(message, asked.secrets)


@pytest.mark.parametrize(
    ("title_id", "capabilities"),
    [
        (bytes(16), None),
        (bytes(16), 0),
        (bytes(16), tags.CAPABILITY_OFFLINE_KEY),
        (None, 0),
        (None, tags.CAPABILITY_OFFLINE_KEY_V2),
    ],
)
def test_an_offline_key_that_the_device_cannot_read_is_refused(
    title_id: bytes | None, capabilities: int | None, made_credential: Credential, key_server: KeyServer
) -> None:
    asked = device_for(made_credential, 1).request(replace(OPTIONS, capabilities=capabilities))
    license = replace(LICENSE, terms=replace(OFFLINE_KEY, title_id=title_id))
    message = key_server.answer(key_server.open(asked.message), license)
    with pytest.raises(CKCFault, match="without that capability"):
        open_ckc(message, asked.secrets)


# --- Security levels and session key versions -------------------------------------------------------------------------

VERSIONED_WORDS = {
    "security level": (tags.REQUIRED_SECURITY_LEVEL, tags.LEVEL_BASELINE),
    "session key version": (tags.SESSION_KEY_VERSION_USED, tags.SESSION_KEY_GENERIC),
}
WORD_FAULTS: dict[str, Callable[[int], bytes]] = {
    "unknown word": lambda word: struct.pack(">IIQ", 1, 0, word ^ 1),
    "version 2": lambda word: struct.pack(">IIQ", 2, 0, word),
    "reserved word": lambda word: struct.pack(">IIQ", 1, 1, word),
    "8 bytes": lambda word: struct.pack(">Q", word),
    "17 bytes": lambda word: struct.pack(">IIQx", 1, 0, word),
}


@pytest.mark.parametrize("fault", WORD_FAULTS)
@pytest.mark.parametrize("block", VERSIONED_WORDS)
def test_a_ckc_with_a_wrong_word_is_refused(
    block: str, fault: str, asked: PlaybackContext, key_server: KeyServer
) -> None:
    tag, word = VERSIONED_WORDS[block]
    license = replace(LICENSE, session_key_version=tags.SESSION_KEY_GENERIC)
    message = sealed_with(replaced(tag, WORD_FAULTS[fault](word)), asked, key_server, license)
    with pytest.raises(CKCFault, match=block):
        open_ckc(message, asked.secrets, from_module=True)


def test_only_a_module_says_which_session_key_it_used(asked: PlaybackContext, key_server: KeyServer) -> None:
    opened = key_server.open(asked.message)
    plain = key_server.answer(opened, LICENSE)
    from_module = key_server.answer(opened, replace(LICENSE, session_key_version=tags.SESSION_KEY_GENERIC))
    open_ckc(plain, asked.secrets)
    open_ckc(from_module, asked.secrets, from_module=True)
    with pytest.raises(CKCFault, match="session key version"):
        open_ckc(plain, asked.secrets, from_module=True)
    with pytest.raises(CKCFault, match="session key version"):
        open_ckc(from_module, asked.secrets)


@pytest.mark.parametrize("session_key_version", [None, tags.SESSION_KEY_GENERIC])
def test_version_2_goes_with_the_session_key_for_video(
    session_key_version: int | None, asked: PlaybackContext, key_server: KeyServer
) -> None:
    server = replace(key_server, open_video=lambda block, r2: asked.session.video)
    opened = server.open(asked.message)
    video = server.answer_blocks(opened, replace(LICENSE, session_key_version=tags.SESSION_KEY_VIDEO))
    claimed = [block for block in video if block.tag != tags.SESSION_KEY_VERSION_USED]
    if session_key_version is not None:
        claimed.insert(0, Block(tags.SESSION_KEY_VERSION_USED, struct.pack(">IIQ", 1, 0, session_key_version)))
    with pytest.raises(CKCFault, match="does not match"):
        open_ckc(server.seal(opened, claimed, 2), asked.secrets, from_module=True)


def test_version_2_for_a_request_without_video_is_refused(asked: PlaybackContext, key_server: KeyServer) -> None:
    message = key_server.answer(key_server.open(asked.message), LICENSE)
    with pytest.raises(CKCFault, match="without a session key for video"):
        open_ckc(struct.pack(">I", 2) + message[4:], replace(asked.secrets, video=None))


# --- Containers ------------------------------------------------------------------------------------------------------


CONTAINER_FAULTS: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda message: b"",
    "only a header": lambda message: message[:24] + bytes(4),
    "version 0": lambda message: bytes(4) + message[4:],
    "version 2": lambda message: struct.pack(">I", 2) + message[4:],
    "version 3": lambda message: struct.pack(">I", 3) + message[4:],
    "reserved word": lambda message: message[:4] + b"\x00\x00\x00\x01" + message[8:],
    "length too small": lambda message: message[:24] + struct.pack(">I", len(message) - 28 - 16) + message[28:],
    "length too large": lambda message: message[:24] + b"\xff\xff\xff\xff" + message[28:],
    "one trailing byte": lambda message: message + b"\x00",
    "other initialization vector": lambda message: message[:8] + bytes(16) + message[24:],
}


@pytest.mark.parametrize("name", CONTAINER_FAULTS)
def test_a_ckc_with_a_wrong_container_is_refused(name: str, asked: PlaybackContext, key_server: KeyServer) -> None:
    message = CONTAINER_FAULTS[name](key_server.answer(key_server.open(asked.message), LICENSE))
    with pytest.raises(CKCFault):
        open_ckc(message, asked.secrets)


def test_every_truncation_of_a_ckc_is_refused(asked: PlaybackContext, key_server: KeyServer) -> None:
    message = key_server.answer(key_server.open(asked.message), LICENSE)
    for length in range(len(message)):
        with pytest.raises(CKCFault):
            open_ckc(message[:length], asked.secrets)


def test_a_payload_cut_and_sealed_again_is_refused(asked: PlaybackContext, key_server: KeyServer) -> None:
    opened = key_server.open(asked.message)
    message = key_server.answer(opened, LICENSE)
    key = ckc_payload_key(opened.r1, opened.anti_replay_seed)
    payload = aes_cbc_decrypt(key, message[8:24], message[28:])
    for length in range(0, len(payload), 16):
        cut = struct.pack(">I", length) + aes_cbc_encrypt(key, message[8:24], payload[:length])
        with pytest.raises(CKCFault):
            open_ckc(message[:24] + cut, asked.secrets)


def test_a_duration_without_media_playback_state_is_refused(asked: PlaybackContext, key_server: KeyServer) -> None:
    message = key_server.answer(key_server.open(asked.message), LICENSE)
    with pytest.raises(CKCFault, match="without media playback state"):
        open_ckc(message, replace(asked.secrets, has_playback_state=False))


# --- What a device accepts, and this server does not send -------------------------------------------------------------

UNUSUAL: dict[str, BlockEdit] = {
    "echoes with other padding": BLOCK_FAULTS["echo with other padding"][1],
    "the block of Apple's samples": BLOCK_FAULTS["a block that was not asked for"][1],
    "reserved word in the duration": BLOCK_FAULTS["reserved word in the duration"][1],
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_an_unusual_block_is_accepted_by_a_device(name: str, asked: PlaybackContext, key_server: KeyServer) -> None:
    message = sealed_with(UNUSUAL[name], asked, key_server, LICENSE)
    assert open_ckc(message, asked.secrets, strict=False).content_key == LICENSE.content_key
    with pytest.raises(CKCFault):
        open_ckc(message, asked.secrets)


def test_a_reserved_word_is_accepted_by_a_device(asked: PlaybackContext, key_server: KeyServer) -> None:
    message = CONTAINER_FAULTS["reserved word"](key_server.answer(key_server.open(asked.message), LICENSE))
    opened = open_ckc(message, asked.secrets, strict=False)
    assert (opened.content_key, opened.reserved) == (LICENSE.content_key, 1)

"""Latchkey's own device against the Python key server: the other direction.

`LATCHKEY_BIN` names the `latchkey` program. It runs as `latchkey device request`, sends its request to the Python key
server, and must print what was granted. For a faulty CKC it must print no key and exit with a failure, without
crashing. Licenses to keep and random combinations are in `test_swift_device_terms`.
"""

import os
import struct
import subprocess
from collections.abc import Callable
from dataclasses import replace

import pytest

from fairplay_device import tags
from fairplay_device.containers import VERSIONS
from fairplay_device.credentials import Credential
from fairplay_device.key_server import KeyServer, OpenedSPC, key_server_for
from fairplay_device.license import License, Persistent, Streaming
from fairplay_device.tllv import Block
from license_server import LicenseServer, always
from swift_device import ASSET_ID, TOKEN, Statements, SwiftDevice, assert_fails, assert_prints, printed

pytestmark = pytest.mark.skipif("LATCHKEY_BIN" not in os.environ, reason="LATCHKEY_BIN names no latchkey program")

LICENSE = License(os.urandom(16), os.urandom(16))
LIMITED = replace(
    LICENSE,
    terms=Streaming(lease=120, rental=3600),
    hdcp_level=tags.HDCP_TYPE_0,
    security_level=tags.LEVEL_BASELINE,
)


@pytest.fixture(scope="module")
def device(made_credential: Credential, tmp_path_factory: pytest.TempPathFactory) -> SwiftDevice:
    return SwiftDevice.with_files_in(tmp_path_factory.mktemp("fairplay"), made_credential)


@pytest.fixture
def server(made_credential: Credential) -> LicenseServer:
    return LicenseServer(key_server_for(made_credential), always(LICENSE))


@pytest.fixture(params=VERSIONS, ids=[f"version {version}" for version in VERSIONS])
def version(request: pytest.FixtureRequest) -> int:
    return request.param


def run_device(server: LicenseServer, device: SwiftDevice, version: int) -> subprocess.CompletedProcess[str]:
    with server.running() as url:
        return device.request(url, Statements(version))


def assert_granted(server: LicenseServer, device: SwiftDevice, version: int, license: License = LICENSE) -> None:
    server.grant = always(license)
    finished = run_device(server, device, version)
    assert not server.refusals, server.refusals
    assert_prints(finished, license, server.opened[-1])


GRANTED: dict[str, License] = {
    "no limit": LICENSE,
    "lease and rental": LIMITED,
    "lease": replace(LIMITED, terms=Streaming(lease=120)),
    "rental": replace(LIMITED, terms=Streaming(rental=3600)),
    "longest lease": replace(LICENSE, terms=Streaming(lease=0xFFFFFFFE)),
    "persistent": replace(LICENSE, terms=Persistent()),
    "persistent limited": replace(LICENSE, terms=Persistent(0xFFFFFFFE)),
    "HDCP Type 1": replace(LICENSE, hdcp_level=tags.HDCP_TYPE_1),
    "level Audio": replace(LICENSE, security_level=tags.LEVEL_AUDIO),
    "level Main": replace(LICENSE, security_level=tags.LEVEL_MAIN),
}


@pytest.mark.parametrize("name", GRANTED)
def test_what_is_granted_is_what_is_printed(
    name: str, server: LicenseServer, device: SwiftDevice, version: int
) -> None:
    assert_granted(server, device, version, GRANTED[name])


def test_the_request_says_what_was_asked(server: LicenseServer, device: SwiftDevice, version: int) -> None:
    assert_granted(server, device, version)
    assert struct.unpack_from(">II", server.messages[0]) == (version, 0)
    assert server.authorizations == [f"Bearer {TOKEN}"]
    assert server.opened[0].asset_id == ASSET_ID.encode()


def test_two_requests_share_no_secret(server: LicenseServer, device: SwiftDevice, version: int) -> None:
    for _ in range(2):
        assert_granted(server, device, version)
    first, second = server.opened
    for name in ("session_key", "r1", "anti_replay_seed"):
        assert getattr(first, name) != getattr(second, name), name
    for name in ("transport_key", "payload_key", "payload_iv"):
        assert getattr(first.keys, name) != getattr(second.keys, name), name


# --- Faults ----------------------------------------------------------------------------------------------------------

BlockEdit = Callable[[list[Block], OpenedSPC], list[Block]]


def replaced(tag: int, value: bytes) -> BlockEdit:
    """Replaces the value of one block, and adds random padding as a server would."""
    padding = os.urandom(-len(value) % 16)
    return lambda blocks, opened: [Block(tag, value, padding) if block.tag == tag else block for block in blocks]


def edited(tag: int, edit: Callable[[bytes], bytes]) -> BlockEdit:
    return lambda blocks, opened: [
        replace(block, value=edit(block.value)) if block.tag == tag else block for block in blocks
    ]


def without(tag: int) -> BlockEdit:
    return lambda blocks, opened: [block for block in blocks if block.tag != tag]


def first_bit_flipped(value: bytes) -> bytes:
    return bytes([value[0] ^ 0x80]) + value[1:]


def without_last_echo(blocks: list[Block], opened: OpenedSPC) -> list[Block]:
    assert opened.return_request, "the device must ask for blocks, or echoes are not tested"
    return blocks[:-1]


def with_altered_echo(blocks: list[Block], opened: OpenedSPC) -> list[Block]:
    assert opened.return_request, "the device must ask for blocks, or echoes are not tested"
    return blocks[:-1] + [replace(blocks[-1], value=first_bit_flipped(blocks[-1].value or b"\x00"))]


BLOCK_FAULTS: dict[str, BlockEdit] = {
    "wrong R1": edited(tags.R1, first_bit_flipped),
    "R1 of 43 bytes": edited(tags.R1, lambda value: value[:43]),
    "no R1": without(tags.R1),
    "missing echo": without_last_echo,
    "altered echo": with_altered_echo,
    "content IV of 15 bytes": replaced(tags.ENCRYPTED_CONTENT_KEY, bytes(range(31))),
    "content IV of 17 bytes": replaced(tags.ENCRYPTED_CONTENT_KEY, bytes(range(33))),
    "no content key": without(tags.ENCRYPTED_CONTENT_KEY),
    "duplicate tag": lambda blocks, opened: [blocks[0], *blocks],
    "duplicate tag with another value": lambda blocks, opened: [Block(tags.R1, os.urandom(44), bytes(4)), *blocks],
    "duration of 12 bytes": replaced(tags.CONTENT_KEY_DURATION, bytes(12)),
    "HDCP of 8 bytes": replaced(tags.HDCP_ENFORCEMENT, struct.pack(">Q", tags.HDCP_TYPE_0)),
    "unknown HDCP level": replaced(tags.HDCP_ENFORCEMENT, bytes(range(16))),
    "unknown key type": replaced(tags.CONTENT_KEY_DURATION, struct.pack(">4I", 60, 60, 1, tags.DURATION_RESERVED_WORD)),
    "security level of 8 bytes": replaced(tags.REQUIRED_SECURITY_LEVEL, struct.pack(">Q", tags.LEVEL_MAIN)),
    "security level of version 2": replaced(tags.REQUIRED_SECURITY_LEVEL, struct.pack(">IIQ", 2, 0, tags.LEVEL_MAIN)),
}

CONTAINER_FAULTS: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda message: b"",
    "version 2 without a session key for video": lambda message: struct.pack(">I", 2) + message[4:],
    "version 9": lambda message: struct.pack(">I", 9) + message[4:],
    "truncated": lambda message: message[:-16],
    "trailing byte": lambda message: message + b"\x00",
    "length too large": lambda message: message[:24] + b"\xff\xff\xff\xf0" + message[28:],
    "other initialization vector": lambda message: message[:8] + os.urandom(16) + message[24:],
}


def assert_refuses(server: LicenseServer, device: SwiftDevice, version: int) -> None:
    finished = run_device(server, device, version)
    assert not server.refusals, server.refusals
    assert_fails(finished, LICENSE.content_key)


@pytest.mark.parametrize("name", BLOCK_FAULTS)
def test_a_wrong_block_is_refused(name: str, server: LicenseServer, device: SwiftDevice, version: int) -> None:
    def seal(key_server: KeyServer, opened: OpenedSPC, license: License) -> bytes:
        blocks = key_server.answer_blocks(opened, license)
        faulty = BLOCK_FAULTS[name](blocks, opened)
        assert faulty != blocks
        return key_server.seal(opened, [aligned(block) for block in faulty])

    server.grant = always(LIMITED)
    server.seal = seal
    assert_refuses(server, device, version)


def aligned(block: Block) -> Block:
    """The block with the padding that its new value needs, so that only the fault under test is wrong."""
    missing = -(len(block.value) + len(block.padding)) % 16
    return replace(block, padding=block.padding + os.urandom(missing))


def with_other_padding(blocks: list[Block], opened: OpenedSPC) -> list[Block]:
    echoes = len(opened.return_request)
    padded = [replace(block, padding=block.padding + os.urandom(16)) for block in blocks[-echoes:]]
    return blocks[:-echoes] + padded


# Answers that Apple's own servers send and devices accept, each with the number of remarks that the program prints.
UNUSUAL: dict[str, tuple[BlockEdit, int, int]] = {
    "nothing": (lambda blocks, opened: blocks, 0, 0),
    "a reserved word": (lambda blocks, opened: blocks, 0x0E280012, 1),
    "echoes with other padding": (with_other_padding, 0, 2),
    "the block of Apple's samples": (
        lambda blocks, opened: [Block(0xE6D0A3E72C92A4EF, bytes(7) + b"\x01", os.urandom(8)), *blocks],
        0,
        1,
    ),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_what_apples_servers_send_is_taken(
    name: str, server: LicenseServer, device: SwiftDevice, version: int
) -> None:
    edit, word, remark_count = UNUSUAL[name]

    def seal(key_server: KeyServer, opened: OpenedSPC, license: License) -> bytes:
        message = key_server.seal(opened, edit(key_server.answer_blocks(opened, license), opened))
        return message[:4] + struct.pack(">I", word) + message[8:]

    server.grant = always(LIMITED)
    server.seal = seal
    finished = run_device(server, device, version)
    assert not server.refusals, server.refusals
    assert_prints(finished, LIMITED, server.opened[-1])
    remarks = printed(finished)["remarks"]
    assert len(remarks) >= remark_count and (remark_count > 0) == bool(remarks), remarks


@pytest.mark.parametrize("name", CONTAINER_FAULTS)
def test_a_wrong_container_is_refused(name: str, server: LicenseServer, device: SwiftDevice, version: int) -> None:
    server.seal = lambda key_server, opened, license: CONTAINER_FAULTS[name](key_server.answer(opened, license))
    assert_refuses(server, device, version)


@pytest.mark.parametrize("status", [403, 500])
def test_a_refusal_is_a_failure(status: int, server: LicenseServer, device: SwiftDevice, version: int) -> None:
    server.status = status
    assert_refuses(server, device, version)


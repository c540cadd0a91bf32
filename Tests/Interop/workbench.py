"""A valid SPC in its parts, so that one part can be made wrong, and the answers that each such body must get."""

import struct
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from fairplay_device import containers, tags
from fairplay_device.credentials import Credential, certificate_hash
from fairplay_device.facts import (
    DenyListVersion,
    DeviceIdentity,
    DeviceInfo,
    KeyFormats,
    NotSync,
    PlaybackState,
    SecurityLevelReport,
    VMDeviceInfo,
)
from fairplay_device.key_server import KeyServer, key_server_without_private_keys
from fairplay_device.spc import Device, SPCOptions
from fairplay_device.tllv import Block, Padding, serialise


@dataclass(frozen=True)
class Outcome:
    """An HTTP status and the stable code. `is_sync` marks a 200 that has no CKC."""

    status: int
    code: str | None = None
    is_sync: bool = False


LICENSE = Outcome(200)
SYNC_ANSWER = Outcome(200, is_sync=True)
EMPTY = Outcome(400, "body_empty")
CERTIFICATE = Outcome(400, "spc_is_certificate")
CONTAINER = Outcome(400, "spc_malformed")
VERSION = Outcome(400, "spc_version_unsupported")
UNRECOGNISED = Outcome(400, "body_unrecognised")
HASH_UNKNOWN = Outcome(422, "spc_certificate_unknown")
REJECTED = Outcome(422, "spc_rejected")
OTHER_CONTENT = Outcome(403, "content_mismatch")

# A body that is no SPC may get any of these codes. `spc_malformed` means that it is too short for a version word: the
# daemon answers this below 4 bytes. `spc_version_unsupported` means that its first word is no version: the daemon
# answers this from 4 bytes on. `body_unrecognised` comes from a reader that checks shapes before versions.
NOT_AN_SPC = (CONTAINER, VERSION, UNRECOGNISED)


class Workbench:
    """A valid SPC in its parts, so that one part can be made wrong and the SPC encrypted again.

    All bodies of one workbench share their secrets. `yardstick` opens them without the private key.
    """

    def __init__(self, credential: Credential, device: Device, asset_id: bytes):
        randomness = device.randomness
        self.credential = credential
        self.device = device
        self.version = device.spc_version
        self.unknown_tag = randomness.getrandbits(64)
        self.options = SPCOptions(
            asset_id=asset_id,
            transaction_id=randomness.getrandbits(64),
            streaming_indicator=randomness.getrandbits(64),
            playback_state=PlaybackState(1_700_000_000, tags.READY_TO_START, randomness.getrandbits(64)),
            capabilities=tags.CAPABILITY_HDCP_TYPE_1 | tags.CAPABILITY_OFFLINE_KEY,
            device_identity=DeviceIdentity(
                1, 2, randomness.randbytes(8), randomness.randbytes(8), 0x01020304, 0x05060708, 0x00110402
            ),
            device_info=DeviceInfo(tags.DEVICE_TYPE_IOS, 0x00110402),
            deny_list_version=DenyListVersion(31),
            security_level_report=SecurityLevelReport(tags.LEVEL_MAIN, 31),
            key_formats=KeyFormats((tags.KEY_FORMAT_16_BYTES, randomness.getrandbits(64))),
            vm_device_info=VMDeviceInfo(0),
            sync=NotSync(),
            video=True,
            unknown_blocks=(
                (self.unknown_tag, randomness.randbytes(20)),
                (tags.UNNAMED_IN_LEASE_REQUESTS, randomness.randbytes(8)),
                (randomness.getrandbits(64), b""),
                (randomness.getrandbits(64), randomness.randbytes(88)),
            ),
            return_request=(tags.ASSET_ID, tags.TRANSACTION_ID, tags.UNNAMED_IN_LEASE_REQUESTS),
            padding=Padding.GENEROUS,
        )
        self.session = device.start_session()
        self.blocks = device.blocks(self.session, self.options)
        self.payload = serialise(self.blocks)
        self.message = device.seal(self.session, self.payload)
        self.hash_offset = containers.hash_offset(self.version)
        self.length_offset = containers.length_offset(self.version)
        self.header_size = containers.payload_offset(self.version)
        self.yardstick: KeyServer = key_server_without_private_keys(
            credential, {self.session.wrapped_key: self.session.keys.transport_key}
        )

    def sealed(self, payload: bytes, **overrides: object) -> bytes:
        return self.device.seal(self.session, payload, **overrides)

    def with_blocks(self, blocks: list[Block]) -> bytes:
        return self.sealed(serialise(blocks))

    def without(self, tag: int) -> bytes:
        return self.with_blocks([block for block in self.blocks if block.tag != tag])

    def with_options(self, **changes: object) -> bytes:
        """The request with other options. Blocks that depend on the session are unchanged."""
        changed = replace(self.options, **changes)
        return self.with_blocks(self.device.blocks(self.session, changed))

    def with_value(self, tag: int, value: bytes) -> bytes:
        """The block of `tag` with another value, minimally padded."""
        return self.with_blocks(
            [Block(tag, value, bytes(-len(value) % 16)) if block.tag == tag else block for block in self.blocks]
        )

    def with_value_size(self, tag: int, size: int) -> bytes:
        """The block of `tag` with its value cut, or lengthened by random bytes."""
        value = self.value_of(tag)
        return self.with_value(tag, (value + self.device.randomness.randbytes(size))[:size])

    def with_return_request(self, *requested: int, extra_blocks: tuple[tuple[int, bytes], ...] = ()) -> bytes:
        return self.with_options(
            return_request=requested, unknown_blocks=self.options.unknown_blocks + extra_blocks
        )

    def with_lengths(self, tag: int, *, block_length: int | None = None, value_length: int | None = None) -> bytes:
        """The payload with only the lengths in one block's header changed."""
        payload = bytearray(self.payload)
        offset = self.offset_of(tag)
        if block_length is not None:
            struct.pack_into(">I", payload, offset + 8, block_length)
        if value_length is not None:
            struct.pack_into(">I", payload, offset + 12, value_length)
        return self.sealed(bytes(payload))

    def with_flipped_bit(self, offset: int) -> bytes:
        """The whole message with one bit inverted."""
        return flipped(self.message, offset, 0x01)

    def with_first_word(self, word: int) -> bytes:
        return struct.pack(">I", word) + self.message[4:]

    def value_of(self, tag: int) -> bytes:
        return self.block_of(tag).value

    def block_of(self, tag: int) -> Block:
        return next(block for block in self.blocks if block.tag == tag)

    def offset_of(self, tag: int) -> int:
        """Where the block's header starts in the payload."""
        before = self.blocks[: self.blocks.index(self.block_of(tag))]
        return sum(len(block.encoded) for block in before)


@dataclass(frozen=True)
class Case:
    """A named body, and every right answer to it (nearly always only one)."""

    name: str
    make: Callable[[Workbench], bytes]
    outcomes: tuple[Outcome, ...]
    versions: tuple[int, ...] = field(default=containers.VERSIONS)


def flipped(message: bytes, offset: int, mask: int) -> bytes:
    return message[:offset] + bytes([message[offset] ^ mask]) + message[offset + 1 :]


def cases(
    outcome: Outcome | tuple[Outcome, ...],
    makers: dict[str, Callable[[Workbench], bytes]],
    versions: tuple[int, ...] = containers.VERSIONS,
) -> list[Case]:
    outcomes = outcome if isinstance(outcome, tuple) else (outcome,)
    return [Case(name, make, outcomes, versions) for name, make in makers.items()]


def seal_with(**overrides: object) -> Callable[[Workbench], bytes]:
    return lambda bench: bench.sealed(bench.payload, **overrides)


def with_length_changed(change: int) -> Callable[[Workbench], bytes]:
    return lambda bench: bench.sealed(bench.payload, payload_length=len(bench.payload) + change)



def with_hash_of(bench: Workbench, data: bytes) -> bytes:
    return bench.sealed(bench.payload, certificate_hash=certificate_hash(bench.version, data))


def with_duplicate(bench: Workbench, tag: int, value: bytes | None = None) -> bytes:
    original = bench.block_of(tag)
    again = original if value is None else Block(tag, value, bytes(-len(value) % 16))
    return bench.with_blocks(bench.blocks + [again])

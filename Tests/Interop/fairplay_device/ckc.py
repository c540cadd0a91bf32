"""The device: opens a Content Key Context and checks everything that a device can check.

    offset  size  field
         0     4  version, 1
         4     4  reserved; devices ignore it, a server that follows the protocol sends 0
         8    16  initialization vector
        24     4  payload length N, a multiple of 16
        28     N  AES-CBC encrypted blocks
"""

import struct
from dataclasses import dataclass

from . import tags
from .session_keys import aes_cbc_decrypt, ckc_payload_key, unwrap_content_key
from .spc import RequestSecrets
from .tllv import Block, FramingError, by_tag, parse

HEADER_SIZE = 28
EXTRA_PADDING_MAXIMUM = 3 * 16 + 15
# A run of this many equal padding bytes comes from a random generator once in 2^24 CKCs at most.
CONSTANT_PADDING_MINIMUM = 4


class CKCFault(Exception):
    """The CKC is not what a device accepts, or not what the protocol asks of a careful server."""


@dataclass(frozen=True)
class Duration:
    """The content key duration block: how long the key may be used."""

    lease_field: int
    rental_field: int
    key_type: int
    reserved: int

    @property
    def lease_seconds(self) -> int | None:
        return self.lease_field if self.key_type in (tags.LEASE_ONLY, tags.LEASE_AND_RENTAL) else None

    @property
    def rental_seconds(self) -> int | None:
        return self.rental_field if self.key_type in (tags.RENTAL_ONLY, tags.LEASE_AND_RENTAL) else None


@dataclass(frozen=True)
class OpenedCKC:
    content_key: bytes
    content_iv: bytes
    duration: Duration | None
    hdcp_level: int | None
    initialization_vector: bytes
    blocks: tuple[Block, ...]


def open_ckc(message: bytes, secrets: RequestSecrets, *, strict: bool = True) -> OpenedCKC:
    """What the CKC grants; raises `CKCFault` for anything wrong in it.

    `strict` also refuses what devices accept but a careful server does not send: constant or excessive padding in
    the server's own blocks, another reserved word in the duration, blocks nobody asked for, and echoes that are
    not the last blocks. Apple's sample CKCs pass without `strict`.
    """
    initialization_vector, encrypted = _open_container(message)
    payload_key = ckc_payload_key(secrets.r1, secrets.anti_replay_seed)
    try:
        blocks = parse(aes_cbc_decrypt(payload_key, initialization_vector, encrypted))
        found = by_tag(blocks)
    except FramingError as error:
        raise CKCFault(f"payload: {error}") from error

    _check_r1(found, secrets)
    _check_echoes(blocks, found, secrets)
    content_iv, content_key = _open_content_key(found, secrets)
    opened = OpenedCKC(
        content_key=content_key,
        content_iv=content_iv,
        duration=_open_duration(found, secrets),
        hdcp_level=_open_hdcp(found),
        initialization_vector=initialization_vector,
        blocks=tuple(blocks),
    )
    if strict:
        _check_strictly(opened, secrets)
    return opened


def _open_container(message: bytes) -> tuple[bytes, bytes]:
    if len(message) < HEADER_SIZE:
        raise CKCFault(f"{len(message)} bytes are too few for a CKC")
    version, reserved = struct.unpack_from(">II", message)
    (payload_length,) = struct.unpack_from(">I", message, 24)
    if version != 1:
        raise CKCFault(f"version {version}")
    if reserved != 0:
        raise CKCFault(f"reserved word {reserved:08x}")
    if payload_length != len(message) - HEADER_SIZE:
        raise CKCFault(f"payload length {payload_length}, but {len(message) - HEADER_SIZE} bytes follow")
    if payload_length == 0 or payload_length % 16 != 0:
        raise CKCFault(f"payload length {payload_length} is not a positive multiple of 16")
    return message[8:24], message[HEADER_SIZE:]


def _required(found: dict[int, Block], tag: int, size: int, name: str) -> bytes:
    block = found.get(tag)
    if block is None:
        raise CKCFault(f"no {name} block")
    if len(block.value) != size:
        raise CKCFault(f"{name} of {len(block.value)} bytes instead of {size}")
    return block.value


def _check_r1(found: dict[int, Block], secrets: RequestSecrets) -> None:
    if _required(found, tags.R1, 44, "R1") != secrets.r1:
        raise CKCFault("R1 is not the one of the request")


def _check_echoes(blocks: list[Block], found: dict[int, Block], secrets: RequestSecrets) -> None:
    """Each requested block comes back byte for byte, its padding included, in the order of the request."""
    for wanted in secrets.echoes:
        if wanted.tag not in found:
            raise CKCFault(f"requested block {wanted.tag:016x} is missing")
        if found[wanted.tag].encoded != wanted.encoded:
            raise CKCFault(f"requested block {wanted.tag:016x} is altered")
    wanted_tags = [block.tag for block in secrets.echoes]
    if [block.tag for block in blocks if block.tag in wanted_tags] != wanted_tags:
        raise CKCFault("requested blocks are not in the order of the request")


def _open_content_key(found: dict[int, Block], secrets: RequestSecrets) -> tuple[bytes, bytes]:
    """Content IV and content key of the value: IV 16 in clear, AES-ECB under SK of the key 16."""
    value = _required(found, tags.ENCRYPTED_CONTENT_KEY, 32, "content key")
    return value[:16], unwrap_content_key(secrets.session_key, value[16:])


def _open_duration(found: dict[int, Block], secrets: RequestSecrets) -> Duration | None:
    """The value: lease 4, rental 4 (seconds), key type 4, reserved 4."""
    if tags.CONTENT_KEY_DURATION not in found:
        return None
    if not secrets.has_playback_state:
        raise CKCFault("a duration for a request without media playback state")
    if tags.OFFLINE_KEY in found:
        raise CKCFault("a duration beside an offline key")
    value = _required(found, tags.CONTENT_KEY_DURATION, 16, "duration")
    duration = Duration(*struct.unpack(">4I", value))
    if duration.key_type not in (tags.LEASE_ONLY, tags.RENTAL_ONLY, tags.LEASE_AND_RENTAL):
        raise CKCFault(f"key type {duration.key_type:08x} is none of a streaming licence")
    return duration


def _open_hdcp(found: dict[int, Block]) -> int | None:
    """The value: level 8, random bytes 8."""
    if tags.HDCP_ENFORCEMENT not in found:
        return None
    value = _required(found, tags.HDCP_ENFORCEMENT, 16, "HDCP")
    (level,) = struct.unpack_from(">Q", value)
    if level not in tags.HDCP_LEVELS:
        raise CKCFault(f"HDCP level {level:016x}")
    return level


def _check_strictly(opened: OpenedCKC, secrets: RequestSecrets) -> None:
    echo_count = len(secrets.echoes)
    own = opened.blocks[: len(opened.blocks) - echo_count]
    last_tags = [block.tag for block in opened.blocks[len(own) :]]
    if last_tags != [block.tag for block in secrets.echoes]:
        raise CKCFault("the echoes are not the last blocks")
    expected = {tags.ENCRYPTED_CONTENT_KEY, tags.R1, tags.CONTENT_KEY_DURATION, tags.HDCP_ENFORCEMENT}
    for block in own:
        if block.tag not in expected:
            raise CKCFault(f"block {block.tag:016x} was not asked for")
        if len(block.padding) > EXTRA_PADDING_MAXIMUM:
            raise CKCFault(f"block {block.tag:016x} has {len(block.padding)} bytes of padding")
        if len(block.padding) >= CONSTANT_PADDING_MINIMUM and len(set(block.padding)) == 1:
            raise CKCFault(f"the padding of block {block.tag:016x} is constant")
    duration = opened.duration
    if duration is not None and duration.reserved != tags.DURATION_RESERVED_WORD:
        raise CKCFault(f"reserved word {duration.reserved:08x} in the duration")
    if duration is not None and 0xFFFFFFFF in (duration.lease_field, duration.rental_field):
        raise CKCFault("a duration of 2^32-1 seconds means no limit to other implementations")

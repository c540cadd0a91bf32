"""The device: opens a Content Key Context and checks everything that a device can check.

    offset  size  field
         0     4  version: 1, or 2 if an external module made it with the video session key
         4     4  reserved; devices ignore it, a server that follows the protocol sends 0
         8    16  initialization vector
        24     4  payload length N, a multiple of 16
        28     N  AES-CBC encrypted blocks
"""

import struct
from dataclasses import dataclass

from . import tags
from .license import NO_LIMIT, OfflineKey, Persistent, Streaming, Terms
from .session_keys import aes_cbc_decrypt, ckc_payload_key, unwrap_content_key
from .spc import RequestSecrets
from .tllv import Block, FramingError, by_tag, parse

HEADER_SIZE = 28
EXTRA_PADDING_MAXIMUM = 3 * 16 + 15
# Padding of so many bytes that are all equal comes from a random generator at most once in 2^24 CKCs.
CONSTANT_PADDING_MINIMUM = 4
NO_LIMIT_ELSEWHERE = 0xFFFFFFFF
OFFLINE_KEY_SIZES = {1: 32, 2: 48}


class CKCFault(Exception):
    """The CKC is not what a device accepts, or not what a careful server sends by the protocol."""


@dataclass(frozen=True)
class Duration:
    """The content key duration block with its fields unchanged: how long a device may use or keep the key."""

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

    @property
    def terms(self) -> Terms:
        if self.key_type == tags.PERSISTENT:
            return Persistent()
        if self.key_type == tags.PERSISTENT_LIMITED:
            return Persistent(self.rental_field)
        return Streaming(self.lease_seconds, self.rental_seconds)


@dataclass(frozen=True)
class OpenedCKC:
    version: int
    content_key: bytes
    content_iv: bytes
    duration: Duration | None
    offline_key: OfflineKey | None
    hdcp_level: int | None
    security_level: int | None
    session_key_version: int | None
    initialization_vector: bytes
    reserved: int
    blocks: tuple[Block, ...]

    @property
    def terms(self) -> Terms:
        if self.offline_key is not None:
            return self.offline_key
        return Streaming() if self.duration is None else self.duration.terms

    @property
    def is_persistent(self) -> bool:
        return not isinstance(self.terms, Streaming)


def open_ckc(
    message: bytes, secrets: RequestSecrets, *, strict: bool = True, from_module: bool = False
) -> OpenedCKC:
    """What the CKC grants; raises `CKCFault` for anything wrong in it.

    `strict` also refuses what devices accept but a careful server does not send:

    - a reserved word that is not zero, or another reserved word in the duration
    - echoes with changed padding, or echoes that are not the last blocks
    - constant or excessive padding in the server's own blocks
    - a limit that limits nothing
    - an offline key of a version that the device did not say it can read
    - blocks that the request did not ask for

    Apple's sample CKCs pass without `strict`. `from_module` says that an external module made the content key block.
    Only such a CKC says which session key was used.
    """
    version, reserved, initialization_vector, encrypted = _open_container(message)
    session_key, r1 = _session_keys(version, secrets)
    try:
        blocks = parse(aes_cbc_decrypt(ckc_payload_key(r1, secrets.anti_replay_seed), initialization_vector, encrypted))
        found = by_tag(blocks)
    except FramingError as error:
        raise CKCFault(f"payload: {error}") from error

    if _required(found, tags.R1, 44, "R1") != r1:
        raise CKCFault("R1 is not the one of the request")
    _check_echoes(blocks, found, secrets)
    content_iv, content_key = _open_content_key(found, session_key)
    opened = OpenedCKC(
        version=version,
        content_key=content_key,
        content_iv=content_iv,
        duration=_open_duration(found, secrets),
        offline_key=_open_offline_key(found),
        hdcp_level=_open_hdcp(found),
        security_level=_open_security_level(found),
        session_key_version=_open_session_key_version(found),
        initialization_vector=initialization_vector,
        reserved=reserved,
        blocks=tuple(blocks),
    )
    _check_session_key_version(opened)
    if strict:
        if reserved != 0:
            raise CKCFault(f"reserved word {reserved:08x}")
        _check_padding_of_echoes(found, secrets)
        _check_layout(opened, secrets)
        _check_duration(opened.duration)
        _check_offline_key(opened.offline_key, secrets)
        if from_module != (opened.session_key_version is not None):
            raise CKCFault(f"session key version {opened.session_key_version}, from a module: {from_module}")
    return opened


def _open_container(message: bytes) -> tuple[int, int, bytes, bytes]:
    if len(message) < HEADER_SIZE:
        raise CKCFault(f"{len(message)} bytes are too few for a CKC")
    version, reserved = struct.unpack_from(">II", message)
    (payload_length,) = struct.unpack_from(">I", message, 24)
    if version not in (1, 2):
        raise CKCFault(f"version {version}")
    if payload_length != len(message) - HEADER_SIZE:
        raise CKCFault(f"payload length {payload_length}, but {len(message) - HEADER_SIZE} bytes follow")
    if payload_length == 0 or payload_length % 16 != 0:
        raise CKCFault(f"payload length {payload_length} is not a positive multiple of 16")
    return version, reserved, message[8:24], message[HEADER_SIZE:]


def _session_keys(version: int, secrets: RequestSecrets) -> tuple[bytes, bytes]:
    """Session key and R1 of this CKC. Version 2 uses those of the video session."""
    if version == 1:
        return secrets.session_key, secrets.r1
    if secrets.video is None:
        raise CKCFault("version 2 for a request without a session key for video")
    return secrets.video.session_key, secrets.video.r1


def _required(found: dict[int, Block], tag: int, size: int, name: str) -> bytes:
    block = found.get(tag)
    if block is None:
        raise CKCFault(f"no {name} block")
    if len(block.value) != size:
        raise CKCFault(f"{name} of {len(block.value)} bytes instead of {size}")
    return block.value


def _check_echoes(blocks: list[Block], found: dict[int, Block], secrets: RequestSecrets) -> None:
    """Each requested block comes back with its value, in the order of the request."""
    for wanted in secrets.echoes:
        if wanted.tag not in found:
            raise CKCFault(f"requested block {wanted.tag:016x} is missing")
        if found[wanted.tag].value != wanted.value:
            raise CKCFault(f"requested block {wanted.tag:016x} is altered")
    wanted_tags = [block.tag for block in secrets.echoes]
    if [block.tag for block in blocks if block.tag in wanted_tags] != wanted_tags:
        raise CKCFault("requested blocks are not in the order of the request")


def _check_padding_of_echoes(found: dict[int, Block], secrets: RequestSecrets) -> None:
    for wanted in secrets.echoes:
        if found[wanted.tag].encoded != wanted.encoded:
            raise CKCFault(f"requested block {wanted.tag:016x} is altered: its padding differs")


def _open_content_key(found: dict[int, Block], session_key: bytes) -> tuple[bytes, bytes]:
    """Content IV and content key.

    The value is the IV, 16 bytes in clear, and the key, 16 bytes under AES-ECB with SK.
    """
    value = _required(found, tags.ENCRYPTED_CONTENT_KEY, 32, "content key")
    return value[:16], unwrap_content_key(session_key, value[16:])


def _open_duration(found: dict[int, Block], secrets: RequestSecrets) -> Duration | None:
    """The value: lease 4, rental 4 (seconds), key type 4, reserved 4."""
    if tags.CONTENT_KEY_DURATION not in found:
        return None
    if not secrets.has_playback_state:
        raise CKCFault("a duration for a request without media playback state")
    if tags.OFFLINE_KEY in found:
        raise CKCFault("a duration beside an offline key")
    duration = Duration(*struct.unpack(">4I", _required(found, tags.CONTENT_KEY_DURATION, 16, "duration")))
    if duration.key_type not in tags.STREAMING_KEY_TYPES + tags.PERSISTENT_KEY_TYPES:
        raise CKCFault(f"key type {duration.key_type:08x}")
    return duration


def _open_offline_key(found: dict[int, Block]) -> OfflineKey | None:
    """The value: version 4, zero 4, identifier 16, storage 4, playback 4 (seconds), and of version 2 title id 16."""
    block = found.get(tags.OFFLINE_KEY)
    if block is None:
        return None
    if len(block.value) < 8:
        raise CKCFault(f"offline key of {len(block.value)} bytes")
    version, reserved = struct.unpack_from(">II", block.value)
    if version not in OFFLINE_KEY_SIZES:
        raise CKCFault(f"offline key of version {version}")
    if reserved != 0:
        raise CKCFault(f"reserved word {reserved:08x} in the offline key")
    value = _required(found, tags.OFFLINE_KEY, OFFLINE_KEY_SIZES[version], f"offline key of version {version}")
    identifier, storage, playback = struct.unpack_from(">16sII", value, 8)
    return OfflineKey(
        identifier=identifier,
        storage=None if storage == NO_LIMIT else storage,
        playback=None if playback == NO_LIMIT else playback,
        title_id=value[32:] if version == 2 else None,
    )


def _open_hdcp(found: dict[int, Block]) -> int | None:
    """The value: level 8, random bytes 8."""
    if tags.HDCP_ENFORCEMENT not in found:
        return None
    value = _required(found, tags.HDCP_ENFORCEMENT, 16, "HDCP")
    (level,) = struct.unpack_from(">Q", value)
    if level not in tags.HDCP_LEVELS:
        raise CKCFault(f"HDCP level {level:016x}")
    return level


def _open_security_level(found: dict[int, Block]) -> int | None:
    return _open_versioned_word(found, tags.REQUIRED_SECURITY_LEVEL, "required security level", tags.SECURITY_LEVELS)


def _open_session_key_version(found: dict[int, Block]) -> int | None:
    versions = (tags.SESSION_KEY_GENERIC, tags.SESSION_KEY_VIDEO)
    return _open_versioned_word(found, tags.SESSION_KEY_VERSION_USED, "session key version", versions)


def _open_versioned_word(found: dict[int, Block], tag: int, name: str, known: tuple[int, ...]) -> int | None:
    """The value: version 4, 1; reserved 4, 0; word 8."""
    if tag not in found:
        return None
    version, reserved, word = struct.unpack(">IIQ", _required(found, tag, 16, name))
    if (version, reserved) != (1, 0) or word not in known:
        raise CKCFault(f"{name} {version}, {reserved:08x}, {word:016x}")
    return word


def _check_session_key_version(opened: OpenedCKC) -> None:
    if (opened.version == 2) != (opened.session_key_version == tags.SESSION_KEY_VIDEO):
        raise CKCFault(f"CKC version {opened.version} does not match the session key version")


def _check_layout(opened: OpenedCKC, secrets: RequestSecrets) -> None:
    echo_count = len(secrets.echoes)
    own = opened.blocks[: len(opened.blocks) - echo_count]
    last_tags = [block.tag for block in opened.blocks[len(own) :]]
    if last_tags != [block.tag for block in secrets.echoes]:
        raise CKCFault("the echoes are not the last blocks")
    for block in own:
        if block.tag not in tags.OWN_BLOCKS_OF_CKC:
            raise CKCFault(f"block {block.tag:016x} was not asked for")
        if len(block.padding) > EXTRA_PADDING_MAXIMUM:
            raise CKCFault(f"block {block.tag:016x} has {len(block.padding)} bytes of padding")
        if len(block.padding) >= CONSTANT_PADDING_MINIMUM and len(set(block.padding)) == 1:
            raise CKCFault(f"the padding of block {block.tag:016x} is constant")


def _check_duration(duration: Duration | None) -> None:
    """Checks that each field is a real limit if the key type uses it, and zero otherwise."""
    if duration is None:
        return
    if duration.reserved != tags.DURATION_RESERVED_WORD:
        raise CKCFault(f"reserved word {duration.reserved:08x} in the duration")
    lease_is_read = duration.key_type in (tags.LEASE_ONLY, tags.LEASE_AND_RENTAL)
    rental_is_read = duration.key_type in (tags.RENTAL_ONLY, tags.LEASE_AND_RENTAL, tags.PERSISTENT_LIMITED)
    for value, is_read in ((duration.lease_field, lease_is_read), (duration.rental_field, rental_is_read)):
        if is_read != (value != 0):
            raise CKCFault(f"{value} seconds with key type {duration.key_type:08x}")
        if value == NO_LIMIT_ELSEWHERE:
            raise CKCFault("a duration of 2^32-1 seconds means no limit to other implementations")


def _check_offline_key(offline_key: OfflineKey | None, secrets: RequestSecrets) -> None:
    """Checks that the device can read the offline key.

    Version 2 needs its own capability. Version 1 needs one only if the device sends its capabilities.
    """
    if offline_key is None:
        return
    if NO_LIMIT_ELSEWHERE in (offline_key.storage, offline_key.playback):
        raise CKCFault("2^32-1 seconds means no limit to other implementations")
    capabilities = secrets.capabilities
    if offline_key.version == 1:
        can_read = capabilities is None or capabilities & tags.CAPABILITY_OFFLINE_KEY != 0
    else:
        can_read = capabilities is not None and capabilities & tags.CAPABILITY_OFFLINE_KEY_V2 != 0
    if not can_read:
        raise CKCFault(f"an offline key of version {offline_key.version} for a device without that capability")

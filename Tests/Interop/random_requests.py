"""Random requests, rights and keys, in every combination that a device and a server may meet."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

from fairplay_device import tags
from fairplay_device.facts import (
    KEY_FORMAT_COUNT_MAXIMUM,
    NO_EXPIRY,
    SYNC_RECORD_COUNT_MAXIMUM,
    DenyListVersion,
    DeviceIdentity,
    DeviceInfo,
    EncryptedSecurityLevelReport,
    KeyFormats,
    NotSync,
    PlaybackState,
    SecurityLevelReport,
    SyncV1,
    SyncV2,
    VMDeviceInfo,
)
from fairplay_device.spc import SPCOptions
from fairplay_device.tllv import Padding
from license_policy import CONTENT_TYPE_OF_TRACK, HDCP_TYPES, LEVELS, ContentKey, Demand, Right

PLAYBACK_STATES = (
    tags.READY_TO_START,
    tags.PLAYING_OR_PAUSED,
    tags.LEASE_ABOUT_TO_EXPIRE,
    tags.PLAYBACK_STOPPED,
    0x12345678,
)
Value = TypeVar("Value")

SECONDS = (1, 120, 3600, 172_800, 2_592_000, 0xFFFFFFFE)


@contextmanager
def named_on_failure(what: str, *parts: object) -> Iterator[None]:
    """Adds the given parts to an error that leaves the context, so that it tells which of many requests failed."""
    try:
        yield
    except Exception as error:
        error.add_note("\n    ".join([what, *map(repr, parts)]))
        raise


def random_options(randomness: random.Random, asset_id: bytes) -> SPCOptions:
    """Random options of a request for a key, from any kind of device."""
    unknown = tuple(
        (randomness.getrandbits(64), randomness.randbytes(randomness.randrange(100)))
        for _ in range(randomness.randrange(28))
    )
    options = SPCOptions(
        asset_id,
        transaction_id=randomness.getrandbits(64),
        protocol_versions_supported=randomness.choice([(1,), (1, 2), (2, 1), (3, 2, 1)]),
        streaming_indicator=_maybe(
            randomness, randomness.choice([0, randomness.getrandbits(64), tags.STREAMING_TO_AIRPLAY])
        ),
        playback_state=_maybe(randomness, random_playback_state(randomness), absent=0.3),
        capabilities=_random_capabilities(randomness),
        device_identity=_maybe(randomness, _random_identity(randomness)),
        device_info=_maybe(
            randomness, DeviceInfo(randomness.choice(tags.DEVICE_TYPES), randomness.getrandbits(24))
        ),
        deny_list_version=_maybe(randomness, DenyListVersion(randomness.choice([0, 1, 30, 31, 40])), absent=0.7),
        security_level_report=_random_report(randomness),
        key_formats=_maybe(randomness, _random_key_formats(randomness)),
        vm_device_info=_maybe(randomness, _random_vm_info(randomness)),
        sync=randomness.choice([None, NotSync(), NotSync(3)]),
        video=randomness.random() < 0.3,
        unknown_blocks=unknown,
        padding=randomness.choice(list(Padding)),
        shuffled=randomness.random() < 0.9,
    )
    return with_random_return_request(randomness, options)


def with_random_return_request(randomness: random.Random, options: SPCOptions) -> SPCOptions:
    """The request with a return request for some of its own blocks, sometimes with one block named twice."""
    never = {tags.RETURN_REQUEST, *tags.OWN_BLOCKS_OF_CKC}
    echoable = [tag for tag, _ in options.values() if tag not in never]
    return replace(
        options, return_request=tuple(randomness.choices(echoable, k=randomness.randrange(len(echoable) + 1)))
    )


def random_playback_state(randomness: random.Random) -> PlaybackState:
    return PlaybackState(
        randomness.getrandbits(32), randomness.choice(PLAYBACK_STATES), randomness.getrandbits(64)
    )


def random_sync(randomness: random.Random, challenge: int = 0) -> SyncV1 | SyncV2:
    duration = randomness.choice([0, 1, 3600, 2_591_995, NO_EXPIRY - 1, NO_EXPIRY])
    if randomness.random() < 0.3:
        return SyncV1(randomness.randbytes(16), duration)
    flags = randomness.choices(tags.SYNC_FLAGS, k=randomness.randint(1, len(tags.SYNC_FLAGS)))
    count = randomness.choice([0, 1, 2, randomness.randint(0, SYNC_RECORD_COUNT_MAXIMUM), SYNC_RECORD_COUNT_MAXIMUM])
    return SyncV2(
        challenge=challenge,
        flags=_any_of(flags),
        title_id=randomness.randbytes(16),
        duration=duration,
        stream_ids=tuple(randomness.randbytes(16) for _ in range(count)),
        reserved=randomness.choice([0, randomness.getrandbits(32)]),
    )


def random_right(randomness: random.Random, key: ContentKey) -> Right:
    """A random right: to stream, to keep a license, or both."""
    mode = randomness.choice(["stream", "offline", "both", "both"])
    return Right(
        mode=mode,
        lease=_maybe(randomness, randomness.choice(SECONDS), absent=0.6),
        rental=_maybe(randomness, randomness.choice(SECONDS), absent=0.6),
        storage=None if mode == "stream" else _maybe(randomness, randomness.choice(SECONDS)),
        playback=None if mode == "stream" else _maybe(randomness, randomness.choice(SECONDS)),
        demand=random_demand(randomness),
        tracks={} if key.track is None else randomness.choice([{}, {key.track: random_demand(randomness)}]),
    )


def random_demand(randomness: random.Random) -> Demand:
    return Demand(
        hdcp=_maybe(randomness, randomness.choice(HDCP_TYPES), absent=0.7),
        security_level=_maybe(randomness, randomness.choice(list(LEVELS)), absent=0.7),
    )


def random_content_key(randomness: random.Random) -> ContentKey:
    track = randomness.choice([None, *CONTENT_TYPE_OF_TRACK, "STEREO", "EXTRAS-4K"])
    needs_type = track is not None and track not in CONTENT_TYPE_OF_TRACK
    return ContentKey(
        key_id=randomness.randbytes(16),
        key=randomness.randbytes(16),
        iv=randomness.randbytes(16),
        track=track,
        content_type=randomness.choice(list(CONTENT_TYPE_OF_TRACK.values())) if needs_type else None,
        demand=randomness.choice([Demand(), random_demand(randomness)]),
    )


def _maybe(randomness: random.Random, value: Value, absent: float = 0.5) -> Value | None:
    return None if randomness.random() < absent else value


def _any_of(bits: list[int]) -> int:
    combined = 0
    for bit in bits:
        combined |= bit
    return combined


def _random_capabilities(randomness: random.Random) -> int | None:
    return randomness.choice(
        [
            None,
            0,
            randomness.getrandbits(6),
            randomness.getrandbits(6),
            randomness.getrandbits(128),
            tags.CAPABILITY_HDCP_TYPE_1 | tags.CAPABILITY_OFFLINE_KEY,
            tags.CAPABILITY_HDCP_TYPE_1 | tags.CAPABILITY_OFFLINE_KEY_V2 | tags.CAPABILITY_LEVEL_MAIN,
        ]
    )


def _random_identity(randomness: random.Random) -> DeviceIdentity:
    return DeviceIdentity(
        version=1,
        device_class=randomness.choice(tags.DEVICE_CLASSES),
        vendor_hash=randomness.randbytes(8),
        product_hash=randomness.randbytes(8),
        open_part_version=randomness.getrandbits(32),
        trusted_part_version=randomness.getrandbits(32),
        system_version=randomness.getrandbits(24),
    )


def _random_report(randomness: random.Random) -> SecurityLevelReport | EncryptedSecurityLevelReport | None:
    level = randomness.choice(list(LEVELS.values()))
    deny_list_version = randomness.choice([0, 30, 31])
    return randomness.choice(
        [
            None,
            SecurityLevelReport(level, deny_list_version),
            SecurityLevelReport(level),
            SecurityLevelReport(tags.LEVEL_MAIN, 31),
            SecurityLevelReport(1, 1, version=2),
            EncryptedSecurityLevelReport(randomness.randbytes(32)),
        ]
    )


def _random_key_formats(randomness: random.Random) -> KeyFormats:
    others = (randomness.getrandbits(64) for _ in range(randomness.randrange(KEY_FORMAT_COUNT_MAXIMUM)))
    return KeyFormats((tags.KEY_FORMAT_16_BYTES, *others))


def _random_vm_info(randomness: random.Random) -> VMDeviceInfo:
    return VMDeviceInfo(randomness.randrange(2), *(randomness.getrandbits(32) for _ in range(6)))

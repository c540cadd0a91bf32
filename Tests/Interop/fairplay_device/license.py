"""What a license grants: a content key, and the terms of its use. Each kind of terms has its own type.

Durations are in seconds, and `None` means no limit.
"""

import struct
from dataclasses import dataclass

from . import tags

# In an offline key block.
NO_LIMIT = 0


@dataclass(frozen=True)
class Streaming:
    """Terms for streaming.

    Playback stops when `lease` ends, unless it is renewed. Playback may begin until `rental` ends.
    """

    lease: int | None = None
    rental: int | None = None

    def block(self) -> tuple[int, bytes] | None:
        """Tag and value of the block with these limits, or `None` if there is no limit."""
        if self.lease is None and self.rental is None:
            return None
        key_type = {
            (True, False): tags.LEASE_ONLY,
            (False, True): tags.RENTAL_ONLY,
            (True, True): tags.LEASE_AND_RENTAL,
        }[(self.lease is not None, self.rental is not None)]
        return tags.CONTENT_KEY_DURATION, duration_value(self.lease or 0, self.rental or 0, key_type)


@dataclass(frozen=True)
class Persistent:
    """Terms to keep a license on a device that knows only one limit: `storage`, which counts from the grant."""

    storage: int | None = None

    def block(self) -> tuple[int, bytes]:
        if self.storage is None:
            return tags.CONTENT_KEY_DURATION, duration_value(0, 0, tags.PERSISTENT)
        return tags.CONTENT_KEY_DURATION, duration_value(0, self.storage, tags.PERSISTENT_LIMITED)


@dataclass(frozen=True)
class OfflineKey:
    """Terms to keep a license with two limits: `storage` until playback first begins, then `playback`.

    `identifier` is the content id of version 1 and the stream id of version 2; version 2 also has a `title_id`.
    """

    identifier: bytes
    storage: int | None = None
    playback: int | None = None
    title_id: bytes | None = None

    @property
    def version(self) -> int:
        return 1 if self.title_id is None else 2

    def block(self) -> tuple[int, bytes]:
        """The value: version 4, zero 4, identifier 16, storage 4, playback 4, and of version 2 the title id 16."""
        storage = NO_LIMIT if self.storage is None else self.storage
        playback = NO_LIMIT if self.playback is None else self.playback
        value = struct.pack(">II16sII", self.version, 0, self.identifier, storage, playback)
        return tags.OFFLINE_KEY, value + (self.title_id or b"")


Terms = Streaming | Persistent | OfflineKey


@dataclass(frozen=True)
class License:
    """What a CKC contains. Only answers of an external module have a `session_key_version`."""

    content_key: bytes
    content_iv: bytes
    terms: Terms = Streaming()
    hdcp_level: int | None = None
    security_level: int | None = None
    session_key_version: int | None = None


def duration_value(lease: int, rental: int, key_type: int) -> bytes:
    return struct.pack(">4I", lease, rental, key_type, tags.DURATION_RESERVED_WORD)

"""Content keys as a packager gets them."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Key:
    """A content key with everything that a packager needs; `track` is VIDEO or AUDIO."""

    content: str
    track: str
    key_id: bytes
    url: str
    iv: bytes
    key: bytes = field(repr=False)

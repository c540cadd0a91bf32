"""Content keys as a packager gets them."""

import json
import uuid
from dataclasses import dataclass, field
from pathlib import Path

from deployment import run_latchkey


@dataclass(frozen=True)
class Key:
    """A content key with everything that a packager needs; `track` is VIDEO or AUDIO."""

    content: str
    track: str
    key_id: bytes
    url: str
    iv: bytes
    key: bytes = field(repr=False)


def create(setup: Path, content: str, track: str) -> Key:
    """A key that `latchkey keys create` makes and prints."""
    content_type = "audio" if track == "AUDIO" else "sd"
    printed = json.loads(
        run_latchkey(
            setup,
            *("keys", "create", "--content", content, "--track", track, "--content-type", content_type),
            *("--reveal", "--json"),
        )
    )
    return Key(
        content=content,
        track=track,
        key_id=uuid.UUID(printed["kid"]).bytes,
        url=printed["url"],
        iv=bytes.fromhex(printed["iv"]),
        key=bytes.fromhex(printed["key"]),
    )

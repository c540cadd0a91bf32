"""Reads how media are encrypted from their boxes `schm` and `tenc` (ISO/IEC 14496-12 and 23001-7)."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

# The size of a box header, and the number of bytes before the inner boxes: 0, or the fields of the outer box.
HEADER_SIZE = 8
CONTAINERS = {
    **dict.fromkeys(("moov", "trak", "mdia", "minf", "stbl", "sinf", "schi"), 0),
    **{"stsd": 8, "encv": 78, "enca": 28},
}
IV_SIZE = 16


@dataclass(frozen=True)
class Box:
    """The kind of a box, and the range of its payload in the media."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True)
class TrackEncryption:
    """How a track is encrypted. The pattern has the numbers of encrypted and clear blocks, or is (0, 0)."""

    scheme: str
    key_id: bytes
    iv: bytes
    pattern: tuple[int, int]
    iv_offset: int


def boxes(media: bytes, start: int, end: int) -> Iterator[Box]:
    """Every box of a range, with the inner boxes. Bytes that are not a whole box are an error."""
    while start < end:
        size, kind = struct.unpack_from(">I4s", media, start)
        assert HEADER_SIZE <= size <= end - start, f"a box of {size} bytes at {start}, before {end}"
        box = Box(kind.decode("latin-1"), start + HEADER_SIZE, start + size)
        yield box
        if box.kind in CONTAINERS:
            yield from boxes(media, box.start + CONTAINERS[box.kind], box.end)
        start = box.end


def track_encryption(media: bytes) -> TrackEncryption:
    """The encryption of media with one encrypted track, whose samples all have the same IV."""
    found = [box for box in boxes(media, 0, len(media)) if box.kind in ("schm", "tenc")]
    scheme, track = sorted(found, key=lambda box: box.kind)
    version, pattern, is_protected, iv_size = struct.unpack_from(">B4xBBB", media, track.start)
    assert (version, is_protected, iv_size) == (1, 1, 0)
    key_id = media[track.start + 8 : track.start + 24]
    assert media[track.start + 24] == IV_SIZE and track.end - track.start == 25 + IV_SIZE
    return TrackEncryption(
        scheme=media[scheme.start + 4 : scheme.start + 8].decode("ascii"),
        key_id=key_id,
        iv=media[track.end - IV_SIZE : track.end],
        pattern=(pattern >> 4, pattern & 0x0F),
        iv_offset=track.end - IV_SIZE,
    )


def with_iv(media: bytes, iv: bytes) -> bytes:
    """The media with another constant IV. Devices use the IV of the license, but ffmpeg uses the IV in the media."""
    assert len(iv) == IV_SIZE
    offset = track_encryption(media).iv_offset
    return media[:offset] + iv + media[offset + IV_SIZE :]

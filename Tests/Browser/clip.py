"""Makes a short clip for tests: H.264 in fragmented MP4, encrypted by the scheme `cbcs`, with a playlist.

Each frame contains its samples without compression (I_PCM macroblocks), so that no encoder is needed and every pixel is
known. The left and the right half have different greys, which change with each frame. Sources: ITU-T H.264 (7.3),
ISO/IEC 14496-12, 14496-15 and 23001-7.
"""

import struct
from dataclasses import dataclass

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

WIDTH = 64
HEIGHT = 48
FRAMES_PER_SECOND = 24
FRAMES_PER_SEGMENT = 12
SEGMENT_COUNT = 3
FRAME_COUNT = FRAMES_PER_SEGMENT * SEGMENT_COUNT
BLOCK_SIZE = 16
# One of ten blocks is encrypted.
PATTERN = (1, 9)
# Length, NAL header and slice header of a frame are not encrypted.
CLEAR_SIZE = 16
KEY_FORMAT = 'KEYFORMAT="com.apple.streamingkeydelivery",KEYFORMATVERSIONS="1"'


def greys(frame: int) -> tuple[int, int]:
    """Luma of the left and of the right half of a frame, from 16 (black) to 235 (white)."""
    return 40 + 5 * frame, 220 - 5 * frame


# --- H.264 -----------------------------------------------------------------------------------------------------------


class Bits:
    """Writes bits, most significant first."""

    def __init__(self) -> None:
        self._text: list[str] = []

    def fixed(self, value: int, size: int) -> "Bits":
        self._text.append(format(value, f"0{size}b"))
        return self

    def exp_golomb(self, *values: int) -> "Bits":
        """Writes each value as ue(v). A signed value of 0 has the same bits."""
        for value in values:
            self._text.append(format(value + 1, "b").zfill(2 * (value + 1).bit_length() - 1))
        return self

    def aligned(self, stop_bit: bool) -> bytes:
        text = "".join(self._text) + ("1" if stop_bit else "")
        text += "0" * (-len(text) % 8)
        return int(text, 2).to_bytes(len(text) // 8, "big")


def nal_unit(header: int, payload: bytes) -> bytes:
    """Adds emulation prevention: no byte below 4 follows two zero bytes."""
    escaped = bytearray([header])
    zeros = 0
    for byte in payload:
        if zeros >= 2 and byte <= 3:
            escaped.append(3)
            zeros = 0
        escaped.append(byte)
        zeros = zeros + 1 if byte == 0 else 0
    return bytes(escaped)


def sequence_parameters() -> bytes:
    bits = Bits().fixed(66, 8).fixed(0xC0, 8).fixed(30, 8)
    # Id, size of frame numbers, order type 2 (decoding order), reference frames, no gaps.
    bits.exp_golomb(0, 0, 2, 1).fixed(0, 1).exp_golomb(WIDTH // 16 - 1, HEIGHT // 16 - 1)
    # Only frames (no fields), direct inference, no cropping, no usability information.
    return nal_unit(0x67, bits.fixed(0b1100, 4).aligned(stop_bit=True))


def picture_parameters() -> bytes:
    # Ids, CAVLC, no field order, one slice group, reference lists, no weights, three offsets of 0, and deblocking
    # control.
    bits = Bits().exp_golomb(0, 0).fixed(0, 2).exp_golomb(0, 0, 0).fixed(0, 3).exp_golomb(0, 0, 0).fixed(0b100, 3)
    return nal_unit(0x68, bits.aligned(stop_bit=True))


def picture(frame: int) -> bytes:
    """One IDR picture. A macroblock has its type (25, I_PCM), alignment, and 256 luma and 128 chroma samples."""
    # First macroblock, slice type I, parameter set, frame number, IDR id, no memory marks, quantizer, no deblocking.
    header = Bits().exp_golomb(0, 7, 0).fixed(0, 4).exp_golomb(frame % 2).fixed(0, 2).exp_golomb(0, 1)
    left, right = greys(frame)
    payload = bytearray()
    for index in range(WIDTH // 16 * (HEIGHT // 16)):
        luma = left if index % (WIDTH // 16) < WIDTH // 32 else right
        start = (header if index == 0 else Bits()).exp_golomb(25).aligned(stop_bit=False)
        payload += start + bytes([luma]) * 256 + bytes([128]) * 128
    return nal_unit(0x65, bytes(payload) + b"\x80")


# --- cbcs ------------------------------------------------------------------------------------------------------------


def encrypt_sample(sample: bytes, key: bytes, iv: bytes) -> bytes:
    """AES-CBC over the encrypted blocks of the pattern. An incomplete block at the end is not encrypted."""
    crypt, skip = PATTERN
    encrypted = bytearray(sample)
    encryptor = Cipher(algorithms.AES(key), modes.CBC(iv)).encryptor()
    for index in range((len(sample) - CLEAR_SIZE) // BLOCK_SIZE):
        if index % (crypt + skip) < crypt:
            start = CLEAR_SIZE + index * BLOCK_SIZE
            encrypted[start : start + BLOCK_SIZE] = encryptor.update(sample[start : start + BLOCK_SIZE])
    return bytes(encrypted)


# --- MP4 -------------------------------------------------------------------------------------------------------------


def box(kind: str, *parts: bytes) -> bytes:
    body = b"".join(parts)
    return struct.pack(">I4s", 8 + len(body), kind.encode()) + body


def full_box(kind: str, version: int, flags: int, *parts: bytes) -> bytes:
    return box(kind, struct.pack(">I", version << 24 | flags), *parts)


MATRIX = struct.pack(">9I", 0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)


def protection(key_id: bytes, iv: bytes) -> bytes:
    """The `sinf` box: AVC, encrypted by the scheme cbcs, with one key and one constant initialization vector."""
    tenc = struct.pack(">BBBB", 0, PATTERN[0] << 4 | PATTERN[1], 1, 0) + key_id + bytes([len(iv)]) + iv
    return box(
        "sinf",
        box("frma", b"avc1"),
        full_box("schm", 0, 0, b"cbcs", struct.pack(">I", 0x10000)),
        box("schi", full_box("tenc", 1, 0, tenc)),
    )


def init_segment(key_id: bytes, iv: bytes) -> bytes:
    sps, pps = sequence_parameters(), picture_parameters()
    avcc = bytes([1, *sps[1:4], 0xFF, 0xE1]) + struct.pack(">H", len(sps)) + sps
    avcc += b"\x01" + struct.pack(">H", len(pps)) + pps
    entry = struct.pack(">6xH16xHHIII H32xHh", 1, WIDTH, HEIGHT, 0x480000, 0x480000, 0, 1, 24, -1)
    sample_table = box(
        "stbl",
        full_box("stsd", 0, 0, struct.pack(">I", 1), box("encv", entry, box("avcC", avcc), protection(key_id, iv))),
        *(full_box(kind, 0, 0, bytes(4)) for kind in ("stts", "stsc", "stco")),
        full_box("stsz", 0, 0, bytes(8)),
    )
    media = box(
        "mdia",
        full_box("mdhd", 0, 0, struct.pack(">IIIIHH", 0, 0, FRAMES_PER_SECOND, 0, 0x55C4, 0)),
        full_box("hdlr", 0, 0, struct.pack(">I4s12x", 0, b"vide"), b"clip\0"),
        box(
            "minf",
            full_box("vmhd", 0, 1, bytes(8)),
            box("dinf", full_box("dref", 0, 0, struct.pack(">I", 1), full_box("url ", 0, 1))),
            sample_table,
        ),
    )
    track = full_box(
        "tkhd",
        0,
        3,
        struct.pack(">IIIII8xhhhH", 0, 0, 1, 0, 0, 0, 0, 0, 0),
        MATRIX,
        struct.pack(">II", WIDTH << 16, HEIGHT << 16),
    )
    movie = (
        struct.pack(">IIIIIH10x", 0, 0, FRAMES_PER_SECOND, 0, 0x10000, 0x0100)
        + MATRIX
        + bytes(24)
        + struct.pack(">I", 2)
    )
    return box("ftyp", b"iso6", bytes(4), b"iso6cmfc") + box(
        "moov",
        full_box("mvhd", 0, 0, movie),
        box("trak", track, media),
        box("mvex", full_box("trex", 0, 0, struct.pack(">IIIII", 1, 1, 1, 0, 0))),
    )


def media_segment(number: int, key: bytes, iv: bytes) -> bytes:
    """The segment with this number, from 0."""
    samples = []
    for frame in range(number * FRAMES_PER_SEGMENT, (number + 1) * FRAMES_PER_SEGMENT):
        nal = picture(frame)
        samples.append(encrypt_sample(struct.pack(">I", len(nal)) + nal, key, iv))
    count = len(samples)
    ranges = b"".join(struct.pack(">HHI", 1, CLEAR_SIZE, len(sample) - CLEAR_SIZE) for sample in samples)

    def fragment(data_offset: int, ranges_offset: int) -> bytes:
        sizes = b"".join(struct.pack(">I", len(sample)) for sample in samples)
        return box(
            "moof",
            full_box("mfhd", 0, 0, struct.pack(">I", number + 1)),
            box(
                "traf",
                full_box("tfhd", 0, 0x020000, struct.pack(">I", 1)),
                full_box("tfdt", 1, 0, struct.pack(">Q", number * FRAMES_PER_SEGMENT)),
                full_box("trun", 0, 0x201, struct.pack(">Ii", count, data_offset), sizes),
                full_box("saiz", 0, 0, struct.pack(">BI", 8, count)),
                full_box("saio", 0, 0, struct.pack(">II", 1, ranges_offset)),
                full_box("senc", 0, 2, struct.pack(">I", count), ranges),
            ),
        )

    # The last box of the fragment contains the ranges.
    size = len(fragment(0, 0))
    return fragment(size + 8, size - len(ranges)) + box("mdat", *samples)


# --- HLS -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Clip:
    """A clip. `iv_in_media` is the IV in the media; devices use the IV of the license."""

    key_id: bytes
    key: bytes
    iv: bytes
    key_uri: str | None
    iv_in_media: bytes

    @property
    def files(self) -> dict[str, tuple[str, bytes]]:
        """The content type and the content of each file, by name."""
        segments = {
            f"{number}.m4s": ("video/iso.segment", media_segment(number, self.key, self.iv))
            for number in range(SEGMENT_COUNT)
        }
        init = ("video/mp4", init_segment(self.key_id, self.iv_in_media))
        return {"clip.m3u8": ("application/vnd.apple.mpegurl", self.playlist.encode()), "init.mp4": init} | segments

    @property
    def playlist(self) -> str:
        key = f'#EXT-X-KEY:METHOD=SAMPLE-AES,URI="{self.key_uri}",{KEY_FORMAT}'
        seconds = FRAMES_PER_SEGMENT / FRAMES_PER_SECOND
        return "\n".join(
            [
                *("#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:1", "#EXT-X-PLAYLIST-TYPE:VOD"),
                *([key] if self.key_uri else []),
                '#EXT-X-MAP:URI="init.mp4"',
                *(line for number in range(SEGMENT_COUNT) for line in (f"#EXTINF:{seconds:.3f},", f"{number}.m4s")),
                *("#EXT-X-ENDLIST", ""),
            ]
        )

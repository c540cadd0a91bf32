"""Malformed SPCs made by rule: truncations, random bytes, and changes of one byte."""

import random
import struct
from collections.abc import Iterator

from fairplay_device import containers
from lengths import inputs
from workbench import (
    CERTIFICATE,
    CONTAINER,
    EMPTY,
    HASH_UNKNOWN,
    NOT_AN_SPC,
    REJECTED,
    Outcome,
    Workbench,
    flipped,
)

TRUNCATION_STEP = inputs(short=29, long=7)
BLOB_COUNT = inputs(short=100, long=500)
SHAPED_BLOB_COUNT = inputs(short=25, long=100)
FLIP_COUNT = inputs(short=200, long=1000)
FLIP_SEED = 1


def truncations(message: bytes) -> Iterator[tuple[str, bytes, tuple[Outcome, ...]]]:
    """The message, cut off at every `TRUNCATION_STEP`th byte."""
    for length in range(0, len(message), TRUNCATION_STEP):
        outcomes = (EMPTY,) if length == 0 else NOT_AN_SPC if length < 4 else (CONTAINER,)
        yield f"cut to {length} of {len(message)} bytes", message[:length], outcomes


def random_blobs(bench: Workbench, randomness: random.Random) -> Iterator[tuple[str, bytes, tuple[Outcome, ...]]]:
    """Random bytes, first unchanged, then with more and more correct header fields, so that they reach later checks."""
    for number in range(BLOB_COUNT):
        blob = randomness.randbytes(176 + 16 * randomness.randrange(200))
        starts_like_der = blob.startswith(b"\x30\x82")
        yield f"random blob {number}", blob, (CERTIFICATE,) if starts_like_der else NOT_AN_SPC
    for number in range(SHAPED_BLOB_COUNT):
        blob = randomness.randbytes(bench.header_size + 16 * randomness.randrange(2, 200))
        versioned = struct.pack(">I", bench.version) + blob[4:]
        yield f"random blob {number} with a version", versioned, (CONTAINER,)
        measured = _with_uuid_and_length(bench, versioned)
        yield f"random blob {number} with a version and a length", measured, (HASH_UNKNOWN,)
        known = measured[: bench.hash_offset] + bench.device.certificate_hash + measured[bench.length_offset :]
        yield f"random blob {number} with a known hash", known, (REJECTED,)
        yield f"random payload {number}", bench.sealed(blob[bench.header_size :]), (REJECTED,)


def _with_uuid_and_length(bench: Workbench, blob: bytes) -> bytes:
    """The blob with the transport UUID and the length that a container must have. The rest is unchanged."""
    length = len(blob) - bench.header_size - containers.INTEGRITY_TAG_SIZES[bench.version]
    field_of_length = length.to_bytes(containers.LENGTH_SIZES[bench.version], "big")
    measured = blob[: bench.length_offset] + field_of_length + blob[bench.header_size :]
    return measured[:8] + containers.TRANSPORT_UUID + measured[24:] if bench.version == 3 else measured


def flips(message: bytes) -> Iterator[tuple[str, bytes]]:
    """Copies of the message, each with one random byte changed.

    A strict key server decides what each must get.
    """
    randomness = random.Random(FLIP_SEED)
    for number in range(FLIP_COUNT):
        offset = randomness.randrange(len(message))
        mask = randomness.randrange(1, 256)
        yield f"flip {number}: byte {offset} xor {mask:#04x}", flipped(message, offset, mask)

"""TLLV framing: the blocks inside the encrypted payload of an SPC or a CKC.

    offset  size  field
         0     8  tag
         8     4  block length B: value and padding, a multiple of 16
        12     4  value length V, at most B
        16     V  value
      16+V   B-V  padding

Blocks follow one another without a gap until the payload ends. All integers are big-endian.
"""

import random
import struct
from dataclasses import dataclass
from enum import Enum

HEADER_SIZE = 16
ALIGNMENT = 16


class FramingError(ValueError):
    """The payload is not a sequence of whole blocks, or names a tag twice."""


@dataclass(frozen=True)
class Block:
    """One block, with the padding that was received or that it was given."""

    tag: int
    value: bytes
    padding: bytes = b""

    @property
    def encoded(self) -> bytes:
        block_length = len(self.value) + len(self.padding)
        return struct.pack(">QII", self.tag, block_length, len(self.value)) + self.value + self.padding


class Padding(Enum):
    """The amount and the content of a block's padding."""

    MINIMAL = "only up to the next multiple of 16"
    RANDOM = "random bytes, with 0 to 3 extra units of 16"
    GENEROUS = "random bytes, with up to 15 extra units of 16, as real clients do"
    ZEROS = "zero bytes, with 0 to 3 extra units of 16"

    def bytes_after(self, value_length: int, randomness: random.Random) -> bytes:
        extra_units = {Padding.MINIMAL: 0, Padding.GENEROUS: randomness.randrange(16)}.get(
            self, randomness.randrange(4)
        )
        size = -value_length % ALIGNMENT + extra_units * ALIGNMENT
        return bytes(size) if self is Padding.ZEROS else randomness.randbytes(size)


def padded_block(tag: int, value: bytes, randomness: random.Random, padding: Padding = Padding.RANDOM) -> Block:
    return Block(tag, value, padding.bytes_after(len(value), randomness))


def serialise(blocks: list[Block]) -> bytes:
    return b"".join(block.encoded for block in blocks)


def parse(payload: bytes) -> list[Block]:
    """Parses every block of the payload, in order. Raises `FramingError` if a length exceeds its limit."""
    blocks = []
    offset = 0
    while offset < len(payload):
        if len(payload) - offset < HEADER_SIZE:
            raise FramingError(f"{len(payload) - offset} bytes at {offset} are too few for a block header")
        tag, block_length, value_length = struct.unpack_from(">QII", payload, offset)
        body_start = offset + HEADER_SIZE
        if block_length % ALIGNMENT != 0:
            raise FramingError(f"block length {block_length} at {offset} is not a multiple of {ALIGNMENT}")
        if block_length > len(payload) - body_start:
            raise FramingError(f"block length {block_length} at {offset} passes the payload's end")
        if value_length > block_length:
            raise FramingError(f"value length {value_length} at {offset} exceeds block length {block_length}")
        value_end = body_start + value_length
        body_end = body_start + block_length
        blocks.append(Block(tag, payload[body_start:value_end], payload[value_end:body_end]))
        offset = body_end
    return blocks


def by_tag(blocks: list[Block]) -> dict[int, Block]:
    """The blocks by their tag; raises `FramingError` if a tag occurs twice."""
    found: dict[int, Block] = {}
    for block in blocks:
        if block.tag in found:
            raise FramingError(f"tag {block.tag:016x} occurs twice")
        found[block.tag] = block
    return found

"""SPCs with one thing wrong, each with the HTTP status and code that a daemon owes to it.

Two kinds. The named cases are written out by hand, with the answer that each must get. The bulk (truncations, random
blobs, one-byte flips) is made by rule from a printed seed.

Everything that fails after the certificate hash gets one answer, 422 `spc_rejected`. A few oddities are legal and
get a licence; they are here because a parser that is too strict refuses them.
"""

import random
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from fairplay_device import tags
from fairplay_device.credentials import Credential, sha1
from fairplay_device.key_server import KeyServer, key_server_without_private_keys
from fairplay_device.spc import Device, PlaybackState, SPCOptions
from fairplay_device.tllv import Block, Padding, serialise


@dataclass(frozen=True)
class Outcome:
    """An HTTP status and the stable code; 200 has none."""

    status: int
    code: str | None = None


LICENCE = Outcome(200)
EMPTY = Outcome(400, "body_empty")
CERTIFICATE = Outcome(400, "spc_is_certificate")
CONTAINER = Outcome(400, "spc_malformed")
VERSION = Outcome(400, "spc_version_unsupported")
UNRECOGNISED = Outcome(400, "body_unrecognised")
HASH_UNKNOWN = Outcome(422, "spc_certificate_unknown")
REJECTED = Outcome(422, "spc_rejected")
OTHER_CONTENT = Outcome(403, "content_mismatch")

# What is no SPC at all may be called by any of these names: `spc_malformed` when it is too short for a version word
# (which is what the daemon answers below 4 bytes), `spc_version_unsupported` when its first word is no version (what
# the daemon answers from 4 bytes on), and `body_unrecognised` by a reader that looks at shapes before versions.
NOT_AN_SPC = (CONTAINER, VERSION, UNRECOGNISED)


class Workbench:
    """One sound SPC, taken apart, so that one thing in it can be made wrong and the rest sealed again.

    All bodies of one workbench share their secrets; `yardstick` opens them without the private key.
    """

    def __init__(self, credential: Credential, device: Device, asset_id: bytes):
        randomness = device.randomness
        self.credential = credential
        self.device = device
        self.version = device.spc_version
        self.unknown_tag = randomness.getrandbits(64)
        self.options = SPCOptions(
            asset_id=asset_id,
            transaction_id=randomness.getrandbits(64),
            streaming_indicator=randomness.getrandbits(64),
            playback_state=PlaybackState(1_700_000_000, tags.READY_TO_START, randomness.getrandbits(64)),
            capabilities=tags.CAPABILITY_HDCP_TYPE_1 | tags.CAPABILITY_OFFLINE_KEY,
            unknown_blocks=(
                (self.unknown_tag, randomness.randbytes(20)),
                (tags.UNNAMED_IN_LEASE_REQUESTS, randomness.randbytes(8)),
                (randomness.getrandbits(64), b""),
                (randomness.getrandbits(64), randomness.randbytes(88)),
            ),
            return_request=(tags.ASSET_ID, tags.TRANSACTION_ID, tags.UNNAMED_IN_LEASE_REQUESTS),
            padding=Padding.GENEROUS,
        )
        self.session = device.start_session()
        self.blocks = device.blocks(self.session, self.options)
        self.payload = serialise(self.blocks)
        self.message = device.seal(self.session, self.payload)
        self.header_size = len(self.message) - len(self.payload)
        self.yardstick: KeyServer = key_server_without_private_keys(
            credential, {self.session.wrapped_payload_key: self.session.payload_key}
        )

    def sealed(self, payload: bytes) -> bytes:
        return self.device.seal(self.session, payload)

    def with_blocks(self, blocks: list[Block]) -> bytes:
        return self.sealed(serialise(blocks))

    def without(self, tag: int) -> bytes:
        return self.with_blocks([block for block in self.blocks if block.tag != tag])

    def with_options(self, **changes: object) -> bytes:
        """The request with other options; blocks that the session decides stay as they are."""
        changed = replace(self.options, **changes)
        return self.with_blocks(self.device.blocks(self.session, changed))

    def with_value(self, tag: int, value: bytes) -> bytes:
        """The block of `tag` with another value, minimally padded."""
        return self.with_blocks(
            [Block(tag, value, bytes(-len(value) % 16)) if block.tag == tag else block for block in self.blocks]
        )

    def with_value_size(self, tag: int, size: int) -> bytes:
        """The block of `tag` with its value cut, or lengthened by random bytes."""
        value = self.value_of(tag)
        return self.with_value(tag, (value + self.device.randomness.randbytes(size))[:size])

    def with_return_request(self, *requested: int, extra_blocks: tuple[tuple[int, bytes], ...] = ()) -> bytes:
        return self.with_options(
            return_request=requested, unknown_blocks=self.options.unknown_blocks + extra_blocks
        )

    def with_lengths(self, tag: int, *, block_length: int | None = None, value_length: int | None = None) -> bytes:
        """The payload with the lengths in one block's header overwritten, and nothing else."""
        payload = bytearray(self.payload)
        offset = self.offset_of(tag)
        if block_length is not None:
            struct.pack_into(">I", payload, offset + 8, block_length)
        if value_length is not None:
            struct.pack_into(">I", payload, offset + 12, value_length)
        return self.sealed(bytes(payload))

    def with_flipped_bit(self, offset: int) -> bytes:
        """The whole message with one bit inverted."""
        return flipped(self.message, offset, 0x01)

    def with_first_word(self, word: int) -> bytes:
        return struct.pack(">I", word) + self.message[4:]

    def value_of(self, tag: int) -> bytes:
        return self.block_of(tag).value

    def block_of(self, tag: int) -> Block:
        return next(block for block in self.blocks if block.tag == tag)

    def offset_of(self, tag: int) -> int:
        """Where the block's header starts in the payload."""
        before = self.blocks[: self.blocks.index(self.block_of(tag))]
        return sum(len(block.encoded) for block in before)


@dataclass(frozen=True)
class Case:
    """One body by name, and every answer that is right for it (nearly always one)."""

    name: str
    make: Callable[[Workbench], bytes]
    outcomes: tuple[Outcome, ...]
    versions: tuple[int, ...] = field(default=(1, 2))


def flipped(message: bytes, offset: int, mask: int) -> bytes:
    return message[:offset] + bytes([message[offset] ^ mask]) + message[offset + 1 :]


def _cases(outcome: Outcome | tuple[Outcome, ...], makers: dict[str, Callable[[Workbench], bytes]]) -> list[Case]:
    outcomes = outcome if isinstance(outcome, tuple) else (outcome,)
    return [Case(name, make, outcomes) for name, make in makers.items()]


def _seal_with(**overrides: object) -> Callable[[Workbench], bytes]:
    return lambda bench: bench.device.seal(bench.session, bench.payload, **overrides)


def _with_length_changed(change: int) -> Callable[[Workbench], bytes]:
    return lambda bench: bench.device.seal(bench.session, bench.payload, payload_length=len(bench.payload) + change)


# --- What is not an SPC, and containers that do not hold: no key is used ---------------------------------------------

NOT_SPCS = (
    _cases(EMPTY, {"empty body": lambda bench: b""})
    + _cases(
        CERTIFICATE,
        {
            "the certificate instead of an SPC": lambda bench: bench.device.certificate,
            "the bundle instead of an SPC": lambda bench: bench.credential.bundle,
            "only the start of a certificate": lambda bench: bench.device.certificate[:4],
        },
    )
    + _cases(
        NOT_AN_SPC,
        {
            "one byte": lambda bench: b"\x00",
            "three bytes": lambda bench: b"\x00\x00\x00",
            "short text": lambda bench: b"hello",
            "a sentence": lambda bench: b"This is not a Server Playback Context, whatever it says.",
        },
    )
)

CONTAINERS = (
    _cases(
        VERSION,
        {
            "version 0": lambda bench: bench.with_first_word(0),
            "version 3": lambda bench: bench.with_first_word(3),
            "version 4": lambda bench: bench.with_first_word(4),
            "version 9": lambda bench: bench.with_first_word(9),
            "version little-endian": lambda bench: bench.with_first_word(bench.version << 24),
            "version 2^32-1": lambda bench: bench.with_first_word(0xFFFFFFFF),
        },
    )
    + _cases(
        CONTAINER,
        {
            "the other version's first word": lambda bench: bench.with_first_word(3 - bench.version),
            "only a version": lambda bench: bench.message[:4],
            "truncated header": lambda bench: bench.message[: bench.header_size - 1],
            "truncated payload": lambda bench: bench.message[:-1],
            "payload cut by 16": lambda bench: bench.message[:-16],
            "one trailing byte": lambda bench: bench.message + b"\x00",
            "16 trailing bytes": lambda bench: bench.message + bytes(16),
            "64 trailing bytes": lambda bench: bench.message + bytes(64),
            "length +16": _with_length_changed(16),
            "length -16": _with_length_changed(-16),
            "length 2^32-1": _seal_with(payload_length=0xFFFFFFFF),
            "length 2^32-16": _seal_with(payload_length=0xFFFFFFF0),
            "length 2^31": _seal_with(payload_length=0x80000000),
            "zero length": _seal_with(payload_length=0),
            "unaligned length": _with_length_changed(-1),
            "unaligned length and payload": lambda bench: bench.sealed(bench.payload[:-8]),
            "payload of 8 bytes": lambda bench: bench.sealed(bench.payload[:8]),
            "empty payload": lambda bench: bench.sealed(b""),
        },
    )
)

# --- Credential: the hash is public, everything after it gives one answer --------------------------------------------

CREDENTIALS = _cases(
    HASH_UNKNOWN,
    {
        "unknown certificate hash": _seal_with(certificate_hash=bytes(range(20))),
        "certificate hash with one bit flipped": lambda bench: bench.with_flipped_bit(bench.header_size - 24),
        "hash of the other version's certificate": lambda bench: bench.device.seal(
            bench.session, bench.payload, certificate_hash=sha1(bench.credential.certificate(3 - bench.version))
        ),
    },
) + _cases(
    REJECTED,
    {
        "corrupted wrapped key": lambda bench: bench.with_flipped_bit(24 + 64),
        "wrapped key with its last bit flipped": lambda bench: bench.with_flipped_bit(bench.header_size - 25),
        "wrapped key of zeros": lambda bench: _with_wrapped_key(bench, b"\x00"),
        "wrapped key above the modulus": lambda bench: _with_wrapped_key(bench, b"\xff"),
        "wrapped key of 32 bytes": lambda bench: _with_payload_key_size(bench, 32),
        "wrapped key of 15 bytes": lambda bench: _with_payload_key_size(bench, 15),
        "wrapped key of no bytes": lambda bench: _with_payload_key_size(bench, 0),
        "another payload key": lambda bench: bench.device.seal(
            bench.session, bench.payload, wrapped_payload_key=bench.device.wrap(bytes(16))
        ),
    },
)
CREDENTIALS.append(
    Case(
        "bundle hash in version 2",
        lambda bench: bench.device.seal(
            bench.session, bench.payload, certificate_hash=sha1(bench.credential.bundle)
        ),
        (HASH_UNKNOWN,),
        versions=(2,),
    )
)


def _with_wrapped_key(bench: Workbench, byte: bytes) -> bytes:
    size = len(bench.session.wrapped_payload_key)
    return bench.device.seal(bench.session, bench.payload, wrapped_payload_key=byte * size)


def _with_payload_key_size(bench: Workbench, size: int) -> bytes:
    payload_key = (bench.session.payload_key * 2)[:size]
    return bench.device.seal(bench.session, bench.payload, wrapped_payload_key=bench.device.wrap(payload_key))


# --- Payloads, sealed again after the fault was made: everybody who holds the public certificate can send them -------


def _with_session_block_flipped(bench: Workbench, offset: int) -> bytes:
    tag = tags.SESSION_KEY_AND_R1
    return bench.with_value(tag, flipped(bench.value_of(tag), offset, 0x80))


def _with_integrity_ciphertext_flipped(bench: Workbench) -> bytes:
    """One bit of the message itself, where it garbles the integrity value after decryption."""
    value_start = bench.offset_of(tags.SESSION_KEY_AND_R1_INTEGRITY) + 16
    return bench.with_flipped_bit(bench.header_size + value_start)


def _with_duplicate(bench: Workbench, tag: int, value: bytes | None = None) -> bytes:
    original = bench.block_of(tag)
    again = original if value is None else Block(tag, value, bytes(-len(value) % 16))
    return bench.with_blocks(bench.blocks + [again])


def _with_last_block_overrunning(bench: Workbench) -> bytes:
    """The last block claims 16 bytes more than the payload has: its own header counted as body."""
    last = bench.blocks[-1]
    return bench.with_lengths(last.tag, block_length=len(last.encoded))


PAYLOADS = _cases(
    REJECTED,
    {
        "flipped payload bit": _with_integrity_ciphertext_flipped,
        "wrong integrity": lambda bench: bench.with_value(tags.SESSION_KEY_AND_R1_INTEGRITY, bytes(16)),
        "SK..R1 flipped in its last block": lambda bench: _with_session_block_flipped(bench, 111),
        "SK..R1 flipped in the block before": lambda bench: _with_session_block_flipped(bench, 16 + 64),
        "payload of zeros": lambda bench: bench.sealed(bytes(64)),
        "payload of 16 random bytes": lambda bench: bench.sealed(bench.device.randomness.randbytes(16)),
    },
)

DUPLICATES = _cases(
    REJECTED,
    {
        "duplicate asset id with different content": lambda bench: _with_duplicate(bench, tags.ASSET_ID, b"other"),
        "identical duplicate of the asset id": lambda bench: _with_duplicate(bench, tags.ASSET_ID),
        "identical duplicate of SK..R1": lambda bench: _with_duplicate(bench, tags.SESSION_KEY_AND_R1),
        "duplicate R2 with different content": lambda bench: _with_duplicate(bench, tags.R2, bytes(21)),
        "identical duplicate of an unknown tag": lambda bench: _with_duplicate(bench, bench.unknown_tag),
        "duplicate unknown tag with different content": lambda bench: _with_duplicate(bench, bench.unknown_tag, b""),
    },
)

RETURN_REQUESTS = _cases(
    REJECTED,
    {
        "return request names an absent tag": lambda bench: bench.with_return_request(0x0123456789ABCDEF),
        "return request names an absent tag last": lambda bench: bench.with_return_request(
            tags.ASSET_ID, tags.TRANSACTION_ID, 0x0123456789ABCDEF
        ),
        "return request of 7 bytes": lambda bench: bench.with_value_size(tags.RETURN_REQUEST, 7),
        "return request of 12 bytes": lambda bench: bench.with_value_size(tags.RETURN_REQUEST, 12),
        "return request names itself": lambda bench: bench.with_return_request(tags.RETURN_REQUEST),
        "return request names SK..R1": lambda bench: bench.with_return_request(tags.SESSION_KEY_AND_R1),
    }
    | {
        f"return request names the CKC's own tag {tag:016x}": lambda bench, tag=tag: bench.with_return_request(
            tag, extra_blocks=((tag, bytes(16)),)
        )
        for tag in tags.OWN_BLOCKS_OF_CKC
    },
)

FIELD_SIZES = _cases(
    REJECTED,
    {
        f"{name} of {size} bytes": lambda bench, tag=tag, size=size: bench.with_value_size(tag, size)
        for name, tag, sizes in (
            ("asset id", tags.ASSET_ID, (0, 1, 201)),
            ("R2", tags.R2, (0, 20, 22)),
            ("AR seed", tags.ANTI_REPLAY_SEED, (0, 15, 17)),
            ("SK..R1", tags.SESSION_KEY_AND_R1, (0, 96, 111, 113, 128)),
            ("SK..R1 integrity", tags.SESSION_KEY_AND_R1_INTEGRITY, (0, 15, 17)),
            ("transaction id", tags.TRANSACTION_ID, (0, 7, 9)),
            ("protocol version used", tags.PROTOCOL_VERSION_USED, (0, 3, 5)),
            ("protocol versions supported", tags.PROTOCOL_VERSIONS_SUPPORTED, (0, 3, 5)),
            ("streaming indicator", tags.STREAMING_INDICATOR, (0, 7)),
            ("media playback state", tags.MEDIA_PLAYBACK_STATE, (0, 15)),
            ("capabilities", tags.CAPABILITIES, (0, 15)),
        )
        for size in sizes
    },
)

FRAMING = _cases(
    REJECTED,
    {
        "value length above block length": lambda bench: bench.with_lengths(
            tags.ASSET_ID, value_length=len(bench.block_of(tags.ASSET_ID).encoded) - 16 + 1
        ),
        "last block overruns the payload": _with_last_block_overrunning,
        "payload cut by 16 and sealed again": lambda bench: bench.sealed(bench.payload[:-16]),
    }
    | {
        f"value length {size:#x} in block {tag:016x}": lambda bench, tag=tag, size=size: bench.with_lengths(
            tag, value_length=size
        )
        for tag in (tags.ASSET_ID, tags.RETURN_REQUEST)
        for size in (0xFFFFFFFF, 0x7FFFFFFE, 0x20000000)
    }
    | {
        f"block length {size:#x}": lambda bench, size=size: bench.with_lengths(tags.ASSET_ID, block_length=size)
        for size in (0xFFFFFFFF, 0xFFFFFFF0, 0x7FFFFFF0, 0x20000000, 0)
    }
    | {
        f"block length unaligned by {change}": lambda bench, change=change: bench.with_lengths(
            tags.ASSET_ID, block_length=len(bench.block_of(tags.ASSET_ID).encoded) - 16 + change
        )
        for change in (1, 8)
    }
    | {
        "block length and value length 2^32-1": lambda bench: bench.with_lengths(
            tags.ASSET_ID, block_length=0xFFFFFFFF, value_length=0xFFFFFFFF
        ),
        "block length and value length 2^32-16": lambda bench: bench.with_lengths(
            tags.ASSET_ID, block_length=0xFFFFFFF0, value_length=0xFFFFFFF0
        ),
    },
)

MISSING = _cases(
    REJECTED,
    {f"missing {tag:016x}": lambda bench, tag=tag: bench.without(tag) for tag in tags.REQUIRED_IN_SPC},
)

SEMANTICS = _cases(
    REJECTED,
    {
        "protocol version used 9": lambda bench: bench.with_options(protocol_version_used=9),
        "protocol version used 77": lambda bench: bench.with_options(protocol_version_used=77),
        "protocol version used 9 and supported": lambda bench: bench.with_options(
            protocol_version_used=9, protocol_versions_supported=(1, 9)
        ),
        "protocol version used 0": lambda bench: bench.with_options(
            protocol_version_used=0, protocol_versions_supported=(0, 1)
        ),
        "protocol version used is not supported": lambda bench: bench.with_options(protocol_versions_supported=(2,)),
    },
)

# --- Legal oddities: a licence, or the ordinary refusal of an unknown content ----------------------------------------

LEGAL = _cases(
    LICENCE,
    {
        "nothing wrong": lambda bench: bench.message,
        "reserved word not zero": _seal_with(reserved=0xFFFFFFFF),
        "empty return request": lambda bench: bench.with_return_request(),
        "empty return request without padding": lambda bench: bench.with_value(tags.RETURN_REQUEST, b""),
        "repeated entry in the return request": lambda bench: bench.with_return_request(
            tags.ASSET_ID, tags.TRANSACTION_ID, tags.ASSET_ID, tags.ASSET_ID
        ),
        "protocol downgrade": lambda bench: bench.with_options(protocol_versions_supported=(1, 2)),
        "protocol versions in any order": lambda bench: bench.with_options(protocol_versions_supported=(7, 2, 1)),
        "unknown media playback state": lambda bench: bench.with_options(
            playback_state=PlaybackState(1_700_000_000, 0x12345678, 1)
        ),
        "longer media playback state": lambda bench: bench.with_value_size(tags.MEDIA_PLAYBACK_STATE, 24),
        "longer capabilities": lambda bench: bench.with_value_size(tags.CAPABILITIES, 32),
        "longer streaming indicator": lambda bench: bench.with_value_size(tags.STREAMING_INDICATOR, 16),
        "no optional blocks": lambda bench: bench.with_options(
            streaming_indicator=None, playback_state=None, capabilities=None, unknown_blocks=(), return_request=()
        ),
        "a CKC's tag that nobody asks back": lambda bench: bench.with_options(
            unknown_blocks=bench.options.unknown_blocks + ((tags.ENCRYPTED_CONTENT_KEY, bytes(32)),)
        ),
        # CBC has no MAC and the integrity value covers the last of six blocks, so these cannot be told from sound.
        "SK..R1 flipped in its second block": lambda bench: _with_session_block_flipped(bench, 16 + 16),
        "SK..R1 flipped in its IV": lambda bench: _with_session_block_flipped(bench, 0),
    },
) + _cases(
    OTHER_CONTENT,
    {
        "asset id that is not UTF-8": lambda bench: bench.with_value(tags.ASSET_ID, bytes.fromhex("aabbccddeeff") * 3),
        "asset id of 2 bytes": lambda bench: bench.with_value(tags.ASSET_ID, b"\xff\xfe"),
        "asset id of 200 bytes": lambda bench: bench.with_value_size(tags.ASSET_ID, 200),
        "asset id with a NUL after it": lambda bench: bench.with_value(
            tags.ASSET_ID, bench.options.asset_id + b"\x00"
        ),
        "asset id with a space after it": lambda bench: bench.with_value(tags.ASSET_ID, bench.options.asset_id + b" "),
    },
)

MALFORMED: list[Case] = (
    NOT_SPCS + CONTAINERS + CREDENTIALS + PAYLOADS + DUPLICATES + RETURN_REQUESTS + FIELD_SIZES + FRAMING + MISSING
    + SEMANTICS
)
CASES: list[Case] = MALFORMED + LEGAL

# --- The bulk --------------------------------------------------------------------------------------------------------

TRUNCATION_STEP = 7
BLOB_COUNT = 500
SHAPED_BLOB_COUNT = 100
FLIP_COUNT = 1000
FLIP_SEED = 1


def truncations(message: bytes) -> Iterator[tuple[str, bytes, tuple[Outcome, ...]]]:
    """The message cut after every 7th byte."""
    for length in range(0, len(message), TRUNCATION_STEP):
        outcomes = (EMPTY,) if length == 0 else NOT_AN_SPC if length < 4 else (CONTAINER,)
        yield f"cut to {length} of {len(message)} bytes", message[:length], outcomes


def random_blobs(bench: Workbench, randomness: random.Random) -> Iterator[tuple[str, bytes, tuple[Outcome, ...]]]:
    """Random bytes: as they are, then with more and more of a header made right, so that they get further."""
    for number in range(BLOB_COUNT):
        blob = randomness.randbytes(176 + 16 * randomness.randrange(200))
        starts_like_der = blob.startswith(b"\x30\x82")
        yield f"random blob {number}", blob, (CERTIFICATE,) if starts_like_der else NOT_AN_SPC
    for number in range(SHAPED_BLOB_COUNT):
        blob = randomness.randbytes(bench.header_size + 16 * randomness.randrange(1, 200))
        versioned = struct.pack(">I", bench.version) + blob[4:]
        yield f"random blob {number} with a version", versioned, (CONTAINER,)
        length = struct.pack(">I", len(blob) - bench.header_size)
        measured = versioned[: bench.header_size - 4] + length + versioned[bench.header_size :]
        yield f"random blob {number} with a version and a length", measured, (HASH_UNKNOWN,)
        hash_start = bench.header_size - 24
        known = measured[:hash_start] + bench.device.certificate_hash + measured[hash_start + 20 :]
        yield f"random blob {number} with a known hash", known, (REJECTED,)
        yield f"random payload {number}", bench.sealed(blob[bench.header_size :]), (REJECTED,)


def flips(message: bytes) -> Iterator[tuple[str, bytes]]:
    """One byte changed at random, a thousand times; what each deserves is for a strict key server to say."""
    randomness = random.Random(FLIP_SEED)
    for number in range(FLIP_COUNT):
        offset = randomness.randrange(len(message))
        mask = randomness.randrange(1, 256)
        yield f"flip {number}: byte {offset} xor {mask:#04x}", flipped(message, offset, mask)

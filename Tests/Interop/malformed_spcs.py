"""SPCs with one fault each, and the HTTP status and code that the daemon must answer.

There are two kinds. The named cases are written by hand, each with the answer that it must get. Those of every version
and of the required blocks are here, the others are in `malformed_version_3` and `malformed_facts`. The bulk
(truncations, random blobs, one-byte flips) is made by rule from a printed seed: `malformed_bulk`.

Every failure after the certificate hash gets the same answer, 422 `spc_rejected`. A few odd messages are legal and get
a license: a parser that is too strict would refuse them.
"""

import pytest

from fairplay_device import containers, tags
from fairplay_device.credentials import sha1
from fairplay_device.facts import PlaybackState
from fairplay_device.tllv import serialise
from malformed_facts import FACTS, SYNC
from malformed_version_3 import VERSION_3
from workbench import (
    CERTIFICATE,
    CONTAINER,
    EMPTY,
    HASH_UNKNOWN,
    LICENSE,
    NOT_AN_SPC,
    OTHER_CONTENT,
    REJECTED,
    VERSION,
    Case,
    Workbench,
    cases,
    flipped,
    seal_with,
    with_duplicate,
    with_hash_of,
    with_length_changed,
)

# --- Inputs that are not an SPC, and malformed containers: no key is used ---------------------------------------------

NOT_SPCS = (
    cases(EMPTY, {"empty body": lambda bench: b""})
    + cases(
        CERTIFICATE,
        {
            "the certificate instead of an SPC": lambda bench: bench.device.certificate,
            "the bundle instead of an SPC": lambda bench: bench.credential.bundle,
            "only the start of a certificate": lambda bench: bench.device.certificate[:4],
        },
    )
    + cases(
        NOT_AN_SPC,
        {
            "one byte": lambda bench: b"\x00",
            "three bytes": lambda bench: b"\x00\x00\x00",
            "short text": lambda bench: b"hello",
            "a sentence": lambda bench: b"This is not a Server Playback Context, even if it says so.",
        },
    )
)

CONTAINERS = (
    cases(
        VERSION,
        {
            "version 0": lambda bench: bench.with_first_word(0),
            "version 4": lambda bench: bench.with_first_word(4),
            "version 9": lambda bench: bench.with_first_word(9),
            "version little-endian": lambda bench: bench.with_first_word(bench.version << 24),
            "version 2^32-1": lambda bench: bench.with_first_word(0xFFFFFFFF),
        },
    )
    + cases(
        CONTAINER,
        {
            "another version's first word": lambda bench: bench.with_first_word({1: 2, 2: 1, 3: 2}[bench.version]),
            "only a version": lambda bench: bench.message[:4],
            "truncated header": lambda bench: bench.message[: bench.header_size - 1],
            "truncated payload": lambda bench: bench.message[:-1],
            "payload cut by 16": lambda bench: bench.message[:-16],
            "one trailing byte": lambda bench: bench.message + b"\x00",
            "16 trailing bytes": lambda bench: bench.message + bytes(16),
            "64 trailing bytes": lambda bench: bench.message + bytes(64),
            "length +16": with_length_changed(16),
            "length -16": with_length_changed(-16),
            "length 2^32-1": seal_with(payload_length=0xFFFFFFFF),
            "length 2^32-16": seal_with(payload_length=0xFFFFFFF0),
            "length 2^31": seal_with(payload_length=0x80000000),
            "zero length": seal_with(payload_length=0),
            "unaligned length": with_length_changed(-1),
            "unaligned length and payload": lambda bench: bench.sealed(bench.payload[:-8]),
            "payload of 8 bytes": lambda bench: bench.sealed(bench.payload[:8]),
            "empty payload": lambda bench: bench.sealed(b""),
        },
    )
)

# --- Credentials: the hash is public, every failure after it gets the same answer -------------------------------------

CREDENTIALS = (
    cases(
        HASH_UNKNOWN,
        {
            "unknown certificate hash": lambda bench: bench.sealed(
                bench.payload, certificate_hash=bytes(range(containers.HASH_SIZES[bench.version]))
            ),
            "certificate hash with one bit flipped": lambda bench: bench.with_flipped_bit(bench.hash_offset),
            "certificate hash with its last bit flipped": lambda bench: bench.with_flipped_bit(bench.length_offset - 1),
        },
    )
    + cases(
        HASH_UNKNOWN,
        {
            "hash of the other version's certificate": lambda bench: bench.sealed(
                bench.payload, certificate_hash=sha1(bench.credential.certificate(3 - bench.version))
            )
        },
        versions=(1, 2),
    )
    + cases(
        HASH_UNKNOWN,
        {"bundle hash in version 2": lambda bench: with_hash_of(bench, bench.credential.bundle)},
        versions=(2,),
    )
    + cases(
        REJECTED,
        {
            "corrupted wrapped key": lambda bench: bench.with_flipped_bit(containers.WRAPPED_KEY_OFFSET + 64),
            "wrapped key with its last bit flipped": lambda bench: bench.with_flipped_bit(bench.hash_offset - 1),
            "wrapped key of zeros": lambda bench: _with_wrapped_key(bench, b"\x00"),
            "wrapped key above the modulus": lambda bench: _with_wrapped_key(bench, b"\xff"),
            "wrapped key of 32 bytes": lambda bench: _with_transport_key_size(bench, 32),
            "wrapped key of 15 bytes": lambda bench: _with_transport_key_size(bench, 15),
            "wrapped key of no bytes": lambda bench: _with_transport_key_size(bench, 0),
            "another payload key": lambda bench: bench.sealed(
                bench.payload, wrapped_key=bench.device.wrap(bytes(16))
            ),
        },
    )
)


def _with_wrapped_key(bench: Workbench, byte: bytes) -> bytes:
    return bench.sealed(bench.payload, wrapped_key=byte * len(bench.session.wrapped_key))


def _with_transport_key_size(bench: Workbench, size: int) -> bytes:
    transport_key = (bench.session.keys.transport_key * 2)[:size]
    return bench.sealed(bench.payload, wrapped_key=bench.device.wrap(transport_key))


# --- Payloads, encrypted after the fault was made: anyone with the public certificate can send them -------------------


def _with_session_block_flipped(bench: Workbench, offset: int) -> bytes:
    tag = tags.SESSION_KEY_AND_R1
    return bench.with_value(tag, flipped(bench.value_of(tag), offset, 0x80))


def _with_integrity_ciphertext_flipped(bench: Workbench) -> bytes:
    """Flips one bit of the message, which changes the integrity value after decryption."""
    value_start = bench.offset_of(tags.SESSION_KEY_AND_R1_INTEGRITY) + 16
    return bench.with_flipped_bit(bench.header_size + value_start)


def _with_last_block_overrunning(bench: Workbench) -> bytes:
    """Makes the last block claim 16 bytes more than the payload has, as if its header counted as body."""
    last = bench.blocks[-1]
    return bench.with_lengths(last.tag, block_length=len(last.encoded))


def _with_last_block_cut(bench: Workbench) -> bytes:
    """Cuts 16 bytes from the last block.

    That block has a value: without one, the cut would remove the whole block and leave a valid payload.
    """
    last = bench.block_of(tags.SESSION_KEY_AND_R1)
    blocks = [block for block in bench.blocks if block is not last] + [last]
    return bench.sealed(serialise(blocks)[:-16])


PAYLOADS = cases(
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

DUPLICATES = cases(
    REJECTED,
    {
        "duplicate asset id with different content": lambda bench: with_duplicate(bench, tags.ASSET_ID, b"other"),
        "identical duplicate of the asset id": lambda bench: with_duplicate(bench, tags.ASSET_ID),
        "identical duplicate of SK..R1": lambda bench: with_duplicate(bench, tags.SESSION_KEY_AND_R1),
        "duplicate R2 with different content": lambda bench: with_duplicate(bench, tags.R2, bytes(21)),
        "identical duplicate of an unknown tag": lambda bench: with_duplicate(bench, bench.unknown_tag),
        "duplicate unknown tag with different content": lambda bench: with_duplicate(bench, bench.unknown_tag, b""),
    },
)

RETURN_REQUESTS = cases(
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

FIELD_SIZES = cases(
    REJECTED,
    {
        f"{name} of {size} bytes": lambda bench, tag=tag, size=size: bench.with_value_size(tag, size)
        for name, tag, sizes in (
            ("asset id", tags.ASSET_ID, (0, 1, 1025)),
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

FRAMING = cases(
    REJECTED,
    {
        "value length above block length": lambda bench: bench.with_lengths(
            tags.ASSET_ID, value_length=len(bench.block_of(tags.ASSET_ID).encoded) - 16 + 1
        ),
        "last block overruns the payload": _with_last_block_overrunning,
        "payload cut by 16 and sealed again": _with_last_block_cut,
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

MISSING = cases(
    REJECTED,
    {f"missing {tag:016x}": lambda bench, tag=tag: bench.without(tag) for tag in tags.REQUIRED_IN_SPC},
)

SEMANTICS = cases(
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

# --- Legal oddities: they get a license, or the ordinary refusal of an unknown content --------------------------------

LEGAL = cases(
    LICENSE,
    {
        "nothing wrong": lambda bench: bench.message,
        "reserved word not zero": seal_with(reserved=0xFFFFFFFF),
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
        "a CKC's tag that is not asked back": lambda bench: bench.with_options(
            unknown_blocks=bench.options.unknown_blocks + ((tags.ENCRYPTED_CONTENT_KEY, bytes(32)),)
        ),
        # CBC has no MAC, and the integrity value covers only the last of six blocks, so a server cannot detect these
        # faults.
        "SK..R1 flipped in its second block": lambda bench: _with_session_block_flipped(bench, 16 + 16),
        "SK..R1 flipped in its IV": lambda bench: _with_session_block_flipped(bench, 0),
    },
) + cases(
    OTHER_CONTENT,
    {
        "asset id that is not UTF-8": lambda bench: bench.with_value(tags.ASSET_ID, bytes.fromhex("aabbccddeeff") * 3),
        "asset id of 2 bytes": lambda bench: bench.with_value(tags.ASSET_ID, b"\xff\xfe"),
        "asset id of 200 bytes": lambda bench: bench.with_value_size(tags.ASSET_ID, 200),
        "asset id of 1,024 bytes": lambda bench: bench.with_value_size(tags.ASSET_ID, 1024),
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
CASES: list[Case] = MALFORMED + LEGAL + VERSION_3 + FACTS + SYNC
# Each case in each of its versions, as named test parameters.
CASES_BY_VERSION = [
    pytest.param(version, case, id=f"version {version}-{case.name}")
    for version in containers.VERSIONS
    for case in CASES
    if version in case.versions
]

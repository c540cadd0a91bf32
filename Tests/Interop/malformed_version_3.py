"""SPCs of version 3 with one fault in the container, or in the tag that authenticates it."""

from dataclasses import replace

from fairplay_device import containers
from fairplay_device.containers import ContainerKeys
from fairplay_device.credentials import sha1, sha256
from fairplay_device.session_keys import aes_cmac
from fairplay_device.spc import DeviceSession
from workbench import (
    CONTAINER,
    HASH_UNKNOWN,
    LICENSE,
    REJECTED,
    Case,
    Workbench,
    cases,
    flipped,
    seal_with,
    with_hash_of,
    with_length_changed,
)

def _with_length_byte(bench: Workbench, offset: int) -> bytes:
    """Sets one byte of the length field that must be zero. The length itself is right."""
    field_of_length = bytearray(len(bench.payload).to_bytes(16, "big"))
    field_of_length[offset] = 0x01
    return bench.sealed(bench.payload, length_field=bytes(field_of_length))


def _tagged(bench: Workbench, tag: bytes) -> bytes:
    return bench.message[:-16] + tag


def _authenticated(bench: Workbench) -> bytes:
    """The bytes that the tag covers: the message from the wrapped key to the tag."""
    return bench.message[containers.WRAPPED_KEY_OFFSET : -16]


def _with_keys(bench: Workbench, keys: ContainerKeys) -> bytes:
    """Encrypts the payload under wrongly derived keys."""
    return bench.device.seal(replace(bench.session, keys=keys), bench.payload)


def _with_hash_swapped_after_sealing(bench: Workbench) -> bytes:
    """Replaces the hash with another known hash after the tag was made."""
    swapped = sha256(bench.credential.bundle)
    return bench.message[: bench.hash_offset] + swapped + bench.message[bench.length_offset :]


VERSION_3: list[Case] = cases(
    CONTAINER,
    {
        "transport UUID of zeros": seal_with(transport_uuid=bytes(16)),
        "transport UUID with one bit flipped": lambda bench: bench.with_flipped_bit(8),
        "transport UUID with its last bit flipped": lambda bench: bench.with_flipped_bit(23),
        "no integrity tag": lambda bench: bench.message[:-16],
        "integrity tag of 15 bytes": lambda bench: bench.message[:-1],
        "integrity tag twice": lambda bench: bench.message + bench.message[-16:],
        "length counts the integrity tag": with_length_changed(16),
        "only header and integrity tag": lambda bench: bench.message[: bench.header_size] + bench.message[-16:],
    }
    | {
        f"length with byte {offset} set": lambda bench, offset=offset: _with_length_byte(bench, offset)
        for offset in (0, 3, 4, 7, 8, 11)
    },
    versions=(3,),
) + cases(
    HASH_UNKNOWN,
    {
        "the hash of version 2, with zeros after it": lambda bench: bench.sealed(
            bench.payload, certificate_hash=sha1(bench.device.certificate) + bytes(12)
        ),
    },
    versions=(3,),
) + cases(
    REJECTED,
    {
        "integrity tag of zeros": seal_with(integrity_tag=bytes(16)),
        "integrity tag with its first bit flipped": lambda bench: _tagged(bench, flipped(bench.message[-16:], 0, 0x80)),
        "integrity tag with its last bit flipped": lambda bench: bench.with_flipped_bit(len(bench.message) - 1),
        "integrity tag under the payload key": lambda bench: _tagged(
            bench, aes_cmac(bench.session.keys.payload_key, _authenticated(bench))
        ),
        "integrity tag under the master key": lambda bench: _tagged(
            bench, aes_cmac(bench.session.keys.transport_key, _authenticated(bench))
        ),
        "integrity tag over the header too": lambda bench: _tagged(
            bench, aes_cmac(_mac_key(bench.session), bench.message[:-16])
        ),
        "integrity tag over the payload alone": lambda bench: _tagged(
            bench, aes_cmac(_mac_key(bench.session), bench.message[bench.header_size : -16])
        ),
        "integrity tag over the payload in clear": lambda bench: _tagged(
            bench,
            aes_cmac(_mac_key(bench.session), bench.message[24 : bench.header_size] + bench.payload),
        ),
        "first payload byte flipped": lambda bench: bench.with_flipped_bit(bench.header_size),
        "last payload byte flipped": lambda bench: bench.with_flipped_bit(len(bench.message) - 17),
        "hash swapped for another that is known": _with_hash_swapped_after_sealing,
        "payload under the master key": lambda bench: _with_keys(
            bench, replace(bench.session.keys, payload_key=bench.session.keys.transport_key)
        ),
        "payload with another initialization vector": lambda bench: _with_keys(
            bench, replace(bench.session.keys, payload_iv=bytes(16))
        ),
        "MAC and payload keys exchanged": lambda bench: _with_keys(
            bench,
            replace(
                bench.session.keys, payload_key=_mac_key(bench.session), mac_key=bench.session.keys.payload_key
            ),
        ),
    },
    versions=(3,),
) + cases(
    LICENSE,
    {
        "SHA-256 of the bundle": lambda bench: with_hash_of(bench, bench.credential.bundle),
        "SHA-256 of the 1024-bit certificate": lambda bench: with_hash_of(bench, bench.credential.certificate_1024),
    },
    versions=(3,),
)


def _mac_key(session: DeviceSession) -> bytes:
    if session.keys.mac_key is None:
        raise ValueError("only version 3 has a MAC key")
    return session.keys.mac_key

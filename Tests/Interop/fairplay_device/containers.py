"""The clear part of an SPC around its encrypted blocks; all integers are big-endian.

Versions 1 and 2 encrypt the payload under a key that RSA wraps, and nothing authenticates it:

    offset v1  offset v2  size       field
            0          0  4          version
            4          4  4          reserved, zero
            8          8  16         initialization vector of the payload
           24         24  128 / 256  RSA-OAEP wrapped payload key (SPCK)
          152        280  20         SHA-1 of the certificate
          172        300  4          payload length N, a multiple of 16
          176        304  N          AES-CBC encrypted blocks

Version 3 wraps a master key, from which payload key, initialization vector and MAC key are derived:

    offset  size  field
         0     4  version, 3
         4     4  reserved, zero
         8    16  transport UUID, always the same
        24   256  RSA-OAEP wrapped master key
       280    32  SHA-256 of the certificate
       312    16  payload length N, a multiple of 16: 12 zero bytes, then the number
       328     N  AES-CBC encrypted blocks
     328+N    16  AES-CMAC over wrapped key, hash, length field and encrypted blocks: from 24 to its own start
"""

import struct
from dataclasses import dataclass

from .refusal import Refusal
from .session_keys import aes_cbc_encrypt, aes_cmac, derive_from_master_key

VERSIONS = (1, 2, 3)
WRAPPED_KEY_SIZES = {1: 128, 2: 256, 3: 256}
HASH_SIZES = {1: 20, 2: 20, 3: 32}
LENGTH_SIZES = {1: 4, 2: 4, 3: 16}
INTEGRITY_TAG_SIZES = {1: 0, 2: 0, 3: 16}
WRAPPED_KEY_OFFSET = 24
TRANSPORT_UUID = bytes.fromhex("6644ff2ba87c99b6ff9655270cd068a6")
DER_CERTIFICATE_START = b"\x30\x82"


def hash_offset(version: int) -> int:
    return WRAPPED_KEY_OFFSET + WRAPPED_KEY_SIZES[version]


def length_offset(version: int) -> int:
    return hash_offset(version) + HASH_SIZES[version]


def payload_offset(version: int) -> int:
    return length_offset(version) + LENGTH_SIZES[version]


@dataclass(frozen=True)
class ContainerKeys:
    """The keys that encrypt a payload.

    RSA wraps `transport_key`: in versions 1 and 2 the payload key itself, in version 3 the master key. Only version 3
    has a `mac_key`.
    """

    transport_key: bytes
    payload_key: bytes
    payload_iv: bytes
    mac_key: bytes | None = None

    @classmethod
    def of_payload_key(cls, payload_key: bytes, payload_iv: bytes) -> "ContainerKeys":
        return cls(payload_key, payload_key, payload_iv)

    @classmethod
    def of_master_key(cls, master_key: bytes) -> "ContainerKeys":
        return cls(master_key, *derive_from_master_key(master_key))


@dataclass(frozen=True)
class Container:
    """The clear parts of an SPC. Only version 3 has an integrity tag, and it has no initialization vector in clear."""

    version: int
    payload_iv: bytes
    wrapped_key: bytes
    certificate_hash: bytes
    encrypted_payload: bytes
    integrity_tag: bytes = b""

    def keys(self, transport_key: bytes) -> ContainerKeys:
        if self.version == 3:
            return ContainerKeys.of_master_key(transport_key)
        return ContainerKeys.of_payload_key(transport_key, self.payload_iv)


def integrity_tag(mac_key: bytes, wrapped_key: bytes, certificate_hash: bytes, encrypted_payload: bytes) -> bytes:
    length = struct.pack(">QQ", 0, len(encrypted_payload))
    return aes_cmac(mac_key, wrapped_key + certificate_hash + length + encrypted_payload)


def read_container(message: bytes, served_versions: tuple[int, ...] = VERSIONS) -> Container:
    """Reads the clear part of a message, which needs no key. Raises `Refusal` with status 400 if it is malformed."""
    if not message:
        raise Refusal(400, "body_empty", "no bytes")
    if message.startswith(DER_CERTIFICATE_START):
        raise Refusal(400, "spc_is_certificate", "a DER certificate")
    if len(message) < 4:
        raise Refusal(400, "spc_malformed", "shorter than a version")
    (version,) = struct.unpack_from(">I", message)
    if version not in served_versions:
        raise Refusal(400, "spc_version_unsupported", f"version {version}")
    if len(message) < payload_offset(version):
        raise Refusal(400, "spc_malformed", "shorter than the header")
    if version == 3 and message[8:24] != TRANSPORT_UUID:
        raise Refusal(400, "spc_malformed", f"transport UUID {message[8:24].hex()}")
    payload_end = _payload_end(message, version)
    return Container(
        version=version,
        payload_iv=b"" if version == 3 else message[8:24],
        wrapped_key=message[WRAPPED_KEY_OFFSET : hash_offset(version)],
        certificate_hash=message[hash_offset(version) : length_offset(version)],
        encrypted_payload=message[payload_offset(version) : payload_end],
        integrity_tag=message[payload_end:],
    )


def _payload_end(message: bytes, version: int) -> int:
    length = int.from_bytes(message[length_offset(version) : payload_offset(version)], "big")
    payload_end = len(message) - INTEGRITY_TAG_SIZES[version]
    follows = payload_end - payload_offset(version)
    if length != follows:
        raise Refusal(400, "spc_malformed", f"length {length}, but {follows} bytes follow")
    if length == 0 or length % 16 != 0:
        raise Refusal(400, "spc_malformed", f"length {length} is not a positive multiple of 16")
    return payload_end


@dataclass(frozen=True)
class Overrides:
    """Fields of a container that are wrong on purpose; `None` stands for the right value.

    `length_field` is the whole field, `payload_length` only the number in it.
    """

    version: int | None = None
    reserved: int = 0
    transport_uuid: bytes | None = None
    wrapped_key: bytes | None = None
    certificate_hash: bytes | None = None
    payload_length: int | None = None
    length_field: bytes | None = None
    integrity_tag: bytes | None = None


def seal(
    version: int,
    keys: ContainerKeys,
    wrapped_key: bytes,
    certificate_hash: bytes,
    payload: bytes,
    overrides: Overrides = Overrides(),
) -> bytes:
    """The container around a payload.

    If the payload's length is not a multiple of 16, it is padded for encryption and the excess is cut off afterwards.
    The integrity tag matches the wrapped key, the hash and the payload that are sent, even if they are overridden.
    """
    whole = payload + bytes(-len(payload) % 16)
    encrypted = aes_cbc_encrypt(keys.payload_key, keys.payload_iv, whole)[: len(payload)]
    wrapped = wrapped_key if overrides.wrapped_key is None else overrides.wrapped_key
    named = certificate_hash if overrides.certificate_hash is None else overrides.certificate_hash
    length = len(payload) if overrides.payload_length is None else overrides.payload_length
    right_tag = b"" if keys.mac_key is None else integrity_tag(keys.mac_key, wrapped, named, encrypted)
    uuid = TRANSPORT_UUID if overrides.transport_uuid is None else overrides.transport_uuid
    return b"".join(
        [
            struct.pack(">II", version if overrides.version is None else overrides.version, overrides.reserved),
            uuid if version == 3 else keys.payload_iv,
            wrapped,
            named,
            overrides.length_field or length.to_bytes(LENGTH_SIZES[version], "big"),
            encrypted,
            right_tag if overrides.integrity_tag is None else overrides.integrity_tag,
        ]
    )

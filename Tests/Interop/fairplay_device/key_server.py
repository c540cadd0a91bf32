"""The other side: opens an SPC that somebody made, and answers with a CKC.

It is strict and small. It stands in for Latchkey when `latchkey device` is tested, and it is the yardstick for the
bulk of malformed SPCs: what it refuses, and at which stage, the daemon must refuse in the same way.
"""

import random
import struct
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from . import tags
from .credentials import Credential
from .session_keys import (
    aes_cbc_decrypt,
    aes_cbc_encrypt,
    ckc_payload_key,
    device_key,
    unwrap_payload_key,
    wrap_content_key,
)
from .spc import R1_SIZE, R2_SIZE, PlaybackState, RequestSecrets, requested_echoes
from .tllv import Block, FramingError, by_tag, padded_block, parse, serialise

WRAPPED_KEY_SIZES = {1: 128, 2: 256}
ASSET_ID_SIZES = range(2, 201)
SERVED_PROTOCOL_VERSIONS = (1,)
# The least size of the optional blocks that are read; longer values are legal and the rest is ignored.
OPTIONAL_SIZES = {tags.STREAMING_INDICATOR: 8, tags.MEDIA_PLAYBACK_STATE: 16, tags.CAPABILITIES: 16}
DER_CERTIFICATE_START = b"\x30\x82"


class Refusal(Exception):
    """The SPC is not answered; `status` and `code` are what a client is told, `reason` is for the reader of a test."""

    def __init__(self, status: int, code: str, reason: str):
        super().__init__(f"{status} {code}: {reason}")
        self.status = status
        self.code = code
        self.reason = reason


@dataclass(frozen=True)
class Container:
    """The clear part of an SPC; layout in `spc`."""

    version: int
    payload_iv: bytes
    wrapped_payload_key: bytes
    certificate_hash: bytes
    encrypted_payload: bytes


@dataclass(frozen=True)
class OpenedSPC:
    """Everything that was in an SPC; `payload_key` is empty when only its payload was opened."""

    asset_id: bytes
    transaction_id: int
    session_key: bytes
    device_id: bytes
    r1: bytes
    r2: bytes
    integrity: bytes
    anti_replay_seed: bytes
    protocol_versions_supported: tuple[int, ...]
    streaming_indicator: int | None
    playback_state: PlaybackState | None
    return_request: tuple[int, ...]
    blocks: tuple[Block, ...]
    payload_key: bytes = b""

    @property
    def secrets(self) -> RequestSecrets:
        """What the maker of this SPC must have kept to open its answer."""
        return RequestSecrets(
            session_key=self.session_key,
            r1=self.r1,
            anti_replay_seed=self.anti_replay_seed,
            echoes=requested_echoes(list(self.blocks), self.return_request),
            has_playback_state=self.playback_state is not None,
        )


@dataclass(frozen=True)
class Licence:
    """What a CKC grants; durations in seconds, and `None` where there is no limit."""

    content_key: bytes
    content_iv: bytes
    lease: int | None = None
    rental: int | None = None
    hdcp_level: int | None = None


def read_container(message: bytes) -> Container:
    """The clear part of a message that needs no key; raises `Refusal` with a 400 where it does not hold."""
    if not message:
        raise Refusal(400, "body_empty", "no bytes")
    if message.startswith(DER_CERTIFICATE_START):
        raise Refusal(400, "spc_is_certificate", "a DER certificate")
    if len(message) < 4:
        raise Refusal(400, "spc_malformed", "shorter than a version")
    (version,) = struct.unpack_from(">I", message)
    if version not in WRAPPED_KEY_SIZES:
        raise Refusal(400, "spc_version_unsupported", f"version {version}")
    hash_start = 24 + WRAPPED_KEY_SIZES[version]
    payload_start = hash_start + 24
    if len(message) < payload_start:
        raise Refusal(400, "spc_malformed", "shorter than the header")
    (payload_length,) = struct.unpack_from(">I", message, hash_start + 20)
    if payload_length != len(message) - payload_start:
        raise Refusal(400, "spc_malformed", f"length {payload_length}, {len(message) - payload_start} bytes follow")
    if payload_length == 0 or payload_length % 16 != 0:
        raise Refusal(400, "spc_malformed", f"length {payload_length} is not a positive multiple of 16")
    return Container(
        version=version,
        payload_iv=message[8:24],
        wrapped_payload_key=message[24:hash_start],
        certificate_hash=message[hash_start : hash_start + 20],
        encrypted_payload=message[payload_start:],
    )


def open_payload(payload: bytes, device_key_for: Callable[[bytes], bytes]) -> OpenedSPC:
    """The blocks of a decrypted payload, every rule checked; raises `Refusal` 422 where one does not hold.

    `device_key_for` gives the DASk for an R2.
    """
    try:
        blocks = parse(payload)
        found = by_tag(blocks)
    except FramingError as error:
        raise _rejected(str(error)) from error
    _check_sizes(found)
    return_request = _read_return_request(found)
    supported = _read_protocol_versions(found)
    r2 = found[tags.R2].value
    session_key, device_id, r1, integrity = _open_session_block(found, device_key_for(r2))
    indicator = found.get(tags.STREAMING_INDICATOR)
    state = found.get(tags.MEDIA_PLAYBACK_STATE)
    return OpenedSPC(
        asset_id=found[tags.ASSET_ID].value,
        transaction_id=int.from_bytes(found[tags.TRANSACTION_ID].value, "big"),
        session_key=session_key,
        device_id=device_id,
        r1=r1,
        r2=r2,
        integrity=integrity,
        anti_replay_seed=found[tags.ANTI_REPLAY_SEED].value,
        protocol_versions_supported=supported,
        streaming_indicator=None if indicator is None else struct.unpack_from(">Q", indicator.value)[0],
        playback_state=None if state is None else PlaybackState(*struct.unpack_from(">IIQ", state.value)),
        return_request=return_request,
        blocks=tuple(blocks),
    )


def _rejected(reason: str) -> Refusal:
    return Refusal(422, "spc_rejected", reason)


def _check_sizes(found: dict[int, Block]) -> None:
    for tag in tags.REQUIRED_IN_SPC:
        if tag not in found:
            raise _rejected(f"required block {tag:016x} is missing")
    exact = {
        tags.SESSION_KEY_AND_R1: 112,
        tags.SESSION_KEY_AND_R1_INTEGRITY: 16,
        tags.ANTI_REPLAY_SEED: 16,
        tags.R2: R2_SIZE,
        tags.TRANSACTION_ID: 8,
        tags.PROTOCOL_VERSION_USED: 4,
    }
    for tag, size in exact.items():
        if len(found[tag].value) != size:
            raise _rejected(f"block {tag:016x} of {len(found[tag].value)} bytes instead of {size}")
    for tag, size in OPTIONAL_SIZES.items():
        if tag in found and len(found[tag].value) < size:
            raise _rejected(f"block {tag:016x} of {len(found[tag].value)} bytes, at least {size} expected")
    if len(found[tags.ASSET_ID].value) not in ASSET_ID_SIZES:
        raise _rejected(f"asset id of {len(found[tags.ASSET_ID].value)} bytes")


def _read_return_request(found: dict[int, Block]) -> tuple[int, ...]:
    value = found[tags.RETURN_REQUEST].value
    if len(value) % 8 != 0:
        raise _rejected(f"return request of {len(value)} bytes")
    requested = struct.unpack(f">{len(value) // 8}Q", value)
    for tag in requested:
        if tag not in found:
            raise _rejected(f"return request names the absent block {tag:016x}")
        if tag in (tags.RETURN_REQUEST, tags.SESSION_KEY_AND_R1) or tag in tags.OWN_BLOCKS_OF_CKC:
            raise _rejected(f"return request names {tag:016x}, which no CKC may echo")
    return requested


def _read_protocol_versions(found: dict[int, Block]) -> tuple[int, ...]:
    value = found[tags.PROTOCOL_VERSIONS_SUPPORTED].value
    if not value or len(value) % 4 != 0:
        raise _rejected(f"protocol versions supported of {len(value)} bytes")
    supported = struct.unpack(f">{len(value) // 4}I", value)
    used = int.from_bytes(found[tags.PROTOCOL_VERSION_USED].value, "big")
    if used not in supported or used not in SERVED_PROTOCOL_VERSIONS:
        raise _rejected(f"protocol version {used} of {supported}")
    return supported


def _open_session_block(found: dict[int, Block], dask: bytes) -> tuple[bytes, bytes, bytes, bytes]:
    value = found[tags.SESSION_KEY_AND_R1].value
    plain = aes_cbc_decrypt(dask, value[:16], value[16:])
    session_key, device_id, r1, integrity = plain[:16], plain[16:36], plain[36 : 36 + R1_SIZE], plain[80:]
    if integrity != found[tags.SESSION_KEY_AND_R1_INTEGRITY].value:
        raise _rejected("SK..R1 integrity")
    return session_key, device_id, r1, integrity


Unwrap = Callable[[int, bytes, bytes], bytes]


@dataclass
class KeyServer:
    """Opens SPCs and answers them.

    `unwrap` takes SPC version, certificate hash and wrapped key; it raises `KeyError` for a hash that it does not
    know and `ValueError` for a wrapped key that does not open.
    """

    unwrap: Unwrap
    application_secret: bytes | None = None
    fixed_device_key: bytes | None = None
    randomness: random.Random = field(default_factory=random.SystemRandom)

    def open(self, message: bytes) -> OpenedSPC:
        container = read_container(message)
        try:
            payload_key = self.unwrap(container.version, container.certificate_hash, container.wrapped_payload_key)
        except KeyError as error:
            raise Refusal(422, "spc_certificate_unknown", container.certificate_hash.hex()) from error
        except ValueError as error:
            raise _rejected("RSA-OAEP") from error
        if len(payload_key) != 16:
            raise _rejected(f"payload key of {len(payload_key)} bytes")
        payload = aes_cbc_decrypt(payload_key, container.payload_iv, container.encrypted_payload)
        return replace(self.open_payload(payload), payload_key=payload_key)

    def open_payload(self, payload: bytes) -> OpenedSPC:
        return open_payload(payload, self._device_key_for)

    def answer(self, opened: OpenedSPC, licence: Licence) -> bytes:
        return self.seal(opened, self.answer_blocks(opened, licence))

    def answer_blocks(self, opened: OpenedSPC, licence: Licence) -> list[Block]:
        """The server's own blocks in any order, then the echoes, byte for byte, in the order of the request."""
        own = [
            self._block(
                tags.ENCRYPTED_CONTENT_KEY,
                licence.content_iv + wrap_content_key(opened.session_key, licence.content_key),
            ),
            self._block(tags.R1, opened.r1),
        ]
        if licence.hdcp_level is not None:
            own.append(
                self._block(
                    tags.HDCP_ENFORCEMENT, struct.pack(">Q", licence.hdcp_level) + self.randomness.randbytes(8)
                )
            )
        if licence.lease is not None or licence.rental is not None:
            if opened.playback_state is None:
                raise ValueError("a duration needs the media playback state")
            own.append(self._block(tags.CONTENT_KEY_DURATION, _duration_value(licence)))
        self.randomness.shuffle(own)
        return own + list(opened.secrets.echoes)

    def seal(self, opened: OpenedSPC, blocks: list[Block]) -> bytes:
        """The CKC around these blocks; layout in `ckc`."""
        payload = serialise(blocks)
        initialization_vector = self.randomness.randbytes(16)
        encrypted = aes_cbc_encrypt(
            ckc_payload_key(opened.r1, opened.anti_replay_seed), initialization_vector, payload
        )
        return struct.pack(">II", 1, 0) + initialization_vector + struct.pack(">I", len(payload)) + encrypted

    def _block(self, tag: int, value: bytes) -> Block:
        return padded_block(tag, value, self.randomness)

    def _device_key_for(self, r2: bytes) -> bytes:
        if self.fixed_device_key is not None:
            return self.fixed_device_key
        return device_key(self.application_secret or b"", r2)


def _duration_value(licence: Licence) -> bytes:
    key_type = {
        (True, False): tags.LEASE_ONLY,
        (False, True): tags.RENTAL_ONLY,
        (True, True): tags.LEASE_AND_RENTAL,
    }[(licence.lease is not None, licence.rental is not None)]
    return struct.pack(">4I", licence.lease or 0, licence.rental or 0, key_type, tags.DURATION_RESERVED_WORD)


def key_server_for(credential: Credential) -> KeyServer:
    """A key server that holds the private keys of a credential."""
    keys = {1024: credential.private_key_1024, 2048: credential.private_key_2048}

    def unwrap(spc_version: int, certificate_hash: bytes, wrapped_key: bytes) -> bytes:
        private_key = keys[credential.served_hashes[(spc_version, certificate_hash)]]
        if private_key is None:
            raise ValueError("this credential has no private key")
        return unwrap_payload_key(spc_version, private_key, wrapped_key)

    return KeyServer(unwrap, application_secret=credential.application_secret)


def key_server_without_private_keys(credential: Credential, payload_keys: dict[bytes, bytes]) -> KeyServer:
    """A key server that opens only what its own side wrapped: `payload_keys` holds the SPCK by wrapped key."""

    def unwrap(spc_version: int, certificate_hash: bytes, wrapped_key: bytes) -> bytes:
        _ = credential.served_hashes[(spc_version, certificate_hash)]
        if wrapped_key not in payload_keys:
            raise ValueError("not wrapped here")
        return payload_keys[wrapped_key]

    return KeyServer(unwrap, application_secret=credential.application_secret)

"""The device: makes Server Playback Contexts and keeps what is needed to open their answer.

    offset v1  offset v2  size       field
            0          0  4          version
            4          4  4          reserved, zero
            8          8  16         initialization vector of the payload
           24         24  128 / 256  RSA-OAEP wrapped payload key (SPCK)
          152        280  20         SHA-1 of the certificate
          172        300  4          payload length N, a multiple of 16
          176        304  N          AES-CBC encrypted blocks
"""

import random
import struct
from dataclasses import dataclass, field

from . import tags
from .credentials import Credential, public_key_of, sha1
from .session_keys import aes_cbc_encrypt, device_key, wrap_payload_key
from .tllv import Block, Padding, padded_block, serialise

R1_SIZE = 44
R2_SIZE = 21
DEVICE_ID_SIZE = 20


@dataclass(frozen=True)
class PlaybackState:
    """The media playback state block.

        offset  size  field
             0     4  creation date of the SPC, seconds of the Unix epoch
             4     4  state
             8     8  playback session
    """

    creation_date: int
    state: int
    session: int

    @property
    def encoded(self) -> bytes:
        return struct.pack(">IIQ", self.creation_date, self.state, self.session)


@dataclass(frozen=True)
class SPCOptions:
    """What one request says; the secrets of the request are not here but in `DeviceSession`."""

    asset_id: bytes
    transaction_id: int = 0
    protocol_version_used: int = 1
    protocol_versions_supported: tuple[int, ...] = (1,)
    streaming_indicator: int | None = None
    playback_state: PlaybackState | None = None
    capabilities: int | None = None
    unknown_blocks: tuple[tuple[int, bytes], ...] = ()
    return_request: tuple[int, ...] = ()
    padding: Padding = Padding.RANDOM
    shuffled: bool = True

    def values(self) -> list[tuple[int, bytes]]:
        """Tag and value of every block that this request's options decide."""
        supported = self.protocol_versions_supported
        chosen = [
            (tags.ASSET_ID, self.asset_id),
            (tags.TRANSACTION_ID, struct.pack(">Q", self.transaction_id)),
            (tags.PROTOCOL_VERSION_USED, struct.pack(">I", self.protocol_version_used)),
            (tags.PROTOCOL_VERSIONS_SUPPORTED, struct.pack(f">{len(supported)}I", *supported)),
            (tags.RETURN_REQUEST, struct.pack(f">{len(self.return_request)}Q", *self.return_request)),
        ]
        if self.streaming_indicator is not None:
            chosen.append((tags.STREAMING_INDICATOR, struct.pack(">Q", self.streaming_indicator)))
        if self.playback_state is not None:
            chosen.append((tags.MEDIA_PLAYBACK_STATE, self.playback_state.encoded))
        if self.capabilities is not None:
            chosen.append((tags.CAPABILITIES, self.capabilities.to_bytes(16, "big")))
        return chosen + list(self.unknown_blocks)


@dataclass(frozen=True)
class DeviceSession:
    """The secrets that a device makes up for one request."""

    payload_key: bytes
    payload_iv: bytes
    wrapped_payload_key: bytes
    session_key: bytes
    device_id: bytes
    r1: bytes
    integrity: bytes
    anti_replay_seed: bytes
    r2: bytes
    device_key: bytes
    block_iv: bytes

    @property
    def session_key_and_r1(self) -> bytes:
        """The SK..R1 value: IV 16, then AES-CBC under DASk of SK 16, HU 20, R1 44, integrity 16."""
        plain = self.session_key + self.device_id + self.r1 + self.integrity
        return self.block_iv + aes_cbc_encrypt(self.device_key, self.block_iv, plain)

    def values(self) -> list[tuple[int, bytes]]:
        return [
            (tags.SESSION_KEY_AND_R1, self.session_key_and_r1),
            (tags.SESSION_KEY_AND_R1_INTEGRITY, self.integrity),
            (tags.ANTI_REPLAY_SEED, self.anti_replay_seed),
            (tags.R2, self.r2),
        ]


@dataclass(frozen=True)
class RequestSecrets:
    """What a device keeps of a request until the CKC comes: enough to open and to judge it."""

    session_key: bytes
    r1: bytes
    anti_replay_seed: bytes
    echoes: tuple[Block, ...]
    has_playback_state: bool


@dataclass(frozen=True)
class PlaybackContext:
    """An SPC together with what was put into it."""

    message: bytes
    payload: bytes
    session: DeviceSession
    secrets: RequestSecrets


@dataclass
class Device:
    """One device that knows a deployment's certificate of one kind and its application secret or fixed DASk.

    `randomness` decides every byte but the RSA padding, so that a seeded generator repeats a request.
    """

    spc_version: int
    certificate: bytes
    application_secret: bytes | None = None
    fixed_device_key: bytes | None = None
    certificate_hash: bytes = b""
    randomness: random.Random = field(default_factory=random.SystemRandom)

    def __post_init__(self) -> None:
        if (self.application_secret is None) == (self.fixed_device_key is None):
            raise ValueError("a device has either an application secret or a fixed device key")
        self.certificate_hash = self.certificate_hash or sha1(self.certificate)
        self._public_key = public_key_of(self.certificate)
        self.device_id = self.randomness.randbytes(DEVICE_ID_SIZE)

    def start_session(self) -> DeviceSession:
        r2 = self.randomness.randbytes(R2_SIZE)
        payload_key = self.randomness.randbytes(16)
        return DeviceSession(
            payload_key=payload_key,
            payload_iv=self.randomness.randbytes(16),
            wrapped_payload_key=self.wrap(payload_key),
            session_key=self.randomness.randbytes(16),
            device_id=self.device_id,
            r1=self.randomness.randbytes(R1_SIZE),
            integrity=self.randomness.randbytes(16),
            anti_replay_seed=self.randomness.randbytes(16),
            r2=r2,
            device_key=self.fixed_device_key or device_key(self.application_secret or b"", r2),
            block_iv=self.randomness.randbytes(16),
        )

    def wrap(self, plaintext: bytes) -> bytes:
        return wrap_payload_key(self.spc_version, self._public_key, plaintext)

    def blocks(self, session: DeviceSession, options: SPCOptions) -> list[Block]:
        blocks = [
            padded_block(tag, value, self.randomness, options.padding)
            for tag, value in session.values() + options.values()
        ]
        if options.shuffled:
            self.randomness.shuffle(blocks)
        return blocks

    def request(self, options: SPCOptions) -> PlaybackContext:
        """A sound SPC that says what `options` says."""
        session = self.start_session()
        blocks = self.blocks(session, options)
        payload = serialise(blocks)
        return PlaybackContext(
            message=self.seal(session, payload),
            payload=payload,
            session=session,
            secrets=RequestSecrets(
                session_key=session.session_key,
                r1=session.r1,
                anti_replay_seed=session.anti_replay_seed,
                echoes=requested_echoes(blocks, options.return_request),
                has_playback_state=options.playback_state is not None,
            ),
        )

    def seal(
        self,
        session: DeviceSession,
        payload: bytes,
        *,
        version: int | None = None,
        reserved: int = 0,
        wrapped_payload_key: bytes | None = None,
        certificate_hash: bytes | None = None,
        payload_length: int | None = None,
    ) -> bytes:
        """The container around a payload; an argument that is given replaces the right value of its field.

        A payload whose length is no multiple of 16 has its last bytes cut off after encryption.
        """
        whole = payload + bytes(-len(payload) % 16)
        encrypted = aes_cbc_encrypt(session.payload_key, session.payload_iv, whole)[: len(payload)]
        return b"".join(
            [
                struct.pack(">II", self.spc_version if version is None else version, reserved),
                session.payload_iv,
                session.wrapped_payload_key if wrapped_payload_key is None else wrapped_payload_key,
                self.certificate_hash if certificate_hash is None else certificate_hash,
                struct.pack(">I", len(payload) if payload_length is None else payload_length),
                encrypted,
            ]
        )


def requested_echoes(blocks: list[Block], return_request: tuple[int, ...]) -> tuple[Block, ...]:
    """The blocks that the return request names, in its order, each once; raises `KeyError` for an absent one."""
    found = {block.tag: block for block in blocks}
    return tuple(found[tag] for tag in dict.fromkeys(return_request))


def device_for(credential: Credential, spc_version: int, randomness: random.Random | None = None) -> Device:
    return Device(
        spc_version,
        credential.certificate(spc_version),
        application_secret=credential.application_secret,
        randomness=randomness or random.SystemRandom(),
    )


def device_with_bundle_hash(credential: Credential, randomness: random.Random | None = None) -> Device:
    """An older version 1 device, which names the hash of the whole bundle file."""
    device = device_for(credential, 1, randomness)
    device.certificate_hash = sha1(credential.bundle)
    return device


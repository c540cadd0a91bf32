"""The device: makes Server Playback Contexts and keeps the secrets that open their answers."""

import random
import struct
from dataclasses import dataclass, field

from . import containers, tags
from .containers import ContainerKeys, Overrides
from .credentials import Credential, certificate_hash, public_key_of
from .facts import (
    DenyListVersion,
    DeviceIdentity,
    DeviceInfo,
    EncryptedSecurityLevelReport,
    KeyFormats,
    PlaybackState,
    SecurityLevelReport,
    Sync,
    VMDeviceInfo,
)
from .session_keys import aes_cbc_encrypt, device_key, wrap_transport_key
from .tllv import Block, Padding, padded_block, serialise

R1_SIZE = 44
R2_SIZE = 21
DEVICE_ID_SIZE = 20
VIDEO_BLOCK_SIZE_MAXIMUM = 256
VIDEO_R2_SIZE_MAXIMUM = 64


@dataclass(frozen=True)
class SPCOptions:
    """What one request says. The secrets of the request are in `DeviceSession`.

    `video` adds the two blocks of the video session key, which only an external module can open.
    """

    asset_id: bytes
    transaction_id: int = 0
    protocol_version_used: int = 1
    protocol_versions_supported: tuple[int, ...] = (1,)
    streaming_indicator: int | None = None
    playback_state: PlaybackState | None = None
    capabilities: int | None = None
    device_identity: DeviceIdentity | None = None
    device_info: DeviceInfo | None = None
    deny_list_version: DenyListVersion | None = None
    security_level_report: SecurityLevelReport | EncryptedSecurityLevelReport | None = None
    key_formats: KeyFormats | None = None
    vm_device_info: VMDeviceInfo | None = None
    sync: Sync | None = None
    video: bool = False
    unknown_blocks: tuple[tuple[int, bytes], ...] = ()
    return_request: tuple[int, ...] = ()
    padding: Padding = Padding.RANDOM
    shuffled: bool = True

    def values(self) -> list[tuple[int, bytes]]:
        """Tag and value of every block that depends on the options of this request."""
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
        if self.capabilities is not None:
            chosen.append((tags.CAPABILITIES, self.capabilities.to_bytes(16, "big")))
        facts = {
            tags.MEDIA_PLAYBACK_STATE: self.playback_state,
            tags.DEVICE_IDENTITY: self.device_identity,
            tags.DEVICE_INFO: self.device_info,
            tags.DENY_LIST_VERSION: self.deny_list_version,
            tags.SECURITY_LEVEL_REPORT: self.security_level_report,
            tags.SUPPORTED_KEY_FORMATS: self.key_formats,
            tags.VM_DEVICE_INFO: self.vm_device_info,
            tags.SYNC: self.sync,
        }
        chosen += [(tag, fact.encoded) for tag, fact in facts.items() if fact is not None]
        return chosen + list(self.unknown_blocks)


@dataclass(frozen=True)
class VideoSession:
    """The second session key of a request, for video, in two blocks that only an external module can open.

    The blocks have invented content, because their real layout is not public. The module of a test knows what they
    mean.
    """

    session_key: bytes
    r1: bytes
    session_key_and_r1: bytes
    r2: bytes

    def values(self) -> list[tuple[int, bytes]]:
        return [(tags.SESSION_KEY_AND_R1_VIDEO, self.session_key_and_r1), (tags.R2_VIDEO, self.r2)]


@dataclass(frozen=True)
class DeviceSession:
    """The secrets that a device makes up for one request."""

    keys: ContainerKeys
    wrapped_key: bytes
    session_key: bytes
    device_id: bytes
    r1: bytes
    integrity: bytes
    anti_replay_seed: bytes
    r2: bytes
    device_key: bytes
    block_iv: bytes
    video: VideoSession

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
    """What a device keeps of a request to open the CKC and to check it."""

    session_key: bytes
    r1: bytes
    anti_replay_seed: bytes
    echoes: tuple[Block, ...]
    has_playback_state: bool
    capabilities: int | None = None
    video: VideoSession | None = None


@dataclass(frozen=True)
class PlaybackContext:
    """An SPC together with its blocks and its secrets."""

    message: bytes
    payload: bytes
    session: DeviceSession
    secrets: RequestSecrets


@dataclass
class Device:
    """One device with a deployment's certificate of one kind, and its application secret or a fixed DASk.

    `randomness` supplies every random byte except the RSA padding, so that a seeded generator repeats a request.
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
        self.certificate_hash = self.certificate_hash or certificate_hash(self.spc_version, self.certificate)
        self._public_key = public_key_of(self.certificate)
        self.device_id = self.randomness.randbytes(DEVICE_ID_SIZE)

    def start_session(self) -> DeviceSession:
        r2 = self.randomness.randbytes(R2_SIZE)
        keys = self._make_container_keys()
        return DeviceSession(
            keys=keys,
            wrapped_key=self.wrap(keys.transport_key),
            session_key=self.randomness.randbytes(16),
            device_id=self.device_id,
            r1=self.randomness.randbytes(R1_SIZE),
            integrity=self.randomness.randbytes(16),
            anti_replay_seed=self.randomness.randbytes(16),
            r2=r2,
            device_key=self.fixed_device_key or device_key(self.application_secret or b"", r2),
            block_iv=self.randomness.randbytes(16),
            video=self._make_video_session(),
        )

    def _make_container_keys(self) -> ContainerKeys:
        if self.spc_version == 3:
            return ContainerKeys.of_master_key(self.randomness.randbytes(16))
        return ContainerKeys.of_payload_key(self.randomness.randbytes(16), self.randomness.randbytes(16))

    def _make_video_session(self) -> VideoSession:
        return VideoSession(
            session_key=self.randomness.randbytes(16),
            r1=self.randomness.randbytes(R1_SIZE),
            session_key_and_r1=self.randomness.randbytes(self.randomness.randint(1, VIDEO_BLOCK_SIZE_MAXIMUM)),
            r2=self.randomness.randbytes(self.randomness.randint(1, VIDEO_R2_SIZE_MAXIMUM)),
        )

    def wrap(self, plaintext: bytes) -> bytes:
        return wrap_transport_key(self.spc_version, self._public_key, plaintext)

    def blocks(self, session: DeviceSession, options: SPCOptions) -> list[Block]:
        values = session.values() + options.values() + (session.video.values() if options.video else [])
        blocks = [padded_block(tag, value, self.randomness, options.padding) for tag, value in values]
        if options.shuffled:
            self.randomness.shuffle(blocks)
        return blocks

    def request(self, options: SPCOptions) -> PlaybackContext:
        """A valid SPC with these options."""
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
                capabilities=options.capabilities,
                video=session.video if options.video else None,
            ),
        )

    def seal(self, session: DeviceSession, payload: bytes, **overrides: object) -> bytes:
        """Encrypts a payload into an SPC. Each given argument of `Overrides` replaces a right value."""
        return containers.seal(
            self.spc_version,
            session.keys,
            session.wrapped_key,
            self.certificate_hash,
            payload,
            Overrides(**overrides),
        )


def requested_echoes(blocks: list[Block], return_request: tuple[int, ...]) -> tuple[Block, ...]:
    """The blocks that the return request names, in its order and each once. Raises `KeyError` if a block is absent."""
    found = {block.tag: block for block in blocks}
    return tuple(found[tag] for tag in dict.fromkeys(return_request))


def device_for(credential: Credential, spc_version: int, randomness: random.Random | None = None) -> Device:
    return Device(
        spc_version,
        credential.certificate(spc_version),
        application_secret=credential.application_secret,
        randomness=randomness or random.SystemRandom(),
    )


def device_with_bundle_hash(
    credential: Credential, spc_version: int = 1, randomness: random.Random | None = None
) -> Device:
    """A device of version 1 or 3 that names the hash of the whole bundle file, as some older ones do."""
    device = device_for(credential, spc_version, randomness)
    device.certificate_hash = certificate_hash(spc_version, credential.bundle)
    return device

"""A key server: opens an SPC of another program, and answers with a CKC.

It is strict and small. It replaces Latchkey when `latchkey device` is tested. It also judges the many malformed SPCs:
the daemon must refuse what this server refuses, at the same stage and in the same way.
"""

import hmac
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from . import tags
from .containers import VERSIONS, ContainerKeys, integrity_tag, read_container
from .credentials import Credential
from .facts import (
    DenyListVersion,
    DeviceIdentity,
    DeviceInfo,
    EncryptedSecurityLevelReport,
    KeyFormats,
    NotSync,
    PlaybackState,
    SecurityLevelReport,
    Sync,
    SyncV1,
    SyncV2,
    VMDeviceInfo,
    read_security_level_report,
    read_sync,
)
from .license import License
from .refusal import Refusal, rejected
from .session_keys import (
    aes_cbc_decrypt,
    aes_cbc_encrypt,
    ckc_payload_key,
    device_key,
    unwrap_transport_key,
    wrap_content_key,
)
from .spc import (
    R1_SIZE,
    R2_SIZE,
    VIDEO_BLOCK_SIZE_MAXIMUM,
    VIDEO_R2_SIZE_MAXIMUM,
    RequestSecrets,
    VideoSession,
    requested_echoes,
)
from .tllv import Block, FramingError, by_tag, padded_block, parse, serialise

Fact = TypeVar("Fact")

ASSET_ID_SIZES = range(2, 1025)
SERVED_PROTOCOL_VERSIONS = (1,)
CAPABILITIES_SIZE = 16
STREAMING_INDICATOR_SIZE = 8


@dataclass(frozen=True)
class OpenedSPC:
    """Everything that an SPC contains. `keys` is `None` if only its payload was opened."""

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
    capabilities: int | None
    device_identity: DeviceIdentity | None
    device_info: DeviceInfo | None
    deny_list_version: DenyListVersion | None
    security_level_report: SecurityLevelReport | EncryptedSecurityLevelReport | None
    key_formats: KeyFormats | None
    vm_device_info: VMDeviceInfo | None
    sync: Sync | None
    return_request: tuple[int, ...]
    blocks: tuple[Block, ...]
    keys: ContainerKeys | None = None
    video: VideoSession | None = None

    @property
    def secrets(self) -> RequestSecrets:
        """The secrets that the maker of this SPC must keep to open the answer."""
        return RequestSecrets(
            session_key=self.session_key,
            r1=self.r1,
            anti_replay_seed=self.anti_replay_seed,
            echoes=requested_echoes(list(self.blocks), self.return_request),
            has_playback_state=self.playback_state is not None,
            capabilities=self.capabilities,
            video=self.video,
        )

    @property
    def sync_request(self) -> SyncV1 | SyncV2 | None:
        """The sync block if it requests something. Such an SPC requests no key."""
        return None if isinstance(self.sync, NotSync) else self.sync


def open_payload(payload: bytes, device_key_for: Callable[[bytes], bytes]) -> OpenedSPC:
    """Parses the blocks of a decrypted payload and checks every rule. Raises `Refusal` with status 422 if a rule is
    broken.

    `device_key_for` returns the DASk for an R2.
    """
    try:
        blocks = parse(payload)
        found = by_tag(blocks)
    except FramingError as error:
        raise rejected(str(error)) from error
    _check_sizes(found)
    return_request = _read_return_request(found)
    supported = _read_protocol_versions(found)
    r2 = found[tags.R2].value
    session_key, device_id, r1, integrity = _open_session_block(found, device_key_for(r2))
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
        streaming_indicator=_optional(found, tags.STREAMING_INDICATOR, _read_number(STREAMING_INDICATOR_SIZE)),
        playback_state=_optional(found, tags.MEDIA_PLAYBACK_STATE, PlaybackState.read),
        capabilities=_optional(found, tags.CAPABILITIES, _read_number(CAPABILITIES_SIZE)),
        device_identity=_optional(found, tags.DEVICE_IDENTITY, DeviceIdentity.read),
        device_info=_optional(found, tags.DEVICE_INFO, DeviceInfo.read),
        deny_list_version=_optional(found, tags.DENY_LIST_VERSION, DenyListVersion.read),
        security_level_report=_optional(found, tags.SECURITY_LEVEL_REPORT, read_security_level_report),
        key_formats=_optional(found, tags.SUPPORTED_KEY_FORMATS, KeyFormats.read),
        vm_device_info=_optional(found, tags.VM_DEVICE_INFO, VMDeviceInfo.read),
        sync=_optional(found, tags.SYNC, read_sync),
        return_request=return_request,
        blocks=tuple(blocks),
    )


def _optional(found: dict[int, Block], tag: int, read: Callable[[bytes], Fact | None]) -> Fact | None:
    if tag not in found:
        return None
    try:
        return read(found[tag].value)
    except ValueError as error:
        raise rejected(str(error)) from error


def _read_number(size: int) -> Callable[[bytes], int]:
    def read(value: bytes) -> int:
        if len(value) < size:
            raise ValueError(f"a value of {len(value)} bytes, at least {size} expected")
        return int.from_bytes(value[:size], "big")

    return read


def _check_sizes(found: dict[int, Block]) -> None:
    for tag in tags.REQUIRED_IN_SPC:
        if tag not in found:
            raise rejected(f"required block {tag:016x} is missing")
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
            raise rejected(f"block {tag:016x} of {len(found[tag].value)} bytes instead of {size}")
    at_most = {tags.SESSION_KEY_AND_R1_VIDEO: VIDEO_BLOCK_SIZE_MAXIMUM, tags.R2_VIDEO: VIDEO_R2_SIZE_MAXIMUM}
    for tag, size in at_most.items():
        if tag in found and len(found[tag].value) > size:
            raise rejected(f"block {tag:016x} of {len(found[tag].value)} bytes, at most {size} expected")
    if len(found[tags.ASSET_ID].value) not in ASSET_ID_SIZES:
        raise rejected(f"asset id of {len(found[tags.ASSET_ID].value)} bytes")


def _read_return_request(found: dict[int, Block]) -> tuple[int, ...]:
    value = found[tags.RETURN_REQUEST].value
    if len(value) % 8 != 0:
        raise rejected(f"return request of {len(value)} bytes")
    requested = struct.unpack(f">{len(value) // 8}Q", value)
    for tag in requested:
        if tag not in found:
            raise rejected(f"return request names the absent block {tag:016x}")
        if tag in (tags.RETURN_REQUEST, tags.SESSION_KEY_AND_R1) or tag in tags.OWN_BLOCKS_OF_CKC:
            raise rejected(f"return request names {tag:016x}, which no CKC may echo")
    return requested


def _read_protocol_versions(found: dict[int, Block]) -> tuple[int, ...]:
    value = found[tags.PROTOCOL_VERSIONS_SUPPORTED].value
    if not value or len(value) % 4 != 0:
        raise rejected(f"protocol versions supported of {len(value)} bytes")
    supported = struct.unpack(f">{len(value) // 4}I", value)
    used = int.from_bytes(found[tags.PROTOCOL_VERSION_USED].value, "big")
    if used not in supported or used not in SERVED_PROTOCOL_VERSIONS:
        raise rejected(f"protocol version {used} of {supported}")
    return supported


def _open_session_block(found: dict[int, Block], dask: bytes) -> tuple[bytes, bytes, bytes, bytes]:
    value = found[tags.SESSION_KEY_AND_R1].value
    plain = aes_cbc_decrypt(dask, value[:16], value[16:])
    session_key, device_id, r1, integrity = plain[:16], plain[16:36], plain[36 : 36 + R1_SIZE], plain[80:]
    if integrity != found[tags.SESSION_KEY_AND_R1_INTEGRITY].value:
        raise rejected("SK..R1 integrity")
    return session_key, device_id, r1, integrity


Unwrap = Callable[[int, bytes, bytes], bytes]
# Opens the blocks SK..R1 video and R2 video, and returns the video session that they contain.
OpenVideo = Callable[[bytes, bytes], VideoSession]


@dataclass
class KeyServer:
    """Opens SPCs and answers them.

    `unwrap` takes the SPC version, the certificate hash and the wrapped key. It raises `KeyError` if it does not know
    the hash, and `ValueError` if the wrapped key cannot be opened. `open_video` replaces an external module.
    """

    unwrap: Unwrap
    application_secret: bytes | None = None
    fixed_device_key: bytes | None = None
    served_versions: tuple[int, ...] = VERSIONS
    open_video: OpenVideo | None = None
    randomness: random.Random = field(default_factory=random.SystemRandom)

    def open(self, message: bytes) -> OpenedSPC:
        container = read_container(message, self.served_versions)
        try:
            transport_key = self.unwrap(container.version, container.certificate_hash, container.wrapped_key)
        except KeyError as error:
            raise Refusal(422, "spc_certificate_unknown", container.certificate_hash.hex()) from error
        except ValueError as error:
            raise rejected("RSA-OAEP") from error
        if len(transport_key) != 16:
            raise rejected(f"transport key of {len(transport_key)} bytes")
        keys = container.keys(transport_key)
        if keys.mac_key is not None:
            right_tag = integrity_tag(
                keys.mac_key, container.wrapped_key, container.certificate_hash, container.encrypted_payload
            )
            if not hmac.compare_digest(right_tag, container.integrity_tag):
                raise rejected("integrity tag")
        payload = aes_cbc_decrypt(keys.payload_key, keys.payload_iv, container.encrypted_payload)
        return replace(self.open_payload(payload), keys=keys)

    def open_payload(self, payload: bytes) -> OpenedSPC:
        opened = open_payload(payload, self._device_key_for)
        found = by_tag(list(opened.blocks))
        if self.open_video is None or not {tags.SESSION_KEY_AND_R1_VIDEO, tags.R2_VIDEO} <= found.keys():
            return opened
        video = self.open_video(found[tags.SESSION_KEY_AND_R1_VIDEO].value, found[tags.R2_VIDEO].value)
        return replace(opened, video=video)

    def answer(self, opened: OpenedSPC, license: License) -> bytes:
        version = 2 if license.session_key_version == tags.SESSION_KEY_VIDEO else 1
        return self.seal(opened, self.answer_blocks(opened, license), version)

    def answer_blocks(self, opened: OpenedSPC, license: License) -> list[Block]:
        """The server's own blocks in any order, then the requested blocks, unchanged and in the order of the
        request."""
        uses_video = license.session_key_version == tags.SESSION_KEY_VIDEO
        session_key, r1 = _answering_keys(opened, uses_video)
        values = [
            (tags.ENCRYPTED_CONTENT_KEY, license.content_iv + wrap_content_key(session_key, license.content_key)),
            (tags.R1, r1),
        ]
        terms = license.terms.block()
        if terms is not None:
            if terms[0] == tags.CONTENT_KEY_DURATION and opened.playback_state is None:
                raise ValueError("a duration needs the media playback state")
            values.append(terms)
        if license.hdcp_level is not None:
            random_half = self.randomness.randbytes(8)
            values.append((tags.HDCP_ENFORCEMENT, struct.pack(">Q", license.hdcp_level) + random_half))
        if license.security_level is not None:
            values.append((tags.REQUIRED_SECURITY_LEVEL, struct.pack(">IIQ", 1, 0, license.security_level)))
        if license.session_key_version is not None:
            values.append((tags.SESSION_KEY_VERSION_USED, struct.pack(">IIQ", 1, 0, license.session_key_version)))
        own = [padded_block(tag, value, self.randomness) for tag, value in values]
        self.randomness.shuffle(own)
        return own + list(opened.secrets.echoes)

    def seal(self, opened: OpenedSPC, blocks: list[Block], version: int = 1) -> bytes:
        """Encrypts these blocks into a CKC. The layout is in `ckc`."""
        payload = serialise(blocks)
        _, r1 = _answering_keys(opened, version == 2)
        initialization_vector = self.randomness.randbytes(16)
        encrypted = aes_cbc_encrypt(ckc_payload_key(r1, opened.anti_replay_seed), initialization_vector, payload)
        return struct.pack(">II", version, 0) + initialization_vector + struct.pack(">I", len(payload)) + encrypted

    def _device_key_for(self, r2: bytes) -> bytes:
        if self.fixed_device_key is not None:
            return self.fixed_device_key
        return device_key(self.application_secret or b"", r2)


def _answering_keys(opened: OpenedSPC, uses_video: bool) -> tuple[bytes, bytes]:
    """Session key and R1 for the answer."""
    if not uses_video:
        return opened.session_key, opened.r1
    if opened.video is None:
        raise ValueError("no session key for video was opened")
    return opened.video.session_key, opened.video.r1


def key_server_for(credential: Credential) -> KeyServer:
    """A key server with the private keys of a credential."""
    keys = {1024: credential.private_key_1024, 2048: credential.private_key_2048}

    def unwrap(spc_version: int, certificate_hash: bytes, wrapped_key: bytes) -> bytes:
        private_key = keys[credential.served_hashes[(spc_version, certificate_hash)]]
        if private_key is None:
            raise ValueError("this credential has no private key")
        return unwrap_transport_key(spc_version, private_key, wrapped_key)

    return KeyServer(unwrap, application_secret=credential.application_secret)


def key_server_without_private_keys(credential: Credential, transport_keys: dict[bytes, bytes]) -> KeyServer:
    """A key server that opens only known wrapped keys. `transport_keys` maps each wrapped key to its content."""

    def unwrap(spc_version: int, certificate_hash: bytes, wrapped_key: bytes) -> bytes:
        _ = credential.served_hashes[(spc_version, certificate_hash)]
        if wrapped_key not in transport_keys:
            raise ValueError("not wrapped here")
        return transport_keys[wrapped_key]

    return KeyServer(unwrap, application_secret=credential.application_secret)

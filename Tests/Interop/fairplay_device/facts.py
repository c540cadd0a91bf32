"""What a device reports of itself and requests. Each type builds and reads the value of one block.

`encoded` is the value of a block. `read` parses a value. It raises `ValueError` if the lengths do not agree, or if a
word that must be zero is not zero. A value may be longer than its layout: the rest is ignored. If a block has a version
whose layout is not known, `read` gives `None`, as if the block had not been sent.
"""

import struct
from dataclasses import dataclass
from typing import ClassVar

from . import tags

ENCRYPTED_REPORT_SIZE = 32
SECURITY_LEVEL_REPORT_SIZE = 20
KNOWN_VERSION = b"\x00\x00\x00\x01"
VM_DEVICE_INFO_SIZE = 28
KEY_FORMAT_COUNT_MAXIMUM = 64
SYNC_RECORD_COUNT_MAXIMUM = 250
NO_EXPIRY = 0xFFFFFFFF


def _unpack(layout: str, value: bytes, name: str) -> tuple[int | bytes, ...]:
    size = struct.calcsize(layout)
    if len(value) < size:
        raise ValueError(f"{name} of {len(value)} bytes, at least {size} expected")
    return struct.unpack_from(layout, value)


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

    @classmethod
    def read(cls, value: bytes) -> "PlaybackState":
        return cls(*_unpack(">IIQ", value, "media playback state"))


@dataclass(frozen=True)
class DeviceIdentity:
    """The device identity block of clients since 2021.

        offset  size  field
             0     4  version of the block
             4     4  device class
             8     8  hash of the vendor
            16     8  hash of the product
            24     4  version of FairPlay outside the trusted environment
            28     4  version of FairPlay inside the trusted environment
            32     4  operating system: 0, major, minor, patch, one byte each
    """

    version: int
    device_class: int
    vendor_hash: bytes
    product_hash: bytes
    open_part_version: int
    trusted_part_version: int
    system_version: int

    LAYOUT: ClassVar[str] = ">II8s8sIII"

    @property
    def encoded(self) -> bytes:
        return struct.pack(
            self.LAYOUT,
            self.version,
            self.device_class,
            self.vendor_hash,
            self.product_hash,
            self.open_part_version,
            self.trusted_part_version,
            self.system_version,
        )

    @classmethod
    def read(cls, value: bytes) -> "DeviceIdentity":
        return cls(*_unpack(cls.LAYOUT, value, "device identity"))


@dataclass(frozen=True)
class DeviceInfo:
    """The older device info block.

        offset  size  field
             0     8  device type
             8     4  operating system
            12     4  version of the block, 1
    """

    device_type: int
    system_version: int
    version: int = 1

    @property
    def encoded(self) -> bytes:
        return struct.pack(">QII", self.device_type, self.system_version, self.version)

    @classmethod
    def read(cls, value: bytes) -> "DeviceInfo":
        return cls(*_unpack(">QII", value, "device info"))


@dataclass(frozen=True)
class DenyListVersion:
    """The version of a Mac's kernel extension deny list (KDL), a block of 4 bytes."""

    version: int

    @property
    def encoded(self) -> bytes:
        return struct.pack(">I", self.version)

    @classmethod
    def read(cls, value: bytes) -> "DenyListVersion":
        return cls(*_unpack(">I", value, "deny list version"))


@dataclass(frozen=True)
class SecurityLevelReport:
    """The security level report in clear. A report with a version other than 1 is ignored.

        offset  size  field
             0     4  version of the block, 1
             4     4  reserved, 0
             8     8  level
            16     4  version of the kernel extension deny list; a separate block for it takes precedence
    """

    level: int
    deny_list_version: int = 0
    version: int = 1
    reserved: int = 0

    @property
    def encoded(self) -> bytes:
        return struct.pack(">IIQI", self.version, self.reserved, self.level, self.deny_list_version)


@dataclass(frozen=True)
class EncryptedSecurityLevelReport:
    """The encrypted report of 32 bytes, which this module cannot read."""

    content: bytes

    @property
    def encoded(self) -> bytes:
        if len(self.content) != ENCRYPTED_REPORT_SIZE:
            raise ValueError(f"an encrypted report of {len(self.content)} bytes")
        return self.content


def read_security_level_report(value: bytes) -> SecurityLevelReport | EncryptedSecurityLevelReport | None:
    if len(value) == ENCRYPTED_REPORT_SIZE:
        return EncryptedSecurityLevelReport(value)
    if len(value) < SECURITY_LEVEL_REPORT_SIZE or value[:4] != KNOWN_VERSION:
        return None
    version, reserved, level, deny_list_version = _unpack(">IIQI", value, "security level report")
    if reserved != 0:
        raise ValueError(f"reserved word {reserved:08x} in a security level report")
    return SecurityLevelReport(level, deny_list_version, version, reserved)


@dataclass(frozen=True)
class KeyFormats:
    """The key formats that a device can use.

        offset  size  field
             0     4  version of the block, 1
             4     4  reserved
             8     4  count, 64 at most
            12   8 n  formats
    """

    formats: tuple[int, ...] = (tags.KEY_FORMAT_16_BYTES,)
    version: int = 1
    reserved: int = 0

    @property
    def encoded(self) -> bytes:
        count = len(self.formats)
        return struct.pack(f">III{count}Q", self.version, self.reserved, count, *self.formats)

    @classmethod
    def read(cls, value: bytes) -> "KeyFormats | None":
        if len(value) < 12 or value[:4] != KNOWN_VERSION:
            return None
        version, reserved, count = _unpack(">III", value, "supported key formats")
        if count > KEY_FORMAT_COUNT_MAXIMUM or len(value) < 12 + 8 * count:
            return None
        formats = _unpack(f">12x{count}Q", value, f"supported key formats, {count} of them,")
        return cls(tuple(formats), version, reserved)


@dataclass(frozen=True)
class VMDeviceInfo:
    """What a virtual machine reports of its host and of itself, in seven words. Version 0 means no virtual machine."""

    version: int
    host_class: int = 0
    host_system_version: int = 0
    host_protocol_version: int = 0
    guest_class: int = 0
    guest_system_version: int = 0
    guest_protocol_version: int = 0

    @property
    def encoded(self) -> bytes:
        return struct.pack(
            ">7I",
            self.version,
            self.host_class,
            self.host_system_version,
            self.host_protocol_version,
            self.guest_class,
            self.guest_system_version,
            self.guest_protocol_version,
        )

    @classmethod
    def read(cls, value: bytes) -> "VMDeviceInfo | None":
        if len(value) < VM_DEVICE_INFO_SIZE or int.from_bytes(value[:4], "big") > 1:
            return None
        return cls(*_unpack(">7I", value, "virtual machine info"))


@dataclass(frozen=True)
class NotSync:
    """A sync block that requests nothing: the block is absent, or has a version other than 1 and 2."""

    version: int = 0

    @property
    def encoded(self) -> bytes:
        return struct.pack(">I24x", self.version)


@dataclass(frozen=True)
class SyncV1:
    """The older sync request, which reports how long the key of a content id is still valid.

        offset  size  field
             0     4  1
             4     4  0
             8    16  content id
            24     4  duration to expiry, seconds; 0 is expired, 2^32-1 has no expiry
    """

    content_id: bytes
    duration: int
    reserved: int = 0

    version: ClassVar[int] = 1

    @property
    def encoded(self) -> bytes:
        return struct.pack(">II16sI", self.version, self.reserved, self.content_id, self.duration)


@dataclass(frozen=True)
class SyncV2:
    """The newer sync request: a report of expiry, or of records that were invalidated.

        offset  size  field
             0     4  2
             4     4  reserved
             8     8  server challenge, 0 if none was supplied
            16     8  flags
            24    16  title id
            40     4  duration to expiry, seconds; 0 is expired, 2^32-1 has no expiry
            44     4  number n of invalidated records, 250 at most
            48  16 n  stream ids of the invalidated records
    """

    challenge: int
    flags: int
    title_id: bytes
    duration: int
    stream_ids: tuple[bytes, ...] = ()
    reserved: int = 0

    version: ClassVar[int] = 2

    @property
    def encoded(self) -> bytes:
        head = struct.pack(
            ">IIQQ16sII",
            self.version,
            self.reserved,
            self.challenge,
            self.flags,
            self.title_id,
            self.duration,
            len(self.stream_ids),
        )
        return head + b"".join(self.stream_ids)


Sync = NotSync | SyncV1 | SyncV2


def read_sync(value: bytes) -> Sync:
    if len(value) < 4:
        return NotSync()
    (version,) = _unpack(">I", value, "sync request")
    if version == SyncV1.version:
        return _read_sync_v1(value)
    if version == SyncV2.version:
        return _read_sync_v2(value)
    return NotSync(version)


def _read_sync_v1(value: bytes) -> SyncV1:
    reserved, content_id, duration = _unpack(">4xI16sI", value, "sync request of version 1")
    if reserved != 0:
        raise ValueError(f"reserved word {reserved:08x} in a sync request of version 1")
    return SyncV1(content_id, duration)


def _read_sync_v2(value: bytes) -> SyncV2:
    reserved, challenge, flags, title_id, duration, count = _unpack(">4xIQQ16sII", value, "sync request of version 2")
    if flags == 0:
        raise ValueError("a sync request of version 2 without any flag")
    if count > SYNC_RECORD_COUNT_MAXIMUM:
        raise ValueError(f"{count} invalidated records")
    stream_ids = _unpack(">48x" + "16s" * count, value, f"sync request with {count} records")
    return SyncV2(challenge, flags, title_id, duration, tuple(stream_ids), reserved)

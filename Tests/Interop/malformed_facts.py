"""SPCs with one fault in what a device reports of itself, or in a sync request."""

import struct
from collections.abc import Callable
from dataclasses import replace

from fairplay_device import tags
from fairplay_device.facts import (
    DeviceInfo,
    EncryptedSecurityLevelReport,
    NotSync,
    SecurityLevelReport,
    SyncV1,
    SyncV2,
)
from workbench import LICENSE, REJECTED, SYNC_ANSWER, Case, Workbench, cases, with_duplicate

# --- Device facts: sizes, counts and reserved words -------------------------------------------------------------------


def _with_key_format_count(bench: Workbench, count: int, present: int) -> bytes:
    """A list of key formats that claims to have `count` entries but has `present`."""
    return bench.with_value(tags.SUPPORTED_KEY_FORMATS, struct.pack(">III", 1, 0, count) + bytes(range(8)) * present)


FACTS: list[Case] = cases(
    REJECTED,
    {
        f"{name} of {size} bytes": lambda bench, tag=tag, size=size: bench.with_value_size(tag, size)
        for name, tag, sizes in (
            ("device identity", tags.DEVICE_IDENTITY, (0, 35)),
            ("device info", tags.DEVICE_INFO, (0, 15)),
            ("deny list version", tags.DENY_LIST_VERSION, (0, 3)),
            ("SK..R1 for video", tags.SESSION_KEY_AND_R1_VIDEO, (257, 4096)),
            ("R2 for video", tags.R2_VIDEO, (65, 4096)),
        )
        for size in sizes
    }
    | {
        "security level report with its reserved word set": lambda bench: bench.with_options(
            security_level_report=SecurityLevelReport(tags.LEVEL_MAIN, reserved=1)
        ),
        "duplicate security level report": lambda bench: with_duplicate(bench, tags.SECURITY_LEVEL_REPORT),
        "duplicate sync request": lambda bench: with_duplicate(bench, tags.SYNC),
    },
) + cases(
    LICENSE,
    {
        f"{name} of {size} bytes": lambda bench, tag=tag, size=size: bench.with_value_size(tag, size)
        for name, tag, sizes in (
            ("security level report", tags.SECURITY_LEVEL_REPORT, (0, 4, 19)),
            ("key formats", tags.SUPPORTED_KEY_FORMATS, (0, 11)),
            ("virtual machine info", tags.VM_DEVICE_INFO, (0, 27)),
            ("sync request", tags.SYNC, (0, 3)),
        )
        for size in sizes
    }
    | {
        f"{name} of version {version}": lambda bench, tag=tag, version=version, size=size: bench.with_value(
            tag, struct.pack(">I", version) + bytes(size)
        )
        for name, tag, sizes in (
            ("security level report", tags.SECURITY_LEVEL_REPORT, (4, 16, 60)),
            ("key formats", tags.SUPPORTED_KEY_FORMATS, (0, 16, 60)),
            ("virtual machine info", tags.VM_DEVICE_INFO, (0, 24, 60)),
            ("sync request", tags.SYNC, (0, 24, 60)),
        )
        for version, size in zip((3, 9, 0xFFFFFFFF), sizes)
    }
    | {
        f"{count} key formats and bytes for {present}": lambda bench, count=count, present=present: (
            _with_key_format_count(bench, count, present)
        )
        for count, present in ((1, 0), (3, 2), (65, 65), (0x20000000, 0), (0xFFFFFFFF, 1))
    }
    | {
        f"{name} of {size} bytes": lambda bench, tag=tag, size=size: bench.with_value_size(tag, size)
        for name, tag, size in (
            ("longer device identity", tags.DEVICE_IDENTITY, 52),
            ("longer device info", tags.DEVICE_INFO, 24),
            ("longer deny list version", tags.DENY_LIST_VERSION, 8),
            ("longer virtual machine info", tags.VM_DEVICE_INFO, 32),
            ("the longest SK..R1 for video", tags.SESSION_KEY_AND_R1_VIDEO, 256),
            ("the longest R2 for video", tags.R2_VIDEO, 64),
        )
    }
    | {
        "64 key formats": lambda bench: _with_key_format_count(bench, 64, 64),
        "longer key formats": lambda bench: _with_key_format_count(bench, 1, 3),
        "encrypted security level report": lambda bench: bench.with_options(
            security_level_report=EncryptedSecurityLevelReport(bytes(range(32)))
        ),
        "encrypted security level report that looks like a low level": lambda bench: bench.with_options(
            security_level_report=EncryptedSecurityLevelReport(struct.pack(">IIQ16x", 1, 0, 1))
        ),
        "security level report of another version": lambda bench: bench.with_options(
            security_level_report=SecurityLevelReport(1, 1, version=2)
        ),
        "device info of another version": lambda bench: bench.with_options(
            device_info=DeviceInfo(bench.device.randomness.getrandbits(64), 0, version=9)
        ),
        "only one of the video blocks": lambda bench: bench.without(tags.R2_VIDEO),
        "none of these blocks": lambda bench: bench.with_options(
            device_identity=None,
            device_info=None,
            deny_list_version=None,
            security_level_report=None,
            key_formats=None,
            vm_device_info=None,
            sync=None,
            video=False,
        ),
    },
)

# --- Sync requests ---------------------------------------------------------------------------------------------------

SYNC_V1 = SyncV1(bytes(range(16)), 3600)
SYNC_V2 = SyncV2(0, tags.SYNC_REPORT, bytes(range(16)), 3600)
# The number of records claimed, and the number present. 16 times 2^28 overflows 32 bits to zero.
SYNC_COUNTS_REFUSED = (
    (1, 0),
    (3, 2),
    (251, 251),
    (251, 0),
    (0x0FFFFFFF, 0),
    (0x10000000, 1),
    (0xFFFFFFFF, 4),
    (0xFFFFFFFD, 0),
)


def _with_sync(value: bytes) -> Callable[[Workbench], bytes]:
    return lambda bench: bench.with_value(tags.SYNC, value)


def _records(count: int) -> tuple[bytes, ...]:
    return tuple(struct.pack(">QQ", 7, number) for number in range(count))


def _sync_with_count(count: int, present: int) -> bytes:
    """A sync request that claims `count` invalidated records but has `present`."""
    value = replace(SYNC_V2, flags=tags.SYNC_SECURE_INVALIDATION, stream_ids=_records(present)).encoded
    return value[:44] + struct.pack(">I", count) + value[48:]


SYNC: list[Case] = (
    cases(
        REJECTED,
        {
            "sync request of version 1 of 4 bytes": _with_sync(SYNC_V1.encoded[:4]),
            "sync request of version 1 of 27 bytes": _with_sync(SYNC_V1.encoded[:27]),
            "sync request of version 1 with its reserved word set": _with_sync(replace(SYNC_V1, reserved=1).encoded),
            "sync request of version 2 of 4 bytes": _with_sync(SYNC_V2.encoded[:4]),
            "sync request of version 2 of 28 bytes": _with_sync(SYNC_V2.encoded[:28]),
            "sync request of version 2 of 47 bytes": _with_sync(SYNC_V2.encoded[:47]),
            "sync request of version 2 without a flag": _with_sync(replace(SYNC_V2, flags=0).encoded),
            "sync request with a record cut": _with_sync(_sync_with_count(3, 3)[:-1]),
        }
        | {
            f"sync request with {count:#x} records and bytes for {present}": _with_sync(
                _sync_with_count(count, present)
            )
            for count, present in SYNC_COUNTS_REFUSED
        },
    )
    + cases(
        SYNC_ANSWER,
        {
            "sync request of version 1": _with_sync(SYNC_V1.encoded),
            "sync request of version 2": _with_sync(SYNC_V2.encoded),
            "sync request of version 2 with its reserved word set": _with_sync(replace(SYNC_V2, reserved=1).encoded),
            "sync request with one record": _with_sync(_sync_with_count(1, 1)),
            "sync request with 250 records": _with_sync(_sync_with_count(250, 250)),
        }
        | {
            f"sync request with flag {flag:#x} alone": _with_sync(replace(SYNC_V2, flags=flag).encoded)
            for flag in tags.SYNC_FLAGS
        },
    )
    + cases(
        LICENSE,
        {
            f"sync block of version {version:#x}": _with_sync(NotSync(version).encoded)
            for version in (0, 3, 0x01000000, 0xFFFFFFFF)
        },
    )
)

"""Which license a device gets for a key with a right, or why it is refused; and the answer to a sync request.

These are the rules of a careful key server, written from the protocol. The Python key server follows them. They also
judge what the daemon grants to random requests.
"""

import datetime
from dataclasses import dataclass, field

from fairplay_device import tags
from fairplay_device.facts import NO_EXPIRY, SecurityLevelReport, SyncV1, SyncV2
from fairplay_device.key_server import OpenedSPC
from fairplay_device.license import License, OfflineKey, Persistent, Streaming, Terms

DENY_LIST_VERSION_MINIMUM = 31
LEVELS = {"audio": tags.LEVEL_AUDIO, "baseline": tags.LEVEL_BASELINE, "main": tags.LEVEL_MAIN}
# In order, the weakest first.
HDCP_TYPES = ("none", "type0", "type1")
HDCP_LEVELS = dict(zip(HDCP_TYPES, (tags.HDCP_NOT_REQUIRED, tags.HDCP_TYPE_0, tags.HDCP_TYPE_1)))
# What a device enforces if a CKC has no HDCP block.
HDCP_UNMENTIONED = tags.HDCP_TYPE_0


@dataclass(frozen=True)
class Demand:
    """The minimum that a device must support. `None` means no requirement."""

    hdcp: str | None = None
    security_level: str | None = None


CONTENT_TYPES = {
    "audio": Demand(None, "audio"),
    "sd": Demand(None, "baseline"),
    "hd": Demand("type0", "baseline"),
    "uhd": Demand("type1", "main"),
}
CONTENT_TYPE_OF_TRACK = {"AUDIO": "audio", "SD": "sd", "HD": "hd", "UHD": "uhd"}
CONTENT_TYPE_UNLABELLED = "sd"


@dataclass(frozen=True)
class ContentKey:
    """A key as the packager or the operator registered it."""

    key_id: bytes
    key: bytes
    iv: bytes
    track: str | None = None
    content_type: str | None = None
    demand: Demand = Demand()

    @property
    def policy(self) -> Demand:
        label_says = CONTENT_TYPE_OF_TRACK.get(self.track or "", CONTENT_TYPE_UNLABELLED)
        return CONTENT_TYPES[self.content_type or label_says]


@dataclass(frozen=True)
class Right:
    """What a token allows for one content. Durations are in seconds, `end` is in seconds of the Unix epoch."""

    mode: str = "stream"
    lease: int | None = None
    rental: int | None = None
    storage: int | None = None
    playback: int | None = None
    demand: Demand = Demand()
    tracks: dict[str, Demand] = field(default_factory=dict)
    end: int | None = None

    @property
    def claims(self) -> dict[str, object]:
        """The members of the right in a token, besides the one that names the content."""
        members = {
            "mode": self.mode,
            "lease": self.lease,
            "duration": self.rental,
            "storage": self.storage,
            "playback": self.playback,
            "end": self.end,
            "tracks": {label: _demand_claims(demand) for label, demand in self.tracks.items()} or None,
        }
        return {name: value for name, value in members.items() if value is not None} | _demand_claims(self.demand)


def _demand_claims(demand: Demand) -> dict[str, object]:
    members = {"hdcp": demand.hdcp, "min_level": demand.security_level}
    return {name: value for name, value in members.items() if value is not None}


@dataclass(frozen=True)
class Policy:
    """What the operator has configured for all contents. The keys of `title_ids` are content ids."""

    title_id: bytes = bytes(16)
    splits_hard_ends: bool = False


class Refused(Exception):
    """The license is refused. Any of these codes is a right answer, because each of the reasons holds."""

    def __init__(self, codes: set[str]):
        super().__init__(", ".join(sorted(codes)))
        self.codes = codes


def decide(spc: OpenedSPC, right: Right, key: ContentKey, policy: Policy, *, offline: bool) -> License:
    """The license that the server must grant. Raises `Refused` if it must refuse.

    A right with a lease does not allow a device to keep a license, because a device that is offline cannot renew it. A
    right only to keep a license does not allow streaming. `end` is ignored here, because its effect depends on the
    clock.
    """
    floors = [key.policy, key.demand]
    wishes = [right.demand, right.tracks.get(key.track or "", Demand())]
    demands = floors + wishes
    hdcp = strictest_hdcp(floors, wishes)
    security_level = max(LEVELS[demand.security_level] for demand in demands if demand.security_level is not None)
    codes = set()
    if offline and (right.mode == "stream" or right.lease is not None):
        codes.add("offline_not_allowed")
    if not offline and right.mode == "offline":
        codes.add("content_mismatch")
    terms = offline_terms(spc, right, key, policy) if offline else streaming_terms(spc, right)
    if terms is None:
        codes.add("terms_not_expressible")
    if not _can_protect(spc, hdcp, security_level):
        codes.add("security_level")
    if terms is None or codes:
        raise Refused(codes)
    return License(
        content_key=key.key,
        content_iv=key.iv,
        terms=terms,
        hdcp_level=None if hdcp is None else HDCP_LEVELS[hdcp],
        security_level=security_level,
    )


def strictest_hdcp(floors: list[Demand], wishes: list[Demand]) -> str | None:
    """The HDCP type for the license. Only a right can switch HDCP off with "none"; "none" in a policy has no effect."""
    asked = [floor.hdcp for floor in floors if floor.hdcp not in (None, "none")]
    asked += [wish.hdcp for wish in wishes if wish.hdcp is not None]
    return max(asked, key=HDCP_TYPES.index, default=None)


def enforced_hdcp(level: int | None) -> int:
    """What a device enforces for an HDCP block, or without one."""
    return HDCP_UNMENTIONED if level is None else level


def _can_protect(spc: OpenedSPC, hdcp: str | None, security_level: int) -> bool:
    if hdcp == "type1" and not _has_capability(spc, tags.CAPABILITY_HDCP_TYPE_1):
        return False
    level = device_security_level(spc)
    return level is None or level >= security_level


def _has_capability(spc: OpenedSPC, bit: int) -> bool:
    return spc.capabilities is not None and spc.capabilities & bit != 0


def device_security_level(spc: OpenedSPC) -> int | None:
    """The security level from the device's report or else from its capabilities. Old devices send neither.

    Level zero is valid, and below all others. A Mac with an outdated list of denied kernel extensions counts as
    Baseline at most. List version zero is not outdated. The separate block for the list version takes precedence over
    the report.
    """
    report = spc.security_level_report
    if not isinstance(report, SecurityLevelReport) or report.version != 1:
        report = None
    if report is not None:
        level = report.level
    elif _has_capability(spc, tags.CAPABILITY_LEVEL_MAIN):
        level = tags.LEVEL_MAIN
    elif _has_capability(spc, tags.CAPABILITY_LEVEL_BASELINE):
        level = tags.LEVEL_BASELINE
    else:
        level = None
    if not 0 < _deny_list_version(spc, report) < DENY_LIST_VERSION_MINIMUM:
        return level
    return tags.LEVEL_BASELINE if level is None else min(level, tags.LEVEL_BASELINE)


def _deny_list_version(spc: OpenedSPC, report: SecurityLevelReport | None) -> int:
    if spc.deny_list_version is not None:
        return spc.deny_list_version.version
    return 0 if report is None else report.deny_list_version


def streaming_terms(spc: OpenedSPC, right: Right) -> Streaming | None:
    """The terms for streaming, or `None` if no block can tell this device the limits.

    A lease is at most as long as the rental.
    """
    lease = right.lease if right.lease is None or right.rental is None else min(right.lease, right.rental)
    terms = Streaming(lease, right.rental)
    return terms if terms == Streaming() or spc.playback_state is not None else None


def offline_terms(spc: OpenedSPC, right: Right, key: ContentKey, policy: Policy) -> Terms | None:
    """The terms to keep a license, or `None` if no block can tell this device the limits."""
    hard_end, storage, playback = offline_ends(right)
    names = offline_key_names(spc, key, policy)
    if hard_end is not None:
        splits = policy.splits_hard_ends or spc.playback_state is None
        if names and splits and hard_end > 1:
            # The device enforces two limits, which share the time. A single second cannot be halved.
            return OfflineKey(names[0], hard_end - hard_end // 2, hard_end // 2, *names[1:])
        return None if spc.playback_state is None else Persistent(hard_end)
    if names:
        return OfflineKey(names[0], storage, playback, *names[1:])
    if playback is not None or spc.playback_state is None:
        return None
    return Persistent(storage)


def offline_key_names(spc: OpenedSPC, key: ContentKey, policy: Policy) -> tuple[bytes, ...]:
    """The ids of the key in the newest offline key block that the device can read; empty if it can read no version."""
    if _has_capability(spc, tags.CAPABILITY_OFFLINE_KEY_V2):
        return key.key_id, policy.title_id
    if _has_capability(spc, tags.CAPABILITY_OFFLINE_KEY):
        return (key.key_id,)
    return ()


def offline_ends(right: Right) -> tuple[int | None, int | None, int | None]:
    """The seconds until a hard end, or for storage and playback.

    A rental limits the sum of storage and playback.
    """
    storage, playback, whole = right.storage, right.playback, right.rental
    if whole is None:
        return None, storage, playback
    bounded = whole if storage is None else min(storage, whole)
    if playback is None:
        return (whole, None, None) if bounded == whole else (None, bounded, whole - bounded)
    shortened = min(bounded, whole - playback)
    if shortened < min(bounded, playback):
        return min(bounded, playback), None, None
    return None, shortened, playback


# --- Sync requests ---------------------------------------------------------------------------------------------------

FLAG_NAMES = {
    tags.SYNC_REPORT: "report",
    tags.SYNC_SECURE_INVALIDATION: "secure-invalidation",
    tags.SYNC_INVALIDATE_ALL: "secure-invalidation-all",
    tags.SYNC_TITLE_ID_VALID: "title-id-valid",
    tags.SYNC_SUCCESS: "success",
    tags.SYNC_OBJECT_NOT_FOUND: "obj-not-found",
    tags.SYNC_OBJECT_EXPIRED: "obj-expired",
}


def sync_answer(request: SyncV1 | SyncV2, now: datetime.datetime, *, challenge_accepted: bool) -> dict[str, object]:
    """What the app is told: the content of the request, and when the key expires by the server's clock."""
    expires_in = None if request.duration == NO_EXPIRY else request.duration
    expiry = None if expires_in is None else now + datetime.timedelta(seconds=expires_in)
    return {
        "offline-sync": _sync_members(request),
        "expiresInSeconds": expires_in,
        "expirationDate": None if expiry is None else expiry.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "challengeAccepted": challenge_accepted,
    }


def _sync_members(request: SyncV1 | SyncV2) -> dict[str, object]:
    members: dict[str, object] = {"version": request.version, "duration-to-expiry": request.duration}
    if isinstance(request, SyncV1):
        return members | {"content-id": request.content_id.hex()}
    return members | {
        "server-challenge": f"{request.challenge:016x}",
        "flags": {name: request.flags & flag != 0 for flag, name in FLAG_NAMES.items()},
        "title-id": request.title_id.hex(),
        "records-invalidated": len(request.stream_ids),
        "invalidated-stream-ids": [stream_id.hex() for stream_id in request.stream_ids],
    }

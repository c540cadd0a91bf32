"""What a token of any dialect allows a device at a given time, or which refusals are right.

It was written only from the description of the claims. `Situation` is what the server knows besides the token. `decide`
returns the license that the server must grant, or raises `Refused` with every code that is a right answer.
"""

from dataclasses import dataclass, field, replace

from fairplay_device import tags
from fairplay_device.key_server import OpenedSPC
from fairplay_device.license import License, Streaming
from license_policy import HDCP_TYPES, LEVELS, ContentKey, Demand, Policy, Refused, Right, device_security_level
from license_policy import decide as decide_right

AIRPLAY = "airplay"
ADAPTER = "adapter"


@dataclass(frozen=True)
class Grant:
    """One right of a token. A selector is ("content", id), ("kids", ids), ("prefix", text) or ("anything",)."""

    selector: tuple[object, ...]
    right: Right
    start: int | None = None
    end: int | None = None
    profile: str | None = None
    airplay: bool | None = None
    adapter: bool | None = None


@dataclass(frozen=True)
class Entitlement:
    """The contents of a token. The first grant that allows the use counts."""

    grants: list[Grant]
    device: bytes | None = None
    networks: list[str] = field(default_factory=list)
    countries: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Situation:
    """What the server knows besides the token.

    Times are seconds of the Unix epoch. The operator's profiles are by name, each a `Right` that tightens limits.
    """

    now: int
    content: str
    key: ContentKey
    device: bytes
    offline: bool
    loopback: bool = True
    country: str | None = None
    profiles: dict[str, Right] = field(default_factory=dict)
    policy: Policy = Policy()


class PlaybackEnded(Exception):
    """The device reports that it has stopped, and would otherwise get a license: it is told the end, and gets no
    key."""


def decide(spc: OpenedSPC, entitlement: Entitlement, situation: Situation) -> License:
    """The license that the server must grant. Raises `Refused` or `PlaybackEnded`."""
    refusals: list[set[str]] = []
    granting: list[tuple[Grant, Right]] = []
    for grant in entitlement.grants:
        if not covers(grant.selector, situation):
            continue
        codes = closed(grant, situation)
        if codes:
            refusals.append(codes)
        else:
            granting.append((grant, tightened(grant, situation)))
    if not granting:
        raise Refused(most_telling(refusals) if refusals else {"content_mismatch"})
    codes = elsewhere(entitlement, situation)
    if not codes:
        return first_that_suits(spc, granting, situation)
    # The server learns HU only after the other decisions, so either refusal is right.
    try:
        first_that_suits(spc, granting, situation)
    except Refused as refused:
        codes |= refused.codes
    except PlaybackEnded:
        pass
    raise Refused(codes)


def covers(selector: tuple[object, ...], situation: Situation) -> bool:
    match selector:
        case ("content", content):
            return content == situation.content
        case ("kids", key_ids):
            return situation.key.key_id in key_ids
        case ("prefix", text):
            return situation.content.startswith(text)
    return selector == ("anything",)


def closed(grant: Grant, situation: Situation) -> set[str]:
    """The codes of why a right that covers the content does not allow this use now. Empty if it allows the use."""
    codes = set()
    if grant.profile is not None and grant.profile not in situation.profiles:
        return {"token_schema"}
    if situation.offline and (grant.right.mode == "stream" or grant.right.lease is not None):
        codes.add("offline_not_allowed")
    if not situation.offline and grant.right.mode == "offline":
        codes.add("content_mismatch")
    if grant.start is not None and situation.now < grant.start:
        codes.add("right_not_started")
    if grant.end is not None and situation.now >= grant.end:
        codes.add("right_ended")
    return codes


def most_telling(refusals: list[set[str]]) -> set[str]:
    """The refusal of the first right. If that right is never for this use, a right that is only closed now comes
    before it."""
    if refusals[0] & {"offline_not_allowed", "content_mismatch"}:
        return next((codes for codes in refusals if codes <= {"right_not_started", "right_ended"}), refusals[0])
    return refusals[0]


def tightened(grant: Grant, situation: Situation) -> Right:
    """The right combined with its profile: the shorter limits and the stricter demands.

    A lease applies only to streaming.
    """
    if grant.profile is None:
        return grant.right
    right, rule = grant.right, situation.profiles[grant.profile]
    return replace(
        right,
        lease=least(right.lease, None if situation.offline else rule.lease),
        rental=least(right.rental, rule.rental),
        storage=least(right.storage, rule.storage),
        playback=least(right.playback, rule.playback),
        demand=stricter(right.demand, rule.demand),
    )


def elsewhere(entitlement: Entitlement, situation: Situation) -> set[str]:
    """The codes of the token's demands on device, network and country that are not met."""
    codes = set()
    if entitlement.device is not None and entitlement.device != situation.device:
        codes.add("device_mismatch")
    if entitlement.networks and not (situation.loopback and "127.0.0.0/8" in entitlement.networks):
        codes.add("ip_denied")
    if entitlement.countries and situation.country not in entitlement.countries:
        codes.add("geo_denied")
    return codes


def first_that_suits(spc: OpenedSPC, granting: list[tuple[Grant, Right]], situation: Situation) -> License:
    """The license for the first right that suits the device's output and level.

    If a block cannot tell the device the limits of a right, the next right is not tried.
    """
    refusals: list[set[str]] = []
    for grant, right in granting:
        output = output_of(spc)
        if (output == AIRPLAY and grant.airplay is False) or (output == ADAPTER and grant.adapter is False):
            refusals.append({"security_level"})
            continue
        if level_of_right(right, situation.key) and not reaches(spc, level_of_right(right, situation.key)):
            refusals.append({"security_level"})
            continue
        license = decide_right(
            spc, replace(right, mode="both"), situation.key, situation.policy, offline=situation.offline)
        if ends_playback(spc, license, offline=situation.offline):
            raise PlaybackEnded
        return license
    raise Refused(refusals[0])


def ends_playback(spc: OpenedSPC, license: License, *, offline: bool) -> bool:
    stopped = spc.playback_state is not None and spc.playback_state.state == tags.PLAYBACK_STOPPED
    leased = isinstance(license.terms, Streaming) and license.terms.lease is not None
    return stopped and not offline and leased


def output_of(spc: OpenedSPC) -> str | None:
    return {tags.STREAMING_TO_AIRPLAY: AIRPLAY, tags.STREAMING_TO_AV_ADAPTER: ADAPTER}.get(spc.streaming_indicator)


def level_of_right(right: Right, key: ContentKey) -> str | None:
    named = [right.demand.security_level, right.tracks.get(key.track or "", Demand()).security_level]
    return max((level for level in named if level is not None), key=LEVEL_ORDER.index, default=None)


LEVEL_ORDER = ("audio", "baseline", "main")


def reaches(spc: OpenedSPC, level: str) -> bool:
    known = device_security_level(spc)
    return known is None or known >= LEVELS[level]


def least(one: int | None, other: int | None) -> int | None:
    return min((limit for limit in (one, other) if limit is not None), default=None)


def stricter(one: Demand, other: Demand) -> Demand:
    def most(values: list[str | None], order: tuple[str, ...]) -> str | None:
        return max((value for value in values if value is not None), key=order.index, default=None)

    return Demand(
        most([one.hdcp, other.hdcp], HDCP_TYPES), most([one.security_level, other.security_level], LEVEL_ORDER)
    )

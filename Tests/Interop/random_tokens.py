"""Random tokens of every dialect, each with its meaning in the terms of `token_policy`."""

import random
import secrets
import time
from dataclasses import dataclass
from typing import TypeVar

import tokens
from license_policy import HDCP_TYPES, LEVELS, Demand, Right
from token_issuers import Issuers
from token_policy import Entitlement, Grant, Situation

SECONDS = (60, 120, 3600, 172_800, 2_592_000)
LIFE_SECONDS = 3000
OTHER_KEY_ID = bytes(range(16))
Value = TypeVar("Value")


@dataclass(frozen=True)
class RandomToken:
    dialect: str
    text: str
    entitlement: Entitlement
    claims: object


def random_token(randomness: random.Random, issuers: Issuers, situation: Situation) -> RandomToken:
    """A random token that is valid now. It need not allow the license."""
    return randomness.choice([_native, _native, _nagra, _axinom, _sealed])(randomness, issuers, situation)


# --- The native dialect ---------------------------------------------------------------------------------------------


def _native(randomness: random.Random, issuers: Issuers, situation: Situation) -> RandomToken:
    grants, rights = [], []
    for _ in range(randomness.choice([1, 1, 2, 3])):
        grant = _native_grant(randomness, situation)
        grants.append(grant)
        rights.append(_native_right(grant))
    entitlement = Entitlement(
        grants, _device(randomness, situation), _maybe(randomness, [randomness.choice(NETWORKS)], 0.9) or [],
        _maybe(randomness, ["CH", "DE"], 0.95) or [],
    )
    limits = {"ips": entitlement.networks, "countries": entitlement.countries}
    claims = issuers.claims(
        rights=rights,
        jti=secrets.token_hex(8),
        sub=_maybe(randomness, f"account-{secrets.token_hex(4)}", 0.3),
        cnf=None if entitlement.device is None else {"fps:hu": tokens.encode(entitlement.device)},
        limits={name: value for name, value in limits.items() if value} or None,
    )
    signer = randomness.choice(list(issuers.native.values()))
    return RandomToken("native", signer.sign(claims), entitlement, claims)


NETWORKS = ("127.0.0.0/8", "203.0.113.0/24")


def _native_grant(randomness: random.Random, situation: Situation) -> Grant:
    selector = randomness.choice(
        [
            ("content", situation.content), ("content", situation.content), ("content", "another"),
            ("kids", [situation.key.key_id]), ("kids", [OTHER_KEY_ID, situation.key.key_id]), ("kids", [OTHER_KEY_ID]),
            ("prefix", situation.content[:5]), ("prefix", "another"),
        ]
    )
    mode = randomness.choice(["stream", "offline", "both", "both"])
    right = Right(
        mode=mode,
        lease=_maybe(randomness, randomness.choice(SECONDS), 0.6),
        rental=_maybe(randomness, randomness.choice(SECONDS), 0.6),
        storage=_maybe(randomness, randomness.choice(SECONDS)),
        playback=_maybe(randomness, randomness.choice(SECONDS)),
        demand=_demand(randomness),
        tracks=_tracks(randomness, situation.key.track),
    )
    return Grant(
        selector, right, _start(randomness, situation), _end(randomness, situation), _profile(randomness),
        _maybe(randomness, randomness.random() < 0.5, 0.8), _maybe(randomness, randomness.random() < 0.5, 0.8),
    )


def _tracks(randomness: random.Random, track: str | None) -> dict[str, Demand]:
    return {} if track is None else randomness.choice([{}, {track: _demand(randomness)}])


def _native_right(grant: Grant) -> dict[str, object]:
    name, *values = grant.selector
    selector = {
        "content": lambda: {"content": values[0]},
        "kids": lambda: {"kids": [_guid(key_id) for key_id in values[0]]},
        "prefix": lambda: {"content_prefix": values[0]},
    }[name]()
    members = {
        "start": grant.start, "end": grant.end, "profile": grant.profile, "airplay": grant.airplay,
        "av_adapter": grant.adapter,
    }
    return selector | grant.right.claims | {name: value for name, value in members.items() if value is not None}


# --- NAGRA ----------------------------------------------------------------------------------------------------------


def _nagra(randomness: random.Random, issuers: Issuers, situation: Situation) -> RandomToken:
    """A random NAGRA token, without `duration` and `jti`, because special rules count and read those."""
    grants, rights = [], []
    for _ in range(randomness.choice([1, 1, 2])):
        content = randomness.choice([situation.content, situation.content, "another"])
        key_ids = _maybe(randomness, [randomness.choice([situation.key.key_id, OTHER_KEY_ID])], 0.7)
        storable = randomness.choice([None, True, False])
        rules = randomness.choice(
            [None, *({name: value} for name in ("hdcp", "unprotectedDigitalOutput") for value in (True, False))]
        )
        protects = rules is not None and (rules.get("hdcp") or rules.get("unprotectedDigitalOutput") is False)
        grant = Grant(
            ("content", content) if key_ids is None else ("kids", key_ids),
            Right(mode="both" if storable else "stream", demand=Demand("type0" if protects else None)),
            _start(randomness, situation), _end(randomness, situation), _profile(randomness),
        )
        grants.append(grant)
        members = {
            "contentId": content,
            "defaultKcIds": None if key_ids is None else [_guid(key_id) for key_id in key_ids],
            "start": None if grant.start is None else _rfc3339(grant.start, ".000Z"),
            "end": None if grant.end is None else _rfc3339(grant.end, ".000Z"),
            "storable": storable,
            "usageRulesProfileId": grant.profile,
            "defaultUsageRules": rules,
        }
        rights.append({name: value for name, value in members.items() if value is not None})
    device = _device(randomness, situation)
    claims = issuers.nagra_claims(
        contentRights=rights, device=None if device is None else {"deviceUniqueId": device.hex().upper()})
    return RandomToken("nagra", issuers.nagra.sign(claims), Entitlement(grants, device), claims)


# --- Axinom ---------------------------------------------------------------------------------------------------------


def _axinom(randomness: random.Random, issuers: Issuers, situation: Situation) -> RandomToken:
    start, end = _start(randomness, situation), _end(randomness, situation)
    duration, own_duration = (_maybe(randomness, randomness.choice(SECONDS), 0.6) for _ in range(2))
    persistent, real_time = randomness.random() < 0.5, randomness.random() < 0.3
    playback = _maybe(randomness, randomness.choice(SECONDS))
    interval = _maybe(randomness, randomness.choice(SECONDS), 0.7)
    hdcp = randomness.choice([None, *HDCP_TYPES])
    airplay, adapter = (_maybe(randomness, randomness.random() < 0.5, 0.7) for _ in range(2))
    networks = _maybe(randomness, [randomness.choice(["127.0.0.1", "203.0.113.7"])], 0.9) or []

    effective = own_duration if own_duration is not None else duration
    lease = min((limit for limit in (interval, effective if real_time else None) if limit is not None), default=None)
    key_ids = [randomness.choice([situation.key.key_id, situation.key.key_id, OTHER_KEY_ID])]
    source = randomness.choice(["inline", "stored", "license_request"])
    selector: tuple[object, ...] = ("anything",) if source == "license_request" else ("kids", key_ids)
    stream = Grant(selector, Right("stream", lease, effective, demand=Demand(hdcp)), start, end, None, airplay, adapter)
    grants = [stream]
    if persistent:
        kept = Right("offline", interval, effective, playback=playback, demand=Demand(hdcp))
        grants.append(Grant(selector, kept, start, end, None, airplay, adapter))

    def present(**members: object) -> dict[str, object]:
        return {name: value for name, value in members.items() if value is not None}

    policy = {"usage_policy": "A"}
    elements = {"license_request": policy, source: policy} if source == "license_request" else {
        source: [{"id": _guid(key_id)} | policy for key_id in key_ids]}
    message = {
        "license": present(
            start_datetime=None if start is None else _rfc3339(start, "Z"),
            expiration_datetime=None if end is None else _rfc3339(end, "Z"),
            duration=duration,
            allow_persistence=randomness.choice([persistent, "true" if persistent else "false"]),
            concurrency_interval=interval,
            fairplay=present(duration=own_duration, real_time_expiration=real_time, playback_duration=playback),
        ),
        "content_keys_source": elements,
        "content_key_usage_policies": [
            {
                "name": "A",
                "fairplay": present(
                    hdcp=None if hdcp is None else hdcp.upper(), allow_airplay=airplay, allow_av_adapter=adapter),
            }
        ],
    }
    if networks:
        message["license_server"] = {"access_control": {"allowed_ip_addresses": networks}}
    claims = issuers.axinom_claims(message)
    text = issuers.axinom.sign(claims, **randomness.choice([{}, {"kid": None}]))
    listed = ["127.0.0.0/8" if network == "127.0.0.1" else network for network in networks]
    return RandomToken("axinom", text, Entitlement(grants, networks=listed), claims)


# --- Sealed tokens --------------------------------------------------------------------------------------------------


def _sealed(randomness: random.Random, issuers: Issuers, situation: Situation) -> RandomToken:
    by_key = randomness.random() < 0.4
    key_id = randomness.choice([situation.key.key_id, situation.key.key_id, OTHER_KEY_ID])
    content = randomness.choice([situation.content, situation.content, "another"])
    rental, lease, storage, playback = (_maybe(randomness, randomness.choice(SECONDS), 0.7) for _ in range(4))
    offline = randomness.random() < 0.5
    device = _device(randomness, situation)

    def number(value: int | None) -> bytes | None:
        return None if value is None else value.to_bytes((value.bit_length() + 7) // 8, "big")

    if not offline:
        storage = playback = None
    fields = {
        "f16": None if by_key else content.encode(),
        "f6": key_id if by_key else None,
        "f7": number(rental),
        "f8": number(lease),
        "f9": b"\x01" if offline else None,
        "f10": number(storage),
        "f11": number(playback),
        "f13": device,
    }
    right = Right("both" if offline else "stream", lease, rental, storage, playback)
    grant = Grant(("kids", [key_id]) if by_key else ("content", content), right)
    text = issuers.sealed(issuers.sealed_fields(**fields))
    return RandomToken("sealed", text, Entitlement([grant], device), fields)


# --- Parts ----------------------------------------------------------------------------------------------------------


def _demand(randomness: random.Random) -> Demand:
    return Demand(
        _maybe(randomness, randomness.choice(HDCP_TYPES), 0.7), _maybe(randomness, randomness.choice(list(LEVELS)), 0.7)
    )


def _device(randomness: random.Random, situation: Situation) -> bytes | None:
    return _maybe(randomness, situation.device if randomness.random() < 0.7 else randomness.randbytes(20), 0.7)


def _start(randomness: random.Random, situation: Situation) -> int | None:
    """A start long before or long after now, because the clocks of test and daemon differ by a second or two."""
    return _maybe(randomness, situation.now + randomness.choice([-86_400, -3600, 3600]), 0.7)


def _end(randomness: random.Random, situation: Situation) -> int | None:
    """An end in the past only, because the terms of a license before an end depend on the exact second."""
    return _maybe(randomness, situation.now - randomness.choice([3600, 86_400]), 0.9)


def _profile(randomness: random.Random) -> str | None:
    return randomness.choice([None, None, None, "HD", "nobody-has-it"] if randomness.random() < 0.3 else [None, "HD"])


def _guid(key_id: bytes) -> str:
    digits = key_id.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _rfc3339(seconds: int, suffix: str) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + suffix


def _maybe(randomness: random.Random, value: Value, absent: float = 0.5) -> Value | None:
    return None if randomness.random() < absent else value

"""Valid and invalid tokens of every dialect, each with the status and code that it must get.

The expected codes are those of the table of errors. Separate functions have the demands that a token makes on the
device, its uses and its playbacks. A demand that the daemon cannot enforce is refused as `token_schema`.
"""

import hmac
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

import tokens
from token_issuers import ALGORITHMS, LEEWAY_SECONDS, LIFE_SECONDS, Issuers, SigningKey
from workbench import Outcome

GOOD = Outcome(200, None)
SCHEMA = Outcome(400, "token_schema")
DEVICE = Outcome(403, "device_mismatch")
OTHER_CONTENT = Outcome(403, "content_mismatch")
# So far past the leeway that a slow machine does not matter.
LATE = LEEWAY_SECONDS + 5
# Within the leeway.
NEARLY = LEEWAY_SECONDS // 3


def unauthorised(code: str) -> Outcome:
    return Outcome(401, code)


MALFORMED = unauthorised("token_malformed")
ALGORITHM = unauthorised("token_alg")
SIGNATURE = unauthorised("token_signature")
UNKNOWN = unauthorised("kid_unknown")


@dataclass(frozen=True)
class TokenCase:
    name: str
    token: str
    expected: Outcome


def all_cases(issuers: Issuers) -> list[TokenCase]:
    cases: list[TokenCase] = []
    for algorithm in ALGORITHMS:
        for name, token, expected in _forgeries(issuers, issuers.native[algorithm]):
            cases.append(TokenCase(f"{algorithm}: {name}", token, expected))
    groups = {
        "jwt": [_native_times, _native_claims, _native_demands, _native_forms],
        "keys": [_key_states],
        "nagra": [_nagra, _nagra_demands],
        "axinom": [_axinom, _axinom_demands],
        "sealed": [_sealed, _sealed_demands],
    }
    for dialect, makers in groups.items():
        for make in makers:
            cases += [TokenCase(f"{dialect}: {name}", token, expected) for name, token, expected in make(issuers)]
    return cases


Row = tuple[str, str, Outcome]


# --- Signatures, once for each algorithm ------------------------------------------------------------------------------


def _forgeries(issuers: Issuers, key: SigningKey) -> Iterator[Row]:
    claims = issuers.claims()
    good = key.sign(claims)
    text, _, signature = good.rpartition(".")
    others = [issuers.native[name] for name in ALGORITHMS if name != key.algorithm]
    yield "good, by PyJWT", good, GOOD
    yield "good, by jwcrypto", key.sign_with_jwcrypto(claims), GOOD
    yield "no typ", key.sign(claims, typ=None), GOOD
    yield "typ of our own", key.sign(claims, typ="fps-ent+jwt"), GOOD
    for name in ("at+jwt", "application/at+jwt", "jwt", "application/jwt", "AT+JWT"):
        yield f"typ {name}", key.sign(claims, typ=name), GOOD
    for name in ("logout+jwt", "application/logout+jwt", "DPoP+JWT", "secevent+jwt"):
        yield f"typ {name}, for another use", key.sign(claims, typ=name), MALFORMED
    yield "typ as a number", key.sign(claims, typ=1), MALFORMED
    for name in ("none", "None", "NONE", "nOnE"):
        yield f"alg {name}", tokens.signing_input({"alg": name, "kid": key.kid}, claims) + ".", ALGORITHM
    yield "alg none, properly signed", key.sign(claims, alg="none"), ALGORITHM
    yield "alg in lower case", key.sign(claims, alg=key.algorithm.lower()), ALGORITHM
    yield "alg of 512 bits", key.sign(claims, alg=key.algorithm.replace("256", "512") + "x"), ALGORITHM
    yield "alg as a number", key.sign(claims, alg=256), MALFORMED
    yield "no alg", key.sign(claims, alg=None), ALGORITHM
    for other in others:
        yield f"alg {other.algorithm}, own signature", key.sign(claims, alg=other.algorithm), ALGORITHM
        yield f"alg and signature of {other.algorithm}", other.sign(claims, kid=key.kid), ALGORITHM
        yield f"kid of the {other.algorithm} key", key.sign(claims, kid=other.kid), ALGORITHM
    if key.algorithm == "ES256":
        raw = tokens.decode(signature)
        numbers = (int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
        yield "signature in DER", f"{text}.{tokens.encode(encode_dss_signature(*numbers))}", MALFORMED
    yield "empty signature", text + ".", SIGNATURE
    yield "signature cut by a byte", f"{text}.{tokens.encode(tokens.decode(signature)[:-1])}", SIGNATURE
    yield "signature and a byte", f"{text}.{tokens.encode(tokens.decode(signature) + bytes(1))}", SIGNATURE
    yield "signature of zeros", f"{text}.{tokens.encode(bytes(len(tokens.decode(signature))))}", SIGNATURE
    yield "signature of ones", f"{text}.{tokens.encode(bytes([255]) * len(tokens.decode(signature)))}", SIGNATURE
    yield "one bit of the signature", tokens.with_altered_signature(good), SIGNATURE
    yield "other claims", tokens.with_altered_claims(good), SIGNATURE
    yield "a stranger's key", issuers.stranger[key.algorithm].sign(claims), SIGNATURE
    yield "unknown kid", key.sign(claims, kid="no-such-key"), UNKNOWN
    yield "kid in another case", key.sign(claims, kid=key.kid.upper()), UNKNOWN
    yield "kid as a path", key.sign(claims, kid="../../../dev/null"), UNKNOWN
    yield "empty kid", key.sign(claims, kid=""), UNKNOWN
    yield "no kid, and an issuer with several keys", key.sign(claims, kid=None), UNKNOWN
    yield "kid as a number", key.sign(claims, kid=1), MALFORMED
    yield "crit", key.sign(claims, crit=["exp"]), MALFORMED
    yield "jku", key.sign(claims, jku="https://attacker.example/keys"), MALFORMED
    yield "x5u", key.sign(claims, x5u="https://attacker.example/chain"), MALFORMED
    yield "jwk", key.sign(claims, jwk=issuers.stranger["ES256"].for_verifiers), MALFORMED
    yield "x5c", key.sign(claims, x5c=["MII"]), MALFORMED
    if key.algorithm != "HS256":
        forged = tokens.signing_input({"alg": "HS256", "kid": key.kid}, claims)
        yield "the public key as a secret", _hs256(forged, key.public_pem), ALGORITHM
        honest = tokens.signing_input({"alg": key.algorithm, "kid": key.kid}, claims)
        yield "the public key as a secret, under its own name", _hs256(honest, key.public_pem), SIGNATURE
        for_secret = tokens.signing_input({"alg": "HS256", "kid": issuers.native["HS256"].kid}, claims)
        yield "the public key as the secret of another kid", _hs256(for_secret, key.public_pem), SIGNATURE


def _hs256(text: str, secret: bytes) -> str:
    return f"{text}.{tokens.encode(hmac.digest(secret, text.encode(), 'sha256'))}"


# --- Native claims ----------------------------------------------------------------------------------------------------


def _native_times(issuers: Issuers) -> Iterator[Row]:
    key, now = issuers.native["ES256"], int(time.time())

    def sign(**changes: object) -> str:
        return key.sign(issuers.claims(**changes))

    yield "expired within the leeway", sign(exp=now - NEARLY, iat=now - 99, nbf=now - 99), GOOD
    yield "expired past the leeway", sign(exp=now - LATE, iat=now - 99, nbf=now - 99), unauthorised("token_expired")
    yield "nbf within the leeway", sign(nbf=now + NEARLY), GOOD
    yield "nbf in the future", sign(nbf=now + 61), unauthorised("token_not_yet")
    yield "iat in the future", sign(iat=now + 61), unauthorised("token_not_yet")
    yield "a fraction of a second", sign(exp=now + 300.5, iat=now - 0.5), GOOD
    yield "no exp", sign(exp=None), SCHEMA
    for name, value in (("text", "1999999999"), ("true", True), ("list", [now]), ("1e30", 1e30), ("ms", now * 1000)):
        yield f"exp as {name}", sign(exp=value), SCHEMA
    yield "nbf as text", sign(nbf=str(now)), SCHEMA
    yield "iat as true", sign(iat=True), SCHEMA
    yield "the longest life", sign(iat=now, exp=now + LIFE_SECONDS), GOOD
    yield "a second too long", sign(iat=now, exp=now + LIFE_SECONDS + 1), unauthorised("token_life")
    yield "no beginning", sign(iat=None, nbf=None), unauthorised("token_life")


def _native_claims(issuers: Issuers) -> Iterator[Row]:
    key, now = issuers.native["EdDSA"], int(time.time())

    def sign(**changes: object) -> str:
        return key.sign(issuers.claims(**changes))

    def right(**members: object) -> str:
        return sign(rights=[{"content": issuers.content} | members])

    for name, value in (("another", "https://other.example"), ("missing", None), ("list", [issuers.ISSUER])):
        yield f"iss {name}", sign(iss=value), unauthorised("token_issuer")
    for name, value in (("another", "other"), ("missing", None), ("empty list", []), ("another case", "Latchkey")):
        yield f"aud {name}", sign(aud=value), unauthorised("token_audience")
    yield "aud list", sign(aud=["other", "latchkey"]), GOOD
    yield "aud list with a number", sign(aud=["latchkey", 1]), SCHEMA
    yield "no rights", sign(rights=None), SCHEMA
    yield "rights as an object", sign(rights={"content": issuers.content}), SCHEMA
    yield "empty rights", sign(rights=[]), OTHER_CONTENT
    yield "another content", sign(rights=[{"content": "other"}]), OTHER_CONTENT
    yield "content in another case", sign(rights=[{"content": issuers.content.upper()}]), OTHER_CONTENT
    yield "content escaped", sign(rights=[{"content": issuers.content.replace("-", "%2D")}]), OTHER_CONTENT
    yield "content with a zero", sign(rights=[{"content": issuers.content + "\0"}]), SCHEMA
    yield "content with a space", sign(rights=[{"content": issuers.content + " "}]), SCHEMA
    yield "by prefix", sign(rights=[{"content_prefix": issuers.content[:-1]}]), GOOD
    yield "by key", sign(rights=[{"kids": [issuers.key_id]}]), GOOD
    yield "by another key", sign(rights=[{"kids": ["00000000-0000-0000-0000-000000000000"]}]), OTHER_CONTENT
    yield "two selectors", right(content_prefix="a"), SCHEMA
    yield "an unknown member", right(leese=300), SCHEMA
    yield "ended", right(end=now - 1), Outcome(403, "right_ended")
    yield "not begun", right(start=now + 600), Outcome(403, "right_not_started")
    yield "begun and not ended", right(start=now - 60, end=now + 600), GOOD
    yield "offline alone", right(mode="offline"), OTHER_CONTENT
    yield "a lease of zero", right(lease=0), SCHEMA
    yield "a lease as text", right(lease="300"), SCHEMA
    yield "a lease", right(lease=300), GOOD
    yield "an unknown mode", right(mode="Stream"), SCHEMA
    yield "unknown HDCP", right(hdcp="type2"), SCHEMA
    yield "an AirPlay that is no boolean", right(airplay="false"), SCHEMA
    yield "AirPlay allowed", right(airplay=True, av_adapter=True), GOOD
    yield "a device's name", sign(device={"id": "box-7", "account": "account-123"}), GOOD
    yield "a device that is bound to none", sign(device={"bind": "pinned"}), SCHEMA
    yield "a cookie", sign(cookie="c" * 64), GOOD
    yield "a cookie that is too long", sign(cookie="c" * 65), SCHEMA
    yield "a rate", sign(limits={"rate": "1/s"}), SCHEMA
    yield "a confirmation by key", sign(cnf={"jwk": {"kty": "EC"}}), SCHEMA
    yield "a network with bits behind it", sign(limits={"ips": ["203.0.113.1/24"]}), SCHEMA
    yield "unknown claims", sign(scope="all", name={"given": "A"}), GOOD


def _native_demands(issuers: Issuers) -> Iterator[Row]:
    """Tokens with one demand each, for a device on loopback with its own screen."""
    key = issuers.native["RS256"]
    demands = {
        "another device": ({"cnf": {"fps:hu": "AAAAAAAAAAAAAAAAAAAAAAAAAAA"}}, DEVICE),
        "the first device": ({"device": {"bind": "first"}}, GOOD),
        "a number of devices": ({"device": {"max": 5}}, GOOD),
        "playbacks at once": ({"session": {"groups": [{"id": "all", "max": 2}]}}, GOOD),
        "playbacks without a subject": ({"session": {"groups": [{"id": "all", "max": 2}]}, "sub": None}, SCHEMA),
        "a number of uses": ({"limits": {"uses": 1}}, GOOD),
        "its network": ({"limits": {"ips": ["127.0.0.0/8"]}}, GOOD),
        "another network": ({"limits": {"ips": ["203.0.113.0/24"]}}, Outcome(403, "ip_denied")),
        "countries": ({"limits": {"countries": ["CH"]}}, Outcome(403, "geo_denied")),
        "no AirPlay": ({"rights": [{"content": issuers.content, "airplay": False}]}, GOOD),
        "no adapter": ({"rights": [{"content": issuers.content, "av_adapter": False}]}, GOOD),
        "an unknown profile": ({"rights": [{"content": issuers.content, "profile": "HD"}]}, SCHEMA),
    }
    for name, (changes, expected) in demands.items():
        yield name, key.sign(issuers.claims(**changes)), expected


def _native_forms(issuers: Issuers) -> Iterator[Row]:
    key = issuers.native["HS256"]
    header = {"alg": "HS256", "kid": key.kid}
    claims = issuers.claims()
    good = key.sign(claims)
    head, body, signature = good.split(".")
    text = json.dumps(claims)
    yield "a member twice", key.sign_text(header, text[:-1] + ', "exp": 9999999999}'), MALFORMED
    yield "a member twice, escaped", key.sign_text(header, text[:-1] + ', "\\u0065xp": 9999999999}'), MALFORMED
    yield "alg twice", key.sign_text('{"alg": "none", ' + json.dumps(header)[1:], claims), MALFORMED
    yield "kid twice", key.sign_text('{"kid": "x", ' + json.dumps(header)[1:], claims), MALFORMED
    yield "a payload that is no JSON", key.sign_text(header, "not JSON"), MALFORMED
    yield "a payload that is a list", key.sign_text(header, "[]"), MALFORMED
    yield "two payloads", key.sign_text(header, text + text), MALFORMED
    yield "a comment", key.sign_text(header, text[:-1] + "/* */}"), MALFORMED
    yield "a comma at the end", key.sign_text(header, text[:-1] + ",}"), MALFORMED
    yield "a byte order mark", key.sign_text(header, "\ufeff" + text), MALFORMED
    yield "levels upon levels", key.sign_text(header, '{"a":' * 40 + "1" + "}" * 40), MALFORMED
    yield "a header that is no JSON", key.sign_text("HS256", claims), MALFORMED
    yield "padding", f"{head}.{body}.{signature}=", MALFORMED
    yield "the standard alphabet", f"{head}.{body}.{'+' + signature[1:]}", MALFORMED
    yield "bits behind the last byte", f"{head}.{body}.{signature[:-1]}{_next_digit(signature[-1])}", MALFORMED
    yield "two parts", f"{head}.{body}", MALFORMED
    yield "four parts", f"{good}.{signature}", MALFORMED
    yield "five parts", f"{good}..", MALFORMED
    yield "an empty header", f".{body}.{signature}", MALFORMED
    yield "an empty payload", f"{head}..{signature}", MALFORMED
    yield "no token at all", "token", MALFORMED
    yield "more than 8 KiB", key.sign(claims | {"x": "x" * 8192}), MALFORMED


def _next_digit(digit: str) -> str:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return alphabet[alphabet.index(digit) ^ 1]


def _key_states(issuers: Issuers) -> Iterator[Row]:
    revoked = unauthorised("kid_revoked")
    expected = {
        "next": GOOD, "retiring": GOOD, "retired": revoked, "expired": revoked, "revoked": revoked, "withdrawn": revoked,
    }
    for name, key in issuers.states.items():
        yield name, key.sign(issuers.claims()), expected[name]


# --- NAGRA ------------------------------------------------------------------------------------------------------------


def _nagra(issuers: Issuers) -> Iterator[Row]:
    key, now = issuers.nagra, int(time.time())

    def sign(**changes: object) -> str:
        return key.sign(issuers.nagra_claims(**changes))

    def right(**members: object) -> str:
        return sign(contentRights=[{"contentId": issuers.content} | members])

    yield "good", sign(), GOOD
    yield "without kid and iss", key.sign(issuers.nagra_claims(), kid=None), UNKNOWN
    yield "without kid, of an issuer with one key", key.sign(issuers.nagra_claims(iss="nagra"), kid=None), GOOD
    yield "without kid, of an issuer with several keys", key.sign(
        issuers.nagra_claims(iss=issuers.ISSUER), kid=None), UNKNOWN
    yield "without kid, of no issuer", key.sign(issuers.nagra_claims(iss="Nagra"), kid=None), UNKNOWN
    yield "without kid, by another key", issuers.native["HS256"].sign(
        issuers.nagra_claims(iss="nagra"), kid=None), SIGNATURE
    yield "without kid, with another algorithm", issuers.native["ES256"].sign(
        issuers.nagra_claims(iss="nagra"), kid=None), UNKNOWN
    yield "alg none", tokens.signing_input({"alg": "none", "kid": key.kid}, issuers.nagra_claims()) + ".", ALGORITHM
    yield "another key", issuers.native["HS256"].sign(issuers.nagra_claims(), kid=key.kid), SIGNATURE
    yield "an altered signature", tokens.with_altered_signature(sign()), SIGNATURE
    yield "native claims", key.sign(issuers.claims()), unauthorised("token_issuer")
    yield "native claims of no issuer", key.sign(issuers.claims(iss=None)), SCHEMA
    yield "expired", sign(exp=now - LATE), unauthorised("token_expired")
    yield "no exp", sign(exp=None), SCHEMA
    yield "exp as text", sign(exp=str(now + 300)), SCHEMA
    yield "too long a life", sign(exp=now + LIFE_SECONDS + 60), unauthorised("token_life")
    yield "another type", sign(typ="DevAuthN"), SCHEMA
    yield "a content key", sign(typ="Kc"), unauthorised("token_issuer")
    yield "a session", sign(typ="Session"), unauthorised("token_issuer")
    yield "no type", sign(typ=None), SCHEMA
    yield "another version", sign(ver="2.0"), SCHEMA
    yield "no rights", sign(contentRights=None), SCHEMA
    yield "rights as one object", sign(contentRights={"contentId": issuers.content}), GOOD
    yield "another content as one object", sign(contentRights={"contentId": "other"}), OTHER_CONTENT
    yield "one object that is misspelt", sign(contentRights={"contentId": issuers.content, "storeable": True}), SCHEMA
    yield "rights as a text", sign(contentRights=issuers.content), SCHEMA
    yield "rights as a list of lists", sign(contentRights=[[{"contentId": issuers.content}]]), SCHEMA
    yield "another content", sign(contentRights=[{"contentId": "other"}]), OTHER_CONTENT
    yield "keys by name", sign(contentRights=[{"contentId": "x", "defaultKcIds": [issuers.key_id]}]), GOOD
    yield "within its times", right(start="2021-05-22T09:30:52.563Z", end="2091-06-01T16:28:05.267Z"), GOOD
    yield "ended", right(end="2021-06-01T16:28:05.267Z"), Outcome(403, "right_ended")
    yield "not begun", right(start="2091-06-01T16:28:05.267Z"), Outcome(403, "right_not_started")
    yield "a start as a number", right(start=now), SCHEMA
    yield "for 60 days", right(duration=5184000, storable=True), GOOD
    yield "for no time", right(duration=0), SCHEMA
    yield "storable as text", right(storable="true"), SCHEMA
    yield "a misspelt member", right(storeable=True), SCHEMA
    yield "old rules", right(defaultUsageRules={"digitalOnly": False, "hdcp": True}), GOOD
    yield "digital outputs alone", right(defaultUsageRules={"digitalOnly": True}), SCHEMA
    yield "a device's names", sign(device={"deviceId": "5f", "accountId": "a"}), GOOD
    yield "a device that no SPC names", sign(device={"deviceUniqueId": "5f"}), SCHEMA
    yield "a session's name", right(sessionControl={"sessionId": "s", "groups": []}), GOOD
    yield "another issuer", sign(iss="other"), unauthorised("token_issuer")
    yield "another audience", sign(aud="other"), unauthorised("token_audience")


def _nagra_demands(issuers: Issuers) -> Iterator[Row]:
    key = issuers.nagra
    content = {"contentId": issuers.content}
    groups = {"groups": [{"groupId": "g", "maxSessions": 2}]}
    demands = {
        "a token id": ({"jti": "j-1"}, GOOD),
        "another device": ({"device": {"deviceUniqueId": "00112233445566778899AABBCCDDEEFF00112233"}}, DEVICE),
        "an unknown profile": ({"contentRights": [content | {"usageRulesProfileId": "HD"}]}, SCHEMA),
        "sessions": (
            {"contentRights": [content | {"sessionControl": groups}], "device": {"accountId": "account-1"}}, GOOD),
        "sessions without a subject": ({"contentRights": [content | {"sessionControl": groups}]}, SCHEMA),
    }
    for name, (changes, expected) in demands.items():
        yield name, key.sign(issuers.nagra_claims(**changes)), expected


# --- Axinom -----------------------------------------------------------------------------------------------------------


def _axinom(issuers: Issuers) -> Iterator[Row]:
    key = issuers.axinom

    def sign(message: dict[str, object] | None = None, **changes: object) -> str:
        return key.sign(issuers.axinom_claims(message, **changes), kid=None)

    yield "good", sign(), GOOD
    yield "with kid", key.sign(issuers.axinom_claims()), GOOD
    yield "alg none", tokens.signing_input({"alg": "none"}, issuers.axinom_claims()) + ".", ALGORITHM
    yield "alg ES256", key.sign(issuers.axinom_claims(), kid=None, alg="ES256"), ALGORITHM
    yield "another key", issuers.native["HS256"].sign(issuers.axinom_claims(), kid=None), SIGNATURE
    yield "an unknown key", sign(com_key_id="00000000-0000-0000-0000-000000000000"), UNKNOWN
    yield "no key", sign(com_key_id=None), UNKNOWN
    yield "the key of a native issuer", issuers.native["HS256"].sign(
        issuers.axinom_claims(com_key_id=issuers.native["HS256"].kid), kid=None), UNKNOWN
    yield "another key in the payload", key.sign(issuers.axinom_claims(com_key_id="other")), SCHEMA
    yield "jku", key.sign(issuers.axinom_claims(), kid=None, jku="https://attacker.example"), MALFORMED
    yield "expired", sign(expiration_date="2025-04-28T12:23:40+01:00"), unauthorised("token_expired")
    yield "not valid yet", sign(begin_date="2091-04-28T12:23:40+01:00"), unauthorised("token_not_yet")
    yield "no end", sign(expiration_date=None), SCHEMA
    yield "an end as a number", sign(expiration_date=1999999999), SCHEMA
    yield "too long a life", sign(expiration_date="2091-04-28T12:23:40+01:00"), unauthorised("token_life")
    yield "no beginning", sign(begin_date=None), GOOD
    yield "another envelope", sign(version=2), SCHEMA
    yield "an older message", sign({"version": 1}), SCHEMA
    yield "another message", sign({"type": "license_request_info"}), SCHEMA
    yield "no keys", sign({"content_keys_source": None}), SCHEMA
    yield "two sources", sign({"content_keys_source": {"inline": [], "stored": []}}), SCHEMA
    yield "no key of this content", sign({"content_keys_source": {"inline": []}}), OTHER_CONTENT
    yield "a stored key", sign({"content_keys_source": {"stored": [{"id": issuers.key_id}]}}), GOOD
    yield "keys of the request", sign({"content_keys_source": {"license_request": {"seed_id": issuers.key_id}}}), GOOD
    yield "a policy that is not there", sign({"content_key_usage_policies": []}), SCHEMA
    yield "unknown HDCP", sign(
        {"content_key_usage_policies": [{"name": "Policy A", "fairplay": {"hdcp": "TYPE9"}}]}), SCHEMA
    yield "not begun", sign({"license": {"start_datetime": "2091-01-01T00:00:00Z"}}), Outcome(403, "right_not_started")
    yield "ended", sign({"license": {"expiration_datetime": "2021-01-01T00:00:00Z"}}), Outcome(403, "right_ended")
    yield "a flag as text", sign({"license": {"fairplay": {"allow_persistence": "false"}}}), GOOD
    yield "a flag as another text", sign({"license": {"fairplay": {"allow_persistence": "no"}}}), SCHEMA
    yield "a lease", sign({"license": {"concurrency_interval": 300, "concurrency_grace_period": 60}}), GOOD
    yield "all keys at once", sign({"license": {"fairplay": {"ignore_keys_in_license_request": True}}}), SCHEMA
    yield "sections of other systems", sign(
        {"license": {"widevine": {"allow_renewal": True}, "playready": {"custom_data": "x"}}}), GOOD
    yield "a misspelt member", sign({"license": {"durations": 1}}), SCHEMA
    yield "devices by GUID", sign(
        {"license_server": {"access_control": {"fairplay": {"allowed_device_ids": [issuers.key_id]}}}}), SCHEMA


def _axinom_demands(issuers: Issuers) -> Iterator[Row]:
    access = {
        "no reuse": {"prevent_drm_message_reuse": True},
        "streams at once": {"concurrency_limit": 2, "concurrency_mode": "BLOCK_NEW_DEVICE"},
        "addresses": {"allowed_ip_addresses": ["127.0.0.1"]},
    }
    viewer = {"session": {"user_id": "viewer-1"}}
    for name, members in access.items():
        message = viewer | {"license_server": {"access_control": members}}
        yield name, issuers.axinom.sign(issuers.axinom_claims(message), kid=None), GOOD
    anonymous = {"license_server": {"access_control": access["streams at once"]}}
    yield "streams without a subject", issuers.axinom.sign(issuers.axinom_claims(anonymous), kid=None), SCHEMA
    message = viewer | {
        "license_server": {"access_control": access["streams at once"]},
        "license": {"concurrency_grace_period": 2**62},
    }
    yield "a grace beyond all time", issuers.axinom.sign(issuers.axinom_claims(message), kid=None), GOOD
    policy = {"content_key_usage_policies": [{"name": "Policy A", "fairplay": {"allow_airplay": False}}]}
    yield "no AirPlay", issuers.axinom.sign(issuers.axinom_claims(policy), kid=None), GOOD


# --- Sealed tokens ----------------------------------------------------------------------------------------------------


def _sealed(issuers: Issuers) -> Iterator[Row]:
    now = int(time.time())
    fields = issuers.sealed_fields

    def sealed(**changes: bytes | None) -> str:
        return issuers.sealed(fields(**changes))

    good = issuers.sealed()
    yield "good", good, GOOD
    yield "a stored key", sealed(f16=None, f6=bytes.fromhex(issuers.key_id.replace("-", ""))), GOOD
    yield "another content", sealed(f16=b"other"), OTHER_CONTENT
    yield "terms", sealed(f7=bytes([28, 32]), f8=bytes([1, 44])), GOOD
    yield "another key", issuers.sealed(key=bytes(32)), SIGNATURE
    yield "an unknown key", issuers.sealed(number=8), UNKNOWN
    yield "another version", issuers.sealed(version=3), MALFORMED
    yield "another type", issuers.sealed(type=3), MALFORMED
    yield "an altered tag", tokens.encode(tokens.decode(good)[:-1] + bytes([tokens.decode(good)[-1] ^ 1])), SIGNATURE
    yield "cut short", good[: len(good) // 2 // 4 * 4], SIGNATURE
    yield "a few letters of it", good[:20], MALFORMED
    yield "padding", good + "=", MALFORMED
    yield "expired", sealed(f2=(now - 99).to_bytes(4, "big"), f3=(now - LATE).to_bytes(4, "big")), unauthorised(
        "token_expired")
    yield "not valid yet", sealed(f2=(now + 61).to_bytes(4, "big")), unauthorised("token_not_yet")
    yield "too long a life", sealed(f3=(now + LIFE_SECONDS + 60).to_bytes(4, "big")), unauthorised("token_life")
    yield "no end", sealed(f3=None), SCHEMA
    yield "no token id", sealed(f1=None), SCHEMA
    yield "nothing that it is for", sealed(f16=None), SCHEMA
    yield "a number with a zero in front", sealed(f8=bytes([0, 60])), SCHEMA
    yield "a key without its vector", sealed(f4=bytes(16)), SCHEMA
    yield "a vector that is the key", sealed(f4=bytes(16), f5=bytes(16)), SCHEMA
    yield "an unknown field", issuers.sealed(fields() + bytes([99, 1, 1])), SCHEMA
    yield "fields out of order", issuers.sealed(fields() + bytes([7, 1, 60])), SCHEMA
    yield "a field that is cut off", issuers.sealed(fields() + bytes([17, 9, 1])), MALFORMED
    yield "unknown flags", sealed(f9=bytes([128])), SCHEMA
    yield "an extension that says nothing", sealed(f19=b"wudo" + bytes(4)), GOOD
    yield "an extension that says something", sealed(f19=b"wudo" + bytes([0, 0, 0, 1])), SCHEMA
    yield "a native token signed by its key", issuers.native["HS256"].sign(issuers.claims(), kid="7"), UNKNOWN


def _sealed_demands(issuers: Issuers) -> Iterator[Row]:
    fields = issuers.sealed_fields
    yield "a key inside", issuers.sealed(fields(f4=bytes(range(16)), f5=bytes(16))), GOOD
    yield "another device", issuers.sealed(fields(f13=bytes(20))), DEVICE
    yield "the first device", issuers.sealed(fields(f9=bytes([2]))), GOOD
    yield "a number of uses", issuers.sealed(fields(f14=bytes([1]))), GOOD

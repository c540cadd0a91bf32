"""SIGHUP under a load of license requests, for every field of the configuration.

The daemon prints the table of its fields and which of them need a restart. Each live field has a step that shows that
the next request uses the changed value. Each fixed field is changed, and the log must name it. No request of the load
may fail.
"""

import base64
import datetime
import hashlib
import itertools
import json
import re
import secrets
import sqlite3
import ssl
import time
import urllib.parse
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.bindings import _rust
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding

import key_server
import session_tokens
import tokens
from fairplay_device import tags
from fairplay_device.credentials import Credential, make_credential
from fairplay_device.facts import DenyListVersion, SecurityLevelReport, VMDeviceInfo
from fairplay_device.license import OfflineKey, Streaming
from fairplay_device.spc import Device
from key_server import make_keys, serving
from license_client import Answer, LicenseClient
from reload_lab import PORTAL, TOKEN_HEADER, WAIT_SECONDS, Field, Lab, running_lab, table_of, with_values
from test_callback import service
from tls_material import make_pair
from token_issuers import SigningKey

REPOSITORY = Path(__file__).parent.parent.parent
# The seconds that the call-back service takes to decide about a slow token.
SLOW_SECONDS = 0.15

# --- Live fields without a step -------------------------------------------------------------------------------------

NOT_SHOWN = {
    "fairplay.credentials[].module": "a credential with a module needs a restart; see the fixed fields",
    "fairplay.credentials[].sdk": "it needs a library of the SDK, which this lab does not have",
    "drain.delay": "it counts when the daemon ends; test_restart waits for it",
}


@dataclass(frozen=True)
class Step:
    """A check that changes of some fields are in force."""

    fields: tuple[str, ...]
    run: Callable[[Lab], None]


STEPS: list[Step] = []


def shows(*fields: str) -> Callable[[Callable[[Lab], None]], Callable[[Lab], None]]:
    def add(run: Callable[[Lab], None]) -> Callable[[Lab], None]:
        STEPS.append(Step(fields, run))
        return run

    return add


def changes(
    field: str | tuple[str, ...], probe: Callable[[Lab], Any], values: dict[str, Any], before: Any, after: Any
) -> None:
    """Adds a step: the next request must give one result before the reload and another result after it."""

    def run(lab: Lab) -> None:
        assert probe(lab) == before
        lab.change(values)
        assert probe(lab) == after

    STEPS.append(Step((field,) if isinstance(field, str) else field, run))


# --- Listeners ------------------------------------------------------------------------------------------------------


def tls_steps(listener: str, address: Callable[[Lab], tuple[str, int]]) -> None:
    place = f"listeners.{listener}[1].tls"
    name = f"listeners.{listener}[].tls"

    @shows(f"{name}.certificate", f"{name}.privateKey")
    def certificate(lab: Lab) -> None:
        files = with_values(lab.base, {})["listeners"][listener][1]["tls"]
        other = make_pair(lab.setup / "tls", f"{listener}-replaced", hosts=("first.example",))
        lab.change({f"{place}.certificate": str(other.certificate_file), f"{place}.privateKey": str(other.key_file)})
        assert lab.handshake(address(lab)) == der(other.certificate)
        # The same files with other contents.
        lab.restore()
        renewed = make_pair(lab.setup / "tls", f"{listener}-first", hosts=("first.example", "localhost"))
        assert str(renewed.certificate_file) == files["certificate"]
        lab.restore()
        assert lab.handshake(address(lab)) == der(renewed.certificate)

    @shows(f"{name}.additional[].certificate", f"{name}.additional[].privateKey")
    def additional(lab: Lab) -> None:
        other = make_pair(lab.setup / "tls", f"{listener}-other-second", hosts=("second.example",))
        assert lab.handshake(address(lab), "second.example") != der(other.certificate)
        lab.change({f"{place}.additional": [other.configuration]})
        assert lab.handshake(address(lab), "second.example") == der(other.certificate)

    @shows(f"{name}.clientCA")
    def client_authority(lab: Lab) -> None:
        assert lab.handshake(address(lab)) is not None
        lab.change({f"{place}.clientCA": "tls/other-authority.pem"})
        assert lab.handshake(address(lab)) is None


    @shows(f"{name}.minimumVersion")
    def minimum_version(lab: Lab) -> None:
        assert lab.negotiate(address(lab), maximum=ssl.TLSVersion.TLSv1_2) is not None
        lab.change({f"{place}.minimumVersion": "1.3"})
        assert lab.negotiate(address(lab), maximum=ssl.TLSVersion.TLSv1_2) is None
        assert lab.negotiate(address(lab)) is not None

    @shows(f"{name}.cipherList", f"{name}.cipherSuites")
    def ciphers(lab: Lab) -> None:
        lab.change({f"{place}.cipherList": "ECDHE+CHACHA20", f"{place}.cipherSuites": "TLS_AES_128_GCM_SHA256"})
        assert lab.negotiate(address(lab)) == "TLS_AES_128_GCM_SHA256"
        assert "CHACHA20" in (lab.negotiate(address(lab), maximum=ssl.TLSVersion.TLSv1_2) or "")

    @shows(f"{name}.ticketKeys")
    def ticket_keys(lab: Lab) -> None:
        first, second = (lab.materials.secret(f"ticket-{listener}-{number}", secrets.token_hex(32)) for number in (1, 2))
        lab.change({f"{place}.ticketKeys": [first]})
        session = lab.session(address(lab))
        assert lab.resumes(address(lab), session)
        # A rotation keeps the tickets that were issued. Afterwards the old key is removed.
        lab.change({f"{place}.ticketKeys": [second, first]})
        assert lab.resumes(address(lab), session)
        lab.change({f"{place}.ticketKeys": [second]})
        assert not lab.resumes(address(lab), session)


def der(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(Encoding.DER)


tls_steps("public", lambda lab: lab.public[1])
tls_steps("admin", lambda lab: lab.admin[1])


@shows("listeners.admin[].tokenFile")
def admin_token(lab: Lab) -> None:
    def statuses() -> list[int]:
        return [lab.administer("GET", "/metrics", token=token).status for token in (first, second)]

    file = lab.setup / "secrets" / "admin-token"
    first, second = file.read_text().strip(), secrets.token_hex(20)
    assert statuses() == [200, 401]
    lab.change({"listeners.admin[0].tokenFile": lab.materials.secret("other-admin-token", second)})
    assert statuses() == [401, 200]
    lab.restore()
    assert statuses() == [200, 401]
    file.write_text(second)
    lab.restore()
    assert statuses() == [401, 200]


@shows("listeners.admin[].tokens", "listeners.admin[].tokens[].name", "listeners.admin[].tokens[].file")
def named_admin_tokens(lab: Lab) -> None:
    def statuses() -> list[int]:
        return [lab.administer("GET", "/metrics", token=token).status for token in (alice, bob)]

    def actor(token: str) -> str:
        subject = secrets.token_hex(8)
        body = json.dumps({"kind": "sub", "issuer": PORTAL, "value": subject}).encode()
        assert lab.administer("POST", "/v1/revocations", body, token=token).status == 200
        return lab.newest_ledger_row("revoked")["actor"]

    alice, bob = secrets.token_hex(20), secrets.token_hex(20)
    assert statuses() == [401, 401]
    files = [lab.materials.secret(f"admin-token-{name}", token) for name, token in (("alice", alice), ("bob", bob))]
    lab.change({"listeners.admin[0].tokens": [{"name": "alice", "file": files[0]}]})
    assert statuses() == [200, 401] and actor(alice) == "token:alice"
    lab.change({"listeners.admin[0].tokens": [{"name": "robert", "file": files[1]}]})
    assert statuses() == [401, 200] and actor(bob) == "token:robert"
    lab.restore()
    assert statuses() == [401, 401]


@shows("listeners.admin[].tokens[].roles")
def roles_of_tokens(lab: Lab) -> None:
    def statuses() -> list[int]:
        requests = (("GET", "/metrics"), ("GET", "/v1/revocations"), ("POST", "/v1/ready"))
        return [lab.administer(method, path, token=token).status for method, path in requests]

    token = secrets.token_hex(20)
    entry = {"name": "dora", "file": lab.materials.secret("admin-token-dora", token)}
    for roles, expected in (
        (None, [200, 200, 200]), (["metrics"], [200, 403, 403]), (["support"], [403, 200, 403]),
        (["metrics", "support"], [200, 200, 403]),
    ):  # fmt: skip
        lab.change({"listeners.admin[0].tokens": [entry | ({"roles": roles} if roles else {})]})
        assert statuses() == expected


@shows(
    *(f"listeners.admin[].clients{name}" for name in ("", "[].name", "[].clientCertificates", "[].roles"))
)
def clients_with_certificates(lab: Lab) -> None:
    def sender() -> tuple[int, str | None, list[str] | None]:
        answer = lab.administer_over_tls("/v1/whoami")
        body = json.loads(answer.body)
        return answer.status, body.get("actor"), body.get("roles")

    assert sender()[0] == 401
    certificate = der(lab.made["client"].certificate)
    for name, certificates, roles in (
        ("erin", ["CN=client"], ["support"]), ("erin", ["CN=client"], ["metrics", "admin"]),
        ("frank", [hashlib.sha256(certificate).hexdigest()], ["security"]),
    ):  # fmt: skip
        entry = {"name": name, "clientCertificates": certificates, "roles": roles}
        lab.change({"listeners.admin[1].clients": [entry]})
        assert sender() == (200, f"certificate:{name}", roles)
    lab.restore()
    assert sender()[0] == 401


# --- Web pages ------------------------------------------------------------------------------------------------------

APP = "https://app.example"
changes(
    "cors.origins",
    lambda lab: lab.preflight("Allow-Origin", APP),
    {"cors.origins": ["https://www.example", APP]},
    None,
    APP,
)
changes(
    "cors.allowCredentials",
    lambda lab: lab.preflight("Allow-Credentials"),
    {"cors.allowCredentials": True},
    None,
    "true",
)
changes(
    "cors.allowedHeaders",
    lambda lab: "x-mine" in (lab.preflight("Allow-Headers") or "").lower(),
    {"cors.allowedHeaders": ["x-mine"]},
    False,
    True,
)


# --- FairPlay -------------------------------------------------------------------------------------------------------


def accepts(lab: Lab, device: Device, **facts: Any) -> bool:
    return lab.code(device=device, **facts) == "good"


def fixed_key_device(credential: Credential, key: bytes) -> Device:
    return Device(1, credential.certificate_1024, fixed_device_key=key)


def certificate(lab: Lab, name: str) -> bytes | None:
    answer = lab.client.send("GET", f"/fps/certificate?credential={name}")
    return answer.body if answer.status == 200 else None


@shows(
    *(
        f"fairplay.credentials[].{name}"
        for name in ("certificate1024", "privateKey1024", "certificate2048", "privateKey2048")
    )
)
def certificates(lab: Lab) -> None:
    credential = lab.made["other credential"]
    devices = [lab.device("other credential", version) for version in (1, 2)]
    assert not any(accepts(lab, device) for device in devices) and certificate(lab, "added") is None
    files = lab.materials.credential("added", credential)
    names = ("certificate1024", "privateKey1024", "certificate2048", "privateKey2048", "applicationSecret")
    added = {"name": "added"} | {name: files[name] for name in names}
    lab.change({"fairplay.credentials": [*lab.base["fairplay"]["credentials"], added]})
    assert all(accepts(lab, device) for device in devices) and certificate(lab, "added") == credential.bundle
    # The same files with other contents.
    replaced = make_credential()
    lab.made["replaced credential"] = replaced
    lab.materials.credential("added", replaced)
    assert lab.reload()["event"] == "reloaded"
    assert certificate(lab, "added") == replaced.bundle
    assert all(accepts(lab, lab.device("replaced credential", version)) for version in (1, 2))
    assert not any(accepts(lab, device) for device in devices)


@shows("fairplay.credentials[].certificateBundle", "fairplay.credentials[].privateKeyPassphrase")
def bundle(lab: Lab) -> None:
    credential = lab.made["other credential"]
    assert accepts(lab, lab.device("bundle credential")) and not accepts(lab, lab.device("other credential"))
    files = lab.materials.credential("other-bundle", credential, b"another passphrase")
    place = "fairplay.credentials[1]"
    lab.change(
        {
            f"{place}.{name}": files[name]
            for name in ("certificateBundle", "privateKey1024", "privateKey2048", "applicationSecret")
        }
        | {f"{place}.privateKeyPassphrase": lab.materials.secret("other-passphrase", "another passphrase")}
    )
    assert certificate(lab, "bundle") == credential.bundle
    assert accepts(lab, lab.device("other credential")) and not accepts(lab, lab.device("bundle credential"))


@shows("fairplay.credentials[].applicationSecret")
def application_secret(lab: Lab) -> None:
    old, new = lab.device("bundle credential"), lab.device("bundle credential")
    new.application_secret = secrets.token_bytes(16)
    assert accepts(lab, old) and not accepts(lab, new)
    lab.change({"fairplay.credentials[1].applicationSecret": lab.materials.secret("ask", new.application_secret.hex())})
    assert accepts(lab, new) and not accepts(lab, old)


@shows("fairplay.credentials[].fixedDASk")
def fixed_device_key(lab: Lab) -> None:
    credential, key = lab.made["fixed credential"], secrets.token_bytes(16)
    old, new = fixed_key_device(credential, credential.application_secret), fixed_key_device(credential, key)
    assert accepts(lab, old) and not accepts(lab, new)
    lab.change({"fairplay.credentials[2].fixedDASk": lab.materials.secret("dask", key.hex())})
    assert accepts(lab, new) and not accepts(lab, old)


changes(
    "fairplay.credentials[].stage",
    lambda lab: [certificate(lab, "bundle") is not None, accepts(lab, lab.device("bundle credential"))],
    {"fairplay.credentials[1].stage": "draining"},
    [True, True],
    [False, True],
)
changes(
    "fairplay.credentials[].name",
    lambda lab: certificate(lab, "renamed") is not None,
    {"fairplay.credentials[1].name": "renamed"},
    False,
    True,
)
changes(
    "fairplay.credentials[].spcVersion3",
    lambda lab: accepts(lab, lab.device(version=3)),
    {"fairplay.credentials[0].spcVersion3": True},
    False,
    True,
)
changes(
    "fairplay.spcVersion3", lambda lab: accepts(lab, lab.device(version=3)), {"fairplay.spcVersion3": True}, False, True
)
changes(
    "fairplay.protocolVersions",
    lambda lab: accepts(lab, lab.device(), protocol_version_used=2, protocol_versions_supported=(1, 2)),
    {"fairplay.protocolVersions": [1, 2]},
    False,
    True,
)


@shows("fairplay.allowTestCredentials")
def development_material(lab: Lab) -> None:
    lab.write({"fairplay.allowTestCredentials": False})
    assert "allowTestCredentials" in lab.reload()["cause"]
    assert accepts(lab, fixed_key_device(lab.made["fixed credential"], lab.made["fixed credential"].application_secret))


changes(
    "fairplay.offlineEnd",
    lambda lab: lab.opened(
        lab.token(right={"mode": "both", "duration": 3600}), "?offline=1", capabilities=tags.CAPABILITY_OFFLINE_KEY
    ).terms.storage,
    {"fairplay.offlineEnd": "split"},
    3600,
    1800,
)
changes(
    "fairplay.refuseOldDenyLists",
    lambda lab: lab.code(
        security_level_report=SecurityLevelReport(tags.LEVEL_MAIN), deny_list_version=DenyListVersion(30)
    )
    == "good",
    {"fairplay.refuseOldDenyLists": True},
    True,
    False,
)
changes(
    "fairplay.refuseVirtualMachines",
    lambda lab: lab.code(vm_device_info=VMDeviceInfo(1)) == "good",
    {"fairplay.refuseVirtualMachines": True},
    True,
    False,
)

# SPC options of a device that supports at most Baseline, and of a device without HDCP type 1.
WEAK = {"capabilities": tags.CAPABILITY_HDCP_TYPE_1 | tags.CAPABILITY_LEVEL_BASELINE}
UNPROTECTED = {"capabilities": tags.CAPABILITY_LEVEL_BASELINE | tags.CAPABILITY_LEVEL_MAIN}
for kind in ("audio", "sd", "hd", "uhd"):
    demands = kind == "uhd"
    changes(
        f"fairplay.contentPolicies.{kind}.securityLevel",
        lambda lab, kind=kind: lab.code(content=kind.upper(), **WEAK) == "good",
        {f"fairplay.contentPolicies.{kind}.securityLevel": "baseline" if demands else "main"},
        not demands,
        demands,
    )
    changes(
        f"fairplay.contentPolicies.{kind}.hdcp",
        lambda lab, kind=kind: lab.code(content=kind.upper(), **UNPROTECTED) == "good",
        {f"fairplay.contentPolicies.{kind}.hdcp": "none" if demands else "type1"},
        not demands,
        demands,
    )


# --- Tokens ---------------------------------------------------------------------------------------------------------

ISSUER = "entitlement.issuers[1]"
KEY = f"{ISSUER}.keys[0]"
EACH_KEY = "entitlement.issuers[].keys[]"
RENAMED = "https://renamed.example"
changes(
    "entitlement.issuers[].issuer",
    lambda lab: [lab.code(lab.token(iss=name)) == "good" for name in (PORTAL, RENAMED)],
    {f"{ISSUER}.issuer": RENAMED},
    [True, False],
    [False, True],
)
changes(
    "entitlement.issuers[].audience",
    lambda lab: [lab.code(lab.token(aud=name)) == "good" for name in ("portal", "another")],
    {f"{ISSUER}.audience": "another"},
    [True, False],
    [False, True],
)


@shows("entitlement.issuers[].dialect")
def dialect(lab: Lab) -> None:
    def codes() -> list[bool]:
        now = int(time.time())
        rights = [{"contentId": content} for content in lab.contents.values()]
        claims = {"typ": "ContentAuthZ", "ver": "1.0", "exp": now + 300, "contentRights": rights}
        return [lab.code(token) == "good" for token in (lab.token(), lab.made["portal"].sign(claims))]

    assert codes() == [True, False]
    lab.change({f"{ISSUER}.dialect": "nagra"})
    assert codes() == [False, True]


changes(
    f"{EACH_KEY}.kid",
    lambda lab: [lab.code(lab.token(header={"kid": kid})) == "good" for kid in ("portal-1", "portal-9")],
    {f"{KEY}.kid": "portal-9"},
    [True, False],
    [False, True],
)


@shows(f"{EACH_KEY}.algorithm", f"{EACH_KEY}.key")
def key(lab: Lab) -> None:
    def codes() -> list[bool]:
        return [lab.code(token()) == "good" for token in (lab.token, by_secret)]

    def by_secret() -> str:
        return lab.token("portal HS256", {"kid": "portal-1"})

    secret = tokens.decode(json.loads(lab.made["portal HS256"].pair.export())["k"])
    assert codes() == [True, False]
    lab.change({f"{KEY}.algorithm": "HS256", f"{KEY}.key": lab.materials.secret("portal-secret", secret)})
    assert codes() == [False, True]
    lab.restore()
    # The same file with another key.
    other = SigningKey.make("portal-1", "ES256")
    lab.materials.secret("portal.pem", other.public_pem)
    lab.restore()
    assert lab.code() == "token_signature"
    lab.made["portal"] = other
    assert lab.code() == "good"


@shows(f"{EACH_KEY}.state", f"{EACH_KEY}.until")
def key_state(lab: Lab) -> None:
    def end(seconds: int) -> str:
        time = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
        return time.strftime("%Y-%m-%dT%H:%M:%SZ")

    assert lab.code() == "good"
    lab.change({f"{KEY}.state": "revoked"})
    assert lab.code() != "good"
    lab.change({f"{KEY}.state": "retiring", f"{KEY}.until": end(3600)})
    assert lab.code() == "good"
    lab.change({f"{KEY}.state": "retiring", f"{KEY}.until": end(-3600)})
    assert lab.code() != "good"


@shows("entitlement.issuers[].keysFile")
def keys_file(lab: Lab) -> None:
    def codes() -> list[bool]:
        return [lab.code(lab.token(key)) == "good" for key in ("portal set", "portal set, next")]

    lab.made["portal set, next"] = SigningKey.make("portal-4", "ES256")
    sets = [json.dumps({"keys": [lab.made[name].for_verifiers]}) for name in ("portal set", "portal set, next")]
    assert codes() == [True, False]
    lab.change({f"{ISSUER}.keysFile": lab.materials.secret("other-keys.json", sets[1])})
    assert codes() == [False, True]
    lab.restore()
    lab.materials.secret("portal-keys.json", sets[1])
    lab.restore()
    assert codes() == [False, True]
    lab.materials.secret("portal-keys.json", sets[0])


@shows(
    *(f"entitlement.issuers[].{name}" for name in ("keysURL", "keysHosts", "keysAuthorities")),
    *(f"entitlement.issuers[].{name}" for name in ("keysRefresh", "keysMaximumAge")),
)
def keys_url(lab: Lab) -> None:
    lab.made["fetched"] = SigningKey.make("portal-5", "ES256")
    keys = make_keys(lab.setup / "tls" / "keys")
    keys.publish(lab.made["fetched"])

    def code() -> str:
        return lab.code(lab.token("fetched"))

    def await_true(condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + WAIT_SECONDS
        while not condition():
            assert time.monotonic() < deadline
            time.sleep(0.05)

    with serving(keys):
        good = {
            f"{ISSUER}.keysFile": None,
            f"{ISSUER}.keysURL": keys.url,
            f"{ISSUER}.keysHosts": ["localhost"],
            f"{ISSUER}.keysAuthorities": str(keys.authority.certificate_file),
        }
        assert code() == "kid_unknown"
        lab.change(good)
        assert code() == "good"
        for number, name in enumerate(("keysHosts", "keysAuthorities"), 1):
            # The URL is asked at once, in the new way. The keys that it gave before stay.
            lab.change(good | {f"{ISSUER}.{name}": None})
            await_true(lambda number=number: lab.log.read_text().count('"event":"issuer_keys_failed"') == number)
            assert code() == "good", name
        lab.change(good | {f"{ISSUER}.keysRefresh": "1s"})
        asked = len(keys.requests)
        await_true(lambda: len(keys.requests) > asked + 1)
        keys.failure = key_server.status_500
        lab.change(good | {f"{ISSUER}.keysRefresh": "1s", f"{ISSUER}.keysMaximumAge": "2s"})
        await_true(lambda: code() == "entitlement_unavailable")


@shows("entitlement.issuers[].discover")
def discover(lab: Lab) -> None:
    lab.made["found"] = SigningKey.make("portal-6", "ES256")
    keys = make_keys(lab.setup / "tls" / "issuer-keys")
    keys.publish(lab.made["found"])

    def code() -> str:
        return lab.code(lab.token("found", iss=keys.issuer))

    with serving(keys):
        keys.describe()
        assert code() == "kid_unknown"
        lab.change(
            {
                f"{ISSUER}.issuer": keys.issuer,
                f"{ISSUER}.keysFile": None,
                f"{ISSUER}.discover": True,
                f"{ISSUER}.keysHosts": ["localhost"],
                f"{ISSUER}.keysAuthorities": str(keys.authority.certificate_file),
            }
        )
        assert code() == "good"


changes(
    "entitlement.issuers[].maximumLife",
    lambda lab: lab.code(lab.token(exp=int(time.time()) + 7200)) == "good",
    {f"{ISSUER}.maximumLife": "3h"},
    False,
    True,
)
@shows("entitlement.issuers[].contents")
def issuer_contents(lab: Lab) -> None:
    assert lab.code() == "good"
    # The tokens of the load come from another issuer.
    lab.change({f"{ISSUER}.contents": ["other/*"]})
    assert lab.code() == "content_mismatch"
    lab.change({f"{ISSUER}.contents": ["other/*", lab.contents["SD"]]})
    assert lab.code() == "good"


@shows("entitlement.issuers[].offlineByRight")
def offline_by_right(lab: Lab) -> None:
    def is_persistent() -> bool:
        rights = [{"content": lab.contents["SD"], "mode": "both"}]
        return lab.opened(lab.token(rights=rights)).is_persistent

    assert not is_persistent()
    lab.change({f"{ISSUER}.offlineByRight": True})
    assert is_persistent()


changes(
    "entitlement.leeway",
    lambda lab: lab.code(lab.token(exp=int(time.time()) - 20, iat=int(time.time()) - 60, nbf=None)),
    {"entitlement.leeway": "60s"},
    "token_expired",
    "good",
)
changes(
    "entitlement.ignoredSources",
    lambda lab: lab.code(query=f"?token={lab.token()}", headers={}),
    {"entitlement.ignoredSources": ["query"]},
    "good",
    "token_missing",
)
changes(
    "entitlement.tokenHeaders",
    lambda lab: lab.code(headers={"X-Another": opaque("allow")}),
    {"entitlement.tokenHeaders": ["x-another"]},
    "token_missing",
    "good",
)
def code_of_a_token_in_the_body(lab: Lab) -> str:
    message = lab.device().request(lab.options()).message
    body = {"spc": base64.b64encode(message).decode(), "token": lab.token()}
    return lab.post(json.dumps(body).encode(), {}).code or "good"


changes(
    "entitlement.tokenInBody",
    code_of_a_token_in_the_body,
    {"entitlement.tokenInBody": True},
    "token_missing",
    "good",
)
changes(
    "entitlement.countryField",
    lambda lab: lab.ask(
        headers={
            "Authorization": f"Bearer {lab.token(limits={'countries': ['DE']})}",
            "X-Forwarded-For": "198.51.100.7",
            "X-Land": "DE",
        }
    ).status,
    {"entitlement.countryField": "x-land"},
    403,
    200,
)


# --- Rules of the operator ------------------------------------------------------------------------------------------


def rule_steps(place: str, names: str, right: dict[str, object], content: str) -> None:
    """Adds steps for the fields of a profile or of the limits for every license."""

    def streamed(lab: Lab) -> Streaming:
        terms = lab.opened(lab.token(right=right), content=content).terms
        assert isinstance(terms, Streaming)
        return terms

    def kept(lab: Lab) -> OfflineKey:
        terms = lab.opened(lab.token(right=right | {"mode": "both"}), "?offline=1", content=content).terms
        assert isinstance(terms, OfflineKey)
        return terms

    def code(lab: Lab, **facts: Any) -> str:
        return lab.code(lab.token(right=right), content=content, **facts)

    changes(f"{names}.lease", lambda lab: streamed(lab).lease, {f"{place}.lease": "77s"}, None, 77)
    changes(f"{names}.duration", lambda lab: streamed(lab).rental, {f"{place}.duration": "777s"}, None, 777)
    changes(f"{names}.storage", lambda lab: kept(lab).storage, {f"{place}.storage": "7777s"}, None, 7777)
    changes(f"{names}.playback", lambda lab: kept(lab).playback, {f"{place}.playback": "777s"}, None, 777)
    changes(
        f"{names}.offline",
        lambda lab: lab.code(lab.token(right=right | {"mode": "both"}), query="?offline=1", content=content),
        {f"{place}.offline": False},
        "good",
        "offline_not_allowed",
    )
    for output, indicator in (("airplay", tags.STREAMING_TO_AIRPLAY), ("avAdapter", tags.STREAMING_TO_AV_ADAPTER)):
        changes(
            f"{names}.{output}",
            lambda lab, indicator=indicator: code(lab, streaming_indicator=indicator) == "good",
            {f"{place}.{output}": False},
            True,
            False,
        )
    for inner in ("", f".tracks.{content}"):
        changes(
            f"{names}{inner}.hdcp",
            lambda lab: code(lab, **UNPROTECTED),
            {f"{place}{inner}.hdcp": "type1"},
            "good",
            "security_level",
        )
        changes(
            f"{names}{inner}.securityLevel",
            lambda lab: code(lab, **WEAK),
            {f"{place}{inner}.securityLevel": "main"},
            "good",
            "security_level",
        )


rule_steps("entitlement.profiles.P", "entitlement.profiles.P", {"profile": "P"}, "SD")
rule_steps("entitlement.limitsForEveryLicense", "entitlement.limitsForEveryLicense", {}, "OTHER")


# --- Sessions -------------------------------------------------------------------------------------------------------


@dataclass
class Viewer:
    """A viewer with a lease."""

    lab: Lab

    def __post_init__(self) -> None:
        self.device = self.lab.device()
        self.session = secrets.randbits(63) + 1

    def begin(self) -> str:
        answer = self.lab.ask(self.lab.token(right={"lease": 60}), device=self.device, session=self.session)
        token = answer.header("X-Session-Token")
        assert answer.status == 200 and token
        return token

    def renew(self, token: str) -> str:
        facts = {"device": self.device, "session": self.session, "state": tags.LEASE_ABOUT_TO_EXPIRE}
        return self.lab.code(token, query="?renew=true", **facts)


@shows("entitlement.sessions.key", "entitlement.sessions.retiredKeys")
def session_keys(lab: Lab) -> None:
    viewer = Viewer(lab)
    token = viewer.begin()
    assert viewer.renew(token) == "good"
    other = lab.materials.secret("session-key-2", secrets.token_hex(32))
    lab.change({"entitlement.sessions.key": other})
    assert viewer.renew(token) != "good"
    assert viewer.renew(Viewer.begin(viewer)) == "good"
    lab.change({"entitlement.sessions.key": other, "entitlement.sessions.retiredKeys": ["secrets/session-key"]})
    assert viewer.renew(token) == "good"


def session_life(lab: Lab) -> int:
    claims = session_tokens.claims_of(Viewer(lab).begin())
    return int(claims["exp"]) - int(claims["iat"])


changes("entitlement.sessions.grace", session_life, {"entitlement.sessions.grace": "77s"}, 60 + 120, 60 + 77)
changes("entitlement.sessions.maximumLife", session_life, {"entitlement.sessions.maximumLife": "90s"}, 60 + 120, 90)


# --- The call-back service ------------------------------------------------------------------------------------------

CALLBACK = "entitlement.callback"


def opaque(word: str) -> str:
    """A token that only the call-back service can read. The word in it decides the service's answer."""
    return f"{word}-{secrets.token_hex(8)}"


def decide(lab: Lab, token: str, query: str = "", **facts: Any) -> str:
    return lab.code(headers={TOKEN_HEADER: token}, query=query, **facts)


def questions(lab: Lab, token: str, count: int) -> int:
    """The number of questions that the service gets when a device sends `count` requests."""
    device = lab.device()
    for _ in range(count):
        decide(lab, token, device=device)
    return lab.service.asked(token)


@shows(f"{CALLBACK}.url")
def callback_url(lab: Lab) -> None:
    with service(secret=lab.made["callback secret"]) as other:
        token = opaque("allow")
        assert decide(lab, token) == "good" and other.asked(token) == 0
        lab.change({f"{CALLBACK}.url": other.url})
        assert decide(lab, token) == "good" and other.asked(token) == 1


@shows(f"{CALLBACK}.hosts", f"{CALLBACK}.authorities", f"{CALLBACK}.identity")
def callback_over_tls(lab: Lab) -> None:
    tls = lab.setup / "tls"
    pair = make_pair(tls, "service", hosts=("localhost",), issuer=lab.made["authority"])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate_file, pair.key_file)
    context.load_verify_locations(lab.made["authority"].certificate_file)
    context.verify_mode = ssl.CERT_REQUIRED
    with service(secret=lab.made["callback secret"]) as other:
        other.socket = context.wrap_socket(other.socket, server_side=True)
        good = {
            f"{CALLBACK}.url": other.url.replace("http://127.0.0.1", "https://localhost"),
            f"{CALLBACK}.hosts": ["localhost"],
            f"{CALLBACK}.authorities": "tls/authority.pem",
            f"{CALLBACK}.identity": lab.made["client"].configuration,
        }
        lab.change(good)
        assert decide(lab, opaque("allow")) == "good"
        for name, value in (("hosts", []), ("authorities", None), ("identity", None)):
            lab.change(good | {f"{CALLBACK}.{name}": value})
            assert decide(lab, opaque("allow")) == "entitlement_unavailable", name


@shows(f"{CALLBACK}.secret")
def callback_secret(lab: Lab) -> None:
    other = secrets.token_hex(32)
    lab.change({f"{CALLBACK}.secret": lab.materials.secret("other-callback", other)})
    assert decide(lab, opaque("allow")) == "entitlement_unavailable"
    lab.service.secret = other.encode()
    assert decide(lab, opaque("allow")) == "good"
    # The same file with other contents.
    lab.service.secret = lab.made["callback secret"].encode()
    lab.materials.secret("other-callback", lab.made["callback secret"])
    assert lab.reload()["event"] == "reloaded"
    assert decide(lab, opaque("allow")) == "good"


def revokes(lab: Lab, issuer: str) -> bool:
    """Whether operators may revoke tokens of this issuer."""
    body = {"issuer": issuer, "kind": "sub", "value": secrets.token_hex(8)}
    return lab.administer("POST", "/v1/revocations", json.dumps(body).encode()).status == 200


changes(
    f"{CALLBACK}.name",
    lambda lab: [revokes(lab, name) for name in ("callback", "renamed")],
    {f"{CALLBACK}.name": "renamed"},
    [True, False],
    [False, True],
)
changes(
    f"{CALLBACK}.sources",
    lambda lab: [
        decide(lab, opaque("allow")) == "good",
        lab.code(query=f"?token={opaque('allow')}", headers={}) == "good",
    ],
    {f"{CALLBACK}.sources": ["query"]},
    [True, False],
    [False, True],
)
changes(
    f"{CALLBACK}.timeout",
    lambda lab: decide(lab, opaque("slow")),
    {f"{CALLBACK}.timeout": "50ms"},
    "good",
    "entitlement_unavailable",
)


@shows(f"{CALLBACK}.fail")
def callback_failure(lab: Lab) -> None:
    for fail, code in (("closed", "entitlement_unavailable"), ("grace", "good")):
        with service(secret=lab.made["callback secret"]) as other:
            lab.change({f"{CALLBACK}.url": other.url, f"{CALLBACK}.fail": fail})
            token, device = opaque("allow"), lab.device()
            assert decide(lab, token, device=device) == "good"
            other.shutdown()
            other.server_close()
            assert decide(lab, token, "?renew=true", device=device) == code


changes(
    f"{CALLBACK}.memory.allowed",
    lambda lab: questions(lab, opaque("allow"), 3),
    {f"{CALLBACK}.memory.allowed": "1h"},
    3,
    1,
)
changes(
    f"{CALLBACK}.memory.denials", lambda lab: questions(lab, opaque("deny"), 5), {f"{CALLBACK}.memory.denials": 1}, 3, 1
)
changes(
    f"{CALLBACK}.memory.denied",
    lambda lab: questions(lab, opaque("deny"), 5),
    {f"{CALLBACK}.memory.denied": "0s"},
    3,
    5,
)


@shows(f"{CALLBACK}.breaker.failures", f"{CALLBACK}.breaker.open")
def callback_breaker(lab: Lab) -> None:
    def after_an_error() -> str:
        assert decide(lab, opaque("error")) == "entitlement_unavailable"
        return decide(lab, opaque("allow"))

    assert after_an_error() == "good"
    lab.change({f"{CALLBACK}.breaker": {"failures": 1, "open": "1h"}})
    assert after_an_error() == "entitlement_unavailable"
    lab.change({f"{CALLBACK}.breaker": {"failures": 1, "open": "100ms"}})
    assert after_an_error() == "entitlement_unavailable"
    deadline = time.monotonic() + WAIT_SECONDS
    while decide(lab, opaque("allow")) != "good":
        assert time.monotonic() < deadline, "the service is asked again"
        time.sleep(0.02)
    assert lab.metric("latchkey_callback_available") == 1


def rate_step(names: str, place: str, ask: Callable[[Lab], bool], *, counts_the_load: bool = False) -> None:
    """Adds a step for the two fields of a rate: some of a few successive requests are allowed.

    Requests under one rate count under the next one too, so rates that allow all requests come first.
    """

    @shows(f"{names}.perSecond", f"{names}.burst")
    def rate(lab: Lab) -> None:
        with lab.load.paused() if counts_the_load else nullcontext():
            try_rates(lab)
            # Lets the load continue under the rate with which it began.
            lab.restore()

    def try_rates(lab: Lab) -> None:
        def results() -> list[bool]:
            return [ask(lab) for _ in range(8)]

        assert all(results())
        lab.change({place: {"perSecond": 1_000_000, "burst": 3}})
        assert all(results())
        lab.change({place: {"perSecond": 2, "burst": 3}})
        few = results()
        assert few[:3] == [True] * 3 and not all(few[3:])
        lab.change({place: {"perSecond": 2, "burst": 100}})
        assert all(results())


for name in ("all", "perAddress"):
    rate_step(
        f"{CALLBACK}.rates.{name}", f"{CALLBACK}.rates.{name}", lambda lab: decide(lab, opaque("allow")) == "good"
    )


def together(lab: Lab, count: int) -> list[str]:
    """Sends `count` requests at the same time with tokens that the service decides slowly, and returns the codes."""
    messages = [lab.device().request(lab.options()).message for _ in range(count)]

    def ask(message: bytes) -> str:
        client = LicenseClient(lab.url)
        try:
            headers = {TOKEN_HEADER: opaque("slow"), "Content-Type": "application/octet-stream"}
            return client.send("POST", "/fps/license", message, headers).code or "good"
        finally:
            client.close()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(ask, messages))


@shows(f"{CALLBACK}.workers", f"{CALLBACK}.waitingMaximum")
def callback_workers(lab: Lab) -> None:
    assert together(lab, 4) == ["good"] * 4
    # One question is being asked and one waits. There is no room for more.
    lab.change({f"{CALLBACK}.workers": 1, f"{CALLBACK}.waitingMaximum": 1})
    assert together(lab, 4).count("good") < 4
    lab.change({f"{CALLBACK}.workers": 4, f"{CALLBACK}.waitingMaximum": 1})
    # If two questions come before a worker wakes, there is room for only one, so not every attempt succeeds. With one
    # worker, no attempt succeeds.
    assert any(together(lab, 4) == ["good"] * 4 for _ in range(20))
    lab.change({f"{CALLBACK}.workers": 1, f"{CALLBACK}.waitingMaximum": 3})
    assert any(together(lab, 4) == ["good"] * 4 for _ in range(20))


# --- Further paths --------------------------------------------------------------------------------------------------

LICENSE_PATH = "licensePaths[0]"
EACH_LICENSE_PATH = "licensePaths[]"


def ask_at_path(lab: Lab) -> Answer:
    message = lab.device().request(lab.options()).message
    return lab.post(message, {"Authorization": f"Bearer {lab.token()}"}, path="/licenses/a")


changes(
    f"{EACH_LICENSE_PATH}.path",
    lambda lab: ask_at_path(lab).status,
    {f"{LICENSE_PATH}.path": "/elsewhere/{tenant}"},
    200,
    404,
)
changes(
    "assetIDs",
    lambda lab: lab.post(
        lab.device().request(replace(lab.options(), asset_id=b"skd://old/of-" + lab.options().asset_id)).message,
        {"Authorization": f"Bearer {lab.token()}"},
    ).status,
    {"assetIDs": ["skd://old/of-{content}"]},
    403,
    200,
)
changes(
    f"{EACH_LICENSE_PATH}.answer",
    lambda lab: ask_at_path(lab).header("Content-Type"),
    {f"{LICENSE_PATH}.answer": "base64"},
    "application/octet-stream",
    "text/plain; charset=utf-8",
)
changes(
    f"{EACH_LICENSE_PATH}.serves",
    lambda lab: lab.client.send("GET", "/licenses/a").status,
    {f"{LICENSE_PATH}.serves": "license", f"{LICENSE_PATH}.certificateFormat": None},
    200,
    405,
)
changes(
    f"{EACH_LICENSE_PATH}.certificateFormat",
    lambda lab: lab.client.send("GET", "/licenses/a").header("Content-Type"),
    {f"{LICENSE_PATH}.certificateFormat": "pem"},
    "application/json",
    "application/x-pem-file",
)
changes(
    f"{EACH_LICENSE_PATH}.dialect",
    lambda lab: lab.client.send("PUT", "/licenses/a").header("Content-Type"),
    {f"{LICENSE_PATH}.dialect": "nagra"},
    "application/problem+json",
    "application/json",
)


# --- ExpressPlay ----------------------------------------------------------------------------------------------------

CUSTOMER = "expressPlay.customers[0]"
MESSAGE_ID = "0f8fad5b-d9cb-469f-a165-70867728950e"
EACH_CUSTOMER = "expressPlay.customers[]"


def ask_for_token(lab: Lab, authenticator: str | None = None, method: str = "POST", **parameters: str) -> Answer:
    members = {
        "customerAuthenticator": authenticator or lab.made["customer"],
        "kid": f"^{lab.contents['SD']}",
    } | parameters
    form = urllib.parse.urlencode(members)
    if method == "GET":
        return lab.client.send("GET", f"/hms/fp/token?{form}")
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    return lab.client.send("POST", "/hms/fp/token", form.encode(), headers)


def token_url(lab: Lab) -> str:
    answer = ask_for_token(lab)
    assert answer.status == 200, answer
    return answer.body.decode()


def redeem_url(lab: Lab) -> str:
    return token_url(lab).partition("?")[0]


changes(
    "publicURL",
    redeem_url,
    {"publicURL": "https://other.example"},
    "https://keys.example/redeem/",
    "https://other.example/redeem/",
)
changes(
    "expressPlay.redeemURL",
    redeem_url,
    {"expressPlay.redeemURL": "https://third.example/x/"},
    "https://keys.example/redeem/",
    "https://third.example/x/",
)
changes(
    "expressPlay.redeemPaths",
    lambda lab: lab.post(
        lab.device().request(lab.options()).message, {}, f"?{token_url(lab).partition('?')[2]}", "/elsewhere/"
    ).status,
    {"expressPlay.redeemPaths": ["/redeem/", "/elsewhere/"]},
    404,
    200,
)
changes(
    "expressPlay.allowKeysInURL",
    lambda lab: ask_for_token(lab, method="GET", kid="11" * 16, contentKey="22" * 16, iv="33" * 16).status,
    {"expressPlay.allowKeysInURL": True},
    400,
    200,
)


def sees(lab: Lab, kind: int = 1, cookie: str | None = None, authenticator: str | None = None) -> dict[str, Any]:
    members = {
        "messageID": MESSAGE_ID,
        "version": 1,
        "contentID": lab.contents["SD"],
        "requestType": kind,
        "customerCookie": cookie,
    }
    body = json.dumps({name: value for name, value in members.items() if value is not None}).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {authenticator or lab.made['sees']}"}
    answer = lab.client.send("POST", "/sees/SEESServlet", body, headers)
    return json.loads(answer.body) if answer.status == 200 else {}


@shows(f"{EACH_CUSTOMER}.name")
def customer_name(lab: Lab) -> None:
    lab.change({f"{CUSTOMER}.name": "renamed", "expressPlay.sees.customer": "renamed", "logging.level": "debug"})
    token_url(lab)
    assert lab.await_entry("token_minted")["customer"] == "renamed"


@shows("expressPlay.sees.customer")
def sees_customer(lab: Lab) -> None:
    other = lab.base["expressPlay"]["customers"][0] | {
        "name": "other",
        "authenticator": lab.materials.secret("other-player", f"2,{secrets.token_hex(16)}"),
    }
    del other["otherAuthenticator"]
    customers = [lab.base["expressPlay"]["customers"][0], other]
    lab.change({"expressPlay.customers": customers, "expressPlay.sees.customer": "other", "logging.level": "debug"})
    assert sees(lab)["isAllowed"]
    assert lab.await_entry("token_minted")["customer"] == "other"


def sealed(url: str) -> bytes:
    return tokens.decode(urllib.parse.parse_qs(urllib.parse.urlsplit(url).query)["ExpressPlayToken"][0])


changes(
    f"{EACH_CUSTOMER}.contents",
    lambda lab: ask_for_token(lab).status == 200,
    {f"{CUSTOMER}.contents": ["other/*"]},
    True,
    False,
)


@shows(f"{EACH_CUSTOMER}.issuer")
def customer_issuer(lab: Lab) -> None:
    def sealing_key() -> int:
        return int.from_bytes(sealed(token_url(lab))[2:6], "big")

    assert sealing_key() == 7
    entry = {"kid": "8", "algorithm": "A256GCM", "key": lab.materials.secret("other-sealing", secrets.token_hex(32))}
    other = {"issuer": "https://other.example", "dialect": "expressplay", "keys": [entry]}
    issuers = [*lab.base["entitlement"]["issuers"], other]
    lab.change({"entitlement.issuers": issuers, f"{CUSTOMER}.issuer": "https://other.example"})
    assert sealing_key() == 8


@shows(f"{EACH_CUSTOMER}.authenticator", f"{EACH_CUSTOMER}.otherAuthenticator")
def customer_authenticators(lab: Lab) -> None:
    new, elsewhere = f"1,{secrets.token_hex(16)}", f"1,{secrets.token_hex(16)}"

    def accepted() -> list[bool]:
        return [ask_for_token(lab, authenticator).status == 200 for authenticator in (lab.made["customer"], new)]

    assert accepted() == [True, False]
    lab.change(
        {
            f"{CUSTOMER}.authenticator": lab.materials.secret("player-2", new),
            f"{CUSTOMER}.otherAuthenticator": lab.materials.secret("player-elsewhere-2", elsewhere),
        }
    )
    assert accepted() == [False, True]
    ask_for_token(lab, elsewhere)
    deadline = time.monotonic() + WAIT_SECONDS
    while "for the other environment" not in json.dumps(lab.entries()[lab.read_before :]):
        assert time.monotonic() < deadline
        time.sleep(0.005)


changes(
    f"{EACH_CUSTOMER}.tokensPerDay",
    lambda lab: [ask_for_token(lab).status == 200 for _ in range(2)][1],
    {f"{CUSTOMER}.tokensPerDay": 1},
    True,
    False,
)
changes(
    f"{EACH_CUSTOMER}.disabled",
    lambda lab: ask_for_token(lab).status == 200,
    {f"{CUSTOMER}.disabled": True},
    True,
    False,
)
rate_step(f"{EACH_CUSTOMER}.rate", f"{CUSTOMER}.rate", lambda lab: ask_for_token(lab).status == 200)


@shows("expressPlay.sees.authenticator")
def sees_authenticator(lab: Lab) -> None:
    new = secrets.token_hex(24)
    assert sees(lab) and not sees(lab, authenticator=new)
    lab.change({"expressPlay.sees.authenticator": lab.materials.secret("sees-2", new)})
    assert not sees(lab) and sees(lab, authenticator=new)


@shows("expressPlay.sees.clients")
def sees_clients(lab: Lab) -> None:
    def status() -> int:
        body = json.dumps(
            {"messageID": MESSAGE_ID, "version": 1, "contentID": lab.contents["SD"], "requestType": 1}
        ).encode()
        return lab.ask_over_tls("POST", "/sees/SEESServlet", body)

    assert status() == 401
    lab.change({"expressPlay.sees.clients": ["CN=client"]})
    assert status() == 200


@shows("expressPlay.sees.tokenLife")
def sees_token_life(lab: Lab) -> None:
    def life() -> int:
        message = sealed(sees(lab)["epTokenURL"])
        plain = AESGCM(lab.made["sealing"]).decrypt(message[6:18], message[18:], message[:18])
        fields = {}
        while plain:
            fields[plain[0]], plain = int.from_bytes(plain[2 : 2 + plain[1]], "big"), plain[2 + plain[1] :]
        return fields[3] - fields[2]

    assert life() == 300
    lab.change({"expressPlay.sees.tokenLife": "60s"})
    assert life() == 60


# Types of SEES requests: the first playback on a device, and a playback on a registered device.
REGISTRATION, REGISTERED = 2, 3


@shows("expressPlay.sees.devicesMaximum")
def sees_devices(lab: Lab) -> None:
    cookie = f"viewer-{secrets.token_hex(6)}"

    def plays(device: Device, kind: int) -> bool:
        query = urllib.parse.urlsplit(sees(lab, kind, cookie)["epTokenURL"]).query
        return lab.post(device.request(lab.options()).message, {}, f"?{query}", "/redeem/").status == 200

    first, second = lab.device(), lab.device()
    # The second device takes the first device's place, until there is a place for each.
    assert plays(first, REGISTRATION) and plays(second, REGISTRATION)
    assert plays(second, REGISTERED) and not plays(first, REGISTERED)
    lab.change({"expressPlay.sees.devicesMaximum": 2})
    assert plays(first, REGISTRATION)
    assert plays(second, REGISTERED) and plays(first, REGISTERED)


# --- Packagers ------------------------------------------------------------------------------------------------------

PACKAGER = "packagers[0]"
EACH_PACKAGER = "packagers[]"
SPEKE_FOLDER = REPOSITORY / "Tests" / "Vectors" / "speke"
addresses_of_packagers = itertools.count(1)


def as_packager(lab: Lab, secret: str | None = None, user: str | None = None) -> dict[str, str]:
    """Header fields with a secret, as Basic credentials if there is a user.

    Each call claims another client address, so that a wrong secret is answered with 401 and not with 429.
    """
    number = next(addresses_of_packagers)
    secret = secret or lab.made["packager"]
    basic = base64.b64encode(f"{user}:{secret}".encode()).decode()
    credential = {"Authorization": f"Basic {basic}"} if user else {"x-api-key": secret}
    return credential | {"X-Forwarded-For": f"198.18.{number // 256}.{number % 256}"}


def order() -> bytes:
    """The body of an order for one key of a new content."""
    return json.dumps({"contentId": f"packaged-{secrets.token_hex(6)}", "tracks": ["VIDEO"]}).encode()


def ask_for_keys(lab: Lab, secret: str | None = None, user: str | None = None) -> int:
    return lab.client.send("POST", "/v1/keys", order(), as_packager(lab, secret, user)).status


def ask_for_encrypted_keys(lab: Lab) -> int:
    document = (SPEKE_FOLDER / "v2_vod_fairplay_encrypted_delivery.xml").read_bytes()
    headers = {"Content-Type": "application/xml", "X-Speke-Version": "2.0"} | as_packager(lab)
    return lab.client.send("POST", "/speke/v2.0/copyProtection", document, headers).status


changes(
    f"{EACH_PACKAGER}.name",
    lambda lab: [ask_for_keys(lab, user=user) for user in ("packager", "renamed")],
    {f"{PACKAGER}.name": "renamed"},
    [200, 401],
    [401, 200],
)
changes(
    f"{EACH_PACKAGER}.user",
    lambda lab: [ask_for_keys(lab, user=user) for user in ("packager", "tenant")],
    {f"{PACKAGER}.user": "tenant"},
    [200, 401],
    [401, 200],
)


@shows(f"{EACH_PACKAGER}.secret", f"{EACH_PACKAGER}.previousSecret")
def packager_secrets(lab: Lab) -> None:
    new = secrets.token_hex(24)

    def statuses() -> list[int]:
        return [ask_for_keys(lab), ask_for_keys(lab, new)]

    current = {f"{PACKAGER}.secret": lab.materials.secret("packager-2", new)}
    assert statuses() == [200, 401]
    lab.change(current | {f"{PACKAGER}.previousSecret": "secrets/packager"})
    assert statuses() == [200, 200]
    lab.change(current)
    assert statuses() == [401, 200]


changes(
    f"{EACH_PACKAGER}.clientCertificates",
    lambda lab: lab.ask_over_tls("POST", "/v1/keys", order()),
    {f"{PACKAGER}.clientCertificates": ["CN=client"]},
    401,
    200,
)
changes(f"{EACH_PACKAGER}.scopes", ask_for_keys, {f"{PACKAGER}.scopes": ["read"]}, 200, 403)
changes(f"{EACH_PACKAGER}.contents", ask_for_keys, {f"{PACKAGER}.contents": ["live/*"]}, 200, 403)
changes(f"{EACH_PACKAGER}.disabled", ask_for_keys, {f"{PACKAGER}.disabled": True}, 200, 401)
rate_step(f"{EACH_PACKAGER}.rate", f"{PACKAGER}.rate", lambda lab: ask_for_keys(lab) == 200)


@shows(f"{EACH_PACKAGER}.recipients", f"{EACH_PACKAGER}.requireEncryptedDelivery")
def packager_recipients(lab: Lab) -> None:
    pins = {f"{PACKAGER}.recipients": [str(SPEKE_FOLDER / "packager_cert.pem")]}
    assert (ask_for_keys(lab), ask_for_encrypted_keys(lab)) == (200, 403)
    lab.change(pins)
    assert (ask_for_keys(lab), ask_for_encrypted_keys(lab)) == (200, 200)
    lab.change(pins | {f"{PACKAGER}.requireEncryptedDelivery": True})
    assert (ask_for_keys(lab), ask_for_encrypted_keys(lab)) == (403, 200)


# --- Limits ---------------------------------------------------------------------------------------------------------


@shows("limits.rates.all.perSecond", "limits.rates.all.burst")
def rate_of_all(lab: Lab) -> None:
    def waited() -> bool:
        """Whether some of twenty successive requests waited for their turn."""
        # Two requests of the load may arrive within a microsecond: with a burst of one, one of them waits at any rate.
        with lab.load.paused():
            before = lab.metric("latchkey_overload_waited_total")
            assert [lab.code() for _ in range(20)] == ["good"] * 20
            return lab.metric("latchkey_overload_waited_total") > before

    assert not waited()
    for rate, waits in (
        ({"perSecond": 1_000_000, "burst": 1}, False),
        ({"perSecond": 25, "burst": 100_000}, False),
        ({"perSecond": 25, "burst": 1}, True),
    ):
        lab.change({"limits.rates.all": rate})
        assert waited() == waits, rate


rate_step(
    "limits.rates.perSubject",
    "limits.rates.perSubject",
    lambda lab: lab.code(lab.token(sub="one viewer")) == "good",
    # The load's token has no subject, and is counted by itself.
    counts_the_load=True,
)


def from_one_address(lab: Lab) -> bool:
    headers = {"Authorization": f"Bearer {lab.token()}", "X-Forwarded-For": "198.51.100.9"}
    return lab.code(headers=headers) == "good"


@shows("limits.rates.perAddress.perSecond", "limits.rates.perAddress.burst")
def rate_per_address(lab: Lab) -> None:
    def results() -> list[bool]:
        return [from_one_address(lab) for _ in range(8)]

    assert all(results())
    lab.change({"limits.rates.perAddress": {"perSecond": 1_000_000, "burst": 3}})
    assert all(results())
    # The load comes from one address as well, and would be refused.
    with lab.load.paused():
        lab.change({"limits.rates.perAddress": {"perSecond": 2, "burst": 3}})
        few = results()
        assert few[:3] == [True] * 3 and not all(few[3:])
        lab.restore()
    lab.change({"limits.rates.perAddress": {"perSecond": 1000, "burst": 10_000}})
    assert all(results())


def crowd(lab: Lab) -> list[str]:
    """Sends the requests of twelve devices at the same time, and returns the codes."""
    messages = [(lab.device().request(lab.options()).message, lab.token()) for _ in range(12)]

    def ask(request: tuple[bytes, str]) -> str:
        client = LicenseClient(lab.url)
        try:
            return client.license(*request).code or "good"
        finally:
            client.close()

    with ThreadPoolExecutor(len(messages)) as pool:
        return list(pool.map(ask, messages))


@shows("limits.overload.wait")
def overload(lab: Lab) -> None:
    rate = {"limits.rates.all": {"perSecond": 10, "burst": 1}}
    # Requests are refused in this step, so the load is paused.
    with lab.load.paused():
        for limits, is_refused in (({}, False), ({"limits.overload.wait": "0s"}, True)):
            lab.change(rate | limits)
            assert ("overloaded" in crowd(lab)) == is_refused, limits
        lab.restore()


@shows("logging.level")
def log_level(lab: Lab) -> None:
    assert lab.code() == "good"
    assert not any(entry["event"] == "license_issued" for entry in lab.entries()[lab.read_before :])
    lab.change({"logging.level": "debug"})
    assert lab.code() == "good"
    assert lab.await_entry("license_issued")


@shows("logging.linesPerEvent")
def log_sampling(lab: Lab) -> None:
    def refused_lines() -> int:
        before = len(lab.entries())
        for _ in range(100):
            assert lab.client.send("GET", "/nothing").status == 404
        lab.change({"logging.linesPerEvent": rate})
        return sum(entry["event"] == "request_refused" for entry in lab.entries()[before:])

    rate = 1_000_000
    # The log line of the reload comes after the lines of the requests.
    assert refused_lines() < 100
    assert refused_lines() == 100


@shows("logging.clientAddress")
def client_address(lab: Lab) -> None:
    def client() -> str | None:
        # The load causes more lines than the sampled log has, so a request may have no line.
        deadline = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < deadline:
            answer = lab.client.send("GET", "/nothing")
            assert answer.status == 404
            name = answer.header("X-Request-Id")
            line_deadline = time.monotonic() + 0.2
            while time.monotonic() < line_deadline:
                for entry in lab.entries():
                    if entry.get("request_id") == name:
                        return entry.get("client")
                time.sleep(0.02)
        raise AssertionError("no request had a line in the log")

    assert client() == "127.0.0.0/24"
    lab.change({"logging.clientAddress": "full"})
    assert client() == "127.0.0.1"
    lab.change({"logging.clientAddress": "none"})
    assert client() is None


# --- Fixed fields ---------------------------------------------------------------------------------------------------

# Fields that must change together with a field. The log then names them too.
TOGETHER_WITH: dict[str, dict[str, Any]] = {
    "listeners.public[1].proxyProtocol": {"listeners.public[1].trustedProxies": ["10.0.0.0/8"]},
    "listeners.admin[0].proxyProtocol": {"listeners.admin[0].trustedProxies": ["10.0.0.0/8"]},
    "listeners.admin[1].proxyProtocol": {"listeners.admin[1].trustedProxies": ["10.0.0.0/8"]},
    **{
        f"storage.{name}": {"storage.url": "postgresql://latchkey@localhost/latchkey?sslmode=disable"}
        for name in ("password", "ledger", "onStoreOutage", "admitInOutage.perToken", "admitInOutage.perSubject")
    },
}
# Other values for fields whose value suggests none, by the end of the path.
OTHER_VALUES: dict[str, Any] = {
    "node": "another-node",
    "address": "127.0.0.3:0",
    "socketMode": "0600",
    "trustedProxies": ["192.0.2.0/24"],
    "hosts": ["another.internal"],
    "tls": {"certificate": "tls/certificate.pem", "privateKey": "tls/private-key.pem"},
    "accelerator": "auto",
    "skdTemplate": "skd://another/{kid}",
    "storage.url": "sqlite:another.db",
    "storage.password": "secrets/fixed-other",
    "storage.ledger": "another-ledger.db",
    "onStoreOutage": "admit",
    "ledger.mode": "best-effort",
}
FILES = (
    "keyEncryptionKey", "olderKeyEncryptionKeys[0].key", "masterSecret", "ledger.key", "olderKeys[0].key", "pseudonymKey",
)
# The database has proofs of these secrets, so a restart would refuse another one.
PROVED = (
    "keys.keyEncryptionKey", "keys.keyEncryptionKeyVersion", "keys.masterSecret", "ledger.key", "ledger.pseudonymKey",
)


def other_value(field: Field) -> Any:
    """Another valid value of the field."""
    for end, value in OTHER_VALUES.items():
        if field.path == end or field.path.endswith(f".{end}"):
            return value
    if field.path.endswith(FILES):
        return "secrets/fixed-other"
    assert field.value is not None, f"{field.path} needs an entry in OTHER_VALUES"
    value = json.loads(field.value)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    match = re.fullmatch(r"(\d+)(ms|s|m|h|d)", value)
    assert match, f"{field.path} needs an entry in OTHER_VALUES"
    return f"{int(match[1]) + 1}{match[2]}"


# --- The tests ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lab(latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with service() as running:
        running.slow_seconds = SLOW_SECONDS
        with running_lab(tmp_path_factory.mktemp("reload"), running) as lab:
            yield lab


@contextmanager
def under_load(lab: Lab) -> Iterator[None]:
    """Checks that the load sends requests inside the context, and that none fails."""
    before, failed = lab.load.answered, len(lab.load.failures)
    try:
        yield
    finally:
        lab.restore()
    deadline = time.monotonic() + WAIT_SECONDS
    while lab.load.answered == before:
        assert time.monotonic() < deadline, "the load makes no progress"
        time.sleep(0.005)
    assert lab.load.failures[failed:] == []


def test_every_live_field_has_a_step(lab: Lab) -> None:
    live = {field.name for field in table_of(lab.configuration) if not field.is_fixed}
    shown = [name for step in STEPS for name in step.fields]
    assert sorted(shown) == sorted(set(shown)), "one step for each field"
    assert set(shown).isdisjoint(NOT_SHOWN)
    assert set(shown) | set(NOT_SHOWN) == live


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.fields[0])
def test_a_live_field_is_in_force_for_the_next_request(lab: Lab, step: Step) -> None:
    with under_load(lab):
        step.run(lab)


@pytest.mark.slow
def test_each_fixed_field_is_named(lab: Lab) -> None:
    lab.materials.secret("fixed-other", secrets.token_hex(32))
    fixed = [field for field in table_of(lab.configuration) if field.is_fixed]
    assert len(fixed) > 60
    with under_load(lab):
        for field in fixed:
            values = {field.path: other_value(field)} | TOGETHER_WITH.get(field.path, {})
            if field.path in PROVED:
                lab.write(values)
                assert lab.reload()["event"] == "reload_failed", field.path
            else:
                lab.change(values, needs=set(values))
            lab.restore()


def test_each_file_of_a_fixed_field_is_named(lab: Lab) -> None:
    fixed = {field.path: field for field in table_of(lab.configuration) if field.is_fixed}
    files = {
        path: Path(json.loads(field.value)) for path, field in fixed.items() if path.endswith(FILES) and field.value
    }
    assert len(files) == len(FILES)
    with under_load(lab):
        for path, file in files.items():
            contents = file.read_text()
            file.write_text(secrets.token_hex(32))
            if path in PROVED:
                refused = lab.reload()
                # The cause names the field that must have its earlier secret again.
                assert refused["event"] == "reload_failed" and path in refused["cause"], refused
            else:
                lab.change({}, needs={path})
            file.write_text(contents)
            lab.restore()


def test_tls_that_comes_or_goes_is_named(lab: Lab) -> None:
    with under_load(lab):
        lab.change({"listeners.public[1].tls": None}, needs={"listeners.public[1].tls"})


def test_a_credential_with_a_module_is_named(lab: Lab) -> None:
    # Any shared library serves here, because the daemon does not open a library that needs a restart.
    library = _rust.__file__
    files = lab.materials.credential("module", make_credential())
    names = ("certificate1024", "privateKey1024", "certificate2048", "privateKey2048")
    module = {"library": library, "data": lab.materials.secret("module-data", secrets.token_bytes(64))}
    added = {"name": "module"} | {name: files[name] for name in names} | {"module": module}
    with under_load(lab):
        values = {"fairplay.credentials": [*lab.base["fairplay"]["credentials"], added]}
        lab.write(values)
        named = {
            field.path
            for field in table_of(lab.configuration)
            if field.is_fixed and field.path.startswith("fairplay") and field.value is not None
        }
        assert "fairplay.credentials[3].module.library" in named
        # The table shows only the fields of a section or list, not the section itself. The whole list waits for the
        # restart, because its module does, and so does its stage.
        named |= {"fairplay.credentials[3].module", "fairplay.credentials", "fairplay.credentials[3].stage"}
        lab.change(values, needs=named)
        assert certificate(lab, "module") is None


def test_a_configuration_with_a_mistake_changes_nothing(lab: Lab) -> None:
    with under_load(lab):
        lab.write({"cors.allowedHeaders": ["x-mine"], "limits.loopCount": 0})
        assert lab.reload()["event"] == "reload_failed"
        assert "x-mine" not in (lab.preflight("Allow-Headers") or "").lower()


def test_a_reload_that_the_store_refuses_changes_no_certificate_either(lab: Lab) -> None:
    """The last step of a reload that can fail is storing the proof of a new session key."""
    place = "listeners.public[1].tls"
    other = make_pair(lab.setup / "tls", "of-a-refused-reload", hosts=("first.example", "localhost"))
    before = lab.handshake(lab.public[1])
    values = {
        "cors.allowedHeaders": ["x-mine"],
        "entitlement.sessions.key": lab.materials.secret("session-key-3", secrets.token_hex(32)),
        f"{place}.certificate": other.configuration["certificate"],
        f"{place}.privateKey": other.configuration["privateKey"],
    }
    with sqlite3.connect(lab.setup / "latchkey.db", timeout=10) as database:
        database.execute(
            "CREATE TRIGGER no_proof BEFORE INSERT ON secret_proof BEGIN SELECT RAISE(ABORT, 'no more'); END"
        )
    database.close()
    lab.write(values)
    assert lab.reload()["event"] == "reload_failed"
    assert lab.handshake(lab.public[1]) == before is not None
    assert "x-mine" not in (lab.preflight("Allow-Headers") or "").lower()
    with sqlite3.connect(lab.setup / "latchkey.db", timeout=10) as database:
        database.execute("DROP TRIGGER no_proof")
    database.close()
    lab.change(values)
    assert lab.handshake(lab.public[1]) == der(other.certificate)

"""What an app on NAGRA's player does with a real daemon: content tokens, session tokens, licences to keep, their ends.

ContentAuthZ has no lease; the profile that a right names brings it, as an operator would configure it.
"""

import base64
import json
import secrets
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import session_tokens
import tokens
from deployment import register, run_latchkey
from fairplay_device import tags
from fairplay_device.ckc import OpenedCKC, open_ckc
from fairplay_device.credentials import read_device_credential
from fairplay_device.licence import OfflineKey, Streaming
from fairplay_device.spc import Device, PlaybackContext, PlaybackState, SPCOptions, device_for
from licence_client import Answer, LicenceClient
from licence_policy import ContentKey
from own_daemon import OwnDaemon, running_daemon
from token_issuers import Issuers

LEASE = 600
STORAGE = 86_400
PLAYBACK = 7_200
LICENCES = "/fps/licenses/query"
KEY = ContentKey(key_id=uuid.uuid4().bytes, key=secrets.token_bytes(16), iv=secrets.token_bytes(16))
ISSUERS = Issuers.make(f"channel-{secrets.token_hex(4)}", str(uuid.UUID(bytes=KEY.key_id)))
PROFILES = {"LIVE": {"lease": f"{LEASE}s"}, "VOD": {"storage": f"{STORAGE}s", "playback": f"{PLAYBACK}s"}}


@pytest.fixture(scope="module")
def daemon(latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnDaemon]:
    with running_daemon(tmp_path_factory.mktemp("opentv"), prepare=_prepare) as daemon:
        yield daemon


def _prepare(setup: Path) -> None:
    ISSUERS.write(setup)
    register(setup, ISSUERS.content, KEY)
    configuration = setup / "latchkey.json5"
    text = configuration.read_text()
    changed = text.replace("entitlement: {", f"entitlement: {{ profiles: {json.dumps(PROFILES)},", 1)
    assert changed != text
    configuration.write_text(changed)


@dataclass
class App:
    """One app on one device, which keeps what the server tells it."""

    daemon: OwnDaemon
    device: Device
    account: str
    client: LicenceClient
    session: int = 1

    def content_token(self, *, profile: str = "LIVE", storable: bool = False, **changes: object) -> str:
        right = {"contentId": ISSUERS.content, "usageRulesProfileId": profile, "storable": storable}
        claims = ISSUERS.nagra_claims(
            contentRights=[right | changes], jti=secrets.token_hex(8), device={"accountId": self.account}
        )
        return ISSUERS.nagra.sign(claims)

    def spc(self, state: int = tags.READY_TO_START, capabilities: int | None = None) -> PlaybackContext:
        return self.device.request(
            SPCOptions(
                ISSUERS.content.encode(),
                playback_state=PlaybackState(1_700_000_000, state, self.session),
                capabilities=capabilities,
            )
        )

    def ask(self, spc: PlaybackContext, token: str, query: str = "") -> Answer:
        headers = {
            "Content-Type": "application/octet-stream",
            "Accept": "application/json",
            "nv-authorizations": token,
        }
        return self.client.send("POST", f"/fps/license{query}", spc.message, headers)

    def licences(self, token: str, **body: object) -> dict[str, object]:
        answer = self.client.send("POST", LICENCES, json.dumps(body).encode(), {"nv-authorizations": token})
        assert answer.status == 200, answer.body
        return json.loads(answer.body)


@pytest.fixture
def app(daemon: OwnDaemon) -> Iterator[App]:
    client = LicenceClient(daemon.url)
    device = device_for(read_device_credential(daemon.setup / "fairplay"), 1)
    yield App(daemon, device, f"account-{secrets.token_hex(6)}", client, session=secrets.randbits(63) + 1)
    client.close()


def opened(answer: Answer, spc: PlaybackContext) -> tuple[dict[str, object], OpenedCKC]:
    """NAGRA's object, and the CKC in it."""
    assert answer.status == 200, answer.body
    assert answer.header("Content-Type") == "application/json"
    members = json.loads(answer.body)
    ckc = open_ckc(base64.b64decode(members["CkcMessage"], validate=True), spc.secrets)
    assert (ckc.content_key, ckc.content_iv) == (KEY.key, KEY.iv)
    return members, ckc


def begin(app: App) -> tuple[dict[str, object], str]:
    spc = app.spc()
    members, ckc = opened(app.ask(spc, app.content_token()), spc)
    assert ckc.terms == Streaming(lease=LEASE)
    return members, str(members["sessionToken"])


def assert_three_ways_agree(app: App, answer: Answer, token: str) -> dict[str, object]:
    """Header fields, the answer's JSON and the query tell the same of a licence; what they tell."""
    told = json.loads(answer.body)["license"]
    fields = {
        "id": answer.header("X-License-Id"),
        "type": answer.header("X-License-Type"),
        "issued_at": _number(answer.header("X-License-Issued")),
        "expires_at": _number(answer.header("X-License-Expires")),
        "renew_after": _number(answer.header("X-License-Renew-After")),
    }
    assert {name: told[name] for name in fields} == fields
    (asked,) = app.licences(token, licenses=[told["id"]])["licenses"]
    assert {name: asked[name] for name in told} == told
    assert asked["state"] == "valid"
    (asset,) = app.licences(token, assets=[ISSUERS.content])["assets"]
    assert told["id"] in [licence["id"] for licence in asset["licenses"]]
    (of_asset,) = [licence for licence in asset["licenses"] if licence["id"] == told["id"]]
    assert of_asset == asked
    return asked


def _number(text: str | None) -> int | None:
    return None if text is None else int(text)


# --- Streaming -------------------------------------------------------------------------------------------------------


def test_a_session_token_alone_renews_a_lease(app: App) -> None:
    members, token = begin(app)
    previous = members["license"]["id"]
    for _ in range(3):
        spc = app.spc(tags.LEASE_ABOUT_TO_EXPIRE)
        answer = app.ask(spc, token, "?renew=true")
        members, ckc = opened(answer, spc)
        assert ckc.terms == Streaming(lease=LEASE)
        assert answer.header("X-Session-Token") == members["sessionToken"] != token
        rows = json.loads(run_latchkey(app.daemon.setup, "ledger", "query", "--license", str(previous), "--json"))
        renewal = [row for row in rows["entries"] if row["license"] == members["license"]["id"]]
        assert [(row["kind"], row["previous"]) for row in renewal] == [("licenseRenewed", previous)]
        previous, token = members["license"]["id"], str(members["sessionToken"])


@pytest.mark.parametrize("source", ["Authorization", "X-Drm-UserToken", "query"])
def test_a_session_token_may_come_as_any_other_token(app: App, source: str) -> None:
    _, token = begin(app)
    spc = app.spc(tags.LEASE_ABOUT_TO_EXPIRE)
    headers = {"Content-Type": "application/octet-stream", "X-License-Renew": "1"}
    if source != "query":
        headers[source] = f"Bearer {token}" if source == "Authorization" else token
    path = f"/fps/license?token={token}" if source == "query" else "/fps/license"
    answer = app.client.send("POST", path, spc.message, headers)
    assert answer.status == 200, answer.body
    assert open_ckc(answer.body, spc.secrets).content_key == KEY.key
    assert answer.header("X-Session-Token")


def test_a_lost_answer_costs_nothing_and_a_copied_token_is_worth_nothing(app: App) -> None:
    _, first = begin(app)
    lost = app.spc(tags.LEASE_ABOUT_TO_EXPIRE)
    answers = [app.ask(lost, first, "?renew=true") for _ in range(2)]
    assert len({answer.header("X-License-Id") for answer in answers}) == 1
    again = app.spc(tags.LEASE_ABOUT_TO_EXPIRE)
    members, _ = opened(app.ask(again, first, "?renew=true"), again)
    successor = str(members["sessionToken"])
    assert app.ask(app.spc(tags.LEASE_ABOUT_TO_EXPIRE), successor, "?renew=true").status == 200
    stolen = app.ask(app.spc(tags.LEASE_ABOUT_TO_EXPIRE), first, "?renew=true")
    assert (stolen.status, stolen.code) == (403, "session_expired")


def test_a_session_token_is_for_one_device_and_one_playback(app: App) -> None:
    _, token = begin(app)
    owner, playback = app.device, app.session
    app.device = device_for(read_device_credential(app.daemon.setup / "fairplay"), 1)
    assert app.ask(app.spc(tags.LEASE_ABOUT_TO_EXPIRE), token, "?renew=true").code == "device_mismatch"
    app.device, app.session = owner, playback + 1
    assert app.ask(app.spc(tags.LEASE_ABOUT_TO_EXPIRE), token, "?renew=true").code == "session_expired"
    app.session = playback
    assert app.ask(app.spc(tags.LEASE_ABOUT_TO_EXPIRE), token, "?renew=true").status == 200
    assert app.device.device_id.hex() not in json.dumps(session_tokens.claims_of(token)).lower()


def test_an_expired_session_token_sends_the_app_for_a_content_token(app: App) -> None:
    _, token = begin(app)
    late = session_tokens.expired(token, app.daemon.setup)
    answer = app.ask(app.spc(tags.LEASE_ABOUT_TO_EXPIRE), late, "?renew=true")
    assert (answer.status, answer.code) == (403, "session_expired")
    assert "new content token" in str(answer.problem["hint"])
    # With which a renewal works, even after the lease has ended.
    spc = app.spc(tags.LEASE_ABOUT_TO_EXPIRE)
    members, _ = opened(app.ask(spc, app.content_token(), "?renew=true"), spc)
    assert members["sessionToken"]


def test_a_session_ends_where_its_right_ends(app: App) -> None:
    end = int(time.time()) + LEASE + 100
    text = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(end))
    spc = app.spc()
    members, _ = opened(app.ask(spc, app.content_token(end=text)), spc)
    header, claims = tokens.header_and_claims(str(members["sessionToken"]))
    assert claims["abs_end"] == end and int(str(claims["exp"])) <= end
    longer = session_tokens.sign(header, claims | {"abs_end": end + 9999}, app.daemon.setup)
    renewal = app.spc(tags.LEASE_ABOUT_TO_EXPIRE)
    answer = app.ask(renewal, longer, "?renew=true")
    assert int(str(answer.header("X-License-Expires"))) <= end, "the right in the token says so too"


@pytest.mark.parametrize("kind", ["Session", "Kc"])
def test_tokens_of_another_server_are_refused_as_such(app: App, kind: str) -> None:
    answer = app.ask(app.spc(), ISSUERS.nagra.sign(ISSUERS.nagra_claims(typ=kind)), "?renew=true")
    assert (answer.status, answer.code) == (401, "token_issuer")
    listed = f"{app.content_token()},{ISSUERS.nagra.sign(ISSUERS.nagra_claims(typ=kind))}"
    assert app.ask(app.spc(), listed).code == "token_issuer"


def test_a_forged_session_token_is_refused(app: App) -> None:
    _, token = begin(app)
    head, _, signature = token.rpartition(".")
    forged = f"{head}.{'A' * len(signature)}"
    assert app.ask(app.spc(tags.LEASE_ABOUT_TO_EXPIRE), forged, "?renew=true").code == "token_signature"


# --- When licences end -----------------------------------------------------------------------------------------------


def test_a_lease_is_told_in_three_ways(app: App) -> None:
    spc = app.spc()
    answer = app.ask(spc, app.content_token())
    members, _ = opened(answer, spc)
    token = str(members["sessionToken"])
    told = assert_three_ways_agree(app, answer, token)
    assert told["renewable"] is True and told["lease"] == LEASE and told["persistent"] is False
    assert told["expires_at"] == told["issued_at"] + LEASE
    renewal = app.spc(tags.LEASE_ABOUT_TO_EXPIRE)
    renewed = app.ask(renewal, token, "?renew=true")
    assert_three_ways_agree(app, renewed, str(json.loads(renewed.body)["sessionToken"]))
    (first,) = app.licences(token, licenses=[told["id"]])["licenses"]
    assert first["state"] == "renewed"


def test_a_licence_to_keep_is_told_in_three_ways_and_renewed_with_a_fresh_token(app: App) -> None:
    token = app.content_token(profile="VOD", storable=True)
    spc = app.spc(capabilities=tags.CAPABILITY_OFFLINE_KEY)
    answer = app.ask(spc, token, "?offline=1")
    members, ckc = opened(answer, spc)
    assert ckc.terms == OfflineKey(KEY.key_id, STORAGE, PLAYBACK)
    assert "sessionToken" not in members
    told = assert_three_ways_agree(app, answer, token)
    assert told["persistent"] is True and told["renewable"] is True
    assert told["storage_expires_at"] == told["issued_at"] + STORAGE and told["playback"] == PLAYBACK

    # Pre-emptive, and reactive after the key has ended: the server is asked the same.
    for named in (True, False):
        query = "?offline=1&renew=true" + (f"&previous={told['id']}" if named else "")
        again = app.spc(capabilities=tags.CAPABILITY_OFFLINE_KEY)
        fresh = app.content_token(profile="VOD", storable=True)
        renewed = app.ask(again, fresh, query)
        opened(renewed, again)
        rows = json.loads(run_latchkey(app.daemon.setup, "ledger", "query", "--license", str(told["id"]), "--json"))
        follower = [row for row in rows["entries"] if row["license"] == renewed.header("X-License-Id")]
        assert [(row["kind"], row["previous"]) for row in follower] == [("licenseRenewed", told["id"])]
        told = assert_three_ways_agree(app, renewed, fresh)


def test_a_licence_of_another_device_is_nobodys_previous(app: App) -> None:
    spc = app.spc(capabilities=tags.CAPABILITY_OFFLINE_KEY)
    first = app.ask(spc, app.content_token(profile="VOD", storable=True), "?offline=1").header("X-License-Id")
    app.device = device_for(read_device_credential(app.daemon.setup / "fairplay"), 1)
    again = app.spc(capabilities=tags.CAPABILITY_OFFLINE_KEY)
    token = app.content_token(profile="VOD", storable=True)
    renewed = app.ask(again, token, f"?offline=1&renew=true&previous={first}")
    opened(renewed, again)
    rows = json.loads(run_latchkey(app.daemon.setup, "ledger", "query", "--license", str(first), "--json"))
    assert [row["license"] for row in rows["entries"]] == [first]


def test_nobody_hears_of_the_licences_of_others(app: App) -> None:
    members, token = begin(app)
    stranger = App(app.daemon, app.device, f"account-{secrets.token_hex(6)}", app.client)
    strange = stranger.content_token()
    never = secrets.token_hex(16)
    ids = [members["license"]["id"], never, "no id"]
    answer = stranger.licences(strange, licenses=ids)["licenses"]
    assert answer == [{"id": licence, "state": "unknown"} for licence in ids]
    assert stranger.licences(strange, assets=[ISSUERS.content])["assets"] == [
        {"asset": ISSUERS.content, "licenses": []}
    ]
    assert [licence["state"] for licence in app.licences(token, licenses=ids)["licenses"]] == [
        "valid",
        "unknown",
        "unknown",
    ]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "body_empty"),
        (b"{", "body_unrecognised"),
        (b"[]", "body_unrecognised"),
        (b"{}", "body_unrecognised"),
        (b'{"licenses":[]}', "body_unrecognised"),
        (b'{"licenses":[1]}', "body_unrecognised"),
        (b'{"licenses":["a"],"assets":["b"]}', "body_unrecognised"),
        (json.dumps({"licenses": ["a"] * 33}).encode(), "body_unrecognised"),
        (json.dumps({"assets": ["a" * 1025]}).encode(), "body_unrecognised"),
        (b'{"licenses":' + b"[" * 5000, "body_unrecognised"),
    ],
)
def test_a_query_that_cannot_be_read_is_refused(app: App, body: bytes, code: str) -> None:
    token = app.content_token()
    answer = app.client.send("POST", LICENCES, body, {"nv-authorizations": token})
    assert (answer.status, answer.code) == (400, code)


def test_a_query_needs_a_token(app: App) -> None:
    answer = app.client.send("POST", LICENCES, b'{"licenses":["a"]}')
    assert (answer.status, answer.code) == (401, "token_missing")


# --- The shapes of the answer ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("accept", ["*/*", None, "application/octet-stream"])
def test_whoever_accepts_anything_gets_the_bytes(app: App, accept: str | None) -> None:
    spc = app.spc()
    headers = {"nv-authorizations": app.content_token()} | ({} if accept is None else {"Accept": accept})
    answer = app.client.send("POST", "/fps/license", spc.message, headers)
    assert answer.header("Content-Type") == "application/octet-stream"
    assert open_ckc(answer.body, spc.secrets).content_key == KEY.key


@pytest.mark.parametrize("form", ["raw", "base64", "ckc", "json"])
def test_the_query_names_the_shape(app: App, form: str) -> None:
    spc = app.spc()
    answer = app.ask(spc, app.content_token(), f"?format={form}")
    text = answer.body if form == "raw" else answer.body.decode()
    ckc = {
        "raw": lambda: text,
        "base64": lambda: base64.b64decode(text, validate=True),
        "ckc": lambda: base64.b64decode(text.removeprefix("<ckc>").removesuffix("</ckc>"), validate=True),
        "json": lambda: base64.b64decode(json.loads(text)["ckc"], validate=True),
    }[form]()
    assert open_ckc(ckc, spc.secrets).content_key == KEY.key
    if form == "json":
        assert json.loads(text).keys() == {"ckc", "session_token", "license", "server_time"}


def test_a_shape_that_nobody_knows_is_refused(app: App) -> None:
    assert app.ask(app.spc(), app.content_token(), "?format=xml").code == "bad_request"

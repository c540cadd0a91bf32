"""What an app with NAGRA's player does with a running daemon: content tokens, session tokens, licenses to keep, and
ends.

A right's `duration` is the life of a license. A profile that the right names can set a shorter lease, as an operator
would configure it. The section "The page about renewals" has the flows of the OpenTV page about renewals.
`test_reference_flows.py` lists them.
"""

import base64
import calendar
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
from fairplay_device.license import OfflineKey, Persistent, Streaming
from fairplay_device.spc import Device, PlaybackContext, PlaybackState, SPCOptions, device_for
from license_client import Answer, LicenseClient
from license_policy import ContentKey
from own_daemon import OwnDaemon, running_daemon
from token_issuers import Issuers

LEASE = 600
STORAGE = 86_400
PLAYBACK = 7_200
LICENSES = "/fps/licenses/query"
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
    by_right = changed.replace('"dialect": "nagra"', '"dialect": "nagra", "offlineByRight": true', 1)
    assert text != changed != by_right
    changed = by_right
    configuration.write_text(changed)


@dataclass
class App:
    """One app on one device, which keeps the tokens and ids that the server gives it."""

    daemon: OwnDaemon
    device: Device
    account: str
    client: LicenseClient
    session: int = 1

    def content_token(
        self, *, profile: str | None = "LIVE", storable: bool = False, exp: int | None = None, **changes: object
    ) -> str:
        right = {"contentId": ISSUERS.content, "usageRulesProfileId": profile, "storable": storable} | changes
        claims = ISSUERS.nagra_claims(
            contentRights=[{name: value for name, value in right.items() if value is not None}],
            jti=secrets.token_hex(8),
            device={"accountId": self.account},
            **({} if exp is None else {"exp": exp}),
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

    def licenses(self, token: str, **body: object) -> dict[str, object]:
        answer = self.client.send("POST", LICENSES, json.dumps(body).encode(), {"nv-authorizations": token})
        assert answer.status == 200, answer.body
        return json.loads(answer.body)


@pytest.fixture
def app(daemon: OwnDaemon) -> Iterator[App]:
    client = LicenseClient(daemon.url)
    device = device_for(read_device_credential(daemon.setup / "fairplay"), 1)
    yield App(daemon, device, f"account-{secrets.token_hex(6)}", client, session=secrets.randbits(63) + 1)
    client.close()


def opened(answer: Answer, spc: PlaybackContext) -> tuple[dict[str, object], OpenedCKC]:
    """The members of NAGRA's JSON object, and the opened CKC in it."""
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
    """Checks that the header fields, the answer's JSON and the license query agree about a license.

    Returns its JSON.
    """
    told = json.loads(answer.body)["license"]
    fields = {
        "id": answer.header("X-License-Id"),
        "type": answer.header("X-License-Type"),
        "issued_at": _number(answer.header("X-License-Issued")),
        "expires_at": _number(answer.header("X-License-Expires")),
        "renew_after": _number(answer.header("X-License-Renew-After")),
    }
    assert {name: told[name] for name in fields} == fields
    (asked,) = app.licenses(token, licenses=[told["id"]])["licenses"]
    assert {name: asked[name] for name in told} == told
    assert asked["state"] == "valid"
    (asset,) = app.licenses(token, assets=[ISSUERS.content])["assets"]
    assert told["id"] in [license["id"] for license in asset["licenses"]]
    (of_asset,) = [license for license in asset["licenses"] if license["id"] == told["id"]]
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
        assert [(row["kind"], row["previous"]) for row in renewal] == [("license_renewed", previous)]
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
    # With a new content token a renewal works, even after the lease has ended.
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
    assert int(str(answer.header("X-License-Expires"))) <= end, "the right in the token has this end too"


@pytest.mark.parametrize("kind", ["Session", "Kc"])
def test_tokens_of_another_server_are_refused_as_such(app: App, kind: str) -> None:
    answer = app.ask(app.spc(), ISSUERS.nagra.sign(ISSUERS.nagra_claims(typ=kind)), "?renew=true")
    assert (answer.status, answer.code) == (401, "token_issuer")
    listed = f"{app.content_token()},{ISSUERS.nagra.sign(ISSUERS.nagra_claims(typ=kind))}"
    answer = app.ask(app.spc(), listed)
    # Beside a session token of another server, the content token decides. A "Kc" token of another server is refused.
    assert (answer.status, answer.code) == ((200, None) if kind == "Session" else (401, "token_issuer"))


def test_a_forged_session_token_is_refused(app: App) -> None:
    _, token = begin(app)
    head, _, signature = token.rpartition(".")
    forged = f"{head}.{'A' * len(signature)}"
    assert app.ask(app.spc(tags.LEASE_ABOUT_TO_EXPIRE), forged, "?renew=true").code == "token_signature"


# --- A content token and a session token beside each other -----------------------------------------------------------


def renewals_of(app: App, license: object) -> list[str]:
    rows = json.loads(run_latchkey(app.daemon.setup, "ledger", "query", "--license", str(license), "--json"))
    renewals = [row for row in rows["entries"] if row["kind"] == "license_renewed"]
    return [row["license"] for row in renewals if row["previous"] == license]


@pytest.mark.parametrize("content_first", [True, False])
def test_the_session_token_decides_about_a_renewal(app: App, content_first: bool) -> None:
    content = app.content_token()
    spc = app.spc()
    members, _ = opened(app.ask(spc, content), spc)
    license, session = members["license"]["id"], str(members["sessionToken"])
    # The content token allows one use of the key, and that use is spent.
    assert app.ask(app.spc(tags.LEASE_ABOUT_TO_EXPIRE), content, "?renew=true").code == "token_used"
    listed = f"{content},{session}" if content_first else f"{session}, {content}"
    renewal = app.spc(tags.LEASE_ABOUT_TO_EXPIRE)
    members, ckc = opened(app.ask(renewal, listed, "?renew=true"), renewal)
    assert ckc.terms == Streaming(lease=LEASE) and members["sessionToken"] != session
    assert renewals_of(app, license) == [members["license"]["id"]]


def test_the_content_token_decides_about_a_new_license(app: App) -> None:
    members, session = begin(app)
    app.session += 1
    spc = app.spc()
    other, _ = opened(app.ask(spc, f"{app.content_token()},{session}"), spc)
    assert renewals_of(app, members["license"]["id"]) == []
    assert other["license"]["id"] != members["license"]["id"]


def test_either_token_makes_good_for_the_end_of_the_other(app: App) -> None:
    _, session = begin(app)
    ended = app.content_token(exp=int(time.time()) - 600)
    assert app.ask(app.spc(tags.LEASE_ABOUT_TO_EXPIRE), ended).code == "token_expired"
    renewal = app.spc(tags.LEASE_ABOUT_TO_EXPIRE)
    members, _ = opened(app.ask(renewal, f"{ended},{session}"), renewal)
    late = session_tokens.expired(str(members["sessionToken"]), app.daemon.setup)
    spc = app.spc(tags.LEASE_ABOUT_TO_EXPIRE)
    opened(app.ask(spc, f"{app.content_token()},{late}", "?renew=true"), spc)
    assert app.ask(app.spc(), f"{ended},{late}").code == "token_expired"


def test_two_tokens_of_one_kind_are_refused(app: App) -> None:
    _, first = begin(app)
    app.session += 1
    _, second = begin(app)
    assert app.ask(app.spc(), f"{app.content_token()},{app.content_token()}").code == "token_ambiguous"
    assert app.ask(app.spc(), f"{first},{second}", "?renew=true").code == "token_ambiguous"
    assert app.ask(app.spc(), f"{app.content_token()},{first},{second}").code == "token_ambiguous"


# --- Refusals --------------------------------------------------------------------------------------------------------


def test_refusals_have_nagras_numbers(app: App) -> None:
    """A client with its tokens in NAGRA's header gets `errorCode`. Other clients get problem documents."""
    token = app.content_token()
    spc = app.spc()
    assert app.ask(spc, token).status == 200
    foreign = ISSUERS.native["HS256"].sign(ISSUERS.nagra_claims(), kid=ISSUERS.nagra.kid)
    other = device_for(read_device_credential(app.daemon.setup / "fairplay"), 1).device_id.hex()
    pinned = ISSUERS.nagra.sign(ISSUERS.nagra_claims(device={"deviceUniqueId": other}))
    rows = [
        (app.ask(app.spc(), token), 403, "token_used", 4006),
        (app.ask(app.spc(), app.content_token(exp=int(time.time()) - 600)), 401, "token_expired", 4005),
        (app.ask(app.spc(), foreign), 401, "token_signature", 3003),
        (app.ask(app.spc(), "no.token"), 401, "token_malformed", 3006),
        (app.ask(app.spc(), ""), 401, "token_missing", 4001),
        (app.ask(app.spc(), app.content_token(duration=0)), 400, "token_schema", 3007),
        (app.ask(app.spc(), app.content_token(contentId="another")), 403, "content_mismatch", 4000),
        (app.ask(app.spc(), app.content_token(), "?offline=1"), 403, "offline_not_allowed", 4000),
        (app.ask(app.spc(), pinned), 403, "device_mismatch", 4007),
        (app.ask(app.spc(), app.content_token(), "?format=xml"), 400, "request_invalid", 1001),
        (app.client.send("GET", "/fps/license", None, {"nv-authorizations": "a"}), 405, "method_not_allowed", 1001),
        (app.client.send("POST", "/fps/license", b"", {"nv-authorizations": token}), 400, "body_empty", 1001),
        (app.client.send("POST", "/fps/license", b"0\x82", {"nv-authorizations": token}), 400, "spc_is_certificate", 2001),
        (app.client.send("POST", "/fps/challenge", b"", {"nv-authorizations": ""}), 401, "token_missing", 4001),
        (app.client.send("POST", LICENSES, b"{}", {"nv-authorizations": token}), 400, "body_unrecognised", 1001),
    ]
    for answer, status, code, number in rows:
        assert (answer.status, answer.code) == (status, code), answer.body
        assert answer.header("Content-Type") == "application/json"
        assert answer.problem["errorCode"] == number and answer.problem["code"] == code
        assert answer.problem["request_id"] == answer.header("X-Request-Id")
    plain = app.client.send("POST", "/fps/license", b"", {"Content-Type": "application/octet-stream"})
    assert plain.header("Content-Type") == "application/problem+json" and "errorCode" not in plain.problem


# --- The page about renewals: how an app learns of the end, when it renews, and licenses to keep ----------------------


class Player:
    """The app of OpenTV's page about renewals.

    It has one license URL for everything, and fetches a new content token for each license. It learns of an end in
    three ways: from the server, from its own token, or from the player.
    """

    URL = "/fps/license"

    def __init__(self, app: App, **right: object):
        self.app = app
        self.right = right
        self.token = ""
        self.session_token: str | None = None
        self.license_id = ""

    def acquire(self, capabilities: int | None = None) -> OpenedCKC:
        """Requests a license with a new content token: the first license, or a renewal of a license to keep."""
        self.token = self.app.content_token(profile=None, **self.right)
        return self._acquire(self.token, self.app.spc(capabilities=capabilities), "")

    def renew(self) -> OpenedCKC:
        """Renews a license, as the player does by `renewExpiringResponseData`."""
        assert self.session_token
        return self._acquire(self.session_token, self.app.spc(tags.LEASE_ABOUT_TO_EXPIRE), "?renew=true")

    def _acquire(self, token: str, spc: PlaybackContext, query: str) -> OpenedCKC:
        headers = {"Accept": "application/json", "nv-authorizations": token}
        answer = self.app.client.send("POST", self.URL + query, spc.message, headers)
        members, ckc = opened(answer, spc)
        self.session_token = members.get("sessionToken")
        self.license_id = members["license"]["id"]
        return ckc

    def end_by_license_information(self) -> int:
        """(a) Reads the end by a request to the server for information about the license."""
        (license,) = self.app.licenses(self.session_token or self.token, licenses=[self.license_id])["licenses"]
        return int(license["expires_at"])

    def end_by_own_token(self, asked_at: float) -> int:
        """(b) Reads the end from the token's `contentRights`: the earlier of `end` and `duration` after the license
        request."""
        right = tokens.header_and_claims(self.token)[1]["contentRights"][0]
        ends = [asked_at + right["duration"]] if "duration" in right else []
        ends += [calendar.timegm(time.strptime(right["end"], "%Y-%m-%dT%H:%M:%SZ"))] if "end" in right else []
        return int(min(ends))

    def play_past_the_lease(self) -> None:
        """(c) The player reports `keyResponseWithExpiredLease`.

        This test does not wait, so it moves the lease into the past.
        """
        header, claims = tokens.header_and_claims(self.session_token or "")
        lease = int(claims["right"]["lease"])
        self.session_token = session_tokens.sign(
            header,
            claims | {"iat": int(claims["iat"]) - lease - 1, "exp": int(claims["exp"]) - lease - 1},
            self.app.daemon.setup,
        )


def in_utc(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


@pytest.mark.parametrize("limit", ["duration", "end", "both"])
def test_the_end_is_found_by_license_information_and_in_the_own_token(app: App, limit: str) -> None:
    now = time.time()
    right = {"duration": 900, "end": in_utc(now + 700)}
    player = Player(app, **(right if limit == "both" else {limit: right[limit]}))
    ckc = player.acquire()
    assert isinstance(ckc.terms, Streaming) and ckc.terms.lease is not None and ckc.terms.rental is None
    asked, own = player.end_by_license_information(), player.end_by_own_token(now)
    assert abs(asked - own) <= 2 and abs(asked - now - ckc.terms.lease) <= 2


def test_a_duration_alone_is_the_life_of_a_license_and_not_a_rental(app: App) -> None:
    player = Player(app, duration=900)
    assert player.acquire().terms == Streaming(lease=900)
    # Each further license has the same lease: playback continues past the first.
    assert player.renew().terms == Streaming(lease=900)


def test_a_lease_is_renewed_before_it_ends(app: App) -> None:
    player = Player(app, duration=900)
    player.acquire()
    first = player.license_id
    assert player.renew().terms == Streaming(lease=900)
    assert renewals_of(app, first) == [player.license_id]


def test_a_lease_is_renewed_after_the_player_says_that_it_ended(app: App) -> None:
    player = Player(app, duration=900)
    player.acquire()
    player.play_past_the_lease()
    assert player.renew().terms == Streaming(lease=900)


@pytest.mark.parametrize("capabilities", [tags.CAPABILITY_OFFLINE_KEY, 0])
def test_a_license_to_keep_needs_no_other_url(app: App, capabilities: int) -> None:
    """`offlineByRight`: `storable` in a new token is enough to get the key and to renew it at the streaming URL."""
    player = Player(app, duration=86_400, storable=True)
    for _ in range(2):
        assert player.acquire(capabilities).terms == Persistent(86_400)
        assert player.session_token is None
        assert abs(player.end_by_own_token(time.time()) - player.end_by_license_information()) <= 2
    # An app that wants to stream sends `?offline=0`.
    spc = app.spc(capabilities=capabilities)
    answer = app.ask(spc, app.content_token(profile=None, duration=900, storable=True), "?offline=0")
    assert opened(answer, spc)[1].terms == Streaming(lease=900)
    assert explained(app, spc.message, app.content_token(profile=None, duration=900, storable=True))["use"] == "offline"
    # A right that is not storable allows only streaming.
    assert Player(app, duration=900).acquire(capabilities).terms == Streaming(lease=900)


@pytest.mark.parametrize("is_list", [True, False])
@pytest.mark.parametrize("limit", ["duration", "end", "both"])
def test_the_end_of_a_license_to_keep_is_one_and_not_split(app: App, limit: str, is_list: bool) -> None:
    """The app reads the end in its own token. Some issuers write `contentRights` as one object."""
    now = time.time()
    right = {"duration": 9_000, "end": in_utc(now + 7_000)}
    own = {"contentId": ISSUERS.content, "storable": True} | (right if limit == "both" else {limit: right[limit]})
    claims = ISSUERS.nagra_claims(contentRights=[own] if is_list else own, device={"accountId": app.account})
    player = Player(app)
    player.token = ISSUERS.nagra.sign(claims)
    ckc = player._acquire(player.token, app.spc(capabilities=tags.CAPABILITY_OFFLINE_KEY), "")
    seconds = 9_000 if limit == "duration" else 7_000
    assert isinstance(ckc.terms, Persistent) and abs(ckc.terms.storage - seconds) <= 2, ckc.terms
    assert abs(player.end_by_license_information() - now - seconds) <= 2


def test_a_right_that_starts_in_a_day_is_not_kept_waiting_for_hours(app: App) -> None:
    answer = app.ask(app.spc(), app.content_token(start=in_utc(time.time() + 86_400)))
    assert (answer.status, answer.code) == (403, "right_not_started")
    assert 86_390 <= int(answer.header("Retry-After") or 0) <= 86_431


def explained(app: App, spc: bytes, token: str) -> dict[str, object]:
    """The output of `latchkey token explain` for a request without `?offline=`."""
    folder = app.daemon.setup
    (folder / "explained.jwt").write_text(token)
    (folder / "explained.spc").write_bytes(spc)
    arguments = (str(folder / "explained.jwt"), "--spc", str(folder / "explained.spc"), "--json")
    return json.loads(run_latchkey(folder, "token", "explain", *arguments))


# --- When licenses end -----------------------------------------------------------------------------------------------


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
    (first,) = app.licenses(token, licenses=[told["id"]])["licenses"]
    assert first["state"] == "renewed"


def test_a_license_to_keep_is_told_in_three_ways_and_renewed_with_a_fresh_token(app: App) -> None:
    token = app.content_token(profile="VOD", storable=True)
    spc = app.spc(capabilities=tags.CAPABILITY_OFFLINE_KEY)
    answer = app.ask(spc, token, "?offline=1")
    members, ckc = opened(answer, spc)
    assert ckc.terms == OfflineKey(KEY.key_id, STORAGE, PLAYBACK)
    assert "sessionToken" not in members
    told = assert_three_ways_agree(app, answer, token)
    assert told["persistent"] is True and told["renewable"] is True
    assert told["storage_expires_at"] == told["issued_at"] + STORAGE and told["playback"] == PLAYBACK

    # A renewal before the key ends and one after its end are the same request to the server.
    for named in (True, False):
        query = "?offline=1&renew=true" + (f"&previous={told['id']}" if named else "")
        again = app.spc(capabilities=tags.CAPABILITY_OFFLINE_KEY)
        fresh = app.content_token(profile="VOD", storable=True)
        renewed = app.ask(again, fresh, query)
        opened(renewed, again)
        rows = json.loads(run_latchkey(app.daemon.setup, "ledger", "query", "--license", str(told["id"]), "--json"))
        follower = [row for row in rows["entries"] if row["license"] == renewed.header("X-License-Id")]
        assert [(row["kind"], row["previous"]) for row in follower] == [("license_renewed", told["id"])]
        told = assert_three_ways_agree(app, renewed, fresh)


def test_a_license_of_another_device_is_nobodys_previous(app: App) -> None:
    spc = app.spc(capabilities=tags.CAPABILITY_OFFLINE_KEY)
    first = app.ask(spc, app.content_token(profile="VOD", storable=True), "?offline=1").header("X-License-Id")
    app.device = device_for(read_device_credential(app.daemon.setup / "fairplay"), 1)
    again = app.spc(capabilities=tags.CAPABILITY_OFFLINE_KEY)
    token = app.content_token(profile="VOD", storable=True)
    renewed = app.ask(again, token, f"?offline=1&renew=true&previous={first}")
    opened(renewed, again)
    rows = json.loads(run_latchkey(app.daemon.setup, "ledger", "query", "--license", str(first), "--json"))
    assert [row["license"] for row in rows["entries"]] == [first]


def test_nobody_hears_of_the_licenses_of_others(app: App) -> None:
    members, token = begin(app)
    stranger = App(app.daemon, app.device, f"account-{secrets.token_hex(6)}", app.client)
    strange = stranger.content_token()
    never = secrets.token_hex(16)
    ids = [members["license"]["id"], never, "no id"]
    answer = stranger.licenses(strange, licenses=ids)["licenses"]
    assert answer == [{"id": license, "state": "unknown"} for license in ids]
    assert stranger.licenses(strange, assets=[ISSUERS.content])["assets"] == [
        {"asset": ISSUERS.content, "licenses": []}
    ]
    assert [license["state"] for license in app.licenses(token, licenses=ids)["licenses"]] == [
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
    answer = app.client.send("POST", LICENSES, body, {"nv-authorizations": token})
    assert (answer.status, answer.code) == (400, code)


def test_a_query_needs_a_token(app: App) -> None:
    answer = app.client.send("POST", LICENSES, b'{"licenses":["a"]}')
    assert (answer.status, answer.code) == (401, "token_missing")


# --- The shapes of the answer ----------------------------------------------------------------------------------------


def test_a_header_has_the_token_and_json_comes_back(app: App) -> None:
    """The header `nv-authorizations` has the stream's token. Without it, or with a wrong one, there is no key."""
    spc = app.spc()
    headers = {"Accept": "application/json", "nv-authorizations": app.content_token()}
    answer = app.client.send("POST", "/fps/license", spc.message, headers)
    assert (answer.status, answer.header("Content-Type")) == (200, "application/json")
    members = json.loads(answer.body)
    assert members["license"]["id"] == answer.header("X-License-Id")
    assert open_ckc(base64.b64decode(members["CkcMessage"], validate=True), spc.secrets).content_key == KEY.key
    for own, code in (({}, "token_missing"), ({"nv-authorizations": "a.b.c"}, "token_malformed")):
        refused = app.client.send("POST", "/fps/license", app.spc().message, {"Accept": "application/json"} | own)
        assert (refused.status, refused.code) == (401, code)
        assert "CkcMessage" not in json.loads(refused.body)


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
    assert app.ask(app.spc(), app.content_token(), "?format=xml").code == "request_invalid"

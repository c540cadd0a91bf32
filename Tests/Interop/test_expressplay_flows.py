"""Apps and back ends that use ExpressPlay's interface, against a running daemon: from the token request to the license.

The section "TVSDK" has the flows of Adobe's TVSDK documents, each with the app's own code. `test_reference_flows.py`
lists them.
"""

import base64
import json
import re
import secrets
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from deployment import register, run_latchkey
from expressplay import (
    AUTHENTICATOR,
    OTHER_REDEEM_PATH,
    REDEEM_URL,
    SCOPED_AUTHENTICATOR,
    SEALING_KEY,
    SEES_AUTHENTICATOR,
    SEES_PATH,
    TEST_AUTHENTICATOR,
    Service,
    options,
    prepare,
    running_entitlement_server,
    running_service,
    sealed_url,
    token_of,
)
from fairplay_device import tags
from fairplay_device.ckc import OpenedCKC, open_ckc
from fairplay_device.facts import PlaybackState
from fairplay_device.license import Streaming
from fairplay_device.spc import Device, SPCOptions
from license_policy import ContentKey
from own_daemon import running_daemon
from tls_material import make_pair


@pytest.fixture(scope="module")
def service(latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running_service(tmp_path_factory.mktemp("expressplay")) as service:
        yield service


@pytest.fixture
def key() -> dict[str, str]:
    """A content key that only its customer knows."""
    return {"contentKey": secrets.token_hex(16), "iv": secrets.token_hex(16)}


# --- Token URLs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [1, 2])
def test_a_token_url_is_the_license_url(service: Service, key: dict[str, str], version: int) -> None:
    opened = service.license(service.token_url(key), b"movie", service.device(version))
    assert opened.content_key.hex() == key["contentKey"] and opened.content_iv.hex() == key["iv"]
    assert opened.terms == Streaming()


def test_a_playlist_can_carry_the_whole_token_url(service: Service, key: dict[str, str]) -> None:
    """The app replaces the scheme, and uses the player's whole key URI as the asset id."""
    url = service.token_url(key)
    key_uri = url.replace("https://", "skd://")
    opened = service.license(key_uri.replace("skd://", "https://"), key_uri.encode())
    assert opened.content_key.hex() == key["contentKey"] and opened.content_iv.hex() == key["iv"]


def test_the_host_of_the_key_uri_is_as_good_an_asset_id(service: Service, key: dict[str, str]) -> None:
    host = urllib.parse.urlsplit(REDEEM_URL).hostname or ""
    assert service.license(service.token_url(key), host.encode()).content_key.hex() == key["contentKey"]


def test_an_asset_id_that_names_a_stored_key_does_not_change_the_tokens(service: Service, key: dict[str, str]) -> None:
    opened = service.license(service.token_url(key), service.content.encode())
    assert opened.content_key.hex() == key["contentKey"] != service.key.key.hex()


def test_a_token_is_good_without_its_url(service: Service, key: dict[str, str]) -> None:
    token = token_of(service.token_url(key))
    for path, headers in [
        (REDEEM_URL, {"ExpressPlayToken": token}),
        (f"https://host{OTHER_REDEEM_PATH}?ExpressPlayToken={token}", {}),
        (f"https://host/fps/license?ExpressPlayToken={token}", {}),
    ]:
        context = service.device().request(options(b"movie"))
        answer = service.redeem(path, context.message, headers)
        assert answer.status == 200, answer


def test_a_compact_token_takes_the_same_place(service: Service) -> None:
    token = run_latchkey(service.daemon.setup, "token", "mint", "--content", service.content).strip()
    opened = service.license(f"{REDEEM_URL}?ExpressPlayToken={token}", service.content.encode())
    assert opened.content_key == service.key.key


def test_a_stored_key_needs_no_asset_id_of_its_own(service: Service) -> None:
    """If the asset id is the token URL, the token itself names the key."""
    url = service.token_url({"kid": service.key.key_id.hex()})
    for asset_id in (url.replace("https://", "skd://").encode(), service.content.encode()):
        opened = service.license(url, asset_id)
        assert opened.content_key == service.key.key and opened.content_iv == service.key.iv


def test_a_license_has_the_tokens_terms(service: Service, key: dict[str, str]) -> None:
    opened = service.license(service.token_url(key | {"rentalDuration": "7200", "latchkey.lease": "120"}), b"movie")
    assert opened.duration is not None
    assert (opened.duration.lease_seconds, opened.duration.rental_seconds) == (120, 7200)


def test_the_ledger_ties_the_license_to_its_token(service: Service, key: dict[str, str]) -> None:
    cookie = f"order-{secrets.token_hex(8)}"
    url = service.token_url(key | {"cookie": cookie})
    assert service.license(url, url.encode()).content_key.hex() == key["contentKey"]
    text = run_latchkey(service.daemon.setup, "ledger", "query", "--json", "--cookie", cookie)
    by_kind = {entry["kind"]: entry for entry in json.loads(text)["entries"]}
    assert set(by_kind) == {"token_minted", "license_issued"}
    minted, issued = by_kind["token_minted"], by_kind["license_issued"]
    assert minted["token"] == issued["token"] and minted["kid"] == issued["kid"]
    assert issued["content"] == f"key:{issued['kid']}"
    assert token_of(url) not in text


def test_a_content_with_one_key_needs_no_asset_id_of_its_own(service: Service) -> None:
    """A token that names a content is enough if the content has exactly one key and the asset id names no key."""
    url = service.token_url({"kid": f"^{service.content}"})
    for asset_id in (url.replace("https://", "skd://").encode(), b"another"):
        opened = service.license(url, asset_id)
        assert opened.content_key == service.key.key and opened.content_iv == service.key.iv


def test_an_asset_id_of_another_key_stays_refused(service: Service) -> None:
    other, several = f"other-{secrets.token_hex(4)}", f"several-{secrets.token_hex(4)}"
    keys = [ContentKey(secrets.token_bytes(16), secrets.token_bytes(16), secrets.token_bytes(16)) for _ in range(3)]
    for content, key in zip((other, several, several), keys):
        register(service.daemon.setup, content, key)
    url = service.token_url({"kid": f"^{service.content}"})
    for asset_id in (other.encode(), keys[0].key_id, several.encode()):
        assert service.code(url, asset_id=asset_id) == -4022
    # If the content has several keys, the asset id must name one.
    url = service.token_url({"kid": f"^{several}"})
    assert service.code(url, asset_id=b"no key has this name") == -4022
    assert service.license(url, keys[1].key_id).content_key == keys[1].key


def test_a_lease_is_renewed_by_the_session_token_without_an_asset_id_of_its_own(service: Service) -> None:
    url = service.token_url({"kid": f"^{service.content}", "latchkey.lease": "120"})
    device = service.device()
    state = PlaybackState(1_700_000_000, tags.LEASE_ABOUT_TO_EXPIRE, secrets.randbits(63))
    first = device.request(SPCOptions(b"any name", playback_state=state))
    answer = service.redeem(url, first.message)
    session_token = answer.header("X-Session-Token")
    assert answer.status == 200 and session_token
    again = device.request(SPCOptions(b"any name", playback_state=state))
    renewed = service.send(
        "POST", "/fps/license?renew=true", again.message, {"Authorization": f"Bearer {session_token}"}
    )
    assert renewed.status == 200, renewed
    assert open_ckc(renewed.body, again.secrets).content_key == service.key.key


def test_a_lease_of_a_key_inside_is_renewed_with_the_token_url(service: Service, key: dict[str, str]) -> None:
    """The answer has no session token: such a token is signed but not sealed, so it could not carry the key."""
    url = service.token_url(key | {"latchkey.lease": "120"})
    device = service.device()
    session = secrets.randbits(63)
    for state in (tags.READY_TO_START, tags.LEASE_ABOUT_TO_EXPIRE):
        options = SPCOptions(b"movie", playback_state=PlaybackState(1_700_000_000, state, session))
        context = device.request(options)
        answer = service.redeem(url, context.message)
        assert answer.status == 200 and answer.header("X-Session-Token") is None
        opened = open_ckc(answer.body, context.secrets)
        assert opened.content_key.hex() == key["contentKey"] and opened.terms == Streaming(lease=120)


@pytest.mark.parametrize("name", ["latchkey.leases", "latchkey.Lease", "latchkey.", "latchkey.x<b>"])
def test_an_unknown_parameter_of_our_own_is_refused(service: Service, key: dict[str, str], name: str) -> None:
    answer = service.ask(key | {name: "60", "errorFormat": "json"})
    error = json.loads(answer.body)
    assert (answer.status, error["errorCode"]) == (400, -2035)
    assert name.partition("<")[0] in error["errorMessage"] and "<" not in error["errorMessage"]
    assert service.ask(key | {"unknown": "60"}).status == 200, "other names are ignored, as ExpressPlay does"


# --- Entitlement servers ----------------------------------------------------------------------------------------------


def ask_entitlement_server(authority: str, content: str, viewer: str) -> str:
    request = urllib.request.Request(
        f"http://{authority}/entitlement?{urllib.parse.urlencode({'cid': content})}", headers={"X-Viewer": viewer}
    )
    with urllib.request.urlopen(request, timeout=20) as response:
        return response.read().decode()


def test_an_entitlement_server_hands_out_token_urls(service: Service) -> None:
    with running_entitlement_server(service, {"viewer-1"}) as server:
        url = ask_entitlement_server(server.authority, service.content, "viewer-1")
        assert service.license(url, service.content.encode()).content_key == service.key.key
        with pytest.raises(urllib.error.HTTPError) as refusal:
            ask_entitlement_server(server.authority, service.content, "viewer-2")
        assert refusal.value.code == 403


def test_a_key_uri_names_the_entitlement_server_and_the_content(service: Service) -> None:
    """`skd://{entitlement_server}?cid={content_id}`: the app parses the URI, and may use all of it as the asset id."""
    with running_entitlement_server(service, {"viewer-1"}) as server:
        key_uri = f"skd://{server.authority}?cid={service.content}"
        parts = urllib.parse.urlsplit(key_uri)
        content = urllib.parse.parse_qs(parts.query)["cid"][0]
        url = ask_entitlement_server(parts.netloc, content, "viewer-1")
        for asset_id in (content, key_uri):
            assert service.license(url, asset_id.encode()).content_key == service.key.key


def test_an_on_premise_server_is_addressed_by_the_key_uri(service: Service, key: dict[str, str]) -> None:
    """The playlist names this server itself. The app replaces `skd` with its scheme and sends its request there."""
    token = token_of(service.token_url(key))
    key_uri = f"skd://{service.daemon.public[0]}:{service.daemon.public[1]}/hms/fp/rights/?ExpressPlayToken={token}"
    context = service.device().request(options(key_uri.encode()))
    request = urllib.request.Request(key_uri.replace("skd://", "http://"), data=context.message, method="POST")
    with urllib.request.urlopen(request, timeout=20) as response:
        assert response.status == 200
        ckc = response.read()
    assert open_ckc(ckc, context.secrets).content_key.hex() == key["contentKey"]


# --- TVSDK ------------------------------------------------------------------------------------------------------------


class TVSDKApp:
    """The app that Adobe's TVSDK documents describe, on one device. It has a playlist and the viewer's name, but no
    token.

    The player gives the app the key's URI from the playlist. The app makes the license URL from it, POSTs the SPC as
    raw bytes, and passes the bytes of the answer to the player.
    """

    def __init__(self, device: Device, viewer: str = "viewer-1"):
        self.device = device
        self.viewer = viewer

    def play(self, playlist: str, license_url: str | None = None) -> OpenedCKC:
        """Use cases 1 and 3: the license URL is the key's URI with another scheme."""
        uri = self.key_uri(playlist)
        return self._play(uri, license_url or uri.replace("skd://", "https://"))

    def play_by_entitlement_server(self, playlist: str) -> OpenedCKC:
        """Use case 2: the key's URI names an entitlement server, which answers with a token URL."""
        uri = self.key_uri(playlist)
        parts = urllib.parse.urlsplit(uri)
        content = urllib.parse.parse_qs(parts.query)["cid"][0]
        return self._play(uri, ask_entitlement_server(parts.netloc, content, self.viewer))

    @staticmethod
    def key_uri(playlist: str) -> str:
        found = re.search(r'#EXT-X-KEY:METHOD=SAMPLE-AES,URI="(skd://[^"]+)",KEYFORMAT="com.apple', playlist)
        assert found, playlist
        return found[1]

    def _play(self, uri: str, url: str) -> OpenedCKC:
        context = self.device.request(options(uri.encode()))
        request = urllib.request.Request(self.routed(url), data=context.message, method="POST")
        request.add_header("Content-Type", "application/octet-stream")
        with urllib.request.urlopen(request, timeout=20) as response:
            assert (response.status, response.headers["Content-Type"]) == (200, "application/octet-stream")
            return open_ckc(response.read(), context.secrets)

    # The address for each host name: the daemon under test uses plain HTTP on loopback, and the host of its redeem URL
    # does not exist.
    routes: dict[str, str]

    def routed(self, url: str) -> str:
        parts = urllib.parse.urlsplit(url)
        return urllib.parse.urlunsplit(("http", self.routes.get(parts.netloc, parts.netloc), *parts[2:]))


def playlist_with(uri: str) -> str:
    return (
        "#EXTM3U\n#EXT-X-VERSION:5\n#EXT-X-TARGETDURATION:6\n"
        f'#EXT-X-KEY:METHOD=SAMPLE-AES,URI="{uri}",KEYFORMAT="com.apple.streamingkeydelivery",KEYFORMATVERSIONS="1"\n'
        "#EXTINF:6,\nsegment0.ts\n#EXT-X-ENDLIST\n"
    )


@pytest.fixture
def app(service: Service) -> TVSDKApp:
    app = TVSDKApp(service.device())
    host = urllib.parse.urlsplit(REDEEM_URL).netloc
    app.routes = {host: f"{service.daemon.public[0]}:{service.daemon.public[1]}"}
    return app


@dataclass(frozen=True)
class NamedKey:
    """The parameters by which a token URL names the key, and the key itself in hexadecimal."""

    parameters: dict[str, str]
    key: str


@pytest.fixture(params=["a key inside", "a key's id", "a content"])
def named(request: pytest.FixtureRequest, service: Service, key: dict[str, str]) -> NamedKey:
    kept = service.key.key.hex()
    return {
        "a key inside": NamedKey(key, key["contentKey"]),
        "a key's id": NamedKey({"kid": service.key.key_id.hex()}, kept),
        "a content": NamedKey({"kid": f"^{service.content}"}, kept),
    }[request.param]


def test_tvsdk_asks_an_on_premise_server_at_the_swapped_key_uri(service: Service, app: TVSDKApp, named: NamedKey) -> None:
    token = token_of(service.token_url(named.parameters))
    authority = f"{service.daemon.public[0]}:{service.daemon.public[1]}"
    opened = app.play(playlist_with(f"skd://{authority}/hms/fp/rights/?ExpressPlayToken={token}"))
    assert opened.content_key.hex() == named.key


def test_tvsdk_asks_an_entitlement_server_for_a_token_url(service: Service, app: TVSDKApp) -> None:
    with running_entitlement_server(service, {"viewer-1"}) as server:
        playlist = playlist_with(f"skd://{server.authority}?cid={service.content}")
        opened = app.play_by_entitlement_server(playlist)
        assert opened.content_key == service.key.key and opened.content_iv == service.key.iv
        app.viewer = "viewer-2"
        with pytest.raises(urllib.error.HTTPError) as refusal:
            app.play_by_entitlement_server(playlist)
        assert refusal.value.code == 403


def test_tvsdk_finds_the_token_url_in_the_playlist(service: Service, app: TVSDKApp, named: NamedKey) -> None:
    """The packager inserted the token URL unchanged except for its scheme:
    `skd://fp.…:80/hms/fp/rights/?ExpressPlayToken=…`."""
    url = service.token_url(named.parameters)
    assert url.startswith(REDEEM_URL)
    opened = app.play(playlist_with(url.replace("https://", "skd://")))
    assert opened.content_key.hex() == named.key


def test_a_person_makes_a_token_url_and_writes_it_into_the_app(service: Service, app: TVSDKApp) -> None:
    """The person opens the URL of the token service in a browser, and copies the answer into the app's source."""
    answer = service.ask_by_get({"kid": f"^{service.content}", "expirationTime": "+300"})
    assert (answer.status, answer.header("Content-Type")) == (200, "text/uri-list")
    opened = app.play(playlist_with(f"skd://{service.content}"), answer.body.decode())
    assert opened.content_key == service.key.key and opened.content_iv == service.key.iv


def test_the_redeem_url_may_have_any_port_and_the_root_as_its_path(
    latchkey_programs: None, tmp_path: Path, app: TVSDKApp
) -> None:
    redeem_url = "https://licenses.example:8443/"

    def prepare_root(setup: Path) -> None:
        prepare(setup)
        configuration = setup / "latchkey.json5"
        text = configuration.read_text()
        changed = text.replace(REDEEM_URL, redeem_url).replace(f'"{OTHER_REDEEM_PATH}"', '"/"')
        assert changed.count('"/"') == 1 and redeem_url in changed
        configuration.write_text(changed)

    key = ContentKey(key_id=secrets.token_bytes(16), key=secrets.token_bytes(16), iv=secrets.token_bytes(16))
    with running_daemon(tmp_path, prepare=prepare_root) as daemon:
        register(daemon.setup, "movie-1", key)
        service = Service(daemon, "movie-1", key)
        url = service.ask({"kid": "^movie-1"}).body.decode()
        assert url.startswith(f"{redeem_url}?ExpressPlayToken=")
        app.device = service.device()
        app.routes = {"licenses.example:8443": f"{daemon.public[0]}:{daemon.public[1]}"}
        assert app.play(playlist_with(url.replace("https://", "skd://"))).content_key == key.key
        refused = service.redeem(redeem_url, service.device().request(options(b"movie-1")).message)
        assert (refused.status, refused.header("X-Error-Code")) == (401, "token_missing")


# --- Refusals ---------------------------------------------------------------------------------------------------------


def test_a_token_ends(service: Service) -> None:
    now = int(time.time())
    assert service.code(sealed_url(f2=now - 600, f3=now - 300)) == -2002
    assert service.code(sealed_url(f2=now + 600, f3=now + 900)) == -2002
    assert service.license(sealed_url(), b"movie").content_key


def test_a_token_is_for_its_device(service: Service, key: dict[str, str]) -> None:
    mine, other = service.device(), service.device()
    url = service.token_url(key | {"latchkey.device": mine.device_id.hex()})
    assert service.license(url, b"movie", mine).content_key.hex() == key["contentKey"]
    assert service.code(url, other) == -4001


def test_a_token_is_bound_by_its_first_use(service: Service, key: dict[str, str]) -> None:
    mine, other = service.device(), service.device()
    url = service.token_url(key | {"latchkey.bind": "first"})
    for device in (mine, mine):
        assert service.license(url, b"movie", device).content_key.hex() == key["contentKey"]
    assert service.code(url, other) == -4001


def test_a_token_is_used_up(service: Service, key: dict[str, str]) -> None:
    url = service.token_url(key | {"latchkey.uses": "1"})
    context = service.device().request(options(b"movie"))
    answers = [service.redeem(url, context.message) for _ in range(2)]
    assert {answer.status for answer in answers} == {200}, "a repeated request is counted once"
    assert service.code(url) == -4010


def test_refusals_come_in_both_formats(service: Service) -> None:
    message = service.device().request(options(b"movie")).message
    page = service.redeem(REDEEM_URL, message)
    assert (page.status, page.header("X-Error-Code")) == (401, "token_missing")
    assert page.header("Content-Type") == "text/html; charset=utf-8" and b"Error -2017" in page.body
    for url, headers in [(f"{REDEEM_URL}?errorFormat=json", {}), (REDEEM_URL, {"Accept": "application/json"})]:
        answer = service.redeem(url, message, headers)
        assert answer.header("Content-Type") == "application/json"
        error = json.loads(answer.body)
        assert error["errorCode"] == -2017 and error["eventId"] == answer.header("X-Request-Id")
    malformed = service.redeem(f"{sealed_url()}&errorFormat=json", b"no SPC")
    assert (malformed.status, json.loads(malformed.body)["errorCode"]) == (400, -6005)
    other = service.send("GET", "/hms/fp/rights/")
    assert (other.status, other.header("Allow")) == (405, "POST, OPTIONS")


# --- Device registration ----------------------------------------------------------------------------------------------


def sees_url(service: Service, kind: int, cookie: str | None = None) -> str:
    answer = service.ask_sees(requestType=kind, customerCookie=cookie)
    assert answer.status == 200, answer
    message = json.loads(answer.body)
    assert message["isAllowed"] is True and message["version"] == 1, message
    assert message["messageID"] == "0f8fad5b-d9cb-469f-a165-70867728950e"
    return message["epTokenURL"]


def test_a_time_based_token_is_for_any_device(service: Service) -> None:
    url = sees_url(service, 1)
    for _ in range(2):
        assert service.license(url, service.content.encode()).content_key == service.key.key


def test_a_device_is_registered_and_then_bound(service: Service) -> None:
    cookie = f"viewer-{secrets.token_hex(6)}"
    mine, other = service.device(), service.device(2)
    asset_id = service.content.encode()
    bound = sees_url(service, 3, cookie)
    assert service.code(bound, mine, asset_id) == -4001, "nothing is registered yet"
    assert service.license(sees_url(service, 2, cookie), asset_id, mine).content_key == service.key.key
    assert service.license(bound, asset_id, mine).content_key == service.key.key
    assert service.license(sees_url(service, 3, cookie), asset_id, mine).content_key == service.key.key
    for url in (bound, sees_url(service, 3, cookie)):
        assert service.code(url, other, asset_id) == -4001
    assert service.code(sees_url(service, 3, f"viewer-{secrets.token_hex(6)}"), mine, asset_id) == -4001


def test_a_registration_token_registers_one_device_once(service: Service) -> None:
    """At the maximum, each further device would evict the one before it."""
    cookie = f"viewer-{secrets.token_hex(6)}"
    mine, asset_id = service.device(), service.content.encode()
    url = sees_url(service, 2, cookie)
    context = mine.request(options(asset_id))
    answers = [service.redeem(url, context.message) for _ in range(2)]
    assert {answer.status for answer in answers} == {200}, "a repeated request is counted once"
    for _ in range(3):
        assert service.code(url, service.device(), asset_id) in (-4001, -4010)
    assert service.code(url, mine, asset_id) == -4010
    assert service.license(sees_url(service, 3, cookie), asset_id, mine).content_key == service.key.key


def test_a_registration_token_opens_each_key_of_its_content_on_one_device(service: Service) -> None:
    cookie, content = f"viewer-{secrets.token_hex(6)}", f"tracks-{secrets.token_hex(4)}"
    keys = [
        ContentKey(key_id=uuid.uuid4().bytes, key=secrets.token_bytes(16), iv=secrets.token_bytes(16), track=track)
        for track in ("AUDIO", "SD")
    ]
    for key in keys:
        register(service.daemon.setup, content, key)
    answer = service.ask_sees(requestType=2, customerCookie=cookie, contentID=content)
    url = json.loads(answer.body)["epTokenURL"]
    mine, other = service.device(), service.device(2)
    assert service.license(url, str(uuid.UUID(bytes=keys[0].key_id)).encode(), mine).content_key == keys[0].key
    assert service.code(url, other, str(uuid.UUID(bytes=keys[1].key_id)).encode()) == -4001
    assert service.license(url, str(uuid.UUID(bytes=keys[1].key_id)).encode(), mine).content_key == keys[1].key


def test_a_registration_at_the_maximum_replaces_the_oldest_device(service: Service) -> None:
    cookie = f"viewer-{secrets.token_hex(6)}"
    old, new = service.device(), service.device(2)
    asset_id = service.content.encode()
    for device in (old, old, new):
        assert service.license(sees_url(service, 2, cookie), asset_id, device).content_key == service.key.key
    assert service.license(sees_url(service, 3, cookie), asset_id, new).content_key == service.key.key
    assert service.code(sees_url(service, 3, cookie), old, asset_id) == -4001
    names = ("--cookie", cookie, "--customer", "player", "--json")
    listed = json.loads(run_latchkey(service.daemon.setup, "account", "devices", "list", *names))["devices"]
    assert len(listed) == 1
    removed = run_latchkey(service.daemon.setup, "account", "devices", "remove", "--all", *names)
    assert json.loads(removed)["devices"] == listed
    assert service.code(sees_url(service, 3, cookie), new, asset_id) == -4001
    assert service.license(sees_url(service, 2, cookie), asset_id, old).content_key == service.key.key


def test_a_customer_opens_its_contents_alone(service: Service) -> None:
    kid = service.key.key_id.hex()
    for name in (f"^{service.content}", kid):
        answer = service.ask({"kid": name, "errorFormat": "json"}, SCOPED_AUTHENTICATOR)
        assert (answer.status, json.loads(answer.body)["errorCode"]) == (400, -4022), name
        assert service.ask({"kid": name}).status == 200
    other = f"scoped/{secrets.token_hex(4)}"
    key = ContentKey(key_id=uuid.uuid4().bytes, key=secrets.token_bytes(16), iv=secrets.token_bytes(16))
    register(service.daemon.setup, other, key)
    for name in (f"^{other}", key.key_id.hex()):
        assert service.ask({"kid": name}, SCOPED_AUTHENTICATOR).status == 200, name
    unknown = service.ask({"kid": "^scoped/unknown", "errorFormat": "json"}, SCOPED_AUTHENTICATOR)
    assert json.loads(unknown.body)["errorCode"] == -4019
    # A key that the customer sends with the request belongs to the customer.
    own = {"contentKey": secrets.token_hex(16), "iv": secrets.token_hex(16)}
    assert service.ask(own, SCOPED_AUTHENTICATOR).status == 200


def test_a_content_can_be_named_by_its_key(service: Service) -> None:
    answer = service.ask_sees(requestType=1, contentID=service.key.key_id.hex())
    url = json.loads(answer.body)["epTokenURL"]
    assert service.license(url, service.content.encode()).content_key == service.key.key


@pytest.mark.parametrize(
    ("members", "error", "member"),
    [
        ({"requestType": 1, "contentID": "nothing"}, -4019, "contentID"),
        ({"requestType": 4}, -2035, "requestType"),
        ({"requestType": "1"}, -2035, "requestType"),
        ({"requestType": 1, "version": 2}, -2035, "version"),
        ({"requestType": 2}, -2033, "customerCookie"),
        ({"requestType": 3, "customerCookie": "c" * 33}, -2033, "customerCookie"),
        ({"requestType": 1, "contentID": None}, -4022, "contentID"),
    ],
)
def test_a_question_is_answered_with_no_that_names_the_member(
    service: Service, members: dict[str, object], error: int, member: str
) -> None:
    answer = service.ask_sees(**members)
    assert answer.status == 200
    message = json.loads(answer.body)
    assert message["isAllowed"] is False and message["epTokenURL"] == ""
    assert message["messageID"] == "0f8fad5b-d9cb-469f-a165-70867728950e"
    assert message["error"] == error and message["errorText"].endswith(f": {member}.")


def test_only_the_configured_caller_may_ask(service: Service) -> None:
    for authenticator, code in [(None, -2017), ("wrong", -2018), (AUTHENTICATOR, -2018)]:
        answer = service.ask_sees(authenticator, requestType=1)
        assert answer.status == 401 and json.loads(answer.body)["error"] == code
    assert service.send("GET", SEES_PATH).status == 405
    answer = service.ask_sees(requestType=1, messageID="7")
    message = json.loads(answer.body)
    assert answer.status == 400 and message["isAllowed"] is False and message["errorText"].endswith(": messageID.")


def test_a_second_device_registers_itself(
    latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Each device registers with the viewer's cookie.

    Both devices play with bound tokens, but a third device does not.
    """
    with running_service(tmp_path_factory.mktemp("registration"), devices_maximum=2) as service:
        cookie = f"viewer-{secrets.token_hex(6)}"
        first, second, third = (service.device(version) for version in (1, 2, 1))
        asset_id = service.content.encode()
        for device in (first, second):
            assert service.code(sees_url(service, 3, cookie), device, asset_id) == -4001, "not registered yet"
            opened = service.license(sees_url(service, 2, cookie), asset_id, device)
            assert opened.content_key == service.key.key
            assert service.license(sees_url(service, 3, cookie), asset_id, device).content_key == service.key.key
        bound = sees_url(service, 3, cookie)
        for device in (first, second):
            assert service.license(bound, asset_id, device).content_key == service.key.key
        assert service.code(bound, third, asset_id) == -4001


def test_a_client_certificate_is_enough_to_ask(
    latchkey_programs: None, tmp_path: Path
) -> None:
    """The request is like the requests to the sample entitlement server: over mutual TLS, without another secret."""
    authority = make_pair(tmp_path, "authority")
    server = make_pair(tmp_path, "server", hosts=("localhost",), issuer=authority)
    back_end, stranger = (make_pair(tmp_path, name, issuer=authority) for name in ("back-end", "stranger"))
    tls = server.configuration | {"clientCA": str(authority.certificate_file)}
    question = {
        "messageID": "0f8fad5b-d9cb-469f-a165-70867728950e", "version": 1, "requestType": 1, "contentID": "movie-1",
    }
    with running_daemon(tmp_path, tls=tls, prepare=lambda setup: prepare(setup, ("CN=back-end",))) as daemon:
        run_latchkey(daemon.setup, "keys", "create", "--content", "movie-1")
        for client, status, is_allowed in [(back_end, 200, True), (stranger, 401, False)]:
            context = ssl.create_default_context(cafile=str(authority.certificate_file))
            context.load_cert_chain(client.certificate_file, client.key_file)
            with httpx.Client(verify=context, trust_env=False, timeout=20) as http:
                answer = http.post(f"https://localhost:{daemon.public[1]}{SEES_PATH}", json=question)
            assert (answer.status_code, answer.json()["isAllowed"]) == (status, is_allowed)


# --- Secrets ----------------------------------------------------------------------------------------------------------


def forms(secret: bytes) -> set[bytes]:
    """The encodings in which a secret could be written."""
    plain = base64.b64encode(secret).rstrip(b"=")
    return {secret, secret.hex().encode(), secret.hex().upper().encode(), plain, plain.translate(bytes.maketrans(b"+/", b"-_"))}


@pytest.mark.last
def test_nothing_secret_is_written_down(service: Service, key: dict[str, str]) -> None:
    kek, wrapped = "000102030405060708090A0B0C0D0E0F", "1FA68B0A8112B447AEF34BD8FB5A7B829D3E862371D2CFE5"
    good = service.token_url(key | {"latchkey.uses": "5", "cookie": "order"})
    unwrapped = service.token_url({"kek": kek, "ek": wrapped, "iv": key["iv"]})
    tokens = [good, unwrapped, sees_url(service, 2, "viewer")]
    for url in tokens:
        service.redeem(url, service.device().request(options(url.encode())).message)
        service.redeem(url[:-3] + "AAA", b"no SPC")
    for authenticator in (AUTHENTICATOR, TEST_AUTHENTICATOR):
        assert service.ask_by_get(key, authenticator).status in (400, 401)
        last = service.ask(key | {"iv": "nonsense"}, authenticator)
        assert last.status in (400, 401)
    service.daemon.await_log(last.header("X-Request-Id") or "no request id")
    written = {
        file.name: file.read_bytes()
        for file in (service.daemon.log, *service.daemon.setup.glob("latchkey.db*"))
    }
    assert any(name.endswith("-wal") for name in written) and b"token_minted" in written[service.daemon.log.name]
    keys = {
        "content key": bytes.fromhex(key["contentKey"]), "IV": bytes.fromhex(key["iv"]),
        "unwrapped key": bytes.fromhex("00112233445566778899aabbccddeeff"), "kek": bytes.fromhex(kek),
        "ek": bytes.fromhex(wrapped), "sealing key": SEALING_KEY,
    }
    texts = {
        "authenticator": AUTHENTICATOR, "its hexadecimal part": AUTHENTICATOR.partition(",")[2],
        "test authenticator": TEST_AUTHENTICATOR, "sees authenticator": SEES_AUTHENTICATOR,
    } | {f"token {index}": token_of(url) for index, url in enumerate(tokens)}
    found = [
        f"{what} in {name}"
        for name, text in written.items()
        for what, spellings in [
            *((what, forms(secret)) for what, secret in keys.items()),
            *((what, {secret.encode()}) for what, secret in texts.items()),
        ]
        if any(spelling in text for spelling in spellings)
    ]
    assert not found, "secrets were written in clear; the list names them"

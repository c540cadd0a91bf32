"""Licenses for a real player in a real browser: hls.js in headless Chromium, on the page of the client kit.

The browser has no FairPlay, so `stand_in.js` takes its place. It makes genuine SPCs, opens CKCs, and gives the content
key to the browser's own Clear Key module, which decrypts the clip. A clip therefore plays only if the license contained
the right key.
"""

import base64
import json
import plistlib
import secrets
import struct
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlencode

import pytest

import clip
import tokens
from browser import Exchange, Page
from conftest import Lab, Title, new_title
from fairplay_device.credentials import read_device_credential
from fairplay_device.spc import SPCOptions, device_for
from license_client import LicenseClient

LICENSE_PATH = "/fps/license"
RETRIES_MAXIMUM = 8
# The greys of neighbouring frames differ by 5.8 in each half.
GREY_TOLERANCE = 2.5


def open_player(
    lab: Lab,
    page: Page,
    source: str,
    token: str,
    *,
    server: str | None = None,
    player: str = "hls.js/index.html",
    **more: str,
) -> None:
    """Opens the page of the client kit, or another one. The page begins to play immediately."""
    server = server or lab.daemon.url
    settings = {
        "source": source,
        "license": f"{server}{LICENSE_PATH}",
        "certificate": f"{server}/fps/certificate",
        "token": token,
    }
    page.open(f"{lab.pages.origin}/{player}#{urlencode(settings | more)}")


def with_claims(title: Title, **claims: object) -> str:
    """A token for a title, with some claims replaced, signed with its issuer's key."""
    header, own = tokens.header_and_claims(title.token())
    signing_key = tokens.read_signing_key(title.setup / "secrets" / "token-signing-key.pem")
    return tokens.sign_es256(header, own | claims, signing_key)


def kid_uri(title: Title) -> str:
    """The key URI of the server's own template."""
    return f"skd://{uuid.UUID(bytes=title.key.key_id)}"


def played(page: Page) -> dict:
    return page.evaluate("observer.played()")


def status(page: Page, pattern: str) -> str:
    return page.evaluate(f"observer.status({json.dumps(pattern)})")


def stand_in(page: Page) -> dict:
    return page.evaluate("JSON.parse(JSON.stringify(standIn))")


def assert_plays(page: Page) -> None:
    """The clip plays from its first frame to its end, and pictures from all of its segments are right."""
    outcome = played(page)
    assert outcome["error"] is None and outcome["ended"], (outcome, status(page, ""), page.console)
    assert outcome["totalVideoFrames"] > clip.FRAME_COUNT // 2
    assert outcome["corruptedVideoFrames"] == 0
    assert outcome["currentTime"] == pytest.approx(clip.FRAME_COUNT / clip.FRAMES_PER_SECOND, abs=0.1)
    for times in (outcome["times"], outcome["frames"]):
        assert times == sorted(times) and times[-1] > times[0], "playback advances"
    for number in range(1, clip.FRAME_COUNT, clip.FRAMES_PER_SEGMENT - 1):
        assert_shows(page, number)


def assert_shows(page: Page, number: int) -> None:
    """The picture at the time of a frame has the two greys of that frame, and not those of another one."""
    shown = page.evaluate(f"observer.show({(number + 0.5) / clip.FRAMES_PER_SECOND})")
    assert round(shown["mediaTime"] * clip.FRAMES_PER_SECOND) == number
    halves = page.evaluate(f"observer.halves({json.dumps(page.screenshot(shown['place']))})")
    # Converts luma, from 16 to 235, to the range of a screen, from 0 to 255.
    greys = [(luma - 16) * 255 / 219 for luma in clip.greys(number)]
    assert halves == [[pytest.approx(grey, abs=GREY_TOLERANCE)] * 3 for grey in greys]


def assert_brought_the_key(page: Page, title: Title, count: int = 1) -> None:
    licenses = stand_in(page)["licenses"]
    assert len(licenses) == count
    for license in licenses:
        assert (license["key"], license["iv"]) == (title.key.key.hex(), title.key.iv.hex())


# --- A clip plays ----------------------------------------------------------------------------------------------------


def test_plays_by_the_key_uri_of_the_playlist(lab: Lab, page: Page, title: Title) -> None:
    """`skd`: the SPC contains the URI. The media has zeros as its initialization vector, so the license's is used."""
    lab.prepare(page, licenseIV=True)
    open_player(
        lab, page, lab.publish(title.clip(f"skd://{title.content}", iv_in_media=bytes(16))), title.token(), by="uri"
    )
    assert_plays(page)
    assert_brought_the_key(page, title)
    assert {request["initDataType"] for request in stand_in(page)["requests"]} == {"skd"}
    (exchange,) = page.exchanges(LICENSE_PATH)
    assert exchange.status == 200
    assert exchange.body == base64.b64decode(stand_in(page)["requests"][0]["spc"])


@pytest.mark.parametrize("names_key", [True, False], ids=["a playlist with the key", "a playlist without"])
def test_plays_by_the_key_id_in_the_media(lab: Lab, page: Page, title: Title, names_key: bool) -> None:
    """`sinf`: the SPC contains the key id of the `tenc` box. hls.js finds it in the URI of the playlist."""
    lab.prepare(page)
    open_player(lab, page, lab.publish(title.clip(kid_uri(title) if names_key else None)), title.token())
    assert_plays(page)
    assert_brought_the_key(page, title)
    (request,) = stand_in(page)["requests"]
    assert (request["initDataType"], request["assetID"]) == ("sinf", title.key.key_id.hex())


def test_does_not_play_with_another_key(lab: Lab, page: Page, title: Title) -> None:
    """One bit of the content key is changed after the license is opened."""
    lab.prepare(page, spoilsKey=True)
    open_player(lab, page, lab.publish(title.clip(kid_uri(title))), title.token())
    outcome = played(page)
    assert_brought_the_key(page, title)
    assert not outcome["ended"] and outcome["error"] is not None


# --- How the page asks -----------------------------------------------------------------------------------------------


def test_bearer_token_by_preflight_and_with_credentials(lab: Lab, page: Page, title: Title) -> None:
    lab.prepare(page)
    open_player(lab, page, lab.publish(title.clip(kid_uri(title))), title.token(), credentials="1")
    status(page, "playing")
    (preflight,) = page.preflights(LICENSE_PATH)
    assert preflight.method == "OPTIONS" and preflight.status == 204
    assert preflight.answer_headers["access-control-allow-origin"] == lab.pages.origin
    assert preflight.answer_headers["access-control-allow-credentials"] == "true"
    assert "authorization" in preflight.answer_headers["access-control-allow-headers"].split(", ")
    (exchange,) = page.exchanges(LICENSE_PATH)
    sent = page.headers_sent(exchange)
    assert sent["origin"] == lab.pages.origin and sent["cookie"] == "viewer=one"
    assert "content-type" not in sent
    assert exchange.status == 200
    assert_brought_the_key(page, title)


def test_version_two_over_tls(lab: Lab, page: Page) -> None:
    title = new_title(lab.secure.setup)
    lab.prepare(page, lab.secure)
    source = lab.publish(title.clip(kid_uri(title)))
    server = f"https://127.0.0.1:{lab.secure.public[1]}"
    open_player(lab, page, source, title.token(), server=server)
    assert_plays(page)
    (exchange,) = page.exchanges(LICENSE_PATH)
    assert (exchange.status, exchange.protocol) == (200, "h2")
    assert_brought_the_key(page, title)


# --- Refusals --------------------------------------------------------------------------------------------------------


def test_a_refusal_by_403_is_asked_for_once(lab: Lab, page: Page, title: Title) -> None:
    other = new_title(lab.daemon.setup)
    lab.prepare(page)
    open_player(lab, page, lab.publish(title.clip(kid_uri(title))), other.token())
    assert status(page, "keySystemLicenseRequestFailed") == "keySystemLicenseRequestFailed: content_mismatch"
    (exchange,) = page.exchanges(LICENSE_PATH)
    assert exchange.status == 403
    assert_nothing_was_shown(page)


def test_a_429_brings_pauses_and_the_same_spc(lab: Lab, page: Page, title: Title) -> None:
    """hls.js alone would not send the SPC again."""
    token = title.token("--subject", "a busy viewer")
    lab.prepare(page)
    with using_up_the_rate(lab, title, token) as use_up:
        page.hold(f"{lab.license_url}*", before=use_up)
        open_player(lab, page, lab.publish(title.clip(kid_uri(title))), token)
        shown = status(page, "keySystemLicenseRequestFailed")
    assert shown.startswith("keySystemLicenseRequestFailed: rate_limited: again in ")
    exchanges = page.exchanges(LICENSE_PATH)
    assert len(exchanges) > 1 and {exchange.status for exchange in exchanges} == {429}
    assert_pauses(page, exchanges)
    assert_same_spc(page, exchanges)
    assert_nothing_was_shown(page)


def device_request(lab: Lab, title: Title) -> bytes:
    """An SPC of another device, made by the device of Tests/Interop."""
    credential = read_device_credential(lab.daemon.setup / "fairplay")
    return device_for(credential, 1).request(SPCOptions(title.content.encode())).message


@contextmanager
def using_up_the_rate(lab: Lab, title: Title, token: str) -> Iterator[Callable[[], None]]:
    """Yields a function that uses up the subject's rate. The rate stays used up until the block ends."""
    message = device_request(lab, title)
    used_up, ended = threading.Event(), threading.Event()

    def ask() -> None:
        client = LicenseClient(lab.daemon.url)
        while not ended.is_set():
            if client.license(message, token).code == "rate_limited":
                used_up.set()
        client.close()

    thread = threading.Thread(target=ask)

    def use_up() -> None:
        if not thread.ident:
            thread.start()
        assert used_up.wait(30)

    try:
        yield use_up
    finally:
        ended.set()
        if thread.ident:
            thread.join()


def test_a_503_brings_pauses_and_the_same_spc(lab: Lab, page: Page) -> None:
    """hls.js alone would send the same SPC eight times at once."""
    title = new_title(lab.asking.setup)
    token = f"portal-{secrets.token_hex(8)}"
    lab.portal.failures[token] = 1000
    lab.prepare(page, lab.asking)
    open_player(lab, page, lab.publish(title.clip(kid_uri(title))), token, server=lab.asking.url)
    shown = status(page, "keySystemLicenseRequestFailed")
    assert shown.startswith("keySystemLicenseRequestFailed: entitlement_unavailable: again in ")
    exchanges = page.exchanges(LICENSE_PATH)
    assert 1 < len(exchanges) <= 1 + RETRIES_MAXIMUM
    assert_pauses(page, exchanges)
    assert_same_spc(page, exchanges)
    assert {(exchange.status, exchange.answer_headers["x-error-code"]) for exchange in exchanges} == {
        (503, "entitlement_unavailable")
    }
    assert_nothing_was_shown(page)


def test_attempts_end_with_the_first_license(lab: Lab, page: Page) -> None:
    title = new_title(lab.asking.setup)
    token = f"portal-{secrets.token_hex(8)}"
    lab.portal.failures[token] = 4
    lab.prepare(page, lab.asking)
    open_player(lab, page, lab.publish(title.clip(kid_uri(title))), token, server=lab.asking.url)
    assert_plays(page)
    exchanges = page.exchanges(LICENSE_PATH)
    assert [exchange.status for exchange in exchanges] == [503] * 4 + [200]
    assert_pauses(page, exchanges)
    assert_same_spc(page, exchanges)
    assert_brought_the_key(page, title)


def test_answers_that_get_lost_cost_one_use(lab: Lab, page: Page, title: Title) -> None:
    """The kit sends the same SPC again after a broken connection."""
    token = with_claims(title, limits={"uses": 1})
    lab.prepare(page)
    answers = page.lose_answers(f"{lab.license_url}*", 3)
    open_player(lab, page, lab.publish(title.clip(kid_uri(title))), token)
    assert_plays(page)
    assert [answer.get("x-error-code") for answer in answers] == [None] * 4
    assert len({answer["x-license-id"] for answer in answers}) == 1
    assert_same_spc(page, page.exchanges(LICENSE_PATH))
    assert_brought_the_key(page, title)
    client = LicenseClient(lab.daemon.url)
    assert client.license(device_request(lab, title), token).code == "token_used"
    client.close()


def assert_pauses(page: Page, exchanges: list[Exchange]) -> None:
    """Each repeated request comes after a pause. It is as long as the server says, and grows up to eight seconds."""
    waits = [float(exchange.answer_headers.get("retry-after", 0)) for exchange in exchanges]
    pauses = page.evaluate("kitPauses")[: len(exchanges) - 1]
    assert pauses == [max(wait, min(2**index, 8)) for index, wait in enumerate(waits[: len(pauses)])]
    assert len(pauses) == len(exchanges) - 1


def assert_same_spc(page: Page, exchanges: list[Exchange]) -> None:
    """All requests contain the only SPC that the stand-in has made."""
    (request,) = stand_in(page)["requests"]
    assert {exchange.body for exchange in exchanges} == {base64.b64decode(request["spc"])}


def assert_nothing_was_shown(page: Page) -> None:
    seen = page.evaluate(
        """(() => {
            const { totalVideoFrames: total } = document.querySelector("video").getVideoPlaybackQuality();
            return { frames: observer.frames.length, total };
        })()"""
    )
    assert seen == {"frames": 0, "total": 0}
    assert stand_in(page)["licenses"] == []


@pytest.mark.parametrize("format", ["base64", "ckc", "json"])
def test_an_answer_in_another_form_is_refused(lab: Lab, page: Page, title: Title, format: str) -> None:
    """The module gets the answer unchanged, so the answer to a raw SPC must be a raw CKC."""
    lab.prepare(page)
    source = lab.publish(title.clip(kid_uri(title)))
    open_player(lab, page, source, title.token(), license=f"{lab.license_url}?format={format}")
    assert status(page, "keySystem") == "keySystemLicenseRequestFailed: the answer is not a license"
    (exchange,) = page.exchanges(LICENSE_PATH)
    assert exchange.status == 200
    assert stand_in(page)["failures"] == []
    assert_nothing_was_shown(page)


# --- Renewal and reports ---------------------------------------------------------------------------------------------


def test_the_kit_renews_before_the_lease_ends(lab: Lab, page: Page, title: Title) -> None:
    """The page sends the renewal with the session token. Both SPCs belong to the same playback."""
    lab.prepare(page)
    source = lab.publish(title.clip(kid_uri(title)))
    open_player(lab, page, source, title.token("--lease", "3"))
    page.evaluate("observer.repeat()")
    page.evaluate("observer.licenses(2)")
    first, second = page.exchanges(LICENSE_PATH)[:2]
    assert first.status == second.status == 200
    assert second.url.endswith("?renew=true")
    assert second.headers["authorization"] == f"Bearer {first.answer_headers['x-session-token']}"
    assert [one["messageType"] for one in stand_in(page)["requests"][:2]] == ["license-request", "license-renewal"]
    assert [one["lease"] for one in stand_in(page)["licenses"][:2]] == [3, 3]


def test_a_module_takes_acknowledged_for_a_report(lab: Lab, page: Page) -> None:
    """hls.js itself answers a report about an ended session, and does not send it to the server."""
    lab.prepare(page)
    page.open(f"{lab.pages.origin}/own/eme.html")
    certificate = f"{lab.daemon.url}/fps/certificate"
    acknowledged = page.evaluate(
        f"""(async () => {{
            const keys = await openKeys({json.dumps(certificate)});
            const session = keys.createSession();
            const message = nextMessage(session);
            session.release(new TextEncoder().encode("bplist00"));
            const {{ messageType }} = await message;
            await session.update(new TextEncoder().encode("acknowledged"));
            return [messageType, standIn.acknowledged];
        }})()"""
    )
    assert acknowledged == ["license-release", 1]


def test_the_stand_in_takes_its_own_license_alone(lab: Lab, page: Page, title: Title) -> None:
    """If the stand-in took other licenses, the other tests would prove nothing."""
    lab.prepare(page)
    page.open(f"{lab.pages.origin}/own/eme.html")
    arguments = [f"{lab.daemon.url}/fps/certificate", lab.license_url, title.token(), f"skd://{title.content}"]
    outcome = page.evaluate(
        f"""tryChanged(...{json.dumps(arguments)}, (own, other) => ({{
            "that of another request": other,
            "nothing": new Uint8Array(),
            "another version": own.with(3, 2),
            "a block less": own.slice(0, -16),
            "a byte more": new Uint8Array([...own, 0]),
            "other bytes": own.map((byte, index) => (index < 28 ? byte : byte ^ 0x55)),
            "Base64": new TextEncoder().encode(btoa(String.fromCharCode(...own))),
        }}))"""
    )
    assert outcome.pop("its own") == "taken"
    assert len(outcome) == 7 and set(outcome.values()) == {"refused"}, outcome
    assert_brought_the_key(page, title)


# --- Other shapes of requests ----------------------------------------------------------------------------------------


def test_json_with_a_bearer_token(lab: Lab, page: Page, title: Title) -> None:
    lab.prepare(page)
    source = lab.publish(title.clip(kid_uri(title)))
    open_player(lab, page, source, title.token(), player="own/json.html")
    status(page, "playing|keySystem")
    (preflight,) = page.preflights(LICENSE_PATH)
    assert preflight.status == 204
    (exchange,) = page.exchanges(LICENSE_PATH)
    assert set(json.loads(exchange.body)) == {"spc"}
    assert_served(exchange.status, exchange.answer_headers.get("x-error-code"))
    assert exchange.answer_headers["content-type"] == "application/json"
    assert_plays(page)
    assert_brought_the_key(page, title)


def test_a_report_about_an_ended_session_is_acknowledged(lab: Lab, page: Page, title: Title) -> None:
    """The answer is passed to the module unchanged. Its one word lets the device delete the report."""
    lab.prepare(page)
    page.open(f"{lab.pages.origin}/own/eme.html")
    report = plistlib.dumps({"PlaybackSessionID": secrets.token_bytes(8)}, fmt=plistlib.FMT_BINARY)
    outcome = page.evaluate(
        f"""(async () => {{
            const keys = await openKeys({json.dumps(f"{lab.daemon.url}/fps/certificate")});
            const session = keys.createSession();
            const ask = () => session.release(fromBase64({json.dumps(base64.b64encode(report).decode())}));
            return exchange(session, {json.dumps(lab.license_url)}, {json.dumps(title.token())}, ask);
        }})()"""
    )
    assert page.exchanges(LICENSE_PATH)[0].body == report
    assert_served(outcome["status"], outcome["code"])
    assert (outcome["messageType"], outcome["body"], outcome["update"]) == ("license-release", "acknowledged", "done")
    assert stand_in(page)["acknowledged"] == 1


def test_an_array_of_two_keys(lab: Lab, page: Page, title: Title) -> None:
    other = new_title(lab.daemon.setup)
    outcome = ask_for_array(
        lab, page, [title, other], with_claims(title, rights=[{"content": one.content} for one in (title, other)])
    )
    assert outcome["update"] == "done" and outcome["statuses"] == ["usable", "usable"]
    keys = {license["assetID"]: license["key"] for license in stand_in(page)["licenses"]}
    assert keys == {one.key.key_id.hex(): one.key.key.hex() for one in (title, other)}


def test_an_array_of_two_keys_of_which_one_is_denied(lab: Lab, page: Page, title: Title) -> None:
    """The status is still 200, but the denied key has an error number in place of a CKC."""
    other = new_title(lab.daemon.setup)
    outcome = ask_for_array(lab, page, [title, other], title.token())
    assert outcome["update"] == "done" and outcome["statuses"] == ["internal-error", "usable"]
    (license,) = stand_in(page)["licenses"]
    assert (license["assetID"], license["key"]) == (title.key.key_id.hex(), title.key.key.hex())


def ask_for_array(lab: Lab, page: Page, titles: list[Title], token: str) -> dict:
    """Sends the request of one session for all keys of a `pssh` box, and returns the outcome."""
    lab.prepare(page)
    page.open(f"{lab.pages.origin}/own/eme.html")
    init_data = base64.b64encode(pssh([title.key.key_id for title in titles])).decode()
    outcome = page.evaluate(
        f"""(async () => {{
            const keys = await openKeys({json.dumps(f"{lab.daemon.url}/fps/certificate")});
            const session = keys.createSession();
            const ask = () => session.generateRequest("cenc", fromBase64({json.dumps(init_data)}));
            return exchange(session, {json.dumps(lab.license_url)}, {json.dumps(token)}, ask);
        }})()"""
    )
    (exchange,) = page.exchanges(LICENSE_PATH)
    entries = json.loads(exchange.body)
    assert [sorted(entry) for entry in entries] == [["keyID", "payload"]] * len(titles)
    assert_served(outcome["status"], outcome["code"])
    answers = json.loads(outcome["body"])
    assert [answer["keyID"] for answer in answers] == [entry["keyID"] for entry in entries]
    return outcome


def assert_served(status: int, code: str | None) -> None:
    assert (status, code) == (200, None)


def pssh(key_ids: list[bytes]) -> bytes:
    """Init data for FairPlay as WebKit reads it: pssh > fpsd > fpsi and, for each key, fpsk > fkri."""
    requests = [clip.box("fpsk", clip.full_box("fkri", 0, 0, key_id)) for key_id in key_ids]
    data = clip.box("fpsd", clip.full_box("fpsi", 0, 0, b"cbcs"), *requests)
    system = uuid.UUID("94ce86fb-07ff-4f43-adb8-93d2fa968ca2").bytes
    return clip.full_box("pssh", 0, 0, system, struct.pack(">I", len(data)), data)

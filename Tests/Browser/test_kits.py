"""The client kits for browsers in bad conditions: lost requests, refusals, several films on one page, and renewals.

The licenses come from the daemon. Between the page and the daemon requests are lost, or refused in the server's name.
"""

import json
from collections.abc import Callable, Iterable

import pytest

from browser import Exchange, Page, ProxyAnswer, Refusal
from conftest import Lab, Title, new_title
from test_browser import LICENSE_PATH, stand_in, status

Script = Callable[[dict], Refusal | bool | None]
LEASE_SECONDS = 300
MOVED = Refusal(403, "content_mismatch")
BUSY = Refusal(503, "overloaded")
OLD_TOKEN = Refusal(401, "token_expired")


class Kit:
    """A page with a player and the kit for it."""

    def __init__(self, lab: Lab, page: Page, player: str):
        self._lab, self.page, self.player = lab, page, player
        lab.prepare(page)
        page.open(f"{lab.pages.origin}/own/{player}.html")
        status(page, "ready")

    def script_server(self, script: Script) -> None:
        self.page.script_server(f"{self._lab.license_url}*", script)

    def play(self, title: Title, *tokens: str | None | bool, lease: int | None = None, once: bool = False) -> None:
        """Plays a film on this page. The tokens are given out one after the other, and the last one again.

        If `once` is set, the page configures Shaka Player only for the first film.
        """
        film = {
            "source": self._lab.publish(title.clip(f"skd://{title.content}")),
            "base": self._lab.daemon.url,
            "once": once,
            "tokens": tokens or [title.token(*(["--lease", str(lease)] if lease else []))],
        }
        self.page.evaluate(f"kit.play({json.dumps(film)})")

    def wait_for_licenses(self, count: int) -> None:
        self.page.evaluate(f"observer.licenses({count})")

    def wait_for_problem(self, number: int = 1) -> dict:
        """Waits until the kit has said a number of problems, and returns the last one."""
        self.page.evaluate(f"observer.until(() => kit.problems.length >= {number})")
        return self.page.evaluate(f"kit.problems[{number - 1}]")

    @property
    def problems(self) -> list[dict]:
        return self.page.evaluate("kit.problems")

    @property
    def errors(self) -> list[str | int]:
        return self.page.evaluate("kit.errors")

    @property
    def pauses(self) -> list[float]:
        return self.page.evaluate("kitPauses")

    @property
    def requests(self) -> list[Exchange]:
        return self.page.exchanges(LICENSE_PATH)

    @property
    def renewals(self) -> list[Exchange]:
        return [exchange for exchange in self.requests if "renew" in exchange.url]

    def renew(self) -> None:
        """The app asks for a renewal by itself."""
        self.page.evaluate("kit.renew()")

    def stop(self) -> None:
        self.page.evaluate("kit.stop()")

    def settle(self) -> None:
        """Waits longer than all pauses of the kit take in tests."""
        self.page.evaluate("observer.settled(1500)")


@pytest.fixture(params=["hls", "shaka", "video"])
def kit(lab: Lab, page: Page, request: pytest.FixtureRequest) -> Kit:
    return Kit(lab, page, request.param)


def tokens_of(exchanges: Iterable[Exchange]) -> list[str]:
    return [exchange.headers["authorization"].removeprefix("Bearer ") for exchange in exchanges]


def answering(*answers: Refusal | bool | None, to_renewals: bool = False, then: Refusal | bool | None = None) -> Script:
    """Answers the first licenses or renewals one after the other. The server answers the other requests."""
    left = list(answers)

    def script(request: dict) -> Refusal | bool | None:
        if ("renew" in request["url"]) != to_renewals:
            return True
        return left.pop(0) if left else then

    return script


def losing_every_second() -> Script:
    count = 0

    def script(_: dict) -> bool:
        nonlocal count
        count += 1
        return count % 2 == 0

    return script


# --- The first license -----------------------------------------------------------------------------------------------


def test_every_second_request_is_lost(kit: Kit, title: Title) -> None:
    kit.script_server(losing_every_second())
    kit.play(title, lease=LEASE_SECONDS)
    kit.wait_for_licenses(3)
    assert kit.problems == [] and kit.errors == []
    bodies = [exchange.body for exchange in kit.requests]
    assert bodies[0] == bodies[1] and bodies[2] == bodies[3], "the same SPC is sent again, and counted once"
    assert {exchange.url.partition("?")[2] for exchange in kit.requests} == {"", "renew=true"}


def test_a_refusal_is_told_once(kit: Kit, title: Title) -> None:
    kit.script_server(answering(MOVED, then=True))
    kit.play(title)
    problem = kit.wait_for_problem()
    kit.settle()
    assert (problem["status"], problem["code"]) == (403, "content_mismatch")
    assert len(kit.problems) == 1
    assert len(kit.requests) == 1
    errors = {"hls": "keySystemLicenseRequestFailed", "shaka": 6007, "video": "content_mismatch"}
    assert set(kit.errors) == {errors[kit.player]}
    kit.play(title)
    kit.wait_for_licenses(1)
    assert len(kit.problems) == 1, "the viewer may watch it now"


def test_waits_as_long_as_the_server_says(kit: Kit, title: Title) -> None:
    """hls.js itself sends no request again after a 429."""
    busy = Refusal(503 if kit.player == "hls" else 429, "busy", 9)
    kit.script_server(answering(Refusal(503, "overloaded", 7), busy))
    kit.play(title)
    kit.wait_for_licenses(1)
    assert kit.pauses == [7, 9]
    assert kit.problems == [] and kit.errors == []


def test_does_not_wait_for_an_hour(kit: Kit, title: Title) -> None:
    kit.script_server(answering(Refusal(503, "overloaded", 3600)))
    kit.play(title)
    problem = kit.wait_for_problem()
    kit.settle()
    assert (problem["code"], problem["retryAfter"]) == ("overloaded", 3600)
    assert len(kit.requests) == len(kit.problems) == 1


def test_a_server_that_is_down(kit: Kit, title: Title) -> None:
    kit.script_server(answering(then=BUSY))
    kit.play(title)
    problem = kit.wait_for_problem()
    kit.settle()
    assert problem["code"] == "overloaded"
    assert len(kit.problems) == 1
    assert 3 <= len(kit.requests) <= 9
    if kit.player == "hls":
        assert kit.pauses == [min(2**index, 8) for index in range(len(kit.requests) - 1)]


@pytest.mark.parametrize("once", [False, True], ids=["configured for each", "configured once"])
def test_each_film_has_its_own_token(kit: Kit, lab: Lab, once: bool) -> None:
    """Nothing of one film is left for the next one, and the kit does not ask for more tokens with each film."""
    titles = [new_title(lab.daemon.setup) for _ in range(3)]
    tokens = [title.token("--lease", str(LEASE_SECONDS)) for title in titles]
    for number, (title, token) in enumerate(zip(titles, tokens, strict=True), 1):
        kit.play(title, token, once=once)
        has_key = f"standIn.licenses.some(({{ key }}) => key === '{title.key.key.hex()}')"
        kit.page.evaluate(f"observer.until(() => {has_key})")
        assert kit.page.evaluate("kit.tokenCount") == number
    first = [exchange for exchange in kit.requests if "renew" not in exchange.url]
    assert tokens_of(first) == tokens
    kit.wait_for_licenses(len(stand_in(kit.page)["licenses"]) + 1)
    assert {exchange.url.partition("?")[2] for exchange in kit.renewals} == {"renew=true"}
    assert kit.problems == [] and kit.errors == []


def test_a_film_that_waits_gives_way_to_the_next(kit: Kit, lab: Lab, title: Title) -> None:
    other = new_title(lab.daemon.setup)
    old, new = title.token(), other.token()
    kit.script_server(lambda request: f"Bearer {old}" not in request["headers"].values())
    kit.play(title, old)
    kit.page.evaluate("observer.until(() => standIn.requests.length === 1)")
    kit.play(other, new)
    kit.wait_for_licenses(1)
    count = len([token for token in tokens_of(kit.requests) if token == old])
    kit.settle()
    assert tokens_of(kit.requests).count(old) <= count + 1
    assert kit.problems == []


def test_destroying_the_player_ends_all_requests(kit: Kit, title: Title) -> None:
    kit.script_server(answering(then=Refusal(503, "overloaded", 15)))
    kit.play(title)
    kit.page.evaluate("observer.until(() => kitPauses.length)")
    kit.stop()
    count = len(kit.requests)
    kit.settle()
    assert len(kit.requests) == count == 1
    assert kit.problems == []


@pytest.mark.parametrize("answer", [True, False, BUSY, OLD_TOKEN], ids=["license", "lost", "503", "401"])
def test_destroying_the_player_during_a_request(kit: Kit, title: Title, answer: Refusal | bool) -> None:
    def script(_: dict) -> Refusal | bool:
        kit.page.tell("kit.stop()")
        return answer

    kit.script_server(script)
    kit.play(title, lease=LEASE_SECONDS)
    kit.page.evaluate("observer.until(() => standIn.requests.length === 1)")
    kit.settle()
    assert len(kit.requests) == 1
    assert kit.problems == []
    # hls.js itself does not catch this one.
    assert not [line for line in kit.page.console if "Uncaught" in line and "Key removed" not in line]


def test_a_shop_without_tokens(kit: Kit, title: Title) -> None:
    kit.play(title, None)
    assert kit.wait_for_problem()["detail"] == "the shop is closed"
    kit.settle()
    assert kit.requests == [] and len(kit.problems) == 1


def test_a_first_license_gets_a_new_token(kit: Kit, title: Title) -> None:
    old, new = title.token(), title.token()
    kit.script_server(answering(BUSY, OLD_TOKEN))
    kit.play(title, old, new)
    kit.wait_for_licenses(1)
    assert tokens_of(kit.requests) == [old, old, new]
    assert len({exchange.body for exchange in kit.requests}) == 1
    assert kit.problems == [] and kit.errors == []


@pytest.mark.parametrize("status", [200, 204, 403])
def test_a_proxys_answer_to_the_first_request_is_told(kit: Kit, title: Title, status: int) -> None:
    kit.script_server(answering(ProxyAnswer(status), then=True))
    kit.play(title)
    problem = kit.wait_for_problem()
    kit.settle()
    assert (problem["status"], problem["code"]) == (status, None)
    assert problem["detail"] == ("the answer is not a license" if status < 400 else None)
    assert len(kit.problems) == 1 and kit.errors != []
    assert stand_in(kit.page)["failures"] == [], "the browser's module gets no page"


def test_an_spc_is_sent_for_at_most_a_minute(kit: Kit, title: Title) -> None:
    kit.script_server(answering(False, then=Refusal(503, "overloaded", 30)))
    kit.play(title)
    kit.wait_for_problem()
    assert len(kit.requests) > 2
    assert sum(kit.pauses) < 60
    assert len({exchange.body for exchange in kit.requests}) == 1


def test_a_shop_that_does_not_answer(lab: Lab, page: Page) -> None:
    page.open(f"{lab.pages.origin}/own/eme.html")
    detail = page.evaluate(
        """(async () => {
            const { askForToken } = await import("/browser/licenses.js");
            globalThis.setTimeout = (call) => queueMicrotask(call);
            return askForToken(() => new Promise(() => {})).catch((error) => error.message);
        })()"""
    )
    assert detail == "the app gives no token"


# --- Renewals --------------------------------------------------------------------------------------------------------


def test_a_renewal_that_is_repeated(kit: Kit, title: Title) -> None:
    """The query is there once, and the session token is used."""
    kit.script_server(answering(False, BUSY, to_renewals=True))
    kit.play(title, lease=LEASE_SECONDS)
    kit.wait_for_licenses(2)
    (first, *_) = kit.requests
    repeated = kit.renewals[:3]
    assert [exchange.url.partition("?")[2] for exchange in repeated] == ["renew=true"] * 3
    assert len({exchange.body for exchange in repeated}) == 1
    assert set(tokens_of(repeated)) == {first.answer_headers["x-session-token"]}
    assert kit.problems == [] and kit.errors == []


def test_a_refused_renewal_ends_no_playback(kit: Kit, title: Title) -> None:
    kit.script_server(answering(MOVED, to_renewals=True))
    kit.play(title, lease=LEASE_SECONDS)
    assert kit.wait_for_problem()["code"] == "content_mismatch"
    kit.settle()
    assert len(kit.renewals) == len(kit.problems) == 1
    assert kit.errors == [], "the lease has not ended"


def test_a_renewal_gets_a_new_token(kit: Kit, title: Title) -> None:
    old, new = (title.token("--lease", str(LEASE_SECONDS)) for _ in range(2))
    kit.script_server(answering(OLD_TOKEN, to_renewals=True))
    kit.play(title, old, new)
    kit.wait_for_licenses(2)
    assert tokens_of(kit.renewals)[1] == new
    assert kit.problems == [] and kit.errors == []


@pytest.mark.parametrize("shop", ["gives refused tokens", "is closed"])
def test_a_renewal_without_a_good_token(kit: Kit, title: Title, shop: str) -> None:
    """The app sees the server's code, and there is no loop without pauses."""
    token = title.token("--lease", str(LEASE_SECONDS))
    kit.script_server(answering(then=OLD_TOKEN, to_renewals=True))
    kit.play(title, token, token if shop == "gives refused tokens" else None)
    assert kit.wait_for_problem()["code"] == "token_expired"
    kit.settle()
    assert len(kit.problems) == 1 and kit.errors == []
    # Pauses after the first renewal are at least a hundredth of the lease.
    pauses = [pause for pause in kit.pauses if LEASE_SECONDS / 100 <= pause < LEASE_SECONDS / 2]
    assert len(kit.renewals) <= 2 * (len(pauses) + 1)


def test_a_server_that_is_down_while_the_lease_holds(kit: Kit, title: Title) -> None:
    """The app hears of it when the lease ends. A later license ends the problem.

    hls.js and video.js would give up the session when the browser's module says that the lease has ended. Shaka Player
    is not told here, because it then shows an error of its own.
    """
    answers = iter([True])
    kit.script_server(lambda request: "renew" not in request["url"] or next(answers, False) is None)
    kit.play(title, lease=3)
    assert kit.wait_for_problem()["status"] == 0
    assert kit.errors == [] and len(kit.problems) == 1
    if kit.player != "shaka":
        kit.page.evaluate("kit.session().expire()")
    kit.script_server(lambda _: True)
    count = len(stand_in(kit.page)["licenses"])
    kit.wait_for_licenses(count + 1)
    assert kit.errors == [] and len(kit.problems) == 1


@pytest.mark.parametrize("status", [200, 204, 403, 404])
def test_a_proxys_answer_ends_no_renewal(kit: Kit, title: Title, status: int) -> None:
    """It is no license and no refusal of the server, and the lease still holds."""
    kit.script_server(answering(ProxyAnswer(status), ProxyAnswer(status), to_renewals=True))
    kit.play(title, lease=LEASE_SECONDS)
    kit.wait_for_licenses(2)
    assert len(kit.renewals) >= 3
    assert stand_in(kit.page)["failures"] == [], "the browser's module gets no page"
    assert kit.problems == [] and kit.errors == []


def test_a_proxy_that_stays_is_told_when_the_lease_ends(kit: Kit, title: Title) -> None:
    kit.script_server(answering(then=ProxyAnswer(403), to_renewals=True))
    kit.play(title, lease=LEASE_SECONDS)
    assert kit.wait_for_problem()["status"] == 403
    kit.settle()
    assert len(kit.problems) == 1 and len(kit.renewals) > 3


# Shaka Player shows an error of its own for a key that has expired.
KEEPING_SESSIONS = pytest.mark.parametrize("kit", ["hls", "video"], indirect=True)


@KEEPING_SESSIONS
def test_a_key_that_expires_before_its_renewal(kit: Kit, title: Title) -> None:
    """Timers stop while a device sleeps."""
    kit.play(title, lease=86400)
    kit.wait_for_licenses(1)
    kit.page.evaluate("kit.session().expire()")
    kit.wait_for_licenses(2)
    # A key of an older period stays expired in its session. It must not bring one renewal after the other.
    for _ in range(5):
        kit.page.evaluate("kit.session().expire()")
    kit.settle()
    assert len(kit.renewals) == 1
    assert kit.problems == [] and kit.errors == []


@KEEPING_SESSIONS
def test_a_key_that_has_expired_and_is_not_renewed(kit: Kit, title: Title) -> None:
    kit.script_server(answering(then=BUSY, to_renewals=True))
    kit.play(title, lease=86400)
    kit.wait_for_licenses(1)
    kit.page.evaluate("kit.session().expire()")
    assert kit.wait_for_problem()["code"] == "overloaded"
    kit.settle()
    assert len(kit.problems) == 1 and kit.errors == []
    assert len(kit.renewals) > 1, "a hundredth of the lease would be a long pause for a viewer who waits"


@pytest.mark.parametrize("cause", ["long pause", "silent shop"])
def test_the_app_is_told_at_the_end_of_the_lease(kit: Kit, title: Title, cause: str) -> None:
    refusal = Refusal(429, "rate_limited", 36000) if cause == "long pause" else OLD_TOKEN
    kit.script_server(answering(then=refusal, to_renewals=True))
    kit.play(title, title.token("--lease", str(LEASE_SECONDS)), False)
    problem = kit.wait_for_problem()
    kit.settle()
    if kit.player != "shaka" or cause == "long pause":
        assert problem["code"] == refusal.code
    assert len(kit.problems) == 1 and kit.errors == []


def test_an_app_that_fails_at_a_problem(kit: Kit, title: Title) -> None:
    """The renewals go on."""
    kit.page.evaluate("kit.isBroken = true")
    kit.script_server(answering(then=BUSY, to_renewals=True))
    kit.play(title, lease=3)
    kit.wait_for_problem()
    kit.script_server(lambda _: True)
    kit.wait_for_licenses(2)
    assert len(kit.problems) == 1
    assert not [line for line in kit.page.console if "in promise" in line]


def test_a_renewal_without_a_lease_slows_down(lab: Lab, page: Page) -> None:
    """The module may ask for a renewal of a license that has no end."""
    lab.prepare(page)
    page.open(f"{lab.pages.origin}/own/eme.html")
    page.script_server("*/fps/license*", lambda _: BUSY)
    problems = page.evaluate(
        f"""(async () => {{
            const {{ Renewal }} = await import("/browser/licenses.js");
            const session = Object.assign(new EventTarget(), {{ keyStatuses: new Map() }});
            const problems = [];
            const onProblem = ({{ code }}) => problems.push(code);
            const url = {json.dumps(lab.license_url)};
            const renewal = new Renewal(session, {{ url, getToken: async () => "token", onProblem }});
            renewal.licensed(() => null, "token");
            const message = new Uint8Array([1, 2]).buffer;
            session.update = async () => send();
            const send = () => session.dispatchEvent(new MediaKeyMessageEvent("message", {{
                messageType: "license-renewal", message,
            }}));
            send();
            await observer.until(() => kitPauses.filter((pause) => pause === 60).length >= 2);
            renewal.stop();
            return problems;
        }})()"""
    )
    assert problems == ["overloaded"]
    pauses = [pause for pause in page.evaluate("kitPauses") if pause != 20]
    assert pauses[:8] == [1, 2, 4, 8, 16, 32, 60, 60]


def test_a_renewal_while_another_is_under_way(kit: Kit, title: Title) -> None:
    kit.script_server(answering(BUSY, BUSY, to_renewals=True))
    kit.play(title, lease=LEASE_SECONDS)
    kit.page.evaluate("observer.until(() => standIn.requests.length === 2)")
    kit.renew()
    kit.renew()
    kit.wait_for_licenses(2)
    kit.settle()
    assert stand_in(kit.page)["failures"] == [], "only the answer to the last SPC comes to the browser's module"
    assert kit.problems == [] and kit.errors == []
    assert len(kit.renewals) <= 12


ASSET_IDS = {
    "skd://movie-1": "movie-1",
    "SKD://host/path?kid=1": "host/path?kid=1",
    # The plug-in reads the length of the older interface as two letters.
    "\x1a\x00skd://movie-1": "movie-1",
    "skd:movie-1": "movie-1",
    "movie-1": "movie-1",
}


def test_video_js_finds_the_asset_id(lab: Lab, page: Page) -> None:
    page.open(f"{lab.pages.origin}/own/eme.html")
    found = page.evaluate(
        f"""(async () => {{
            const {{ assetID }} = await import("/video.js/latchkey.js");
            return {json.dumps(list(ASSET_IDS))}.map(assetID);
        }})()"""
    )
    assert found == list(ASSET_IDS.values())


def test_a_session_of_the_older_interface_is_renewed(lab: Lab, page: Page) -> None:
    """Its messages have no type, and its `update` returns no promise."""
    page.open(f"{lab.pages.origin}/own/eme.html")
    page.script_server("*/fps/license*", lambda _: Refusal(403, "content_mismatch"))
    url = json.dumps(lab.license_url)
    updates, problem, toPlayer = page.evaluate(
        f"""(async () => {{
            const {{ Renewal }} = await import("/browser/licenses.js");
            const session = new EventTarget();
            const updates = [];
            const send = () => {{
                const event = new Event("webkitkeymessage");
                session.dispatchEvent(Object.assign(event, {{ message: new Uint8Array([1, 2]) }}));
            }};
            session.update = (data) => {{
                updates.push(new TextDecoder().decode(data));
                setTimeout(send);
            }};
            let toPlayer = 0;
            const problem = await new Promise((onProblem) => {{
                const renewal = new Renewal(session, {{ url: {url}, getToken: async () => "token", onProblem }});
                session.addEventListener("webkitkeymessage", () => (toPlayer += 1));
                send();
                const fields = {{ "X-License-Issued": "10", "X-License-Renew-After": "11", "X-Session-Token": "s" }};
                renewal.licensed((name) => fields[name] ?? null, "token");
            }});
            return [updates, problem.code, toPlayer];
        }})()"""
    )
    assert (updates, problem) == (["renew"], "content_mismatch")
    assert toPlayer == 1, "the first message is the player's"


def test_a_timer_for_a_long_lease_does_not_end_at_once(lab: Lab, page: Page) -> None:
    """Browsers run a timer of more than 2^31 ms immediately."""
    page.open(f"{lab.pages.origin}/own/eme.html")
    ended = page.evaluate(
        """(async () => {
            const { pause } = await import("/browser/licenses.js");
            let hasEnded = false;
            pause(60 * 86400).then(() => (hasEnded = true));
            await new Promise((resolve) => setTimeout(resolve, 100));
            return hasEnded;
        })()"""
    )
    assert not ended

"""What other pages and wrong senders get: nothing. The daemon refuses them, whatever a browser would do."""

import json

import http1_wire
import pytest

from conftest import Lab, watched
from desk import Desk

ORDER = json.dumps({"kind": "content", "value": "forged"})


def raw(lab: Lab, method: str, path: str, host: str, body: str = "", **fields: str) -> http1_wire.Response:
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", "Connection: close", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    (response,) = http1_wire.exchange(lab.daemon.admin, ("\r\n".join(lines) + "\r\n\r\n" + body).encode()).responses
    return response


def session_of(desk: Desk) -> tuple[str, str]:
    """The session's cookie, as a request has it, and its form token."""
    (cookie,) = desk.cookies()
    return f"{cookie['name']}={cookie['value']}", desk.ask("get", "/v1/whoami")["answer"]["formToken"]


def code_of(response: http1_wire.Response) -> tuple[int, str]:
    return response.status, json.loads(response.body).get("code", "")


def test_a_wrong_cookie_is_no_session(lab: Lab, desk: Desk) -> None:
    desk.log_in(lab.token("admin"))
    (cookie,) = desk.cookies()
    value = cookie["value"]
    wrong = {"name": cookie["name"], "value": value[:-2] + ("AA" if value[-2:] != "AA" else "BB"), "url": lab.url}
    desk.page.call("Network.setCookie", wrong)
    desk.page.call("Page.reload")
    desk.wait('document.querySelector("input[name=token]")')
    assert desk.ask("get", "/v1/whoami") == {"status": 401, "code": "admin_token_invalid"}


def test_another_origin_changes_and_reads_nothing(lab: Lab, desk: Desk) -> None:
    """A page on another port is of the same site, so the browser sends the cookie. The daemon refuses the request."""
    desk.log_in(lab.token("admin"))
    form_token = session_of(desk)[1]
    folder = lab.pages.add("other", {"index.html": ("text/html", b"<!doctype html><title>Another origin</title>")})
    with lab.browser.page() as page:
        (cookie,) = desk.cookies()
        page.call(
            "Network.setCookie",
            {name: cookie[name] for name in ("name", "value", "httpOnly", "sameSite")} | {"url": lab.url},
        )
        page.open(f"{folder}index.html")
        tries = [
            ("/v1/revocations", {"method": "POST", "mode": "no-cors", "body": ORDER}),
            ("/v1/revocations", {"method": "POST", "body": ORDER, "headers": {"X-Latchkey-Form": form_token}}),
            ("/v1/revocations", {"mode": "no-cors"}),
            ("/v1/drain", {"method": "POST", "mode": "no-cors"}),
            ("/v1/session", {"method": "POST", "mode": "no-cors", "body": json.dumps({"token": lab.token("admin")})}),
        ]
        for path, options in tries:
            text = json.dumps(options | {"credentials": "include"})
            read = page.evaluate(f"fetch('{lab.url}{path}', {text}).then((one) => one.text(), () => '')")
            assert read == "", "the other origin reads nothing"
        answered = [
            one for method in ("GET", "POST") for one in page.exchanges("/v1/", method) if one.status is not None
        ]
        assert len(answered) >= len(tries) - 1
        assert {one.status for one in answered} == {403}
    assert "forged" not in json.dumps(desk.ask("get", "/v1/revocations")["answer"])
    assert desk.ask("get", "/v1/status")["answer"]["drained"] is None


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"X_Latchkey_Form": "wrong"},
        {"X_Latchkey_Form": "RIGHT", "Origin": "http://evil.example"},
        {"X_Latchkey_Form": "RIGHT", "Origin": "null"},
        {"X_Latchkey_Form": "RIGHT", "Sec_Fetch_Site": "same-site"},
        {"X_Latchkey_Form": "RIGHT", "Sec_Fetch_Site": "cross-site"},
    ],
)
def test_a_change_by_cookie_needs_the_form_token_and_the_origin(lab: Lab, desk: Desk, fields: dict[str, str]) -> None:
    desk.log_in(lab.token("admin"))
    cookie, form_token = session_of(desk)
    host = "{}:{}".format(*lab.daemon.admin)
    sent = {name: form_token if value == "RIGHT" else value for name, value in fields.items()}
    json_type = {"Content_Type": "application/json", "Cookie": cookie}
    assert code_of(raw(lab, "POST", "/v1/revocations", host, ORDER, **json_type, **sent)) == (
        403,
        "admin_origin_refused",
    )
    good = {"X_Latchkey_Form": form_token, "Origin": lab.url, "Sec_Fetch_Site": "same-origin"}
    assert raw(lab, "POST", "/v1/ready", host, **{"Cookie": cookie}, **good).status == 200


@pytest.mark.parametrize("path", ["/", "/page/main.js", "/v1/whoami", "/v1/session"])
def test_a_rebinding_host_is_refused(lab: Lab, desk: Desk, path: str) -> None:
    """A name that points to this machine would make the page's session that of another page."""
    desk.log_in(lab.token("admin"))
    cookie, _ = session_of(desk)
    method, body = ("POST", json.dumps({"token": lab.token("admin")})) if path == "/v1/session" else ("GET", "")
    port = lab.daemon.admin[1]
    rebound = raw(lab, method, path, f"rebind.example:{port}", body, Cookie=cookie, Content_Type="application/json")
    assert code_of(rebound) == (400, "request_invalid")
    assert (
        raw(lab, method, path, f"localhost:{port}", body, Cookie=cookie, Content_Type="application/json").status == 200
    )


def test_no_other_page_may_frame_it(lab: Lab) -> None:
    markup = f'<!doctype html><title>A frame</title><iframe src="{lab.url}/"></iframe>'.encode()
    folder = lab.pages.add("frame", {"index.html": ("text/html", markup)})
    with lab.browser.page() as page:
        page.open(f"{folder}index.html")
        tree = page.call("Page.getFrameTree")["frameTree"]
        assert [child["frame"]["url"] for child in tree["childFrames"]] == ["chrome-error://chromewebdata/"]


def test_the_policy_holds_in_the_browser(lab: Lab) -> None:
    """Inline code does not run, a text does not become markup, and another origin cannot be asked."""
    with watched(lab) as page:
        desk = Desk(page, lab.url).open()
        assert desk.evaluate(
            "new Promise((resolve) => { const code = document.createElement('script');"
            " addEventListener('securitypolicyviolation', ({effectiveDirective}) => resolve(effectiveDirective));"
            " try { code.textContent = 'globalThis.ran = 1'; } catch (error) { resolve(error.name); }"
            " document.head.append(code); })"
        ) in ("TypeError", "script-src-elem", "require-trusted-types-for")
        assert desk.evaluate("globalThis.ran === undefined")
        assert (
            desk.evaluate("(() => { try { document.body.innerHTML = '<b>'; } catch (error) { return error.name; } })()")
            == "TypeError"
        )
        origin = lab.pages.origin
        assert desk.evaluate(f"fetch('{origin}/own').then(() => 'sent', (error) => error.name)") == "TypeError"
        page.console.clear()

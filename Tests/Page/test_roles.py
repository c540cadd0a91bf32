"""Who may see and do what: log-in, the views of each role, log-out, and the end of a session."""

import pytest

from conftest import ROLES, Lab
from desk import Desk
from viewers import counted_token, license

VIEWS = {
    "metrics": ["Now"],
    "support": ["Now", "Find", "Why", "Contents", "Revoked"],
    "security": ["Now", "Find", "Why", "Contents", "Revoked"],
    "admin": ["Now", "Find", "Why", "Contents", "Revoked"],
}
# What a role may change, each with the view that offers it.
CHANGES = {"metrics": set(), "support": {"release"}, "security": {"revoke"}, "admin": {"release", "revoke", "operate"}}


@pytest.mark.parametrize("role", ROLES)
def test_each_role_sees_its_views_and_its_actions(lab: Lab, desk: Desk, subject: str, role: str) -> None:
    assert license(lab, counted_token(lab, subject)).status == 200
    desk.log_in(lab.token(role))
    assert desk.texts("#nav a") == VIEWS[role]
    assert f"{role}-operator" in desk.text("#who")
    desk.go("now")
    desk.wait_for_text("This node serves")
    found = {"operate"} if desk.count("#view button") and "Drain this node" in desk.text("#view") else set()
    if "Find" in VIEWS[role]:
        desk.go("find", subject=subject)
        desk.wait("document.querySelectorAll('#view tbody tr').length >= 2 && document.querySelector('.group')")
        found |= {"release"} if "Remove" in desk.texts("#view button") else set()
        found |= {"revoke"} if "Revoke" in desk.texts("#view button") else set()
    assert found == CHANGES[role]


@pytest.mark.parametrize("role", ROLES)
def test_the_server_refuses_what_the_page_does_not_offer(lab: Lab, desk: Desk, role: str) -> None:
    desk.log_in(lab.token(role))
    order = {"kind": "content", "value": f"none-{role}"}
    answers = {
        "look": desk.ask("get", "/v1/contents"),
        "revoke": desk.ask("post", "/v1/revocations", order),
        "release": desk.ask("remove", "/v1/devices", {"subject": "viewer-0", "all": "true"}),
        "operate": desk.ask("post", "/v1/ready"),
    }
    allowed = CHANGES[role] | ({"look"} if role != "metrics" else set())
    assert {name for name, answer in answers.items() if "answer" in answer} == allowed
    refused = {(answer["status"], answer["code"]) for name, answer in answers.items() if name not in allowed}
    assert refused <= {(403, "admin_role_missing")}


def test_a_view_that_the_role_does_not_include_says_so(lab: Lab, desk: Desk) -> None:
    desk.log_in(lab.token("metrics")).go("contents")
    desk.wait_for_text("do not include this view")
    assert not [one for one in desk.page.exchanges("/v1/", "GET") if one.status == 403], "nothing was asked"


def test_a_wrong_token_is_refused(lab: Lab, desk: Desk) -> None:
    desk.open()
    desk.type_into("input[name=token]", "not a token")
    desk.press("Enter")
    desk.wait_for_text("This is not a token of this listener.")
    assert desk.cookies() == []
    assert desk.evaluate("document.activeElement.name") == "token"


def test_the_cookie_is_out_of_reach_of_scripts(lab: Lab, desk: Desk) -> None:
    desk.log_in(lab.token("admin"))
    (cookie,) = desk.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/")
    assert desk.evaluate("document.cookie") == ""
    assert lab.token("admin") not in desk.evaluate("JSON.stringify([localStorage, sessionStorage, location.href])")


def test_a_reload_keeps_the_session_and_the_view(lab: Lab, desk: Desk) -> None:
    desk.log_in(lab.token("support")).go("contents")
    desk.page.call("Page.reload")
    desk.wait("document.querySelector('#nav a[aria-current]')?.hash === '#contents'")
    assert desk.text("h1") == "Contents"


def test_log_out_ends_the_session(lab: Lab, desk: Desk) -> None:
    desk.log_in(lab.token("support")).go("find")
    desk.wait_for_text("Latest refusals")
    desk.click("Log out")
    desk.wait_for_text("You are logged out.")
    assert "Latest refusals" not in desk.text(), "nothing of the session stays"
    assert desk.ask("get", "/v1/whoami")["status"] == 401


def test_nothing_is_said_after_the_end_of_a_session(lab: Lab, desk: Desk) -> None:
    """Answers that come late belong to the session, and a screen reader would say them to someone else."""
    desk.log_in(lab.token("support")).go("find")
    desk.wait("document.querySelector('#spoken').innerText.includes('refusals in')")
    desk.evaluate("""void ((own) => {
        const released = new Promise((resolve) => (globalThis.letGo = resolve));
        globalThis.fetch = async (address, options) => {
            const answer = await own(address, options);
            if (!String(address).startsWith("/v1/refusals")) return answer;
            await released;
            globalThis.hasCome = (globalThis.hasCome ?? 0) + 1;
            return answer;
        };
    })(globalThis.fetch)""")
    desk.click("Refresh")
    desk.click("Log out")
    desk.wait_for_text("You are logged out.")
    assert desk.evaluate("document.querySelector('#spoken').textContent") == ""
    desk.evaluate("void letGo()")
    assert desk.evaluate("new Promise((resolve) => setTimeout(() => resolve(globalThis.hasCome), 500))") == 1
    desk.evaluate("import('/page/dialogs.js').then(({ notify }) => notify('good', 'It is done.'))")
    assert desk.evaluate("document.querySelector('#spoken').textContent") == ""
    assert desk.evaluate("document.querySelector('#notices').textContent") == ""
    # The next operator hears it again.
    desk.type_into("input[name=token]", lab.token("support"))
    desk.press("Enter")
    desk.wait("document.querySelector('#spoken').innerText.includes('refusals in')")


def test_a_session_that_ends_on_the_server_ends_the_page(lab: Lab, desk: Desk) -> None:
    """The stream of events ends with its session, and the page asks for the token again."""
    desk.log_in(lab.token("support"))
    desk.wait_for_text("live", "#state")
    who = desk.ask("get", "/v1/whoami")["answer"]
    ended = desk.evaluate(
        "fetch('/v1/session', {method: 'DELETE', headers: {'X-Latchkey-Form': '%s'}}).then(({ok}) => ok)"
        % who["formToken"]
    )
    assert ended
    desk.wait_for_text("Your session has ended.")


def test_warns_before_an_idle_log_out(lab: Lab, desk: Desk) -> None:
    """The page's clock is set forward to half a minute before the end."""
    desk.log_in(lab.token("support"))
    idle = desk.ask("get", "/v1/whoami")["answer"]["idleSeconds"]
    desk.evaluate(f"void ((now) => (Date.now = () => now() + {(idle - 30) * 1000}))(Date.now)")
    desk.wait_for_text("Are you still there?")
    desk.click("Stay logged in")
    desk.wait("!document.querySelector('dialog')")
    assert desk.count("#nav a") == len(VIEWS["support"])

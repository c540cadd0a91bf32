"""What operators do: find a refused request, explain it, remove a device, end a playback, revoke and lift."""

import base64
import json
import re

import tokens
from conftest import Lab
from deployment import run_latchkey
from desk import SHIFT, Desk
from viewers import counted_token, license, message

# A time as the server writes it.
UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")


def ledger_rows(lab: Lab, kind: str) -> list[dict[str, object]]:
    lines = run_latchkey(lab.daemon.setup, "ledger", "export").splitlines()
    return [row for row in map(json.loads, lines) if row["kind"] == kind]


def test_finds_a_refused_request_and_its_cause(lab: Lab, desk: Desk, subject: str) -> None:
    token = counted_token(lab, subject, devices=1)
    assert license(lab, token).status == 200
    refused = license(lab, token)
    assert (refused.status, refused.code) == (403, "device_limit")
    request = str(refused.header("X-Request-Id"))
    desk.log_in(lab.token("support")).go("find")
    desk.wait_for_text(request, "table[aria-label='Latest refusals']")
    desk.type_into("input[name=text]", request)
    desk.wait_for_text("This looks like a request id.", "form")
    desk.press("Enter")
    desk.wait_for_text("What to do")
    desk.wait("document.querySelector('.timeline li.bad')")
    shown = desk.text("#view")
    assert "device_limit" in shown and lab.deployment.content in shown
    assert desk.evaluate("location.hash") == f"#find?request={request}&guess"
    # A refusal of a token has no SPC, and a cause without numbers: zeros are left out.
    assert "0000000000000000" not in shown and not {"Tag", "Number"} & set(desk.texts("#view dt"))


def test_explains_a_token_and_an_spc(lab: Lab, desk: Desk, subject: str) -> None:
    desk.log_in(lab.token("support")).go("why")
    spc = base64.b64encode(message(lab)).decode()
    desk.type_into("textarea[name=token]", counted_token(lab, subject))
    desk.type_into("textarea[name=spc]", spc)
    desk.click("Explain", "form:has(textarea)")
    desk.wait_for_text("would be issued")
    shown = desk.text("#view")
    assert "Lease" in shown and "5 min" in shown and lab.deployment.content in shown
    assert desk.count(".verdict.good") > 10 and desk.count(".verdict.bad") == 0
    desk.type_into("textarea[name=token]", tokens.with_altered_signature(lab.deployment.token))
    desk.click("Explain", "form:has(textarea)")
    desk.wait_for_text("Refused: token signature")
    assert desk.count(".verdict.bad") == 1 and "What to do" in desk.text("#view")
    assert "textarea" not in desk.evaluate("location.href") and desk.evaluate("location.hash") == "#why"


def test_all_times_are_in_one_zone(lab: Lab, desk: Desk) -> None:
    """The server's sentences have times in UTC. The page shows them in the browser's zone, as all others."""
    desk.page.call("Emulation.setTimezoneOverride", {"timezoneId": "Asia/Tokyo"})
    header, claims = tokens.header_and_claims(lab.deployment.token)
    expired = tokens.sign_es256(header, claims | {"iat": 1000, "exp": 2000}, lab.deployment.signing_key)
    refused = license(lab, expired)
    assert refused.code == "token_expired"
    desk.log_in(lab.token("admin")).go("why")
    desk.wait_for_text("All times are in Asia/Tokyo.", "#zone")
    desk.type_into("textarea[name=token]", expired)
    desk.click("Explain", "form:has(textarea)")
    desk.wait_for_text("Refused: token expired")
    assert "1 Jan 1970, 09:33:20" in desk.text("#view") and not UTC.search(desk.text("#view"))
    desk.go("find", request=str(refused.header("X-Request-Id")))
    desk.wait_for_text("What to do", "#view")
    assert "1 Jan 1970, 09:33:20" in desk.text("#view") and not UTC.search(desk.text("#view"))
    # UTC is one step away.
    titles = desk.evaluate("[...document.querySelectorAll('#view time')].map((one) => one.title)")
    assert "1970-01-01 00:33:20 UTC" in titles
    desk.go("revocations")
    desk.click("Revoke", "#view")
    desk.wait_for_text("In Asia/Tokyo. Without a time", "dialog")
    desk.press("Escape")
    desk.click("Log out")
    desk.wait("document.querySelector('#zone').hidden")


def test_explains_a_request_by_its_id(lab: Lab, desk: Desk) -> None:
    refused = license(lab, lab.deployment.token, b"\x00" * 300)
    desk.log_in(lab.token("security")).go("why")
    desk.type_into("input[name=request]", str(refused.header("X-Request-Id")))
    desk.press("Enter")
    desk.wait_for_text(str(refused.code))
    desk.type_into("input[name=request]", "0" * 16)
    desk.press("Enter")
    desk.wait_for_text("remembers no refusal of this request")


def test_removes_a_device(lab: Lab, desk: Desk, subject: str) -> None:
    token = counted_token(lab, subject, devices=1)
    assert license(lab, token).status == 200
    assert license(lab, token).code == "device_limit"
    desk.log_in(lab.token("support")).go("find", subject=subject)
    desk.click("Remove")
    desk.wait_for_text("It does not take back a key", "dialog")
    desk.click("Cancel", "dialog")
    assert license(lab, token).code == "device_limit", "to cancel changes nothing"
    desk.click("Remove")
    desk.click("Remove the device", "dialog")
    desk.wait_for_text("The device is removed.")
    desk.wait_for_text("No device takes a place.")
    assert license(lab, token).status == 200
    assert [row["actor"] for row in ledger_rows(lab, "device_removed")][-1] == "token:support-operator"


# Keeps DELETE requests from the server until `letGo` is called. Without an argument the server then gets them; with one
# the page sees a lost connection.
HOLD_DELETIONS = """void (() => {
    const { fetch } = globalThis;
    const released = new Promise((resolve, reject) => { globalThis.letGo = (lost) => lost ? reject(lost) : resolve(); });
    globalThis.fetch = async (address, options) => {
        if (options?.method === "DELETE") await released;
        return fetch(address, options);
    };
})()"""


def remove_and_close_the_dialog(desk: Desk) -> None:
    """Leaves the removal of a device under way, with its dialog closed by Esc."""
    desk.evaluate(HOLD_DELETIONS)
    desk.click("Remove")
    desk.click("Remove the device", "dialog")
    assert desk.evaluate("[...document.querySelectorAll('dialog button')].every((one) => one.disabled)")
    desk.press("Escape")
    desk.wait("!document.querySelector('dialog').open")


def test_tells_of_an_action_whose_dialog_was_closed(lab: Lab, desk: Desk, subject: str) -> None:
    assert license(lab, counted_token(lab, subject, devices=1)).status == 200
    desk.log_in(lab.token("support")).go("find", subject=subject)
    remove_and_close_the_dialog(desk)
    desk.evaluate("void letGo()")
    desk.wait_for_text("The device is removed.")
    desk.wait_for_text("No device takes a place.")


def test_tells_of_an_action_that_failed_after_its_dialog_was_closed(lab: Lab, desk: Desk, subject: str) -> None:
    assert license(lab, counted_token(lab, subject, devices=1)).status == 200
    desk.log_in(lab.token("support")).go("find", subject=subject)
    remove_and_close_the_dialog(desk)
    desk.evaluate("void letGo('the connection is lost')")
    desk.wait_for_text("The server cannot be reached", "#notices")
    assert desk.evaluate("document.querySelector('dialog')") is None
    assert "The device is removed." not in desk.text()


def test_ends_a_playback_and_forgets_a_rental(lab: Lab, desk: Desk, subject: str) -> None:
    assert license(lab, counted_token(lab, subject)).status == 200
    desk.log_in(lab.token("support")).go("find", subject=subject)
    desk.click(f"End the playback of {lab.deployment.content}")
    desk.click("End the playback", "dialog")
    desk.wait_for_text("No playback runs.")
    desk.click(f"Forget the rental of {lab.deployment.content}")
    desk.click("Forget the rental", "dialog")
    desk.wait_for_text("No rental is stored.")
    desk.go("find")
    desk.go("find", subject=subject)
    desk.wait("document.querySelectorAll('.timeline li.warn').length >= 2")


def test_revokes_and_lifts(lab: Lab, desk: Desk, subject: str) -> None:
    token = counted_token(lab, subject)
    assert license(lab, token).status == 200
    desk.log_in(lab.token("security")).go("find", subject=subject)
    desk.click("Revoke")
    desk.type_into("dialog input[name=reason]", "account closed")
    desk.click("Revoke", "dialog")
    desk.wait_for_text("It is revoked")
    assert license(lab, token).code == "subject_disabled"
    desk.go("revocations")
    desk.wait_for_text("account closed")
    label = desk.evaluate(
        "[...document.querySelectorAll('tr')].find((row) => row.innerText.includes('account closed'))"
        ".querySelector('button').getAttribute('aria-label')"
    )
    desk.click(label)
    desk.wait_for_text("It does not restart a playback", "dialog")
    desk.click("Lift", "dialog")
    desk.wait_for_text("The revocation is lifted.")
    assert license(lab, token).status == 200
    assert [row["actor"] for row in ledger_rows(lab, "revocation_lifted")][-1] == "token:security-operator"


def test_a_failed_action_says_why_and_changes_nothing(lab: Lab, desk: Desk) -> None:
    desk.log_in(lab.token("security")).go("revocations")
    desk.click("Revoke")
    desk.evaluate("document.querySelector('dialog select[name=kind]').value = 'hu'")
    desk.type_into("dialog input[name=value]", "not a device")
    desk.click("Revoke", "dialog")
    desk.wait_for_text("40 hexadecimal digits", "dialog")
    desk.press("Escape")
    desk.wait("!document.querySelector('dialog')")
    assert "not a device" not in desk.text("#view")


def test_shows_contents_and_keys_but_no_key(lab: Lab, desk: Desk) -> None:
    desk.log_in(lab.token("support")).go("contents")
    desk.click(lab.deployment.content)
    key = lab.deployment.key
    desk.wait("document.querySelectorAll('#view tbody tr').length === 1")
    shown = desk.evaluate("document.documentElement.outerHTML").lower()
    assert key.key_id.hex() in shown.replace("-", "")
    assert key.key.hex() not in shown and key.iv.hex() not in shown


def test_every_action_works_by_keyboard_alone(lab: Lab, desk: Desk, subject: str) -> None:
    """From the log-in to a removed device and a revoked content, with Tab, Enter and typing."""
    token = counted_token(lab, subject, devices=1)
    assert license(lab, token).status == 200
    desk.open()
    desk.type(lab.token("admin"))
    desk.press("Enter")
    desk.wait('document.querySelector("#nav a")')
    desk.tab_to("Find")
    desk.press("Enter")
    desk.wait("document.querySelector('h1').innerText === 'Find' && document.activeElement.tagName === 'H1'")
    desk.tab_to("Look for")
    # The third kind is the subject.
    desk.evaluate("document.activeElement.value = 'subject'")
    desk.tab_to("Name or id")
    desk.type(subject)
    desk.press("Enter")
    desk.wait_for_text("Last license")
    desk.tab_to("Remove the device")
    desk.press("Enter")
    desk.wait("document.activeElement.innerText === 'Cancel'")
    desk.tab_to("Remove the device")
    desk.press("Enter")
    desk.wait_for_text("No device takes a place.")
    desk.wait("document.activeElement.innerText === 'Devices'")
    desk.press("Tab", SHIFT)
    desk.tab_to("Revoke")
    desk.press("Enter")
    desk.wait("document.querySelector('dialog')")
    desk.press("Escape")
    desk.wait("!document.querySelector('dialog')")
    assert desk.evaluate("document.activeElement.innerText") == "Revoke", "the focus comes back"


# Each page of these lists has a next one, which is the same.
ENDLESS = """void ((own) => { globalThis.fetch = async (address, options) => {
    const answer = await own(String(address).replace(/&(after|before)=1\\b/, ""), options);
    const path = String(address).split("?")[0];
    // What counts refusals would count without an end.
    const isCount = String(address).startsWith("/v1/refusals?limit=200");
    const isList = ["/v1/ledger", "/v1/refusals", "/v1/contents", "/v1/devices"].includes(path) && !isCount;
    if (!isList || !answer.ok) return answer;
    globalThis.pages = (globalThis.pages ?? 0) + 1;
    return new Response(JSON.stringify({ ...(await answer.json()), next: 1 }));
} })(globalThis.fetch)"""
FOCUSED = "document.activeElement.innerText"


def test_the_focus_stays_where_a_page_of_a_list_is_replaced(lab: Lab, desk: Desk, subject: str) -> None:
    assert license(lab, counted_token(lab, subject)).status == 200
    desk.log_in(lab.token("admin"))
    desk.evaluate(ENDLESS)
    for view, parameters, button in [
        ("contents", {}, "More"),
        ("find", {"content": lab.deployment.content}, "Earlier"),
        ("find", {"code": "device_limit"}, "Older"),
        ("find", {"subject": subject}, "More"),
    ]:
        desk.go("now").go(view, **parameters)
        desk.tab_to(button)
        before = desk.evaluate("globalThis.pages")
        desk.press("Enter")
        desk.wait(f"globalThis.pages > {before} && document.activeElement.tagName === 'BUTTON'")
        assert desk.evaluate(FOCUSED) == button, (view, parameters)
    # The second page of the devices is not all of them.
    desk.click("Back", "#view")
    desk.wait("![...document.querySelectorAll('#view button')].some((one) => one.innerText === 'Back')")


def test_a_closed_dialog_gives_the_focus_back(lab: Lab, desk: Desk) -> None:
    desk.log_in(lab.token("admin")).go("now")
    desk.wait_for_text("started", "#view .banner")
    for label in ("Licenses as a table", "Drain this node"):
        desk.tab_to(label)
        desk.press("Enter")
        desk.wait("document.querySelector('dialog[open]')")
        desk.press("Escape")
        desk.wait("!document.querySelector('dialog')")
        assert label in desk.evaluate("[document.activeElement.innerText, document.activeElement.ariaLabel]")
        desk.evaluate("void document.querySelector('#view h1').focus()")
    # A control that has gone meanwhile cannot get it.
    desk.tab_to("Licenses as a table")
    desk.press("Enter")
    desk.wait("document.querySelector('dialog[open]')")
    desk.evaluate("void document.querySelector('#plot-licenses').remove()")
    desk.press("Escape")
    desk.wait("!document.querySelector('dialog')")
    assert desk.evaluate(FOCUSED) == "Now"


def test_the_focus_stays_on_what_was_used(lab: Lab, desk: Desk, subject: str) -> None:
    desk.log_in(lab.token("admin")).go("find", refused="refusals", within="3600")
    desk.evaluate("void document.querySelector('select[name=series]').focus()")
    desk.press("ArrowDown")
    desk.wait("location.hash === '#find?refused=refusals_token&within=3600'")
    assert desk.evaluate("document.activeElement.name + document.activeElement.value") == "seriesrefusals_token"
    # A question leaves the focus on its button.
    desk.go("why")
    desk.type_into("textarea[name=token]", "none")
    desk.tab_to("Explain")
    desk.press("Enter")
    desk.wait("document.querySelector('#view .banner') && !document.querySelector('#view button:disabled')")
    assert desk.evaluate(FOCUSED) == "Explain"
    # A dismissed message leaves it on the view.
    desk.evaluate("import('/page/dialogs.js').then(({ notify }) => notify('good', 'It is done.'))")
    desk.evaluate("void document.querySelector('#notices button').focus()")
    desk.press("Enter")
    desk.wait("!document.querySelector('#notices .banner')")
    assert desk.evaluate(FOCUSED) == "Why"

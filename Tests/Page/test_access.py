"""Everyone can use it: no barrier that axe knows, nothing cut off, and no motion if the browser asks for that."""

import base64
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from browser import Page
from conftest import Lab, watched
from desk import Desk, open_inner_workings
from viewers import counted_token, license, message

WIDTHS = {1440: 900, 390: 844}
SEVERE = {"serious", "critical"}
# Everything but the rules that axe itself calls experimental.
AXE_RUN = "axe.run(document, {resultTypes: ['violations']}).then(({violations}) => violations.map(%s))"
AXE_SHOW = """({id, impact, nodes}) =>
    ({id, impact, places: nodes.map(({target, failureSummary}) => `${target.join(" ")}: ${failureSummary}`)})"""
# Elements whose text does not fit, and that cannot be scrolled.
CUT_OFF = """[...document.querySelectorAll("body *")].filter((one) => {
    const style = getComputedStyle(one);
    const isLeftOut = one.closest(".unseen, svg, .cards thead, .scroll, textarea, input, select, .skip");
    return one.checkVisibility() && !isLeftOut &&
        one.scrollWidth > one.clientWidth + 1 && style.display !== "inline" && style.overflowX !== "visible";
}).map((one) => `${one.tagName} ${one.className}: ${one.innerText.slice(0, 60)}`)"""


def explained(lab: Lab, desk: Desk, subject: str) -> None:
    desk.go("why")
    desk.type_into("textarea[name=token]", counted_token(lab, subject))
    desk.type_into("textarea[name=spc]", base64.b64encode(message(lab)).decode())
    desk.click("Explain", "form:has(textarea)")
    desk.wait_for_text("What the device would be told")


def dialog(lab: Lab, desk: Desk, subject: str) -> None:
    desk.go("find", subject=subject)
    desk.click("Remove")
    desk.wait("document.querySelector('dialog')")


def now(lab: Lab, desk: Desk, subject: str) -> None:
    open_inner_workings(desk)
    desk.wait("document.querySelector('#plot-memory .trace') && document.querySelector('.tiles .panel')")


def found(lab: Lab, desk: Desk, subject: str) -> None:
    desk.go("find", subject=subject)
    desk.wait("document.querySelector('.timeline li') && document.querySelectorAll('#view table').length >= 3")


def listed(view: str) -> Callable[[Lab, Desk, str], None]:
    def show(lab: Lab, desk: Desk, subject: str) -> None:
        desk.go(view)
        desk.wait("document.querySelector('#view table')")

    return show


def keys(lab: Lab, desk: Desk, subject: str) -> None:
    desk.go("contents", id=lab.deployment.content)
    desk.wait("document.querySelector('#view table')")


STATES = {
    "now": now,
    "refusals": listed("find"),
    "find": found,
    "dialog": dialog,
    "why": explained,
    "contents": listed("contents"),
    "keys": keys,
    "revoked": listed("revocations"),
}


@pytest.fixture(scope="module")
def known(lab: Lab) -> str:
    """A subject with a license, and a refusal and a revocation for the lists."""
    subject = "viewer-access"
    token = counted_token(lab, subject, devices=1)
    assert license(lab, token).status == 200
    assert license(lab, token).code == "device_limit"
    return subject


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_every_view_is_readable_and_has_no_barrier(lab: Lab, known: str, width: int, scheme: str) -> None:
    pictures = os.environ.get("LATCHKEY_PICTURES")
    with watched(lab) as page:
        size = {"width": width, "height": WIDTHS[width], "deviceScaleFactor": 1, "mobile": width < 500}
        page.call("Emulation.setDeviceMetricsOverride", size)
        scheme_feature = {"name": "prefers-color-scheme", "value": scheme}
        page.call("Emulation.setEmulatedMedia", {"features": [scheme_feature]})
        # axe adds its own code to the page, which the page's policy forbids.
        page.call("Page.setBypassCSP", {"enabled": True})
        desk = Desk(page, lab.url).open()
        faults = examine(lab, desk, "login", pictures, f"{width}-{scheme}")
        desk.log_in(lab.token("admin"))
        desk.ask("post", "/v1/revocations", {"kind": "content", "value": "movie-withdrawn", "reason": "rights ended"})
        for name, show in STATES.items():
            show(lab, desk, known)
            faults += examine(lab, desk, name, pictures, f"{width}-{scheme}")
            desk.evaluate("document.querySelector('dialog')?.close()")
        assert faults == []


def save_picture(page: Page, file: Path) -> None:
    size = page.call("Page.getLayoutMetrics")["cssContentSize"]
    place = {"x": 0, "y": 0, "width": size["width"], "height": size["height"]}
    shot = {"format": "png", "captureBeyondViewport": True, "clip": place | {"scale": 1}}
    file.write_bytes(base64.b64decode(page.call("Page.captureScreenshot", shot)["data"]))


def examine(lab: Lab, desk: Desk, name: str, pictures: str | None, form: str) -> list[str]:
    """What is wrong with what is shown now."""
    if pictures:
        save_picture(desk.page, Path(pictures) / f"{name}-{form}.png")
    if not desk.evaluate("typeof axe === 'object'"):
        desk.evaluate(f"{lab.axe}; undefined")
    violations = desk.evaluate(AXE_RUN % AXE_SHOW)
    faults = [
        f"{name}: {one['id']}: {place}" for one in violations if one["impact"] in SEVERE for place in one["places"]
    ]
    overflow = desk.evaluate("document.documentElement.scrollWidth - innerWidth")
    faults += [f"{name}: the page is {overflow} pixels too wide"] if overflow > 0 else []
    return faults + [f"{name}: cut off: {one}" for one in desk.evaluate(CUT_OFF)]


def test_nothing_moves_if_the_browser_asks_for_that(lab: Lab) -> None:
    with watched(lab) as page:
        page.call("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]})
        desk = Desk(page, lab.url).log_in(lab.token("admin"))
        desk.wait_for_text("live", "#state")
        moving = "document.getAnimations().length + [...document.querySelectorAll('*')].filter((one) =>"
        moving += " parseFloat(getComputedStyle(one).transitionDuration) > 0).length"
        assert desk.evaluate(moving) == 0
        page.call(
            "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-reduced-motion", "value": "no-preference"}]}
        )
        assert desk.evaluate(moving) > 0, "the search finds motion"


def test_the_parts_have_names_and_landmarks(lab: Lab, desk: Desk) -> None:
    desk.log_in(lab.token("admin"))
    tree = desk.page.call("Accessibility.getFullAXTree")["nodes"]
    roles = {node["role"]["value"] for node in tree if "role" in node and not node.get("ignored")}
    assert {"banner", "navigation", "main"} <= roles
    sliders = [node for node in tree if node.get("role", {}).get("value") == "slider"]
    assert len(sliders) == 3 and all(node["name"]["value"] for node in sliders)
    assert desk.evaluate("document.querySelectorAll('h1').length") == 1
    assert desk.evaluate("document.title") == "Now – Latchkey"

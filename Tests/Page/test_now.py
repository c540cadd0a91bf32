"""The view Now: the plots, the state of the node, and what the Grafana dashboard has in common with it."""

import json
import re
from pathlib import Path

from conftest import HERE, Lab
from desk import Desk
from viewers import licence, message

ROOT = HERE.parents[1]
PLOTS = re.findall(r'^    title: "(.+)",$', (ROOT / "Sources/CEmbedded/OperatorPage/series.js").read_text(), re.MULTILINE)
# Shown by a legend: the name of a series and its value.
VALUE = "Number(document.querySelector('#plot-%s .legend li:nth-child(%d) .value').innerText)"


def test_the_plots_move_under_load(lab: Lab, desk: Desk) -> None:
    desk.log_in(lab.token("metrics")).go("now")
    desk.wait_for_text("live", "#state")
    assert desk.count(".plot") == len(PLOTS) == 9
    desk.wait("document.querySelector('#plot-connections .trace')")
    # Only this test asks with version 1.
    assert desk.evaluate("import('/page/live.js').then(({live}) => live.points.at(-1).values.licenses_v1)") == 0
    token = lab.mint("viewer-load")
    for _ in range(20):
        assert licence(lab, token, message(lab, version=1)).status == 200
    assert licence(lab, "none").status == 401
    moved = "import('/page/live.js').then(({live}) => new Promise((resolve) => { const look = () => "
    moved += "live.points.some(({values}) => values.licenses_v1 > 0 && values.latency_p99 > 0) && resolve(true);"
    moved += " live.addEventListener('points', look); look(); }))"
    assert desk.evaluate(moved)
    desk.wait(
        "document.querySelectorAll('#plot-licenses .area').length > 0 && document.querySelector('#plot-latency .trace')"
    )


def test_a_plot_is_read_by_keyboard(lab: Lab, desk: Desk) -> None:
    desk.log_in(lab.token("metrics")).go("now")
    desk.wait("document.querySelector('#plot-memory .trace')")
    desk.wait(
        "document.querySelector('#plot-memory .stage').getAttribute('aria-valuetext')?.includes('charged')"
    )
    desk.tab_to("Charged memory: time")
    desk.press("ArrowLeft")
    desk.wait("document.querySelector('#plot-memory .at').innerText.match(/\\d\\d:\\d\\d:\\d\\d/)")
    spoken = desk.evaluate("document.activeElement.getAttribute('aria-valuetext')")
    assert re.fullmatch(r"\d\d:\d\d:\d\d: charged [\d.]+ \w+, resident [\d.]+ \w+", spoken)
    assert desk.count(".chart .cursor") == len(PLOTS), "the same moment is marked in every plot"
    desk.press("Escape")
    desk.wait("!document.querySelector('.chart .cursor')")


def test_a_plot_is_given_as_a_table(lab: Lab, desk: Desk) -> None:
    desk.log_in(lab.token("metrics")).go("now")
    desk.wait("document.querySelector('#plot-memory .trace')")
    desk.click("Charged memory as a table")
    desk.wait("document.querySelectorAll('dialog tbody tr').length > 0")
    assert desk.texts("dialog thead th") == ["Minute", "charged", "resident"]
    assert re.fullmatch(r"[\d.]+ \w+", desk.texts("dialog tbody td.number")[0])
    desk.press("Escape")
    desk.wait("!document.querySelector('dialog')")


def test_shows_ends_nodes_and_clock(lab: Lab, desk: Desk) -> None:
    desk.log_in(lab.token("metrics")).go("now")
    desk.wait_for_text("Certificates and credentials")
    status = desk.ask("get", "/v1/status")["answer"]
    shown = desk.text("#view")
    assert status["ends"], "the development credential has an end"
    for end in status["ends"]:
        assert end["name"] in shown
    assert status["version"] in shown and status["node"] in desk.text("#node")


def test_names_pages_that_browsers_stop(lab: Lab, desk: Desk) -> None:
    wanted = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-<b>,x-mine"}
    lab.deployment.client.send("OPTIONS", "/fps/license", headers=wanted | {"Origin": "https://<b>.example"})
    desk.log_in(lab.token("metrics")).go("now")
    desk.wait_for_text("Web pages that browsers stop")
    desk.wait_for_text("pages at https://<b>.example ask for the header x-mine")
    desk.wait_for_text("add x-mine to cors.allowedHeaders")


def test_drains_and_ends_the_drain(lab: Lab, desk: Desk) -> None:
    desk.log_in(lab.token("admin")).go("now")
    desk.click("Drain this node")
    desk.wait_for_text("What it does not do", "dialog")
    desk.click("Drain", "dialog")
    desk.wait_for_text("Drained by token:admin-operator")
    desk.click("End the drain", "#view")
    desk.click("End the drain", "dialog")
    desk.wait_for_text("every part works")


def test_the_dashboard_has_the_same_panels() -> None:
    dashboard = json.loads((Path(ROOT) / "Config/grafana-dashboard.json").read_text())
    titles = [panel["title"] for panel in dashboard["panels"]]
    assert titles[1 : 1 + len(PLOTS)] == PLOTS

"""The view Now: the plots, the state of the node, and what the Grafana dashboard has in common with it."""

import json
import re
import signal
from pathlib import Path
from types import SimpleNamespace

import tokens
from conftest import HERE, Lab, add_operators
from deployment import deployment_of
from desk import Desk, open_inner_workings
from license_client import LicenseClient
from own_daemon import await_addresses, new_setup, running_daemon, start_daemon
from viewers import license, message

ROOT = HERE.parents[1]
PLOTS = re.findall(r'^    title: "(.+)",$', (ROOT / "Sources/CEmbedded/OperatorPage/series.js").read_text(), re.MULTILINE)
# Shown by a legend: the name of a series and its value.
VALUE = "Number(document.querySelector('#plot-%s .legend li:nth-child(%d) .value').innerText)"


def test_the_plots_move_under_load(lab: Lab, desk: Desk) -> None:
    desk.log_in(lab.token("metrics")).go("now")
    desk.wait_for_text("live", "#state")
    assert desk.count(".plot") == len(PLOTS) == 9
    # What viewers notice is shown at once, and the rest by a click.
    shown = "[...document.querySelectorAll('.plot')].filter((one) => one.checkVisibility()).map((one) => one.id)"
    assert desk.evaluate(shown) == ["plot-licenses", "plot-refusals", "plot-latency"]
    open_inner_workings(desk)
    desk.wait(f"{shown}.length === 9")
    desk.wait("document.querySelector('#plot-connections .trace')")
    # Only this test asks with version 1.
    assert desk.evaluate("import('/page/live.js').then(({live}) => live.points.at(-1).values.licenses_v1)") == 0
    token = lab.mint("viewer-load")
    for _ in range(20):
        assert license(lab, token, message(lab, version=1)).status == 200
    assert license(lab, "none").status == 401
    moved = "import('/page/live.js').then(({live}) => new Promise((resolve) => { const look = () => "
    moved += "live.points.some(({values}) => values.licenses_v1 > 0 && values.latency_p99 > 0) && resolve(true);"
    moved += " live.addEventListener('points', look); look(); }))"
    assert desk.evaluate(moved)
    desk.wait(
        "document.querySelectorAll('#plot-licenses .area').length > 0 && document.querySelector('#plot-latency .trace')"
    )


def test_a_plot_is_read_by_keyboard(lab: Lab, desk: Desk) -> None:
    open_inner_workings(desk.log_in(lab.token("metrics")))
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
    open_inner_workings(desk.log_in(lab.token("metrics")))
    desk.wait("document.querySelector('#plot-memory .trace')")
    desk.click("Charged memory as a table")
    desk.wait("document.querySelectorAll('dialog tbody tr').length > 0")
    assert desk.texts("dialog thead th") == ["Minute", "charged", "resident"]
    assert re.fullmatch(r"[\d.]+ \w+", desk.texts("dialog tbody td.number")[0])
    assert desk.text("dialog .hint") == "Largest value of a step of 10 s, in each minute."
    desk.press("Escape")
    desk.wait("!document.querySelector('dialog')")


# --- The state in one sentence ----------------------------------------------------------------------------------------

STATUS = {"ready": True, "drained": None, "stopping": False, "degraded": []}
# What a step of ten seconds measures, the state of the node, and the tone and sentence that follow.
CONDITIONS = [
    ({}, {}, "good", "This node serves, and every part works."),
    ({"licenses_v2": 100}, {}, "good", "every part works"),
    # 0.05 refusals a second prove nothing, as little as a share of a tenth.
    ({"refusals": 0.04, "refusals_token": 0.04}, {}, "good", "every part works"),
    ({"licenses_v1": 10, "refusals": 1, "refusals_token": 1}, {}, "good", "every part works"),
    ({"licenses_v1": 7, "refusals": 3, "refusals_token": 2, "refusals_key": 1}, {}, "warn",
     "30 % of the requests are refused, most for their token"),
    ({"refusals": 0.1, "refusals_spc": 0.1}, {}, "bad",
     "No request got a license in the last 5 minutes: 30 were refused, most for their SPC"),
    ({"licenses_v3": 90, "refusals": 10, "refusals_fault": 10}, {}, "bad",
     "10 % of the requests of the last 5 minutes failed at this server"),
    ({"licenses_v3": 100}, {"degraded": [{}]}, "warn", "This node serves, but 1 part does not work."),
    ({}, {"now": 9000, "nodes": [{"node": "a", "isThis": True, "seenAt": 9000},
                                 {"node": "b", "seenAt": 8815}, {"node": "c", "seenAt": 5500}]},
     "warn", "This node serves, but b, c are not seen."),
    # Two minutes prove nothing, and after an hour the node was taken away.
    ({}, {"now": 9000, "nodes": [{"node": "b", "seenAt": 8825}, {"node": "c", "seenAt": 5300}]}, "good",
     "every part works"),
    ({"refusals": 10, "refusals_fault": 10}, {"degraded": [{}, {}]}, "bad", "No request got a license"),
    ({"licenses_v3": 100}, {"ready": False, "drained": {}}, "warn", "This node is drained"),
    ({"licenses_v3": 100}, {"ready": False, "degraded": [{}, {}]}, "bad", "not ready: 2 parts do not work"),
    ({"refusals": 10}, {"ready": False, "stopping": True}, "warn", "The daemon is stopping."),
    # Strangers where no viewer was are no outage, and where viewers are they make no other share small.
    ({"refusals": 10, "refusals_anonymous": 10}, {}, "warn",
     "3000 requests of the last 5 minutes were refused before a token was verified"),
    ({"licenses_v2": 1, "refusals": 1001, "refusals_unproven": 1000, "refusals_fault": 1}, {}, "bad",
     "50 % of the requests of the last 5 minutes failed at this server"),
    ({"licenses_v2": 7, "refusals": 1003, "refusals_anonymous": 1000, "refusals_key": 3}, {}, "warn",
     "30 % of the requests are refused, most for a missing key"),
    ({"refusals": 1001, "refusals_anonymous": 1000, "refusals_fault": 1}, {}, "bad",
     "No request got a license in the last 5 minutes: 300300 were refused, most for a fault of the server"),
    # A rate limit refuses good tokens.
    ({"licenses_v2": 1, "refusals": 9, "refusals_overload": 9}, {}, "warn",
     "90 % of the requests are refused, most for the load or a rate limit"),
    # Three faults are one viewer who tries again; six are not.
    ({"licenses_v2": 0.05, "refusals": 0.01, "refusals_fault": 0.01}, {}, "good", "every part works"),
    ({"licenses_v2": 0.05, "refusals": 0.02, "refusals_fault": 0.02}, {}, "bad", "failed at this server"),
    # One viewer with the old release of an app makes no outage smaller.
    ({"licenses_v2": 0.1, "refusals": 9.9, "refusals_token": 9.9}, {}, "bad",
     "Only 1 % of the requests of the last 5 minutes got a license, most for their token"),
    ({"licenses_v2": 0.1, "refusals": 1.2, "refusals_token": 1.2}, {}, "warn", "92.3 % of the requests are refused"),
    # A wrong token is an app's fault as often as a stranger's.
    ({"refusals": 1, "refusals_unproven": 1}, {}, "bad", "most for a token that is not known here"),
    ({"licenses_v2": 5, "refusals": 5, "refusals_unproven": 5}, {}, "warn", "50 % of the requests are refused"),
]  # fmt: skip


def test_a_certificate_that_ends_is_not_green(lab: Lab, desk: Desk) -> None:
    desk.log_in(lab.token("metrics")).go("now")
    cases = [
        ("tls", -60, "bad", "The TLS certificate of public[0] has ended"),
        ("tls", 13 * 86400, "warn", "the TLS certificate of public[0] ends soon"),
        ("tls", 15 * 86400, "good", "every part works"),
        # Devices and the server use this one further, so nothing fails.
        ("fairplay", -60, "warn", "the FairPlay certificate public[0] has ended"),
        ("fairplay", 59 * 86400, "warn", "the FairPlay certificate public[0] ends soon"),
        ("fairplay", 61 * 86400, "good", "every part works"),
    ]
    for kind, seconds, tone, sentence in cases:
        ends = [{"kind": kind, "name": "public[0]", "endsAt": 1_000_000_000 + seconds}]
        status = STATUS | {"now": 1_000_000_000, "ends": ends}
        found = desk.evaluate(
            "import('/page/condition.js').then(({ condition, recent }) =>"
            f" condition({json.dumps(status)}, recent([], 10)))"
        )
        assert found["tone"] == tone and sentence in found["sentence"], (kind, seconds, found)
    words = desk.evaluate(
        "import('/page/format.js').then(({ untilThen }) =>"
        " [46.5 * 3600, 90, -5400, 3 * 86400, 3649 * 86400].map((one) => untilThen(1e9 + one, 1e9)))"
    )
    assert words == ["in 46 h 30 min", "in 1 min", "ended 1 h 30 min ago", "in 3 days", "in 10 years"]


def test_the_slowest_step_is_named_so(lab: Lab, desk: Desk) -> None:
    """The history has no percentile of five minutes, so the page says which one it shows."""
    desk.log_in(lab.token("metrics")).go("now")
    points = [{"at": 10 * step, "values": {"latency_p99": 2 if step == 205 else 0.01}} for step in range(1, 211)]
    found = desk.evaluate(
        f"import('/page/condition.js').then(({{ recent }}) => recent({json.dumps(points)}, 10).p99)"
    )
    assert found == 2
    hints = dict(zip(desk.texts(".headline .label"), desk.texts(".headline .hint"), strict=True))
    assert hints["Time to a license"] == "99 % within, in the slowest 10 s"


def test_viewers_who_all_come_without_a_token_are_no_strangers(lab: Lab, desk: Desk) -> None:
    """An app release that forgets the token: licenses within the hour, and then none."""
    desk.log_in(lab.token("metrics")).go("now")
    points = [
        {"at": 10 * step, "values": {"licenses_v2": 1} if step <= 180 else {"refusals": 1, "refusals_anonymous": 1}}
        for step in range(1, 211)
    ]
    found = desk.evaluate(
        "import('/page/condition.js').then(({ condition, recent }) =>"
        f" condition({json.dumps(STATUS)}, recent({json.dumps(points)}, 10)))"
    )
    assert found["tone"] == "bad" and "most for want of a token or SPC to read" in found["sentence"]


def test_the_state_follows_the_rules(lab: Lab, desk: Desk) -> None:
    desk.log_in(lab.token("metrics")).go("now")
    for values, status, tone, sentence in CONDITIONS:
        # Refusals of half an hour ago do not count.
        points = [{"at": 10 * step, "values": values if step > 180 else {"refusals": 1000}} for step in range(1, 211)]
        found = desk.evaluate(
            "import('/page/condition.js').then(({ condition, recent }) =>"
            f" condition({json.dumps(STATUS | status)}, recent({json.dumps(points)}, 10)))"
        )
        assert found["tone"] == tone and sentence in found["sentence"], (values, status, found)


def test_samples_and_history_have_one_resolution(lab: Lab, desk: Desk) -> None:
    desk.log_in(lab.token("metrics")).go("now")
    # Seven samples after a step of the history: five of them are the next step, and two are not whole yet.
    steps = desk.evaluate("""import('/page/live.js').then(({ live: { constructor: Live } }) => {
        const live = new Live();
        live.points = [2, 4, 6, 8, 10, 12].map((at) => ({ at, values: {
            rate: at === 12 ? 100 : at, none: null, latency_p99: at === 8 ? 3 : null, loop_lag: 12 - at } }));
        return live.steps;
    })""")
    # A percentile and a peak have no mean.
    assert steps == [{"at": 12, "values": {"rate": 130 / 6, "none": None, "latency_p99": 3, "loop_lag": 10}}]


def test_a_rate_limit_is_no_want_of_a_token(lab: Lab, tmp_path: Path) -> None:
    limits = {"rates": {"perAddress": {"perSecond": 100_000}, "perSubject": {"perSecond": 1, "burst": 2}}}
    with running_daemon(tmp_path, limits=limits, prepare=add_operators) as daemon, lab.browser.page() as page:
        deployment = deployment_of(daemon.url, daemon.setup)
        client = LicenseClient(daemon.url)
        viewers = SimpleNamespace(deployment=deployment)
        codes = [client.license(message(viewers), deployment.token).code for _ in range(40)]
        client.close()
        assert codes.count("rate_limited") > 20, codes
        desk = Desk(page, "http://{}:{}".format(*daemon.admin))
        desk.log_in((daemon.setup / "secrets" / "admin-operator").read_text().strip()).go("now")
        desk.wait_for_text("most for the load or a rate limit", "#view .banner.warn")
        assert float(desk.texts(".headline strong")[0].removesuffix(" %")) < 50
        assert "token was missing" not in desk.text("#view")
        # The refusals behind it say the same.
        desk.click("Open these refusals", "#view")
        desk.wait("document.querySelector('table[aria-label^=\"Refusals by\"]')")
        assert "rate_limited" in desk.texts("table[aria-label^='Refusals by'] a")


def test_a_step_of_the_history_is_kept_once(lab: Lab, desk: Desk) -> None:
    """The daemon's times differ by microseconds between two answers, and samples end within a step."""
    desk.log_in(lab.token("metrics")).go("now")
    found = desk.evaluate("""import('/page/live.js').then(({ withHistory }) => {
        const answer = (startsAt, values) =>
            ({ stepSeconds: 10, startsAt, count: values.length, series: [{ name: "rate", unit: "count", values }] });
        // Three steps, which end at 110, 120 and 130, and samples of the time after 120.
        let [points, end] = withHistory([], 0, answer(100.000001, [1, 2]));
        points = [...points, ...[122, 124, 126, 128, 131, 133].map((at) => ({ at, values: { rate: 9 } }))];
        [points, end] = withHistory(points, end, answer(109.999998, [2, 3]));
        // An answer without a new step changes nothing.
        [points, end] = withHistory(points, end, answer(130.000003, []));
        return [Math.round(end), points.map(({ at, values }) => [Math.round(at), values.rate])];
    })""")
    # The sample at 131 has ended the third step, so it is a part of it.
    assert found == [130, [[110, 1], [120, 2], [130, 3], [133, 9]]]


def test_an_open_page_counts_nothing_twice(lab: Lab, desk: Desk) -> None:
    """The page reads the history every ten seconds. After some more steps each of them is there once."""
    desk.log_in(lab.token("metrics")).go("now")
    times = desk.evaluate("""import('/page/live.js').then(({ live }) => new Promise((resolve) => {
        const ends = new Set();
        const look = () => {
            const times = live.steps.map(({ at }) => at);
            if (times.length) ends.add(Math.round(times.at(-1) / 10));
            if (ends.size >= 4) resolve(times);
        };
        live.addEventListener("points", look);
        look();
    }))""")
    assert len(times) > 1
    assert all(later - earlier > 7 for earlier, later in zip(times, times[1:], strict=False)), times


def test_a_node_that_refuses_everything_is_not_green(lab: Lab, tmp_path: Path) -> None:
    with running_daemon(tmp_path, prepare=add_operators) as daemon, lab.browser.page() as page:
        desk = Desk(page, "http://{}:{}".format(*daemon.admin))
        desk.log_in((daemon.setup / "secrets" / "admin-operator").read_text().strip()).go("now")
        desk.wait_for_text("every part works")
        client = LicenseClient(daemon.url)
        for _ in range(40):
            assert client.license(b"", "none").status in (400, 401)
        # Strangers are no outage.
        desk.wait_for_text("were refused before a token was verified")
        assert desk.count("#view .banner.warn") == 1
        deployment = deployment_of(daemon.url, daemon.setup)
        header, claims = tokens.header_and_claims(deployment.token)
        expired = tokens.sign_es256(header, claims | {"iat": 1000, "exp": 2000}, deployment.signing_key)
        for _ in range(40):
            assert client.license(b"", expired).code == "token_expired"
        client.close()
        desk.wait_for_text("No request got a license in the last 5 minutes")
        assert desk.count("#view .banner.bad") == 1
        assert desk.texts(".headline strong")[0] == "0 %"
        desk.click("Open these refusals", "#view")
        desk.wait("document.querySelector('table[aria-label^=\"Refusals by\"]')")
        assert desk.evaluate("location.hash") == "#find?refused=refusals_token&within=300"


def test_a_dead_daemon_is_not_green(lab: Lab, tmp_path: Path) -> None:
    """A killed daemon ends its connections. One that hangs keeps them, as a tunnel does; after 15 s it is lost too."""
    setup = new_setup(tmp_path)
    add_operators(setup)
    log = tmp_path / "daemon.log"
    daemon = start_daemon(setup, log)
    try:
        admin = await_addresses(daemon, log)["admin"]
        with lab.browser.page() as page:
            desk = Desk(page, "http://{}:{}".format(*admin))
            desk.log_in((setup / "secrets" / "admin-operator").read_text().strip()).go("now")
            desk.wait_for_text("every part works")
            desk.wait_for_text("live", "#state")
            daemon.send_signal(signal.SIGSTOP)
            desk.wait_for_text("No answer since")
            assert desk.count(".view.stale") == 1
            assert "Drain this node" not in desk.text("#view") and "every part works" not in desk.text("#view")
            assert desk.text("#state") == "no connection"
            daemon.send_signal(signal.SIGCONT)
            desk.wait_for_text("every part works")
            assert desk.count(".stale") == 0
            daemon.kill()
            desk.wait_for_text("No answer since")
    finally:
        daemon.kill()
        daemon.wait()


# Puts a state, refusals and samples in place of what the daemon answers.
SHOWN = """import('/page/live.js').then(({ live }) => {
    globalThis.standInFetch ??= globalThis.fetch;
    globalThis.fetch = (address, options) => {
        if (!String(address).startsWith("/v1/refusals?")) return standInFetch(address, options);
        const time = new Date().toISOString();
        const refusals = [["internal", 1], ["entitlement_unavailable", 3]].flatMap(([code, count]) =>
            Array.from({ length: count }, () => ({ code, time, cause: `${code} happened` })));
        return Promise.resolve(new Response(JSON.stringify({ refusals, next: null })));
    };
    live.state = "waiting";
    live.stop();
    live.state = "live";
    live.answeredAt = Date.now();
    live.points = [{ at: Date.now() / 1000, values: %s }];
    live.status = %s;
    live.dispatchEvent(new Event("points"));
    live.dispatchEvent(new Event("status"));
})"""


def stood_in(desk: Desk, values: dict[str, float], **changes: object) -> None:
    status = desk.ask("get", "/v1/status")["answer"] | changes
    desk.evaluate(f"{SHOWN % (json.dumps(values), json.dumps(status))}.then(() => undefined)")


def test_the_sentence_names_the_fault(lab: Lab, desk: Desk) -> None:
    desk.log_in(lab.token("support")).go("now")
    desk.wait_for_text("started", "#view .banner")
    stood_in(desk, {"licenses_v2": 5, "refusals": 20, "refusals_fault": 20})
    desk.wait_for_text("entitlement_unavailable: the entitlement service", "#view .banner.bad strong")
    desk.wait_for_text("What to do: See whether the service of entitlement.callback", "#view .banner.bad")
    assert "The newest of them: entitlement_unavailable happened." in desk.text("#view .banner.bad")


def test_a_service_that_fails_few_requests_is_named(lab: Lab, desk: Desk) -> None:
    desk.log_in(lab.token("support")).go("now")
    desk.wait_for_text("started", "#view .banner")
    # A part of a step: two seconds with one fault, among a hundred licenses.
    stood_in(desk, {"licenses_v2": 50, "refusals": 0.5, "refusals_fault": 0.5})
    sentence = "1 request of the last 5 minutes failed at this server (entitlement_unavailable"
    desk.wait_for_text(sentence, "#view .banner.warn")
    assert "The newest of them: entitlement_unavailable happened." in desk.text("#view .banner.warn")
    # Without faults, the service is not asked for.
    stood_in(desk, {"licenses_v2": 50})
    desk.wait_for_text("every part works", "#view .banner.good")


def test_the_focus_stays_in_the_banner(lab: Lab, desk: Desk) -> None:
    desk.log_in(lab.token("admin")).go("now")
    desk.wait_for_text("started", "#view .banner")
    desk.tab_to("Drain this node")
    before = desk.text("#view .banner strong")
    parts = [{"part": "postgresql", "text": "no connection", "remedy": "Start it."}]
    stood_in(desk, {}, degraded=parts)
    desk.wait_for_text("1 part does not work", "#view .banner")
    assert before != desk.text("#view .banner strong"), "the banner has changed"
    assert desk.evaluate("document.activeElement.innerText") == "Drain this node"
    # The part and what to do are in the same box.
    assert desk.count("#view .banner") == 1
    assert "PostgreSQL: no connection" in desk.text("#view .banner") and "Start it." in desk.text("#view .banner")


def test_nodes_have_numbers_of_their_own_times(lab: Lab, desk: Desk) -> None:
    """A share would be of licenses of different times."""
    desk.log_in(lab.token("metrics")).go("now")
    desk.wait_for_text("started", "#view .banner")
    now = desk.ask("get", "/v1/status")["answer"]["now"]
    nodes = [
        {"node": "node-a", "isThis": True, "seenAt": now, "state": "ready", "licenses": 10},
        {"node": "node-b", "isThis": False, "seenAt": now - 90, "state": "ready", "licenses": 3000},
        {"node": "node-c", "isThis": False, "seenAt": now - 900, "state": "ready", "licenses": 7},
    ]
    stood_in(desk, {}, nodes=nodes, now=now)
    desk.wait_for_text("node-c", "#view")
    rows = [row.split("\t") for row in desk.texts("table[aria-label=Nodes] tbody tr")]
    assert [row[2] for row in rows] == ["10", "3,000", "–"]
    assert [row[3] for row in rows] == ["now", "90 s ago", "15 min ago"]


def test_the_time_of_the_start_stands_still(lab: Lab, desk: Desk) -> None:
    desk.log_in(lab.token("metrics")).go("now")
    found = desk.evaluate("""import('/page/live.js').then(async ({ live: { constructor: Live } }) => {
        const live = new Live();
        const own = globalThis.fetch;
        let startedAt = 1000;
        globalThis.fetch = async () => new Response(JSON.stringify({ startedAt: startedAt++, degraded: [] }));
        const shown = [];
        live.addEventListener("status", () => shown.push(live.status.startedAt));
        live.start();
        live.stop();
        for (let count = 0; count < 2; count += 1) {
            const heard = new Promise((resolve) => live.addEventListener("status", resolve, { once: true }));
            live.start();
            await heard;
        }
        live.stop();
        globalThis.fetch = own;
        return shown;
    })""")
    assert len(set(found)) == 1, found


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
    desk.wait_for_text("This node serves")


def test_the_dashboard_has_the_same_panels() -> None:
    dashboard = json.loads((Path(ROOT) / "Config/grafana-dashboard.json").read_text())
    titles = [panel["title"] for panel in dashboard["panels"]]
    assert titles[1 : 1 + len(PLOTS)] == PLOTS


# --- Devices ----------------------------------------------------------------------------------------------------------


def test_the_devices_are_shown_by_kind(lab: Lab, desk: Desk) -> None:
    token = lab.mint("viewer-devices")
    for _ in range(3):
        assert license(lab, token, message(lab, version=2)).status == 200
    desk.log_in(lab.token("metrics")).go("now")
    desk.wait("document.querySelectorAll('.devices table').length === 3")
    assert desk.texts(".devices table:first-child th") == ["Class", "Share", "Requests", "Refused"]
    share = desk.texts(".devices table:first-child tbody td.number")
    assert share[0] == "100 %" and int(share[1].replace(",", "")) >= 3, share


# Each kind, all devices, and whether the kind is marked: (licenses, refusals).
OUTLIERS = [
    ((80, 20), (1000, 50), True),
    # As the others, too few to tell, and a share that says little.
    ((80, 20), (500, 110), False),
    ((0, 19), (1000, 50), False),
    ((97, 3), (10_000, 10), False),
    ((0, 0), (0, 0), False),
]


def test_a_kind_that_is_refused_more_often_is_marked(lab: Lab, desk: Desk) -> None:
    desk.log_in(lab.token("metrics")).go("now")
    for kind, every, is_marked in OUTLIERS:
        counts = [dict(zip(("licenses", "refusals"), pair, strict=True)) for pair in (kind, every)]
        found = desk.evaluate(
            f"import('/page/devices.js').then(({{isOutlier}}) => isOutlier({json.dumps(counts[0])}, "
            f"{json.dumps(counts[1])}))"
        )
        assert found == is_marked, (kind, every)


def test_many_kinds_are_few_rows(lab: Lab, desk: Desk) -> None:
    desk.log_in(lab.token("metrics")).go("now")
    counts = [{"value": str(number), "licenses": number, "refusals": 1} for number in range(23)]
    rows = desk.evaluate(f"import('/page/devices.js').then(({{rowsOf}}) => rowsOf({json.dumps(counts)}))")
    assert [row["value"] for row in rows] == [*(str(number) for number in range(22, 15, -1)), "16 more"]
    assert sum(row["licenses"] for row in rows) == sum(range(23)) and sum(row["refusals"] for row in rows) == 23

"""Live content with rotating keys: which periods get licenses, who makes the periods, and the alert for a missing
one."""

import json
import os
import re
import sqlite3
import subprocess
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from counting_node import Node, message, nodes_on_one_database, token
from deployment import Deployment, deployment_of, run_latchkey
from fairplay_device.spc import SPCOptions, device_for
from license_client import Answer, LicenseClient
from license_policy import ContentKey
from own_daemon import OwnDaemon, running_daemon, stop_daemon

REPOSITORY = Path(__file__).parents[2]
ALERTS = REPOSITORY / "Config" / "prometheus-alerts.yaml"
HOUR = 3600
# The keeper's passes are at most 10 s apart.
KEEPER_SECONDS = 120
# A node caches the periods of a content for 3 s.
MEMORY_SECONDS = 60
PLAYERS = 320
CLIENTS = 16


@dataclass(frozen=True)
class Live:
    """A daemon with a content whose keys rotate."""

    daemon: OwnDaemon
    deployment: Deployment
    content: str
    token: str

    def rotate(self, *options: str) -> dict[str, object]:
        return json.loads(
            run_latchkey(self.daemon.setup, "keys", "rotate", "--content", self.content, *options, "--json")
        )

    def keys(self) -> dict[int, dict[str, object]]:
        """The keys by their periods."""
        listed = json.loads(run_latchkey(self.daemon.setup, "keys", "list", "--content", self.content, "--json"))
        return {key["period"]: key for key in listed["keys"]}

    def key(self, period: int) -> ContentKey:
        kid = str(self.keys()[period]["kid"])
        shown = json.loads(run_latchkey(self.daemon.setup, "keys", "show", "--kid", kid, "--reveal", "--json"))
        return ContentKey(uuid.UUID(kid).bytes, bytes.fromhex(shown["key"]), bytes.fromhex(shown["iv"]))

    def ask(self, kid: str, client: LicenseClient | None = None) -> Answer:
        message = device_for(self.deployment.credential, 1).request(SPCOptions(f"skd://{kid}".encode())).message
        return (client or self.deployment.client).license(message, self.token)

    def served(self) -> set[int]:
        """The periods whose key a player gets. A request for any other period is refused as if it had no key."""
        served = set()
        for period, key in self.keys().items():
            answer = self.ask(str(key["kid"]))
            assert answer.status == 200 or (answer.status, answer.code) == (404, "key_not_found"), answer
            if answer.status == 200:
                served.add(period)
        return served

    def await_served(self, expected: set[int]) -> None:
        """Waits until exactly these periods are served, because nodes cache the periods for a few seconds."""
        deadline = time.monotonic() + MEMORY_SECONDS
        while (served := self.served()) != expected:
            assert time.monotonic() < deadline, served
            time.sleep(0.2)
        assert served == expected

    def log(self, event: str) -> list[dict[str, object]]:
        lines = (json.loads(line) for line in self.daemon.log.read_text().splitlines() if line.startswith("{"))
        return [line for line in lines if line["event"] == event]


def reveals(setup: Path) -> None:
    file = setup / "latchkey.json5"
    file.write_text(file.read_text().replace("keys: {", "keys: { allowReveal: true,", 1))


@pytest.fixture
def live(latchkey_programs: None, tmp_path: Path) -> Iterator[Live]:
    with running_daemon(tmp_path, prepare=reveals) as daemon:
        deployment = deployment_of(daemon.url, daemon.setup)
        token = run_latchkey(daemon.setup, "token", "mint", "--content", "news").strip()
        yield Live(daemon, deployment, "news", token)


def ago(seconds: float) -> str:
    return datetime.fromtimestamp(time.time() - seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def test_the_window_decides_which_periods_are_served(live: Live) -> None:
    for period in range(1, 10):
        live.rotate("--track", "SD", "--period", str(period))
    # Without times the newest period counts as the next one.
    live.await_served({7, 8, 9})
    refused = live.ask(str(live.keys()[3]["kid"]))
    assert refused.problem["detail"] == "The key's period of the live content is not served any more."
    live.daemon.await_log("period 3 has left the window of news: current 8, window 0")
    live.rotate("--window", "4", "--no-keys")
    live.await_served({4, 5, 6, 7, 8, 9})
    # Each period has its own key, and a license has the key of its period.
    answers = {period: live.key(period) for period in (4, 9)}
    assert answers[4].key != answers[9].key and answers[4].iv != answers[9].iv
    for key in answers.values():
        request = device_for(live.deployment.credential, 1).request(
            SPCOptions(f"skd://{uuid.UUID(bytes=key.key_id)}".encode())
        )
        live.deployment.open(live.deployment.client.license(request.message, live.token), request.secrets, key)


def test_a_schedule_decides_which_period_is_the_current_one(live: Live, tmp_path: Path) -> None:
    for period in range(1, 6):
        live.rotate("--track", "SD", "--track", "AUDIO", "--period", str(period))
    # Period 5 began 2.5 hours ago, so period 7 is the current one.
    made = live.rotate("--every", "1h", "--window", "2", "--start", ago(2.5 * HOUR))
    assert made["current"] == 7
    assert [(key["period"], key["track"]) for key in made["keys"]] == [
        (7, "AUDIO"), (7, "SD"), (8, "AUDIO"), (8, "SD"),
    ]
    assert all(key["url"] == f"skd://{key['kid']}" for key in made["keys"])
    # An operator imports the key of a period that is far ahead.
    ahead = tmp_path / "ahead.csv"
    ahead.write_text(f"kid,content,key,iv,period\n{uuid.uuid4()},news,{'1' * 32},{'2' * 32},9\n")
    run_latchkey(live.daemon.setup, "keys", "import", "--file", str(ahead))
    live.await_served({5, 7, 8})
    live.daemon.await_log("period 9 of news is not due yet: current 7")
    # Repeating the command changes nothing.
    again = live.rotate("--every", "1h", "--window", "2")
    assert again["keys"] == [] and again["schedule"] == made["schedule"]


def test_a_content_that_never_rotated_is_served_as_before(live: Live, tmp_path: Path) -> None:
    keys = tmp_path / "keys.csv"
    rows = "".join(f"{uuid.uuid4()},news,{period:032x},{period + 100:032x},{period}\n" for period in (1, 2, 50))
    keys.write_text(f"kid,content,key,iv,period\n{rows}")
    run_latchkey(live.daemon.setup, "keys", "import", "--file", str(keys))
    assert live.served() == {1, 2, 50}


def test_the_daemon_makes_periods_ahead_and_writes_down_that_it_did(live: Live) -> None:
    # The next period begins in less than the half minute by which the daemon is ahead.
    begin = time.monotonic()
    made = live.rotate("--every", "60s", "--start", ago(40), "--track", "SD")
    assert [key["period"] for key in made["keys"]] == [1, 2]
    # Period 3 begins 80 seconds later.
    deadline = begin + 79
    while 3 not in live.keys():
        assert time.monotonic() < deadline, live.keys()
        time.sleep(0.2)
    live.daemon.await_log('"period_made"')
    entries = json.loads(
        run_latchkey(live.daemon.setup, "ledger", "query", "--content", "news", "--json")
    )["entries"]
    rows = [(entry["kind"], entry["detail"], str(entry["actor"]).partition(":")[0]) for entry in reversed(entries)]
    assert rows[0][0] == "rotation_set" and rows[0][2] == "user"
    assert [row for row in rows if row[0] == "key_created"][:3] == [
        ("key_created", "period 1", "user"), ("key_created", "period 2", "user"), ("key_created", "period 3", "node"),
    ]
    metrics = live.daemon.metrics()
    assert metrics["latchkey_live_contents"] == 1
    assert metrics["latchkey_live_contents_without_next_period"] == 0
    live.rotate("--end")
    deadline = time.monotonic() + KEEPER_SECONDS
    while live.daemon.metrics()["latchkey_live_contents"] > 0:
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_many_players_get_the_new_key_at_the_boundary(live: Live) -> None:
    """The key exists before its period begins, and all players request it at the same time."""
    live.rotate("--track", "SD", "--period", "1")
    next_key = live.rotate("--period", "2")["keys"][0]["kid"]

    def player(_: int) -> list[int]:
        client = LicenseClient(live.daemon.url)
        statuses = [live.ask(next_key, client).status for _ in range(PLAYERS // CLIENTS)]
        client.close()
        return statuses

    with ThreadPoolExecutor(CLIENTS) as pool:
        statuses = [status for player_statuses in pool.map(player, range(CLIENTS)) for status in player_statuses]
    assert len(statuses) == PLAYERS and set(statuses) == {200}


# --- Several nodes ----------------------------------------------------------------------------------------------------

CONTENTS = 24
TRACKS = ("SD", "AUDIO")


@pytest.fixture
def nodes(latchkey_programs: None, tmp_path: Path) -> Iterator[list[Node]]:
    """Two nodes over PostgreSQL that both make periods."""
    if "LATCHKEY_POSTGRESQL" not in os.environ:
        pytest.skip("LATCHKEY_POSTGRESQL names no server: Scripts/with-postgresql Scripts/test-interop starts one")
    nodes = nodes_on_one_database(tmp_path, 2)
    for node in nodes:
        node.start()
    yield nodes
    for node in nodes:
        if node.process is not None and node.process.poll() is None:
            assert stop_daemon(node.process) == 0


def scheduled(node: Node, content: str) -> None:
    """Makes a content whose current and next period exist. A keeper must make the period after them immediately."""
    tracks = [option for track in TRACKS for option in ("--track", track)]
    run_latchkey(
        node.setup, "keys", "rotate", "--content", content, "--every", "60s", "--start", ago(40), *tracks, "--json"
    )


def names_of_keys(node: Node, content: str) -> list[tuple[int, str, str]]:
    listed = json.loads(run_latchkey(node.setup, "keys", "list", "--content", content, "--json"))
    return sorted((key["period"], key["track"], key["kid"]) for key in listed["keys"])


def listed_by_all(nodes: list[Node], content: str) -> list[tuple[int, str, str]]:
    """The keys of a content when all nodes list the same ones, with all tracks. A keeper may be making keys."""
    deadline = time.monotonic() + KEEPER_SECONDS
    while True:
        first, *others = (names_of_keys(node, content) for node in nodes)
        counts = Counter(period for period, _, _ in first)
        if others == [first] * len(others) and set(counts.values()) == {len(TRACKS)}:
            return first
        assert time.monotonic() < deadline, (first, others)


def awaited(is_there: Callable[[], bool]) -> None:
    deadline = time.monotonic() + KEEPER_SECONDS
    while not is_there():
        assert time.monotonic() < deadline
        time.sleep(0.2)


@pytest.mark.slow
def test_several_nodes_make_each_key_once_and_go_on_alone(nodes: list[Node]) -> None:
    contents = [f"live-{number}" for number in range(CONTENTS)]
    for content in contents:
        scheduled(nodes[0], content)
    # Both keepers work at the same time, and each tries to make all periods.
    awaited(lambda: all((3, "SD") in [key[:2] for key in names_of_keys(nodes[1], content)] for content in contents))
    awaited(lambda: all((3, "AUDIO") in [key[:2] for key in names_of_keys(nodes[1], content)] for content in contents))
    listed = {content: listed_by_all(nodes, content) for content in contents}
    made: Counter[str] = Counter()
    for node in nodes:
        rows = (json.loads(line) for line in run_latchkey(node.setup, "ledger", "export").splitlines())
        made += Counter(row["kid"] for row in rows if row.get("kind") == "key_created")
    for keys in listed.values():
        assert len({(period, track) for period, track, _ in keys}) == len(keys), "no period has two keys of a track"
        assert {period for period, _, _ in keys} >= {1, 2, 3}
        assert [made[kid] for _, _, kid in keys if made[kid] != 1] == []

    # The other node also serves a period that one node has made, from the beginning of the period before it.
    kid = next(kid for period, track, kid in names_of_keys(nodes[0], contents[0]) if (period, track) == (3, "SD"))
    viewer = token(rights=[{"content": contents[0]}])
    for node in nodes:
        awaited(lambda: node.ask(message(node.device(), asset=f"skd://{kid}"), viewer).status == 200)

    # The first node stops, and the other one continues.
    assert nodes[0].process is not None and stop_daemon(nodes[0].process) == 0
    scheduled(nodes[1], "after")
    awaited(lambda: (3, "SD") in [key[:2] for key in names_of_keys(nodes[1], "after")])


# --- Alerts -----------------------------------------------------------------------------------------------------------

SIMPLE = re.compile(r"(?P<name>latchkey_[a-z_]+) (?P<operator>[<>]) (?P<number>\d+)")


def rules() -> list[dict[str, object]]:
    (group,) = yaml.safe_load(ALERTS.read_text())["groups"]
    return group["rules"]


def firing(metrics: dict[str, float]) -> set[str]:
    """The alerts of the file whose condition is true. Only alerts that compare one metric with a number are checked."""
    found = set()
    for rule in rules():
        match = SIMPLE.fullmatch(str(rule["expr"]))
        if match is None:
            continue
        values = [value for name, value in metrics.items() if name.partition("{")[0] == match["name"]]
        assert values, f"no metric {match['name']}"
        limit = float(match["number"])
        if any(value > limit if match["operator"] == ">" else value < limit for value in values):
            found.add(str(rule["alert"]))
    return found


def test_a_sound_daemon_fires_no_alert(live: Live) -> None:
    """Tests/Interop/test_monitoring.py checks the rules themselves."""
    assert sum(SIMPLE.fullmatch(str(rule["expr"])) is not None for rule in rules()) == 3
    assert firing(live.daemon.metrics()) == set()


def test_the_alert_fires_while_the_next_period_cannot_be_made(live: Live) -> None:
    database = sqlite3.connect(live.daemon.setup / "latchkey.db", timeout=10)
    with database:
        database.execute(
            "CREATE TRIGGER no_more_keys BEFORE INSERT ON content_key BEGIN SELECT RAISE(ABORT, 'no more'); END"
        )
    # The schedule is stored, but the keys cannot be stored.
    with pytest.raises(AssertionError, match="period 1 of news"):
        live.rotate("--every", "1h", "--track", "SD")
    expected = {"LatchkeyLivePeriodMissing", "LatchkeyDegraded"}
    deadline = time.monotonic() + KEEPER_SECONDS
    while firing(live.daemon.metrics()) != expected:
        assert time.monotonic() < deadline, firing(live.daemon.metrics())
        time.sleep(0.2)
    metrics = live.daemon.metrics()
    assert metrics["latchkey_live_contents_without_next_period"] == 1
    assert metrics['latchkey_degraded{part="periods"}'] == 1
    live.daemon.await_log('"degraded"')
    # Licenses are still granted.
    assert live.deployment.license(device_for(live.deployment.credential, 1), SPCOptions(live.deployment.asset_id))
    with database:
        database.execute("DROP TRIGGER no_more_keys")
    database.close()
    deadline = time.monotonic() + KEEPER_SECONDS
    while firing(live.daemon.metrics()):
        assert time.monotonic() < deadline, firing(live.daemon.metrics())
        time.sleep(0.2)
    assert set(live.keys()) == {1, 2}
    # A failure is logged once for each change, not at each pass.
    live.daemon.await_log('"recovered"')
    parts = [line["part"] for line in live.log("degraded") if line["part"] == "periods"]
    assert parts == ["periods"]

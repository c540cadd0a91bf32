"""The alert rules for Prometheus and the dashboard for Grafana: both are valid, name metrics that there are, and each
alert is shown to fire."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard

REPOSITORY = Path(__file__).parents[2]
ALERTS = REPOSITORY / "Config/prometheus-alerts.yaml"
COMPOSE = REPOSITORY / "Config/compose.yaml"
ALERT_TESTS = REPOSITORY / "Tests/Monitoring/prometheus-alerts-test.yaml"
DASHBOARD = REPOSITORY / "Config/grafana-dashboard.json"
ARTICLE = REPOSITORY / "Documentation/operate/runbooks.md"
ERRORS = REPOSITORY / "Documentation/reference/errors.md"
METRICS = REPOSITORY / "Documentation/reference/metrics.md"
PROMTOOL = shutil.which("promtool")

needs_promtool = pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed (Debian package prometheus)")


def promtool(*arguments: str) -> str:
    ended = subprocess.run([str(PROMTOOL), *arguments], capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def rules(kind: str) -> dict[str, dict[str, object]]:
    groups = yaml.safe_load(ALERTS.read_text())["groups"]
    return {rule[kind]: rule for group in groups for rule in group["rules"] if kind in rule}


def alerts() -> dict[str, dict[str, object]]:
    return rules("alert")


def panels() -> list[dict[str, object]]:
    return [panel for panel in json.loads(DASHBOARD.read_text())["panels"] if panel["type"] != "row"]


def expressions() -> list[str]:
    """The expressions of the dashboard with values in place of its variables."""
    found = [target["expr"] for panel in panels() for target in panel["targets"]]
    return [e.replace("$__rate_interval", "5m").replace("$job", "latchkey").replace("$instance", ".*") for e in found]


def metric_names(expression: str) -> set[str]:
    names = re.findall(r"\b(?:latchkey|process)_[a-z0-9_]+\b", expression)
    return {name.removesuffix("_bucket").removesuffix("_sum") for name in names}


@needs_promtool
def test_the_rules_are_valid() -> None:
    assert f"{len(alerts()) + len(rules('record'))} rules found" in promtool("check", "rules", str(ALERTS))


@needs_promtool
def test_prometheus_reads_its_configuration_in_the_file_for_compose(tmp_path: Path) -> None:
    secret = tmp_path / "metrics-token"
    secret.write_text("secret")
    text = yaml.safe_load(COMPOSE.read_text())["configs"]["prometheus"]["content"]
    (tmp_path / "latchkey-alerts.yaml").write_text(ALERTS.read_text())
    (tmp_path / "prometheus.yml").write_text(text.replace("/run/secrets/metrics-token", str(secret)))
    said = promtool("check", "config", str(tmp_path / "prometheus.yml"))
    assert f"{len(alerts()) + len(rules('record'))} rules found" in said


@needs_promtool
def test_each_alert_fires_and_a_healthy_node_fires_none() -> None:
    assert "SUCCESS" in promtool("test", "rules", str(ALERT_TESTS))


def test_each_alert_has_a_test_in_which_it_fires() -> None:
    cases = yaml.safe_load(ALERT_TESTS.read_text())["tests"]
    fired = {
        name
        for case in cases
        for check in case.get("promql_expr_test", [])
        for sample in check["exp_samples"]
        for name in re.findall(r'alertname="([^"]+)"', sample["labels"])
    }
    assert fired == set(alerts())
    assert all(case.get("interval") for case in cases), "promtool evaluates nothing without an interval"


def test_each_alert_says_what_to_do() -> None:
    place = runpy.run_path(str(REPOSITORY / "Scripts/package-documents"))["place"]
    article = "/usr/share/doc/latchkey/" + place(str(ARTICLE.relative_to(REPOSITORY)))
    for name, rule in alerts().items():
        assert rule["labels"]["severity"] in ("warning", "critical"), name
        assert rule["annotations"]["summary"] and rule["annotations"]["description"], name
        assert rule["annotations"]["runbook_url"] == f"{article}#{name.lower()}"
    sections = re.findall(r"^## (Latchkey\w+)$", ARTICLE.read_text(), re.MULTILINE)
    assert sections == list(alerts()), "the article has a section for each alert, in the same order"


def test_faults_of_the_server_are_those_that_the_article_errors_answers_with_5xx() -> None:
    counted = re.search(r'code=~"([^"]+)"', str(alerts()["LatchkeyServerFaults"]["expr"]))
    assert counted
    codes = dict(re.findall(r"^\| \[`(\w+)`\]\S* \| (\d{3})", ERRORS.read_text(), re.MULTILINE))
    assert len(codes) > 50
    faults = {code for code, status in codes.items() if status.startswith("5")}
    matched = {code for code in codes if re.fullmatch(counted[1], code)}
    # These are about the HTTP request, and not about a license.
    assert matched == faults - {"not_implemented", "version_not_supported"}, matched ^ faults


def test_refusals_that_anyone_can_cause_count_for_no_share() -> None:
    excluded = re.search(r'code!~"([^"]+)"', str(rules("record")["latchkey:license_requests:rate5m"]["expr"]))
    assert excluded
    codes = set(re.findall(r"^\| \[`(\w+)`\]\S* \| \d{3}", ERRORS.read_text(), re.MULTILINE))
    assert {code for code in codes if re.fullmatch(excluded[1], code)} == {
        "token_missing", "token_ambiguous", "token_malformed", "token_alg", "token_signature", "kid_unknown",
        "kid_revoked", "body_empty", "body_unrecognised", "body_too_large", "bad_request", "request_invalid",
        "request_timeout", "rate_limited",
    }


def test_alerts_and_dashboard_name_metrics_that_there_are() -> None:
    known = set(re.findall(r"`((?:latchkey|process)_[a-z0-9_]+)`", METRICS.read_text()))
    used = {name for rule in [*alerts().values(), *rules("record").values()]
            for name in metric_names(str(rule["expr"]))}
    used |= {name for expression in expressions() for name in metric_names(expression)}
    assert used and used <= known, used - known


def lost(written: object, read: object, path: str = "") -> list[str]:
    """What the models of Grafana do not know of a dashboard."""
    if isinstance(written, dict) and isinstance(read, dict):
        return [e for k in written for e in (lost(written[k], read[k], f"{path}/{k}") if k in read else [f"{path}/{k}"])]
    if isinstance(written, list) and isinstance(read, list) and len(written) == len(read):
        return [e for i, (w, r) in enumerate(zip(written, read)) for e in lost(w, r, f"{path}/{i}")]
    return [] if written == read else [path]


def test_the_dashboard_fits_the_schema_of_grafana() -> None:
    register_default_plugins()
    written = json.loads(DASHBOARD.read_text())
    read = json.loads(JSONEncoder(sort_keys=True).encode(Dashboard.from_json(written)))
    assert lost(written, read) == []
    written["panels"][1]["targets"][0]["expresion"] = "a misspelled member"
    read = json.loads(JSONEncoder(sort_keys=True).encode(Dashboard.from_json(written)))
    assert lost(written, read) == ["/panels/1/targets/0/expresion"], "the comparison finds what is not in the schema"


def test_the_panels_have_places_of_their_own() -> None:
    taken: set[tuple[int, int]] = set()
    ids = [panel["id"] for panel in panels()]
    assert len(set(ids)) == len(ids)
    for panel in panels():
        place = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not cells & taken and place["x"] + place["w"] <= 24, panel["title"]
        taken |= cells


@needs_promtool
def test_each_expression_of_the_dashboard_is_valid(tmp_path: Path) -> None:
    rules = [{"record": f"test:{number}", "expr": expression} for number, expression in enumerate(expressions())]
    file = tmp_path / "rules.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))
    assert f"{len(rules)} rules found" in promtool("check", "rules", str(file))

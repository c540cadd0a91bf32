"""What players say of themselves in Common Media Client Data (CTA-5004) leads to their licenses and refusals."""

import json
import re
from collections.abc import Iterator

import pytest

from deployment import run_latchkey
from fairplay_device.spc import SPCOptions, device_for
from license_client import LICENSE_PATH
from openapi_lab import Lab, running_lab

SESSION = "6e2fb550-c457-11e9-bb97-0800200c9a66"
CMCD = f'cid="film-7",sf=h,sid="{SESSION}",v=1'


@pytest.fixture(scope="module")
def lab(latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with running_lab(tmp_path_factory.mktemp("cmcd")) as lab:
        yield lab


def test_the_players_names_lead_to_its_license_and_its_refusal(lab: Lab) -> None:
    message = device_for(lab.deployment.credential, 2).request(SPCOptions(lab.deployment.asset_id)).message
    good = lab.ask(
        "POST", LICENSE_PATH, message, authorization=f"Bearer {lab.deployment.token}", CMCD_Session=CMCD
    )
    assert good.status == 200
    license = good.header("X-License-Id")
    rows = [json.loads(line) for line in run_latchkey(lab.daemon.setup, "ledger", "export").splitlines()]
    (row,) = [row for row in rows if row["license"] == license]
    assert row["cmcdContent"] == "film-7" and re.fullmatch("[0-9a-f]{32}", row["cmcdSession"])
    refused = lab.ask("POST", LICENSE_PATH, b"-", {"CMCD": CMCD})
    assert refused.status == 401
    report = json.loads(
        run_latchkey(
            lab.daemon.setup, "why", str(refused.header("X-Request-Id")), "--json", "--server", lab.admin_url,
        )
    )  # fmt: skip
    assert (report["cmcd_session"], report["cmcd_content"]) == (row["cmcdSession"], "film-7")
    assert SESSION not in json.dumps([rows, report]), "a session is written as a pseudonym"


@pytest.mark.parametrize("content", [SESSION, f"https://a.example/?s={SESSION}", "TOKEN"])
def test_a_content_that_tells_a_secret_is_left_out(content: str, lab: Lab) -> None:
    content = content.replace("TOKEN", lab.deployment.token[:100])
    refused = lab.ask("POST", LICENSE_PATH, b"-", CMCD_Session=f'cid="{content}",sid="{SESSION}"')
    rid = str(refused.header("X-Request-Id"))
    report = json.loads(run_latchkey(lab.daemon.setup, "why", rid, "--json", "--server", lab.admin_url))
    assert report["cmcd_session"] and "cmcd_content" not in report
    assert content not in lab.daemon.log.read_text()


def test_a_wrong_query_has_the_players_names(lab: Lab) -> None:
    refused = lab.ask("POST", LICENSE_PATH, b"-", {"format": "zzz"}, CMCD_Session=CMCD)
    assert (refused.status, refused.code) == (400, "request_invalid")
    rid = str(refused.header("X-Request-Id"))
    report = json.loads(run_latchkey(lab.daemon.setup, "why", rid, "--json", "--server", lab.admin_url))
    assert report["cmcd_content"] == "film-7"


@pytest.mark.parametrize("bad", ['sid="a', "sid=a", 'sid="a",sid="b"', "\x7f", "a," * 1500])
def test_bad_cmcd_refuses_no_license(lab: Lab, bad: str) -> None:
    message = device_for(lab.deployment.credential, 2).request(SPCOptions(lab.deployment.asset_id)).message
    bearer = f"Bearer {lab.deployment.token}"
    answer = lab.ask("POST", LICENSE_PATH, message, {"CMCD": bad}, authorization=bearer)
    assert answer.status == 200

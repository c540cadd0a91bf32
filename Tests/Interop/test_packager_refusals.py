"""Why a packager was refused: what `latchkey why`, the log and the metrics say of it, and that none of them has a secret."""

import base64
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from license_client import Answer
from own_daemon import OwnDaemon
from packagers import Request, vector
from test_packagers_access import SECRET, KeyServer, bearer, guarded, material  # noqa: F401  (fixtures)
from test_speke import ENCRYPTED, Lab, running_lab
from tls_material import KeyPair

CLEAR = "v2_vod_fairplay_video_audio"
WRONG = "wrong-secret-of-nobody"


@pytest.fixture(scope="module")
def lab(latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with running_lab(tmp_path_factory.mktemp("refusals")) as running:
        yield running


def why(daemon: OwnDaemon, request_id: str | None) -> dict[str, str]:
    """What `latchkey why` says, in both forms."""
    host, port = daemon.admin
    words = [
        os.environ["LATCHKEY_BIN"], "why", str(request_id), "--config", str(daemon.setup / "latchkey.json5"),
        "--server", f"http://{host}:{port}",
    ]  # fmt: skip
    text, report = (
        subprocess.run([*words, *more], capture_output=True, text=True, timeout=30, check=True).stdout
        for more in ([], ["--json"])
    )
    found = json.loads(report)
    assert isinstance(found, dict) and found["request_id"] == request_id
    for member in ("code", "explanation", "remedy", "found", "expected"):
        assert found[member] in text, f"{member}: {text}"
    return found


def line_of(daemon: OwnDaemon, request_id: str) -> dict[str, str]:
    daemon.await_log(request_id)
    lines = daemon.log.read_text().rpartition("\n")[0].splitlines()
    (line,) = [json.loads(line) for line in lines if request_id in line]
    return line


def rate(lab: Lab) -> Answer:
    answers = [lab.post(vector(CLEAR), name="slow") for _ in range(3)]
    return next(answer for answer in answers if answer.status == 429)


# The request, its status, and what must be told of it: the packager, the content, found and expected.
REFUSALS: dict[str, tuple[Callable[[Lab], Answer], int, str | None, str | None, str, str]] = {
    "content": (
        lambda lab: lab.post(vector(CLEAR), name="narrow"), 403, "narrow", "movie-001", "content movie-001",
        "contents: live/*",
    ),
    "scope": (
        lambda lab: lab.post(Request(content="scoped").document(), name="reader"), 403, "reader", "scoped",
        "the scopes: read", "the scope create",
    ),
    "recipient": (
        lambda lab: lab.post(vector(ENCRYPTED), name="unpinned"), 403, "unpinned", "movie-001",
        "a certificate with sha256 ", "pinned: none",
    ),
    "delivery in the clear": (
        lambda lab: lab.post(vector(CLEAR), name="strict"), 403, "strict", "movie-001",
        "a request for keys in the clear", "a DeliveryDataList with: sha256 ",
    ),
    "rate": (rate, 429, "slow", None, "too many requests of the packager slow", "at most 1 a second, 1 at once"),
    "disabled": (
        lambda lab: lab.post(vector(CLEAR), name="retired"), 401, "retired", None,
        "a credential of retired, which is disabled", "disabled: false",
    ),
    "document": (
        lambda lab: lab.post(vector("neg_fairplay_cenc")), 422, "main", "movie-001",
        "DRMSystem 94ce86fb-07ff-4f43-adb8-93d2fa968ca2", "cbcs or SAMPLE-AES with FairPlay",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_one_command_names_cause_values_and_remedy(lab: Lab, name: str) -> None:
    ask, status, packager, content, found, expected = REFUSALS[name]
    answer = ask(lab)
    assert answer.status == status, f"{answer.status} {answer.body!r}"
    request_id = answer.header("X-Request-Id") or ""
    for told in (why(lab.daemon, request_id), line_of(lab.daemon, request_id)):
        assert told["event"] == "packager_refused" and told["code"] == answer.header("X-Error-Code")
        assert told["listener"] == "public" and told["client"] == "127.0.0.0/24"
        assert told.get("credential") == f"packager:{packager}" and told.get("content") == content
        assert told["found"].startswith(found) and told["expected"].startswith(expected), told
    counted = f'latchkey_refusals_total{{code="{told["code"]}",issuer="none",credential="packager:{packager}"}}'
    assert lab.daemon.metrics()[counted] >= 1


@pytest.mark.parametrize(
    ("authorization", "found"),
    [
        (None, "no Authorization, no x-api-key and no client certificate"),
        (f"Bearer {WRONG}", "a secret without a user name"),
        (f"Basic {base64.b64encode(f'main:{WRONG}'.encode()).decode()}", "a secret for the user main"),
        (f"Basic {base64.b64encode(f'{WRONG}:x'.encode()).decode()}", "a secret for a user name that no packager has"),
        (WRONG, "an Authorization or x-api-key that is not readable"),
    ],
)
def test_a_wrong_credential_is_described_and_never_told(lab: Lab, authorization: str | None, found: str) -> None:
    client = lab.packager().client
    try:
        headers = {"Content-Type": "application/json"} | ({"Authorization": authorization} if authorization else {})
        answer = client.send("POST", "/v1/keys", b"{}", headers)
    finally:
        client.close()
    assert answer.code == "packager_invalid"
    told = why(lab.daemon, answer.header("X-Request-Id"))
    assert told["found"].startswith(found) and "main" in told["expected"]
    assert "credential" not in told, "no packager is known"
    log = lab.daemon.log.read_text()
    for secret in (WRONG, WRONG[6:], base64.b64encode(WRONG.encode()).decode()[:16]):
        assert secret not in log and secret not in json.dumps(told)


def test_a_wrong_certificate_is_named_by_its_fingerprint(
    guarded: KeyServer, material: dict[str, KeyPair]  # noqa: F811
) -> None:
    answer = guarded.order({}, certificate=material["unknown"])
    assert answer.status_code == 401
    told = why(guarded.daemon, answer.headers["X-Request-Id"])
    assert told["found"].startswith("the client certificate sha256 ") and "CN=unknown" in told["found"]
    assert "CN=by-subject of first" in told["expected"]
    beside = guarded.order(bearer(SECRET[:-1]), certificate=material["unknown"])
    told = why(guarded.daemon, beside.headers["X-Request-Id"])
    assert told["found"].startswith("a secret without a user name and the client certificate sha256 ")
    assert told["expected"].startswith("the secret or the certificate of one packager: first, second")

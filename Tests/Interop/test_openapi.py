"""The description of the API against the daemon that serves it, in both directions.

Each operation is asked with good credentials and a good request, and must answer as the description says; then
schemathesis makes requests of the description, good and bad ones, with credentials and without. No answer may have a
status, a field, a media type or a body that the description lacks, and none may be a fault of the server.

LATCHKEY_TEST_API_EXAMPLES sets how many random requests each operation gets (4, or 15 in the long form): 500 is a
long run. The phase "coverage", which tries the limits of each schema one by one, takes most of the time. In the short
form it only runs with credentials: without them most operations answer 401 and read nothing of the request.
"""

import base64
import json
import os
import plistlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from openapi_spec_validator import validate

import expressplay
import tokens
from admin_events import EVENTS_PATH, reading_events
from fairplay_device import tags
from fairplay_device.facts import PlaybackState, SyncV2
from fairplay_device.spc import SPCOptions, device_for
from lengths import IS_LONG, inputs
from license_client import Answer, LicenseClient
from openapi_lab import DESCRIPTION_PATH, METHODS, Description, Lab, new_content, new_message_id, running_lab
from own_daemon import installed_programs
from packagers import Request, vector
from secret_watch import WATCH

EXAMPLES_VARIABLE = "LATCHKEY_TEST_API_EXAMPLES"
EXAMPLES = inputs(short=4, long=15)
PHASES = ("examples", "coverage", "fuzzing")
# A run that hangs is ended; a long one takes longer.
RUN_SECONDS = 540
SUBJECT = "viewer-7"
# Allow is compared by the good requests below: with a value that a path cannot have nothing is there, and OPTIONS then
# names every method.
CHECKS = (
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
    "response_schema_conformance", "unsupported_method",
)
LICENSE_PATHS = {
    "/fps/license": {}, "/fps/v1/license": {}, "/fps/license/{kid}": {"kid": "movie"}, "/hms/fp/rights/": {},
    "/fps/v1/license/{kid}": {"kid": "movie"}, "/{prefix}/contentlicenseservice/v1/licenses": {"prefix": "tenant"},
}
CERTIFICATE_PATHS = {
    "/fps/certificate": {}, "/fps/v1/certificate": {},
    "/{prefix}/contentlicenseservice/v1/certificates": {"prefix": "tenant"},
}


@pytest.fixture(scope="module")
def lab(latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("openapi")
    with installed_programs(folder) as documents:
        documents.mkdir(parents=True)
        (documents / "index.html").write_text("<!doctype html>\n")
        with running_lab(folder) as lab:
            yield lab


def message(lab: Lab, version: int = 2, **options: object) -> bytes:
    return device_for(lab.deployment.credential, version).request(SPCOptions(lab.deployment.asset_id, **options)).message


def license(lab: Lab, body: object, path: str = "/fps/license", **options: object) -> Answer:
    at = {name: lab.deployment.content for name in LICENSE_PATHS[path] if name == "kid"}
    at |= {name: value for name, value in LICENSE_PATHS[path].items() if name != "kid"}
    options.setdefault("authorization", f"Bearer {lab.deployment.token}")
    return lab.ask("POST", path, body, at=at, **options)


def counted_token(lab: Lab) -> str:
    """A token of `SUBJECT` for a rental, of which devices and playbacks are counted."""
    header, claims = tokens.header_and_claims(lab.deployment.token)
    own = {
        "sub": SUBJECT,
        "rights": [{"content": lab.deployment.content, "lease": 300, "rental": {"start": "30d", "play": "48h"}}],
        "device": {"max": 2},
        "session": {"groups": [{"id": "all", "max": 2}]},
    }
    return tokens.sign_es256(header, claims | own, lab.deployment.signing_key)


# --- The description itself -------------------------------------------------------------------------------------------


def test_both_descriptions_are_valid(lab: Lab) -> None:
    """By openapi-spec-validator, which knows the schema of OpenAPI 3.1."""
    for description in (lab.public, lab.complete):
        validate(description.document)
        assert description.document["openapi"] == "3.1.0"
    paths = lab.complete.document["paths"]
    assert lab.public.document["paths"] == {
        path: item for path, item in paths.items() if "public" in item["x-listeners"]
    }


def test_strangers_see_nothing_of_admin_listeners(lab: Lab) -> None:
    text = json.dumps(lab.public.document)
    own = [path for path, item in lab.complete.document["paths"].items() if item["x-listeners"] == ["admin"]]
    assert {"/metrics", "/v1/explain", "/v1/revocations", "/v1/devices"}.issubset(own)
    # "/" alone is also the value of an example.
    assert not [path for path in own if f'"{path}"' in text and path != "/"] and "/" not in lab.public.document["paths"]
    client = LicenseClient(lab.admin_url)
    try:
        answer = client.send("GET", DESCRIPTION_PATH)
        lab.complete.assert_describes("GET", DESCRIPTION_PATH, answer)
        assert (answer.status, answer.code) == (401, "admin_token_invalid")
    finally:
        client.close()


def test_every_example_fits_its_schema(lab: Lab) -> None:
    count = 0

    def walk(part: object) -> None:
        nonlocal count
        if isinstance(part, list):
            for element in part:
                walk(element)
        elif isinstance(part, dict):
            if "example" in part:
                schema = part.get("schema") or {name: value for name, value in part.items() if name != "example"}
                assert not lab.complete.faults(schema, part["example"]), part
                count += 1
            for name, element in part.items():
                if name != "example":
                    walk(element)

    walk(lab.complete.document)
    assert count > 50


# --- Good requests ----------------------------------------------------------------------------------------------------


def good_answers(lab: Lab) -> Iterator[tuple[str, str, Answer]]:
    """A good request to every operation, with its method and path."""
    for path in LICENSE_PATHS:
        yield "POST", path, license(lab, message(lab), path)
    for path, at in CERTIFICATE_PATHS.items():
        for method in ("GET", "HEAD"):
            yield method, path, lab.ask(method, path, at=at)
    for method in ("GET", "HEAD"):
        for path in ("/livez", "/readyz", DESCRIPTION_PATH):
            yield method, path, lab.ask(method, path)
    token = f"Bearer {lab.deployment.token}"
    yield "POST", "/fps/challenge", lab.ask("POST", "/fps/challenge", authorization=token)
    query = {"assets": [lab.deployment.content]}
    yield "POST", "/fps/licenses/query", lab.ask("POST", "/fps/licenses/query", query, authorization=token)
    yield from good_answers_to_customers(lab)
    yield from good_answers_to_packagers(lab)
    yield from good_answers_to_operators(lab)
    for (method, path), operation in lab.public.operations.items():
        if method == "OPTIONS":
            at = {"kid": "movie", "prefix": "tenant"}
            answer = lab.ask(method, path, at=at, Origin="https://page.example")
            described = {other for other, place in lab.public.operations if place == path}
            assert set(str(answer.header("Allow")).split(", ")) == described
            yield method, path, answer


def good_answers_to_customers(lab: Lab) -> Iterator[tuple[str, str, Answer]]:
    form = {"customerAuthenticator": expressplay.AUTHENTICATOR, "kid": f"^{lab.deployment.content}"}
    path = expressplay.TOKEN_PATH
    yield "GET", path, lab.ask("GET", path, query=form)
    body = expressplay.form({"kid": f"^{lab.deployment.content}"}, expressplay.AUTHENTICATOR).encode()
    yield "POST", path, lab.ask("POST", path, body, **expressplay.FORM)
    question = {
        "messageID": new_message_id(), "version": 1, "requestType": 1, "contentID": lab.deployment.content,
    }
    path = expressplay.SEES_PATH
    yield "POST", path, lab.ask("POST", path, question, authorization=f"Bearer {expressplay.SEES_AUTHENTICATOR}")


def good_answers_to_packagers(lab: Lab) -> Iterator[tuple[str, str, Answer]]:
    fields = {"authorization": lab.packager, "Content_Type": "application/xml"}
    for path, version, document in (
        ("/speke", "2.0", Request().document()),
        ("/speke", None, vector("v1_vod_fairplay")),
        ("/speke/v1.0/copyProtection", None, vector("v1_vod_fairplay")),
        ("/speke/v2.0/copyProtection", "2.0", Request().document()),
        ("/speke/v2.1/copyProtection", "2.1", Request(version="2.4").document()),
    ):
        named = {"X_Speke_Version": version} if version else {}
        yield "POST", path, lab.ask("POST", path, document, **fields, **named)
    for method in ("GET", "HEAD"):
        path = "/speke/v1.0/heartbeat"
        yield method, path, lab.ask(method, path, authorization=lab.packager)
    content = new_content()
    order = {"contentId": content, "tracks": ["HD", {"track": "AUDIO", "hdcp": "type0"}]}
    yield "POST", "/v1/keys", lab.ask("POST", "/v1/keys", order, authorization=lab.packager)
    for method in ("GET", "HEAD"):
        path = "/v1/keys/{contentId}"
        yield method, path, lab.ask(method, path, at={"contentId": content}, authorization=lab.packager)
    formats = lab.complete.document["components"]["parameters"]["KeyFormat"]["schema"]["enum"]
    for name in formats:
        query = {"format": name, "track": "HD"}
        answer = lab.ask("GET", path, query=query, at={"contentId": content}, authorization=lab.packager)
        yield "GET", path, answer


def good_answers_to_operators(lab: Lab) -> Iterator[tuple[str, str, Answer]]:
    admin = f"Bearer {lab.admin_token}"
    refused = license(lab, b"\x00", authorization="Bearer none")
    assert refused.status == 401
    issuer = str(tokens.header_and_claims(lab.deployment.token)[1]["iss"])
    subject = {"subject": SUBJECT, "issuer": issuer}
    yield from good_answers_to_browsers(lab)
    order = {"kind": "sub", "value": "viewer-8", "issuer": issuer, "until": "2999-01-01T00:00:00Z", "reason": "a test"}
    yield "POST", "/v1/revocations", lab.ask("POST", "/v1/revocations", order, authorization=admin)
    rented = counted_token(lab)
    state = PlaybackState(1_700_000_000, tags.READY_TO_START, 1)
    assert license(lab, message(lab, playback_state=state), authorization=f"Bearer {rented}").status == 200
    for method in ("GET", "HEAD"):
        page = lab.ask(method, "/")
        yield method, "/", page
        yield method, "/", lab.ask(method, "/", If_None_Match=str(page.header("ETag")))
        for file in ("main.js", "theme.css", "favicon.svg", "index.html"):
            yield method, "/page/{file}", lab.ask(method, "/page/{file}", at={"file": file})
        yield method, "/help/{file}", lab.ask(method, "/help/{file}", at={"file": "index.html"})
        yield method, "/metrics", lab.ask(method, "/metrics", authorization=admin)
        yield method, "/v1/revocations", lab.ask(method, "/v1/revocations", authorization=admin)
        at = {"requestId": str(refused.header("X-Request-Id"))}
        path = "/v1/refusals/{requestId}"
        yield method, path, lab.ask(method, path, at=at, authorization=admin)
        for kind in ("devices", "playbacks", "rentals"):
            answer = lab.ask(method, f"/v1/{kind}", query=subject, authorization=admin)
            assert method == "HEAD" or json.loads(answer.body)[kind], f"no {kind}"
            yield method, f"/v1/{kind}", answer
        for path, query in (
            ("/v1/status", None), ("/v1/history", {"since": "1"}), ("/v1/device-kinds", None),
            ("/v1/refusals", {"code": "token_malformed"}), ("/v1/ledger", subject | {"limit": "3"}),
            ("/v1/contents", {"prefix": "m"}),
        ):
            yield method, path, lab.ask(method, path, query=query, authorization=admin)
        at = {"contentId": lab.deployment.content}
        path = "/v1/contents/{contentId}/keys"
        yield method, path, lab.ask(method, path, at=at, authorization=admin)
    yield "HEAD", EVENTS_PATH, lab.ask("HEAD", EVENTS_PATH, authorization=admin)
    with reading_events(lab.admin_url, lab.admin_token) as events:
        name, _ = events.next()
        assert name == "status"
        lab.complete.assert_describes("GET", EVENTS_PATH, events.answer)
        yield "GET", EVENTS_PATH, events.answer
    for kind in ("devices", "playbacks", "rentals"):
        answer = lab.ask("DELETE", f"/v1/{kind}", query=subject | {"all": "true"}, authorization=admin)
        yield "DELETE", f"/v1/{kind}", answer
    spc = base64.b64encode(message(lab)).decode()
    for question in ({"token": rented, "spc": spc, "country": "DE"}, {"token": "none"}, {"token": lab.deployment.token}):
        yield "POST", "/v1/explain", lab.ask("POST", "/v1/explain", question, authorization=admin)
    query = {"kind": "sub", "value": "viewer-8", "issuer": issuer}
    yield "DELETE", "/v1/revocations", lab.ask("DELETE", "/v1/revocations", query=query, authorization=admin)
    for path in ("/v1/drain", "/v1/ready"):
        yield "POST", path, lab.ask("POST", path, authorization=admin)


def good_answers_to_browsers(lab: Lab) -> Iterator[tuple[str, str, Answer]]:
    """A session of an operator, whose cookie and form token are secrets."""
    for method in ("GET", "HEAD"):
        yield method, "/v1/whoami", lab.ask(method, "/v1/whoami", authorization=f"Bearer {lab.admin_token}")
    begun = lab.ask("POST", "/v1/session", {"token": lab.admin_token})
    yield "POST", "/v1/session", begun
    fields = {
        "Cookie": str(begun.header("Set-Cookie")).partition(";")[0],
        "X_Latchkey_Form": str(json.loads(begun.body)["formToken"]),
    }
    for name, value in fields.items():
        WATCH.note_text(name, value.rpartition("=")[2])
    assert json.loads(lab.ask("GET", "/v1/whoami", **fields).body)["kind"] == "session"
    foreign = fields | {"X_Latchkey_Form": "0"}
    assert lab.ask("DELETE", "/v1/session", **foreign).code == "admin_origin_refused"
    yield "DELETE", "/v1/session", lab.ask("DELETE", "/v1/session", **fields)
    assert lab.ask("POST", "/v1/session", b"token", Content_Type="text/plain").status == 415


def test_every_operation_answers_a_good_request_as_described(lab: Lab) -> None:
    """None is left out, so a route that is added needs a good request here."""
    asked = set()
    for method, path, answer in good_answers(lab):
        assert answer.status in (200, 204, 304), f"{method} {path}: {answer}"
        asked.add((method, path))
    assert asked == set(lab.complete.operations)


def test_every_shape_of_a_license_is_described(lab: Lab) -> None:
    def text() -> str:
        return base64.b64encode(message(lab)).decode()

    names = lab.complete.document["components"]["schemas"]["LicenseObject"]["properties"]
    bodies: list[tuple[object, dict[str, str]]] = [
        (text().encode(), {"Content_Type": "text/plain"}),
        (f"spc={text()}".encode(), dict(Content_Type="application/x-www-form-urlencoded")),
        ({"getFairplayLicense": {"spcMessage": text()}}, {}),
        ([{"keyID": "1", "payload": text()}, {"keyID": "2", "payload": "AAAA"}], {}),
        ({"fairplay-streaming-request": {"streaming-keys": [{"id": 1, "spc": text()}, {"spc": "AAAA"}]}}, {}),
        (
            b'--b\r\nContent-Disposition: form-data; name="spc"\r\n\r\n' + message(lab) + b"\r\n--b--\r\n",
            {"Content_Type": "multipart/form-data; boundary=b"},
        ),
        (plistlib.dumps([{"PlaybackSessionID": "one"}]), {"Content_Type": "application/x-plist"}),
    ]
    hints = {"assetId", "contentId", "uri", "token"}
    bodies += [({name: text()}, {}) for name in names if name not in hints]
    for body, fields in bodies:
        answer = license(lab, body, **fields)
        assert answer.status == 200, f"{body!r}: {answer}"
    formats = lab.complete.document["components"]["parameters"]["Format"]["schema"]["enum"]
    assert len(formats) == 6
    for name in formats:
        assert license(lab, message(lab), query={"format": name}).status == 200
    kept = SyncV2(0, tags.SYNC_REPORT | tags.SYNC_TITLE_ID_VALID, bytes(range(16)), 3600)
    stopped = PlaybackState(1_700_000_000, tags.PLAYBACK_STOPPED, 1)
    lease = f"Bearer {lab.token('--lease', '300')}"
    for options in ({"sync": kept}, {"playback_state": stopped}):
        answer = license(lab, message(lab, **options), authorization=lease)
        assert answer.status == 200 and answer.header("Content-Type") == "application/json"
    for name, kind in (("raw", "octet-stream"), ("base64", "plain"), ("pem", "pem-file"), ("json", "json")):
        answer = lab.ask("GET", "/fps/certificate", query={"format": name})
        assert answer.status == 200 and kind in str(answer.header("Content-Type"))
    tag = str(lab.ask("GET", "/fps/certificate").header("ETag"))
    assert lab.ask("GET", "/fps/certificate", If_None_Match=tag).status == 304


def test_refusals_of_each_manner_are_described(lab: Lab) -> None:
    """`ask` compares each answer with the description."""
    nagra = {"nv_authorizations": lab.deployment.token}
    assert license(lab, b"", authorization=None, **nagra).problem["errorCode"] == 1001
    assert license(lab, b"", authorization=None).status == 401
    assert license(lab, b"", "/{prefix}/contentlicenseservice/v1/licenses").problem["errorCode"] == 1001
    assert license(lab, b"", "/hms/fp/rights/").body.startswith(b"<!DOCTYPE html>")
    assert "errorCode" in license(lab, b"", "/hms/fp/rights/", Accept="application/json").problem
    path = expressplay.TOKEN_PATH
    assert lab.ask("GET", path, query={"errorFormat": "json"}).problem["errorCode"] == -2017
    assert lab.ask("POST", path, b"x" * 20_000).status == 413
    sees = f"Bearer {expressplay.SEES_AUTHENTICATOR}"
    assert lab.ask("POST", expressplay.SEES_PATH, {}, authorization=sees).problem["isAllowed"] is False
    assert lab.ask("POST", expressplay.SEES_PATH, {}).status == 401
    document = Request().document()
    fields = {"authorization": lab.packager, "X_Speke_Version": "2.0"}
    assert lab.ask("POST", "/speke/v2.0/copyProtection", document, **fields).status == 415
    assert lab.ask("POST", "/speke/v2.0/copyProtection", b"<", Content_Type="text/xml", **fields).status == 422
    assert lab.ask("POST", "/v1/keys", {"contentId": ""}, authorization=lab.packager).problem["member"] == "contentId"
    track = {"track": "HD", "iv": "00" * 16}
    for key in ("", "0", "x" * 32):
        answer = lab.ask("POST", "/v1/keys", {"contentId": "c", "tracks": [track | {"key": key}]}, authorization=lab.packager)
        assert answer.status == 400 and answer.problem["member"] == "tracks[0].key"
    assert lab.ask("POST", "/v1/keys", {}).status == 401


# --- Requests that are made of the description ------------------------------------------------------------------------


def credentials(lab: Lab) -> dict[str, dict[str, str]]:
    """What opens each scheme of the description, as schemathesis reads it."""
    return {
        "token": {"bearer": lab.deployment.token},
        "packagerBasic": {"username": "development", "password": lab.secret("packager")},
        "customerAuthenticator": {"api_key": expressplay.AUTHENTICATOR},
        "entitlementServer": {"bearer": expressplay.SEES_AUTHENTICATOR},
        "adminToken": {"bearer": lab.admin_token},
    }


def configuration(lab: Lab, with_credentials: bool) -> str:
    """A configuration of schemathesis. Unknown methods get 501, so TRACE and QUERY are not among the unexpected."""
    lines = [
        # Most made-up secrets would be answered with 429, and the answer to wrong ones would hardly be seen.
        "[generation]", "with-security-parameters = false", 'database = "none"',
        "[cache]", "enabled = false",
        "[phases.coverage]", 'unexpected-methods = ["GET", "PUT", "POST", "DELETE", "PATCH"]',
    ]
    if with_credentials:
        for name, members in credentials(lab).items():
            lines.append(f"[auth.openapi.{name}]")
            lines += [f"{member} = {json.dumps(value)}" for member, value in members.items()]
    return "\n".join(lines) + "\n"


def of_listener(description: Description, listener: str) -> dict:
    """The operations that a listener has; an admin listener has no OPTIONS.

    Most made-up tokens of sessions would be answered with 429, so no sessions are begun. The answer of events does not
    end; test_admin_data.py reads it.
    """
    document = json.loads(json.dumps(description.document))
    document["paths"] = {
        path: item
        for path, item in document["paths"].items()
        if listener in item["x-listeners"] and path not in ("/v1/session", EVENTS_PATH)
    }
    for item in document["paths"].values():
        if listener == "admin":
            item.pop("options", None)
        assert any(method in item for method in METHODS)
    return document


@pytest.mark.slow
@pytest.mark.parametrize("with_credentials", [True, False], ids=["with credentials", "without"])
@pytest.mark.parametrize("listener", ["public", "admin"])
def test_requests_of_schemathesis_get_described_answers(
    listener: str, with_credentials: bool, lab: Lab, seed: int, tmp_path: Path
) -> None:
    examples = int(os.environ.get(EXAMPLES_VARIABLE) or EXAMPLES)
    phases = [phase for phase in PHASES if with_credentials or IS_LONG or phase != "coverage"]
    url = lab.daemon.url if listener == "public" else lab.admin_url
    (tmp_path / "openapi.json").write_text(json.dumps(of_listener(lab.complete, listener)))
    (tmp_path / "schemathesis.toml").write_text(configuration(lab, with_credentials))
    finished = subprocess.run(
        [
            Path(sys.executable).with_name("schemathesis"), "--config-file", "schemathesis.toml", "run", "openapi.json",
            *("--url", url, "--checks", ",".join(CHECKS), "--max-examples", str(examples), "--seed", str(seed)),
            *("--phases", ",".join(phases), "--workers", "1", "--continue-on-failure", "--no-shrink"),
            *("--suppress-health-check", "all", "--warnings", "off", "--request-timeout", "20"),
            *("--report", "json", "--report-json-path", "report.json"),
        ],
        cwd=tmp_path,
        env=os.environ | {"NO_COLOR": "1", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS * max(1, examples / EXAMPLES),
        check=False,
    )
    assert finished.returncode == 0, finished.stdout[-12_000:] + finished.stderr[-2_000:]
    assert lab.ask("GET", "/readyz").status == 200

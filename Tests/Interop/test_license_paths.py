"""Licenses at configured paths, and in each shape that a query selects, against a running daemon."""

import base64
import json
import os
import signal
import subprocess
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from deployment import Deployment, assert_problem, deployment_of
from fairplay_device.ckc import open_ckc
from fairplay_device.spc import RequestSecrets, SPCOptions, device_for
from license_client import Answer, LicenseClient
from own_daemon import OwnDaemon, new_setup, running_daemon
from workbench import Outcome

RELOAD_SECONDS = 60
NAGRA = "/tenant/fpls/contentlicenseservice/v1"
MISMATCH = Outcome(403, "content_mismatch")
NOT_FOUND = Outcome(404, "not_found")


@pytest.fixture(scope="module")
def daemon(latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnDaemon]:
    with running_daemon(tmp_path_factory.mktemp("paths")) as daemon:
        yield daemon


@pytest.fixture(scope="module")
def app(daemon: OwnDaemon) -> Iterator["App"]:
    app = App(deployment_of(daemon.url, daemon.setup))
    yield app
    app.at.client.close()


class App:
    """An app that requests licenses for one content."""

    def __init__(self, deployment: Deployment):
        self.at = deployment
        self.kid = str(uuid.UUID(bytes=deployment.key.key_id))

    def ask(
        self, path: str, asset_id: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[Answer, RequestSecrets]:
        device = device_for(self.at.credential, 2)
        context = device.request(SPCOptions(asset_id or self.at.asset_id))
        fields = {"Authorization": f"Bearer {self.at.token}"} | (headers or {})
        return self.at.client.send("POST", path, context.message, fields), context.secrets

    def is_served(self, path: str) -> bool:
        answer, request_secrets = self.ask(path)
        if answer.code == "not_found":
            return False
        self.at.open(answer, request_secrets)
        return True


# --- The built-in paths -----------------------------------------------------------------------------------------------


def test_standard_paths_give_licenses(app: App) -> None:
    for path in ["/fps/license/{}", "/fps/v1/license/{}"]:
        for name in [app.kid, app.kid.upper(), app.kid.replace("-", ""), app.at.content]:
            assert app.is_served(path.format(name)), path.format(name)
    assert app.is_served("/fps/license") and app.is_served("/fps/v1/license") and app.is_served("/hms/fp/rights/")


def test_an_app_may_replace_the_scheme_of_the_key_uri(app: App) -> None:
    """The player's asset id is the whole URI, and the app sends the SPC to the URI's path."""
    for path in [f"/fps/license/{app.kid}", f"/fps/v1/license/{app.kid}"]:
        answer, request_secrets = app.ask(path, f"skd://keys.example.com{path}".encode())
        app.at.open(answer, request_secrets)


def test_an_asset_id_may_end_in_a_slash(app: App) -> None:
    for asset_id in [f"skd://{app.at.content}/", f"skd://keys.example.com/x/{app.kid}/", f"{app.kid}/"]:
        answer, request_secrets = app.ask("/fps/license", asset_id.encode())
        app.at.open(answer, request_secrets)


def test_a_list_with_every_type_gets_the_bytes(app: App) -> None:
    """HTTP libraries without knowledge of licenses send this `Accept` field."""
    answer, request_secrets = app.ask("/fps/license", headers={"Accept": "application/json, text/plain, */*"})
    app.at.open(answer, request_secrets)


def test_a_key_in_the_path_must_be_that_of_the_spc(app: App) -> None:
    for name in [str(uuid.uuid4()), "another-content", "%00%01"]:
        for path in [f"/fps/license/{name}", f"/fps/v1/license/{name}"]:
            assert_problem(app.ask(path)[0], MISMATCH)
    # A path does not grant a content that the SPC does not name.
    assert_problem(app.ask(f"/fps/license/{app.kid}", b"another-content")[0], MISMATCH)


def test_nagra_has_its_own_answers_and_errors(app: App) -> None:
    answer, request_secrets = app.ask(f"{NAGRA}/licenses")
    assert answer.status == 200 and answer.header("Content-Type") == "application/json"
    ckc = base64.b64decode(json.loads(answer.body)["CkcMessage"], validate=True)
    assert open_ckc(ckc, request_secrets).content_key == app.at.key.key
    refused = app.at.client.send("POST", f"{NAGRA}/licenses", b"x")
    assert (refused.status, json.loads(refused.body)["errorCode"]) == (401, 4001)
    # On this path, the dialect's own header has the token.
    context = device_for(app.at.credential, 1).request(SPCOptions(app.at.asset_id))
    by_header = app.at.client.send(
        "POST", f"{NAGRA}/licenses", context.message, {"nv-authorizations": app.at.token}
    )
    assert by_header.status == 200


@pytest.mark.parametrize("path", ["/fps/v1/certificate", f"{NAGRA}/certificates"])
def test_certificates_are_there_too(app: App, path: str) -> None:
    client = app.at.client
    expected = client.send("GET", "/fps/certificate")
    assert client.send("GET", path).body == expected.body
    tags = set()
    for name, read in {
        "raw": lambda body: body,
        "base64": lambda body: base64.b64decode(body, validate=True),
        "json": lambda body: base64.b64decode(json.loads(body)["certificate"], validate=True),
        "pem": lambda body: b"".join(
            base64.b64decode(block.partition(b"-----END")[0])
            for block in body.split(b"-----BEGIN CERTIFICATE-----")[1:]
        ),
    }.items():
        answer = client.send("GET", f"{path}?format={name}")
        assert read(answer.body) == expected.body, name
        head = client.send("HEAD", f"{path}?format={name}")
        tag = answer.header("ETag")
        assert head.body == b"" and head.header("ETag") == tag
        assert head.header("Content-Length") == str(len(answer.body))
        assert client.send("GET", f"{path}?format={name}", None, {"If-None-Match": tag or ""}).status == 304
        tags.add(tag)
    assert len(tags) == 4
    assert client.send("GET", f"{path}?format=der").code == "request_invalid"


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE"])
@pytest.mark.parametrize("path", ["/fps/license/movie-1", "/fps/v1/license", f"{NAGRA}/licenses", "/hms/fp/rights/"])
def test_licenses_are_asked_for_by_post(app: App, method: str, path: str) -> None:
    answer = app.at.client.send(method, path)
    assert (answer.status, answer.code, answer.header("Allow")) == (405, "method_not_allowed", "POST, OPTIONS")


def test_a_browser_hears_the_methods_of_each_path(app: App) -> None:
    for path, methods in {
        "/fps/license/movie-1": "POST, OPTIONS",
        f"{NAGRA}/licenses": "POST, OPTIONS",
        "/fps/v1/certificate": "GET, HEAD, OPTIONS",
        "/fps/nowhere": "GET, HEAD, POST, OPTIONS",
    }.items():
        answer = app.at.client.send("OPTIONS", path, None, {"Origin": "https://player.example"})
        assert answer.header("Access-Control-Allow-Methods") == methods


@pytest.mark.parametrize(
    "path",
    ["/fps/license/", "/fps/license/a/b", "/fps/license/x", "/fps/v1/license/", "/fps/v2/license",
     "/contentlicenseservice/v1/licenses"],
)
def test_nothing_else_is_there(app: App, path: str) -> None:
    assert_problem(app.ask(path)[0], NOT_FOUND)


# --- The shapes that a query selects ----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/fps/license", f"{NAGRA}/licenses", "/hms/fp/rights/"])
def test_the_query_names_the_shape_at_every_path(app: App, path: str) -> None:
    readers = {
        "raw": lambda body: body,
        "base64": lambda body: base64.b64decode(body, validate=True),
        "ckc": lambda body: base64.b64decode(body.removeprefix(b"<ckc>").removesuffix(b"</ckc>"), validate=True),
        "json": lambda body: base64.b64decode(json.loads(body)["ckc"], validate=True),
        "kaltura": lambda body: base64.b64decode(json.loads(body)["ckc"], validate=True),
        "nagra": lambda body: base64.b64decode(json.loads(body)["CkcMessage"], validate=True),
    }
    for name, read in readers.items():
        answer, request_secrets = app.ask(f"{path}?format={name}", headers={"Accept": "application/json"})
        assert answer.status == 200 and answer.header("X-License-Id"), name
        assert open_ckc(read(answer.body), request_secrets).content_key == app.at.key.key, name
        if name == "kaltura":
            assert json.loads(answer.body)["persistence_duration"] == 0


# --- Configured paths -------------------------------------------------------------------------------------------------


def with_paths(setup: Path, *paths: dict[str, str]) -> None:
    """Writes exactly these paths to the configuration of a set-up."""
    configuration = setup / "latchkey.json5"
    lines = [line for line in configuration.read_text().splitlines() if "licensePaths:" not in line]
    place = next(number for number, line in enumerate(lines) if line.strip().startswith("listeners:"))
    lines.insert(place, f"    licensePaths: {json.dumps(paths)},")
    configuration.write_text("\n".join(lines))


def reload(daemon: OwnDaemon) -> str:
    """Sends SIGHUP, and returns the event that the daemon logs for it."""
    seen = len(daemon.log.read_text())
    daemon.process.send_signal(signal.SIGHUP)
    deadline = time.monotonic() + RELOAD_SECONDS
    while True:
        lines = [json.loads(line) for line in daemon.log.read_text()[seen:].splitlines() if line.endswith("}")]
        for line in lines:
            if line["event"] in ("reloaded", "reload_failed"):
                return line["event"]
        assert time.monotonic() < deadline, daemon.log.read_text()[-2000:]
        time.sleep(0.02)


def test_a_reload_changes_the_paths(tmp_path: Path, latchkey_programs: None) -> None:
    with running_daemon(tmp_path) as daemon:
        app = App(deployment_of(daemon.url, daemon.setup))
        assert app.is_served("/fps/v1/license") and not app.is_served("/drm/a/fairplay")

        with_paths(
            daemon.setup,
            {"path": "/drm/{tenant}/fairplay"},
            {"path": "/ksm", "serves": "both", "certificateFormat": "json"},
            {"path": "/kaltura/{contentId}", "answer": "kaltura"},
            {"path": "/*/fp/rights", "dialect": "expressplay"},
        )
        assert reload(daemon) == "reloaded"
        assert app.is_served("/drm/a/fairplay") and app.is_served("/ksm") and not app.is_served("/fps/v1/license")
        certificate = json.loads(app.at.client.send("GET", "/ksm").body)["certificate"]
        assert base64.b64decode(certificate) == app.at.client.send("GET", "/fps/certificate").body
        kaltura = app.ask(f"/kaltura/{app.at.content}")[0]
        assert json.loads(kaltura.body).keys() == {"ckc", "persistence_duration"}
        assert_problem(app.ask("/kaltura/another")[0], MISMATCH)
        refused = app.at.client.send("POST", "/a/b/fp/rights", b"x")
        assert refused.status == 401 and (refused.header("Content-Type") or "").startswith("text/html")

        # An invalid list changes nothing.
        with_paths(daemon.setup, {"path": "/fps/{x}"})
        assert reload(daemon) == "reload_failed"
        assert app.is_served("/drm/a/fairplay")

        with_paths(daemon.setup)
        assert reload(daemon) == "reloaded"
        assert app.is_served("/fps/license") and not app.is_served("/drm/a/fairplay")
        app.at.client.close()


# --- The check of a configuration -------------------------------------------------------------------------------------


def check(setup: Path) -> subprocess.CompletedProcess[str]:
    program = Path(os.environ["LATCHKEY_BIN"]).with_name("latchkeyd")
    return subprocess.run(
        [program, "--config", setup / "latchkey.json5", "--check"], capture_output=True, text=True, timeout=60
    )


def with_template(setup: Path, template: str) -> None:
    configuration = setup / "latchkey.json5"
    lines = configuration.read_text().splitlines()
    (place,) = [number for number, line in enumerate(lines) if "keyEncryptionKey:" in line]
    kept = lines[place].replace("keys: {", f'keys: {{ skdTemplate: "{template}",', 1)
    assert kept != lines[place]
    configuration.write_text("\n".join([*lines[:place], kept, *lines[place + 1 :]]))


@pytest.mark.parametrize(
    ("template", "unserved"),
    [
        ("skd://{kid}", None),
        ("skd://keys.example.com/fps/license/{kid}", None),
        ("skd://keys.example.com/fps/v1/license/{kid}?a=b", None),
        ("skd://keys.example.com/fps/licenses/{kid}", "/fps/licenses/{kid}"),
        ("skd://keys.example.com/{kid}", "/{kid}"),
    ],
)
def test_the_check_names_a_template_whose_path_is_not_served(
    tmp_path: Path, latchkey_programs: None, template: str, unserved: str | None
) -> None:
    setup = new_setup(tmp_path)
    with_template(setup, template)
    checked = check(setup)
    assert checked.returncode == 0, checked.stderr
    warnings = [line for line in checked.stderr.splitlines() if "keys.skdTemplate" in line]
    if unserved is None:
        assert warnings == []
    else:
        (warning,) = warnings
        assert f" {unserved}," in warning and "licensePaths" in warning


def test_a_path_of_its_own_serves_the_template(tmp_path: Path, latchkey_programs: None) -> None:
    setup = new_setup(tmp_path)
    with_template(setup, "skd://keys.example.com/drm/{kid}")
    assert "no licenses are served at /drm/{kid}" in check(setup).stderr
    with_paths(setup, {"path": "/drm/{kid}"})
    assert "skdTemplate" not in check(setup).stderr


def test_the_check_names_the_entry_that_is_wrong(tmp_path: Path, latchkey_programs: None) -> None:
    setup = new_setup(tmp_path)
    with_paths(setup, {"path": "/a"}, {"path": "/livez"}, {"path": "/{x}/b"}, {"path": "/a/b"})
    checked = check(setup)
    assert checked.returncode != 0
    assert "licensePaths[1].path: some path fits this and the built-in path /livez" in checked.stderr
    assert "licensePaths[3].path: some path fits this and licensePaths[2].path" in checked.stderr

"""A daemon whose credential is of the kind `sdk`: licenses that a library writes, in worker processes.

The library is a stand-in (Tests/SDKStandIn). Nothing here was run with Apple's.
"""

import json
import secrets
import shutil
import signal
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import load_pem_private_key

import tokens
from deployment import Deployment, assert_problem, deployment_of, register, run_latchkey
from fairplay_device import tags
from fairplay_device.ckc import OpenedCKC, open_ckc
from fairplay_device.credentials import Credential, make_credential, read_device_credential
from fairplay_device.facts import DenyListVersion, DeviceIdentity, PlaybackState, SyncV2
from fairplay_device.spc import PlaybackContext, SPCOptions, device_for
from license_client import Answer
from license_policy import ContentKey
from own_daemon import OwnDaemon, running_daemon
from sdk_certificates import newer_entry, older_entry, write_certificates
from sdk_library import FLAVOURS, build_libraries
from workbench import Outcome

STATE = PlaybackState(1_700_000_000, tags.READY_TO_START, 0xFEDCBA9876543210)
OFFLINE_2 = tags.CAPABILITY_OFFLINE_KEY_V2


# --- The set-up -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def libraries() -> Path:
    return build_libraries()


def library_of(libraries: Path, flavour: str) -> Path:
    folder = "swift-static" if flavour == "swift" else flavour
    library = libraries / folder / FLAVOURS[flavour]
    if not library.exists():
        pytest.skip("there is no Swift compiler")
    return library


def development(setup: Path) -> Credential:
    """The credential of the set-up with its private keys."""
    folder = setup / "fairplay"
    keys = [load_pem_private_key((folder / f"private-key-{bits}.pem").read_bytes(), None) for bits in (1024, 2048)]
    return replace(read_device_credential(folder), private_key_1024=keys[0], private_key_2048=keys[1])


def write_delivery(setup: Path, *lines: str, name: str = "one", more: tuple[dict[str, str], ...] = ()) -> Path:
    """What Apple delivers for the set-up's credential, as the stand-in reads it."""
    folder = setup / "fps"
    folder.mkdir(exist_ok=True)
    path = write_certificates(folder, newer_entry(folder, development(setup), name, *lines), *more)
    protect(folder)
    return path


def protect(folder: Path) -> None:
    for file in folder.iterdir():
        file.chmod(0o600)


def use_library(setup: Path, library: Path, workers: int = 1, fields: str = "") -> None:
    """Replaces the set-up's credential by one of the kind `sdk`."""
    configuration = setup / "latchkey.json5"
    text = configuration.read_text()
    start = text.index('name: "development",')
    end = text.index("},", start)
    entry = (
        f'name: "apple-26", spcVersion3: true, sdk: {{ library: "{library}", '
        f'certificates: "fps/certificates.json", workers: {workers}, callDeadline: "2s"{fields} }}'
    )
    configuration.write_text(text[:start] + entry + text[end:])


@contextmanager
def sdk_daemon(folder: Path, library: Path, *lines: str, workers: int = 1, fields: str = "") -> Iterator[OwnDaemon]:
    def prepare(setup: Path) -> None:
        write_delivery(setup, *lines)
        use_library(setup, library, workers, fields)

    with running_daemon(folder, prepare=prepare) as daemon:
        yield daemon


@pytest.fixture(scope="module", params=list(FLAVOURS))
def at(
    request: pytest.FixtureRequest, libraries: Path, latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployment]:
    folder = tmp_path_factory.mktemp("sdk")
    with sdk_daemon(folder, library_of(libraries, request.param)) as daemon:
        daemon.await_log("ladder_worker_ready")
        deployment = deployment_of(daemon.url, daemon.setup)
        yield deployment
        deployment.client.close()


def context_of(at: Deployment, version: int = 1, **changes: object) -> PlaybackContext:
    options = replace(
        SPCOptions(at.asset_id, playback_state=STATE, return_request=(tags.ASSET_ID, tags.TRANSACTION_ID)), **changes
    )
    return device_for(at.credential, version).request(options)


def token_of(at: Deployment, right: dict[str, object], content: str | None = None) -> str:
    return tokens.with_rights(at.token, at.signing_key, [{"content": content or at.content} | right])


def ask(
    at: Deployment, right: dict[str, object], version: int = 1, *, offline: bool = False, **changes: object
) -> tuple[Answer, PlaybackContext]:
    context = context_of(at, version, **changes)
    return at.client.license(context.message, token_of(at, right), offline=offline), context


def granted(at: Deployment, right: dict[str, object], version: int = 1, **changes: object) -> OpenedCKC:
    answer, context = ask(at, right, version, **changes)
    assert answer.status == 200, answer.body
    # Not strict: the library writes a reserved word of its own, and makes new padding for the echoes.
    license = open_ckc(answer.body, context.secrets, strict=False)
    assert (license.content_key, license.content_iv) == (at.key.key, at.key.iv)
    return license


# --- Licenses ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [1, 2, 3])
def test_the_library_writes_licenses_to_stream(at: Deployment, version: int) -> None:
    license = granted(at, {}, version)
    assert license.duration is None and license.offline_key is None
    assert license.hdcp_level == tags.HDCP_TYPE_0 and license.security_level == tags.LEVEL_BASELINE
    leased = granted(at, {"lease": 600}, version)
    assert leased.duration is not None and leased.duration.lease_seconds == 600
    # Protected at least as the right demands.
    strict = granted(at, {"hdcp": "type1"}, version, capabilities=tags.CAPABILITY_HDCP_TYPE_1)
    assert strict.hdcp_level == tags.HDCP_TYPE_1


@pytest.mark.parametrize("version", [1, 2, 3])
def test_the_library_writes_licenses_to_keep(at: Deployment, version: int) -> None:
    right = {"mode": "offline", "storage": 86_400, "playback": 3_600}
    kept = granted(at, right, version, offline=True, capabilities=OFFLINE_2).offline_key
    assert kept is not None and (kept.storage, kept.playback) == (86_400, 3_600)
    assert kept.version == 2 and kept.title_id
    unlimited = granted(at, {"mode": "offline"}, version, offline=True, capabilities=OFFLINE_2).offline_key
    assert unlimited is not None and (unlimited.storage, unlimited.playback) == (None, None)
    # A device without offline keys keeps the key until one end.
    older = granted(at, {"mode": "offline", "storage": 86_400}, version, offline=True).duration
    assert older is not None and (older.key_type, older.rental_field) == (tags.PERSISTENT_LIMITED, 86_400)


@pytest.mark.parametrize(
    ("right", "changes", "term"),
    [
        ({"duration": 3_600}, {}, "rental"),
        ({"duration": 3_600, "lease": 600}, {}, "lease and rental"),
        ({"min_level": "main"}, {}, "security level"),
        ({"mode": "offline", "duration": 3_600}, {"offline": True, "capabilities": OFFLINE_2}, "end"),
        ({"mode": "offline"}, {"offline": True, "capabilities": tags.CAPABILITY_OFFLINE_KEY}, "offline key"),
    ],
)
def test_a_term_that_the_library_has_no_words_for_is_named(
    at: Deployment, right: dict[str, object], changes: dict[str, object], term: str
) -> None:
    answer, _ = ask(at, right, **changes)
    assert_problem(answer, Outcome(403, "sdk_terms"))
    assert answer.problem["term"] == term


def test_a_device_that_the_library_refuses_is_told_so(at: Deployment) -> None:
    answer, _ = ask(at, {}, deny_list_version=DenyListVersion(20))
    assert_problem(answer, Outcome(403, "sdk_device"))


def test_a_forged_request_gets_the_uniform_refusal(at: Deployment) -> None:
    context = context_of(at)
    forged = bytearray(context.message)
    forged[40] ^= 1
    other = at.client.license(bytes(forged), at.token)
    assert_problem(other, Outcome(422, "spc_rejected"))
    stranger = device_for(replace(at.credential, application_secret=bytes(16)), 1).request(SPCOptions(at.asset_id))
    refused = at.client.license(stranger.message, at.token)
    assert_problem(refused, Outcome(422, "spc_rejected"))
    assert len(refused.body) == len(other.body)


def test_a_sync_report_is_answered_without_a_license(at: Deployment) -> None:
    report = SyncV2(0, tags.SYNC_REPORT, bytes(range(16)), 3_600)
    answer, _ = ask(at, {"mode": "offline"}, sync=report, return_request=(tags.SYNC, tags.ASSET_ID))
    assert answer.status == 200 and "sync" in answer.body.decode()


def test_a_repeated_request_gets_its_license_again(at: Deployment) -> None:
    token = token_of(at, {"lease": 600})
    context = context_of(at)
    answers = [at.client.license(context.message, token) for _ in range(3)]
    for answer in answers:
        license = open_ckc(answer.body, context.secrets, strict=False)
        assert license.content_key == at.key.key and license.duration is not None
        assert 590 <= license.duration.lease_seconds <= 600


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_playback_is_renewed_and_ended(at: Deployment, version: int) -> None:
    """The session token of a license renews it, and its device ends the playback."""
    device = device_for(at.credential, version)

    def context(state: int) -> PlaybackContext:
        return device.request(SPCOptions(at.asset_id, playback_state=replace(STATE, state=state)))

    first = at.client.license(context(tags.READY_TO_START).message, token_of(at, {"lease": 60}))
    assert first.status == 200
    session = first.header("X-Session-Token")
    assert session is not None
    expiring = context(tags.LEASE_ABOUT_TO_EXPIRE)
    renewed = at.client.license(expiring.message, session)
    assert renewed.status == 200, renewed.body
    license = open_ckc(renewed.body, expiring.secrets, strict=False)
    assert license.content_key == at.key.key and license.duration is not None
    stopped = at.client.license(context(tags.PLAYBACK_STOPPED).message, renewed.header("X-Session-Token") or session)
    assert stopped.status == 200 and stopped.problem["playback"] == "ended"


def test_the_ledger_has_what_a_device_states(libraries: Path, latchkey_programs: None, tmp_path: Path) -> None:
    """The daemon reads it in the SPC, and the library only writes the license."""
    with sdk_daemon(tmp_path, library_of(libraries, "rust")) as daemon:
        daemon.await_log("ladder_worker_ready")
        at = deployment_of(daemon.url, daemon.setup)
        identity = DeviceIdentity(1, 4, bytes(8), bytes(8), 1, 1, 0x1A_0102)
        answers = [ask(at, right, device_identity=identity)[0] for right in ({"lease": 600}, {"min_level": "main"})]
        assert [answer.status for answer in answers] == [200, 403]
        query = ("ledger", "query", "--json", "--os-version", "26")
        entries = json.loads(run_latchkey(daemon.setup, *query))["entries"]
        assert {entry["kind"] for entry in entries} == {"license_issued", "license_refused"}
        for entry in entries:
            assert (entry["stated"]["deviceClass"], entry["stated"]["osVersion"]) == ("spatial", "26.1.2")
        at.client.close()


def test_a_copy_of_a_request_costs_one_call(libraries: Path, latchkey_programs: None, tmp_path: Path) -> None:
    """What remains of the first license is known before the library is asked."""
    with sdk_daemon(tmp_path, library_of(libraries, "rust")) as daemon:
        daemon.await_log("ladder_worker_ready")
        at = deployment_of(daemon.url, daemon.setup)
        token, context = token_of(at, {"lease": 600}), context_of(at)
        seconds = []
        for count in range(1, 4):
            answer = at.client.license(context.message, token)
            license = open_ckc(answer.body, context.secrets, strict=False)
            seconds.append(license.duration.lease_seconds)
            (calls,) = daemon.metrics("latchkey_module_answers_total").values()
            assert calls == count
            next_second = int(time.time()) + 1
            while time.time() < next_second:
                time.sleep(0.02)
        assert seconds[0] == 600 and seconds[2] < 600
        at.client.close()


# --- A library that fails ---------------------------------------------------------------------------------------------

# What an asset id asks the stand-in for, and what the client is told.
FAULTS = {
    "crash": 503, "abort": 503, "exit": 503, "hang": 503, "exhaust-memory": None, "panic": 500, "call-status": 500,
    "no-answer": 500, "print-request": 200, "print-output": 200, "facts-wrong": 500, "numbers-too-large": 500,
    "id-wrong": 500, "item-status": 500, "ckc-missing": 500, "ckc-not-base64": 500, "ckc-length": 500, "ckc-cut": 500,
    "items-empty": 500, "items-twice": 500, "not-json": 500, "cut": 500, "no-nul": 200, "size-32": 200,
    "nul-in-the-middle": 500, "huge": 500,
}  # fmt: skip


def test_a_library_that_fails_gives_no_wrong_license(
    libraries: Path, latchkey_programs: None, tmp_path: Path
) -> None:
    """Each fault costs its own request alone, gives no license of another key, and leaves no key in the log."""
    with sdk_daemon(tmp_path, library_of(libraries, "rust"), workers=2) as daemon:
        daemon.await_log("ladder_worker_ready")
        at = deployment_of(daemon.url, daemon.setup)
        for name, status in FAULTS.items():
            content = f"fault-{name}"
            key = ContentKey(key_id=uuid.uuid4().bytes, key=secrets.token_bytes(16), iv=secrets.token_bytes(16))
            register(daemon.setup, content, key)
            context = device_for(at.credential, 1).request(SPCOptions(content.encode()))
            answer = at.client.license(context.message, token_of(at, {}, content))
            if status is not None:
                assert answer.status == status, (name, answer.status, answer.body)
            if answer.status == 200:
                assert open_ckc(answer.body, context.secrets, strict=False).content_key == key.key
            assert key.key.hex() not in daemon.log.read_text()
            granted(at, {})
        metrics = daemon.metrics("latchkey_module_")
        assert metrics['latchkey_module_deaths_total{credential="apple-26"}'] >= 4
        at.client.close()


def test_a_library_that_does_not_know_the_certificate_is_named(
    libraries: Path, latchkey_programs: None, tmp_path: Path
) -> None:
    """The daemon hands over sound entries only. A library that refuses them all the same serves nothing."""
    with sdk_daemon(tmp_path, library_of(libraries, "rust"), "fault no-such-fault") as daemon:
        daemon.await_log("the library does not serve certificate 1")
        at = deployment_of(daemon.url, daemon.setup)
        answer, _ = ask(at, {})
        assert_problem(answer, Outcome(503, "module_unavailable"))
        at.client.close()


def test_a_missing_library_is_named_with_what_to_do(libraries: Path, latchkey_programs: None, tmp_path: Path) -> None:
    """The Swift flavour needs the Swift runtime beside it or linked in, and the closed library beside it."""
    alone = tmp_path / "alone"
    alone.mkdir()
    library = Path(shutil.copy(library_of(libraries, "rust"), alone))
    with sdk_daemon(tmp_path, library) as daemon:
        daemon.await_log("put the missing library into the folder of this one")
        assert "libfpscrypto.so" in daemon.log.read_text()


def await_count(daemon: OwnDaemon, text: str, count: int) -> None:
    deadline = time.monotonic() + 60
    while daemon.log.read_text().count(text) < count:
        assert time.monotonic() < deadline, daemon.log.read_text()[-2000:]
        time.sleep(0.02)


# --- Beside others ----------------------------------------------------------------------------------------------------


def test_a_reload_starts_new_workers_before_the_old_ones_end(
    libraries: Path, latchkey_programs: None, tmp_path: Path
) -> None:
    library = library_of(libraries, "rust")
    (tmp_path / "build").mkdir()
    for file in library.parent.iterdir():
        shutil.copy(file, tmp_path / "build")
    build = tmp_path / "build" / library.name
    with sdk_daemon(tmp_path, build) as daemon:
        daemon.await_log("ladder_worker_ready")
        at = deployment_of(daemon.url, daemon.setup)
        granted(at, {})
        # A new delivery: the same certificates, another secret.
        old = at.credential
        secret = bytes(range(16))
        (daemon.setup / "fps" / "one.provisioning-data").write_text(f"ask {secret.hex()}")
        daemon.process.send_signal(signal.SIGHUP)
        daemon.await_log('"event":"reloaded"')
        at.client.close()
        new = replace(deployment_of(daemon.url, daemon.setup), credential=replace(old, application_secret=secret))
        granted(new, {})
        assert daemon.log.read_text().count("ladder_worker_ready") == 2
        new.client.close()

        # A new build of the library in the place of the old one.
        shutil.copy(library, build.with_suffix(".new"))
        build.with_suffix(".new").rename(build)
        daemon.process.send_signal(signal.SIGHUP)
        await_count(daemon, '"event":"reloaded"', 2)
        assert daemon.log.read_text().count("ladder_worker_ready") == 3

        # A delivery that is not sound changes nothing.
        (daemon.setup / "fps" / "one.2048-private-key").write_bytes(b"no key")
        daemon.process.send_signal(signal.SIGHUP)
        daemon.await_log("reload_failed")
        again = replace(deployment_of(daemon.url, daemon.setup), credential=new.credential)
        granted(again, {})
        again.client.close()


def test_entries_with_an_application_secret_are_served_natively(
    libraries: Path, latchkey_programs: None, tmp_path: Path
) -> None:
    """Two entries are two credentials, and only one of them needs the library."""
    other = make_credential()

    def prepare(setup: Path) -> None:
        folder = setup / "fps"
        folder.mkdir()
        older = older_entry(folder, other, is_pem=True, is_base64=True)
        write_delivery(setup, more=(older,))
        use_library(setup, library_of(libraries, "rust"))

    with running_daemon(tmp_path, prepare=prepare) as daemon:
        daemon.await_log("ladder_worker_ready")
        at = deployment_of(daemon.url, daemon.setup)
        granted(at, {})
        natively = replace(at, credential=other)
        granted(natively, {"duration": 3_600})
        listed = json.loads(run_latchkey(daemon.setup, "credentials", "list", "--json"))
        assert [each["name"] for each in listed["credentials"]] == ["apple-26/1", "apple-26/2"]
        answers = daemon.metrics("latchkey_module_answers_total")
        assert list(answers.values()) == [1]
        at.client.close()

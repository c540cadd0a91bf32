"""`latchkey credentials prove`: it finds what a library of the SDK does wrong, and shows no secret.

The library is a stand-in (Tests/SDKStandIn), and the test inputs are made here. Nothing was run with Apple's.
"""

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from fairplay_device import tags
from fairplay_device.credentials import Credential, make_credential
from fairplay_device.facts import DenyListVersion, SyncV2
from fairplay_device.spc import SPCOptions, device_for
from own_daemon import new_setup
from sdk_lab import HDCP_TYPE_1, IV, KEY, STREAM_ID, TITLE_ID, asset_info, operation, options, request_of
from sdk_library import FLAVOURS, build_libraries
from test_sdk import OFFLINE_2, development, library_of, protect, use_library, write_delivery

COMMAND_SECONDS = 120


@pytest.fixture(scope="module")
def libraries() -> Path:
    return build_libraries()


@dataclass(frozen=True)
class Report:
    """The findings of one run, by their names."""

    status: int
    findings: dict[str, dict[str, str]]
    text: str
    errors: str

    @property
    def bad(self) -> set[str]:
        return {name for name, finding in self.findings.items() if finding["verdict"] == "bad"}

    def found(self, name: str, verdict: str = "good") -> str:
        finding = self.findings[name]
        assert finding["verdict"] == verdict, finding
        return finding["found"]


def run(setup: Path, *words: str, program: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program or os.environ["LATCHKEY_BIN"], "credentials", "prove", "--config", setup / "latchkey.json5", *words],
        capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False,
    )  # fmt: skip


def core_of(libraries: Path) -> Path:
    return libraries / "rust" / "libfpscrypto.so"


def prove(setup: Path, *words: str) -> Report:
    finished = run(setup, *words, "--json")
    assert finished.stdout, finished.stderr
    report = json.loads(finished.stdout)
    assert report["holds"] == (finished.returncode == 0), finished.stderr
    assert "no proof" in report["notice"] and "no approval by Apple" in report["notice"]
    findings = {finding["check"]: finding for finding in report["findings"]}
    assert len(findings) == len(report["findings"])
    for finding in findings.values():
        assert (finding["remedy"] is not None) or finding["verdict"] in ("good", "skipped"), finding
    for secret in (KEY, IV, development(setup).application_secret):
        assert secret.hex() not in finished.stdout.lower() + finished.stderr.lower()
    return Report(finished.returncode, findings, finished.stdout, finished.stderr)


def made_setup(folder: Path, library: Path, *lines: str) -> Path:
    setup = new_setup(folder)
    write_delivery(setup, *lines)
    use_library(setup, library)
    return setup


def with_trailing_commas(value: object) -> str:
    return json.dumps(value).replace("}", ",}").replace("]", ",]")


def write_inputs(setup: Path) -> Path:
    """Test inputs for each version of SPCs, and each kind of license."""
    folder = setup / "inputs"
    folder.mkdir()
    credential = development(setup)
    contexts = {version: device_for(credential, version).request(options()) for version in (1, 3)}
    leased = device_for(credential, 2).request(options(capabilities=HDCP_TYPE_1))
    kept = device_for(credential, 3).request(options(capabilities=OFFLINE_2))
    offline = {"rental-duration": 86_400, "playback-duration": 3_600}
    offline |= {"stream-id": STREAM_ID.hex(), "title-id": TITLE_ID.hex()}
    message = {version: context.message for version, context in contexts.items()}
    requests = {
        "stream": request_of(operation(message[1])),
        "lease": request_of(operation(leased.message, lease_duration=600, hdcp_type=1, content_type="hd")),
        "keep": request_of(operation(kept.message, offline_hls=offline)),
        "version-3": request_of(operation(message[3], encryption_scheme="cbc-ts")),
        "counter": request_of(operation(message[1], encryption_scheme="cenc-v1")),
        "facts": request_of({"id": 1, "spc": operation(message[1])["spc"]}, name="get-client-info"),
    }
    for name, request in requests.items():
        (folder / f"{name}.json").write_text(with_trailing_commas(request))
    (folder / "README.txt").write_text("not an input")
    return folder


def write_spc(setup: Path, credential: Credential | None = None, **changes: object) -> Path:
    path = setup / "device.spc"
    path.write_bytes(device_for(credential or development(setup), 1).request(options(**changes)).message)
    return path


# --- A good library ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flavour", list(FLAVOURS))
def test_a_good_library_holds(flavour: str, libraries: Path, latchkey_programs: None, tmp_path: Path) -> None:
    setup = made_setup(tmp_path, library_of(libraries, flavour))
    report = prove(setup, "--inputs", str(write_inputs(setup)), "--spc", str(write_spc(setup)))
    assert report.status == 0 and not report.bad, report.text
    assert FLAVOURS[flavour] in report.found("apple-26.library")
    known = report.found("apple-26.certificates")
    for words in ("the 1024-bit certificate of apple-26 in SPCs of version 1", "bundle", "version 2", "version 3"):
        assert words in known
    for name in ("stream", "lease", "keep", "version-3"):
        for part in ("open", "facts", "hu", "license", "input", "wrapped-key", "session-key-block"):
            report.found(f"{name}.json.{part}")
        assert "whole CKC of version 1" in report.found(f"{name}.json.input")
    assert "cenc-v1" in report.found("counter.json.input", "skipped")
    report.found("facts.json.hu")
    assert "facts.json.input" not in report.findings and "device.spc.input" not in report.findings
    assert "whole CKC" in report.found("device.spc.license")


def test_the_report_for_people_ends_with_what_it_does_not_prove(
    libraries: Path, latchkey_programs: None, tmp_path: Path
) -> None:
    setup = made_setup(tmp_path, library_of(libraries, "rust"))
    finished = run(setup, "--credential", "apple-26")
    assert finished.returncode == 0
    lines = finished.stdout.splitlines()
    assert len(lines) == 2 and all(line.startswith("good") for line in lines)
    assert "no proof that a title plays" in finished.stderr


# --- A library that lies ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flavour", list(FLAVOURS))
@pytest.mark.parametrize(
    ("fault", "bad"),
    [
        ("hu-random", {"hu", "license"}),
        ("ckc-cut", {"license"}),
        ("ckc-length", {"license"}),
        ("facts-wrong", {"facts", "hu", "license"}),
        ("crash", {"facts"}),
        ("print-request", set()),
    ],
)
def test_a_library_that_lies_is_found(
    fault: str, bad: set[str], flavour: str, libraries: Path, latchkey_programs: None, tmp_path: Path
) -> None:
    setup = made_setup(tmp_path, library_of(libraries, flavour), f"fault {fault}")
    report = prove(setup, "--spc", str(write_spc(setup)))
    assert report.bad == {f"device.spc.{part}" for part in bad}, report.text
    assert (report.status == 0) == (not bad)
    if fault == "crash":
        assert "signal" in report.found("device.spc.facts", "bad")
    if fault == "print-request":
        # A library that writes whole requests says so, and nothing of them is shown.
        spoken = report.found("apple-26.error-output", "warning")
        assert "…" in spoken
        assert not re.search(r"[0-9a-fA-F]{8}|[A-Za-z0-9+/]{25}", spoken), spoken
    else:
        assert "apple-26.error-output" not in report.findings


def test_a_certificate_that_the_library_does_not_know_is_named(
    libraries: Path, latchkey_programs: None, tmp_path: Path
) -> None:
    setup = made_setup(tmp_path, library_of(libraries, "rust"), "fault no-such-fault")
    report = prove(setup, "--spc", str(write_spc(setup)))
    assert report.status == 1
    assert report.bad == {"apple-26.certificates"}
    unknown = report.found("apple-26.certificates", "bad")
    assert unknown == "the library does not know the 1024-bit certificate of apple-26 in SPCs of version 1"
    report.found("device.spc.open", "skipped")


def test_a_missing_library_is_named(libraries: Path, latchkey_programs: None, tmp_path: Path) -> None:
    alone = tmp_path / "alone"
    alone.mkdir()
    setup = made_setup(tmp_path, Path(shutil.copy(library_of(libraries, "rust"), alone)))
    report = prove(setup)
    assert report.bad == {"apple-26.library"}
    assert "libfpscrypto.so" in report.found("apple-26.library", "bad")
    # The name of a closed library in place of the one that was built.
    use = (setup / "latchkey.json5").read_text()
    (setup / "latchkey.json5").write_text(use.replace(str(alone / "libfpssdk.so"), str(core_of(libraries))))
    assert "fpsProcessOperations" in prove(setup).found("apple-26.library", "bad")


# --- SPCs -------------------------------------------------------------------------------------------------------------


def test_an_spc_for_other_credentials_is_no_proof(libraries: Path, latchkey_programs: None, tmp_path: Path) -> None:
    setup = made_setup(tmp_path, library_of(libraries, "rust"))
    report = prove(setup, "--spc", str(write_spc(setup, make_credential())))
    assert report.bad == {"device.spc.open"}
    assert "certificate hash" in report.found("device.spc.open", "bad")
    # The certificate is right, and the secret in the device is another one.
    forged = replace(development(setup), application_secret=bytes(16))
    report = prove(setup, "--spc", str(write_spc(setup, forged)))
    assert report.bad == {"device.spc.facts"}


def test_devices_without_a_license_are_told_apart(libraries: Path, latchkey_programs: None, tmp_path: Path) -> None:
    setup = made_setup(tmp_path, library_of(libraries, "rust"))
    report = prove(setup, "--spc", str(write_spc(setup, deny_list_version=DenyListVersion(20))))
    assert report.bad == {"device.spc.license"}
    assert "-42604" in report.found("device.spc.license", "bad")
    sync = SyncV2(0, tags.SYNC_REPORT, bytes(range(16)), 3_600)
    report = prove(setup, "--spc", str(write_spc(setup, sync=sync, return_request=(tags.SYNC, tags.ASSET_ID))))
    assert report.status == 0
    report.found("device.spc.hu")
    report.found("device.spc.license", "skipped")


def test_files_that_are_no_inputs_are_named(libraries: Path, latchkey_programs: None, tmp_path: Path) -> None:
    setup = made_setup(tmp_path, library_of(libraries, "rust"))
    folder = setup / "inputs"
    folder.mkdir()
    assert "no file *.json" in run(setup, "--inputs", str(folder)).stderr
    spc = operation(device_for(development(setup), 1).request(SPCOptions(b"movie")).message)["spc"]
    texts = {
        "other": {}, "two": request_of(*[{"id": 1, "spc": spc, "asset-info": [asset_info()]}] * 2),
        "key": request_of({"id": 1, "spc": spc, "asset-info": [asset_info(content_key="00")]}),
        "type": request_of({"id": 1, "spc": spc, "asset-info": [asset_info(content_type="8k")]}),
    }  # fmt: skip
    for name, text in texts.items():
        (folder / f"{name}.json").write_text(json.dumps(text))
    (folder / "text.json").write_text("no JSON")
    report = prove(setup, "--inputs", str(folder))
    assert report.bad == {f"{name}.json.read" for name in (*texts, "text")}
    assert "content-key" in report.found("key.json.read", "bad")


# --- The set-up -------------------------------------------------------------------------------------------------------


def test_it_says_what_it_needs(libraries: Path, latchkey_programs: None, tmp_path: Path) -> None:
    setup = new_setup(tmp_path)
    assert "there is no library to try" in run(setup).stderr
    write_delivery(setup)
    use_library(setup, library_of(libraries, "rust"))
    assert "for a credential other" in run(setup, "--credential", "other").stderr
    # The worker is the daemon's program, which must be beside this one.
    alone = tmp_path / "alone"
    alone.mkdir()
    program = Path(shutil.copy(os.environ["LATCHKEY_BIN"], alone))
    finished = run(setup, program=program)
    assert finished.returncode == 1 and f"there is no program {alone}/latchkeyd" in finished.stderr
    # A credential that is not sound is not tried.
    (setup / "fps" / "one.1024-private-key").write_bytes(b"no key")
    protect(setup / "fps")
    assert "1024-private-key" in run(setup).stderr

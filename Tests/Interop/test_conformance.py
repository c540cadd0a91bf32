"""`latchkey conformance` against this daemon in three ways, and against key servers in Python.

The library of an SDK is a stand-in (Tests/SDKStandIn). Nothing was run with Apple's.
"""

import json
import os
import random
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from fairplay_device import tags
from fairplay_device.credentials import Credential, read_device_credential
from fairplay_device.key_server import KeyServer, OpenedSPC, key_server_for
from fairplay_device.license import License, Streaming
from fairplay_device.spc import device_for
from fairplay_device.tllv import Block, padded_block
from license_policy import ContentKey, Demand, Policy, Refused, Right, decide
from license_server import LicenseServer, Reply
from own_daemon import OwnDaemon, running_daemon
from sdk_certificates import newer_entry, write_certificates
from sdk_lab import HDCP_TYPE_1, operation, options, request_of
from sdk_library import FLAVOURS, build_libraries
from test_sdk import library_of, protect

COMMAND_SECONDS = 120
LEASE, RENTAL, STORAGE, PLAYBACK = 600, 86_400, 2_592_000, 172_800
RIGHTS = {
    "streaming": Right(),
    "lease": Right(lease=LEASE),
    "rental": Right(rental=RENTAL),
    "lease-and-rental": Right(lease=LEASE, rental=RENTAL),
    "persistent": Right(mode="both"),
    "offline": Right(mode="both", storage=STORAGE, playback=PLAYBACK),
    "protected": Right(),
}
FILES = ("certificate-1024.der", "certificate-2048.der", "private-key-1024.pem", "private-key-2048.pem",
         "application-secret.hex", "bundle.bin")  # fmt: skip


def latchkey(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [os.environ["LATCHKEY_BIN"], *map(str, words)], capture_output=True, text=True, timeout=COMMAND_SECONDS
    )


@pytest.fixture(scope="module")
def written(latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder for the tester of a server."""
    folder = tmp_path_factory.mktemp("conformance")
    assert latchkey("conformance", "--write", folder).returncode == 0
    return folder


@pytest.fixture(scope="module")
def credential(written: Path) -> Credential:
    keys = [load_pem_private_key((written / f"private-key-{bits}.pem").read_bytes(), None) for bits in (1024, 2048)]
    return replace(read_device_credential(written), private_key_1024=keys[0], private_key_2048=keys[1])


@dataclass(frozen=True)
class Report:
    status: int
    results: list[dict[str, object]]
    json: dict[str, object]

    def of(self, verdict: str) -> set[str]:
        return {str(result["name"]) for result in self.results if result["verdict"] == verdict}

    def found(self, name: str) -> str:
        (found,) = (result["found"] for result in self.results if result["name"] == name)
        return str(found)


def conformance(*words: object) -> Report:
    finished = latchkey("conformance", *words, "--json")
    assert finished.stdout, finished.stderr
    report = json.loads(finished.stdout)
    assert report["holds"] == (finished.returncode == 0)
    assert report["passed"] + report["differs"] + report["failed"] + report["notRun"] == len(report["results"])
    return Report(finished.returncode, report["results"], report)


# --- This daemon ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def daemon(written: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnDaemon]:
    def prepare(setup: Path) -> None:
        for name in FILES:
            (setup / "fairplay" / name).write_bytes((written / name).read_bytes())
        configuration = setup / "latchkey.json5"
        text = configuration.read_text()
        configuration.write_text(text.replace('name: "development",', 'name: "conformance", spcVersion3: true,', 1))
        assert latchkey("keys", "import", "--config", configuration, "--file", written / "keys.jsonl").returncode == 0

    with running_daemon(tmp_path_factory.mktemp("daemon"), prepare=prepare) as daemon:
        yield daemon


@pytest.fixture(scope="module")
def tokens(daemon: OwnDaemon, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tokens")
    for kind, right in RIGHTS.items():
        options = {"--mode": right.mode, "--lease": right.lease, "--rental": right.rental,
                   "--storage": right.storage, "--playback": right.playback}  # fmt: skip
        words = [word for name, value in options.items() if value is not None for word in (name, value)]
        content = ("--content", f"conformance-{kind}")
        minted = latchkey("token", "mint", "--config", daemon.setup / "latchkey.json5", *content, *words)
        assert minted.returncode == 0, minted.stderr
        (folder / kind).write_text(minted.stdout)
    protect(folder)
    return folder


@pytest.mark.parametrize("form", ["raw", "base64", "form", "json", "json:spcMessage", "streaming-keys"])
def test_this_daemon_holds_in_every_form(form: str, daemon: OwnDaemon, tokens: Path) -> None:
    report = conformance("--url", daemon.url, "--tokens", tokens, "--form", form)
    assert not report.of("failed") and not report.of("differs") and not report.of("notRun")
    assert len(report.of("passed")) > 150


def test_kinds_without_a_token_are_not_run(daemon: OwnDaemon, tokens: Path, tmp_path: Path) -> None:
    (tmp_path / "lease").write_bytes((tokens / "lease").read_bytes())
    report = conformance("--url", daemon.url, "--tokens", tmp_path)
    assert report.status == 0
    assert "streaming, version 1" in report.of("notRun") and "lease, version 1" in report.of("passed")
    assert report.found("streaming, version 1") == "streaming: no token"


def test_a_token_for_something_else_is_no_pass(daemon: OwnDaemon, tokens: Path) -> None:
    report = conformance("--url", daemon.url, "--token", f"@{tokens / 'lease'}", "--kinds", "lease,rental")
    assert report.status == 1
    assert "rental, version 1" in report.of("failed") and "lease, version 1" in report.of("passed")


def test_nothing_answers(latchkey_programs: None) -> None:
    report = conformance("--url", "http://127.0.0.1:1", "--spc-version", "1")
    assert report.status == 1 and not report.of("passed")
    assert "no answer" in report.found("streaming, version 1")
    # The rest is not sent.
    assert len(report.of("failed")) == 5


def test_a_seed_makes_the_same_run(daemon: OwnDaemon, tokens: Path, tmp_path: Path) -> None:
    words = ("--url", daemon.url, "--tokens", tokens, "--report", tmp_path / "report.json")
    first = conformance(*words)
    again = conformance(*words, "--seed", first.json["seed"])
    assert again.json["seed"] == first.json["seed"]
    assert json.loads((tmp_path / "report.json").read_text()) == again.json


# --- The library of an SDK --------------------------------------------------------------------------------------------

# What Apple's server is said to do otherwise.
SDK_DIFFERS = {
    "lease without a playback state", "offline for a device with offline keys of version 1",
    "offline for a device without offline keys", "sixteen trailing bytes", "wrapped key of 32 bytes",
    "version used nine", "version used not supported", "sync version 2 without flags",
}  # fmt: skip


@pytest.fixture(scope="module")
def libraries() -> Path:
    return build_libraries()


@pytest.mark.parametrize("flavour", list(FLAVOURS))
def test_a_library_holds(flavour: str, libraries: Path, written: Path) -> None:
    """The file that `--write` makes has the older form of an entry, which serves SPCs of version 1."""
    report = conformance("--library", library_of(libraries, flavour), "--certificates", written / "certificates.json")
    assert not report.of("failed")
    differs = {name for name in report.of("differs") if not name.startswith("return request names")}
    assert differs == SDK_DIFFERS
    assert "streaming, version 1" in report.of("passed")
    assert {"streaming, version 2", "rental, version 1"} <= report.of("notRun")


def delivery(folder: Path, credential: Credential, *lines: str) -> Path:
    """An entry of the newer form, whose provisioning data only the stand-in understands."""
    path = write_certificates(folder, newer_entry(folder, credential, "one", *lines))
    protect(folder)
    return path


def test_a_library_holds_in_every_version(libraries: Path, credential: Credential, tmp_path: Path) -> None:
    report = conformance(
        "--library", library_of(libraries, "rust"), "--certificates", delivery(tmp_path, credential)
    )
    assert not report.of("failed")
    assert {"streaming, version 2", "offline, version 3", "protected, version 3"} <= report.of("passed")


@pytest.mark.parametrize(
    ("fault", "name", "found"),
    [
        ("hu-random", "streaming, version 1", "HU is another one"),
        ("facts-wrong", "streaming, version 1", "transaction id"),
        ("ckc-cut", "streaming, version 1", "declares a payload"),
        ("crash", "streaming, version 1", "no answer"),
    ],
)
def test_a_library_that_lies_is_found(
    fault: str, name: str, found: str, libraries: Path, credential: Credential, tmp_path: Path
) -> None:
    certificates = delivery(tmp_path, credential, f"fault {fault}")
    words = ("--library", library_of(libraries, "rust"), "--certificates", certificates, "--spc-version", "1")
    report = conformance(*words, "--kinds", "streaming")
    assert report.status == 1
    assert found in report.found(name)


def write_inputs(folder: Path, credential: Credential) -> Path:
    """Test inputs as an SDK has them, for a credential."""
    folder.mkdir()
    context = device_for(credential, 1).request(options(capabilities=HDCP_TYPE_1))
    requests = {
        "stream": request_of(operation(context.message)),
        "lease": request_of(operation(context.message, lease_duration=600, hdcp_type=1, content_type="hd")),
        "counter": request_of(operation(context.message, encryption_scheme="cenc-v1")),
        "facts": request_of({"id": 1, "spc": operation(context.message)["spc"]}, name="get-client-info"),
    }
    for name, request in requests.items():
        (folder / f"{name}.json").write_text(json.dumps(request).replace("}", ",}"))
    return folder


@pytest.mark.parametrize(("fault", "failed"), [("", set()), ("fault hu-random", {"the same HU in two calls"})])
def test_inputs_of_an_sdk_are_tried(
    fault: str, failed: set[str], libraries: Path, made_credential: Credential, tmp_path: Path
) -> None:
    """The library has only the credentials of the inputs, so that none of our own SPCs is sent."""
    lines = [fault] if fault else []
    inputs = write_inputs(tmp_path / "inputs", made_credential)
    words = ("--library", library_of(libraries, "rust"), "--certificates", delivery(tmp_path, made_credential, *lines))
    report = conformance(*words, "--inputs", inputs)
    tried = {result["name"]: result["verdict"] for result in report.results if result["family"] == "inputs"}
    names = {f"{name}.json" for name in ("stream", "lease", "facts")}
    assert {name for name in tried if tried[name] == "failed"} == {f"{name}, {part}" for name in names for part in failed}
    assert names <= report.of("passed") and "counter.json" in report.of("notRun")
    assert "stream.json, one bit of the wrapped key changed" in report.of("passed")
    assert all(result["verdict"] == "notRun" for result in report.results if result["family"] == "licenses")
    assert "no test certificate" in report.found("streaming, version 1")


def test_inputs_that_are_none_are_named(
    libraries: Path, made_credential: Credential, tmp_path: Path
) -> None:
    words = ("--library", library_of(libraries, "rust"), "--certificates", delivery(tmp_path, made_credential))
    (tmp_path / "inputs").mkdir()
    (tmp_path / "inputs" / "text.json").write_text("no JSON")
    report = conformance(*words, "--inputs", tmp_path / "inputs")
    assert report.of("failed") == {"text.json"}


# --- Key servers in Python --------------------------------------------------------------------------------------------


def content_keys(folder: Path) -> dict[bytes, tuple[str, ContentKey]]:
    """Kind and key by asset id."""
    found: dict[bytes, tuple[str, ContentKey]] = {}
    for line in (folder / "keys.jsonl").read_text().splitlines():
        entry = json.loads(line)
        demand = Demand(entry.get("hdcp"), entry.get("securityLevel"))
        key = ContentKey(*(bytes.fromhex(entry[name]) for name in ("kid", "key", "iv")), demand=demand)
        kind = entry["content"].removeprefix("conformance-")
        for name in filter(None, (entry["content"], entry.get("alias"))):
            asset_id = bytes.fromhex(name[4:]) if name.startswith("hex:") else name.encode()
            found[asset_id] = (kind, key)
    return found


@contextmanager
def python_server(written: Path, credential: Credential, kind: type[LicenseServer] = LicenseServer) -> Iterator[str]:
    keys = content_keys(written)

    def grant(opened: OpenedSPC, offline: bool) -> License:
        if opened.asset_id not in keys:
            raise Refused({"key_not_found"})
        name, key = keys[opened.asset_id]
        return decide(opened, RIGHTS[name], key, Policy(title_id=bytes(range(16))), offline=offline)

    server = kind(key_server_for(credential), grant)
    if kind is CarelessServer:
        server.seal = careless_seal
    with server.running() as url:
        yield url


def test_the_key_server_in_python(written: Path, credential: Credential) -> None:
    with python_server(written, credential) as url:
        report = conformance("--url", url, "--kinds", "all")
    assert report.of("failed") == set()
    assert report.of("differs") == set()


class CarelessServer(LicenseServer):
    """Has faults that public key servers have (protocol, section 6), each in the way of that server."""

    def _answer_spc(self, message: bytes, offline: bool) -> Reply:
        try:
            reply = super()._answer_spc(message, offline)
        except Exception as error:  # A panic of the Go server ends the connection; here it becomes a status.
            return Reply(500, "text/plain", repr(error).encode())
        # Its own text for each cause, as of the .NET example.
        return Reply(500, "text/plain", str(self.refusals[-1]).encode()) if reply.status == 422 else reply


def careless_seal(server: KeyServer, opened: OpenedSPC, license: License) -> bytes:
    duration = license.terms
    if isinstance(duration, Streaming) and duration.lease is not None:
        # The Go server's durations are random.
        license = replace(license, terms=replace(duration, lease=random.randrange(1, 1 << 31)))
    blocks = server.answer_blocks(opened, license)
    return server.seal(opened, [short_hdcp(server, block) for block in blocks], 1)


def short_hdcp(server: KeyServer, block: Block) -> Block:
    """The HDCP block of the .NET server has only 8 bytes."""
    return padded_block(block.tag, block.value[:8], server.randomness) if block.tag == tags.HDCP_ENFORCEMENT else block


def test_a_careless_server_is_found(written: Path, credential: Credential) -> None:
    with python_server(written, credential, CarelessServer) as url:
        report = conformance("--url", url, "--kinds", "all")
    assert report.status == 1
    versions = (1, 2, 3)
    leases = {f"{kind}, version {version}" for kind in ("lease", "lease-and-rental") for version in versions}
    leases |= {"renewal of a lease", "lease while a film plays", "lease of a playback session"}
    protected = {f"protected, version {version}" for version in versions}
    protected.add("protected, for a device of the level Baseline")
    assert report.of("failed") == leases | protected | {"equal refusals after the certificate"}
    assert all(report.found(name).startswith("other terms (lease ") for name in leases)
    assert all("has a value of 8 bytes" in report.found(name) for name in protected)
    assert "different answers" in report.found("equal refusals after the certificate")
    # A device cannot play after these, but is told that the server is at fault.
    assert "missing R2" in report.of("differs") and "fault of the server" in report.found("missing R2")

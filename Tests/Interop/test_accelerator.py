"""`crypto.accelerator`: RSA and ES256 in a library that runs eight operations side by side. A stand-in takes its place.

The stand-in computes with OpenSSL on every processor. It is built from Tests/AcceleratorStandIn. Tests that need no
faults run with crypto_mb itself too, if it is installed (LATCHKEY_ACCELERATOR names it) and this processor can run it.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import platform
import shutil
import struct
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from deployment import Deployment, deployment_of, run_latchkey
from fairplay_device.ckc import open_ckc
from fairplay_device.spc import SPCOptions, device_for
from load_tool import LoadTool
from own_daemon import OwnDaemon, await_addresses, new_setup, start_daemon, stop_daemon

SOURCE = Path(__file__).parents[1] / "AcceleratorStandIn" / "stand_in_crypto_mb.c"
BUILD_SECONDS = 60
CHECK_SECONDS = 60
# The calls of the self-test: for decryption (three to compare and five to time, for each size), and for checks of
# signatures.
SELF_TEST_CALLS = 16
SELF_TEST_CHECKS = 35
# After so many wrong results the library is given up.
WRONG_RESULTS_MAXIMUM = 3


def build(path: Path, *options: str) -> Path:
    compiler = next(filter(None, map(shutil.which, ("cc", "clang", "gcc"))), None)
    if compiler is None:
        pytest.skip("there is no C compiler")
    arguments = ["-shared", "-fPIC", "-O1", "-std=gnu11", "-Wall", "-Werror", *options, "-o", path, SOURCE, "-lcrypto"]
    subprocess.run([compiler, *arguments], check=True, timeout=BUILD_SECONDS)
    return path


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("accelerator") / "libcrypto_mb.so")


@pytest.fixture(params=["stand-in", "crypto_mb"])
def each_library(request: pytest.FixtureRequest, library: Path, tmp_path: Path) -> Path:
    """The stand-in and the installed library in turn."""
    if request.param == "stand-in":
        return library
    installed = Path(os.environ.get("LATCHKEY_ACCELERATOR", "/usr/local/lib/latchkey/libcrypto_mb.so"))
    if not installed.exists():
        pytest.skip("no crypto_mb is installed; Scripts/install-accelerator installs it")
    (tmp_path / "doctor").mkdir()
    setup = new_setup(tmp_path / "doctor")
    configure(setup, str(installed))
    found = str(doctor(setup)["found"])
    if "no instructions for it" in found:
        pytest.skip("this processor cannot run crypto_mb")
    return installed


def configure(setup: Path, value: str) -> None:
    file = setup / "latchkey.json5"
    text = file.read_text()
    opening = text.index("{") + 1
    file.write_text(f'{text[:opening]}\n    crypto: {{ accelerator: "{value}" }},{text[opening:]}')


@contextmanager
def daemon_with(folder: Path, value: str | None, environment: dict[str, str] | None = None) -> Iterator[OwnDaemon]:
    # All requests meet on one loop.
    setup = new_setup(folder, {"loopCount": 1})
    if value is not None:
        configure(setup, value)
    log = folder / "daemon.log"
    process = start_daemon(setup, log, environment)
    try:
        addresses = await_addresses(process, log)
        yield OwnDaemon(process, setup, addresses["public"], addresses["admin"], log)
        assert process.poll() is None, f"the daemon is gone: {log.read_text()[-2000:]}"
    finally:
        stop_daemon(process)


def events(daemon: OwnDaemon, name: str) -> list[dict[str, object]]:
    lines = daemon.log.read_text().rpartition("\n")[0].splitlines()
    entries = [json.loads(line) for line in lines if line.startswith("{")]
    return [entry for entry in entries if entry["event"] == name]


@dataclass
class Asker:
    """Asks for several licenses in one request, so that their RSA operations are one batch."""

    daemon: OwnDaemon
    deployment: Deployment

    def ask(self, version: int, count: int, damaged: int | None = None) -> list[int]:
        """Asks for `count` licenses, opens each one, and returns the statuses. One SPC may have a damaged RSA part."""
        device = device_for(self.deployment.credential, version)
        contexts = [device.request(SPCOptions(asset_id=self.deployment.asset_id)) for _ in range(count)]
        messages = [bytearray(context.message) for context in contexts]
        if damaged is not None:
            messages[damaged][60] ^= 1
        keys = [{"id": index, "spc": base64.b64encode(message).decode()} for index, message in enumerate(messages)]
        body = json.dumps({"fairplay-streaming-request": {"streaming-keys": keys}})
        connection = http.client.HTTPConnection(*self.daemon.public, timeout=60)
        connection.request("POST", "/fps/license", body, {"Authorization": f"Bearer {self.deployment.token}"})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        assert answer.status == 200, text
        entries = json.loads(text)["fairplay-streaming-response"]["streaming-keys"]
        assert [entry["id"] for entry in entries] == list(range(count))
        for entry, context in zip(entries, contexts, strict=True):
            if entry["status"] == 0:
                opened = open_ckc(base64.b64decode(entry["ckc"]), context.secrets)
                assert opened.content_key == self.deployment.key.key
        return [entry["status"] for entry in entries]

    def counts(self) -> dict[str, int]:
        """How many operations, and how many batches and operations of the library there were so far."""
        metrics = self.daemon.metrics()
        names = {
            "operations": "latchkey_rsa_operations_total",
            "accelerated": "latchkey_rsa_accelerated_operations_total",
            "batches": "latchkey_rsa_accelerated_batches_total",
            "wrong": "latchkey_accelerator_wrong_results_total",
            "serving": "latchkey_accelerator_serving",
        }
        return {short: int(metrics[name]) for short, name in names.items()}


def asker(daemon: OwnDaemon) -> Asker:
    return Asker(daemon, deployment_of(daemon.url, daemon.setup))


def test_openssl_serves_by_default(tmp_path: Path) -> None:
    with daemon_with(tmp_path, None) as daemon:
        (line,) = events(daemon, "crypto_backend")
        assert line["backend"] == "openssl" and "off" in str(line["cause"])
        asking = asker(daemon)
        assert asking.ask(1, 8) == [0] * 8
        assert asking.counts() == {"operations": 8, "accelerated": 0, "batches": 0, "wrong": 0, "serving": 0}


def test_the_spcs_of_a_request_are_one_batch(tmp_path: Path, each_library: Path) -> None:
    with daemon_with(tmp_path, str(each_library)) as daemon:
        (line,) = events(daemon, "crypto_backend")
        assert line["backend"] == "crypto_mb" and line["library"] == str(each_library) and line["level"] == "info"
        assert 1 <= line["openssl_rsa1024_maximum"] <= 7 and 1 <= line["openssl_rsa2048_maximum"] <= 7
        asking = asker(daemon)
        assert asking.ask(1, 8) == [0] * 8
        assert asking.counts() == {"operations": 8, "accelerated": 8, "batches": 1, "wrong": 0, "serving": 1}
        assert asking.ask(2, 8) == [0] * 8
        assert asking.counts() == {"operations": 16, "accelerated": 16, "batches": 2, "wrong": 0, "serving": 1}
        # So few operations cost less with OpenSSL, as the daemon has measured at its start.
        few = line["openssl_rsa2048_maximum"]
        assert asking.ask(1, 1) == [0] and asking.ask(2, few) == [0] * few
        assert asking.counts() == {"operations": 17 + few, "accelerated": 16, "batches": 2, "wrong": 0, "serving": 1}


def test_a_bad_spc_is_refused_among_good_ones(tmp_path: Path, each_library: Path) -> None:
    with daemon_with(tmp_path, str(each_library)) as daemon:
        asking = asker(daemon)
        for version in (1, 2):
            statuses = asking.ask(version, 8, damaged=3)
            assert statuses[3] != 0 and statuses[:3] + statuses[4:] == [0] * 7
        assert asking.counts() == {"operations": 16, "accelerated": 16, "batches": 2, "wrong": 0, "serving": 1}
        assert not events(daemon, "accelerator_result_wrong")


@pytest.mark.parametrize("order", ["wrong-lane", "wrong-half", "failed-lane"])
def test_wrong_results_are_computed_again_until_the_library_is_given_up(
    tmp_path: Path, library: Path, order: str
) -> None:
    environment = {"STAND_IN_ORDER": order, "STAND_IN_AFTER": str(SELF_TEST_CALLS)}
    with daemon_with(tmp_path, str(library), environment) as daemon:
        asking = asker(daemon)
        for wrong in range(1, WRONG_RESULTS_MAXIMUM + 1):
            assert asking.ask(1, 8) == [0] * 8
            assert asking.counts()["wrong"] == wrong
        assert asking.ask(1, 8) == [0] * 8
        counts = asking.counts()
        assert counts["serving"] == 0 and counts["batches"] == WRONG_RESULTS_MAXIMUM
        assert len(events(daemon, "accelerator_result_wrong")) == 1
        started, given_up = events(daemon, "crypto_backend")
        assert started["backend"] == "crypto_mb"
        assert given_up["backend"] == "openssl" and given_up["level"] == "error"


# The last one computes wrongly while it is timed.
@pytest.mark.parametrize(
    ("order", "right_calls", "cause"),
    [
        ("wrong-lane", 0, "another result than OpenSSL"),
        ("unsuited", 0, "no instructions for it"),
        ("wrong-lane", SELF_TEST_CALLS - 1, "another result than OpenSSL"),
    ],
)
def test_a_library_that_cannot_serve_leaves_openssl(
    tmp_path: Path, library: Path, order: str, right_calls: int, cause: str
) -> None:
    environment = {"STAND_IN_ORDER": order, "STAND_IN_AFTER": str(right_calls)}
    with daemon_with(tmp_path, str(library), environment) as daemon:
        (line,) = events(daemon, "crypto_backend")
        assert line["backend"] == "openssl" and line["level"] == "warning" and cause in str(line["cause"])
        asking = asker(daemon)
        assert asking.ask(1, 3) == [0] * 3
        assert asking.counts() == {"operations": 3, "accelerated": 0, "batches": 0, "wrong": 0, "serving": 0}


def cut_off(library: Path, copy: Path) -> str:
    """Copies a library without what its loader reads first, as a copy that was interrupted. Returns the signal."""
    content = library.read_bytes()
    table, entry_size, entry_count = (
        int.from_bytes(content[32:40], "little"),
        *struct.unpack_from("<HH", content, 54),
    )
    heads = [content[table + entry_size * index :] for index in range(entry_count)]
    (dynamic,) = [int.from_bytes(head[8:16], "little") for head in heads if head[:4] == b"\2\0\0\0"]
    copy.write_bytes(content[: dynamic // 4096 * 4096])
    copy.chmod(0o755)
    return "SIGBUS"


def alter(_: Path, copy: Path) -> str:
    """Builds a library with bytes that are no instruction. Returns the signal."""
    build(copy, "-DSTAND_IN_ORDER=7")
    return "SIGTRAP" if platform.machine() == "aarch64" else "SIGILL"


@pytest.mark.parametrize("damage", [cut_off, alter])
def test_a_damaged_library_ends_only_a_child_process(
    tmp_path: Path, library: Path, damage: Callable[[Path, Path], str]
) -> None:
    copy = tmp_path / "libcrypto_mb.so"
    signal = damage(library, copy)
    with daemon_with(tmp_path, str(copy)) as daemon:
        (line,) = events(daemon, "crypto_backend")
        assert line["backend"] == "openssl" and line["level"] == "warning" and signal in str(line["cause"])
        assert asker(daemon).ask(1, 3) == [0] * 3
        found = doctor(daemon.setup)
        assert found["verdict"] == "warning" and signal in str(found["found"]) and found["remedy"]


# --- Signatures of tokens ---------------------------------------------------------------------------------------------


def load(daemon: OwnDaemon, count: int, forged: int = 0) -> dict[str, int]:
    """Asks for licenses over many connections, each with a token of its own. The last tokens are forged.

    Returns the numbers of answers by status and code.
    """
    deployment = deployment_of(daemon.url, daemon.setup)
    tokens = deployment.mint("--lease", "300", "--subject", "viewer", "--count", str(count)).split()
    for index in range(count - forged, count):
        signed, _, signature = tokens[index].rpartition(".")
        tokens[index] = f"{signed}.{'B' if signature[0] != 'B' else 'C'}{signature[1:]}"
    tool = LoadTool(daemon.url, daemon.setup, deployment.content, tuple(tokens))
    return tool.run("--count", str(count), "--connections", "64", "--seconds", "60")["results"]


def signature_counts(daemon: OwnDaemon) -> dict[str, int]:
    """How many signatures were checked in batches, how many batches there were, and how many results were wrong."""
    metrics = daemon.metrics()
    names = {
        "checks": "latchkey_es256_accelerated_checks_total",
        "batches": "latchkey_es256_accelerated_batches_total",
        "wrong": "latchkey_accelerator_wrong_results_total",
        "serving": "latchkey_accelerator_serving",
    }
    return {short: int(metrics[name]) for short, name in names.items()}


def test_new_tokens_are_checked_in_batches(tmp_path: Path, each_library: Path) -> None:
    with daemon_with(tmp_path, str(each_library)) as daemon:
        assert load(daemon, 600, forged=100) == {"200": 500, "401 token_signature": 100}
        counts = signature_counts(daemon)
        assert 3 * counts["batches"] <= counts["checks"] <= 7 * counts["batches"]
        # Some come alone or in pairs, at the end at the latest.
        assert 300 <= counts["checks"] <= 600
        assert counts["wrong"] == 0 and counts["serving"] == 1


def test_a_token_that_is_known_is_not_checked_again(tmp_path: Path, library: Path) -> None:
    with daemon_with(tmp_path, str(library)) as daemon:
        asking = asker(daemon)
        for _ in range(3):
            assert asking.ask(1, 4) == [0] * 4
        assert signature_counts(daemon) == {"checks": 0, "batches": 0, "wrong": 0, "serving": 1}


def test_no_good_token_is_refused_by_a_wrong_check(tmp_path: Path, library: Path) -> None:
    environment = {"STAND_IN_ORDER": "refused-signature", "STAND_IN_AFTER_CHECKS": str(SELF_TEST_CHECKS)}
    with daemon_with(tmp_path, str(library), environment) as daemon:
        assert load(daemon, 400) == {"200": 400}
        counts = signature_counts(daemon)
        # One batch may have the forged signature of the daemon in the lane that is wrong.
        assert counts["wrong"] == WRONG_RESULTS_MAXIMUM <= counts["batches"] <= WRONG_RESULTS_MAXIMUM + 1
        assert counts["serving"] == 0
        (told,) = events(daemon, "accelerator_result_wrong")
        assert told["operation"] == "ES256"
        assert events(daemon, "crypto_backend")[-1]["backend"] == "openssl"


def test_a_library_that_begins_to_accept_forgeries_is_given_up(tmp_path: Path, library: Path) -> None:
    environment = {"STAND_IN_ORDER": "accepted-signatures", "STAND_IN_AFTER_CHECKS": str(SELF_TEST_CHECKS + 5)}
    with daemon_with(tmp_path, str(library), environment) as daemon:
        assert load(daemon, 400, forged=200) == {"200": 200, "401 token_signature": 200}
        assert signature_counts(daemon)["serving"] == 0
        given_up = events(daemon, "crypto_backend")[-1]
        assert given_up["level"] == "error" and "forged signature" in str(given_up["cause"])


@pytest.mark.parametrize("order", ["refused-signature", "accepted-signatures"])
def test_a_library_that_checks_wrongly_never_serves(tmp_path: Path, library: Path, order: str) -> None:
    with daemon_with(tmp_path, str(library), {"STAND_IN_ORDER": order}) as daemon:
        (line,) = events(daemon, "crypto_backend")
        assert line["backend"] == "openssl" and "ES256" in str(line["cause"])
        assert load(daemon, 40, forged=10) == {"200": 30, "401 token_signature": 10}


def doctor(setup: Path, environment: dict[str, str] | None = None) -> dict[str, object]:
    finished = subprocess.run(
        [os.environ["LATCHKEY_BIN"], "doctor", "--config", setup / "latchkey.json5", "--json", "--no-daemon"],
        capture_output=True, text=True, timeout=CHECK_SECONDS, check=False, env=os.environ | (environment or {}),
    )  # fmt: skip
    (finding,) = [one for one in json.loads(finished.stdout)["findings"] if one["check"] == "crypto.accelerator"]
    return finding


def test_doctor_says_what_would_serve(tmp_path: Path, library: Path) -> None:
    setup = new_setup(tmp_path)
    run_latchkey(setup, "keys", "create", "--content", "movie-1")
    assert doctor(setup)["verdict"] == "good" and "off" in str(doctor(setup)["found"])
    configure(setup, str(library))
    found = doctor(setup)
    assert found["verdict"] == "good" and "99.0.1" in str(found["found"])
    found = doctor(setup, {"STAND_IN_ORDER": "unsuited"})
    assert found["verdict"] == "warning" and "processor" in str(found["found"]) and found["remedy"]


def test_a_library_that_others_can_change_is_refused(tmp_path: Path, library: Path) -> None:
    setup = new_setup(tmp_path)
    copy = tmp_path / "libcrypto_mb.so"
    shutil.copy(library, copy)
    configure(setup, str(copy))
    program = Path(os.environ["LATCHKEY_BIN"]).with_name("latchkeyd")
    check = [program, "--config", setup / "latchkey.json5", "--check"]
    copy.chmod(0o755)
    assert subprocess.run(check, capture_output=True, timeout=CHECK_SECONDS, check=False).returncode == 0
    copy.chmod(0o777)
    refused = subprocess.run(check, capture_output=True, text=True, timeout=CHECK_SECONDS, check=False)
    assert refused.returncode != 0
    assert "crypto.accelerator" in refused.stderr and "go-w" in refused.stderr

"""The faults that the stand-ins for the library of the SDK have if an asset id or a credential names them."""

import base64
import json
import signal
import struct
import subprocess
import time
from pathlib import Path

import pytest

from fairplay_device.credentials import Credential, make_credential
from fairplay_device.spc import Device, PlaybackContext, device_for
from sdk_certificates import newer_entry, write_certificates
from sdk_lab import (
    INTEGRITY, INTERNAL, IV, KEY, MEMORY, STATE, Flavour, Start, assert_panicked, built, certificates, device, flavour,
    granted, library, one_item, opened_ckc, operation, options, request_of, start, usable,
)  # fmt: skip
from sdk_library import STAND_IN, Answer, Died, Library

pytestmark = pytest.mark.oracle


def faulty(device: Device, name: str) -> PlaybackContext:
    return device.request(options(asset_id=f"fault-{name}-movie".encode()))


def fault_answer(library: Library, device: Device, name: str) -> Answer:
    return library.call(request_of(operation(faulty(device, name).message)))


@pytest.mark.parametrize(
    ("name", "status"), [("crash", -signal.SIGSEGV), ("abort", -signal.SIGABRT), ("exit", 0)]
)
def test_a_call_can_end_the_process(
    name: str, status: int, certificates: Path, device: Device, start: Start
) -> None:
    library = start(certificates)
    with pytest.raises(Died) as died:
        fault_answer(library, device, name)
    assert died.value.status == status


def test_a_call_can_hang(certificates: Path, device: Device, start: Start) -> None:
    library = start(certificates)
    library.send(json.dumps(request_of(operation(faulty(device, "hang").message))).encode())
    deadline = time.monotonic() + 60
    while library.name != "hanging":
        assert library.process.poll() is None
        assert time.monotonic() < deadline


def test_a_call_can_be_slow(library: Library, device: Device) -> None:
    start = time.monotonic()
    assert one_item(fault_answer(library, device, "slow-150"))["status"] == 0
    assert time.monotonic() - start >= 0.15


def test_a_call_can_exhaust_the_memory(certificates: Path, device: Device, start: Start) -> None:
    library = start(certificates, memory_limit=1 << 30)
    assert one_item(fault_answer(library, device, "exhaust-memory")) == {"id": 1, "status": MEMORY}
    assert usable(library, device)


def test_a_call_can_panic(flavour: Flavour, certificates: Path, device: Device, start: Start) -> None:
    library = start(certificates)
    if flavour.is_swift:
        with pytest.raises(Died):
            fault_answer(library, device, "panic")
        return
    assert_panicked(fault_answer(library, device, "panic"), library)
    assert usable(library, device)


@pytest.mark.parametrize(("name", "status"), [("call-status", INTERNAL), ("no-answer", 0)])
def test_a_call_can_have_no_answer(name: str, status: int, library: Library, device: Device) -> None:
    assert fault_answer(library, device, name) == Answer(status, 0, None, False)


@pytest.mark.parametrize("name", ["print-request", "print-output"])
def test_a_call_can_print(name: str, certificates: Path, device: Device, start: Start) -> None:
    library = start(certificates)
    answer = fault_answer(library, device, name)
    assert one_item(answer)["status"] == 0
    assert (KEY.hex().encode() in library.errors) == (name == "print-request")
    assert library.output == (answer.text if name == "print-output" else b"")


@pytest.mark.parametrize("name", ["hu-random", "hu-wrong"])
def test_the_device_id_can_be_wrong(name: str, library: Library, device: Device) -> None:
    shown = [one_item(fault_answer(library, device, name))["hu"] for _ in range(2)]
    assert (shown[0] == shown[1]) == (name == "hu-wrong")
    assert device.device_id.hex().upper() not in shown


def test_facts_can_be_wrong(library: Library, device: Device) -> None:
    item = one_item(fault_answer(library, device, "facts-wrong"))
    assert (item["transaction-id"], item["playback-state"]["session-id"]) == (1, STATE.session ^ 1)


@pytest.mark.parametrize(
    ("name", "number"), [("numbers-large", 2**64 - 1), ("numbers-too-large", 2**65)]
)
def test_numbers_can_be_large(name: str, number: int, library: Library, device: Device) -> None:
    item = one_item(fault_answer(library, device, name))
    assert (item["kdl-version"], item["playback-state"]["state"], item["id"]) == (number, number, 1)


def test_an_item_can_have_another_id_or_status(library: Library, device: Device) -> None:
    assert one_item(fault_answer(library, device, "id-wrong"))["id"] == 2
    assert one_item(fault_answer(library, device, "item-status")) == {"id": 1, "status": -42999}


def test_the_list_of_items_can_be_wrong(library: Library, device: Device) -> None:
    assert fault_answer(library, device, "items-empty").items() == []
    assert len(fault_answer(library, device, "items-twice").items()) == 2


def test_a_ckc_can_be_missing_or_no_base64(library: Library, device: Device) -> None:
    assert "ckc" not in one_item(fault_answer(library, device, "ckc-missing"))
    with pytest.raises(ValueError, match="base64"):
        base64.b64decode(one_item(fault_answer(library, device, "ckc-not-base64"))["ckc"], validate=True)


@pytest.mark.parametrize(("name", "difference"), [("ckc-length", 16), ("ckc-cut", 16)])
def test_a_ckc_can_have_another_length(name: str, difference: int, library: Library, device: Device) -> None:
    ckc = base64.b64decode(one_item(fault_answer(library, device, name))["ckc"])
    assert struct.unpack_from(">I", ckc, 24)[0] - (len(ckc) - 28) == difference


def test_a_ckc_can_have_another_key(library: Library, device: Device) -> None:
    context = faulty(device, "ckc-other-key")
    opened = opened_ckc(one_item(library.call(request_of(operation(context.message)))), context.secrets)
    assert opened.content_key != KEY
    assert opened.content_iv == IV


def test_an_answer_can_be_no_json(library: Library, device: Device) -> None:
    assert fault_answer(library, device, "not-json").text == b"this is not JSON"


@pytest.mark.parametrize(("name", "is_whole"), [("cut", False), ("no-nul", True), ("nul-in-the-middle", False)])
def test_an_answer_can_end_early(name: str, is_whole: bool, library: Library, device: Device) -> None:
    answer = fault_answer(library, device, name)
    assert answer.has_nul == (name == "nul-in-the-middle")
    assert answer.text.startswith(b'{"fairplay-streaming-response":')
    assert answer.text.endswith(b"]}}") == is_whole


def test_an_answer_can_have_a_wrong_size(library: Library, device: Device) -> None:
    answer = fault_answer(library, device, "size-large")
    assert answer.size == len(answer.text) + 1 + 2**20
    assert one_item(answer)["status"] == 0
    request = request_of(operation(faulty(device, "size-32").message))
    assert library.call(request, out_size_before=2**64 - 1).size >> 32 == 0xFFFFFFFF


def test_an_answer_can_be_huge(library: Library, device: Device) -> None:
    answer = fault_answer(library, device, "huge")
    assert len(answer.text) > 10 << 20
    assert one_item(answer)["status"] == 0


def test_a_fault_can_be_that_of_a_credential(made_credential: Credential, tmp_path: Path, start: Start) -> None:
    other = make_credential()
    library = start(
        write_certificates(
            tmp_path, newer_entry(tmp_path, made_credential), newer_entry(tmp_path, other, "two", "fault items-empty")
        )
    )
    assert usable(library, device_for(made_credential, 1))
    request = request_of(operation(device_for(other, 1).request(options()).message))
    assert library.call(request).items() == []


def probe(credential: Credential) -> dict[str, object]:
    """A request that proves only that its certificate is known: the library cannot open SK..R1."""
    device = Device(1, credential.certificate_1024, application_secret=bytes(16))
    spc = base64.b64encode(device.request(options()).message).decode()
    return request_of({"id": 1, "spc": spc}, name="get-client-info")


@pytest.mark.parametrize(("line", "status"), [("failure-fault crash", -signal.SIGSEGV), ("load-fault exit", 0)])
def test_a_process_can_end_before_its_first_license(
    line: str, status: int, made_credential: Credential, tmp_path: Path, start: Start
) -> None:
    library = start(write_certificates(tmp_path, newer_entry(tmp_path, made_credential, "one", line)))
    with pytest.raises(Died) as died:
        library.call(probe(made_credential))
    assert died.value.status == status


def test_a_fault_can_be_that_of_failures(made_credential: Credential, tmp_path: Path, start: Start) -> None:
    entry = newer_entry(tmp_path, made_credential, "one", "failure-fault not-json")
    library = start(write_certificates(tmp_path, entry))
    assert library.call(probe(made_credential)).text == b"this is not JSON"
    assert usable(library, device_for(made_credential, 1))


def test_a_probe_has_the_status_of_a_wrong_secret(library: Library, made_credential: Credential) -> None:
    item = one_item(library.call(probe(made_credential)), "get-client-info")
    assert item == {"id": 1, "status": INTEGRITY}


@pytest.mark.parametrize("asset_id", [b"fault-", b"fault-unknown-movie", b"fault-cutting", b"fault-slow-movie", b"cut"])
def test_other_asset_ids_have_no_fault(asset_id: bytes, library: Library, device: Device) -> None:
    assert granted(library, device.request(options(asset_id=asset_id))).content_key == KEY


def test_the_script_describes_itself() -> None:
    described = subprocess.run([STAND_IN / "build", "--help"], capture_output=True, text=True, check=True)
    assert described.stdout.startswith("Builds the stand-ins")
    assert subprocess.run([STAND_IN / "build"], capture_output=True, check=False).returncode == 1

"""How the stand-ins for the library of the SDK are loaded, which certificates files they take, and who frees what."""

import json
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fairplay_device.credentials import Credential, make_credential, sha1
from fairplay_device.spc import Device, device_for
from sdk_certificates import SPOILS, newer_entry, older_entry, versioned, write_certificates
from sdk_lab import (
    INTERNAL, Flavour, Start, built, certificates, device, flavour, library, operation, options, request_of, start,
    usable,
)  # fmt: skip
from sdk_library import FLAVOURS, Died, Library

pytestmark = pytest.mark.oracle


# --- The certificates file --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_pem", [False, True])
@pytest.mark.parametrize("is_base64", [False, True])
def test_an_entry_of_the_older_form_serves_version_1(
    is_pem: bool, is_base64: bool, made_credential: Credential, tmp_path: Path, start: Start
) -> None:
    entry = older_entry(tmp_path, made_credential, is_pem=is_pem, is_base64=is_base64)
    library = start(write_certificates(tmp_path, entry))
    assert usable(library, device_for(made_credential, 1))
    # The newer certificate is not in the file.
    assert not usable(library, device_for(made_credential, 2))
    # A hash of the known certificate selects the entry, but it has no 2048-bit key.
    device = device_for(made_credential, 2)
    device.certificate_hash = sha1(made_credential.certificate_1024)
    assert not usable(library, device)


def test_each_entry_serves_its_own_devices(made_credential: Credential, tmp_path: Path, start: Start) -> None:
    other = make_credential()
    library = start(
        write_certificates(
            tmp_path, newer_entry(tmp_path, made_credential), newer_entry(tmp_path, other, "two"), 
        )
    )  # fmt: skip
    assert all(usable(library, device_for(one, version)) for one in (made_credential, other) for version in (1, 2, 3))
    assert not usable(library, device_for(make_credential(), 1))


@pytest.mark.parametrize("spoil", SPOILS)
def test_one_bad_entry_disables_all(
    spoil: Callable[[Path, dict[str, str], Credential], None], made_credential: Credential, tmp_path: Path, start: Start
) -> None:
    bad = newer_entry(tmp_path, made_credential, "bad")
    spoil(tmp_path, bad, made_credential)
    other = make_credential()
    library = start(write_certificates(tmp_path, newer_entry(tmp_path, other), bad))
    assert not usable(library, device_for(other, 1))
    assert not library.errors


def test_a_certificate_of_this_version_is_accepted(
    made_credential: Credential, tmp_path: Path, start: Start
) -> None:
    credential = replace(made_credential, certificate_2048=versioned(made_credential, 26, 0))
    library = start(write_certificates(tmp_path, newer_entry(tmp_path, credential)))
    assert all(usable(library, device_for(credential, version)) for version in (1, 2, 3))


def test_a_certificates_file_is_read_tolerantly_and_once(
    made_credential: Credential, tmp_path: Path, start: Start
) -> None:
    path = write_certificates(tmp_path, newer_entry(tmp_path, made_credential) | {"unknown": "member"})
    path.write_text(path.read_text().replace("}", ", }"))
    library = start(path)
    device = device_for(made_credential, 2)
    assert usable(library, device)
    path.unlink()
    assert usable(library, device)


def test_a_missing_certificates_file_disables_all(device: Device, tmp_path: Path, start: Start) -> None:
    assert not usable(start(tmp_path / "certificates.json"), device)


def test_a_malformed_certificates_file_ends_one_flavour(
    flavour: Flavour, device: Device, tmp_path: Path, start: Start
) -> None:
    path = tmp_path / "certificates.json"
    path.write_text('{"certificates": [')
    library = start(path)
    if flavour.is_swift:
        assert not usable(library, device)
        return
    with pytest.raises(Died) as died:
        usable(library, device)
    assert died.value.status == -signal.SIGABRT


def test_without_the_variable_the_working_directory_counts(
    certificates: Path, device: Device, start: Start
) -> None:
    assert usable(start(None, folder=certificates.parent), device)
    assert not usable(start(None), device)


def test_files_may_be_descriptors_of_the_process(made_credential: Credential, tmp_path: Path, start: Start) -> None:
    entry = newer_entry(tmp_path, made_credential)
    opened = {member: memory_file((tmp_path / name).read_bytes()) for member, name in entry.items()}
    listed = {member: str(number) for member, number in opened.items()}
    certificates = memory_file(json.dumps({"certificates": [listed]}).encode())
    library = start(f"/proc/self/fd/{certificates}", descriptors=(certificates, *opened.values()))
    for number in (certificates, *opened.values()):
        os.close(number)
    assert usable(library, device_for(made_credential, 3))


def memory_file(contents: bytes) -> int:
    number = os.memfd_create("certificates")
    os.write(number, contents)
    return number


# --- Loading and memory -----------------------------------------------------------------------------------------------


def test_the_runtime_can_be_linked_in(built: Path, certificates: Path, device: Device) -> None:
    path = built / "swift-static" / FLAVOURS["swift"]
    if not path.exists():
        pytest.skip("there is no Swift compiler")
    assert b"libswiftCore.so" not in path.read_bytes()
    library = Library(path, certificates)
    assert usable(library, device)
    library.close()


@pytest.mark.parametrize("has_version", [True, False])
def test_a_library_may_have_no_version(
    has_version: bool, flavour: Flavour, built: Path, certificates: Path, device: Device, start: Start
) -> None:
    name = flavour.name if has_version else f"{flavour.name}-without-version"
    library = start(certificates, library=built / name / FLAVOURS[flavour.name])
    assert library.version() == ("26.0.0" if has_version else None)
    assert usable(library, device)


def test_the_search_path_of_the_core_is_relative(
    flavour: Flavour, certificates: Path, device: Device, start: Start
) -> None:
    assert usable(start(certificates, loads_core=False, folder=flavour.library.parent), device)
    assert usable(start(certificates, loads_core=True), device)
    with pytest.raises(Died) as died:
        usable(start(certificates, loads_core=False), device)
    assert b"libfpscrypto.so: cannot open shared object file" in died.value.errors


def test_sizes_have_64_bits_or_32(flavour: Flavour, library: Library, device: Device) -> None:
    request = request_of(operation(device.request(options()).message))
    answer = library.call(request, out_size_before=2**64 - 1)
    assert answer.size >> 32 == (0xFFFFFFFF if flavour.is_swift else 0)
    assert answer.size & 0xFFFFFFFF == len(answer.text) + 1
    assert library.call(request).size >> 32 == 0


def test_a_request_ends_at_its_size_or_at_its_nul(flavour: Flavour, library: Library, device: Device) -> None:
    request = json.dumps(request_of(operation(device.request(options()).message))).encode()
    longer = library.call(request + b" rest", size=len(request))
    with_nul = library.call(request + b"\x00rest")
    statuses = [answer.items()[0]["status"] for answer in (longer, with_nul)]
    assert statuses == ([0, INTERNAL] if flavour.is_swift else [INTERNAL, 0])


@pytest.mark.parametrize("manner", ["free", "zeros"])
def test_an_answer_that_is_given_back_wrongly_ends_the_process(
    manner: str, flavour: Flavour, certificates: Path, device: Device, start: Start
) -> None:
    if flavour.is_swift and manner == "zeros":
        pytest.skip("only the Rust flavour measures the answer again")
    library = start(certificates)
    request = request_of(operation(device.request(options()).message))
    with pytest.raises(Died) as died:
        library.call(request, dispose=manner)
        library.call(request)
    assert died.value.status == -signal.SIGABRT

"""What devices state about themselves stands in the ledger, the log, the counts and `latchkey why`."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from urllib.parse import urlencode

import pytest

from deployment import deployment_of, run_latchkey
from fairplay_device import tags
from fairplay_device.credentials import Credential
from fairplay_device.facts import (
    DenyListVersion, DeviceIdentity, DeviceInfo, PlaybackState, SecurityLevelReport, VMDeviceInfo,
)
from fairplay_device.spc import SPCOptions, device_for
from license_client import Answer, LicenseClient
from own_daemon import OwnDaemon, running_daemon

ROW_SECONDS = 30
METRICS = "latchkey_requests_by_"
PHONE = {
    "device_identity": DeviceIdentity(1, 2, bytes(8), bytes(8), 1, 1, 0x11_0401),
    "security_level_report": SecurityLevelReport(tags.LEVEL_MAIN),
    "capabilities": tags.CAPABILITY_HDCP_TYPE_1 | tags.CAPABILITY_LEVEL_MAIN,
    "playback_state": PlaybackState(1_700_000_000, tags.READY_TO_START, 7),
    "vm_device_info": VMDeviceInfo(0),
    "protocol_versions_supported": (1, 3),
}
# An older Mac whose system is a guest; its level is only in the capabilities.
MAC = {
    "device_info": DeviceInfo(tags.DEVICE_TYPE_MAC, 0x0E_0301),
    "deny_list_version": DenyListVersion(31),
    "capabilities": tags.CAPABILITY_LEVEL_BASELINE,
    "streaming_indicator": tags.STREAMING_TO_AV_ADAPTER,
    "vm_device_info": VMDeviceInfo(1, 3, 0x0E_0301, 1, 3, 0x0D_0000, 1),
}
UNKNOWN = {
    "device_identity": DeviceIdentity(1, 77, bytes(8), bytes(8), 1, 1, 0x28_0000),
    "security_level_report": SecurityLevelReport((1 << 63) + 5),
}
STATED_BY_PHONE = {
    "deviceClass": "mobile", "osVersion": "17.4.1", "securityLevel": "main", "output": "local",
    "playbackState": "ready", "machine": "physical", "denyListVersion": None, "capabilities": 33, "protocolVersion": 1,
    "protocolVersionNewest": 3,
}
STATED_BY_MAC = {
    "deviceClass": "desktop", "osVersion": "14.3.1", "securityLevel": "baseline", "output": "av_adapter",
    "playbackState": None, "machine": "virtual", "denyListVersion": 31, "capabilities": 16, "protocolVersion": 1,
    "protocolVersionNewest": 1,
}
WORDS_OF_PHONE = (
    "class mobile, os 17.4.1, level main, state ready, capabilities hdcp+main, protocol 1/3"
)
WORDS_OF_MAC = (
    "class desktop, os 14.3.1, level baseline, output av_adapter, machine virtual, deny_list 31, "
    "capabilities baseline, protocol 1/1"
)


@dataclass
class Lab:
    """A daemon that gave a license to a phone, to a device of unknown kind and to one that states nothing, and none to
    a Mac."""

    daemon: OwnDaemon
    # The ids of the licenses.
    phone: str
    unknown: str
    silent: str
    # The answer to the Mac.
    mac: Answer
    # To a device with another application secret, so that its SPC was decrypted and then rejected.
    rejected: Answer

    def ask(self, path: str, **query: str) -> dict:
        client = LicenseClient("http://{}:{}".format(*self.daemon.admin))
        token = (self.daemon.setup / "secrets" / "admin-token").read_text().strip()
        try:
            answer = client.send("GET", f"{path}?{urlencode(query)}", headers={"Authorization": f"Bearer {token}"})
        finally:
            client.close()
        assert answer.status == 200, answer
        return json.loads(answer.body)

    def row(self, refusal: Answer) -> dict:
        """The ledger's row of a refusal, which may come after the answer."""
        rid = str(refusal.header("X-Request-Id"))
        deadline = time.monotonic() + ROW_SECONDS
        while not (entries := self.ask("/v1/ledger", request=rid)["entries"]):
            assert time.monotonic() < deadline, f"no row of {rid}"
            time.sleep(0.05)
        (entry,) = entries
        return entry

    def query(self, *options: str) -> list[dict]:
        return json.loads(run_latchkey(self.daemon.setup, "ledger", "query", "--json", *options))["entries"]


@pytest.fixture(scope="module")
def lab(latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with running_daemon(tmp_path_factory.mktemp("device-facts")) as daemon:
        deployment = deployment_of(daemon.url, daemon.setup)

        def send(facts: dict, token: str = deployment.token, credential: Credential = deployment.credential) -> Answer:
            message = device_for(credential, 2).request(SPCOptions(deployment.asset_id, **facts)).message
            return deployment.client.license(message, token)

        def license(facts: dict) -> str:
            answer = send(facts)
            assert answer.status == 200, answer
            return str(answer.header("X-License-Id"))

        another = run_latchkey(daemon.setup, "token", "mint", "--content", "another").strip()
        stranger = replace(deployment.credential, application_secret=bytes(16))
        lab = Lab(
            daemon, license(PHONE), license(UNKNOWN), license({}), mac=send(MAC, another),
            rejected=send(PHONE, credential=stranger),
        )  # fmt: skip
        assert lab.row(lab.mac) and lab.row(lab.rejected)
        yield lab


def test_the_ledger_has_what_devices_state(lab: Lab) -> None:
    (phone,) = lab.ask("/v1/ledger", deviceClass="mobile")["entries"]
    assert (phone["kind"], phone["license"]) == ("license_issued", lab.phone) and phone["stated"] == STATED_BY_PHONE
    assert f"  stated ({WORDS_OF_PHONE})" in phone["text"]
    (mac,) = lab.ask("/v1/ledger", deviceClass="desktop")["entries"]
    assert mac == lab.row(lab.mac) and mac["stated"] == STATED_BY_MAC
    assert mac["kind"] == "license_refused" and mac["detail"] == "content_mismatch"
    (unknown,) = lab.ask("/v1/ledger", securityLevel="8000000000000005")["entries"]
    assert unknown["license"] == lab.unknown
    assert unknown["stated"]["deviceClass"] == "77" and unknown["stated"]["osVersion"] == "40.0.0"
    (silent,) = lab.ask("/v1/ledger", license=lab.silent)["entries"]
    assert {name for name, value in silent["stated"].items() if value is not None} == {
        "output", "protocolVersion", "protocolVersionNewest",
    }
    other = lab.ask("/v1/ledger")["entries"]
    assert {entry["stated"] is None for entry in other if entry["kind"] == "node_started"} == {True}


def test_the_ledger_is_searched_by_what_devices_state(lab: Lab) -> None:
    for version in ("17", "17.4", "17.4.1"):
        assert [entry["license"] for entry in lab.query("--os-version", version)] == [lab.phone]
        assert [entry["license"] for entry in lab.ask("/v1/ledger", osVersion=version)["entries"]] == [lab.phone]
    for version in ("1", "7.4", "17.40"):
        assert lab.query("--os-version", version) == [] == lab.ask("/v1/ledger", osVersion=version)["entries"]
    # The number of a class finds what its word finds.
    assert lab.query("--device-class", "2") == lab.query("--device-class", "mobile") != []
    for wrong in ("--device-class=Mobile", "--security-level=MAIN", "--os-version=17."):
        with pytest.raises(AssertionError, match=r"takes .*, not"):
            lab.query(*wrong.split("="))
    both = ("--device-class", "desktop", "--security-level", "baseline")
    assert [entry["stated"] for entry in lab.query(*both)] == [STATED_BY_MAC]
    assert lab.query(*both, "--os-version", "17") == []
    exported = run_latchkey(lab.daemon.setup, "ledger", "export", "--device-class", "mobile").splitlines()
    assert [json.loads(line)["license"] for line in exported] == [lab.phone]


def test_the_refusal_and_the_license_name_the_device(lab: Lab) -> None:
    rid = str(lab.mac.header("X-Request-Id"))
    assert (lab.mac.status, lab.mac.code) == (403, "content_mismatch")
    assert WORDS_OF_MAC not in lab.mac.body.decode(), "the client hears nothing of it"
    assert lab.ask(f"/v1/refusals/{rid}")["device"] == WORDS_OF_MAC
    address = "http://{}:{}".format(*lab.daemon.admin)
    report = json.loads(run_latchkey(lab.daemon.setup, "why", rid, "--json", "--server", address))
    assert (report["source"], report["device"]) == ("memory", WORDS_OF_MAC)
    lines = run_latchkey(lab.daemon.setup, "why", rid, "--server", address).splitlines()
    assert [line.split(maxsplit=1)[1] for line in lines if line.startswith("device ")] == [WORDS_OF_MAC]
    for name in (lab.phone, rid):
        lab.daemon.await_log(name)
    log = [json.loads(line) for line in lab.daemon.log.read_text().splitlines() if line.startswith("{")]
    devices = {line["event"]: line["device"] for line in log if line.get("license") == lab.phone}
    assert devices == {"license_issued": WORDS_OF_PHONE}
    assert [line["device"] for line in log if line.get("request_id") == rid] == [WORDS_OF_MAC]


def test_a_rejected_message_shows_nothing_of_its_device(lab: Lab) -> None:
    rid = str(lab.rejected.header("X-Request-Id"))
    assert (lab.rejected.status, lab.rejected.code) == (422, "spc_rejected")
    assert "device" not in lab.ask(f"/v1/refusals/{rid}")
    assert lab.row(lab.rejected)["stated"] is None


def test_licenses_and_refusals_are_counted_by_what_devices_state(lab: Lab) -> None:
    kinds = lab.ask("/v1/device-kinds")
    since = kinds.pop("since")
    assert lab.ask("/v1/status")["startedAt"] - 5 <= since <= lab.ask("/v1/status")["now"]
    counts = {
        aspect: {one["value"]: (one["licenses"], one["refusals"]) for one in values}
        for aspect, values in kinds.items()
    }
    assert counts == {
        "device_class": {"none": (1, 0), "mobile": (1, 0), "desktop": (0, 1), "other": (1, 0)},
        "security_level": {"none": (1, 0), "main": (1, 0), "baseline": (0, 1), "other": (1, 0)},
        "os_major": {"none": (1, 0), "17": (1, 0), "14": (0, 1), "other": (1, 0)},
    }
    assert [one["value"] for one in kinds["os_major"]] == ["none", "14", "17", "other"]
    expected = {
        f'{METRICS}{aspect}_total{{{aspect}="{value}",outcome="{outcome}"}}': number
        for aspect, values in counts.items()
        for value, numbers in values.items()
        for outcome, number in zip(("issued", "refused"), numbers, strict=True)
        if number
    }
    assert lab.daemon.metrics(METRICS) == expected

"""Bodies that try to cost far more than their size, each sent to the license route with and without a valid token.

The listener limits them to 64 KiB. These tests check the daemon's behaviour: it answers, uses no more memory, connects
to no other server, and serves the next device.
"""

import json
import socket
import struct
from collections.abc import Iterator

import pytest

from deployment import Deployment, deployment_of
from fairplay_device.spc import SPCOptions, device_for
from license_client import LICENSE_PATH, Answer
from own_daemon import OwnDaemon, running_daemon

RATES = {"rates": {name: {"perSecond": 100_000, "burst": 100_000} for name in ("perAddress", "perSubject")}}
# Far more memory than a request may need, and far less than a decompression bomb would use.
GROWTH_MAXIMUM = 64 << 20
REPEAT_COUNT = 5


def binary_list(objects: list[bytes], reference_size: int = 1, offset_size: int = 4) -> bytes:
    """A binary property list of these objects. The first object is the root."""
    body, offsets = b"bplist00", []
    for each in objects:
        offsets.append(len(body))
        body += each
    table = b"".join(offset.to_bytes(offset_size, "big") for offset in offsets)
    return body + table + trailer(offset_size, reference_size, len(objects), 0, len(body))


def trailer(offset_size: int, reference_size: int, count: int, top: int, table: int) -> bytes:
    return bytes(6) + bytes([offset_size, reference_size]) + struct.pack(">QQQ", count, top, table)


def array_of(count: int, reference: bytes) -> bytes:
    return b"\xaf\x11" + count.to_bytes(2, "big") + count * reference


def laughs() -> bytes:
    entities = "".join(f'<!ENTITY {chr(98 + step)} "{f"&{chr(97 + step)};" * 10}">' for step in range(12))
    return (
        f'<?xml version="1.0"?><!DOCTYPE plist [<!ENTITY a "ha">{entities}]>'
        '<plist version="1.0"><string>&m;</string></plist>'
    ).encode()


REPORTS = {
    "XML, a billion laughs": laughs(),
    "XML, two document types": b'<!DOCTYPE plist PUBLIC "x" "y"><!DOCTYPE x [<!ENTITY a "ha">]><plist>&a;</plist>',
    "XML, deep": b"<plist>" + b"<array>" * 4000 + b"</array>" * 4000 + b"</plist>",
    "XML, without ends": b"<plist>" + b"<array>" * 7000,
    "XML, ends before starts": b"<plist>" + b"</a>" * 1500 + b"<array>" * 1500,
    "XML, 4,000 dictionaries": b"<plist><array>" + b"<dict/>" * 4000 + b"</array></plist>",
    "XML, a start tag with > in it": b'<plist a=">' + b"<array>" * 100 + b'"/>',
    "XML, an empty tag": b"<plist><></plist>",
    "old style, deep": b'<0a> "<plist" ' + b"(" * 60_000,
    "binary, an array of itself": binary_list([b"\xa1\x00"]),
    "binary, a dictionary of itself": binary_list([b"\xd1\x01\x00", b"\x51a"]),
    "binary, 255 to the power of 8": binary_list(
        [b"\xaf\x10\xff" + bytes([step + 1]) * 255 for step in range(8)] + [b"\x51a"]
    ),
    "binary, 4,000 times one text of 50 KB": binary_list(
        [array_of(4000, b"\x00\x01"), b"\x5f\x11\xc3\x50" + b"a" * 50_000], reference_size=2
    ),
    "binary, 4,000 times one id of 50 KB": binary_list(
        [
            array_of(4000, b"\x00\x01"),
            b"\xd1\x00\x02\x00\x03",
            b"\x5f\x10\x11PlaybackSessionID",
            b"\x4f\x11\xc3\x50" + b"a" * 50_000,
        ],
        reference_size=2,
    ),
    "binary, 2^63 elements": binary_list([b"\xaf\x13\x7f" + b"\xff" * 7]),
    "binary, 2^62 objects": b"bplist00\x08" + trailer(8, 8, 1 << 62, 0, 1 << 62),
    "binary, a table beyond all": b"bplist00" + b"\x08" * 40 + trailer(4, 4, 40, 0, (1 << 64) - 1),
}

BOUNDARY = "X" * 60
REQUESTS = {
    "JSON, 64 KiB of [": b"[" * 65_536,
    "JSON, 13,107 objects deep": b'{"a":' * 13_107,
    "JSON, 6,500 members": json.dumps({str(index): 0 for index in range(6500)}, separators=(",", ":")).encode(),
    "JSON, 20,000 empty objects": b"[" + b",".join([b"{}"] * 20_000) + b"]",
    "a number of 60,000 digits as id": b'{"fairplay-streaming-request":{"streaming-keys":[{"id":'
    + b"1" * 60_000
    + b',"spc":"AAAAAQAAAAA="}]}}',
    "multipart, 900 parts": f"--{BOUNDARY}\r\n".encode() + f"\r\n--{BOUNDARY}\r\n\r\n".encode() * 900,
    "multipart, nearly boundaries": f"--{BOUNDARY}\r\n".encode() + f"\r\n--{BOUNDARY[1:]}".encode() * 1000,
    "multipart, 60,000 carriage returns": f"--{BOUNDARY}\r\n\r\n".encode() + b"\r" * 60_000,
    "a form of 60,000 parts": b"spc=AAAA" + b"&" * 60_000,
    "a form of 60,000 percent signs": b"spc=" + b"%" * 60_000,
    "Base64 of blanks": b"AAAAAQ" + b" " * 65_000,
    "UTF-16 of 64 KB": b"\xff\xfe" + b"A\0" * 32_000,
}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory, latchkey_programs: None) -> Iterator[OwnDaemon]:
    with running_daemon(tmp_path_factory.mktemp("abuse"), limits=RATES) as running:
        yield running


@pytest.fixture(scope="module")
def target(daemon: OwnDaemon) -> Iterator[Deployment]:
    target = deployment_of(daemon.url, daemon.setup)
    for _ in range(20):
        serves_the_next_device(target)
    yield target
    target.client.close()


def serves_the_next_device(target: Deployment) -> None:
    opened = target.license(device_for(target.credential, 1), SPCOptions(target.asset_id))
    assert opened.content_key == target.key.key


def send(target: Deployment, body: bytes, token: str | None) -> Answer:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return target.client.send("POST", LICENSE_PATH, body, headers)


@pytest.mark.parametrize("body", REPORTS.values(), ids=REPORTS)
def test_a_report_is_acknowledged_and_takes_no_memory(body: bytes, daemon: OwnDaemon, target: Deployment) -> None:
    assert len(body) <= 65_536
    before = daemon.resident_bytes_at_most()
    for _ in range(REPEAT_COUNT):
        answer = send(target, body, target.token)
        assert (answer.status, answer.body) == (200, b"acknowledged")
    assert daemon.resident_bytes_at_most() - before < GROWTH_MAXIMUM
    serves_the_next_device(target)


@pytest.mark.parametrize("body", REQUESTS.values(), ids=REQUESTS)
def test_a_body_without_an_spc_is_refused_and_takes_no_memory(
    body: bytes, daemon: OwnDaemon, target: Deployment
) -> None:
    assert len(body) <= 65_536
    before = daemon.resident_bytes_at_most()
    for _ in range(REPEAT_COUNT):
        answer = send(target, body, target.token)
        assert answer.status == 400 and len(answer.body) < 1024, answer.body[:1000]
        assert send(target, body, None).status == 401
    assert daemon.resident_bytes_at_most() - before < GROWTH_MAXIMUM
    serves_the_next_device(target)


def test_a_report_makes_the_daemon_ask_nobody(target: Deployment) -> None:
    with socket.create_server(("127.0.0.1", 0)) as outside:
        address = f"http://127.0.0.1:{outside.getsockname()[1]}/a.dtd"
        body = f'<!DOCTYPE plist SYSTEM "{address}"><plist><dict><key>PlaybackSessionID</key><string>a</string></dict></plist>'
        assert send(target, body.encode(), target.token).body == b"acknowledged"
        # If the daemon had connected to this address, the connection would be waiting now.
        outside.setblocking(False)
        with pytest.raises(BlockingIOError):
            outside.accept()
    serves_the_next_device(target)

"""`latchkey lint` compared with PyPI's `m3u8` and with the daemon, also over Python's HTTP server.

Both readers must find the same keys in the same playlists. What the tool reports for an asset id must be what the
daemon does with an SPC that has this asset id.
"""

import http.server
import json
import os
import random
import secrets
import subprocess
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import m3u8
import pytest

from deployment import Deployment, run_latchkey
from fairplay_device.spc import SPCOptions, device_for
from license_policy import ContentKey

pytestmark = pytest.mark.skipif("LATCHKEY_BIN" not in os.environ, reason="LATCHKEY_BIN names no latchkey program")

VECTORS = Path(__file__).resolve().parents[1] / "Vectors" / "playlists"
NAMES = sorted(path.stem for path in VECTORS.glob("*.m3u8"))
FAIRPLAY = "com.apple.streamingkeydelivery"
PLAYERS = ["hls.js", "video.js", "avfoundation"]


def lint(*arguments: str) -> tuple[int, dict]:
    """Runs the tool. Returns its exit status and the JSON object that it prints."""
    finished = subprocess.run(
        [os.environ["LATCHKEY_BIN"], "lint", "--json", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert finished.stdout, finished.stderr
    return finished.returncode, json.loads(finished.stdout)


def keys_of(report: dict, index: int = 0) -> list[tuple]:
    """The keys of a playlist as the tool reports them."""
    names = ["METHOD", "URI", "KEYFORMAT", "KEYFORMATVERSIONS", "IV"]
    return [tuple(key.get(name) for name in names) for key in report["playlists"][index]["keys"]]


def keys_by_m3u8(text: str) -> list[tuple]:
    playlist = m3u8.loads(text)
    found = playlist.session_keys if playlist.is_variant else playlist.keys
    return [(key.method, key.uri, key.keyformat, key.keyformatversions, key.iv) for key in found if key is not None]


@pytest.mark.parametrize("name", NAMES)
def test_both_readers_find_the_same_keys(name: str) -> None:
    path = VECTORS / f"{name}.m3u8"
    status, report = lint(str(path))
    assert status == 0
    assert keys_of(report) == keys_by_m3u8(path.read_text()) != []
    assert {finding["rule"] for finding in report["findings"]} == {"host-truncated"}


def random_attributes(randomness: random.Random) -> str:
    """The attribute list of a key, with some of the attributes in random order."""
    attributes = {
        "METHOD": "SAMPLE-AES",
        "URI": f'"skd://{uuid.UUID(int=randomness.getrandbits(128))}?a=b,c=d"',
        "KEYFORMAT": f'"{FAIRPLAY}"',
        "KEYFORMATVERSIONS": randomness.choice(['"1"', '"1/2"']),
        "IV": f"0x{randomness.getrandbits(128):032x}",
    }
    names = ["METHOD", "URI"] + [name for name in list(attributes)[2:] if randomness.random() < 0.7]
    randomness.shuffle(names)
    return ",".join(f"{name}={attributes[name]}" for name in names)


def test_both_readers_find_the_same_keys_in_random_playlists(seed: int, tmp_path: Path) -> None:
    randomness = random.Random(seed)
    for _ in range(20):
        lines = ["#EXTM3U", "#EXT-X-VERSION:6", "#EXT-X-TARGETDURATION:1"]
        for index in range(randomness.randrange(1, 8)):
            lines += [f"#EXT-X-KEY:{random_attributes(randomness)}", "#EXTINF:1,", f"{index}.ts"]
        end = randomness.choice(["\n", "\r\n"])
        path = tmp_path / "video.m3u8"
        path.write_bytes((end.join(lines) + end).encode())
        _, report = lint(str(path))
        assert keys_of(report) == keys_by_m3u8(path.read_text())


class Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_server_has_the_same_playlists_as_a_folder() -> None:
    with served(VECTORS) as url:
        status, report = lint(f"{url}/video_master.m3u8")
        assert status == 0
        assert [one["file"] for one in report["playlists"]] == [f"{url}/video_master.m3u8", f"{url}/video.m3u8"]
        _, local = lint(str(VECTORS / "video_master.m3u8"))
        for index in range(2):
            assert keys_of(report, index) == keys_of(local, index)
        status, report = lint(f"{url}/none/../audio.m3u8")
        assert status == 0 and len(report["playlists"]) == 1


def write_media(path: Path, uri: str) -> None:
    key = f'METHOD=SAMPLE-AES,URI="{uri}",KEYFORMAT="{FAIRPLAY}",KEYFORMATVERSIONS="1"'
    path.write_text(
        f'#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-MAP:URI="i.mp4"\n#EXT-X-KEY:{key}\n#EXTINF:1,\na.mp4\n#EXT-X-ENDLIST\n'
    )


@pytest.mark.parametrize(
    "template",
    [
        *("skd://{kid}", "skd://{hex}", "skd://{content}", "skd:{content}", "skd://{kid}:{iv}"),
        *("skd://keys.example/{kid}", "skd://keys.example/;{kid}", "skd:keys.example?cid={content}"),
        *("skd://{other}", "skd://{CONTENT}"),
    ],
)
def test_the_daemon_serves_what_the_tool_finds(deployment: Deployment, tmp_path: Path, template: str) -> None:
    """Sends each asset id that a player makes from a key URI. The daemon grants the key that the tool found, or
    refuses."""
    content = f"lint-{secrets.token_hex(6)}"
    key = ContentKey(key_id=uuid.uuid4().bytes, key=secrets.token_bytes(16), iv=secrets.token_bytes(16))
    deployment.register(content, key)
    kid = uuid.UUID(bytes=key.key_id)
    uri = template.format(
        kid=kid, hex=kid.hex, content=content, CONTENT=content.upper(), other=uuid.uuid4(), iv=key.iv.hex()
    )
    path = tmp_path / "video.m3u8"
    write_media(path, uri)
    status, report = lint(
        str(path), "--config", str(deployment.setup / "latchkey.json5"), "--as", ",".join(PLAYERS)
    )
    sent = report["assetIDs"]
    assert sorted(player for one in sent for player in one["players"]) == sorted(PLAYERS)
    token = run_latchkey(deployment.setup, "token", "mint", "--content", content).strip()
    device = device_for(deployment.credential, 1)
    live = 0
    for one in sent:
        if one.get("assetID") is None:
            continue
        request = device.request(SPCOptions(one["assetID"].encode()))
        answer = deployment.client.license(request.message, token)
        if one["state"] == "live":
            live += 1
            assert one["kid"] == str(kid)
            deployment.open(answer, request.secrets, key)
        else:
            assert answer.status in (403, 404), f"{one} {answer.body!r}"
    rules = {finding["rule"] for finding in report["findings"]}
    assert ("key-unknown" in rules) == any(one.get("state") == "unknown" for one in sent)
    assert (status == 0) == (live == len([one for one in sent if one.get("assetID")]))
    assert (live > 0) == ("{other}" not in template and "{CONTENT}" not in template)

"""A player: reads playlists, asks the daemon for the key of each key line, and decrypts with the license."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import m3u8

from deployment import COMMAND_SECONDS, run_latchkey
from fairplay_device.ckc import OpenedCKC, open_ckc
from fairplay_device.credentials import read_device_credential
from fairplay_device.spc import Device, SPCOptions, device_for
from license_client import LICENSE_PATH, Answer, LicenseClient
from mp4 import track_encryption, with_iv
from own_daemon import OwnDaemon
from tools import Tools, sample_hash

FAIRPLAY = "com.apple.streamingkeydelivery"
SCHEME = "skd://"


def _host(uri: str) -> str:
    return uri.removeprefix(SCHEME).partition("/")[0]


# The asset ids that players make from the URI of a key line, or from the media's key id (packagers, section 4).
ASSET_IDS: dict[str, Callable[[str, bytes], bytes]] = {
    "the whole URI": lambda uri, _: uri.encode(),
    "the whole URI in UTF-16": lambda uri, _: uri.encode("utf-16-le"),
    "without the scheme": lambda uri, _: uri.removeprefix(SCHEME).encode(),
    "the host": lambda uri, _: _host(uri).encode(),
    "the host in lower case and UTF-16": lambda uri, _: _host(uri).lower().encode("utf-16-le"),
    "the last part of the path": lambda uri, _: uri.rpartition("/")[2].encode(),
    "the key id of the media": lambda _, key_id: key_id,
}


@dataclass(frozen=True)
class Run:
    """The media of one key line: fragmented MP4 with one initialization segment and its segments."""

    key_uri: str
    media: bytes = field(repr=False)
    segment_count: int


def key_lines(playlist: m3u8.M3U8) -> list[dict[str, str | None]]:
    """The attributes of every key line, in either kind of playlist."""
    keys = [*filter(None, playlist.keys), *playlist.session_keys]
    names = ("method", "uri", "iv", "keyformat", "keyformatversions")
    return [{name: getattr(key, name) for name in names} for key in keys]


def runs(file: Path) -> Iterator[Run]:
    """The media of a media playlist, divided by the key lines that apply to them."""
    segments = m3u8.load(str(file)).segments
    start = 0
    while start < len(segments):
        uri = _fairplay_key(segments[start])
        end = start
        while end < len(segments) and _fairplay_key(segments[end]) == uri:
            end += 1
        part = segments[start:end]
        init = part[0].init_section
        (map_uri,) = {segment.init_section.uri for segment in part}
        media = _bytes(file.parent / map_uri, init.byterange, 0)[0]
        offset = 0
        for segment in part:
            data, offset = _bytes(file.parent / segment.uri, segment.byterange, offset)
            media += data
        yield Run(uri, media, len(part))
        start = end


def _fairplay_key(segment: m3u8.Segment) -> str:
    assert segment.key is not None and segment.key.keyformat == FAIRPLAY
    return segment.key.uri


def _bytes(file: Path, byte_range: str | None, offset: int) -> tuple[bytes, int]:
    """A file, or a range of it (RFC 8216, section 4.3.2.2), and the default start of the next range."""
    data = file.read_bytes()
    if not byte_range:
        return data, 0
    size, _, start = byte_range.partition("@")
    first = int(start) if start else offset
    assert first + int(size) <= len(data)
    return data[first : first + int(size)], first + int(size)


@dataclass(frozen=True)
class Player:
    """A device that gets licenses from a daemon, and the tools that decrypt for it."""

    daemon: OwnDaemon
    tools: Tools
    device: Device
    client: LicenseClient
    folder: Path

    @classmethod
    def before(cls, daemon: OwnDaemon, tools: Tools, folder: Path, version: int = 1) -> "Player":
        device = device_for(read_device_credential(daemon.setup / "fairplay"), version)
        return cls(daemon, tools, device, LicenseClient(daemon.url), folder)

    def token(self, content: str) -> str:
        return run_latchkey(self.daemon.setup, "token", "mint", "--content", content).strip()

    def ask(self, asset_id: bytes, token: str) -> tuple[Answer, OpenedCKC | None]:
        """The answer to an SPC with this asset id. If it is a license, its opened CKC too."""
        context = self.device.request(SPCOptions(asset_id))
        answer = self.client.license(context.message, token)
        return answer, open_ckc(answer.body, context.secrets) if answer.status == 200 else None

    def license(self, asset_id: bytes, token: str) -> OpenedCKC:
        answer, opened = self.ask(asset_id, token)
        assert opened is not None, (answer.status, answer.body, asset_id)
        return opened

    def run_as(self, players: str, key_uri: str, token: str) -> list[dict[str, Any]]:
        """The results that `latchkey device request` prints for each of these players."""
        secret = self.daemon.setup / "fairplay" / "application-secret.hex"
        finished = subprocess.run(
            [
                *(os.environ["LATCHKEY_BIN"], "device", "request", "--as", players, "--json"),
                *("--url", f"{self.daemon.url}{LICENSE_PATH}", "--token", token, "--skd", key_uri),
                *("--application-secret", str(secret)),
            ],
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )
        assert finished.stdout, finished.stderr
        return json.loads(finished.stdout)["players"]

    def play(self, run: Run, key: bytes, iv: bytes) -> str:
        """The hash of the samples, decrypted with this key and IV. The IV in the media is not used."""
        file = self.folder / "run.mp4"
        file.write_bytes(with_iv(run.media, iv))
        return sample_hash(self.tools.new_ffmpeg, file, key=key)


def asset_id(player: str, run: Run) -> bytes:
    return ASSET_IDS[player](run.key_uri, track_encryption(run.media).key_id)


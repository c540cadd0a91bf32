"""Packages clips into HLS by Shaka Packager, one run for each track and period, because a run has only one key URL."""

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from keys import Key
from tools import SEGMENT_SECONDS, Tools, run

STREAMS = {"VIDEO": "video", "AUDIO": "audio"}


class Layout(Enum):
    """How the media of a track are stored in files."""

    ONE_FILE = "one file with byte ranges"
    SEGMENTS = "an initialization segment and a file for each segment"


@dataclass(frozen=True)
class PackagedTrack:
    """One packaged track of one period: its key and its playlists."""

    key: Key
    playlist: Path
    multivariant: Path


def package(
    tools: Tools, clip: Path, key: Key, layout: Layout, folder: Path, options: tuple[str, ...] | None = None
) -> PackagedTrack:
    """Packages one track of a clip. `options` replace the options that contain the key (packagers, section 2.1)."""
    folder.mkdir(parents=True)
    run(
        *(tools.packager, stream_of(clip, key.track, layout), *(options or key_options(key))),
        *("--segment_duration", str(SEGMENT_SECONDS), "--fragment_duration", str(SEGMENT_SECONDS)),
        *("--hls_master_playlist_output", "multivariant.m3u8"),
        folder=folder,
    )
    return PackagedTrack(key, folder / "track.m3u8", folder / "multivariant.m3u8")


def key_options(key: Key) -> tuple[str, ...]:
    return (
        *("--protection_scheme", "cbcs", "--protection_systems", "FairPlay", "--enable_raw_key_encryption"),
        *("--keys", f"label=:key_id={key.key_id.hex()}:key={key.key.hex()}:iv={key.iv.hex()}"),
        *("--hls_key_uri", key.url, "--clear_lead", "0", "--create_session_keys"),
    )


def decrypt(tools: Tools, media: Path, track: str, key_id: bytes, key: bytes) -> Path:
    """Decrypts media with Shaka Packager, and returns the new file."""
    opened = media.with_stem(f"{media.stem}-opened")
    run(
        *(tools.packager, f"in={media},stream={STREAMS[track]},out={opened}", "--enable_raw_key_decryption"),
        *("--keys", f"label=:key_id={key_id.hex()}:key={key.hex()}"),
    )
    return opened


def stream_of(clip: Path, track: str, layout: Layout) -> str:
    """Shaka Packager's description of one stream."""
    output = (
        "out=media.mp4"
        if layout is Layout.ONE_FILE
        else "init_segment=init.mp4,segment_template=$Number$.m4s"
    )
    return f"in={clip},stream={STREAMS[track]},{output},playlist_name=track.m3u8"


def joined(periods: list[PackagedTrack], folder: Path) -> Path:
    """One media playlist with a track of several periods, as an origin of live streams writes it."""
    lines = ["#EXTM3U", "#EXT-X-VERSION:7", f"#EXT-X-TARGETDURATION:{SEGMENT_SECONDS}", "#EXT-X-PLAYLIST-TYPE:VOD"]
    for number, period in enumerate(periods):
        lines += ["#EXT-X-DISCONTINUITY"] if number else []
        body = period.playlist.read_text().splitlines()
        first = next(index for index, line in enumerate(body) if line.startswith("#EXT-X-MAP:"))
        last = body.index("#EXT-X-ENDLIST")
        lines += [_in_folder(line, period.playlist.parent.relative_to(folder)) for line in body[first:last]]
    file = folder / f"{periods[0].key.track.lower()}.m3u8"
    file.write_text("\n".join([*lines, "#EXT-X-ENDLIST", ""]))
    return file


def _in_folder(line: str, folder: Path) -> str:
    """The line, with the name of its file relative to the joined playlist."""
    if line.startswith("#EXT-X-MAP:"):
        return line.replace('URI="', f'URI="{folder}/')
    return line if line.startswith("#") else f"{folder}/{line}"

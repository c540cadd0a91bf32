"""Runs the tools of other projects as processes: Shaka Packager, Shaka Streamer and ffmpeg."""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

TOOL_SECONDS = 60
SEGMENT_SECONDS = 1
PERIOD_SECONDS = 2
HASH = re.compile(r"0,[va],SHA256=([0-9a-f]{64})")


@dataclass(frozen=True)
class Tools:
    """`ffmpeg` is Debian's, which makes the clips and decrypts whole files. `new_ffmpeg` decrypts fragments too."""

    packager: Path
    streamer: Path
    ffmpeg: Path
    new_ffmpeg: Path


def run(*command: str | Path, folder: Path | None = None, path: Path | None = None) -> str:
    """The output of a tool, which must end with status 0. The tool finds programs in the folder `path` first."""
    search = f"{path}:{os.environ['PATH']}" if path else os.environ["PATH"]
    finished = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=TOOL_SECONDS,
        check=False,
        stdin=subprocess.DEVNULL,
        env=os.environ | {"LC_ALL": "C", "PATH": search},
    )
    assert finished.returncode == 0, (command, finished.stdout[-2000:], finished.stderr[-2000:])
    return finished.stdout


def make_clip(tools: Tools, file: Path, number: int) -> None:
    """Makes two seconds of H.264 and AAC, with pictures and a tone that depend on the number."""
    pictures = f"testsrc2=size=128x72:rate=10:duration={PERIOD_SECONDS},hue=h={60 * number}"
    tone = f"sine=frequency={220 * (number + 1)}:duration={PERIOD_SECONDS}"
    run(
        *(tools.ffmpeg, "-v", "error", "-f", "lavfi", "-i", pictures, "-f", "lavfi", "-i", tone),
        *("-map", "0", "-map", "1", "-c:v", "libx264", "-preset", "veryfast", "-g", "10", "-pix_fmt", "yuv420p"),
        *("-c:a", "aac", file),
    )


def sample_hash(ffmpeg: Path, media: Path, stream: str = "0", key: bytes | None = None) -> str:
    """SHA-256 over all samples of one stream, decrypted if `key` is given. ffmpeg reports no error with a wrong key."""
    decryption = ("-decryption_key", key.hex()) if key else ()
    printed = run(
        *(ffmpeg, "-v", "quiet", *decryption, "-i", media, "-map", stream, "-c", "copy", "-f", "streamhash", "-")
    )
    found = HASH.fullmatch(printed.strip())
    assert found, printed
    return found[1]

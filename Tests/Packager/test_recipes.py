"""The article "Recipes for packagers": its commands run with the real packager and ffmpeg.

The last command compares the samples that ffmpeg decrypts with those of the clear film.
"""

import os
import subprocess
from pathlib import Path

from conftest import required
from tools import Tools

ROOT = Path(__file__).parents[2]
RUN_SECONDS = 120
# The film, Shaka Packager with two keys, and the comparison. The blocks for Bento4 run only where it is installed.
BLOCKS_AT_LEAST = 3


def test_the_commands_of_the_recipes_run(tools: Tools, tmp_path: Path) -> None:
    (tmp_path / "packager").symlink_to(tools.packager)
    finished = subprocess.run(
        [ROOT / "Scripts/test-docs", "--bin", required("LATCHKEY_BIN").parent, "recipes"],
        capture_output=True, text=True, timeout=RUN_SECONDS, check=False,
        env=os.environ | {"PATH": f"{tmp_path}:{tools.ffmpeg.parent}:{os.environ['PATH']}"},
    )  # fmt: skip
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert finished.stdout.count(": ok, ") >= BLOCKS_AT_LEAST, finished.stdout

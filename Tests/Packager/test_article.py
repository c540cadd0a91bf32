"""The article "A film, from the file to the player": its commands run with the real packager and ffmpeg."""

import os
import subprocess
from pathlib import Path

from conftest import required
from tools import Tools

ROOT = Path(__file__).parents[2]
RUN_SECONDS = 120
# The player comes from the internet, and the web server of the article serves until it is stopped. Tests/Browser does
# these steps.
SKIPPED_BLOCKS = 2


def test_the_commands_of_the_article_run(tools: Tools, tmp_path: Path) -> None:
    (tmp_path / "packager").symlink_to(tools.packager)
    finished = subprocess.run(
        [ROOT / "Scripts/test-docs", "--bin", required("LATCHKEY_BIN").parent, "FirstFilm"],
        capture_output=True, text=True, timeout=RUN_SECONDS, check=False,
        env=os.environ | {"PATH": f"{tmp_path}:{tools.ffmpeg.parent}:{os.environ['PATH']}"},
    )  # fmt: skip
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert f"0 failed, {SKIPPED_BLOCKS} were skipped" in finished.stdout, finished.stdout

"""The tutorial "A film to an iPhone": its commands run with the real packager and ffmpeg."""

import os
import subprocess
from pathlib import Path

from conftest import required
from tools import Tools

ROOT = Path(__file__).parents[2]
RUN_SECONDS = 120


def test_the_commands_of_the_article_run(tools: Tools, tmp_path: Path) -> None:
    (tmp_path / "packager").symlink_to(tools.packager)
    finished = subprocess.run(
        [ROOT / "Scripts/test-docs", "--bin", required("LATCHKEY_BIN").parent, "film-to-iphone"],
        capture_output=True, text=True, timeout=RUN_SECONDS, check=False,
        env=os.environ | {"PATH": f"{tmp_path}:{tools.ffmpeg.parent}:{os.environ['PATH']}"},
    )  # fmt: skip
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert "0 failed, 0 were skipped" in finished.stdout, finished.stdout

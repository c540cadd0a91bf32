"""`latchkey bench` against a daemon: its arguments, and its report."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TIMEOUT_SECONDS = 120


@dataclass(frozen=True)
class LoadTool:
    """The tool for a server with the set-up of a folder. It asks for one asset with all tokens in turn."""

    url: str
    setup: Path
    asset_id: str
    tokens: tuple[str, ...]

    def start(self, *more: str | Path) -> subprocess.Popen[str]:
        """Starts a load. `finish` gives its report."""
        fairplay = self.setup / "fairplay"
        process = subprocess.Popen(
            [
                *(os.environ["LATCHKEY_BIN"], "bench", "--url", self.url, "--asset-id", self.asset_id, "--token", "-"),
                *("--certificate", fairplay / "bundle.bin"),
                *("--application-secret", fairplay / "application-secret.hex", "--json", *more),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdin is not None
        process.stdin.write("".join(f"{token}\n" for token in self.tokens))
        process.stdin.close()
        process.stdin = None
        return process

    def run(self, *more: str | Path, status: int = 0) -> dict[str, Any]:
        return finish(self.start(*more), status)


def finish(process: subprocess.Popen[str], status: int = 0) -> dict[str, Any]:
    """Waits for a load, and returns its report. Fails if its counts contradict one another."""
    output, messages = process.communicate(timeout=TIMEOUT_SECONDS)
    assert process.returncode == status, (process.returncode, output, messages)
    report = json.loads(output)
    assert report["isGood"] == (status == 0)
    keys = report["settings"]["keysPerRequest"]
    assert report["sent"] * keys == report["licenses"] + report["refused"] + report["failed"] * keys
    if keys == 1:
        assert report["sent"] == sum(report["results"].values())
        assert report["latencyMicroseconds"]["count"] == report["licenses"] == report["results"].get("200", 0)
    return report

"""curl as a license client: it gets a correct license with each way to send the body."""

import shutil
import subprocess
from pathlib import Path

import pytest

import http1_wire
from deployment import Deployment
from fairplay_device.spc import SPCOptions, device_for

CURL_SECONDS = "20"
WAYS = {
    "plain": [],
    "HTTP/1.0": ["--http1.0"],
    "chunked": ["--header", "Transfer-Encoding: chunked"],
    "Expect": ["--header", "Expect: 100-continue", "--expect100-timeout", CURL_SECONDS],
    "chunked, Expect": [
        *("--header", "Transfer-Encoding: chunked", "--header", "Expect: 100-continue"),
        *("--expect100-timeout", CURL_SECONDS),
    ],
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("version", [1, 2])
def test_curl_gets_a_license(way: str, version: int, deployment: Deployment, tmp_path: Path) -> None:
    if not shutil.which("curl"):
        pytest.skip("curl is not installed")
    context = device_for(deployment.credential, version).request(SPCOptions(deployment.asset_id))
    (tmp_path / "spc").write_bytes(context.message)
    command = [
        *("curl", "--silent", "--show-error", "--http1.1", "--noproxy", "*", "--max-time", CURL_SECONDS, "--include"),
        *("--header", f"Authorization: Bearer {deployment.token}"),
        *("--header", "Content-Type: application/octet-stream"),
        *(*WAYS[way], "--data-binary", f"@{tmp_path / 'spc'}", f"{deployment.client.url}/fps/license"),
    ]
    finished = subprocess.run(command, capture_output=True, check=True, timeout=2 * int(CURL_SECONDS))
    *interim, response = http1_wire.parse(finished.stdout, ended=True).responses
    assert [one.status for one in interim] == ([100] if "Expect" in way else [])
    deployment.open(http1_wire.as_answer(response), context.secrets)

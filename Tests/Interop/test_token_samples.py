"""The samples of `Clients/tokens`, which make a token in five languages: each token gets a licence, and no other."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from deployment import Deployment
from fairplay_device import tags
from fairplay_device.facts import PlaybackState
from fairplay_device.spc import SPCOptions, device_for

SAMPLES = Path(__file__).parents[2] / "Clients" / "tokens"
# Go compiles its library before its first program.
RUN_SECONDS = 120
LANGUAGES = {
    "mint.py": [sys.executable],
    "mint.mjs": ["node"],
    "mint.php": ["php"],
    "mint.go": ["go", "run"],
    "Mint.java": ["java"],
}


def test_every_sample_is_run() -> None:
    assert {file.name for file in SAMPLES.iterdir()} == set(LANGUAGES)


@pytest.mark.parametrize("sample", LANGUAGES)
def test_a_sample_makes_a_good_token(sample: str, deployment: Deployment, tmp_path: Path) -> None:
    command = LANGUAGES[sample]
    if not shutil.which(command[0]):
        pytest.skip(f"{command[0]} is not installed")
    # A subject that JSON must escape.
    subject = 'viewer "7" \\ ö'
    finished = subprocess.run(
        [*command, SAMPLES / sample, deployment.setup / "secrets" / "token-signing-key.pem", "development-1",
         "latchkey-development", deployment.asset_id.decode(), subject],
        capture_output=True, text=True, timeout=RUN_SECONDS, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert finished.returncode == 0, finished.stderr
    token = finished.stdout.strip()
    starting = PlaybackState(1_700_000_000, tags.READY_TO_START, 11)
    device = device_for(deployment.credential, 1)
    context = device.request(SPCOptions(deployment.asset_id, playback_state=starting))
    deployment.open(deployment.client.licence(context.message, token), context.secrets)
    other = device.request(SPCOptions(b"another-film", playback_state=starting))
    assert deployment.client.licence(other.message, token).code == "content_mismatch"

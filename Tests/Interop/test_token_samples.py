"""The samples of `Clients/tokens`, which make a token in five languages: each token gets a license, and no other."""

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
@pytest.mark.parametrize("words", [[], ["key.pem", "kid"]], ids=["nothing", "too little"])
def test_a_sample_says_how_it_is_used(sample: str, words: list[str], tmp_path: Path) -> None:
    command = LANGUAGES[sample]
    if not shutil.which(command[0]):
        pytest.skip(f"{command[0]} is not installed")
    finished = subprocess.run(
        [*command, SAMPLES / sample, *words],
        capture_output=True, text=True, timeout=RUN_SECONDS, check=False, cwd=tmp_path,
    )  # fmt: skip
    usage, *more = finished.stderr.splitlines()
    assert usage == f"usage: {' '.join([*command, sample])} KEY KID ISSUER CONTENT SUBJECT".replace(
        sys.executable, "python3"
    )
    # `go run` has a status of its own, and prints that of the program.
    assert (finished.returncode, more) in ((2, []), (1, ["exit status 2"])), finished
    assert finished.stdout == ""


# The program of a service, which uses the function of a sample.
SERVICES = {
    "mint.mjs": 'import {{ mint }} from "{sample}"; console.log(typeof mint);',
    "mint.php": "<?php require '{sample}'; echo function_exists('mint') ? 'function' : 'nothing', PHP_EOL;",
}


@pytest.mark.parametrize("sample", SERVICES)
def test_a_service_imports_a_sample(sample: str, tmp_path: Path) -> None:
    command = LANGUAGES[sample]
    if not shutil.which(command[0]):
        pytest.skip(f"{command[0]} is not installed")
    service = tmp_path / f"service{Path(sample).suffix}"
    service.write_text(SERVICES[sample].format(sample=SAMPLES / sample))
    finished = subprocess.run(
        [*command, service], capture_output=True, text=True, timeout=RUN_SECONDS, check=False, cwd=tmp_path
    )
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, "function\n", ""), finished


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
    deployment.open(deployment.client.license(context.message, token), context.secrets)
    other = device.request(SPCOptions(b"another-film", playback_state=starting))
    assert deployment.client.license(other.message, token).code == "content_mismatch"

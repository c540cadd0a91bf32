"""What the daemons under test have logged by the end of a run: sentences, and no name of a type or a case of the source."""

import json
import os
from pathlib import Path

import pytest

from deployment import DUMPS

# The members of a line that hold words for people.
WORDS = ("cause", "found", "expected", "warning", "explanation", "end")


@pytest.mark.parametrize(
    "text",
    [
        "malformed(HTTPMessages.HTTPMalformation.controlCharacter)", "SPC refused: unsupportedVersion(1094795585)",
        "store: unavailable(ContentKeys.StoreOutage.diskFull)", "store: diskFull", "headTimeout",
        "truncated(field: \"payload\", needed: 4, available: 1)",
    ],
)  # fmt: skip
def test_a_dump_is_recognised(text: str) -> None:
    assert DUMPS.search(text)


@pytest.mark.last
@pytest.mark.each_process
@pytest.mark.parametrize("name", ["LATCHKEY_SETUP", "LATCHKEY_OTHER_SETUP"])
def test_no_line_of_the_log_holds_a_dump(name: str) -> None:
    """After all tests that send what is malformed."""
    if not os.environ.get(name):
        pytest.skip(f"{name} names no set-up; Scripts/test-interop does")
    lines = Path(os.environ[name] + ".log").read_text().rpartition("\n")[0].splitlines()
    entries = [json.loads(line) for line in lines if line.startswith("{")]
    words = [str(entry[member]) for entry in entries for member in WORDS if member in entry]
    assert entries and [text for text in words if DUMPS.search(text)] == []

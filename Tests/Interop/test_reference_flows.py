"""The article on reference flows names tests that there are."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ARTICLE = ROOT / "Documentation/tokens/reference-flows.md"


def test_each_test_of_the_article_is_there() -> None:
    table = [line for line in ARTICLE.read_text().splitlines() if line.startswith("|")]
    named = {name for line in table for name in re.findall(r"`([A-Za-z_]+)`", line.split("|")[-2])}
    sources = [*Path(__file__).parent.glob("test_*.py"), *(ROOT / "Clients/Apple/Tests").rglob("*.swift")]
    there = {name for file in sources for name in re.findall(r"\b(?:def|func) (\w+)\(", file.read_text())}
    assert len(named) > 25
    assert named <= there, named - there

#!/usr/bin/env python3
"""From the package to the first license: the commands that operate/install.md has, and that steps.py runs.

    Tests/Package/first_license.py              compare the commands with the article, and count them
    Tests/Package/first_license.py --self-test  plant faults, and check that each is found
"""

import re
import shlex
import sys
from pathlib import Path

COMMANDS = [
    "apt install ./latchkey_0.1.0_amd64.deb",
    "latchkey init --production --from ./delivered /etc/latchkey",
    "sed -i 's|https://portal.example.com|https://login.example.com|; s|portal-1|login-1|' /etc/latchkey/latchkey.json5",
    "sudo -u latchkey latchkeyd --config /etc/latchkey/latchkey.json5 --check",
    "systemctl enable --now latchkey.socket latchkey.service",
    "sudo -u latchkey latchkey keys create --config /etc/latchkey/latchkey.json5 --content movie-1",
    "latchkey token mint --config /etc/latchkey/latchkey.json5 --issuer-key token-signing-key.pem --content movie-1"
    " --lease 5m > viewer-token",
    "latchkey doctor --config /etc/latchkey/latchkey.json5 --url https://keys.example.com/fps/license"
    " --viewer-token @viewer-token --asset-id skd://movie-1",
]
COUNT_MAXIMUM = 8
# A command is one word with its arguments, whose output may go to a file. It has no second command in it.
JOINTS = re.compile(r"[();<&|]+|>>+|>[&|]+")
ARTICLE = "Documentation/operate/install.md"
HEADING = "## Installation"


def in_article(text: str) -> list[str]:
    """The commands of the first block of the section, each in one line and without its comment."""
    section = text.partition(f"\n{HEADING}\n")[2].partition("\n## ")[0]
    block = re.search(r"^```sh\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    lines = re.sub(r" *\\\n *", " ", block[1] if block else "").splitlines()
    return [line for line in (re.sub(r"(^| {2,})# .*", "", line).strip() for line in lines) if line]


def faults(commands: list[str], text: str) -> list[str]:
    found = [f"not one command: {command}" for command in commands if is_joined(command)]
    if len(commands) > COUNT_MAXIMUM:
        found.append(f"{len(commands)} commands, and {COUNT_MAXIMUM} at most")
    told = in_article(text)
    found += [f"the article has not: {command}" for command in commands if command not in told]
    found += [f"the article has, and the test has not: {command}" for command in told if command not in commands]
    return found if found or told == commands else ["the article has them in another order"]


def is_joined(command: str) -> bool:
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    return any(JOINTS.fullmatch(word) for word in lexer)


def self_test() -> None:
    block = "\n".join(command.replace(" --config", " \\\n    --config") + "    # why" for command in COMMANDS)
    good = f"# A\n\n{HEADING}\n\nText\n\n<!-- a -->\n```sh\n# first\n{block}\n```\n\n```sh\nmore\n```\n\n## B\n"
    assert faults(COMMANDS, good) == [], faults(COMMANDS, good)
    planted = {
        "the article has not": (COMMANDS, good.replace("movie-1", "movie-2")),
        "the article has, and": (COMMANDS[:-1], good),
        "9 commands": ([*COMMANDS, "true"], good),
        "not one command": ([*COMMANDS[:-1], "true && true"], good),
        "in another order": (COMMANDS[::-1], good),
    }
    for expected, (commands, text) in planted.items():
        found = faults(commands, text)
        assert any(expected in fault for fault in found), f"planted {expected}, found {found}"
    print(f"first_license: found each of {len(planted)} planted faults")


def main() -> None:
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    article = Path(__file__).parents[2] / ARTICLE
    found = faults(COMMANDS, article.read_text(encoding="utf-8"))
    for fault in found:
        print(f"{ARTICLE}, {HEADING.removeprefix('## ')}: {fault}", file=sys.stderr)
    if found:
        sys.exit(1)
    print(f"first_license: {len(COMMANDS)} commands from the package to a license, as the article has them")


if __name__ == "__main__":
    main()

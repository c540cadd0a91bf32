"""What the operator's page costs: the daemon's processor time for each license, without the page and with the page open
in two browsers, and the memory that the page adds.

    page_cost.py [ROUNDS]

`Scripts/test-page --cost` runs it. It makes no check, because the speed of a shared machine changes. The kinds of
rounds take turns, and their medians are compared. The browsers use the same processors, and so each license takes
longer, whatever the daemon does for the page. To tell the two apart, a third kind of round has the same browsers on the
page of another daemon.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from conftest import add_operators, required
from browser import running_browser
from deployment import deployment_of, run_latchkey
from desk import Desk
from own_daemon import OwnDaemon, running_daemon

BROWSERS = 2
SECONDS = 4
WARMING_SECONDS = 2
CONNECTIONS = 32
SPCS = 60_000
SUBJECTS = 16

ALONE = "no browser"
ELSEWHERE = "browsers on another daemon's page"
OPEN = "browsers on this daemon's page"


class Load:
    """`latchkey bench` against one daemon."""

    def __init__(self, daemon: OwnDaemon):
        self.daemon = daemon
        self.latchkey = required("LATCHKEY_BIN", "program latchkey")
        self.content = deployment_of(daemon.url, daemon.setup).content
        mint = ("token", "mint", "--content", self.content, "--lease", "300", "--subject")
        tokens = [run_latchkey(daemon.setup, *mint, f"viewer-{number}") for number in range(SUBJECTS)]
        self.tokens = daemon.setup / "tokens-of-viewers"
        self.tokens.write_text("".join(tokens))

    def run(self, seconds: int) -> tuple[float, float]:
        """Returns the licenses per second, and the daemon's microseconds of processor time for each license."""
        fairplay = self.daemon.setup / "fairplay"
        command = [self.latchkey, "bench", "--url", self.daemon.url, "--asset-id", self.content, "--token",
                   f"@{self.tokens}", "--certificate", fairplay / "bundle.bin", "--application-secret",
                   fairplay / "application-secret.hex", "--json", "--connections", str(CONNECTIONS), "--seconds",
                   str(seconds), "--count", str(SPCS // SECONDS * seconds)]
        before = self.daemon.cpu_seconds()
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        used = self.daemon.cpu_seconds() - before
        report = json.loads(output)
        return report["licenses"] * 1000 / report["milliseconds"], used / report["licenses"] * 1e6


def with_page(stack: ExitStack, daemon: OwnDaemon, folder: Path) -> None:
    """Opens the page in two browsers, and waits until both show the plots."""
    token = (daemon.setup / "secrets" / "admin-operator").read_text().strip()
    for number in range(BROWSERS):
        place = folder / f"browser-{number}"
        place.mkdir(exist_ok=True)
        browser = stack.enter_context(running_browser(required("LATCHKEY_CHROMIUM", "browser"), place, []))
        page = stack.enter_context(browser.page())
        Desk(page, "http://{}:{}".format(*daemon.admin)).open().log_in(token)


def resident_kilobytes(daemon: OwnDaemon) -> int:
    """The memory of the daemon that is its own, without files that it only reads."""
    lines = Path(f"/proc/{daemon.process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon:"))


def measure(rounds: int, folder: Path) -> tuple[dict[str, list[tuple[float, float]]], list[int]]:
    """The figures of each kind of round, and by how much the page made the memory grow."""
    figures: dict[str, list[tuple[float, float]]] = {ALONE: [], ELSEWHERE: [], OPEN: []}
    growth = []
    for name in ("measured", "other"):
        (folder / name).mkdir()
    with (
        running_daemon(folder / "measured", prepare=add_operators) as daemon,
        running_daemon(folder / "other", prepare=add_operators) as other,
    ):
        load = Load(daemon)
        load.run(WARMING_SECONDS)
        for _ in range(rounds):
            figures[ALONE].append(load.run(SECONDS))
            with ExitStack() as stack:
                with_page(stack, other, folder)
                figures[ELSEWHERE].append(load.run(SECONDS))
            with ExitStack() as stack:
                before = resident_kilobytes(daemon)
                with_page(stack, daemon, folder)
                growth.append(resident_kilobytes(daemon) - before)
                figures[OPEN].append(load.run(SECONDS))
    return figures, growth


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    with tempfile.TemporaryDirectory(prefix="latchkey-page-") as name:
        figures, growth = measure(rounds, Path(name))
    medians = {}
    for label, values in figures.items():
        rates, costs = zip(*values)
        medians[label] = statistics.median(costs)
        listed = ", ".join(f"{cost:.1f}" for cost in costs)
        print(f"{label:36} {statistics.median(rates):8.0f} licenses/s, {listed} us of the daemon for each license")
    for label in (ALONE, ELSEWHERE):
        print(f"processor time for each license with the page, against {label}: {medians[OPEN] / medians[label]:.3f} x")
    print(f"memory that opening the page in {BROWSERS} browsers added: {', '.join(f'{size} KiB' for size in growth)}")


if __name__ == "__main__":
    main()

"""What the operator's page costs: the daemon's processor time for each licence, without the page and with the page open
in two browsers.

    page_cost.py [ROUNDS]

`Scripts/test-page --cost` runs it. It makes no check, because the speed of a shared machine changes. Rounds without and
with the page alternate, and the medians are compared. The browsers use processor time of the same machine, so the
processor time of the daemon is the measure, not the licences per second.
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
        """Returns the licences per second, and the daemon's microseconds of processor time for each licence."""
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


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    without, beside = [], []
    with tempfile.TemporaryDirectory(prefix="latchkey-page-") as name:
        folder = Path(name)
        with running_daemon(folder, prepare=add_operators) as daemon:
            load = Load(daemon)
            load.run(WARMING_SECONDS)
            for _ in range(rounds):
                without.append(load.run(SECONDS))
                with ExitStack() as stack:
                    with_page(stack, daemon, folder)
                    beside.append(load.run(SECONDS))
    for label, figures in (("without the page", without), ("in two browsers", beside)):
        rates, costs = zip(*figures)
        listed = ", ".join(f"{cost:.1f}" for cost in costs)
        print(f"{label:18} {statistics.median(rates):8.0f} licences/s, {listed} us of the daemon for each licence")
    ratio = statistics.median(cost for _, cost in beside) / statistics.median(cost for _, cost in without)
    print(f"processor time for each licence with the page: {ratio:.3f} x")


if __name__ == "__main__":
    main()

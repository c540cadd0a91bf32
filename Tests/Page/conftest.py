"""Fixtures of the tests of the page: one browser, one daemon with an operator for each role, and a page for each test.

No test is skipped: if the browser, axe or a program is missing, a test fails and names it.
"""

import json
import os
import secrets
import sys
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "Interop"), str(HERE.parent / "Browser")]

pytest.register_assert_rewrite("deployment", "own_daemon", "browser", "desk")

from browser import Browser, Page, running_browser
from deployment import Deployment, deployment_of, run_latchkey
from desk import Desk
from own_daemon import OwnDaemon, running_daemon
from pages import Pages, serving
from secret_watch import WATCH

ROLES = ("metrics", "support", "security", "admin")


def required(variable: str, what: str) -> str:
    value = os.environ.get(variable)
    if not value:
        pytest.fail(f"{variable} names no {what}; Scripts/test-page does", pytrace=False)
    return value


@dataclass(frozen=True)
class Lab:
    """The browser, a daemon with an operator for each role, and a web server with another origin."""

    browser: Browser
    daemon: OwnDaemon
    deployment: Deployment
    pages: Pages
    axe: str

    @property
    def url(self) -> str:
        return "http://{}:{}".format(*self.daemon.admin)

    def token(self, role: str) -> str:
        return (self.daemon.setup / "secrets" / f"{role}-operator").read_text().strip()

    def mint(self, subject: str, *options: str) -> str:
        return run_latchkey(
            self.daemon.setup, "token", "mint", "--content", self.deployment.content, "--subject", subject, *options
        ).strip()


def add_operators(setup: Path) -> None:
    """Gives the admin listener a token for each role."""
    tokens = []
    for role in ROLES:
        file = setup / "secrets" / f"{role}-operator"
        file.write_text(secrets.token_urlsafe(32))
        file.chmod(0o600)
        WATCH.note("an operator's token", file.read_bytes())
        tokens.append({"name": f"{role}-operator", "file": f"secrets/{role}-operator", "roles": [role]})
    configuration = setup / "latchkey.json5"
    text = configuration.read_text()
    place = 'tokenFile: "secrets/admin-token"'
    assert text.count(place) == 1, text
    configuration.write_text(text.replace(place, f"{place}, tokens: {json.dumps(tokens)}"))


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    chromium = required("LATCHKEY_CHROMIUM", "browser")
    axe = Path(required("LATCHKEY_AXE", "file of axe-core")).read_text()
    required("LATCHKEY_BIN", "program latchkey")
    folder = tmp_path_factory.mktemp("page")
    with ExitStack() as stack:
        daemon = stack.enter_context(running_daemon(folder, prepare=add_operators))
        pages = stack.enter_context(serving())
        browser = stack.enter_context(running_browser(chromium, folder, []))
        yield Lab(browser, daemon, deployment_of(daemon.url, daemon.setup), pages, axe)


@contextmanager
def watched(lab: Lab) -> Iterator[Page]:
    """A tab that may not send a request to another origin, and whose console must have no error at the end."""
    with lab.browser.page() as page:
        page.call("Log.enable")
        yield page
        assert page.console == []
        # Chromium draws parts of its own controls from data: URLs.
        own = (f"{lab.url}/", "data:")
        sent = page.exchanges("", "GET") + page.exchanges("", "POST") + page.exchanges("", "DELETE")
        others = [one.url for one in sent if not one.url.startswith(own)]
        assert others == [], "the page has sent requests to another origin"


@pytest.fixture
def desk(lab: Lab) -> Iterator[Desk]:
    with watched(lab) as page:
        yield Desk(page, lab.url)


@pytest.fixture
def subject() -> str:
    """A viewer that no other test has."""
    return f"viewer-{uuid.uuid4().hex[:12]}"

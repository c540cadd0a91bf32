"""Managing the account of a subject by the admin listener and by the command, and rentals as a portal grants them."""

import json
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from counting_node import ISSUERS, Node, message, token
from deployment import run_latchkey
from fairplay_device import tags
from fairplay_device.ckc import OpenedCKC, open_ckc
from fairplay_device.spc import Device, PlaybackState, SPCOptions
from license_client import Answer, LicenseClient

ISSUER = ISSUERS.ISSUER


@dataclass(frozen=True)
class Desk:
    """A client for the account routes of a node's admin listener."""

    node: Node

    def send(self, method: str, kind: str, with_token: bool = True, **parameters: str) -> Answer:
        host, port = self.node.admin
        client = LicenseClient(f"http://{host}:{port}")
        secret = (self.node.setup / "secrets" / "admin-token").read_text().strip()
        headers = {"Authorization": f"Bearer {secret}"} if with_token else {}
        query = urlencode(parameters, quote_via=quote)
        try:
            return client.send(method, f"/v1/{kind}?{query}", headers=headers)
        finally:
            client.close()

    def listed(self, kind: str, subject: str, **parameters: str) -> list[dict[str, object]]:
        """All pages."""
        found: list[dict[str, object]] = []
        after: dict[str, str] = {}
        while True:
            answer = self.send("GET", kind, subject=subject, issuer=ISSUER, **parameters, **after)
            assert answer.status == 200, answer
            page = json.loads(answer.body)
            found += page[kind]
            if page["next"] is None:
                return found
            after = {"after": page["next"]}

    def change(self, kind: str, subject: str, **parameters: str) -> list[dict[str, object]]:
        answer = self.send("DELETE", kind, subject=subject, issuer=ISSUER, **parameters)
        assert answer.status == 200, answer
        return json.loads(answer.body)[kind]


def command(node: Node, kind: str, name: str, subject: str, *options: str) -> list[dict[str, object]]:
    """Runs `latchkey account` with the node's configuration, and returns the rows that it prints."""
    printed = run_latchkey(
        node.setup, "account", kind, name, "--subject", subject, "--issuer", ISSUER, *options, "--json"
    )
    return json.loads(printed)[kind]


def ledger_rows(node: Node, *kinds: str) -> list[dict[str, object]]:
    """The ledger's rows of these kinds, oldest first. Fails if the ledger does not verify."""
    run_latchkey(node.setup, "ledger", "verify")
    rows = [json.loads(line) for line in run_latchkey(node.setup, "ledger", "export").splitlines()]
    return [row for row in rows if row["kind"] in kinds]


# --- Rentals ----------------------------------------------------------------------------------------------------------


def rented(subject: str, *, finish: bool = True, play: str = "48h", lease: int = 300) -> str:
    rental = {"start": "30d", "play": play, "finish": finish}
    return token(sub=subject, rights=[{"content": ISSUERS.content, "rental": rental, "lease": lease}])


def play_with(
    node: Node, token_text: str, device: Device, state: int, session: int = 1
) -> tuple[Answer, OpenedCKC | None]:
    """Requests a license with this playback state.

    Returns the answer, and the opened CKC if the answer is a license.
    """
    context = device.request(
        SPCOptions(ISSUERS.content.encode(), playback_state=PlaybackState(1_700_000_000, state, session))
    )
    answer = node.ask(context.message, token_text)
    return answer, open_ckc(answer.body, context.secrets) if answer.status == 200 else None


def renew(node: Node, session_token: str, device: Device, session: int = 1) -> Answer:
    return node.ask(message(device, session, tags.LEASE_ABOUT_TO_EXPIRE), session_token)

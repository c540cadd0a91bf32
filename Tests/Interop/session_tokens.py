"""Session tokens as a server makes them (HS256 with the server's own key).

The tests have that key, and read and change the tokens.
"""

import hashlib
import hmac
import time
from pathlib import Path

import tokens


def claims_of(token: str) -> dict[str, object]:
    return tokens.header_and_claims(token)[1]


def sign(header: dict[str, object], claims: dict[str, object], setup: Path) -> str:
    """A session token with any claims, signed with the key of a set-up."""
    key = bytes.fromhex((setup / "secrets" / "session-key").read_text().strip())
    text = tokens.signing_input(header, claims)
    return f"{text}.{tokens.encode(hmac.digest(key, text.encode(), hashlib.sha256))}"


def expired(token: str, setup: Path) -> str:
    """The same token with its times shifted, so that it has already expired."""
    header, claims = tokens.header_and_claims(token)
    shift = int(claims["exp"]) - (int(time.time()) - tokens.EXPIRED_BY_SECONDS)
    return sign(header, claims | {name: int(claims[name]) - shift for name in ("iat", "exp")}, setup)

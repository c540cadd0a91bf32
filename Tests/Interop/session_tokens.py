"""Session tokens as a server makes them (HS256 under a key of its own), read and changed by those who have that key."""

import hashlib
import hmac
import time
from pathlib import Path

import tokens


def claims_of(token: str) -> dict[str, object]:
    return tokens.header_and_claims(token)[1]


def sign(header: dict[str, object], claims: dict[str, object], setup: Path) -> str:
    """A session token under the key of a set-up, with any claims."""
    key = bytes.fromhex((setup / "secrets" / "session-key").read_text().strip())
    text = tokens.signing_input(header, claims)
    return f"{text}.{tokens.encode(hmac.digest(key, text.encode(), hashlib.sha256))}"


def expired(token: str, setup: Path) -> str:
    """The same token, some time after its end."""
    header, claims = tokens.header_and_claims(token)
    shift = int(claims["exp"]) - (int(time.time()) - tokens.EXPIRED_BY_SECONDS)
    return sign(header, claims | {name: int(claims[name]) - shift for name in ("iat", "exp")}, setup)

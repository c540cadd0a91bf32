"""Viewers of the lab's daemon: tokens whose devices and playbacks are counted, and requests for licenses."""

import tokens
from conftest import Lab
from fairplay_device import tags
from fairplay_device.facts import PlaybackState
from fairplay_device.spc import SPCOptions, device_for
from license_client import Answer, LicenseClient


def counted_token(lab: Lab, subject: str, devices: int = 2) -> str:
    """A token for a rental, of which devices and playbacks are counted."""
    header, claims = tokens.header_and_claims(lab.deployment.token)
    own = {
        "sub": subject,
        "rights": [{"content": lab.deployment.content, "lease": 300, "rental": {"start": "30d", "play": "48h"}}],
        "device": {"max": devices},
        "session": {"groups": [{"id": "all", "max": 2}]},
    }
    return tokens.sign_es256(header, claims | own, lab.deployment.signing_key)


def message(lab: Lab, version: int = 2) -> bytes:
    """An SPC of a new device, which is ready to play the lab's content."""
    state = PlaybackState(1_700_000_000, tags.READY_TO_START, 1)
    options = SPCOptions(lab.deployment.asset_id, playback_state=state)
    return device_for(lab.deployment.credential, version).request(options).message


def license(lab: Lab, token: str, spc: bytes | None = None) -> Answer:
    client = LicenseClient(lab.daemon.url)
    try:
        return client.license(spc or message(lab), token)
    finally:
        client.close()

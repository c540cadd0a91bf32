"""Random combinations of claims, dialects and device facts: the daemon and the Python rules must decide alike.

`Scripts/test-interop --combinations 3000 -k random_tokens` is the long form.
"""

import os
import random
import secrets
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from deployment import register
from fairplay_device.ckc import open_ckc
from fairplay_device.containers import VERSIONS
from fairplay_device.credentials import read_device_credential
from fairplay_device.key_server import OpenedSPC, key_server_without_private_keys
from fairplay_device.spc import RequestSecrets, device_for
from license_client import Answer, LicenseClient
from license_policy import Demand, Refused, Right
from own_daemon import OwnDaemon, running_daemon
from random_requests import named_on_failure, random_content_key, random_options
from random_tokens import RandomToken, random_token
from test_daemon_terms import assert_grants
from token_issuers import Issuers
from token_policy import PlaybackEnded, Situation, decide

COMBINATION_COUNT = int(os.environ.get("LATCHKEY_TEST_COMBINATIONS", "300"))
KEY_COUNT = 8
CONTENT = f"judged-{secrets.token_hex(6)}"
ISSUERS = Issuers.make(CONTENT, str(uuid.uuid4()))
PROFILES = {"HD": Right(lease=3600, rental=172_800, demand=Demand("type0", "baseline"))}


def prepare(setup: Path) -> None:
    ISSUERS.write(setup)
    configuration = setup / "latchkey.json5"
    text = configuration.read_text()
    profiles = 'profiles: { HD: { lease: "1h", duration: "48h", hdcp: "type0", securityLevel: "baseline" } },'
    # The line with the credential's name, after which a setting is inserted.
    name = 'name: "development",\n'
    for old, new in (("entitlement: {", f"entitlement: {{ {profiles}"), (name, f"{name}spcVersion3: true,")):
        assert text.count(old) == 1
        text = text.replace(old, new)
    configuration.write_text(text)


@pytest.fixture(scope="module")
def daemon(latchkey_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnDaemon]:
    with running_daemon(tmp_path_factory.mktemp("random"), prepare=prepare) as daemon:
        yield daemon


@pytest.mark.slow
def test_random_tokens_get_what_is_owed(daemon: OwnDaemon, seed: int) -> None:
    print(f"seed {seed}, {COMBINATION_COUNT} combinations")
    randomness = random.Random(f"{seed} tokens")
    credential = read_device_credential(daemon.setup / "fairplay")
    devices = [device_for(credential, version, randomness) for version in VERSIONS]
    keys = [random_content_key(randomness) for _ in range(KEY_COUNT)]
    for key in keys:
        register(daemon.setup, CONTENT, key)
    client = LicenseClient(daemon.url)
    outcomes: Counter[str] = Counter()
    dialects: Counter[str] = Counter()
    for number in range(COMBINATION_COUNT):
        key, device = randomness.choice(keys), randomness.choice(devices)
        situation = Situation(
            now=int(time.time()), content=CONTENT, key=key, device=device.device_id,
            offline=randomness.random() < 0.4, profiles=PROFILES,
        )
        options = random_options(randomness, str(uuid.UUID(bytes=key.key_id)).encode())
        context = device.request(options)
        server = key_server_without_private_keys(
            credential, {context.session.wrapped_key: context.session.keys.transport_key})
        token = random_token(randomness, ISSUERS, situation)
        answer = client.license(context.message, token.text, offline=situation.offline)
        with named_on_failure(f"combination {number} of seed {seed}", token, situation, options, answer.body):
            outcome = judged(answer, server.open(context.message), token, situation, context.secrets)
        outcomes[outcome] += 1
        dialects[token.dialect] += 1
    client.close()
    print(dict(dialects))
    print(dict(outcomes))
    assert sum(outcomes.values()) == COMBINATION_COUNT
    assert set(dialects) == {"native", "nagra", "axinom", "sealed"}
    assert {"Streaming", "content_mismatch", "offline_not_allowed", "security_level"} <= outcomes.keys()


def judged(
    answer: Answer, opened: OpenedSPC, token: RandomToken, situation: Situation, request_secrets: RequestSecrets
) -> str:
    """Checks that the answer is the one that the policy demands, and returns its kind."""
    try:
        license = decide(opened, token.entitlement, situation)
    except Refused as refused:
        assert answer.code in refused.codes, f"{answer.status} {answer.code}, expected {refused.codes}"
        return str(answer.code)
    except PlaybackEnded:
        assert answer.status == 200 and answer.header("Content-Type") == "application/json"
        assert answer.problem["playback"] == "ended"
        return "ended"
    assert answer.status == 200, f"{answer.status} {answer.code}, expected {license}"
    assert_grants(open_ckc(answer.body, request_secrets), license)
    return type(license.terms).__name__

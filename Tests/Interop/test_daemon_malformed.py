"""Malformed SPCs against a running daemon: each gets its status and code, and none harms the daemon."""

import random

import pytest

import malformed_bulk as bulk
from deployment import Deployment, assert_problem, json_of
from fairplay_device import containers
from fairplay_device.refusal import Refusal
from fairplay_device.spc import SPCOptions, device_for
from license_policy import Right
from malformed_spcs import CASES, CASES_BY_VERSION
from malformed_version_3 import VERSION_3
from workbench import (
    LICENSE,
    OTHER_CONTENT,
    REJECTED,
    SYNC_ANSWER,
    VERSION,
    Case,
    Outcome,
    Workbench,
)

# Sync requests need a token that allows a device to keep a license.
OFFLINE_TOO = Right(mode="both")


@pytest.fixture(scope="module", params=[1, 2, 3], ids=["version 1", "version 2", "version 3"])
def bench(request: pytest.FixtureRequest, deployment: Deployment, seed: int) -> Workbench:
    device = device_for(deployment.credential, request.param, random.Random(seed))
    return Workbench(deployment.credential, device, deployment.asset_id)


def assert_outcome(deployment: Deployment, bench: Workbench, body: bytes, *expected: Outcome) -> None:
    """Checks that the answer is one of the expected.

    If it is a license, the CKC must open with the secrets of the sent SPC.
    """
    answer = deployment.client.license(body, deployment.token_for(OFFLINE_TOO))
    if answer.status != 200:
        assert_problem(answer, *expected)
    elif answer.header("Content-Type") == "application/json":
        assert SYNC_ANSWER in expected
        assert "offline-sync" in json_of(answer)
    else:
        assert LICENSE in expected
        deployment.open(answer, bench.yardstick.open(body).secrets)


@pytest.mark.parametrize(("bench", "case"), CASES_BY_VERSION, indirect=["bench"])
def test_a_malformed_spc_gets_its_status_and_code(case: Case, deployment: Deployment, bench: Workbench) -> None:
    assert_outcome(deployment, bench, case.make(bench), *case.outcomes)


def test_every_truncation_is_refused(deployment: Deployment, bench: Workbench) -> None:
    for name, body, outcomes in bulk.truncations(bench.message):
        print(name)
        assert_outcome(deployment, bench, body, *outcomes)


def test_random_blobs_are_refused(deployment: Deployment, bench: Workbench, seed: int) -> None:
    print(f"seed {seed}")
    for name, body, outcomes in bulk.random_blobs(bench, random.Random(seed)):
        print(name)
        assert_outcome(deployment, bench, body, *outcomes)


@pytest.mark.slow
def test_one_byte_flips_get_what_a_strict_key_server_says(deployment: Deployment, bench: Workbench) -> None:
    for name, body in bulk.flips(bench.message):
        print(name)
        assert_outcome(deployment, bench, body, strict_outcome(deployment, bench, body))


def strict_outcome(deployment: Deployment, bench: Workbench, body: bytes) -> Outcome:
    try:
        opened = bench.yardstick.open(body)
    except Refusal as refusal:
        return Outcome(refusal.status, refusal.code)
    if opened.asset_id != deployment.asset_id:
        return OTHER_CONTENT
    return LICENSE if opened.sync_request is None else SYNC_ANSWER


def test_everything_after_the_hash_gets_the_same_bytes(deployment: Deployment, seed: int) -> None:
    """Two answers may differ only in the request id and the time. Even their lengths must be equal."""
    seen: dict[tuple[int, tuple[tuple[str, str], ...], bytes], str] = {}
    for version in containers.VERSIONS:
        device = device_for(deployment.credential, version, random.Random(seed))
        bench = Workbench(deployment.credential, device, deployment.asset_id)
        for case in CASES:
            if case.outcomes == (REJECTED,) and version in case.versions:
                answer = deployment.client.license(case.make(bench), deployment.token)
                seen.setdefault(answer.without_identity, f"version {version}, {case.name}")
    assert len(seen) == 1, seen


# --- A daemon that does not serve version 3 --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def other_bench(other_deployment: Deployment, seed: int) -> Workbench:
    device = device_for(other_deployment.credential, 3, random.Random(seed))
    return Workbench(other_deployment.credential, device, other_deployment.asset_id)


@pytest.mark.parametrize("case", VERSION_3, ids=lambda case: case.name)
def test_version_3_is_refused_before_any_other_check(
    case: Case, other_deployment: Deployment, other_bench: Workbench
) -> None:
    answer = other_deployment.client.license(case.make(other_bench), other_deployment.token)
    assert_problem(answer, VERSION)


def test_every_truncation_of_version_3_is_of_no_served_version(
    other_deployment: Deployment, other_bench: Workbench
) -> None:
    for length in range(4, len(other_bench.message), bulk.TRUNCATION_STEP):
        answer = other_deployment.client.license(other_bench.message[:length], other_deployment.token)
        assert_problem(answer, VERSION)


@pytest.mark.parametrize("version", [1, 2])
def test_the_older_versions_are_served_beside_it(version: int, other_deployment: Deployment) -> None:
    device = device_for(other_deployment.credential, version)
    other_deployment.license(device, SPCOptions(other_deployment.asset_id))

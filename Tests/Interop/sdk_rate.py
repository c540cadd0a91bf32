"""Measures the licenses per second of a credential of the kind `sdk`, as a ratio to a native one in the same daemon.

The library is a stand-in (Tests/SDKStandIn), and Apple's library has other costs. So the ratio shows what the way to a
library costs: a second RSA operation, the JSON, and the exchange with worker processes. Rates depend on the machine and
the build. Only ratios of one run can be compared.

    python=$(Scripts/python-environment)/bin/python
    $python Tests/Interop/sdk_rate.py --bin .build/release
    $python Tests/Interop/sdk_rate.py --bin .build/debug --rounds 2 --count 500
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import tokens
from deployment import deployment_of
from fairplay_device.credentials import make_credential
from own_daemon import OwnDaemon, running_daemon
from sdk_library import FLAVOURS, build_libraries
from sdk_load import await_true, native_entry, ready_workers, sdk_entry, store_keys, write_credentials, write_private

LOAD_SECONDS = 600


@dataclass(frozen=True)
class Rates:
    """Licenses per second, and the 99th percentile of the latency in milliseconds, by credential in one round."""

    licenses: dict[str, float]
    p99: dict[str, float]

    @property
    def ratio(self) -> float:
        return self.licenses["apple"] / self.licenses["native"]


def measure(
    folder: Path, library: Path, *, versions: list[int], workers: int, rounds: int, count: int, connections: int
) -> dict[int, list[Rates]]:
    """The rates by SPC version. The credentials take turns, because the speed of a machine changes by the minute."""
    made = {name: make_credential() for name in ("native", "apple")}

    def prepare(setup: Path) -> None:
        write_credentials(setup, [
            native_entry(setup, "native", made["native"]),
            sdk_entry(setup, "apple", made["apple"], library, f", workers: {workers}"),
        ])  # fmt: skip

    with running_daemon(folder, prepare=prepare) as daemon:
        await_true("the workers", lambda: len(ready_workers(daemon.log, "apple")) == workers)
        at = deployment_of(daemon.url, daemon.setup)
        at.client.close()
        kept = store_keys(daemon.setup, ["none"])["none"]
        bearer = folder / "tokens"
        right = [{"content": kept.content}]
        subjects = [tokens.with_rights(at.token, at.signing_key, right, f"viewer-{number}") for number in range(64)]
        write_private(bearer, "".join(f"{token}\n" for token in subjects).encode())
        files = {}
        for name, credential in made.items():
            files[name] = (folder / f"{name}.bundle", folder / f"{name}.secret")
            files[name][0].write_bytes(credential.bundle)
            write_private(files[name][1], credential.application_secret.hex().encode())

        def load(name: str, version: int, count: int) -> dict[str, object]:
            return _load(daemon, *files[name], bearer, kept.content, version, count, connections)

        rates: dict[int, list[Rates]] = {}
        for version in versions:
            for name in made:
                load(name, version, 50)
            rates[version] = []
            for _ in range(rounds):
                reports = {name: load(name, version, count) for name in made}
                rates[version].append(
                    Rates(
                        {name: 1000 * report["licenses"] / report["milliseconds"] for name, report in reports.items()},
                        {name: report["latencyMicroseconds"]["p99"] / 1000 for name, report in reports.items()},
                    )
                )
        return rates


def _load(
    daemon: OwnDaemon, bundle: Path, secret: Path, bearer: Path, asset: str, version: int, count: int, connections: int
) -> dict[str, object]:
    finished = subprocess.run(
        [os.environ["LATCHKEY_BIN"], "bench", "--url", daemon.url, "--certificate", bundle,
         "--application-secret", secret, "--asset-id", asset, "--token", f"@{bearer}", "--spc-version", str(version),
         "--count", str(count), "--connections", str(connections), "--seconds", str(LOAD_SECONDS), "--json"],
        capture_output=True, text=True, timeout=2 * LOAD_SECONDS, check=False,
    )  # fmt: skip
    if finished.returncode != 0:
        raise SystemExit(f"sdk_rate: the load failed: {finished.stderr}{finished.stdout}")
    report = json.loads(finished.stdout)
    if report["licenses"] != count:
        raise SystemExit(f"sdk_rate: {count - report['licenses']} of {count} requests got no license: {report}")
    return report


def print_rates(rates: dict[int, list[Rates]], heading: str) -> None:
    print(heading)
    print("SPC version  native/s  sdk/s  ratio (each round)  p99 native ms  p99 sdk ms")
    for version, rounds in rates.items():
        native, apple = (statistics.median(each.licenses[name] for each in rounds) for name in ("native", "apple"))
        p99 = [statistics.median(each.p99[name] for each in rounds) for name in ("native", "apple")]
        ratio = statistics.median(each.ratio for each in rounds)
        each_round = ", ".join(f"{each.ratio:.2f}" for each in rounds)
        print(
            f"{version:>11}  {native:>8.0f}  {apple:>5.0f}  {ratio:.2f} ({each_round})"
            f"  {p99[0]:>13.1f}  {p99[1]:>10.1f}"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="the folder of `latchkey` and `latchkeyd`")
    parser.add_argument("--flavour", choices=list(FLAVOURS), default="rust", help="of the library (default rust)")
    parser.add_argument("--versions", default="1,2", help="SPC versions, with commas between them (default 1,2)")
    parser.add_argument("--workers", type=int, default=2, help="worker processes of the library (default 2)")
    parser.add_argument("--rounds", type=int, default=3, help="loads of each credential and version (default 3)")
    parser.add_argument("--count", type=int, default=2000, help="licenses in each load (default 2000)")
    parser.add_argument("--connections", type=int, default=16, help="connections at the same time (default 16)")
    given = parser.parse_args()
    program = given.bin.resolve() / "latchkey"
    if not program.exists():
        parser.error(f"no program {program}")
    os.environ["LATCHKEY_BIN"] = str(program)
    folder = "swift-static" if given.flavour == "swift" else given.flavour
    library = build_libraries() / folder / FLAVOURS[given.flavour]
    if not library.exists():
        parser.error("there is no Swift compiler")
    with tempfile.TemporaryDirectory(prefix="latchkey-sdk-rate-") as temporary:
        rates = measure(
            Path(temporary), library, versions=[int(version) for version in given.versions.split(",")],
            workers=given.workers, rounds=given.rounds, count=given.count, connections=given.connections,
        )  # fmt: skip
    build = given.bin.resolve().name
    print_rates(
        rates,
        f"programs of {build}, stand-in of the {given.flavour} flavour, {given.workers} workers, "
        f"{os.cpu_count()} cores, {given.connections} connections, {given.rounds} rounds of {given.count} licenses; "
        "medians:",
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

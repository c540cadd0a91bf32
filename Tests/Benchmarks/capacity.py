"""The cost of a license by kind, and the capacity that follows from it.

    capacity.py --bin DIR [--short] [--output FOLDER] [--accelerator LIBRARY]

Runs under `Scripts/with-postgresql`. Daemons run on processor 0. The generator and PostgreSQL run on processor 1, where
`Scripts/bench capacity` starts this script.

1. Measures the daemon's processor time for a license of each kind. Every kind differs from the first one in one thing,
   so its part is a difference.
2. Multiplies: a license costs the sum of its parts, and N nodes of M cores give N * M * 0.7 / cost licenses per second.
   The factor 0.7 leaves a reserve for peaks. It is chosen, not measured.
3. Checks this with two nodes on one PostgreSQL, which share processor 0, under a mixed load: the model's prediction
   against the measured licenses per second.

Writes `capacity.json`, `capacity.md`, and the plots `capacity-cost` and `capacity-nodes` for light and dark pages. The
article "Sizing" has these plots (Documentation/pictures).
"""

import argparse
import os
import secrets
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import capacity_report
from load_daemon import Daemon, Plan, Programs, accelerated, add_tls, cpu_seconds, finish, openssl_speed, replace, running

DAEMON_CORE = 0
CONNECTIONS = 32
# The tokens of a load in which each license has a token of its own.
NEW_TOKENS = 6_000


SHORT = Plan(seconds=2, rounds=1, openssl_seconds=1)
FULL = Plan(seconds=5, rounds=3, openssl_seconds=3)


@dataclass(frozen=True)
class Kind:
    """A load whose licenses are of one kind."""

    name: str
    arguments: tuple[object, ...] = ()
    tls: bool = False
    new_tokens: str | None = None
    """The algorithm of the tokens if each license has a new one; None if their verification is remembered."""


KEPT = ("--connections", CONNECTIONS)
NEW = ("--connections", CONNECTIONS, "--new-connections")
KINDS = (
    Kind("v1", KEPT),
    Kind("v2", (*KEPT, "--spc-version", 2)),
    Kind("v1, new ES256 token", KEPT, new_tokens="ES256"),
    Kind("v1, new EdDSA token", KEPT, new_tokens="EdDSA"),
    Kind("v1, new RS256 token", KEPT, new_tokens="RS256"),
    Kind("v1, new HS256 token", KEPT, new_tokens="HS256"),
    Kind("v1, new connection", NEW),
    Kind("v1, TLS", KEPT, tls=True),
    Kind("v1, TLS, new connection", NEW, tls=True),
)


# --- Set-ups ----------------------------------------------------------------------------------------------------------


def prepared(accelerator: str | None, *further: Callable[[Path], None]) -> Callable[[Path], None]:
    """Gives a set-up one loop, issuers of every algorithm, and the accelerator."""

    def use_one_loop(setup: Path) -> None:
        replace(setup, "limits: {", "limits: { loopCount: 1,")

    return accelerated(accelerator, use_one_loop, add_issuers, *further)


def add_issuers(setup: Path) -> None:
    """Adds an issuer for each algorithm but that of `latchkey init`, with the key in `secrets/ALGORITHM`."""
    folder = setup / "secrets"
    shutil.copy(folder / "token-signing-key.pem", folder / "ES256")
    (folder / "HS256").write_text(secrets.token_hex(32))
    for algorithm, words in {"EdDSA": ("ed25519",), "RS256": ("rsa", "-pkeyopt", "rsa_keygen_bits:2048")}.items():
        command = ("openssl", "genpkey", "-out", folder / algorithm, "-algorithm", *words)
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    issuers = ""
    for algorithm in ("EdDSA", "RS256", "HS256"):
        (folder / algorithm).chmod(0o600)
        issuers += (
            f'{{ issuer: "{algorithm}", audience: "latchkey", dialect: "jwt", '
            f'keys: [{{ kid: "{algorithm}", algorithm: "{algorithm}", key: "secrets/{algorithm}" }}] }},\n            '
        )
    replace(setup, "issuers: [", f"issuers: [\n            {issuers}")


def on_postgresql(number: int, schema: str, first: Path | None) -> Callable[[Path], None]:
    """Makes a set-up a node of the server that the environment names, with the secrets of the first node."""

    def prepare(setup: Path) -> None:
        if first is not None:
            for name in ("fairplay", "secrets"):
                shutil.rmtree(setup / name)
                shutil.copytree(first / name, setup / name)
        shutil.copy(os.environ["LATCHKEY_POSTGRESQL_PASSWORD_FILE"], setup / "secrets" / "postgresql-password")
        url = os.environ["LATCHKEY_POSTGRESQL"]
        url += f"{'&' if '?' in url else '?'}schema={schema}"
        replace(
            setup,
            'storage: { url: "sqlite:latchkey.db" }',
            f'node: "node-{number}", storage: {{ url: "{url}", password: "secrets/postgresql-password", '
            'ledger: "ledger.db" }',
        )

    return prepare


def database_seconds() -> float:
    """The processor time of PostgreSQL with all its processes."""
    server = int(Path(os.environ["LATCHKEY_POSTGRESQL_PID_FILE"]).read_text().splitlines()[0])
    children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
    return cpu_seconds(server, with_children=True) + sum(cpu_seconds(child) for child in children)


# --- Loads ------------------------------------------------------------------------------------------------------------


def cost(daemon: Daemon, kind: Kind, seconds: int) -> float:
    """The daemon's processor time for a license, in microseconds. No SPC is sent twice."""
    if kind.new_tokens is not None:
        tokens = daemon.mint(NEW_TOKENS, "--issuer-key", daemon.setup / "secrets" / kind.new_tokens)
        _, each = daemon.bench(*kind.arguments, "--count", NEW_TOKENS, "--seconds", 60, tokens=tokens)
        return each * 1e6
    probe, _ = daemon.bench(*kind.arguments, "--count", 20_000, "--seconds", 1)
    rate = probe["licenses"] * 1000 / probe["milliseconds"]
    _, each = daemon.bench(*kind.arguments, "--count", int(rate * seconds * 1.5), "--seconds", seconds)
    return each * 1e6


def measure_kinds(programs: Programs, plan: Plan, accelerator: str | None) -> dict[str, float]:
    """The medians of all rounds.

    The kinds take turns, because the speed of a machine changes from minute to minute. Each load has a new daemon,
    because a license costs more when the ledger has grown.
    """
    rounds: dict[str, list[float]] = {kind.name: [] for kind in KINDS}
    for _ in range(plan.rounds):
        for kind in KINDS:
            with running(programs, prepared(accelerator, *([add_tls] if kind.tls else []))) as daemon:
                rounds[kind.name].append(cost(daemon, kind, plan.seconds))
            print(f"{kind.name:28} {rounds[kind.name][-1]:7.1f} µs", flush=True)
    return {name: statistics.median(costs) for name, costs in rounds.items()}


class Cluster:
    """Two nodes on one PostgreSQL. Both run on the daemons' processor."""

    def __init__(self, programs: Programs, folder: Path, accelerator: str | None):
        schema = f"capacity_{secrets.token_hex(8)}"
        self.nodes: list[Daemon] = []
        for number in range(2):
            first = self.nodes[0].setup if self.nodes else None
            prepare = prepared(accelerator, on_postgresql(number, schema, first))
            self.nodes.append(Daemon(programs, folder / str(number), prepare=prepare, has_content=first is not None))

    def stop(self) -> None:
        for node in self.nodes:
            node.stop()

    def load(self, nodes: int, seconds: int, *arguments: object) -> dict[str, float]:
        """Loads the first nodes at the same time. Returns the licenses per second, and the processor times of a
        license in microseconds."""
        loaded = self.nodes[:nodes]
        before = sum(node.cpu_seconds() for node in loaded)
        database = database_seconds()
        words = (*arguments, "--seconds", seconds)
        loads = [subprocess.Popen(node.bench_command(*words), stdout=subprocess.PIPE, text=True) for node in loaded]
        reports = [finish(load) for load in loads]
        licenses = sum(report["licenses"] for report in reports)
        return {
            "rate": sum(report["licenses"] * 1000 / report["milliseconds"] for report in reports),
            "cost": (sum(node.cpu_seconds() for node in loaded) - before) / licenses * 1e6,
            "database": (database_seconds() - database) / licenses * 1e6,
        }


def measure_nodes(programs: Programs, plan: Plan, accelerator: str | None) -> dict[str, float]:
    """The costs on PostgreSQL with one node, and what two nodes do under a mixed load against the prediction."""
    found: dict[str, list[float]] = {}
    for _ in range(plan.rounds):
        with tempfile.TemporaryDirectory(prefix="latchkey-capacity-") as folder:
            cluster = Cluster(programs, Path(folder), accelerator)
            try:
                for version in (1, 2):
                    words = (*KEPT, "--spc-version", version, "--count", 8_000 * plan.seconds)
                    one = cluster.load(1, plan.seconds, *words)
                    found.setdefault(f"v{version}", []).append(one["cost"])
                    found.setdefault("database", []).append(one["database"])
                # The nodes share the daemons' processor, so each has half of it.
                both = cluster.load(2, plan.seconds, *KEPT, "--spc-version", "1,2", "--count", 4_000 * plan.seconds)
                found.setdefault("rate", []).append(both["rate"])
                found.setdefault("mixed", []).append(both["cost"])
            finally:
                cluster.stop()
    return {name: statistics.median(values) for name, values in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="the folder of latchkey and latchkeyd")
    parser.add_argument("--short", action="store_true", help="shorter loads, for a first look: about three minutes")
    parser.add_argument("--output", type=Path, default=Path("capacity-report"), help="the folder of the report")
    parser.add_argument("--accelerator", help="the library crypto_mb; without it, OpenSSL computes RSA")
    arguments = parser.parse_args()
    plan = SHORT if arguments.short else FULL
    programs = Programs(arguments.bin.resolve(), DAEMON_CORE)
    report = {
        "format": "latchkey-capacity-1",
        "accelerator": arguments.accelerator is not None,
        "opensslMicroseconds": {
            str(bits): 1e6 / openssl_speed(bits, plan.openssl_seconds, DAEMON_CORE) for bits in (1024, 2048)
        },
        "kinds": measure_kinds(programs, plan, arguments.accelerator),
        "nodes": measure_nodes(programs, plan, arguments.accelerator),
    }
    capacity_report.write(report, arguments.output)
    print((arguments.output / "capacity.md").read_text())


if __name__ == "__main__":
    main()

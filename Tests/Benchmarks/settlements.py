"""Measures how many decisions PostgreSQL settles for one node at several round trips, with one build or two in turn.

A proxy in front of the server of `Scripts/with-postgresql` delays all bytes, without limiting their rate. It also
prints how the tables look after many decisions. `Scripts/bench settlements` runs it.
"""

import argparse
import json
import os
import selectors
import statistics
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

sys.path.insert(0, str(Path(__file__).parents[1] / "Interop"))
from slow_network import slow_network

SCHEMA = "bench_settlements"
URL = os.environ.get("LATCHKEY_POSTGRESQL", "")
# What the proxy itself adds to a round trip, about. The measured round trips are printed.
PROXY_MILLISECONDS = 0.3
# Of tables that decisions change: updates, their share that changed no index, dead rows, and the size.
TABLES = f"""
    SELECT relname, n_live_tup, n_tup_upd, round(100.0 * n_tup_hot_upd / n_tup_upd, 1), n_dead_tup, autovacuum_count,
        pg_size_pretty(pg_total_relation_size(relid))
    FROM pg_stat_user_tables WHERE schemaname = '{SCHEMA}' AND n_tup_upd > 0 ORDER BY n_tup_upd DESC
    """


def sql(statement: str) -> list[list[str]]:
    url = urlsplit(URL)
    options = parse_qs(url.query)
    environment = os.environ | {
        "PGHOST": url.hostname or "", "PGPORT": str(url.port), "PGUSER": url.username or "",
        "PGDATABASE": url.path.lstrip("/"), "PGSSLMODE": options["sslmode"][0],
        "PGSSLROOTCERT": options["sslrootcert"][0],
        "PGPASSWORD": Path(os.environ["LATCHKEY_POSTGRESQL_PASSWORD_FILE"]).read_text().strip(),
        "PGOPTIONS": "-c client_min_messages=warning",
    }
    command = ["psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set", "ON_ERROR_STOP=1"]
    finished = subprocess.run(
        [*command, "--command", statement], env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    return [line.split("|") for line in finished.stdout.splitlines()]


def run(program: str, port: int | None, *options: str) -> dict[str, float]:
    """Runs a build in a new schema, because two builds may have different ones."""
    sql(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    url = urlsplit(URL)
    if port is not None:
        url = url._replace(netloc=url.netloc.replace(f":{url.port}", f":{port}"))
    environment = os.environ | {"LATCHKEY_POSTGRESQL": url.geturl()}
    finished = subprocess.run(
        [program, "settlements", *options], env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(finished.stdout)


def measure(programs: list[str], round_trip: float, rounds: int, options: list[str]) -> None:
    """Prints each run, and the medians of each build as ratios to those of the first one."""
    server = urlsplit(URL)
    runs: dict[str, list[dict[str, float]]] = {program: [] for program in programs}
    with slow_network(server.hostname or "", server.port or 0, selectors.SelectSelector()) as network:
        network.round_trip = max(0, round_trip - PROXY_MILLISECONDS) / 1000
        for _ in range(rounds):
            for program in programs:
                runs[program].append(run(program, network.port, *options))
                print(json.dumps({"wanted": round_trip, "program": program} | runs[program][-1]), flush=True)
    medians = {
        program: {name: statistics.median(one[name] for one in of) for name in of[0]} for program, of in runs.items()
    }
    first = medians[programs[0]]
    for program, median in medians.items():
        ratios = {name: median[name] / first[name] for name in median}
        print(
            f"round trip {median['roundTrip']:.2f} ms: {median['manySubjects']:.0f}/s for many subjects "
            f"({ratios['manySubjects']:.2f}), {median['oneSubject']:.0f}/s for one ({ratios['oneSubject']:.2f}), "
            f"{median['twoNodes']:.0f}/s for one on two nodes ({ratios['twoNodes']:.2f}), {program}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--bin", required=True, help="latchkey-benchmarks of this tree")
    parser.add_argument("--other", help="latchkey-benchmarks of another tree, which runs in turn with it")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each build at each round trip")
    parser.add_argument("--round-trips", default="0.1,1,10", help="milliseconds, with commas")
    parser.add_argument("--decisions", type=int, default=100_000, help="for the statistics of the tables; 0 for none")
    parser.add_argument("--short", action="store_true", help="shorter runs, for a first look")
    arguments = parser.parse_args()
    programs = [program for program in (arguments.bin, arguments.other) if program]
    for round_trip in map(float, arguments.round_trips.split(",")):
        measure(programs, round_trip, arguments.rounds, ["--short"] if arguments.short else [])
    for program in programs if arguments.decisions else []:
        settled = run(program, None, f"--decisions={arguments.decisions}")["decisions"]
        time.sleep(1.5)  # PostgreSQL adds up statistics once a second.
        print(f"after {settled} decisions of {program}:")
        for table, live, updates, hot, dead, vacuums, size in sql(TABLES):
            print(
                f"    {table}: {live} rows, {dead} dead, {updates} updates, of which {hot} % changed no index (HOT), "
                f"{vacuums} vacuums, {size}"
            )


if __name__ == "__main__":
    main()

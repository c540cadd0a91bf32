#!/usr/bin/env python3
"""Counts the instructions of the daemon for one license or one new connection, by part of the work.

    instructions.py --bin DIR [--short] [--rounds N] [--output FOLDER] [--compare EARLIER.json]
    instructions.py --self-test

The real daemon runs under `valgrind --tool=callgrind` with one loop, and `latchkey bench` sends requests over one
connection. Every case has two loads of different length. Their difference, divided by the requests between them, is the
cost of one request: start-up, the first requests and a kept connection drop out. All threads count. The speed of the
machine does not change these counts, so small changes of the code show. Only what waits or runs on timers depends on
time: most of all "upkeep", and in part "socket", "record" and "ledger".

Writes `instructions.json`, `instructions.md` and `functions.md` (the most expensive types and functions) to the folder.
Each round counts in a new daemon; the means are reported, and how far the rounds differ. Without --short, a further
round counts the bytes that are copied. With --compare, prints what changed since an earlier report, and a warning for
every part that grew. If there is one, all is counted again, and only parts that grew both times are named.

Valgrind shows programs a processor without AVX-512 and without instructions for SHA. With these, RSA and digests take
fewer instructions than here.
"""

import argparse
import base64
import hashlib
import hmac
import json
import platform
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import callgrind
import instruction_report
import instruction_self_test
from callgrind import Attribution, Function, Profile
from instruction_parts import PARTS, Places
from load_daemon import ADDRESS, CONTENT, TLS, Daemon, Programs, replace, running
from resuming_relay import ResumingRelay

FORMAT = "latchkey-instructions-1"
SOURCES = Path(__file__).resolve().parents[2] / "Sources"
FILM, TRACKS = "film", ("AUDIO", "SD", "HD")
ALLOCATORS = {"malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign"}
# Instructions of a call of `count_copies.c` besides those that copy.
COPY_CALL = 8
RESUMED_SHARE = 0.95
ATTEMPTS = 3
COUNTER = "count_copies.so"
SECRET = "a secret of the benchmarks that is long enough"


@dataclass(frozen=True)
class Case:
    name: str
    arguments: tuple[object, ...] = ()
    is_secure: bool = False
    tokens: str = "known"
    """Which tokens requests have: "known" to the daemon, "new" with ES256 or "shared" with HS256, or "refused"."""
    key_count: int = 1
    is_resumed: bool = False
    is_short: bool = False
    """Whether the short form has the case."""


CASES = (
    Case("v1, HTTP/1.1", is_short=True),
    Case("v2, HTTP/1.1", ("--spc-version", 2)),
    Case("v1, TLS 1.3, HTTP/1.1", is_secure=True),
    Case("v1, TLS 1.3, HTTP/2", ("--http2",), is_secure=True),
    Case("new connection", ("--new-connections",)),
    Case("new TLS 1.3 connection", ("--new-connections",), is_secure=True, is_short=True),
    Case("resumed TLS 1.3 connection", ("--new-connections",), is_secure=True, is_resumed=True),
    Case("three keys in one request", ("--keys", len(TRACKS)), key_count=len(TRACKS)),
    Case("refused token", tokens="refused"),
    Case("new ES256 token", tokens="new"),
    Case("new HS256 token", tokens="shared"),
)


@dataclass(frozen=True)
class Counts:
    """The requests of a case: the first ones fill caches, then come two loads."""

    first: int
    shorter: int
    longer: int

    @property
    def difference(self) -> int:
        return self.longer - self.shorter


# OpenSSL renews the blinding of a key after 32 operations, so the loads differ by a multiple of this.
FULL, SHORT = Counts(first=16, shorter=16, longer=144), Counts(first=4, shorter=2, longer=34)


# --- Loads ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CountedPrograms(Programs):
    """Runs the daemon under callgrind."""

    dumps: Path = Path()

    def daemon(self, configuration: Path) -> list[object]:
        words = ("valgrind", "--tool=callgrind", "--vgdb-poll=500", f"--log-file={self.dumps / 'valgrind.log'}")
        return [*words, f"--callgrind-out-file={self.dumps / 'dump'}", *super().daemon(configuration)]


def copy_programs(source: Path, target: Path) -> None:
    """Copies the programs without the debug information, which Valgrind cannot read. The names of functions stay."""
    target.mkdir()
    for name in ("latchkey", "latchkeyd"):
        subprocess.run(["strip", "--strip-debug", "-o", target / name, source / name], check=True)


def prepare(setup: Path) -> None:
    """One loop, a plain and a TLS listener, and a key for HS256."""
    free = 'address: "127.0.0.1:0"'
    replace(setup, f"{{ {ADDRESS} }}", f"{{ {free} }}, {{ {free}, {TLS} }}")
    replace(setup, 'address: "127.0.0.1:9080"', free)
    # Under Valgrind, a request may wait for long.
    replace(setup, "limits: {", 'limits: { loopCount: 1, overload: { wait: "30s" },')
    (setup / "secrets" / "shared-token-key").write_text(SECRET)
    (setup / "secrets" / "shared-token-key").chmod(0o600)
    shared = '{ kid: "shared-1", algorithm: "HS256", key: "secrets/shared-token-key" }'
    known = 'key: "secrets/token-verification-key.pem" }'
    replace(setup, f"{known}]", f"{known}, {shared}]")


@dataclass(frozen=True)
class Loads:
    """Two loads of a case that differ by so many requests."""

    shorter: Profile
    longer: Profile
    difference: int

    @property
    def total(self) -> float:
        """The instructions of one request."""
        return (self.longer.total - self.shorter.total) / self.difference

    @property
    def per_request(self) -> Profile:
        return callgrind.per_request(self.shorter, self.longer, self.difference)


class Target:
    """A daemon under callgrind, and loads on it."""

    def __init__(self, daemon: Daemon, dumps: Path) -> None:
        self._daemon = daemon
        self._dumps = dumps
        self._plain, self._secure = daemon.urls
        self._dump_count = 0
        self._assets = daemon.create_tracks(FILM, TRACKS)
        self._known = {content: daemon.mint(1, content=content) for content in (CONTENT, FILM)}

    def measure(self, case: Case, counts: Counts) -> "Loads":
        """Sends the loads of a case. On a busy machine the daemon may refuse requests, so there are some attempts."""
        for _ in range(ATTEMPTS):
            # These fill caches. Their answers do not matter.
            self._load(case, counts.first)
            self._control("zero")
            faults = self._load(case, counts.shorter)
            shorter = self._dump()
            faults += self._load(case, counts.longer)
            if not faults:
                return Loads(shorter, self._dump(), counts.difference)
            print(f"counted again: {case.name}: {faults}", file=sys.stderr)
        sys.exit(f"instructions: {case.name} gets other answers than expected")

    def _load(self, case: Case, count: int) -> str:
        """Sends requests. Returns what was not as expected."""
        content = FILM if case.key_count > 1 else CONTENT
        asset = f"@{self._assets}" if case.key_count > 1 else content
        tokens = self._tokens(case, content, count)
        if not case.is_resumed:
            self._daemon.url = self._secure if case.is_secure else self._plain
            return self._send(case, count, tokens, asset)
        host, _, port = self._secure.removeprefix("https://").rpartition(":")
        relay = ResumingRelay((host, int(port)), self._daemon.setup / "tls" / "certificate.pem")
        self._daemon.url = relay.url
        faults = self._send(case, count, tokens, asset)
        relay.close()
        # The first connection has no session yet. A few others may miss theirs.
        if relay.resumed < (count - 1) * RESUMED_SHARE:
            faults += f"{relay.resumed} connections of {count} resumed a session"
        return faults

    def _send(self, case: Case, count: int, tokens: Path, asset: str) -> str:
        words = ("--connections", 1, "--count", count, "--seconds", 3600, "--timeout", "2m", *case.arguments)
        command = self._daemon.bench_command(*words, tokens=tokens, asset_id=asset)
        finished = subprocess.run(command, capture_output=True, text=True)
        if not finished.stdout:
            sys.exit(f"instructions: {finished.stderr}")
        report = json.loads(finished.stdout)
        expected = {
            "sent": count,
            "refused" if case.tokens == "refused" else "licenses": count * case.key_count,
            "connections": count if "--new-connections" in case.arguments else 1,
            "httpVersions": {"2" if "--http2" in case.arguments else "1.1": count},
        }
        got = {name: report[name] for name in expected}
        return "" if got == expected else f"{got}, and not {expected}; answers: {report['results']}"

    def _tokens(self, case: Case, content: str, count: int) -> Path:
        if case.tokens == "known":
            return self._known[content]
        tokens = self._daemon.mint(count, content=content)
        change = {"refused": damaged, "shared": signed_with_secret}.get(case.tokens)
        if change is not None:
            tokens.write_text("".join(f"{change(line)}\n" for line in tokens.read_text().splitlines()))
        return tokens

    def _dump(self) -> Profile:
        self._dump_count += 1
        self._control("dump")
        return callgrind.read(self._dumps / f"dump.{self._dump_count}")

    def _control(self, command: str) -> None:
        # What `callgrind_control` does, but without ptrace, which may leave a process with many threads stopped. The
        # daemon looks for commands by itself while it works, and its timers are work enough.
        words = ["vgdb", f"--pid={self._daemon.process.pid}", "--max-invoke-ms=0", command]
        finished = subprocess.run(words, capture_output=True, text=True, timeout=60)
        if finished.returncode != 0:
            sys.exit(f"instructions: {' '.join(words)}: {finished.stdout}{finished.stderr}")


def damaged(token: str) -> str:
    """The token with another signature."""
    head, _, signature = token.rpartition(".")
    return f"{head}.{'B' if signature[0] == 'A' else 'A'}{signature[1:]}"


def signed_with_secret(token: str) -> str:
    """The claims of the token, signed with HS256."""
    header = json.dumps({"alg": "HS256", "kid": "shared-1", "typ": "JWT"}).encode()
    signed = f"{base64_url(header)}.{token.split('.')[1]}"
    return f"{signed}.{base64_url(hmac.digest(SECRET.encode(), signed.encode(), hashlib.sha256))}"


def base64_url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


@contextmanager
def target(programs: Path, environment: dict[str, str] | None = None) -> Iterator[Target]:
    # Without these, the order of dictionaries and the calls that resolve names change from run to run.
    fixed = {"SWIFT_DETERMINISTIC_HASHING": "1", "LD_BIND_NOW": "1"}
    with tempfile.TemporaryDirectory(prefix="latchkey-callgrind-") as folder:
        counted = CountedPrograms(programs, dumps=Path(folder))
        with running(counted, prepare, fixed | (environment or {}), has_addresses=True) as daemon:
            yield Target(daemon, Path(folder))


# --- Parts ------------------------------------------------------------------------------------------------------------


@dataclass
class Part:
    """What requests cost in a part."""

    own: float = 0
    libraries: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    allocations: float = 0
    copied: float = 0

    @property
    def cost(self) -> float:
        return self.own + sum(self.libraries.values())

    def add(self, other: "Part", factor: float) -> None:
        self.own += factor * other.own
        self.allocations += factor * other.allocations
        self.copied += factor * other.copied
        for name, cost in other.libraries.items():
            self.libraries[name] += factor * cost

    def as_json(self, with_copies: bool) -> dict:
        libraries = {name: round(cost) for name, cost in sorted(self.libraries.items()) if round(cost) != 0}
        made = {"own": round(self.own), "libraries": libraries, "allocations": round(self.allocations, 2)}
        return made | ({"copied": round(self.copied)} if with_copies else {})


Parts = dict[str, Part]


def parts(loads: Loads, name_of: Callable[[Places, Function], str | None] = Places.part) -> Parts:
    """The cost of one request by part, or by another name of functions."""
    result: Parts = defaultdict(Part)
    for profile, sign in ((loads.longer, 1), (loads.shorter, -1)):
        places = Places(profile.own, modules())
        for name, part in parts_of(profile, places, partial(name_of, places)).items():
            result[name].add(part, sign / loads.difference)
    return result


def parts_of(profile: Profile, places: Places, name_of: Callable[[Function], str | None]) -> Parts:
    result: Parts = defaultdict(Part)
    attribution = Attribution(profile, name_of)
    for function, cost in profile.own.items():
        library = None if places.path(function) is not None else places.library(function)
        for name, share in attribution.share(function).items():
            if library is None:
                result[name].own += share * cost
            else:
                result[name].libraries[library] += share * cost
    for (caller, callee), calls in profile.calls.items():
        allocations = calls.count if callee.name in ALLOCATORS and caller.name not in ALLOCATORS else 0
        copied = calls.cost - COPY_CALL * calls.count if callee.object == COUNTER else 0
        for name, share in attribution.share(caller).items() if allocations or copied else ():
            result[name].allocations += share * allocations
            result[name].copied += share * copied
    return result


def modules() -> list[str]:
    """The own modules, and none of C."""
    return [folder.name for folder in SOURCES.iterdir() if any(folder.rglob("*.swift"))]


# --- The report -------------------------------------------------------------------------------------------------------


def build_kind(profile: Profile) -> str:
    """The library of unoptimized code is only in debug builds."""
    return "debug" if any("SwiftOnoneSupport" in function.object for function in profile.own) else "release"


def measure(folder: Path, is_short: bool, rounds: int, only: str) -> tuple[dict, dict[str, Loads]]:
    """The report, and the loads of its first round."""
    counts = SHORT if is_short else FULL
    cases = [case for case in CASES if only in case.name and (case.is_short or not is_short)]
    with tempfile.TemporaryDirectory(prefix="latchkey-programs-") as work:
        programs = Path(work) / "bin"
        copy_programs(folder, programs)
        counted = [loads(programs, cases, counts, f"round {number + 1}") for number in range(rounds)]
        copies = None
        if not is_short and platform.machine() == "x86_64":
            preloaded = {"LD_PRELOAD": str(copy_counter(Path(work)))}
            copies = loads(programs, cases, counts, "copies", preloaded)
    first = counted[0]
    report = {
        "format": FORMAT, "build": build_kind(next(iter(first.values())).longer), "machine": platform.machine(),
        "requests": counts.difference, "rounds": rounds,
        "cases": [case_report(name, [one[name] for one in counted], copies and copies[name]) for name in first],
    }  # fmt: skip
    return report, first


def case_report(name: str, rounds: list[Loads], copies: Loads | None) -> dict:
    counted = [parts(loads) for loads in rounds]
    copied = None if copies is None else parts(copies)
    figures: dict[str, dict] = {}
    for part in (part for part in PARTS if any(part in made for made in counted)):
        mean = Part(copied=0 if copied is None else copied[part].copied)
        for made in counted:
            mean.add(made[part], 1 / len(counted))
        costs = [made[part].cost for made in counted]
        figures[part] = mean.as_json(copied is not None) | {"difference": round(max(costs) - min(costs))}
    return {"name": name, "parts": figures}


def loads(
    programs: Path, cases: list[Case], counts: Counts, title: str, environment: dict[str, str] | None = None
) -> dict[str, Loads]:
    found = {}
    with target(programs, environment) as daemon:
        for case in cases:
            found[case.name] = daemon.measure(case, counts)
            print(f"{title}: {case.name:28} {found[case.name].total:13,.0f} instructions", file=sys.stderr, flush=True)
    return found


def copy_counter(folder: Path) -> Path:
    compiler = next(filter(None, map(shutil.which, ("cc", "clang", "gcc"))), None)
    if compiler is None:
        sys.exit("instructions: there is no C compiler: install clang or gcc")
    library = folder / COUNTER
    source = Path(__file__).with_name("count_copies.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-Wall", "-Werror", "-o", library, source], check=True)
    return library


def main() -> None:
    if sys.argv[1:] == ["--self-test"]:
        return instruction_self_test.run()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="the folder of latchkey and latchkeyd")
    parser.add_argument("--short", action="store_true", help="two cases with few requests: less than a minute")
    parser.add_argument("--output", type=Path, default=Path("instructions-report"), help="the folder of the report")
    parser.add_argument("--compare", type=Path, help="the instructions.json of an earlier run")
    parser.add_argument("--rounds", type=int, help="how often to count; 2 unless given, 1 with --short")
    parser.add_argument("--only", default="", help="only cases whose names contain this text")
    arguments = parser.parse_args()
    earlier = json.loads(arguments.compare.read_text()) if arguments.compare else None
    if earlier is not None and earlier.get("format") != FORMAT:
        sys.exit(f"instructions: {arguments.compare} is not a report of this script")
    rounds = arguments.rounds or (1 if arguments.short else 2)
    options = (arguments.bin.resolve(), arguments.short, rounds, arguments.only)
    report, found = measure(*options)
    comparison: list[str] = []
    if earlier is not None:
        again = measure(*options)[0] if instruction_report.grown_parts(report, earlier) else None
        comparison = list(instruction_report.changes(report, earlier, again))
    types = {name: parts(loads, Places.type_name) for name, loads in found.items()}
    print(instruction_report.write(report, found, types, arguments.output, comparison))


if __name__ == "__main__":
    main()

"""Libraries of the kind `sdk` that fail under load, what their workers show of their secrets, and rotation under load.

The libraries are stand-ins (Tests/SDKStandIn). Nothing here was run with Apple's. LATCHKEY_TEST_LONG=1 runs the long
form: a thousand faults for each flavour, and many rotations.
"""

import itertools
import os
import queue
import random
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

import tokens
from deployment import Deployment, deployment_of
from fairplay_device.ckc import open_ckc
from fairplay_device.credentials import Credential, make_credential
from fairplay_device.spc import PlaybackContext
from lengths import IS_LONG, inputs
from license_client import Answer, LicenseClient
from own_daemon import (
    STOP_SECONDS,
    UNPRIVILEGED,
    OwnDaemon,
    await_addresses,
    new_setup,
    running_daemon,
    start_daemon,
    stop_daemon,
)
from sdk_library import FLAVOURS, STAND_IN, build_libraries
from sdk_load import (
    Asker,
    Kept,
    await_true,
    copy_library,
    events,
    licenses_in_ledger,
    module_entry,
    native_entry,
    ready_workers,
    sdk_entry,
    spc,
    store_keys,
    with_new_secret,
    worker_ids,
    write_credentials,
    write_private,
)
from secret_watch import SecretWatch
from test_sdk import library_of

THREADS = 8
MEBIBYTE = 1 << 20

# The faults of a library after which there is no license.
FAILURES = (
    "crash", "abort", "exit", "hang", "exhaust-memory", "panic", "call-status", "no-answer", "facts-wrong",
    "numbers-large", "numbers-too-large", "id-wrong", "item-status", "ckc-missing", "ckc-not-base64", "ckc-length",
    "ckc-cut", "items-empty", "items-twice", "not-json", "cut", "size-large", "nul-in-the-middle", "huge",
)  # fmt: skip
# Those that change nothing about the license.
HARMLESS = ("slow", "print-request", "print-output", "hu-random", "hu-wrong", "no-nul", "size-32")
# Only the library knows the session key. So nothing but the device can find out that a CKC has another key.
LIES = ("ckc-other-key",)
ALL_FAULTS = (*FAILURES, *HARMLESS, *LIES)


@pytest.fixture(scope="module")
def libraries() -> Path:
    return build_libraries()


def assert_license(answer: Answer, context: PlaybackContext, kept: Kept) -> str:
    """Fails unless the answer is a license with this key for the device of the request. Returns the license's id."""
    assert answer.status == 200, answer.body
    # Not strict: the library writes a reserved word of its own, and makes new padding for the echoes.
    license = open_ckc(answer.body, context.secrets, strict=False)
    assert (license.content_key, license.content_iv) == (kept.key, kept.iv)
    return answer.header("X-License-Id") or ""


# --- Faults under load ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Job:
    """What one viewer does. Without a fault, it asks for one license."""

    fault: str | None
    version: int
    # Whether the viewer's token is good for one request.
    is_once: bool
    # Whether the viewer sends a failed request again as it was.
    is_stubborn: bool
    # How many copies of a good request come at the same time.
    copies: int = 1


@dataclass
class Crowd:
    """The threads of many viewers, and what they were given."""

    at: Deployment
    kept: dict[str, Kept]
    given: list[str] = field(default_factory=list)
    repetitions: list[int] = field(default_factory=list)
    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    longest_good: float = 0
    numbers: Iterator[int] = field(default_factory=itertools.count)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def token(self, number: int, job: Job) -> str:
        header, claims = tokens.header_and_claims(self.at.token)
        changed = {
            "sub": f"viewer-{number}", "jti": f"{number}",
            "rights": [{"content": each.content} for each in self.of(job)],
        }  # fmt: skip
        if job.is_once:
            changed["limits"] = {"uses": 1}
        return tokens.sign_es256(header, claims | changed, self.at.signing_key)

    def of(self, job: Job) -> list[Kept]:
        return [self.kept[job.fault or "none"]]

    def run(self, jobs: list[Job]) -> None:
        waiting: queue.SimpleQueue[tuple[int, Job]] = queue.SimpleQueue()
        for job in jobs:
            waiting.put((next(self.numbers), job))
        with ThreadPoolExecutor(THREADS) as pool:
            for thread in [pool.submit(self.work, waiting) for _ in range(THREADS)]:
                thread.result()

    def work(self, waiting: "queue.SimpleQueue[tuple[int, Job]]") -> None:
        asker = Asker(LicenseClient(self.at.client.url))
        try:
            while not waiting.empty():
                try:
                    number, job = waiting.get_nowait()
                except queue.Empty:
                    break
                try:
                    self.play(asker, job, self.token(number, job))
                except Exception as error:
                    raise AssertionError(f"{job}: {error!r}") from error
        finally:
            asker.client.close()
        with self.lock:
            self.repetitions.append(asker.repetitions)

    def note(self, *licenses: str) -> None:
        with self.lock:
            self.given += licenses

    def request(self, asset: str, job: Job) -> PlaybackContext:
        return spc(self.at.credential, asset, job.version)

    def play(self, asker: Asker, job: Job, token: str) -> None:
        (kept,) = self.of(job)
        is_spent = job.fault is not None and self.ask_with_fault(asker, job, kept, token)
        context = self.request(kept.content, job)
        if is_spent and job.is_once:
            return self.assert_spent(asker, job, kept, token)
        start = time.monotonic()
        answers = [asker.ask(context.message, token)] if job.copies == 1 else self.ask_at_once(job, context, token)
        if job.fault is None:
            with self.lock:
                self.longest_good = max(self.longest_good, time.monotonic() - start)
        (license,) = {assert_license(answer, context, kept) for answer in answers}
        self.note(license)
        if job.is_once:
            # A copy of the request is the same use and the same license.
            assert assert_license(asker.ask(context.message, token), context, kept) == license
            self.assert_spent(asker, job, kept, token)

    def ask_at_once(self, job: Job, context: PlaybackContext, token: str) -> list[Answer]:
        """The answers to copies of a request on connections of their own."""
        askers = [Asker(LicenseClient(self.at.client.url)) for _ in range(job.copies)]
        with ThreadPoolExecutor(job.copies) as pool:
            asked = [pool.submit(asker.ask, context.message, token) for asker in askers]
            answers = [answer.result() for answer in asked]
        for asker in askers:
            asker.client.close()
        with self.lock:
            self.repetitions += [asker.repetitions for asker in askers]
        return answers

    def ask_with_fault(self, asker: Asker, job: Job, kept: Kept, token: str) -> bool:
        """Asks with the fault. Returns whether there was a license."""
        fault = str(job.fault)
        context = self.request(kept.faulty, job)
        if fault in FAILURES:
            for _ in range(2 if job.is_stubborn else 1):
                answer = asker.client.license(context.message, token)
                with self.lock:
                    self.statuses[fault, answer.status] += 1
                assert answer.status in (500, 503), answer.body
                assert answer.body.startswith(b"{"), "a failure is no CKC"
            return False
        answer = asker.ask(context.message, token)
        with self.lock:
            self.statuses[fault, answer.status] += 1
        if fault in LIES:
            assert answer.status == 200, answer.body
            key = open_ckc(answer.body, context.secrets, strict=False).content_key
            assert key not in {each.key for each in self.kept.values()}, "the key of a content came by a lie"
            self.note(answer.header("X-License-Id") or "")
        else:
            self.note(assert_license(answer, context, kept))
        return True

    def assert_spent(self, asker: Asker, job: Job, kept: Kept, token: str) -> None:
        answer = asker.ask(self.request(kept.content, job).message, token)
        assert (answer.status, answer.code) == (403, "token_used"), answer.body


def jobs_of(chance: random.Random, faults: int) -> list[Job]:
    """So many faults in random order, each kind as often as the others, and as many good requests."""
    kinds = [ALL_FAULTS[number % len(ALL_FAULTS)] for number in range(faults)]
    names = [("slow-30" if kind == "slow" else kind) for kind in kinds]
    jobs = [
        Job(
            fault, chance.choice((1, 2, 3)), is_once=chance.random() < 0.5, is_stubborn=chance.random() < 0.3,
            copies=chance.choice((1, 1, 1, 3)),
        )
        for fault in [*names, *[None] * faults]
    ]  # fmt: skip
    chance.shuffle(jobs)
    return jobs


def test_every_fault_of_the_stand_in_is_used() -> None:
    names = re.findall(r'^    \{"([a-z0-9-]+)", ', (STAND_IN / "faults.c").read_text(), re.MULTILINE)
    assert sorted(names) == sorted(ALL_FAULTS)


@pytest.mark.slow
@pytest.mark.parametrize("flavour", list(FLAVOURS) if IS_LONG else ["rust"])
def test_faults_under_load_give_no_wrong_license_and_lose_no_use(
    libraries: Path, latchkey_programs: None, tmp_path: Path, flavour: str, seed: int
) -> None:
    """Each fault costs its own request alone. The ledger has every license that was given, once, and no other."""
    library = library_of(libraries, flavour)
    made = make_credential()

    def prepare(setup: Path) -> None:
        # A busy machine may take long for a good answer, so the deadline is not shorter.
        fields = ', workers: 2, callDeadline: "1s", memoryLimit: 536870912'
        write_credentials(setup, [sdk_entry(setup, "apple-26", made, library, fields)])

    with running_daemon(tmp_path, prepare=prepare) as daemon:
        daemon.await_log("ladder_worker_ready")
        at = replace(deployment_of(daemon.url, daemon.setup), credential=made)
        kept = store_keys(daemon.setup, ["none", *(("slow-30" if name == "slow" else name) for name in ALL_FAULTS)])
        crowd = Crowd(at, kept)
        chance = random.Random(f"{seed} {flavour}")
        crowd.run(jobs_of(chance, 0) + [Job(None, version, False, False) for version in (1, 2, 3) * 8])
        first = daemon.resident_bytes()
        count = inputs(short=60, long=1_000)
        jobs = jobs_of(chance, count)
        began = time.monotonic()
        sizes = []
        for quarter in range(4):
            crowd.run(jobs[quarter::4])
            sizes.append(daemon.resident_bytes() - first)
        took = time.monotonic() - began
        grown = max(sizes)

        # Every license is recorded before it is given, and nothing is recorded that was not given.
        recorded = licenses_in_ledger(daemon.setup)
        assert len(set(crowd.given)) == len(crowd.given)
        assert recorded == Counter(crowd.given)
        metrics = daemon.metrics("latchkey_module_")
        deaths, losses, unavailable = (
            metrics[f'latchkey_module_{name}_total{{credential="apple-26"}}']
            for name in ("deaths", "losses", "unavailable")
        )
        # Each answer 503 is a call that a worker has taken with it, or that found no worker in time.
        later = sum(count for (_, status), count in crowd.statuses.items() if status == 503) + sum(crowd.repetitions)
        assert losses + unavailable == later
        assert losses <= deaths
        assert grown < 64 * MEBIBYTE, f"the daemon has grown by {grown} bytes"
        await_true("two workers are left", lambda: len(worker_ids(daemon.process.pid)) == 2)
        at.client.close()
        print(
            f"\n{flavour}: seed {seed}, {count} faults and {count} good requests in {took:.1f} s, {THREADS} threads; "
            f"{len(crowd.given)} licenses, {sum(crowd.repetitions)} repetitions, {deaths:.0f} deaths of workers, "
            f"{losses:.0f} lost calls, {unavailable:.0f} without a worker; "
            f"the longest good request {crowd.longest_good:.1f} s; "
            f"the daemon grew by {', '.join(f'{size / MEBIBYTE:.1f}' for size in sizes)} MiB in the quarters\n"
            f"{dict(sorted(crowd.statuses.items()))}"
        )



# --- Secrets ----------------------------------------------------------------------------------------------------------


class Prober:
    """A process that tries to read the memory of another process, as the user of that process and without rights."""

    WAYS = ("mem", "environ", "maps", "fd", "ptrace", "process_vm_readv")

    SCRIPT = """
import ctypes, os, sys
user, target = int(sys.argv[1]), int(sys.argv[2])
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(user); os.setuid(user)
libc = ctypes.CDLL(None, use_errno=True)
class Part(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
def number(text): return int(text, 16)
def mem():
    with open(f"/proc/{target}/mem", "rb", buffering=0) as file:
        file.seek(number(sys.argv[3])); file.read(16)
def environ(): open(f"/proc/{target}/environ", "rb").read()
def maps(): assert open(f"/proc/{target}/maps", "rb").read()
def fd(): os.listdir(f"/proc/{target}/fd")
def ptrace():
    if libc.ptrace(16, target, None, None) != 0: raise OSError(ctypes.get_errno(), "ptrace")
    os.waitpid(target, 0x40000000); libc.ptrace(17, target, None, None)
def process_vm_readv():
    memory = ctypes.create_string_buffer(16)
    here, there = Part(ctypes.addressof(memory), 16), Part(number(sys.argv[3]), 16)
    if libc.process_vm_readv(target, ctypes.byref(here), 1, ctypes.byref(there), 1, 0) != 16:
        raise OSError(ctypes.get_errno(), "process_vm_readv")
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
for way in sys.argv[4:]:
    try:
        globals()[way](); print(way, "open")
    except OSError as error:
        print(way, "refused", error.errno)
"""

    @classmethod
    def ways_into(cls, process: int, user: int) -> dict[str, str]:
        """Whether each way into a process is open to its user. An address of its stack is taken from its map."""
        lines = Path(f"/proc/{process}/maps").read_text().splitlines()
        stack = next(line.partition("-")[2].partition(" ")[0] for line in lines if line.endswith("[stack]"))
        address = f"{int(stack, 16) - 4096:x}"
        printed = subprocess.run(
            [sys.executable, "-I", "-c", cls.SCRIPT, str(user), str(process), address, *cls.WAYS],
            capture_output=True, text=True, timeout=60, check=True, cwd="/",
        ).stdout  # fmt: skip
        return {way: outcome for way, _, outcome in (line.partition(" ") for line in printed.splitlines())}


def become_unprivileged(folder: Path) -> None:
    """Makes this process one of the user without rights, which may leave cores of any size in a folder."""
    os.chdir(folder)
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    os.setgroups([])
    os.setgid(UNPRIVILEGED)
    os.setuid(UNPRIVILEGED)


@contextmanager
def unprotected_process(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process into which every other one of its user may look."""
    process = subprocess.Popen(["sleep", "600"], preexec_fn=lambda: become_unprivileged(folder))
    try:
        await_true("the program runs", lambda: Path(f"/proc/{process.pid}/comm").read_text().strip() == "sleep")
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def unprivileged_daemon(folder: Path, setup: Path) -> Iterator[OwnDaemon]:
    """Runs the daemon of a set-up as a user without rights, in a folder of its own and with cores of any size."""
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, UNPRIVILEGED, UNPRIVILEGED)
    for parent in list(folder.parents)[:4]:
        if parent.stat().st_uid == 0:
            parent.chmod(parent.stat().st_mode | 0o711)
    log = folder / "daemon.log"
    process = start_daemon(setup, log, preexec_fn=lambda: become_unprivileged(folder / "cores"))
    try:
        addresses = await_addresses(process, log)
        yield OwnDaemon(process, setup, addresses["public"], addresses["admin"], log)
    finally:
        stop_daemon(process)


def shown_by(process: int) -> bytes:
    """What the files of a process in /proc show without its memory: texts and names, no contents."""
    folder = Path(f"/proc/{process}")
    shown = [(folder / name).read_bytes() for name in ("environ", "cmdline", "comm", "maps", "status", "mountinfo")]
    for descriptor in (folder / "fd").iterdir():
        try:
            shown.append(os.readlink(descriptor).encode())
            shown.append((folder / "fdinfo" / descriptor.name).read_bytes())
        except FileNotFoundError:
            continue  # It was closed meanwhile.
    return b"\n".join(shown)


def secrets_of(credential: Credential, kept: dict[str, Kept], delivery: Path) -> SecretWatch:
    watch = SecretWatch()
    watch.note("application secret", credential.application_secret)
    watch.note_text("provisioning data", (delivery / "one.provisioning-data").read_text())
    for bits, key in ((1024, credential.private_key_1024), (2048, credential.private_key_2048)):
        numbers = key.private_numbers()
        for name in ("p", "q", "d", "dmp1", "dmq1", "iqmp"):
            number = getattr(numbers, name)
            watch.note(f"{name} of the {bits}-bit key", number.to_bytes((number.bit_length() + 7) // 8, "big"))
    for each in kept.values():
        watch.note(f"content key of {each.content}", each.key)
    return watch


@pytest.mark.slow
@pytest.mark.parametrize("flavour", list(FLAVOURS) if IS_LONG else ["rust"])
def test_workers_show_no_secret(libraries: Path, latchkey_programs: None, tmp_path: Path, flavour: str) -> None:
    """Secrets are in no log, file, core file or name of a process, also if the library prints them or dies."""
    if os.geteuid() != 0:
        pytest.skip("only root can look into the processes of a user who cannot look into them")
    folder, cores = tmp_path / "node", tmp_path / "node" / "cores"
    cores.mkdir(parents=True)
    setup = new_setup(folder)
    made = make_credential()
    library = copy_library(library_of(libraries, flavour), folder / "library")
    fields = ', workers: 2, callDeadline: "1s"'
    write_credentials(setup, [sdk_entry(setup, "apple-26", made, library, fields)])
    faults = ("crash", "abort", "hang", "panic", "print-request", "print-output", "ckc-cut", "exit")
    kept = store_keys(setup, ["none", *faults])
    watch = secrets_of(made, kept, setup / "apple-26")
    # The search finds what it is to find.
    printed = kept["crash"].key.hex().upper().encode()
    assert watch.search(b"a line with " + printed) == {"content key of film-crash"}

    with unprivileged_daemon(folder, setup) as daemon:
        daemon.await_log("ladder_worker_ready")
        at = replace(deployment_of(daemon.url, setup), credential=made)
        asker = Asker(at.client)
        seen: set[int] = set()
        for number, fault in enumerate(faults * inputs(short=1, long=5)):
            token = tokens.with_rights(at.token, at.signing_key, [{"content": kept[fault].content}])
            for asset in (kept[fault].faulty, kept[fault].content):
                context = spc(made, asset, 1 + number % 3)
                if asset == kept[fault].faulty and not fault.startswith("print"):
                    assert at.client.license(context.message, token).status in (500, 503)
                else:
                    assert_license(asker.ask(context.message, token), context, kept[fault])
                await_true("two workers are ready", lambda: live_workers(daemon) == 2)
                for process in [daemon.process.pid, *worker_ids(daemon.process.pid)]:
                    seen.add(process)
                    assert not watch.search(shown_by(process)), fault
        assert len(seen) > 3, "workers were replaced"

        workers = worker_ids(daemon.process.pid)
        assert len(workers) == 2
        for process in workers:
            status = Path(f"/proc/{process}/status").read_text()
            assert f"Uid:\t{UNPRIVILEGED}\t{UNPRIVILEGED}" in status
            assert "CapEff:\t0000000000000000" in status
            assert Path(f"/proc/{process}/environ").read_bytes().count(b"\0") <= 1
            limits = Path(f"/proc/{process}/limits").read_text()
            assert re.search(r"Max core file size +0 +0 ", limits), limits
        for process in [*workers, daemon.process.pid]:
            ways = Prober.ways_into(process, UNPRIVILEGED)
            assert set(ways) == set(Prober.WAYS) and all(way.startswith("refused") for way in ways.values()), ways
        # The same ways are open into a process that protects nothing, and it leaves a core.
        with unprotected_process(cores) as process:
            ways = Prober.ways_into(process.pid, UNPRIVILEGED)
            assert ways["mem"] == ways["environ"] == ways["process_vm_readv"] == "open", ways
            if not Path("/proc/sys/kernel/core_pattern").read_text().startswith(("|", "/")):
                process.send_signal(signal.SIGSEGV)
                process.wait()
                (core,) = cores.iterdir()
                core.unlink()
        for worker in workers:
            os.kill(worker, signal.SIGSEGV)
        await_true("these workers are gone", lambda: not workers & worker_ids(daemon.process.pid))
        daemon.process.send_signal(signal.SIGSEGV)
        assert daemon.process.wait(STOP_SECONDS) == -signal.SIGSEGV
        assert not list(cores.iterdir()), "a worker or the daemon has left a file, perhaps a core"
        assert not watch.search(daemon.log.read_bytes())
        at.client.close()

    own = {setup / "apple-26", folder / "library"}
    searched = [path for path in folder.rglob("*") if path.is_file() and not own & set(path.parents)]
    assert {daemon.log, setup / "latchkey.db"} <= set(searched)
    found = {f"{name} is in {path}" for path in searched for name in watch.search(path.read_bytes())}
    assert not found
    print(f"\n{flavour}: {watch.count} secrets searched in {len(searched)} files and {len(seen)} processes")


def live_workers(daemon: OwnDaemon) -> float:
    return daemon.metrics("latchkey_module_workers")['latchkey_module_workers{credential="apple-26"}']


# --- Rotation under load ----------------------------------------------------------------------------------------------


@dataclass
class Target:
    """A credential under load, whose secret changes."""

    name: str
    credential: Credential
    kept: Kept
    # Even while the credential is the one in force; odd while it may be the one before.
    generation: int = 0
    before: Credential | None = None
    # A module refuses while it has no worker; others have no reason to.
    may_be_unavailable: bool = False
    given: int = 0
    changed_meanwhile: int = 0
    unavailable: int = 0

    def rotate(self) -> None:
        self.before, self.credential = self.credential, with_new_secret(self.credential)
        self.generation += 1

    def settle(self) -> None:
        self.generation += 1


class Load:
    """Threads that ask for licenses of each credential without a pause, until they are told to end."""

    # A secret may change between a request and its repetition, but not this often.
    TRIES_MAXIMUM = 4

    def __init__(self, at: Deployment, targets: list[Target], threads: int) -> None:
        self.at = at
        self.targets = targets
        self.over = threading.Event()
        self.lock = threading.Lock()
        self.pool = ThreadPoolExecutor(threads)
        self.threads = [self.pool.submit(self.work, targets[number % len(targets)]) for number in range(threads)]

    def work(self, target: Target) -> None:
        client = LicenseClient(self.at.client.url)
        token = tokens.with_rights(self.at.token, self.at.signing_key, [{"content": target.kept.content}])
        try:
            while not self.over.is_set():
                self.license(client, target, token)
        finally:
            client.close()

    def license(self, client: LicenseClient, target: Target, token: str) -> None:
        """Gets one license. A refusal is right only for a secret that was not in force, or not any more."""
        for number in range(self.TRIES_MAXIMUM):
            generation, new, old = target.generation, target.credential, target.before
            uses_old = generation % 2 == 1 and number % 2 == 1
            context = spc(old if uses_old and old else new, target.kept.content, 1)
            answer = client.license(context.message, token)
            if answer.status == 200:
                assert_license(answer, context, target.kept)
                with self.lock:
                    target.given += 1
                return
            if answer.status == 503 and target.may_be_unavailable:
                wait = answer.header("Retry-After")
                assert wait is not None
                with self.lock:
                    target.unavailable += 1
                time.sleep(int(wait))
                continue
            assert answer.code == "spc_rejected", (target.name, answer.status, answer.body)
            assert generation % 2 == 1 or generation != target.generation, (target.name, "refused without a change")
            with self.lock:
                target.changed_meanwhile += 1
        raise AssertionError(f"{target.name}: {self.TRIES_MAXIMUM} refusals in a row")

    def await_more(self, count: int = 5) -> None:
        """Waits until each credential has given so many more licenses. Fails if a thread has failed."""
        wanted = [target.given + count for target in self.targets]

        def is_reached() -> bool:
            for thread in self.threads:
                if thread.done():
                    thread.result()
            return all(target.given >= least for target, least in zip(self.targets, wanted))

        await_true("more licenses of each credential", is_reached)

    def end(self) -> None:
        self.over.set()
        for thread in self.threads:
            thread.result()
        self.pool.shutdown()


def reload(daemon: OwnDaemon, outcome: str = "reloaded") -> None:
    def outcomes() -> list[str]:
        return [name for name in ("reloaded", "reload_failed") for _ in events(daemon.log, name)]

    before = outcomes()
    daemon.process.send_signal(signal.SIGHUP)
    await_true("the reload has ended", lambda: len(outcomes()) > len(before))
    assert Counter(outcomes()) - Counter(before) == Counter([outcome]), daemon.log.read_text()[-2000:]


def write_secret(daemon: OwnDaemon, target: Target, *lines: str) -> None:
    """Writes provisioning data of the stand-in with the secret of a credential, and perhaps with a fault."""
    text = "\n".join([f"ask {target.credential.application_secret.hex()}", *lines])
    write_private(daemon.setup / target.name / "one.provisioning-data", text.encode())


def rotate_library(daemon: OwnDaemon, load: Load, target: Target, slow: Kept) -> bool:
    """New provisioning data, while the old workers have a slow call. Returns whether the call was longer."""
    old = set(ready_workers(daemon.log, target.name)) & worker_ids(daemon.process.pid)
    assert old
    context = spc(target.credential, slow.faulty, 1)
    token = tokens.with_rights(load.at.token, load.at.signing_key, [{"content": slow.content}])
    client = LicenseClient(load.at.client.url)
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(client.license, context.message, token)
        await_true("the library sleeps", lambda: any(sleeps(worker) for worker in old))
        target.rotate()
        write_secret(daemon, target)
        reload(daemon)
        # The old worker is in its call, and the daemon has put a new one in force.
        was_longer = any(sleeps(worker) for worker in old)
        new = set(ready_workers(daemon.log, target.name)) - old
        assert new & worker_ids(daemon.process.pid), "a new worker is ready"
        target.settle()
        assert_license(call.result(), context, slow)
    client.close()
    await_true("the old workers are gone", lambda: not old & worker_ids(daemon.process.pid), seconds=30)
    return was_longer


def rotate_to_nothing(daemon: OwnDaemon, target: Target, fault: str) -> None:
    """A delivery whose library does not start. The old workers stay, and none of the new ones is left."""
    before = worker_ids(daemon.process.pid)
    write_secret(daemon, target, f"load-fault {fault}")
    reload(daemon, "reload_failed")
    await_true("only the old workers", lambda: worker_ids(daemon.process.pid) == before, seconds=30)
    write_secret(daemon, target)


def rotate_at_once(daemon: OwnDaemon, load: Load, targets: list[Target], count: int) -> None:
    """Signals that come faster than reloads end, each with a new delivery of every library. The last one counts."""
    for number in range(count):
        for target in targets:
            # Another delivery with the same secret, because the stand-in skips empty lines.
            write_secret(daemon, target, *[""] * (number + 1))
        daemon.process.send_signal(signal.SIGHUP)
    for target in targets:
        target.rotate()
        write_secret(daemon, target)
    daemon.process.send_signal(signal.SIGHUP)

    def is_in_force(target: Target) -> bool:
        context = spc(target.credential, target.kept.content)
        token = tokens.with_rights(load.at.token, load.at.signing_key, [{"content": target.kept.content}])
        return load.at.client.license(context.message, token).status == 200

    for target in targets:
        await_true("the last delivery is in force", lambda target=target: is_in_force(target))
        target.settle()
    # A reload that changes nothing may be left, and a later step must not take its end for that of its own.
    await_true("no reload is left", lambda: waits_for_signals(daemon.process.pid), seconds=30)


def waits_for_signals(process: int) -> bool:
    """Whether the daemon has no reload to do: no SIGHUP is pending, and a thread waits for one."""
    status = Path(f"/proc/{process}/status").read_text()
    pending = next(line for line in status.splitlines() if line.startswith("ShdPnd:"))
    is_pending = int(pending.split()[1], 16) & 1 << signal.SIGHUP - 1
    threads = os.listdir(f"/proc/{process}/task")
    return not is_pending and any(is_in_call(int(thread), {"x86_64": "128", "aarch64": "137"}) for thread in threads)


def sleeps(process: int) -> bool:
    """Whether a process is in the call of the kernel with which the stand-in is slow. Workers wait in another one."""
    return is_in_call(process, {"x86_64": "230", "aarch64": "115"})


def is_in_call(thread: int, numbers: dict[str, str]) -> bool:
    """Whether a thread, or the first one of a process, is in a call of the kernel, by its number on each machine."""
    try:
        return Path(f"/proc/{thread}/syscall").read_text().partition(" ")[0] == numbers[os.uname().machine]
    except (FileNotFoundError, ProcessLookupError):
        return False


def rotate_native(daemon: OwnDaemon, target: Target) -> None:
    target.rotate()
    secret = target.credential.application_secret.hex().encode()
    write_private(daemon.setup / target.name / "secret.hex", secret)
    reload(daemon)
    target.settle()


def turn_stage(daemon: OwnDaemon, target: Target) -> None:
    """Takes the certificates of a module out of the offer, or puts them back. A module itself needs a restart."""
    configuration = daemon.setup / "latchkey.json5"
    text = configuration.read_text()
    name = f'name: "{target.name}", '
    staged = f'{name}stage: "draining", '
    configuration.write_text(text.replace(staged, name) if staged in text else text.replace(name, staged))
    workers = set(ready_workers(daemon.log, target.name))
    reload(daemon)
    assert set(ready_workers(daemon.log, target.name)) == workers <= worker_ids(daemon.process.pid)


@pytest.mark.slow
def test_each_credential_rotates_while_all_are_under_load(
    libraries: Path, latchkey_programs: None, tmp_path: Path
) -> None:
    """No rotation costs a request of any credential, and calls that are under way get their license."""
    if os.geteuid() != 0:
        pytest.skip("only root can see when a worker is in a slow call")
    made = {name: make_credential() for name in ("apple-c", "apple-swift", "native", "module")}
    entries: dict[str, str] = {}

    def prepare(setup: Path) -> None:
        fields = ', workers: 2, callDeadline: "10s"'
        for name, flavour in (("apple-c", "rust"), ("apple-swift", "swift")):
            entries[name] = sdk_entry(setup, name, made[name], library_of(libraries, flavour), fields)
        entries["native"] = native_entry(setup, "native", made["native"])
        entries["module"] = module_entry(setup, "module", made["module"], fields)
        write_credentials(setup, list(entries.values()))

    with running_daemon(tmp_path, prepare=prepare) as daemon:
        for name in made:
            if name != "native":
                await_true("two workers", lambda name=name: len(ready_workers(daemon.log, name)) == 2)
        at = replace(deployment_of(daemon.url, daemon.setup), credential=made["native"])
        kept = store_keys(daemon.setup, [*made, "slow-2500"])
        targets = {name: Target(name, made[name], kept[name], may_be_unavailable=name == "module") for name in made}
        load = Load(at, list(targets.values()), THREADS)
        libraries_of = [targets["apple-c"], targets["apple-swift"]]
        longer = 0
        rounds = inputs(short=1, long=12)
        began = time.monotonic()
        try:
            load.await_more()
            for _ in range(rounds):
                for name in ("apple-c", "apple-swift"):
                    longer += rotate_library(daemon, load, targets[name], kept["slow-2500"])
                    load.await_more()
                rotate_native(daemon, targets["native"])
                load.await_more()
                turn_stage(daemon, targets["module"])
                load.await_more()
                rotate_at_once(daemon, load, libraries_of, 4)
            for fault in ("abort", "exit", *(("hang", "crash") if IS_LONG else ())):
                rotate_to_nothing(daemon, targets["apple-c"], fault)
                load.await_more()
        finally:
            load.end()
        took = time.monotonic() - began
        assert longer > 0, "no call was longer than a reload, so the test shows nothing"
        # Two for each credential with workers, and none of those that were replaced.
        await_true("only the newest workers", lambda: len(worker_ids(daemon.process.pid)) == 6, seconds=30)
        assert not events(daemon.log, "ladder_worker_ended"), "no worker died"
        # The old secrets are of no use any more.
        for target in targets.values():
            if target.before is not None:
                context = spc(target.before, target.kept.content)
                token = tokens.with_rights(at.token, at.signing_key, [{"content": target.kept.content}])
                assert at.client.license(context.message, token).code == "spc_rejected"
        at.client.close()
        print(
            f"\n{rounds} rounds of reloads in {took:.1f} s; "
            + ", ".join(f"{each.name} {each.given} licenses" for each in targets.values())
            + f"; {sum(each.changed_meanwhile for each in targets.values())} requests met a change of their secret, "
            f"{targets['module'].unavailable} a module without a worker; "
            f"{longer} of {2 * rounds} slow calls were longer than their reload"
        )

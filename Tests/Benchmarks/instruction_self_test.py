"""Checks the reader of callgrind's files, the attribution and the comparison with figures whose results are known."""

import re
from pathlib import Path

import callgrind
import instruction_report
from callgrind import Attribution, Function
from instruction_parts import CALLERS, PARTS, TABLE, leading_module, part_of_path

SOURCES = Path(__file__).resolve().parents[2] / "Sources"

# Two own functions call `copy`, which calls `inner`: the first for 30 and the second for 10 instructions. `runtime`
# calls `first` three times and `second` once, and both call it back. `first` calls itself and a library again.
DUMP = """# callgrind format
events: Ir
ob=(1) /bin/program
fl=(1) ???
fn=(1) first
0 100
+3 1
cob=(2) /lib/library.so
cfi=(1)
cfn=(2) copy
calls=3 0
0 30
cfn=(1)
calls=1 0
0 50
cob=(2)
cfn=(4) runtime
calls=3 0
* 900
fn=(3) second
0 7
cob=(2)
cfn=(2)
calls=1 0
0 10
cob=(2)
cfn=(4)
calls=1 0
0 5000

ob=(2)
fn=(2)
0 8
cfn=(5) inner
calls=4 0
0 32
fn=(5)
5 32
fn=(4)
0 40
cob=(1)
cfn=(1)
calls=3 0
0 700
cob=(1)
cfn=(3)
calls=1 0
0 100
fn=(6) alone
0 5
"""


def run() -> None:
    check_attribution()
    check_table()
    check_warnings()
    print("instructions --self-test: the reader, the attribution and the comparison give what is known")


def check_attribution() -> None:
    profile = callgrind.parse(DUMP.splitlines())
    first, second = Function("program", "first"), Function("program", "second")
    copy, inner, runtime, alone = (Function("library.so", name) for name in ("copy", "inner", "runtime", "alone"))
    expect(profile.own, {first: 101, second: 7, copy: 8, inner: 32, runtime: 40, alone: 5})
    expect(profile.calls[first, copy], callgrind.Calls(3, 30))
    expect(profile.calls[runtime, second], callgrind.Calls(1, 100))
    expect(profile.inclusive()[copy], 40)

    attribution = Attribution(profile, {first: "A", second: "B"}.get)
    expect(attribution.share(first), {"A": 1})
    # By instructions: 30 and 10.
    expect(attribution.share(copy), {"A": 0.75, "B": 0.25})
    expect(attribution.share(inner), {"A": 0.75, "B": 0.25})
    # It calls back, so by calls: three and one.
    expect(attribution.share(runtime), {"A": 0.75, "B": 0.25})
    expect(attribution.share(alone), {Attribution.UNKNOWN: 1})

    half = callgrind.parse(DUMP.replace("0 100", "0 60", 1).splitlines())
    expect(callgrind.per_request(half, profile, 4).own[first], 10)


def check_table() -> None:
    expect(leading_module("$s9KeyCrypto11SecretBytesV5countSivg"), "KeyCrypto")
    expect(leading_module("$ss5UInt8V"), None)
    expect(part_of_path("HTTPServing.HTTP1Driver.read"), "HTTP")
    expect(part_of_path("HTTPServing.TLSSession.read"), "TLS")
    expect(part_of_path("ByteCoding.ByteReader.read"), CALLERS)
    expect(part_of_path("HTTPServingTests.HTTP1Driver"), "other")
    expect({part for part in TABLE.values() if part not in (*PARTS, CALLERS)}, set())
    expect([name for name in TABLE if not is_declared(name)], [])
    expect(is_declared("HTTPServing.HTTP3Driver"), False)


def is_declared(name: str) -> bool:
    """Whether Sources has what a name of the table begins with."""
    module, *members = name.split(".")
    texts = [file.read_text(encoding="utf-8") for file in (SOURCES / module).rglob("*.swift")]
    words = "(?:(?:struct|class|enum|actor|protocol|extension|func|var) |(?=init))"
    return bool(texts) and all(any(re.search(rf"\b{words}{member}", text) for text in texts) for member in members)


def check_warnings() -> None:
    """A part that grew is named, unless the growth is small, within the noise, or of a part that depends on time."""
    before = {"socket": 100_000, "HTTP": 10_000, "token": 100_000, "rights": 100_000, "upkeep": 100_000}
    after = {"socket": 105_000, "HTTP": 11_900, "token": 110_000, "rights": 110_000, "upkeep": 200_000, "answer": 3_000}
    expect(sorted(warned(report(after), report(before, rights=6_000))), ["answer", "token"])
    expect(warned(report(after), report(before, rights=6_000), report(before | {"token": 110_000})), ["token"])
    for growth, expected in ((124_000, []), (126_000, ["SPC"])):
        expect(warned(report({"SPC": growth}), report({"SPC": 100_000})), expected)
    expect(list(instruction_report.changes(report(before), report(before)))[-1], "No part grew.")
    other = report(before) | {"build": "release"}
    expect([line.partition(":")[0] for line in instruction_report.changes(other, report(before))], ["warning"])


def warned(*reports: dict) -> list[str]:
    """The parts that the comparison warns of."""
    lines = instruction_report.changes(*reports)
    return [line.split(": ")[2].split(" ")[0] for line in lines if line.startswith("warning:")]


def report(costs: dict[str, int], **differences: int) -> dict:
    parts = {
        name: {"own": cost - 1_000, "libraries": {"libc": 1_000}, "difference": differences.get(name, 0)}
        for name, cost in costs.items()
    }
    return {"build": "debug", "machine": "x86_64", "requests": 32, "cases": [{"name": "v1", "parts": parts}]}


def expect(found: object, expected: object) -> None:
    if found != expected:
        raise SystemExit(f"instructions --self-test: {found}, and not {expected}")

"""Checks the reader of callgrind's files and the attribution with a small program, whose shares are known."""

import callgrind
from callgrind import Attribution, Function
from instruction_parts import PARTS, TABLE, CALLERS, leading_module, part_of_path

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

    expect(leading_module("$s9KeyCrypto11SecretBytesV5countSivg"), "KeyCrypto")
    expect(leading_module("$ss5UInt8V"), None)
    expect(part_of_path("HTTPServing.HTTP1Driver.read"), "HTTP")
    expect(part_of_path("HTTPServing.TLSSession.read"), "TLS")
    expect(part_of_path("ByteCoding.ByteReader.read"), CALLERS)
    expect(part_of_path("HTTPServingTests.HTTP1Driver"), "other")
    expect({part for part in TABLE.values() if part not in (*PARTS, CALLERS)}, set())
    print("instructions --self-test: the reader and the attribution give what is known")


def expect(found: object, expected: object) -> None:
    if found != expected:
        raise SystemExit(f"instructions --self-test: {found}, and not {expected}")

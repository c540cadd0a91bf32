"""The tables of the instructions of a license (`instructions.py`), and their changes."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from callgrind import Function, Profile
from instruction_parts import PARTS, demangled

# A part has grown if it has so many percent more, and more than the noise.
GROWTH_PERCENT = 5
# Counts of the same debug program on a busy machine differed by up to a fifth in these parts, which wait for other
# threads or use much of what timers use too. So in debug builds they must grow by more.
WAITING, WAITING_GROWTH_PERCENT = ("socket", "SPC", "record", "ledger", "CKC"), 25
# The least noise in instructions.
NOISE = 2_000
# Rounds of the same program differed by so much. A part may differ by twice this.
NOISE_FACTOR = 2
# These parts depend on the time that the loads take: timers fire while they run.
TIMED = ("upkeep", "other")
FUNCTION_COUNT, TYPE_COUNT = 40, 60


def write(report: dict, loads: dict, types: dict, folder: Path, comparison: Iterable[str]) -> str:
    """Writes the files of the report. Returns the text for the terminal.

    `loads` and `types` have the loads of each case and what its types cost.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "instructions.json").write_text(json.dumps(report, indent=1) + "\n")
    text = "\n".join([tables(report), *comparison, ""])
    (folder / "instructions.md").write_text(text)
    functions = (line for name, made in loads.items() for line in function_tables(name, made.per_request, types[name]))
    (folder / "functions.md").write_text("\n".join([FUNCTIONS, *functions, ""]))
    return text


# --- Tables -----------------------------------------------------------------------------------------------------------


def total(part: dict) -> int:
    return part["own"] + sum(part["libraries"].values())


def tables(report: dict) -> str:
    lines = [
        f"Instructions for each request: a {report['build']} build on {report['machine']}, "
        f"from loads that differ by {report['requests']} requests, counted {report['rounds']} times. The difference is",
        "that of the highest and the lowest count. Its last line is the sum.",
        "",
    ]
    for case in report["cases"]:
        lines += [*case_table(case), ""]
    return "\n".join(lines)


def case_table(case: dict) -> Iterator[str]:
    parts = {name: part for name, part in case["parts"].items() if total(part) or part["allocations"]}
    has_copies = any("copied" in part for part in parts.values())
    libraries = sorted({name for part in parts.values() for name in part["libraries"]})
    heads = [case["name"], "all", "own", "libraries", "allocations"]
    heads += ["bytes copied"] * has_copies + ["difference"] + libraries
    yield "| " + " | ".join(heads) + " |"
    yield "|---" + "|--:" * (len(heads) - 1) + "|"
    sums: dict[str, float] = defaultdict(float)
    for name in [*(name for name in PARTS if name in parts), "all"]:
        part = parts.get(name) or {"libraries": {}}
        cells = {
            "all": total(part) if name in parts else sums["all"],
            "own": part.get("own", sums["own"]),
            "libraries": sum(part["libraries"].values()) if name in parts else sums["libraries"],
            "allocations": part.get("allocations", sums["allocations"]),
            "bytes copied": part.get("copied", sums["bytes copied"]),
            "difference": part.get("difference", sums["difference"]),
        } | {library: part["libraries"].get(library, 0) if name in parts else sums[library] for library in libraries}
        for head in heads[1:]:
            sums[head] += cells[head]
        row = [f"{cells[head]:,.1f}" if head == "allocations" else f"{cells[head]:,.0f}" for head in heads[1:]]
        yield f"| {name} | " + " | ".join(row) + " |"


# --- Changes ----------------------------------------------------------------------------------------------------------


def changes(report: dict, earlier: dict, again: dict | None = None) -> Iterator[str]:
    """The changes by part, and a warning for each part that grew. Nothing fails.

    `again` is a second report of the same programs. Then only parts that grew in both are named, because other work of
    the machine can make one count larger.
    """
    kinds = [f"a {made['build']} build on {made['machine']}" for made in (report, earlier)]
    if kinds[0] != kinds[1]:
        yield f"warning: this is {kinds[0]} and the earlier report is of {kinds[1]}: nothing is compared"
        return
    if report["requests"] != earlier["requests"]:
        yield "warning: the earlier report is from other loads (--short or not): nothing is compared"
        return
    warnings = grown_parts(report, earlier)
    if again is not None:
        once_more = grown_parts(again, earlier)
        warnings = {place: text for place, text in warnings.items() if place in once_more}
    for case, was, now in common_cases(report, earlier):
        yield f'Changes of "{case}":'
        for name in (name for name in PARTS if name in was or name in now):
            old, new = (total(parts[name]) if name in parts else 0 for parts in (was, now))
            yield f"  {name:12} {old:11,} {new:11,} {new - old:+11,} {percent_of(new - old, old)}"
    yield from warnings.values() or ["No part grew."]


def common_cases(report: dict, earlier: dict) -> Iterator[tuple[str, dict, dict]]:
    """The names of cases with their parts in the earlier report and in this one."""
    before = {case["name"]: case["parts"] for case in earlier["cases"]}
    return ((case["name"], before[case["name"]], case["parts"]) for case in report["cases"] if case["name"] in before)


def grown_parts(report: dict, earlier: dict) -> dict[tuple[str, str], str]:
    """A warning for each case and part that grew."""
    warnings = {}
    for case, was, now in common_cases(report, earlier):
        for name in now.keys() - set(TIMED):
            old, new = (total(parts[name]) if name in parts else 0 for parts in (was, now))
            is_loose = name in WAITING and report["build"] == "debug"
            limit = WAITING_GROWTH_PERCENT if is_loose else GROWTH_PERCENT
            if has_grown(was.get(name, {}), now[name], old, new, limit):
                percent = percent_of(new - old, old).strip()
                warnings[case, name] = f"warning: {case}: {name} grew from {old:,} to {new:,} instructions ({percent})"
    return warnings


def percent_of(change: float, whole: float) -> str:
    return f"{change / whole * 100:+7.1f} %" if whole else "    new"


def has_grown(was: dict, now: dict, old: int, new: int, limit: float) -> bool:
    noise = max(NOISE, NOISE_FACTOR * max(part.get("difference", 0) for part in (was, now)))
    return new - old > noise and (new - old) * 100 > limit * old


# --- Functions --------------------------------------------------------------------------------------------------------


FUNCTIONS = """The most expensive types and functions of each case, for one request. Libraries belong to the type that
called them. A function with calls counts recursion several times, and also the asynchronous functions to which it jumps
at its end.
"""


def function_tables(name: str, profile: Profile, types: dict) -> Iterator[str]:
    yield f"\n## {name}: {profile.total:,.0f} instructions"
    yield "\n### Own types\n"
    yield "| all | own | libraries | allocations | type |"
    yield "|--:|--:|--:|--:|---|"
    for type_name, made in sorted(types.items(), key=lambda entry: -entry[1].cost)[:TYPE_COUNT]:
        figures = f"{made.cost:,.0f} | {made.own:,.0f} | {made.cost - made.own:,.0f} | {made.allocations:,.1f}"
        yield f"| {figures} | {type_name} |"
    for title, costs in (("by themselves", profile.own), ("with calls", profile.inclusive())):
        yield f"\n### Functions {title}\n"
        yield "| instructions | share | where | function |"
        yield "|--:|--:|---|---|"
        first = sorted(costs.items(), key=lambda entry: -entry[1])[:FUNCTION_COUNT]
        for (function, cost), readable in zip(first, readable_names([function for function, _ in first])):
            yield f"| {cost:,.0f} | {cost / profile.total * 100:.1f} % | {function.object} | `{readable}` |"


def readable_names(functions: list[Function]) -> list[str]:
    return [name.replace("|", "\\|")[:160] for name in demangled([function.name for function in functions])]

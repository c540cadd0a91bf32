"""Reads what `valgrind --tool=callgrind` writes, and gives the cost of libraries to the code that called them."""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

CALL_KEYS = ("cfn", "cob", "cfi", "cfl")


@dataclass(frozen=True)
class Function:
    object: str
    """The file name of the program or library."""
    name: str
    """The symbol. Callgrind writes an address if a function has none."""


@dataclass(frozen=True)
class Calls:
    """The calls from one function to another, with all instructions until they returned."""

    count: float = 0
    cost: float = 0

    def plus(self, other: "Calls", factor: float = 1) -> "Calls":
        return Calls(self.count + factor * other.count, self.cost + factor * other.cost)


@dataclass
class Profile:
    """Instructions of every function itself, and the calls between functions."""

    own: dict[Function, float] = field(default_factory=lambda: defaultdict(float))
    calls: dict[tuple[Function, Function], Calls] = field(default_factory=lambda: defaultdict(Calls))

    @property
    def total(self) -> float:
        return sum(self.own.values())

    def inclusive(self) -> dict[Function, float]:
        """The instructions of every function with what it called. Recursion counts once for each level."""
        result = defaultdict(float, self.own)
        for (caller, callee), calls in self.calls.items():
            if caller != callee:
                result[caller] += calls.cost
        return result


def per_request(shorter: Profile, longer: Profile, count: int) -> Profile:
    """The cost of one request, from two loads that differ by so many requests."""
    result = Profile()
    for function in longer.own.keys() | shorter.own.keys():
        result.own[function] = (longer.own.get(function, 0) - shorter.own.get(function, 0)) / count
    for edge in longer.calls.keys() | shorter.calls.keys():
        change = longer.calls.get(edge, Calls()).plus(shorter.calls.get(edge, Calls()), -1)
        result.calls[edge] = Calls(change.count / count, change.cost / count)
    return result


class Names:
    """The names of a file. A name has a number, and is written out only when it comes first."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def read(self, text: str) -> str:
        if not text.startswith("("):
            return text
        number, _, name = text.partition(")")
        if name:
            self._known[number] = name.strip()
        return self._known[number]


def read(path: Path) -> Profile:
    with path.open(encoding="utf-8", errors="replace") as lines:
        return parse(lines)


def parse(lines: Iterable[str]) -> Profile:
    """Reads one dump. Costs are those of the first event, which is `Ir` without further options."""
    profile, objects, functions = Profile(), Names(), Names()
    place, caller = "", Function("", "")
    target_object, target = None, ""
    call_count: int | None = None
    for line in lines:
        key, separator, value = line.rstrip("\n").partition("=")
        if separator and key == "ob":
            place = short_name(objects.read(value))
        elif separator and key == "fn":
            caller = Function(place, functions.read(value))
        elif separator and key == "cob":
            target_object = short_name(objects.read(value))
        elif separator and key == "cfn":
            target = functions.read(value)
        elif separator and key == "calls":
            call_count = int(value.split()[0])
        elif line[:1].isdigit() or line[:1] in "+-*":
            cost = int((line.split() + ["0", "0"])[1])
            if call_count is None:
                profile.own[caller] += cost
                continue
            edge = (caller, Function(place if target_object is None else target_object, target))
            profile.calls[edge] = profile.calls[edge].plus(Calls(call_count, cost))
            call_count, target_object = None, None
    return profile


def short_name(path: str) -> str:
    return path.rpartition("/")[2]


Share = dict[str, float]


class Attribution:
    """The parts of the program for which a function works.

    `part_of` names the part of a function, or returns None if the function works for those that call it. The work of
    such a function is divided among its callers in proportion to the instructions of their calls. A function that
    calls back into functions with parts is divided by the number of calls, because their work is not its own.
    """

    ROUNDS = 200
    EXACTNESS = 1e-4
    BACK_SHARE = 0.1
    UNKNOWN = "other"

    def __init__(self, profile: Profile, part_of: Callable[[Function], str | None]) -> None:
        self._profile = profile
        self._part_of = part_of
        self._callers: dict[Function, list[tuple[Function, Calls]]] = defaultdict(list)
        for (caller, callee), calls in profile.calls.items():
            if caller != callee and calls.count > 0:
                self._callers[callee].append((caller, calls))
        self._calls_back = self._functions_that_call_back()
        self._shares: dict[Function, Share] = {}
        self._divide()

    def share(self, function: Function) -> Share:
        part = self._part_of(function)
        return {part: 1.0} if part is not None else self._shares.get(function, {self.UNKNOWN: 1.0})

    def _functions_that_call_back(self) -> set[Function]:
        """Those whose calls go for a good part to functions with parts. Rare calls, as of a first use, do not count."""
        whole: dict[Function, float] = defaultdict(float, self._profile.own)
        for callee, callers in self._callers.items():
            for caller, calls in callers:
                whole[caller] += calls.cost
        back: dict[Function, float] = defaultdict(float)
        found: set[Function] = set()
        waiting = [function for function in self._callers if self._part_of(function) is not None]
        while waiting:
            for caller, calls in self._callers.get(waiting.pop(), []):
                back[caller] += calls.cost
                is_large = back[caller] > self.BACK_SHARE * whole[caller]
                if is_large and caller not in found and self._part_of(caller) is None:
                    found.add(caller)
                    waiting.append(caller)
        return found

    def _weights(self, function: Function) -> Iterator[tuple[Function, float]]:
        callers = self._callers.get(function, [])
        by_count = function in self._calls_back
        weights = [(caller, max(0.0, calls.count if by_count else calls.cost)) for caller, calls in callers]
        total = sum(weight for _, weight in weights)
        return ((caller, weight / total) for caller, weight in weights if weight > 0)

    def _divide(self) -> None:
        """Repeats the division until it no longer changes, because libraries call each other in circles."""
        every = {function for edge in self._profile.calls for function in edge} | self._profile.own.keys()
        weights = {function: list(self._weights(function)) for function in every if self._part_of(function) is None}
        callees = defaultdict(list)
        for function, callers in weights.items():
            for caller, _ in callers:
                callees[caller].append(function)
        # Each function once, then those again whose callers have changed.
        waiting = deque(weights)
        is_waiting = set(weights)
        rest = self.ROUNDS * len(weights)
        while waiting and rest > 0:
            rest -= 1
            function = waiting.popleft()
            is_waiting.remove(function)
            share = self._divided(weights[function])
            has_moved = self._has_moved(function, share)
            self._shares[function] = share
            if has_moved:
                new = [callee for callee in callees[function] if callee not in is_waiting]
                waiting.extend(new)
                is_waiting.update(new)
        for function, share in self._shares.items():
            unknown = 1 - sum(share.values())
            if unknown > self.EXACTNESS:
                share[self.UNKNOWN] = share.get(self.UNKNOWN, 0) + unknown

    def _divided(self, callers: list[tuple[Function, float]]) -> Share:
        result: Share = defaultdict(float)
        for caller, weight in callers:
            part = self._part_of(caller)
            for name, amount in ({part: 1.0} if part is not None else self._shares.get(caller, {})).items():
                result[name] += weight * amount
        return result

    def _has_moved(self, function: Function, share: Share) -> bool:
        old = self._shares.get(function, {})
        return any(abs(share.get(name, 0) - old.get(name, 0)) > self.EXACTNESS for name in share.keys() | old.keys())

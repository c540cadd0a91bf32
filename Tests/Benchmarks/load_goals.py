"""The goals of the standard set of loads, and what a report reaches of them.

Each figure is a ratio within one run, or a size. They are meant for a machine with two processors, the load generator
beside the daemon. No test looks at them, because the speed of a shared machine changes.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    """A figure and its limit. `value` is None if the run did not measure it."""

    name: str
    value: float | None
    limit: float
    is_most: bool = True
    """Whether the limit is the largest value, and not the smallest one."""

    @property
    def is_met(self) -> bool:
        if self.value is None:
            return False
        return self.value <= self.limit if self.is_most else self.value >= self.limit

    @property
    def line(self) -> str:
        value = "not measured" if self.value is None else f"{self.value:.2f}"
        wish = f"{'at most' if self.is_most else 'at least'} {self.limit:g}"
        return f"| {self.name} | {value} | {wish} | {'yes' if self.is_met else 'no'} |"


def goals(report: dict) -> list[Goal]:
    """All goals of a report. Those that need the accelerator are left out if it was off."""
    rows = {row["name"]: row for row in report["rows"]}
    rsa = {bits: 1e6 / rate for bits, rate in report["opensslPerSecond"].items()}
    plain, secure = rows["v1, closed loop"], rows["v1, TLS, keep-alive"]
    memory = report["memory"]
    found = [
        Goal("p99 at 0.7 of the capacity, 64 connections, ms", rows["v1, 0.7, 64 connections"]["p99"] / 1000, 3),
        Goal("v1 over TLS on open connections / plain HTTP", secure["rate"] / plain["rate"], 0.9, is_most=False),
        Goal("memory idle, MB", memory["idle"] / 1e6, 40),
        Goal(f"memory after {memory['licenses']:,} licenses, MB", memory["after"] / 1e6, 80),
        Goal("heap allocations for each license", report["allocations"]["loops"] + report["allocations"]["others"], 25),
    ]
    if not report["accelerator"]:
        return found
    cold, lone = report["coldDevices"], rows["v1, one connection, accelerator off"]
    return [
        Goal("daemon CPU for a v1 license / one RSA operation", plain["daemon_cpu"] / rsa["1024"], 0.5),
        Goal("daemon CPU for a v2 license / one RSA operation", rows["v2, closed loop"]["daemon_cpu"] / rsa["2048"], 0.45),
        Goal(
            "v1 licenses/s at 64 connections / RSA operations of all processors",
            plain["rate"] / report["opensslOnAllPerSecond"], 2.5, is_most=False,
        ),
        Goal("cold devices, processor seconds for 1,000", cold["cost"] if cold else None, 0.65),
        Goal("latency of a lone request / with the accelerator off", rows["v1, one connection"]["p50"] / lone["p50"], 1.03),
        *found,
    ]  # fmt: skip


def table(report: dict) -> str:
    return "\n".join(["| figure | reached | goal | met |", "|---|---|---|---|", *(goal.line for goal in goals(report))]) + "\n"

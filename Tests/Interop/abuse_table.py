"""Runs all attacks on the memory and the connections of a daemon, and prints their costs as one table.

    LATCHKEY_BIN=.../latchkey LATCHKEY_ABUSE=long python abuse_table.py [--before] [NAME ...]

It asserts nothing, so it can also measure a version without defences against these attacks: `--before` leaves out
the settings that such a version does not know. If names are given, only the attacks of these kinds run.
"""

import sys
import tempfile
from pathlib import Path

from abuse_cases import ATTACKS, Attack, run, table


def row(case: Attack, knows_budget: bool) -> tuple[str, ...]:
    with tempfile.TemporaryDirectory() as folder:
        try:
            return run(case, Path(folder), knows_budget).row
        except Exception as error:  # pylint: disable=broad-except
            # A daemon that has ended, or that no longer answers, is a result too.
            return (case.name, *["-"] * 7, f"{type(error).__name__}: {error}"[:60].splitlines()[0])


def main() -> None:
    names = set(sys.argv[1:]) - {"--before"}
    rows = []
    for case in ATTACKS:
        if not names or case.kind in names:
            rows.append(row(case, "--before" not in sys.argv))
            print("  ".join(rows[-1]), file=sys.stderr, flush=True)
    print(table(rows))


if __name__ == "__main__":
    main()

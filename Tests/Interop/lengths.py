"""How many inputs the tests with random or many inputs take.

`Scripts/test` and CI take the short form. The long form takes minutes more. `Scripts/test --long` runs it, or any run
with the variable LATCHKEY_TEST_LONG.
"""

import os

IS_LONG = bool(os.environ.get("LATCHKEY_TEST_LONG"))


def inputs(*, short: int, long: int) -> int:
    return long if IS_LONG else short

"""Small C libraries that tests load before a program (`LD_PRELOAD`)."""

import shutil
import subprocess
from pathlib import Path

BUILD_SECONDS = 60


def build(source: str, folder: Path) -> Path:
    """Builds a source of this folder, and returns the path of the library."""
    library = (folder / source).with_suffix(".so")
    compiler = next(filter(None, map(shutil.which, ("cc", "clang", "gcc"))))
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, Path(__file__).with_name(source), "-ldl"],
        check=True, timeout=BUILD_SECONDS,
    )  # fmt: skip
    return library

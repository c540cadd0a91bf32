"""Calls a library with the C boundary of the FairPlay Streaming Server SDK, in a process of its own.

    build_libraries   builds the stand-ins of Tests/SDKStandIn
    Library           a process that has loaded a library, and calls it
    Answer            what one call has returned

As a script, this file is that process. It reads one call from each line of its input.
"""

import base64
import ctypes
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

STAND_IN = Path(__file__).parents[1] / "SDKStandIn"
BUILT = Path(__file__).parents[2] / ".build" / "sdk-stand-in"
CALL_SECONDS = 60
CORE = "libfpscrypto.so"
FLAVOURS = {"rust": "libfpssdk.so", "swift": "libswift_fpssdk.so"}


def build_libraries() -> Path:
    """Builds what is older than its sources. Without a Swift compiler, the Swift flavour is left out."""
    options = ["--static-swift"] if shutil.which("swiftc") else ["--without-swift"]
    subprocess.run([STAND_IN / "build", *options, BUILT], check=True, capture_output=True)
    return BUILT


class Died(Exception):
    """The process has ended in place of an answer. `status` is that of `Popen`, negative for a signal."""

    def __init__(self, status: int, errors: bytes) -> None:
        super().__init__(f"status {status}: {errors.decode(errors='replace')[-500:]}")
        self.status = status
        self.errors = errors


@dataclass(frozen=True)
class Answer:
    """What one call has returned. `text` ends before the first NUL, or where `size` says. It is `None` without one."""

    status: int
    size: int
    text: bytes | None
    has_nul: bool

    @property
    def json(self) -> dict[str, object]:
        assert self.text is not None
        return json.loads(self.text)

    def items(self, name: str = "create-ckc") -> list[dict[str, object]]:
        (response,) = self.json.values()
        assert list(response) == [name]
        return response[name]


class Library:
    """A process that has loaded a library. It loads libfpscrypto.so first, by its full path."""

    def __init__(
        self, library: Path, certificates: str | Path | None, *, loads_core: bool = True, folder: str | Path = "/",
        memory_limit: int | None = None, descriptors: tuple[int, ...] = (),
    ) -> None:  # fmt: skip
        environment = {key: value for key, value in os.environ.items() if not key.startswith("FPS_")}
        # The handler of crashes would take seconds and write a long report.
        environment["SWIFT_BACKTRACE"] = "enable=no"
        if certificates is not None:
            environment["FPS_CERT_PATH"] = str(certificates)
        self.answers, write_end = os.pipe()
        self._errors = tempfile.TemporaryFile()
        self._output = tempfile.TemporaryFile()
        options = {"loads_core": loads_core, "memory_limit": memory_limit, "answers": write_end}
        self.process = subprocess.Popen(
            [sys.executable, __file__, library, json.dumps(options)],
            stdin=subprocess.PIPE, stdout=self._output, stderr=self._errors, cwd=folder, env=environment,
            pass_fds=(write_end, *descriptors),
        )  # fmt: skip
        os.close(write_end)
        self._reader = os.fdopen(self.answers, "rb")

    def send(self, request: bytes, **options: object) -> None:
        line = json.dumps({"request": base64.b64encode(request).decode(), **options})
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # `receive` tells how the process has ended.

    def receive(self) -> dict[str, object]:
        ready, _, _ = select.select([self.answers], [], [], CALL_SECONDS)
        line = self._reader.readline() if ready else b""
        if not line:
            if not ready:
                self.process.kill()
            raise Died(self.process.wait(CALL_SECONDS), self.errors)
        return json.loads(line)

    def call(self, request: bytes | dict[str, object], **options: object) -> Answer:
        """Calls the library once. Raises `Died` if the process ends.

        size              the size of the request to pass, in place of the true one
        out_size_before   what the variable for the size of the answer contains before the call
        dispose           how to give the answer back: after overwriting it with `x` (the default) or `zeros`, or with
                          `free`
        """
        self.send(request if isinstance(request, bytes) else json.dumps(request).encode(), **options)
        answer = self.receive()
        text = None if answer["text"] is None else base64.b64decode(answer["text"])
        return Answer(answer["status"], answer["size"], text, answer["has_nul"])

    def version(self) -> str | None:
        """The version of the library, or `None` if it has no function for it."""
        self.send(b"", asks_version=True)
        return self.receive()["version"]

    @property
    def errors(self) -> bytes:
        self._errors.seek(0)
        return self._errors.read()

    @property
    def output(self) -> bytes:
        self._output.seek(0)
        return self._output.read()

    @property
    def name(self) -> str:
        return Path(f"/proc/{self.process.pid}/comm").read_text().strip()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(CALL_SECONDS)
        self.process.stdin.close()
        self._reader.close()
        self._errors.close()
        self._output.close()


# --- The process ------------------------------------------------------------------------------------------------------


def _load(path: Path, options: dict[str, object]) -> ctypes.CDLL:
    if options["loads_core"]:
        ctypes.CDLL(str(path.parent / CORE), mode=ctypes.RTLD_GLOBAL)
    library = ctypes.CDLL(str(path))
    # Both flavours are called with 64-bit sizes.
    library.fpsProcessOperations.argtypes = [
        ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_uint64)
    ]  # fmt: skip
    library.fpsDisposeResponse.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    return library


def _version(library: ctypes.CDLL) -> str | None:
    if not hasattr(library, "fpsGetVersion"):
        return None
    text = ctypes.c_void_p()
    assert library.fpsGetVersion(ctypes.byref(text)) == 0
    version = ctypes.string_at(text.value).decode()
    library.fpsDisposeVersion.argtypes = [ctypes.c_void_p]
    assert library.fpsDisposeVersion(text) == 0
    return version


def _dispose(library: ctypes.CDLL, libc: ctypes.CDLL, out: int, length: int, size: int, manner: str) -> None:
    if manner == "free":
        libc.free.argtypes = [ctypes.c_void_p]
        libc.free(out)
        return
    ctypes.memset(out, ord("x") if manner == "x" else 0, length)
    assert library.fpsDisposeResponse(out, size) == 0


def _call(library: ctypes.CDLL, libc: ctypes.CDLL, call: dict[str, object]) -> dict[str, object]:
    request = base64.b64decode(call["request"])
    out, out_size = ctypes.c_void_p(), ctypes.c_uint64(call.get("out_size_before", 0))
    status = library.fpsProcessOperations(
        request, call.get("size", len(request)), ctypes.byref(out), ctypes.byref(out_size)
    )
    answer = {"status": status, "size": out_size.value, "text": None, "has_nul": False}
    if out.value is not None:
        libc.strnlen.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        libc.strnlen.restype = ctypes.c_size_t
        # The size can be wrong in its upper half, if the variable was not zero before.
        size = out_size.value & 0xFFFFFFFF
        length = libc.strnlen(out.value, size)
        answer |= {"text": base64.b64encode(ctypes.string_at(out.value, length)).decode(), "has_nul": length < size}
        _dispose(library, libc, out.value, length, size, call.get("dispose", "x"))
    return answer


def _serve(path: Path, options: dict[str, object]) -> None:
    libc = ctypes.CDLL(None)
    library = _load(path, options)
    if options["memory_limit"] is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (options["memory_limit"],) * 2)
    with os.fdopen(options["answers"], "w") as answers:
        for line in sys.stdin:
            call = json.loads(line)
            answer = {"version": _version(library)} if call.get("asks_version") else _call(library, libc, call)
            print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    _serve(Path(sys.argv[1]), json.loads(sys.argv[2]))

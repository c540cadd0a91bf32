"""Which part of the work of a license a function of the daemon does."""

import re
import subprocess
from collections.abc import Iterable
from functools import cache

from callgrind import Function

PARTS = (
    "socket", "HTTP", "TLS", "token", "admission", "SPC", "RSA", "rights", "record", "ledger", "CKC", "answer",
    "upkeep", "other",
)  # fmt: skip
CALLERS = "callers"
"""In place of a part: the function works for the part that calls it."""

# Parts by module, type and function. The longest name that fits counts.
TABLE: dict[str, str] = {
    "ByteCoding": CALLERS,
    "KeyCrypto": CALLERS,
    "CommandLineKit": CALLERS,
    "Telemetry": CALLERS,
    "POSIXSockets": "socket",
    "POSIXSockets.IPAddress": CALLERS,
    "POSIXSockets.SocketAddress": CALLERS,
    "POSIXSockets.KernelClock": CALLERS,
    "EventLoops": "socket",
    "EventLoops.TurnEnd": CALLERS,
    "HTTPMessages": "HTTP",
    "HTTPMessages.HTTPResponse": "answer",
    "HTTPMessages.HTTPResponsePlan": "answer",
    "HTTPMessages.HTTPStatus": "answer",
    "HTTPMessages.HTTPDate": "answer",
    "HTTPMessages.HTTPFields": CALLERS,
    "HTTPServing": "HTTP",
    "HTTPServing.Transport": "socket",
    "HTTPServing.LoopListener": "socket",
    "HTTPServing.ListenerState": "socket",
    "HTTPServing.ArrivalQueue": "socket",
    "HTTPServing.StartQueue": "socket",
    "HTTPServing.NetworkConnections": "socket",
    "HTTPServing.ConnectionCount": "socket",
    "HTTPServing.ApplicationProtocol": "TLS",
    "HTTPServing.ClientHelloFraming": "TLS",
    "HTTPServing.HandshakeOutcome": "TLS",
    "HTTPServing.SSLContextHandle": "TLS",
    "HTTPServing.TLS": "TLS",  # types whose names begin so
    "HTTPCalls": "upkeep",
    "PlayerMessages": "HTTP",
    "PlayerMessages.AnswerPreference": "answer",
    "PlayerMessages.AnswerShape": "answer",
    "RouteKit": "HTTP",
    "RouteKit.Degradation": "upkeep",
    "RouteKit.DegradedPart": "upkeep",
    "RouteKit.ConnectionShortages": "upkeep",
    "RouteKit.DeviceTally": "record",
    "RouteKit.Problem": "answer",
    "RouteKit.Refusals": "answer",
    "RouteKit.RefusalRules": "answer",
    "PlayerRoutes": "HTTP",
    "PlayerRoutes.KeyOutcome": "answer",
    "PlayerRoutes.KeyResult": "answer",
    "PlayerRoutes.LicenseAnswer": "answer",
    "PlayerRoutes.LicenseRefusal": "answer",
    "PlayerRoutes.PlayerMetrics": "answer",
    "LatchkeyService": "HTTP",
    "LatchkeyService.Daemon": "upkeep",
    "LatchkeyService.ServiceMetrics": "upkeep",
    "LatchkeyService.LicenseRecords": "record",
    "ServiceConfiguration": "HTTP",
    "PackagerRoutes": "upkeep",
    "PackagerAPI": "upkeep",
    "AdminRoutes": "upkeep",
    "Administration": "upkeep",
    "Upkeep": "upkeep",
    "latchkeyd": "upkeep",
    "Telemetry.Monitor": "upkeep",
    "Telemetry.ProcessMetrics": "upkeep",
    "Telemetry.ProcessStatus": "upkeep",
    "Telemetry.LogQueue": "upkeep",
    "Telemetry.LogSink": "upkeep",
    "Telemetry.JournalStream": "upkeep",
    "EventLoops.LoopWatch": "upkeep",
    "Entitlements": "rights",
    "Entitlements.Claims": "token",
    "Entitlements.ClaimForm": "token",
    "Entitlements.ClaimObject": "token",
    "Entitlements.Fetched": "token",
    "Entitlements.HeldClaims": "token",
    "Entitlements.IssuerSet": "token",
    "Entitlements.JWK": "token",
    "Entitlements.PresentedToken": "token",
    "Entitlements.RecentTokens": "token",
    "Entitlements.Session": "token",
    "Entitlements.SharedKey": "token",
    "Entitlements.Signature": "token",
    "Entitlements.StrayToken": "token",
    "Entitlements.Token": "token",
    "Entitlements.UnknownKeyNotes": "token",
    "Entitlements.Verif": "token",
    "FairPlay": "SPC",
    "FairPlay.CKC": "CKC",
    "FairPlay.ContentKeyUse": "CKC",
    "FairPlay.KeyDuration": "CKC",
    "FairPlay.License": "CKC",
    "FairPlay.OfflineTerms": "CKC",
    "FairPlay.PreparedLicense": "CKC",
    "FairPlay.WrappedContentKey": "CKC",
    "FairPlay.TLLVWriter": "CKC",
    "FairPlay.DeviceFacts": "record",
    "ContentKeys": "CKC",
    "ContentKeys.Asset": "SPC",
    "ContentKeys.LivePeriodStore": "upkeep",
    "ContentKeys.StoreError": CALLERS,
    "Records": "record",
    "Records.Ledger": "ledger",
    # Maintenance reads the ledger again, for its index.
    "Records.LedgerBatch": CALLERS,
    "Records.LedgerEntry.init": CALLERS,
    "Records.LedgerEntry.terms": CALLERS,
    "Records.LedgerFieldReader": CALLERS,
    "Records.LedgerLocator": CALLERS,
    "Records.LedgerRow": CALLERS,
    "Records.LedgerTerm": CALLERS,
    "Records.Pseudonym": "ledger",
    "Records.ClockRecord": "upkeep",
    "Records.ClockAcceptance": "upkeep",
    "Licensing": "rights",
    "Licensing.Admission": "admission",
    "Licensing.OutageAdmissions": "admission",
    "Licensing.Overload": "admission",
    "Licensing.Patience": "admission",
    "Licensing.Rate": "admission",
    "Licensing.Standstill": "admission",
    "Licensing.TokenParty": "admission",
    "Licensing.WaitingRoom": "admission",
    "Licensing.SignatureQueue": "token",
    "Licensing.Claims": "token",
    "Licensing.ContentKeyRecord": "CKC",
    "Licensing.MintedToken": "token",
    "Licensing.LicensePipeline.open": "SPC",
    "Licensing.OpenedRequest": "SPC",
    "Licensing.RecentUnwraps": "SPC",
    "Licensing.UnwrapQueue": "SPC",
    "Licensing.RecentContentKeys": "CKC",
    "Licensing.GrantedLicense": "CKC",
    "Licensing.IssuedLicense": "CKC",
    "Licensing.ServedPeriods": "CKC",
    "Licensing.Decision": "record",
    "Licensing.KnownDecisions": "record",
    "Licensing.LicenseFacts": "record",
    "Licensing.LicenseHistory": "record",
    "Licensing.RecentDecisions": "record",
    "Licensing.RecordedAnswer": "record",
    "Licensing.RequestName": "record",
    "Licensing.SettledConnections": "record",
    "Licensing.SharedDecisionStore": "record",
    "Licensing.DeviceSummary": "record",
    "Licensing.RefusalRecorder": "answer",
    "Licensing.LicenseError": "answer",
    "StorageSQLite": "ledger",
    "StorageSQLite.SQLite": CALLERS,
    "StorageSQLite.SQLiteDecisionStore": "record",
    "StorageSQLite.check": CALLERS,
    "StorageSQLite.CellTable": "record",
    "StorageSQLite.DecisionTables": "record",
    "StorageSQLite.KeptDecisionTable": "record",
    "StorageSQLite.ExpiredRows": "record",
    "StorageSQLite.Write": "record",
    "StorageSQLite.KeyReader": "CKC",
    "StorageSQLite.ReaderPool": "CKC",
    "StorageSQLite.StoredContentKey": "CKC",
    "StorageSQLite.ContentKeyAttributes": "CKC",
    "StorageSQLite.SQLiteKeyStore": "CKC",
    "StorageSQLite.PeriodReader": "upkeep",
    "StorageSQLite.RevocationReader": "upkeep",
    "StorageSQLite.Clock": "upkeep",
    "StorageSQLite.DiskSpace": "upkeep",
    "StorageSQLite.WriterWatch": "upkeep",
    "StorageSQLite.LedgerIndex": "upkeep",
    "StorageSQLite.LedgerMaintenance": "upkeep",
    "StorageSQLite.LedgerPurger": "upkeep",
    "StorageSQLite.LedgerReader": "upkeep",
    "StorageSQLite.LedgerRoller": "upkeep",
    "StorageSQLite.LedgerSelects": CALLERS,
    "StorageSQLite.FileIdentity": "upkeep",
    "StorageSQLite.OpenedFile": "upkeep",
    "StoragePostgreSQL": "record",
    "LadderWorkers": "SPC",
}  # fmt: skip

# Functions of libraries and whole libraries that are a part by themselves, with all that they call.
FUNCTION_PARTS = {"EVP_PKEY_decrypt": "RSA"}
LIBRARY_PARTS = {"libssl": "TLS", "nghttp2": "HTTP"}

PROGRAM = "latchkeyd"
# The groups of libraries, by the beginnings of their file names. What is in the program and not its own is Swift's.
LIBRARIES = {
    "libcrypto": "libcrypto", "libssl": "libssl", "libnghttp2": "nghttp2", "libsqlite3": "SQLite", "libc.": "libc",
    "libm.": "libc", "ld-linux": "libc", "libpthread": "libc", "libswift": "Swift", "libFoundation": "Swift",
    "lib_Foundation": "Swift", "libdispatch": "Swift", "libBlocks": "Swift", "libstdc++": "Swift",
    "libgcc": "Swift", PROGRAM: "Swift",
}  # fmt: skip


class Places:
    """The owner of every function: a library, or a type of the daemon and with it a part."""

    def __init__(self, functions: Iterable[Function], modules: Iterable[str]) -> None:
        names = "|".join(sorted(modules, key=len, reverse=True))
        self._extension = re.compile(rf"\(extension in (\w+)\):((?:\w+\.)*\w+)")
        # What is private stands in parentheses, with a mark of its file.
        private = r"\(?(\w+)(?: in \w+\))?"
        self._member = re.compile(rf"\b({names})\.{private}(?:\.{private})?")
        self._modules = set(modules)
        self._paths: dict[str, str] = {}
        self._parts: dict[Function, str | None] = {}
        own = sorted({function.name for function in functions if function.object == PROGRAM})
        for name, readable in zip(own, demangled(own), strict=True):
            path = self._path(name, readable)
            if path is not None:
                self._paths[name] = path

    def path(self, function: Function) -> str | None:
        """Module, type and function of own code; None for a library."""
        return self._paths.get(function.name) if function.object == PROGRAM else None

    def library(self, function: Function) -> str:
        known = (name for start, name in LIBRARIES.items() if function.object.startswith(start))
        return next(known, "other libraries")

    def part(self, function: Function) -> str | None:
        """None for a function that works for its callers."""
        if function not in self._parts:
            self._parts[function] = self._found_part(function)
        return self._parts[function]

    def type_name(self, function: Function) -> str | None:
        """The type of own code, also of what works for its callers; the part of a library that is one by itself."""
        path = self.path(function)
        if path is not None:
            return ".".join(path.split(".")[:2])
        part = self.part(function)
        return None if part is None else f"({part})"

    def _found_part(self, function: Function) -> str | None:
        path = self.path(function)
        if path is None:
            name = function.name.partition("'")[0]
            return FUNCTION_PARTS.get(name) or LIBRARY_PARTS.get(self.library(function))
        part = part_of_path(path)
        return None if part == CALLERS else part

    def _path(self, name: str, readable: str) -> str | None:
        extension = self._extension.search(readable)
        if extension is not None and extension.group(1) in self._modules:
            return f"{extension.group(1)}.{extension.group(2).rpartition('.')[2]}"
        module = leading_module(name)
        if module not in self._modules:
            return None
        found = (match for match in self._member.finditer(readable) if match.group(1) == module)
        match = next(found, None)
        return module if match is None else ".".join(filter(None, match.groups()))


def leading_module(name: str) -> str | None:
    """The module at the beginning of a mangled name: `$s9KeyCrypto11SecretBytesV` begins with nine letters."""
    found = re.match(r"\$[sS](\d+)", name)
    return name[found.end() : found.end() + int(found.group(1))] if found else None


@cache
def part_of_path(path: str) -> str:
    """The part of the longest name of the table with which the path begins."""
    fitting = [name for name in TABLE if path.startswith(name) and ("." in name or path.split(".")[0] == name)]
    return TABLE[max(fitting, key=len)] if fitting else "other"


def demangled(names: list[str]) -> list[str]:
    # Callgrind marks levels of a recursion by an apostrophe and a number.
    plain = "".join(f"{name.partition(chr(39))[0]}\n" for name in names)
    words = ["swift", "demangle", "--compact"]
    return subprocess.run(words, input=plain, capture_output=True, text=True, check=True).stdout.splitlines()

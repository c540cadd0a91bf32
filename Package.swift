// swift-tools-version: 6.2
import PackageDescription

// The targets are on the floors of the architecture (Sources/LatchkeyService/LatchkeyService.docc/Architecture.md). A
// target may depend on targets of lower floors. Only targets of floors 2 and 3 may also depend on targets of their own
// floor. `Scripts/check` compares the imports of every file with this list.

let settings: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    // A call of an asynchronous function does not look up its task's executor.
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

// libFuzzer needs counters in the code. `Scripts/fuzz` turns them on.
let isFuzzing = Context.environment["LATCHKEY_FUZZ"] != nil
let counters: [SwiftSetting] = isFuzzing ? [.unsafeFlags(["-sanitize=fuzzer"])] : []

func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings + counters)
}

func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, swiftSettings: settings)
}

func tests(of name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .testTarget(
        name: name + "Tests", dependencies: [.target(name: name), "TestSupport"] + dependencies, swiftSettings: settings
    )
}

var targets: [Target] = [
    // Floor 0: C headers, module maps and static inline wrappers of macros, and the files that are part of the daemon.
    .target(name: "CEmbedded", exclude: ["OperatorPage", "Schemas", "openapi.json"]),
    .systemLibrary(name: "CLinux"),
    .systemLibrary(name: "CLadder"),
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),

    // Floor 1
    module("ByteCoding"),
    module("Telemetry"),

    // Floor 2
    module("KeyCrypto", ["COpenSSL", "ByteCoding"]),
    module("POSIXSockets", ["CLinux"]),
    module("EventLoops", ["CLinux", "POSIXSockets", "Telemetry"]),
    module("CommandLineKit", ["ByteCoding", "KeyCrypto", "POSIXSockets"]),

    // Floor 3: pure rules and formats.
    module("FairPlay", ["ByteCoding", "KeyCrypto"]),
    module("DeviceSimulation", ["ByteCoding", "KeyCrypto", "FairPlay"]),
    module("HTTPMessages", ["ByteCoding"]),
    module("PlayerMessages", ["ByteCoding"]),
    module("Entitlements", ["ByteCoding", "Telemetry", "KeyCrypto", "POSIXSockets"]),
    module("ContentKeys", ["ByteCoding", "KeyCrypto"]),
    module("Records", ["ByteCoding", "KeyCrypto", "ContentKeys"]),

    // Floor 4
    module(
        "Licensing",
        [
            "ByteCoding", "Telemetry", "KeyCrypto", "POSIXSockets", "EventLoops", "FairPlay", "Entitlements",
            "ContentKeys", "Records",
        ]),
    module(
        "HTTPServing",
        [
            "COpenSSL", "CNghttp2", "ByteCoding", "Telemetry", "KeyCrypto", "POSIXSockets", "EventLoops",
            "HTTPMessages",
        ]),
    module("PackagerAPI", ["ByteCoding", "KeyCrypto", "Entitlements", "ContentKeys"]),
    module("HTTPCalls", ["CCurl", "Telemetry", "KeyCrypto", "POSIXSockets", "EventLoops"]),
    module(
        "StorageSQLite",
        ["CEmbedded", "CSQLite", "ByteCoding", "Telemetry", "KeyCrypto", "EventLoops", "ContentKeys", "Records"]),
    module(
        "StoragePostgreSQL",
        [
            "CEmbedded", "CPostgreSQL", "ByteCoding", "Telemetry", "KeyCrypto", "POSIXSockets", "EventLoops",
            "ContentKeys", "Records",
        ]),
    module(
        "LadderWorkers",
        ["CLadder", "ByteCoding", "Telemetry", "KeyCrypto", "POSIXSockets", "EventLoops", "FairPlay"]),

    // Floor 5
    module(
        "ServiceConfiguration",
        [
            "ByteCoding", "Telemetry", "KeyCrypto", "POSIXSockets", "EventLoops", "CommandLineKit", "FairPlay",
            "HTTPMessages", "PlayerMessages", "Entitlements", "ContentKeys", "Records", "Licensing", "PackagerAPI",
            "HTTPServing", "HTTPCalls", "StoragePostgreSQL", "LadderWorkers",
        ]),
    module(
        "Administration",
        [
            "ByteCoding", "Telemetry", "KeyCrypto", "CommandLineKit", "FairPlay", "Entitlements", "ContentKeys",
            "Records", "Licensing", "PackagerAPI", "StorageSQLite",
        ]),

    // Floor 6
    module(
        "RouteKit",
        [
            "CEmbedded", "ByteCoding", "Telemetry", "KeyCrypto", "POSIXSockets", "EventLoops", "FairPlay",
            "HTTPMessages", "PlayerMessages", "Entitlements", "ContentKeys", "Records", "Licensing", "PackagerAPI",
            "HTTPServing", "StorageSQLite", "Administration",
        ]),
    module(
        "CommandSupport",
        [
            "ByteCoding", "KeyCrypto", "POSIXSockets", "CommandLineKit", "FairPlay", "ContentKeys", "Records",
            "StorageSQLite", "StoragePostgreSQL", "ServiceConfiguration", "Administration",
        ]),

    // Floor 7: a wing for each audience.
    module(
        "PlayerRoutes",
        [
            "ByteCoding", "Telemetry", "KeyCrypto", "POSIXSockets", "EventLoops", "FairPlay", "HTTPMessages",
            "PlayerMessages", "Entitlements", "ContentKeys", "Records", "Licensing", "HTTPServing", "HTTPCalls",
            "ServiceConfiguration", "RouteKit",
        ]),
    module(
        "PackagerRoutes",
        [
            "ByteCoding", "Telemetry", "KeyCrypto", "EventLoops", "CommandLineKit", "HTTPMessages", "Entitlements",
            "ContentKeys", "Records", "Licensing", "PackagerAPI", "HTTPServing", "ServiceConfiguration",
            "Administration", "RouteKit",
        ]),
    module(
        "AdminRoutes",
        [
            "ByteCoding", "Telemetry", "KeyCrypto", "POSIXSockets", "EventLoops", "CommandLineKit", "HTTPMessages",
            "Entitlements", "ContentKeys", "Records", "Licensing", "HTTPServing", "StorageSQLite",
            "ServiceConfiguration", "Administration", "RouteKit",
        ]),
    module(
        "Upkeep",
        [
            "ByteCoding", "Telemetry", "KeyCrypto", "POSIXSockets", "EventLoops", "FairPlay", "Entitlements",
            "ContentKeys", "Records", "Licensing", "HTTPServing", "HTTPCalls", "StorageSQLite", "StoragePostgreSQL",
            "ServiceConfiguration", "Administration", "RouteKit",
        ]),
    module(
        "OperatorCommands",
        [
            "ByteCoding", "Telemetry", "KeyCrypto", "POSIXSockets", "EventLoops", "CommandLineKit", "FairPlay",
            "Entitlements", "ContentKeys",
            "Records", "Licensing", "PackagerAPI", "HTTPCalls", "StorageSQLite", "StoragePostgreSQL", "LadderWorkers",
            "ServiceConfiguration", "DeviceSimulation", "HTTPMessages", "HTTPServing", "Administration",
            "CommandSupport",
        ]),
    module(
        "SetupCommands",
        [
            "ByteCoding", "KeyCrypto", "POSIXSockets", "CommandLineKit", "FairPlay", "Entitlements", "ContentKeys",
            "ServiceConfiguration", "CommandSupport",
        ]),
    module(
        "PlayerTools",
        [
            "ByteCoding", "KeyCrypto", "EventLoops", "CommandLineKit", "FairPlay", "DeviceSimulation", "PlayerMessages",
            "ContentKeys", "PackagerAPI", "HTTPCalls", "LadderWorkers", "ServiceConfiguration", "Administration",
            "CommandSupport",
        ]),

    // Floor 8
    module(
        "LatchkeyService",
        [
            "ByteCoding", "Telemetry", "KeyCrypto", "POSIXSockets", "EventLoops", "CommandLineKit", "FairPlay",
            "HTTPMessages", "PlayerMessages", "Entitlements", "ContentKeys", "Records", "Licensing", "PackagerAPI",
            "HTTPServing", "HTTPCalls", "StorageSQLite", "StoragePostgreSQL", "LadderWorkers", "ServiceConfiguration",
            "Administration", "RouteKit", "PlayerRoutes", "PackagerRoutes", "AdminRoutes", "Upkeep",
        ]),

    // Floor 9
    program("latchkeyd", ["CommandLineKit", "ServiceConfiguration", "LatchkeyService"]),
    program(
        "latchkey", ["CommandLineKit", "ServiceConfiguration", "SetupCommands", "OperatorCommands", "PlayerTools"]),

    // Tests
    .target(
        name: "TestSupport",
        dependencies: [
            "ByteCoding", "Telemetry", "KeyCrypto", "EventLoops", "FairPlay", "DeviceSimulation", "Entitlements",
            "ContentKeys", "Records", "Licensing",
        ],
        path: "Tests/TestSupport",
        swiftSettings: settings),
    .target(
        name: "StoreConformance", dependencies: ["ByteCoding", "KeyCrypto", "ContentKeys", "Records", "TestSupport"],
        path: "Tests/StoreConformance", swiftSettings: settings),
    .target(
        name: "DatabaseSupport", dependencies: ["KeyCrypto", "TestSupport"], path: "Tests/DatabaseSupport",
        swiftSettings: settings),
    tests(of: "ByteCoding"),
    tests(of: "Telemetry", ["ByteCoding"]),
    tests(of: "KeyCrypto", ["ByteCoding"]),
    tests(of: "POSIXSockets"),
    tests(of: "EventLoops", ["Telemetry", "POSIXSockets"]),
    tests(of: "CommandLineKit"),
    tests(of: "FairPlay", ["ByteCoding", "KeyCrypto", "DeviceSimulation"]),
    tests(of: "DeviceSimulation", ["ByteCoding", "KeyCrypto", "FairPlay"]),
    tests(of: "HTTPMessages"),
    tests(of: "PlayerMessages", ["ByteCoding"]),
    tests(of: "Entitlements", ["ByteCoding", "Telemetry", "KeyCrypto", "POSIXSockets"]),
    tests(of: "ContentKeys", ["ByteCoding", "KeyCrypto"]),
    tests(of: "Records", ["ByteCoding", "KeyCrypto", "ContentKeys", "StoreConformance"]),
    tests(
        of: "Licensing",
        [
            "ByteCoding", "Telemetry", "KeyCrypto", "POSIXSockets", "EventLoops", "FairPlay", "DeviceSimulation",
            "Entitlements", "ContentKeys", "Records", "StoreConformance",
        ]),
    tests(
        of: "HTTPServing",
        ["COpenSSL", "CNghttp2", "KeyCrypto", "POSIXSockets", "EventLoops", "HTTPMessages", "Telemetry"]),
    tests(of: "PackagerAPI", ["ByteCoding", "KeyCrypto", "Entitlements", "ContentKeys"]),
    tests(of: "HTTPCalls", ["POSIXSockets", "EventLoops"]),
    .target(name: "CTestVFS", path: "Tests/CTestVFS", linkerSettings: [.linkedLibrary("sqlite3")]),
    tests(
        of: "StorageSQLite",
        [
            "CSQLite", "CTestVFS", "ByteCoding", "Telemetry", "KeyCrypto", "EventLoops", "ContentKeys", "Records",
            "StoreConformance",
        ]),
    tests(
        of: "StoragePostgreSQL",
        [
            "ByteCoding", "Telemetry", "KeyCrypto", "POSIXSockets", "EventLoops", "ContentKeys", "Records",
            "StoreConformance", "DatabaseSupport",
        ]),
    tests(
        of: "LadderWorkers",
        [
            "ByteCoding", "Telemetry", "KeyCrypto", "POSIXSockets", "EventLoops", "FairPlay", "DeviceSimulation",
            "latchkeyd",
        ]),
    tests(
        of: "ServiceConfiguration",
        [
            "ByteCoding", "Telemetry", "KeyCrypto", "POSIXSockets", "FairPlay", "HTTPMessages", "PlayerMessages",
            "Entitlements", "ContentKeys", "Licensing", "PackagerAPI", "HTTPServing", "HTTPCalls", "StoragePostgreSQL",
        ]),
    tests(
        of: "Administration",
        [
            "ByteCoding", "Telemetry", "KeyCrypto", "FairPlay", "Entitlements", "ContentKeys", "Records", "Licensing",
            "PackagerAPI",
        ]),
    tests(
        of: "OperatorCommands",
        [
            "ByteCoding", "KeyCrypto", "POSIXSockets", "CommandLineKit", "FairPlay", "DeviceSimulation",
            "PlayerMessages", "Entitlements", "ContentKeys", "Records", "StorageSQLite", "PackagerAPI", "HTTPCalls",
            "ServiceConfiguration", "Administration", "CommandSupport", "SetupCommands", "PlayerTools", "latchkey",
        ]),
    tests(
        of: "LatchkeyService",
        [
            "ByteCoding", "Telemetry", "KeyCrypto", "POSIXSockets", "EventLoops", "CommandLineKit", "FairPlay",
            "DeviceSimulation",
            "HTTPMessages", "PlayerMessages", "Entitlements", "ContentKeys", "Records", "Licensing", "PackagerAPI",
            "HTTPServing", "HTTPCalls",
            "StorageSQLite",
            "StoragePostgreSQL", "ServiceConfiguration", "Administration", "RouteKit", "PlayerRoutes",
            "PackagerRoutes", "AdminRoutes", "Upkeep", "DatabaseSupport", "latchkeyd", "latchkey",
        ]),
]

// Benchmarks are targets of this package, because a nested package has no `package` access. They exist only with this
// variable, so that a normal build does not build them. `Scripts/bench` sets it.
if Context.environment["LATCHKEY_BENCHMARKS"] != nil {
    targets.append(
        .executableTarget(
            name: "latchkey-benchmarks",
            dependencies: [
                "COpenSSL", "CSQLite", "CPostgreSQL", "ByteCoding", "Telemetry", "KeyCrypto", "FairPlay",
                "DeviceSimulation",
                "PlayerMessages", "Entitlements", "ContentKeys", "PackagerAPI", "Records",
                "EventLoops", "Licensing", "LadderWorkers", "StorageSQLite", "StoragePostgreSQL", "POSIXSockets",
                "TestSupport", "DatabaseSupport", "latchkeyd",
                "latchkey",
            ],
            path: "Tests/Benchmarks",
            exclude: [
                "callgrind.py", "capacity.py", "capacity_report.py", "count_allocations.c", "count_copies.c",
                "instruction_parts.py", "instruction_report.py", "instruction_self_test.py", "instructions-debug.json",
                "instructions.py", "latency.py", "load_daemon.py", "load_goals.py", "load_report.py",
                "resuming_relay.py", "settlements.py", "standard_load.py", "stranger_cost.py", "wsgi_speke.py",
            ],
            swiftSettings: settings))
}

// The fuzz targets are part of the tests. For libFuzzer they are a module of their own, with a program for each target.
// Only the toolchain's own linker supports the sections of the counters.
let fuzzed: [Target.Dependency] = [
    "ByteCoding", "Telemetry", "KeyCrypto", "POSIXSockets", "FairPlay", "DeviceSimulation", "HTTPMessages",
    "PlayerMessages", "Entitlements", "HTTPServing", "LadderWorkers", "ContentKeys", "PackagerAPI", "TestSupport",
]
if isFuzzing {
    targets += [
        .systemLibrary(name: "CLibFuzzer", path: "Tests/Fuzz/CLibFuzzer"),
        .target(name: "FuzzTargets", dependencies: fuzzed, path: "Tests/Fuzz/Targets", swiftSettings: settings),
        .target(
            name: "FuzzDriver", dependencies: ["CLibFuzzer", "FuzzTargets", "TestSupport"], path: "Tests/Fuzz/Driver",
            swiftSettings: settings),
        .testTarget(
            name: "FuzzTests", dependencies: ["TestSupport"], path: "Tests/Fuzz/Tests", swiftSettings: settings),
    ]
    targets += [
        "fuzz-spc-container", "fuzz-spc-payload", "fuzz-ckc", "fuzz-worker-framing", "fuzz-http1-head",
        "fuzz-http2-session", "fuzz-json", "fuzz-token", "fuzz-player-message", "fuzz-cpix",
        "fuzz-playlist",
    ].map { name in
        .executableTarget(
            name: name, dependencies: ["FuzzDriver", "FuzzTargets"], path: "Tests/Fuzz/Programs/\(name)",
            swiftSettings: settings, linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])])
    }
} else {
    targets.append(
        .testTarget(
            name: "FuzzTests", dependencies: fuzzed, path: "Tests/Fuzz",
            exclude: ["CLibFuzzer", "Dictionaries", "Driver", "Programs", "FailCases", "leaks.supp"],
            sources: ["Targets", "Tests"], swiftSettings: settings))
}

let package = Package(name: "latchkey", targets: targets)

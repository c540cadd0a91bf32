// swift-tools-version: 6.0
import PackageDescription

// A sample of an app's side. `LatchkeyLicenses` needs only Foundation. `LatchkeyPlayback` is for Apple's systems. On
// Linux it is compiled and tested against the declarations in Tests/Declarations. `license-client` is a command-line
// program that asks for licenses. `Example` is code to copy into an app.
var playbackDependencies: [Target.Dependency] = ["LatchkeyLicenses"]
var exampleDependencies: [Target.Dependency] = ["LatchkeyLicenses", "LatchkeyPlayback"]
var linuxTargets: [Target] = []
#if os(Linux)
    playbackDependencies.append("AVFoundation")
    exampleDependencies.append("AVFoundation")
    linuxTargets = [
        .target(name: "AVFoundation", path: "Tests/Declarations", swiftSettings: [.swiftLanguageMode(.v5)]),
        .testTarget(
            name: "LatchkeyPlaybackTests", dependencies: ["LatchkeyPlayback", "Example", "AVFoundation"],
            swiftSettings: [.swiftLanguageMode(.v5)]),
    ]
#endif

let package = Package(
    name: "LatchkeyClient",
    platforms: [.iOS(.v15), .tvOS(.v15), .macOS(.v12)],
    products: [
        .library(name: "LatchkeyLicenses", targets: ["LatchkeyLicenses"]),
        .library(name: "LatchkeyPlayback", targets: ["LatchkeyPlayback"]),
    ],
    targets: [
        .target(name: "LatchkeyLicenses"),
        // AVFoundation passes its requests from queue to queue. Swift 6 mode cannot see that this is safe.
        .target(
            name: "LatchkeyPlayback", dependencies: playbackDependencies, swiftSettings: [.swiftLanguageMode(.v5)]),
        // The code of Documentation/apps/ios.md.
        .target(name: "Example", dependencies: exampleDependencies, swiftSettings: [.swiftLanguageMode(.v5)]),
        .executableTarget(name: "license-client", dependencies: ["LatchkeyLicenses"]),
        .testTarget(name: "LatchkeyLicensesTests", dependencies: ["LatchkeyLicenses"]),
    ] + linuxTargets
)

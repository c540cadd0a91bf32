import ByteCoding
import Foundation
package import KeyCrypto

/// A ladder module for tests, which the C compiler builds from Tests/LadderStandIn when a test first needs it.
///
/// Its name in the temporary folder has the hash of its sources and options. It is therefore built once, and not in
/// each run.
package enum StandInModule {
    /// The parts that a build may lack.
    package enum Variant: String, Sendable, CaseIterable {
        case complete
        /// Built for a version of the interface that does not exist.
        case otherVersion = "-DSTAND_IN_ABI_VERSION=99"
        /// Built without the function that answers calls.
        case withoutAnswer = "-DSTAND_IN_WITHOUT_ANSWER"
    }

    private static let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Returns the path of the library. Throws if there is no C compiler, or if it fails, with its messages.
    package static func build(_ variant: Variant = .complete) throws -> String {
        let headers = repository.appending(path: "Sources/CLadder")
        var options = ["-shared", "-fPIC", "-D_GNU_SOURCE", "-I", headers.path]
        if variant != .complete { options.append(variant.rawValue) }
        return try compile(
            "stand_in_module.c", with: [headers.appending(path: "latchkey_ladder.h")], options, libraries: ["-lcrypto"])
    }

    /// Returns the path of a program that executes `program` with its own arguments, but makes the kernel appear to
    /// have no Landlock.
    package static func buildWithoutLandlock(program: String) throws -> String {
        try compile("without_landlock.c", with: [], ["-DPROGRAM=\"\(program)\""], libraries: [])
    }

    private static func compile(
        _ name: String, with headers: [URL], _ options: [String], libraries: [String]
    ) throws -> String {
        let source = repository.appending(path: "Tests/LadderStandIn/\(name)")
        let contents = try ([source] + headers).reduce(Array(options.joined(separator: " ").utf8)) {
            try $0 + Array(Data(contentsOf: $1))
        }
        let digest = Hexadecimal.encode(try Array(CryptoContext().sha256(contents).prefix(8)))
        let folder = FileManager.default.temporaryDirectory
        let library = folder.appending(path: "latchkey-stand-in-\(digest).so").path
        if FileManager.default.fileExists(atPath: library) { return library }
        // Tests of several processes may build at the same time. Each builds its own file, and the last one remains.
        let draft = folder.appending(path: "latchkey-stand-in-\(UUID().uuidString).so").path
        let arguments = ["cc", "-O2", "-std=gnu11"] + options + ["-o", draft, source.path] + libraries
        let compiler = try ChildProcess(program: "/usr/bin/env", arguments: arguments)
        guard compiler.waitForExit() == 0 else { throw StandInNotBuilt(messages: compiler.messages.text) }
        try moveReplacing(draft, library)
        return library
    }

    private static func moveReplacing(_ source: String, _ target: String) throws {
        // Both texts are valid during the call.
        guard unsafe rename(source, target) == 0 else { throw StandInNotBuilt(messages: "rename: errno \(errno)") }
    }
}

package struct StandInNotBuilt: Error {
    package let messages: String
}

/// The data with which a stand-in module is opened.
package struct StandInOptions: Sendable {
    package enum Ladder: Sendable {
        case applicationSecret([UInt8])
        case fixedDASk([UInt8])
    }

    package var ladder: Ladder
    /// The time that each call computes, and the time that it sleeps, in microseconds.
    package var busyMicroseconds = 0
    package var sleepMicroseconds = 0
    package var usesVideo = false
    /// The fault of every call, and the fault of opening the module.
    package var fault: StandInFault?
    package var openFault: StandInFault?
    /// An existing file, for the probes of files.
    package var file: String?

    package init(_ ladder: Ladder) {
        self.ladder = ladder
    }

    package var data: SharedSecret {
        var lines: [String] =
            switch ladder {
            case .applicationSecret(let bytes): ["ask \(Hexadecimal.encode(bytes))"]
            case .fixedDASk(let bytes): ["dask \(Hexadecimal.encode(bytes))"]
            }
        if busyMicroseconds > 0 { lines.append("busy \(busyMicroseconds)") }
        if sleepMicroseconds > 0 { lines.append("sleep \(sleepMicroseconds)") }
        if usesVideo { lines.append("video 1") }
        if let fault { lines.append("fault \(fault.rawValue)") }
        if let file { lines.append("file \(file)") }
        if let openFault { lines.append("open-fault \(openFault.rawValue)") }
        return SharedSecret(SecretBytes(copying: Array(lines.joined(separator: "\n").utf8)))
    }
}

/// A fault that a stand-in module has instead of answering. It applies to every call, or to calls that name it among
/// their key formats.
///
/// A probe answers with a failure. Its status is the `errno` of the refused operation, or 1,000 plus a number.
package enum StandInFault: UInt64, Sendable, CaseIterable {
    case crash = 1
    case abort, exit, hang, overrunAnswer, overrunHeap, valueTooSmall, valueTooLarge, garbageKeys, garbageAnswer
    case errorStatus, refuse, closeDescriptors, garbageOnStream, forgedFrame, exhaustMemory, exhaustDescriptors, slow
    case burn, burnBehind
    case probeSocket = 32
    case probeSocketPair, probeExec, probeFork, probeThread, probeCreateFile, probeRemoveFile, probeWriteFile
    case probeSignalParent, probeTraceParent, probeReadParent, probeLimitParent, probeEnvironment, probeDescriptors
    case probeDumpable, probePrivileges, probeUser, probeCapabilities, probeCoreLimit, probeDumpableChange, probeRing
    case probeLeftovers, probeMapFile, probeLaterCall, probeOwnByParent, probeReadFile, probeReadFolder, probeThreads
    case probeWatch, probeWatchFolder, probeLease, probeReadNetwork, probeReadMounts, probeReadMaps

    /// The key format that requests the fault.
    package var keyFormat: UInt64 { 0x4641_554C_5400_0000 + rawValue }
}

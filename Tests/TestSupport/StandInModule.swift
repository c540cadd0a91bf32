import ByteCoding
import Foundation
package import KeyCrypto

/// A ladder module of our own, built from Tests/LadderStandIn with the C compiler when a test first asks for it.
///
/// It lies in the temporary folder under the hash of what it was built from, so that it is built once and not once
/// per run.
package enum StandInModule {
    /// What a build may lack.
    package enum Variant: String, Sendable, CaseIterable {
        case complete
        /// For a version of the interface that does not exist.
        case otherVersion = "-DSTAND_IN_ABI_VERSION=99"
        /// Without the function that answers calls.
        case withoutAnswer = "-DSTAND_IN_WITHOUT_ANSWER"
    }

    private static let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The path of the library. Throws when there is no C compiler, or its message when it fails.
    package static func build(_ variant: Variant = .complete) throws -> String {
        let headers = repository.appending(path: "Sources/CLadder")
        var options = ["-shared", "-fPIC", "-D_GNU_SOURCE", "-I", headers.path]
        if variant != .complete { options.append(variant.rawValue) }
        return try compile(
            "stand_in_module.c", with: [headers.appending(path: "latchkey_ladder.h")], options, libraries: ["-lcrypto"])
    }

    /// The path of a program that becomes `program`, with the arguments that it gets, if the kernel seems to have
    /// no Landlock.
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
        // Tests of several processes may build at the same time: each for itself, and the last one stays.
        let draft = folder.appending(path: "latchkey-stand-in-\(UUID().uuidString).so").path
        let arguments = ["cc", "-O2", "-std=gnu11"] + options + ["-o", draft, source.path] + libraries
        let compiler = try ChildProcess(program: "/usr/bin/env", arguments: arguments)
        guard compiler.waitForExit() == 0 else { throw StandInNotBuilt(messages: compiler.messages.text) }
        try moveReplacing(draft, library)
        return library
    }

    private static func moveReplacing(_ source: String, _ target: String) throws {
        // Both texts live during the call.
        guard unsafe rename(source, target) == 0 else { throw StandInNotBuilt(messages: "rename: errno \(errno)") }
    }
}

package struct StandInNotBuilt: Error {
    package let messages: String
}

/// The data that a stand-in module is opened with.
package struct StandInOptions: Sendable {
    package enum Ladder: Sendable {
        case applicationSecret([UInt8])
        case fixedDASk([UInt8])
    }

    package var ladder: Ladder
    /// Microseconds of computing and of sleep per call.
    package var busyMicroseconds = 0
    package var sleepMicroseconds = 0
    package var usesVideo = false
    /// What every call does, and what opening does.
    package var fault: StandInFault?
    package var openFault: StandInFault?
    /// A file that is there, for the probes of files.
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

/// What a stand-in module does instead of answering, in every call or in one that names it among its key formats.
///
/// A probe answers with a failure whose status says what it found: the `errno` of what must be refused, or 1,000 and
/// a number.
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

    /// The key format that asks for the fault.
    package var keyFormat: UInt64 { 0x4641_554C_5400_0000 + rawValue }
}

import Foundation
import KeyCrypto
import TestSupport
import Testing

@testable import ServiceConfiguration

/// `crypto.accelerator`, and the files of the library that it names.
@Suite struct AcceleratorConfigurationTests {
    private static let start: [UInt8] = [0x7F, 0x45, 0x4C, 0x46]
    private let folder: ConfigurationFolder

    init() throws {
        folder = try ConfigurationFolder()
    }

    private func text(_ value: String) -> String {
        ConfigurationText.make(rest: "crypto: { accelerator: \"\(value)\" },")
    }

    private func faults(_ value: String) -> [String: ConfigurationFault] {
        Dictionary(folder.problems(text(value)).map { ($0.path, $0.fault) }) { $1 }
    }

    @Test func isOffByDefault() throws {
        let loaded = try folder.load(ConfigurationText.make())
        #expect(loaded.configuration.crypto.accelerator == .off)
        #expect(loaded.acceleratorPath == nil)
        #expect(try folder.load(text("off")).acceleratorPath == nil)
    }

    @Test func findsALibraryBesideTheConfiguration() throws {
        try folder.write("libcrypto_mb.so", Self.start, mode: 0o755)
        let path = folder.path + "/libcrypto_mb.so"
        for value in ["./libcrypto_mb.so", path] {
            let loaded = try folder.load(text(value))
            #expect(loaded.acceleratorPath.map { URL(filePath: $0).standardizedFileURL.path } == path)
        }
    }

    /// Without the library OpenSSL serves, so this is no fault.
    @Test(.enabled(if: !FileManager.default.fileExists(atPath: Configuration.Accelerator.standardPath)))
    func autoNeedsNoLibrary() throws {
        let loaded = try folder.load(text("auto"))
        #expect(loaded.configuration.crypto.accelerator == .automatic)
        #expect(loaded.acceleratorPath == Configuration.Accelerator.standardPath)
    }

    @Test func refusesFilesThatAreNoLibraryOrThatOthersCanChange() throws {
        let path = folder.path + "/libcrypto_mb.so"
        #expect(faults(path) == ["crypto.accelerator": .file(.notFound(path: path))])
        try folder.write("libcrypto_mb.so", Array("#!/bin/sh\n".utf8), mode: 0o755)
        #expect(faults(path) == ["crypto.accelerator": .notALibrary])
        for mode in [0o775, 0o757] as [UInt32] {
            try folder.write("libcrypto_mb.so", Self.start, mode: Int(mode))
            #expect(faults(path) == ["crypto.accelerator": .file(.writableByOthers(path: path, mode: mode))])
        }
    }

    /// The libraries that it loads from its folder are code in the daemon too.
    @Test(arguments: CryptoAccelerator.companions)
    func refusesCompanionsThatOthersCanChange(name: String) throws {
        try folder.write("libcrypto_mb.so", Self.start, mode: 0o755)
        let path = folder.path + "/libcrypto_mb.so"
        try folder.write(name, Self.start, mode: 0o755)
        #expect(faults(path) == [:])
        try folder.write(name, Self.start, mode: 0o777)
        #expect(
            faults(path) == [
                "crypto.accelerator": .file(.writableByOthers(path: "\(folder.path)/\(name)", mode: 0o777))
            ])
    }

    @Test func aChangeNeedsARestart() throws {
        try folder.write("libcrypto_mb.so", Self.start, mode: 0o755)
        let path = folder.path + "/libcrypto_mb.so"
        let (off, on) = (try folder.load(text("off")), try folder.load(text(path)))
        #expect(off.fieldsThatNeedRestart(toBecome: on) == ["crypto.accelerator"])
        try folder.write("libcrypto_mb.so", Self.start + [0], mode: 0o755)
        #expect(on.fieldsThatNeedRestart(toBecome: try folder.load(text(path))) == ["crypto.accelerator"])
    }
}

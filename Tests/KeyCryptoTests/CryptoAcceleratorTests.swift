import Foundation
import TestSupport
import Testing

@testable import KeyCrypto

/// Loading, testing and giving up a library that runs operations side by side.
@Suite(.tags(.startsProcesses)) struct CryptoAcceleratorTests {
    @Test func takesALibraryThatComputesLikeOpenSSL() throws {
        let standIn = try StandInAccelerator()
        let accelerator = try CryptoAccelerator(path: standIn.path) { _ in }
        #expect(accelerator.isServing)
        #expect(accelerator.version == "99.0.1")
        #expect(accelerator.path == standIn.path)
        let timed = [Int](repeating: 8, count: 5)
        #expect(
            standIn.takeLaneCounts() == [8, 3, 1] + timed + [8, 3, 1] + timed,
            "full and partial batches of both sizes, and then full ones to time them")
        // The stand-in computes one lane after another.
        #expect(accelerator.breakEven.jobs1024 > 1)
        #expect(accelerator.breakEven.jobs2048 > 1)
    }

    @Test func findsTheBreakEvenOfTimes() {
        func jobs(_ batch: Int, _ job: Int) -> Int {
            AcceleratorBreakEven.jobs(inTimeOf: .microseconds(batch), each: .microseconds(job))
        }
        #expect(jobs(80, 60) == 1)
        #expect(jobs(530, 205) == 2)
        #expect(jobs(1230, 245) == 5)
        #expect(jobs(10, 60) == 1, "a single job never waits for a batch")
        #expect(jobs(6000, 60) == 7, "a full batch always goes to the accelerator")
        #expect(jobs(0, 60) == 1)
        #expect(jobs(60, 0) == 1)
    }

    @Test(arguments: [StandInAccelerator.Variant.wrongLane, .wrongHalf, .failedLane])
    func refusesALibraryThatComputesWrongly(variant: StandInAccelerator.Variant) throws {
        let standIn = try StandInAccelerator(variant)
        #expect(throws: AcceleratorRefusal.selfTestFailed(.rsa(bits: 1024))) {
            try CryptoAccelerator(path: standIn.path) { _ in }
        }
    }

    @Test(arguments: [StandInAccelerator.Variant.refusedSignature, .acceptedSignatures])
    func refusesALibraryThatChecksSignaturesWrongly(variant: StandInAccelerator.Variant) throws {
        let standIn = try StandInAccelerator(variant)
        #expect(throws: AcceleratorRefusal.selfTestFailed(.es256)) {
            try CryptoAccelerator(path: standIn.path) { _ in }
        }
    }

    @Test func refusesALibraryThatCannotRunHere() throws {
        let standIn = try StandInAccelerator(.unsuited)
        #expect(throws: AcceleratorRefusal.processorUnsuited) { try CryptoAccelerator(path: standIn.path) { _ in } }
        #expect(standIn.takeLaneCounts() == [], "nothing was computed")
    }

    @Test func refusesALibraryWithoutAFunction() throws {
        let standIn = try StandInAccelerator(.withoutFunction)
        #expect(throws: AcceleratorRefusal.symbolMissing("mbx_RSA2K_pub65537_Method")) {
            try CryptoAccelerator(path: standIn.path) { _ in }
        }
    }

    @Test func refusesWhatIsNoLibrary() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/libcrypto_mb.so"
        #expect(throws: AcceleratorRefusal.notInstalled(path: path)) { try CryptoAccelerator(path: path) { _ in } }
        try Data("no library".utf8).write(to: URL(filePath: path))
        let refusal = #expect(throws: AcceleratorRefusal.self) { try CryptoAccelerator(path: path) { _ in } }
        guard case .notLoadable(let text) = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        #expect(text.contains(path))
    }

    /// Intel's own library, if it is installed. On a processor that cannot run it, it must say so.
    @Test(.enabled(if: installedPath != nil, "no crypto_mb is installed; Scripts/install-accelerator installs it"))
    func takesTheInstalledLibrary() throws {
        let path = try #require(Self.installedPath)
        do {
            let accelerator = try CryptoAccelerator(path: path) { _ in }
            let unwrapper = AcceleratedRSAUnwrapper(accelerator, counting: RSAOperationCount())
            let jobs = try UnwrapTrials.jobs(8, bits: 1024) + UnwrapTrials.jobs(8, bits: 2048)
            unwrapper.unwrap(jobs)
            #expect(UnwrapTrials.unsettled(Array(jobs.prefix(8))) + UnwrapTrials.unsettled(Array(jobs.suffix(8))) == [])
            #expect(accelerator.wrongResultCount == 0)
        } catch let error as AcceleratorRefusal {
            // This processor cannot run it, and then only this reason is right.
            #expect(error == .processorUnsuited)
        }
    }

    private static var installedPath: String? {
        let named = ProcessInfo.processInfo.environment["LATCHKEY_ACCELERATOR"]
        return [named, "/usr/local/lib/latchkey/libcrypto_mb.so"].compactMap(\.self)
            .first { FileManager.default.fileExists(atPath: $0) }
    }
}

import Foundation
import TestSupport
import Testing

/// The fuzz targets without libFuzzer: saved failures, and mutations of the seeds by a seeded generator.
@Suite struct FuzzTargetTests {
    private static let mutationCount = TestLength.inputs(short: 600, long: 3000)

    @Test(arguments: FuzzTargetKind.allCases)
    func keepsItsPropertiesForSavedFailures(kind: FuzzTargetKind) throws {
        let target = try kind.makeTarget()
        for file in try FailCases.files(of: kind) {
            do {
                _ = try target.check(FailCases.bytes(of: file))
            } catch {
                Issue.record("\(file.lastPathComponent): \(error)")
            }
        }
    }

    /// Every saved failure must belong to a target, because otherwise it would not be replayed.
    @Test func knowsTheTargetOfEverySavedFailure() throws {
        let names = Set(FuzzTargetKind.allCases.map(\.name))
        #expect(try names.isSuperset(of: FailCases.folders()))
    }

    @Test(arguments: FuzzTargetKind.allCases)
    func acceptsSeeds(kind: FuzzTargetKind) throws {
        let target = try kind.makeTarget()
        var acceptedCount = 0
        for seed in try target.seeds() where try target.check(seed) == .accepted { acceptedCount += 1 }
        #expect(acceptedCount > 0)
    }

    /// Mutates a seed repeatedly until it is refused, then continues with a random seed.
    @Test(arguments: FuzzTargetKind.allCases)
    func keepsItsPropertiesUnderMutation(kind: FuzzTargetKind) throws {
        let target = try kind.makeTarget()
        let seeds = try target.seeds()
        var generator = SeededGenerator.announced("mutations of \(kind.name)")
        var counts: [Verdict: Int] = [:]
        var input = seeds[0]
        for _ in 0..<Self.mutationCount {
            let mutated = target.mutate(input, using: &generator)
            do {
                let verdict = try target.check(mutated)
                counts[verdict, default: 0] += 1
                input = verdict == .accepted ? mutated : seeds.randomElement(using: &generator) ?? []
            } catch {
                Issue.record("\(error), for \(Data(mutated).base64EncodedString())")
                return
            }
        }
        let acceptedCount = try #require(counts[.accepted])
        #expect(acceptedCount > Self.mutationCount / 20, "the changes reach the code after the first checks")
        #expect(counts[.refused] != nil)
    }
}

/// The files of `Tests/Fuzz/FailCases`: each target has a folder with inputs that once broke a property.
private enum FailCases {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "FailCases")

    static func folders() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0 != "README.md" }
    }

    static func files(of kind: FuzzTargetKind) throws -> [URL] {
        guard try folders().contains(kind.name) else { return [] }
        return try FileManager.default.contentsOfDirectory(
            at: folder.appending(path: kind.name), includingPropertiesForKeys: nil)
    }

    static func bytes(of file: URL) throws -> [UInt8] {
        Array(try Data(contentsOf: file))
    }
}

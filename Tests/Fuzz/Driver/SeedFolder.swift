import Foundation

/// A folder of inputs to start from.
enum SeedFolder {
    /// Writes each seed to a file of its own.
    static func write(_ seeds: [[UInt8]], to path: String) throws {
        let folder = URL(filePath: path)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (index, seed) in seeds.enumerated() {
            try Data(seed).write(to: folder.appending(path: "seed-\(index)"))
        }
    }
}

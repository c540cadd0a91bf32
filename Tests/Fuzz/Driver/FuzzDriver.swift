import CLibFuzzer
import Foundation
package import FuzzTargets
import Glibc
import TestSupport

/// Connects a target to libFuzzer, which calls C functions on one thread.
package enum FuzzDriver {
    // libFuzzer's functions have no context argument. One thread sets this before libFuzzer starts, and the same thread
    // reads it.
    private nonisolated(unsafe) static var running: Running?

    private struct Running {
        let target: any FuzzTarget
        var counts: (accepted: Int, refused: Int) = (0, 0)
    }

    /// Runs a target with the command line's options, which are libFuzzer's. `--seeds FOLDER` writes the target's seeds
    /// and ends.
    package static func run(_ kind: FuzzTargetKind) -> Never {
        do {
            let target = try lasting { try kind.makeTarget() }
            let arguments = CommandLine.arguments
            if arguments.count == 3, arguments[1] == "--seeds" {
                try SeedFolder.write(target.seeds(), to: arguments[2])
                exit(0)
            }
            unsafe running = Running(target: target)
        } catch {
            print("\(kind.name): \(error)")
            exit(2)
        }
        atexit { FuzzDriver.printCounts() }
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe CommandLine.unsafeArgv
        // Safe: the arguments stay valid as long as the process.
        exit(unsafe LLVMFuzzerRunDriver(&count, &arguments, { unsafe FuzzDriver.check($0, $1) }))
    }

    /// Makes a value that exists until the process ends.
    ///
    /// The leak checker would report parts of it as leaks. In an enum of classes, such as the one in `VerificationKey`,
    /// Swift stores the case in unused bits of the pointer. The checker does not recognise such a value as a pointer.
    /// It reports keys of the second and later cases, whose bits are not zero, but not of the first.
    private static func lasting<Value>(_ make: () throws -> Value) rethrows -> Value {
        __lsan_disable()
        defer { __lsan_enable() }
        return try make()
    }

    /// Runs one input of libFuzzer. Ends the process if a property does not hold.
    private static func check(_ start: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
        // Safe: libFuzzer's buffer has `size` bytes during this call.
        let input = unsafe [UInt8](UnsafeBufferPointer(start: start, count: size))
        do {
            switch try unsafe running?.target.check(input) {
            case .accepted: unsafe running?.counts.accepted += 1
            case .refused, .none: unsafe running?.counts.refused += 1
            }
            return 0
        } catch {
            // Standard output could be lost when the process ends.
            FileHandle.standardError.write(Data("A property does not hold: \(error)\n".utf8))
            abort()
        }
    }

    private static func printCounts() {
        guard let counts = unsafe running?.counts else { return }
        print("accepted \(counts.accepted), refused \(counts.refused)")
    }

    /// Changes an input in place by the target's own mutation or by libFuzzer's. This is the body of
    /// `LLVMFuzzerCustomMutator`.
    package static func mutate(
        _ bytes: UnsafeMutablePointer<UInt8>?, size: Int, maximum: Int, seed: UInt32
    ) -> Int {
        var generator = SeededGenerator(seed: UInt64(seed))
        guard let bytes = unsafe bytes, let target = unsafe running?.target,
            Int.random(in: 0..<4, using: &generator) > 0
        else {
            return unsafe LLVMFuzzerMutate(bytes, size, maximum)
        }
        // Safe: libFuzzer's buffer has `maximum` bytes, of which `size` are set.
        let input = unsafe [UInt8](UnsafeBufferPointer(start: bytes, count: size))
        let output = target.mutate(input, using: &generator).prefix(maximum)
        _ = unsafe UnsafeMutableBufferPointer(start: bytes, count: maximum).update(fromContentsOf: output)
        return output.count
    }
}

/// A folder of inputs to start from.
enum SeedFolder {
    /// Writes each seed to its own file.
    static func write(_ seeds: [[UInt8]], to path: String) throws {
        let folder = URL(filePath: path)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (index, seed) in seeds.enumerated() {
            try Data(seed).write(to: folder.appending(path: "seed-\(index)"))
        }
    }
}

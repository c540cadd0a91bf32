package import CommandLineKit
import Foundation
import ServiceConfiguration

/// The daemon beside this program, which commands start as the worker of a library.
package enum DaemonProgram {
    /// Returns its path. Throws if it is not installed.
    package static func path() throws(CommandError) -> String {
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let path = FilePath.resolve("latchkeyd", relativeTo: FilePath.directory(of: own))
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw .failed("there is no program \(path), which runs the library: install both programs together")
        }
        return path
    }
}

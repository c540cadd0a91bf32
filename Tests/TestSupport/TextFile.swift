import Foundation

/// Reads files that no test made.
package enum TextFile {
    package static func read(_ path: String) throws -> String {
        try String(contentsOfFile: path, encoding: .utf8)
    }
}

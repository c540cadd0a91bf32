import Foundation
import Synchronization

/// Keeps what programs wrote during the tests, and the secrets of the tests, in the folder that `LATCHKEY_TEST_KEEP`
/// names. `Scripts/test` sets it, and searches the folder at the end (`Tests/Interop/secret_watch.py`). Without
/// the variable nothing is kept.
enum KeptForSearch {
    private static let folder = ProcessInfo.processInfo.environment["LATCHKEY_TEST_KEEP"]
    private static let count = Mutex(0)

    /// Keeps the bytes that a program has written, if there are any.
    static func keep(written bytes: [UInt8]) {
        guard !bytes.isEmpty, let path = newPath("written") else { return }
        try? Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    /// Keeps the secrets of a set-up, as the files in which they are.
    static func keep(secretsOf setup: TemporaryDirectory) {
        guard let path = newPath("setup") else { return }
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        for name in ["secrets", "fairplay"] {
            try? FileManager.default.copyItem(atPath: setup.path(name), toPath: "\(path)/\(name)")
        }
    }

    /// Keeps secrets that are in no file of a set-up: `kind` is "key" for hexadecimal text, and "token".
    static func keep(_ secrets: [String], kind: String) {
        guard !secrets.isEmpty, let path = newPath(kind) else { return }
        try? Data(secrets.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: path))
    }

    /// A path that no other call and no other process returns; nil if nothing is kept.
    private static func newPath(_ kind: String) -> String? {
        guard let folder else { return nil }
        let number = count.withLock { count in
            count += 1
            return count
        }
        return "\(folder)/\(ProcessInfo.processInfo.processIdentifier)-\(number).\(kind)"
    }
}

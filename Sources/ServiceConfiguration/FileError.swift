import CommandLineKit

/// Why a file that the configuration names is not used; never a part of its contents.
package enum FileError: Error, Equatable, Sendable {
    /// There is no file of this path, or a folder on the way is missing.
    case notFound(path: String)
    /// The process may not read it.
    case forbidden(path: String)
    /// It is a folder, a device, a pipe or a socket.
    case notARegularFile(path: String)
    /// Others than its owner and its group may use it; the mode is the octal one that `chmod` takes.
    case permissionsTooWide(path: String, mode: UInt32)
    /// Others than its owner may write to it, and it is to be run.
    case writableByOthers(path: String, mode: UInt32)
    /// It is empty.
    case empty(path: String)
    /// It has more bytes than `maximum`.
    case tooLarge(path: String, maximum: Int)
    /// Any other failure of the system, by its number.
    case failed(path: String, errno: Int32)
    /// The source is `credential:NAME`, and systemd passed no credentials to this process.
    case credentialsDirectoryMissing(name: String)
    /// The source is `environment:VARIABLE`, and the variable is not set.
    case variableMissing(name: String)
    /// The variable does not hold an absolute path.
    case variableNotAPath(name: String)
}

extension FileError: CustomStringConvertible {
    /// What is wrong and what to do about it, in one line.
    package var description: String {
        switch self {
        case .notFound(let path): "there is no file \(path)"
        case .forbidden(let path): "no permission to read \(path); it must belong to the daemon's user or group"
        case .notARegularFile(let path): "\(path) is not a regular file"
        case .permissionsTooWide(let path, let mode):
            "\(path) has permissions 0\(String(mode, radix: 8)), which are wider than 0640; run: chmod 0640 \(Shell.quote(path))"
        case .writableByOthers(let path, let mode):
            "\(path) has permissions 0\(String(mode, radix: 8)), so that others could put code of theirs into it; run:"
                + " chmod go-w \(Shell.quote(path))"
        case .empty(let path): "\(path) is empty"
        case .tooLarge(let path, let maximum): "\(path) has more than \(maximum) bytes"
        case .failed(let path, let errno): "cannot read \(path) (errno \(errno))"
        case .credentialsDirectoryMissing(let name):
            "credential:\(name) needs CREDENTIALS_DIRECTORY, which systemd sets for LoadCredential=\(name):PATH"
        case .variableMissing(let name): "the environment variable \(name) is not set"
        case .variableNotAPath(let name): "the environment variable \(name) must hold an absolute path"
        }
    }
}

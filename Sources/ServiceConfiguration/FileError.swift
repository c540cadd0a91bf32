import CommandLineKit

/// Why a file that the configuration names is not used. It never contains a part of the file's contents.
package enum FileError: Error, Equatable, Sendable {
    /// The file does not exist, or a folder on its path is missing.
    case notFound(path: String)
    /// The process may not read the file.
    case forbidden(path: String)
    /// The path names a folder, a device, a pipe or a socket.
    case notARegularFile(path: String)
    /// The file's permissions are wider than 0640. `mode` has the bits that `chmod` sets.
    case permissionsTooWide(path: String, mode: UInt32)
    /// The file is to be executed, but others than its owner may write to it.
    case writableByOthers(path: String, mode: UInt32)
    /// The file is empty.
    case empty(path: String)
    /// The file has more than `maximum` bytes.
    case tooLarge(path: String, maximum: Int)
    /// Another error of the system, by its number.
    case failed(path: String, errno: Int32)
    /// The source is `credential:NAME`, but systemd has passed no credentials to this process.
    case credentialsDirectoryMissing(name: String)
    /// The credential is a single hyphen, which the unit sets if the file of its `LoadCredential=` is not there.
    case credentialNotLoaded(name: String)
    /// The source is `environment:VARIABLE`, but the variable is not set.
    case variableMissing(name: String)
    /// The value of the variable is not an absolute path.
    case variableNotAPath(name: String)
}

extension FileError: CustomStringConvertible {
    /// What is wrong and what to do about it, in one line.
    package var description: String {
        switch self {
        case .notFound(let path): "there is no file \(path)"
        case .forbidden(let path):
            "no permission to read \(path); "
                + (FolderAccess.obstacle(to: path, writing: false) ?? "it must belong to the daemon's user or group")
        case .notARegularFile(let path): "\(path) is not a regular file"
        case .permissionsTooWide(let path, let mode):
            "\(path) has permissions 0\(String(mode, radix: 8)), which are wider than 0640; run: chmod 0640 \(Shell.quote(path))"
        case .writableByOthers(let path, let mode):
            "\(path) has permissions 0\(String(mode, radix: 8)), so that others could put their own code into it; run:"
                + " chmod go-w \(Shell.quote(path))"
        case .empty(let path): "\(path) is empty"
        case .tooLarge(let path, let maximum): "\(path) has more than \(maximum) bytes"
        case .failed(let path, let errno): "cannot read \(path) (errno \(errno))"
        case .credentialsDirectoryMissing(let name):
            "credential:\(name) needs CREDENTIALS_DIRECTORY, which systemd sets for LoadCredential=\(name):PATH"
        case .credentialNotLoaded(let name):
            "credential:\(name) is a single hyphen, which latchkey.service sets when the file of LoadCredential=\(name):PATH"
                + " is not there; put the file there, and start the service again"
        case .variableMissing(let name): "the environment variable \(name) is not set"
        case .variableNotAPath(let name): "the environment variable \(name) must hold an absolute path"
        }
    }

    /// The same for a file that a user has named on a command line. That user need not be the daemon's.
    package var commandDescription: String {
        guard case .forbidden(let path) = self else { return description }
        let remedy = FolderAccess.obstacle(to: path, writing: false) ?? "run the command as its owner or as root"
        return "this user may not read \(path); \(remedy)"
    }
}

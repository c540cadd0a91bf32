import Glibc

/// The source of a secret, a key or a certificate. It never contains the secret itself.
package enum SecretSource: Hashable, Sendable {
    /// The file at this path.
    case file(path: String)
    /// The file with this name in the folder that systemd names in `CREDENTIALS_DIRECTORY` (`LoadCredential=`).
    case credential(name: String)
    /// The file whose absolute path is the value of this environment variable.
    case environment(variable: String)

    /// The size of the longest path in bytes, which is Linux's own limit.
    private static let pathSizeMaximum = 4095

    /// Reads a path, `credential:NAME` or `environment:VARIABLE`. A relative path is relative to `directory`.
    ///
    /// Returns nil for an empty path or one with a zero byte, and for a name or a variable that cannot exist. It also
    /// returns nil for a text that looks like a secret, because messages name paths. A file with such a name can be
    /// written as `./NAME`.
    package init?(_ text: String, relativeTo directory: String) {
        if let name = text.suffix(after: "credential:") {
            guard Self.isCredentialName(name) else { return nil }
            self = .credential(name: name)
        } else if let variable = text.suffix(after: "environment:") {
            guard Self.isVariableName(variable) else { return nil }
            self = .environment(variable: variable)
        } else {
            guard Self.isPath(text) else { return nil }
            self = .file(path: FilePath.resolve(text, relativeTo: directory))
        }
    }

    /// The source of a file that the file of this source names. A relative path is relative to the folder of that file.
    ///
    /// The folder of systemd credentials has only files with the names of credentials. Otherwise this returns nil for
    /// the same texts as `init`.
    func neighbor(_ text: String, environment: [String: String]) -> SecretSource? {
        guard Self.isPath(text) else { return nil }
        if text.hasPrefix("/") { return .file(path: text) }
        switch self {
        case .file(let path): return .file(path: FilePath.resolve(text, relativeTo: FilePath.directory(of: path)))
        case .credential: return Self.isCredentialName(text) ? .credential(name: text) : nil
        case .environment(let variable):
            let folder = FilePath.directory(of: environment[variable] ?? "")
            return .file(path: FilePath.resolve(text, relativeTo: folder))
        }
    }

    private static func isPath(_ text: String) -> Bool {
        (1...pathSizeMaximum).contains(text.utf8.count) && !text.utf8.contains(0) && !looksLikeASecret(text)
    }

    /// Whether systemd allows the name: a plain file name, so that it cannot lead out of the folder.
    private static func isCredentialName(_ name: String) -> Bool {
        (1...255).contains(name.utf8.count) && name != "." && name != ".."
            && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ":") }
    }

    /// Whether a text could be a secret: 16 bytes or more in hexadecimal digits, padded Base64, or PEM.
    private static func looksLikeASecret(_ text: String) -> Bool {
        let isHexadecimal = text.utf8.count >= 32 && text.allSatisfy(\.isHexDigit)
        return isHexadecimal || (text.hasSuffix("=") && !text.utf8.contains(UInt8(ascii: ".")))
            || text.hasPrefix("-----")
    }

    private static func isVariableName(_ name: String) -> Bool {
        (1...255).contains(name.utf8.count)
            && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "=") }
    }
}

extension SecretSource: CustomStringConvertible {
    /// The source as the configuration writes it.
    package var description: String {
        switch self {
        case .file(let path): path
        case .credential(let name): "credential:\(name)"
        case .environment(let variable): "environment:\(variable)"
        }
    }
}

/// Operations on paths as texts. They do not access the disk.
package enum FilePath {
    /// The path itself if it is absolute; otherwise the path within `directory`.
    package static func resolve(_ path: String, relativeTo directory: String) -> String {
        if path.hasPrefix("/") || directory.isEmpty || directory == "." { return path }
        return directory.hasSuffix("/") ? directory + path : directory + "/" + path
    }

    /// The absolute path. A relative path is relative to the working directory of this process.
    package static func absolute(_ path: String) -> String {
        if path.hasPrefix("/") { return path }
        var buffer = [CChar](repeating: 0, count: 4096)
        // Safe: the kernel writes at most the given size, terminator included.
        guard unsafe getcwd(&buffer, buffer.count) != nil else { return path }
        let directory = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return resolve(path, relativeTo: String(decoding: directory, as: UTF8.self))
    }

    /// The folder of a file; "." for a plain file name.
    package static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

extension String {
    /// What follows the prefix, or nil if the text does not begin with it.
    func suffix(after prefix: String) -> String? {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }
}

import Glibc
package import KeyCrypto

/// Reads the file that a `SecretSource` names.
package enum SecretFile {
    /// The size limit of a secret, a key or a certificate, in bytes.
    package static let sizeMaximum = 64 << 10

    /// Reads the contents of a secret's file.
    ///
    /// Symbolic links are followed. Only a regular file of 1 to `sizeMaximum` bytes is accepted, with permissions of at
    /// most 0640: the group may not write, others may do nothing, and no user may execute it. `environment` has
    /// `CREDENTIALS_DIRECTORY` and the variables that sources name.
    package static func read(
        _ source: SecretSource, environment: [String: String], sizeMaximum: Int = sizeMaximum
    ) throws(FileError) -> SecretBytes {
        try read(source, environment: environment, sizeMaximum: sizeMaximum, permissions: .ownerAndGroup)
    }

    private static func read(
        _ source: SecretSource, environment: [String: String], sizeMaximum: Int, permissions: FileReading.Permissions
    ) throws(FileError) -> SecretBytes {
        let contents = try FileReading.read(
            source.path(in: environment), sizeMaximum: sizeMaximum, permissions: permissions)
        if case .credential(let name) = source, contents.withWipedArray({ $0 == [UInt8(ascii: "-")] }) {
            throw .credentialNotLoaded(name: name)
        }
        return contents
    }

    /// Reads an HS256 secret: the bytes of the file. If they are visible ASCII followed by white space, the white space
    /// is left out.
    ///
    /// Nothing is decoded, because issuers use the text of a secret as the secret itself.
    package static func readSharedSecret(
        _ source: SecretSource, environment: [String: String]
    ) throws(FileError) -> SecretBytes {
        let contents = try read(source, environment: environment)
        guard let trimmed = contents.withoutTrailingWhiteSpace() else { return contents }
        return trimmed.withWipedArray { $0.allSatisfy { $0 > 0x20 && $0 < 0x7F } } ? trimmed : contents
    }

    /// Reads the contents of a file that is not secret, such as a certificate. Any permissions are accepted.
    package static func readPublic(
        _ source: SecretSource, environment: [String: String]
    ) throws(FileError) -> SecretBytes {
        try read(source, environment: environment, sizeMaximum: sizeMaximum, permissions: .any)
    }
}

extension SecretSource {
    /// The path of the file.
    func path(in environment: [String: String]) throws(FileError) -> String {
        switch self {
        case .file(let path):
            return path
        case .credential(let name):
            guard let directory = environment["CREDENTIALS_DIRECTORY"], directory.hasPrefix("/") else {
                throw .credentialsDirectoryMissing(name: name)
            }
            return FilePath.resolve(name, relativeTo: directory)
        case .environment(let variable):
            guard let path = environment[variable] else { throw .variableMissing(name: variable) }
            guard path.hasPrefix("/"), !path.utf8.contains(0) else { throw .variableNotAPath(name: variable) }
            return path
        }
    }
}

/// Reads whole files into secret memory.
package enum FileReading {
    package enum Permissions {
        case any
        /// At most 0640.
        case ownerAndGroup
        /// Only the owner may write. All other permissions are accepted.
        case ownerWrites

        /// The fault of a mode; nil if the mode is accepted.
        fileprivate func fault(of mode: mode_t, path: String) -> FileError? {
            switch self {
            case .any: nil
            case .ownerAndGroup: mode & ~0o640 == 0 ? nil : .permissionsTooWide(path: path, mode: mode)
            case .ownerWrites: mode & 0o022 == 0 ? nil : .writableByOthers(path: path, mode: mode)
            }
        }
    }

    package static func read(
        _ path: String, sizeMaximum: Int, permissions: Permissions
    ) throws(FileError) -> SecretBytes {
        let descriptor = try open(path, sizeMaximum: sizeMaximum, permissions: permissions)
        defer { _ = Glibc.close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: sizeMaximum + 1)
        defer { buffer.wipe() }
        let count = try fill(&buffer, from: descriptor, path)
        guard count > 0 else { throw .empty(path: path) }
        guard count <= sizeMaximum else { throw .tooLarge(path: path, maximum: sizeMaximum) }
        // Safe: the bytes are copied before the buffer is wiped.
        return unsafe SecretBytes(copying: buffer.span.bytes.extracting(0..<count))
    }

    /// Reads the first bytes of a file of any size, at most `count`.
    static func readStart(_ path: String, count: Int, permissions: Permissions) throws(FileError) -> [UInt8] {
        let descriptor = try open(path, sizeMaximum: .max, permissions: permissions)
        defer { _ = Glibc.close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: count)
        let size = try fill(&buffer, from: descriptor, path)
        return Array(buffer.prefix(size))
    }

    /// Opens a regular file for reading. The caller closes the descriptor.
    private static func open(
        _ path: String, sizeMaximum: Int, permissions: Permissions
    ) throws(FileError) -> Int32 {
        // Safe: Swift passes the path as a C string that is valid during the call. Without O_NONBLOCK, opening a pipe
        // would wait for a writer.
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw failure(of: path) }
        do throws(FileError) {
            try check(descriptor, path, sizeMaximum: sizeMaximum, permissions: permissions)
            return descriptor
        } catch {
            _ = Glibc.close(descriptor)
            throw error
        }
    }

    private static func check(
        _ descriptor: Int32, _ path: String, sizeMaximum: Int, permissions: Permissions
    ) throws(FileError) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw failure(of: path) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notARegularFile(path: path) }
        if let fault = permissions.fault(of: status.st_mode & 0o777, path: path) { throw fault }
        guard status.st_size <= sizeMaximum else { throw .tooLarge(path: path, maximum: sizeMaximum) }
    }

    /// Reads until the file ends or the buffer is full.
    private static func fill(_ buffer: inout [UInt8], from descriptor: Int32, _ path: String) throws(FileError) -> Int {
        var count = 0
        while count < buffer.count {
            let size = buffer.count - count
            let result = unsafe buffer.withUnsafeMutableBytes { bytes in
                // Safe: the buffer has `size` bytes after the first `count`.
                unsafe Glibc.read(descriptor, bytes.baseAddress?.advanced(by: count), size)
            }
            if result > 0 {
                count += result
            } else if result == 0 {
                return count
            } else if errno != EINTR {
                throw failure(of: path)
            }
        }
        return count
    }

    private static func failure(of path: String) -> FileError {
        switch errno {
        case ENOENT, ENOTDIR: .notFound(path: path)
        case EACCES, EPERM: .forbidden(path: path)
        default: .failed(path: path, errno: errno)
        }
    }
}

import ByteCoding
import CommandLineKit
import Foundation
import KeyCrypto
import ServiceConfiguration

/// The folder of a backup: its manifest and its parts, each a file of mode 0600.
///
/// A backup is written into a folder with `.part` in its name, which gets its own name when everything is durable. The
/// manifest is written last. So what has the name of a backup is a whole one, and a part of one has no manifest.
struct BackupFolder {
    let path: String

    func path(of name: String) -> String { path.hasSuffix("/") ? path + name : "\(path)/\(name)" }

    func path(of part: BackupManifest.Part) -> String { path(of: part.rawValue) }

    /// Whether it has what every whole backup has.
    var isBackup: Bool {
        Self.exists(path(of: BackupManifest.fileName)) && Self.exists(path(of: .database))
    }

    /// The names of all entries, sorted. Throws for what is no folder.
    func names() throws(CommandError) -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: path).sorted()
        } catch {
            throw .failed("cannot read the folder \(path); a backup is a folder that latchkey backup create has made")
        }
    }

    /// Makes a new folder of mode 0700, lets `body` fill it, and gives it its name.
    ///
    /// If anything fails, nothing is left. Throws `failed` if the name is taken.
    static func make(
        at path: String, _ body: (BackupFolder) async throws(CommandError) -> Void
    ) async throws(CommandError) {
        guard !exists(path) else { throw .failed("\(path) is there already, and nothing is ever overwritten") }
        let part = BackupFolder(path: "\(path).\(UInt32.random(in: .min ... .max)).part")
        // Unsafe are here and below the paths as C strings alone, which live until their calls return.
        guard unsafe mkdir(part.path, 0o700) == 0 else {
            throw .failed("cannot make the folder \(part.path): \(SystemText.lastError)")
        }
        do throws(CommandError) {
            try await body(part)
            try sync(part.path)
            guard !exists(path), unsafe rename(part.path, path) == 0 else {
                throw .failed("cannot give the backup its name \(path): \(SystemText.lastError)")
            }
        } catch {
            try? FileManager.default.removeItem(atPath: part.path)
            throw error
        }
        try sync(parent(of: path))
    }

    /// The folder that something lies in.
    static func parent(of path: String) -> String {
        // `NSString.deletingLastPathComponent` traps on a name of one letter.
        var name = path
        while name.count > 1, name.hasSuffix("/") { name.removeLast() }
        return FilePath.directory(of: name)
    }

    /// Whether there is anything of this name, of whatever kind.
    static func exists(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0
    }

    /// Makes the names in a folder durable.
    static func sync(_ path: String) throws(CommandError) {
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .failed("cannot open the folder \(path): \(SystemText.lastError)") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .failed("cannot sync the folder \(path): \(SystemText.lastError)") }
    }
}

/// What a file holds, measured without holding it in memory.
struct FileMeasure: Equatable {
    private static let chunkSize = 1 << 20

    let size: Int64
    /// SHA-256 as hexadecimal digits.
    let digest: String

    /// Throws `failed` for what cannot be read. `progress` hears how many bytes are read.
    init(of path: String, progress: (Int64) -> Void = { _ in }) throws(CommandError) {
        // Unsafe is the path as a C string alone, which lives until the call returns.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw .failed("cannot read \(path): \(SystemText.lastError)") }
        defer { close(descriptor) }
        var chunk = [UInt8](repeating: 0, count: Self.chunkSize)
        var size: Int64 = 0
        do throws(CryptoError) {
            let digest = try SHA256Digest()
            while true {
                // The buffer has as many bytes as are asked for.
                let count = unsafe chunk.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { throw .operationFailed("read") }
                if count == 0 { break }
                try digest.update(chunk[..<count])
                size += Int64(count)
                progress(size)
            }
            self.digest = Hexadecimal.encode(try digest.finish())
            self.size = size
        } catch {
            throw .failed("cannot read \(path): \(SystemText.lastError)")
        }
    }
}

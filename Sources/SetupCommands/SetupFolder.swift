import ByteCoding
import CommandLineKit
import CommandSupport
import Foundation

/// Who may read a set-up beside its owner.
struct SetupReaders: Equatable, Sendable {
    /// The number of the group of the daemon's user; nil for a daemon that runs as the owner.
    let group: UInt32?
    let folderMode: mode_t
    let fileMode: mode_t
    let secretMode: mode_t

    /// The owner alone; files that are no secret have the usual mode.
    static let owner = SetupReaders(group: nil, folderMode: 0o700, fileMode: 0o644, secretMode: 0o600)

    /// A group too. It can change nothing.
    static func group(_ number: UInt32) -> SetupReaders {
        SetupReaders(group: number, folderMode: 0o750, fileMode: 0o640, secretMode: 0o640)
    }
}

/// Puts the files of a set-up into an empty folder. It never overwrites a file.
///
/// All files are first written into the folder `.latchkey-init-unfinished` within it. That is then renamed to
/// `.latchkey-init-finished`, and its entries are moved to their places. If a run is interrupted, a second run finds
/// these folders: it deletes the unfinished one, or moves the entries of the finished one. A lock prevents two runs at
/// the same time.
struct SetupFolder {
    private static let unfinished = ".latchkey-init-unfinished"
    private static let finished = ".latchkey-init-finished"

    private let path: String
    private let isNew: Bool
    private let descriptor: Int32
    private let readers: SetupReaders
    private let tolerated: Set<String>

    /// Runs `body` with the folder, which is made if it does not exist. Its parent must exist.
    ///
    /// Throws `failed` if the folder has entries other than those that an interrupted run has left, and `tolerated`.
    static func withFolder<Result>(
        _ path: String, for readers: SetupReaders = .owner, tolerating tolerated: Set<String> = [],
        _ body: (SetupFolder) throws(CommandError) -> Result
    ) throws(CommandError) -> Result {
        let isNew = try make(path)
        // Safe here and below: the C strings of paths are valid until their call returns.
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .failed("cannot open the folder \(path): \(SystemText.lastError)") }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw .failed("another latchkey init is running in \(path)")
        }
        // Closing alone is not enough: a child process that is just being started would keep the lock until it runs its
        // own program.
        defer { flock(descriptor, LOCK_UN) }
        let folder = SetupFolder(
            path: path, isNew: isNew, descriptor: descriptor, readers: readers, tolerated: tolerated)
        do throws(CommandError) {
            try folder.refuseStrangers()
            if isNew { try folder.allow(path, readers.folderMode) }
            return try body(folder)
        } catch {
            if isNew { _ = unsafe rmdir(path) }
            throw error
        }
    }

    /// Whether an interrupted run has written all files, so that only `place` is left to do.
    var isWritten: Bool { entries.contains(Self.finished) }

    /// Writes all files into the unfinished folder, and renames it. If that fails, no file is left.
    func write(_ files: [SetupFile], folders: [String]) throws(CommandError) {
        let staging = within(Self.unfinished)
        try? FileManager.default.removeItem(atPath: staging)
        do throws(CommandError) {
            for folder in [staging] + folders.map({ "\(staging)/\($0)" }) { try makeFolder(folder) }
            for file in files { try write(file, in: staging) }
            try Self.move(staging, to: within(Self.finished))
        } catch {
            try? FileManager.default.removeItem(atPath: staging)
            throw error
        }
    }

    /// Moves the written files to their places. The configuration file comes last, so that its presence shows that the
    /// set-up is complete.
    func place() throws(CommandError) {
        let staging = within(Self.finished)
        let names = Self.entries(of: staging).sorted { left, right in
            (left.hasSuffix(".json5") ? 1 : 0, left) < (right.hasSuffix(".json5") ? 1 : 0, right)
        }
        for name in names {
            guard !entries.contains(name) else { throw occupied(by: name) }
            try Self.move("\(staging)/\(name)", to: within(name))
        }
        guard unsafe rmdir(staging) == 0, fsync(descriptor) == 0 else {
            throw .failed("cannot finish \(path): \(SystemText.lastError)")
        }
    }

    private var entries: Set<String> { Set(Self.entries(of: path)) }

    private func within(_ name: String) -> String { path.hasSuffix("/") ? path + name : "\(path)/\(name)" }

    private func refuseStrangers() throws(CommandError) {
        // A run that was interrupted while moving has left entries in their places. `place` checks each name itself.
        guard !isWritten else { return }
        if let stranger = entries.subtracting(tolerated).sorted().first(where: { $0 != Self.unfinished }) {
            throw occupied(by: stranger)
        }
    }

    private func occupied(by name: String) -> CommandError {
        .failed(
            "\(path) is not empty: it has \(name), and latchkey init never overwrites a file; "
                + "name a new or an empty folder, or remove its files")
    }

    /// Makes the folder. Returns false if it exists already.
    private static func make(_ path: String) throws(CommandError) -> Bool {
        if unsafe mkdir(path, 0o700) == 0 { return true }
        switch errno {
        case EEXIST: return false
        case ENOENT: throw .failed("the parent folder of \(path) does not exist; make it first")
        default: throw .failed("cannot make the folder \(path): \(SystemText.lastError)")
        }
    }

    private func makeFolder(_ path: String) throws(CommandError) {
        guard unsafe mkdir(path, 0o700) == 0 else {
            throw .failed("cannot make the folder \(path): \(SystemText.lastError)")
        }
        try allow(path, readers.folderMode)
    }

    /// A secret never has wider permissions than at the end.
    private func write(_ file: SetupFile, in folder: String) throws(CommandError) {
        let path = "\(folder)/\(file.path)"
        try wrap(CommandError.newFile, try NewFile.write(file.contents, to: path, mode: 0o600))
        try allow(path, file.isSecret ? readers.secretMode : readers.fileMode)
    }

    /// Gives a file or folder to those who may read it.
    private func allow(_ path: String, _ mode: mode_t) throws(CommandError) {
        if let group = readers.group {
            guard unsafe chown(path, uid_t.max, group) == 0 else {
                throw .failed("cannot give \(path) to the group \(group): \(SystemText.lastError)")
            }
        }
        guard unsafe chmod(path, mode) == 0 else {
            throw .failed("cannot set the permissions of \(path): \(SystemText.lastError)")
        }
    }

    private static func move(_ source: String, to target: String) throws(CommandError) {
        guard unsafe rename(source, target) == 0 else {
            throw .failed("cannot write \(target): \(SystemText.lastError)")
        }
    }

    /// The names in a folder. Empty if the folder cannot be read; then opening it has already failed.
    private static func entries(of path: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    }
}

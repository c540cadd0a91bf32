import ContentKeys
import EventLoops
import Glibc
import Telemetry

/// Identifies the database file that was opened.
struct OpenedFile: Sendable {
    private let path: String
    private let identity: FileIdentity?

    init(path: String) {
        self.path = path
        identity = FileIdentity(path: path)
    }

    /// Whether the path still leads to the same file. The check takes a few microseconds.
    var isInPlace: Bool { FileIdentity(path: path) == identity }
}

/// Watches the writer from a thread of its own, because a write may hang in the disk for longer than callers wait.
struct WriterWatch: Sendable {
    /// The pause between two checks of the writer, and the pause between two trial writes while writes fail.
    private static let pause: Duration = .milliseconds(100)
    private static let tryPause: Duration = .seconds(1)

    private let queue: WriteQueue
    private let file: OpenedFile
    private let loops: [LoopContext]

    init(_ queue: WriteQueue, _ file: OpenedFile, loops: [LoopContext]) {
        self.queue = queue
        self.file = file
        self.loops = loops
    }

    /// Returns when the writer has ended.
    func run() {
        var nextTry = queue.now
        while queue.waitForLook(until: queue.now + Self.pause) {
            lookAtFile()
            for (pending, error) in queue.takeLate() { answer(pending, error) }
            guard queue.wantsTry, queue.now >= nextTry else { continue }
            nextTry = queue.now + Self.tryPause
            queue.tryToWrite()
        }
    }

    /// Answers all waiting requests with an error, because the writer does not.
    func giveUp() {
        for pending in queue.takeAll(.hanging) { answer(pending, .unavailable(.hanging)) }
    }

    private func lookAtFile() {
        guard !file.isInPlace else { return queue.fileIsBack() }
        for pending in queue.takeAll(.replaced) { answer(pending, .unavailable(.replaced)) }
    }

    private func answer(_ pending: WriteQueue.Pending, _ error: StoreError) {
        let resume: @Sendable () -> Void = { pending.caller?.resume(returning: .failure(error)) }
        guard let index = pending.loopIndex, loops[index].execute(resume) else { return resume() }
    }
}

/// Identifies the file that a path leads to. Another file of the same name has another identity.
struct FileIdentity: Equatable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    /// Returns nil if the file does not exist or its folder cannot be read.
    init?(path: String) {
        var status = stat()
        // The C string is valid until the call returns.
        guard unsafe stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }
}

import Glibc

/// A pipe whose reading end yields lines, with a time limit for each wait.
final class PipeOfLines {
    private(set) var writingEnd: Int32
    private var readingEnd: Int32
    private var rest: [UInt8] = []

    init(isNonBlocking: Bool = false) {
        var ends: [Int32] = [-1, -1]
        // Safe: the call fills the two elements of the array.
        let status = unsafe pipe(&ends)
        precondition(status == 0, "the system has pipes")
        if isNonBlocking { _ = fcntl(ends[1], F_SETFL, O_NONBLOCK) }
        readingEnd = ends[0]
        writingEnd = ends[1]
    }

    deinit {
        closeReadingEnd()
        close(writingEnd)
    }

    func closeReadingEnd() {
        if readingEnd >= 0 { close(readingEnd) }
        readingEnd = -1
    }

    /// Writes copies of a line of at most `PIPE_BUF` bytes until the pipe is full, and returns their number.
    func fill(with line: [UInt8]) -> Int {
        let flags = fcntl(writingEnd, F_GETFL)
        _ = fcntl(writingEnd, F_SETFL, flags | O_NONBLOCK)
        defer { _ = fcntl(writingEnd, F_SETFL, flags) }
        var count = 0
        // Safe: the pointer is used within the closure only, together with its own count.
        while unsafe line.withUnsafeBytes({ unsafe write(writingEnd, $0.baseAddress, $0.count) }) == line.count {
            count += 1
        }
        return count
    }

    /// The next line without its line feed, or nil if none comes within ten seconds.
    func nextLine() -> String? {
        while true {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                defer { rest.removeSubrange(...end) }
                return String(decoding: rest[..<end], as: UTF8.self)
            }
            guard let more = read() else { return nil }
            rest += more
        }
    }

    private func read() -> ArraySlice<UInt8>? {
        var request = pollfd(fd: readingEnd, events: Int16(POLLIN), revents: 0)
        // Safe: one request, and the pointer is a local variable.
        guard unsafe poll(&request, 1, 10_000) == 1 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 4096)
        // Safe: the pointer is used within the closure only, together with its own count.
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(readingEnd, $0.baseAddress, $0.count) }
        return count > 0 ? bytes.prefix(count) : nil
    }
}

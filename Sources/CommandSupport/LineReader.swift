package import CommandLineKit
import Foundation
import KeyCrypto

/// Reads a text of any size line by line. It wipes its buffers, because lines may have keys.
package struct LineReader: ~Copyable {
    /// The size of the longest line, in bytes.
    private let lineSizeMaximum: Int
    private let name: String
    private let input: FileHandle
    private var buffer: [UInt8] = []
    /// The index in the buffer at which the next line begins.
    private var start = 0
    private var isAtEnd = false
    /// The number of the line that was returned last, from 1.
    package private(set) var number = 0
    /// The size of the file in bytes; nil if it is not known.
    private let size: Int?
    private var readSize = 0

    /// The part of the file that has been read, from 0 to 1; nil if its size is not known.
    package var share: Double? { size.map { Double(min(readSize, $0)) / Double(max($0, 1)) } }

    /// The file at a path, or standard input for "-".
    package init(_ path: String, lineSizeMaximum: Int = 64 << 10, _ context: CommandContext) throws(CommandError) {
        self.lineSizeMaximum = lineSizeMaximum
        name = path == "-" ? "standard input" : path
        if path == "-" {
            input = context.inputHandle
            size = nil
        } else {
            guard let file = FileHandle(forReadingAtPath: path) else {
                throw .failed("cannot open \(path): \(SystemText.lastError)")
            }
            input = file
            var status = stat()
            // Safe: the file stays open during the call, which gets no pointer but the one to `status`.
            size = unsafe fstat(file.fileDescriptor, &status) == 0 ? Int(status.st_size) : nil
        }
    }

    deinit {
        var rest = buffer
        rest.wipe()
    }

    /// The next line without its end (LF or CR LF); nil after the last one. The caller wipes it if it is secret.
    package mutating func next() throws(CommandError) -> [UInt8]? {
        while true {
            if let end = buffer[start...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { start = end + 1 }
                return line(start..<end)
            }
            guard !isAtEnd else {
                guard start < buffer.count else { return nil }
                defer { start = buffer.count }
                return line(start..<buffer.count)
            }
            guard buffer.count - start <= lineSizeMaximum else {
                throw .failed("\(name): line \(number + 1) has more than \(lineSizeMaximum) bytes")
            }
            try fill()
        }
    }

    private mutating func line(_ range: Range<Int>) -> [UInt8] {
        number += 1
        let line = buffer[range]
        return Array(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
    }

    private mutating func fill() throws(CommandError) {
        let part: Data?
        do {
            part = try input.read(upToCount: 1 << 16)
        } catch {
            throw .failed("cannot read \(name)")
        }
        guard let part, !part.isEmpty else {
            isAtEnd = true
            return
        }
        readSize += part.count
        var next = Array(buffer[start...])
        next.reserveCapacity(next.count + part.count)
        next.append(contentsOf: part)
        buffer.wipe()
        buffer = next
        start = 0
    }
}

import Glibc
import TestSupport
import Testing

@testable import POSIXSockets

/// A program's error output, read by the process that has started the program.
@Suite struct ErrorOutputTests {
    /// Runs a script of the shell until it ends.
    private func output(of script: String) throws -> [UInt8] {
        let output = try ErrorOutput()
        var program = try SpawnedProgram(
            path: "/bin/sh", arguments: ["sh", "-c", script], environment: [], errorOutput: output)
        var event = pollfd(fd: program.processNumber, events: Int16(POLLIN), revents: 0)
        // Safe: one structure, which stays valid during the call.
        #expect(unsafe poll(&event, 1, 30_000) == 1)
        #expect(program.reap() == .exited(status: 0))
        let taken = output.take()
        #expect(output.take().isEmpty)
        return taken
    }

    @Test func isWhatTheProgramWrites() throws {
        #expect(try output(of: "echo lost; echo kept >&2") == Array("kept\n".utf8))
    }

    /// The descriptor of the pipe itself does not reach the program, and neither does its other end.
    @Test func isTheOnlyDescriptorOfThePipe() throws {
        let listed = String(decoding: try output(of: "ls /proc/self/fd >&2"), as: UTF8.self)
        // The list has the folder itself too.
        #expect(listed.split(separator: "\n").count == 6, "\(listed)")
    }

    /// A program that writes more than the pipe holds does not wait for a reader.
    @Test func doesNotHoldUpAProgram() throws {
        let taken = try output(of: "head -c 4000000 /dev/zero >&2 || true")
        #expect((65_536...1 << 20).contains(taken.count), "\(taken.count)")
    }
}

import POSIXSockets
import Testing

/// Sockets without permission need another user: Tests/Interop/test_mistakes.py has them.
@Suite struct UnixSocketAccessTests {
    @Test(arguments: ["/nowhere/admin", "/dev/null/admin", "/nowhere"])
    func namesASocketThatIsMissing(path: String) {
        #expect(UnixSocketAccess.obstacle(to: path).hasPrefix("there is no socket \(path)"))
    }

    @Test(arguments: ["/dev/null", "/proc"])
    func namesWhatIsNoSocket(path: String) {
        #expect(UnixSocketAccess.obstacle(to: path) == "\(path) is not a socket")
    }
}

import Glibc
import Testing

@testable import POSIXSockets

/// The tests use the highest descriptor numbers of the process, each test its own.
///
/// The kernel gives out the lowest free numbers. A number that another test uses would be taken away from it.
@Suite struct ActivatedSocketsTests {
    /// The first of eight numbers that no other test uses.
    private func lastNumbers(_ test: Int32) -> Int32 {
        var limit = rlimit()
        // Safe: the pointer is a local variable.
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int32(min(limit.rlim_cur, 1 << 20)) - 8 * (test + 1)
    }

    private func environment(_ count: String, names: String? = nil, pid: String = "77") -> [String: String] {
        var environment = ["LISTEN_PID": pid, "LISTEN_FDS": count]
        environment["LISTEN_FDNAMES"] = names
        return environment
    }

    @Test func takesSocketsByName() throws {
        let first = try ListeningSocket(exclusivelyOn: .internet(.v4(0x7f00_0001), port: 0))
        let second = try ListeningSocket(exclusivelyOn: .internet(.v4(0x7f00_0001), port: 0))
        let firstNumber = lastNumbers(0)
        try #require(fcntl(firstNumber, F_GETFD) == -1, "the number is free")
        dup2(first.number, firstNumber)
        dup2(second.number, firstNumber + 1)
        let expected = second.address
        let sockets = ActivatedSockets(
            environment: environment("2", names: "public:admin"), processID: 77, firstNumber: firstNumber)
        #expect(sockets.names == ["public", "admin"])
        #expect(fcntl(firstNumber, F_GETFD) == FD_CLOEXEC)
        do {
            let taken = try sockets.take("admin")
            switch taken {
            case .some(let taken):
                let (address, isShared, number) = (taken.address, taken.isShared, taken.number)
                #expect(address == expected)
                #expect(isShared)
                #expect(fcntl(number, F_GETFL) & O_NONBLOCK != 0)
                let sibling = try taken.sibling()
                let (siblingAddress, siblingNumber) = (sibling.address, sibling.number)
                #expect(siblingNumber != number)
                #expect(siblingAddress == expected)
            case nil: Issue.record("there is no such socket")
            }
        }
        #expect(fcntl(firstNumber + 1, F_GETFD) == -1)
        #expect(sockets.names == ["public"])
        let none = try sockets.take("admin") == nil
        #expect(none)
    }

    @Test func refusesWhatDoesNotListen() throws {
        let datagrams = try Descriptor(openingSocketOf: AF_INET, Int32(SOCK_DGRAM.rawValue))
        let number = lastNumbers(1)
        dup2(datagrams.number, number)
        let sockets = ActivatedSockets(environment: environment("1"), processID: 77, firstNumber: number)
        #expect(sockets.names == ["unknown"])
        #expect(throws: SocketError.self) { _ = try sockets.take("unknown") }
    }

    @Test(arguments: [
        ["LISTEN_PID": "78", "LISTEN_FDS": "1"], ["LISTEN_FDS": "1"], ["LISTEN_PID": "77"],
        ["LISTEN_PID": "77", "LISTEN_FDS": "0"], ["LISTEN_PID": "77", "LISTEN_FDS": "-1"],
        ["LISTEN_PID": "77", "LISTEN_FDS": "65"], ["LISTEN_PID": "77", "LISTEN_FDS": "x"],
        ["LISTEN_PID": "77", "LISTEN_FDS": "1", "LISTEN_FDNAMES": "a:b"], [:],
    ])
    func takesNothingThatIsNotForIt(environment: [String: String]) {
        let sockets = ActivatedSockets(environment: environment, processID: 77, firstNumber: lastNumbers(2))
        #expect(sockets.names.isEmpty)
    }
}

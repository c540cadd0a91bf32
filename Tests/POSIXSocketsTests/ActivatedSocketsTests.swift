import Glibc
import Testing

@testable import POSIXSockets

/// The descriptors are numbers far above those that the process uses, each test its own.
@Suite struct ActivatedSocketsTests {
    private func environment(_ count: String, names: String? = nil, pid: String = "77") -> [String: String] {
        var environment = ["LISTEN_PID": pid, "LISTEN_FDS": count]
        environment["LISTEN_FDNAMES"] = names
        return environment
    }

    @Test func takesSocketsByName() throws {
        let first = try ListeningSocket(exclusivelyOn: .internet(.v4(0x7f00_0001), port: 0))
        let second = try ListeningSocket(exclusivelyOn: .internet(.v4(0x7f00_0001), port: 0))
        dup2(first.number, 800)
        dup2(second.number, 801)
        let expected = second.address
        let sockets = ActivatedSockets(
            environment: environment("2", names: "public:admin"), processID: 77, firstNumber: 800)
        #expect(sockets.names == ["public", "admin"])
        #expect(fcntl(800, F_GETFD) == FD_CLOEXEC)
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
        #expect(fcntl(801, F_GETFD) == -1)
        #expect(sockets.names == ["public"])
        let none = try sockets.take("admin") == nil
        #expect(none)
    }

    @Test func refusesWhatDoesNotListen() throws {
        let datagrams = try Descriptor(openingSocketOf: AF_INET, Int32(SOCK_DGRAM.rawValue))
        dup2(datagrams.number, 810)
        let sockets = ActivatedSockets(environment: environment("1"), processID: 77, firstNumber: 810)
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
        #expect(ActivatedSockets(environment: environment, processID: 77, firstNumber: 820).names.isEmpty)
    }
}

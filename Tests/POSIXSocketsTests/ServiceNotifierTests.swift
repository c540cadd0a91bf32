import Glibc
import POSIXSockets
import Testing

@Suite struct ServiceNotifierTests {
    @Test(arguments: [false, true])
    func sendsOneDatagramPerMessage(isAbstract: Bool) throws {
        let receiver = try NotifySocket(isAbstract: isAbstract)
        let notifier = try ServiceNotifier(socketName: receiver.name)
        try notifier.ready()
        #expect(receiver.receive() == "READY=1")
        try notifier.stopping()
        #expect(receiver.receive() == "STOPPING=1")
        try notifier.reloading(monotonicMicroseconds: 12)
        #expect(receiver.receive() == "RELOADING=1\nMONOTONIC_USEC=12")
        try notifier.status("two\nlines")
        #expect(receiver.receive() == "STATUS=two lines")
        try notifier.alive()
        #expect(receiver.receive() == "WATCHDOG=1")
    }

    @Test(arguments: [nil, ""])
    func saysNothingWithoutASocket(name: String?) throws {
        try ServiceNotifier(socketName: name).ready()
    }

    @Test func refusesANameThatDoesNotFit() throws {
        #expect(throws: Never.self) { try ServiceNotifier(socketName: "/" + String(repeating: "a", count: 106)) }
        #expect(throws: SocketError.failed(.send, errno: ENAMETOOLONG)) {
            try ServiceNotifier(socketName: "/" + String(repeating: "a", count: 107))
        }
    }

    @Test func failsWhenNobodyReceives() throws {
        let notifier = try ServiceNotifier(socketName: "/nonexistent/notify")
        #expect(throws: SocketError.failed(.send, errno: ENOENT)) { try notifier.ready() }
    }
}

/// The other end of the notification socket, in place of systemd.
private final class NotifySocket {
    let name: String
    private let descriptor: Int32
    private let path: String?

    init(isAbstract: Bool) throws {
        let unique = "latchkey-notify-\(getpid())-\(UInt64.random(in: 0...(.max)))"
        path = isAbstract ? nil : "/tmp/\(unique)"
        name = path ?? "@\(unique)"
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var timeout = timeval(tv_sec: 10, tv_usec: 0)
        // Safe here and below: the kernel gets local variables with their sizes.
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(name.utf8)
        if isAbstract { bytes[0] = 0 }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let length = socklen_t(2 + bytes.count)
        let number = descriptor
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(number, $0, length) }
        }
        try #require(result == 0)
    }

    deinit {
        close(descriptor)
        if let path { unsafe unlink(path) }
    }

    func receive() -> String {
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}

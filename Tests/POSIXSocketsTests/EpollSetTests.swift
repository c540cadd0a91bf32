import POSIXSockets
import Testing

@Suite struct EpollSetTests {
    @Test func givesTheTokenBack() throws {
        var epoll = try EpollSet()
        let one = try WakeCounter()
        let two = try WakeCounter()
        try epoll.add(one.number, .readable, token: 0xffff_ffff_0000_0001)
        try epoll.add(two.number, .readable, token: 2)
        #expect(epoll.wait(milliseconds: 0) == 0)
        one.wake()
        #expect(epoll.wait(milliseconds: 0) == 1)
        #expect(epoll.event(at: 0).token == 0xffff_ffff_0000_0001)
        #expect(epoll.event(at: 0).readiness == .readable)
    }

    @Test func reportsALevelUntilItIsGone() throws {
        var epoll = try EpollSet()
        let counter = try WakeCounter()
        try epoll.add(counter.number, .readable, token: 1)
        counter.wake()
        counter.wake()
        #expect(epoll.wait(milliseconds: 0) == 1)
        #expect(epoll.wait(milliseconds: 0) == 1)
        counter.reset()
        #expect(epoll.wait(milliseconds: 0) == 0)
    }

    @Test func reportsAChangeOnce() throws {
        var epoll = try EpollSet()
        let counter = try WakeCounter()
        try epoll.add(counter.number, [.readable, .onlyChanges], token: 1)
        counter.wake()
        #expect(epoll.wait(milliseconds: 0) == 1)
        #expect(epoll.wait(milliseconds: 0) == 0)
    }

    @Test func modifiesAndRemoves() throws {
        var epoll = try EpollSet()
        let counter = try WakeCounter()
        counter.wake()
        try epoll.add(counter.number, [], token: 1)
        #expect(epoll.wait(milliseconds: 0) == 0)
        try epoll.modify(counter.number, .readable, token: 9)
        #expect(epoll.wait(milliseconds: 0) == 1)
        #expect(epoll.event(at: 0).token == 9)
        epoll.remove(counter.number)
        #expect(epoll.wait(milliseconds: 0) == 0)
    }

    @Test func refusesADescriptorTwice() throws {
        let epoll = try EpollSet()
        let counter = try WakeCounter()
        try epoll.add(counter.number, .readable, token: 1)
        #expect(throws: SocketError.self) { try epoll.add(counter.number, .readable, token: 1) }
    }
}

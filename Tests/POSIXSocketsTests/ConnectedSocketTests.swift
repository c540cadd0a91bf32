import POSIXSockets
import Testing

@Suite struct ConnectedSocketTests {
    @Test func carriesBytesBothWays() throws {
        let listener = try ListeningSocket(exclusivelyOn: ListeningSocketTests.loopback)
        let client = try ConnectedSocket(connectingTo: listener.address)
        let server = try accept(on: listener)
        #expect(server.peer.isLoopback)

        var buffer = [UInt8](repeating: 0, count: 16)
        #expect(server.read(into: &buffer) == .wouldBlock)
        #expect(client.write([1, 2, 3].span) == .written(3))
        #expect(try waitToRead(server, &buffer) == .bytes(3))
        #expect(buffer.prefix(3) == [1, 2, 3])
        #expect(server.write([4, 5].span) == .written(2))
        #expect(try waitToRead(client, &buffer) == .bytes(2))
    }

    @Test func readsTheEndAfterThePeerHasShutDown() throws {
        let listener = try ListeningSocket(exclusivelyOn: ListeningSocketTests.loopback)
        let client = try ConnectedSocket(connectingTo: listener.address)
        let server = try accept(on: listener)
        client.shutDownWriting()
        var buffer = [UInt8](repeating: 0, count: 1)
        #expect(try waitToRead(server, &buffer) == .endOfInput)
        #expect(server.write([1].span) == .written(1))
    }

    @Test func takesOnlyWhatFitsIntoTheKernel() throws {
        let listener = try ListeningSocket(exclusivelyOn: ListeningSocketTests.loopback)
        let client = try ConnectedSocket(connectingTo: listener.address)
        let server = try accept(on: listener)
        let block = [UInt8](repeating: 7, count: 1 << 20)
        var outcomes: [WriteOutcome] = []
        while outcomes.last != .wouldBlock && outcomes.count < 1000 { outcomes.append(server.write(block.span)) }
        #expect(outcomes.last == .wouldBlock)
        let isOpen = client.isOpen
        #expect(isOpen)
    }

    /// Writing to a reset connection gives an outcome, and no signal that ends the process.
    @Test func survivesAPeerThatIsGone() throws {
        let listener = try ListeningSocket(exclusivelyOn: ListeningSocketTests.loopback)
        var client = try ConnectedSocket(connectingTo: listener.address)
        let server = try accept(on: listener)
        client.resetOnClose()
        client.close()
        var buffer = [UInt8](repeating: 0, count: 1)
        guard case .failed = try waitToRead(server, &buffer) else {
            Issue.record("the reset was not seen")
            return
        }
        guard case .failed = server.write([1].span) else {
            Issue.record("a write to a lost connection succeeded")
            return
        }
    }
}

/// Accepts the connection that a test has just made.
func accept(on listener: borrowing ListeningSocket) throws -> ConnectedSocket {
    var epoll = try EpollSet()
    try epoll.add(listener.number, .readable, token: 0)
    #expect(epoll.wait(milliseconds: 10_000) == 1)
    if case .accepted(let socket) = listener.accept() { return socket }
    throw NothingAccepted()
}

/// Waits for input, then reads.
func waitToRead(_ socket: borrowing ConnectedSocket, _ buffer: inout [UInt8]) throws -> ReadOutcome {
    var epoll = try EpollSet()
    try epoll.add(socket.number, .readable, token: 0)
    #expect(epoll.wait(milliseconds: 10_000) == 1)
    return socket.read(into: &buffer)
}

struct NothingAccepted: Error {}

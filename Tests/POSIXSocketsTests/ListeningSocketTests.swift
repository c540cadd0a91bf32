import Testing

@testable import POSIXSockets

@Suite struct ListeningSocketTests {
    static let loopback = SocketAddress.internet(.v4(0x7f00_0001), port: 0)

    @Test(arguments: ["127.0.0.1:0", "[::1]:0"])
    func resolvesPortZero(text: String) throws {
        let listener = try ListeningSocket(exclusivelyOn: try #require(SocketAddress(text)))
        #expect(listener.address.port != 0)
        #expect(listener.address.isLoopback)
    }

    /// Two daemons must not share a port, although both finally set SO_REUSEPORT.
    @Test(arguments: [0, 1, 3])
    func refusesAPortThatAnotherListenerHolds(siblings: Int) throws {
        let first = try ListeningSocket(exclusivelyOn: Self.loopback)
        let address = first.address
        let others = try (0..<siblings).map { _ in SocketBox(try first.sibling()) }
        #expect(throws: SocketError.addressInUse(address)) {
            _ = try ListeningSocket(exclusivelyOn: address)
        }
        #expect(SocketError.addressInUse(address).description == "\(address) is in use by another listener")
        #expect(others.allSatisfy { $0.socket.address == address })
        #expect(first.address == address)
    }

    @Test func takesAPortAgainOnceItIsFree() throws {
        var first = try ListeningSocket(exclusivelyOn: Self.loopback)
        let address = first.address
        first.close()
        let second = try ListeningSocket(exclusivelyOn: address)
        #expect(second.address == address)
    }

    /// A connection that the server closed first stays in TIME_WAIT, which must not prevent a restart.
    @Test func takesAPortAgainWhileOldConnectionsLinger() throws {
        var first = try ListeningSocket(exclusivelyOn: Self.loopback)
        let address = first.address
        let client = try ConnectedSocket(connectingTo: address)
        var server = try accept(on: first)
        server.close()
        var buffer = [UInt8](repeating: 0, count: 1)
        #expect(try waitToRead(client, &buffer) == .endOfInput)
        first.close()
        let second = try ListeningSocket(exclusivelyOn: address)
        #expect(second.address == address)
    }

    // MARK: No new connections

    private func connected(to address: SocketAddress) throws -> ConnectedSocket {
        let socket = try ConnectedSocket(connectingTo: address)
        var epoll = try EpollSet()
        try epoll.add(socket.number, .writable, token: 0)
        #expect(epoll.wait(milliseconds: 10_000) == 1)
        return socket
    }

    @Test(arguments: ["127.0.0.1:0", "[::1]:0"])
    func acceptsWhatWaitedBeforeItRefuses(text: String) throws {
        let listener = try ListeningSocket(exclusivelyOn: try #require(SocketAddress(text)))
        let first = try connected(to: listener.address)
        let second = try connected(to: listener.address)
        listener.refuseNewConnections()
        for client in [first.peer, second.peer] {
            let accepted = try accept(on: listener)
            #expect(client == listener.address && accepted.peer.isLoopback)
        }
        guard case .wouldBlock = listener.accept() else {
            Issue.record("a third client has not connected")
            return
        }
    }

    @Test(arguments: [
        ("   1: 0100007F:1F90 0200007F:C350 03 00000000:00000000 01:00000064 00000000     0        0 0 1", true),
        ("   1: 0100007F:1F90 0200007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 7 1", false),
        ("   1: 0100007F:1F91 0200007F:C350 03 00000000:00000000 01:00000064 00000000     0        0 0 1", false),
        ("   2: 00000000000000000000000001000000:1F90 00000000000000000000000001000000:C350 03 00000000:0", true),
        ("  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode", false),
        ("", false), ("1: 0100007F:1F90", false), ("1: 00001F90 0200007F:C350 13 0", false), (":::", false),
    ])
    func knowsAnUnfinishedHandshakeByItsLine(line: String, isOne: Bool) {
        let bytes = Array("\(line)\n\(line)\n\(line)".utf8)
        for pieceSize in 1...bytes.count {
            var list = HandshakeList(ports: [8080])
            for start in stride(from: 0, to: bytes.count, by: pieceSize) {
                list.take(bytes[start..<min(start + pieceSize, bytes.count)])
            }
            #expect(list.count == (isOne ? 2 : 0), "in pieces of \(pieceSize) bytes")
        }
    }

    @Test func refusesAnAddressOfAnotherMachine() throws {
        // 192.0.2.0/24 is reserved for documentation (RFC 5737).
        let address = try #require(SocketAddress("192.0.2.1:0"))
        #expect(throws: SocketError.addressUnavailable(address)) { _ = try ListeningSocket(exclusivelyOn: address) }
    }

    @Test func hasNobodyToAcceptAtFirst() throws {
        let listener = try ListeningSocket(exclusivelyOn: Self.loopback)
        guard case .wouldBlock = listener.accept() else {
            Issue.record("no client has connected")
            return
        }
    }
}

/// A box for a socket, because an array cannot hold values that are not copyable.
private final class SocketBox {
    let socket: ListeningSocket

    init(_ socket: consuming ListeningSocket) {
        self.socket = socket
    }
}

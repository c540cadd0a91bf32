private import COpenSSL
import POSIXSockets
import TestSupport
import Testing

@testable import HTTPServing

@Suite struct TLSHandshakeDriverTests {
    private static let proxyLine = "PROXY TCP4 192.0.2.1 198.51.100.2 51234 443\r\n"
    private let proxy = TrustedProxies(networks: [IPNetwork("127.0.0.1")].compactMap(\.self))

    private func context(offersHTTP2: Bool = false) throws -> TLSContext {
        try TLSContext(
            identities: [try Certificates.a.identity()], tickets: TLSTicketKeys(clock: ManualClock()),
            offersHTTP2: offersHTTP2)
    }

    /// Each byte of the PROXY header, the handshake and the request is a separate event.
    @Test(arguments: [tls12, tls13], [false, true])
    func servesAClientThatSendsByteByByte(version: Int32, isBehindProxy: Bool) throws {
        let server = try TestServer(
            tls: try context(), trustedProxies: isBehindProxy ? proxy : TrustedProxies(),
            expectsProxyHeader: isBehindProxy)
        let raw = try server.connect()
        raw.sendAtOnce()
        for byte in (isBehindProxy ? Self.proxyLine : "").utf8 {
            raw.send([byte])
            server.settle()
        }
        let client = try TricklingTLSClient(raw, to: server, version: version)
        for _ in 0..<2 {
            client.send(get("/now"))
            #expect(client.receive(until: "now") == response("200 OK", "now"))
        }
        #expect(server.observer.handshakes.all.count == 1)
    }

    /// RFC 8446 section 5.1 allows a client to divide its first message into records.
    @Test(arguments: [tls12, tls13], [1, 3, 100])
    func servesAClientWhoseHelloComesInRecords(version: Int32, size: Int) throws {
        let server = try TestServer(tls: try context())
        let raw = try server.connect()
        raw.sendAtOnce()
        let client = try TricklingTLSClient(raw, to: server, version: version, helloRecordSize: size)
        client.send(get("/now"))
        #expect(client.receive(until: "now") == response("200 OK", "now"))
    }

    /// Half of a ClientHello does not make the server allocate a TLS session, in one record or in records of one byte.
    @Test(arguments: [nil, 1])
    func holdsNoTLSBeforeTheWholeHello(recordSize: Int?) throws {
        let server = try TestServer(tls: try context())
        let raw = try server.connect()
        raw.sendAtOnce()
        var charges: [Int] = []
        let client = try TricklingTLSClient(
            raw, to: server, version: tls13, helloRecordSize: recordSize,
            beforeLastByteOfHello: {
                server.wait(forConnections: 1)
                charges.append(server.resources.memory.charged(to: .connections))
                #expect(server.resources.connectionCount(in: .arriving) == 1)
            })
        #expect(charges == [HeldMemory.connectionSize])
        client.send(get("/now"))
        #expect(client.receive(until: "now") == response("200 OK", "now"))
        server.settle()
        let both = HeldMemory.connectionSize + HeldMemory.tlsSize
        #expect(server.resources.memory.charged(to: .connections) == both)
    }

    /// The first byte that cannot be part of a ClientHello ends the connection. The server does not wait for the rest.
    @Test(arguments: ["G", "\u{15}", "\u{16}\u{2}", "\u{16}\u{3}\u{1}\0\0", "\u{16}\u{3}\u{1}\0\u{4}\u{2}"])
    func refusesOtherInputAtOnce(input: String) throws {
        let server = try TestServer(tls: try context())
        let client = try server.connect()
        client.send(input)
        #expect(server.observer.failedHandshakes.wait(for: 1) == [.notTLS])
        #expect(client.receive() == [])
        server.wait(forConnections: 0)
        #expect(server.server.connectionObjectCount == 0)
    }

    /// The memory is charged before the handshake, so without memory the server spends no time on a handshake.
    @Test func refusesAHandshakeThatHasNoRoom() throws {
        let memory = MemoryBudget(size: 1 << 20)
        let server = try TestServer(tls: try context(), resources: ServerResources(memory: memory))
        let room = memory.maximum(of: .connections) - HeldMemory.connectionSize
        #expect(memory.charge(room, to: .connections))
        #expect(throws: HandshakeFailed.self) { try server.connectTLS() }
        #expect(server.observer.refusedConnections.wait(for: 1) == [.memory])
        #expect(server.observer.handshakes.all.isEmpty)
        server.wait(forConnections: 0)
    }

    /// The client's first message arrives in one piece with the PROXY header, so no further event announces it.
    @Test func shakesHandsWithAClientWhoseHelloCameWithThePROXYHeader() throws {
        let server = try TestServer(tls: try context(), trustedProxies: proxy, expectsProxyHeader: true)
        let raw = try server.connect()
        raw.sendLater(Self.proxyLine)
        let client = try TLSClient(raw)
        client.send(get("/peer"))
        #expect(client.receive(until: "51234") == response("200 OK", "192.0.2.1:51234"))
    }

    /// The request arrives in one piece with the end of the handshake. OpenSSL has read it then, so no event announces
    /// it.
    @Test(arguments: [false, true])
    func answersARequestThatCameWithTheEndOfTheHandshake(offersHTTP2: Bool) throws {
        let server = try TestServer(offersHTTP2: offersHTTP2, tls: try context(offersHTTP2: offersHTTP2))
        // In TLS 1.2, the server sends the last message of the handshake, so this test uses TLS 1.3.
        let client = try TricklingTLSClient(try server.connect(), to: server, version: tls13, sendsAtOnce: get("/now"))
        #expect(client.receive(until: "now") == response("200 OK", "now"))
    }

    /// A handshake that has not begun ends at the same time as idle connections.
    @Test(arguments: [false, true])
    func endsASilentHandshakeWhileTheServerDrains(isBehindProxy: Bool) throws {
        let server = try TestServer(
            tls: try context(), trustedProxies: isBehindProxy ? proxy : TrustedProxies(),
            expectsProxyHeader: isBehindProxy)
        let silent = try server.connect()
        server.wait(forConnections: 1)
        let (drained, http) = (Log<DrainReport>(), server.server)
        Background.run { drained.append(http.drain(within: .seconds(30))) }
        #expect(throws: NotConnected.self) { while true { _ = try server.connect() } }
        if isBehindProxy { silent.send(Self.proxyLine) }
        server.settle()
        server.advance(by: .seconds(1))
        #expect(silent.receiveAll() == "")
        // The connections that the test made to see the drain begin have closed.
        #expect(server.observer.failedHandshakes.all.contains(.timeout))
        #expect(drained.wait(for: 1) == [DrainReport(cutOffConnectionCount: 0)])
    }
}

/// A TLS client that decides how its bytes are cut: each byte alone, or the request together with the end of the
/// handshake.
@safe
private final class TricklingTLSClient {
    private let raw: RawClient
    private let server: TestServer
    private let context: OpaquePointer
    private let session: OpaquePointer
    // OpenSSL's input and output. The session owns both.
    private let input: OpaquePointer
    private let output: OpaquePointer

    /// Performs the handshake byte by byte. With `request`, the client's last message and the request leave together.
    ///
    /// If `helloRecordSize` is given, the first message is sent in records with payloads of this size.
    init(
        _ raw: RawClient, to server: TestServer, version: Int32, sendsAtOnce request: String? = nil,
        helloRecordSize: Int? = nil, beforeLastByteOfHello: () -> Void = {}
    ) throws {
        (self.raw, self.server) = (raw, server)
        // Safe here and below: objects of OpenSSL that this one owns, used on one thread.
        unsafe context = try #require(SSL_CTX_new(TLS_client_method()))
        unsafe session = try #require(SSL_new(context))
        unsafe input = try #require(BIO_new(BIO_s_mem()))
        unsafe output = try #require(BIO_new(BIO_s_mem()))
        unsafe SSL_set_bio(session, input, output)
        unsafe latchkey_tls_set_client_versions(session, version, version)
        unsafe SSL_set_connect_state(session)
        var isHello = true
        while true {
            let result = unsafe SSL_do_handshake(session)
            if result == 1 { break }
            guard unsafe SSL_get_error(session, result) == SSL_ERROR_WANT_READ else {
                throw HandshakeFailed(reason: ERR_GET_REASON(ERR_peek_error()))
            }
            if isHello {
                let hello = ClientHelloFramingTests.inRecords(of: helloRecordSize, takeOutput())
                send(hello.dropLast(), inPieces: request == nil)
                server.settle()
                beforeLastByteOfHello()
                send(hello.suffix(1), inPieces: false)
                isHello = false
            } else {
                sendOutput(inPieces: request == nil)
            }
            try #require(takeInput())
        }
        if let request { encrypt(request) }
        sendOutput(inPieces: request == nil)
    }

    deinit {
        unsafe SSL_free(session)
        unsafe SSL_CTX_free(context)
    }

    func send(_ text: String) {
        encrypt(text)
        sendOutput(inPieces: true)
    }

    func receive(until end: String) -> String {
        var all = ""
        while !all.hasSuffix(end) {
            var buffer = [UInt8](repeating: 0, count: 65536)
            let count = unsafe SSL_read(session, &buffer, Int32(buffer.count))
            if count > 0 {
                all += String(decoding: buffer.prefix(Int(count)), as: UTF8.self)
            } else if !takeInput() {
                break
            }
        }
        return all
    }

    private func encrypt(_ text: String) {
        let bytes = Array(text.utf8)
        unsafe SSL_write(session, bytes, Int32(bytes.count))
    }

    private func sendOutput(inPieces: Bool) { send(takeOutput()[...], inPieces: inPieces) }

    /// Takes the bytes that OpenSSL has written.
    private func takeOutput() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = unsafe BIO_read(output, &bytes, Int32(bytes.count))
        bytes.removeLast(bytes.count - Int(max(0, count)))
        return bytes
    }

    private func send(_ bytes: ArraySlice<UInt8>, inPieces: Bool) {
        if !inPieces { return raw.send(Array(bytes)) }
        for byte in bytes {
            raw.send([byte])
            server.settle()
        }
    }

    /// Gives OpenSSL the received bytes. Returns whether any arrived.
    private func takeInput() -> Bool {
        guard let bytes = raw.receive(), !bytes.isEmpty else { return false }
        return unsafe BIO_write(input, bytes, Int32(bytes.count)) == bytes.count
    }
}

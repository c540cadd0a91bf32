import EventLoops
import HTTPMessages
import HTTPServing
import KeyCrypto
import TestSupport
import Testing

/// Certificates for all tests, because making them takes time.
enum Certificates {
    static let a = TestCertificate("a.test", "*.wild.test")
    static let b = TestCertificate("b.test")
    static let rsa = TestCertificate("a.test", algorithm: .rsa)
    static let authority = TestCertificate("authority", isAuthority: true)
    static let client = TestCertificate("client-1", issuer: authority)
    static let stranger = TestCertificate("stranger")
}

@Suite struct TLSTests {
    /// A context whose ticket keys do not change.
    private func context(
        _ certificates: TestCertificate..., authorities: TestCertificate? = nil,
        tickets: TLSTicketKeys? = nil, offersHTTP2: Bool = false
    ) throws -> TLSContext {
        try TLSContext(
            identities: certificates.map { try $0.identity() }, clientAuthorities: authorities?.pem,
            tickets: tickets ?? TLSTicketKeys(clock: ManualClock()), offersHTTP2: offersHTTP2)
    }

    @Test(arguments: [tls12, tls13])
    func servesRequests(version: Int32) throws {
        let server = try TestServer(tls: try context(Certificates.a))
        let client = try server.connectTLS(TLSClientOptions(versions: version...version))
        for _ in 0..<5 {
            client.send(get("/now"))
            #expect(client.receive(until: "now") == response("200 OK", "now"))
        }
        client.send(get("/later"))
        server.handler.gate.waitForTasks(1)
        server.handler.gate.open()
        #expect(client.receive(until: "later") == response("200 OK", "later"))
        client.send(get("/closing"))
        #expect(client.receiveAll() == response("200 OK", "bye", closes))
        client.finish()
        server.wait(forConnections: 0)
        let expected = TLSFacts(version: version == tls12 ? .version12 : .version13, isResumed: false)
        #expect(server.observer.handshakes.all == [expected])
    }

    @Test func movesLargeBodiesBothWays() throws {
        let server = try TestServer(tls: try context(Certificates.a))
        let client = try server.connectTLS()
        let body = String(repeating: "0123456789abcdef", count: 4096)
        client.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 65536\r\n\r\n" + body)
        #expect(client.receive(until: body) == response("200 OK", body))
        client.send(get("/large") + get("/closing"))
        let all = try #require(client.receiveAll())
        #expect(all.utf8.count > server.handler.largeSize)
        #expect(all.hasSuffix(response("200 OK", "bye", closes)))
    }

    @Test func answersPipelinedRequestsInOneRecord() throws {
        let server = try TestServer(tls: try context(Certificates.a))
        let client = try server.connectTLS()
        client.send(String(repeating: get("/now"), count: 300) + get("/closing"))
        let expected = String(repeating: response("200 OK", "now"), count: 300) + response("200 OK", "bye", closes)
        #expect(client.receiveAll() == expected)
    }

    // MARK: Certificates

    @Test(arguments: [
        ("a.test", "a.test"), ("A.TEST", "a.test"), ("b.test", "b.test"), ("x.wild.test", "a.test"),
        ("x.y.wild.test", "a.test"), ("unknown.test", "a.test"), (nil, "a.test"),
    ])
    func choosesTheCertificateByName(host: String?, expected: String) throws {
        let server = try TestServer(tls: try context(Certificates.a, Certificates.b))
        let client = try server.connectTLS(TLSClientOptions(host: host))
        #expect(client.serverName == expected)
    }

    @Test func letsTheClientChooseTheAlgorithm() throws {
        let server = try TestServer(tls: try context(Certificates.a, Certificates.rsa))
        for version in [tls12, tls13] {
            let modern = try server.connectTLS(TLSClientOptions(versions: version...version))
            #expect(!modern.serverHasRSA)
            let signatures = version == tls12 ? "RSA+SHA256" : "RSA-PSS+SHA256"
            let old = try server.connectTLS(TLSClientOptions(versions: version...version, signatures: signatures))
            #expect(old.serverHasRSA)
        }
    }

    @Test func refusesIdentitiesThatDoNotFit() throws {
        let other = Certificates.b
        #expect(throws: TLSError.keyMismatch) {
            try TLSIdentity(chain: Certificates.a.pem, privateKey: SecretBytes(copying: other.keyPEM))
        }
        #expect(throws: TLSError.notACertificateChain) {
            try TLSIdentity(chain: other.keyPEM, privateKey: SecretBytes(copying: other.keyPEM))
        }
        #expect(throws: TLSError.notAPrivateKey) {
            try TLSIdentity(chain: other.pem, privateKey: SecretBytes(copying: other.pem))
        }
        #expect(throws: TLSError.notACertificateChain) {
            try TLSIdentity(chain: other.pem + other.pem.dropLast(40), privateKey: SecretBytes(copying: other.keyPEM))
        }
        #expect(throws: TLSError.tooWeak) { try context(TestCertificate("a.test", algorithm: .weakRSA)) }
        #expect(throws: TLSError.notAuthorities) { try context(Certificates.a, authorities: Certificates.stranger) }
    }

    // MARK: Protocols

    @Test(arguments: [
        (false, ["http/1.1"], "http/1.1"), (false, [], ""), (false, ["h2", "http/1.1"], "http/1.1"),
        (true, [], ""), (true, ["http/1.1"], "http/1.1"), (true, ["spdy/3", "http/1.1"], "http/1.1"),
    ])
    func agreesOnAProtocol(offersHTTP2: Bool, offer: [String], expected: String) throws {
        let server = try TestServer(
            offersHTTP2: offersHTTP2, tls: try context(Certificates.a, offersHTTP2: offersHTTP2))
        let client = try server.connectTLS(TLSClientOptions(protocols: offer))
        #expect(client.chosenProtocol == expected)
        client.send(get("/now"))
        #expect(client.receive(until: "now") == response("200 OK", "now"))
    }

    // MARK: Failed handshakes

    @Test(arguments: [
        (TLSClientOptions(versions: 0x0301...0x0302), TLSHandshakeFailure.version),
        (TLSClientOptions(versions: tls12...tls12, ciphers: "AES128-SHA"), .parameters),
        (TLSClientOptions(protocols: ["h2", "spdy/3"]), .applicationProtocol),
    ])
    func refusesWhatItDoesNotSpeak(options: TLSClientOptions, expected: TLSHandshakeFailure) throws {
        let server = try TestServer(tls: try context(Certificates.a))
        var options = options
        // Without this, the client's own security level would not allow such an old version.
        if expected == .version { options.ciphers = "ALL:@SECLEVEL=0" }
        #expect(throws: HandshakeFailed.self) { try server.connectTLS(options) }
        #expect(server.observer.failedHandshakes.wait(for: 1) == [expected])
        server.wait(forConnections: 0)
    }

    @Test func refusesPlainHTTP() throws {
        let server = try TestServer(tls: try context(Certificates.a))
        let client = try server.connect()
        client.send(get("/now"))
        #expect(!client.receiveAll().contains("HTTP"))
        #expect(server.observer.failedHandshakes.wait(for: 1) == [.notTLS])
        server.wait(forConnections: 0)
        #expect(server.server.connectionObjectCount == 0)
    }

    @Test func noticesAClientThatGoesDuringTheHandshake() throws {
        let server = try TestServer(tls: try context(Certificates.a))
        let client = try server.connect()
        client.send([22, 3, 1])
        server.wait(forConnections: 1)
        client.finish()
        #expect(server.observer.failedHandshakes.wait(for: 1) == [.closed])
        server.wait(forConnections: 0)
    }

    /// The alert of a client that distrusts the certificate, and the reset behind it, may arrive in one event.
    @Test(arguments: [tls12, tls13])
    func saysThatAClientThatResetsTheConnectionHasRefusedTheCertificate(version: Int32) throws {
        let server = try TestServer(tls: try context(Certificates.a))
        let count = 30
        for _ in 0..<count {
            let raw = try server.connect()
            raw.resetOnClose()
            let options = TLSClientOptions(versions: version...version, trusts: false)
            #expect(throws: HandshakeFailed.self) { _ = try TLSClient(raw, options) }
        }
        let all = [TLSHandshakeFailure](repeating: .refused, count: count)
        #expect(server.observer.failedHandshakes.wait(for: count) == all)
        server.wait(forConnections: 0)
    }

    /// Single bytes do not move the deadline of a handshake.
    @Test func endsASlowHandshake() throws {
        let server = try TestServer(tls: try context(Certificates.a))
        let client = try server.connect()
        server.wait(forConnections: 1)
        for byte: UInt8 in [22, 3, 1, 2, 0, 1, 0, 1, 252] {
            client.send([byte])
            server.settle()
            server.advance(by: .seconds(1))
        }
        #expect(server.observer.failedHandshakes.all.isEmpty)
        server.advance(by: .seconds(1))
        #expect(client.receiveAll() == "")
        #expect(server.observer.failedHandshakes.all == [.timeout])
    }

    @Test func refusesToRenegotiate() throws {
        let server = try TestServer(tls: try context(Certificates.a))
        let client = try server.connectTLS(TLSClientOptions(versions: tls12...tls12))
        #expect(!client.renegotiate())
        #expect(server.observer.handshakes.all.count == 1)
    }

    @Test func followsAKeyUpdate() throws {
        let server = try TestServer(tls: try context(Certificates.a))
        let client = try server.connectTLS(TLSClientOptions(versions: tls13...tls13))
        for _ in 0..<3 {
            client.updateKeys()
            client.send(get("/now"))
            #expect(client.receive(until: "now") == response("200 OK", "now"))
        }
    }

    // MARK: Ends

    @Test func answersAClientThatHasEndedItsSide() throws {
        let server = try TestServer(tls: try context(Certificates.a))
        let client = try server.connectTLS()
        client.send(get("/later"))
        client.finish()
        server.handler.gate.waitForTasks(1)
        server.handler.gate.open()
        #expect(client.receiveAll() == response("200 OK", "later"))
        server.wait(forConnections: 0)
    }

    @Test func resetsAClientThatDoesNotRead() throws {
        let server = try TestServer(tls: try context(Certificates.a))
        let raw = try RawClient(server.address, receiveBufferSize: 4096)
        let client = try TLSClient(raw)
        client.send(get("/large"))
        server.handler.waitForLarge()
        server.settle()
        server.advance(by: .seconds(29))
        #expect(server.server.connectionCount == 1)
        server.advance(by: .seconds(1))
        server.wait(forConnections: 0)
        #expect(server.observer.finished.all.isEmpty)
    }

    @Test func saysThatItEnds() throws {
        let server = try TestServer(tls: try context(Certificates.a))
        let idle = try server.connectTLS()
        idle.send(get("/now"))
        #expect(idle.receive(until: "now") == response("200 OK", "now"))
        server.settle()
        server.advance(by: .seconds(60))
        #expect(idle.receiveAll() == "")
        let refused = try server.connectTLS()
        refused.send("\n")
        #expect(refused.receiveAll() == response("400 Bad Request", "bad_request", closes))
    }

    // MARK: Client certificates

    @Test(arguments: [tls12, tls13])
    func knowsTheClientByItsCertificate(version: Int32) throws {
        let server = try TestServer(tls: try context(Certificates.a, authorities: Certificates.authority))
        let client = try server.connectTLS(
            TLSClientOptions(versions: version...version, certificate: Certificates.client))
        client.send(get("/now"))
        #expect(client.receive(until: "now") == response("200 OK", "now"))
        let facts = try #require(server.observer.handshakes.wait(for: 1)[0])
        #expect(facts.clientCertificate?.subject == "CN=client-1")
        #expect(facts.clientCertificate?.sha256.count == 32)
        let resumed = try server.connectTLS(
            TLSClientOptions(versions: version...version, session: try client.resumableSession()))
        resumed.send(get("/now"))
        #expect(resumed.receive(until: "now") == response("200 OK", "now"))
        let again = try #require(server.observer.handshakes.wait(for: 2)[1])
        #expect(again.isResumed)
        #expect(again.clientCertificate == facts.clientCertificate)
    }

    @Test(arguments: [tls12, tls13], [Certificates.stranger, nil])
    func refusesClientsWithoutACertificateOfTheAuthority(version: Int32, certificate: TestCertificate?) throws {
        let server = try TestServer(tls: try context(Certificates.a, authorities: Certificates.authority))
        // In TLS 1.3, the client learns of the refusal only when it reads.
        let client = try? server.connectTLS(TLSClientOptions(versions: version...version, certificate: certificate))
        client?.send(get("/now"))
        #expect(client?.receiveAll() == nil)
        #expect(server.observer.failedHandshakes.wait(for: 1) == [.clientCertificate])
        #expect(server.observer.finished.all.isEmpty)
        server.wait(forConnections: 0)
    }

    /// The length of the message decides, so a chain that is too large is not parsed, although its authority is right.
    @Test(arguments: [tls12, tls13])
    func refusesALargeChainOfAClient(version: Int32) throws {
        let server = try TestServer(tls: try context(Certificates.a, authorities: Certificates.authority))
        let connect = { (padding: Int) throws in
            let certificate = TestCertificate("client-1", issuer: Certificates.authority, padding: padding)
            let client = try? server.connectTLS(TLSClientOptions(versions: version...version, certificate: certificate))
            client?.send(get("/now"))
            return client?.receive(until: "now")
        }
        #expect(try connect(15_000) == response("200 OK", "now"))
        #expect(try connect(17_000) != response("200 OK", "now"))
        #expect(server.observer.failedHandshakes.wait(for: 1) == [.clientChainTooLarge])
        #expect(server.observer.finished.all.count == 1)
    }

    /// Small certificates cost as much to parse as large ones, so their number counts too.
    @Test(arguments: [tls12, tls13])
    func refusesAChainOfManySmallCertificates(version: Int32) throws {
        let server = try TestServer(tls: try context(Certificates.a, authorities: Certificates.authority))
        let connect = { (count: Int) throws in
            let certificate = TestCertificate("client-1", issuer: Certificates.authority, extraCount: count - 1)
            let client = try? server.connectTLS(TLSClientOptions(versions: version...version, certificate: certificate))
            client?.send(get("/now"))
            return client?.receive(until: "now")
        }
        #expect(try connect(6) == response("200 OK", "now"))
        #expect(try connect(7) != response("200 OK", "now"))
        #expect(try connect(40) != response("200 OK", "now"))
        #expect(server.observer.failedHandshakes.wait(for: 2) == [.clientChainTooLarge, .clientChainTooLarge])
        #expect(server.observer.finished.all.count == 1)
    }

    // MARK: Resumption

    /// The kernel distributes connections by a hash. Sixteen connections miss one of two loops only once in 32,768
    /// runs.
    @Test(arguments: [tls12, tls13])
    func resumesOnEveryLoop(version: Int32) throws {
        let server = try TestServer(loopCount: 2, tls: try context(Certificates.a))
        let first = try server.connectTLS(TLSClientOptions(versions: version...version))
        first.send(get("/now"))
        #expect(first.receive(until: "now") == response("200 OK", "now"))
        let session = try first.resumableSession()
        var loops: Set<String> = []
        for _ in 0..<16 {
            let client = try server.connectTLS(TLSClientOptions(versions: version...version, session: session))
            #expect(client.isResumed)
            client.send(get("/loop"))
            loops.insert(String(decoding: (client.receive() ?? []).suffix(1), as: UTF8.self))
        }
        #expect(loops == ["0", "1"])
        #expect(server.observer.handshakes.wait(for: 17).count { $0?.isResumed == true } == 16)
    }

    @Test(arguments: [tls12, tls13])
    func resumesAfterAReloadUntilTheKeysHaveGone(version: Int32) throws {
        let clock = ManualClock()
        let tickets = try TLSTicketKeys(clock: clock, period: .seconds(3600))
        let server = try TestServer(tls: try context(Certificates.a, tickets: tickets))
        let options = TLSClientOptions(versions: version...version)
        let first = try server.connectTLS(options)
        first.send(get("/now"))
        #expect(first.receive(until: "now") == response("200 OK", "now"))
        let session = try first.resumableSession()
        server.tlsSlot?.current = try context(Certificates.rsa, tickets: tickets)
        func resumes() throws -> Bool {
            var options = options
            options.session = session
            let client = try server.connectTLS(options)
            client.send(get("/now"))
            #expect(client.receive(until: "now") == response("200 OK", "now"))
            return client.isResumed
        }
        #expect(try resumes())
        clock.advance(by: .seconds(3600))
        #expect(try resumes())
        clock.advance(by: .seconds(3600))
        #expect(try !resumes())
    }

    /// A ticket proves that the client showed a certificate of one authority. It proves nothing for another authority.
    @Test(arguments: [tls12, tls13])
    func doesNotResumeWhenTheAuthorityHasChanged(version: Int32) throws {
        let tickets = try TLSTicketKeys(clock: ManualClock())
        let server = try TestServer(tls: try context(Certificates.a, tickets: tickets))
        let stranger = try server.connectTLS(TLSClientOptions(versions: version...version))
        stranger.send(get("/now"))
        #expect(stranger.receive(until: "now") == response("200 OK", "now"))
        server.tlsSlot?.current = try context(Certificates.a, authorities: Certificates.authority, tickets: tickets)
        let client = try? server.connectTLS(
            TLSClientOptions(versions: version...version, session: try stranger.resumableSession()))
        client?.send(get("/now"))
        #expect(client?.receiveAll() == nil)
        #expect(server.observer.failedHandshakes.wait(for: 1) == [.clientCertificate])
    }

    /// A ticket of another process, or an altered ticket, leads to a full handshake.
    @Test(arguments: [tls12, tls13])
    func doesNotResumeWithAForeignTicket(version: Int32) throws {
        let (one, other) = (
            try TestServer(tls: try context(Certificates.a)), try TestServer(tls: try context(Certificates.a))
        )
        let first = try one.connectTLS(TLSClientOptions(versions: version...version))
        first.send(get("/now"))
        #expect(first.receive(until: "now") == response("200 OK", "now"))
        let client = try other.connectTLS(
            TLSClientOptions(versions: version...version, session: try first.resumableSession()))
        client.send(get("/now"))
        #expect(client.receive(until: "now") == response("200 OK", "now"))
        #expect(!client.isResumed)
        #expect(other.observer.failedHandshakes.all.isEmpty)
    }

    /// After a restart or at another node, ticket keys from the same secret open each other's tickets for two periods.
    @Test(arguments: [tls12, tls13])
    func resumesElsewhereWithTheSameSecret(version: Int32) throws {
        let period = Duration.seconds(3600)
        let (clock, later) = (ManualClock(), ManualClock())
        let options = TLSClientOptions(versions: version...version)
        let (old, new) = (try ticketSecret(1), try ticketSecret(2))
        let node = try TestServer(
            tls: try context(Certificates.a, tickets: TLSTicketKeys(secrets: [old], clock: clock, period: period)))
        func session(from server: TestServer) throws -> TLSClientSession {
            let client = try server.connectTLS(options)
            client.send(get("/now"))
            #expect(client.receive(until: "now") == response("200 OK", "now"))
            return try client.resumableSession()
        }
        func resumes(_ session: TLSClientSession, at server: TestServer) throws -> Bool {
            var options = options
            options.session = session
            let client = try server.connectTLS(options)
            client.send(get("/now"))
            #expect(client.receive(until: "now") == response("200 OK", "now"))
            return client.isResumed
        }
        let ticket = try session(from: node)
        func other(_ secrets: [SharedSecret], _ clock: ManualClock) throws -> TestServer {
            try TestServer(
                tls: try context(Certificates.a, tickets: TLSTicketKeys(secrets: secrets, clock: clock, period: period))
            )
        }
        let sibling = try other([old], later)
        #expect(try resumes(ticket, at: sibling))
        // After a rotation, the new secret makes tickets, and the old secret still opens them.
        #expect(try resumes(ticket, at: try other([new, old], clock)))
        #expect(try !resumes(ticket, at: try other([new], clock)))
        later.advance(by: period)
        #expect(try resumes(ticket, at: sibling))
        // If clocks differ, a node may get a ticket of the next period.
        #expect(try resumes(try session(from: sibling), at: node))
        later.advance(by: period)
        #expect(try !resumes(ticket, at: sibling))
    }

    private func ticketSecret(_ byte: UInt8) throws -> SharedSecret {
        SharedSecret(SecretBytes(copying: [UInt8](repeating: byte, count: 32)))
    }

    // MARK: Versions and ciphers

    @Test func offersWhatItsOptionsSay() throws {
        var options = TLSProtocolOptions()
        options.minimumVersion = .version13
        func server(_ options: TLSProtocolOptions) throws -> TestServer {
            try TestServer(
                tls: try TLSContext(
                    identities: [try Certificates.a.identity()], tickets: TLSTicketKeys(clock: ManualClock()),
                    options: options))
        }
        let modern = try server(options)
        #expect(try modern.connectTLS().version == tls13)
        #expect(throws: HandshakeFailed.self) { try modern.connectTLS(TLSClientOptions(versions: tls12...tls12)) }
        #expect(modern.observer.failedHandshakes.wait(for: 1) == [.version])

        options = TLSProtocolOptions()
        options.cipherList = "ECDHE+CHACHA20"
        let narrow = try server(options)
        let other = TLSClientOptions(versions: tls12...tls12, ciphers: "ECDHE+AESGCM")
        #expect(throws: HandshakeFailed.self) { try narrow.connectTLS(other) }
        #expect(narrow.observer.failedHandshakes.wait(for: 1) == [.parameters])
        #expect(try narrow.connectTLS(TLSClientOptions(versions: tls12...tls12)).version == tls12)

        options.cipherList = "NO-SUCH-CIPHER"
        #expect(throws: TLSError.noCipherList) { try server(options) }
        options = TLSProtocolOptions()
        options.cipherSuites = "TLS_NO_SUCH_SUITE"
        #expect(throws: TLSError.noCipherSuites) { try server(options) }
    }

    // MARK: Reload

    @Test func keepsConnectionsThroughAReload() throws {
        let server = try TestServer(tls: try context(Certificates.a))
        let before = try server.connectTLS()
        let handshaking = try server.connect()
        server.wait(forConnections: 2)
        server.settle()
        server.tlsSlot?.current = try context(Certificates.b)
        before.send(get("/now"))
        #expect(before.receive(until: "now") == response("200 OK", "now"))
        #expect(try server.connectTLS().serverName == "b.test")
        #expect(try TLSClient(handshaking).serverName == "a.test")
        before.send(get("/closing"))
        #expect(before.receiveAll() == response("200 OK", "bye", closes))
    }

    // MARK: Counts

    @Test func leaksNeitherDescriptorsNorObjects() throws {
        let server = try TestServer(tls: try context(Certificates.a))
        let warm = try server.connectTLS()
        warm.send(get("/now"))
        _ = warm.receive(until: "now")
        let before = descriptorCount(of: server.address)
        for number in 0..<30 {
            switch number % 3 {
            case 0:
                let client = try server.connectTLS()
                client.send(get("/closing"))
                #expect(client.receiveAll() == response("200 OK", "bye", closes))
            case 1: try server.connect().send("GET / HTTP/1.1\r\n")
            default: try server.connect().resetOnClose()
            }
        }
        server.wait(forConnections: 1)
        #expect(server.server.connectionObjectCount == 1)
        #expect(descriptorCount(of: server.address) == before)
        #expect(server.group.loops[0].timerCount == 1)
    }
}

import DeviceSimulation
import FairPlay
import TestSupport
import Testing

/// The daemon answers every malformed request as the table of errors says, keeps running, and keeps no memory for it.
@Suite(.tags(.startsProcesses)) struct MalformedRequestTests {
    private static let requestCount = 2000
    private static let growthMaximum = 16 << 20

    private let fixture: DaemonFixture

    init() throws {
        fixture = try DaemonFixture()
    }

    private func answer(_ fault: SPCFault) -> (status: Int, code: String) {
        switch fault.answer {
        case .versionUnsupported: (400, "spc_version_unsupported")
        case .malformed: (400, "spc_malformed")
        case .certificateUnknown: (422, "spc_certificate_unknown")
        case .rejected: (422, "spc_rejected")
        }
    }

    @Test(arguments: [SPCVersion.v1, .v2])
    func givesEveryMalformedSPCItsAnswer(version: SPCVersion) throws {
        let token = try fixture.token()
        let connection = try fixture.daemon.connect()
        for fault in SPCFault.all(for: version) {
            let message = try fixture.deviceRequest(version, with: fault).message
            let response = try connection.license(message, token: token)
            let expected = answer(fault)
            #expect(response.status == expected.status, "\(fault)")
            #expect(response.code == expected.code, "\(fault)")
        }
        let request = try fixture.deviceRequest(version)
        #expect(try fixture.isRight(try connection.license(request.message, token: token).body, request))
    }

    @Test func staysWithinItsMemory() throws {
        var generator = SeededGenerator.announced("malformed requests")
        let token = try fixture.token()
        let connection = try fixture.daemon.connect()
        let faults = SPCFault.all(for: .v1)
        let messages = try (0..<400).map { _ in
            let version: SPCVersion = .random(using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: return generator.bytes(count: .random(in: 0...4096, using: &generator))
            case 1:
                let message = try fixture.deviceRequest(version).message
                return Array(message.prefix(.random(in: 0..<message.count, using: &generator)))
            default:
                let fault = faults[.random(in: 0..<faults.count, using: &generator)]
                return try fixture.deviceRequest(version, with: fault).message
            }
        }
        // These requests make the daemon allocate everything that it keeps, before the measurement begins.
        for message in messages.prefix(50) { _ = try connection.license(message, token: token) }

        let before = try fixture.daemon.residentBytes()
        for index in 0..<Self.requestCount {
            let response = try connection.license(messages[index % messages.count], token: token)
            #expect([400, 422].contains(response.status))
        }
        let growth = try fixture.daemon.residentBytes() - before
        print("memory grew by \(growth / 1024) KiB over \(Self.requestCount) malformed requests")
        #expect(growth < Self.growthMaximum)
        #expect(fixture.daemon.process.isRunning)

        let request = try fixture.deviceRequest(.v1)
        #expect(try fixture.isRight(try connection.license(request.message, token: token).body, request))
        let refused = try fixture.metrics().values.filter { $0.key.hasPrefix("latchkey_licenses_refused_total") }
        #expect(refused.values.reduce(0, +) == Double(Self.requestCount + 50))
    }

    /// Input that never becomes a request is counted and answered, and its connection is closed.
    @Test(arguments: [
        ("GARBAGE\r\n\r\n", 400), ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/2.5\r\nHost: h\r\n\r\n", 505),
        ("BREW / HTTP/1.1\r\nHost: h\r\n\r\n", 501),
        ("POST /fps/license HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999\r\n\r\n", 413),
        ("POST /fps/license HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
    ])
    func refusesWhatIsNoRequest(input: String, status: Int) throws {
        let connection = try fixture.daemon.connect()
        connection.send(input)
        let response = try connection.receive()
        #expect(response.status == status)
        #expect(response["Content-Type"] == "application/problem+json")
        #expect(response["Connection"] == "close")
        #expect(connection.isClosed())
        #expect(try fixture.metrics()["latchkey_http_inputs_refused_total"] == 1)
    }
}

extension SPCVersion {
    fileprivate static func random(using generator: inout SeededGenerator) -> SPCVersion {
        Bool.random(using: &generator) ? .v1 : .v2
    }
}

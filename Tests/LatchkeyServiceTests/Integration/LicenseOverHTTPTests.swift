import ByteCoding
import DeviceSimulation
import Entitlements
import FairPlay
import Foundation
import FoundationNetworking
import KeyCrypto
import TestSupport
import Testing

/// Licenses from a running daemon for the HTTP clients that apps use.
@Suite(.tags(.startsProcesses), .serialized) struct LicenseOverHTTPTests {
    private let fixture: DaemonFixture

    init() throws {
        fixture = try DaemonFixture()
    }

    /// One session uses one connection. The requests are raw SPCs, the answers raw CKCs.
    @Test func answersURLSession() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = 1
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        let url = try #require(URL(string: "http://\(fixture.daemon.publicAddress)/fps/license"))
        let token = try fixture.folder.mint(content: DaemonFixture.content)
        for version in [SPCVersion.v1, .v2, .v1] {
            let request = try fixture.deviceRequest(version)
            var message = URLRequest(url: url)
            message.httpMethod = "POST"
            message.httpBody = Data(request.message)
            message.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
            message.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
            let (body, response) = try await session.data(for: message)
            let head = try #require(response as? HTTPURLResponse)
            #expect(head.statusCode == 200)
            #expect(head.value(forHTTPHeaderField: "Content-Type") == "application/octet-stream")
            #expect(head.value(forHTTPHeaderField: "X-Request-Id")?.utf8.count == 16)
            #expect(try fixture.isRight(Array(body), request))
        }
        // One connection of the session, and one for this request of the metrics.
        #expect(try fixture.metrics()["latchkey_http_connections"] == 2)
    }

    /// One curl process sends two requests, and the second opens no new connection.
    @Test func answersCurl() throws {
        let token = try fixture.folder.mint(content: DaemonFixture.content, ["--lease", "90", "--rental", "600"])
        let versions: [SPCVersion] = [.v1, .v2]
        var requests: [DeviceRequest] = []
        var arguments: [String] = []
        for (index, version) in versions.enumerated() {
            let request = try stateful(version)
            requests.append(request)
            try fixture.folder.files.write(request.message, to: "\(index).spc")
            if index > 0 { arguments.append("--next") }
            arguments += [
                "--silent", "--show-error", "--noproxy", "*", "--http1.1", "--data-binary",
                "@\(fixture.folder.files.path("\(index).spc"))", "--header", "Authorization: Bearer \(token)",
                "--header", "Content-Type: application/octet-stream", "--output",
                fixture.folder.files.path("\(index).ckc"), "--write-out", "%{http_code} %{num_connects}\n",
                "http://\(fixture.daemon.publicAddress)/fps/license",
            ]
        }
        let curl = try ChildProcess(program: "/usr/bin/curl", arguments: arguments)
        #expect(curl.waitForExit() == 0)
        #expect(curl.output.text == "200 1\n200 0\n")
        for (index, request) in requests.enumerated() {
            let ckc = try fixture.folder.files.read("\(index).ckc")
            #expect(try fixture.isRight(ckc, request))
            let terms = try fixture.open(ckc, request).terms
            #expect(terms.lease?.value == 90)
            #expect(terms.rental?.value == 600)
        }
    }

    private func stateful(_ version: SPCVersion) throws -> DeviceRequest {
        var options = DeviceOptions(version: version, assetID: Array(DaemonFixture.content.utf8))
        options.playbackState = MediaPlaybackState(createdAt: 1, state: .readyToStart, sessionID: 2)
        return try fixture.folder.makeDevice(version, using: .init()).makeRequest(options)
    }

    @Test func takesAChunkedBodyAndExpectContinue() throws {
        let token = try fixture.token()
        let request = try fixture.deviceRequest(.v1)
        let connection = try fixture.daemon.connect()
        connection.send(
            "POST /fps/license HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \(token)\r\n"
                + "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n")
        #expect(try connection.receive().status == 100)
        for part in [request.message.prefix(7), request.message.dropFirst(7)] {
            connection.send(Array("\(String(part.count, radix: 16))\r\n".utf8) + part + Array("\r\n".utf8))
        }
        connection.send("0\r\n\r\n")
        let response = try connection.receive()
        #expect(response.status == 200)
        #expect(try fixture.isRight(response.body, request))
    }

    @Test func keepsTheCauseOfARejectionToTheLog() throws {
        let token = try fixture.token()
        let connection = try fixture.daemon.connect()
        let faults: [SPCFault] = [
            .payload(.wrongIntegrity), .container(.corruptedWrappedKey), .payload(.missingR2),
            .payload(.garbagePayload),
        ]
        let answers = try faults.map { fault in
            try connection.license(fixture.deviceRequest(.v1, with: fault).message, token: token)
        }
        #expect(answers.allSatisfy { $0.status == 422 && $0.code == "spc_rejected" })
        #expect(Set(answers.map { $0["Content-Length"] }).count == 1)
        #expect(Set(answers.map { $0.fields.map(\.name) }).count == 1)
        let ids = answers.compactMap { $0["X-Request-Id"] }
        #expect(Set(ids).count == faults.count)
        let lastID = try #require(ids.last)
        #expect(
            fixture.daemon.process.messages.wait { String(decoding: $0, as: UTF8.self).contains(lastID) ? 1 : nil } == 1
        )
        let causes = ids.compactMap { id in
            fixture.daemon.log.first { $0["request_id"]?.string == id }?["cause"]?.string
        }
        #expect(Set(causes).count == faults.count)
    }

    @Test func servesTheCertificatesThatItWasGiven() throws {
        let bundle = try fixture.daemon.connect().request("GET", "/fps/certificate")
        #expect(bundle.body == (try fixture.folder.files.read("fairplay/bundle.bin")))
        let tag = try #require(bundle["ETag"])
        let again = try fixture.daemon.connect().request("GET", "/fps/certificate", ["If-None-Match": tag])
        #expect(again.status == 304)
    }

    /// Each listener has its own routes.
    @Test func keepsTheListenersApart() throws {
        let token = try fixture.folder.adminToken()
        let authorization = ["Authorization": "Bearer \(token)"]
        #expect(try fixture.daemon.connect().request("GET", "/metrics", authorization).status == 404)
        let admin = try fixture.daemon.connectAsAdmin()
        #expect(try admin.request("POST", "/fps/license", authorization).status == 404)
        #expect(try admin.request("GET", "/fps/certificate", authorization).status == 404)
        #expect(try admin.request("GET", "/metrics").status == 401)
        #expect(try admin.request("GET", "/metrics", ["Authorization": "Bearer \(token)x"]).status == 401)
        #expect(try admin.request("GET", "/readyz").status == 200)
        #expect(try fixture.daemon.connect().request("GET", "/readyz").status == 200)
    }

    /// A request is counted after its response is sent. The last request only makes sure that those before it are
    /// counted.
    @Test func countsRequestsByTheClassOfTheirStatus() throws {
        let connection = try fixture.daemon.connect()
        #expect(try connection.request("GET", "/nothing").status == 404)
        #expect(try connection.request("GET", "/livez").status == 200)
        #expect(try connection.request("GET", "/fps/license").status == 405)
        #expect(try connection.request("GET", "/livez").status == 200)
        let metrics = try fixture.metrics()
        #expect(metrics["latchkey_http_requests_total{class=\"4xx\"}"] == 2)
        let successes = try #require(metrics["latchkey_http_requests_total{class=\"2xx\"}"])
        #expect((1...2).contains(successes))
    }
}

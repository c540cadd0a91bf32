import ByteCoding
import FairPlay
import Foundation
import TestSupport
import Testing

/// `device request --as` with made-up answers. The interop tests use the daemon, over TLS and proxies.
@Suite(.tags(.startsProcesses)) struct PlayerCommandTests {
    private let fixture: DevelopmentFixture

    init() throws {
        fixture = try DevelopmentFixture()
    }

    private func request(
        _ url: String, as players: String, _ more: [String] = [], skd: [String] = ["skd://movie-1"]
    ) async throws -> LatchkeyProcess {
        let certificate = ["--certificate", fixture.fairPlay("bundle.bin")]
        return try await run(url, players, skd, certificate + more)
    }

    private func run(
        _ url: String, _ players: String, _ skd: [String], _ more: [String]
    ) async throws -> LatchkeyProcess {
        try await LatchkeyProcess(
            arguments: [
                "device", "request", "--as", players, "--url", url, "--token", "a.b.c", "--application-secret",
                fixture.fairPlay("application-secret.hex"),
            ] + skd.flatMap { ["--skd", $0] } + more)
    }

    private func response(_ status: String, _ fields: [String] = [], body: [UInt8] = []) -> [UInt8] {
        let head = ["HTTP/1.1 \(status)", "Content-Length: \(body.count)", "Connection: close"] + fields
        return Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
    }

    @Test(arguments: [
        ("hls.js", "POST /fps/license HTTP/1.1\r\n", "\r\nAuthorization: Bearer a.b.c\r\n"),
        ("kaltura", "POST /fps/license HTTP/1.1\r\n", "\r\nContent-Type: application/octet-stream\r\n"),
        ("nagra", "POST /fps/license HTTP/1.1\r\n", "\r\nnv-authorizations: a.b.c\r\n"),
        ("nagra", "POST /fps/license HTTP/1.1\r\n", "\r\nAccept: application/json\r\n"),
        ("expressplay", "POST /hms/fp/rights/?ExpressPlayToken=a.b.c HTTP/1.1\r\n", "\r\nAccept: */*\r\n"),
        ("theoplayer-pallycon", "POST /fps/license?format=base64 HTTP/1.1\r\n", "\r\n\r\nspc=AAAA"),
        ("apple-streaming-keys", "POST /fps/license HTTP/1.1\r\n", "\"uri\":\"skd://movie-1\""),
    ])
    func sendsWhatThePlayerSends(player: String, start: String, part: String) async throws {
        let server = try OneAnswerServer(answer: response("404 Not Found"))
        let run = try await request(server.url, as: player)
        #expect(run.status == 1)
        #expect(server.request.hasPrefix(start), "\(server.request)")
        #expect(server.request.contains(part), "\(server.request)")
    }

    @Test func sendsNoTypeIfThePlayerSendsNone() async throws {
        let server = try OneAnswerServer(answer: response("404 Not Found"))
        _ = try await request(server.url, as: "hls.js")
        #expect(!server.request.lowercased().contains("content-type"))
        #expect(!server.request.lowercased().contains("expect:"))
    }

    /// The app replaces the scheme of a token URL, and sends its request to that URL without the command line's token.
    @Test func followsATokenURLAsTheAppDoes() async throws {
        let server = try OneAnswerServer(answer: response("404 Not Found"))
        let place = server.url.dropFirst("http://".count)
        _ = try await request(
            "http://127.0.0.1:1", as: "expressplay", skd: ["skd://\(place)/hms/fp/rights/?ExpressPlayToken=own"])
        #expect(server.request.hasPrefix("POST /hms/fp/rights/?ExpressPlayToken=own HTTP/1.1\r\n"), "\(server.request)")
        #expect(!server.request.contains("a.b.c"))
    }

    @Test func asksForAKeyThatItMayKeep() async throws {
        let server = try OneAnswerServer(answer: response("404 Not Found"))
        _ = try await request(server.url, as: "kaltura", ["--offline"])
        #expect(server.request.hasPrefix("POST /fps/license?offline=1 HTTP/1.1\r\n"))
    }

    @Test func printsARefusalInARow() async throws {
        let problem =
            #"{"status":401,"code":"token_expired","detail":"It has\u001b[31m expired.","hint":"Mint another."}"#
        let server = try OneAnswerServer(answer: response("401 Unauthorized", body: Array(problem.utf8)))
        let run = try await request(server.url, as: "hls.js")
        #expect(run.status == 1)
        let lines = run.output.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.last?.hasPrefix("hls.js  raw    1.1   401 ") == true, "\(run.output)")
        #expect(run.output.contains("refused: token_expired. It has[31m expired. Mint another."))
        #expect(run.messages.contains("1 of 1 players would not play: hls.js"))
        #expect(!(run.output + run.messages).contains("a.b.c"))
        #expect(!run.output.contains("\u{1B}"))
    }

    @Test func printsJSON() async throws {
        let server = try OneAnswerServer(answer: response("503 X", ["X-Error-Code: busy", "X-Request-Id: 0bad"]))
        let run = try await request(server.url, as: "hls.js", ["--json"])
        #expect(run.status == 1)
        let object = try run.object()
        #expect(object["good"]?.number?.unsigned == 0)
        #expect(object["asked"]?.number?.unsigned == 1)
        let row = try #require(object["players"]?.array?.first?.object)
        #expect(row["player"]?.string == "hls.js")
        #expect(row["verdict"]?.string == "refused")
        #expect(row["code"]?.string == "busy")
        #expect(row["copies"]?.number?.unsigned == 8)
        let exchange = try #require(row["requests"]?.array?.first?.object)
        #expect(exchange["status"]?.number?.unsigned == 503)
        #expect(exchange["httpVersion"]?.string == "1.1")
        #expect(exchange["requestID"]?.string == "0bad")
        #expect(row["licenses"]?.array?.isEmpty == true)
    }

    @Test func saysThatNothingAnswers() async throws {
        // Port 1 is reserved, and nothing listens there.
        let run = try await request("http://127.0.0.1:1", as: "hls.js,shaka")
        #expect(run.status == 1)
        #expect(run.output.split(separator: "\n").count == 3)
        #expect(run.output.contains("no answer: nothing answers at 127.0.0.1:1"))
        #expect(run.output.contains("(this player would send it 8 more times)"))
    }

    @Test func saysThatThePlayerWouldNotUnderstand() async throws {
        let server = try OneAnswerServer(answer: response("200 OK", body: Array("<ckc>AAAA</ckc>".utf8)))
        let run = try await request(server.url, as: "react-native-legacy")
        #expect(run.status == 1)
        #expect(run.output.contains("the player would not understand this answer: it reads the body as Base64"))
    }

    @Test(arguments: [
        ("200 OK", "<html>", "it needs DER, but /fps/certificate gives XML or HTML text"),
        ("404 Not Found", "", "/fps/certificate answers with status 404"),
        ("302 Found", "", "/fps/certificate answers with status 302"),
    ])
    func saysThatThereIsNoCertificate(status: String, body: String, expected: String) async throws {
        let server = try OneAnswerServer(answer: response(status, body: Array(body.utf8)))
        let run = try await run(server.url, "shaka", ["skd://movie-1"], [])
        #expect(run.status == 1)
        #expect(server.request.hasPrefix("GET /fps/certificate HTTP/1.1\r\n"))
        #expect(!server.request.contains("a.b.c"))
        #expect(run.output.contains("the player gets no certificate: \(expected)"), "\(run.output)")
    }

    /// An operator can read a PEM certificate, but no player can. Only one player can read Base64.
    @Test(arguments: [
        (
            "shaka", "GET /fps/certificate HTTP/1.1\r\n",
            "it needs DER, but /fps/certificate gives a PEM file (CERTIFICATE)"
        ),
        (
            "theoplayer-pallycon", "GET /fps/certificate?format=base64 HTTP/1.1\r\n",
            "it needs Base64, but /fps/certificate gives a PEM file (CERTIFICATE)"
        ),
    ])
    func needsTheCertificateInItsOwnForm(player: String, start: String, expected: String) async throws {
        let pem = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
        let server = try OneAnswerServer(answer: response("200 OK", body: Array(pem.utf8)))
        let run = try await run(server.url, player, ["skd://movie-1"], [])
        #expect(run.status == 1)
        #expect(server.request.hasPrefix(start), "\(server.request)")
        #expect(run.output.contains("the player gets no certificate: \(expected)"), "\(run.output)")
    }

    @Test func failsIfAPlayerThatIsNamedCannotAsk() async throws {
        let run = try await request("http://127.0.0.1:1", as: "safari-cenc")
        #expect(run.status == 1)
        #expect(run.output.contains("not tried: this player names the key by its key id: give --key-id"))
    }

    @Test(arguments: [
        ["--as", "quicktime"], ["--as", "hls.js,"], ["--as", "hls.js", "--skd", "movie-1"],
        ["--as", "hls.js", "--skd", "skd://a1", "--key-id", "1"],
        ["--as", "hls.js", "--skd", "skd://a1", "--skd", "skd://a2", "--key-id", "00112233445566778899aabbccddeeff"],
        ["--as", "hls.js"], ["--as", "hls.js", "--skd", "skd://a1", "--asset-id", "movie-1"],
        ["--as", "hls.js", "--skd", "skd://a1", "--save-ckc", "x"],
        ["--as", "hls.js", "--skd", "skd://a1", "--proxy", "127.0.0.1"],
        ["--as", "hls.js", "--skd", "skd://a1", "--timeout", "0"], ["--skd", "skd://a1"],
        ["--asset-id", "a1", "--certificate", "x", "--timeout", "0"], ["--asset-id", "a1"], ["--certificate", "x"],
    ])
    func refusesWhatMakesNoSense(words: [String]) async throws {
        let run = try await LatchkeyProcess(
            arguments: [
                "device", "request", "--url", "http://127.0.0.1:1", "--token", "a.b.c", "--application-secret",
                fixture.fairPlay("application-secret.hex"),
            ] + words)
        #expect(run.status == 2, "\(run.messages)")
        #expect(run.output.isEmpty)
        #expect(run.messages.contains("--help"))
    }

    @Test func helpNamesEveryPlayer() async throws {
        let run = try await LatchkeyProcess("device", "request", "--help")
        for player in [
            "hls.js", "shaka", "video.js", "avfoundation", "kaltura", "react-native", "expressplay", "nagra",
        ] {
            #expect(run.output.contains(player))
        }
        #expect(run.output.contains("--proxy URL"))
    }
}

import Foundation
import HTTPMessages
import Telemetry
import TestSupport
import Testing

@testable import AdminRoutes

/// The documents at an admin listener. `Tests/Page/test_help.py` opens the real site in a browser.
@Suite struct HelpFilesTests {
    private let folder: TemporaryDirectory
    private let log = MemoryLogSink()

    init() throws {
        folder = try TemporaryDirectory()
        try FileManager.default.createDirectory(
            atPath: folder.path("html/operate"), withIntermediateDirectories: true)
        try folder.write("<h1>Documents</h1>".utf8, to: "html/index.html")
        try folder.write("<h1>Page</h1>".utf8, to: "html/operate/page.html")
        try folder.write("{}".utf8, to: "html/index.json")
        try folder.write("secret".utf8, to: "secret")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("html/link"), withDestinationPath: folder.path("secret"))
    }

    private func read(_ name: String = "html") -> HelpFiles {
        HelpFiles.read(from: URL(filePath: folder.path(name)), Logger(level: .info, sink: log))
    }

    private func ask(
        _ fixture: RoutesFixture, _ path: String, _ method: HTTPMethod = .get, _ fields: HTTPFields = [:]
    ) async -> HTTPResponse {
        var fields = fields
        fields.append("Host", "localhost:8081")
        return await fixture.askAdmin(method, path, fields)
    }

    @Test(arguments: [
        ("/help/", "text/html; charset=utf-8", "<h1>Documents</h1>"),
        ("/help/index.html", "text/html; charset=utf-8", "<h1>Documents</h1>"),
        ("/help/operate/page.html", "text/html; charset=utf-8", "<h1>Page</h1>"),
        ("/help/index.json", "application/json", "{}"),
    ])
    func servesTheSiteWithoutACredential(path: String, contentType: String, body: String) async throws {
        let fixture = try RoutesFixture(help: read())
        let response = await ask(fixture, path)
        #expect(response.status == .ok && response.fields["Content-Type"] == contentType)
        #expect(response.body == Array(body.utf8))
        let policy = try #require(response.fields["Content-Security-Policy"])
        #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
        #expect(!policy.contains("unsafe") && response.fields["X-Content-Type-Options"] == "nosniff")
        let tag = try #require(response.fields["ETag"])
        #expect(await ask(fixture, path, .get, ["If-None-Match": tag]).status == .notModified)
    }

    @Test(arguments: [
        "/help", "/help/none.html", "/help/../secret", "/help/operate/../../secret", "/help//etc/passwd", "/help/link",
        "/help/operate", "/help/operate/", "/help/%2e%2e/secret", "/help/index.html/",
    ])
    func servesNothingElse(path: String) async throws {
        let fixture = try RoutesFixture(help: read())
        #expect(await ask(fixture, path).status == .notFound)
    }

    @Test func refusesOtherMethods() async throws {
        let fixture = try RoutesFixture(help: read())
        #expect(await ask(fixture, "/help/index.html", .post).status == .methodNotAllowed)
    }

    /// The operator's page shows "Help" only if there is help.
    @Test func isNamedToTheOperatorsPage() async throws {
        let credentials: HTTPFields = ["Authorization": "Bearer \(RoutesFixture.adminToken)"]
        for (help, isNamed) in [(read(), true), (read("missing"), false), (HelpFiles.none, false)] {
            let response = await ask(try RoutesFixture(help: help), "/v1/whoami", .get, credentials)
            #expect(response.status == .ok)
            let text = String(decoding: response.body, as: UTF8.self)
            #expect(text.contains(#""help":"/help/index.html""#) == isNamed, "\(text)")
            #expect(text.contains("help") == isNamed)
        }
        #expect(log.lines.isEmpty)
    }

    @Test func aFileIsServedCompressedIfThatFormIsThere() async throws {
        try folder.write([0x1F, 0x8B, 1], to: "html/index.json.gz")
        try folder.write([0x1F, 0x8B, 2], to: "html/alone.css.gz")
        let fixture = try RoutesFixture(help: read())
        let response = await ask(fixture, "/help/index.json")
        #expect(response.body == [0x1F, 0x8B, 1] && response.fields["Content-Encoding"] == "gzip")
        #expect(response.fields["Content-Type"] == "application/json")
        #expect(await ask(fixture, "/help/index.html").fields["Content-Encoding"] == nil)
        for path in ["/help/index.json.gz", "/help/alone.css.gz", "/help/alone.css"] {
            #expect(await ask(fixture, path).status == .notFound)
        }
    }

    @Test func aFileThatCannotBeReadIsToldAndIsNoReasonToStop() throws {
        // A site that is too large is not kept.
        let file = folder.path("html/large")
        #expect(FileManager.default.createFile(atPath: file, contents: nil))
        try FileHandle(forWritingTo: URL(filePath: file)).truncate(atOffset: 64 << 20)
        #expect(read().address == nil)
        #expect(log.lines.contains { $0.contains("help_unreadable") })
    }
}

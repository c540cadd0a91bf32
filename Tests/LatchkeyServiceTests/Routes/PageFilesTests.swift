import Administration
import ByteCoding
import Foundation
import HTTPMessages
import Records
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

@Suite struct PageFilesTests {
    private let fixture: RoutesFixture

    init() throws {
        fixture = try RoutesFixture()
    }

    /// Browsers send the name of the host always.
    private func ask(_ path: String, _ method: HTTPMethod = .get, _ fields: HTTPFields = [:]) async -> HTTPResponse {
        var fields = fields
        if fields["Host"] == nil { fields.append("Host", "localhost:8081") }
        return await fixture.askAdmin(method, path, fields)
    }

    @Test func servesThePageWithoutACredential() async throws {
        let page = await ask("/")
        #expect(page.status == .ok)
        #expect(page.fields["Content-Type"] == "text/html; charset=utf-8")
        #expect(page.body.starts(with: "<!doctype html>\n".utf8))
        #expect(page.fields["Set-Cookie"] == nil)
        let alias = await ask("/page/index.html")
        #expect(alias.body == page.body && alias.fields["ETag"] == page.fields["ETag"])
    }

    @Test(arguments: [
        ("/page/main.js", "text/javascript; charset=utf-8"), ("/page/theme.css", "text/css; charset=utf-8"),
        ("/page/favicon.svg", "image/svg+xml"),
    ])
    func servesTheFilesOfThePage(path: String, contentType: String) async throws {
        let response = await ask(path)
        #expect(response.status == .ok && response.fields["Content-Type"] == contentType)
        #expect(response.body.last == UInt8(ascii: "\n"))
    }

    /// Each file that another file of the page names is served.
    @Test func everyFileThatThePageNamesIsThere() async throws {
        var named: Set<String> = []
        for file in EmbeddedFile.page {
            named.formUnion(file.text.matches(of: #/(?:src|href)="(/page/[^"]+)"/#).map { String($0.1) })
            named.formUnion(file.text.matches(of: #/from "\./([^"]+)"/#).map { "/page/" + String($0.1) })
        }
        #expect(named.count == EmbeddedFile.page.count - 1, "a file is missing, or is named by no other")
        for path in named { #expect(PageFiles.file(at: path) != nil, "\(path)") }
    }

    /// The browser is told to run no code and to load nothing that is not a file of this listener.
    @Test(arguments: ["/", "/page/main.js"])
    func forbidsForeignCodeAndFrames(path: String) async throws {
        let fields = await ask(path).fields
        let policy = try #require(fields["Content-Security-Policy"])
        let directives = Set(policy.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) })
        #expect(
            directives.isSuperset(of: [
                "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'",
                "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'",
            ]))
        #expect(!policy.contains("unsafe") && !policy.contains("*"))
        #expect(fields["X-Content-Type-Options"] == "nosniff")
        #expect(fields["Referrer-Policy"] == "no-referrer")
        #expect(fields["Cross-Origin-Opener-Policy"] == "same-origin")
        #expect(fields["Cross-Origin-Resource-Policy"] == "same-origin")
        #expect(fields["Cache-Control"] == "no-cache")
    }

    @Test func answersWithoutABodyIfTheBrowserHasTheFile() async throws {
        let tag = try #require(await ask("/").fields["ETag"])
        #expect(tag.hasPrefix("\"") && tag.hasSuffix("\"") && tag.utf8.count == 34)
        for known in [tag, "W/\(tag)", "\"other\", \(tag)", "*"] {
            let response = await ask("/", .get, ["If-None-Match": known])
            #expect(response.status == .notModified && response.body.isEmpty, "\(known)")
            #expect(response.fields["ETag"] == tag && response.fields["Content-Security-Policy"] != nil)
        }
        for other in ["\"other\"", "", String(tag.dropLast(2)), tag + "x"] {
            #expect(await ask("/", .get, ["If-None-Match": other]).status == .ok, "\(other)")
        }
    }

    @Test func everyFileHasItsOwnTag() {
        let tags = Set(EmbeddedFile.page.compactMap { PageFiles.file(at: PageFiles.prefix + $0.name)?.tag })
        #expect(tags.count == EmbeddedFile.page.count)
    }

    @Test(arguments: [
        "/page/", "/page/none.js", "/page/../theme.css", "/page/main.js/", "/page/MAIN.js", "/page//main.js",
    ])
    func hasNoOtherFile(path: String) async throws {
        let response = await ask(path)
        #expect(response.status == .notFound && response.fields["X-Error-Code"] == "not_found")
    }

    @Test(arguments: ["/", "/page/main.js"])
    func isOnlyRead(path: String) async throws {
        #expect(await ask(path, .head).status == .ok)
        for method in [HTTPMethod.post, .put, .patch, .delete, .options] {
            let response = await ask(path, method)
            #expect(response.status == .methodNotAllowed && response.fields["Allow"] == "GET, HEAD")
        }
    }

    /// A name that somebody else can point here would make the page's session theirs. The fixture has a token.
    @Test(arguments: ["/", "/page/main.js"])
    func isNotServedUnderAnUnknownName(path: String) async throws {
        for host in ["evil.example", "evil.example:8081", "localhost.evil.example"] {
            let response = await ask(path, .get, ["Host": host])
            #expect(response.status == .badRequest && response.fields["ETag"] == nil, "\(host)")
        }
        for host in ["localhost:8081", "127.0.0.1:8081", "[::1]:8081", "LOCALHOST"] {
            #expect(await ask(path, .get, ["Host": host]).status == .ok, "\(host)")
        }
    }

    /// The page has a sentence for each kind of row, and a plot for each series of the history.
    @Test func knowsEveryKindOfRowAndEverySeries() throws {
        func text(_ name: String) throws -> String { try #require(EmbeddedFile.page.first { $0.name == name }).text }
        let sentences = try text("ledger-words.js")
        for kind in LedgerEntry.Kind.allCases { #expect(sentences.contains("\n  \(kind.word): \""), "\(kind)") }
        let plots = try text("series.js")
        // Parts of what the plots show anyway: copies of licenses, and all refusals together.
        let left: Set<HistorySeries> = [.licensesRepeated, .refusals]
        for series in HistorySeries.allCases where !left.contains(series) {
            #expect(plots.contains("[\"\(series.rawValue)\", "), "\(series.rawValue)")
        }
    }

    /// `embedded.c` names each file of the folder, once with its bytes and once with its name.
    @Test func areTheFilesOfTheFolder() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Sources/CEmbedded/OperatorPage")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.sorted() == EmbeddedFile.page.map(\.name))
        for file in EmbeddedFile.page {
            #expect(try Array(Data(contentsOf: folder.appending(path: file.name))) == file.content, "\(file.name)")
        }
    }

    // MARK: What the policy forbids

    /// What a browser would refuse, or what would make a text of the server into markup or code.
    private static let unfit = [
        #"<script(?![^>]*\ssrc=)"#, #"<style|\sstyle="#, #"<[^>]*\son[a-z]+="#,
        #"\b(innerHTML|outerHTML|insertAdjacentHTML|document\.write)\b"#, #"\b(eval|new Function)\b"#,
        #"(?:src|href|url\(|from |import\()\s*=?\s*["']?(?:https?:)?//"#,
    ]

    /// A dot ends a word. By Unicode's rules, `place.innerHTML` would be one.
    private static func expression(_ pattern: String) throws -> Regex<AnyRegexOutput> {
        try Regex(pattern).wordBoundaryKind(.simple)
    }

    @Test func noFileHasWhatThePolicyForbids() throws {
        for pattern in Self.unfit {
            let expression = try Self.expression(pattern)
            for file in EmbeddedFile.page {
                #expect(file.text.firstMatch(of: expression) == nil, "\(file.name) has \(pattern)")
            }
        }
    }

    @Test(arguments: [
        "<script>go()</script>", "<p style=\"color: red\">", "<p onclick=\"go()\">", "<style>", "eval(text)",
        "<img src=\"//example.com/a.png\">", "place.innerHTML = text;", "import a from \"https://example.com/a.js\";",
        "a { background: url(https://example.com/a.png) }",
    ])
    func knowsWhatThePolicyForbids(text: String) throws {
        #expect(try Self.unfit.contains { text.firstMatch(of: try Self.expression($0)) != nil })
    }

    /// Long lines of markup and code are hard to read. A path of a picture has no better place to break.
    @Test func noLineIsLong() {
        for file in EmbeddedFile.page where !file.name.hasSuffix(".svg") {
            for line in file.text.split(separator: "\n") { #expect(line.count <= 120, "\(file.name): \(line)") }
            #expect(!file.text.contains("\t") && !file.text.contains("\r"), "\(file.name)")
        }
    }
}

extension EmbeddedFile {
    fileprivate var text: String { String(decoding: content, as: UTF8.self) }
}

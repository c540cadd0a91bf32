import Foundation
import Testing

@testable import PackagerAPI

/// The tables of `Playlists.md` list exactly the rules of the code.
@Suite struct PlaylistArticleTests {
    @Test func listsEachRuleWithItsSeverity() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Documentation/packaging/playlists.md")
        let article = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        let rows = article.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { row in
            row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        let listed = rows.filter { ["error", "warning"].contains($0[1]) }.map { "\($0[0]) \($0[1])" }
        let expected = PlaylistRule.allCases.map { "`\($0.rawValue)` \($0.severity.rawValue)" }
        #expect(listed.sorted() == expected.sorted())
    }
}

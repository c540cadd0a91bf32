import Foundation
import Testing

/// The article on metrics names every metric of the sources.
@Suite struct MetricsArticleTests {
    private static let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// Names that the code builds from parts are tested with a running daemon (Tests/Interop/test_resources.py).
    @Test func namesEveryMetric() throws {
        let sources = Self.repository.appending(path: "Sources")
        let article = try String(
            contentsOf: Self.repository.appending(path: "Documentation/reference/metrics.md"), encoding: .utf8)
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var names: Set<Substring> = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            names.formUnion(text.matches(of: /"(latchkey_[a-z_]*[a-z])"/).map(\.1))
        }
        // These are names of functions in external modules.
        names = names.filter { !$0.hasPrefix("latchkey_ladder_") }
        // The name of a cookie.
        names.remove("latchkey_admin")
        #expect(names.count > 50)
        for name in names { #expect(article.contains("`\(name)`"), "\(name) is not in the article") }
    }
}

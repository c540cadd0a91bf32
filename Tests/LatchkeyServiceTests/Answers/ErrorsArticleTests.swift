import Foundation
import Licensing
import Testing

/// Each code has a row in the article "Errors", and a page that tells a client and an operator what to do.
@Suite struct ErrorsArticleTests {
    private static let reference = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Documentation/reference")
    private static let pages = reference.appending(path: "errors")

    @Test func everyCodeHasOnePageAndNoOtherHas() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.pages.path)
        #expect(names.sorted() == ProblemCode.allCases.map { "\($0.rawValue).md" }.sorted())
    }

    @Test(arguments: ProblemCode.allCases)
    func theTableLinksToThePage(code: ProblemCode) throws {
        let table = try String(contentsOf: Self.reference.appending(path: "errors.md"), encoding: .utf8)
        let rows = table.split(separator: "\n").filter { $0.hasPrefix("| [`\(code.rawValue)`](") }
        #expect(rows.count == 1)
        #expect(rows.first?.hasPrefix("| [`\(code.rawValue)`](errors/\(code.rawValue).md) | ") == true)
    }

    @Test(arguments: ProblemCode.allCases)
    func aPageSaysWhatHappenedWhyAndWhatToDo(code: ProblemCode) throws {
        let page = try String(contentsOf: Self.pages.appending(path: "\(code.rawValue).md"), encoding: .utf8)
        let parts = page.trimmingCharacters(in: .newlines).components(separatedBy: "\n\n")
        try #require(parts.count == 4)
        #expect(parts[0] == "# \(code.rawValue)" && !parts[1].isEmpty && parts[3] == "[Errors](../errors.md)")
        let items = parts[2].split(separator: "\n").filter { !$0.hasPrefix("  ") }
        let starts = ["- **Causes:** ", "- **Client:** ", "- **Operator:** "]
        #expect(items.count == starts.count && zip(items, starts).allSatisfy { $0.hasPrefix($1) })
        let words = parts[0...2].joined(separator: " ").split { $0 == " " || $0 == "\n" }
        #expect(words.count <= 60, "a page is short")
    }
}

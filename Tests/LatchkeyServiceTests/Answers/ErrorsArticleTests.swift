import Foundation
import Licensing
import Testing

/// reference/errors.md has a section for each code that tells an integrator or an operator what to do.
@Suite struct ErrorsArticleTests {
    private static let article = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Documentation/reference/errors.md")

    /// The lines below each heading that is a code, in their order.
    private let sections: [(code: String, lines: [Substring])]

    init() throws {
        let text = try String(contentsOf: Self.article, encoding: .utf8)
        sections = text.components(separatedBy: "\n### `").dropFirst().map { section in
            let lines = section.split(separator: "\n")
            return (String(lines.first?.prefix { $0 != "`" } ?? ""), Array(lines.dropFirst()))
        }
    }

    @Test func everyCodeHasOneSectionAndNoOtherHas() {
        #expect(sections.map(\.code).sorted() == ProblemCode.allCases.map(\.rawValue).sorted())
    }

    @Test(arguments: ProblemCode.allCases)
    func aSectionNamesTheCauseWhatToLookAtAndWhatToDo(code: ProblemCode) throws {
        let section = try #require(sections.first { $0.code == code.rawValue }, "no section for \(code.rawValue)")
        let items = section.lines.filter { $0.hasPrefix("- ") }
        let starts = ["- Cause: ", "- Look at: ", "- Do: "]
        #expect(items.count == starts.count && zip(items, starts).allSatisfy { $0.hasPrefix($1) })
    }
}

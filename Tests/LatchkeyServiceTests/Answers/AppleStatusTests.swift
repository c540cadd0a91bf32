import Foundation
import Licensing
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

/// The status number of each key in answers for several keys, compared with the column "Apple" of reference/errors.md.
@Suite struct AppleStatusTests {
    private static let article = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Documentation/reference/errors.md")

    /// The number of each code, or nil if the table has no number for it. Codes that are not given yet are left out.
    private let table: [ProblemCode: Int64?]

    init() throws {
        let text = try String(contentsOf: Self.article, encoding: .utf8)
        let rows = try #require(text.components(separatedBy: "## The codes").last).split(separator: "\n")
        var table: [ProblemCode: Int64?] = [:]
        for row in rows {
            let cells = row.split(separator: "|").prefix(5).map { $0.trimmingCharacters(in: [" "]) }
            // The first cell is a link, whose text is the code.
            guard cells.count == 5, let name = cells[0].firstMatch(of: /^\[`(\w+)`\]/)?.1,
                let code = ProblemCode(rawValue: String(name))
            else { continue }
            table[code] = .some(Int64(cells[4]))
        }
        self.table = table
    }

    @Test(arguments: ProblemCode.allCases)
    func theNumberIsThatOfTheTable(code: ProblemCode) throws {
        let expected = try #require(table[code], "no row for \(code.rawValue)")
        #expect(code.appleStatus == expected)
    }

    /// Zero means success, and browsers know no positive numbers.
    @Test func everyNumberIsNegative() {
        let numbers = ProblemCode.allCases.compactMap(\.appleStatus)
        #expect(numbers.count > 40 && numbers.allSatisfy { $0 < 0 })
    }
}

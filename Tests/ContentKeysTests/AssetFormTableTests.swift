import ByteCoding
import Foundation
import Testing

@testable import ContentKeys

/// Checks each row of the table of asset ids in apps/requests.md against the resolver.
@Suite struct AssetFormTableTests {
    private static let article = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Documentation/apps/requests.md")

    private struct Row {
        let form: String
        let assetID: AssetID
        let names: String
    }

    private let rows: [Row]
    private let key: AssetCandidate
    private let content: AssetCandidate

    init() throws {
        key = .keyID(try KeyID(parsing: "00112233-4455-6677-8899-aabbccddeeff"))
        content = .contentID(try ContentID("movie-1"))
        let text = try String(contentsOf: Self.article, encoding: .utf8)
        let section = try #require(
            text.components(separatedBy: "\n## Asset ids").last?.components(separatedBy: "\n### ").first)
        rows = try section.split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasPrefix("| form") }.map { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            let example = try #require(cells.count == 3 ? cells[1].trimmingCharacters(in: ["`"]) : nil)
            let bytes =
                example.hasPrefix("0x") ? try Hexadecimal.decode(String(example.dropFirst(2))) : Array(example.utf8)
            return Row(form: cells[0], assetID: try AssetID(bytes: bytes), names: cells[2])
        }
    }

    /// Returns the candidate that a store finds if it has only this key.
    private func found(by assetID: AssetID) -> AssetCandidate? {
        AssetReference(assetID).candidates.first { candidate in
            if case .track(let named) = candidate { return ASCII.equal(named.label?.text.utf8 ?? "".utf8, "HD".utf8) }
            return candidate == key || candidate == content
        }
    }

    @Test func everyRowIsTrue() {
        #expect(rows.count >= 33)
        for row in rows {
            switch row.names {
            case "the key": #expect(found(by: row.assetID) == key, "\(row.form)")
            case "the content": #expect(found(by: row.assetID) == content, "\(row.form)")
            case "the track":
                let found = found(by: row.assetID)
                #expect(found != content && found?.contentID == content.contentID, "\(row.form)")
            default: Issue.record("\(row.form) names \(row.names)")
            }
        }
    }

    @Test func everyTextIsReadInUTF16Too() throws {
        for row in rows where row.assetID.bytes.allSatisfy({ $0 != 0 }) && row.assetID.bytes.count <= 512 {
            let wide = try AssetID(bytes: row.assetID.bytes.flatMap { [$0, 0] })
            #expect(found(by: wide) == found(by: row.assetID), "\(row.form)")
        }
    }

    @Test(arguments: ["skd://movie-1//", "movie-1/", "keys.example.com/movie-1;"])
    func aSeparatorAtTheEndIsNotPartOfTheName(text: String) throws {
        #expect(found(by: try AssetID(bytes: Array(text.utf8))) == content)
    }

    @Test func aNameOf1024BytesIsRead() throws {
        let text = "skd://keys.example.com/?token=" + String(repeating: "t", count: 982) + "&cid=movie-1"
        #expect(text.utf8.count == 1024)
        #expect(found(by: try AssetID(bytes: Array(text.utf8))) == content)
    }
}

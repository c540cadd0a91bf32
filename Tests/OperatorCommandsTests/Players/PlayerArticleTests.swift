import Foundation
import PlayerMessages
import Testing

@testable import PlayerTools

/// The table of players in the documentation agrees with the program's table.
@Suite struct PlayerArticleTests {
    private static let article = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Documentation/apps/trials.md")

    /// The cells of each row that begins with the name of a player.
    private static func rows() throws -> [[String]] {
        let text = try String(contentsOf: article, encoding: .utf8)
        let table = try #require(text.components(separatedBy: "| player | shape |").dropFirst().first)
        return table.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { line in
            line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    @Test func hasEveryPlayerInOrder() throws {
        #expect(try Self.rows().map { $0[0] } == Player.allCases.map { "`\($0.rawValue)`" })
    }

    @Test(arguments: Player.allCases)
    func saysWhatThePlayerSends(player: Player) throws {
        let row = try #require(try Self.rows().first { $0.first == "`\(player.rawValue)`" })
        let profile = player.profile
        #expect(row[1] == profile.body.shape.name)
        let type: String =
            switch profile.contentType {
            case nil: "none"
            case "application/json": "JSON"
            case "application/x-www-form-urlencoded": "form"
            case .some(let type): type.replacing("application/", with: "").replacing(";charset=UTF-8", with: "")
            }
        #expect(row[2] == type)
        let token: String =
            switch profile.token {
            case .bearer: "Bearer"
            case .header(let name): "`\(name)`"
            case .query(let name): "query `\(name)`"
            }
        #expect(row[3] == token)
        let assetID: String =
            switch profile.assetID {
            case .wholeURI: "whole URI"
            case .withoutScheme: "without `skd://`"
            case .host: "host"
            case .keyID: "key id"
            }
        #expect(row[4] == assetID)
    }

    @Test(arguments: [
        PlayerVerdict.plays, .notKept, .refused(status: 403, code: nil, advice: ""), .keyDenied(""),
        .notUnderstood(""), .notOpened(""), .noAnswer(""), .noCertificate(""), .notAsked(""),
    ])
    func namesEachVerdict(verdict: PlayerVerdict) throws {
        #expect(try String(contentsOf: Self.article, encoding: .utf8).contains("`\(verdict.word)`"))
    }
}

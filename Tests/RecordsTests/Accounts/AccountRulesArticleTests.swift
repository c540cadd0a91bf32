import ContentKeys
import Foundation
import TestSupport
import Testing

@testable import Records

/// The tables of the article `AccountRules`, row by row.
@Suite struct AccountRulesArticleTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let cells: [String]
        let steps: [String]
        let answers: [String]
        let testDescription: String

        /// Reads the code words in the last columns of a row. The first of them has the steps.
        init(_ row: Substring, answerCount: Int) {
            let columns = row.split(separator: "|").map { column in
                column.split(separator: "`").enumerated().filter { $0.offset % 2 == 1 }.map { String($0.element) }
            }
            cells = columns.first { !$0.isEmpty } ?? []
            steps = columns.dropLast(answerCount).last ?? []
            answers = columns.suffix(answerCount).flatMap(\.self)
            testDescription = steps.joined(separator: ", ")
        }
    }

    private static func rows(under heading: String, answerCount: Int) -> [Row] {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Sources/Records/Records.docc/RulesOfAccounts.md")
        let article = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        let section = article.components(separatedBy: "## \(heading)\n").last?.components(separatedBy: "\n## ").first
        return (section ?? "").split(separator: "\n").filter { $0.hasPrefix("| ") && $0.contains("`") }
            .map { Row($0, answerCount: answerCount) }
    }

    private static let decisions = rows(under: "Decisions", answerCount: 3)
    private static let actions = rows(under: "Other actions", answerCount: 1)

    @Test func hasBothTables() {
        #expect(Self.decisions.count == 13 && Self.actions.count == 9)
    }

    @Test(arguments: decisions)
    func decides(_ row: Row) async throws {
        try await run(row, at: [(99, 99), (100, 99), (100, 100)])
    }

    @Test(arguments: actions)
    func answers(_ row: Row) async throws {
        try await run(row, at: [(99, 99)])
    }

    private func run(_ row: Row, at times: [(now: Int64, settled: Int64)]) async throws {
        try #require(row.answers.count == times.count && row.steps.count > 1)
        for (time, answer) in zip(times, row.answers) {
            let store = MemoryCellStore()
            for step in row.steps.dropLast() {
                _ = try await store.perform(try await action(step, in: store), now: 0)
            }
            let last = try await action(row.steps[row.steps.count - 1], in: store)
            #expect(Set(last.cells.map { "\($0.key.kind)" }) == Set(row.cells))
            let given = try store.perform(last, at: AccountTime(now: time.now, settled: time.settled))
            #expect(given == Self.answers[answer], "\(time)")
        }
    }

    private static let answers: [String: AccountAnswer] = [
        "recorded": .outcome(.recorded), "repeated": .outcome(.repeated(answer: [1])), "changed": .done(true),
        "unchanged": .done(false), "replayed": .outcome(.denied(.replayed)),
        "rentalDiffers": .outcome(.denied(.rentalDiffers(RentalRecord(openedAt: 0)))),
        "sessionSuperseded": .outcome(.denied(.sessionSuperseded)),
        "tokenUsed": .outcome(.denied(.tokenUsed(limit: 1))), "deviceLimit": .outcome(.denied(.deviceLimit(limit: 1))),
        "otherDevice": .outcome(.denied(.otherDevice)), "slotEvicted": .outcome(.denied(.slotEvicted)),
        "slotsFull": .outcome(.denied(.slotsFull(current: 1, limit: 1))),
    ]

    private func action(_ step: String, in store: MemoryCellStore) async throws -> AccountAction {
        let (owner, holder) = (SampleDecisions.pseudonym(.owner, 1), SampleDecisions.pseudonym(.holder, 1))
        switch step {
        case "give back request + use": return .giveBack(try decision("request + use"))
        case "note request": return .noteRecorded(SampleDecisions.pseudonym(.request, 1))
        case "release playback a": return .release(try decision("playback a").slotClaims)
        case "end playback":
            let listed = try await store.playbacks(of: owner, after: nil, now: 0, limit: 1)
            return .change(.endPlayback(try #require(listed.first).position))
        case "remove device a":
            return .change(.removeDevice(owner: owner, device: SampleDecisions.pseudonym(.device, 1)))
        case "forget rental": return .change(.forgetRental(owner: owner, name: SampleDecisions.pseudonym(.rental, 1)))
        case "open challenge": return .openChallenge(1, holder: holder, expiresAt: 100, limit: 1)
        case "open another": return .openChallenge(2, holder: holder, expiresAt: 200, limit: 1)
        case "take challenge": return .takeChallenge(1, holder: holder)
        default: return .settle(try decision(step))
        }
    }

    private func decision(_ parts: String) throws -> LicenseDecision {
        var decision = LicenseDecision(now: 0, entry: SampleDecisions.entry(1))
        for part in parts.components(separatedBy: " + ") {
            let device: UInt64 = part.hasSuffix("b") ? 2 : 1
            switch part {
            case "retried request": decision.replay = SampleDecisions.replay(1, window: 100, keptUntil: 200)
            case "request": decision.replay = SampleDecisions.replay(1, window: 0, keptUntil: 100)
            case "rental", "other rental":
                let record = RentalRecord(openedAt: part == "rental" ? 0 : 1)
                decision.rental = SampleDecisions.rental(known: nil, record, keptUntil: 100)
            case "session 1": decision.sessionTokenUse = SampleDecisions.session(1, 1, keptUntil: 100)
            case "session 2": decision.sessionTokenUse = SampleDecisions.session(1, 2, keptUntil: 100)
            case "use": decision.tokenUse = SampleDecisions.use(limit: 1, keptUntil: 100)
            case "device a", "device b":
                decision.devicePlaces = [SampleDecisions.place(device: device, limit: 1, keptUntil: 100)]
            case "bound a", "bound b":
                decision.devicePlaces = [SampleDecisions.place(device: device, limit: 1, keptUntil: 100, .binding)]
            case "replacing b":
                decision.devicePlaces = [SampleDecisions.place(device: device, limit: 1, keptUntil: 100, .replacing)]
            case "playback a", "playback b", "evicting b", "next a":
                let content: UInt64 = part == "next a" ? 2 : 1
                let claim = SampleDecisions.slot(
                    part == "evicting b" ? .evictOldest : .denyNew, device: device, session: content, content: content,
                    heldUntil: 100)
                decision.slotClaims = [SampleDecisions.named(claim, content: "movie-\(content)")]
            default: throw UnknownStep(step: part)
            }
        }
        return decision
    }

    private struct UnknownStep: Error { let step: String }
}

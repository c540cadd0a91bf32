import ByteCoding
import FairPlay
import HTTPCalls
import PlayerMessages

/// The facts about one request of a player and its answer, without their bodies.
struct PlayerExchange: Sendable {
    let status: Int
    /// The version of HTTP: "1.1" or "2".
    let version: String
    /// The time from the beginning of the connection to the end of the answer.
    let milliseconds: Int
    let requestID: String?

    init(_ answer: HTTPRoundTripAnswer) {
        status = answer.status
        version = answer.version
        milliseconds = Int(answer.duration / .milliseconds(1))
        requestID = answer.value(of: "X-Request-Id")
    }
}

/// The result of one player.
struct PlayerOutcome: Sendable {
    let player: Player
    var exchanges: [PlayerExchange] = []
    /// The terms of the CKCs that the device could open.
    var terms: [LicenseTerms] = []
    var verdict = PlayerVerdict.plays
    /// The number of copies of the request that the player would send after this one.
    var copies = 0
}

extension PlayerOutcome {
    fileprivate static let titles = ["PLAYER", "SHAPE", "HTTP", "STATUS", "MS", "TERMS", "VERDICT"]

    fileprivate var cells: [String] {
        [
            player.rawValue, player.profile.body.shape.name, Self.list(exchanges.map(\.version)),
            Self.list(exchanges.map { "\($0.status)" }),
            exchanges.isEmpty ? "-" : "\(exchanges.reduce(0) { $0 + $1.milliseconds })",
            Self.list(terms.map(\.summary)), sentence,
        ]
    }

    private var sentence: String {
        guard copies > 0 else { return verdict.text }
        let times = copies == 1 ? "once more" : "\(copies) more times"
        return "\(verdict.text) (this player would send it \(times))"
    }

    /// The texts, each once.
    private static func list(_ texts: [String]) -> String {
        var seen: [String] = []
        for text in texts where !seen.contains(text) { seen.append(text) }
        return seen.isEmpty ? "-" : seen.joined(separator: " | ")
    }

    fileprivate func write(to writer: inout JSONWriter) {
        let profile = player.profile
        writer.member("player", player.rawValue)
        writer.member("name", profile.name)
        writer.member("source", profile.source)
        writer.member("shape", profile.body.shape.name)
        writer.objects("requests", exchanges) { writer, exchange in
            writer.member("status", exchange.status)
            writer.member("httpVersion", exchange.version)
            writer.member("milliseconds", exchange.milliseconds)
            writer.member("requestID", exchange.requestID)
        }
        writer.objects("licenses", terms) { $1.write(to: &$0) }
        writer.member("verdict", verdict.word)
        writer.member("isGood", verdict.isGood)
        writer.member("explanation", verdict.text)
        writer.member("code", verdict.code)
        writer.member("copies", copies)
    }
}

/// The table of a run.
struct PlayerReport {
    let outcomes: [PlayerOutcome]

    /// The players that would not play.
    ///
    /// A player that was not tried counts only if `--as` names it, because `all` has players that need a key id.
    func failed(named: Bool) -> [Player] {
        outcomes.filter { !$0.verdict.isGood && (named || !$0.verdict.isNotAsked) }.map(\.player)
    }

    var text: String {
        let rows = [PlayerOutcome.titles] + outcomes.map(\.cells)
        let widths = PlayerOutcome.titles.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let padded = zip(row, widths).dropLast().map { cell, width in cell.padded(to: width + 2) }
            return padded.joined() + (row.last ?? "")
        }.joined(separator: "\n")
    }

    func write(to writer: inout JSONWriter) {
        writer.objects("players", outcomes) { $1.write(to: &$0) }
        writer.member("good", outcomes.count { $0.verdict.isGood })
        writer.member("asked", outcomes.count { !$0.verdict.isNotAsked })
    }
}

extension PlayerVerdict {
    /// The server's code for a refusal; nil if it has none.
    var code: String? {
        if case .refused(_, let code, _) = self { code } else { nil }
    }

    var isNotAsked: Bool {
        if case .notAsked = self { true } else { false }
    }
}

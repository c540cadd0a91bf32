import ByteCoding
import CommandLineKit
import DeviceSimulation
import FairPlay

/// The results of a run as a table and as JSON, without keys, secrets and SPCs.
struct ConformanceReport {
    let seed: [UInt8]
    var results: [ConformanceResult] = []
    /// The times of refusals, in words.
    var timing: [String] = []

    func count(_ verdict: ConformanceVerdict) -> Int { results.count { $0.verdict == verdict } }

    /// Whether a server has done everything right that was tried, and something was tried.
    var holds: Bool { count(.failed) == 0 && count(.passed) > 0 }

    var summary: String {
        ConformanceVerdict.allCases.map { "\(count($0)) \($0.rawValue)" }.joined(separator: ", ")
    }

    var text: String {
        let run = results.filter { $0.verdict != .notRun }
        let rows = [["VERDICT", "CASE", "SPC", "RULE", "ANSWER", "FOUND"]] + run.map(\.cells)
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        var lines = rows.map { row in
            zip(row, widths).dropLast().map { cell, width in cell.padded(to: width + 2) }.joined() + row[row.count - 1]
        }
        let skipped = Dictionary(grouping: results.filter { $0.verdict == .notRun }, by: \.found)
        for (reason, cases) in skipped.sorted(by: { $0.key < $1.key }) {
            lines.append("not run  \(cases.count.counted("case")): \(reason)")
        }
        for (remark, count) in remarks { lines.append("remark   \(count) times: \(remark); devices accept it") }
        for time in timing { lines.append("hint     refusals for \(time)") }
        return (lines + [summary, "seed \(Hexadecimal.encode(seed))"]).joined(separator: "\n")
    }

    /// What CKCs have that devices accept, without the tags of blocks, and how often.
    private var remarks: [(key: String, value: Int)] {
        let words = results.flatMap(\.remarks).map { remark in
            if case .echoPadding = remark {
                "a block of the return request has other padding than in the SPC"
            } else {
                remark.explanation
            }
        }
        return Dictionary(grouping: words) { $0 }.mapValues(\.count).sorted { $0.key < $1.key }
    }

    func write(to writer: inout JSONWriter) {
        writer.member("holds", holds)
        for verdict in ConformanceVerdict.allCases { writer.member(verdict.member, count(verdict)) }
        writer.member("seed", Hexadecimal.encode(seed))
        writer.objects("results", results) { writer, result in
            writer.member("family", result.family.rawValue)
            writer.member("name", result.name)
            writer.member("spcVersion", result.version.map { Int64($0.rawValue) })
            writer.member("rule", "protocol, section \(result.rule)")
            writer.member("verdict", result.verdict.member)
            writer.member("found", result.found)
            writer.member("answer", result.code)
            writer.member("milliseconds", result.milliseconds)
            writer.member("remarks", result.remarks.map(\.explanation))
        }
        writer.member("refusalTimes", timing)
    }
}

extension ConformanceVerdict {
    fileprivate var member: String {
        switch self {
        case .passed, .differs, .failed: rawValue
        case .notRun: "notRun"
        }
    }
}

extension ConformanceResult {
    fileprivate var cells: [String] {
        [
            verdict.rawValue, "\(family.rawValue): \(name)", version.map { "\($0.rawValue)" } ?? "-", rule, code ?? "-",
            found,
        ]
    }
}

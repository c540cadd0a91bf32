import ByteCoding
import CommandLineKit
import CommandSupport
import ContentKeys
import PackagerAPI

/// The playlists that were read, and the findings about them.
struct LintReport: Sendable {
    var playlists: [LintedPlaylist] = []
    var assetIDs: [SentAssetID] = []
    var findings = PlaylistFindings()
    /// The addresses whose host by itself names the same key as the whole address.
    var namedByHost: Set<String> = []
    /// Whether warnings count as errors.
    var isStrict = false

    var errorCount: Int {
        findings.count(.error) + (isStrict ? findings.count(.warning) : 0)
    }

    var warningCount: Int { isStrict ? 0 : findings.count(.warning) }

    /// The counts in words, such as "2 errors and 1 warning".
    var counts: String {
        let errors = errorCount.counted("error")
        return isStrict ? errors : errors + " and " + warningCount.counted("warning")
    }

    /// Whether a playlist has a key. A line with METHOD=NONE does not count.
    private var hasKeys: Bool {
        playlists.contains { linted in
            linted.playlist.keys.contains { $0.attributes["METHOD"]?.text != "NONE" }
        }
    }

    private func severity(of finding: PlaylistFinding) -> FindingSeverity {
        isStrict ? .error : finding.rule.severity
    }

    /// The findings in the order of the playlists and of their lines.
    private var inOrder: [PlaylistFinding] {
        let names = playlists.map(\.name)
        let keyed = findings.found.enumerated().map { index, finding in
            (names.firstIndex(of: finding.source) ?? names.count, finding.line ?? 0, index, finding)
        }
        return keyed.sorted { ($0.0, $0.1, $0.2) < ($1.0, $1.1, $1.2) }.map(\.3)
    }

    // MARK: - Text

    /// The report as text. The rule and the advice follow the first finding of each rule.
    var text: String {
        var lines: [String] = []
        var explained: Set<PlaylistRule> = []
        for finding in inOrder {
            let place = finding.line.map { "\(finding.source):\($0)" } ?? finding.source
            lines.append("\(place): \(severity(of: finding).rawValue): \(finding.detail) [\(finding.rule.rawValue)]")
            guard explained.insert(finding.rule).inserted else { continue }
            lines += ["    Rule: \(finding.rule.statement)", "    To do: \(finding.rule.advice)"]
        }
        if findings.leftOutCount > 0 { lines.append("Left out: \(findings.leftOutCount.counted("further finding")).") }
        var lastURI: String?
        for sent in assetIDs {
            if sent.uri != lastURI { lines.append("\(PlaylistText.shown(sent.uri)):") }
            lastURI = sent.uri
            lines.append("    " + sent.line)
        }
        let segmentCount = playlists.reduce(0) { $0 + $1.segmentCount }
        let read = playlists.count.counted("playlist") + ", " + segmentCount.counted("segment")
        lines.append("\(read): \(counts)" + (segmentCount > 0 && !hasKeys ? "; no playlist has a key" : ""))
        return lines.joined(separator: "\n")
    }

    // MARK: - JSON

    func write(to writer: inout JSONWriter) {
        writer.objects("playlists", playlists) { $1.write(to: &$0) }
        writer.objects("assetIDs", assetIDs) { $1.write(to: &$0) }
        writer.objects("findings", inOrder) { writer, finding in
            writer.member("severity", severity(of: finding).rawValue)
            writer.member("file", finding.source)
            if let line = finding.line { writer.member("line", line) }
            writer.member("rule", finding.rule.rawValue)
            writer.member("detail", finding.detail)
            writer.member("statement", finding.rule.statement)
            writer.member("advice", finding.rule.advice)
        }
        writer.member("leftOut", findings.leftOutCount)
        writer.member("errors", errorCount)
        writer.member("warnings", warningCount)
    }
}

extension LintedPlaylist {
    var segmentCount: Int {
        switch playlist.content {
        case .media(let media): media.segmentCount
        case .multivariant: 0
        }
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("file", name)
        switch playlist.content {
        case .media: writer.member("kind", "media")
        case .multivariant: writer.member("kind", "multivariant")
        }
        if let version = playlist.version { writer.member("version", version.number) }
        writer.member("segments", segmentCount)
        writer.objects("keys", playlist.keys.prefix(PlaylistFindings.countMaximum)) { writer, key in
            writer.member("line", key.line)
            for name in ["METHOD", "URI", "KEYFORMAT", "KEYFORMATVERSIONS", "IV"] {
                writer.member(name, key.attributes[name]?.text)
            }
        }
    }
}

extension SentAssetID {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("uri", uri)
        writer.member("players", players.map(\.rawValue))
        writer.member("form", form.word)
        writer.member("assetID", assetID.map { AssetIDText.text(of: $0) })
        switch resolution {
        case nil: break
        case .live(let key, _):
            writer.member("state", key.state.rawValue)
            writer.member("kid", key.keyID.description)
            writer.member("content", key.contentID.text)
            writer.member("track", key.trackLabel?.text)
            writer.member("contentType", key.contentType.rawValue)
            writer.member("scheme", key.scheme.rawValue)
        case .withdrawn(let keyID):
            writer.member("state", "withdrawn")
            writer.member("kid", keyID.description)
        case .ambiguous(let contentID):
            writer.member("state", "ambiguous")
            writer.member("content", contentID.text)
        case .unknown: writer.member("state", "unknown")
        }
    }
}

import Foundation
import Testing

/// The article on log events has each event of the sources with its levels, and no other.
@Suite struct LogEventsArticleTests {
    private static let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    @Test func namesEveryEventWithItsLevels() throws {
        let written = try eventsOfTheSources()
        let described = try eventsOfTheArticle()
        #expect(written.count > 80)
        for (event, levels) in written { #expect(described[event] == levels, "\(event): \(levels.sorted())") }
        for event in described.keys { #expect(written[event] != nil, "no source logs \(event)") }
    }

    /// Looks for calls of a logger, whose event is a literal before the fields, and for events of refusals.
    private func eventsOfTheSources() throws -> [Substring: Set<Substring>] {
        let sources = Self.repository.appending(path: "Sources")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var events: [Substring: Set<Substring>] = [:]
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            for call in text.matches(
                of: /[lL]ogger\??\.(trace|debug|info|notice|warning|error|critical|log)\(([^\[)]*)/)
            {
                let words = call.2.matches(of: /\.(trace|debug|info|notice|warning|error|critical)\b/).map(\.1)
                let levels = call.1 == "log" ? Set(words) : [call.1]
                for event in call.2.matches(of: /"([a-z]+(?:_[a-z]+)*)"/) { events[event.1, default: []] |= levels }
            }
            for refusal in text.matches(of: /(?:response|note)\(\s*(?:to: )?"([a-z]+(?:_[a-z]+)+)"/) {
                events[refusal.1, default: []] |= ["info", "error"]
            }
            for line in text.matches(of: /level: \.([a-z]+), event: "([a-z_]+)"/) {
                events[line.2, default: []] |= [line.1]
            }
        }
        return events
    }

    private func eventsOfTheArticle() throws -> [Substring: Set<Substring>] {
        let article = try String(
            contentsOf: Self.repository.appending(path: "Documentation/reference/log-events.md"), encoding: .utf8)
        var events: [Substring: Set<Substring>] = [:]
        for row in article.matches(of: /(?m)^\| `([a-z_]+)` \| ([a-z, ]+) \|/) {
            #expect(events[row.1] == nil, "\(row.1) has two rows")
            events[row.1] = Set(row.2.matches(of: /[a-z]+/).map(\.0))
        }
        return events
    }
}

extension Set {
    fileprivate static func |= (set: inout Self, more: Self) { set.formUnion(more) }
}

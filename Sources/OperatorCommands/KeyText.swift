import ByteCoding
import CommandLineKit
import CommandSupport
import ContentKeys

extension ContentKeyAttributes {
    /// Writes the members of a key for `--json`. A member is null if the key has no value for it.
    func write(to writer: inout JSONWriter) {
        writer.member("kid", keyID.description)
        writer.member("content", contentID.text)
        writer.member("track", trackLabel?.text)
        writer.member("contentType", contentType.rawValue)
        writer.member("period", periodIndex.map { Int64($0) })
        writer.member("scheme", scheme.rawValue)
        writer.member("state", state.rawValue)
        writer.member("hdcp", leastHDCP?.rawValue)
        writer.member("securityLevel", leastSecurityLevel?.rawValue)
        writer.member("createdAt", UnixTime(seconds: createdAt)?.description)
    }
}

/// Keys as text for operators.
enum KeyText {
    /// A line for each pair of name and value. Names have at most 8 characters.
    static func lines(_ pairs: [(name: String, value: String)]) -> String {
        pairs.map { $0.name + String(repeating: " ", count: 9 - $0.name.count) + $0.value }.joined(separator: "\n")
    }

    /// The track, the period and the demands of a key, as far as it has them.
    static func policy(of key: ContentKeyAttributes) -> [(name: String, value: String)] {
        let values = [
            ("track", key.trackLabel?.text), ("period", key.periodIndex.map { String($0) }),
            ("type", key.contentType.rawValue), ("HDCP", key.leastHDCP?.rawValue),
            ("level", key.leastSecurityLevel?.rawValue), ("scheme", key.scheme == .cbcs ? nil : key.scheme.rawValue),
        ]
        return values.compactMap { name, value in value.map { (name, $0) } }
    }

    /// The line for a key in a list.
    static func line(_ key: ContentKeyAttributes) -> String {
        let time = UnixTime(seconds: key.createdAt)?.description ?? "-"
        let policy = policy(of: key).map { "  \($0.name) \($0.value)" }.joined()
        return "\(key.keyID)  \(key.state.rawValue)  \(time)  \(key.contentID)" + policy
    }
}

/// Prints the list of keys page by page, so that a million keys take no more memory than a thousand.
struct KeyList {
    private let store: OpenedKeyStore
    private let context: CommandContext

    init(_ store: OpenedKeyStore, _ context: CommandContext) {
        self.store = store
        self.context = context
    }

    /// Prints a line for each key, or one object whose member `keys` is a list.
    func print(of contentID: ContentID?, asJSON: Bool) async throws(CommandError) {
        let maintenance = try store.maintenance()
        var isFirst = true
        if asJSON { try context.printPart(Array(#"{"keys":["#.utf8)) }
        try await store.forEachPage(of: contentID) { page async throws(CommandError) in
            var part: [UInt8] = []
            for key in page {
                let url = try await store.assetURL(of: key, maintenance)
                if asJSON {
                    if !isFirst { part.append(UInt8(ascii: ",")) }
                    part += JSONWriter.object { writer in
                        key.write(to: &writer)
                        writer.member("url", url)
                    }
                } else {
                    part += Array("\(KeyText.line(key))  \(url ?? "-")\n".utf8)
                }
                isFirst = false
            }
            try context.printPart(part)
        }
        if asJSON {
            try context.printPart(Array("]}\n".utf8))
        } else if isFirst {
            try context.print(
                contentID.map { "no keys of the content \($0); without --content, all keys are listed" }
                    ?? "no content keys; make one with: latchkey keys create")
        }
    }
}

import ByteCoding
import ContentKeys

extension ContentKeyAttributes {
    /// The members of a key in what `--json` prints; null if a key says nothing.
    func write(to writer: inout JSONWriter) {
        writer.member("kid", keyID.description)
        writer.member("content", contentID.text)
        writer.member("track", trackLabel?.text)
        writer.member("contentType", contentType.rawValue)
        writer.name("period")
        if let periodIndex { writer.unsigned(UInt64(periodIndex)) } else { writer.null() }
        writer.member("scheme", scheme.rawValue)
        writer.member("state", state.rawValue)
        writer.member("hdcp", leastHDCP?.rawValue)
        writer.member("securityLevel", leastSecurityLevel?.rawValue)
        writer.member("createdAt", UnixTime(seconds: createdAt)?.description)
    }
}

/// What a person is told of keys.
enum KeyText {
    /// Names of at most 8 characters and values, a line each.
    static func lines(_ pairs: [(name: String, value: String)]) -> String {
        pairs.map { $0.name + String(repeating: " ", count: 9 - $0.name.count) + $0.value }.joined(separator: "\n")
    }

    /// What the key is for and what it demands, if it says so.
    static func policy(of key: ContentKeyAttributes) -> [(name: String, value: String)] {
        let values = [
            ("track", key.trackLabel?.text), ("period", key.periodIndex.map { String($0) }),
            ("type", key.contentType.rawValue), ("HDCP", key.leastHDCP?.rawValue),
            ("level", key.leastSecurityLevel?.rawValue), ("scheme", key.scheme == .cbcs ? nil : key.scheme.rawValue),
        ]
        return values.compactMap { name, value in value.map { (name, $0) } }
    }

    /// A key in a list.
    static func line(_ key: ContentKeyAttributes) -> String {
        let time = UnixTime(seconds: key.createdAt)?.description ?? "-"
        let policy = policy(of: key).map { "  \($0.name) \($0.value)" }.joined()
        return "\(key.keyID)  \(key.state.rawValue)  \(time)  \(key.contentID)" + policy
    }
}

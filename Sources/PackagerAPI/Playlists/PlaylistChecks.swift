import ByteCoding
import ContentKeys

/// Checks the rules of keys that one playlist alone can show. It is pure: the same playlist has the same findings.
///
/// The work is in proportion to the size of the playlist, because lines are grouped by address and by format only once.
package struct PlaylistChecks {
    private let playlist: Playlist
    private let source: String
    /// Addresses whose host alone names the same key. For these, players that send only the host work too.
    private let namedByHost: Set<String>
    private var findings = PlaylistFindings()
    private var checkedAddresses: Set<String> = []

    /// Checks a playlist. `source` is its file or address, for the findings.
    package static func findings(
        of playlist: Playlist, _ source: String, namedByHost: Set<String> = []
    ) -> PlaylistFindings {
        var checks = PlaylistChecks(playlist: playlist, source: source, namedByHost: namedByHost)
        checks.run()
        return checks.findings
    }

    /// The finding for a text that is not a playlist.
    package static func findings(of error: PlaylistError, _ source: String) -> PlaylistFindings {
        var findings = PlaylistFindings()
        findings.add(.document, source, line: error.line, error.explanation)
        return findings
    }

    private init(playlist: Playlist, source: String, namedByHost: Set<String>) {
        self.playlist = playlist
        self.source = source
        self.namedByHost = namedByHost
    }

    private mutating func add(_ rule: PlaylistRule, _ line: Int?, _ detail: @autoclosure () -> String) {
        findings.add(rule, source, line: line, detail())
    }

    private mutating func run() {
        for fault in playlist.faults { add(fault.rule, fault.line, fault.explanation) }
        for key in playlist.keys { check(key) }
        switch playlist.content {
        case .media(let media):
            checkVersion(of: media.keys)
            check(media)
        case .multivariant(let multivariant):
            check(multivariant)
        }
    }

    // MARK: - One key

    private mutating func check(_ key: PlaylistKey) {
        checkForms(of: key)
        guard let method = key.method else {
            let text = key.attributes["METHOD"].map { "METHOD is \(PlaylistText.shown($0.text))" }
            return add(.method, key.line, text ?? "there is no METHOD")
        }
        guard method != .none else { return checkNone(key) }
        guard let uri = key.uri, !uri.isEmpty else { return add(.uriMissing, key.line, "there is no URI") }
        checkFormat(of: key, uri)
        if key.isFairPlay { checkFairPlay(key, method, uri) }
    }

    private mutating func checkForms(of key: PlaylistKey) {
        for name in ["URI", "KEYFORMAT", "KEYFORMATVERSIONS"] where key.attributes[name]?.isQuoted == false {
            add(.attributeForm, key.line, "\(name) has no quotation marks")
        }
        for name in ["METHOD", "IV"] where key.attributes[name]?.isQuoted == true {
            add(.attributeForm, key.line, "\(name) has quotation marks")
        }
        if let iv = key.attributes["IV"]?.text, !Self.isVector(iv) {
            add(.ivForm, key.line, "IV is \(PlaylistText.shown(iv))")
        }
    }

    private mutating func checkNone(_ key: PlaylistKey) {
        if case .multivariant = playlist.content {
            return add(.sessionKeyNone, key.line, "METHOD is NONE")
        }
        let others = ["URI", "IV", "KEYFORMAT", "KEYFORMATVERSIONS"].filter { key.attributes[$0] != nil }
        if !others.isEmpty { add(.methodNone, key.line, "METHOD=NONE has \(others.joined(separator: ", "))") }
    }

    /// Whether the text is `0x` and 1 to 32 hexadecimal digits. RFC 8216, section 4.2, allows capitals only, but every
    /// player also reads small letters.
    private static func isVector(_ text: String) -> Bool {
        let digits = text.utf8.dropFirst(2)
        return (text.hasPrefix("0x") || text.hasPrefix("0X")) && (1...32).contains(digits.count)
            && digits.allSatisfy { Hexadecimal.value(ofDigit: $0) != nil }
    }

    private mutating func checkFormat(of key: PlaylistKey, _ uri: String) {
        if !key.hasFairPlayFormat, key.hasKeyAddress || key.keyFormat.hasPrefix("com.apple") {
            add(.keyFormat, key.line, "KEYFORMAT is \(PlaylistText.shown(key.keyFormat))")
        }
        let versions = key.keyFormatVersions.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
        let areNumbers = versions.allSatisfy { ($0 ?? 0) > 0 }
        if !areNumbers || (key.isFairPlay && !versions.contains(1)) {
            add(.keyFormatVersions, key.line, "KEYFORMATVERSIONS is \(PlaylistText.shown(key.keyFormatVersions))")
        }
    }

    private mutating func checkFairPlay(_ key: PlaylistKey, _ method: EncryptionMethod, _ uri: String) {
        switch method {
        case .sampleAES, .none: break
        case .sampleAESCounter: add(.counterMode, key.line, "METHOD is SAMPLE-AES-CTR")
        case .aes128: add(.fairPlayMethod, key.line, "METHOD is AES-128")
        }
        if key.attributes["IV"] != nil { add(.fairPlayIV, key.line, "there is an IV") }
        guard key.hasKeyAddress else {
            return add(.fairPlayURI, key.line, "URI is \(PlaylistText.shown(uri))")
        }
        // A URL that occurs in many lines is checked only once.
        if checkedAddresses.insert(uri).inserted { checkAddress(KeyAddress(text: uri), key.line) }
    }

    private mutating func checkAddress(_ address: KeyAddress, _ line: Int) {
        let shown = PlaylistText.shown(address.text)
        guard !address.hasVariables else { return add(.variables, line, "URI is \(shown)") }
        if let character = address.firstIllegalCharacter {
            return add(.uriCharacters, line, "URI \(shown) has \"\(PlaylistText.shown(String(character)))\"")
        }
        guard !address.identifier.isEmpty else { return add(.uriEmpty, line, "URI is \(shown)") }
        let size = address.text.utf8.count
        if size > KeyAddress.sizeMaximum {
            add(.uriTooLong, line, "URI has \(size) bytes")
        } else if size > KeyAddress.aliasSizeMaximum {
            add(.uriLong, line, "URI has \(size) bytes")
        }
        guard address.hasUsualScheme else { return add(.uriScheme, line, "URI is \(shown)") }
        guard !namedByHost.contains(address.text) else { return }
        switch address.host {
        case .whole: break
        case .truncated(let host): add(.hostTruncated, line, "the host of \(shown) is \"\(PlaylistText.shown(host))\"")
        case .lowerCased(let host): add(.hostCase, line, "the host of \(shown) is \"\(PlaylistText.shown(host))\"")
        }
    }

    /// Adds at most one finding for a playlist, because changing one line corrects it.
    private mutating func checkVersion(of keys: [PlaylistKey]) {
        let needsVersion5 = { (key: PlaylistKey) in
            key.attributes["KEYFORMAT"] != nil || key.attributes["KEYFORMATVERSIONS"] != nil
        }
        guard let first = keys.first(where: needsVersion5), playlist.version?.number ?? 1 < 5 else { return }
        let detail = playlist.version.map { "EXT-X-VERSION is \($0.number)" } ?? "there is no EXT-X-VERSION"
        add(.versionTooLow, playlist.version?.line ?? first.line, detail)
    }

    // MARK: - Keys and segments

    private mutating func check(_ media: MediaPlaylist) {
        for succession in media.successions { check(succession, media.keys) }
        guard !media.hasUnreadableKeys else { return }
        let encrypted = media.stretches.filter { !$0.keys.isEmpty }
        guard let first = encrypted.first else { return }
        let systems = media.systems(of: first)
        for stretch in encrypted where media.systems(of: stretch) != systems {
            add(
                .sameSystems, stretch.line,
                "these segments have \(media.list(media.systems(of: stretch))); those from line \(first.line) on have "
                    + media.list(systems))
        }
        let plays = { (index: Int) in media.keys[index].isFairPlay || media.keys[index].isKeyFile }
        if let stretch = encrypted.first(where: { !$0.keys.contains(where: plays) }) {
            add(.fairPlayMissing, stretch.line, "these segments have \(media.list(media.systems(of: stretch)))")
        }
        for stretch in encrypted { checkMethods(of: stretch, media.keys) }
        checkKeyIDs(media)
        if let lead = media.stretches.first, lead.keys.isEmpty {
            let count = media.stretches.prefix { $0.keys.isEmpty }.reduce(0) { $0 + $1.count }
            add(.clearLead, lead.line, "the first \(count) of \(media.segmentCount) segments have no key")
        }
    }

    private mutating func check(_ succession: KeySuccession, _ keys: [PlaylistKey]) {
        let (before, after) = (keys[succession.before], keys[succession.after])
        if after.method != EncryptionMethod.none, before.isSameKey(as: after) {
            add(.keyRepeated, after.line, "the line names the same key as line \(before.line)")
        } else if !succession.hasSegments {
            add(.keyUnused, before.line, "line \(after.line) replaces the key before any segment follows")
        }
    }

    private mutating func checkMethods(of stretch: SegmentStretch, _ keys: [PlaylistKey]) {
        let methods = Set(stretch.keys.compactMap { keys[$0].method })
        guard methods.count > 1, let last = stretch.keys.last else { return }
        let names = methods.map(\.rawValue).sorted().joined(separator: " and ")
        add(.mixedMethods, keys[last].line, "the segments from line \(stretch.line) on have \(names)")
    }

    private mutating func checkKeyIDs(_ media: MediaPlaylist) {
        var known = KeyIDTable()
        for stretch in media.stretches {
            guard let conflict = known.conflict(in: stretch, of: media) else { continue }
            add(.keyIDs, conflict.line, conflict.detail)
        }
    }

    // MARK: - The multivariant playlist

    private mutating func check(_ multivariant: MultivariantPlaylist) {
        if let version = playlist.version, version.number < 5,
            multivariant.sessionKeys.contains(where: { $0.attributes["KEYFORMAT"] != nil })
        {
            add(.versionOfSessionKeys, version.line, "EXT-X-VERSION is \(version.number)")
        }
        var seen: [SessionKeyIdentity: Int] = [:]
        for key in multivariant.sessionKeys {
            if let first = seen.updateValue(key.line, forKey: SessionKeyIdentity(key)) {
                add(.sessionKeyDuplicate, key.line, "the line has the same attributes as line \(first)")
            }
        }
        let usesHDCP = multivariant.streams.contains { $0.attributes["HDCP-LEVEL"] != nil }
        for stream in multivariant.streams { check(stream, usesHDCP: usesHDCP) }
    }

    private mutating func check(_ stream: VariantStream, usesHDCP: Bool) {
        if let text = stream.attributes["ALLOWED-CPC"], !AllowedConfigurations.isValid(text) {
            add(.allowedCPC, stream.line, "ALLOWED-CPC is \(PlaylistText.shown(text.text))")
        }
        let value = stream.attributes["HDCP-LEVEL"]
        if let value, stream.hdcpLevel == nil || value.isQuoted {
            return add(.hdcpLevel, stream.line, "HDCP-LEVEL is \(PlaylistText.shown(value.text))")
        }
        guard usesHDCP, let type = stream.contentType else { return }
        let level = stream.hdcpLevel ?? .notRequired
        if level < type.usualHDCP {
            let size = PlaylistText.shown(stream.attributes["RESOLUTION"]?.text ?? "")
            add(.hdcpLevelLow, stream.line, "pictures of \(size) have HDCP-LEVEL \(level.playlistWord)")
        }
    }
}

extension MediaPlaylist {
    /// The key formats of a stretch: for each, the place of the first key that has it.
    func systems(of stretch: SegmentStretch) -> Set<Int> {
        Set(stretch.keys.map { firstOfFormat[$0] })
    }

    func list(_ systems: Set<Int>) -> String {
        systems.map { PlaylistText.shown(keys[$0].keyFormat) }.sorted().joined(separator: ", ")
    }
}

/// The attributes that two `EXT-X-SESSION-KEY` may not have in common (RFC 8216, section 4.3.4.5).
private struct SessionKeyIdentity: Hashable {
    private let parts: [[UInt8]]

    init(_ key: PlaylistKey) {
        let texts = [
            key.attributes["METHOD"]?.text ?? "", key.uri ?? "", key.attributes["IV"]?.text.lowercased() ?? "",
            key.keyFormat, key.keyFormatVersions,
        ]
        // Bytes are compared, because Swift treats different encodings of a character as equal.
        parts = texts.map { Array($0.utf8) }
    }
}

/// Checks the value of `ALLOWED-CPC` (the successor of RFC 8216, section 4.4.6.2).
enum AllowedConfigurations {
    /// The labels of Apple's authoring specification. Labels of other systems have capitals, digits and hyphens.
    private static let labelsOfFairPlay = ["AppleBaseline", "AppleMain", "Baseline", "Main"]

    static func isValid(_ value: AttributeValue) -> Bool {
        guard value.isQuoted else { return false }
        return value.text.split(separator: ",", omittingEmptySubsequences: false).allSatisfy(isEntry)
    }

    /// The least level of a list of FairPlay's labels, such as `com.apple.streamingkeydelivery:AppleMain/Main`, also
    /// without the key format. A device of any of the labels may play. Nil for any other text.
    static func securityLevel(ofFairPlay text: String) -> ContentKeyAttributes.SecurityLevel? {
        let prefix = HLSKeyLine.fairPlayKeyFormat + ":"
        let labels = text.hasPrefix(prefix) ? text.dropFirst(prefix.count) : text[...]
        var levels: [ContentKeyAttributes.SecurityLevel] = []
        for label in labels.split(separator: "/", omittingEmptySubsequences: false) {
            guard labelsOfFairPlay.contains(String(label)) else { return nil }
            levels.append(label.hasSuffix("Main") ? .main : .baseline)
        }
        return levels.min()
    }

    /// Whether an entry is valid. Its last colon ends the key format, because a key format may have colons itself.
    private static func isEntry(_ entry: Substring) -> Bool {
        guard let colon = entry.lastIndex(of: ":"), colon > entry.startIndex else { return false }
        let labels = entry[colon...].dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        let isFairPlay = entry[..<colon] == HLSKeyLine.fairPlayKeyFormat
        return labels.allSatisfy { label in
            isFairPlay
                ? labelsOfFairPlay.contains(String(label))
                : !label.isEmpty && label.utf8.allSatisfy(AttributeList.isNameByte)
        }
    }
}

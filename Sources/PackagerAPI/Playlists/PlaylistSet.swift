import ByteCoding
package import ContentKeys

/// A multivariant playlist, and the media playlists that it names.
package struct PlaylistSet: Equatable, Sendable {
    /// A media playlist, and the content types for which it is used.
    package struct Member: Equatable, Sendable {
        package let source: String
        package let media: MediaPlaylist
        package let contentTypes: Set<ContentType>

        package init(source: String, media: MediaPlaylist, contentTypes: Set<ContentType>) {
            self.source = source
            self.media = media
            self.contentTypes = contentTypes
        }
    }

    package let source: String
    package let multivariant: MultivariantPlaylist
    /// The media playlists that could be read.
    package let members: [Member]
    /// Whether all media playlists that are named could be read.
    package let isComplete: Bool

    package init(source: String, multivariant: MultivariantPlaylist, members: [Member], isComplete: Bool) {
        self.source = source
        self.multivariant = multivariant
        self.members = members
        self.isComplete = isComplete
    }

    /// Checks the rules that concern several playlists together.
    package var findings: PlaylistFindings {
        var findings = PlaylistFindings()
        let table = KeyTable(members)
        checkSessionKeys(table, &findings)
        checkSystems(&findings)
        checkKeyIDs(&findings)
        checkTypes(table, &findings)
        return findings
    }

    private func checkSessionKeys(_ table: KeyTable, _ findings: inout PlaylistFindings) {
        var sessionURIs: Set<[UInt8]> = []
        for key in multivariant.sessionKeys {
            guard key.method != EncryptionMethod.none, let uri = key.uri else { continue }
            sessionURIs.insert(Array(uri.utf8))
            guard let use = table.uses[Array(uri.utf8)] else {
                if isComplete {
                    findings.add(
                        .sessionKeyUnused, source, line: key.line, "no playlist has the key \(PlaylistText.shown(uri))")
                }
                continue
            }
            for (member, other) in use.variants where !key.agrees(with: other) {
                findings.add(
                    .sessionKeyDisagrees, source, line: key.line,
                    "line \(other.line) of \(PlaylistText.shown(members[member].source)) has other attributes")
            }
        }
        for use in table.inOrder where use.isFairPlay && use.isInRecording && !sessionURIs.contains(use.uri) {
            let uri = PlaylistText.shown(String(decoding: use.uri, as: UTF8.self))
            findings.add(
                .sessionKeyMissing, members[use.member].source, line: use.line,
                "no EXT-X-SESSION-KEY has the URI \(uri)")
        }
    }

    /// Compares the first encrypted segments of the playlists. `PlaylistChecks` compares the segments within a
    /// playlist.
    private func checkSystems(_ findings: inout PlaylistFindings) {
        var first: (systems: Set<[UInt8]>, source: String)?
        for member in members where !member.media.hasUnreadableKeys {
            guard let stretch = member.media.stretches.first(where: { !$0.keys.isEmpty }) else { continue }
            let systems = Set(stretch.keys.map { Array(member.media.keys[$0].keyFormat.utf8) })
            guard let before = first else {
                first = (systems, member.source)
                continue
            }
            guard systems != before.systems else { continue }
            let names = member.media.list(member.media.systems(of: stretch))
            findings.add(
                .sameSystems, member.source, line: stretch.line,
                "these segments have \(names); those of \(PlaylistText.shown(before.source)) have other systems")
        }
    }

    private func checkKeyIDs(_ findings: inout PlaylistFindings) {
        var known: [[UInt8]: (keyID: KeyID, source: String)] = [:]
        for member in members {
            for (place, keyID) in KeyIDTable(of: member.media).keyIDs.sorted(by: { $0.key < $1.key }) {
                let key = member.media.keys[place]
                let uri = Array((key.uri ?? "").utf8)
                guard let before = known[uri] else {
                    known[uri] = (keyID, member.source)
                    continue
                }
                guard before.keyID != keyID else { continue }
                findings.add(
                    .keyIDs, member.source, line: key.line,
                    "URI \(PlaylistText.shown(key.uri ?? "")) stands for the key \(keyID), and for \(before.keyID) in "
                        + PlaylistText.shown(before.source))
            }
        }
    }

    private func checkTypes(_ table: KeyTable, _ findings: inout PlaylistFindings) {
        for use in table.inOrder where use.isFairPlay && use.contentTypes.count > 1 {
            let names = ContentType.allCases.filter(use.contentTypes.contains).map(\.rawValue)
            let uri = PlaylistText.shown(String(decoding: use.uri, as: UTF8.self))
            findings.add(
                .sharedKey, members[use.member].source, line: use.line,
                "\(uri) is the key of \(names.joined(separator: " and "))")
        }
    }
}

extension PlaylistKey {
    /// Whether a session key and a key of the same URI agree in the attributes that must be the same (RFC 8216, section
    /// 4.3.4.5).
    fileprivate func agrees(with other: PlaylistKey) -> Bool {
        attributes["METHOD"]?.text == other.attributes["METHOD"]?.text && keyFormat == other.keyFormat
            && keyFormatVersions == other.keyFormatVersions
    }
}

/// The keys of media playlists, grouped by their addresses.
private struct KeyTable {
    struct Use {
        let uri: [UInt8]
        /// The index of the first playlist that has the address.
        let member: Int
        let line: Int
        private(set) var isFairPlay = false
        private(set) var isInRecording = false
        private(set) var contentTypes: Set<ContentType> = []
        /// The first key of each playlist.
        private(set) var variants: [(member: Int, key: PlaylistKey)] = []

        init(uri: [UInt8], member: Int, line: Int) {
            self.uri = uri
            self.member = member
            self.line = line
        }

        mutating func add(_ key: PlaylistKey, _ owner: PlaylistSet.Member, _ index: Int) {
            isFairPlay = isFairPlay || key.isFairPlay
            isInRecording = isInRecording || owner.media.isEnded
            contentTypes.formUnion(owner.contentTypes)
            // One key of each playlist is enough, and limits the work.
            if variants.last?.member != index { variants.append((index, key)) }
        }
    }

    private(set) var uses: [[UInt8]: Use] = [:]
    private var order: [[UInt8]] = []

    init(_ members: [PlaylistSet.Member]) {
        for (index, member) in members.enumerated() {
            for key in member.media.keys where key.method != EncryptionMethod.none {
                add(key, member, index)
            }
        }
    }

    var inOrder: [Use] { order.compactMap { uses[$0] } }

    private mutating func add(_ key: PlaylistKey, _ member: PlaylistSet.Member, _ index: Int) {
        guard let uri = key.uri.map({ Array($0.utf8) }) else { return }
        if uses[uri] == nil { order.append(uri) }
        uses[uri, default: Use(uri: uri, member: index, line: key.line)].add(key, member, index)
    }
}

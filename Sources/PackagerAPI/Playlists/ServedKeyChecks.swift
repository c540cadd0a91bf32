package import ByteCoding
package import ContentKeys

/// A FairPlay key of a playlist, with the facts about the segments that it decrypts.
package struct PlaylistKeyUse: Equatable, Sendable {
    package let source: String
    /// The first line that has the address.
    package let line: Int
    /// The address.
    package let uri: String
    /// The schemes that its segments need; empty for a key of a multivariant playlist.
    package private(set) var schemes: Set<EncryptionScheme> = []
    package let contentTypes: Set<ContentType>
    /// `IV`; nil unless it has all 32 digits, which a comparison needs.
    package private(set) var iv: Bytes16?

    /// The FairPlay keys of a playlist, one for each address. Addresses with variables are left out.
    package static func uses(
        of playlist: Playlist, _ source: String, contentTypes: Set<ContentType> = []
    ) -> [PlaylistKeyUse] {
        var places: [[UInt8]: Int] = [:]
        var placeOfKey: [Int: Int] = [:]
        var uses: [PlaylistKeyUse] = []
        for (index, key) in playlist.keys.enumerated() where key.isFairPlay && key.hasKeyAddress {
            guard let uri = key.uri, !KeyAddress(text: uri).hasVariables else { continue }
            let iv = key.attributes["IV"].flatMap { vector($0.text) }
            let place = places[Array(uri.utf8)] ?? uses.count
            placeOfKey[index] = place
            if place < uses.count {
                uses[place].iv = uses[place].iv ?? iv
            } else {
                places[Array(uri.utf8)] = place
                uses.append(
                    PlaylistKeyUse(source: source, line: key.line, uri: uri, contentTypes: contentTypes, iv: iv))
            }
        }
        guard case .media(let media) = playlist.content else { return uses }
        for stretch in media.stretches {
            for place in stretch.keys.compactMap({ placeOfKey[$0] }) {
                uses[place].schemes.insert(stretch.isFragmented ? .cbcs : .sampleAES)
            }
        }
        return uses
    }

    private init(source: String, line: Int, uri: String, contentTypes: Set<ContentType>, iv: Bytes16?) {
        self.source = source
        self.line = line
        self.uri = uri
        self.contentTypes = contentTypes
        self.iv = iv
    }

    private static func vector(_ text: String) -> Bytes16? {
        guard text.utf8.count == 34, let bytes = try? Hexadecimal.decode(String(text.dropFirst(2))) else { return nil }
        return Bytes16(bytes)
    }

    /// Checks the key that a server has for the address.
    ///
    /// `asked` names the asset id and the players that send it, for the findings: "movie-1 (hls.js)".
    package func findings(_ resolution: AssetResolution, asked: String) -> PlaylistFindings {
        var findings = PlaylistFindings()
        switch resolution {
        case .live(let key, let stored): check(key, stored, &findings)
        case .withdrawn(let keyID):
            findings.add(.keyWithdrawn, source, line: line, "\(asked) names the key \(keyID), which is withdrawn")
        case .ambiguous(let contentID):
            let content = PlaylistText.shown(contentID.text)
            findings.add(.keyAmbiguous, source, line: line, "\(asked) names \(content), which has several live keys")
        case .unknown:
            findings.add(.keyUnknown, source, line: line, "\(asked) names no key")
        }
        return findings
    }

    private func check(_ key: ContentKeyAttributes, _ stored: Bytes16, _ findings: inout PlaylistFindings) {
        for scheme in EncryptionScheme.allCases where schemes.contains(scheme) && key.scheme != scheme {
            let form = scheme == .cbcs ? "fragmented MP4" : "not fragmented MP4"
            findings.add(
                .keyScheme, source, line: line,
                "the segments are \(form), and the key \(key.keyID) is for \(key.scheme.rawValue)")
        }
        if schemes.isEmpty, !key.scheme.isFairPlay {
            findings.add(
                .keyScheme, source, line: line,
                "the key \(key.keyID) is for \(key.scheme.rawValue), and no license carries it")
        }
        if let iv, iv != stored {
            findings.add(.keyIV, source, line: line, "the key \(key.keyID) has another IV")
        }
        // A key without a label serves every track.
        guard key.trackLabel != nil else { return }
        for type in ContentType.allCases where contentTypes.contains(type) && type != key.contentType {
            let isOtherKind = (type == .audio) != (key.contentType == .audio)
            findings.add(
                isOtherKind ? .keyTrack : .keyClass, source, line: line,
                "the playlist is \(type.rawValue), and the key \(key.keyID) is for \(key.contentType.rawValue)")
        }
    }
}

extension VariantStream {
    /// Checks that the stream's `HDCP-LEVEL` is not lower than the key of its pictures demands.
    package func findings(_ source: String, key: ContentKeyAttributes, uri: String) -> PlaylistFindings {
        var findings = PlaylistFindings()
        let level = hdcpLevel ?? .notRequired
        if let least = key.leastHDCP, level < least {
            findings.add(
                .keyHDCP, source, line: line,
                "HDCP-LEVEL is \(level.playlistWord); the key of \(PlaylistText.shown(uri)) demands "
                    + least.playlistWord)
        }
        return findings
    }
}

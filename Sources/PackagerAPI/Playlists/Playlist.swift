package import ByteCoding
package import ContentKeys

/// The parts of a playlist (RFC 8216, section 4) that are about keys, and about what the keys are for.
///
/// Other lines are not kept. A tag that cannot be read is noted as a fault, and reading goes on.
package struct Playlist: Equatable, Sendable {
    package enum Content: Equatable, Sendable {
        case media(MediaPlaylist)
        case multivariant(MultivariantPlaylist)
    }

    package let content: Content
    /// The first `EXT-X-VERSION`; nil if it is missing, which means 1.
    package let version: PlaylistVersion?
    /// The faults, in the order of their lines.
    package let faults: [PlaylistFault]

    /// Reads a playlist. This costs time and memory in proportion to its size. Throws `PlaylistError`.
    package init(parsing bytes: [UInt8]) throws(PlaylistError) {
        self = try PlaylistReader.read(bytes)
    }

    init(content: Content, version: PlaylistVersion?, faults: [PlaylistFault]) {
        self.content = content
        self.version = version
        self.faults = faults
    }

    /// The key tags that belong to this kind of playlist.
    package var keys: [PlaylistKey] {
        switch content {
        case .media(let media): media.keys
        case .multivariant(let multivariant): multivariant.sessionKeys
        }
    }
}

/// `EXT-X-VERSION`
package struct PlaylistVersion: Equatable, Sendable {
    package let number: Int
    package let line: Int
}

/// A line that cannot be read, or that is wrong at its place.
package struct PlaylistFault: Equatable, Sendable {
    package enum Problem: Equatable, Sendable {
        /// The attributes of the tag cannot be read. The name of the tag begins with `EXT`.
        case attributes(tag: String, AttributeListError)
        /// `EXT-X-VERSION` is not a whole number from 1 to 999.
        case versionUnreadable
        /// It is not the first `EXT-X-VERSION`.
        case versionRepeated
        /// No address follows `EXT-X-STREAM-INF`.
        case streamWithoutAddress
        /// In a multivariant playlist, no `EXT-X-STREAM-INF` stands before the address.
        case addressWithoutStream
        /// `EXT-X-KEY` stands in a multivariant playlist, or `EXT-X-SESSION-KEY` in a media playlist.
        case keyOfOtherKind
    }

    package let problem: Problem
    package let line: Int
}

/// The keys of a media playlist, and the segments that they cover.
package struct MediaPlaylist: Equatable, Sendable {
    /// Each `EXT-X-KEY` that could be read.
    package let keys: [PlaylistKey]
    /// For each key, the index of the first key with the same format. Comparing indices is faster than comparing texts.
    let firstOfFormat: [Int]
    /// For each key, the index of the first key with the same address.
    let firstOfAddress: [Int]
    /// The segments in their order, grouped. Two neighbouring stretches differ in their keys or their form.
    package let stretches: [SegmentStretch]
    /// Keys that ended because another tag replaced them.
    package let successions: [KeySuccession]
    /// Whether the playlist is complete: it has `EXT-X-ENDLIST` or the type `VOD`.
    package let isEnded: Bool
    /// Whether an `EXT-X-KEY` could not be read, so that the keys of the segments are not known.
    package let hasUnreadableKeys: Bool

    package var segmentCount: Int { stretches.reduce(0) { $0 + $1.count } }
}

/// Consecutive segments with the same keys and the same form.
package struct SegmentStretch: Equatable, Sendable {
    /// The line of the first segment's address.
    package let line: Int
    package internal(set) var count: Int
    /// The indices of their keys in `MediaPlaylist.keys`, one for each key format; empty for segments in the clear.
    package let keys: [Int]
    /// Whether the segments are fragmented MP4 (`EXT-X-MAP`). Otherwise they are transport streams or packed audio.
    package let isFragmented: Bool
}

/// A key that another `EXT-X-KEY` of its format, or one with `METHOD=NONE`, has replaced.
package struct KeySuccession: Equatable, Sendable {
    /// The index of the replaced key in `MediaPlaylist.keys`.
    package let before: Int
    /// The index of the new key.
    package let after: Int
    /// Whether the replaced key has covered a segment.
    package let hasSegments: Bool
}

/// The keys of a multivariant playlist, and the playlists that it names.
package struct MultivariantPlaylist: Equatable, Sendable {
    /// Each `EXT-X-SESSION-KEY` that could be read.
    package let sessionKeys: [PlaylistKey]
    package let streams: [VariantStream]
    package let renditions: [Rendition]
}

/// `EXT-X-STREAM-INF` or `EXT-X-I-FRAME-STREAM-INF`
package struct VariantStream: Equatable, Sendable {
    package let line: Int
    package let attributes: AttributeList
    /// The address of the media playlist, as it is written.
    package let address: String
}

/// `EXT-X-MEDIA`
package struct Rendition: Equatable, Sendable {
    package let line: Int
    package let attributes: AttributeList
}

/// The methods of `EXT-X-KEY` (RFC 8216, section 4.3.2.4, and its successor for `SAMPLE-AES-CTR`).
package enum EncryptionMethod: String, Hashable, Sendable, CaseIterable {
    case none = "NONE"
    /// Encrypts whole segments.
    case aes128 = "AES-128"
    /// Encrypts samples: with cbcs in fragmented MP4, and with Apple's sample encryption in transport streams.
    case sampleAES = "SAMPLE-AES"
    /// Encrypts samples with cenc in fragmented MP4. No FairPlay device plays it.
    case sampleAESCounter = "SAMPLE-AES-CTR"
}

/// `EXT-X-KEY` or `EXT-X-SESSION-KEY`
package struct PlaylistKey: Hashable, Sendable {
    package let line: Int
    package let attributes: AttributeList
    /// The method; nil if it is missing or not known.
    package let method: EncryptionMethod?
    package let uri: String?
    /// The key format; `identity` by default.
    package let keyFormat: String
    /// The versions of the key format; `1` by default.
    package let keyFormatVersions: String
    /// Whether the key has the key format of FairPlay.
    package let hasFairPlayFormat: Bool
    /// Whether the address begins with `skd:`, in letters of either case (RFC 3986, section 3.1).
    package let hasKeyAddress: Bool
    /// `KEYID`, which Shaka Packager writes for keys of other systems; nil unless it is 0x and 32 digits.
    package let keyID: KeyID?

    // The attributes are looked up only once, here, because they are needed for each stretch that the key covers.
    init(line: Int, attributes: AttributeList) {
        self.line = line
        self.attributes = attributes
        method = attributes["METHOD"].flatMap { EncryptionMethod(rawValue: $0.text) }
        uri = attributes["URI"]?.text
        keyFormat = attributes["KEYFORMAT"]?.text ?? "identity"
        keyFormatVersions = attributes["KEYFORMATVERSIONS"]?.text ?? "1"
        hasFairPlayFormat = keyFormat.hasSameUTF8(as: HLSKeyLine.fairPlayKeyFormat)
        hasKeyAddress = uri.map(KeyAddress.hasScheme) ?? false
        let digits = attributes["KEYID"].map(\.text).flatMap { $0.lowercased().hasPrefix("0x") ? $0.dropFirst(2) : nil }
        keyID = digits.flatMap { try? KeyID(parsing: String($0)) }
    }

    /// Whether the key is meant for FairPlay, by its format or by its address.
    package var isFairPlay: Bool { method != EncryptionMethod.none && (hasFairPlayFormat || hasKeyAddress) }

    /// Whether the address is that of a key file, which every player can use without a license.
    var isKeyFile: Bool { keyFormat.hasSameUTF8(as: "identity") && !hasKeyAddress }

    /// Whether two tags have the same attributes, in any order. A missing attribute counts as its default.
    func isSameKey(as other: PlaylistKey) -> Bool {
        method == other.method && uri == other.uri && keyFormat == other.keyFormat
            && keyFormatVersions == other.keyFormatVersions
            && attributes["IV"]?.text.lowercased() == other.attributes["IV"]?.text.lowercased()
    }
}

/// A media playlist that a multivariant playlist names, in one line or in several.
package struct PlaylistReference: Equatable, Sendable {
    /// The address, as it is written.
    package let address: String
    /// The first line that names the playlist.
    package let line: Int
    /// The content types of the playlist, as far as the lines tell them: the class of its pictures, or audio.
    package fileprivate(set) var contentTypes: Set<ContentType>
}

extension MultivariantPlaylist {
    /// The media playlists that it names, in the order of their first lines. Two spellings of an address are two
    /// references.
    package var references: [PlaylistReference] {
        var named = streams.map { ($0.address, $0.line, $0.contentType) }
        for rendition in renditions {
            if let address = rendition.address { named.append((address, rendition.line, rendition.contentType)) }
        }
        var places: [[UInt8]: Int] = [:]
        var references: [PlaylistReference] = []
        for (address, line, type) in named.sorted(by: { $0.1 < $1.1 }) where !address.isEmpty {
            let types = Set([type].compactMap { $0 })
            if let place = places[Array(address.utf8)] {
                references[place].contentTypes.formUnion(types)
            } else {
                places[Array(address.utf8)] = references.count
                references.append(PlaylistReference(address: address, line: line, contentTypes: types))
            }
        }
        return references
    }
}

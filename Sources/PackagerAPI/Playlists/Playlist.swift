package import ByteCoding
package import ContentKeys

/// What a playlist (RFC 8216, section 4) says of keys, and of what they are for.
///
/// Lines that have nothing to do with keys are not kept. A tag that cannot be read is a fault, and the rest is read.
package struct Playlist: Equatable, Sendable {
    package enum Content: Equatable, Sendable {
        case media(MediaPlaylist)
        case multivariant(MultivariantPlaylist)
    }

    package let content: Content
    /// The first `EXT-X-VERSION`; nil if it is missing, which means 1.
    package let version: PlaylistVersion?
    /// In the order of their lines.
    package let faults: [PlaylistFault]

    /// Reads a playlist. Costs time and memory in proportion to its size. Throws `PlaylistError`.
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

/// A line that should mean something, and does not.
package struct PlaylistFault: Equatable, Sendable {
    package enum Problem: Equatable, Sendable {
        /// The attributes of the tag with this name, which begins with `EXT`.
        case attributes(tag: String, AttributeListError)
        /// `EXT-X-VERSION` is not a whole number from 1 to 999.
        case versionUnreadable
        /// There is an `EXT-X-VERSION` before.
        case versionRepeated
        /// `EXT-X-STREAM-INF` without the line of its address behind it.
        case streamWithoutAddress
        /// An address without an `EXT-X-STREAM-INF` before it, in a multivariant playlist.
        case addressWithoutStream
        /// `EXT-X-KEY` in a multivariant playlist, or `EXT-X-SESSION-KEY` in a media playlist.
        case keyOfOtherKind
    }

    package let problem: Problem
    package let line: Int
}

/// What a media playlist says of keys.
package struct MediaPlaylist: Equatable, Sendable {
    /// Each `EXT-X-KEY` that could be read.
    package let keys: [PlaylistKey]
    /// For each key, the place of the first key with its format, and of the first one with its address: small numbers
    /// to compare in the place of texts.
    let firstOfFormat: [Int]
    let firstOfAddress: [Int]
    /// Segments in their order. Two neighbours differ in their keys or their form.
    package let stretches: [SegmentStretch]
    /// Keys that ended because another tag took their place.
    package let successions: [KeySuccession]
    /// Whether nothing will be added: `EXT-X-ENDLIST`, or the type `VOD`.
    package let isEnded: Bool
    /// Whether an `EXT-X-KEY` could not be read, so that it is not known which keys the segments have.
    package let hasUnreadableKeys: Bool

    package var segmentCount: Int { stretches.reduce(0) { $0 + $1.count } }
}

/// Segments one behind the other that have the same keys and the same form.
package struct SegmentStretch: Equatable, Sendable {
    /// The line of the first segment's address.
    package let line: Int
    package internal(set) var count: Int
    /// Their places in `MediaPlaylist.keys`, one for each key format; empty for segments in the clear.
    package let keys: [Int]
    /// Whether the segments are fragmented MP4 (`EXT-X-MAP`), and not transport streams or packed audio.
    package let isFragmented: Bool
}

/// A key whose place was taken by another `EXT-X-KEY` of its format, or by one with `METHOD=NONE`.
package struct KeySuccession: Equatable, Sendable {
    /// The places in `MediaPlaylist.keys`.
    package let before: Int
    package let after: Int
    /// Whether the first of them has covered a segment.
    package let hasSegments: Bool
}

/// What a multivariant playlist says of keys and of other playlists.
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
    /// The address of the media playlist, as it stands there.
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
    /// Whole segments.
    case aes128 = "AES-128"
    /// Samples: cbcs in fragmented MP4, Apple's sample encryption in transport streams.
    case sampleAES = "SAMPLE-AES"
    /// Samples: cenc in fragmented MP4. No FairPlay device plays it.
    case sampleAESCounter = "SAMPLE-AES-CTR"
}

/// `EXT-X-KEY` or `EXT-X-SESSION-KEY`
package struct PlaylistKey: Hashable, Sendable {
    package let line: Int
    package let attributes: AttributeList
    /// Nil if it is missing or not one of the known methods.
    package let method: EncryptionMethod?
    package let uri: String?
    /// `identity` unless the tag says another.
    package let keyFormat: String
    /// `1` unless the tag says others.
    package let keyFormatVersions: String
    /// Whether the key format is that of FairPlay.
    package let hasFairPlayFormat: Bool
    /// Whether the address begins with `skd:`, in letters of either case (RFC 3986, section 3.1).
    package let hasKeyAddress: Bool
    /// `KEYID`, which Shaka Packager writes beside keys of other systems; nil unless it is 0x and 32 digits.
    package let keyID: KeyID?

    // The attributes are looked up here once: a key is asked for them with each stretch of segments that it covers.
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

    /// Whether the address is that of the key itself, which needs no licence and every player takes.
    var isKeyFile: Bool { keyFormat.hasSameUTF8(as: "identity") && !hasKeyAddress }

    /// Whether two tags have the same attributes, in any order. What is left out counts as its default.
    func isSameKey(as other: PlaylistKey) -> Bool {
        method == other.method && uri == other.uri && keyFormat == other.keyFormat
            && keyFormatVersions == other.keyFormatVersions
            && attributes["IV"]?.text.lowercased() == other.attributes["IV"]?.text.lowercased()
    }
}

/// A media playlist that a multivariant playlist names, in one line or in several.
package struct PlaylistReference: Equatable, Sendable {
    /// As it stands there.
    package let address: String
    /// The first line that names it.
    package let line: Int
    /// What it is for, as far as the lines tell it: the class of the pictures, or sound.
    package fileprivate(set) var contentTypes: Set<ContentType>
}

extension MultivariantPlaylist {
    /// In the order of their first lines. Two spellings of an address are two references.
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

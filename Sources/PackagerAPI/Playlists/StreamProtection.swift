package import ContentKeys

// The content types and HDCP levels in a multivariant playlist.

extension VariantStream {
    /// The content type by `RESOLUTION`, or audio if all `CODECS` are for audio; nil if neither tells it.
    package var contentType: ContentType? {
        if let pixels = attributes["RESOLUTION"].flatMap({ Self.pixels($0.text) }) {
            return ContentType(pixels: pixels)
        }
        guard let codecs = attributes["CODECS"]?.text, !codecs.isEmpty else { return nil }
        let isSound = codecs.split(separator: ",").allSatisfy { codec in
            let name = codec.drop { $0 == " " }.prefix { $0 != "." }
            return Self.soundCodecs.contains(String(name))
        }
        return isSound ? .audio : nil
    }

    /// The value of `HDCP-LEVEL`; nil if it is missing or not known.
    package var hdcpLevel: ContentKeyAttributes.HDCP? {
        attributes["HDCP-LEVEL"].flatMap { value in
            ContentKeyAttributes.HDCP.allCases.first { $0.playlistWord == value.text }
        }
    }

    private static let soundCodecs: Set<String> = ["mp4a", "ac-3", "ec-3", "ac-4", "alac", "fLaC", "Opus", "opus"]

    /// The number of pixels; nil unless the text is two numbers of at most five digits with an x between them.
    private static func pixels(_ resolution: String) -> UInt64? {
        let sides = resolution.split(separator: "x", omittingEmptySubsequences: false)
        guard sides.count == 2, sides.allSatisfy({ (1...5).contains($0.utf8.count) }),
            let width = UInt32(sides[0]), let height = UInt32(sides[1])
        else { return nil }
        return UInt64(width) * UInt64(height)
    }
}

extension Rendition {
    /// The address of its playlist; nil if its samples are in the streams.
    package var address: String? { attributes["URI"]?.text }

    /// Audio, or nil for video and subtitles. The streams tell the class of video.
    package var contentType: ContentType? { attributes["TYPE"]?.text == "AUDIO" ? .audio : nil }
}

extension ContentType {
    /// The class of pictures of a size, by the limits of track types (packagers, section 1.4).
    init(pixels: UInt64) {
        self = pixels <= RangeFilter.pixelsOfSD ? .sd : pixels <= RangeFilter.pixelsOfHD ? .hd : .uhd
    }

    /// The usual `HDCP-LEVEL` of a class (packagers, section 5).
    var usualHDCP: ContentKeyAttributes.HDCP {
        switch self {
        case .audio, .sd: .notRequired
        case .hd: .type0
        case .uhd: .type1
        }
    }
}

extension ContentKeyAttributes.HDCP {
    /// The word of `HDCP-LEVEL`.
    package var playlistWord: String {
        switch self {
        case .notRequired: "NONE"
        case .type0: "TYPE-0"
        case .type1: "TYPE-1"
        }
    }
}

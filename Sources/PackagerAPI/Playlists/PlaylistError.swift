/// What a playlist from outside may be.
package enum PlaylistLimits {
    /// 4 MiB: a recording of a day in segments of two seconds, with a date for each.
    package static let sizeMaximum = 4 << 20
    package static let lineCountMaximum = 200_000
    /// In bytes, without the end of the line. PlayReady objects of many keys stand in one line.
    package static let lineSizeMaximum = 16 << 10
    /// Attributes of one tag; RFC 8216 has at most 20 for a tag.
    package static let attributeCountMaximum = 64
    /// Key formats that cover one segment.
    package static let keyFormatCountMaximum = 16
}

/// Why a text is not a playlist of HTTP Live Streaming.
package struct PlaylistError: Error, Equatable, Sendable {
    package enum Problem: Equatable, Sendable {
        /// More than `PlaylistLimits.sizeMaximum` bytes.
        case tooLarge
        case tooManyLines
        case lineTooLong
        case byteOrderMark
        case notUTF8
        /// A control character, U+0000 to U+001F and U+007F to U+009F, that is no tab and not the end of a line.
        case controlCharacter
        /// The first line is not `#EXTM3U`.
        case headerMissing
        /// Tags of a media playlist and tags of a multivariant playlist (RFC 8216, section 4.1).
        case bothKinds
        /// Keys of more than `PlaylistLimits.keyFormatCountMaximum` formats cover one segment.
        case tooManyKeyFormats
    }

    package let problem: Problem
    /// Counted from 1.
    package let line: Int
}

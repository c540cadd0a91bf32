/// The limits of a playlist from outside.
package enum PlaylistLimits {
    /// 4 MiB. A recording of a whole day fits, in segments of two seconds with a date for each.
    package static let sizeMaximum = 4 << 20
    package static let lineCountMaximum = 200_000
    /// The size of a line in bytes, without its end. A PlayReady object with many keys is one line.
    package static let lineSizeMaximum = 16 << 10
    /// How many attributes a tag may have. In RFC 8216 no tag has more than 20.
    package static let attributeCountMaximum = 64
    /// How many key formats may cover one segment.
    package static let keyFormatCountMaximum = 16
}

/// Why a text is not a playlist of HTTP Live Streaming.
package struct PlaylistError: Error, Equatable, Sendable {
    package enum Problem: Equatable, Sendable {
        /// The playlist has more than `PlaylistLimits.sizeMaximum` bytes.
        case tooLarge
        case tooManyLines
        case lineTooLong
        case byteOrderMark
        case notUTF8
        /// A line has a control character other than a tab: U+0000 to U+001F or U+007F to U+009F.
        case controlCharacter
        /// The first line is not `#EXTM3U`.
        case headerMissing
        /// It has tags of a media playlist and tags of a multivariant playlist (RFC 8216, section 4.1).
        case bothKinds
        /// Keys of more than `PlaylistLimits.keyFormatCountMaximum` formats cover one segment.
        case tooManyKeyFormats
    }

    package let problem: Problem
    /// The line with the problem, counted from 1.
    package let line: Int
}

// Explanations of errors. They repeat only names of tags and attributes from the playlist.

extension PlaylistError {
    package var explanation: String {
        switch problem {
        case .tooLarge: "the playlist has more than \(PlaylistLimits.sizeMaximum) bytes"
        case .tooManyLines: "the playlist has more than \(PlaylistLimits.lineCountMaximum) lines"
        case .lineTooLong: "the line has more than \(PlaylistLimits.lineSizeMaximum) bytes"
        case .byteOrderMark: "the text begins with a byte order mark"
        case .notUTF8: "the line is not UTF-8"
        case .controlCharacter: "the line has a control character"
        case .headerMissing: "the first line is not #EXTM3U"
        case .bothKinds: "the line belongs to another kind of playlist than the lines before it"
        case .tooManyKeyFormats:
            "keys of more than \(PlaylistLimits.keyFormatCountMaximum) formats cover the segments that follow"
        }
    }
}

extension PlaylistFault {
    var rule: PlaylistRule {
        switch problem {
        case .attributes, .streamWithoutAddress, .addressWithoutStream: .tag
        case .versionUnreadable, .versionRepeated: .version
        case .keyOfOtherKind: .keyOfOtherKind
        }
    }

    var explanation: String {
        switch problem {
        case .attributes(let tag, let error): "\(PlaylistText.shown(tag)) cannot be read: \(error.explanation)"
        case .versionUnreadable: "EXT-X-VERSION is not a number"
        case .versionRepeated: "this is not the first EXT-X-VERSION"
        case .streamWithoutAddress: "the stream has no address of a playlist"
        case .addressWithoutStream: "the address has no EXT-X-STREAM-INF before it"
        case .keyOfOtherKind: "the tag belongs to the other kind of playlist"
        }
    }
}

extension AttributeListError {
    var explanation: String {
        switch self {
        case .nameMissing: "there is a space, a small letter or the end of the line instead of a name"
        case .valueMissing(let name): "\(PlaylistText.shown(name)) has no value"
        case .quoteNotClosed(let name): "the quotation mark of \(PlaylistText.shown(name)) is not closed"
        case .textBehindValue(let name): "no comma follows the value of \(PlaylistText.shown(name))"
        case .repeated(let name): "\(PlaylistText.shown(name)) occurs twice"
        case .tooMany: "there are more than \(PlaylistLimits.attributeCountMaximum) attributes"
        }
    }
}

// What is wrong with a text, in words. The words hold nothing of the text but the names of tags and attributes.

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
        case .bothKinds: "the line is of another kind of playlist than the lines before"
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
        case .versionRepeated: "this is another EXT-X-VERSION"
        case .streamWithoutAddress: "the stream has no address of a playlist"
        case .addressWithoutStream: "the address has no EXT-X-STREAM-INF before it"
        case .keyOfOtherKind: "the tag is of the other kind of playlist"
        }
    }
}

extension AttributeListError {
    var explanation: String {
        switch self {
        case .nameMissing: "a space, a small letter or the end of the line stands in the place of a name"
        case .valueMissing(let name): "\(PlaylistText.shown(name)) has no value"
        case .quoteNotClosed(let name): "the quotation mark of \(PlaylistText.shown(name)) is not closed"
        case .textBehindValue(let name): "no comma follows the value of \(PlaylistText.shown(name))"
        case .repeated(let name): "\(PlaylistText.shown(name)) is there twice"
        case .tooMany: "there are more than \(PlaylistLimits.attributeCountMaximum) attributes"
        }
    }
}

import ByteCoding

/// Reads a playlist line by line (RFC 8216, section 4.1).
///
/// Lines end with LF or CR LF. The text is UTF-8 without a byte order mark, and has no control characters except tabs.
/// Each line is read once, and for each line at most `PlaylistLimits.keyFormatCountMaximum` keys are compared.
struct PlaylistReader {
    private var lineNumber = 0
    private var version: PlaylistVersion?
    private var faults: [PlaylistFault] = []
    /// The line of the first tag of each kind.
    private var mediaLine: Int?
    private var multivariantLine: Int?
    private var media = MediaReading()
    private var multivariant = MultivariantReading()
    private var mediaKeyLines: [Int] = []
    private var sessionKeyLines: [Int] = []

    static func read(_ bytes: [UInt8]) throws(PlaylistError) -> Playlist {
        guard bytes.count <= PlaylistLimits.sizeMaximum else { throw PlaylistError(problem: .tooLarge, line: 1) }
        guard !bytes.starts(with: [0xEF, 0xBB, 0xBF]) else { throw PlaylistError(problem: .byteOrderMark, line: 1) }
        var reader = PlaylistReader()
        var rest = bytes[...]
        repeat {
            let line = rest.prefix { $0 != UInt8(ascii: "\n") }
            rest = rest[line.endIndex...].dropFirst()
            try reader.take(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
        } while !rest.isEmpty
        return try reader.finish()
    }

    private func error(_ problem: PlaylistError.Problem) -> PlaylistError {
        PlaylistError(problem: problem, line: lineNumber)
    }

    private mutating func addFault(_ problem: PlaylistFault.Problem) {
        faults.append(PlaylistFault(problem: problem, line: lineNumber))
    }

    private mutating func take(_ line: ArraySlice<UInt8>) throws(PlaylistError) {
        lineNumber += 1
        guard lineNumber <= PlaylistLimits.lineCountMaximum else { throw error(.tooManyLines) }
        guard line.count <= PlaylistLimits.lineSizeMaximum else { throw error(.lineTooLong) }
        try check(line)
        guard lineNumber > 1 else {
            guard line.elementsEqual("#EXTM3U".utf8) else { throw error(.headerMissing) }
            return
        }
        guard let first = line.first else { return }
        if first != UInt8(ascii: "#") {
            take(address: String(decoding: line, as: UTF8.self))
        } else if line.starts(with: "#EXT".utf8) {
            let name = line.prefix { $0 != UInt8(ascii: ":") }
            let value = line[name.endIndex...].dropFirst()
            try take(tag: String(decoding: name.dropFirst(), as: UTF8.self), value)
        }
    }

    /// Throws if the line has control characters or is not UTF-8.
    ///
    /// In UTF-8 the control characters of Latin-1 are two bytes: C2 and 80 to 9F. RFC 8216 forbids tabs too. But
    /// Apple's own segmenter writes a tab after the duration of a segment, and every player accepts it.
    private func check(_ line: ArraySlice<UInt8>) throws(PlaylistError) {
        var previous: UInt8 = 0
        var isASCII = true
        for byte in line {
            let isControl = (byte < 0x20 && byte != 0x09) || byte == 0x7F || (previous == 0xC2 && byte < 0xA0)
            guard !isControl else { throw error(.controlCharacter) }
            if byte >= 0x80 { isASCII = false }
            previous = byte
        }
        guard isASCII || String(validating: line, as: UTF8.self) != nil else { throw error(.notUTF8) }
    }

    // MARK: - Lines

    private mutating func take(address: String) {
        guard let stream = multivariant.openStream else { return media.addSegment(at: lineNumber) }
        multivariant.openStream = nil
        guard let attributes = stream.attributes else { return }
        multivariant.streams.append(VariantStream(line: stream.line, attributes: attributes, address: address))
    }

    private mutating func take(tag: String, _ value: ArraySlice<UInt8>) throws(PlaylistError) {
        switch tag {
        case "EXT-X-VERSION": take(version: value)
        case "EXT-X-KEY":
            mediaKeyLines.append(lineNumber)
            if let key = attributes(of: tag, value).map({ PlaylistKey(line: lineNumber, attributes: $0) }) {
                guard media.add(key) else { throw error(.tooManyKeyFormats) }
            } else {
                media.hasUnreadableKeys = true
            }
        case "EXT-X-SESSION-KEY":
            sessionKeyLines.append(lineNumber)
            if let list = attributes(of: tag, value) {
                multivariant.sessionKeys.append(PlaylistKey(line: lineNumber, attributes: list))
            }
        case "EXT-X-MAP":
            markMedia()
            media.setMap(attributes(of: tag, value))
        case "EXT-X-ENDLIST":
            markMedia()
            media.isEnded = true
        case "EXT-X-PLAYLIST-TYPE":
            markMedia()
            if value.elementsEqual("VOD".utf8) { media.isEnded = true }
        case "EXT-X-STREAM-INF":
            markMultivariant()
            closeStream()
            // Even if the attributes cannot be read, the next address is that of a playlist, and not a segment.
            multivariant.openStream = (lineNumber, attributes(of: tag, value))
        case "EXT-X-I-FRAME-STREAM-INF":
            markMultivariant()
            guard let list = attributes(of: tag, value) else { return }
            guard let address = list["URI"]?.text else { return addFault(.streamWithoutAddress) }
            multivariant.streams.append(VariantStream(line: lineNumber, attributes: list, address: address))
        case "EXT-X-MEDIA":
            markMultivariant()
            if let list = attributes(of: tag, value) {
                multivariant.renditions.append(Rendition(line: lineNumber, attributes: list))
            }
        case _ where Self.otherMediaTags.contains(tag): markMedia()
        case _ where Self.otherMultivariantTags.contains(tag): markMultivariant()
        default: return
        }
    }

    /// Further tags that only a media playlist has. Their values are not read.
    private static let otherMediaTags: Set<String> = [
        "EXTINF", "EXT-X-TARGETDURATION", "EXT-X-MEDIA-SEQUENCE", "EXT-X-DISCONTINUITY-SEQUENCE",
        "EXT-X-I-FRAMES-ONLY", "EXT-X-BYTERANGE", "EXT-X-DISCONTINUITY", "EXT-X-PROGRAM-DATE-TIME", "EXT-X-GAP",
        "EXT-X-BITRATE", "EXT-X-PART", "EXT-X-PART-INF", "EXT-X-SERVER-CONTROL", "EXT-X-SKIP", "EXT-X-PRELOAD-HINT",
        "EXT-X-RENDITION-REPORT",
    ]
    private static let otherMultivariantTags: Set<String> = ["EXT-X-SESSION-DATA", "EXT-X-CONTENT-STEERING"]

    private mutating func markMedia() { mediaLine = mediaLine ?? lineNumber }

    private mutating func markMultivariant() { multivariantLine = multivariantLine ?? lineNumber }

    /// Reads the attributes of a tag. If they cannot be read, notes a fault and returns nil.
    private mutating func attributes(of tag: String, _ value: ArraySlice<UInt8>) -> AttributeList? {
        do throws(AttributeListError) {
            return try AttributeList(parsing: value)
        } catch {
            addFault(.attributes(tag: tag, error))
            return nil
        }
    }

    private mutating func take(version value: ArraySlice<UInt8>) {
        guard version == nil else { return addFault(.versionRepeated) }
        let isNumber = (1...3).contains(value.count) && value.allSatisfy { (0x30...0x39).contains($0) }
        guard isNumber, let number = Int(String(decoding: value, as: UTF8.self)), number > 0 else {
            return addFault(.versionUnreadable)
        }
        version = PlaylistVersion(number: number, line: lineNumber)
    }

    private mutating func closeStream() {
        guard let stream = multivariant.openStream else { return }
        multivariant.openStream = nil
        faults.append(PlaylistFault(problem: .streamWithoutAddress, line: stream.line))
    }

    // MARK: - The end

    /// Decides which kind of playlist it is, and returns it.
    ///
    /// If the only tags are keys, their kind decides. A playlist without tags is a media playlist.
    private mutating func finish() throws(PlaylistError) -> Playlist {
        closeStream()
        if let mediaLine, let multivariantLine {
            throw PlaylistError(problem: .bothKinds, line: max(mediaLine, multivariantLine))
        }
        let isMultivariant = multivariantLine != nil || (mediaLine == nil && !sessionKeyLines.isEmpty)
        for line in isMultivariant ? mediaKeyLines : sessionKeyLines {
            faults.append(PlaylistFault(problem: .keyOfOtherKind, line: line))
        }
        if isMultivariant {
            for line in media.segmentLines {
                faults.append(PlaylistFault(problem: .addressWithoutStream, line: line))
            }
        }
        return Playlist(
            content: isMultivariant ? .multivariant(multivariant.playlist) : .media(media.playlist), version: version,
            faults: faults.sorted { $0.line < $1.line })
    }
}

/// The part of a media playlist that has been read so far.
private struct MediaReading {
    private var keys: [PlaylistKey] = []
    private var firstOfFormat: [Int] = []
    private var firstOfAddress: [Int] = []
    private var places = PlacesOfTexts()
    private var stretches: [SegmentStretch] = []
    private var successions: [KeySuccession] = []
    private var open: [OpenKey] = []
    private var hasMap = false
    /// Whether the keys and the form have not changed since the last segment.
    private var continuesStretch = false
    /// The lines of the first segment of each stretch, for the faults if the playlist turns out to be multivariant.
    var segmentLines: [Int] { stretches.map(\.line) }
    var isEnded = false
    var hasUnreadableKeys = false

    /// A key that covers the segments that follow.
    private struct OpenKey {
        let index: Int
        var hasSegments = false
    }

    /// Adds a key. Returns false if the following segments would have keys of too many formats.
    mutating func add(_ key: PlaylistKey) -> Bool {
        let index = keys.count
        keys.append(key)
        firstOfFormat.append(places.place(ofFormat: key.keyFormat, else: index))
        firstOfAddress.append(places.place(ofAddress: key.uri ?? "", else: index))
        continuesStretch = false
        if key.method == EncryptionMethod.none {
            for old in open { close(old, by: index) }
            open = []
            return true
        }
        if let place = open.firstIndex(where: { firstOfFormat[$0.index] == firstOfFormat[index] }) {
            close(open[place], by: index)
            open.remove(at: place)
        }
        open.append(OpenKey(index: index))
        return open.count <= PlaylistLimits.keyFormatCountMaximum
    }

    private mutating func close(_ old: OpenKey, by index: Int) {
        successions.append(KeySuccession(before: old.index, after: index, hasSegments: old.hasSegments))
    }

    /// Notes an `EXT-X-MAP`. `attributes` is nil if they cannot be read. A map can also be the header of transport
    /// streams, which does not make the segments fragmented MP4.
    mutating func setMap(_ attributes: AttributeList?) {
        let path = (attributes?["URI"]?.text ?? "").prefix { $0 != "?" && $0 != "#" }
        let isFragmented = !path.lowercased().hasSuffix(".ts")
        guard isFragmented != hasMap else { return }
        hasMap = isFragmented
        continuesStretch = false
    }

    mutating func addSegment(at line: Int) {
        if continuesStretch {
            stretches[stretches.count - 1].count += 1
            return
        }
        for place in open.indices { open[place].hasSegments = true }
        let indices = open.map(\.index)
        continuesStretch = true
        if let last = stretches.last, last.keys == indices, last.isFragmented == hasMap {
            stretches[stretches.count - 1].count += 1
            return
        }
        stretches.append(SegmentStretch(line: line, count: 1, keys: indices, isFragmented: hasMap))
    }

    var playlist: MediaPlaylist {
        MediaPlaylist(
            keys: keys, firstOfFormat: firstOfFormat, firstOfAddress: firstOfAddress, stretches: stretches,
            successions: successions, isEnded: isEnded, hasUnreadableKeys: hasUnreadableKeys)
    }
}

/// Remembers where each text occurred first. Bytes are compared, because Swift treats different encodings of a
/// character as equal.
private struct PlacesOfTexts {
    private var formats: [[UInt8]: Int] = [:]
    private var addresses: [[UInt8]: Int] = [:]

    mutating func place(ofFormat format: String, else place: Int) -> Int {
        Self.place(of: format, in: &formats, else: place)
    }

    mutating func place(ofAddress address: String, else place: Int) -> Int {
        Self.place(of: address, in: &addresses, else: place)
    }

    private static func place(of text: String, in places: inout [[UInt8]: Int], else place: Int) -> Int {
        let bytes = Array(text.utf8)
        if let known = places[bytes] { return known }
        places[bytes] = place
        return place
    }
}

/// The part of a multivariant playlist that has been read so far.
private struct MultivariantReading {
    var sessionKeys: [PlaylistKey] = []
    var streams: [VariantStream] = []
    var renditions: [Rendition] = []
    /// An `EXT-X-STREAM-INF` whose address must follow. Its attributes are nil if they cannot be read.
    var openStream: (line: Int, attributes: AttributeList?)?

    var playlist: MultivariantPlaylist {
        MultivariantPlaylist(sessionKeys: sessionKeys, streams: streams, renditions: renditions)
    }
}

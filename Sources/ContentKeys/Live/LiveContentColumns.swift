import ByteCoding

/// The columns of a stored live content, the same in every database, before they are checked.
package struct LiveContentColumns: Sendable {
    package var contentID: String
    package var window: Int64
    package var revision: Int64
    package var endedAt: Int64?
    // These are all nil if there is no schedule.
    package var firstIndex: Int64?
    package var firstStart: Int64?
    package var length: Int64?
    package var ahead: Int64?
    /// A JSON list: `[{"label": null, "type": "sd", "hdcp": null, "level": null}]`.
    package var tracks: String?
    package var scheme: String?

    /// Makes a value from the columns that are never NULL.
    package init(contentID: String, window: Int64, revision: Int64) {
        self.contentID = contentID
        self.window = window
        self.revision = revision
    }

    /// Reads the columns in the order of the fields.
    package init(reading row: borrowing some StoredRow & ~Copyable) throws(StoreError) {
        self.init(
            contentID: try row.text(at: 0), window: try row.integer(at: 1), revision: try row.integer(at: 2))
        endedAt = try row.optionalInteger(at: 3)
        firstIndex = try row.optionalInteger(at: 4)
        firstStart = try row.optionalInteger(at: 5)
        length = try row.optionalInteger(at: 6)
        ahead = try row.optionalInteger(at: 7)
        tracks = try row.optionalText(at: 8)
        scheme = try row.optionalText(at: 9)
    }

    package init(_ content: LiveContent) {
        self.init(contentID: content.contentID.text, window: Int64(content.window), revision: content.revision)
        endedAt = content.endedAt
        guard let schedule = content.schedule else { return }
        firstIndex = Int64(schedule.firstIndex)
        firstStart = schedule.firstStart
        length = schedule.length
        ahead = Int64(schedule.ahead)
        tracks = PeriodTrackText.write(schedule.tracks)
        scheme = schedule.scheme.rawValue
    }
}

extension LiveContent {
    /// Reads the columns of `LiveContentColumns`.
    package init(reading row: borrowing some StoredRow & ~Copyable) throws(StoreError) {
        try self.init(stored: LiveContentColumns(reading: row))
    }

    /// Reads the columns. Throws `recordMalformed` if they have a value that this program never writes.
    package init(stored columns: LiveContentColumns) throws(StoreError) {
        guard let contentID = try? ContentID(columns.contentID), let window = UInt32(exactly: columns.window),
            Self.windows.contains(window), columns.revision > 0
        else { throw .recordMalformed }
        self.init(
            contentID, window: window, schedule: try PeriodSchedule(stored: columns), endedAt: columns.endedAt,
            revision: columns.revision)
    }
}

extension PeriodSchedule {
    /// Reads the columns of a schedule; nil if there is none.
    fileprivate init?(stored columns: LiveContentColumns) throws(StoreError) {
        guard let length = columns.length else { return nil }
        guard let firstIndex = columns.firstIndex.flatMap({ UInt32(exactly: $0) }),
            let firstStart = columns.firstStart, let ahead = columns.ahead.flatMap({ UInt32(exactly: $0) }),
            let tracks = columns.tracks.flatMap(PeriodTrackText.read),
            let scheme = columns.scheme.flatMap(EncryptionScheme.init(rawValue:)),
            let schedule = PeriodSchedule(
                firstIndex: firstIndex, firstStart: firstStart, length: length, ahead: ahead, tracks: tracks,
                scheme: scheme)
        else { throw .recordMalformed }
        self = schedule
    }
}

/// The tracks of a schedule as JSON text.
enum PeriodTrackText {
    static func write(_ tracks: [PeriodTrack]) -> String {
        var writer = JSONWriter()
        writer.array { writer in
            for track in tracks {
                writer.object { writer in
                    writer.member("label", track.track.label?.text)
                    writer.member("type", track.track.contentType.rawValue)
                    writer.member("hdcp", track.leastHDCP?.rawValue)
                    writer.member("level", track.leastSecurityLevel?.rawValue)
                }
            }
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Reads the text; nil if it is not a text that `write` writes.
    static func read(_ text: String) -> [PeriodTrack]? {
        guard let node = try? JSONReader.parse(Array(text.utf8)), case .array(let elements) = node.value else {
            return nil
        }
        var tracks: [PeriodTrack] = []
        for element in elements {
            guard let track = element.object.flatMap(track) else { return nil }
            tracks.append(track)
        }
        return tracks
    }

    private static func track(_ object: JSONObject) -> PeriodTrack? {
        guard let type = word(object, "type").flatMap(ContentType.init(rawValue:)) else { return nil }
        var label: TrackLabel?
        if let text = word(object, "label") {
            label = try? TrackLabel(text)
            if label == nil { return nil }
        }
        guard let track = try? Track(label: label, contentType: type) else { return nil }
        var found = PeriodTrack(track)
        if let word = word(object, "hdcp") {
            found.leastHDCP = ContentKeyAttributes.HDCP(rawValue: word)
            if found.leastHDCP == nil { return nil }
        }
        if let word = word(object, "level") {
            found.leastSecurityLevel = ContentKeyAttributes.SecurityLevel(rawValue: word)
            if found.leastSecurityLevel == nil { return nil }
        }
        return found
    }

    private static func word(_ object: JSONObject, _ name: String) -> String? {
        object[name]?.string
    }
}

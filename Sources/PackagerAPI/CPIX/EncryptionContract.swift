import ByteCoding
package import ContentKeys

/// The usage rules of a document: they say which key encrypts which tracks (packagers, section 1.4).
///
/// The number of filters is not compared with the parts of a track type: the public suite of SPEKE has one filter for
/// `SD+HD1`, although SPEKE's documentation asks for two.
struct EncryptionContract {
    /// One rule for each key. In SPEKE v1 keys may lack a rule.
    let rules: [KeyID: UsageRule]

    init(rules: [KeyID: UsageRule]) {
        self.rules = rules
    }

    /// Reads the rules of SPEKE v1. They have no track types, and only say the period of a key.
    init(
        readingVersion1 elements: [MarkupElement], keyIDs: Set<KeyID>, periods: [String: KeyPeriod]
    ) throws(CPIXError) {
        var rules: [KeyID: UsageRule] = [:]
        for element in elements {
            let (keyID, _) = try CPIXRequestReader.keyID(of: element)
            guard keyIDs.contains(keyID) else { throw .unknownKeyID(element: "ContentKeyUsageRule") }
            let rule = UsageRule(
                keyID: keyID, trackType: "", videoFilters: [], audioFilters: [],
                periodID: try UsageRule.periodID(of: element, periods), track: .unlabelled)
            guard rules.updateValue(rule, forKey: keyID) == nil else { throw .repeatedElement("ContentKeyUsageRule") }
        }
        self.rules = rules
    }

    /// Reads the rules of SPEKE v2.
    ///
    /// Throws `missingContract` if no rule has a filter of video or audio, `unsupportedContract` if one key is for
    /// tracks that need several keys, and `malformedContract` for rules that are invalid otherwise.
    init(reading elements: [MarkupElement], keyIDs: Set<KeyID>, periods: [String: KeyPeriod]) throws(CPIXError) {
        guard elements.contains(where: UsageRule.hasFilter) else { throw .missingContract }
        let all = try elements.map { (element) throws(CPIXError) in
            try UsageRule(reading: element, keyIDs: keyIDs, periods: periods)
        }
        var rules: [KeyID: UsageRule] = [:]
        // Keys of different periods may be for the same tracks.
        for samePeriod in Dictionary(grouping: all, by: \.periodID).values {
            guard Set(samePeriod.map(\.trackType)).count == samePeriod.count else { throw .malformedContract }
            guard samePeriod.count == 1 || !samePeriod.contains(where: \.isForAll) else { throw .malformedContract }
        }
        for rule in all {
            guard rules.updateValue(rule, forKey: rule.keyID) == nil else { throw .unsupportedContract }
        }
        guard rules.count == keyIDs.count else { throw .malformedContract }
        self.rules = rules
    }
}

/// A `ContentKeyUsageRule`.
struct UsageRule {
    let keyID: KeyID
    /// `intendedTrackType`, such as `SD+HD1`; empty in SPEKE v1.
    let trackType: String
    let videoFilters: [RangeFilter]
    let audioFilters: [RangeFilter]
    let periodID: String?
    let track: Track

    /// The track type of a key for every track.
    static let allTracks = "ALL"

    var isForAll: Bool { trackType == Self.allTracks }

    static func hasFilter(_ element: MarkupElement) -> Bool {
        ["VideoFilter", "AudioFilter"].contains { !element.elements($0, in: CPIXNamespace.cpix).isEmpty }
    }

    /// The id of the key's period; nil if the rule has no `KeyPeriodFilter`. A key has at most one period.
    static func periodID(of element: MarkupElement, _ periods: [String: KeyPeriod]) throws(CPIXError) -> String? {
        let filters = element.elements("KeyPeriodFilter", in: CPIXNamespace.cpix)
        guard let filter = filters.first else { return nil }
        guard filters.count == 1 else { throw .unsupportedContract }
        guard let identifier = filter.attribute("periodId") else {
            throw .missingAttribute(element: "KeyPeriodFilter", attribute: "periodId")
        }
        guard periods[identifier] != nil else { throw .unknownPeriod }
        return identifier
    }
}

extension UsageRule {
    init(reading element: MarkupElement, keyIDs: Set<KeyID>, periods: [String: KeyPeriod]) throws(CPIXError) {
        guard let trackType = element.attribute("intendedTrackType"), !trackType.isEmpty,
            element.attribute("kid")?.isEmpty == false
        else { throw .malformedContract }
        let (keyID, _) = try CPIXRequestReader.keyID(of: element)
        guard keyIDs.contains(keyID) else { throw .unknownKeyID(element: "ContentKeyUsageRule") }
        let video = try element.elements("VideoFilter", in: CPIXNamespace.cpix).map { (filter) throws(CPIXError) in
            try RangeFilter(video: filter)
        }
        let audio = try element.elements("AudioFilter", in: CPIXNamespace.cpix).map { (filter) throws(CPIXError) in
            try RangeFilter(audio: filter)
        }
        try Self.check(trackType, video, audio)
        self.init(
            keyID: keyID, trackType: trackType, videoFilters: video, audioFilters: audio,
            periodID: try Self.periodID(of: element, periods), track: try Self.track(trackType, video, audio))
    }

    /// Checks that the filters fit the track type. `ALL` has one bare filter of each kind. Any other track type is for
    /// video or for audio, and all its filters are of that kind.
    private static func check(
        _ trackType: String, _ video: [RangeFilter], _ audio: [RangeFilter]
    ) throws(CPIXError) {
        let parts = trackType.split(separator: "+", omittingEmptySubsequences: false).map(String.init)
        guard !parts.contains(where: \.isEmpty), Set(parts).count == parts.count else { throw .malformedContract }
        if parts.contains(allTracks) {
            guard parts.count == 1, video.count == 1, audio.count == 1, video[0].isBare, audio[0].isBare else {
                throw .malformedContract
            }
            return
        }
        guard !video.isEmpty || !audio.isEmpty else { throw .malformedContract }
        let kinds = Set(parts.compactMap(TrackKind.init(trackType:)))
        // A key has one protection. If video and audio shared a key, the stricter protection would also stop devices
        // that may play the other.
        guard kinds.count < 2, video.isEmpty || audio.isEmpty else { throw .unsupportedContract }
        let filtered: TrackKind = video.isEmpty ? .audio : .video
        guard kinds.isSubset(of: [filtered]) else { throw .malformedContract }
    }

    private static func track(
        _ trackType: String, _ video: [RangeFilter], _ audio: [RangeFilter]
    ) throws(CPIXError) -> Track {
        if trackType == allTracks { return .unlabelled }
        guard let label = try? TrackLabel(trackType) else { throw .malformedContract }
        // A filter without sizes says nothing, so the name of a preset counts as well. The strictest decides.
        let types = video.map(\.contentType) + [UsageRuleName.contentType(of: trackType)].compactMap(\.self)
        let type: ContentType = video.isEmpty ? .audio : types.max { $0.rank < $1.rank } ?? .sd
        guard let track = try? Track(label: label, contentType: label.contentType ?? type) else {
            throw .malformedContract
        }
        return track
    }
}

/// Whether a track type of SPEKE's presets is for video or for audio.
enum TrackKind: Hashable {
    case video
    case audio

    /// Returns nil for a name that is not one of the presets.
    init?(trackType: String) {
        switch trackType {
        case "VIDEO", "SD", "HD", "HD1", "HD2", "UHD", "UHD1", "UHD2": self = .video
        case "AUDIO", "STEREO_AUDIO", "MULTICHANNEL_AUDIO", "MULTICHANNEL_AUDIO_3_6", "MULTICHANNEL_AUDIO_7":
            self = .audio
        default: return nil
        }
    }
}

/// The track types of SPEKE's presets (packagers, section 1.4), for orders that have no filters.
package enum UsageRuleName {
    /// The track type of a key for every track.
    package static let allTracks = UsageRule.allTracks

    /// The content type of a preset; for a joined type such as `SD+HD1` the strictest of its parts. Returns nil for a
    /// name that is not one of the presets, and for video and audio together.
    package static func contentType(of trackType: String) -> ContentType? {
        var strictest: ContentType?
        for part in trackType.split(separator: "+", omittingEmptySubsequences: false) {
            guard let type = single(String(part)) else { return nil }
            if let strictest, (strictest == .audio) != (type == .audio) { return nil }
            if type.rank > (strictest?.rank ?? -1) { strictest = type }
        }
        return strictest
    }

    private static func single(_ name: String) -> ContentType? {
        switch TrackKind(trackType: name) {
        case .audio: .audio
        case .video: name.hasPrefix("UHD") ? .uhd : name.hasPrefix("HD") ? .hd : .sd
        case nil: nil
        }
    }
}

/// A `VideoFilter` or `AudioFilter`: a range of pixels in a picture, or of audio channels.
struct RangeFilter: Equatable {
    /// The least number of pixels or channels; nil if there is no lower bound.
    let minimum: UInt64?
    let maximum: UInt64?
    /// Whether the filter has no attributes, so that it fits every track of its kind.
    let isBare: Bool

    /// Pictures of up to 1024 x 576 pixels are SD, larger ones of up to 1920 x 1080 are HD (packagers, section 1.4).
    static let pixelsOfSD: UInt64 = 589_824
    static let pixelsOfHD: UInt64 = 2_073_600

    init(video element: MarkupElement) throws(CPIXError) {
        try self.init(element, "minPixels", "maxPixels", others: ["minFps", "maxFps", "hdr", "wcg"])
        guard let least = try Self.number("minFps", of: element), let most = try Self.number("maxFps", of: element)
        else { return }
        guard least <= most else { throw .malformedContract }
    }

    init(audio element: MarkupElement) throws(CPIXError) {
        try self.init(element, "minChannels", "maxChannels", others: [])
    }

    private init(
        _ element: MarkupElement, _ minimumName: String, _ maximumName: String, others: [String]
    ) throws(CPIXError) {
        minimum = try Self.number(minimumName, of: element)
        maximum = try Self.number(maximumName, of: element)
        if let minimum, let maximum, maximum < minimum { throw .malformedContract }
        isBare = ([minimumName, maximumName] + others).allSatisfy { element.attribute($0) == nil }
    }

    private static func number(_ name: String, of element: MarkupElement) throws(CPIXError) -> UInt64? {
        guard let text = element.attribute(name) else { return nil }
        guard let number = DecimalNumber.parse(text) else { throw .malformedContract }
        return number
    }

    /// The content type of the largest pictures that fit. A filter without sizes means SD, like a key without a label.
    var contentType: ContentType {
        guard let pixels = maximum ?? minimum else { return .sd }
        return pixels <= Self.pixelsOfSD ? .sd : pixels <= Self.pixelsOfHD ? .hd : .uhd
    }
}

extension ContentType {
    /// Orders the types by the strictness of their policies.
    fileprivate var rank: Int {
        switch self {
        case .audio: 0
        case .sd: 1
        case .hd: 2
        case .uhd: 3
        }
    }
}

/// When the key rotation periods of a live content begin, and which keys each of them has.
///
/// Periods follow one another without gaps, and all of them are equally long. Times are seconds since 1970.
package struct PeriodSchedule: Hashable, Sendable {
    /// How long a period may be, in seconds: a minute to a year.
    package static let lengths: ClosedRange<Int64> = 60...31_622_400
    /// How many periods may have their keys ahead of time.
    package static let aheads: ClosedRange<UInt32> = 1...64
    /// How many keys a period may have: as many as a SPEKE request.
    package static let trackCounts = 1...64

    package let firstIndex: UInt32
    package let firstStart: Int64
    /// The length of each period in seconds.
    package let length: Int64
    /// How many periods behind the current one have their keys.
    package let ahead: UInt32
    /// Each period has one key for each of these.
    package let tracks: [PeriodTrack]
    package let scheme: EncryptionScheme

    /// Nil for a length, a number of periods ahead or a number of tracks that is out of range, and for two tracks with
    /// one label.
    package init?(
        firstIndex: UInt32, firstStart: Int64, length: Int64, ahead: UInt32 = 1, tracks: [PeriodTrack],
        scheme: EncryptionScheme = .cbcs
    ) {
        guard Self.lengths.contains(length), Self.aheads.contains(ahead), Self.trackCounts.contains(tracks.count),
            Set(tracks.map(\.track.label)).count == tracks.count
        else { return nil }
        self.firstIndex = firstIndex
        self.firstStart = firstStart
        self.length = length
        self.ahead = ahead
        self.tracks = tracks
        self.scheme = scheme
    }

    /// The period at a time; before the first one begins, the number before it.
    package func index(at time: Int64) -> Int64 {
        guard time >= firstStart else { return Int64(firstIndex) - 1 }
        let (elapsed, isOverflowing) = time.subtractingReportingOverflow(firstStart)
        let count = isOverflowing ? .max : elapsed / length
        // There is no period behind the last number.
        return Int64(firstIndex) + min(count, Int64(UInt32.max - firstIndex))
    }

    /// When a period begins that is not before the first one.
    package func start(of index: UInt32) -> Int64 {
        firstStart &+ (Int64(index) - Int64(firstIndex)) * length
    }

    /// The periods that need their keys while `current` is the period: it, and those ahead of it.
    package func needed(at current: Int64) -> ClosedRange<UInt32> {
        let first = max(current, Int64(firstIndex))
        let last = max(first, current + Int64(ahead))
        return UInt32(clamping: first)...UInt32(clamping: last)
    }
}

/// The tracks that one key of a period is for, with the key's floor.
package struct PeriodTrack: Hashable, Sendable {
    package var track: Track
    package var leastHDCP: ContentKeyAttributes.HDCP?
    package var leastSecurityLevel: ContentKeyAttributes.SecurityLevel?

    package init(
        _ track: Track, leastHDCP: ContentKeyAttributes.HDCP? = nil,
        leastSecurityLevel: ContentKeyAttributes.SecurityLevel? = nil
    ) {
        self.track = track
        self.leastHDCP = leastHDCP
        self.leastSecurityLevel = leastSecurityLevel
    }

    /// What a key is for and demands.
    package init(of key: ContentKeyAttributes) {
        self.init(key.track, leastHDCP: key.leastHDCP, leastSecurityLevel: key.leastSecurityLevel)
    }
}

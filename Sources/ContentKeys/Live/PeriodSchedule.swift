/// The schedule of a live content's key periods, with the keys of each period.
///
/// Periods follow one another without gaps, and all have the same length. Times are seconds since 1970.
package struct PeriodSchedule: Hashable, Sendable {
    /// The range of a period's length, in seconds: a minute to a year.
    package static let lengths: ClosedRange<Int64> = 60...31_622_400
    /// The range of the number of periods whose keys are made ahead of time.
    package static let aheads: ClosedRange<UInt32> = 1...64
    /// The range of the number of keys of a period: as many as in a SPEKE request.
    package static let trackCounts = 1...64

    package let firstIndex: UInt32
    package let firstStart: Int64
    /// The length of each period in seconds.
    package let length: Int64
    /// The number of periods after the current one whose keys are made.
    package let ahead: UInt32
    /// The tracks; each period has one key for each of them.
    package let tracks: [PeriodTrack]
    package let scheme: EncryptionScheme

    /// Returns nil if the length, the number of periods ahead or the number of tracks is out of range, or if two tracks
    /// have the same label.
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

    /// Returns the index of the period at a time; the index before the first one if that has not begun.
    package func index(at time: Int64) -> Int64 {
        guard time >= firstStart else { return Int64(firstIndex) - 1 }
        let (elapsed, isOverflowing) = time.subtractingReportingOverflow(firstStart)
        let count = isOverflowing ? .max : elapsed / length
        // No period follows the one with the largest index.
        return Int64(firstIndex) + min(count, Int64(UInt32.max - firstIndex))
    }

    /// Returns the start of a period. `index` is not before the first period.
    package func start(of index: UInt32) -> Int64 {
        firstStart &+ (Int64(index) - Int64(firstIndex)) * length
    }

    /// Returns the periods whose keys must exist while `current` is the current period: that period and those ahead of
    /// it.
    package func needed(at current: Int64) -> ClosedRange<UInt32> {
        let first = max(current, Int64(firstIndex))
        let last = max(first, current + Int64(ahead))
        return UInt32(clamping: first)...UInt32(clamping: last)
    }
}

/// The tracks of one key of a period, with the key's floor.
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

    /// Copies the track and the floor of a key.
    package init(of key: ContentKeyAttributes) {
        self.init(key.track, leastHDCP: key.leastHDCP, leastSecurityLevel: key.leastSecurityLevel)
    }
}

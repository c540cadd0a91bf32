/// What an offline licence must not exceed, in the forms that FairPlay has (entitlement, section 4.4).
///
/// Each number is seconds from 1 to `LimitSeconds.maximum`.
package enum OfflineLimits: Equatable, Sendable {
    /// The device may keep the key for ever: the right says that it grants offline use, and sets no limit.
    case unlimited
    /// The key is good for so long after it is issued, played or not.
    case singleExpiry(seconds: UInt32)
    /// One end before the first play, another one after it.
    case dualExpiry(DualExpiry)

    package struct DualExpiry: Equatable, Sendable {
        /// How long after it is issued the key is good until its first play; nil is no limit.
        package let storage: UInt32?
        /// How long it is good from its first play.
        package let playback: UInt32
    }

    /// The limits that a right sets at `now`.
    ///
    /// `storage`, `duration` and `end` bound the time until the first play, and `playback` the time from it on. A device counts playback
    /// from a moment that nobody knows now, possibly the last second of storage, and cannot be told the time of an end. So:
    ///
    /// - Without `playback` the others bound the licence as a whole: nothing else would ever end a key that has been played once.
    /// - With an `end`, storage and playback together fit into what remains. Playback stays as given, and storage gives way. Where that
    ///   would leave less time to begin than one expiry that keeps all limits leaves altogether, that one expiry is granted instead.
    ///
    /// Throws `offlineNotGranted`, `offlineOutlivesLease`, `rightNotStarted`, `rightEnded`.
    init(of right: Right, now: Int64) throws(EntitlementError) {
        switch right.mode {
        case .offline, .both: break
        case .stream: throw .offlineNotGranted
        }
        guard right.lease == nil else { throw .offlineOutlivesLease }
        let untilEnd = try right.secondsUntilEnd(now: now)
        let storage = LimitSeconds.least(right.storage, right.duration, untilEnd)
        guard let playback = right.playback else {
            self = storage.map { .singleExpiry(seconds: LimitSeconds.clamped($0)) } ?? .unlimited
            return
        }
        self = Self.limits(storage: storage, playback: playback, untilEnd: untilEnd)
    }

    /// `storage` is within `untilEnd`.
    private static func limits(storage: Int64?, playback: Int64, untilEnd: Int64?) -> OfflineLimits {
        guard let storage, let untilEnd else {
            let storage = storage.map(LimitSeconds.clamped)
            return .dualExpiry(DualExpiry(storage: storage, playback: LimitSeconds.clamped(playback)))
        }
        let single = min(storage, playback)
        let shortened = min(storage, untilEnd - playback)
        guard shortened >= single else { return .singleExpiry(seconds: LimitSeconds.clamped(single)) }
        return .dualExpiry(
            DualExpiry(storage: LimitSeconds.clamped(shortened), playback: LimitSeconds.clamped(playback)))
    }
}

/// The same limits in the other form, for a device or a block that knows only that one. Never longer, and often shorter.
extension OfflineLimits {
    /// The one expiry that keeps all limits, in seconds; nil is no limit.
    package var asSingleExpiry: UInt32? {
        switch self {
        case .unlimited: nil
        case .singleExpiry(let seconds): seconds
        case .dualExpiry(let expiry): min(expiry.storage ?? expiry.playback, expiry.playback)
        }
    }

    /// Two expiries that together keep all limits: of a single one, half to begin and half from then on. Nil where there is no limit, and
    /// for a single second, which has no halves.
    package var asDualExpiry: DualExpiry? {
        switch self {
        case .unlimited, .singleExpiry(seconds: ...1): nil
        case .singleExpiry(let seconds): DualExpiry(storage: seconds - seconds / 2, playback: seconds / 2)
        case .dualExpiry(let expiry): expiry
        }
    }
}

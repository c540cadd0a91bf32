/// What an offline licence must not exceed, in the forms that FairPlay has (entitlement, section 4.4).
///
/// Each number is seconds from 1 to `LimitSeconds.maximum`.
package enum OfflineLimits: Equatable, Sendable {
    /// The device may keep the key for ever: the right says that it grants offline use, and sets no limit.
    case unlimited
    /// The key is good for so long after it is issued, played or not.
    case hardEnd(UInt32)
    /// One end before the first play and another one counted from it; nil is no limit, and one of them is set.
    case aroundFirstPlay(storage: UInt32?, playback: UInt32?)

    /// The limits that a right sets at `now`.
    ///
    /// `storage` bounds the time until the first play, `playback` the time from it on, and `duration`, `life` and `end`
    /// the whole. A device counts playback from a moment that is not known now, possibly the last second of storage,
    /// and cannot be told the time of an end. So if the whole is bounded, storage and playback together fit into
    /// what remains:
    ///
    /// - Without `playback`, playback gets what storage leaves; without either, the end is a hard one.
    /// - A `playback` stays as given, and storage gives way. If that would leave less time to begin than a hard end
    ///   that keeps all limits leaves altogether, that hard end is granted instead.
    ///
    /// Throws `offlineNotGranted`, `offlineOutlivesLease`, `rightNotStarted`, `rightEnded`.
    ///
    /// What is left of a `rental` that is remembered bounds the whole too.
    init(of right: Right, rental: RentalRemainder? = nil, now: Int64) throws(EntitlementError) {
        switch right.mode {
        case .offline, .both: break
        case .stream: throw .offlineNotGranted
        }
        guard right.lease == nil else { throw .offlineOutlivesLease }
        let untilEnd = LimitSeconds.least(
            LimitSeconds.least(right.duration, right.life), rental?.toPlay, try right.secondsUntilEnd(now: now))
        self =
            untilEnd.map { Self.limits(storage: right.storage, playback: right.playback, untilEnd: $0) }
            ?? Self.limits(storage: right.storage, playback: right.playback)
    }

    private static func limits(storage: Int64?, playback: Int64?) -> OfflineLimits {
        if storage == nil && playback == nil { return .unlimited }
        return .aroundFirstPlay(
            storage: storage.map(LimitSeconds.clamped), playback: playback.map(LimitSeconds.clamped))
    }

    private static func limits(storage: Int64?, playback: Int64?, untilEnd: Int64) -> OfflineLimits {
        let bounded = min(storage ?? untilEnd, untilEnd)
        guard let playback else {
            guard bounded < untilEnd else { return .hardEnd(LimitSeconds.clamped(untilEnd)) }
            return limits(storage: bounded, playback: untilEnd - bounded)
        }
        let hardEnd = min(bounded, playback)
        let shortened = min(bounded, untilEnd - playback)
        guard shortened >= hardEnd else { return .hardEnd(LimitSeconds.clamped(hardEnd)) }
        return limits(storage: shortened, playback: playback)
    }
}

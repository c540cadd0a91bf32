/// How a client wants to use a content. The request says it; an SPC does not (entitlement, section 4.4).
package enum LicenseUse: Sendable, CaseIterable {
    /// Playback with a licence that ends with the playback session.
    case streaming
    /// A licence that the device keeps.
    case offline
}

extension LicenseUse {
    /// What a request is for that does not say it: for streaming, unless the issuer has its rights say it and one of
    /// them grants offline use of the content.
    package init(grantedBy claims: Claims, for content: RequestedContent) {
        let keeps = claims.rights.contains { right in
            right.mode != .stream && right.covers(contentID: content.contentID, keyID: content.keyID)
        }
        self = claims.offlineByRight && keeps ? .offline : .streaming
    }
}

/// What a licence must not exceed, for the use that was asked for.
package enum LicenseLimits: Equatable, Sendable {
    case streaming(StreamingLimits)
    case offline(OfflineLimits)

    /// The limits that a right sets at `now`, or why it grants no such licence. Throws as the limits of either use do.
    init(
        of right: Right, rental: RentalRemainder? = nil, for use: LicenseUse, now: Int64
    ) throws(EntitlementError) {
        self =
            switch use {
            case .streaming: .streaming(try StreamingLimits(of: right, rental: rental, now: now))
            case .offline: .offline(try OfflineLimits(of: right, rental: rental, now: now))
            }
    }
}

/// Arithmetic on limits, in seconds from 1 on. Nil is no limit, and zero never occurs, because a device takes it for
/// none.
package enum LimitSeconds {
    /// The most seconds that a device can be told; all ones means something else to some.
    package static let maximum: UInt32 = 0xFFFF_FFFE

    static func least(_ limits: Int64?...) -> Int64? {
        limits.compactMap { $0 }.min()
    }

    /// The sum, or the largest number if the sum overflows.
    static func sum(_ one: Int64, _ other: Int64) -> Int64 {
        let (sum, overflows) = one.addingReportingOverflow(other)
        return overflows ? .max : sum
    }

    package static func clamped(_ seconds: Int64) -> UInt32 {
        UInt32(clamping: min(seconds, Int64(maximum)))
    }
}

extension Right {
    /// How long the right still holds at `now`, at least 1 second; nil if it has no end. Throws `rightNotStarted`
    /// and `rightEnded`.
    func secondsUntilEnd(now: Int64) throws(EntitlementError) -> Int64? {
        if let start, now < start { throw .rightNotStarted(retryAfterSeconds: start - now) }
        guard let end else { return nil }
        guard now < end else { throw .rightEnded }
        return end - now
    }
}

/// What a streaming licence must not exceed, in the units of the content key duration block.
///
/// Each number is seconds from 1 to `LimitSeconds.maximum`; nil is no limit.
package struct StreamingLimits: Equatable, Sendable {
    /// How long playback may go on before it must be renewed or stop.
    package let lease: UInt32?
    /// How long from now playback may begin.
    package let rental: UInt32?

    /// The limits that a right sets at `now`.
    ///
    /// An `end` bounds everything; without a `lease` it becomes one, because FairPlay knows no other way to stop
    /// playback. A `duration` is a rental: playback that began within it may finish, unless a lease stops it. A `life`
    /// is a lease. Throws `streamingNotGranted`, `rightNotStarted`, `rightEnded`.
    ///
    /// A `rental` that is remembered bounds both. If its right has no lease, the rest of it is one: otherwise no
    /// device would tell of a play.
    init(of right: Right, rental: RentalRemainder? = nil, now: Int64) throws(EntitlementError) {
        switch right.mode {
        case .stream, .both: break
        case .offline: throw .streamingNotGranted
        }
        let untilEnd = try right.secondsUntilEnd(now: now)
        let asked = LimitSeconds.least(right.lease, right.life)
        if let rental {
            let begin = LimitSeconds.least(rental.toBegin, right.duration, untilEnd)
            lease = LimitSeconds.least(asked, rental.toPlay, untilEnd).map(LimitSeconds.clamped)
            self.rental = rental.toBegin == nil ? nil : begin.map(LimitSeconds.clamped)
            return
        }
        let window = LimitSeconds.least(right.duration, untilEnd)
        lease = (asked == nil ? untilEnd : LimitSeconds.least(asked, window)).map(LimitSeconds.clamped)
        self.rental = (right.duration == nil ? nil : window).map(LimitSeconds.clamped)
    }
}

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

/// How a client wants to use a content. The request says this; an SPC does not (entitlement, section 4.4).
package enum LicenseUse: Sendable, CaseIterable {
    /// Playback with a license that ends with the playback session.
    case streaming
    /// A license that the device keeps.
    case offline
}

extension LicenseUse {
    /// Chooses the use for a request that does not name one.
    ///
    /// The use is streaming, unless the issuer has `offlineByRight` and a right grants offline use of the content.
    package init(grantedBy claims: Claims, for content: RequestedContent) {
        let keeps = claims.rights.contains { right in
            right.mode != .stream && right.covers(contentID: content.contentID, keyID: content.keyID)
        }
        self = claims.offlineByRight && keeps ? .offline : .streaming
    }
}

/// The limits of a license, for the requested use.
package enum LicenseLimits: Equatable, Sendable {
    case streaming(StreamingLimits)
    case offline(OfflineLimits)

    /// Computes the limits that a right sets at `now`.
    ///
    /// Throws the errors of `StreamingLimits` or `OfflineLimits`, depending on the use.
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

extension Right {
    /// Returns for how many seconds after `now` the right is valid, at least 1; nil if it has no end.
    ///
    /// Throws `rightNotStarted` and `rightEnded`.
    func secondsUntilEnd(now: Int64) throws(EntitlementError) -> Int64? {
        if let start, now < start { throw .rightNotStarted(retryAfterSeconds: start - now) }
        guard let end else { return nil }
        guard now < end else { throw .rightEnded }
        return end - now
    }
}

/// The limits of a streaming license, in the units of the content key duration block.
///
/// Each number is from 1 to `LimitSeconds.maximum` seconds; nil means no limit.
package struct StreamingLimits: Equatable, Sendable {
    /// For how long playback may continue until it must be renewed or must stop.
    package let lease: UInt32?
    /// For how long from now playback may begin.
    package let rental: UInt32?

    /// Computes the limits that a right sets at `now`.
    ///
    /// An `end` bounds both limits. Without a `lease`, the end becomes the lease, because FairPlay has no other way to
    /// stop playback. A `duration` is a rental: playback that began within it may finish, unless a lease stops it. A
    /// `life` is a lease.
    ///
    /// A `rental` whose state is stored bounds both limits too. If its right has no lease, the remainder of the `play`
    /// time becomes the lease, unless the rental lets a running playback finish.
    ///
    /// Throws `streamingNotGranted`, `rightNotStarted`, `rightEnded`.
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

/// The limits of an offline license, in the forms that FairPlay has (entitlement, section 4.4).
///
/// Each number is from 1 to `LimitSeconds.maximum` seconds.
package enum OfflineLimits: Equatable, Sendable {
    /// The device may keep the key without a limit, because the right grants offline use and sets no limit.
    case unlimited
    /// The key is valid for this many seconds after it is issued, whether it is played or not.
    case hardEnd(UInt32)
    /// One limit for the time until the first play, and one for the time after it. Nil means no limit; at least one of
    /// them is set.
    case aroundFirstPlay(storage: UInt32?, playback: UInt32?)

    /// Computes the limits that a right sets at `now`.
    ///
    /// `storage` bounds the time until the first play, and `playback` the time after it. `duration`, `life`, `end` and
    /// the remainder of a stored `rental` bound the total. A device starts to count `playback` at the first play, which
    /// can come in the last second of `storage`; a license cannot carry the time of an end. So if the total is bounded,
    /// storage and playback together must fit into it:
    ///
    /// - Without `playback`, playback gets the time that storage leaves. Without both, the license gets a hard end.
    /// - A `playback` stays as given, and storage is shortened. If the shortened storage is less than the hard end that
    ///   keeps all limits, the license gets that hard end instead.
    ///
    /// Throws `offlineNotGranted`, `offlineOutlivesLease`, `rightNotStarted`, `rightEnded`.
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

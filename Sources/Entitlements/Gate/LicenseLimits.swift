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

package import ByteCoding

/// What ties a session token to one playback, beside the claims that its renewals keep.
package struct SessionGrant: Equatable, Sendable {
    /// Names the session: the id of the licence that it began with.
    package let id: Bytes16
    /// Counts the tokens of the session: each renewal gives the next one.
    package let generation: UInt32
    /// The playback session that the device's SPCs tell.
    package let playback: UInt64
    /// The first second, since 1970, in which nothing of the session holds any more.
    package let absoluteEnd: Int64
    /// The licence that was given together with the token.
    package let license: Bytes16
    /// What the first token stood for if it had no subject; 32 bytes.
    package let owner: [UInt8]?
    /// What was remembered of the rental with that licence; nil if its right has no rental.
    package let rental: RentalStanding.Memory?
    /// The session key that signed the token.
    let keyID: String
    /// Confirms HU to a holder of that key, and does not reveal it.
    let deviceCode: [UInt8]
}

/// Why a session token renews nothing any more; the app needs a new entitlement token.
package enum SessionEnd: Equatable, Sendable {
    /// The lease and its grace, or the whole session, are over.
    case expired
    /// The request is of another playback.
    case otherPlayback
}

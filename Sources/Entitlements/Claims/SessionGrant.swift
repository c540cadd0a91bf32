package import ByteCoding

/// The data that bind a session token to one playback, in addition to its claims.
package struct SessionGrant: Equatable, Sendable {
    /// The ID of the session, which is the ID of its first license.
    package let id: Bytes16
    /// The number of the token in its session. Each renewal issues the next one.
    package let generation: UInt32
    /// The number of the playback session in the device's SPCs.
    package let playback: UInt64
    /// The end of the session, in seconds since 1970.
    package let absoluteEnd: Int64
    /// The license that was issued together with the token.
    package let license: Bytes16
    /// The 32 bytes that identify the entitlement token if it has no subject.
    package let owner: [UInt8]?
    /// The state of the rental when that license was issued; nil if its right has no rental.
    package let rental: RentalStanding.Memory?
    /// The session key that signed the token.
    let keyID: String
    /// The code of HU. A server with the session key can compare it with a device; it does not reveal HU.
    let deviceCode: [UInt8]
}

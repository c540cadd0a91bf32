import ByteCoding

/// What a device says of its playback (protocol, sections 2.1 and 4.1).
///
///     offset  size  field
///          0     4  creation date of the SPC, seconds since 1970 by the device's clock
///          4     4  state
///          8     8  playback session
///
/// The sender of an SPC can alter it, so it never loosens a check.
package struct MediaPlaybackState: Sendable, Equatable {
    package static let size = 16

    package let createdAt: UInt32
    package let state: PlaybackState
    /// The same for one playback across its keys and bit rates.
    package let sessionID: UInt64

    package init(createdAt: UInt32, state: PlaybackState, sessionID: UInt64) {
        self.createdAt = createdAt
        self.state = state
        self.sessionID = sessionID
    }

    /// `offset` is where a value of at least 16 bytes begins.
    init(_ payload: [UInt8], at offset: Int) {
        let fields = Bytes16(payload, at: offset)
        createdAt = UInt32(truncatingIfNeeded: fields.high >> 32)
        state = PlaybackState(wireValue: UInt32(truncatingIfNeeded: fields.high))
        sessionID = fields.low
    }
}

package enum PlaybackState: UInt32, Sendable, CaseIterable {
    case readyToStart = 0xf4de_e5a2
    case playing = 0xa5d6_739e
    case leaseExpiring = 0x4f83_4330
    case stopped = 0x5991_bf20

    /// An unknown state counts as ready to start.
    init(wireValue: UInt32) {
        self = PlaybackState(rawValue: wireValue) ?? .readyToStart
    }
}

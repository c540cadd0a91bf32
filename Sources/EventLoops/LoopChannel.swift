package import POSIXSockets

/// An object with a descriptor on one loop, such as a listener, a connection or a database socket.
///
/// The loop calls all methods on its thread.
package protocol LoopChannel: AnyObject {
    /// The descriptor is ready. Called at most once per turn.
    func ready(_ readiness: EpollReadiness, on loop: LoopContext)

    /// The channel's turn has come, which it requested with `LoopContext.resumeNextTurn`.
    func resume(on loop: LoopContext)

    /// The loop is stopping. The channel must end, and resume every task that waits for it.
    func loopStops(_ loop: LoopContext)
}

/// Identifies a registered channel. The ID of a removed channel is recognised as invalid.
package struct RegistrationID: Hashable, Sendable {
    let token: UInt64
}

/// The channels of a loop by the token that epoll returns. The lower half of a token is the slot, the upper half is the
/// slot's generation.
///
/// If a channel was removed earlier in the same turn, its events are ignored because of the generation, even if its
/// slot has a new channel already.
struct RegistrationTable {
    private var slots: [(generation: UInt32, channel: (any LoopChannel)?)] = []
    private var freeSlots: [UInt32] = []

    /// The number of channels.
    var count: Int { slots.count - freeSlots.count }

    /// All channels, in no particular order.
    var channels: [any LoopChannel] { slots.compactMap(\.channel) }

    mutating func insert(_ channel: any LoopChannel) -> RegistrationID {
        if let slot = freeSlots.popLast() {
            slots[Int(slot)].channel = channel
            return RegistrationID(token: UInt64(slots[Int(slot)].generation) << 32 | UInt64(slot))
        }
        slots.append((0, channel))
        return RegistrationID(token: UInt64(slots.count - 1))
    }

    /// Removes a channel. Returns `false` if it was removed before.
    mutating func remove(_ id: RegistrationID) -> Bool {
        guard self[id.token] != nil else { return false }
        let slot = UInt32(truncatingIfNeeded: id.token)
        slots[Int(slot)].channel = nil
        slots[Int(slot)].generation &+= 1
        freeSlots.append(slot)
        return true
    }

    subscript(token: UInt64) -> (any LoopChannel)? {
        let slot = Int(UInt32(truncatingIfNeeded: token))
        guard slot < slots.count, slots[slot].generation == UInt32(token >> 32) else { return nil }
        return slots[slot].channel
    }
}

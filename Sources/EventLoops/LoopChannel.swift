package import POSIXSockets

/// Something with a descriptor that lives on one loop: a listener, a connection, a database socket.
///
/// All methods are called on the loop's thread.
package protocol LoopChannel: AnyObject {
    /// The descriptor is ready. Called at most once per turn.
    func ready(_ readiness: EpollReadiness, on loop: LoopContext)

    /// The turn after `LoopContext.resumeNextTurn` was called for this channel has come.
    func resume(on loop: LoopContext)

    /// The loop stops: end everything, and resume every task that waits for this channel.
    func loopStops(_ loop: LoopContext)
}

/// Names a registered channel; stale names are recognised.
package struct RegistrationID: Hashable, Sendable {
    let token: UInt64
}

/// The channels of a loop by the token that epoll gives back: slot in the lower half, the slot's generation in the
/// upper.
///
/// The generation makes an event of a channel that was removed earlier in the same turn go nowhere, even when its slot
/// has a new channel already.
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

    /// Forgets a channel; `false` when it was not there any more.
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

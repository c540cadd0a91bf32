import Records
import TestSupport
import Testing

/// Rules for simultaneous playbacks, numbered as in `SlotClaim`.
enum SlotRules {
    private static func slot(
        _ limit: UInt32 = 1, _ whenFull: SlotClaim.WhenFull = .denyNew, device: UInt64, session: UInt64?,
        content: UInt64 = 1, provisional: Bool = false, relayed: Bool = false, until end: Int64 = 1000
    ) -> [SlotClaim] {
        [
            SampleDecisions.slot(
                limit: limit, whenFull, device: device, session: session, content: content, provisional: provisional,
                relayed: relayed, heldUntil: end)
        ]
    }

    static func countsAPlaybackOnce(_ script: DecisionScript) async throws {
        for _ in 0..<3 { try await script.expect(.recorded, slots: slot(device: 1, session: 1)) }
        try await script.expect(.recorded, slots: slot(device: 1, session: 1, content: 2), "the same session's key")
        try await script.expect(
            .slotsFull(current: 1, limit: 1), slots: slot(device: 2, session: 1), "the session of another device")
        for session in [0, .max] as [UInt64] {
            try await script.expect(.recorded, slots: slot(3, device: session, session: session))
        }
        try await script.expect(.recorded, slots: slot(3, device: .max, session: .max))
        try await script.expect(.slotsFull(current: 3, limit: 3), slots: slot(3, device: 4, session: 1))
    }

    static func deniesWhatIsTooMuch(_ script: DecisionScript) async throws {
        for device in 1...3 as ClosedRange<UInt64> {
            try await script.expect(.recorded, slots: slot(3, device: device, session: device))
        }
        for device in 4...5 as ClosedRange<UInt64> {
            try await script.expect(
                .slotsFull(current: 3, limit: 3), slots: slot(3, device: device, session: device))
            try await script.expect(
                .slotsFull(current: 3, limit: 3), slots: slot(3, device: device, session: device, provisional: true),
                "a device without a confirmed slot gets no provisional one")
        }
        try await script.expect(.slotsFull(current: 3, limit: 2), slots: slot(2, device: 4, session: 4))
        try await script.expect(.recorded, slots: slot(4, device: 4, session: 4))
        for device in 1...4 as ClosedRange<UInt64> {
            try await script.expect(
                .recorded, slots: slot(1, device: device, session: device), "a renewal needs no room")
        }
    }

    static func evictsTheOldest(_ script: DecisionScript) async throws {
        for device in 1...3 as ClosedRange<UInt64> {
            try await script.expect(
                .recorded, at: 10, slots: slot(2, .evictOldest, device: device, session: device, until: 100))
        }
        // The first slot was evicted for the third.
        for now in [11, 99] as [Int64] {
            try await script.expect(
                .slotEvicted, at: now, slots: slot(2, .evictOldest, device: 1, session: 1, until: 900))
        }
        try await script.expect(.recorded, at: 99, slots: slot(2, .evictOldest, device: 2, session: 2, until: 200))
        try await script.expect(.recorded, at: 99, slots: slot(2, .evictOldest, device: 3, session: 3, until: 200))
        // A renewal does not change a slot's age. The second slot is therefore evicted next, for another session of the
        // first device.
        try await script.expect(.recorded, at: 99, slots: slot(2, .evictOldest, device: 1, session: 11, until: 200))
        try await script.expect(.slotEvicted, at: 199, slots: slot(2, .evictOldest, device: 2, session: 2))
        try await script.expect(.recorded, at: 199, slots: slot(2, .evictOldest, device: 3, session: 3))
        // The eviction is forgotten at the slot's end, and the session counts as a new one.
        try await script.expect(.recorded, at: 200, slots: slot(2, .evictOldest, device: 2, session: 2))
    }

    static func evictsAsManyAsALowerLimitTakes(_ script: DecisionScript) async throws {
        for device in 1...4 as ClosedRange<UInt64> {
            try await script.expect(.recorded, slots: slot(4, device: device, session: device))
        }
        try await script.expect(.recorded, slots: slot(2, .evictOldest, device: 5, session: 5))
        for device in 1...3 as ClosedRange<UInt64> {
            try await script.expect(.slotEvicted, slots: slot(4, device: device, session: device))
        }
        try await script.expect(.recorded, slots: slot(2, device: 4, session: 4))
        try await script.expect(.slotsFull(current: 2, limit: 2), slots: slot(2, device: 6, session: 6))
    }

    static func freesASlotAtItsEnd(_ script: DecisionScript) async throws {
        try await script.expect(.recorded, at: 0, slots: slot(device: 1, session: 1, until: 100))
        try await script.expect(.recorded, at: 50, slots: slot(device: 1, session: 1, until: 60), "never shorter")
        try await script.expect(.slotsFull(current: 1, limit: 1), at: 99, slots: slot(device: 2, session: 2))
        try await script.expect(.recorded, at: 100, slots: slot(device: 2, session: 2, until: 200))
        try await script.expect(.slotsFull(current: 1, limit: 1), at: 199, slots: slot(device: 1, session: 1))
        try await script.expect(.recorded, at: 199, slots: slot(device: 2, session: 2, until: 300))
        try await script.expect(.slotsFull(current: 1, limit: 1), at: 299, slots: slot(device: 1, session: 1))
        try await script.expect(.recorded, at: 300, slots: slot(device: 1, session: 1))
    }

    static func takesUpTheSlotOfAPlayerThatCrashed(_ script: DecisionScript) async throws {
        try await script.expect(.recorded, slots: slot(device: 1, session: 1))
        try await script.expect(.recorded, slots: slot(device: 1, session: 2), "opened again")
        try await script.expect(.recorded, slots: slot(device: 1, session: 3, provisional: true))
        try await script.expect(.slotsFull(current: 1, limit: 1), slots: slot(device: 2, session: 9))
        try await script.expect(
            .recorded, slots: slot(device: 1, session: 1), "the first one's renewal, for that content")
        try await script.expect(.recorded, slots: slot(device: 1, session: nil), "without a session")
        try await script.expect(.recorded, slots: slot(device: 1, session: 4), "and with one again")
        // All these claims used the same slot, which is still the oldest.
        try await script.expect(.recorded, slots: slot(2, device: 2, session: 9))
        try await script.expect(.recorded, slots: slot(2, device: 1, session: 5))
        try await script.expect(.recorded, slots: slot(2, .evictOldest, device: 3, session: 7, content: 3))
        try await script.expect(.slotEvicted, slots: slot(2, device: 1, session: 5))
        try await script.expect(
            .slotsFull(current: 2, limit: 2), slots: slot(2, device: 1, session: 6), "an evicted slot is not taken over"
        )
    }

    static func knowsAPlaybackWithoutASessionByItsContent(_ script: DecisionScript) async throws {
        try await script.expect(.recorded, slots: slot(2, device: 1, session: nil, content: 1))
        try await script.expect(.recorded, slots: slot(2, device: 1, session: nil, content: 1))
        try await script.expect(.recorded, slots: slot(2, device: 1, session: nil, content: 2))
        try await script.expect(.slotsFull(current: 2, limit: 2), slots: slot(2, device: 2, session: nil, content: 1))
        try await script.expect(.recorded, slots: slot(2, .evictOldest, device: 2, session: nil, content: 1))
        try await script.expect(.slotEvicted, slots: slot(2, device: 1, session: nil, content: 1))
        try await script.expect(.recorded, slots: slot(2, device: 1, session: nil, content: 2))
    }

    static func letsTheNextEpisodeBeReady(_ script: DecisionScript) async throws {
        try await script.expect(.recorded, slots: slot(device: 1, session: 1, content: 1, provisional: true))
        try await script.expect(.recorded, slots: slot(device: 1, session: 1, content: 1), "counted from the start")
        try await script.expect(.slotsFull(current: 1, limit: 1), slots: slot(device: 2, session: 9))
        for _ in 0..<2 {
            try await script.expect(.recorded, slots: slot(device: 1, session: 2, content: 2, provisional: true))
        }
        try await script.expect(.recorded, slots: slot(device: 1, session: 1, content: 1), "the episode goes on")
        try await script.expect(.recorded, slots: slot(device: 1, session: 2, content: 2), "the next one begins")
        try await script.expect(.slotEvicted, slots: slot(device: 1, session: 1, content: 1))
        try await script.expect(.slotsFull(current: 1, limit: 1), slots: slot(device: 2, session: 9))

        // A slot that was only ready gets no room if another device has taken it.
        try await script.expect(.recorded, slots: slot(device: 1, session: 3, content: 3, provisional: true))
        try await script.expect(.recorded, slots: slot(1, .evictOldest, device: 2, session: 9, content: 9))
        try await script.expect(.slotsFull(current: 1, limit: 1), slots: slot(device: 1, session: 3, content: 3))
        try await script.expect(
            .slotsFull(current: 1, limit: 1), slots: slot(device: 1, session: 3, content: 3, provisional: true),
            "the slot may not stay ready either")
        // If there is room, its age starts when it is counted.
        try await script.expect(.recorded, slots: slot(2, device: 1, session: 3, content: 3))
        try await script.expect(.recorded, slots: slot(2, .evictOldest, device: 4, session: 4, content: 4))
        try await script.expect(.slotEvicted, slots: slot(2, device: 2, session: 9, content: 9))
        try await script.expect(.recorded, slots: slot(2, device: 1, session: 3, content: 3))
    }

    static func boundsWhatIsReadyBesideAPlayback(_ script: DecisionScript) async throws {
        try await script.expect(.recorded, slots: slot(2, device: 1, session: 1, content: 1))
        for session in [2, 3] as [UInt64] {
            try await script.expect(
                .recorded, slots: slot(2, device: 1, session: session, content: session, provisional: true))
        }
        try await script.expect(.recorded, slots: slot(2, device: 1, session: 4, content: 4, provisional: true))
        try await script.expect(
            .slotsFull(current: 2, limit: 2), slots: slot(2, device: 2, session: 9, content: 9),
            "the third provisional slot is counted")
        // Another player opens content that is already ready, and takes over its slot.
        try await script.expect(.recorded, slots: slot(2, device: 1, session: 5, content: 2, provisional: true))
        try await script.expect(.recorded, slots: slot(2, device: 1, session: 1, content: 1))
        try await script.expect(.recorded, slots: slot(2, device: 1, session: 4, content: 4))
        try await script.expect(
            .recorded, slots: slot(2, device: 1, session: 5, content: 2), "the device makes room for itself")
        try await script.expect(.slotEvicted, slots: slot(2, device: 1, session: 1, content: 1))
    }

    static func letsADeviceMakeRoomForItself(_ script: DecisionScript) async throws {
        try await script.expect(.recorded, slots: slot(2, device: 1, session: 1, content: 1))
        try await script.expect(.recorded, slots: slot(2, device: 2, session: 2, content: 2))
        try await script.expect(
            .recorded, slots: slot(2, .evictOldest, device: 2, session: 3, content: 3), "its own before older ones")
        try await script.expect(.slotEvicted, slots: slot(2, device: 2, session: 2, content: 2))
        try await script.expect(.recorded, slots: slot(2, .denyNew, device: 1, session: 4, content: 4))
        try await script.expect(.slotEvicted, slots: slot(2, device: 1, session: 1, content: 1))
        try await script.expect(.recorded, slots: slot(2, device: 2, session: 3, content: 3))
        // For a lower limit, evicting the device's own slots would not be enough, so none of them is evicted.
        try await script.expect(.slotsFull(current: 2, limit: 1), slots: slot(1, device: 1, session: 5, content: 5))
        try await script.expect(.recorded, slots: slot(2, device: 1, session: 4, content: 4))
    }

    static func countsEachViewOfADevice(_ script: DecisionScript) async throws {
        for session in 1...4 as ClosedRange<UInt64> {
            try await script.expect(.recorded, slots: slot(4, device: 1, session: session, content: session))
        }
        try await script.expect(
            .slotsFull(current: 4, limit: 4), slots: slot(4, device: 2, session: 9, content: 9),
            "four views, four slots")
        try await script.expect(.recorded, slots: slot(4, device: 1, session: 5, content: 5))
        try await script.expect(.slotEvicted, slots: slot(4, device: 1, session: 1, content: 1))
        for session in 2...5 as ClosedRange<UInt64> {
            try await script.expect(.recorded, slots: slot(4, device: 1, session: session, content: session))
        }
        // Two views of a device show the same content. The next session of this content takes over the older slot.
        try await script.expect(.recorded, slots: slot(4, device: 1, session: 3, content: 2))
        try await script.expect(.recorded, slots: slot(4, device: 1, session: 6, content: 2))
        try await script.expect(.recorded, slots: slot(4, .evictOldest, device: 2, session: 9, content: 9))
        try await script.expect(.slotEvicted, slots: slot(4, device: 1, session: 6, content: 2))
        try await script.expect(.recorded, slots: slot(4, device: 1, session: 3, content: 2))
    }

    static func joinsWhatAScreenIsLent(_ script: DecisionScript) async throws {
        try await script.expect(.recorded, slots: slot(device: 1, session: 1, content: 1, until: 100))
        try await script.expect(
            .recorded, slots: slot(device: 7, session: 70, content: 1, relayed: true, until: 200), "AirPlay of it")
        try await script.expect(
            .slotsFull(current: 1, limit: 1), slots: slot(device: 7, session: 71, content: 2, relayed: true))
        // The screen's renewals extend the slot, but it still belongs to the sender.
        try await script.expect(.slotsFull(current: 1, limit: 1), at: 199, slots: slot(device: 7, session: 70))
        try await script.expect(.recorded, at: 199, slots: slot(device: 1, session: 1, content: 1, until: 300))
        try await script.expect(.recorded, at: 299, slots: slot(2, device: 2, session: 2, content: 1, until: 400))
        // A screen without a sender's slot gets its own slot, but only one.
        try await script.expect(
            .recorded, at: 400, slots: slot(device: 7, session: 72, content: 3, relayed: true, until: 500))
        try await script.expect(
            .recorded, at: 400, slots: slot(device: 7, session: 73, content: 3, relayed: true, until: 500))
        try await script.expect(
            .slotsFull(current: 1, limit: 1), at: 499, slots: slot(device: 1, session: 5, content: 4))
    }

    static func joinsTheNextEpisodeThatAScreenIsLent(_ script: DecisionScript) async throws {
        try await script.expect(.recorded, slots: slot(device: 1, session: 1, content: 1))
        try await script.expect(.recorded, slots: slot(device: 1, session: 2, content: 2, provisional: true))
        try await script.expect(
            .recorded, slots: slot(device: 7, session: 70, content: 2, provisional: true, relayed: true))
        try await script.expect(.recorded, slots: slot(device: 1, session: 1, content: 1), "nothing has changed")
        try await script.expect(
            .recorded, slots: slot(device: 7, session: 70, content: 2, relayed: true), "the sender makes room")
        try await script.expect(.slotEvicted, slots: slot(device: 1, session: 1, content: 1))
        try await script.expect(.recorded, slots: slot(device: 1, session: 2, content: 2))
        // A relayed playback joins a counted slot rather than one that is only ready, even if that one is older.
        try await script.expect(.recorded, slots: slot(2, device: 1, session: 3, content: 3, provisional: true))
        try await script.expect(.recorded, slots: slot(2, device: 2, session: 4, content: 3))
        try await script.expect(.recorded, slots: slot(2, device: 7, session: 71, content: 3, relayed: true))
        try await script.expect(.recorded, slots: slot(2, device: 1, session: 2, content: 2))
    }

    static func keepsGroupsApart(_ script: DecisionScript) async throws {
        for group in 1...3 as ClosedRange<UInt64> {
            let claim = SampleDecisions.slot(group: group, device: 1, session: 1)
            try await script.expect(.recorded, slots: [claim])
            let other = SampleDecisions.slot(group: group, device: 2, session: 2)
            try await script.expect(.slotsFull(current: 1, limit: 1), slots: [other])
        }
        let evicting = SampleDecisions.slot(group: 1, .evictOldest, device: 2, session: 2)
        try await script.expect(.recorded, slots: [evicting])
        try await script.expect(.slotEvicted, slots: [SampleDecisions.slot(group: 1, device: 1, session: 1)])
        try await script.expect(.recorded, slots: [SampleDecisions.slot(group: 2, device: 1, session: 1)])
        let relayed = SampleDecisions.slot(group: 2, device: 7, session: 7, content: 9, relayed: true)
        try await script.expect(.slotsFull(current: 1, limit: 1), slots: [relayed])
    }

    static func takesSeveralClaimsInOrder(_ script: DecisionScript) async throws {
        let claims = [1, 2].map { SampleDecisions.slot(group: $0, device: 1, session: 1) }
        try await script.expect(.recorded, slots: claims)
        try await script.expect(.recorded, slots: claims)
        let others = [3, 2].map { SampleDecisions.slot(group: $0, device: 2, session: 2) }
        try await script.expect(.slotsFull(current: 1, limit: 1), slots: others)
        try await script.expect(
            .recorded, slots: [SampleDecisions.slot(group: 3, device: 3, session: 3)], "the denied claim took no slot")
        let ofOneGroup = [4, 5].map { SampleDecisions.slot(group: 4, device: $0, session: 1, content: $0) }
        try await script.expect(.slotsFull(current: 1, limit: 1), slots: ofOneGroup)
        let evicting = [4, 5, 4].map {
            SampleDecisions.slot(group: 4, .evictOldest, device: $0, session: 1, content: $0)
        }
        try await script.expect(.slotEvicted, slots: evicting, "the second claim evicts the slot of the first")
        try await script.expect(.recorded, slots: Array(evicting.prefix(2)))
        try await script.expect(.slotEvicted, slots: [evicting[0]])
    }
}

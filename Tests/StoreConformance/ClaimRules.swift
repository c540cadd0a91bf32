import Records
import TestSupport
import Testing

/// Rules for the uses of tokens and the places of devices.
enum ClaimRules {
    static func countsUsesForEachTokenAndKey(_ script: DecisionScript) async throws {
        for (token, key) in [(1, 1), (1, 2), (2, 1)] as [(UInt64, UInt64)] {
            for _ in 0..<3 {
                try await script.expect(.recorded, use: SampleDecisions.use(token, key: key, limit: 3))
            }
            try await script.expect(.tokenUsed(limit: 3), use: SampleDecisions.use(token, key: key, limit: 3))
        }
        try await script.expect(.tokenUsed(limit: 1), use: SampleDecisions.use(1, limit: 1))
        try await script.expect(.recorded, use: SampleDecisions.use(1, limit: 4), "a limit that was raised")
        try await script.expect(.tokenUsed(limit: 4), use: SampleDecisions.use(1, limit: 4))
        try await script.expect(.recorded, use: SampleDecisions.use(3, limit: .max))
        try await script.expect(.recorded, "a decision without a token's use")
    }

    static func beginsUsesAnewAtTheTokensEnd(_ script: DecisionScript) async throws {
        try await script.expect(.recorded, at: 0, use: SampleDecisions.use(limit: 2, keptUntil: 100))
        try await script.expect(.recorded, at: 99, use: SampleDecisions.use(limit: 2, keptUntil: 50))
        try await script.expect(.tokenUsed(limit: 2), at: 99, use: SampleDecisions.use(limit: 2, keptUntil: 900))
        try await script.expect(.recorded, at: 100, use: SampleDecisions.use(limit: 2, keptUntil: 200))
        try await script.expect(.recorded, at: 150, use: SampleDecisions.use(limit: 2, keptUntil: 300))
        try await script.expect(.tokenUsed(limit: 2), at: 299, use: SampleDecisions.use(limit: 2, keptUntil: 300))
        try await script.expect(.recorded, at: 300, use: SampleDecisions.use(limit: 1, keptUntil: 400))
    }

    static func keepsADevicesPlace(_ script: DecisionScript) async throws {
        for round in 0..<3 as Range<Int64> {
            for device in 0..<3 as Range<UInt64> {
                try await script.expect(
                    .recorded, at: round, devices: [SampleDecisions.place(device: device, limit: 3)])
            }
            try await script.expect(
                .deviceLimit(limit: 3), at: round, devices: [SampleDecisions.place(device: 9, limit: 3)])
        }
        try await script.expect(.recorded, at: 3, devices: [SampleDecisions.place(device: 1, limit: 1)])
        try await script.expect(.recorded, at: 3, devices: [SampleDecisions.place(owner: 2, device: 9, limit: 1)])
        try await script.expect(.recorded, at: 3, devices: [SampleDecisions.place(device: 9, limit: 4)])
        let both = [
            SampleDecisions.place(owner: 3, device: 1, limit: 1), SampleDecisions.place(owner: 3, device: 2, limit: 1),
        ]
        try await script.expect(.deviceLimit(limit: 1), at: 3, devices: both, "the second place sees the first")
        try await script.expect(.recorded, at: 3, devices: [both[1]], "the first place was not kept")
        try await script.expect(.recorded, at: 3, devices: [both[1], both[1]])
        try await script.expect(
            .recorded, at: 3, devices: [SampleDecisions.place(device: 1, limit: 0)],
            "no other device may be added, and this one has a place")
        try await script.expect(.deviceLimit(limit: 0), at: 3, devices: [SampleDecisions.place(device: 8, limit: 0)])
        try await script.expect(
            .deviceLimit(limit: 0), at: 3, devices: [SampleDecisions.place(owner: 4, device: 1, limit: 0)])
        try await script.expect(
            .recorded, at: 3, devices: [SampleDecisions.place(owner: 4, device: 1, limit: 1)], "nothing was kept before"
        )
    }

    static func freesAPlaceAtItsEnd(_ script: DecisionScript) async throws {
        func place(_ device: UInt64, until end: Int64?) -> [DevicePlace] {
            [SampleDecisions.place(device: device, limit: 2, keptUntil: end)]
        }
        try await script.expect(.recorded, at: 0, devices: place(1, until: 100))
        try await script.expect(.recorded, at: 0, devices: place(2, until: 200))
        try await script.expect(.recorded, at: 10, devices: place(2, until: 50), "an earlier end changes nothing")
        try await script.expect(.deviceLimit(limit: 2), at: 99, devices: place(3, until: 900))
        try await script.expect(.recorded, at: 100, devices: place(3, until: nil))
        try await script.expect(.recorded, at: 199, devices: place(2, until: 300))
        try await script.expect(.deviceLimit(limit: 2), at: 299, devices: place(4, until: 900))
        try await script.expect(.recorded, at: 300, devices: place(3, until: 301), "never is later than any time")
        try await script.expect(.recorded, at: 300, devices: place(4, until: 400))
        try await script.expect(.deviceLimit(limit: 2), at: 399, devices: place(5, until: 900))
        try await script.expect(.recorded, at: 9999, devices: place(3, until: 0))
    }

    static func bindsToTheFirstDevice(_ script: DecisionScript) async throws {
        func claims(_ device: UInt64) -> [DevicePlace] {
            [
                SampleDecisions.place(owner: 1, device: device, limit: 1),
                SampleDecisions.place(owner: 2, device: device, limit: 5),
            ]
        }
        try await script.expect(.recorded, devices: claims(1))
        try await script.expect(.deviceLimit(limit: 1), devices: claims(2))
        try await script.expect(.recorded, devices: claims(1))
    }

    static func tellsAnotherDeviceFromOneTooMany(_ script: DecisionScript) async throws {
        func claims(_ device: UInt64, token: UInt64) -> [DevicePlace] {
            [
                SampleDecisions.place(owner: token, device: device, limit: 1, .binding),
                SampleDecisions.place(owner: 9, device: device, limit: 1),
            ]
        }
        try await script.expect(.recorded, devices: claims(1, token: 1))
        try await script.expect(.otherDevice, devices: claims(2, token: 1))
        try await script.expect(.deviceLimit(limit: 1), devices: claims(2, token: 2))
        try await script.expect(.recorded, devices: claims(1, token: 1))
    }

    static func replacesTheOldestDevice(_ script: DecisionScript) async throws {
        func place(_ device: UInt64, limit: UInt32 = 2, until end: Int64) -> [DevicePlace] {
            [SampleDecisions.place(device: device, limit: limit, keptUntil: end, .replacing)]
        }
        func counted(_ device: UInt64) -> [DevicePlace] {
            [SampleDecisions.place(device: device, limit: 0, keptUntil: 1)]
        }
        try await script.expect(.recorded, at: 0, devices: place(1, until: 1000))
        try await script.expect(.recorded, at: 1, devices: place(2, until: 1001))
        try await script.expect(.recorded, at: 2, devices: place(1, until: 1002), "its place stays, none is replaced")
        try await script.expect(.recorded, at: 3, devices: counted(2))
        try await script.expect(
            .slotsFull(current: 1, limit: 1), at: 4, devices: place(3, until: 1004),
            slots: [
                SampleDecisions.slot(device: 1, session: 1), SampleDecisions.slot(device: 2, session: 2, content: 2),
            ], "a denial replaces nothing")
        for device in [1, 2] as [UInt64] { try await script.expect(.recorded, at: 4, devices: counted(device)) }
        try await script.expect(.recorded, at: 5, devices: place(3, until: 1005), "in the place of 1")
        try await script.expect(.deviceLimit(limit: 0), at: 5, devices: counted(1))
        for device in [2, 3] as [UInt64] { try await script.expect(.recorded, at: 5, devices: counted(device)) }
        try await script.expect(.recorded, at: 6, devices: place(4, limit: 1, until: 1006), "the limit was lowered")
        for device in [2, 3] as [UInt64] {
            try await script.expect(.deviceLimit(limit: 0), at: 6, devices: counted(device))
        }
        try await script.expect(.deviceLimit(limit: 0), at: 7, devices: place(5, limit: 0, until: 1007))
        try await script.expect(.recorded, at: 7, devices: counted(4))
    }
}

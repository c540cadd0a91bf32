package import Records
import TestSupport
import Testing

/// The rules of every account store, on one node or on several nodes that share an empty database.
package enum AccountConformance {
    /// A store that also settles decisions, so that there is something to list.
    package typealias Node = any AccountStore & SharedStateStore

    package enum Case: String, CaseIterable, Sendable {
        case listsDevicesInPages
        case removesADevice
        case listsThePlaybacksOfASubject
        case endsAPlayback
        case listsAndForgetsRentals
        case keepsSubjectsApart
    }

    /// A time that is later than any test's clock.
    private static let far: Int64 = 9_000_000_000
    private static let one = SampleDecisions.pseudonym(.owner, 1)

    package static func run(_ rule: Case, on nodes: [Node]) async throws {
        let (first, last) = (nodes[0], nodes[nodes.count - 1])
        switch rule {
        case .listsDevicesInPages: try await listsDevicesInPages(first, last)
        case .removesADevice: try await removesADevice(first, last)
        case .listsThePlaybacksOfASubject: try await listsThePlaybacksOfASubject(first, last)
        case .endsAPlayback: try await endsAPlayback(first, last)
        case .listsAndForgetsRentals: try await listsAndForgetsRentals(first, last)
        case .keepsSubjectsApart: try await keepsSubjectsApart(first, last)
        }
    }

    private static func decide(
        _ node: Node, at now: Int64 = 10, devices: [DevicePlace] = [], slots: [SlotClaim] = [],
        rental: RentalClaim? = nil
    ) async throws -> DecisionOutcome {
        var decision = LicenseDecision(
            now: now, devicePlaces: devices, slotClaims: slots, entry: SampleDecisions.entry(1, at: now))
        decision.rental = rental
        return try await node.settle(decision)
    }

    private static func listsDevicesInPages(_ first: Node, _ last: Node) async throws {
        for device in [3, 1, 2] as [UInt64] {
            let end: Int64? = device == 2 ? nil : far + Int64(device)
            let places = [SampleDecisions.place(device: device, limit: 3, keptUntil: end)]
            #expect(try await decide(first, devices: places) == .recorded)
        }
        let all = try await last.devices(of: one, after: nil, now: 11, limit: 10)
        #expect(all.map(\.device) == [1, 2, 3].map { SampleDecisions.pseudonym(.device, $0) })
        #expect(all.map(\.keptUntil) == [far + 1, nil, far + 3])
        #expect(all.allSatisfy { $0.addedAt == $0.seenAt })
        for limit in 1...4 {
            var (found, after) = ([KnownDevice](), Pseudonym?.none)
            while true {
                let page = try await last.devices(of: one, after: after, now: 11, limit: limit)
                #expect(page.count <= limit)
                guard let end = page.last else { break }
                found += page
                after = end.device
            }
            #expect(found == all)
        }
    }

    private static func removesADevice(_ first: Node, _ last: Node) async throws {
        func place(_ device: UInt64) -> [DevicePlace] {
            [SampleDecisions.place(device: device, limit: 1, keptUntil: far)]
        }
        let removal = AccountChange.removeDevice(owner: one, device: SampleDecisions.pseudonym(.device, 1))
        #expect(try await last.change(removal, now: 11) == false)
        #expect(try await decide(first, devices: place(1)) == .recorded)
        #expect(try await decide(last, devices: place(2)) == .denied(.deviceLimit(limit: 1)))
        #expect(try await last.change(removal, now: 11))
        #expect(try await first.change(removal, now: 11) == false)
        #expect(try await first.devices(of: one, after: nil, now: 11, limit: 10).isEmpty)
        #expect(try await decide(first, devices: place(2)) == .recorded)
        #expect(try await decide(last, devices: place(1)) == .denied(.deviceLimit(limit: 1)))
    }

    private static func slot(
        _ device: UInt64, session: UInt64?, group: UInt64 = 1, content: UInt64 = 1, limit: UInt32 = 2,
        provisional: Bool = false
    ) -> SlotClaim {
        SampleDecisions.named(
            SampleDecisions.slot(
                group: group, limit: limit, device: device, session: session, content: content,
                provisional: provisional,
                heldUntil: far + Int64(device)),
            group: "group-\(group)", content: "movie-\(content)")
    }

    private static func listsThePlaybacksOfASubject(_ first: Node, _ last: Node) async throws {
        #expect(
            try await decide(first, slots: [slot(1, session: .max), slot(1, session: .max, group: 2)]) == .recorded)
        #expect(try await decide(first, slots: [slot(2, session: nil, content: 2)]) == .recorded)
        #expect(try await decide(last, slots: [slot(1, session: 5, content: 3, provisional: true)]) == .recorded)
        // A slot without a description is in no list.
        #expect(
            try await decide(first, slots: [SampleDecisions.slot(group: 7, device: 1, session: 1, heldUntil: far)])
                == .recorded)
        let all = try await last.playbacks(of: one, after: nil, now: 11, limit: 10)
        let shown = Set(all.map { "\($0.groupName) \($0.content ?? "") \($0.session.map { String($0) } ?? "")" })
        #expect(
            shown == [
                "group-1 movie-1 18446744073709551615", "group-2 movie-1 18446744073709551615", "group-1 movie-2 ",
                "group-1 movie-3 5",
            ])
        #expect(all.count == 4 && all.count(where: \.isCounted) == 3 && all.count(where: \.isConfirmed) == 3)
        #expect(Set(all.map(\.heldUntil)) == [far + 1, far + 2])
        var (found, after) = ([KnownPlayback](), PlaybackPosition?.none)
        while let next = try await last.playbacks(of: one, after: after, now: 11, limit: 1).first {
            found.append(next)
            after = next.position
        }
        #expect(found == all)
    }

    private static func endsAPlayback(_ first: Node, _ last: Node) async throws {
        let running = slot(1, session: 1, limit: 1)
        let other = slot(2, session: 2, content: 2, limit: 1)
        #expect(try await decide(first, slots: [running]) == .recorded)
        #expect(try await decide(last, slots: [other]) == .denied(.slotsFull(current: 1, limit: 1)))
        let known = try #require(try await last.playbacks(of: one, after: nil, now: 11, limit: 10).first)
        #expect(try await last.change(.endPlayback(known.position), now: 11))
        #expect(try await first.change(.endPlayback(known.position), now: 11) == false)
        #expect(try await first.playbacks(of: one, after: nil, now: 11, limit: 10).isEmpty)
        #expect(try await decide(first, slots: [running]) == .denied(.slotEvicted))
        #expect(try await decide(first, slots: [other]) == .recorded)
        #expect(try await last.change(.endPlayback(known.position), now: 11) == false, "it names no later playback")
        #expect(try await last.playbacks(of: one, after: nil, now: 11, limit: 10).map(\.session) == [2])
    }

    private static func listsAndForgetsRentals(_ first: Node, _ last: Node) async throws {
        let records = [RentalRecord(openedAt: 5), RentalRecord(openedAt: 6, firstPlay: 7)]
        for (index, record) in records.enumerated() {
            let claim = SampleDecisions.rental(UInt64(index), known: nil, record, keptUntil: far + Int64(index))
            #expect(try await decide(first, rental: claim) == .recorded)
        }
        let all = try await last.rentals(of: one, after: nil, now: 11, limit: 10)
        #expect(all.map(\.record) == records && all.map(\.content) == ["movie-0", "movie-1"])
        #expect(all.map(\.keptUntil) == [far, far + 1])
        #expect(try await last.rentals(of: one, after: all[0].name, now: 11, limit: 10) == [all[1]])
        #expect(try await last.rentals(of: one, after: nil, now: 11, limit: 1) == [all[0]])
        #expect(try await last.rental(all[1].name, now: 11) == records[1])
        #expect(try await last.rental(SampleDecisions.pseudonym(.rental, 9), now: 11) == nil)
        #expect(try await last.change(.forgetRental(owner: one, name: all[1].name), now: 11))
        #expect(try await first.change(.forgetRental(owner: one, name: all[1].name), now: 11) == false)
        #expect(try await first.rental(all[1].name, now: 11) == nil)
        #expect(try await first.rentals(of: one, after: nil, now: 11, limit: 10) == [all[0]])
    }

    private static func keepsSubjectsApart(_ first: Node, _ last: Node) async throws {
        let other = SampleDecisions.pseudonym(.owner, 2)
        let claim = SampleDecisions.rental(known: nil, RentalRecord(openedAt: 1), keptUntil: far)
        #expect(
            try await decide(
                first, devices: [SampleDecisions.place(device: 1, limit: 3, keptUntil: far)],
                slots: [slot(1, session: 1)], rental: claim) == .recorded)
        #expect(try await last.devices(of: other, after: nil, now: 11, limit: 10).isEmpty)
        #expect(try await last.playbacks(of: other, after: nil, now: 11, limit: 10).isEmpty)
        #expect(try await last.rentals(of: other, after: nil, now: 11, limit: 10).isEmpty)
        let device = SampleDecisions.pseudonym(.device, 1)
        #expect(try await last.change(.removeDevice(owner: other, device: device), now: 11) == false)
        #expect(try await last.change(.forgetRental(owner: other, name: claim.name), now: 11) == false)
        #expect(try await last.devices(of: one, after: nil, now: 11, limit: 10).count == 1)
        #expect(try await last.rentals(of: one, after: nil, now: 11, limit: 10).count == 1)
    }
}

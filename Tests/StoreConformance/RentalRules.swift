import Records
import Testing

/// Rentals: the store compares what a licence was computed from, and sets what it makes of it.
enum RentalRules {
    static func grantsARentalAsItIsKnown(_ script: DecisionScript) async throws {
        let opened = RentalRecord(openedAt: 100)
        let played = RentalRecord(openedAt: 100, firstPlay: 150)
        try await script.expect(.rentalDiffers(nil), at: 100, rental: SampleDecisions.rental(known: opened, played))
        try await script.expect(.recorded, at: 100, rental: SampleDecisions.rental(known: nil, opened))
        try await script.expect(
            .rentalDiffers(opened), at: 120, rental: SampleDecisions.rental(known: nil, RentalRecord(openedAt: 120)))
        try await script.expect(.recorded, at: 150, rental: SampleDecisions.rental(known: opened, played))
        try await script.expect(
            .rentalDiffers(played), at: 160,
            rental: SampleDecisions.rental(known: opened, RentalRecord(openedAt: 100, firstPlay: 160)))
        try await script.expect(.recorded, at: 170, rental: SampleDecisions.rental(known: played, played))
        try await script.expect(.recorded, at: 170, rental: SampleDecisions.rental(2, known: nil, played))
        let three = RentalRecord(openedAt: 180)
        try await script.expect(
            .slotsFull(current: 1, limit: 1), at: 180,
            slots: [
                SampleDecisions.slot(device: 1, session: 1), SampleDecisions.slot(device: 2, session: 2, content: 2),
            ], rental: SampleDecisions.rental(3, known: nil, three), "a denial remembers nothing")
        try await script.expect(.recorded, at: 180, rental: SampleDecisions.rental(3, known: nil, three))
    }

    static func forgetsARentalAtItsEnd(_ script: DecisionScript) async throws {
        let first = RentalRecord(openedAt: 0, firstPlay: 10)
        try await script.expect(.recorded, at: 10, rental: SampleDecisions.rental(known: nil, first, keptUntil: 100))
        try await script.expect(.recorded, at: 20, rental: SampleDecisions.rental(known: first, first, keptUntil: 50))
        try await script.expect(
            .rentalDiffers(first), at: 99, rental: SampleDecisions.rental(known: nil, RentalRecord(openedAt: 99)))
        let second = RentalRecord(openedAt: 100)
        try await script.expect(.rentalDiffers(nil), at: 100, rental: SampleDecisions.rental(known: first, first))
        try await script.expect(.recorded, at: 100, rental: SampleDecisions.rental(known: nil, second, keptUntil: 120))
        try await script.expect(
            .recorded, at: 119, rental: SampleDecisions.rental(known: second, second, keptUntil: 130))
        try await script.expect(.rentalDiffers(nil), at: 130, rental: SampleDecisions.rental(known: second, second))
    }

    static func repeatsAnAnswerWhateverBecameOfTheRental(_ script: DecisionScript) async throws {
        let opened = RentalRecord(openedAt: 0)
        let played = RentalRecord(openedAt: 0, firstPlay: 5)
        try await script.expect(
            .recorded, at: 0, replay: SampleDecisions.replay(1, answer: [7]),
            rental: SampleDecisions.rental(known: nil, opened))
        try await script.expect(.recorded, at: 5, rental: SampleDecisions.rental(known: opened, played))
        try await script.expect(
            .repeated(answer: [7]), at: 6, replay: SampleDecisions.replay(1, answer: [8]),
            rental: SampleDecisions.rental(known: nil, opened))
        try await script.expect(.recorded, at: 7, rental: SampleDecisions.rental(known: played, played))
    }
}

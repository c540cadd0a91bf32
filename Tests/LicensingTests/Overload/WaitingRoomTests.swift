import Testing

@testable import Licensing

@Suite struct WaitingRoomTests {
    private func enter(
        _ room: inout WaitingRoom<Int>, _ guest: Int, urgent: Bool = false, deadline: Int64 = 100, capacity: Int = 10
    ) -> String {
        switch room.enter(guest, isUrgent: urgent, deadline: deadline, capacity: capacity) {
        case .entered: "entered"
        case .enteredFor(let other): "for \(other)"
        case .full: "full"
        }
    }

    private func drain(_ room: inout WaitingRoom<Int>) -> [Int] {
        var guests: [Int] = []
        while let guest = room.takeNext() { guests.append(guest) }
        return guests
    }

    @Test func servesRenewalsFirstAndEachKindInItsOrder() {
        var room = WaitingRoom<Int>()
        for guest in [1, 2] { #expect(enter(&room, guest) == "entered") }
        for guest in [11, 12] { #expect(enter(&room, guest, urgent: true) == "entered") }
        #expect(enter(&room, 3) == "entered")
        #expect(room.count == 5 && room.isNextUrgent)
        #expect(drain(&room) == [11, 12, 1, 2, 3])
        #expect(room.isEmpty && room.takeNext() == nil && room.earliestDeadline == nil)
    }

    @Test func isBounded() {
        var room = WaitingRoom<Int>()
        #expect(enter(&room, 1, capacity: 2) == "entered")
        #expect(enter(&room, 2, capacity: 2) == "entered")
        #expect(enter(&room, 3, capacity: 2) == "full")
        #expect(drain(&room) == [1, 2])
    }

    @Test func givesARenewalThePlaceOfTheYoungestThatIsNone() {
        var room = WaitingRoom<Int>()
        #expect(enter(&room, 1, capacity: 2) == "entered")
        #expect(enter(&room, 2, capacity: 2) == "entered")
        #expect(enter(&room, 11, urgent: true, capacity: 2) == "for 2")
        #expect(enter(&room, 12, urgent: true, capacity: 2) == "for 1")
        #expect(enter(&room, 13, urgent: true, capacity: 2) == "full")
        #expect(drain(&room) == [11, 12])
    }

    @Test func sendsAwayWhoHasWaitedAsLongAsTheyMay() {
        var room = WaitingRoom<Int>()
        #expect(enter(&room, 1, deadline: 10) == "entered")
        #expect(enter(&room, 11, urgent: true, deadline: 20) == "entered")
        #expect(enter(&room, 2, deadline: 30) == "entered")
        #expect(room.earliestDeadline == 10)
        #expect(room.takeLate(now: 9).isEmpty)
        #expect(Set(room.takeLate(now: 20)) == [1, 11])
        #expect(room.earliestDeadline == 30)
        #expect(drain(&room) == [2])
    }

    /// After a reload with fewer places, the requests that already wait stay, and later ones find the room full.
    @Test func takesAnotherCapacity() {
        var room = WaitingRoom<Int>()
        for guest in 1...3 { #expect(enter(&room, guest, capacity: 3) == "entered") }
        #expect(enter(&room, 4, capacity: 2) == "full")
        #expect(enter(&room, 11, urgent: true, capacity: 2) == "for 3")
        #expect(enter(&room, 5, capacity: 4) == "entered")
        #expect(drain(&room) == [11, 1, 2, 5])
    }

    /// After a reload with a shorter wait, the deadline of a later request is not before the deadlines of earlier ones.
    @Test func neverLetsADeadlineGoBack() {
        var room = WaitingRoom<Int>()
        #expect(enter(&room, 1, deadline: 50) == "entered")
        #expect(enter(&room, 2, deadline: 20) == "entered")
        #expect(enter(&room, 11, urgent: true, deadline: 30) == "entered")
        #expect(room.takeLate(now: 30) == [11])
        #expect(room.earliestDeadline == 50)
        #expect(room.takeLate(now: 50) == [1, 2])
    }

    /// Compares the room with a plain list over a random order of events. Thousands of guests close the gap that is
    /// left in front.
    @Test func agreesWithAPlainList() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = Numbers(state: seed)
        var room = WaitingRoom<Int>()
        var urgent: [Int] = []
        var ordinary: [Int] = []
        for guest in 0..<20_000 {
            if random.next() % 5 < 3 {
                let isUrgent = random.next() % 3 == 0
                let isFull = urgent.count + ordinary.count == 5_000
                _ = room.enter(guest, isUrgent: isUrgent, deadline: Int64(guest), capacity: 5_000)
                if isFull, isUrgent, !ordinary.isEmpty { ordinary.removeLast() }
                if !isFull || isUrgent && urgent.count < 5_000 {
                    if isUrgent { urgent.append(guest) } else { ordinary.append(guest) }
                }
            } else {
                let expected = urgent.isEmpty ? (ordinary.isEmpty ? nil : ordinary.removeFirst()) : urgent.removeFirst()
                #expect(room.takeNext() == expected, "seed \(seed)")
            }
        }
        #expect(drain(&room) == urgent + ordinary, "seed \(seed)")
    }

    /// A generator with Knuth's multiplier, which is good enough to shuffle events.
    private struct Numbers: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 33
        }
    }
}

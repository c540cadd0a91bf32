import TestSupport
import Testing

@testable import Telemetry

@Suite struct RecentRefusalsTests {
    private func entry(_ number: Int, cause: String = "a cause") -> RecentRefusals.Entry {
        RecentRefusals.Entry(
            "id-\(number)", at: WallTime(seconds: Int64(number)), event: "refused", code: "code", cause: cause)
    }

    private static let viewer = RecentRefusals.Sender(isProven: true, network: "192.0.2.0/24")

    /// A memory with so many places for senders like `viewer`.
    private func memory(_ places: Int) -> RecentRefusals { RecentRefusals(capacity: max(2, places * 5 / 3)) }

    @Test(arguments: [1, 2, 10])
    func keepsTheLastOnes(capacity: Int) {
        let ring = memory(capacity)
        for number in 0..<25 {
            ring.note(entry(number), of: Self.viewer)
            #expect(ring.count == min(number + 1, capacity))
            #expect(ring.entry(of: "id-\(number)") == entry(number))
        }
        for number in 0..<25 {
            #expect(ring.entry(of: "id-\(number)") == (number < 25 - capacity ? nil : entry(number)))
        }
        #expect(ring.entry(of: "") == nil)
    }

    /// Strangers who send as much as they can replace no refusal of a viewer with a good token, whatever network they
    /// name, and none of strangers elsewhere.
    @Test func strangersReplaceOnlyTheirOwn() {
        let memory = RecentRefusals(capacity: 1000)
        let elsewhere = RecentRefusals.Sender(isProven: false, network: "203.0.113.0/24")
        for number in 0..<50 { memory.note(entry(number), of: Self.viewer) }
        for number in 0..<20 { memory.note(entry(100 + number), of: elsewhere) }
        let crowd = (0..<8).map { RecentRefusals.Sender(isProven: false, network: "198.51.\($0).0/24") }
        for number in 0..<100_000 { memory.note(entry(1000 + number), of: crowd[number % crowd.count]) }
        for number in 0..<50 { #expect(memory.entry(of: "id-\(number)") == entry(number)) }
        for number in 100..<120 { #expect(memory.entry(of: "id-\(number)") == entry(number)) }
        #expect(memory.count == 450)
        #expect(memory.entry(of: "id-100999") == entry(100_999))
    }

    /// Many networks together replace none of a network that has fewer.
    @Test func manyNetworksReplaceNoSmallOne() {
        let memory = RecentRefusals(capacity: 1000)
        let elsewhere = RecentRefusals.Sender(isProven: false, network: "203.0.113.0/24")
        memory.note(entry(1), of: elsewhere)
        for number in 0..<12_000 {
            memory.note(entry(1000 + number), of: .init(isProven: false, network: "10.0.\(number % 150).0/24"))
        }
        #expect(memory.entry(of: "id-1") == entry(1))
        #expect(memory.count == 400)
    }

    /// Every order of senders keeps exactly the newest of each, and as many as there is room for.
    @Test func sharesArePlain() {
        var random = SeededGenerator.announced("RecentRefusals")
        for _ in 0..<20 {
            let capacity = Int.random(in: 2...60, using: &random)
            var places = FairPlaces(capacity: capacity, size: 1)
            var kept: [UInt64: [UInt64]] = [:]
            for number in UInt64(0)..<300 {
                let share = UInt64.random(in: 0..<5, using: &random)
                let isFull = kept.values.reduce(0, { $0 + $1.count }) == capacity
                places.add([UInt8(truncatingIfNeeded: number)], number: number, share: share)
                let numbers = places.entryNumbers
                if isFull {
                    // Of several shares with the most entries, any one may have lost its oldest.
                    let lost = kept.values.flatMap { $0 }.filter { !numbers.contains($0) }
                    let most = kept.values.map(\.count).max()
                    let loser = kept.first { $0.value.first == lost.first }
                    #expect(lost.count == 1 && loser?.value.count == most)
                    if let loser { kept[loser.key]?.removeFirst() }
                }
                kept[share, default: []].append(number)
                #expect(numbers.sorted() == kept.values.flatMap { $0 }.sorted())
                #expect(numbers.indices.allSatisfy { places[$0].first == UInt8(truncatingIfNeeded: numbers[$0]) })
            }
        }
    }

    /// A trace may have several refusals, and most requests have no trace.
    @Test(arguments: [3, 4, 10])
    func findsTheNewestOfATrace(capacity: Int) {
        let ring = memory(capacity)
        #expect(ring.newestEntry(ofTrace: "trace-0") == nil)
        for number in 0..<25 {
            let trace = number % 3 == 2 ? nil : "trace-\(number % 3)"
            ring.note(
                .init("id-\(number)", trace: trace, at: WallTime(seconds: 1), event: "e", code: "c", cause: "c"),
                of: Self.viewer)
            if let trace {
                #expect(ring.newestEntry(ofTrace: trace)?.requestID == "id-\(number)")
                #expect(ring.entry(of: "id-\(number)")?.traceID == trace)
            }
        }
        #expect(ring.newestEntry(ofTrace: "trace-1")?.requestID == "id-22")
        #expect(ring.newestEntry(ofTrace: "trace-") == nil && ring.newestEntry(ofTrace: "id-22") == nil)
        #expect(ring.newestEntry(ofTrace: "") == nil && ring.entry(of: "trace-1") == nil)
    }

    @Test(arguments: [1, 4, 10, 30])
    func listsTheNewestFirstPageByPage(capacity: Int) {
        let ring = memory(capacity)
        #expect(ring.page(limit: 3) == RecentRefusals.Page(entries: [], next: nil))
        for number in 0..<25 { ring.note(entry(number), of: Self.viewer) }
        var found: [String] = []
        var next: UInt64?
        repeat {
            let page = ring.page(limit: 3, before: next)
            #expect((1...3).contains(page.entries.count))
            found += page.entries.map(\.requestID)
            next = page.next
        } while next != nil
        #expect(found == (max(0, 25 - capacity)..<25).reversed().map { "id-\($0)" })
        // Positions from anywhere are harmless.
        #expect(ring.page(limit: 1, before: .max).entries == [entry(24)])
        #expect(ring.page(limit: 1, before: 0).entries.isEmpty)
    }

    /// A page does not change when newer refusals come between it and the page before.
    @Test func continuesWhereItStoppedAndFindsCodes() {
        let ring = memory(10)
        for number in 0..<8 {
            ring.note(
                .init("id-\(number)", at: .init(seconds: 1), event: "e", code: "c\(number % 2)", cause: "c"),
                of: Self.viewer)
        }
        let first = ring.page(limit: 2, code: "c1")
        #expect(first.entries.map(\.requestID) == ["id-7", "id-5"])
        ring.note(.init("id-8", at: .init(seconds: 1), event: "e", code: "c1", cause: "c"), of: Self.viewer)
        let second = ring.page(limit: 9, before: first.next, code: "c1")
        #expect(second == .init(entries: ["id-3", "id-1"].compactMap { ring.entry(of: $0) }, next: nil))
        #expect(ring.page(limit: 9, code: "c").entries.isEmpty)
    }

    /// Every part of an entry is returned as it was noted.
    @Test func givesBackWhatWasNoted() {
        let ring = memory(2)
        let noted = RecentRefusals.Entry(
            "0123456789abcdef", trace: "0af7651916cd43dd8448eb211c80319c",
            at: WallTime(seconds: -1, nanoseconds: 999_999_999), event: "license_refused",
            code: "token_missing", cause: "ein Gr\u{fc}n",
            facts: [("tag", "00ff"), ("number", ""), ("found", "aud \"other\"")])
        for _ in 0..<5 {
            ring.note(noted, of: Self.viewer)
            let found = ring.entry(of: "0123456789abcdef")
            #expect(found == noted)
            #expect(found?.facts.map(\.name) == ["tag", "number", "found"])
            #expect(found?.facts.map(\.value) == ["00ff", "", "aud \"other\""])
        }
        #expect(ring.entry(of: "0123456789abcde") == nil)
        #expect(ring.entry(of: "0123456789abcdef0") == nil)
    }

    /// An entry uses only its own place in the ring, with values of any size. Its id can still be found.
    @Test(arguments: [0, 300, 490, 500, 980, 1000, 1022, 1023, 1024, 1025, 5000])
    func cutsAnEntryToItsPlace(size: Int) {
        let ring = memory(1)
        let text = String(repeating: "x", count: size)
        for _ in 0..<3 {
            ring.note(
                RecentRefusals.Entry(
                    "id", at: WallTime(seconds: 1), event: "event", code: text, cause: "cause",
                    facts: [(text, text)]),
                of: Self.viewer)
            #expect(ring.count == 1)
            #expect(ring.entry(of: "id")?.event == "event")
        }
    }

    @Test(arguments: [0, 255, 256, 257, 10_000])
    func boundsACause(length: Int) {
        let cause = String(repeating: "c", count: length)
        #expect(entry(1, cause: cause).cause.utf8.count == min(length, 256))
    }
}

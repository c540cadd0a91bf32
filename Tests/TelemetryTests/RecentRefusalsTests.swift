import Testing

@testable import Telemetry

@Suite struct RecentRefusalsTests {
    private func entry(_ number: Int, cause: String = "a cause") -> RecentRefusals.Entry {
        RecentRefusals.Entry(
            "id-\(number)", at: WallTime(seconds: Int64(number)), event: "refused", code: "code", cause: cause)
    }

    @Test(arguments: [1, 2, 10])
    func keepsTheLastOnes(capacity: Int) {
        let ring = RecentRefusals(capacity: capacity)
        for number in 0..<25 {
            ring.note(entry(number))
            #expect(ring.count == min(number + 1, capacity))
            #expect(ring.entry(of: "id-\(number)") == entry(number))
        }
        for number in 0..<25 {
            #expect(ring.entry(of: "id-\(number)") == (number < 25 - capacity ? nil : entry(number)))
        }
        #expect(ring.entry(of: "") == nil)
    }

    /// A trace may have several refusals, and most requests have no trace.
    @Test(arguments: [3, 4, 10])
    func findsTheNewestOfATrace(capacity: Int) {
        let ring = RecentRefusals(capacity: capacity)
        #expect(ring.newestEntry(ofTrace: "trace-0") == nil)
        for number in 0..<25 {
            let trace = number % 3 == 2 ? nil : "trace-\(number % 3)"
            ring.note(.init("id-\(number)", trace: trace, at: WallTime(seconds: 1), event: "e", code: "c", cause: "c"))
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
        let ring = RecentRefusals(capacity: capacity)
        #expect(ring.page(limit: 3) == RecentRefusals.Page(entries: [], next: nil))
        for number in 0..<25 { ring.note(entry(number)) }
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
        let ring = RecentRefusals(capacity: 10)
        for number in 0..<8 {
            ring.note(.init("id-\(number)", at: .init(seconds: 1), event: "e", code: "c\(number % 2)", cause: "c"))
        }
        let first = ring.page(limit: 2, code: "c1")
        #expect(first.entries.map(\.requestID) == ["id-7", "id-5"])
        ring.note(.init("id-8", at: .init(seconds: 1), event: "e", code: "c1", cause: "c"))
        let second = ring.page(limit: 9, before: first.next, code: "c1")
        #expect(second == .init(entries: ["id-3", "id-1"].compactMap { ring.entry(of: $0) }, next: nil))
        #expect(ring.page(limit: 9, code: "c").entries.isEmpty)
    }

    /// Every part of an entry is returned as it was noted.
    @Test func givesBackWhatWasNoted() {
        let ring = RecentRefusals(capacity: 2)
        let noted = RecentRefusals.Entry(
            "0123456789abcdef", trace: "0af7651916cd43dd8448eb211c80319c",
            at: WallTime(seconds: -1, nanoseconds: 999_999_999), event: "license_refused",
            code: "token_missing", cause: "ein Gr\u{fc}n",
            facts: [("tag", "00ff"), ("number", ""), ("found", "aud \"other\"")])
        for _ in 0..<5 {
            ring.note(noted)
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
        let ring = RecentRefusals(capacity: 1)
        let text = String(repeating: "x", count: size)
        for _ in 0..<3 {
            ring.note(
                RecentRefusals.Entry(
                    "id", at: WallTime(seconds: 1), event: "event", code: text, cause: "cause",
                    facts: [(text, text)]))
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

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

    /// Every part of an entry is returned as it was noted.
    @Test func givesBackWhatWasNoted() {
        let ring = RecentRefusals(capacity: 2)
        let noted = RecentRefusals.Entry(
            "0123456789abcdef", at: WallTime(seconds: -1, nanoseconds: 999_999_999), event: "license_refused",
            code: "token_missing", cause: "ein Gr\u{fc}n",
            numbers: [("tag", "00ff"), ("number", ""), ("spc_version", "3")])
        for _ in 0..<5 {
            ring.note(noted)
            let found = ring.entry(of: "0123456789abcdef")
            #expect(found == noted)
            #expect(found?.numbers.map(\.name) == ["tag", "number", "spc_version"])
            #expect(found?.numbers.map(\.value) == ["00ff", "", "3"])
        }
        #expect(ring.entry(of: "0123456789abcde") == nil)
        #expect(ring.entry(of: "0123456789abcdef0") == nil)
    }

    /// An entry uses only its own place in the ring, with values of any size. Its id can still be found.
    @Test(arguments: [0, 300, 490, 500, 510, 511, 512, 513, 5000])
    func cutsAnEntryToItsPlace(size: Int) {
        let ring = RecentRefusals(capacity: 1)
        let text = String(repeating: "x", count: size)
        for _ in 0..<3 {
            ring.note(
                RecentRefusals.Entry(
                    "id", at: WallTime(seconds: 1), event: "event", code: text, cause: "cause",
                    numbers: [(text, text)]))
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

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

    @Test(arguments: [0, 255, 256, 257, 10_000])
    func boundsACause(length: Int) {
        let cause = String(repeating: "c", count: length)
        #expect(entry(1, cause: cause).cause.utf8.count == min(length, 256))
    }
}

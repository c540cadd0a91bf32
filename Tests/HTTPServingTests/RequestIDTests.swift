import EventLoops
import Testing

@testable import HTTPServing

@Suite struct RequestIDTests {
    @Test(arguments: [
        (UInt64(0), "0000000000000000"), (0x1a, "000000000000001a"), (.max, "ffffffffffffffff"),
    ])
    func hasSixteenDigits(number: UInt64, text: String) {
        #expect(RequestID(number).text == text)
    }

    @Test func noTwoAreEqualOnAnyLoop() throws {
        let group = try EventLoopGroup(count: 2)
        defer { group.stop(within: .seconds(10)) }
        let source = RequestIDs()
        let ids = group.loops.flatMap { loop in
            loop.runAndWait { (0..<1000).map { _ in source.next(on: loop).text } } ?? []
        }
        #expect(ids.count == 2000)
        #expect(Set(ids).count == 2000)
        #expect(ids.allSatisfy { $0.utf8.count == 16 })
    }

    @Test func eachDaemonBeginsElsewhere() throws {
        let group = try EventLoopGroup(count: 1)
        defer { group.stop(within: .seconds(10)) }
        let loop = group.loops[0]
        let firsts = (0..<8).compactMap { _ in
            let source = RequestIDs()
            return loop.runAndWait { source.next(on: loop).text }
        }
        #expect(Set(firsts).count == 8)
    }
}

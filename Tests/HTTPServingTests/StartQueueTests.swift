import POSIXSockets
import Testing

@testable import HTTPServing

@Suite struct StartQueueTests {
    private static func network(_ number: UInt32) -> IPAddress { .v4(0x0a00_0000 | number) }

    /// Two networks that are in different lanes.
    private static func twoLanes() throws -> (IPAddress, IPAddress) {
        let first = network(0)
        let second = (1...64).lazy.map(network).first { second in
            var queue = StartQueue<Int>()
            for number in 0..<3 { queue.append(number, of: first) }
            queue.append(3, of: second)
            return (0..<4).map { _ in queue.next() } != [0, 1, 2, 3]
        }
        return (first, try #require(second))
    }

    @Test func takesOneOfEachNetworkInTurn() throws {
        let (flooding, good) = try Self.twoLanes()
        var queue = StartQueue<String>()
        for number in 0..<1000 { queue.append("flood \(number)", of: flooding) }
        queue.append("good", of: good)
        queue.append("proxy", of: nil)
        queue.append("good again", of: good)
        #expect(queue.count == 1003)
        let first = (0..<6).map { _ in queue.next() }
        #expect(first == ["flood 0", "good", "proxy", "flood 1", "good again", "flood 2"])
        let rest = (0..<997).map { _ in queue.next() }
        #expect(rest == (3..<1000).map { "flood \($0)" })
        #expect(queue.isEmpty)
        #expect(queue.next() == nil)
    }

    @Test func keepsTheOrderOfANetworkWhileOthersCome() {
        var queue = StartQueue<Int>()
        var taken: [Int] = []
        for number in 0..<500 {
            queue.append(number, of: Self.network(7))
            if number % 3 == 0, let next = queue.next() { taken.append(next) }
        }
        while let next = queue.next() { taken.append(next) }
        #expect(taken == Array(0..<500))
        #expect(queue.count == 0)
    }

    /// The queue gives up connections of the flood. It gives up no client that waits alone as long as there is a flood.
    @Test func givesUpWhatWaitsLongestInTheLongestLane() throws {
        let (flooding, good) = try Self.twoLanes()
        var queue = StartQueue<String>()
        queue.append("good", of: good)
        for number in 0..<3 { queue.append("flood \(number)", of: flooding) }
        for number in 0..<5 { queue.append("proxy \(number)", of: nil) }
        #expect(queue.giveUp() == "flood 0")
        #expect(queue.giveUp() == "flood 1")
        #expect(queue.count == 7)
        #expect((0..<3).map { _ in queue.next() } == ["good", "flood 2", "proxy 0"])
    }

    /// A proxy's connection, which carries many clients, is not given up for one client.
    @Test func givesUpNoConnectionOfAProxy() {
        var queue = StartQueue<Int>()
        for number in 0..<3 { queue.append(number, of: nil) }
        #expect(queue.giveUp() == nil)
        #expect((0..<3).map { _ in queue.next() } == [0, 1, 2])
    }

    @Test func goesOnAfterALaneWasGivenUpWhole() throws {
        let (first, second) = try Self.twoLanes()
        var queue = StartQueue<Int>()
        queue.append(1, of: first)
        #expect(queue.giveUp() == 1)
        #expect(queue.isEmpty)
        #expect(queue.giveUp() == nil)
        queue.append(2, of: second)
        queue.append(3, of: first)
        #expect([queue.next(), queue.next(), queue.next()].compactMap(\.self).sorted() == [2, 3])
    }

    /// There are more networks than lanes. Each connection still begins, in the order of its own network.
    @Test func servesMoreNetworksThanItHasLanes() {
        var queue = StartQueue<(network: UInt32, number: Int)>()
        for number in 0..<3 {
            for network in 0..<1000 { queue.append((UInt32(network), number), of: Self.network(UInt32(network))) }
        }
        var numbers = [[Int]](repeating: [], count: 1000)
        while let next = queue.next() { numbers[Int(next.network)].append(next.number) }
        #expect(numbers.allSatisfy { $0 == [0, 1, 2] })
    }
}

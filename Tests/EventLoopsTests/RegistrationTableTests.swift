import POSIXSockets
import Testing

@testable import EventLoops

@Suite struct RegistrationTableTests {
    @Test func findsAChannelByItsToken() {
        var table = RegistrationTable()
        let (one, two) = (SilentChannel(), SilentChannel())
        let (first, second) = (table.insert(one), table.insert(two))
        #expect(table[first.token] === one)
        #expect(table[second.token] === two)
        #expect(table.count == 2)
    }

    /// A pending event of a removed channel must not reach the next channel in its place.
    @Test func recognisesAStaleToken() {
        var table = RegistrationTable()
        let old = table.insert(SilentChannel())
        #expect(table.remove(old) == true)
        #expect(table.remove(old) == false)
        let next = SilentChannel()
        let new = table.insert(next)
        #expect(UInt32(truncatingIfNeeded: old.token) == UInt32(truncatingIfNeeded: new.token))
        #expect(table[old.token] == nil)
        #expect(table[new.token] === next)
        #expect(table.remove(old) == false)
        #expect(table.count == 1)
    }

    @Test(arguments: [UInt64.max, 0, 1 << 32])
    func knowsNothingOfOtherTokens(token: UInt64) {
        #expect(RegistrationTable()[token] == nil)
    }
}

final class SilentChannel: LoopChannel {
    func ready(_ readiness: EpollReadiness, on loop: LoopContext) {}
    func resume(on loop: LoopContext) {}
    func loopStops(_ loop: LoopContext) {}
}

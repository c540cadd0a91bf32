import Testing

@testable import ByteCoding

@Suite struct ErrorWrappingTests {
    private enum LowerError: Error, Equatable {
        case odd(Int)
    }

    private enum UpperError: Error, Equatable {
        case lower(LowerError)
    }

    private func half(_ number: Int) throws(LowerError) -> Int {
        guard number.isMultiple(of: 2) else { throw .odd(number) }
        return number / 2
    }

    private func laterHalf(_ number: Int) async throws(LowerError) -> Int {
        await Task.yield()
        return try half(number)
    }

    @Test func anExpressionGivesItsValueOrTheWrappedError() throws {
        #expect(try wrap(UpperError.lower, try half(8)) == 4)
        #expect(throws: UpperError.lower(.odd(7))) { try wrap(UpperError.lower, try half(7)) }
    }

    @Test func aClosureGivesItsValueOrTheWrappedError() throws {
        let quarter = { (number: Int) throws(UpperError) in
            try wrap(UpperError.lower) { () throws(LowerError) in
                let half = try half(number)
                return try self.half(half)
            }
        }
        #expect(try quarter(8) == 2)
        #expect(throws: UpperError.lower(.odd(3))) { try quarter(6) }
    }

    @Test func anAwaitedExpressionGivesItsValueOrTheWrappedError() async throws {
        #expect(try await wrapAsync(UpperError.lower, try await laterHalf(8)) == 4)
        await #expect(throws: UpperError.lower(.odd(7))) {
            try await wrapAsync(UpperError.lower, try await laterHalf(7))
        }
    }
}

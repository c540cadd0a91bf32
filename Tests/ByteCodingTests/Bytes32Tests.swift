import ByteCoding
import Testing

@Suite struct Bytes32Tests {
    private static let bytes = (0..<32).map { UInt8($0) }

    @Test func keepsTheOrderOfTheBytes() throws {
        let value = try #require(Bytes32(Self.bytes))
        #expect(value.bytes == Self.bytes)
        #expect(value.first.bytes == Array(Self.bytes[..<16]))
        #expect(value.second.bytes == Array(Self.bytes[16...]))
    }

    @Test(arguments: [0, 16, 31, 33]) func refusesAnotherSize(size: Int) {
        #expect(Bytes32([UInt8](repeating: 1, count: size)) == nil)
    }

    @Test func isWhatWasWrittenToItsBuffer() {
        let value = unsafe Bytes32 { output in
            for index in 0..<31 { unsafe output[index] = Self.bytes[index] }
        }
        #expect(value.bytes == Self.bytes[..<31] + [0])
    }

    @Test func handsOnTheErrorOfTheWriter() {
        struct Fault: Error {}
        #expect(throws: Fault.self) { try unsafe Bytes32 { _ throws(Fault) in throw Fault() } }
    }
}

import TestSupport
import Testing

@testable import ByteCoding

@Suite struct JSONNumberTests {
    static func number(_ text: String) throws -> JSONNumber {
        try #require(try JSONReader.parse(Array(text.utf8)).number)
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("0.0", 0), ("0e99999999999999999999", 0), ("1", 1), ("1.0", 1), ("1e3", 1000),
            ("1000e-3", 1), ("1.5e1", 15), ("0.001e3", 1), ("18446744073709551615", UInt64.max),
            ("1844674407370955161.5e1", UInt64.max), ("18446744073709551616", nil),
            ("1e19", 10_000_000_000_000_000_000),
            ("1e20", nil), ("2e19", nil), ("-1", nil), ("1.5", nil), ("1e-1", nil), ("1e-99999999999999999999", nil),
            ("1e99999999999999999999", nil), ("9007199254740993", 9_007_199_254_740_993),
        ] as [(String, UInt64?)])
    func unsignedIsExactOrAbsent(text: String, value: UInt64?) throws {
        #expect(try Self.number(text).unsigned == value)
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("-1", -1), ("-1.0e2", -100), ("9223372036854775807", Int64.max),
            ("9223372036854775808", nil), ("-9223372036854775808", Int64.min), ("-9223372036854775809", nil),
            ("-18446744073709551616", nil), ("-0.5", nil), ("-922337203685477580.8e1", Int64.min),
        ] as [(String, Int64?)])
    func signedIsExactOrAbsent(text: String, value: Int64?) throws {
        #expect(try Self.number(text).signed == value)
    }

    @Test(
        arguments: [
            ("0", 0), ("1.5", 1.5), ("-2.5e-1", -0.25), ("1e400", nil), ("-1e400", nil), ("1e-400", 0),
            ("0.1", 0.1), ("123456789012345678901234567890", 1.2345678901234568e29),
            ("1.7976931348623157e308", Double.greatestFiniteMagnitude), ("5e-324", Double.leastNonzeroMagnitude),
        ] as [(String, Double?)])
    func doubleIsTheNearestFiniteValueOrAbsent(text: String, value: Double?) throws {
        #expect(try Self.number(text).double == value)
    }

    @Test(arguments: [(127, true), (128, true), (129, false), (5000, false)])
    func theLengthIsBounded(length: Int, isAccepted: Bool) {
        let texts = [
            String(repeating: "9", count: length), "0." + String(repeating: "9", count: length - 2),
            "1e" + String(repeating: "0", count: length - 2),
        ]
        for text in texts {
            if isAccepted {
                #expect(throws: Never.self) { try JSONReader.parse(Array(text.utf8)) }
            } else {
                #expect(throws: JSONError.invalidNumber(at: .start)) { try JSONReader.parse(Array(text.utf8)) }
            }
        }
    }

    @Test func randomIntegersKeepTheirValue() throws {
        var generator = SeededGenerator.announced("JSON integers")
        for _ in 0..<2000 {
            let value = generator.next() >> UInt64.random(in: 0...63, using: &generator)
            #expect(try Self.number("\(value)").unsigned == value)
            let signed = Int64(bitPattern: value)
            #expect(try Self.number("\(signed)").signed == signed)
        }
    }

    /// Swift's shortest description of a number is also valid JSON.
    @Test func randomFractionsKeepTheirValue() throws {
        var generator = SeededGenerator.announced("JSON doubles")
        for _ in 0..<2000 {
            var value = Double(bitPattern: generator.next())
            while !value.isFinite { value = Double(bitPattern: generator.next()) }
            #expect(try Self.number(value.description).double == value)
        }
    }
}

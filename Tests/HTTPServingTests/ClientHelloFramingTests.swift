import TestSupport
import Testing

@testable import HTTPServing

@Suite struct ClientHelloFramingTests {
    /// A record with a ClientHello of 300 bytes. Only its framing is checked.
    private static let hello = record([1, 0, 0x01, 0x2c] + [UInt8](repeating: 0x5a, count: 300))

    private static func record(_ payload: [UInt8]) -> [UInt8] {
        [22, 3, 1, UInt8(payload.count >> 8), UInt8(payload.count & 0xff)] + payload
    }

    /// The payload of one record, cut into records of at most `size` bytes. Without a size, the record is unchanged.
    static func inRecords(of size: Int?, _ bytes: [UInt8]) -> [UInt8] {
        guard let size else { return bytes }
        let payload = bytes.dropFirst(5)
        return stride(from: payload.startIndex, to: payload.endIndex, by: size).flatMap {
            record(Array(payload[$0..<min($0 + size, payload.endIndex)]))
        }
    }

    private func verdict(_ bytes: some Sequence<UInt8>) -> ClientHelloFraming.Verdict {
        ClientHelloFraming.verdict(on: Array(bytes).span)
    }

    /// Every part of the message up to its end needs more bytes, however the message is divided into records.
    @Test(arguments: [nil, 1, 2, 3, 4, 5, 100, 303])
    func awaitsTheWholeMessage(recordSize: Int?) {
        let bytes = Self.inRecords(of: recordSize, Self.hello)
        for count in 0..<bytes.count { #expect(verdict(bytes.prefix(count)) == .incomplete) }
        #expect(verdict(bytes) == .complete)
        #expect(verdict(bytes + [0, 1, 2]) == .complete)
    }

    /// OpenSSL reads whole records, even a record that has more than the message.
    @Test func awaitsTheEndOfTheRecord() {
        let bytes = Self.record([1, 0, 0, 2, 7, 7, 9, 9, 9])
        #expect(verdict(bytes.dropLast()) == .incomplete)
        #expect(verdict(bytes) == .complete)
    }

    /// A message without a body ends with its header.
    @Test func takesAnEmptyMessage() {
        #expect(verdict(Self.record([1, 0, 0])) == .incomplete)
        #expect(verdict(Self.record([1, 0, 0, 0])) == .complete)
    }

    @Test(
        arguments: [
            // Another type of record, another major version, no payload, too large a payload, another message.
            [21], [128], [0x47], [22, 2], [22, 0x45], [22, 3, 1, 0, 0], [22, 3, 1, 0x40, 1], [22, 3, 1, 0, 9, 2],
            [22, 3, 1, 0xff, 0xff],
        ] as [[UInt8]])
    func refusesAnythingElseAtTheByteThatDiffers(bytes: [UInt8]) {
        #expect(verdict(bytes) == .notTLS)
        #expect(verdict(bytes.dropLast()) == .incomplete)
        // The same after the first record of a message.
        let first = Self.inRecords(of: 4, Self.hello).prefix(9)
        if bytes != [22, 3, 1, 0, 9, 2] { #expect(verdict(first + bytes) == .notTLS) }
    }

    /// A message with a longer length than the limit goes to OpenSSL, which refuses it, as soon as the limit's bytes
    /// have come.
    @Test func leavesLongMessagesToOpenSSL() {
        let large = Self.record([1, 0xff, 0xff, 0xff] + [UInt8](repeating: 0, count: (1 << 14) - 4))
        #expect(large.count == ClientHelloFraming.sizeMaximum)
        #expect(verdict(large.dropLast()) == .incomplete)
        #expect(verdict(large) == .complete)
    }

    /// No input makes the framing read past its end, and more input never changes a result.
    @Test func keepsItsVerdictsOnRandomInput() {
        var generator = SeededGenerator(seed: 13)
        for _ in 0..<200 {
            var bytes = Self.inRecords(of: Int.random(in: 1...40, using: &generator), Self.hello)
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            var last = ClientHelloFraming.Verdict.incomplete
            for count in 0...bytes.count {
                let next = verdict(bytes.prefix(count))
                #expect(last == .incomplete || next == last)
                last = next
            }
        }
    }
}

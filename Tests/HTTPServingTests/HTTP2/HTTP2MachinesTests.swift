import HTTPMessages
import Telemetry
import TestSupport
import Testing

@testable import HTTPServing

private func header(_ type: HTTP2FrameHeader.Kind, _ stream: Int32 = 0, length: Int = 0, flags: UInt8 = 0)
    -> HTTP2FrameHeader
{
    HTTP2FrameHeader(length: length, type: type, flags: flags, streamID: stream)
}

private let start = MonotonicTime(nanoseconds: 0)

@Suite struct TokenBucketTests {
    private func take(_ count: Int, _ bucket: inout TokenBucket, _ now: MonotonicTime) {
        for _ in 0..<count {
            let isTaken = bucket.take(now: now)
            #expect(isTaken)
        }
    }

    private func takes(_ bucket: inout TokenBucket, _ now: MonotonicTime) -> Bool { bucket.take(now: now) }

    @Test func givesTheBurstAndNoMore() {
        var bucket = TokenBucket(burst: 3, rate: 0, now: start)
        take(3, &bucket, start)
        #expect(!takes(&bucket, start))
        #expect(!takes(&bucket, start + .seconds(1000)))
        bucket.give(1)
        #expect(takes(&bucket, start))
        #expect(!takes(&bucket, start))
    }

    @Test func refillsAtItsRateUpToTheBurst() {
        var bucket = TokenBucket(burst: 3, rate: 10, now: start)
        take(3, &bucket, start)
        #expect(!takes(&bucket, start + .milliseconds(99)))
        #expect(takes(&bucket, start + .milliseconds(100)))
        #expect(!takes(&bucket, start + .milliseconds(199)))
        #expect(takes(&bucket, start + .milliseconds(200)))
        let later = start + .seconds(1_000_000)
        take(3, &bucket, later)
        #expect(!takes(&bucket, later))
        bucket.give(100)
        take(3, &bucket, later)
        #expect(!takes(&bucket, later))
    }
}

@Suite struct HTTP2FrameScannerTests {
    private let frames = [
        HTTP2Frame.settings([(1, 2)]), .headers(1, [1, 2, 3], flags: 0), .continuation(1, []),
        .data(1, [0, 0], flags: 0),
        .data(0xffff_ffff, [1]), HTTP2Frame(type: 200, flags: 0xff, stream: 5, payload: [9]),
    ]
    private let expected = [
        header(.settings, length: 6), header(.headers, 1, length: 3), header(.continuation, 1, flags: 4),
        header(.data, 1, length: 2), header(.data, .max, length: 1, flags: 1),
        header(.unknown, 5, length: 1, flags: 0xff),
    ]

    @Test(arguments: 1...60)
    func findsFramesHoweverTheyAreCut(size: Int) {
        var scanner = HTTP2FrameScanner()
        let bytes = HTTP2Frame.preface + frames.flatMap { $0.bytes() }
        var found: [HTTP2FrameHeader] = []
        for offset in stride(from: 0, to: bytes.count, by: size) {
            let part = Array(bytes[offset..<min(offset + size, bytes.count)])
            var position = 0
            while let frame = scanner.next(part.span, from: &position) { found.append(frame) }
            #expect(position == part.count)
        }
        #expect(found == expected)
        #expect(!scanner.isWithinHead)
    }

    /// DATA has no deadline of the scanner, because the deadline of its body applies to it.
    @Test func tellsWhatMustComeSoon() {
        var scanner = HTTP2FrameScanner()
        func feed(_ bytes: [UInt8]) -> Bool {
            var position = 0
            while scanner.next(bytes.span, from: &position) != nil {}
            return scanner.isWithinHead
        }
        #expect(scanner.isWithinHead)
        #expect(feed(Array(HTTP2Frame.preface.prefix(23))))
        #expect(!feed([HTTP2Frame.preface[23]]))
        #expect(feed([0]))
        #expect(feed(Array(HTTP2Frame.ping().bytes().dropFirst().dropLast())))
        #expect(!feed([0]))
        #expect(feed(HTTP2Frame.headers(1, [], flags: 0).bytes()))
        #expect(feed(HTTP2Frame.continuation(1, [], flags: 0).bytes()))
        #expect(!feed(HTTP2Frame.continuation(1, []).bytes()))
        #expect(!feed(Array(HTTP2Frame.data(1, [1, 2, 3]).bytes().dropLast())))
        #expect(feed([3, 0]))
    }
}

@Suite struct HTTP2StreamOrderTests {
    private func faults(_ frames: [HTTP2FrameHeader]) -> [HTTP2StreamOrder.Fault?] {
        var order = HTTP2StreamOrder()
        return frames.map { order.received($0) }
    }

    private let ends: UInt8 = 5
    private let opens: UInt8 = 4

    @Test func takesStreamsInOrder() {
        let frames = [
            header(.headers, 1, flags: ends), header(.headers, 3, flags: opens), header(.data, 3), header(.headers, 9),
            header(.data, 3, flags: 1), header(.windowUpdate, 1), header(.reset, 1), header(.priority, 1),
        ]
        #expect(faults(frames) == Array(repeating: nil, count: frames.count))
    }

    @Test(arguments: [HTTP2FrameHeader.Kind.headers, .data])
    func refusesFramesOnStreamsThatTheClientHasEnded(kind: HTTP2FrameHeader.Kind) {
        #expect(faults([header(.headers, 1, flags: ends), header(kind, 1)]) == [nil, .streamClosed])
        #expect(
            faults([header(.headers, 1), header(.data, 1, flags: 1), header(kind, 1)]) == [nil, nil, .streamClosed])
        #expect(faults([header(.headers, 1), header(.reset, 1), header(kind, 1)]) == [nil, nil, .streamClosed])
    }

    /// RFC 9113 section 5.1.1: a new stream closes all lower streams that were never opened.
    @Test func refusesStreamsThatWerePassedOver() {
        #expect(faults([header(.headers, 5), header(.headers, 3)]) == [nil, .protocol])
        #expect(faults([header(.headers, 5), header(.headers, 9), header(.headers, 7)]) == [nil, nil, .protocol])
        #expect(faults([header(.headers, 5), header(.headers, 5)]) == [nil, nil])
    }

    @Test func refusesAPriorityOfTheConnection() {
        #expect(faults([header(.priority, 0)]) == [.protocol])
    }

    /// The memory is limited: old streams are forgotten, and then allowed.
    @Test func forgetsWhatIsLongAgo() {
        var order = HTTP2StreamOrder()
        let count = Int32(HTTP2StreamOrder.endedMaximum)
        for number in 0..<count { #expect(order.received(header(.headers, 2 * number + 1, flags: ends)) == nil) }
        var remembering = order
        #expect(remembering.received(header(.data, 1)) == .streamClosed)
        #expect(order.received(header(.headers, 2 * count + 1, flags: ends)) == nil)
        #expect(order.received(header(.data, 1)) == nil)
        #expect(order.received(header(.data, 3)) == .streamClosed)
    }
}

@Suite struct HTTP2FloodGuardTests {
    private func limits() -> HTTPLimits {
        var limits = HTTPLimits()
        limits.headSizeMaximum = 1000
        limits.http2.controlFrameBurstMaximum = 20
        limits.http2.controlFrameRateMaximum = 10
        limits.http2.resetBurstMaximum = 5
        limits.http2.resetRateMaximum = 1
        limits.http2.continuationsMaximum = 3
        return limits
    }

    static let controlFrames = [
        header(.ping), header(.ping, flags: 1), header(.settings), header(.settings, flags: 1), header(.priority, 1),
        header(.windowUpdate, 1), header(.unknown), header(.data, 1), header(.data, 1, length: 255), header(.goAway),
        header(.headers, 1), header(.pushPromise, 1),
    ]

    @Test(arguments: controlFrames)
    func limitsFramesThatBringNoRequest(frame: HTTP2FrameHeader) {
        var guarding = HTTP2FloodGuard(limits: limits(), now: start)
        for _ in 0..<20 { #expect(guarding.received(frame, isRequest: false, now: start) == nil) }
        #expect(guarding.received(frame, isRequest: false, now: start) == .controlFrames)
        let later = start + .milliseconds(100)
        #expect(guarding.received(frame, isRequest: false, now: later) == nil)
        #expect(guarding.received(frame, isRequest: false, now: later) == .controlFrames)
        guarding.answered()
        for _ in 0..<16 { #expect(guarding.received(frame, isRequest: false, now: later) == nil) }
        #expect(guarding.received(frame, isRequest: false, now: later) == .controlFrames)
    }

    @Test(arguments: [header(.data, 1, length: 256), header(.data, 1, flags: 1)])
    func doesNotCountDataThatIsWorthAFrame(frame: HTTP2FrameHeader) {
        var guarding = HTTP2FloodGuard(limits: limits(), now: start)
        for _ in 0..<100 { #expect(guarding.received(frame, isRequest: false, now: start) == nil) }
    }

    @Test func doesNotCountRequests() {
        var guarding = HTTP2FloodGuard(limits: limits(), now: start)
        for _ in 0..<100 { #expect(guarding.received(header(.headers, 1), isRequest: true, now: start) == nil) }
    }

    /// Resets of both sides count together.
    @Test func limitsResets() {
        var guarding = HTTP2FloodGuard(limits: limits(), now: start)
        for _ in 0..<3 { #expect(guarding.received(header(.reset, 1), isRequest: false, now: start) == nil) }
        for _ in 0..<2 { #expect(guarding.brokeStreamOff(now: start) == nil) }
        #expect(guarding.brokeStreamOff(now: start) == .resets)
        #expect(guarding.received(header(.reset, 1), isRequest: false, now: start) == .resets)
        #expect(guarding.received(header(.reset, 1), isRequest: false, now: start + .seconds(1)) == nil)
    }

    @Test func limitsContinuations() {
        var guarding = HTTP2FloodGuard(limits: limits(), now: start)
        for stream: Int32 in [1, 3] {
            #expect(guarding.received(header(.headers, stream), isRequest: true, now: start) == nil)
            for _ in 0..<3 {
                #expect(guarding.received(header(.continuation, stream), isRequest: false, now: start) == nil)
            }
        }
        #expect(guarding.received(header(.continuation, 3), isRequest: false, now: start) == .continuations)
    }

    @Test func limitsTheSizeOfAHeaderBlock() {
        var guarding = HTTP2FloodGuard(limits: limits(), now: start)
        #expect(guarding.received(header(.headers, 1, length: 2000), isRequest: true, now: start) == nil)
        #expect(guarding.received(header(.headers, 3, length: 2001), isRequest: true, now: start) == .headerBlock)
        #expect(guarding.received(header(.headers, 5, length: 1500), isRequest: true, now: start) == nil)
        #expect(guarding.received(header(.continuation, 5, length: 500), isRequest: false, now: start) == nil)
        #expect(guarding.received(header(.continuation, 5, length: 1), isRequest: false, now: start) == .headerBlock)
    }
}
